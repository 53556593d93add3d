"""Test the sensitivities for rows in a box against a search over rows, and pairs of rows that attain them."""

import math
from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from covassay.reference.box_sensitivity import (
    BoxSensitivity,
    centred_pair,
    centred_sensitivity,
    far_and_near,
    moment_pair,
    one_signed,
    second_moment_sensitivity,
)
from covassay.reference.domain import Box, Matrix
from covassay.reference.errors import InvalidInput
from tests.conventions import SEEDS

PROPERTY = settings(max_examples=60, deadline=None)
ROUNDING = 1e-9  # relative error for sums of at most 6 products of numbers up to 100
MUTANT = 0.97  # factor of a wrong sensitivity that is 3 % too small
BOXES = {
    "unit": [(0, 1), (0, 1), (0, 1)],
    "ranges 1, 100, 1": [(0, 1), (0, 100), (0, 1)],
    "symmetric": [(-1, 1), (-2, 2)],
    "straddling": [(-1, 3), (-2, 1)],
    "away from 0": [(2, 3), (-5, -4)],
    "mixed": [(-1, 2), (1, 4)],
    "one column": [(-1, 2)],
}
Statistic = Callable[[Matrix], Matrix]


def moment(x: Matrix) -> Matrix:
    return x.T @ x / len(x)


def covariance(divisor: str) -> Statistic:
    def centred(x: Matrix) -> Matrix:
        c = x - x.mean(axis=0)
        return c.T @ c / (len(x) if divisor == "n" else len(x) - 1)

    return centred


def grid(box: Box) -> Matrix:
    """Return the points of the box whose coordinates are bounds, midpoints of bounds or the numbers nearest to 0."""
    near = far_and_near(box)[1]
    axes = [sorted({low, high, (low + high) / 2, o}) for (low, high), o in zip(box.bounds, near, strict=True)]
    return np.array(list(product(*axes)))


def searched(statistic: Statistic, box: Box, n: int, removed: bool = False) -> Matrix:
    """Return the absolute changes of a statistic, of shape (count, d, d), when one row moves from one point of the grid
    to another or, with `removed`, is removed. The other rows are at one or two corners of the box.
    """
    points, corners, d = grid(box), np.array(list(product(*box.bounds))), box.dimension
    changes = []
    for a, b in product(corners, repeat=2):
        others = np.vstack([np.tile(a, ((n - 1) // 2, 1)), np.tile(b, (n - 1 - (n - 1) // 2, 1))])
        values = np.array([statistic(np.vstack([others, p[None]])) for p in points])
        other_values = statistic(others)[None] if removed else values
        changes.append(np.abs(values[:, None] - other_values[None]).reshape(-1, d, d))
    return np.concatenate(changes)


def norms(changes: Matrix) -> Matrix:
    """Return the ℓ1 norm, the ℓ1 norm of the upper triangle, and the ℓ2 norm of every change, of shape (count, 3)."""
    return np.array([changes.sum((1, 2)), np.triu(changes).sum((1, 2)), np.linalg.norm(changes, axis=(1, 2))]).T


def bounds_on_norms(claimed: BoxSensitivity) -> tuple[float, float, float]:
    return claimed.l1, claimed.triangle_l1, claimed.l2


def exceeded(claimed: BoxSensitivity, changes: Matrix, factor: float = 1.0) -> bool:
    """Return whether some change exceeds `factor` times the claimed sensitivity of an entry or of a norm."""
    slack = factor * (1 + ROUNDING)
    entries, joint = changes > slack * claimed.entries, norms(changes) > slack * np.array(bounds_on_norms(claimed))
    return bool(entries.any() or joint.any())


def attained(claimed: BoxSensitivity, changes: Matrix) -> bool:
    """Return whether the largest change of every entry equals its claimed sensitivity. If the claim says that the same
    change of a row gives the largest change of all entries at once, the largest norms must also equal their claimed
    values.
    """
    if not np.allclose(changes.max(axis=0), claimed.entries, rtol=ROUNDING):
        return False
    return not claimed.jointly or np.allclose(norms(changes).max(axis=0), bounds_on_norms(claimed), rtol=ROUNDING)


@pytest.mark.parametrize("name", BOXES)
@pytest.mark.parametrize("n", [1, 3])
def test_second_moment_by_search_and_its_mutant(name: str, n: int) -> None:
    box = Box.of(BOXES[name])
    claimed, changes = second_moment_sensitivity(box, n), searched(moment, box, n)
    assert not exceeded(claimed, changes)
    assert attained(claimed, changes)
    assert exceeded(claimed, changes, MUTANT)


@pytest.mark.parametrize("name", BOXES)
@pytest.mark.parametrize(("n", "divisor"), [(2, "n"), (2, "n-1"), (4, "n"), (4, "n-1")])
def test_centred_covariance_by_search_and_its_mutant(name: str, n: int, divisor: str) -> None:
    box = Box.of(BOXES[name])
    claimed, changes = centred_sensitivity(box, n, divisor), searched(covariance(divisor), box, n)
    assert claimed.jointly
    assert not exceeded(claimed, changes)
    assert attained(claimed, changes)
    assert exceeded(claimed, changes, MUTANT)


@pytest.mark.parametrize("name", BOXES)
def test_a_row_that_is_added_by_search_and_its_mutant(name: str) -> None:
    box = Box.of(BOXES[name])
    cases = [
        (second_moment_sensitivity(box, 3), searched(moment, box, 3, removed=True)),
        (centred_sensitivity(box, 3, "n", "add-remove"), searched(covariance("n"), box, 3, removed=True)),
        (centred_sensitivity(box, 5, "n-1", "add-remove"), searched(covariance("n-1"), box, 5, removed=True)),
    ]
    for claimed, changes in cases:
        assert not exceeded(claimed, changes)
        assert attained(claimed, changes)
        assert exceeded(claimed, changes, MUTANT)


@PROPERTY
@given(SEEDS, st.integers(1, 4), st.integers(2, 7), st.sampled_from(["n", "n-1"]))
def test_random_rows_of_random_boxes_stay_within(seed: int, d: int, n: int, divisor: str) -> None:
    rng = np.random.default_rng(seed)
    low = rng.choice([-3.0, -1.0, 0.0, 2.0], d)
    box = Box.of(np.c_[low, low + rng.choice([0.5, 1.0, 10.0], d)])
    shares = np.rint(rng.random((n, d))) if seed % 2 else rng.random((n, d))
    x = box.place(shares)
    y = x.copy()
    y[-1] = box.place(rng.random((1, d)))[0]
    assert not exceeded(second_moment_sensitivity(box, n), np.abs(moment(x) - moment(y))[None])
    assert not exceeded(second_moment_sensitivity(box, n), np.abs(moment(x) - moment(x[:-1]))[None])
    s = covariance(divisor)
    assert not exceeded(centred_sensitivity(box, n, divisor), np.abs(s(x) - s(y))[None])
    if n >= 4 or divisor == "n":
        assert not exceeded(centred_sensitivity(box, n, divisor, "add-remove"), np.abs(s(x) - s(x[:-1]))[None])


def test_the_pairs_attain_what_they_are_for() -> None:
    """Test that each pair of rows changes its entry by the sensitivity."""
    for bounds in BOXES.values():
        box = Box.of(bounds)
        entries = second_moment_sensitivity(box, 1).entries
        for i, j in np.ndindex(entries.shape):
            x, y = moment_pair(box, i, j)
            assert abs(x[i] * x[j] - y[i] * y[j]) == pytest.approx(entries[i, j], rel=ROUNDING)
        first, second = centred_pair(box, 6)
        s = covariance("n-1")
        np.testing.assert_allclose(s(first) - s(second), centred_sensitivity(box, 6, "n-1").entries, rtol=ROUNDING)


def test_a_joint_bound_that_is_not_attained_is_not_said_to_be() -> None:
    box = Box.of([(-1, 1), (-1, 1)])
    claimed = second_moment_sensitivity(box, 1)
    assert not claimed.jointly
    assert claimed.triangle_l1 == 4
    assert norms(searched(moment, box, 1))[:, 1].max() == 3  # for x = (1, 1) and y = 0
    assert one_signed(Box.of([(0, 1), (-2, 0)]))


def test_smartnoise_s_bound_for_one_entry_is_twice_the_sensitivity() -> None:
    box, n = Box.of([(0, 1), (0, 100)]), 500
    exact = centred_sensitivity(box, n, "n-1").entries
    np.testing.assert_allclose(2 / n * np.outer(box.widths, box.widths), 2 * exact)


@pytest.mark.parametrize(
    "bounds", [[], [(1, 0)], [(0, 0)], [(0, math.nan)], [(0, math.inf)], [0, 1], [("a", "b")], [(0, 1e101)]]
)
def test_bounds_that_are_none(bounds: object) -> None:
    with pytest.raises(InvalidInput, match="bounds"):
        Box.of(bounds)


def test_too_few_rows_for_the_divisor() -> None:
    """Test that too few rows for the divisor raise an error."""
    box = Box.of([(0, 1)])
    for n, divisor, adjacency in ((1, "n-1", "replace-one"), (3, "n-1", "add-remove"), (1, "n", "add-remove")):
        with pytest.raises(InvalidInput, match="n = "):
            centred_sensitivity(box, n, divisor, adjacency)


def test_a_box_is_moved_and_reordered() -> None:
    box = Box.of([(0, 1), (-1, 100)])
    assert box.columns([1, 0, 1]).bounds == ((-1, 100), (0, 1), (-1, 100))
    assert box.stretched([2, 4]).bounds == ((0, 2), (-4, 400))
    np.testing.assert_array_equal(box.reflect(np.array([[0.25, 0.0]])), [[0.75, 99.0]])
    np.testing.assert_array_equal(box.place(np.array([[0.0, 1.0]])), [[0.0, 100.0]])
    assert str(box) == "0.0:1.0,-1.0:100.0"
