"""Make neighbours for the test of low-order bits: some query is 0 on one data set and far from 0 on the other.

The function `pairs_in_ball` makes four pairs of neighbours for every kind of output, and further pairs for matrices and
for vectors. Some mechanisms adapt their noise scale to the data. If the data have a single row, such a mechanism has
few scales to choose from, so that the law of its output is not a mixture of laws with many noise scales. A row with
many columns and without an entry 0 changes every number of a vector. The low-order bits of any of these numbers may
then show the change.

If rows may lie anywhere, a mechanism shortens or drops rows beyond a length that it chooses itself. A row of length 1
then hardly changes the output. For a mechanism on the whole space, a search finds the length at which it shortens rows.
If two outputs have the same noise, their distance is the effect of the row in which their data sets differ. Draws under
the same noise only choose the neighbours, and no test uses them. A target that ignores the given generator has new
noise in every call. The search then compares outputs with different noise, and the length that it finds means nothing.
The test is still valid, because the data sets are neighbours at every length that the search can find.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np

from covassay.reference.box_sensitivity import far_and_near
from covassay.reference.domain import Box, Matrix, Vector
from covassay.reference.mechanisms.output import Output
from covassay.verification.audit.engine.adjacency import REPLACE_ONE, with_adjacency
from covassay.verification.audit.engine.bit_statistics import statistics
from covassay.verification.audit.engine.events import Pair
from covassay.verification.audit.engine.sampling import Setting, draw

# This is a power of two, so that dividing the entries of a row by the number of rows causes no rounding error.
ROWS = 16
MORE = 3, 4, 5  # If outputs are matrices, further pairs of neighbours are made with these numbers of columns.
# If outputs are vectors, a further pair of neighbours has WIDE_ROWS rows and WIDE columns. The square root of WIDE is a
# power of two, so that the entries of a dense row are powers of two.
WIDE_ROWS, WIDE = 64, 16
# a mechanism usually shortens rows to less than the last of these lengths
LENGTHS = (*(4.0**k for k in range(6)), 2.0**20)
# The search multiplies and divides the best length so far by each of these factors in turn.
STEPS = tuple(2.0**0.5**k for k in range(4))
PROBES = 4  # the number of draws for each length of rows that the search tries; all lengths get the same noise
FARTHER = 1 + 1e-6  # the ratio of two distances counts as a difference only if it is larger than this number

# the function takes two data sets with rows of length 1 and returns the length that the rows should have
Length = Callable[["Matrix", "Matrix"], float]


def unit_length(first: Matrix, second: Matrix) -> float:
    """Return 1, which is the length of the longest rows in the unit ball."""
    return 1.0


def most_moving(setting: Setting) -> Length:
    """Return the length to which the rows of two data sets must be scaled to change the target's outputs the most."""

    known: dict[tuple[str, bytes], Matrix] = {}

    def outputs(x: Matrix) -> Matrix:
        key = f"bits/probe/{x.shape}", x.tobytes()
        if key not in known:
            known[key] = draw(setting, x, PROBES, key[0]).outputs
        return known[key]

    def moved(first: Matrix, second: Matrix) -> float:
        one, two = outputs(first), outputs(second)
        return float(np.abs(one - two).sum()) if len(one) == len(two) == PROBES else 0.0

    def longest(first: Matrix, second: Matrix) -> float:
        best, length = 0.0, 1.0
        for factors in (LENGTHS, *((step, 1 / step) for step in STEPS)):
            for candidate in [length * factor for factor in factors]:
                distance = moved(candidate * first, candidate * second)
                if distance > FARTHER * best:
                    best, length = distance, candidate
        return length

    return longest


def _pair(name: str, others: Vector, x: Vector, y: Vector, output: Output, rows: int = ROWS) -> Pair:
    first, second = (np.vstack([np.tile(others, (rows - 1, 1)), row]) for row in (x, y))
    return Pair(name, first, second, statistics(output, len(others)))


def _dense(d: int) -> Vector:
    """Return a vector of norm 1 whose entries are not 0; if d is above 2, it should be a power of 4, so that the
    entries are powers of two.
    """
    return np.array([0.6, 0.8]) if d == 2 else np.full(d, d**-0.5)


def pairs_in_ball(output: Output, smallest_dimension: int) -> tuple[Pair, ...]:
    """Return neighbours in the unit ball for which some query is 0 on one data set and far from 0 on the other."""
    small = max(1, smallest_dimension)
    d = max(2, small)
    axes = np.eye(d)
    between = axes[0] * 0.6 + axes[1] * 0.8
    found = [
        _pair(f"one row against none, d={small}", np.zeros(small), _dense(small), np.zeros(small), output),
        _pair(f"a single row against none, d={small}", np.zeros(small), np.eye(small)[0], np.zeros(small), output, 1),
        _pair(f"one row on another axis, d={d}", axes[0], axes[1], axes[0], output),
        _pair(f"one row between the axes, d={d}", axes[0], between, axes[0], output),
    ]
    if len(output.shape(MORE[0])) == 2:  # a leak in entry (1, d) may need three or more columns
        found += [_corners(k, output) for k in MORE if k >= small]
    if len(output.shape(WIDE)) == 1 and not output.normalised:
        zero = np.zeros(WIDE)
        found.append(_pair(f"one dense row against none, d={WIDE}", zero, _dense(WIDE), zero, output, WIDE_ROWS))
    return tuple(pair for pair in found if min(output.shape(pair.first.shape[1]), default=1) > 0)


def _corners(d: int, output: Output) -> Pair:
    """Return neighbours that differ in one row, which lies along the first and last columns on one data set and is zero
    on the other. Between these neighbours, the corner entries of a released matrix change most.
    """
    zero, row = np.zeros(d), np.zeros(d)
    row[0], row[-1] = 0.6, 0.8
    return _pair(f"one row in the first and last column against none, d={d}", zero, row, zero, output)


def of_length(pair: Pair, length: float) -> Pair:
    """Return the two data sets with all rows multiplied by `length`."""
    if length == 1:
        return pair
    return replace(
        pair, name=f"{pair.name}, length {length:.6g}", first=length * pair.first, second=length * pair.second
    )


def pairs_in_box(output: Output, box: Box) -> tuple[Pair, ...]:
    """Return neighbours in a box. Every row is the point of the box nearest to 0, except that the first data set has
    one row that is far from 0 in one column or in every column.
    """
    far, near = far_and_near(box)
    ends = {"in every column": far} | {
        f"in column {j + 1}": np.where(np.arange(box.dimension) == j, far, near) for j in range(min(box.dimension, 2))
    }
    return tuple(_pair(f"one row far from the others {name}", near, end, near, output) for name, end in ends.items())


def bit_pairs(
    output: Output,
    smallest_dimension: int,
    box: Box | None,
    adjacency: str,
    own: Iterable[Pair] = (),
    length: Length = unit_length,
) -> tuple[Pair, ...]:
    """Return the neighbours on which low-order bits are compared, and last among them the user's own neighbours."""
    if box is None:
        made = tuple(of_length(p, length(p.first, p.second)) for p in pairs_in_ball(output, smallest_dimension))
    else:
        made = pairs_in_box(output, box)
    if adjacency != REPLACE_ONE:
        made = with_adjacency(made, adjacency, output)
    every = (*made, *own)
    return tuple(
        Pair(p.name, p.first, p.second, statistics(output, p.first.shape[1]), failures_tell=p.failures_tell, box=p.box)
        for p in every
    )
