"""Test EMCov: one feature, and the spend of Laplace noise on its eigenvalues, from exact divergences."""

import math

import numpy as np
import pytest

from covassay.reference.mechanisms.concentrated.em_cov import eigenvalue_loss, eigenvalue_scale, release
from covassay.reference.mechanisms.pure.iterative_eigenvectors import IterativeEigenvectorsNoise
from tests.reference.mechanisms.directions import GivenDirections

ORDERS = [1.001, 1.1, 2.0, 5.0, 50.0, 1000.0]


def test_one_feature_needs_no_direction() -> None:
    """This test catches a draw of a direction, or a wrong noise scale, where there is only one column."""
    got = release([[0.5], [-0.5]], IterativeEigenvectorsNoise(np.array([3.0]), GivenDirections()), rho=1.0)
    np.testing.assert_allclose(got, [[(0.5 + 2 * 3) / 2]], rtol=1e-15)


def laplace_divergence(shift: float, alpha: float) -> float:
    """Return the Rényi divergence D_α between Laplace(1) and the same law shifted (Mironov 2017, Proposition 6)."""
    log_terms = [
        math.log(alpha / (2 * alpha - 1)) + (alpha - 1) * shift,
        math.log((alpha - 1) / (2 * alpha - 1)) - alpha * shift,
    ]
    return float(np.logaddexp(*log_terms)) / (alpha - 1)


def test_the_laplace_divergence_is_that_of_the_densities() -> None:
    grid = np.linspace(-60, 60, 2_000_001)
    for shift, alpha in [(0.5, 2.0), (1.3, 3.0)]:
        one, two = -np.abs(grid) - math.log(2), -np.abs(grid - shift) - math.log(2)
        integral = np.trapezoid(np.exp(alpha * one + (1 - alpha) * two), grid)
        assert laplace_divergence(shift, alpha) == pytest.approx(math.log(integral) / (alpha - 1), rel=1e-6)


@pytest.mark.parametrize("rho", [0.01, 0.3, 2.0])
def test_laplace_eigenvalue_noise_spends_at_most_a_quarter(rho: float) -> None:
    # Two eigenvalues move by 1 each, and 2 D_α ≤ α ρ/4. The divergence approaches the bound ρ/4 as ρ → 0.
    shift = 1 / eigenvalue_scale(rho, "reconstructed")
    slopes = [2 * laplace_divergence(shift, alpha) / alpha for alpha in ORDERS]
    assert max(slopes) <= eigenvalue_loss(rho, 2, "reconstructed") == pytest.approx(rho / 4)
    # At order α = 1 the ratio 2 D_α/α is exactly 2 (h + e^{−h} − 1) with h = √ρ/2.
    assert slopes[0] == pytest.approx(2 * (shift + math.exp(-shift) - 1), rel=2e-3)
    if rho == 0.01:
        assert max(slopes) > 0.97 * rho / 4


def test_the_experiments_of_the_paper_spent_more_than_they_claimed() -> None:
    # ρ = .1 and δ = 1e-10 give ε = ρ + 2√(ρ ln(1/δ)) = 3.135. The eigenvalues of C got Laplace(4/ε) noise.
    rho = 0.1
    epsilon = rho + 2 * math.sqrt(rho * math.log(1e10))
    assert epsilon == pytest.approx(3.135, abs=5e-4)
    spent = 2 * laplace_divergence(epsilon / 4, 1.0001) / 1.0001
    assert spent == pytest.approx(4.8 * rho, rel=0.01)
