"""CoinPress covariance: known answers, the spend of every step, and the order of its matrices.

Statistical tests have fixed seeds. With a random seed, each would raise a false alarm with probability at most 1e-9.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from covassay.reference.domain import second_moment
from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.gaussian_estimation import coinpress_covariance as mechanism
from covassay.reference.mechanisms.gaussian_estimation.coinpress_covariance import (
    Constants,
    budgets,
    draw_noise,
    noise_scale,
    offset,
    pressed,
    release,
    sample,
    sampling_bound,
    spectral_noise_bound,
    spend,
    squared_norm_bound,
    squared_radius,
)
from covassay.reference.privacy import ZCDP
from covassay.verification.statistics.tests import kolmogorov_smirnov
from tests.conventions import FALSE_ALARM, SEEDS, Matrix, too_often_above
from tests.negative_controls.of_coinpress import published_order
from tests.reference.mechanisms.gaussian_estimation.coinpress import BAD_ARGUMENTS, neighbours

PROPERTY = settings(max_examples=60)
CONSTANTS: tuple[Constants, ...] = ("paper", "code")


# Known answers


def test_one_step_in_one_dimension_agrees_with_a_hand_calculation() -> None:
    # x = 1, −1, u = 4: w = ±½, (1/n) Σ w² = ¼. β = .1: L = ln 20 = 2.9957323, γ² = 1 + 2 √L + 2L = 10.4531013;
    # ρ = 1, n = 2: σ = 5.2265507; N = 1: Z = 5.4765507, released u Z
    got = release([[1.0], [-1.0]], np.ones((1, 1, 1)), rho=1, u=4, steps=1)
    np.testing.assert_allclose(got, [[21.9062026]], rtol=1e-7)
    # N = −1: Z is the positive part of −4.98, which is 0
    np.testing.assert_array_equal(release([[1.0], [-1.0]], -np.ones((1, 1, 1)), rho=1, u=4, steps=1), [[0.0]])


def test_two_steps_in_one_dimension_agree_with_a_hand_calculation() -> None:
    # "code": L = ln 10 = 2.3025851, γ² = 1 + 2 √L + 2L = 8.6400250; n = 2, ρ = 4: ρ_1 = 1, ρ_2 = 3
    # step 1: A² = ¼, Z = ¼ + 4.3200125 · .5 = 2.4100063; h = √(1/2) + 1/4 = .9571068; A² ← ¼/3.3671130 = .0742476
    # step 2: w² = .0742476, σ = 8.6400250/(2 √3) = 2.4941604; N = .1: Z = .3236637; Z/A² = 4.3592470
    noise = np.array([[[0.5]], [[0.1]]])
    got = release([[1.0], [-1.0]], noise, rho=4, constants="code", u=4, steps=2)
    np.testing.assert_allclose(got, [[4.359247]], rtol=1e-6)


def quiet_at_last(seed: int, steps: int, d: int) -> Matrix:
    """Noise that is zero in the last step and drawn in all others."""
    noise = draw_noise(d, np.random.default_rng(seed), steps=steps)
    noise[-1] = 0
    return noise


Release = Callable[..., Matrix]


def exactness(mechanism: Release, steps: int) -> float:
    """Without clipping and without noise in the last step, A⁻¹ZA⁻ᵀ is the second moment, whatever A is."""
    x = np.random.default_rng(1).standard_normal((400, 3)) * [1.0, 0.5, 0.1]
    got = mechanism(x, quiet_at_last(2, steps, 3), rho=50.0, constants="paper", u=10.0, steps=steps, beta=0.1)
    return float(np.abs(got - second_moment(x)).max())


@pytest.mark.parametrize("steps", [1, 2, 3, 5])
def test_coordinates_are_undone_exactly(steps: int) -> None:
    assert exactness(release, steps) < 1e-13


@pytest.mark.parametrize(("steps", "right"), [(1, True), (2, True), (3, False), (5, False)])
def test_the_published_order_undoes_other_coordinates_from_the_third_step_on(steps: int, right: bool) -> None:
    assert (exactness(published_order, steps) < 1e-13) is right


def test_long_rows_are_shortened_in_every_step() -> None:
    rng = np.random.default_rng(3)
    x, noise = rng.standard_normal((30, 2)), draw_noise(2, rng, steps=3)
    far = [release(np.vstack([x, [k, 2 * k]]), noise, rho=0.5) for k in (1e3, 1e9)]
    np.testing.assert_allclose(far[0], far[1], rtol=1e-12)
    assert np.abs(release(np.vstack([x, [-1e9, 2e9]]), noise, rho=0.5) - far[1]).max() > 1e-3


@PROPERTY
@given(seed=SEEDS, d=st.integers(1, 4), size=st.sampled_from([1e-300, 1e-3, 1.0, 50.0, 1e300]))
def test_pressed_rows_are_images_of_length_at_most_the_radius(seed: int, d: int, size: float) -> None:
    rng = np.random.default_rng(seed)
    a, rows = rng.standard_normal((d, d)), rng.standard_normal((5, d))
    got = pressed(size * rows, a, 2.0)
    images = rows @ a.T
    norms = np.linalg.norm(images, axis=1)
    expected = images / norms[:, None] * np.minimum(size * norms, 2.0)[:, None]
    np.testing.assert_allclose(got, expected, rtol=1e-12)


@pytest.mark.parametrize(("change", "message"), [({"u": 0.0}, "u = "), *BAD_ARGUMENTS])
def test_bad_parameters_are_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        release(np.eye(2), np.zeros((3, 2, 2)), **{"rho": 1.0, **change})


def test_asymmetric_noise_is_refused() -> None:
    with pytest.raises(InvalidInput, match="not symmetric"):
        release(np.eye(2), np.array([[[0.0, 1.0], [0.0, 0.0]]]), rho=1.0, steps=1)


# Formulas


def test_the_budgets_agree_with_a_hand_calculation() -> None:
    assert budgets(Fraction(1), 1) == [1]
    assert budgets(Fraction(1), 2) == [Fraction(1, 4), Fraction(3, 4)]
    assert budgets(Fraction(1), 5) == [Fraction(1, 16)] * 4 + [Fraction(3, 4)]


@pytest.mark.parametrize("steps", range(1, 12))
def test_the_budgets_add_up(steps: int) -> None:
    rho = sympy.symbols("rho", positive=True)
    parts = budgets(rho, steps)
    assert len(parts) == steps
    assert sympy.simplify(sum(parts) - rho) == 0
    if steps > 2:  # a mutant that shares the quarter among all steps
        assert sympy.simplify(sum([rho / (4 * steps)] * (steps - 1) + [3 * rho / 4]) - rho) != 0


def test_the_formulas_agree_with_a_hand_calculation() -> None:
    assert squared_norm_bound(Fraction(4), Fraction(1)) == 10  # 4 + 2 · 2 + 2
    assert noise_scale(10, 5, 4) == 1.0
    assert float(spectral_noise_bound(200, 0.05)) == pytest.approx(32.1208, abs=1e-4)  # 28.2843 + √(3.99 ln 40)
    # d/n = 1/4, 2 ln(2/β)/n = 1/4: e = 1, η = 3
    n, beta = mpmath.mpf(8), 2 * mpmath.exp(-1)
    assert mpmath.almosteq(sampling_bound(n, 2, beta, mpmath.log), 3, 1e-14)
    assert float(offset(8, 2, 0.1, 7.0, "code")) == 0.625  # ½ + 1/8
    assert mpmath.almosteq(
        offset(n, 2, beta, 7, "paper", mpmath.log), 3 + 7 * (2 * mpmath.sqrt(2) + mpmath.sqrt(3)), 1e-14
    )
    d, log_term = sympy.symbols("d L", positive=True)
    bound = sympy.nsimplify(squared_norm_bound(d, log_term))
    assert sympy.simplify(bound - d - 2 * sympy.sqrt(d * log_term) - 2 * log_term) == 0


@pytest.mark.parametrize("d", [1, 2, 5, 20])
def test_the_bounds_fail_as_rarely_as_stated(d: int) -> None:
    # 4000 draws, β = .05: the test refutes a bound that fails more often than in 5 % of them, such as υ/2 for d ≥ 5
    rng, beta = np.random.default_rng(d), 0.05
    noise = np.linalg.norm(np.concatenate([draw_noise(d, rng, steps=10) for _ in range(400)]), 2, axis=(1, 2))
    bound = float(spectral_noise_bound(d, beta))
    assert not too_often_above(noise, bound, beta)
    if d >= 5:
        assert too_often_above(noise, 0.5 * bound, beta)
    lengths = (rng.standard_normal((4000, d)) ** 2).sum(axis=1)
    assert not too_often_above(lengths, squared_norm_bound(d, -math.log(beta)), beta)
    moments = rng.standard_normal((1000, 50, d))
    gaps = np.linalg.norm(np.swapaxes(moments, 1, 2) @ moments / 50 - np.eye(d), 2, axis=(1, 2))
    assert not too_often_above(gaps, float(sampling_bound(50, d, beta)), beta)


# What is spent: the noise is Gaussian on the upper triangle, so the divergence of a step is α‖change‖²/(2σ²) exactly


def divergence_over_alpha(first: Matrix, second: Matrix, a: Matrix, squared: float, sigma: float) -> float:
    change = [second_moment(pressed(rows, a, math.sqrt(squared))) for rows in (first, second)]
    triangle = (change[0] - change[1])[np.triu_indices(len(a))]
    return float(triangle @ triangle) / (2 * sigma**2)


def axes_pair(n: int, d: int) -> tuple[Matrix, Matrix]:
    """Two data sets of diagonal second moment; their last rows lie far out on different axes (d = 1: far out or 0)."""
    signs = np.random.default_rng(0).choice([-1.0, 1.0], (n, d))
    signs[1::2] = signs[::2] * ([1.0] if d == 1 else [1.0, *[-1.0] * (d - 1)])
    first, second = signs.copy(), signs.copy()
    first[-1], second[-1] = 0, 0
    first[-1, 0] = 1e9
    if d > 1:
        second[-1, 1] = 1e9
    return first, second


@pytest.mark.parametrize(("d", "share"), [(1, 0.5), (2, 1.0), (4, 1.0)])
@pytest.mark.parametrize("n", [2, 10])
def test_one_step_spends_exactly_what_is_proven(d: int, share: float, n: int) -> None:
    first, second = axes_pair(n, d)
    squared = float(squared_radius(n, d, 0.1, "paper"))
    got = divergence_over_alpha(first, second, np.eye(d) / 3, squared, noise_scale(squared, n, 0.7))
    assert got == pytest.approx(0.7 * share, rel=1e-12)
    assert spend(rho=0.7, dimension=d).proven == ZCDP(0.7 * share)
    # a mutant calibrated to γ²/n: Δ²/(2σ²) with σ = γ²/(n√(2ρ))
    assert divergence_over_alpha(
        first, second, np.eye(d) / 3, squared, noise_scale(squared, n, 1.4)
    ) == pytest.approx(1.4 * share, rel=1e-12)  # fmt: skip


@PROPERTY
@given(seed=SEEDS, d=st.integers(1, 4), n=st.integers(1, 4))
def test_no_pair_spends_more_in_any_coordinates(seed: int, d: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    first, second = neighbours(rng, n, d, (0.3, 1e3))
    squared = float(squared_radius(n, d, 0.1, "code"))
    a = rng.standard_normal((d, d))
    spent = divergence_over_alpha(first, second, a, squared, noise_scale(squared, n, 1.0))
    assert spent <= (1 if d > 1 else 0.5) * (1 + 1e-12)


def spent_in_all_steps(n: int, steps: int, constants: Any, monkeypatch: pytest.MonkeyPatch) -> float:
    """Σ_j ‖change‖²/(2σ_j²) along one run, ρ = 1, at the far pair on a diagonal second moment."""
    first, second = axes_pair(n, 2)
    seen: list[tuple[Matrix, float]] = []

    def recorded(rows: Any, a: Matrix, radius: float) -> Any:
        seen.append((a, radius))
        return pressed(rows, a, radius)

    monkeypatch.setattr(mechanism, "pressed", recorded)
    sample(first, np.random.default_rng(4), rho=1.0, u=1.0, steps=steps, constants=constants)
    return sum(
        divergence_over_alpha(first, second, a, radius**2, noise_scale(radius**2, n, rho))
        for (a, radius), rho in zip(seen, budgets(1.0, steps), strict=True)
    )


@pytest.mark.parametrize("constants", CONSTANTS)
@pytest.mark.parametrize("steps", [2, 4])
def test_all_steps_together_approach_what_is_proven(
    constants: Any, steps: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    small, large = (spent_in_all_steps(n, steps, constants, monkeypatch) for n in (20, 20000))
    assert small <= 1 + 1e-12
    assert 0.999 < large <= 1 + 1e-12


def test_the_claim_is_rho() -> None:
    for constants in CONSTANTS:
        assert spend(rho=0.4, dimension=3, constants=constants).claimed == ZCDP(0.4)


# The order of the matrices


def error(mechanism: Release, x: Matrix, root: Matrix, noise: Matrix, u: float) -> float:
    """‖Σ^{-1/2} Σ̂ Σ^{-1/2} − I‖_F."""
    got = mechanism(x, noise, rho=0.05, constants="code", u=u, steps=len(noise), beta=0.1)
    inverse = np.linalg.inv(root)
    return float(np.linalg.norm(inverse @ got @ inverse - np.eye(len(root))))


def errors(steps: int, spread: float) -> tuple[float, float]:
    """The errors of our order and of the published one: d = 10, n = 8000, ρ = .05, u = 10 √d λ_1, mean of 3 runs."""
    rng = np.random.default_rng(5)
    d, n = 10, 8000
    q = np.linalg.qr(rng.standard_normal((d, d)))[0]
    scales = np.geomspace(1, spread, d)
    root = (q * np.sqrt(scales)) @ q.T
    both = []
    for _ in range(3):
        x, noise = rng.standard_normal((n, d)) @ root, draw_noise(d, rng, steps=steps)
        both.append([error(f, x, root, noise, 10 * math.sqrt(d) * spread) for f in (release, published_order)])
    right, published = np.mean(both, axis=0)
    return float(right), float(published)


@pytest.mark.parametrize(
    ("steps", "spread", "right", "published"),
    [
        # measured at this seed; λ_1/λ_d = 100, and the isotropic case
        (1, 100.0, 100.4, 100.4),
        (2, 100.0, 5.17, 5.17),
        (3, 100.0, 1.06, 1.96),
        (4, 100.0, 0.33, 2.70),
        (5, 100.0, 0.18, 3.48),
        (5, 1.0, 0.18, 0.81),
    ],
)
def test_the_right_order_is_more_accurate_from_the_third_step_on(
    steps: int, spread: float, right: float, published: float
) -> None:
    got = errors(steps, spread)
    assert got == pytest.approx((right, published), rel=0.05)
    assert (got[0] < 0.8 * got[1]) == (steps > 2)


# The draws


def test_the_draw_is_the_release_of_its_noise() -> None:
    x = np.random.default_rng(1).standard_normal((20, 3))
    got = sample(x, np.random.default_rng(6), rho=2, steps=2)
    np.testing.assert_array_equal(got, release(x, draw_noise(3, np.random.default_rng(6), steps=2), rho=2, steps=2))


def test_the_noise_is_standard_on_and_above_the_diagonal() -> None:
    # 5000 matrices are enough to reject a diagonal of variance 2, as in the Gaussian orthogonal ensemble
    rng = np.random.default_rng(7)
    noise = np.concatenate([draw_noise(3, rng, steps=10) for _ in range(500)])
    np.testing.assert_array_equal(noise, np.swapaxes(noise, 1, 2))
    for entry in (noise[:, 0, 0], noise[:, 0, 2], (noise[:, 1, 1] + noise[:, 1, 2]) / math.sqrt(2)):
        assert kolmogorov_smirnov(entry, stats.norm.cdf, "N(0, 1)").p_value > FALSE_ALARM
        assert kolmogorov_smirnov(entry * math.sqrt(2), stats.norm.cdf, "mutant").p_value < FALSE_ALARM
