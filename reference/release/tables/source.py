"""An opened data file: named columns, and rows that are read in chunks, as often as needed."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from covassay.reference.domain import Chunks, Matrix
from covassay.reference.errors import InvalidInput
from covassay.reference.release.messages import named, reason, shown

CHUNK_BYTES = 2**22  # of float64 in one chunk; a mechanism holds a few such arrays at a time
KEPT_BYTES = 2**26  # a .csv file whose numbers fit in here is parsed once and kept, not parsed in every pass

Watch = Callable[[Iterator[Matrix], int | None], Iterator[Matrix]]  # (a pass, its number of rows if known) -> the pass


@dataclass(frozen=True)
class TableSource:
    """A data file that has been opened.

    Attributes
    ----------
    columns : d names, distinct and not empty; x1 to xd where the file has none.
    rows : (n, d) float64, finite, n >= 1 and d >= 1. The entries are checked when they are read.
    """

    columns: tuple[str, ...]
    rows: Chunks


def unwatched(passing: Iterator[Matrix], rows: int | None) -> Iterator[Matrix]:
    """The pass as it is: the watch that reports nothing."""
    return passing


def rows_per_chunk(d: int) -> int:
    """The number of rows in a chunk."""
    return max(1, CHUNK_BYTES // (8 * d))


def numbered(d: int) -> tuple[str, ...]:
    """Names for d columns without names: x1 to xd."""
    return tuple(f"x{j}" for j in range(1, d + 1))


def require_names(place: str, names: Sequence[str]) -> tuple[str, ...]:
    """The column names with single blanks; raise `InvalidInput` unless they are distinct and not empty."""
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


def require_finite(path: Path, rows: Matrix, columns: Sequence[str], first: int) -> Matrix:
    """`rows`; raise `InvalidInput` unless all are finite. `first` is the number of rows before them."""
    if not np.isfinite(rows).all():
        i, j = np.argwhere(~np.isfinite(rows))[0]
        rule = "must not be missing" if np.isnan(rows[i, j]) else "must be finite"
        raise InvalidInput(
            f"{named(path)}, row {first + i + 1}, column {shown(columns[j])} = {float(rows[i, j])}: {rule}"
        )
    return rows


def unchanged(path: Path, start: Callable[[], Iterator[Matrix]]) -> Callable[[], Iterator[Matrix]]:
    """Wrap `start` so that its passes raise `InvalidInput` once the file differs from what it was at this call."""

    def state() -> tuple[int, ...]:
        try:
            found = path.stat()
        except OSError as error:
            raise InvalidInput(f"{named(path)} cannot be read ({reason(error)}): must stay as it is") from None
        return found.st_ino, found.st_size, found.st_mtime_ns

    def require_same() -> None:
        if state() != before:
            raise InvalidInput(f"{named(path)} changed while it was read: must stay as it is until the end")

    before = state()

    def again() -> Iterator[Matrix]:
        require_same()
        for chunk in start():
            require_same()
            yield chunk

    return again
