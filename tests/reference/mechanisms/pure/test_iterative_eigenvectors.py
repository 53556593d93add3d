"""Test iterative eigenvector sampling: its result without noise, its error bound, and ranks of d or more."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from covassay.reference.domain import second_moment, unit_rows
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
from tests.conventions import SEEDS
from tests.reference.mechanisms.directions import leading_eigenvector

BUDGETS = MECHANISM.choices["budget"]
PROPERTY = settings(max_examples=50)


@PROPERTY
@given(seed=SEEDS, d=st.integers(1, 5), budget=st.sampled_from(BUDGETS))
def test_without_noise_the_modes_give_back_the_second_moment(seed: int, d: int, budget: Any) -> None:
    x = unit_rows(np.random.default_rng(seed).standard_normal((7, d)))
    got = release(x, IterativeEigenvectorsNoise(np.zeros(d), leading_eigenvector), epsilon=1.0, budget=budget)
    np.testing.assert_allclose(got, second_moment(x), atol=1e-12)


def test_the_error_bound_agrees_with_a_hand_calculation() -> None:
    assert error_bound(3.0, 8.0, 0.5, 4) == pytest.approx(3 + 4 + 1, rel=1e-14)  # 3 + √(2 · 8) + 0.5 √4


def test_the_offset_exceeds_all_eigenvalue_noise_with_the_stated_probability() -> None:
    # By the union bound, the noise of some eigenvalue is above the offset with probability at most β/2.
    for d, beta in ((1, 0.1), (5, 0.3), (50, 1e-6)):
        threshold = adaptive_offset(0.7, d, beta) / eigenvalue_scale(0.7)
        assert d * math.exp(-threshold) == pytest.approx(beta / 2, rel=1e-12)


# The draws


@pytest.mark.parametrize("rank", [3, 4, 100])
def test_rank_d_and_more_is_everything(rank: int) -> None:
    """Test that a rank of d or more gives the same release and the same cost as rank 0, which stands for rank d."""
    x = np.random.default_rng(0).standard_normal((5, 3))
    for budget in BUDGETS:
        whole, ranked = (sample(x, np.random.default_rng(1), epsilon=1, budget=budget, rank=k) for k in (0, rank))
        np.testing.assert_array_equal(whole, ranked)
        assert spend(epsilon=1, dimension=3, budget=budget) == spend(epsilon=1, dimension=3, budget=budget, rank=rank)
