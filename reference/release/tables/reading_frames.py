"""Read data sets that another library has opened: pyarrow, dask, pandas or NumPy.

This module imports no library, and reads data of pyarrow in batches. Each partition of dask is summed on the machine
that stores it, and only the sums are sent. Some mechanisms need the rows themselves, for example groups of rows. Such a
mechanism reads the partitions one after the other, and each partition must fit in memory.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from covassay.reference.domain import Chunks, Matrix
from covassay.reference.errors import InvalidInput
from covassay.reference.release.messages import clipped, reason, shown
from covassay.reference.release.tables.partitions import Partition, partitioned
from covassay.reference.release.tables.reading_parquet import index_columns, numbers, require_numbers
from covassay.reference.release.tables.source import Part, Passing, numbered, require_names, rows_per_chunk

ARROW, DASK, DASK_ARRAY = "the pyarrow dataset", "the dask data frame", "the dask array"
PANDAS, ARRAY = "the pandas data frame", "the array"
READABLE_OBJECTS = (
    "a file, a directory, several files, a binary stream, an array, a pandas data frame, a pyarrow Dataset or Table, "
    "a data frame or an array of dask, or exact sums"
)


def kind_of(data: Any) -> str | None:
    """Return the name, for messages, of a data set of pyarrow, dask, pandas or NumPy, and None for every other
    object.
    """
    if isinstance(data, np.ndarray):
        return ARRAY
    library = type(data).__module__.partition(".")[0]
    if library == "pyarrow" and (hasattr(data, "scanner") or hasattr(data, "num_columns")):
        return ARROW
    if library in ("dask", "dask_expr") and isinstance(getattr(data, "ndim", None), int):
        frame = data.ndim == 2 and all(hasattr(data, name) for name in ("npartitions", "columns", "dtypes"))
        return DASK if frame else DASK_ARRAY if hasattr(data, "to_delayed") and hasattr(data, "chunks") else None
    return PANDAS if library == "pandas" and hasattr(data, "dtypes") and hasattr(data, "columns") else None


def open_frame(data: Any) -> Part:
    """Return the table with names and types from the library, and count its rows; entries are checked when they are
    read.
    """
    kind = kind_of(data)
    try:
        return OPENED[str(kind)](data)
    except InvalidInput:
        raise
    except Exception as error:  # the library raises its own types of exception, and passes on those of the system
        raise InvalidInput(f"{kind} cannot be read ({reason(error)}): must be readable") from None


def _open_arrow(data: Any) -> Part:
    if not hasattr(data, "scanner"):  # the data are a table or a batch
        from pyarrow import dataset

        data = dataset.dataset(data)
    columns = require_names(ARROW, data.schema.names)

    def select(chosen: tuple[int, ...]) -> Passing:
        require_numbers(ARROW, data.schema, chosen)
        wanted = [data.schema.names[j] for j in chosen]

        def start() -> Iterator[Matrix]:
            scanner = data.scanner(columns=wanted, batch_size=rows_per_chunk(len(chosen)), **_little_memory(data))
            return numbers(ARROW, iter(scanner.to_batches()), wanted, "must be readable")

        return start

    return Part(ARROW, columns, data.count_rows(), select, index_columns(data.schema))


def _little_memory(data: Any) -> dict[str, Any]:
    """Return options that keep a scanner of pyarrow from reading many batches of rows ahead into memory."""
    import pyarrow.dataset

    library: Any = pyarrow.dataset
    options: dict[str, Any] = {"batch_readahead": 1, "fragment_readahead": 1, "use_threads": False}
    if getattr(getattr(data, "format", None), "type_name", None) == "parquet":
        scan = library.ParquetFragmentScanOptions(use_buffered_stream=True, pre_buffer=False)
        options["fragment_scan_options"] = scan
    return options


# PANDAS AND DASK


def _of_frame(frame: Any, places: tuple[int, ...]) -> Matrix:
    """Return columns of a data frame, chosen by position, as float64; missing values become NaN."""
    numbers: Matrix = frame.iloc[:, list(places)].to_numpy(dtype="float64", na_value=np.nan)
    return numbers


def _require_real(place: str, columns: Sequence[str], types: Sequence[Any], chosen: Sequence[int]) -> None:
    for j in chosen:
        if getattr(types[j], "kind", "O") not in "biuf":
            raise InvalidInput(
                f"{place}, column {shown(columns[j])} has the type {clipped(str(types[j]))}: must be real numbers"
            )


def _in_one_piece(place: str, columns: tuple[str, ...], data: Any, types: Sequence[Any], of: Any) -> Part:
    def select(chosen: tuple[int, ...]) -> Passing:
        _require_real(place, columns, types, chosen)
        how = Partition(place, tuple(columns[j] for j in chosen), 0, partial(of, places=chosen))
        return lambda: how.rows(data).start()

    return Part(place, columns, len(data), select)


def _open_pandas(data: Any) -> Part:
    columns = require_names(PANDAS, list(map(str, data.columns)))
    return _in_one_piece(PANDAS, columns, data, list(data.dtypes), _of_frame)


def _open_array(data: Any) -> Part:
    if data.ndim != 2 or data.shape[1] < 1:
        raise InvalidInput(f"{ARRAY} has shape {data.shape}: must be (n, d), one row per record")
    if np.ma.isMaskedArray(data):
        raise InvalidInput(f"{ARRAY} is masked: must have a number in every place")
    return _in_one_piece(ARRAY, numbered(data.shape[1]), data, [data.dtype] * data.shape[1], _of_array)


def _of_array(array: Any, places: tuple[int, ...]) -> Matrix:
    return np.asarray(array[:, list(places)], dtype=np.float64)


def _open_dask(data: Any) -> Part:
    columns = require_names(DASK, list(map(str, data.columns)))
    counts = [int(n) for n in data.map_partitions(len).compute()]
    return _in_partitions(DASK, columns, counts, list(data.dtypes), data.to_delayed(), _of_frame)


def _open_dask_array(data: Any) -> Part:
    if data.ndim != 2 or data.shape[1] < 1:
        raise InvalidInput(f"{DASK_ARRAY} has shape {data.shape}: must be (n, d), one row per record")
    whole = data.rechunk({1: -1})
    given = [block for (block,) in whole.to_delayed()]
    counts = whole.chunks[0]
    if not all(isinstance(n, int | np.integer) for n in counts):
        raise InvalidInput(f"{DASK_ARRAY} has chunks of unknown size: must be known (compute_chunk_sizes)")
    types = [data.dtype] * data.shape[1]
    return _in_partitions(DASK_ARRAY, numbered(data.shape[1]), list(map(int, counts)), types, given, _of_array)


def _in_partitions(
    place: str, columns: tuple[str, ...], counts: list[int], types: Sequence[Any], given: Sequence[Any], of: Any
) -> Part:
    n, firsts = sum(counts), [sum(counts[:k]) for k in range(len(counts))]

    def rows(chosen: tuple[int, ...]) -> Chunks:
        _require_real(place, columns, types, chosen)
        names = tuple(columns[j] for j in chosen)
        how = tuple(Partition(place, names, first, partial(of, places=chosen)) for first in firsts)
        return partitioned((n, len(chosen)), how, given)

    return Part(place, columns, n, lambda chosen: rows(chosen).start, rows=rows)


OPENED = {ARROW: _open_arrow, PANDAS: _open_pandas, ARRAY: _open_array, DASK: _open_dask, DASK_ARRAY: _open_dask_array}
