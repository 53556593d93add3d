"""Read a data set with bounds on its columns (a box), and scale every column to [−1, 1]. Values beyond the bounds are
clipped, or raise an error.
"""

from collections.abc import Iterator
from functools import partial
from typing import Literal

import numpy as np

from covassay.reference.domain.box import Box
from covassay.reference.domain.passes import blocks
from covassay.reference.domain.requirements import require_choice
from covassay.reference.domain.rows import as_rows
from covassay.reference.domain.types import Adjacency, Chunks, DataSet, Matrix, Rows
from covassay.reference.errors import InvalidInput

OnOutside = Literal["clip", "raise"]


def fewest_rows(adjacency: Adjacency) -> int:
    """Return the smallest number of rows that is accepted. Under add-remove the number is 0, because an error for empty
    data would reveal that there are no rows.
    """
    return 0 if adjacency == "add-remove" else 1


def scaled_rows(x: DataSet, box: Box, on_outside: OnOutside = "clip", fewest: int = 1) -> tuple[Rows, int, int]:
    """Scale the rows to u = (x − centre)/(half the width) in [−1, 1]^d; return them, their number n and dimension d.

    Parameters
    ----------
    x : shape (n, d), n ≥ `fewest`, with the columns of the box.
    on_outside : value "clip" moves a value outside its bounds to the nearer bound, one record at a time. "raise" raises
        `InvalidInput` instead. Whether an exception is raised depends on the data, and is not private.

    Raises
    ------
    InvalidInput : the argument `x` is not a data set, or has another number of columns than the box.
    """
    require_choice("on_outside", on_outside, ("clip", "raise"))
    rows = as_rows(x, fewest)
    n, d = rows.shape
    if d != box.dimension:
        raise InvalidInput(f"bounds of {box.dimension} columns: must be of {d}, the number of columns of x")
    if isinstance(rows, Chunks):
        return rows.through(partial(_scaled_chunks, box=box, on_outside=on_outside), d), n, d
    return _scaled(rows, box, on_outside), n, d


def _scaled_chunks(rows: Chunks, box: Box, on_outside: OnOutside) -> Iterator[Matrix]:
    """Yield the chunks of one pass, each scaled by the function `_scaled`."""
    first = 0
    for chunk in blocks(rows):
        yield _scaled(chunk, box, on_outside, first)
        first += len(chunk)


def _scaled(rows: Matrix, box: Box, on_outside: OnOutside, first: int = 0) -> Matrix:
    """Scale the rows of an array as `scaled_rows` does. The argument `first` is the position of the array's first row
    in the data set, for messages.
    """
    if on_outside == "raise" and (outside := (rows < box.low) | (rows > box.high)).any():
        i, j = np.argwhere(outside)[0]
        low, high = box.bounds[j]
        raise InvalidInput(f"x[{first + i}, {j}] = {rows[i, j]:g}: must lie in its bounds [{low:g}, {high:g}]")
    return scaled_block(rows, box)


def scaled_block(rows: Matrix, box: Box) -> Matrix:
    """Return the rows of a block, clipped to the box and scaled to [−1, 1]."""
    scaled: Matrix = np.clip(rows, box.low, box.high)
    scaled -= box.centre
    scaled /= box.half_widths
    return np.clip(scaled, -1.0, 1.0, out=scaled)
