"""Output perturbation for ridge: known answers, both sensitivities against pairs, the exact law of the noise.

Statistical tests have fixed seeds. With a random seed, each would raise a false alarm with probability at most 1e-9.
"""

import math
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from covassay.reference.domain import second_moment, unit_rows
from covassay.reference.downstream.ridge import coefficients
from covassay.reference.errors import InvalidInput
from covassay.reference.laws import haar
from covassay.reference.mechanisms.parameters import CALIBRATIONS
from covassay.reference.mechanisms.pure.output_perturbation import (
    draw_noise,
    draw_vector,
    gradient_change,
    largest_norm,
    noise_scale,
    release,
    sample,
    sensitivity,
    spend,
)
from covassay.reference.privacy import PureDP
from covassay.verification.audit.knowledge.output_perturbation import worst_pair
from covassay.verification.statistics.tests import independence, kolmogorov_smirnov
from tests.conventions import FALSE_ALARM, SEEDS, Matrix, Vector


def minimiser(x: Matrix, alpha: float) -> Vector:
    return coefficients(second_moment(x), x.shape[1] - 1, alpha)


# Known answers


def test_the_release_agrees_with_a_hand_calculation() -> None:
    # rows (.6, .8), (0, 1), α = .16: A = .18, b = .24: ŵ = .24/(.18 + .32) = .48
    # paper: W = 1/√.32 = 1.7677670, √(W² + 1) = √4.125 = 2.0310096; S = 3.7987766/(.32 · 2) = 5.9355884; ε = 2, v = 1
    x = [[0.6, 0.8], [0.0, 1.0]]
    np.testing.assert_allclose(release(x, np.ones(1), epsilon=2, alpha=0.16), [0.48 + 2.9677942], rtol=1e-7)
    # tight: W² = 1/(4 · .32 · 1.32) = .5918561, √(W² + 1) = 1.2616878; S = 1.2616878/.64 = 1.9713872
    got = release(x, np.ones(1), epsilon=2, alpha=0.16, calibration="tight")
    np.testing.assert_allclose(got, [0.48 + 0.9856936], rtol=1e-6)
    got = release(10 * np.array(x), np.ones(1), epsilon=2, alpha=0.16, row_bound=10)
    np.testing.assert_allclose(got, [0.48 + 2.9677942], rtol=1e-7)


def test_the_minimiser_is_where_the_gradient_is_zero() -> None:
    x = unit_rows(np.random.default_rng(0).standard_normal((7, 4)))
    w, alpha = release(x, np.zeros(3), epsilon=1, alpha=0.03), 0.03
    gradient = ((x[:, :3] @ w - x[:, 3])[:, None] * x[:, :3]).mean(axis=0) + 2 * alpha * w
    np.testing.assert_allclose(gradient, 0, atol=1e-15)


def test_long_rows_are_clipped_with_their_target() -> None:
    x = np.array([[0.3, 0.4, 50.0], [0.1, 0.2, 0.3]])
    clipped = x.copy()
    clipped[0] /= np.linalg.norm(x[0])
    np.testing.assert_allclose(release(x, np.ones(2), epsilon=1), release(clipped, np.ones(2), epsilon=1), rtol=1e-12)


def test_a_target_without_a_feature_is_refused() -> None:
    for call in (lambda: release([[0.5]], np.zeros(0), epsilon=1),
                 lambda: sample([[0.5]], np.random.default_rng(0), epsilon=1)):  # fmt: skip
        with pytest.raises(InvalidInput, match="x has 1 column"):
            call()


@pytest.mark.parametrize("alpha", [0.0, -1.0, math.nan, True])
def test_a_bad_penalty_is_refused(alpha: Any) -> None:
    with pytest.raises(InvalidInput, match="alpha = "):
        release(np.eye(2), np.zeros(1), epsilon=1, alpha=alpha)


# Formulas


def test_the_formulas_agree_with_a_hand_calculation() -> None:
    # 2α = 1/3: 2α(1 + 2α) = 4/9, W = 3/4, √(W² + 1) = 5/4: S = (5/4)/(n/3)
    alpha = Fraction(1, 6)
    assert largest_norm(alpha, "tight") == pytest.approx(0.75, rel=1e-15)
    assert sensitivity(5, alpha, "tight") == pytest.approx(0.75, rel=1e-15)
    # 2α = 9/16: W = 4/3, √(W² + 1) = 5/3, 2G = 3: S = 3/(9n/16)
    assert largest_norm(Fraction(9, 32), "paper") == pytest.approx(4 / 3, rel=1e-15)
    assert gradient_change(4 / 3, "paper") == pytest.approx(3, rel=1e-15)
    assert noise_scale(4, Fraction(9, 32), 2, "paper") == pytest.approx(2 / 3, rel=1e-15)
    k = mpmath.mpf("0.2")
    closed = (1 + 2 * k) / (2 * k * mpmath.sqrt(k * (1 + k)))
    assert mpmath.almosteq(sensitivity(1, k / 2, "tight"), closed, 1e-14)


@pytest.mark.thorough
def test_the_steps_of_the_derivation_hold_for_symbols() -> None:
    w, phi, k, lam = sympy.symbols("W phi kappa lambda", positive=True)
    # G is the maximum over φ of W sin²φ + sin φ cos φ = (W + sin 2φ − W cos 2φ)/2
    assert sympy.simplify(w * sympy.sin(phi) ** 2 + sympy.sin(phi) * sympy.cos(phi)
                          - (w + sympy.sin(2 * phi) - w * sympy.cos(2 * phi)) / 2) == 0  # fmt: skip
    # √(λ(1 − λ))/(λ + κ) is stationary at λ = κ/(1 + 2κ), with value W
    square = lam * (1 - lam) / (lam + k) ** 2
    at = k / (1 + 2 * k)
    assert sympy.simplify(sympy.diff(square, lam).subs(lam, at)) == 0
    assert sympy.simplify(square.subs(lam, at) - 1 / (4 * k * (1 + k))) == 0


@pytest.mark.parametrize(("alpha", "low", "high"), [(1e-6, 0.25, 0.2505), (0.1, 0.2, 0.35), (1e4, 0.99, 1.0)])
def test_the_paper_calibration_spends_a_share_between_the_stated_limits(alpha: float, low: float, high: float) -> None:
    assert low <= sensitivity(1, alpha, "tight") / sensitivity(1, alpha, "paper") <= high


# Sensitivity


def moved(first: Matrix, second: Matrix, alpha: float) -> float:
    return float(np.linalg.norm(minimiser(first, alpha) - minimiser(second, alpha)))


@settings(max_examples=150)
@given(seed=SEEDS, n=st.integers(1, 5), d=st.integers(2, 4), alpha=st.sampled_from([1e-3, 0.03, 0.3, 2.0]))
def test_no_pair_moves_the_minimiser_further(seed: int, n: int, d: int, alpha: float) -> None:
    rng = np.random.default_rng(seed)
    first = np.tile(unit_rows(3 * rng.standard_normal((1, d))), (n, 1)) if seed % 2 else unit_rows(
        3 * rng.standard_normal((n, d)))  # fmt: skip
    second = first.copy()
    second[-1] = unit_rows(3 * rng.standard_normal((1, d)))[0]
    assert moved(first, second, alpha) <= sensitivity(n, alpha, "tight") * (1 + 1e-9)
    assert sensitivity(n, alpha, "tight") <= sensitivity(n, alpha, "paper")
    for x in (first, second):
        assert np.linalg.norm(minimiser(x, alpha)) <= largest_norm(alpha, "tight") * (1 + 1e-12)


@pytest.mark.parametrize("alpha", [1e-3, 0.1, 2.0])
def test_the_tight_sensitivity_is_approached(alpha: float) -> None:
    n = 10**5
    first, second = worst_pair(n, alpha)
    assert max(np.linalg.norm(first, axis=1).max(), np.linalg.norm(second, axis=1).max()) <= 1 + 1e-15
    share = moved(first, second, alpha) / sensitivity(n, alpha, "tight")
    assert 0.97 <= share <= 1
    # so a mutant with less noise spends more than ε: sensitivity halved, or 1/(2αn) as if ŵ were 0
    assert moved(first, second, alpha) > 1.5 * sensitivity(n, alpha, "tight") / 2
    if alpha < 1:
        assert moved(first, second, alpha) > 1.1 / (2 * alpha * n)


def test_the_constant_for_a_loss_of_slope_one_is_too_small_for_squares() -> None:
    # CMS11: 2/(nΛ) with F = … + (Λ/2)‖w‖², so Λ = 2α: 1/(αn)
    first, second = worst_pair(10**5, 1e-3)
    assert moved(first, second, 1e-3) > 5 / (1e-3 * 10**5)


def loss(w: Vector, first: Vector, second: Vector, scale: float) -> float:
    return float(np.linalg.norm(w - second) - np.linalg.norm(w - first)) / scale


@pytest.mark.parametrize(("calibration", "share"), [("tight", 1.0), ("paper", 0.304952)])
def test_the_loss_at_the_worst_pair_is_what_is_spent(calibration: Any, share: float) -> None:
    # κ = 2α = .2: the ratio of the two sensitivities is (1 + 2κ)/(2 √(1 + κ) (1 + √(1 + κ))) = 1.4/4.590891; n = 10⁵
    n, alpha = 10**5, 0.1
    w, other = (minimiser(x, alpha) for x in worst_pair(n, alpha))
    for outside in (w, w + 3 * (w - other)):  # on the line beyond ŵ the loss is the same
        got = loss(outside, w, other, noise_scale(n, alpha, 0.7, calibration))
        assert got == pytest.approx(0.7 * share, rel=1e-3)
        assert got <= 0.7 * (1 + 1e-12)


@pytest.mark.parametrize("calibration", CALIBRATIONS)
@pytest.mark.parametrize("d", [2, 3, 9])
def test_the_spend_is_that_of_the_table(d: int, calibration: Any) -> None:
    result = spend(epsilon=0.7, dimension=d, calibration=calibration)
    assert (result.claimed, result.proven) == (PureDP(0.7), PureDP(0.7))
    assert result.attained is (calibration == "tight" and d > 2)


# The draws


@pytest.mark.parametrize("k", [1, 2, 5])
def test_the_noise_has_its_exact_law(k: int) -> None:
    # 4000 draws: ‖v‖ ~ Gamma(k), the direction uniform, both independent; Gamma(k + 1) is told apart
    v = draw_vector(k, np.random.default_rng(k), 4000)
    np.testing.assert_array_equal(draw_noise(k + 1, np.random.default_rng(k), 4000), v)
    norms = np.linalg.norm(v, axis=1)
    assert kolmogorov_smirnov(norms, stats.gamma(k).cdf, "Gamma").p_value > FALSE_ALARM
    assert kolmogorov_smirnov(norms, stats.gamma(k + 1).cdf, "mutant").p_value < FALSE_ALARM
    assert stats.binomtest(int((v[:, 0] > 0).sum()), 4000).pvalue > FALSE_ALARM
    if k > 1:
        squares = (v[:, 0] / norms) ** 2
        assert kolmogorov_smirnov(squares, lambda w: haar.squared_coordinate_cdf(w, k), "").p_value > FALSE_ALARM
        assert independence(norms, squares, "").p_value > FALSE_ALARM
        laplace = np.random.default_rng(0).laplace(size=(4000, k))  # a mutant: one Laplace variable per coefficient
        assert kolmogorov_smirnov(np.linalg.norm(laplace, axis=1), stats.gamma(k).cdf, "").p_value < FALSE_ALARM
