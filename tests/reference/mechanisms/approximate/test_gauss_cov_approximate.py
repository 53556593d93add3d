"""Gaussian covariance under (ε, δ)-DP: known answers, the exact δ, the exact law, and another adjacency."""

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from covassay.reference.errors import InvalidInput
from covassay.reference.laws.wigner import ENSEMBLES, separation_squared
from covassay.reference.mechanisms.approximate.gauss_cov_approximate import release, sample, sensitivity, spend
from covassay.reference.mechanisms.building_blocks.gaussian_approximate import multiplier
from covassay.reference.privacy import ApproximateDP
from covassay.reference.sensitivity import difference, orthonormal_pair
from covassay.verification.statistics.tests import kolmogorov_smirnov
from tests.conventions import FALSE_ALARM, Matrix

X = np.array([[0.6, 0.8], [1.0, 0.0]])
SIGMA = np.array([[0.68, 0.24], [0.24, 0.32]])


def exact_delta(apart: float, epsilon: float) -> float:
    """δ(q, ε) = Φ(q/2 − ε/q) − e^ε Φ(−q/2 − ε/q), computed independently of the code under test."""
    cdf = stats.norm.cdf
    return float(cdf(apart / 2 - epsilon / apart) - math.exp(epsilon) * cdf(-apart / 2 - epsilon / apart))


def test_the_classical_scale_agrees_with_a_hand_calculation() -> None:
    # δ = 1.25 e^{−2}, ε = 1/2, n = 2: σ = (√2/2) √(2 · 2)/(1/2) = 2√2
    w = np.array([[1.0, -2.0], [-2.0, 3.0]])
    got = release(X, w, epsilon=0.5, delta=1.25 * math.exp(-2))
    np.testing.assert_allclose(got, SIGMA + 2 * math.sqrt(2) * w, rtol=1e-14)
    got = release(10 * X, w, epsilon=0.5, delta=1.25 * math.exp(-2), row_bound=10)
    np.testing.assert_allclose(got, 100 * SIGMA + 200 * math.sqrt(2) * w, rtol=1e-14)


@pytest.mark.parametrize("ensemble", ENSEMBLES)
@pytest.mark.parametrize(("epsilon", "delta"), [(0.3, 1e-3), (1.0, 1e-6), (5.0, 1e-9)])
def test_the_tight_scale_spends_exactly_delta(ensemble: Any, epsilon: float, delta: float) -> None:
    sigma = sensitivity(1) * multiplier(epsilon, delta, "tight")
    x, y = orthonormal_pair(3)
    apart = math.sqrt(separation_squared(difference(x, y) / sigma, ensemble))
    assert exact_delta(apart, epsilon) == pytest.approx(delta, rel=1e-4)
    result = spend(epsilon=epsilon, delta=delta, dimension=3, calibration="tight", ensemble=ensemble)
    assert result.claimed == ApproximateDP(epsilon, delta)
    assert isinstance(result.proven, ApproximateDP)
    assert delta * (1 - 1e-6) < result.proven.delta <= delta
    # Noise for Δ₂ = 1/n, the sensitivity for adding or removing a row, spends more than δ.
    assert exact_delta(math.sqrt(2) * apart, epsilon) > 5 * delta


@pytest.mark.parametrize("ensemble", ENSEMBLES)
@pytest.mark.parametrize(("epsilon", "delta"), [(0.3, 1e-3), (1.0, 1e-6)])
def test_the_classical_scale_spends_a_smaller_delta(ensemble: Any, epsilon: float, delta: float) -> None:
    apart = 1 / multiplier(epsilon, delta, "paper")
    result = spend(epsilon=epsilon, delta=delta, dimension=2, ensemble=ensemble)
    assert isinstance(result.proven, ApproximateDP)
    assert result.proven.delta == pytest.approx(exact_delta(apart, epsilon), rel=1e-5)
    assert result.proven.delta < delta


def test_adding_or_removing_a_row_moves_the_matrix_less() -> None:
    # Adding e₁ moves the matrix by 1; replacing e₁ by e₂ moves it by √2.
    for ensemble in ENSEMBLES:
        assert separation_squared(difference(np.eye(2)[0], np.zeros(2)), ensemble) == 1
        assert separation_squared(difference(*np.eye(2)), ensemble) == 2


def test_in_dimension_one_the_change_is_shorter() -> None:
    for calibration in ("paper", "tight"):
        apart = 1 / (math.sqrt(2) * multiplier(0.7, 1e-3, calibration))  # type: ignore[arg-type]
        result = spend(epsilon=0.7, delta=1e-3, dimension=1, calibration=calibration)  # type: ignore[arg-type]
        assert isinstance(result.proven, ApproximateDP)
        assert result.proven.delta == pytest.approx(exact_delta(apart, 0.7), rel=1e-6)


def test_the_classical_scale_is_refused_beyond_one() -> None:
    with pytest.raises(InvalidInput, match=r"^epsilon = "):
        sample(X, np.random.default_rng(0), epsilon=1.5, delta=1e-6)
    assert sample(X, np.random.default_rng(0), epsilon=1.5, delta=1e-6, calibration="tight").shape == (2, 2)


@pytest.mark.parametrize("ensemble", ENSEMBLES)
def test_the_noise_has_its_exact_law(ensemble: Any) -> None:
    rng = np.random.default_rng(7)
    scale = sensitivity(2) * multiplier(1.0, 1e-5, "tight")
    outputs = [sample(X, rng, epsilon=1.0, delta=1e-5, calibration="tight", ensemble=ensemble) for _ in range(2000)]
    noise = (np.array(outputs) - SIGMA) / scale
    off = 1.0 if ensemble == "wigner" else math.sqrt(0.5)
    for i, j, deviation in [(0, 0, 1.0), (1, 1, 1.0), (0, 1, off)]:
        law = stats.norm(scale=deviation)
        assert kolmogorov_smirnov(noise[:, i, j], law.cdf, "entry").p_value > FALSE_ALARM
        assert kolmogorov_smirnov(noise[:, i, j] * math.sqrt(2), law.cdf, "entry").p_value < FALSE_ALARM


@pytest.mark.parametrize("noise", [np.zeros((1, 1)), np.triu(np.ones((2, 2)))])
def test_bad_noise_is_refused(noise: Matrix) -> None:
    with pytest.raises(InvalidInput, match="noise"):
        release(X, noise, epsilon=0.5, delta=1e-6)
