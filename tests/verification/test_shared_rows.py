"""Test the class `SharedRows`, which stores results computed from the rows of a data set, so that several methods can
use them. The results must be the same as without this class, and each result must be computed only once.
"""

import numpy as np
import pytest

from covassay.reference.domain import Matrix, blocks, map_rows, second_moment, unit_rows
from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.gaussian_estimation.pme import differences
from covassay.reference.mechanisms.registry import mechanism
from covassay.verification.shared_rows import SharedRows

X = np.random.default_rng(0).standard_normal((40, 5))


def test_shared_rows_are_the_same_data() -> None:
    """The test fails if the cache returns rows that were scaled with a different bound."""
    shared = SharedRows.of(X)
    for r in (1.0, 2.0, 100.0):
        unit = unit_rows(shared, r)
        np.testing.assert_array_equal(np.concatenate(list(blocks(unit))), unit_rows(X, r))
        np.testing.assert_array_equal(second_moment(unit), second_moment(unit_rows(X, r)))
        assert unit_rows(shared, r) is unit


def test_errors_come_at_once() -> None:
    """The test fails if an invalid value raises an error only when the rows are read."""
    with pytest.raises(InvalidInput, match="must be at most row_bound"):
        unit_rows(SharedRows.of(X), 1.0, "raise")
    with pytest.raises(InvalidInput, match=r"x\[0, 0\] = nan"):
        unit_rows(SharedRows.of(np.full((2, 2), np.nan)))


def test_the_rows_are_read_once() -> None:
    """The test fails if the rows are read once for each release, or if a caller can change a shared result."""
    started: list[int] = []
    counted = SharedRows(X.shape, lambda: iter(started.append(1) or (X,)))  # type: ignore[func-returns-value]
    # `second_moment` returns a copy, so this assignment must not change the shared result
    second_moment(counted)[:] = 7.0
    np.testing.assert_array_equal(second_moment(counted), second_moment(X))
    assert started == [1]
    paired = [differences(counted) for _ in range(2)]
    assert [len(block) for rows in paired for _ in range(2) for block in blocks(rows)] == [20] * 4
    assert started == [1, 1]
    clipped = SharedRows(X.shape, lambda: iter(started.append(1) or (X,)))  # type: ignore[func-returns-value]
    moments = [second_moment(unit_rows(clipped)) for _ in range(3)]
    np.testing.assert_array_equal(moments[0], moments[2])
    assert started == [1, 1, 1]


@pytest.mark.parametrize("name", ["gauss-cov", "separate-cov", "nuclear-ball-projection", "recursive-moment", "pme"])
def test_a_release_is_the_same_with_and_without_sharing(name: str) -> None:
    sample, shared = mechanism(name).sample, SharedRows.of(X)
    budget = mechanism(name).notion.default.keywords()
    for _ in range(2):
        drawn = (sample(rows, np.random.default_rng(1), **budget) for rows in (X, shared))
        np.testing.assert_array_equal(*drawn)


def test_mapped_rows_are_mapped_once() -> None:
    """The test fails if a map of the rows is applied again in every pass over the mapped rows."""
    calls: list[int] = []

    def doubled(block: Matrix) -> Matrix:
        calls.append(len(block))
        return 2 * block

    images = map_rows(doubled, SharedRows.of(X), 5)
    for _ in range(3):
        np.testing.assert_array_equal(np.concatenate(list(blocks(images))), 2 * X)
    assert calls == [40]
