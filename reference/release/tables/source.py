"""Open a table, which has named columns and rows that can be read repeatedly in chunks, from one part or several."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from covassay.reference.domain import Chunks, Matrix
from covassay.reference.domain.exact_data import ExactData
from covassay.reference.errors import InvalidInput
from covassay.reference.release.messages import shown
from covassay.reference.release.tables.selection import Selection

CHUNK_BYTES = 2**22  # the number of bytes of a chunk of float64; a mechanism uses a few such arrays at a time
# the numbers of a text are kept in memory after the first pass if they take at most this number of bytes
KEPT_BYTES = 2**27

# The arguments of a `Watch` are an iterator over the rows, and the number of rows or None if this number is unknown.
# The function returns an iterator over the same rows.
Watch = Callable[[Iterator[Matrix], int | None], Iterator[Matrix]]
Passing = Callable[[], Iterator[Matrix]]


@dataclass(frozen=True)
class Part:
    """One file of a table, or one data set in memory. The names of the columns are known, but the rows have not been
    read yet.

    Attributes
    ----------
    name : the name in messages.
    columns : the names of all columns, distinct and not empty.
    n : the number of rows, or None if only a pass over them determines it.
    index : the columns that the data declare to be a row index. Columns of an index are not features.
    rows : for data that are stored on several machines, a function that maps indices of columns to the rows with these
        columns; otherwise None.
    select : a function whose argument is a tuple of indices of columns. The function `select` returns another function.
        Each call of the returned function reads all rows once, with these columns in this order. The function `select`
        raises `InvalidInput` at once if the format declares that one of these columns is not numeric.
    """

    name: str
    columns: tuple[str, ...]
    n: int | None
    select: Callable[[tuple[int, ...]], Passing]
    index: tuple[str, ...] = ()
    rows: Callable[[tuple[int, ...]], Chunks] | None = None


@dataclass(frozen=True)
class TableSource:
    """A table that has been opened, whose rows can be read.

    Attributes
    ----------
    columns : d names, distinct and not empty; x1 to xd where the data have none.
    rows : shape (n, d) float64, finite, n >= 1 and d >= 1. The entries of the rows are checked when they are read. For
        data given as exact sums, `rows` are these sums.
    available : the names of all columns of the data, selected or not.
    index : the columns that were left out because they are a row index.
    """

    columns: tuple[str, ...]
    rows: Chunks | ExactData
    available: tuple[str, ...]
    index: tuple[str, ...] = ()


def unwatched(passing: Iterator[Matrix], rows: int | None) -> Iterator[Matrix]:
    """Return the given iterator over the rows unchanged. Unlike other functions of the type `Watch`, this one reports
    no progress.
    """
    return passing


def joined(parts: Sequence[Part], selection: Selection, watch: Watch, fewest: int = 1) -> TableSource:
    """Return one table that has the rows of all parts, one part after the other.

    The function checks that all parts have the same columns in the same order. If the number of rows is not known in
    advance, the function then reads all rows once to count them.
    """
    first = parts[0]
    if not first.columns:
        raise InvalidInput(f"{first.name} has no columns: must have at least one")
    for part in parts[1:]:
        _require_same_columns(part, first)
    chosen = selection.indices(first.name, first.columns, first.index)
    if first.rows is not None and first.n is not None and first.n >= fewest:
        return TableSource(tuple(first.columns[j] for j in chosen), first.rows(chosen), first.columns)
    passes = [part.select(chosen) for part in parts]
    columns = tuple(first.columns[j] for j in chosen)
    counts = [part.n for part in parts if part.n is not None]
    if len(counts) == len(parts):
        return _source(first, columns, sum(counts), lambda: _chained(passes), watch, fewest)
    n, kept = 0, []
    for chunk in watch(_chained(passes), None):
        n += len(chunk)
        if 8 * n * len(columns) <= KEPT_BYTES:
            kept.append(chunk)
    if n == sum(map(len, kept)):
        return _source(first, columns, n, lambda: iter(kept), watch, fewest)
    kept.clear()
    return _source(first, columns, n, lambda: _chained(passes), watch, fewest)


def _source(first: Part, columns: tuple[str, ...], n: int, start: Passing, watch: Watch, fewest: int) -> TableSource:
    if n < fewest:
        raise InvalidInput(f"{first.name} has a header and no rows: must have at least one row")
    left = tuple(name for name in first.index if name not in columns)
    return TableSource(columns, Chunks((n, len(columns)), lambda: watch(start(), n)), first.columns, left)


def _chained(passes: Sequence[Passing]) -> Iterator[Matrix]:
    """Yield the rows of all parts in one pass. If there are several parts, chunks have full size even where a part
    ends.

    Float64 sums, and their rounding, therefore do not depend on how the rows are divided into files.
    """
    chunks = (chunk for start in passes for chunk in start())
    return chunks if len(passes) == 1 else full_chunks(chunks)


def full_chunks(chunks: Iterator[Matrix]) -> Iterator[Matrix]:
    """Yield the given rows in chunks of full size, except the last chunk."""
    waiting: list[Matrix] = []
    missing = 0
    for chunk in chunks:
        missing = missing or rows_per_chunk(chunk.shape[1])
        while len(chunk) >= missing:
            yield np.concatenate([*waiting, chunk[:missing]])
            chunk, waiting, missing = chunk[missing:], [], rows_per_chunk(chunk.shape[1])
        if len(chunk):
            waiting.append(chunk)
            missing -= len(chunk)
    if waiting:
        yield np.concatenate(waiting)


def _require_same_columns(part: Part, first: Part) -> None:
    """Raise `InvalidInput` unless two parts of one table have the same columns in the same order."""
    if len(part.columns) != len(first.columns):
        raise InvalidInput(
            f"{part.name} has {len(part.columns)} column(s): must have {len(first.columns)}, as {first.name}"
        )
    for j, (name, expected) in enumerate(zip(part.columns, first.columns, strict=True), start=1):
        if name != expected:
            raise InvalidInput(
                f"{part.name}, column {j} has the name {shown(name)}: must be {shown(expected)}, as in {first.name}"
            )


def rows_per_chunk(d: int) -> int:
    """Return the number of rows in a chunk."""
    return max(1, CHUNK_BYTES // (8 * d))


def numbered(d: int) -> tuple[str, ...]:
    """Return names for d columns without names, which are x1 to xd."""
    return tuple(f"x{j}" for j in range(1, d + 1))


def require_names(place: str, names: Sequence[str]) -> tuple[str, ...]:
    """Return the column names with single blanks, or raise `InvalidInput` unless they are distinct and not empty."""
    columns = tuple(" ".join(name.split()) for name in names)
    first_seen: dict[str, int] = {}
    for j, name in enumerate(columns, start=1):
        if not name:
            raise InvalidInput(f"{place}, column {j} = '': must have a name, like every column")
        if name in first_seen:
            raise InvalidInput(
                f"{place}, column {j} = {shown(name)}: must differ from the name of column {first_seen[name]}"
            )
        first_seen[name] = j
    return columns


def require_finite(place: str, rows: Matrix, columns: Sequence[str], first: int) -> Matrix:
    """Return `rows`, or raise `InvalidInput` unless all entries are finite. The argument `first` is the number of rows
    of the table before the given rows.
    """
    if not np.isfinite(rows).all():
        i, j = np.argwhere(~np.isfinite(rows))[0]
        rule = "must not be missing" if np.isnan(rows[i, j]) else "must be finite"
        raise InvalidInput(f"{place}, row {first + i + 1}, column {shown(columns[j])} = {float(rows[i, j])}: {rule}")
    return rows
