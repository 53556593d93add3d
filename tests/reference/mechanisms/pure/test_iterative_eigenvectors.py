"""Iterative eigenvector sampling: the bounds on its error, the laws of its draws, and rank k.

Statistical tests have fixed seeds. With a random seed, each comparison would raise a false alarm with probability at
most 1e-9 (Kolmogorov's exact p-value).
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
from covassay.reference.laws import haar
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
from tests.conventions import FALSE_ALARM, SEEDS, Matrix, Vector
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


@PROPERTY
@given(seed=SEEDS, d=st.integers(1, 5), scale=st.sampled_from([0.0, 0.3, 3.0]))
def test_the_error_obeys_the_deterministic_bound_of_the_paper(seed: int, d: int, scale: float) -> None:
    # ADK19 Lemma 6: ‖C − ΘΛ̂Θᵀ‖_F ≤ √(2 Σ λ_i (λ_i − θ_iᵀCθ_i)) + τ√d if no λ̂_i is off by more than τ
    rng = np.random.default_rng(seed)
    x = unit_rows(rng.standard_normal((6, d)))
    c = x.T @ x
    laplace = scale * rng.uniform(-1, 1, size=d)

    def direction(m: Matrix, step: int) -> Vector:
        return law.sample(20 * m, rng)

    got = 6 * release(x, IterativeEigenvectorsNoise(laplace, direction), epsilon=4.0)
    eigenvalues = np.linalg.eigvalsh(c)[::-1]
    _, vectors = np.linalg.eigh(got)
    order = np.argsort(np.argsort(-(eigenvalues + laplace)))  # which λ̂ is the k-th largest
    directions = [vectors[:, d - 1 - order[i]] for i in range(d)]
    missed = sum(eigenvalues[i] * max(0.0, eigenvalues[i] - v @ c @ v) for i, v in enumerate(directions))
    assert np.linalg.norm(c - got) <= math.sqrt(2 * missed) + scale * math.sqrt(d) + 1e-6


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


# Rank k


@pytest.mark.parametrize("rank", [3, 4, 100])
def test_rank_d_and_more_is_everything(rank: int) -> None:
    x = np.random.default_rng(0).standard_normal((5, 3))
    for budget in BUDGETS:
        whole, ranked = (sample(x, np.random.default_rng(1), epsilon=1, budget=budget, rank=k) for k in (0, rank))
        np.testing.assert_array_equal(whole, ranked)
        assert spend(epsilon=1, dimension=3, budget=budget) == spend(epsilon=1, dimension=3, budget=budget, rank=rank)


@PROPERTY
@given(seed=SEEDS, d=st.integers(1, 5), rank=st.integers(1, 5), scale=st.sampled_from([0.0, 0.3]))
def test_the_error_of_rank_k_obeys_its_bound(seed: int, d: int, rank: int, scale: float) -> None:
    rng = np.random.default_rng(seed)
    x = unit_rows(rng.standard_normal((6, d)))
    c, k = x.T @ x, min(rank, d)
    eigenvalues = np.linalg.eigvalsh(c)[::-1]
    directions = haar.sample(d, rng)[:k]
    if rng.random() < 0.5:
        directions = np.linalg.qr(np.linalg.eigh(c)[1][:, ::-1] + 0.2 * rng.standard_normal((d, d)))[0].T[:k]
    noisy = eigenvalues[:k] + scale * rng.uniform(-1, 1, k)
    estimate = (directions.T * noisy) @ directions
    quadratic = np.einsum("ki,ij,kj->k", directions, c, directions)
    missed = max(0.0, float((eigenvalues[:k] * (eigenvalues[:k] - quadratic)).sum()))
    tail = float(np.linalg.norm(eigenvalues[k:]))
    assert np.linalg.norm(c - estimate) <= error_bound(tail, missed, scale, k) + 1e-9


def test_the_distance_from_the_best_approximation_has_no_such_bound() -> None:
    # C = diag(M, M − 1), θ̂ = e₂, k = 1: ‖C_1 − M θ̂θ̂ᵀ‖_F = √2 M, while √(2 λ_1 (λ_1 − θ̂ᵀCθ̂)) = √(2M)
    m = 1000.0
    distance = np.linalg.norm(np.diag([m, 0.0]) - np.diag([0.0, m]))
    assert distance > 30 * error_bound(0.0, m, 0.0, 1)
    assert np.linalg.norm(np.diag([m, m - 1]) - np.diag([0.0, m])) <= error_bound(m - 1, m, 0.0, 1)
