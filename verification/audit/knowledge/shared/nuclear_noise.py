"""Test additive nuclear-Laplace noise, and state the law of mechanisms that add such noise.

Let Y be the output, Σ the second moment and ρ the noise scale. The audit knows the data, so it observes the
standardised noise E = (Y − Σ)/ρ. The nuclear norm of the noise E has a Gamma law, and the distribution function of its
spectral norm is a Pfaffian. The nuclear norm and the spectral norm are independent of the singular vectors, which have
the Haar law.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import scipy

from covassay.reference.domain import Matrix, Vector, second_moment
from covassay.reference.laws import haar
from covassay.reference.laws import nuclear_laplace as law
from covassay.reference.mechanisms.counted import RowsAndSumOutput
from covassay.reference.mechanisms.output import OUTPUTS
from covassay.reference.mechanisms.pure.nuclear_laplace import noise_scale
from covassay.verification.audit.engine.contract import example_rows
from covassay.verification.audit.engine.events import Statistic, generic_statistics
from covassay.verification.audit.engine.law import Scenario, Suspect, Test
from covassay.verification.audit.engine.shapes import Shapes, grid
from covassay.verification.audit.knowledge.shared.counted_noise import MatrixNoise
from covassay.verification.audit.knowledge.shared.profile import ClaimUnderAudit, KnownLaw, Pairs, common_pairs
from covassay.verification.audit.knowledge.shared.wrong_scales import HALF_AND_DOUBLE, scale_suspects
from covassay.verification.statistics.laws import gamma as gamma_law
from covassay.verification.statistics.tests import (
    TestResult,
    binomial,
    gamma_scale,
    gamma_total,
    independence,
    kolmogorov_smirnov,
)

CONFIDENCE = 0.999
N = 12
DIMENSIONS = (1, 2, 3, 6)
# these tests take little time for every number d of columns
SHAPE_TESTS = "nuclear norm", "left vectors", "right vectors", "total scale"
TABLE_SIZE = 600  # the number of points in the table of the distribution function of the spectral norm
TABLE_TAIL = 1e-8  # the table ends at twice the number that the spectral norm exceeds with this probability


def residuals(outputs: Matrix, x: Matrix, scale: float) -> Matrix:
    """Return the standardised noise E = (Y − Σ)/ρ for every output Y."""
    noise: Matrix = (outputs - second_moment(x)) / scale
    return noise


@lru_cache(maxsize=32)
def spectral_cdf(d: int, symmetric: bool) -> Callable[[Vector], Vector]:
    """Return the distribution function of the spectral norm of the noise, from a table with an error below 1e-6."""
    top = 2 * law.spectral_norm_quantile(d, 1 - TABLE_TAIL, symmetric)
    grid = top * np.linspace(0, 1, TABLE_SIZE) ** 1.5
    table = scipy.interpolate.PchipInterpolator(grid, law.spectral_norm_cdf(d, grid, symmetric))
    return lambda t: np.clip(table(np.clip(t, 0.0, top)), 0.0, 1.0)


@dataclass(frozen=True)
class NuclearNoise:
    """The noise on one data set, and its tests."""

    x: Matrix
    scale: float
    symmetric: bool

    @property
    def dimension(self) -> int:
        """Return the number of columns of the data."""
        return int(self.x.shape[1])

    def residuals(self, outputs: Matrix) -> Matrix:
        """Return the standardised noise matrix E for every output."""
        return residuals(outputs, self.x, self.scale)

    def singular(self, outputs: Matrix) -> tuple[Matrix, Matrix, Matrix]:
        """Return U, s and V of the singular value decomposition E = U diag(s) Vᵀ of the noise of every output."""
        u, s, vt = np.linalg.svd(self.residuals(outputs))
        return u, s, np.swapaxes(vt, 1, 2)

    def nuclear_norm(self, outputs: Matrix) -> TestResult:
        """Test that the nuclear norm of the noise has its Gamma law."""
        s = self.singular(outputs)[1].sum(axis=1)
        null = f"‖E‖_* ~ Gamma({law.radius_shape(self.dimension, self.symmetric):g})"
        return kolmogorov_smirnov(s, gamma_law(float(law.radius_shape(self.dimension, self.symmetric))), null)

    def total(self, outputs: Matrix) -> TestResult:
        """Test that the sum of the nuclear norms of the noise over all draws has its Gamma law."""
        shape = float(law.radius_shape(self.dimension, self.symmetric))
        null = f"the sum of ‖E‖_* over n draws ~ Gamma({shape:g} n)"
        return gamma_total(law.nuclear_norm(self.residuals(outputs)), shape, null)

    def spectral_norm(self, outputs: Matrix) -> TestResult:
        """Test that the spectral norm of the noise has its exact law."""
        s = self.singular(outputs)[1].max(axis=1)
        kind = "symmetric nuclear-Laplace" if self.symmetric else "nuclear-Laplace"
        cdf = spectral_cdf(self.dimension, self.symmetric)
        return kolmogorov_smirnov(s, cdf, f"‖E‖ follows the exact {kind} law")

    def independence(self, outputs: Matrix) -> TestResult:
        """Test that the nuclear norm of the noise and the relative sizes of its singular values are independent."""
        s = self.singular(outputs)[1]
        total = s.sum(axis=1)
        return independence(total, s.max(axis=1) / total, "‖E‖_* and ‖E‖/‖E‖_* are independent")

    def _first_vector(self, vectors: Matrix, side: str) -> TestResult:
        null = f"the first {side} singular vector is uniform on the sphere"
        return kolmogorov_smirnov(vectors[:, 0, 0] ** 2, lambda w: haar.squared_coordinate_cdf(w, self.dimension), null)

    def left_vectors(self, outputs: Matrix) -> TestResult:
        """Test that the first left singular vector of the noise is uniform."""
        return self._first_vector(self.singular(outputs)[0], "left")

    def right_vectors(self, outputs: Matrix) -> TestResult:
        """Test that the first right singular vector of the noise is uniform."""
        return self._first_vector(self.singular(outputs)[2], "right")

    def pair_sign(self, outputs: Matrix) -> TestResult:
        """Test that the signs of the first left and the first right singular vector of the noise are independent."""
        u, _, v = self.singular(outputs)
        positive = int((u[:, 0, 0] * v[:, 0, 0] > 0).sum())
        return binomial(positive, len(outputs), 0.5, "the signs of the first singular pair agree with probability 1/2")

    def determinant_sign(self, outputs: Matrix) -> TestResult:
        """Test that the determinant of the noise is positive with probability ½."""
        positive = int((np.linalg.det(self.residuals(outputs)) > 0).sum())
        return binomial(positive, len(outputs), 0.5, "det E is positive with probability 1/2")

    def trace_sign(self, outputs: Matrix) -> TestResult:
        """Test that the trace of the noise is positive with probability ½."""
        positive = int((np.trace(self.residuals(outputs), axis1=1, axis2=2) > 0).sum())
        return binomial(positive, len(outputs), 0.5, "tr E is positive with probability 1/2")

    def gamma(self, shape: float, factor: float) -> Test:
        """Return the test that the nuclear norm of the noise has a given Gamma law."""

        def test(outputs: Matrix) -> TestResult:
            s = law.nuclear_norm(self.residuals(outputs)) / factor
            return kolmogorov_smirnov(s, gamma_law(shape), f"Gamma({shape:g}), {factor:g} times the scale")

        return test


def noise_tests(x: Matrix, scale: float, symmetric: bool) -> dict[str, Test]:
    """Return the tests of the noise on one data set by their names."""
    noise = NuclearNoise(x, scale, symmetric)
    tests: dict[str, Test] = {
        "nuclear norm": noise.nuclear_norm,
        "total scale": noise.total,
        "spectral norm": noise.spectral_norm,
        "trace sign": noise.trace_sign,
    }
    if noise.dimension > 1:
        tests |= {"independence": noise.independence, "left vectors": noise.left_vectors}
    if noise.dimension > 1 and not symmetric:
        tests |= {
            "right vectors": noise.right_vectors,
            "pair sign": noise.pair_sign,
            "determinant sign": noise.determinant_sign,
        }
    return tests


def noise_suspects(x: Matrix, scale: float, symmetric: bool) -> tuple[Suspect, ...]:
    """Return laws of plausible mistakes, each with a test by the nuclear norm of the noise."""
    noise = NuclearNoise(x, scale, symmetric)
    shape = float(law.radius_shape(noise.dimension, symmetric))

    def times(factor: float) -> Test:
        return noise.gamma(shape, factor)

    suspects = (
        *scale_suspects(times, HALF_AND_DOUBLE),
        Suspect.times(
            "n-forgotten", f"the scale was not divided by n = {len(x)}: private but wasteful", float(len(x)), times
        ),
        Suspect.times(
            "rate-for-scale",
            "the Gamma law was given the inverse scale: its rate in place of its scale",
            1 / scale**2,
            times,
        ),
    )
    other = float(law.radius_shape(noise.dimension, not symmetric))
    if other == shape:
        return suspects
    wrong, right = ("d²", "d(d+1)/2") if symmetric else ("d(d+1)/2", "d²")
    text = f"the nuclear norm has Gamma shape {wrong} in place of {right}"
    return (*suspects, Suspect("gamma-shape", text, noise.gamma(other, 1.0), times))


def interval_meaning(lower: float, upper: float) -> str:
    """Return the end of a sentence on a confidence interval of the relative noise scale. It says what an interval
    without the number 1 means, and is empty if the interval contains 1.
    """
    if upper < 1:
        return ": the noise is too small, a privacy defect"
    return ": the noise is too large, a utility defect" if lower > 1 else ""


def scale_estimate(x: Matrix, scale: float, symmetric: bool) -> Callable[[Matrix], str]:
    """Return a sentence that states a confidence interval of the noise scale as a multiple of the claimed scale."""

    def sentence(outputs: Matrix) -> str:
        shape = float(law.radius_shape(x.shape[1], symmetric))
        interval = gamma_scale(law.nuclear_norm(residuals(outputs, x, scale)), shape, CONFIDENCE)
        meaning = interval_meaning(interval.lower, interval.upper)
        return (
            f"noise scale, if the nuclear norm is Gamma({shape:g}): {interval.lower:.3f} to {interval.upper:.3f} times "
            f"the calibrated one at {CONFIDENCE:.1%}{meaning}"
        )

    return sentence


def noise_scenario(name: str, x: Matrix, centred_on: Matrix, scale: float, symmetric: bool) -> Scenario:
    """Return the tests of the noise on the rows x, laws of plausible mistakes, and an estimate of the noise scale.

    The noise is the output minus the second moment of the rows `centred_on`.
    """
    given = centred_on, scale, symmetric
    return Scenario(name, x, noise_tests(*given), noise_suspects(*given), (scale_estimate(*given),))


def shapes(scenario: Callable[[int, int], Scenario], symmetric: bool, fewest_rows: int = 1) -> Shapes:
    """Return the law for all numbers of rows and columns."""
    sizes = grid(fewest_rows=fewest_rows)
    return Shapes(scenario, SHAPE_TESTS, lambda d: float(law.radius_shape(d, symmetric)), sizes)


def likelihood_ratio(first: Matrix, second: Matrix, scale: float, shape_gap: float) -> Statistic:
    """Return the exact log likelihood ratio of the output between two data sets.

    `shape_gap` is k − D if the norm of the noise has the law Gamma(k), where the claimed law is Gamma(D).
    """
    a, b = second_moment(first), second_moment(second)

    def values(y: Matrix) -> Vector:
        near, far = law.nuclear_norm(y - a), law.nuclear_norm(y - b)
        with np.errstate(divide="ignore"):
            radial = shape_gap * (np.log(near) - np.log(far)) if shape_gap else 0.0
        ratio: Vector = radial + (far - near) / scale
        return ratio

    return Statistic("log likelihood ratio", values)


def law_of_counted(claim: ClaimUnderAudit, scales: Callable[[int], tuple[float, float]]) -> KnownLaw:
    """Return the law of a noisy number of rows and a noisy sum, with the given noise scales for d columns."""
    output = claim.output
    if not isinstance(output, RowsAndSumOutput):
        raise TypeError(f"{output}: must be rows and a sum")
    symmetric = output.entries == "triangle"

    def tests(x: Matrix, scale: float) -> Scenario:
        return noise_scenario("", x, x, scale, symmetric)

    def units(d: int) -> float:
        return float(law.radius_shape(d, symmetric))

    return MatrixNoise(output, scales, tests, law.nuclear_norm, SHAPE_TESTS, units).known


def law_of_perturbation(claim: ClaimUnderAudit) -> KnownLaw:
    """Return the law of Σ + ρZ, where the noise Z is symmetric if the output is symmetric."""
    symmetric, epsilon = claim.mechanism.output.symmetric, claim.budget["epsilon"]

    def scenario(n: int, d: int) -> Scenario:
        x = example_rows(n, d)
        return noise_scenario(f"d={d}", x, x, noise_scale(n, epsilon), symmetric)

    def pairs(fitted: frozenset[str]) -> Pairs:
        def statistics(first: Matrix, second: Matrix) -> tuple[Statistic, ...]:
            d = first.shape[1]
            other = float(law.radius_shape(d, not symmetric) - law.radius_shape(d, symmetric))
            gap = other if "gamma-shape" in fitted else 0.0
            ratio = likelihood_ratio(first, second, noise_scale(len(first), epsilon), gap)
            return (ratio, *generic_statistics(first, second, OUTPUTS["matrix"])[:1])

        return common_pairs(OUTPUTS["matrix"], statistics, (1, 2, 3))

    return KnownLaw(tuple(scenario(N, d) for d in DIMENSIONS), pairs, shapes(scenario, symmetric))
