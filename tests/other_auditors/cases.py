"""Define the functions on which the auditors are compared, and two neighbouring inputs for each function.

We wrote the functions ourselves from published definitions. Some are mechanisms that DP-Sniper and dp_auditorium list.
The input of most of these mechanisms is one row with the true answers to numerical queries. The other functions are
described in the tests of dp-recorder. The input of these other functions, and of the mechanisms that release a mean, is
a column of records.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import numpy as np
from scipy import integrate, special

from covassay.reference.domain import Matrix, Vector
from covassay.reference.privacy import ApproximateDP, Guarantee, PureDP

SNIPER, AUDITORIUM, RECORDER = "DP-Sniper", "dp_auditorium", "dp-recorder"
# These two numbers encode the outputs “below the threshold” and “stopped” of a sparse vector technique.
FALSE, ABORTED = -1000.0, -2000.0
DELTA = 1e-6
COUNTED_UP_TO = 5  # the largest count of the truncated geometric mechanism
QUERIES = 10  # the number of queries of the sparse vector techniques
THRESHOLD = 1.0

Sampler = Callable[[Matrix, int, np.random.Generator], Matrix]


class Instruments(Protocol):
    """The functions that a mechanism calls for noise and for public values; dp-recorder observes the calls."""

    def laplace(self, values: Vector, sensitivity: float, epsilon: float) -> Vector:
        """Return the values with Laplace noise of scale sensitivity/ε."""

    def public(self, **values: float) -> None:
        """Declare that these values do not depend on the data."""


@dataclass(frozen=True)
class Plain:
    """Functions that draw the noise, and that no auditor observes."""

    rng: np.random.Generator

    def laplace(self, values: Vector, sensitivity: float, epsilon: float) -> Vector:
        """Return the values with Laplace noise of scale sensitivity/ε."""
        return np.asarray(values + self.rng.laplace(scale=sensitivity / epsilon, size=np.shape(values)))

    def public(self, **values: float) -> None:
        """Do nothing."""


Function = Callable[[Matrix, float, Instruments], Vector]


@dataclass(frozen=True)
class Case:
    """A function that is audited, its privacy claim, and two neighbouring inputs.

    loss : the exact privacy loss on this pair of inputs; None if it was not computed.
    length : the length of an output, or 0 for a single number.
    flags : numbers in an output that are not answers, such as the mark for “stopped”.
    function : for a case from dp-recorder's tests, the function that `sample` runs; it calls `Instruments`.
    """

    name: str
    source: str
    told: str
    claim: Guarantee
    first: Matrix
    second: Matrix
    sample: Sampler
    loss: float | None = None
    length: int = 0
    flags: tuple[float, ...] = ()
    function: Function | None = None

    @property
    def broken(self) -> bool:
        """Return whether the privacy loss on this pair of inputs is larger than the claimed ε."""
        return self.loss is not None and self.loss > self.claim.keywords()["epsilon"] + 1e-9


def _row(*answers: float) -> Matrix:
    return np.array([answers], dtype=np.float64)


def _records(*values: float) -> Matrix:
    return np.array(values, dtype=np.float64)[:, None]


def laplace(scale: float) -> Sampler:
    """Return a sampler that adds independent Laplace noise to every answer."""
    return lambda x, size, rng: x + rng.laplace(scale=scale, size=(size, x.shape[1]))


def prefix_sums(scale: float) -> Sampler:
    """Return a sampler of the cumulative sums of the noisy answers."""
    return lambda x, size, rng: np.cumsum(laplace(scale)(x, size, rng), axis=1)


def number(sampler: Sampler) -> Sampler:
    """Return a sampler of the first number of every output."""
    return lambda x, size, rng: sampler(x, size, rng)[:, 0]


def gaussian(scale: float) -> Sampler:
    """Return a sampler that adds Gaussian noise to one answer."""
    return lambda x, size, rng: x[0, 0] + rng.normal(scale=scale, size=size)


def truncated_geometric(epsilon: float) -> Sampler:
    """Return a sampler that adds two-sided geometric noise to a count, and clips the sum to [0, `COUNTED_UP_TO`]."""

    def sample(x: Matrix, size: int, rng: np.random.Generator) -> Matrix:
        one, two = rng.geometric(-math.expm1(-epsilon), size=(2, size))
        return np.asarray(np.clip(x[0, 0] + one - two, 0, COUNTED_UP_TO), dtype=np.float64)

    return sample


def noisy_max(noise: Callable[..., Vector], scale: float, index: bool) -> Sampler:
    """Return a sampler of the largest noisy answer, or of its index. The noise is drawn by the generator's method
    `noise`."""

    def sample(x: Matrix, size: int, rng: np.random.Generator) -> Matrix:
        noisy = x + noise(rng, scale=scale, size=(size, x.shape[1]))
        return np.asarray(noisy.argmax(axis=1) if index else noisy.max(axis=1), dtype=np.float64)

    return sample


@dataclass(frozen=True)
class SparseVector:
    """A sparse vector technique: it releases which noisy answers reach a noisy threshold (Lyu, Su and Li 2017).

    The technique stops after `cutoff` answers that reach the threshold. The argument `released` says what the technique
    releases for each of these answers: "1" for the number 1, "noisy" for the noisy answer, and "fresh" for the answer
    with new noise of scale `fresh_scale`. If `renewed` is true, the technique draws a new noisy threshold after each
    answer that reaches the threshold.
    """

    threshold_scale: float
    query_scale: float
    cutoff: int = QUERIES + 1
    released: str = "1"
    fresh_scale: float = 0.0
    renewed: bool = False
    no: float = 0.0
    stopped: float = -1.0

    def __call__(self, x: Matrix, size: int, rng: np.random.Generator) -> Matrix:
        """Return `size` outputs for a row of true answers."""
        shape = size, x.shape[1]
        noisy = x + (rng.laplace(scale=self.query_scale, size=shape) if self.query_scale else 0.0) * np.ones(shape)
        shown = {"1": np.ones(shape), "noisy": noisy}.get(self.released)
        if shown is None:
            shown = x + rng.laplace(scale=self.fresh_scale, size=shape)
        threshold = THRESHOLD + rng.laplace(scale=self.threshold_scale, size=size)
        found, output = np.zeros(size, dtype=int), np.empty(shape)
        for i in range(shape[1]):
            reached, running = noisy[:, i] >= threshold, found < self.cutoff
            output[:, i] = np.where(running, np.where(reached, shown[:, i], self.no), self.stopped)
            found += reached & running
            if self.renewed:
                fresh = THRESHOLD + rng.laplace(scale=self.threshold_scale, size=size)
                threshold = np.where(reached, fresh, threshold)
        return output

    def probability(self, x: Matrix, reached: Vector) -> float:
        """Return the probability that, for every i < len(reached), answer i reaches the threshold if and only if
        reached[i] is true."""

        def given(shift: float) -> float:
            gap = (THRESHOLD + shift - x[0, : len(reached)]) / (self.query_scale or 1e-9)
            below = np.where(gap < 0, 0.5 * np.exp(np.minimum(gap, 0)), 1 - 0.5 * np.exp(-np.maximum(gap, 0)))
            density = 0.5 * math.exp(-abs(shift) / self.threshold_scale) / self.threshold_scale
            return density * float(np.prod(np.where(reached, 1 - below, below)))

        kinks = sorted({0.0, *(x[0] - THRESHOLD)})
        ends = [-40 * self.threshold_scale, *kinks, 40 * self.threshold_scale]
        return math.fsum(integrate.quad(given, a, b, epsabs=1e-14)[0] for a, b in pairwise(ends))


def in_parallel(*samplers: Sampler) -> Sampler:
    """Return a sampler that splits the row into equal parts, and runs one mechanism on each part."""

    def sample(x: Matrix, size: int, rng: np.random.Generator) -> Matrix:
        parts = np.split(x, len(samplers), axis=1)
        return np.hstack([one(part, size, rng) for one, part in zip(samplers, parts, strict=True)])

    return sample


def flipped_bits(high: float) -> Sampler:
    """Return a sampler that keeps each bit with probability `high` and flips it otherwise, as RAPPOR does."""
    return lambda x, size, rng: (rng.random((size, x.shape[1])) < np.where(x > 0, high, 1 - high)).astype(np.float64)


def repeated(function: Function, epsilon: float) -> Sampler:
    """Return a sampler that runs a function once for every output."""

    def sample(x: Matrix, size: int, rng: np.random.Generator) -> Matrix:
        return np.array([function(x, epsilon, Plain(rng)) for _ in range(size)])

    return sample


def correct_count(x: Matrix, epsilon: float, use: Instruments) -> Vector:
    """Release the number of ones with noise."""
    return use.laplace(np.array([(x == 1).sum()], dtype=np.float64), 1.0, epsilon)


def private_size(x: Matrix, epsilon: float, use: Instruments) -> Vector:
    """Release a noisy sum divided by the exact number of records, which depends on the data."""
    noisy = use.laplace(np.array([np.clip(x, -1, 1).sum()]), 1.0, epsilon)
    use.public(size=len(x))
    return noisy / len(x)


def inferred_domain(x: Matrix, epsilon: float, use: Instruments) -> Vector:
    """Release noisy counts of the classes that occur in the data, so that the length of the list reveals how many
    occur."""
    classes, counts = np.unique(x, return_counts=True)
    use.public(classes=len(classes))
    return use.laplace(counts.astype(np.float64), 1.0, epsilon / len(classes))


def budget_twice(x: Matrix, epsilon: float, use: Instruments) -> Vector:
    """Release a noisy sum and a noisy number of records, each with the whole budget."""
    total = use.laplace(np.array([x.sum()]), 1.0, epsilon)
    return np.concatenate([total, use.laplace(np.array([float(len(x))]), 1.0, epsilon)])


def nan_survives(x: Matrix, epsilon: float, use: Instruments) -> Vector:
    """Release a noisy sum of clipped values, where clipping does not replace NaN."""
    return use.laplace(np.array([np.clip(x, -5, 5).sum()]), 5.0, epsilon)


def no_noise(x: Matrix, epsilon: float, use: Instruments) -> Vector:
    """Release a sum without noise, because its sensitivity is computed as 5 − 5."""
    return use.laplace(np.array([x.sum()]), 0.0, epsilon)


def clip_forgotten(x: Matrix, epsilon: float, use: Instruments) -> Vector:
    """Release a noisy sum of values that are not clipped, with the sensitivity for clipped values."""
    return use.laplace(np.array([x.sum()]), 5.0, epsilon)


ONES, HALVES = _row(*[1.0] * QUERIES), _row(*[1.0] * 5, *[0.0] * 5)
ONE, HALF = PureDP(epsilon=1.0), PureDP(epsilon=0.5)
SVT1 = SparseVector(2, 4, cutoff=1)
SVT3 = SparseVector(2, 2, cutoff=1, released="noisy", no=FALSE, stopped=ABORTED)
SVT4 = SparseVector(4, 4 / 3, cutoff=1)
SVT5 = SparseVector(2, 0)
SVT6 = SparseVector(2, 2)
FIRST_HALF = np.array([True] * 5 + [False] * 5)
# RAPPOR keeps a bit with one of these probabilities: the first for one-time RAPPOR with f = 0.95, and the second for
# RAPPOR with f = 0.75, p = 0.45 and q = 0.55.
ONE_TIME, EVERY_TIME = 0.525, 0.5125
RAPPOR_FIRST, RAPPOR_SECOND = (
    _row(*[1] * 4, *[0] * 16),
    _row(*[0] * 16, *[1] * 4),
)  # the two inputs have no bit in common
CLASSICAL = math.sqrt(2 * math.log(1.25 / DELTA))


def _log_odds(high: float) -> float:
    return 8 * math.log(high / (1 - high))  # eight bits differ


def _svt_loss(technique: SparseVector, first: Matrix, second: Matrix) -> float:
    """Return the largest privacy loss of an output. If the cutoff is 1, an output is the index of the first answer that
    reaches the threshold.
    """
    stops = [np.arange(i + 1) == i for i in range(QUERIES)]
    patterns = [*stops, np.zeros(QUERIES, dtype=bool)] if technique.cutoff == 1 else [FIRST_HALF]
    return max(math.log(technique.probability(first, p) / technique.probability(second, p)) for p in patterns)


def _gaussian_loss(scale: float) -> float:
    """Return the smallest ε for which Gaussian noise gives (ε, δ)-DP with δ = `DELTA` for a change by 1."""
    low, high = 0.0, 200.0
    for _ in range(80):
        middle = (low + high) / 2
        delta = special.ndtr(0.5 / scale - middle * scale) - math.exp(middle) * special.ndtr(
            -0.5 / scale - middle * scale
        )
        low, high = (middle, high) if delta > DELTA else (low, middle)
    return low


def _of_sniper() -> list[Case]:
    def case(name: str, told: str, *rest: object, claim: Guarantee = ONE, **more: object) -> Case:
        return Case(name, SNIPER, told, claim, *rest, **more)  # type: ignore[arg-type]

    laplace_noise, exponential = np.random.Generator.laplace, np.random.Generator.exponential
    five, raised = _row(*[1.0] * 5), _row(*[2.0] * 5)
    tilted = _row(2.0, *[0.0] * 4)
    swapped = _row(*[0.0] * 5, *[1.0] * 5)
    zeros = 0 * ONES
    parallel = QUERIES / SVT3.query_scale + _svt_loss(SVT4, zeros, ONES)
    numeric = SparseVector(3, 6, cutoff=1, released="fresh", fresh_scale=3, stopped=FALSE)
    return [
        case("laplace", "Laplace noise", _row(1.0), _row(0.0), number(laplace(1.0)), loss=1.0),
        case("truncated-geometric", "a count, integer noise", _row(3.0), _row(2.0), truncated_geometric(1.0), loss=1.0),
        case("noisy-histogram-1", "a noisy histogram", _row(2, 1, 1, 1, 1), five, laplace(1.0), loss=1.0, length=5),
        case(
            "noisy-histogram-2", "a noisy histogram with scale ε in place of 1/ε",
            _row(2, 1, 1, 1, 1), five, laplace(0.5), claim=HALF, loss=2.0, length=5,
        ),
        case(
            "report-noisy-max-1", "index of the largest answer with Laplace noise",
            tilted, five, noisy_max(laplace_noise, 2, True),
        ),
        case(
            "report-noisy-max-2", "index of the largest answer with exponential noise",
            tilted, five, noisy_max(exponential, 2, True),
        ),
        case(
            "report-noisy-max-3", "largest answer with Laplace noise",
            five, raised, noisy_max(laplace_noise, 2, False), loss=2.5,
        ),
        case(
            "report-noisy-max-4", "largest answer with exponential noise",
            five, raised, noisy_max(exponential, 2, False), loss=math.inf,
        ),
        case(
            "svt-1", "sparse vector, correct", swapped, HALVES, SVT1,
            loss=_svt_loss(SVT1, swapped, HALVES), length=QUERIES, flags=(-1.0,),
        ),
        case(
            "svt-2", "sparse vector, the threshold renewed", swapped, HALVES,
            SparseVector(2, 4, cutoff=1, renewed=True),
            loss=_svt_loss(SVT1, swapped, HALVES), length=QUERIES, flags=(-1.0,),
        ),
        case(
            "svt-3", "sparse vector that releases the noisy answer", zeros, ONES, SVT3,
            loss=QUERIES / SVT3.query_scale, length=QUERIES, flags=(FALSE, ABORTED),
        ),
        case(
            "svt-4", "sparse vector with too little noise on the queries", swapped, HALVES, SVT4,
            loss=_svt_loss(SVT4, swapped, HALVES), length=QUERIES, flags=(-1.0,),
        ),
        case(
            "svt-5", "sparse vector without noise on the queries", HALVES, swapped, SVT5,
            loss=math.inf, length=QUERIES,
        ),
        case(
            "svt-6", "sparse vector that never stops", HALVES, swapped, SVT6,
            loss=_svt_loss(SVT6, HALVES, swapped), length=QUERIES,
        ),
        case(
            "rappor", "RAPPOR, f = 0.75, p = 0.45, q = 0.55", RAPPOR_FIRST, RAPPOR_SECOND, flipped_bits(EVERY_TIME),
            claim=PureDP(epsilon=_log_odds(EVERY_TIME)), loss=_log_odds(EVERY_TIME), length=20,
        ),
        case(
            "one-time-rappor", "RAPPOR once, f = 0.95", RAPPOR_FIRST, RAPPOR_SECOND, flipped_bits(ONE_TIME),
            claim=PureDP(epsilon=_log_odds(ONE_TIME)), loss=_log_odds(ONE_TIME), length=20,
        ),
        case(
            "laplace-parallel", "20 numbers with budget ε/20 each",
            _row(*[1.0] * 20), _row(*[0.0] * 20), laplace(20.0), loss=1.0, length=20,
        ),
        case(
            "svt-34-parallel", "svt-3 and svt-4 together", np.hstack([zeros] * 2), np.hstack([ONES] * 2),
            in_parallel(SVT3, SVT4), claim=PureDP(epsilon=2.0), loss=parallel,
            length=2 * QUERIES, flags=(-1.0, FALSE, ABORTED),
        ),
        case(
            "prefix-sum", "cumulative sums of noisy numbers", _row(2, *[1] * 9), ONES, prefix_sums(1.0),
            loss=1.0, length=QUERIES
        ),
        case(
            "numerical-svt", "sparse vector with new noise on the released answer", ONES, zeros, numeric,
            length=QUERIES, flags=(FALSE,),
        ),
    ]  # fmt: skip


def _mean_by_true_count(noise: Callable[..., Vector]) -> Sampler:
    def sample(x: Matrix, size: int, rng: np.random.Generator) -> Matrix:
        return np.asarray(np.clip(x, 0, 1).mean() + noise(rng, scale=1 / len(x), size=size))

    return sample


def mean_benchmark(epsilon: float) -> Case:
    """Return the benchmark NonDPLaplace1 of arXiv 2509.07055, a mean with Laplace noise of scale 2/(nε)."""

    def sample(x: Matrix, size: int, rng: np.random.Generator) -> Matrix:
        return np.asarray(x.mean() + rng.laplace(scale=2 / (len(x) * epsilon), size=size))

    name, told = f"mean-benchmark-{epsilon:g}", "a mean with noise that depends on the exact number of records"
    return Case(name, AUDITORIUM, told, PureDP(epsilon=epsilon), _records(0), _records(0, 1), sample, math.inf)


def _of_auditorium() -> list[Case]:
    approximate = ApproximateDP(epsilon=1.0, delta=DELTA)
    gumbel = np.random.Generator.gumbel
    return [
        Case("laplace-half", AUDITORIUM, "half of the Laplace noise", ONE, _row(1), _row(0), number(laplace(0.5)), 2.0),
        Case(
            "mean-true-count", AUDITORIUM, "a mean with noise that depends on the exact number of records", ONE,
            _records(1), _records(1, 0), _mean_by_true_count(np.random.Generator.laplace), math.inf,
        ),
        Case(
            "gaussian", AUDITORIUM, "Gaussian noise with the classical scale", approximate,
            _row(1.0), _row(0.0), gaussian(CLASSICAL), _gaussian_loss(CLASSICAL),
        ),
        Case(
            "gaussian-fifth", AUDITORIUM, "a fifth of the Gaussian noise", approximate,
            _row(1.0), _row(0.0), gaussian(CLASSICAL / 5), _gaussian_loss(CLASSICAL / 5),
        ),
        Case(
            "noisy-max", AUDITORIUM, "index of the largest answer with Gumbel noise", ONE,
            _row(1, 1), _row(2, 0), noisy_max(gumbel, 2, True), math.log(0.5 / special.expit(-1)),
        ),
    ]  # fmt: skip


def _of_recorder() -> list[Case]:
    def case(name: str, function: Function, first: Matrix, second: Matrix, loss: float, length: int = 1) -> Case:
        told = " ".join((function.__doc__ or "").split()).rstrip(".")
        sample = repeated(function, 1.0)
        return Case(name, RECORDER, told, ONE, first, second, sample, loss, length, (), function)

    nan = float("nan")
    zeros = [0.0] * 100
    return [
        case("correct-count", correct_count, _records(0, 1, 1, 0), _records(0, 1, 0), 1.0),
        case("private-size", private_size, _records(0.5, 0.5), _records(0.5, 0.5, 0.5), math.inf),
        case("inferred-domain", inferred_domain, _records(0, 1, 2, 0), _records(0, 1, 0), math.inf, length=3),
        case("budget-twice", budget_twice, _records(*zeros, 1.0), _records(*zeros), 2.0, length=2),
        case("nan-survives", nan_survives, _records(1, nan), _records(1, 2), math.inf),
        case("no-noise", no_noise, _records(1, 1), _records(1), math.inf),
        case("clip-forgotten", clip_forgotten, _records(1, -2, 3), _records(1, -2, 100), 19.4),
    ]


CASES = {case.name: case for case in (*_of_recorder(), *_of_sniper(), *_of_auditorium())}
