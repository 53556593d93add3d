"""Parse blocks of plain text to numbers with pyarrow's reader, which is about ten times as fast as the strict reader.

The fast reader is used only where both readers must agree on the numbers. A block is plain if it is UTF-8 and contains
no quote, null character or lone carriage return, so that every line is a record. pyarrow is told which columns are
numeric, and to interpret no cell as missing or quoted. The result of pyarrow is used if it has a row for every line,
and finite numbers in all rows. If the result of pyarrow for a block is not used, the strict reader reads this block and
the rest of the file. The strict reader accepts more text, and reports the line of an error and its reason.
"""

import importlib.util
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, cast

import numpy as np

from covassay.reference.domain import Matrix

BLOCK_BYTES = 2**22  # the number of bytes of text that are parsed at once
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass
class Rest:
    """The part of a file that `plain_blocks` does not parse. This part begins with the first block of lines that
    `plain_blocks` cannot parse. If `plain_blocks` cannot read the header, this part is the whole file. The field
    `lines` is the number of lines before this part.
    """

    bytes: BinaryIO
    lines: int


def is_available(delimiter: str) -> bool:
    """Return whether pyarrow is installed and supports the delimiter."""
    return delimiter.isascii() and importlib.util.find_spec("pyarrow") is not None


def plain_blocks(
    binary: BinaryIO, skip: int, width: int, chosen: Sequence[int], delimiter: str
) -> Iterator[Matrix | Rest]:
    """Yield the rows of the chosen columns, block by block, while the text is plain; then the unread rest, if any.

    Parameters
    ----------
    binary : the file from its beginning.
    skip : lines of the header.
    width : the number of all columns.
    """
    lines, waiting = 0, b""
    while lines < skip:
        line = binary.readline()
        if b"\r" in line.rstrip(b"\r\n") or not line.endswith(b"\n"):
            binary.seek(0)
            yield Rest(binary, 0)
            return
        lines += 1
    while part := binary.read(BLOCK_BYTES):
        waiting += part
        if not lines and waiting.startswith(BYTE_ORDER_MARK):
            waiting = waiting[len(BYTE_ORDER_MARK) :]
        end = waiting.rfind(b"\n") + 1 if len(part) == BLOCK_BYTES else len(waiting)
        rows = _parsed(waiting[:end], width, chosen, delimiter)
        if rows is None:
            break
        yield rows
        lines, waiting = lines + len(rows), waiting[end:]
    else:
        if waiting and (rows := _parsed(waiting, width, chosen, delimiter)) is not None:
            yield rows
            waiting = b""
    if waiting:
        yield Rest(cast(BinaryIO, io.BufferedReader(_Joined(waiting, binary))), lines)


def _parsed(block: bytes, width: int, chosen: Sequence[int], delimiter: str) -> Matrix | None:
    """Return the numbers in a block of whole lines, or None if the block is not plain."""
    if not _is_plain(block):
        return None
    import pyarrow
    from pyarrow import csv

    library: Any = csv
    names = [str(j) for j in range(width)]
    wanted = [names[j] for j in chosen]
    try:
        table = library.read_csv(
            pyarrow.BufferReader(block),
            library.ReadOptions(column_names=names, block_size=len(block) + 1),
            library.ParseOptions(delimiter=delimiter, quote_char=False, double_quote=False, ignore_empty_lines=False),
            library.ConvertOptions(
                column_types=dict.fromkeys(wanted, pyarrow.float64()),
                include_columns=wanted,
                null_values=[],
                strings_can_be_null=False,
                quoted_strings_can_be_null=False,
            ),
        )
    except Exception:  # whatever the error is, the strict reader reads the block again and reports it
        return None
    if table.num_rows != block.count(b"\n") + (not block.endswith(b"\n")):
        return None
    rows = np.empty((table.num_rows, len(wanted)))
    for j, name in enumerate(wanted):
        if table.column(name).null_count:
            return None
        rows[:, j] = table.column(name).to_numpy()
    return rows if np.isfinite(rows).all() else None


def _is_plain(block: bytes) -> bool:
    if not block or b'"' in block or b"\0" in block:
        return False
    if b"\r" in block and block.count(b"\r") != block.count(b"\r\n"):
        return False
    if block.isascii():
        return True
    try:
        block.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


class _Joined(io.RawIOBase):
    """A reader that yields the given bytes first, and then the rest of a file. Closing this reader closes the file,
    too.
    """

    def __init__(self, first: bytes, file: BinaryIO) -> None:
        self._first, self._file = io.BytesIO(first), file

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        part = self._first.read(len(buffer)) or self._file.read(len(buffer))
        buffer[: len(part)] = part
        return len(part)

    def close(self) -> None:
        self._file.close()
        super().close()
