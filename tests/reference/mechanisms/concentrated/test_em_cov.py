"""Test EMCov: data of one column, and the privacy cost of the Laplace noise on its eigenvalues.

The cost is computed from exact Rényi divergences.
"""

import math

import numpy as np
import pytest

from covassay.reference.mechanisms.concentrated.em_cov import eigenvalue_loss, eigenvalue_scale, release
from covassay.reference.mechanisms.pure.iterative_eigenvectors import IterativeEigenvectorsNoise
from tests.reference.mechanisms.directions import GivenDirections

ORDERS = [1.001, 1.1, 2.0, 5.0, 50.0, 1000.0]


def test_one_feature_needs_no_direction() -> None:
    """Test that no direction is drawn for a single column, and that the noise has the right scale."""
    got = release([[0.5], [-0.5]], IterativeEigenvectorsNoise(np.array([3.0]), GivenDirections()), rho=1.0)
    np.testing.assert_allclose(got, [[(0.5 + 2 * 3) / 2]], rtol=1e-15)


def laplace_divergence(shift: float, alpha: float) -> float:
    """Return the Rényi divergence of order α between Laplace(1) and its shift (Mironov 2017, Proposition 6)."""
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
    # Two eigenvalues change by 1 each, and the divergence of both is at most α ρ/4. The bound is approached as ρ → 0.
    shift = 1 / eigenvalue_scale(rho, "reconstructed")
    slopes = [2 * laplace_divergence(shift, alpha) / alpha for alpha in ORDERS]
    assert max(slopes) <= eigenvalue_loss(rho, 2, "reconstructed") == pytest.approx(rho / 4)
    # At order 1 the divergence is 2 (h + e^{−h} − 1) for the shift h = √ρ/2.
    assert slopes[0] == pytest.approx(2 * (shift + math.exp(-shift) - 1), rel=2e-3)
    if rho == 0.01:
        assert max(slopes) > 0.97 * rho / 4


def test_the_experiments_of_the_paper_spent_more_than_they_claimed() -> None:
    # The paper's experiments used ε = ρ + 2√(ρ ln(1/δ)) = 3.135 for ρ = 0.1 and δ = 1e-10.
    # The eigenvalues got the noise Laplace(4/ε).
    rho = 0.1
    epsilon = rho + 2 * math.sqrt(rho * math.log(1e10))
    assert epsilon == pytest.approx(3.135, abs=5e-4)
    spent = 2 * laplace_divergence(epsilon / 4, 1.0001) / 1.0001
    assert spent == pytest.approx(4.8 * rho, rel=0.01)
