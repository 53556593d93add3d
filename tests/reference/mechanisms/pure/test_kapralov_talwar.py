"""Test the mechanism of Kapralov and Talwar: the matrix that remains after each round, and its result without noise."""

from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from covassay.reference.domain import second_moment, unit_rows
from covassay.reference.laws import bingham as law
from covassay.reference.mechanisms.pure import kapralov_talwar
from tests.conventions import SEEDS, Matrix, Vector
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
    for before, after in pairwise(seen):  # each round subtracts a positive semidefinite matrix of rank one
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
    """Test that a rank of d or more gives the same release as rank 0, which means d."""
    for rank in (2, 9):
        whole, ranked = (kapralov_talwar.sample(X, np.random.default_rng(1), epsilon=1, rank=k) for k in (0, rank))
        np.testing.assert_array_equal(whole, ranked)
