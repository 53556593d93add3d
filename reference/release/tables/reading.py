"""Read data as rows of numbers: a file, several files, a directory, a stream, or a data set of pyarrow or dask.

Reading is strict: no value is guessed, filled in or dropped, because dropping a record changes n, and a filled-in value
depends on other records. Every error message is one line that names the file, the place, the value and the rule. An
error message shows values of the data, and whether the message appears depends on the data. A message that quotes a
cell is meant for the owner of the data, and is not part of a release.

The data may be larger than memory, because they are read in chunks, once for every pass of the mechanism over the rows.
Text is read one more time at the beginning, to count its rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covassay.reference.domain import Chunks
from covassay.reference.domain.exact_data import ExactData
from covassay.reference.errors import InvalidInput
from covassay.reference.release.messages import named
from covassay.reference.release.tables.data_file import STREAM, DataFile, from_stream, on_disk
from covassay.reference.release.tables.files import data_files, data_suffix, require_no_copies
from covassay.reference.release.tables.reading_csv import open_text
from covassay.reference.release.tables.reading_frames import READABLE_OBJECTS, kind_of, open_frame
from covassay.reference.release.tables.reading_npy import open_npy
from covassay.reference.release.tables.reading_parquet import open_parquet
from covassay.reference.release.tables.selection import Selection
from covassay.reference.release.tables.source import Part, TableSource, Watch, joined, numbered, unwatched

DELIMITERS = {".csv": ",", ".tsv": "\t"}
BINARY = {".npy": open_npy, ".parquet": open_parquet}
READABLE = (".csv", *BINARY, ".tsv")
EVERYTHING = Selection()
SUMS = "the exact sums"


@dataclass(frozen=True, eq=False)
class Table:
    """The rows of numbers in a data file, with the names of their columns.

    Attributes
    ----------
    columns : d names, distinct and not empty; x1 to xd if the file has none.
    rows : shape (n, d) float64, finite, n >= 1 and d >= 1.
    """

    columns: tuple[str, ...]
    rows: NDArray[np.float64]


def open_table(data: Any, watch: Watch = unwatched, selection: Selection = EVERYTHING, fewest: int = 1) -> TableSource:
    """Open a table of finite numbers, of any size.

    A .csv or .tsv file is UTF-8 text, with or without a byte order mark, its cells separated by commas or tabs.
    `selection` may say whether the first line of the text is a header. Otherwise the line is a header if one of its
    cells is neither a number nor a missing or infinite value. Blank lines at the end are ignored. A .npy file holds one
    array of real numbers with two dimensions. Reading a .parquet file needs pyarrow. A file may be compressed, with .gz
    after its suffix. The columns that are read must be numbers, but other columns may contain anything.

    Parameters
    ----------
    data : one of the following: the path of a file; the path of a directory, or several paths, whose files have the
        same columns in the same order and are read in the order of their names; a binary stream; an array; a pandas,
        pyarrow or dask table; or sums that were computed exactly before.
    watch : a function that wraps every pass over the rows, to report its progress.
    fewest : the fewest rows, 0 or 1. Data without rows must still have names of columns, or a shape.

    Raises
    ------
    InvalidInput : the data cannot be read, or a cell, line or name breaks a rule. Whether `InvalidInput` is raised, and
        with which message, depends on the data and is not private. Every later pass over the rows checks the same
        rules.
    """
    if isinstance(data, ExactData):
        return _summed(data, selection, fewest)
    return joined(_parts(data, selection), selection, watch, fewest)


def _summed(data: ExactData, selection: Selection, fewest: int) -> TableSource:
    """Return the source of a table that is given as exact sums, with all of its columns."""
    selection.require_no_text_options(SUMS)
    if selection.names is not None:
        raise InvalidInput(f"--columns or --drop: must be given where {SUMS} are computed, not where they are used")
    if data.n < fewest:
        raise InvalidInput(f"{SUMS} have no row: must be sums over at least one row")
    columns = data.columns or numbered(data.d)
    return TableSource(columns, data, columns)


def describe(data: Any) -> str:
    """Return the name of the data for messages."""
    if isinstance(data, ExactData):
        return SUMS
    if isinstance(data, str | Path):
        return named(Path(data))
    if isinstance(data, Sequence):
        return named(Path(data[0])) if len(data) == 1 else f"{len(data)} files"
    return kind_of(data) or STREAM


def read_table(path: Path) -> Table:
    """Return the whole table of a file that fits in memory, read by `open_table`."""
    source = open_table(path)
    passing = source.rows.start() if isinstance(source.rows, Chunks) else iter(())
    return Table(source.columns, np.concatenate(list(passing)))


def _parts(data: Any, selection: Selection) -> list[Part]:
    if isinstance(data, str | Path):
        data = [Path(data)]
    if kind := kind_of(data):
        selection.require_no_text_options(kind)
        return [open_frame(data)]
    if hasattr(type(data), "read"):
        return [_opened(*from_stream(data, selection.stream_limit), selection)]
    if not (isinstance(data, Sequence) and all(isinstance(path, str | Path) for path in data)):
        raise InvalidInput(f"data of type {type(data).__name__}: must be {READABLE_OBJECTS}")
    files = data_files(data)
    suffixes = [data_suffix(path, READABLE) for path in files]
    for path, suffix in zip(files, suffixes, strict=True):
        if suffix != suffixes[0]:
            raise InvalidInput(f"{named(path)} is a {suffix} file: must be a {suffixes[0]} file, as {named(files[0])}")
    parts = [_opened(on_disk(path, suffixes[0] in BINARY), suffixes[0], selection) for path in files]
    if not selection.allow_copies:
        require_no_copies([path for path, part in zip(files, parts, strict=True) if part.n != 0])
    return parts


def _opened(file: DataFile, suffix: str, selection: Selection) -> Part:
    if suffix in BINARY:
        selection.require_no_text_options(file.name)
        return BINARY[suffix](file)
    return open_text(file, selection.header, selection.delimiter or DELIMITERS[suffix])
