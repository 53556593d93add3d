"""Gaussian mechanism under zCDP: known answers, sensitivity, exact law and Rényi divergence.

Statistical tests have a fixed seed and state n. With a random seed, each would raise a false alarm with probability at
most 1e-9.
"""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from covassay.reference.domain import second_moment, unit_rows
from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.building_blocks.gaussian import (
    noise_scale,
    perturb,
    release,
    sample,
    second_moments_sensitivity,
    spend,
)
from covassay.reference.privacy import ZCDP
from covassay.reference.sensitivity import one_sided_pair, orthonormal_pair
from covassay.verification.statistics.tests import independence, kolmogorov_smirnov
from tests.conventions import SEEDS


def test_the_release_agrees_with_a_hand_calculation() -> None:
    # n = 2: Σ_11 = .18, Σ_22 = .445; ρ = 1/4: σ = (√2/2)/√(1/2) = 1
    x = np.array([[0.6, 0.8], [0.0, 0.5]])
    np.testing.assert_allclose(release(x, np.array([1.0, -0.5]), rho=0.25), [1.18, -0.055], rtol=1e-12)
    np.testing.assert_allclose(release(10 * x, np.zeros(2), rho=0.25, row_bound=10), [18, 44.5], rtol=1e-14)
    # one feature: σ = (1/2)/√(1/2) = √(1/2)
    got = release([[0.5], [1.0]], np.array([math.sqrt(2)]), rho=0.25)
    np.testing.assert_allclose(got, [1.625], rtol=1e-15)


def test_any_value_can_be_perturbed() -> None:
    got = perturb(np.array([[1.0, 2.0]]), np.array([[0.5, -1.0]]), sensitivity=3, rho=4.5)
    np.testing.assert_array_equal(got, [[1.5, 1.0]])


@pytest.mark.parametrize("noise", [np.zeros(3), np.zeros((2, 1)), 0.0, np.full(2, math.nan)])
def test_bad_noise_is_refused(noise: Any) -> None:
    with pytest.raises(InvalidInput, match=r"^noise"):
        release(np.eye(2), noise, rho=1.0)


def test_the_formulas_run_on_symbols() -> None:
    s, rho = sympy.symbols("s rho", positive=True)
    assert sympy.nsimplify(sympy.simplify(s**2 / (2 * noise_scale(s, rho) ** 2) / rho)) == 1
    assert noise_scale(Fraction(3), Fraction(9, 2)) == 1
    np.testing.assert_allclose([second_moments_sensitivity(4, d) for d in (1, 2)], [0.25, math.sqrt(2) / 4])


@settings(max_examples=60)
@given(seed=SEEDS, d=st.integers(1, 6))
def test_one_row_moves_the_moments_by_their_sensitivity_at_most(seed: int, d: int) -> None:
    x, y = unit_rows(np.random.default_rng(seed).standard_normal((2, d)) ** 3)
    assert np.linalg.norm(x**2 - y**2) <= second_moments_sensitivity(1, d) + 1e-12


def renyi(shift: float, sigma: float, alpha: float) -> float:
    """D_α between N(shift, σ²) and N(0, σ²), by integration."""

    def integrand(t: float) -> float:
        ratio = stats.norm.logpdf(t, shift, sigma) - stats.norm.logpdf(t, 0, sigma)
        return math.exp(alpha * ratio + stats.norm.logpdf(t, 0, sigma))

    centre = alpha * shift
    value, _ = integrate.quad(integrand, centre - 12 * sigma, centre + 12 * sigma, points=[centre])
    return math.log(value) / (alpha - 1)


@pytest.mark.parametrize("d", [1, 2, 5])
def test_the_spend_is_the_attained_divergence(d: int) -> None:
    result = spend(rho=0.3, dimension=d)
    assert (result.claimed, result.attained) == (ZCDP(0.3), True)
    assert result.proven.rho == pytest.approx(0.3, rel=1e-14)  # type: ignore[union-attr]
    # the direction of the shift is one coordinate of an orthonormal basis: a divergence in one dimension
    shifts = [
        float(
            np.linalg.norm(np.subtract(*(np.diag(second_moment(np.vstack([np.zeros((2, d)), row]))) for row in pair)))
        )
        for pair in (orthonormal_pair(d), one_sided_pair(d))
    ]
    sigma = noise_scale(second_moments_sensitivity(3, d), 0.3)
    for alpha in (1.5, 2.0, 8.0):
        assert renyi(max(shifts), sigma, alpha) == pytest.approx(0.3 * alpha, rel=1e-8)
        mutant = sigma / math.sqrt(2)  # the sensitivity 1 where it is √2
        assert renyi(max(shifts), mutant, alpha) == pytest.approx(0.6 * alpha, rel=1e-8)


def test_the_release_has_its_exact_law() -> None:
    # 6000 features, n = 4, Σ = 0; ρ = 1/4: σ = (√2/4)/√(1/2) = 1/2
    draws = sample(np.zeros((4, 6000)), np.random.default_rng(2), rho=0.25).reshape(3000, 2)
    for column in draws.T:
        assert kolmogorov_smirnov(column, stats.norm(0, 0.5).cdf, "exact").p_value > 1e-9
        assert kolmogorov_smirnov(column, stats.norm(0, 0.35).cdf, "σ/√2").p_value < 1e-9
    assert independence(draws[:, 0], draws[:, 1], "independent").p_value > 1e-9
