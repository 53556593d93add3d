"""Test iterative eigenvector sampling on data with separated eigenvalues, whose output shows all random draws.

Suppose that the eigenvalues λ_i of the data lie many noise scales apart, and let λ̂_1 > … > λ̂_d be the sorted
eigenvalues of the output, and θ_1, …, θ_d its eigenvectors. The differences λ̂_i − λ_i are independent Laplace
variables, and the eigenvector θ_1, as well as θ_2 given θ_1, has a Bingham law that is known exactly. The probability
integral transform of θ_2 is therefore uniform, whatever θ_1 is.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.special import i0e

from covassay.reference.domain import Matrix, Vector
from covassay.reference.laws import bingham as law
from covassay.reference.sensitivity import neighbours, orthonormal_pair
from covassay.verification.audit.engine.events import Pair, Statistic
from covassay.verification.audit.engine.law import Scenario, Suspect, Test
from covassay.verification.audit.engine.shapes import Shapes
from covassay.verification.audit.knowledge.shared.noise_entries import of_steps
from covassay.verification.statistics.tests import TestResult, independence, kolmogorov_smirnov

# for this gap between eigenvalues in noise scales, noise changes their order with probability below e^{-60}
SEPARATION = 60.0
SEPARATED_COLUMNS = 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12


def circle_cdf(w: Vector, decay: Vector) -> Vector:
    """Return the distribution function of w = sin²θ for an angle θ with a density proportional to exp(−decay sin²θ),
    elementwise.

    Such an angle θ follows the Bingham law in dimension 2. The normalising constant of the density is a Bessel
    function: ∫_0^{π/2} e^{−a sin²θ} dθ = (π/2) e^{−a/2} I₀(a/2).
    """
    nodes, weights = np.polynomial.legendre.leggauss(64)
    top = np.arcsin(np.sqrt(np.clip(w, 0.0, 1.0)))
    theta = top[:, None] * (nodes + 1) / 2
    integral = top / 2 * (np.exp(-decay[:, None] * np.sin(theta) ** 2) @ weights)
    values: Vector = np.clip(integral / (math.pi / 2 * i0e(decay / 2)), 0.0, 1.0)
    return values


def uniform_cdf(t: Vector) -> Vector:
    """Return the distribution function of the uniform law on (0, 1)."""
    return np.clip(t, 0.0, 1.0)


# the function takes (eigenvalues (size, d), n) and returns the exponents η_1, …, η_{d−1} of every draw
Exponents = Callable[[Matrix, int], Matrix]


@dataclass(frozen=True)
class SeparatedEigenvalues:
    """Rows along the axes for which the eigenvalues of XᵀX are `gap` apart, and the tests of draws on these rows.

    The noise λ̂_i − λ_i of an eigenvalue, divided by `scale`, has the distribution function `cdf`; `null` names the law
    of the noise. `apart` says whether the exponents are independent of the noisy eigenvalues.
    """

    dimension: int
    gap: int
    scale: float
    cdf: Callable[[Vector], Vector]
    null: str
    exponents: Exponents
    apart: bool = True

    @property
    def counts(self) -> NDArray[np.int_]:
        """Return the eigenvalues of XᵀX for these rows in descending order."""
        return self.gap * np.arange(self.dimension, 0, -1)

    @property
    def n(self) -> int:
        """Return the number of rows."""
        return int(self.counts.sum())

    def spectrum(self, outputs: Matrix) -> tuple[Matrix, Matrix]:
        """Return, for n times each output, the eigenvalues in descending order and the eigenvectors."""
        values, vectors = np.linalg.eigh((outputs + np.swapaxes(outputs, 1, 2)) / 2 * self.n)
        return values[:, ::-1], vectors[:, :, ::-1]

    def eigenvalue(self, i: int, factor: float = 1.0) -> Test:
        """Return the test that the noise of one eigenvalue has its law, if its scale is multiplied by `factor`."""

        def test(outputs: Matrix) -> TestResult:
            values, _ = self.spectrum(outputs)
            noise = (values[:, i] - self.counts[i]) / (self.scale * factor)
            return kolmogorov_smirnov(noise, self.cdf, f"λ̂{i + 1} − λ{i + 1} ~ {self.null}")

        return test

    def independence(self, outputs: Matrix) -> TestResult:
        """Test that the noises of two eigenvalues are independent."""
        values, _ = self.spectrum(outputs)
        return independence(values[:, 0], values[:, 1], "λ̂1 and λ̂2 are independent")

    def direction(self, i: int, factor: float = 1.0) -> Test:
        """Return the test of the eigenvector θ_i given θ_1, …, θ_{i−1}, for i = 1 or i = d − 1, if the exponents are
        multiplied by `factor`.
        """
        null = f"direction {i + 1} follows the exact Bingham law given the directions before it"

        def test(outputs: Matrix) -> TestResult:
            values, vectors = self.spectrum(outputs)
            eta = self.exponents(values, self.n)[:, i] * factor
            if self.dimension - i == 2:
                return kolmogorov_smirnov(self._on_the_last_circle(vectors[:, :, i:], eta), uniform_cdf, null)
            counts = self.counts.astype(np.float64)
            projection = law.projection_cdf(eta[0] * np.diag(counts), range(1, self.dimension))
            return kolmogorov_smirnov(1 - vectors[:, 0, 0] ** 2, projection, null)

        return test

    def _on_the_last_circle(self, left: Matrix, eta: Vector) -> Vector:
        """Return the probability integral transforms of eigenvector number d − 1.

        The last two eigenvectors lie in a plane, which the columns of `left` span. The second moment, restricted to the
        plane of the last two eigenvectors, has two eigenvectors that are known. The component of the sampled vector
        along the eigenvector with the smaller eigenvalue has a known law.
        """
        reduced = np.einsum("nji,j,njk->nik", left, self.counts.astype(np.float64), left)
        levels, axes = np.linalg.eigh(reduced)
        return circle_cdf(axes[:, 0, 0] ** 2, eta * (levels[:, 1] - levels[:, 0]))

    def all_eigenvalues(self, outputs: Matrix) -> TestResult:
        """Test that the noises of all eigenvalues have their law."""
        values, _ = self.spectrum(outputs)
        return kolmogorov_smirnov(
            ((values - self.counts) / self.scale).ravel(), self.cdf, f"λ̂i − λi ~ {self.null} for every i"
        )

    def in_short(self) -> Scenario:
        """Return a scenario of these rows, with only those tests of the law that are possible in every dimension."""
        tests: dict[str, Test] = {"all eigenvalues": self.all_eigenvalues}
        tests["last direction"] = self.direction(self.dimension - 2)
        x = np.repeat(np.eye(self.dimension), self.counts, axis=0)
        return Scenario(f"separated eigenvalues, d={self.dimension}", x, tests)

    def scenario(self) -> Scenario:
        """Return a scenario: the rows, all tests of the law, and the laws that plausible mistakes would give."""
        d = self.dimension
        tests: dict[str, Test] = {f"eigenvalue {i + 1}": self.eigenvalue(i) for i in range(d)}
        tests["independence"] = self.independence
        tests |= {f"direction {i + 1}": self.direction(i) for i in range(d - 1)}
        tests |= of_steps(d, lambda y: self.spectrum(y)[0] - self.counts, lambda y: self.spectrum(y)[1], self.apart)
        values, directions = partial(self.eigenvalue, 0), partial(self.direction, 0)
        half, twice = (f"the eigenvalue noise has {times} the calibrated scale" for times in ("half", "twice"))
        suspects = (
            Suspect.times("half-eigenvalue-noise", half, 0.5, values),
            Suspect.times("double-eigenvalue-noise", twice, 2.0, values),
            Suspect.times("quadruple-exponent", "the exponents are four times the calibrated ones", 4.0, directions),
            Suspect.times("double-exponent", "the exponents are twice the calibrated ones", 2.0, directions),
        )
        x = np.repeat(np.eye(d), self.counts, axis=0)
        return Scenario(f"separated eigenvalues, d={d}", x, tests, suspects)


def separated(
    d: int, scale: float, cdf: Callable[[Vector], Vector], null: str, exponents: Exponents, apart: bool = True
) -> SeparatedEigenvalues:
    """Return rows whose eigenvalues are `SEPARATION` noise scales apart."""
    return SeparatedEigenvalues(d, math.ceil(SEPARATION * scale), scale, cdf, null, exponents, apart)


def separated_shapes(at: Callable[[int], SeparatedEigenvalues]) -> Shapes:
    """Return data with separated eigenvalues in every dimension of `SEPARATED_COLUMNS`."""
    sizes = tuple((at(d).n, d) for d in SEPARATED_COLUMNS)
    return Shapes(lambda n, d: at(d).in_short(), ("all eigenvalues", "last direction"), lambda d: d / 3, sizes)


def eigenvalue_pair(gap: int) -> Pair:
    """Return neighbours whose eigenvalues lie far apart; one gap between eigenvalues is `gap` + 1 in one data set and
    `gap` − 1 in the other.

    The statistic is the gap between the two eigenvalues of the output. The tested event is that this gap lies beyond a
    threshold. The threshold is not fixed in advance: pilot draws choose it. Under zCDP, the audit also tests the Rényi
    divergence of this statistic.
    """
    first, second = neighbours(np.repeat(np.eye(2), [2 * gap, gap], axis=0), *orthonormal_pair(2))

    def gaps(y: Matrix) -> Vector:
        differences: Vector = np.ptp(np.linalg.eigvalsh((y + np.swapaxes(y, 1, 2)) / 2), axis=1) * len(first)
        return differences

    return Pair("separated eigenvalues, d=2", first, second, (Statistic("n(λ̂1 − λ̂2)", gaps),))
