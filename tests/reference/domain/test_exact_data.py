"""Test the exact sums of integer rows against a computation with Python integers."""

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from covassay.reference.domain import Chunks, second_moment, unit_rows
from covassay.reference.domain import exact_data as module
from covassay.reference.domain.exact_data import exact_data, integer_rows, rows_in_block
from covassay.reference.errors import InvalidInput
from tests.conventions import SEEDS, Matrix


def integers(x: object, r: float = 1.0, input_bits: int = 20) -> list[list[int]]:
    return [[int(v) for v in row] for block in integer_rows(x, r, "clip", input_bits) for row in block]  # type: ignore[arg-type]


def random_rows(seed: int, n: int, d: int) -> Matrix:
    rng = np.random.default_rng(seed)
    lengths = rng.choice([0.0, 1e-9, 0.3, 1.0, 1.0 + 1e-15, 1.0 - 1e-16, 7.0, 1e200], size=(n, 1))
    directions = rng.normal(size=(n, d)) * rng.integers(0, 2, size=(n, d))
    norms = np.linalg.norm(directions, axis=1, keepdims=True)
    return directions / np.where(norms > 0, norms, 1) * lengths


@given(SEEDS, st.integers(1, 40), st.integers(1, 6), st.sampled_from([1, 8, 20, 24]))
def test_sums_equal_those_of_python_integers(seed: int, n: int, d: int, input_bits: int) -> None:
    q = integers(x := random_rows(seed, n, d), input_bits=input_bits)
    data = exact_data(x, input_bits=input_bits, sums=True)
    assert (data.n, data.d) == (n, d)
    assert data.gram == [[sum(row[i] * row[j] for row in q) for j in range(d)] for i in range(d)]
    assert data.sums == [sum(row[i] for row in q) for i in range(d)]
    assert all(sum(v * v for v in row) <= 4**input_bits for row in q)


@given(SEEDS, st.integers(1, 30), st.integers(1, 6))
def test_rows_are_rounded_toward_zero_and_clipped_as_everywhere(seed: int, n: int, d: int) -> None:
    x = random_rows(seed, n, d)
    q, unit = np.array(integers(x, r=2.0), dtype=float), unit_rows(x, 2.0)
    assert (np.abs(q) <= np.abs(unit) * 2**20).all()
    assert (np.abs(unit * 2**20 - q) < 1 + 1e-9).all()


def test_every_record_is_mapped_by_itself() -> None:
    """Test that the integers to which a row is rounded do not depend on the other rows."""
    x = random_rows(3, 60, 4)
    together = integers(x)
    assert together == [integers(row[None])[0] for row in x]


def test_many_rows_are_added_in_several_blocks_without_a_rounding(monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.ones((3 * rows_in_block(20) + 5, 1))  # rows with the largest possible sums
    assert exact_data(x).gram == [[len(x) * 4**20]]
    assert rows_in_block(20) * 4**20 == 2**53
    monkeypatch.setattr(module, "EXACT", 2**53 * 8)  # mutant: sums of a block are too large for float64
    monkeypatch.setattr(module, "ROWS_AT_ONCE", 2**20)
    x[:, 0] = (2**20 - 1) / 2**20
    assert exact_data(x).gram != [[len(x) * (2**20 - 1) ** 2]]


def test_chunks_give_the_same_integers() -> None:
    """Test that the exact sums do not depend on how the rows are cut into chunks or stored in memory."""
    x = random_rows(5, 1000, 3)

    def start() -> Iterator[Matrix]:
        yield from (x[:1], x[1:700], x[700:])

    assert exact_data(Chunks(x.shape, start), 2.0, sums=True) == exact_data(x, 2.0, sums=True)
    assert exact_data(np.asfortranarray(x)) == exact_data(x.tolist()) == exact_data(x)


def test_it_is_the_second_moment() -> None:
    """Test the exact second moment, covariance and trace against floating-point computations."""
    x = random_rows(6, 500, 3)
    data = exact_data(x, sums=True)
    moment = second_moment(unit_rows(x))
    mean = unit_rows(x).mean(axis=0)
    for i in range(3):
        for j in range(3):
            assert abs(float(data.moment(i, j)) - moment[i, j]) < 4 * 2**-20
            assert abs(float(data.centred(i, j)) - (moment - np.outer(mean, mean))[i, j]) < 8 * 2**-20
    assert abs(float(data.trace()) - np.trace(moment)) < 12 * 2**-20


@pytest.mark.parametrize("entry", [np.nan, np.inf, -np.inf])
def test_an_entry_that_is_not_finite_is_refused(entry: float) -> None:
    x = np.zeros((10_000, 2))
    x[9_000, 1] = entry
    with pytest.raises(InvalidInput, match=r"x\[9000, 1\]"):
        exact_data(x)


def test_bad_arguments_are_refused() -> None:
    with pytest.raises(InvalidInput, match="norm 2"):
        exact_data(np.full((3, 1), 2.0), on_large_rows="raise")
    with pytest.raises(InvalidInput, match="input_bits"):
        exact_data(np.ones((3, 1)), input_bits=25)
    with pytest.raises(InvalidInput, match="row_bound"):
        exact_data(np.ones((3, 1)), row_bound=0.0)
    with pytest.raises(InvalidInput, match="2, one row per record"):
        exact_data(np.ones(3))


def test_the_data_are_not_written_to() -> None:
    """Test that the computation does not change the caller's array."""
    x = random_rows(7, 50, 3)
    x.setflags(write=False)
    before = x.copy()
    exact_data(x)
    assert np.array_equal(x, before)
