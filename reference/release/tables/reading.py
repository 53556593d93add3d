"""Reading a data file as rows of numbers.

Reading is strict: nothing is guessed, filled in or dropped, because a record that disappears changes n, and a value
that is filled in depends on other records. Every refusal is one line that names the file, the place, the value and the
rule. Such a line shows values of the data, and whether it appears depends on the data. It is meant for the owner of the
data, and is not part of a release.

A file may be larger than memory: it is read in chunks, once for every pass of the mechanism over the rows. A .csv file
is read once more, at the beginning, since nothing else tells how many rows it has.
"""

import os
import stat
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from covassay.reference.domain import blocks
from covassay.reference.errors import InvalidInput
from covassay.reference.release.messages import named, reason, require_suffix
from covassay.reference.release.tables.reading_csv import open_csv
from covassay.reference.release.tables.reading_npy import open_npy
from covassay.reference.release.tables.reading_parquet import open_parquet
from covassay.reference.release.tables.source import TableSource, Watch, unwatched

READERS = {".csv": open_csv, ".npy": open_npy, ".parquet": open_parquet}
READABLE = tuple(READERS)


@dataclass(frozen=True, eq=False)
class Table:
    """The numbers of a data file.

    Attributes
    ----------
    columns : d names, distinct and not empty; x1 to xd where the file has none.
    rows : (n, d) float64, finite, n >= 1 and d >= 1.
    """

    columns: tuple[str, ...]
    rows: NDArray[np.float64]


def open_table(path: Path, watch: Watch = unwatched) -> TableSource:
    """Open a table of finite numbers in a .csv, .npy or .parquet file, of any size.

    A .csv file is UTF-8 text, with or without a byte order mark, its cells separated by commas. The first line is a
    header if one of its cells is neither a number nor a missing or infinite value. Blank lines at the end are ignored.
    A .npy file holds one array of real numbers with two dimensions. In a .parquet file all columns must be numbers;
    reading it needs pyarrow.

    Parameters
    ----------
    watch : a function through which every pass over the rows goes, to report its progress.

    Raises
    ------
    InvalidInput : the file cannot be read, or a cell, line or name breaks a rule. Whether this error is raised, and
        what it says, depends on the data and is not private. The same holds for every later pass over the rows.
    """
    path = Path(path)
    if os.path.isdir(path):
        raise InvalidInput(f"{named(path)} is a directory: must be a file")
    suffix = require_suffix(path, READABLE)
    try:
        ordinary = stat.S_ISREG(path.stat().st_mode)
        empty = ordinary and not path.stat().st_size
        if ordinary:
            path.open("rb").close()
    except FileNotFoundError:
        raise InvalidInput(f"{named(path)} does not exist: must be a file") from None
    except (OSError, ValueError) as error:  # ValueError: a null character in the path
        raise InvalidInput(f"{named(path)} cannot be read ({reason(error)}): must be a readable file") from None
    if not ordinary:  # opening a pipe would wait for its other end
        raise InvalidInput(f"{named(path)} is a device or a pipe: must be an ordinary file, to be read more than once")
    if empty:
        raise InvalidInput(f"{named(path)} is empty: must have at least one row")
    return READERS[suffix](path, watch)


def read_table(path: Path) -> Table:
    """The whole table of a file that fits in memory; see `open_table`."""
    source = open_table(path)
    return Table(source.columns, np.concatenate(list(blocks(source.rows))))
