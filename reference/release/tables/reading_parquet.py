"""Reading .parquet files in batches, with pyarrow, which is an optional dependency."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from covassay.reference.domain import Chunks, Matrix
from covassay.reference.errors import InvalidInput
from covassay.reference.release.messages import clipped, named, reason, shown
from covassay.reference.release.tables.source import (
    TableSource,
    Watch,
    require_finite,
    require_names,
    rows_per_chunk,
    unchanged,
)

PANDAS_INDEX = "__index_level_"  # how pandas names a row index without a name
READ_AHEAD = 2**16  # bytes per column


def open_parquet(path: Path, watch: Watch) -> TableSource:
    """Open the file and read its footer; the entries are checked when they are read."""
    with _opened(path) as file:
        schema, n = file.schema_arrow, file.metadata.num_rows
    columns = require_names(named(path), schema.names)
    for name, kind in zip(columns, schema.types, strict=True):
        if name.startswith(PANDAS_INDEX):
            raise InvalidInput(f"{named(path)}, column {shown(name)} is a row index: must be left out (index=False)")
        if not _is_number(kind):
            raise InvalidInput(
                f"{named(path)}, column {shown(name)} has the type {clipped(str(kind))}: must be real numbers"
            )
    if min(n, len(columns)) < 1:
        raise InvalidInput(f"{named(path)} has shape {(n, len(columns))}: must have at least one row and one column")
    passing = unchanged(path, lambda: _chunks(path, columns))
    return TableSource(columns, Chunks((n, len(columns)), lambda: watch(passing(), n)))


def _opened(path: Path) -> Any:
    try:
        import pyarrow.parquet
    except ImportError:
        raise InvalidInput(f"{named(path)} needs pyarrow to be read: install the extra covassay[parquet]") from None
    library: Any = pyarrow.parquet
    try:
        # pre_buffer, the default of new versions, would hold a whole row group in memory.
        return library.ParquetFile(path, buffer_size=READ_AHEAD, pre_buffer=False)
    except Exception as error:  # pyarrow's own types of exception, and the system's
        raise InvalidInput(f"{named(path)} cannot be read ({reason(error)}): must be a Parquet file") from None


def _is_number(kind: Any) -> bool:
    import pyarrow.types

    types: Any = pyarrow.types
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind))


def _chunks(path: Path, columns: tuple[str, ...]) -> Iterator[Matrix]:
    first = 0
    with _opened(path) as file:
        batches = file.iter_batches(batch_size=rows_per_chunk(len(columns)))
        while True:
            try:
                batch = next(batches, None)
            except Exception as error:  # a damaged page
                raise InvalidInput(f"{named(path)} cannot be read ({reason(error)}): must be a Parquet file") from None
            if batch is None:
                return
            if batch.num_rows:
                yield require_finite(path, _matrix(path, batch, columns, first), columns, first)
                first += batch.num_rows


def _matrix(path: Path, batch: Any, columns: tuple[str, ...], first: int) -> Matrix:
    rows = np.empty((batch.num_rows, len(columns)))
    for j, name in enumerate(columns):
        column = batch.column(j)
        if column.null_count:
            i = int(np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))[0])
            raise InvalidInput(f"{named(path)}, row {first + i + 1}, column {shown(name)} is null: must not be missing")
        rows[:, j] = column.to_numpy(zero_copy_only=False)
    return rows
