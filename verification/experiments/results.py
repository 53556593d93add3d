"""Store each result of an experiment in one Parquet file, whose metadata suffice to plot it and to run it again."""

import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any

from covassay.reference.errors import InvalidInput
from covassay.verification.experiments.experiment import Row
from covassay.verification.experiments.findings import Lines, mean_of

KEY = b"covassay"  # the metadata of the Parquet file have the JSON text under this key
COLUMNS = tuple(column.name for column in fields(Row))


@dataclass(frozen=True)
class Result:
    """The rows of a finished experiment, and the facts about the experiment as plain data."""

    facts: dict[str, Any]
    rows: tuple[Row, ...]


def parquet() -> Any:
    """Return the library for Parquet files, which is an optional dependency."""
    try:
        import pyarrow.parquet
    except ImportError:
        raise InvalidInput("results are Parquet files: install the extra covassay[parquet]") from None
    return pyarrow


def write(file: Path, result: Result) -> None:
    """Write the file, either as a whole or not at all."""
    arrow = parquet()
    types = (arrow.string(), arrow.float64(), arrow.string(), arrow.string(), arrow.int32(), arrow.float64())
    schema = arrow.schema(list(zip(COLUMNS, types, strict=True)), metadata={KEY: json.dumps(result.facts)})
    columns = list(zip(*(astuple(row) for row in result.rows), strict=True)) or [()] * len(COLUMNS)
    table = arrow.table([arrow.array(c, t) for c, t in zip(columns, types, strict=True)], schema=schema)
    unfinished = file.with_name(f".{file.name}.unfinished")
    arrow.parquet.write_table(table, unfinished)
    os.replace(unfinished, file)


def read(file: Path) -> Result:
    """Return the result that a file holds.

    Raises
    ------
    InvalidInput : the file does not exist, or was not written by `write`.
    """
    arrow = parquet()
    if not file.is_file():
        raise InvalidInput(f"{file}: there is no such file")
    try:
        table = arrow.parquet.read_table(file)
    except Exception as error:  # pyarrow has its own types of exception, and passes on the exceptions of the system
        raise InvalidInput(f"{file}: cannot be read as a Parquet file ({str(error).splitlines()[0]})") from None
    metadata = table.schema.metadata or {}
    if KEY not in metadata or tuple(table.column_names) != COLUMNS:
        raise InvalidInput(f"{file}: is a Parquet file, but not a result of covassay experiments run")
    columns = [table.column(name).to_pylist() for name in COLUMNS]
    return Result(json.loads(metadata[KEY]), tuple(Row(*values) for values in zip(*columns, strict=True)))


def lines(rows: Iterable[Row]) -> Lines:
    """Return the mean and the interval at every point of every line of a plot, in the order of the rows."""
    errors: dict[tuple[str, str, str], dict[float, list[float]]] = {}
    for row in rows:
        line = errors.setdefault((row.panel, row.measure, row.method), {})
        line.setdefault(row.value, []).append(row.error)
    return {key: {value: mean_of(all_) for value, all_ in line.items()} for key, line in errors.items()}


def _changed(name: str, before: Any, now: Any) -> list[str]:
    """Return a message about a fact that has changed.

    If the fact is a record, the message names every changed field; if the fact is a list, the message only says that
    the lists differ.
    """
    if before == now:
        return []
    if isinstance(before, dict) and isinstance(now, dict):
        keys = sorted({*before, *now})
        return [told for key in keys for told in _changed(f"{name}, {key}", before.get(key), now.get(key))]
    if isinstance(before, list) and isinstance(now, list):
        return [f"{name}: the stored list differs from the declared one"]
    return [f"{name}: {before!r} in the stored result, {now!r} in the new one"]


def differences(kept: Result, again: Result) -> list[str]:
    """Return the differences between two results, with rows compared bit by bit; the list is empty if there are
    none.
    """
    names = sorted({*kept.facts, *again.facts})
    found = [told for name in names for told in _changed(name, kept.facts.get(name), again.facts.get(name))]

    def keyed(rows: Sequence[Row]) -> dict[tuple[Any, ...], str]:
        return {astuple(row)[:-1]: row.error.hex() for row in rows}

    a, b = keyed(kept.rows), keyed(again.rows)
    changed = [key for key in a.keys() & b.keys() if a[key] != b[key]]
    if changed:
        largest = max(
            abs(float.fromhex(a[k]) / float.fromhex(b[k]) - 1) if float.fromhex(b[k]) else 1.0 for k in changed
        )
        found.append(f"{len(changed)} of {len(a)} errors differ, with relative differences of up to {largest:.3g}")
    if a.keys() != b.keys():
        found.append(f"{len(a.keys() ^ b.keys())} rows are in only one of the two results")
    return found
