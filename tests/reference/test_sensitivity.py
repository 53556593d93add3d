"""Test the table of sensitivities against a search, and pairs of rows that attain them."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from covassay.reference.domain import unit_rows
from covassay.reference.sensitivity import (
    SENSITIVITIES,
    block_pair,
    hadamard_pair,
    neighbours,
    one_sided_pair,
    orthonormal_pair,
)
from tests.conventions import SEEDS, Vector

PROPERTY = settings(max_examples=40)
Pair = tuple[Vector, Vector]


def pairs_in_the_ball(least: int = 1) -> st.SearchStrategy[Pair]:
    """Return a strategy for pairs of vectors of at most 6 numbers in the unit ball, which often have norm 1."""
    entries = st.sampled_from([-1.0, -0.75, -0.5, -0.25, 0.0, 0.125, 0.5, 1.0]) | st.floats(-1, 1, width=16)
    two_rows = st.integers(least, 6).flatmap(lambda d: arrays(np.float64, (2, d), elements=entries))
    stretch = st.sampled_from([0.3, 1.0, 8.0])
    return st.tuples(two_rows, stretch).map(lambda rows: tuple(unit_rows(rows[0] * rows[1])))


# The table

# The suprema that `SENSITIVITIES` must contain, for each number of columns. They are suprema of the change of
# C = Σ x xᵀ, which is n times the second moment. For the upper triangle in ℓ1, they are √5, √33/2, √13 and √41.
SUPREMA = {
    "nuclear norm": {1: 1, 2: 2, 3: 2, 4: 2, 8: 2},
    "Frobenius norm": {1: 1, 2: 1.4142135623730951, 3: 1.4142135623730951, 8: 1.4142135623730951},
    "spectral norm": {1: 1, 2: 1, 3: 1, 8: 1},
    "trace": {1: 1, 2: 1, 3: 1, 8: 1},
    "eigenvalues, l1": {1: 1, 2: 2, 3: 2, 8: 2},
    "eigenvalues, l2": {1: 1, 2: 1.4142135623730951, 8: 1.4142135623730951},
    "upper triangle, l2": {1: 1, 2: 1.4142135623730951, 8: 1.4142135623730951},
    "all entries, l1": {1: 1, 2: 2.8284271247461903, 4: 5.656854249492381, 8: 11.313708498984761},
    "upper triangle, l1": {
        1: 1,
        2: 2.23606797749979,
        3: 2.8722813232690143,
        4: 3.605551275463989,
        8: 6.4031242374328485,
    },
}


def test_the_table_has_the_quantities_of_this_test() -> None:
    assert set(SENSITIVITIES) == set(SUPREMA)
    assert all(name == entry.quantity for name, entry in SENSITIVITIES.items())


@pytest.mark.parametrize("quantity", SUPREMA)
def test_the_suprema_are_those_of_the_specification(quantity: str) -> None:
    for d, expected in SUPREMA[quantity].items():
        assert SENSITIVITIES[quantity].supremum(d) == pytest.approx(expected, rel=1e-15)


@pytest.mark.parametrize("quantity", SUPREMA)
@PROPERTY
@given(pair=pairs_in_the_ball())
def test_no_pair_of_rows_exceeds_the_supremum(quantity: str, pair: Pair) -> None:
    entry = SENSITIVITIES[quantity]
    assert entry.change(*pair) <= entry.supremum(len(pair[0])) * (1 + 1e-12)


@pytest.mark.parametrize("d", range(1, 10))
@pytest.mark.parametrize("quantity", SUPREMA)
def test_the_worst_pair_lies_in_the_ball_and_attains_the_supremum(quantity: str, d: int) -> None:
    entry = SENSITIVITIES[quantity]
    x, y = entry.pair(d)
    assert x.shape == y.shape == (d,)
    assert max(np.linalg.norm(x), np.linalg.norm(y)) <= 1 + 1e-15
    if entry.attained(d):
        assert entry.change(x, y) == pytest.approx(entry.supremum(d), rel=1e-13)


def test_the_pair_for_the_triangle_agrees_with_a_hand_calculation() -> None:
    # For d = 2, the rows are eigenvectors of [[1, ½], [½, −1]].
    x, y = block_pair(2)
    w = np.array([[1.0, 0.5], [0.5, -1.0]])
    np.testing.assert_allclose([w @ x, w @ y], [x * math.sqrt(1.25), -y * math.sqrt(1.25)], rtol=1e-14)
    np.testing.assert_array_equal(block_pair(1), [[1], [0]])


def test_the_pairs_of_rows_agree_with_a_hand_calculation() -> None:
    np.testing.assert_array_equal(orthonormal_pair(3), [[1, 0, 0], [0, 1, 0]])
    np.testing.assert_array_equal(orthonormal_pair(1), [[1], [0]])
    np.testing.assert_array_equal(one_sided_pair(2), [[1, 0], [0, 0]])
    # For d = 2, the rows are the eigenvectors (cos π/8, sin π/8) and (−sin π/8, cos π/8) of [[1, 1], [1, −1]].
    x, y = hadamard_pair(2)
    np.testing.assert_allclose(np.abs(x), [math.cos(math.pi / 8), math.sin(math.pi / 8)], rtol=1e-14)
    np.testing.assert_allclose(np.abs(y), [math.sin(math.pi / 8), math.cos(math.pi / 8)], rtol=1e-14)
    assert x @ y == pytest.approx(0, abs=1e-15)


# The table also bounds the change of the sorted eigenvalues


@pytest.mark.parametrize(("quantity", "order"), [("eigenvalues, l1", 1), ("eigenvalues, l2", 2)])
@PROPERTY
@given(pair=pairs_in_the_ball(), seed=SEEDS)
def test_sorted_eigenvalues_move_no_further_than_stated(quantity: str, order: int, pair: Pair, seed: int) -> None:
    d = len(pair[0])
    rows = unit_rows(np.random.default_rng(seed).standard_normal((4, d)))
    before, after = (np.linalg.eigvalsh(data.T @ data) for data in neighbours(rows, *pair))
    assert np.linalg.norm(before - after, order) <= SENSITIVITIES[quantity].change(*pair) + 1e-13


def test_neighbours_differ_in_one_row() -> None:
    """Test that the two data sets differ only in their last row."""
    rows = np.array([[0.1, 0.2], [0.3, 0.4]])
    first, second = neighbours(rows, np.array([1.0, 0.0]), np.array([0.0, 1.0]))
    np.testing.assert_array_equal(first, [[0.1, 0.2], [0.3, 0.4], [1.0, 0.0]])
    np.testing.assert_array_equal(second, [[0.1, 0.2], [0.3, 0.4], [0.0, 1.0]])
