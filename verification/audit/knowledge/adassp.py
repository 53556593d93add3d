"""The law of the coefficient that AdaSSP releases is known exactly on data with one feature.

Let a be the feature and y the label of a row, and let g = Σ a² and v = Σ ya. The released coefficient is Y = (v +
s₃N)/(g + λ + s₂W), where N and W are standard normal, s₂ and s₃ are noise scales, and the ridge penalty λ depends on
another normal variable Z with the scale s₁. For a given penalty λ, the coefficient Y is a ratio of two Gaussian
variables. For a given ridge penalty, the distribution function of the released coefficient is therefore known exactly.
Since the penalty is not observed, the distribution function of the coefficient Y is an integral over the normal
variable Z of the penalty.

If g = Σ a² is far above the noise scales, the ridge penalty λ is 0 and the denominator is positive, except with
probability below 1e-30. If the ridge penalty is 0, the coefficient Y determines a number (Yg − v)/√(s₃² + Y²s₂²) that
is N(0, 1). Two data sets on which the ridge penalty is 0 distinguish errors in the noise scale s₃ from errors in s₂. On
a third data set the ridge penalty varies between its limits, so that errors in the noise scale s₁ are detected as well.
For several features no exact law is known, and draws of the target are compared with draws of the reference.
"""

import math
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.special import ndtr, ndtri, owens_t

from covassay.reference.domain import Matrix, Vector, second_moment
from covassay.reference.mechanisms.building_blocks.private_trace import gaussian_margin
from covassay.reference.mechanisms.concentrated import adassp as mechanism
from covassay.reference.mechanisms.output import OUTPUTS
from covassay.verification.audit.engine.contract import example_rows
from covassay.verification.audit.engine.events import Pair, Statistic, generic_statistics
from covassay.verification.audit.engine.law import Scenario, Suspect, Test
from covassay.verification.audit.engine.shapes import ROWS, Shapes
from covassay.verification.audit.knowledge.known import Known
from covassay.verification.audit.knowledge.shared import near_choices, reference_draws
from covassay.verification.audit.knowledge.shared.data_paths import SAME_MOMENT, NotAdditive
from covassay.verification.audit.knowledge.shared.profile import ClaimUnderAudit, KnownLaw, common_pairs
from covassay.verification.statistics.laws import NORMAL
from covassay.verification.statistics.tests import TestResult, gamma_total, kolmogorov_smirnov

FAR = 12.0  # a normal variable exceeds this many standard deviations with probability below 1e-30
TINY = 1e-12  # this number replaces a mean of 0 in the denominator of a formula
ROUNDING = 1e-14  # the distribution function is clipped this far from 0 and 1 before the normal quantile is taken
NODES = 40  # the number of Gauss–Legendre nodes for the integral over the normal variable of the penalty
PLAIN = "the coefficient is (v + s₃N)/(g + s₂W)"


def ratio_cdf(t: Vector, numerator: float, denominator: Vector, over: float, under: float) -> Vector:
    """Return P((a + oN)/(b + uW) ≤ t) for independent standard normal N and W, for t of shape (n, 1) and b ≥ 0 of shape
    (k,).

    The ratio of the two normal variables is at most t if A = a + oN − t(b + uW) and B = b + uW have opposite signs. The
    numbers A and B are jointly normal with the correlation −tu/√(o² + t²u²), and Owen's T function gives the
    probability of each combination of their signs.
    """
    spread = np.sqrt(over**2 + (t * under) ** 2)
    r, q = t * under / spread, over / spread
    k = np.maximum(denominator / under, TINY)
    h = (t * k * under - numerator) / spread
    with np.errstate(divide="ignore", invalid="ignore"):  # the lines below compute the probability in the case h = 0
        first, second = owens_t(h, (k - r * h) / (h * q)), owens_t(k, (h - r * k) / (k * q))
    probability: Vector = 1 - 2 * np.where(h == 0, 0.25, first) - 2 * second - (h < 0)
    return probability


@dataclass(frozen=True)
class OneFeature:
    """The law of the coefficient on data with one feature a and the label y. The law depends on the data through g = Σ
    a² and v = Σ ya. The noise scales are `eigen`, `matrix` and `vector`.
    """

    g: float
    v: float
    eigen: float
    matrix: float
    vector: float
    beta: float

    def penalties(self) -> tuple[Vector, Vector]:
        """Return the nodes and weights of a quadrature over the ridge penalty λ, with the two limits of λ among the
        nodes.
        """
        target = mechanism.target_eigenvalue(1, self.matrix, self.beta)
        margin = gaussian_margin(self.beta)
        low, high = margin - self.g / self.eigen, margin + (target - self.g) / self.eigen
        nodes, weights = np.polynomial.legendre.leggauss(NODES)
        z = (low + high) / 2 + (high - low) / 2 * nodes
        between = weights * (high - low) / 2 * np.exp(-(z**2) / 2) / math.sqrt(2 * math.pi)
        values = [mechanism.penalty(self.g + self.eigen * (at - margin), target) for at in (low, high, *z)]
        return np.array(values, dtype=np.float64), np.array([ndtr(low), ndtr(-high), *between])

    def cdf(self, t: Vector) -> Vector:
        """P(Y ≤ t)."""
        values, weights = self.penalties()
        ratios = ratio_cdf(np.asarray(t)[:, None], self.v, self.g + values, self.vector, self.matrix)
        return np.clip(ratios @ weights, 0.0, 1.0)

    def standard(self, y: Vector) -> Vector:
        """Return (Yg − v)/√(s₃² + Y²s₂²), which is N(0, 1) if the ridge penalty is 0 and the denominator is
        positive.
        """
        values: Vector = (y * self.g - self.v) / np.hypot(self.vector, y * self.matrix)
        return values

    def log_density(self, y: Vector) -> Vector:
        """Return the logarithm of the density of the coefficient, up to a constant, if the ridge penalty is 0."""
        slope = self.g * self.vector**2 + self.v * y * self.matrix**2
        spread = np.hypot(self.vector, y * self.matrix)
        return np.asarray(np.log(np.maximum(slope, 1e-300)) - 3 * np.log(spread) - self.standard(y) ** 2 / 2)


@dataclass(frozen=True)
class Scales:
    """The noise scales of AdaSSP under the claim, and the laws that follow from these scales."""

    eigen: float
    matrix: float
    vector: float
    beta: float

    @property
    def plenty(self) -> float:
        """Return a value of g = Σ a² so large that the ridge penalty is 0, except with probability below 1e-30."""
        target = float(mechanism.target_eigenvalue(1, self.matrix, self.beta))
        return max(target + self.eigen * (float(gaussian_margin(self.beta)) + FAR), 2 * FAR * self.matrix)

    @property
    def between(self) -> float:
        """Return a value of g = Σ a² for which the ridge penalty is as likely to be at its lower limit as at its upper
        limit.
        """
        return float(
            self.eigen * gaussian_margin(self.beta) + mechanism.target_eigenvalue(1, self.matrix, self.beta) / 2
        )

    def on(self, x: Matrix, eigen: float = 1.0, matrix: float = 1.0, vector: float = 1.0) -> OneFeature:
        """Return the law of the coefficient on these rows; `eigen`, `matrix` and `vector` multiply the claimed noise
        scales.
        """
        g, v = len(x) * second_moment(x)[0]
        return OneFeature(float(g), float(v), eigen * self.eigen, matrix * self.matrix, vector * self.vector, self.beta)


def rows(g: float, slope: float) -> Matrix:
    """Return equal rows (a, y) of length 1 with y = slope · a, as many as are needed for Σ a² ≥ g."""
    size = 1 / math.hypot(1, slope)
    return np.tile([size, slope * size], (math.ceil(g / size**2), 1))


def plenty_scenario(name: str, x: Matrix, scales: Scales, suspects: dict[str, str]) -> Scenario:
    """Return the tests on data where the ridge penalty is 0. The keys of `suspects` name noise scales, and each value
    is a phrase that describes the noise, such as "the noise of Σ ya".
    """

    def normal(law: OneFeature) -> Test:
        return lambda y: kolmogorov_smirnov(law.standard(y[:, 0]), NORMAL, PLAIN)

    def total(outputs: Matrix) -> TestResult:
        null = "the sum of the squares of (Yg − v)/√(s₃² + Y²s₂²) over n draws ~ χ²(n)"
        return gamma_total(scales.on(x).standard(outputs[:, 0]) ** 2 / 2, 0.5, null, power=2)

    def times(factor: float, of: str) -> Test:
        return normal(scales.on(x, **{of: factor}))

    found = [Suspect.times(f"half-{of}", f"{what} has half the calibrated scale: too little noise", 0.5,
                           partial(times, of=of)) for of, what in suspects.items()]  # fmt: skip
    found += [Suspect.times(f"double-{of}", f"{what} has twice the calibrated scale: wasteful", 2.0,
                            partial(times, of=of)) for of, what in suspects.items()]  # fmt: skip
    return Scenario(name, x, {"coefficient": normal(scales.on(x)), "total scale": total}, tuple(found))


def any_scenario(name: str, x: Matrix, scales: Scales) -> Scenario:
    """Return the test of the coefficient by its distribution function, on data with one feature."""

    def normal(law: OneFeature, outputs: Matrix) -> Vector:
        return np.asarray(ndtri(np.clip(law.cdf(outputs[:, 0]), ROUNDING, 1 - ROUNDING)))

    def test(law: OneFeature) -> Test:
        null = "the coefficient is (v + s₃N)/(g + λ + s₂W)"
        return lambda y: kolmogorov_smirnov(normal(law, y), NORMAL, null)

    def total(outputs: Matrix) -> TestResult:
        null = "the sum of the squares of Φ⁻¹(F(Y)) over n draws ~ χ²(n)"
        return gamma_total(normal(scales.on(x), outputs) ** 2 / 2, 0.5, null, power=2)

    def eigen(factor: float) -> Test:
        return test(scales.on(x, eigen=factor))

    suspects = (
        Suspect.times("half-eigen", "the eigenvalue noise has half the calibrated scale", 0.5, eigen),
        Suspect.times("double-eigen", "the eigenvalue noise has twice the calibrated scale", 2.0, eigen),
    )
    return Scenario(name, x, {"penalised coefficient": test(scales.on(x)), "total scale": total}, suspects)


def likelihood_ratio(first: OneFeature, second: OneFeature) -> Statistic:
    """Return the log likelihood ratio of the coefficient between two data sets on which the ridge penalty is 0."""
    return Statistic("log likelihood ratio", lambda y: first.log_density(y[:, 0]) - second.log_density(y[:, 0]))


def opposite_records(scales: Scales) -> Pair:
    """Return neighbours that differ in one record, whose labels have opposite signs. One of the statistics of an
    output is the log likelihood ratio of its regression coefficient between the two data sets.
    """
    base, half = rows(scales.plenty, 0.0), math.sqrt(0.5)
    first, second = (np.vstack([base, [half, side * half]]) for side in (1, -1))
    statistics = (
        likelihood_ratio(scales.on(first), scales.on(second)),
        *generic_statistics(first, second, OUTPUTS["coefficients"])[:1],
    )
    return Pair("records that pull to either side, d=2", first, second, statistics)


def law(claim: ClaimUnderAudit) -> KnownLaw:
    """Return what is known of the law of the coefficients. For one feature, tests use the exact law. For several
    features, tests compare draws of the target with draws of the reference.
    """
    rho, calibration = claim.budget["rho"], claim.options["calibration"]
    scales = Scales(
        mechanism.eigenvalue_scale(rho),
        mechanism.matrix_scale(rho, calibration),
        mechanism.vector_scale(rho, calibration),
        claim.parameter("beta"),
    )
    vector, matrix = {"vector": "the noise of Σ ya"}, {"matrix": "the noise of Σ aaᵀ"}
    scenarios = (
        plenty_scenario("no penalty, no signal, d=2", rows(scales.plenty, 0.0), scales, vector),
        plenty_scenario("no penalty, a steep line, d=2", rows(scales.plenty, 4.0), scales, matrix),
        any_scenario("a penalty, d=2", rows(scales.between, 8.0), scales),
        reference_draws.scenario(claim, 6, 3, 0.5),
        reference_draws.scenario(claim, 400, 4, 0.5),
    )
    shapes = Shapes(
        lambda n, d: any_scenario(f"n={n}", example_rows(n, d), scales),
        ("penalised coefficient", "total scale"),
        lambda d: 1,
        tuple((n, 2) for n in ROWS),
    )
    pairs = (opposite_records(scales), *common_pairs(OUTPUTS["coefficients"], dimensions=(2, 3)))
    return KnownLaw(scenarios, pairs, shapes)


KNOWN = Known(
    law,
    NotAdditive(
        "the coefficients solve equations with a noisy matrix and a penalty that is itself drawn",
        SAME_MOMENT,
        continuous=True,
    ),
    bits_unseen="an output is a quotient of noisy sums. The denominator has 53 random bits, so the quotient can be any "
    "float in a range",
    choices=lambda claim: near_choices.small_eigenvalues(mechanism.eigenvalue_scale(claim.budget["rho"])),
)
