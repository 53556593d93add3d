"""Test the CoinPress mean: its formulas, and rows that are far away."""

import math

import mpmath
import numpy as np
import pytest
import sympy

from covassay.reference.mechanisms.gaussian_estimation.coinpress_mean import (
    clip_radius,
    next_radius,
    noise_scale,
    release,
    row_bound,
)


def test_far_rows_are_brought_back_towards_the_centre() -> None:
    x, noise = np.random.default_rng(1).standard_normal((30, 2)), np.random.default_rng(2).standard_normal((3, 2))
    far = [release(np.vstack([x, [k, 2 * k]]), noise, rho=0.5) for k in (1e8, 1e12)]
    np.testing.assert_allclose(far[0], far[1], rtol=1e-6)
    assert np.abs(far[0] - release(np.vstack([x, [-1e8, 0]]), noise, rho=0.5)).max() > 0.1


def test_the_formulas_agree_with_a_hand_calculation() -> None:
    assert clip_radius(3, 4, "paper") == 7
    assert clip_radius(2, 3, "code") == 5  # √(4 + 12 + 9) = 5, which equals r + γ
    assert clip_radius(4, 3, "code") == 7  # √(16 + 24 + 9) = 7
    assert clip_radius(10, 5, "code") == pytest.approx(math.sqrt(185), rel=1e-15)
    tau, n, rho = sympy.symbols("tau n rho", positive=True)
    sigma = noise_scale(tau, n, rho)
    assert sympy.simplify(sympy.nsimplify((2 * tau / n) ** 2 / (2 * sigma**2)) - rho) == 0
    # With d = 4 and β = 1/e, γ₂ = √(4 + 4 + 2), and 1/n + σ² = 1/4 + 9/4.
    beta = mpmath.exp(-1)
    assert mpmath.almosteq(next_radius(4, 4, 1.5, beta, "paper", mpmath.log), 5, 1e-14)
    assert mpmath.almosteq(row_bound(2, 4, 2 * beta, "paper", mpmath.log), mpmath.sqrt(10), 1e-14)
