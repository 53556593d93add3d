"""Test iterative eigenvector sampling: the laws of its draws, and rank d.

Statistical tests have fixed seeds: with a random seed, each comparison with a correct law would raise a false alarm
with probability at most 1e-9 (Kolmogorov's exact p-value).
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from covassay.reference.domain import second_moment, unit_rows
from covassay.reference.laws import bingham as law
from covassay.reference.mechanisms.pure.iterative_eigenvectors import (
    MECHANISM,
    IterativeEigenvectorsNoise,
    adaptive_offset,
    eigenvalue_scale,
    error_bound,
    release,
    sample,
    spend,
)
from covassay.verification.statistics.tests import kolmogorov_smirnov
from tests.conventions import FALSE_ALARM, SEEDS, Vector
from tests.reference.mechanisms.directions import leading_eigenvector

BUDGETS = MECHANISM.choices["budget"]
PROPERTY = settings(max_examples=50)


X = np.array([[1.0, 0.0], [0.0, 0.5]])


@PROPERTY
@given(seed=SEEDS, d=st.integers(1, 5), budget=st.sampled_from(BUDGETS))
def test_without_noise_the_modes_give_back_the_second_moment(seed: int, d: int, budget: Any) -> None:
    x = unit_rows(np.random.default_rng(seed).standard_normal((7, d)))
    got = release(x, IterativeEigenvectorsNoise(np.zeros(d), leading_eigenvector), epsilon=1.0, budget=budget)
    np.testing.assert_allclose(got, second_moment(x), atol=1e-12)


def test_the_error_bound_agrees_with_a_hand_calculation() -> None:
    assert error_bound(3.0, 8.0, 0.5, 4) == pytest.approx(3 + 4 + 1, rel=1e-14)  # ‖C − C_k‖_F + √(2 · 8) + τ√k


def test_the_offset_exceeds_all_eigenvalue_noise_with_the_stated_probability() -> None:
    # P(some |L_i| > τ/(2/ε₀)) ≤ d e^{−ln(2d/β)} = β/2
    for d, beta in ((1, 0.1), (5, 0.3), (50, 1e-6)):
        threshold = adaptive_offset(0.7, d, beta) / eigenvalue_scale(0.7)
        assert d * math.exp(-threshold) == pytest.approx(beta / 2, rel=1e-12)


# The draws


def test_for_one_feature_the_release_is_laplace() -> None:
    # Σ = 1/4, n = 4, ε = 2: scale 4/(nε) = 1/2
    rng = np.random.default_rng(15)
    draws = np.array([sample(np.full((4, 1), 0.5), rng, epsilon=2)[0, 0] for _ in range(3000)])
    assert kolmogorov_smirnov(draws, stats.laplace(0.25, 0.5).cdf, "Laplace").p_value > FALSE_ALARM
    assert kolmogorov_smirnov(draws, stats.laplace(0.25, 0.25).cdf, "mutant").p_value < FALSE_ALARM


@pytest.mark.parametrize(("calibration", "eta"), [("paper", 1 / 16), ("tight", 1 / 4)])
def test_the_first_direction_follows_its_bingham_law(calibration: Any, eta: float) -> None:
    # C = diag(40, 0), ε = 1. The top eigenvector of the release is θ₁, or θ₂ if the noise exchanges the eigenvalues:
    # P(40 + 4 L₁ < 4 L₂) = P(L₂ − L₁ > 10), and P(L₂ − L₁ > t) = e^{−t}(1/2 + t/4)
    exchange = math.exp(-10) * (0.5 + 10 / 4)
    x = np.repeat(np.eye(2), [40, 0], axis=0)
    rng = np.random.default_rng(16)
    released = np.array([sample(x, rng, epsilon=1, calibration=calibration) for _ in range(1500)])
    squares = np.linalg.eigh(released)[1][:, 0, -1] ** 2

    def mixed(eta: float) -> Callable[[Vector], Vector]:
        cdf = law.projection_cdf(np.diag([40 * eta, 0.0]), [0])
        return lambda w: (1 - exchange) * cdf(w) + exchange * (1 - cdf(1 - w))

    assert kolmogorov_smirnov(squares, mixed(eta), "first direction").p_value > FALSE_ALARM
    assert kolmogorov_smirnov(squares, mixed(2 * eta), "mutant").p_value < FALSE_ALARM


@pytest.mark.parametrize("budget", BUDGETS)
def test_the_trace_of_draws_scatters_by_the_sum_of_the_eigenvalue_noise(budget: Any) -> None:
    # d = 2: n tr = tr C + 4/ε (L₁ + L₂), and P(L₁ + L₂ > t) = e^{−t}(1/2 + t/4)
    rng = np.random.default_rng(17)
    traces = np.array([np.trace(sample(X, rng, epsilon=4, budget=budget)) for _ in range(1200)])

    def cdf(v: Vector) -> Vector:
        t = np.abs(v)
        upper = np.exp(-t) * (0.5 + t / 4)
        return np.where(v > 0, 1 - upper, upper)

    assert kolmogorov_smirnov(2 * traces - 1.25, cdf, "two Laplace variables").p_value > FALSE_ALARM
    assert kolmogorov_smirnov(traces - 0.625, cdf, "mutant").p_value < FALSE_ALARM


@pytest.mark.parametrize("rank", [3, 4, 100])
def test_rank_d_and_more_is_everything(rank: int) -> None:
    x = np.random.default_rng(0).standard_normal((5, 3))
    for budget in BUDGETS:
        whole, ranked = (sample(x, np.random.default_rng(1), epsilon=1, budget=budget, rank=k) for k in (0, rank))
        np.testing.assert_array_equal(whole, ranked)
        assert spend(epsilon=1, dimension=3, budget=budget) == spend(epsilon=1, dimension=3, budget=budget, rank=rank)
