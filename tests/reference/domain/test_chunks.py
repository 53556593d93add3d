"""Test that the functions that read data give the same result for an array and for the same rows in chunks."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from covassay.reference.domain import Chunks, as_rows, blocks, map_rows, second_moment, sum_rows, unit_rows
from covassay.reference.errors import InvalidInput
from tests.conventions import Matrix

X = np.array([[3.0, 4.0], [0.0, 0.5], [1.0, 0.0], [0.0, 0.0], [-6.0, 8.0]])


def cut(x: Matrix, places: tuple[int, ...]) -> Chunks:
    ends = [0, *sorted(set(places)), len(x)]
    return Chunks(x.shape, lambda: (x[a:b] for a, b in pairwise(ends) if b > a))


def gathered(rows: Any) -> Matrix:
    return np.concatenate(list(blocks(rows)))


# Property tests draw a matrix of integers, whose sums are exact in any order, and cut it at random rows.
cut_matrices = st.tuples(st.integers(1, 9), st.integers(1, 3)).flatmap(
    lambda shape: st.tuples(
        arrays(np.float64, shape, elements=st.integers(-99, 99).map(float)),
        st.lists(st.integers(1, shape[0]), max_size=4).map(tuple),
    )
)


@pytest.mark.thorough
@settings(max_examples=60)
@given(cut_matrices)
def test_however_the_rows_are_cut_the_data_are_the_same(case: tuple[Matrix, tuple[int, ...]]) -> None:
    x, places = case
    chunks = cut(x, places)
    np.testing.assert_array_equal(gathered(as_rows(chunks)), x)
    np.testing.assert_array_equal(second_moment(chunks), second_moment(x))
    np.testing.assert_array_equal(gathered(unit_rows(chunks, 7.0)), unit_rows(x, 7.0))
    total = sum_rows(lambda block: block.sum(axis=0), chunks)
    np.testing.assert_array_equal(total, x.sum(axis=0))


def test_an_array_is_one_block_and_chunks_are_as_many_as_come() -> None:
    assert [len(block) for block in blocks(X)] == [5]
    assert [len(block) for block in blocks(cut(X, (2, 3)))] == [2, 1, 2]


def test_every_pass_starts_again() -> None:
    """Test that a second pass over the chunks reads all rows again."""
    started = []

    def start() -> Iterator[Matrix]:
        started.append(1)
        yield X

    chunks = Chunks(X.shape, start)
    np.testing.assert_array_equal(gathered(chunks), gathered(chunks))
    assert len(started) == 2


def test_nothing_is_read_before_a_pass() -> None:
    """Test that mapped and clipped chunks read no row before a pass begins."""

    def start() -> Iterator[Matrix]:
        raise AssertionError("read")

    rows = map_rows(lambda block: 2 * block, unit_rows(Chunks((5, 2), start)))
    assert rows.shape == (5, 2)
    with pytest.raises(AssertionError, match="read"):
        next(blocks(rows))


@pytest.mark.parametrize("given_rows", [3, 6], ids=["one more than said", "two fewer than said"])
def test_a_pass_with_another_number_of_rows_is_refused(given_rows: int) -> None:
    chunks = Chunks((given_rows, 2), lambda: iter([X[:2], X[2:4]]))
    with pytest.raises(InvalidInput, match=f"^x has 4 rows on this pass: must have {given_rows} on every pass"):
        second_moment(chunks)


def test_a_second_pass_that_is_shorter_is_refused() -> None:
    passes = iter([[X], [X[:4]]])
    chunks = Chunks(X.shape, lambda: iter(next(passes)))
    second_moment(chunks)
    with pytest.raises(InvalidInput, match="x has 4 rows on this pass: must have 5"):
        second_moment(chunks)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (np.ones((2, 3)), r"x has 3 columns from row 2 on: must have 2"),
        (np.ones((0, 2)), r"x has shape \(0, 2\): must have at least one row"),
        (np.ones(2), r"x has 1 dimension"),
        (np.array([[1.0, 2.0], [np.nan, 0.0]]), r"x\[3, 0\] = nan"),
        (np.array([["a", "b"]]), "must be real numbers"),
    ],
    ids=["wide", "empty", "flat", "nan", "text"],
)
def test_a_bad_chunk_is_refused_when_it_is_read(bad: Any, message: str) -> None:
    rows = as_rows(Chunks((4, 2), lambda: iter([X[:2], bad])))
    with pytest.raises(InvalidInput, match=message):
        gathered(rows)


@pytest.mark.parametrize("shape", [(0, 2), (2, 0), (-1, 2), (2.5, 2)])
def test_a_shape_without_rows_or_columns_is_refused(shape: Any) -> None:
    with pytest.raises(InvalidInput, match="of x = "):
        as_rows(Chunks(shape, lambda: iter(())))


def test_a_map_may_change_the_number_of_columns() -> None:
    """Test that the rows may have another number of columns after a map. The row sums, computed by hand, are 7, 0.5, 1,
    0 and 2.
    """

    def row_sums(block: Matrix) -> Matrix:
        return block.sum(axis=1, keepdims=True)

    expected = [[7.0], [0.5], [1.0], [0.0], [2.0]]
    assert map_rows(row_sums, X).tolist() == expected
    mapped = map_rows(row_sums, cut(X, (1, 4)), 1)
    assert mapped.shape == (5, 1)
    assert gathered(mapped).tolist() == expected


def test_clipping_in_chunks_agrees_with_a_hand_calculation() -> None:
    """Test clipped chunks against a calculation by hand. The row (3, 4) has norm 5 and becomes (0.6, 0.8). The row (−6,
    8) has norm 10 and becomes (−0.6, 0.8).
    """
    expected = np.array([[0.6, 0.8], [0.0, 0.5], [1.0, 0.0], [0.0, 0.0], [-0.6, 0.8]])
    np.testing.assert_allclose(gathered(unit_rows(cut(X, (1,)))), expected, rtol=1e-15)
    # The sum of x xᵀ over the clipped rows is diag(0.36 + 1 + 0.36, 0.64 + 0.25 + 0.64) = diag(1.72, 1.53).
    np.testing.assert_allclose(second_moment(unit_rows(cut(X, (3,)))), np.diag([1.72, 1.53]) / 5, atol=1e-15)


def test_long_rows_in_chunks_are_refused_by_their_place_in_the_data() -> None:
    with pytest.raises(InvalidInput, match=r"x\[4\] has norm 10.0: must be at most row_bound = 5.0"):
        gathered(unit_rows(cut(X, (2, 4)), 5.0, "raise"))
    np.testing.assert_array_equal(gathered(unit_rows(cut(X, (2, 4)), 10.0, "raise")), X / 10)


def test_the_caller_s_chunks_are_not_written_to() -> None:
    frozen = 3 * X
    frozen.flags.writeable = False
    second_moment(unit_rows(cut(frozen, (2,))))
    np.testing.assert_array_equal(frozen, 3 * X)
