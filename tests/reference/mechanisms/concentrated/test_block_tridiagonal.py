"""Test the block-tridiagonal mechanism: the entries that are released, and the clipping of blocks."""

import math

import numpy as np
import pytest

from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.concentrated.block_tridiagonal import kept, kept_entries, release, shortened


def test_entries_of_equal_and_neighbouring_blocks_are_kept() -> None:
    shown = ["".join("x" if k else "." for k in row) for row in kept(5, 2)]
    assert shown == ["xxxx.", "xxxx.", "xxxxx", "xxxxx", "..xxx"]
    assert kept(3, 1).tolist() == [[True, True, False], [True, True, True], [False, True, True]]


@pytest.mark.parametrize("d", range(1, 12))
@pytest.mark.parametrize("block", [1, 2, 3, 5, 20])
def test_the_number_of_kept_entries(d: int, block: int) -> None:
    """Test the formula for the number of released entries."""
    assert kept_entries(d, block) == np.triu(kept(d, block)).sum()


def test_each_block_of_a_row_is_shortened_by_itself() -> None:
    rows = np.array([[3.0, 4.0, 0.5], [0.6, 0.0, -8.0]])
    np.testing.assert_allclose(shortened(rows, 2, 1.0), [[0.6, 0.8, 0.5], [0.6, 0.0, -1.0]])
    np.testing.assert_allclose(shortened(rows, 2, 2.0), [[0.6, 0.8, 0.25], [0.3, 0.0, -1.0]])


def test_one_block_is_gaussian_covariance() -> None:
    """Test that the noise is that of GaussCov if a single block contains all columns."""
    x, z = np.array([[0.5, 0.25]]), np.array([[1.0, 2.0], [2.0, -1.0]])
    expected = np.array([[0.25, 0.125], [0.125, 0.0625]]) + math.sqrt(2 / (2 * 0.5)) * z
    np.testing.assert_allclose(release(x, z, rho=0.5, block=2), expected)


@pytest.mark.parametrize("block", [0, -1, 1.5])
def test_a_block_has_a_whole_number_of_columns(block: float) -> None:
    with pytest.raises(InvalidInput, match="block"):
        release(np.zeros((1, 2)), np.zeros((2, 2)), rho=1.0, block=block)  # type: ignore[arg-type]
