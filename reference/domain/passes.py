"""Pass over the rows of a data set, in memory or in chunks, to map, sum, select or group them."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike

from covassay.reference.domain.types import Chunks, Matrix, Rows
from covassay.reference.errors import InvalidInput


def blocks(rows: Rows) -> Iterator[Matrix]:
    """Yield the rows in one pass: an array as one block, `Chunks` chunk by chunk.

    Raises
    ------
    InvalidInput : the number of rows in the pass is not the stated one.
    """
    if not isinstance(rows, Chunks):
        yield rows
        return
    seen = 0
    for chunk in rows.start():
        seen += len(chunk)
        yield chunk
    _require_all(seen, rows)


def _require_all(seen: int, rows: Chunks) -> None:
    if seen != rows.shape[0]:
        raise InvalidInput(f"x has {seen} rows on this pass: must have {rows.shape[0]} on every pass")


@overload
def map_rows(function: Callable[[Matrix], Matrix], rows: Chunks, dimension: int | None = None) -> Chunks: ...
@overload
def map_rows(function: Callable[[Matrix], Matrix], rows: Matrix, dimension: int | None = None) -> Matrix: ...
def map_rows(function: Callable[[Matrix], Matrix], rows: Rows, dimension: int | None = None) -> Rows:
    """Return the data set whose rows are f(x_i).

    The argument `function` applies f to every row of a block of m rows, (m, d) -> (m, `dimension`). If `dimension` is
    None, it is d. The value f(x_i) must not depend on other rows, since a data set can be divided into blocks anywhere.
    """
    if not isinstance(rows, Chunks):
        return function(rows)
    return rows.through(partial(_mapped, function), rows.shape[1] if dimension is None else dimension)


def _mapped(function: Callable[[Matrix], Matrix], part: Chunks) -> Iterator[Matrix]:
    return (function(chunk) for chunk in part.start())


def sum_rows(function: Callable[[Matrix], ArrayLike], rows: Rows) -> Any:
    """Return the sum of `function(block)` over all blocks. The argument `function` must itself be a sum over the rows
    of the block.

    If the data are stored in several places, each part is summed where it is stored (`Chunks.fold`).
    """
    if not isinstance(rows, Chunks):
        return 0.0 + np.asarray(function(rows))
    parts = rows.fold(partial(_sum_of_part, function))
    _require_all(sum(seen for seen, _ in parts), rows)
    return sum((total for _, total in parts), start=0.0)


def _sum_of_part(function: Callable[[Matrix], ArrayLike], part: Chunks) -> tuple[int, Any]:
    """Return the number of rows in a part, and the sum of the function over the blocks of the part."""
    seen = 0
    total: Any = 0.0
    for block in part.start():
        seen, total = seen + len(block), total + np.asarray(function(block))
    return seen, total


def rows_between(rows: Rows, first: int, last: int) -> Rows:
    """Return the data set of the rows `first` to `last` − 1, counted from 0, for 0 ≤ first < last ≤ n."""
    if not isinstance(rows, Chunks):
        return rows[first:last]

    def start() -> Iterator[Matrix]:
        position = 0
        for chunk in blocks(rows):
            begin, end = max(first - position, 0), min(last - position, len(chunk))
            if begin < end:
                yield chunk[begin:end]
            position += len(chunk)
            if position >= last:
                return

    return Chunks((last - first, rows.shape[1]), start)


def map_groups(function: Callable[[Matrix], Matrix], rows: Rows, size: int) -> Rows:
    """Map each group of k = `size` ≤ n consecutive records to one row: f(x_1, …, x_k), f(x_{k+1}, …, x_{2k}), …

    The argument `function` applies f to each of m groups of k records, (m, k, d) -> (m, d). The last n mod k records do
    not belong to a group and are not used. Every record belongs to at most one group, so neighbours become neighbours.
    """
    n, d = rows.shape
    groups = n // size
    if not isinstance(rows, Chunks):
        return function(rows[: groups * size].reshape(groups, size, d))

    def start() -> Iterator[Matrix]:
        rest = np.empty((0, d))
        for chunk in blocks(rows):
            waiting = np.concatenate([rest, chunk])
            whole = len(waiting) // size * size
            if whole:
                yield function(waiting[:whole].reshape(-1, size, d))
            rest = waiting[whole:]

    return Chunks((groups, d), start)
