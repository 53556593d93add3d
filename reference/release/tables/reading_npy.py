"""Reading .npy files in slices."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from covassay.reference.domain import Chunks, Matrix
from covassay.reference.errors import InvalidInput
from covassay.reference.release.messages import clipped, named, reason
from covassay.reference.release.tables.source import (
    TableSource,
    Watch,
    numbered,
    require_finite,
    rows_per_chunk,
    unchanged,
)

NPY_MAGIC = b"\x93NUMPY"


def open_npy(path: Path, watch: Watch) -> TableSource:
    """Open the file and read its header; the entries are checked when they are read."""
    with path.open("rb") as file:
        start = file.read(len(NPY_MAGIC))
    if start != NPY_MAGIC:
        raise InvalidInput(f"{named(path)} starts with {start!r}: must be one array in NumPy's .npy format")
    stored = _mapped(path)
    if stored.dtype.kind not in "biuf":
        raise InvalidInput(f"{named(path)} has entries of type {clipped(str(stored.dtype))}: must be real numbers")
    if stored.ndim != 2:
        raise InvalidInput(f"{named(path)} has {stored.ndim} dimension(s): must have 2, one row per record")
    n, d = stored.shape
    if min(n, d) < 1:
        raise InvalidInput(f"{named(path)} has shape {stored.shape}: must have at least one row and one column")
    columns = numbered(d)
    passing = unchanged(path, lambda: _chunks(path, n, columns))
    return TableSource(columns, Chunks((n, d), lambda: watch(passing(), n)))


def _mapped(path: Path) -> Any:
    try:
        return np.load(path, mmap_mode="r", allow_pickle=False)
    except Exception as error:  # NumPy raises many types of exception on damaged headers
        raise InvalidInput(
            f"{named(path)} cannot be read ({reason(error)}): must be a whole array of numbers"
        ) from None


def _chunks(path: Path, n: int, columns: tuple[str, ...]) -> Iterator[Matrix]:
    step = rows_per_chunk(len(columns))
    for first in range(0, n, step):
        # Mapped anew for every chunk: the pages of one long mapping would pile up in memory.
        with np.errstate(over="ignore"):  # a long double may exceed float64; the check finds it
            rows = np.array(_mapped(path)[first : first + step], dtype=np.float64, order="C")
        yield require_finite(path, rows, columns, first)
