"""Test deflation with private eigenvectors: the error that is left, and the law of a round.

Statistical tests have fixed seeds: with a random seed, each comparison with a correct law would raise a false alarm
with probability at most 1e-9 (Kolmogorov's p-value, conservative at atoms; Fisher's exact test).
"""

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from covassay.reference.domain import second_moment, unit_rows
from covassay.reference.laws import bingham as law
from covassay.reference.mechanisms.pure import kapralov_talwar
from covassay.verification.statistics.tests import independence, kolmogorov_smirnov
from tests.conventions import FALSE_ALARM, SEEDS, Matrix, Vector
from tests.reference.mechanisms.directions import leading_eigenvector

PROPERTY = settings(max_examples=50)
X = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 0.5], [0.0, 0.0]])  # C = diag(2, 1/4), n = 4


@PROPERTY
@given(seed=SEEDS, d=st.integers(1, 5), rank=st.integers(0, 5))
def test_what_is_left_is_the_error(seed: int, d: int, rank: int) -> None:
    rng = np.random.default_rng(seed)
    x = unit_rows(rng.standard_normal((6, d)))
    k = min(rank or d, d)
    seen: list[Matrix] = []

    def direction(m: Matrix, step: int) -> Vector:
        seen.append(m / kapralov_talwar.exponent(2.0, k))
        return law.sample(m, rng)

    got = 6 * kapralov_talwar.release(
        x, kapralov_talwar.KapralovTalwarNoise(rng.laplace(size=k), direction), epsilon=2.0, rank=rank
    )
    assert len(seen) == k
    np.testing.assert_allclose(seen[0], x.T @ x, atol=1e-12)
    values = np.linalg.eigvalsh(got)
    assert values.min() > -1e-9
    assert (values > 1e-9).sum() <= k
    for before, after in pairwise(seen):  # each round takes off a matrix of rank one, l ≥ 0
        gone = np.linalg.eigvalsh(before - after)
        np.testing.assert_allclose(gone[:-1], 0, atol=1e-9)
        assert -1e-9 <= gone[-1] <= 6 + 1e-9


@PROPERTY
@given(seed=SEEDS, d=st.integers(1, 5), rank=st.integers(1, 5))
def test_without_noise_the_modes_give_the_best_approximation(seed: int, d: int, rank: int) -> None:
    x = unit_rows(np.random.default_rng(seed).standard_normal((7, d)))
    k = min(rank, d)
    got = kapralov_talwar.release(
        x, kapralov_talwar.KapralovTalwarNoise(np.zeros(k), leading_eigenvector), epsilon=1.0, rank=rank
    )
    values, vectors = np.linalg.eigh(second_moment(x))
    best = (vectors[:, d - k :] * values[d - k :]) @ vectors[:, d - k :].T
    np.testing.assert_allclose(got, best, atol=1e-10)


def test_rank_d_and_more_is_everything() -> None:
    for rank in (2, 9):
        whole, ranked = (kapralov_talwar.sample(X, np.random.default_rng(1), epsilon=1, rank=k) for k in (0, rank))
        np.testing.assert_array_equal(whole, ranked)


# The law


@pytest.mark.thorough
def test_one_round_has_its_exact_law() -> None:
    # C = diag(44, 40), n = 84, ε = 4, rank 1: η = 1, b = 1/2; l = tr, u = the top eigenvector, unclipped up to e^{−80}
    x = np.repeat(np.eye(2), [44, 40], axis=0)
    rng = np.random.default_rng(31)
    drawn = 84 * np.array([kapralov_talwar.sample(x, rng, epsilon=4, rank=1) for _ in range(2000)])
    values = np.trace(drawn, axis1=1, axis2=2)
    squares = np.linalg.eigh(drawn)[1][:, 0, -1] ** 2
    residuals = (values - 40 - 4 * squares) / 0.5
    assert kolmogorov_smirnov(squares, law.projection_cdf(np.diag([44.0, 40.0]), [0]), "u").p_value > FALSE_ALARM
    assert kolmogorov_smirnov(residuals, stats.laplace.cdf, "l").p_value > FALSE_ALARM
    assert independence(squares, residuals, "u and the noise of l").p_value > FALSE_ALARM
    # mutants: twice the exponent, the value of λ_1 in place of uᵀCu, half the noise
    assert kolmogorov_smirnov(squares, law.projection_cdf(np.diag([88.0, 80.0]), [0]), "mutant").p_value < FALSE_ALARM
    assert kolmogorov_smirnov((values - 44) / 0.5, stats.laplace.cdf, "mutant").p_value < FALSE_ALARM
    assert kolmogorov_smirnov(residuals, stats.laplace(0, 0.5).cdf, "mutant").p_value < FALSE_ALARM


@pytest.mark.thorough
def test_for_one_feature_the_release_is_clipped_laplace() -> None:
    # Σ = 1/4, n = 4, ε = 2: scale 2/(nε) = 1/4, atoms at 0 and 1
    rng = np.random.default_rng(32)
    draws = np.array([kapralov_talwar.sample(np.full((4, 1), 0.5), rng, epsilon=2)[0, 0] for _ in range(3000)])

    def clipped(scale: float) -> Callable[[Vector], Vector]:
        return lambda t: np.where(t < 0, 0.0, np.where(t >= 1, 1.0, stats.laplace.cdf(t, 0.25, scale)))

    assert kolmogorov_smirnov(draws, clipped(0.25), "clipped Laplace").p_value > FALSE_ALARM
    assert kolmogorov_smirnov(draws, clipped(0.125), "mutant").p_value < FALSE_ALARM
