"""Reading data sets that another library has opened: a pyarrow Dataset, and a data frame of dask.

Neither library is imported here. Both read chunk by chunk: pyarrow in batches, dask one partition at a time, so that a
partition must fit in memory.
"""

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from covassay.reference.domain import Matrix
from covassay.reference.errors import InvalidInput
from covassay.reference.release.messages import clipped, reason, shown
from covassay.reference.release.tables.reading_parquet import index_columns, numbers, require_numbers
from covassay.reference.release.tables.source import Part, Passing, require_finite, require_names, rows_per_chunk

ARROW, DASK = "the pyarrow dataset", "the dask data frame"
READABLE_OBJECTS = "a file, a directory, several files, a binary stream, a pyarrow Dataset or a dask data frame"


def kind_of(data: object) -> str | None:
    """How messages call a data set of pyarrow or dask; None for every other object."""
    arrow = sys.modules.get("pyarrow.dataset")
    if arrow is not None and isinstance(data, arrow.Dataset):
        return ARROW
    dask = type(data).__module__.partition(".")[0] in ("dask", "dask_expr")
    return DASK if dask and all(hasattr(data, name) for name in ("npartitions", "columns", "dtypes")) else None


def open_frame(data: Any) -> Part:
    """Ask the library for names and types, and count the rows; the entries are checked when they are read."""
    try:
        return _open_arrow(data) if kind_of(data) == ARROW else _open_dask(data)
    except InvalidInput:
        raise
    except Exception as error:  # the library's own types of exception, and the system's
        raise InvalidInput(f"{kind_of(data)} cannot be read ({reason(error)}): must be readable") from None


def _open_arrow(data: Any) -> Part:
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
    """Options of a scanner that keep it from reading far ahead."""
    import pyarrow.dataset

    library: Any = pyarrow.dataset
    options: dict[str, Any] = {"batch_readahead": 1, "fragment_readahead": 1, "use_threads": False}
    if getattr(getattr(data, "format", None), "type_name", None) == "parquet":
        scan = library.ParquetFragmentScanOptions(use_buffered_stream=True, pre_buffer=False)
        options["fragment_scan_options"] = scan
    return options


def _open_dask(data: Any) -> Part:
    names = list(data.columns)
    columns = require_names(DASK, list(map(str, names)))
    types = list(data.dtypes)
    counts = data.map_partitions(len).compute()

    def select(chosen: tuple[int, ...]) -> Passing:
        for j in chosen:
            if getattr(types[j], "kind", "O") not in "biuf":
                raise InvalidInput(
                    f"{DASK}, column {shown(columns[j])} has the type {clipped(str(types[j]))}: must be real numbers"
                )
        return lambda: _partitions(data[[names[j] for j in chosen]], [columns[j] for j in chosen])

    return Part(DASK, columns, int(sum(counts)), select)


def _partitions(data: Any, columns: list[str]) -> Iterator[Matrix]:
    first, step = 0, rows_per_chunk(len(columns))
    for k in range(data.npartitions):
        try:
            frame = data.get_partition(k).compute()
        except Exception as error:  # whatever the tasks raise
            raise InvalidInput(f"{DASK}, partition {k} cannot be read ({reason(error)}): must be readable") from None
        for begin in range(0, len(frame), step):
            part = frame.iloc[begin : begin + step].to_numpy(dtype="float64", na_value=np.nan)
            yield require_finite(DASK, np.ascontiguousarray(part), columns, first)
            first += len(part)
