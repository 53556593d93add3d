"""The law of NaivePCE is known exactly on two kinds of data.

On zero rows in one dimension the output is max(0, σN), where σ is the noise scale and N is standard normal. If the
second moment is far inside the positive semidefinite cone, the projection to the cone changes nothing, and the output
is the second moment of the rows that are kept, plus noise. In the test of NaivePCE, the second data set has some rows
that are too long, which a correct mechanism drops. The worst neighbours for privacy differ in orthogonal rows of the
largest norm that the mechanism keeps.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from covassay.reference.domain import Matrix, Vector, second_moment
from covassay.reference.mechanisms.gaussian_estimation import naive_pce as mechanism
from covassay.reference.mechanisms.output import OUTPUTS
from covassay.reference.sensitivity import neighbours
from covassay.verification.audit.engine.events import Pair, generic_statistics
from covassay.verification.audit.engine.law import Scenario, Test
from covassay.verification.audit.engine.shapes import COLUMNS, Shapes
from covassay.verification.audit.knowledge.known import Known
from covassay.verification.audit.knowledge.shared.data_paths import SAME_SQUARES_OF_ANY_ROWS, NotAdditive
from covassay.verification.audit.knowledge.shared.long_rows import in_one_round
from covassay.verification.audit.knowledge.shared.noise_entries import with_entries
from covassay.verification.audit.knowledge.shared.profile import ClaimUnderAudit, KnownLaw, common_pairs
from covassay.verification.audit.knowledge.shared.wrong_scales import scale_suspects
from covassay.verification.statistics.laws import NORMAL, chi_square
from covassay.verification.statistics.tests import TestResult, gamma_total, independence, kolmogorov_smirnov

MARGIN = 150.0  # this is the value of n√ρ/6 on data inside the cone whose eigenvalues exceed 60 noise deviations
DIMENSION = 4  # the number of columns of the data inside the cone
MOST_COLUMNS = 12
ZERO_ROWS = 10


@dataclass(frozen=True)
class CovarianceNoise:
    """The parameters that determine the noise scale and the norm above which rows are dropped."""

    rho: float
    kappa: float
    beta: float
    calibration: str

    def radius(self, n: int, d: int) -> float:
        """Return the norm above which NaivePCE drops a row."""
        return math.sqrt(mechanism.radius_squared(n, d, self.kappa, self.beta))

    def deviation(self, n: int, d: int) -> float:
        """Return the standard deviation σ of the noise."""
        return math.sqrt(mechanism.noise_variance(n, self.rho, self.radius(n, d) ** 2, self.calibration))


def zero_rows(about: CovarianceNoise) -> Scenario:
    """Return zero rows in one dimension, with the test that the output is max(0, σN) with a standard normal N."""
    deviation = about.deviation(ZERO_ROWS, 1)

    def positive_part(factor: float) -> Test:
        def cdf(t: Vector) -> Vector:
            return np.where(t < 0, 0.0, ndtr(t / (factor * deviation)))

        return lambda outputs: kolmogorov_smirnov(outputs[:, 0, 0], cdf, "Y follows max(0, σN)")

    tests = {"trace": positive_part(1.0)}
    return Scenario("all rows zero, d=1", np.zeros((ZERO_ROWS, 1)), tests, scale_suspects(positive_part))


@dataclass(frozen=True)
class InsideTheCone:
    """A data set whose second moment is so far inside the cone that the output is the second moment plus noise."""

    x: Matrix
    moment: Matrix
    deviation: float

    @property
    def dimension(self) -> int:
        """Return the number of columns of the data."""
        return len(self.moment)

    def entry(self, outputs: Matrix) -> TestResult:
        """Test that the noise of an entry off the diagonal is Gaussian."""
        standard = (outputs[:, 0, 1] - self.moment[0, 1]) / self.deviation
        return kolmogorov_smirnov(standard, NORMAL, "Y_12 − M_12 ~ N(0, σ²)")

    def radius_squared(self, factor: float) -> Test:
        """Return the test that the squared norm of the noise on and above the diagonal is χ², if the noise scale is
        multiplied by `factor`.
        """
        i, j = np.triu_indices(self.dimension)
        null = f"Σ_(i≤j) (Y_ij − M_ij)²/σ² ~ χ² with {len(i)} degrees"

        def test(outputs: Matrix) -> TestResult:
            standard = (outputs - self.moment)[:, i, j] / (factor * self.deviation)
            return kolmogorov_smirnov((standard**2).sum(axis=1), chi_square(len(i)), null)

        return test

    def total(self, outputs: Matrix) -> TestResult:
        """Test that the sum over all draws of the squared norm of the noise on and above the diagonal is χ²."""
        i, j = np.triu_indices(self.dimension)
        squares = (((outputs - self.moment)[:, i, j] / self.deviation) ** 2).sum(axis=1)
        null = f"the sum of the squared norms over n draws is χ² with {len(i)} n degrees"
        return gamma_total(squares / 2, len(i) / 2, null, power=2)

    def trace(self, outputs: Matrix) -> TestResult:
        """Test that the noise of the trace is Gaussian."""
        change = np.trace(outputs, axis1=1, axis2=2) - np.trace(self.moment)
        standard = change / (math.sqrt(self.dimension) * self.deviation)
        return kolmogorov_smirnov(standard, NORMAL, "tr Y − tr M ~ N(0, dσ²)")

    def entries(self, outputs: Matrix) -> TestResult:
        """Test that the noise of all entries on and above the diagonal is Gaussian."""
        i, j = np.triu_indices(self.dimension)
        values = ((outputs - self.moment)[:, i, j] / self.deviation).ravel()
        return kolmogorov_smirnov(values, NORMAL, "Y_ij − M_ij ~ N(0, σ²) for all i ≤ j")

    def independence(self, outputs: Matrix) -> TestResult:
        """Test that the noises of two entries are independent."""
        return independence(outputs[:, 0, 0], outputs[:, 0, 1], "Y_11 and Y_12 are independent")

    def scenario(self) -> Scenario:
        """Return this data set with its tests and with the laws of plausible mistakes."""
        tests: dict[str, Test] = {
            "radius": self.radius_squared(1.0),
            "total scale": self.total,
            "trace": self.trace,
            "entry (1, 2)": self.entry,
            "all entries": self.entries,
            "independence": self.independence,
        }
        name = f"inside the cone, d={self.dimension}"
        seen = Scenario(name, self.x, tests, scale_suspects(self.radius_squared))
        return with_entries(seen, self.moment, symmetric=True, independent=True)


def inside_the_cone(about: CovarianceNoise, d: int) -> InsideTheCone:
    """Return rows along the axes that are short enough to be kept, with every third row replaced by a row that is far
    too long.
    """
    n = rows_inside(about, d)
    r = about.radius(n, d)
    x = 0.9 * r * np.eye(d)[(np.arange(n) - np.arange(n) // 3) % d]
    x[2::3] = 3 * r / math.sqrt(d)
    return InsideTheCone(x, second_moment(mechanism.drop_long(x, r)), about.deviation(n, d))


def rows_inside(about: CovarianceNoise, d: int) -> int:
    """Return how many rows make every eigenvalue larger than 60 standard deviations of the noise."""
    return 6 * math.ceil(MARGIN * d / DIMENSION / math.sqrt(about.rho))


def worst_pair(about: CovarianceNoise, n: int) -> Pair:
    """Return neighbours with n + 1 rows; the two differing rows are orthogonal and nearly as long as the longest row
    that is kept."""
    r = about.radius(n + 1, 2)
    first, second = neighbours(0.9 * r * np.eye(2)[np.arange(n) % 2], *(0.999 * r * np.eye(2)))
    statistics = generic_statistics(first, second, OUTPUTS["matrix"])
    return Pair("orthogonal rows of length r, d=2", first, second, statistics)


def law(claim: ClaimUnderAudit) -> KnownLaw:
    """Return the law on both kinds of data, and neighbours that differ in rows of the largest norm that is kept."""
    about = CovarianceNoise(
        claim.budget["rho"], claim.parameter("kappa"), claim.parameter("beta"), claim.options["calibration"]
    )
    pairs = (worst_pair(about, rows_inside(about, DIMENSION)), *common_pairs(OUTPUTS["matrix"], weight=0.5))
    shapes = Shapes(
        lambda n, d: inside_the_cone(about, d).scenario(),
        ("radius", "all entries", "total scale"),
        lambda d: d * (d + 1) / 10,
        tuple((rows_inside(about, d), d) for d in COLUMNS if 1 < d <= MOST_COLUMNS),
    )
    scenarios = (zero_rows(about), inside_the_cone(about, DIMENSION).scenario())
    return KnownLaw(scenarios, pairs, shapes)


KNOWN = Known(
    law,
    NotAdditive("the noisy matrix is projected onto the positive semidefinite matrices", SAME_SQUARES_OF_ANY_ROWS),
    choices=in_one_round,
)
