"""Compute the exact privacy loss of a target on a pair of neighbouring data sets from its recorded random draws.

Runs of the target check the assumptions, and a failed check is reported. The target must make the same draws on both
data sets, use no draws that are not recorded, and seed its generators only from recorded draws. The output of the
target must be an affine function of the draws, with the same law of the noise on both data sets. If the noise differs
between the data sets, or if the function is monotone and not affine, events with known probabilities may still refute
the claim (`half_lines`). A refutation is repeated with more draws, and on slightly changed data on which the target was
not called before.

A target might store the noise that it drew for some data and reuse the noise for equal data. The target should
therefore not have been called on the two data sets before.
"""

import math
import re
import sys
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import mode
from typing import Any

import numpy as np
from scipy import special

from covassay.reference.domain import Matrix
from covassay.reference.privacy import Guarantee
from covassay.verification.audit.recorded.affine import (
    CONTINUOUS,
    FRESH,
    IDLE,
    AffineNoise,
    NotAffine,
    Run,
    Variable,
    agrees,
    coordinates,
    measured,
    tape_at,
    understood,
    variables_of,
)
from covassay.verification.audit.recorded.allowance import Allowance
from covassay.verification.audit.recorded.atoms import by_atoms
from covassay.verification.audit.recorded.determined import determined
from covassay.verification.audit.recorded.half_lines import Side, by_projections, by_thresholds
from covassay.verification.audit.recorded.losses import Law, Letter, Undecided, law_of, letter_of, loss_in, one_noise
from covassay.verification.audit.recorded.outcomes import ends, equal, without_effect
from covassay.verification.audit.recorded.primitives import Primitive
from covassay.verification.audit.recorded.recorder import Recorded, Recorder, Source, recorder
from covassay.verification.audit.recorded.redraws import by_redraws
from covassay.verification.audit.recorded.steps import by_steps
from covassay.verification.audit.recorded.tape import Draw, Tape

MARGIN = 1e-6  # a loss counts as within the claim if it exceeds the claim by less than this share
# if the claim would hold with noise larger by this share, the claim is not refuted, because the cause may be a rounded
# constant
SLACK = 1e-3
# a lower bound from the probabilities of events counts as above the claim if it exceeds the claim by this share; the
# share is larger than `SLACK`, because a small error of the noise scale changes probabilities far in the tails by a
# larger share
MARGIN_OF_EVENTS = 1e-2
AGAIN = 24  # a refutation is repeated on this many runs with fresh draws
# if the target draws uniform numbers, a refutation is repeated on this many runs, because only rare values of a uniform
# number may change the output
AGAIN_UNIFORM = 200
MOVED = 1e-6  # the rows change by this share of their length when a refutation is repeated
# in this many runs, a generator must get a different seed every time; if there are few seeds, two different seeds
# suffice
SEEDINGS = 6
# if the seeds that determine all noise have fewer possible values, an attacker can compute every output in a second
FEW_SEEDS = 2.0**24
# if all noise follows from few seeds, an output may occur on the neighbour by coincidence with about this probability
COINCIDENCE = 1e-4
SEED_ONLY = ("integers", "bytes")
NUMBER = re.compile(r"\d+(\.\d+)?")
SECONDS = 10.0  # the time limit for one pair, and also for the repetition of a refutation


@dataclass(frozen=True)
class ExactLoss:
    """The exact privacy loss of one pair of neighbouring data sets.

    `pair` has the two data sets, and `adjacency` is "replace-one" or "add-remove". `letter` names the loss, as
    "epsilon", "rho", or "delta" for δ at the claimed ε. `claimed` is the claimed value of the loss. `loss` is None if
    nothing is known of the loss, and a lower bound if `lower_bound` is set. `with_slack` would be the loss if the noise
    scale were larger by the share `SLACK`. `decided` says whether the loss is known, or known to be above the claim.

    `reason` says how the loss was computed, or why it is not known. `answers` says whether the target has an output on
    both data sets. `rounding` is the possible error of the loss. `recorded` counts the numbers that were drawn, `used`
    counts those on which the output depends, and `unused` counts the remaining numbers. `seeds` are the seeds of the
    recorded draws, `path` lists the draws in their order, and `primitives` lists the recorded calls of primitives.
    """

    pair: tuple[Matrix, Matrix]
    adjacency: str
    letter: Letter
    claimed: float
    loss: float | None
    decided: bool
    reason: str
    with_slack: float = 0.0
    answers: bool = True
    rounding: float = 0.0
    lower_bound: bool = False
    recorded: int = 0
    used: int = 0
    unused: int = 0
    seeds: tuple[int, ...] = ()
    path: tuple[str, ...] = ()
    primitives: tuple[str, ...] = ()

    @property
    def above(self) -> bool:
        """Return whether the loss is above the claim by more than rounding."""
        return self.decided and self.loss is not None and self.loss - self.rounding > self.claimed * (1 + MARGIN)

    @property
    def refuted(self) -> bool:
        """Return whether the loss is above the claim, and would be above the claim even if the noise were slightly
        larger."""
        return self.above and self.with_slack - self.rounding > self.claimed * (1 + MARGIN)

    def __str__(self) -> str:
        if self.loss is None:
            return f"not decided: {self.reason}"
        told = "" if self.decided else "not decided: "
        sign = relation(self.loss, self.lower_bound)
        return f"{told}{self.letter} {sign} {self.loss:.12g} where {self.claimed:g} is claimed ({self.reason})"


def relation(loss: float, lower_bound: bool) -> str:
    """Return "≥" for a finite lower bound on a loss, and "=" otherwise, because an infinite lower bound is the loss
    itself.
    """
    return "≥" if lower_bound and math.isfinite(loss) else "="


class NotDecided(Exception):
    """Raised if the code finds neither the loss of a pair nor a lower bound above the claim; the message says why."""


class NoAnswer(NotDecided):
    """Raised if the target has no output on one of the data sets."""


class OutOfTime(NotDecided):
    """Raised if the time for a pair was used up."""


@dataclass(frozen=True)
class Ready:
    """Two runs of a target, one on each data set, that use the same draws, all of which have known laws.

    `seeding` has the indices of the draws that only seed generators or do not reach the output.
    """

    first: Side
    second: Side
    variables: tuple[Variable, ...]
    seeding: tuple[int, ...]


@dataclass(frozen=True)
class _Found:
    loss: float
    with_slack: float
    rounding: float
    lower_bound: bool
    decided: bool
    reason: str
    ready: Ready
    used: int


def exact_loss(
    source: Source,
    x: Matrix,
    other: Matrix,
    claim: Guarantee,
    *,
    bounds: Sequence[tuple[float, float]] | None = None,
    options: Mapping[str, Any] | None = None,
    primitives: Sequence[Primitive] = (),
    seed: int = 0,
    seconds: float = SECONDS,
) -> ExactLoss:
    """Compute the exact privacy loss of a target on the data sets x and `other`, which are neighbours in the sense of
    its claim.

    >>> import numpy as np
    >>> from covassay.reference.privacy import ZCDP
    >>> x, other = np.eye(2), np.eye(2)[[0, 0]]
    >>> print(exact_loss("covassay:gauss-cov", x, other, ZCDP(0.5)))
    rho = 0.5 where 0.5 is claimed (additive noise of 3 normal draws)

    Parameters
    ----------
    source : the target, see `recorder`.
    x, other : (n, d), in the domain of the claim; for add-remove one of them has one row more.
    claim : ε-DP, ρ-zCDP or (ε, δ)-DP.
    bounds : bounds of the columns, for data in a box.
    options : further keywords of the target.
    primitives : callables of its package that add noise.
    seed : the seed of the recorded draws.
    seconds : the time limit, after which the pair is undecided.
    """
    budget = {**claim.keywords(), **({"bounds": tuple(bounds)} if bounds is not None else {}), **(options or {})}
    return loss_of_pair(
        recorder(source, budget, primitives), x, other, claim, bounds=bounds, seed=seed, seconds=seconds
    )


def loss_of_pair(
    made: Recorder, x: Matrix, other: Matrix, claim: Guarantee, *, bounds: Sequence[tuple[float, float]] | None = None,
    seed: int = 0, seconds: float = SECONDS,
) -> ExactLoss:  # fmt: skip
    """Compute the exact privacy loss, as `exact_loss` does, for the target that the recorder `made` runs.

    The outputs of declared primitives are tried first, because they need fewer runs.
    """
    letter, claimed = letter_of(claim)
    adjacency = "replace-one" if len(x) == len(other) else "add-remove"
    pair = np.array(x, dtype=float), np.array(other, dtype=float)
    result = ExactLoss(pair, adjacency, letter, claimed, None, False, "", primitives=tuple(p.name for p in made.primitives))  # fmt: skip  # noqa: E501
    allowed = Allowance(seconds)
    if made.primitives:
        result = _by_primitives(made, result, claim, bounds, seed, seconds / 2)
    if result.decided:
        return result
    found = _by_draws(made, result, claim, bounds, seed, max(allowed.left, seconds / 2))
    return found if found.decided or not result.reason else replace(found, reason=f"{found.reason}; {result.reason}")


def _by_primitives(
    made: Recorder, result: ExactLoss, claim: Guarantee, bounds: Sequence[tuple[float, float]] | None, seed: int,
    seconds: float,
) -> ExactLoss:  # fmt: skip
    """Return the loss computed from the outputs of the package's primitives, if the release determines these
    outputs."""
    try:
        found = determined(made, *result.pair, claim, seed, SLACK, seconds)
        new = replace(
            result, loss=found.loss, decided=True, with_slack=found.with_slack, rounding=found.rounding,
            reason=found.reason, recorded=found.numbers, used=found.numbers, seeds=(seed,),
        )  # fmt: skip
        if not new.refuted:
            return new
        copies = [fresh_copy(data, bounds, seed) for data in result.pair]
        again = determined(made, copies[0], copies[1], claim, seed + 1, SLACK, seconds)
        if again.with_slack - again.rounding > new.claimed * (1 + MARGIN):
            return replace(new, seeds=(seed, seed + 1))
        return replace(
            result,
            reason=f"by primitives: the loss is {found.loss:.6g} on the given data, but {again.loss:.6g} on slightly "
            "changed data",
        )
    except Undecided as error:
        return replace(result, reason=f"by primitives: {error}")


def _by_draws(
    made: Recorder, result: ExactLoss, claim: Guarantee, bounds: Sequence[tuple[float, float]] | None, seed: int,
    seconds: float,
) -> ExactLoss:  # fmt: skip
    """Return the loss computed from the recorded draws alone."""
    x, other = result.pair
    with made.standing():
        try:
            found = _found(made, x, other, claim, seed, seconds)
        except (NotDecided, Undecided) as error:
            return replace(result, reason=str(error), seeds=(seed,), answers=not isinstance(error, NoAnswer))
        result = _with(result, found, seed)
        if not result.refuted:
            return result
        uniform = any(v.family in ("flat", "idle") for v in found.ready.variables)
        reasons = []
        # a target may round the rows towards 0, so the loss is also computed on rows that are slightly longer
        for outward in (False, True):
            copies = fresh_copy(x, bounds, seed, outward), fresh_copy(other, bounds, seed, outward)
            try:
                again = _found(made, *copies, claim, seed + 1, seconds, AGAIN_UNIFORM if uniform else AGAIN)
                if again.ready.first.base.tape.compared(found.ready.first.base.tape):
                    raise NotDecided(
                        "different draws on slightly changed data: the target may keep something between calls"
                    )
                if _with(result, again, seed).refuted:
                    return replace(result, seeds=(seed, seed + 1))
                raise NotDecided(f"on slightly changed data the loss is {again.loss:.6g}")
            except (NotDecided, Undecided) as error:
                reasons.append(str(error))
    reason = f"a loss of {found.loss:.6g} was not confirmed: {'; '.join(dict.fromkeys(reasons))}"
    return replace(result, decided=False, reason=reason)


def _with(result: ExactLoss, found: _Found, seed: int) -> ExactLoss:
    count = len(found.ready.variables)
    return replace(
        result,
        loss=found.loss,
        with_slack=found.with_slack,
        rounding=found.rounding,
        lower_bound=found.lower_bound,
        decided=found.decided,
        reason=found.reason,
        recorded=count,
        used=found.used,
        unused=count - found.used,
        seeds=(seed,),
        path=tuple(str(draw) for draw in found.ready.first.base.tape.draws),
    )


def fresh_copy(x: Matrix, bounds: Sequence[tuple[float, float]] | None, seed: int, outward: bool = False) -> Matrix:
    """Return a copy of the data in which each row is moved a little towards the centre of the domain, or away from the
    centre.

    Rows of zeros do not change. With one seed, equal rows are moved equally, even if they are in different data sets.
    Rows that two neighbours share therefore stay equal.
    """
    centre = np.zeros(x.shape[1]) if bounds is None else np.asarray(bounds, dtype=float).mean(axis=1)
    keys = [zlib.crc32(row.tobytes(), seed) / 2**32 for row in np.ascontiguousarray(x)]
    amount = (-MOVED if outward else MOVED) * (1 + np.array(keys, dtype=float).reshape(-1, 1))
    return np.asarray(x + amount * np.where(x.any(axis=1, keepdims=True), centre - x, 0.0))


# THE STEPS


def ready(made: Recorder, x: Matrix, other: Matrix, seed: int, seconds: float = SECONDS) -> Ready:
    """Run the target on both data sets, and check all conditions on its draws and seeds. Whether the output is affine
    in the draws is not checked here.

    The functions `run` of the two sides raise `OutOfTime` when the time is up.
    """
    return _ready(*steady(made, x, other, seed, seconds))


def _ready(first: Side, second: Side) -> Ready:
    variables, others = variables_of(first.base.tape)
    variables, idle = _with_radius(first, second, variables, others)
    radius = {v.radius for v in variables}
    rest = [k for k in others if k not in idle and k not in radius]
    settled = without_effect(first, second, rest, np.random.default_rng([28, len(rest)]))
    rest = [k for k in rest if k not in settled]
    seeding = (*settled, *_seeding(first.run, second.run, first.base, second.base, rest))
    return Ready(first, second, understood(first.run, first.base, variables), (*seeding, *idle))


def _with_radius(
    first: Side, second: Side, variables: tuple[Variable, ...], others: Sequence[int]
) -> tuple[tuple[Variable, ...], tuple[int, ...]]:
    """If exactly one gamma number reaches the output, treat the normal numbers as the direction of a vector, whose
    length is this gamma number.

    Return the variables, and the indices of the gamma draws that do not reach the output. If a gamma number may be the
    length of a vector, the returned variables for the normal numbers have the family "radial" instead of "normal". A
    later check decides for all variables whether the output is affine in them.
    """
    tape = first.base.tape
    idle: list[int] = []
    lengths: list[int] = []
    for k in others:
        if tape.draws[k].family == "gamma":
            alike = all(_idle_gamma(side, k) for side in (first, second))
            (idle if alike else lengths).append(k)
    parameter = str(tape.draws[lengths[0]].parameters[0]) if len(lengths) == 1 else ""
    if not NUMBER.fullmatch(parameter) or np.size(tape.draws[lengths[0]].value) != 1:
        return variables, tuple(idle)
    return tuple(
        replace(v, family="radial", parameter=float(parameter), radius=lengths[0]) if v.family == "normal" else v
        for v in variables
    ), tuple(idle)


def _idle_gamma(side: Side, k: int) -> bool:
    """Return whether the output stays the same when a gamma draw takes other values."""
    draw = side.base.tape.draws[k]
    parameter = str(draw.parameters[0])
    if not NUMBER.fullmatch(parameter):
        return False
    for p in IDLE:
        value = np.full(draw.shape, special.gammaincinv(float(parameter), p))
        done = side.run(side.base.tape.again({k: value}))
        if done.failure or done.tape.differs() or done.shape != side.base.shape or not equal(done.output, side.base.output):  # fmt: skip  # noqa: E501
            return False
    return True


def steady(made: Recorder, x: Matrix, other: Matrix, seed: int, seconds: float = SECONDS) -> tuple[Side, Side]:
    """Run the target on both data sets, and raise `NotDecided` unless both runs make the same draws and record all of
    them.
    """
    allowed = Allowance(seconds)

    def run_on(data: Matrix) -> Run:
        def run(tape: Tape) -> Recorded:
            if allowed.over:
                raise OutOfTime(f"no answer after {seconds:.2g} s")
            return made.run(data, tape)

        return run

    on_x, on_other = run_on(x), run_on(other)
    modules, first = len(sys.modules), on_x(Tape(seed))
    while len(sys.modules) != modules:  # draws during the import of a module are not repeated, so they do not count
        modules, first = len(sys.modules), on_x(Tape(seed))
    second = on_other(Tape(seed))
    for one in (first, second):
        if one.failure:
            raise NoAnswer(f"the target fails while its draws are recorded ({one.failure})")
    if not first.tape.draws:
        raise NotDecided("no draw was recorded")
    for one in (first, second):
        if one.tape.trouble:
            raise NotDecided(one.tape.trouble)
    if first.shape != second.shape:
        raise NotDecided("the outputs have different shapes")
    different = first.tape.compared(second.tape)
    if different:
        raise NotDecided(f"the target makes different draws on the neighbour: {different}")
    if first.tape.seeds != second.tape.seeds:
        raise NotDecided("a generator gets its seed from the data, or from a source that is not recorded")
    for run, one in ((on_x, first), (on_other, second)):
        again = run(one.tape.again())
        if again.tape.differs() or again.tape.seeds != one.tape.seeds:
            raise NotDecided(
                "a second call makes different draws: something is kept between calls, or draws are not recorded"
            )
        if again.failure or again.shape != one.shape or not equal(again.output, one.output):
            raise NotDecided("two runs with the same draws differ: there are draws that are not recorded")
    _seeds_are_fresh(made, x, first, seed)
    return Side(on_x, first), Side(on_other, second)


def _seeds_are_fresh(made: Recorder, x: Matrix, first: Recorded, seed: int) -> None:
    if not first.tape.seeds:
        return
    found: list[list[str]] = [first.tape.seeds]
    for k in range(1, SEEDINGS):
        found.append(made.run(x, Tape(seed + 7919 * k)).tape.seeds)
    few = few_seeds(first.tape) is not None
    for one in zip(*found, strict=False):
        if len(set(one)) < (2 if few else len(found)):
            raise NotDecided(f"a generator gets the same seed in several runs, so its draws are no secret: {mode(one)}")


def few_seeds(tape: Tape) -> int | None:
    """Return an upper bound on the number of possible values of all seeds together.

    Return None if no generator is seeded, or if the bound is above `FEW_SEEDS`. Also return None if some draw neither
    comes from a seeded generator nor consists of whole numbers or bytes, which may be seeds.
    """
    if not tape.seeds or any(not (draw.seeded or draw.family in SEED_ONLY) for draw in tape.draws):
        return None
    count = 1
    for draw in tape.draws:
        count *= 1 if draw.seeded else _values(draw)
        if count > FEW_SEEDS:
            return None
    return count


def _values(draw: Draw) -> int:
    """Return the number of values that a draw of whole numbers or bytes may take, or an upper bound."""
    many = int(FEW_SEEDS) + 1
    try:
        if draw.family == "bytes":  # the parameters of a draw of bytes are the numbers of bytes and of used bits
            length, *bits = (int(str(parameter)) for parameter in draw.parameters)
            return min(many, 1 << min([8 * length, *bits]))
        low, high = ends(draw)
        return int(min(many, max(1, high - low) ** math.prod(draw.shape)))
    except (ValueError, OverflowError):
        return many


def _seeding(on_x: Run, on_other: Run, first: Recorded, second: Recorded, others: Sequence[int]) -> tuple[int, ...]:
    """Return the indices of the draws that only seed generators.

    Other draws of whole numbers, permutations or bytes may select rows of the data, and are not returned.
    """
    rng = np.random.default_rng([27, len(others)])  # the key is fixed, so the same draws are tried in every audit
    for k in others:
        draw = first.tape.draws[k]
        if draw.family not in SEED_ONLY:
            raise NotDecided(f"this draw may decide how the target uses the data: {draw}")
        for _ in range(2):
            for run, one in ((on_x, first), (on_other, second)):
                done = run(one.tape.again({k: draw.make(rng)}))
                if done.failure or done.tape.differs() or done.tape.seeds == one.tape.seeds:
                    raise NotDecided(f"this draw may decide how the target uses the data: {draw}")
                if done.shape != one.shape or not equal(done.output, one.output):
                    raise NotDecided(f"{draw} reaches the output, perhaps through a generator that is not recorded")
    return tuple(others)


def _found(
    made: Recorder, x: Matrix, other: Matrix, claim: Guarantee, seed: int, seconds: float, fresh: int = FRESH
) -> _Found:
    sides = steady(made, x, other, seed, seconds)
    few = few_seeds(sides[0].base.tape)
    if few is not None and _no_output_of_both(*sides, few, seed):
        return _of_few_seeds(*sides, few, claim)
    rng = np.random.default_rng([seed, 1])
    found: _Found | None = None
    error: NotDecided | Undecided | None = None
    try:
        found = _of_ready(_ready(*sides), claim, rng, fresh)
        if found.decided:
            return found
    except OutOfTime:
        raise
    except (NotDecided, Undecided) as raised:
        error = raised
    variables, _ = variables_of(sides[0].base.tape)
    for events in (by_atoms, by_redraws, by_steps):
        above = _above(Ready(*sides, variables, ()), *events(*sides, claim, rng), claim, len(variables))
        if above.decided:
            return above
    if found is None:
        assert error is not None
        raise error
    return found


def _of_ready(at: Ready, claim: Guarantee, rng: np.random.Generator, fresh: int) -> _Found:
    first = measured(at.first.run, at.first.base, at.variables, rng, at.seeding, fresh)
    second = first if isinstance(first, NotAffine) else _on_the_other(at, first, rng, fresh)
    if isinstance(first, NotAffine) or isinstance(second, NotAffine):
        failed = first if isinstance(first, NotAffine) else second
        assert isinstance(failed, NotAffine)
        if any(v.family == "radial" for v in at.variables):  # the coordinates of a radial vector are not independent
            raise NotDecided(f"{failed.reason}; the noise is not a gamma number times a random direction either")
        loss, how = by_thresholds(at.first, at.second, at.variables, claim, rng)
        if loss <= 0:
            raise NotDecided(failed.reason)
        return _above(at, loss, f"{failed.reason}; {how}", claim, len(at.variables))
    used = sum(one or two for one, two in zip(first.used, second.used, strict=True))
    if not used:
        raise NotDecided("no draw reaches the output: it is cached, has no noise, or uses draws that are not recorded")
    if not one_noise(first, second):
        if any(v.family == "radial" for v in at.variables):
            raise NotDecided("the noise differs between the neighbours")
        loss = by_projections(first, second, claim)
        return _above(at, loss, "the noise differs between the neighbours", claim, used)
    law = law_of(first, second)
    loss, rounding = loss_in(claim, law)
    with_slack, _ = loss_in(claim, law.with_more_noise(SLACK))
    names = ("uniform" if v.family == "flat" else v.family for v in first.variables)
    counted = Counter(name for name, u in zip(names, first.used, strict=True) if u)
    kinds = ", ".join(f"{number} {family}" for family, number in counted.items())
    return _Found(loss, with_slack, rounding, False, True, f"additive noise of {kinds} draws", at, used)


def _no_output_of_both(first: Side, second: Side, few: int, seed: int) -> bool:
    """Return whether some entry of the output differs between the data sets and changes with every small change of the
    noise.

    If no entry of the output has both properties, an output on one data set may also occur on the other data set with
    another seed, as in randomised response.
    """
    telling = np.ones(len(first.base.output), dtype=bool)
    for k in range(SEEDINGS):
        usual = [side.run(Tape(seed + 7919 * k)) for side in (first, second)]
        variables = tuple(v for v in variables_of(usual[0].tape)[0] if v.family in CONTINUOUS)
        if not variables or any(one.failure or one.shape != first.base.shape for one in usual):
            return False
        z = coordinates(usual[0].tape, variables)
        step = COINCIDENCE / few * (1 + np.abs(z))
        moved = [side.run(tape_at(usual[0].tape, variables, z + step)) for side in (first, second)]
        if any(one.failure or one.shape != first.base.shape for one in moved):
            return False
        telling &= np.abs(usual[0].output - usual[1].output) > 1e-13 * np.abs(usual[0].output)
        telling &= (usual[0].output != moved[0].output) & (usual[1].output != moved[1].output)
    return bool(telling.any())


def _of_few_seeds(first: Side, second: Side, few: int, claim: Guarantee) -> _Found:
    """Return the loss if each of two data sets has very few possible outputs and they have no output in common."""
    loss, _ = loss_in(claim, Law(math.inf, (math.inf,), 0.0))
    variables, _ = variables_of(first.base.tape)
    reason = f"all noise follows from one of at most {few} seeds, so each data set has at most as many outputs"
    return _Found(loss, loss, 0.0, False, True, reason, Ready(first, second, variables, ()), len(variables))


def _on_the_other(at: Ready, first: AffineNoise, rng: np.random.Generator, fresh: int) -> AffineNoise | NotAffine:
    """Return the affine function of the draws that gives the output on the neighbour. If the matrix G of the first data
    set agrees with the target on the neighbour, this matrix is used; otherwise G is measured again.
    """
    base = at.second.base
    same = replace(first, centre=base.output - first.gains @ coordinates(base.tape, first.variables))
    found = agrees(at.second.run, base, same, rng, at.seeding, fresh)
    if isinstance(found, NotAffine):
        return measured(at.second.run, base, at.variables, rng, at.seeding, fresh)
    return found


def _above(at: Ready, loss: float, reason: str, claim: Guarantee, used: int) -> _Found:
    """Return the result for a pair of data sets if only a lower bound on its loss is known. The pair is decided if the
    lower bound is above the claim.
    """
    least = loss / (1 + MARGIN_OF_EVENTS)
    decided = least > letter_of(claim)[1]
    return _Found(loss, least, 0.0, True, decided, reason, at, used)
