"""Read text with a delimiter between cells, .csv and .tsv files, line by line.

The strict reader of this module defines which text is accepted. If pyarrow is installed, pyarrow reads plain text
(`fast_csv`), on which both readers must give the same numbers. Used alone, pyarrow silently skips a blank line between
records, reads the cell "2"3 as 23 and 1e999 as infinity, and does not report the line of an error.
"""

import csv
import io
import math
import sys
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO, TextIO

import numpy as np

from covassay.reference.domain import Matrix
from covassay.reference.errors import InvalidInput
from covassay.reference.release.messages import shown
from covassay.reference.release.tables import fast_csv
from covassay.reference.release.tables.data_file import DataFile
from covassay.reference.release.tables.source import Part, Passing, full_chunks, numbered, require_names, rows_per_chunk

MISSING = frozenset({"", "na", "n/a", "#n/a", "nan", "+nan", "-nan", "null", "none"})
INFINITE = frozenset(sign + word for sign in ("", "+", "-") for word in ("inf", "infinity"))
NOT_A_NUMBER = "must be a number"
# the limit on the characters of a line prevents a file without line breaks from filling the memory
LONGEST_LINE = 2**24


@dataclass(frozen=True)
class _Text:
    """A text file with its delimiter, the names of its columns, and the number of lines of its header."""

    file: DataFile
    delimiter: str
    columns: tuple[str, ...] = ()
    header: bool = False
    header_lines: int = 0

    @property
    def name(self) -> str:
        return self.file.name

    def opened(self, binary: BinaryIO | None = None) -> TextIO:
        binary = self.file.open() if binary is None else binary
        # The argument newline="" leaves line breaks inside quotes to the module csv.
        # With surrogateescape, `_Lines` reports an invalid byte with its line.
        return io.TextIOWrapper(binary, encoding="utf-8-sig", errors="surrogateescape", newline="")


def open_text(file: DataFile, header: bool | None, delimiter: str) -> Part:
    """Read the first record. The argument `header` says whether the first record has the names of the columns. If
    `header` is None, this is decided from the cells of the first record.
    """
    text, empty = _named(_Text(file, delimiter), header)

    def select(chosen: tuple[int, ...]) -> Passing:
        return file.unchanged(lambda: _chunks(text, chosen))

    return Part(text.name, text.columns, 0 if empty else None, select)


def _named(text: _Text, header: bool | None) -> tuple[_Text, bool]:
    """Return the text with the names of its columns, and whether no record follows the names."""
    with text.opened() as file:
        lines = _Lines(text.name, file)
        records = _records(text, lines)
        for line, record in records:
            if _is_header(record) if header is None else header:
                names = require_names(f"{text.name}, line {line}", record)
                found = _Text(text.file, text.delimiter, names, True, lines.line)
                return found, next(records, None) is None
            return _Text(text.file, text.delimiter, numbered(len(record))), False
    raise InvalidInput(f"{text.name} is empty: must have at least one row")


def _is_header(record: list[str]) -> bool:
    return any(_broken_rule(cell) == NOT_A_NUMBER for cell in record)


def _chunks(text: _Text, chosen: tuple[int, ...]) -> Iterator[Matrix]:
    """Return the rows in one pass over the text, in chunks of bounded size."""
    if not fast_csv.is_available(text.delimiter):
        return _strict_chunks(text, chosen, fast_csv.Rest(text.file.open(), 0))
    return full_chunks(_fast_chunks(text, chosen))


def _fast_chunks(text: _Text, chosen: tuple[int, ...]) -> Iterator[Matrix]:
    """Yield the rows in one pass, read by pyarrow while the text is plain, and by the strict reader after that."""
    with text.file.open() as binary:
        for found in fast_csv.plain_blocks(binary, text.header_lines, len(text.columns), chosen, text.delimiter):
            if isinstance(found, fast_csv.Rest):
                yield from _strict_chunks(text, chosen, found)
            else:
                yield found


def _strict_chunks(text: _Text, chosen: tuple[int, ...], rest: fast_csv.Rest) -> Iterator[Matrix]:
    """Yield the rows of a file, or of the rest of a file, in chunks of full size."""
    d = len(chosen)
    full = d * rows_per_chunk(d)
    values = array("d")
    with text.opened(rest.bytes) as file:
        for k, (line, record) in enumerate(_records(text, _Lines(text.name, file, rest.lines))):
            if k == 0 and text.header and not rest.lines:
                continue
            values.extend(_numbers(text, line, chosen, record))
            if len(values) == full:
                yield np.array(values).reshape(-1, d)
                del values[:]
    if values:
        yield np.array(values).reshape(-1, d)


class _Lines:
    """An iterator over the lines of a file. The attribute `first` is the first line of the current record. A caller
    sets `first` to an empty text before each record, and the next line that is read is then stored in `first`.
    """

    def __init__(self, name: str, file: TextIO, before: int = 0) -> None:
        self.name, self.file, self.line, self.first = name, file, before, ""

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        text = self.file.readline(LONGEST_LINE)
        if not text:
            raise StopIteration
        self.line += 1
        if len(text) == LONGEST_LINE:
            raise InvalidInput(
                f"{self.name}, line {self.line} = {shown(text)}: must be shorter than {LONGEST_LINE} characters"
            )
        if not text.isascii():
            byte = next((ord(c) - 0xDC00 for c in text if 0xDC80 <= ord(c) <= 0xDCFF), None)
            if byte is not None:
                raise InvalidInput(f"{self.name}, line {self.line} has the byte 0x{byte:02x}: must be UTF-8 text")
        self.first = self.first or text
        return text


def _records(text: _Text, lines: _Lines) -> Iterator[tuple[int, list[str]]]:
    """Yield every record as the number of its first line and its cells; a quoted cell may span lines."""
    delimiter = text.delimiter
    separated = "commas" if delimiter == "," else shown(delimiter)
    # Without `strict`, an unclosed quote would silently include the rest of the file.
    reader = csv.reader(lines, delimiter=delimiter, strict=True, skipinitialspace=delimiter != " ")
    blank = 0  # the number of the first blank line since the last record, or 0
    while True:
        line, lines.first = lines.line + 1, ""
        try:
            record = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise InvalidInput(
                f"{text.name}, line {line} = {shown(lines.first.rstrip())} ({error}): "
                f"must be cells separated by {separated}, with every quote closed"
            ) from None
        if not lines.first.strip() and delimiter not in lines.first:  # a line of tabs is not blank, but has empty cells
            blank = blank or line
            continue
        if blank:
            raise InvalidInput(
                f"{text.name}, line {blank} is blank: must be a record (only the last lines may be blank)"
            )
        yield line, record


def _numbers(text: _Text, line: int, chosen: Sequence[int], record: list[str]) -> list[float]:
    """Return the numbers in the chosen columns; all other cells may contain anything."""
    if len(record) != len(text.columns):
        raise InvalidInput(
            f"{text.name}, line {line} has {len(record)} cell(s), "
            f"the last is {shown(record[-1])}: must have {len(text.columns)}, as many as line 1"
        )
    cells = [record[j] for j in chosen]
    try:
        numbers = list(map(float, cells))
    except ValueError:
        numbers = []
    if numbers and all(map(math.isfinite, numbers)) and (together := "".join(cells)).isascii() and "_" not in together:
        return numbers
    broken = (
        (text.columns[j], cell, rule)
        for j, cell in zip(chosen, cells, strict=True)
        if (rule := _broken_rule(cell)) is not None
    )
    name, cell, rule = next(broken, ("", "", ""))
    if not rule:  # the numbers are valid; only the blanks around them are not ASCII
        return numbers
    raise InvalidInput(f"{text.name}, line {line}, column {shown(name)} = {shown(cell.strip())}: {rule}")


def _broken_rule(cell: str) -> str | None:
    """Return the rule that a cell breaks, as the end of an error message, or None if the cell is a finite number."""
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
    if not text.isascii():
        return "must be a number in the digits 0 to 9"
    if not math.isfinite(number):
        return f"must be at most {sys.float_info.max:.4g} in size, the largest float64"
    return None
