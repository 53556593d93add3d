"""Gaussian covariance: known answers, the exact law of the noise, and its spend from the exact divergence.

Statistical tests have fixed seeds. With a random seed, each comparison would raise a false alarm with probability at
most 1e-9.
"""

import math
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from covassay.reference.domain import unit_rows
from covassay.reference.errors import InvalidInput
from covassay.reference.laws import wigner
from covassay.reference.laws.wigner import ENSEMBLES
from covassay.reference.mechanisms.concentrated.gauss_cov import (
    change_squared,
    draw_noise,
    error_bound,
    frobenius_bound,
    noise_scale,
    privacy_loss,
    release,
    sample,
    spend,
)
from covassay.reference.privacy import ZCDP
from covassay.reference.sensitivity import difference, orthonormal_pair
from covassay.verification.statistics.tests import kolmogorov_smirnov
from tests.conventions import FALSE_ALARM, SEEDS, Matrix, too_often_above
from tests.reference.mechanisms.errors import frobenius_errors

DRAWS = 2000
X = np.array([[0.6, 0.8], [1.0, 0.0]])  # Σ = [[.68, .24], [.24, .32]] by hand
SIGMA = np.array([[0.68, 0.24], [0.24, 0.32]])


# Known answers


@pytest.mark.parametrize("ensemble", ENSEMBLES)
def test_release_adds_scaled_noise_to_the_second_moment(ensemble: Any) -> None:
    # ρ = 1/4, n = 2: σ = 1/(2 · ½) = 1
    got = release(X, np.array([[1.0, -2.0], [-2.0, 3.0]]), rho=0.25, ensemble=ensemble)
    np.testing.assert_allclose(got, [[1.68, -1.76], [-1.76, 3.32]], rtol=1e-15)


def test_the_release_is_in_the_unit_of_the_data_squared() -> None:
    # r = 10, so the output is 100 (Σ + I)
    got = release(10 * X, np.eye(2), rho=0.25, row_bound=10)
    np.testing.assert_allclose(got, [[168, 24], [24, 132]], rtol=1e-14)


def test_one_number_agrees_with_a_hand_calculation() -> None:
    # n = d = 1 and ρ = 4, so σ = 1/2: .25 + (1/2)(−3)
    np.testing.assert_allclose(release([[-0.5]], np.array([[-3.0]]), rho=4), [[-1.25]], rtol=1e-15)


@pytest.mark.parametrize(
    ("noise", "message"),
    [
        pytest.param(np.zeros(4), r"noise of shape \(4,\)", id="flat"),
        pytest.param(np.zeros((1, 1)), r"noise of shape \(1, 1\)", id="would broadcast"),
        pytest.param(np.zeros((2, 2, 2)), r"noise of shape \(2, 2, 2\)", id="a stack"),
        pytest.param([[0, math.nan], [math.nan, 0]], "noise contains", id="NaN"),
        pytest.param([[0.0, 1e-16], [0.0, 0.0]], "noise is not symmetric", id="not symmetric"),
    ],
)
def test_bad_noise_is_refused(noise: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        release(X, noise, rho=1)


@pytest.mark.parametrize("ensemble", ["Wigner", "", None, "laplace"])
def test_an_unknown_ensemble_is_refused(ensemble: Any) -> None:
    for call in (
        lambda: release(X, np.zeros((2, 2)), rho=1, ensemble=ensemble),
        lambda: sample(X, np.random.default_rng(0), rho=1, ensemble=ensemble),
        lambda: spend(rho=1, dimension=2, ensemble=ensemble),
    ):
        with pytest.raises(InvalidInput, match="ensemble"):
            call()


# The law


@pytest.mark.parametrize("ensemble", ENSEMBLES)
def test_the_noise_has_its_exact_law(ensemble: Any) -> None:
    rng, rho = np.random.default_rng(7), 0.3
    scale = 1 / (2 * math.sqrt(rho))
    noise = np.array([sample(X, rng, rho=rho, ensemble=ensemble) - SIGMA for _ in range(DRAWS)]) / scale
    off = 1.0 if ensemble == "wigner" else math.sqrt(0.5)
    for i, j, deviation in [(0, 0, 1.0), (1, 1, 1.0), (0, 1, off)]:
        law = stats.norm(scale=deviation)
        assert kolmogorov_smirnov(noise[:, i, j], law.cdf, "entry").p_value > FALSE_ALARM
        # Noise for a sensitivity of 1 instead of √2 is √2 times too small, and is rejected.
        assert kolmogorov_smirnov(noise[:, i, j] / math.sqrt(2), law.cdf, "entry").p_value < FALSE_ALARM


def test_the_noise_that_is_drawn_is_the_noise_that_is_used() -> None:
    for ensemble in ENSEMBLES:
        noise = draw_noise(2, np.random.default_rng(3), ensemble=ensemble)
        drawn = sample(X, np.random.default_rng(3), rho=0.2, ensemble=ensemble)
        np.testing.assert_array_equal(drawn, release(X, noise, rho=0.2, ensemble=ensemble))
        many = draw_noise(2, np.random.default_rng(3), ensemble=ensemble, size=5)
        assert many.shape == (5, 2, 2)
        np.testing.assert_array_equal(many[0], noise)


# What is spent


def divergence_slope(x: Matrix, y: Matrix, sigma_times_n: float, ensemble: str) -> float:
    """The exact D_α/α between data sets that differ in the rows x and y, the same for every order α."""
    return float(wigner.separation_squared(difference(x, y) / sigma_times_n, ensemble)) / 2


def test_the_divergence_is_that_of_the_gaussian_entries() -> None:
    # The divergence of every entry by quadrature at α = 3. Entries are independent, so divergences add up.
    x, y, sigma = np.array([0.6, 0.8]), np.array([0.0, 0.5]), 1.7
    change = np.array([[0.36, 0.48], [0.48, 0.64 - 0.25]])
    alpha, grid = 3.0, np.linspace(-40, 40, 200_001)
    for ensemble in ENSEMBLES:
        total = 0.0
        for i, j in [(0, 0), (0, 1), (1, 1)]:
            v = sigma**2 * (0.5 if ensemble == "goe" and i != j else 1.0)
            one, two = (stats.norm.logpdf(grid, m, math.sqrt(v)) for m in (change[i, j], 0.0))
            integral = np.trapezoid(np.exp(alpha * one + (1 - alpha) * two), grid)
            total += math.log(integral) / (alpha - 1)
        assert divergence_slope(x, y, sigma, ensemble) == pytest.approx(total / alpha, rel=1e-9)


pairs_of_rows = st.tuples(st.integers(1, 5), SEEDS, st.sampled_from([0.3, 1.0, 5.0]))


@pytest.mark.parametrize("ensemble", ENSEMBLES)
@settings(max_examples=100)
@given(drawn=pairs_of_rows)
def test_no_pair_of_rows_spends_more_than_stated(ensemble: Any, drawn: tuple[int, int, float]) -> None:
    d, seed, size = drawn
    x, y = unit_rows(size * np.random.default_rng(seed).standard_normal((2, d)))
    rho = 0.7
    assert divergence_slope(x, y, noise_scale(1, rho), ensemble) <= privacy_loss(rho, d) * (1 + 1e-12)


@pytest.mark.parametrize("ensemble", ENSEMBLES)
@pytest.mark.parametrize(("d", "share"), [(1, 0.5), (2, 1.0), (3, 1.0), (10, 1.0)])
def test_what_is_spent_is_attained(ensemble: Any, d: int, share: float) -> None:
    rho = 0.7
    result = spend(rho=rho, dimension=d, ensemble=ensemble)
    assert result.claimed == ZCDP(rho)
    assert result.proven == ZCDP(share * rho)
    assert result.attained
    x, y = orthonormal_pair(d)
    attained = divergence_slope(x, y, noise_scale(1, rho), ensemble)
    assert attained == pytest.approx(share * rho, rel=1e-14)
    # Noise for a sensitivity of 1 instead of √2 spends 2ρ.
    assert divergence_slope(x, y, noise_scale(1, rho) / math.sqrt(2), ensemble) == pytest.approx(2 * share * rho)


def test_goe_spends_the_same_on_rotated_pairs_and_wigner_less() -> None:
    # x, y = (1, ±1)/√2, so Δ = [[0, 1], [1, 0]]. goe pays for ‖Δ‖_F² = 2, wigner for (2 + 0)/2 = 1.
    x, y = np.array([1.0, 1.0]) / math.sqrt(2), np.array([1.0, -1.0]) / math.sqrt(2)
    assert divergence_slope(x, y, 1.0, "goe") == pytest.approx(1.0)
    assert divergence_slope(x, y, 1.0, "wigner") == pytest.approx(0.5)


def test_the_noise_could_not_be_smaller_than_goe() -> None:
    # A variance of 1/4 above the diagonal spends 2ρ at the pair (1, ±1)/√2, although e₁, e₂ do not show it.
    x, y = np.array([1.0, 1.0]) / math.sqrt(2), np.array([1.0, -1.0]) / math.sqrt(2)
    change, rho = difference(x, y), 0.7
    smaller = (change[0, 0] ** 2 + change[1, 1] ** 2 + change[0, 1] ** 2 / 0.25) * rho / 2
    assert smaller == pytest.approx(2 * rho)


# Formulas and the error


def test_the_formulas_run_on_exact_numbers() -> None:
    with mpmath.workdps(40):
        assert noise_scale(mpmath.mpf(5), mpmath.mpf(4)) == mpmath.mpf(1) / 10
        exact = error_bound(mpmath.mpf(100), mpmath.mpf(6), mpmath.mpf(1) / 4, mpmath.mpf(1) / 8, "goe", mpmath.log)
    assert error_bound(100, 6, 0.25, 0.125, "goe") == pytest.approx(float(exact), rel=1e-14)
    assert (change_squared(1), change_squared(2), change_squared(9)) == (1, 2, 2)


@pytest.mark.parametrize("ensemble", ENSEMBLES)
def test_the_error_stays_below_its_bound(ensemble: Any) -> None:
    n, d, rho, beta = 50, 12, 0.4, 0.1
    errors = frobenius_errors(sample, n, d, 500, rho=rho, ensemble=ensemble)
    assert not too_often_above(errors, error_bound(n, d, rho, beta, ensemble), beta)
    mean = noise_scale(n, rho) * (d if ensemble == "wigner" else math.sqrt(d * (d + 1) / 2))
    assert too_often_above(errors, mean, beta)  # the error exceeds √E‖σW‖_F² about half of the time
    assert error_bound(n, d, rho, beta, ensemble) < 1.4 * mean


def test_goe_has_about_half_of_the_squared_error() -> None:
    assert frobenius_bound(200, 0.1, "goe") / frobenius_bound(200, 0.1, "wigner") == pytest.approx(
        math.sqrt(0.5), rel=0.01
    )
