"""Make neighbouring data sets, and statistics of outputs, for a target of unknown law whose rows lie in a box.

Every entry of the second moment and of the centred covariance attains its sensitivity on at least one pair of
neighbours. A pair of neighbours is used if it is the first pair that attains the sensitivity of some entry. The rows of
all candidate data sets are corners of the box, or the point of the box nearest to 0.
"""

from collections.abc import Iterator
from itertools import combinations_with_replacement

import numpy as np

from covassay.reference.box_sensitivity import (
    centred_pair,
    centred_sensitivity,
    far_and_near,
    moment_pair,
    second_moment_sensitivity,
)
from covassay.reference.domain import Box, Matrix, Vector, second_moment
from covassay.reference.mechanisms.output import Output
from covassay.verification.audit.engine.contract import Form, example_rows, in_box
from covassay.verification.audit.engine.events import Pair, Statistic, generic_statistics
from covassay.verification.audit.knowledge.shared.profile import Profile

N = 12
FEWEST = 2  # the number of rows of a data set, because dividing by n − 1 in place of n has the largest effect for n = 2
# because of rounding, a sensitivity counts as attained if a change reaches this share of the sensitivity
REACHED = 1 - 1e-9
OUTSIDE = 10.0  # rows outside of the bounds are this many widths away from them
# the widths of the box are multiplied by these powers of 2, which cause no rounding error
STRETCH = (1.0, 64.0, 1.0 / 16)
SEVERAL = 3  # with fewer columns than this, some different orders of the entries of an output coincide
# every pair of `extremal` but the first gets the same weight, which is at most 0.5; these weights add up to at most 3
LARGEST_WEIGHT, ALL_WEIGHTS = 0.5, 3.0


def centred(x: Matrix) -> Matrix:
    """Return the centred covariance of the rows, which is divided by n."""
    return second_moment(x - x.mean(axis=0))


def _with(others: Vector, row: Vector, n: int = N) -> Matrix:
    """Return the data set with n − 1 equal rows and one more row."""
    return np.vstack([np.tile(others, (n - 1, 1)), row[None]])


def _candidates(box: Box) -> Iterator[tuple[str, Matrix, Matrix]]:
    """Yield neighbours on which entries change as much as possible. Neighbours that change many entries come first."""
    far, near = far_and_near(box)
    yield ("every row at the lower bounds but one", *centred_pair(box, N))
    yield "every row nearest to 0 but one", _with(near, far), _with(near, near)
    for j in range(box.dimension):
        moved = far.copy()
        moved[j] = box.low[j] if far[j] == box.high[j] else box.high[j]
        yield f"column {j + 1} from one bound to the other", _with(moved, far), _with(moved, moved)
    for i, j in combinations_with_replacement(range(box.dimension), 2):
        x, y = moment_pair(box, i, j)
        yield f"entry ({i + 1}, {j + 1}) as far as it goes", _with(y, x), _with(y, y)


def extremal(box: Box) -> list[tuple[str, Matrix, Matrix]]:
    """Return neighbours that together attain the sensitivity of every entry of the second moment and of the centred
    covariance.
    """
    queries = ((second_moment, second_moment_sensitivity(box, N)), (centred, centred_sensitivity(box, N)))
    left = np.ones((len(queries), box.dimension, box.dimension), dtype=bool)
    chosen = []
    for name, first, second in _candidates(box):
        changes = [(np.abs(query(first) - query(second)), claimed.entries) for query, claimed in queries]
        reached = left & np.array([change >= REACHED * entries for change, entries in changes])
        if reached.any():
            chosen.append((name, first, second))
            left &= ~reached
        if not left.any():
            break
    return chosen


def units(output: Output, box: Box) -> Matrix:
    """Return the unit of each entry of an output, which is the width of a column, a product of two widths, or 1."""
    shape = output.shape(box.dimension)
    if output.power == 2 and shape == (box.dimension, box.dimension):
        return np.outer(box.widths, box.widths)
    return box.widths if output.power == 1 and shape == (box.dimension,) else np.ones(shape)


def statistics(first: Matrix, second: Matrix, output: Output, box: Box) -> tuple[Statistic, ...]:
    """Return statistics of an output: every entry divided by its unit, and the generic statistics."""
    unit = units(output, box)
    flat = unit.ravel()
    scaled = "" if (unit == 1).all() else " in units of the widths"

    def entry(index: int, place: tuple[int, ...]) -> Statistic:
        name = f"entry ({', '.join(str(i + 1) for i in place)})" if place else "the output"
        return Statistic(f"{name}{scaled}", lambda outputs: outputs.reshape(len(outputs), -1)[:, index] / flat[index])

    def rescaled(statistic: Statistic) -> Statistic:
        return Statistic(f"{statistic.name}{scaled}", lambda outputs: statistic.function(outputs / unit))

    entries = (entry(index, place) for index, place in enumerate(np.ndindex(unit.shape)))
    joint = generic_statistics(first / box.widths, second / box.widths, output)
    return (*entries, *(rescaled(statistic) for statistic in joint))


def box_pairs(box: Box, output: Output, bounds_are_told: bool) -> tuple[Pair, ...]:
    """Return all neighbours with rows in a box.

    If the target takes the bounds of the columns as an argument, pairs with other boxes are added. For a box with
    several columns, some of the added pairs have data with only the first one or two of these columns. One added pair
    has rows in a box with stretched bounds and with at least three columns.
    """

    def pair(name: str, first: Matrix, second: Matrix, weight: float, of: Box = box) -> Pair:
        return Pair(name, first, second, statistics(first, second, output, of), weight, box=of, by_entry=True)

    (name, first, second), *rest = extremal(box)
    share = min(LARGEST_WEIGHT, ALL_WEIGHTS / max(len(rest), 1))
    ordinary = in_box(box, example_rows(N, box.dimension))
    beyond = OUTSIDE * box.widths
    pairs = [
        pair(f"{name}, n={N}", first, second, 1.0),
        pair(f"two rows at the lower bounds but one, n={FEWEST}", *centred_pair(box, FEWEST), 0.5),
        *(pair(f"{name}, n={N}", first, second, share) for name, first, second in rest),
        pair(
            f"one row changed among ordinary rows, n={N + 1}",
            np.vstack([ordinary, box.high]),
            np.vstack([ordinary, box.low]),
            0.5,
        ),
        pair(
            f"a row {OUTSIDE:g} widths beyond the bounds, n={N}",
            _with(box.low, box.high + beyond),
            _with(box.low, box.low - beyond),
            0.25,
        ),
    ]
    if bounds_are_told:
        # violating events are more probable for outputs with few entries
        for d in range(1, min(box.dimension, SEVERAL)):
            if min(output.shape(d), default=1) == 0:
                continue
            few = box.columns(range(d))
            for n, (first, second) in ((N, centred_pair(few, N)), (FEWEST, centred_pair(few, FEWEST))):
                name = f"the first columns, rows at the lower bounds but one, n={n}, d={d}"
                pairs.append(pair(name, first, second, 0.5, few))
        d = max(box.dimension, SEVERAL)
        other = box.columns(np.resize(range(box.dimension), d).tolist()).stretched(np.resize(STRETCH, d).tolist())
        name, first, second = extremal(other)[0]
        pairs.append(pair(f"other bounds, {name}, n={N}, d={d}", first, second, 0.5, other))
    return tuple(pairs)


def box_profile(output: Output, box: Box, bounds_are_told: bool) -> Profile:
    """Return what an audit expects of a target that names no mechanism and has rows in a box."""
    pairs = box_pairs(box, output, bounds_are_told)
    return Profile(Form(output, names_a_law=False), (), lambda _: pairs)
