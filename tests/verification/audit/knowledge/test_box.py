"""Test pairs of neighbouring data sets with bounded columns. The pairs must attain the sensitivity of every entry. All
rows must be within the bounds, except in the pair that tests how rows beyond the bounds are clipped.
"""

import numpy as np
import pytest

from covassay.reference.box_sensitivity import centred_sensitivity, second_moment_sensitivity
from covassay.reference.domain import Box, Matrix, second_moment
from covassay.reference.mechanisms.output import OUTPUTS, SECOND_MOMENT
from covassay.verification.audit.engine.adjacency import with_adjacency
from covassay.verification.audit.engine.events import data_sets
from covassay.verification.audit.knowledge.shared.box import N, box_pairs, centred, extremal, units

BOXES = [[(0, 1), (0, 100), (0, 1)], [(-1, 1), (-2, 3)], [(-1, 3), (-2, 1), (2, 5), (-4, -1)], [(10, 11)], [(-1, 1)]]


@pytest.mark.parametrize("bounds", BOXES)
def test_every_entry_reaches_its_sensitivity_on_some_pair(bounds: list[tuple[float, float]]) -> None:
    box = Box.of(bounds)
    chosen = extremal(box)
    for query, claimed in ((second_moment, second_moment_sensitivity(box, N)), (centred, centred_sensitivity(box, N))):
        reached = np.max([np.abs(query(first) - query(second)) for _, first, second in chosen], axis=0)
        np.testing.assert_allclose(reached, claimed.entries, rtol=1e-9)
    if (box.low >= 0).all():
        assert len(chosen) == 1


def differing(first: Matrix, second: Matrix) -> int:
    return int((first != second).any(axis=1).sum())


@pytest.mark.parametrize("bounds", BOXES)
@pytest.mark.parametrize("told", [False, True])
def test_all_pairs_are_neighbours_in_their_box(bounds: list[tuple[float, float]], told: bool) -> None:
    """The test fails if a pair of data sets differs in more than one row or leaves the bounds, because its loss would
    prove nothing.
    """
    pairs = box_pairs(Box.of(bounds), SECOND_MOMENT, told)
    assert len({pair.name for pair in pairs}) == len(pairs)
    for pair in pairs:
        assert differing(pair.first, pair.second) == 1
        assert pair.box is not None
        for x in (pair.first, pair.second):
            inside = (x >= pair.box.low - 1e-9 * pair.box.widths) & (x <= pair.box.high + 1e-9 * pair.box.widths)
            assert inside.all() or "beyond the bounds" in pair.name
    assert told == any(pair.box != Box.of(bounds) for pair in pairs)


def test_a_row_comes_and_goes_under_add_remove() -> None:
    pairs = with_adjacency(box_pairs(Box.of(BOXES[0]), SECOND_MOMENT, False), "add-remove", SECOND_MOMENT)
    for pair in pairs:
        assert len(pair.second) == len(pair.first) - 1 >= 2
        np.testing.assert_array_equal(pair.first[:-1], pair.second)
        assert data_sets(pair).differing_rows[0].second is None
        outputs = np.random.default_rng(0).normal(size=(4, 3, 3))
        assert all(np.isfinite(statistic.values(outputs)).all() for statistic in pair.statistics)


def test_entries_of_one_size_have_units_of_one_size() -> None:
    box = Box.of(BOXES[0])
    np.testing.assert_array_equal(units(SECOND_MOMENT, box), np.outer([1, 100, 1], [1, 100, 1]))
    np.testing.assert_array_equal(units(OUTPUTS["vector"], box), [1, 100, 1])
    np.testing.assert_array_equal(units(OUTPUTS["direction"], box), [1, 1, 1])
