"""A data file as the readers give it: named columns, and rows that are read chunk by chunk, as often as asked."""

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
    rows : (n, d) float64, finite, n >= 1 and d >= 1; every pass reads the file again and checks it again.
    """

    columns: tuple[str, ...]
    rows: Chunks


def unwatched(passing: Iterator[Matrix], rows: int | None) -> Iterator[Matrix]:
    """A pass that nobody watches."""
    return passing


def rows_per_chunk(d: int) -> int:
    """How many rows make a chunk."""
    return max(1, CHUNK_BYTES // (8 * d))


def numbered(d: int) -> tuple[str, ...]:
    """The names of columns that have none."""
    return tuple(f"x{j}" for j in range(1, d + 1))


def require_names(place: str, names: Sequence[str]) -> tuple[str, ...]:
    """The column names, runs of blanks made one blank; raise `InvalidInput` unless they are distinct and not empty."""
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
    """`rows`, if all are finite; the message counts rows from `first`, the number of rows before them."""
    if not np.isfinite(rows).all():
        i, j = np.argwhere(~np.isfinite(rows))[0]
        rule = "must not be missing" if np.isnan(rows[i, j]) else "must be finite"
        raise InvalidInput(
            f"{named(path)}, row {first + i + 1}, column {shown(columns[j])} = {float(rows[i, j])}: {rule}"
        )
    return rows


def unchanged(path: Path, start: Callable[[], Iterator[Matrix]]) -> Callable[[], Iterator[Matrix]]:
    """`start`, which then refuses to go on once the file is another than it was when this was called."""

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
