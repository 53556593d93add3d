"""CoinPress mean: known answers, the spend of every step, the law of one step.

Statistical tests have fixed seeds. With a random seed, each would raise a false alarm with probability at most 1e-9.
"""

import math
from typing import Any

import mpmath
import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.gaussian_estimation import coinpress_mean as mechanism
from covassay.reference.mechanisms.gaussian_estimation.coinpress_covariance import Constants, budgets, pressed
from covassay.reference.mechanisms.gaussian_estimation.coinpress_mean import (
    clip_radius,
    next_radius,
    noise_scale,
    release,
    row_bound,
    sample,
    spend,
)
from covassay.reference.privacy import ZCDP
from covassay.verification.statistics.tests import kolmogorov_smirnov
from tests.conventions import FALSE_ALARM, SEEDS, Matrix
from tests.reference.mechanisms.gaussian_estimation.coinpress import BAD_ARGUMENTS, neighbours

CONSTANTS: tuple[Constants, ...] = ("paper", "code")


# Known answers


def test_one_step_agrees_with_a_hand_calculation() -> None:
    # d = 1, n = 2, β = .1: L = ln 20, γ₁ = √(1 + 2 √L + 2L) = √10.4531013 = 3.2331256; τ = 5 + γ₁ = 8.2331256
    # rows 3 and 100: 100 comes to τ; mean 5.6165628; ρ = 2: σ = 2τ/(2 · 2) = 4.1165628; N = −1: 1.5
    got = release([[3.0], [100.0]], np.array([[-1.0]]), rho=2, radius=5, steps=1)
    np.testing.assert_allclose(got, [1.5], rtol=1e-7)


def test_two_steps_agree_with_a_hand_calculation() -> None:
    # "code", d = 1, n = 1, ρ = 8: ρ_1 = 2, ρ_2 = 6. L = ln 100 = 4.60517: γ² = 1 + 2 √L + 2L = 14.5023343, γ = 3.80819
    # r = 1: τ = min(4.8081930, √(1 + 6 + 14.5023343) = 4.6370609); x = 100 comes to τ; σ = 2τ/2 = τ; N = −1: c = 0
    # r = γ √(1 + τ²) = 18.0647: τ = min(21.8729, √(326.33 + 108.388 + 14.502) = 21.1948); x = 2 stays; σ = 2τ/√12
    noise = np.array([[-1.0], [0.5]])
    r = 3.8081930 * math.sqrt(1 + 4.6370609**2)
    tau = math.sqrt(r**2 + 6 * r + 14.5023343)
    near = release([[4.6370609]], noise, rho=8, constants="code", radius=1, steps=2)
    np.testing.assert_allclose(near, [4.6370609 + tau / math.sqrt(12)], rtol=1e-5)
    far = release([[100.0]], noise, rho=8, constants="code", radius=1, steps=2)
    np.testing.assert_allclose(far, [tau + tau / math.sqrt(12)], rtol=1e-5)  # each step starts from the row itself


def test_without_noise_and_clipping_the_release_is_the_mean() -> None:
    x = np.random.default_rng(0).standard_normal((40, 3)) + np.array([1.0, -2.0, 3.0])
    for steps in (1, 2, 5):
        for constants in CONSTANTS:
            got = release(x, np.zeros((steps, 3)), rho=1, constants=constants, steps=steps)
            np.testing.assert_allclose(got, x.mean(axis=0), rtol=1e-12)


def test_far_rows_are_brought_back_towards_the_centre() -> None:
    x, noise = np.random.default_rng(1).standard_normal((30, 2)), np.random.default_rng(2).standard_normal((3, 2))
    far = [release(np.vstack([x, [k, 2 * k]]), noise, rho=0.5) for k in (1e8, 1e12)]
    np.testing.assert_allclose(far[0], far[1], rtol=1e-6)
    assert np.abs(far[0] - release(np.vstack([x, [-1e8, 0]]), noise, rho=0.5)).max() > 0.1


@pytest.mark.parametrize(("change", "message"), [({"radius": 0.0}, "radius = "), *BAD_ARGUMENTS])
def test_bad_parameters_are_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        release(np.eye(2), np.zeros((3, 2)), **{"rho": 1.0, **change})


# Formulas


def test_the_formulas_agree_with_a_hand_calculation() -> None:
    assert clip_radius(3, 4, "paper") == 7
    assert clip_radius(2, 3, "code") == 5  # √(4 + 12 + 9) = 5, as r + γ
    assert clip_radius(4, 3, "code") == 7  # √(16 + 24 + 9) = 7
    assert clip_radius(10, 5, "code") == pytest.approx(math.sqrt(185), rel=1e-15)
    tau, n, rho = sympy.symbols("tau n rho", positive=True)
    sigma = noise_scale(tau, n, rho)
    assert sympy.simplify(sympy.nsimplify((2 * tau / n) ** 2 / (2 * sigma**2)) - rho) == 0
    # d = 4, β = 1/e: γ₂ = √(4 + 4 + 2); 1/n + σ² = 1/4 + 9/4
    beta = mpmath.exp(-1)
    assert mpmath.almosteq(next_radius(4, 4, 1.5, beta, "paper", mpmath.log), 5, 1e-14)
    assert mpmath.almosteq(row_bound(2, 4, 2 * beta, "paper", mpmath.log), mpmath.sqrt(10), 1e-14)


# What is spent


def divergence_over_alpha(
    first: Matrix, second: Matrix, centre: Matrix, tau: float, sigma: float
) -> float:  # Gaussian shift: exact
    means = [pressed(rows - centre, np.eye(len(centre)), tau).mean(axis=0) for rows in (first, second)]
    change = means[0] - means[1]
    return float(change @ change) / (2 * sigma**2)


@settings(max_examples=60)
@given(seed=SEEDS, d=st.integers(1, 4), n=st.integers(1, 4))
def test_no_pair_spends_more_about_any_centre(seed: int, d: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    first, second = neighbours(rng, n, d, (1.0, 1e3))
    spent = divergence_over_alpha(first, second, 5 * rng.standard_normal(d), 2.0, noise_scale(2.0, n, 1.0))
    assert spent <= 1 + 1e-12


def spent_in_all_steps(far: float, steps: int, constants: Any, monkeypatch: pytest.MonkeyPatch, d: int) -> float:
    """Σ_j |change|²/(2σ_j²) along one run, ρ = 1, at opposite rows of that norm."""
    first = np.random.default_rng(3).standard_normal((6, d))
    second = first.copy()
    first[-1], second[-1] = np.eye(d)[0] * far, -np.eye(d)[0] * far
    seen: list[tuple[Matrix, float]] = []

    def recorded(rows: Any, a: Matrix, radius: float) -> Any:
        seen.append((first[0] - rows[0], radius))
        return pressed(rows, a, radius)

    monkeypatch.setattr(mechanism, "pressed", recorded)
    sample(first, np.random.default_rng(4), rho=1.0, steps=steps, constants=constants)
    return sum(
        divergence_over_alpha(first, second, centre, tau, noise_scale(tau, 6, rho))
        for (centre, tau), rho in zip(seen, budgets(1.0, steps), strict=True)
    )


@pytest.mark.parametrize("d", [1, 3])
@pytest.mark.parametrize("constants", CONSTANTS)
@pytest.mark.parametrize("steps", [1, 2, 5])
def test_opposite_rows_far_out_spend_what_is_proven(
    steps: int, constants: Any, d: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    near, far = (spent_in_all_steps(size, steps, constants, monkeypatch, d) for size in (2.0, 1e7))
    assert near < 0.9
    assert far == pytest.approx(1, rel=1e-6)
    assert spend(rho=1, dimension=d, constants=constants).proven == ZCDP(1)
    assert spend(rho=1, dimension=d, constants=constants).claimed == ZCDP(1)


def test_a_sensitivity_of_the_radius_in_place_of_the_diameter_spends_four_times_as_much() -> None:
    first, second = np.array([[1e9], [0.0]]), np.array([[-1e9], [0.0]])
    for sigma, spent in ((noise_scale(3.0, 2, 1.0), 1), (3.0 / (2 * math.sqrt(2)), 4)):
        assert divergence_over_alpha(first, second, np.zeros(1), 3.0, sigma) == pytest.approx(spent, rel=1e-12)


# The draws


def test_the_draw_is_the_release_of_its_noise() -> None:
    x = np.random.default_rng(1).standard_normal((20, 3))
    noise = np.random.default_rng(6).standard_normal((2, 3))
    np.testing.assert_array_equal(
        sample(x, np.random.default_rng(6), rho=2, steps=2), release(x, noise, rho=2, steps=2)
    )


def test_one_step_has_its_exact_law() -> None:
    # 3000 draws, d = 2, n = 6, β = .1, radius 1, ρ = 1/2: σ = 2τ/n; no row is clipped, the mean is 0
    rng = np.random.default_rng(8)
    x = np.array([[0.5, 0.0], [-0.5, 0.0], [0.0, 0.5], [0.0, -0.5], [1.0, 1.0], [-1.0, -1.0]])
    tau = 1 + math.sqrt(2 + 2 * math.sqrt(2 * math.log(60)) + 2 * math.log(60))
    draws = np.array([sample(x, rng, rho=0.5, radius=1, steps=1) for _ in range(3000)])
    for values in (draws[:, 0], draws[:, 1], draws.sum(axis=1) / math.sqrt(2)):
        standard = values / (tau / 3)
        assert kolmogorov_smirnov(standard, stats.norm.cdf, "N(0, 1)").p_value > FALSE_ALARM
        assert kolmogorov_smirnov(2 * standard, stats.norm.cdf, "half the noise").p_value < FALSE_ALARM


def test_more_steps_are_more_accurate_when_the_radius_is_loose() -> None:
    # d = 50, n = 5000, ρ = .5, radius 10 √50, "code": the noise alone of one step has norm √50 · 2τ/n
    rng = np.random.default_rng(9)
    mean = np.full(50, 1.0)
    errors = []
    for steps in (1, 2, 4):
        runs = [
            sample(rng.standard_normal((5000, 50)) + mean, rng, rho=0.5, constants="code", radius=10 * math.sqrt(50),
                   steps=steps)
            for _ in range(5)
        ]  # fmt: skip
        errors.append(float(np.mean([np.linalg.norm(c - mean) for c in runs])))
    assert errors[0] > 1.3 * errors[1] > 1.3 * 0.9 * errors[2]
