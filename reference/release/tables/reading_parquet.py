"""Read .parquet files in batches, with pyarrow, which is an optional dependency."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from covassay.reference.domain import Matrix
from covassay.reference.errors import InvalidInput
from covassay.reference.release.messages import clipped, reason, shown
from covassay.reference.release.tables.data_file import DataFile
from covassay.reference.release.tables.source import Part, Passing, require_finite, require_names, rows_per_chunk

# the beginnings of the names that pandas and dask give to a row index without a name
INDEX_NAMES = ("__index_level_", "__null_dask_index__")
READ_AHEAD = 2**16  # the number of bytes that are read ahead per column


def open_parquet(file: DataFile) -> Part:
    """Open the file and read its footer; the entries are checked later, when they are read."""
    with _opened(file) as parquet:
        schema, n = parquet.schema_arrow, parquet.metadata.num_rows
    columns = require_names(file.name, schema.names)
    if not columns:
        raise InvalidInput(f"{file.name} has shape {(n, 0)}: must have at least one row and one column")

    def select(chosen: tuple[int, ...]) -> Passing:
        require_numbers(file.name, schema, chosen)
        return file.unchanged(lambda: _chunks(file, schema.names, chosen))

    return Part(file.name, columns, n, select, index_columns(schema))


def index_columns(schema: Any) -> tuple[str, ...]:
    """Return the columns of a schema of pyarrow that are a row index, by their name or by metadata of pandas or
    dask.
    """
    try:
        declared = (schema.pandas_metadata or {}).get("index_columns", [])
    except (ValueError, AttributeError, TypeError):  # the metadata are not valid
        declared = []
    known = {name for name in declared if isinstance(name, str)}
    return tuple(" ".join(name.split()) for name in schema.names if name in known or name.startswith(INDEX_NAMES))


def require_numbers(place: str, schema: Any, chosen: Sequence[int]) -> None:
    """Raise `InvalidInput` unless the chosen columns of a schema of pyarrow are numeric."""
    import pyarrow.types

    types: Any = pyarrow.types
    for j in chosen:
        name, kind = schema.names[j], schema.types[j]
        if not (types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)):
            raise InvalidInput(f"{place}, column {shown(name)} has the type {clipped(str(kind))}: must be real numbers")


def numbers(place: str, batches: Iterator[Any], columns: Sequence[str], must: str) -> Iterator[Matrix]:
    """Yield the rows of pyarrow's batches, restricted to `columns`. An entry that is not a number raises
    `InvalidInput`, whose message states the rule `must`.
    """
    first = 0
    while True:
        try:
            batch = next(batches, None)
        except Exception as error:  # the file has a damaged page
            raise InvalidInput(f"{place} cannot be read ({reason(error)}): {must}") from None
        if batch is None:
            return
        if batch.num_rows:
            yield require_finite(place, _matrix(place, batch, columns, first), columns, first)
            first += batch.num_rows


@contextmanager
def _opened(file: DataFile) -> Iterator[Any]:
    try:
        import pyarrow.parquet
    except ImportError:
        raise InvalidInput(f"{file.name} needs pyarrow to be read: install the extra covassay[parquet]") from None
    library: Any = pyarrow.parquet
    with file.open() as binary:
        try:
            # pre_buffer, the default of new versions, would keep a whole row group in memory.
            parquet = library.ParquetFile(binary, buffer_size=READ_AHEAD, pre_buffer=False)
        except Exception as error:  # pyarrow raises its own types of exception, and passes on those of the system
            raise InvalidInput(f"{file.name} cannot be read ({reason(error)}): must be a Parquet file") from None
        yield parquet


def _chunks(file: DataFile, names: Sequence[str], chosen: tuple[int, ...]) -> Iterator[Matrix]:
    wanted = [names[j] for j in chosen]
    with _opened(file) as parquet:
        batches = parquet.iter_batches(batch_size=rows_per_chunk(len(chosen)), columns=wanted)
        yield from numbers(file.name, batches, wanted, "must be a Parquet file")


def _matrix(place: str, batch: Any, columns: Sequence[str], first: int) -> Matrix:
    rows = np.empty((batch.num_rows, len(columns)))
    for j, name in enumerate(columns):
        column = batch.column(batch.schema.get_field_index(name))  # pyarrow decides the order of the columns
        if column.null_count:
            i = int(np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))[0])
            raise InvalidInput(f"{place}, row {first + i + 1}, column {shown(name)} is null: must not be missing")
        rows[:, j] = column.to_numpy(zero_copy_only=False)
    return rows
