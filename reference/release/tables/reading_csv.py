"""Reading .csv files line by line."""

import csv
import math
import sys
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

import numpy as np

from covassay.reference.domain import Chunks, Matrix
from covassay.reference.errors import InvalidInput
from covassay.reference.release.messages import named, shown
from covassay.reference.release.tables.source import (
    KEPT_BYTES,
    TableSource,
    Watch,
    numbered,
    require_names,
    rows_per_chunk,
    unchanged,
)

MISSING = frozenset({"", "na", "n/a", "#n/a", "nan", "+nan", "-nan", "null", "none"})
INFINITE = frozenset(sign + word for sign in ("", "+", "-") for word in ("inf", "infinity"))
NOT_A_NUMBER = "must be a number"
LONGEST_LINE = 2**24  # characters; a file without line breaks must not fill the memory


def open_csv(path: Path, watch: Watch) -> TableSource:
    """Read the file once, to check it and to count its rows."""
    columns = _columns(path)
    start = unchanged(path, lambda: _chunks(path, columns))
    n, kept = 0, []
    for chunk in watch(start(), None):
        n += len(chunk)
        if 8 * n * len(columns) <= KEPT_BYTES:
            kept.append(chunk)
    if not n:
        raise InvalidInput(f"{named(path)} has a header and no rows: must have at least one row")
    if n == sum(map(len, kept)):
        return TableSource(columns, Chunks((n, len(columns)), lambda: watch(iter(kept), n)))
    kept.clear()
    return TableSource(columns, Chunks((n, len(columns)), lambda: watch(start(), n)))


def _columns(path: Path) -> tuple[str, ...]:
    with _opened(path) as file:
        for _, record in _records(path, file):
            return require_names(f"{named(path)}, line 1", record) if _is_header(record) else numbered(len(record))
    raise InvalidInput(f"{named(path)} is empty: must have at least one row")


def _is_header(record: list[str]) -> bool:
    return any(_broken_rule(cell) == NOT_A_NUMBER for cell in record)


def _chunks(path: Path, columns: tuple[str, ...]) -> Iterator[Matrix]:
    """The rows in one pass, in chunks of bounded size."""
    d = len(columns)
    full = d * rows_per_chunk(d)
    values = array("d")
    with _opened(path) as file:
        for k, (line, record) in enumerate(_records(path, file)):
            if k == 0 and _is_header(record):
                continue
            values.extend(_numbers(path, line, columns, record))
            if len(values) == full:
                yield np.array(values).reshape(-1, d)
                del values[:]
    if values:
        yield np.array(values).reshape(-1, d)


def _opened(path: Path) -> TextIO:
    # newline="": csv itself breaks lines inside quotes. surrogateescape: `_Lines` reports the byte with its line.
    return path.open(encoding="utf-8-sig", errors="surrogateescape", newline="")


class _Lines:
    """The lines of a file; `first` keeps the first line that was taken since `first` was last reset."""

    def __init__(self, path: Path, file: TextIO) -> None:
        self.path, self.file, self.line, self.first = path, file, 0, ""

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        text = self.file.readline(LONGEST_LINE)
        if not text:
            raise StopIteration
        self.line += 1
        if len(text) == LONGEST_LINE:
            raise InvalidInput(
                f"{named(self.path)}, line {self.line} = {shown(text)}: must be shorter than {LONGEST_LINE} characters"
            )
        if not text.isascii():
            byte = next((ord(c) - 0xDC00 for c in text if 0xDC80 <= ord(c) <= 0xDCFF), None)
            if byte is not None:
                raise InvalidInput(
                    f"{named(self.path)}, line {self.line} has the byte 0x{byte:02x}: must be UTF-8 text"
                )
        self.first = self.first or text
        return text


def _records(path: Path, file: TextIO) -> Iterator[tuple[int, list[str]]]:
    """Every record, as the number of its first line and its cells; a quoted cell may span lines."""
    lines = _Lines(path, file)
    # strict: otherwise a quote that is never closed swallows the rest of the file without a word.
    reader = csv.reader(lines, strict=True, skipinitialspace=True)
    blank = 0  # the number of the first blank line since the last record, or 0
    while True:
        line, lines.first = lines.line + 1, ""
        try:
            record = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise InvalidInput(
                f"{named(path)}, line {line} = {shown(lines.first.rstrip())} ({error}): "
                f"must be cells separated by commas, with every quote closed"
            ) from None
        if not lines.first.strip():
            blank = blank or line
            continue
        if blank:
            raise InvalidInput(f"{named(path)}, line {blank} is blank: must be a record, only the end may be blank")
        yield line, record


def _numbers(path: Path, line: int, columns: tuple[str, ...], record: list[str]) -> list[float]:
    if len(record) != len(columns):
        raise InvalidInput(
            f"{named(path)}, line {line} has {len(record)} cell(s), "
            f"the last is {shown(record[-1])}: must have {len(columns)}, as many as line 1"
        )
    try:
        numbers = list(map(float, record))
    except ValueError:
        numbers = []
    if numbers and all(map(math.isfinite, numbers)) and "_" not in "".join(record):
        return numbers
    name, cell, rule = next(
        (name, cell, rule)
        for name, cell in zip(columns, record, strict=True)
        if (rule := _broken_rule(cell)) is not None
    )
    raise InvalidInput(f"{named(path)}, line {line}, column {shown(name)} = {shown(cell.strip())}: {rule}")


def _broken_rule(cell: str) -> str | None:
    """The rule for numbers that a cell breaks, or None if the cell is a finite number."""
    text = cell.strip()
    if text.lower() in MISSING:
        return "must not be missing"
    if text.lower() in INFINITE:
        return "must be finite"
    try:
        number = float(text)
    except ValueError:
        return NOT_A_NUMBER
    if "_" in text:
        return "must be a number without underscores"
    if not math.isfinite(number):
        return f"must be at most {sys.float_info.max:.4g} in size, the largest float64"
    return None
