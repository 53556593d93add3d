"""How to audit discrete Laplace and discrete Gaussian noise on a second moment of integers.

The outputs show Z = (Y − Σ)/unit, whole numbers with a known law. So that the tests of the continuous laws can be used,
and stay exact, every whole number is spread over its share of the continuous law. If Z has its law, then

    p = P(|Z| > |z|) + V P(|Z| = |z|),  V uniform,

is uniform, and the number of that tail probability, with the sign of z (a coin if z = 0), is exactly Laplace(1) or
N(0, 1). V and the coin come from a fixed generator, so that an audit can be repeated.

Two more tests see what this hides: how often Z is 0, and whether every output is a multiple of the unit.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtri

from covassay.reference.domain import Matrix, Vector
from covassay.reference.domain.exact_data import exact_data, in_units
from covassay.reference.laws import discrete_gaussian, discrete_laplace
from covassay.reference.mechanisms.concentrated import discrete_gaussian_covariance
from covassay.reference.mechanisms.output import OUTPUTS
from covassay.reference.mechanisms.pure import discrete_laplace_covariance
from covassay.reference.sensitivity import block_pair, neighbours
from covassay.verification.audit.engine.contract import example_rows
from covassay.verification.audit.engine.events import Pair, Statistic, generic_statistics
from covassay.verification.audit.engine.law import Scenario, Test
from covassay.verification.audit.engine.shapes import Shapes, grid
from covassay.verification.audit.profiles import entrywise_laplace, gaussian_covariance
from covassay.verification.audit.profiles.profile import ClaimUnderAudit, Profile, common_pairs
from covassay.verification.audit.profiles.wrong_scales import scale_suspects
from covassay.verification.statistics.tests import TestResult, binomial

N = 12
DIMENSIONS = (1, 2, 4)
NAMES = frozenset({"discrete-laplace-covariance", "discrete-gaussian-covariance"})
ZEROS, ON_THE_LATTICE = "zeros", "on the lattice"
ROUNDINGS = 4  # of float64, between an integer and the residual in which it is seen
SEEN = 0.25  # of the unit: an error of this size still shows which integer was meant
UNSEEN = 1e-10  # probability by which the law at neighbouring integers may differ where they cannot be told apart
COARSE = 1e-3  # from this probability of one value on, equal draws are no surprise

Tail = Callable[[Vector], Vector]  # k ≥ 0 -> P(|Z| ≥ k)


@dataclass(frozen=True)
class Lattice:
    """A data set, the unit of the outputs on it, and the law of Z: its tail, and the continuous law that it resembles.

    quantile : p -> the number beyond which, on either side, the continuous law has probability p.
    """

    x: Matrix
    input_bits: int
    tail: Tail
    quantile: Callable[[Vector], Vector]

    @property
    def moment(self) -> Matrix:
        """Σ, the second moment of the integer rows."""
        data = exact_data(self.x, input_bits=self.input_bits)
        return in_units(data.products, data.unit)

    @property
    def unit(self) -> float:
        """The distance of neighbouring outputs."""
        return 1 / (len(self.x) * 4.0**self.input_bits)

    def counts(self, outputs: Matrix) -> Matrix:
        """Z for every output."""
        whole: Matrix = np.rint((outputs - self.moment) / self.unit)
        return whole

    def spread(self, outputs: Matrix) -> Matrix:
        """The continuous number for every entry of Z."""
        z = self.counts(outputs)
        rng = np.random.default_rng(z.shape)
        size, share = np.abs(z), rng.random(z.shape)
        beyond = self.tail(size + 1)
        number = self.quantile(beyond + share * (self.tail(size) - beyond))
        spread: Matrix = np.where(z == 0, np.where(rng.random(z.shape) < 0.5, -1, 1), np.sign(z)) * number
        return spread

    def own(self, values: Matrix) -> Vector:
        """The entries on and above the diagonal, of all draws."""
        i, j = np.triu_indices(self.x.shape[1])
        entries: Vector = values[:, i, j].ravel()
        return entries

    def zeros(self, outputs: Matrix) -> TestResult:
        """Z is 0 as often as its law says."""
        z = self.own(self.counts(outputs))
        at_zero = 1 - float(self.tail(np.array(1.0)))
        return binomial(int((z == 0).sum()), len(z), at_zero, f"an entry of Z is 0 with probability {at_zero:.3g}")

    def on_the_lattice(self, outputs: Matrix) -> TestResult:
        """Every output is a multiple of the unit, as far as float64 can tell."""
        off = self.own(np.abs((outputs - self.moment) / self.unit - self.counts(outputs)))
        error = ROUNDINGS * 2.0**-53 * self.own(np.abs(outputs) + np.abs(self.moment)) / self.unit
        outside = int(((off > error) & (error < SEEN)).sum())
        return binomial(outside, len(off), 0.0, f"every entry is a multiple of {self.unit:.3g}")

    def tests(self) -> dict[str, Test]:
        """The two tests that only a lattice has."""
        return {ZEROS: self.zeros, ON_THE_LATTICE: self.on_the_lattice}


def sizes(input_bits: int, tail: Tail) -> tuple[tuple[int, int], ...]:
    """The shapes at which float64 shows Z, or at which it does not matter which of neighbouring integers Z is."""
    at_zero = 1 - float(tail(np.array(1.0)))
    error = ROUNDINGS * 2.0**-53 * 4.0**input_bits
    return tuple((n, d) for n, d in grid() if n * error < SEEN or n * error * at_zero < UNSEEN)


# DISCRETE LAPLACE


def laplace_scale(claim: ClaimUnderAudit, d: int) -> float:
    """The scale t of the noise, in units of the lattice."""
    change = discrete_laplace_covariance.sensitivity(d, input_bits(claim))
    return float(discrete_laplace_covariance.noise_scale(change, claim.budget["epsilon"]))


def input_bits(claim: ClaimUnderAudit) -> int:
    """The number b of bits: rows are rounded toward zero to multiples of 2^−b."""
    return int(claim.parameter("input_bits"))


def laplace_tail(t: float) -> Tail:
    """The tail of |Z|."""
    return lambda k: np.where(k > 0, discrete_laplace.tail(k, t), 1.0)


@dataclass(frozen=True)
class SpreadLaplace(entrywise_laplace.EntrywiseNoise):
    """The noise E of entrywise Laplace noise, seen through a lattice; `scale` is t."""

    input_bits: int

    @property
    def lattice(self) -> Lattice:
        """The lattice on which it is seen."""
        return Lattice(self.x, self.input_bits, laplace_tail(self.scale), lambda p: -np.log(p))

    def residuals(self, outputs: Matrix) -> Matrix:
        """E for every output."""
        return self.lattice.spread(outputs)

    def norm(self, factor: float) -> Test:
        """The test that ‖E‖₁ has its Gamma law, if the noise has that multiple of its scale."""
        return super().norm(1.0) if factor == 1 else replace(self, scale=factor * self.scale).norm(1.0)


def laplace_profile(claim: ClaimUnderAudit) -> Profile:
    """Scenarios and pairs of the discrete Laplace covariance."""
    b = input_bits(claim)

    def scenario(n: int, d: int) -> Scenario:
        t = laplace_scale(claim, d)
        noise = SpreadLaplace(example_rows(n, d), t, False, b)
        found = entrywise_laplace.noise_scenario(noise, math.sqrt(2) * 4**b / claim.budget["epsilon"] / t)
        return replace(found, tests={**found.tests, **noise.lattice.tests()})

    def statistics(first: Matrix, second: Matrix) -> tuple[Statistic, ...]:
        d = first.shape[1]
        seen = [SpreadLaplace(x, laplace_scale(claim, d), False, b).lattice for x in (first, second)]
        (one, other), own, scale = (s.moment for s in seen), np.triu_indices(d), laplace_scale(claim, d) * seen[0].unit

        def ratio(y: Matrix) -> Vector:
            gap: Vector = (np.abs(y - other) - np.abs(y - one))[:, own[0], own[1]].sum(axis=1) / scale
            return gap

        return (Statistic("log likelihood ratio", ratio), *generic_statistics(first, second, OUTPUTS["matrix"])[:1])

    def pairs(_: frozenset[str]) -> tuple[Pair, ...]:
        worst = []
        for d, weight in ((2, 2.0), (4, 1.0)):
            first, second = neighbours(np.zeros((1, d)), *block_pair(d))
            worst.append(Pair(f"the worst rows, d={d}", first, second, statistics(first, second), weight))
        return (*worst, *common_pairs(OUTPUTS["matrix"], statistics, (1, 2)))

    shapes = Shapes(
        scenario,
        ("entrywise norm", "all entries", "total scale"),
        lambda d: d * (d + 1) / 2,
        sizes(b, laplace_tail(laplace_scale(claim, 1))),
    )
    form = replace(claim.form, repeats=atom(claim) > COARSE)
    return Profile(form, tuple(scenario(N, d) for d in DIMENSIONS), pairs, shapes=shapes)


# DISCRETE GAUSSIAN


def gaussian_scale(claim: ClaimUnderAudit, d: int) -> float:
    """The deviation σ of the noise, in units of the lattice."""
    change = discrete_gaussian_covariance.sensitivity_squared(d, input_bits(claim))
    return math.sqrt(discrete_gaussian_covariance.noise_variance(change, claim.budget["rho"]))


def gaussian_tail(sigma: float) -> Tail:
    """The tail of |Z|."""
    return lambda k: discrete_gaussian.tail(k, sigma)


@dataclass(frozen=True)
class SpreadGaussian(gaussian_covariance.GaussianNoise):
    """The noise E of GaussCov, seen through a lattice; `scale` is σ in whole numbers."""

    x: Matrix
    input_bits: int

    @property
    def lattice(self) -> Lattice:
        """The lattice on which it is seen."""
        return Lattice(self.x, self.input_bits, gaussian_tail(self.scale), lambda p: -ndtri(p / 2))

    def residuals(self, outputs: Matrix) -> Matrix:
        """E for every output."""
        return self.lattice.spread(outputs)


def gaussian_profile(claim: ClaimUnderAudit) -> Profile:
    """Scenarios and pairs of the discrete Gaussian covariance."""
    b = input_bits(claim)

    def noise(x: Matrix, factor: float = 1.0) -> SpreadGaussian:
        d = x.shape[1]
        return SpreadGaussian(np.zeros((d, d)), factor * gaussian_scale(claim, d), "wigner", x, b)

    def scenario(n: int, d: int) -> Scenario:
        x = example_rows(n, d)
        lattice = noise(x).lattice
        tests = {**gaussian_covariance.tests_of(noise(x)), **lattice.tests()}
        estimate = gaussian_covariance.scale_estimate(lattice.moment, gaussian_scale(claim, d) * lattice.unit, "wigner")
        return Scenario(f"d={d}", x, tests, scale_suspects(lambda factor: noise(x, factor).squared_norm), (estimate,))

    def statistics(first: Matrix, second: Matrix) -> tuple[Statistic, ...]:
        change = np.triu(noise(first).lattice.moment - noise(second).lattice.moment)

        def ratio(y: Matrix) -> Vector:
            values: Vector = np.einsum("nij,ij->n", y, change) * len(first)
            return values

        return (
            Statistic("log likelihood ratio, up to a factor", ratio),
            *generic_statistics(first, second, OUTPUTS["matrix"])[:1],
        )

    pairs = common_pairs(OUTPUTS["matrix"], statistics, (1, 2, 3))
    shapes = Shapes(
        scenario,
        gaussian_covariance.SHAPE_TESTS,
        lambda d: d * (d + 1) / 2,
        sizes(b, gaussian_tail(gaussian_scale(claim, 1))),
    )
    form = replace(claim.form, repeats=atom(claim) > COARSE)
    return Profile(form, tuple(scenario(N, d) for d in DIMENSIONS), lambda _: pairs, shapes=shapes)


def atom(claim: ClaimUnderAudit) -> float:
    """The largest probability of one value of one entry of the noise; 0 if the noise has a density."""
    if claim.mechanism.name not in NAMES:
        return 0.0
    if "epsilon" in claim.budget:
        return float(discrete_laplace.pmf(0, laplace_scale(claim, 1)))
    return float(discrete_gaussian.pmf(np.array(0.0), gaussian_scale(claim, 1)))
