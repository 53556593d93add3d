"""Read .npy files in slices."""

import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np

from covassay.reference.domain import Matrix
from covassay.reference.errors import InvalidInput
from covassay.reference.release.messages import clipped, reason
from covassay.reference.release.tables.data_file import DataFile
from covassay.reference.release.tables.source import Part, Passing, numbered, require_finite, rows_per_chunk

NPY_MAGIC = b"\x93NUMPY"
HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


@dataclass(frozen=True)
class _Stored:
    """The layout of the entries in a file: type and shape, whether they are stored by columns, and the position of the
    first byte.
    """

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    by_columns: bool
    offset: int


def open_npy(file: DataFile) -> Part:
    """Open the file and read its header; the entries are checked later, when they are read."""
    with file.open() as binary:
        start = binary.read(len(NPY_MAGIC))
        if start != NPY_MAGIC:
            raise InvalidInput(f"{file.name} starts with {start!r}: must be one array in NumPy's .npy format")
        binary.seek(0)
        stored = _header(file.name, binary)
    if stored.dtype.kind not in "biuf":
        raise InvalidInput(f"{file.name} has entries of type {clipped(str(stored.dtype))}: must be real numbers")
    if len(stored.shape) != 2:
        raise InvalidInput(f"{file.name} has {len(stored.shape)} dimension(s): must have 2, one row per record")
    n, d = stored.shape
    if min(n, d) < 1:
        raise InvalidInput(f"{file.name} has shape {stored.shape}: must have at least one row and one column")

    def select(chosen: tuple[int, ...]) -> Passing:
        return file.unchanged(lambda: _chunks(file, stored, chosen))

    return Part(file.name, numbered(d), n, select)


def _header(name: str, binary: BinaryIO) -> _Stored:
    try:
        version = np.lib.format.read_magic(binary)
        if version not in HEADERS:
            raise ValueError(f"format version {version}")
        shape, by_columns, dtype = HEADERS[version](binary)
        if dtype.hasobject:
            raise ValueError("its entries are Python objects")
        offset = binary.tell()
        if offset + dtype.itemsize * int(np.prod(shape, dtype=object)) > binary.seek(0, io.SEEK_END):
            raise ValueError("the file ends before the last entry of the array")
    except Exception as error:  # NumPy raises many types of exception on damaged headers
        raise InvalidInput(f"{name} cannot be read ({reason(error)}): must be a whole array of numbers") from None
    return _Stored(dtype, shape, by_columns, offset)


def _chunks(file: DataFile, stored: _Stored, chosen: tuple[int, ...]) -> Iterator[Matrix]:
    n, d = stored.shape
    columns = numbered(d)
    step = rows_per_chunk(d)
    with file.open() as binary:
        for first in range(0, n, step):
            count = min(step, n - first)
            with np.errstate(over="ignore"):  # a long double may exceed float64, which the check detects
                rows = np.array(_slice(binary, stored, chosen, first, count), dtype=np.float64, order="C")
            yield require_finite(file.name, rows, [columns[j] for j in chosen], first)


def _slice(binary: BinaryIO, stored: _Stored, chosen: tuple[int, ...], first: int, count: int) -> Any:
    """Return `count` rows of the chosen columns, starting with the row `first`."""
    n, d = stored.shape

    def entries(begin: int, size: int) -> Any:
        binary.seek(stored.offset + begin * stored.dtype.itemsize)
        return np.frombuffer(binary.read(size * stored.dtype.itemsize), dtype=stored.dtype)

    if stored.by_columns:
        return np.stack([entries(j * n + first, count) for j in chosen], axis=1)
    rows = entries(first * d, count * d).reshape(count, d)
    return rows if chosen == tuple(range(d)) else rows[:, chosen]
