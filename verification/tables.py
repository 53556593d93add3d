"""Files: a data file becomes a table of numbers, a released matrix becomes a file.

Reading is strict: nothing is guessed, filled in or dropped, because a record that disappears
changes n and a value that is filled in depends on other records. Every refusal is one line that
names the file, the place, the value and the rule. Such a line shows values of the data, and whether
it appears depends on the data; it is for the owner of the data, not part of a release.

Writing is atomic: the file is there in full or not at all. By the time there is something to write
the privacy budget is spent, so `require_writable` tells beforehand whether writing will work.
"""

import csv
import io
import json
import math
import os
import secrets
import stat
import sys
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from covassay.reference.errors import InvalidInput

READABLE = (".csv", ".npy")
WRITABLE = (".csv", ".json", ".npy", ".npz")

LONGEST_SHOWN = 40  # characters of an offending value that a message repeats
MISSING = frozenset({"", "na", "n/a", "#n/a", "nan", "+nan", "-nan", "null", "none"})
INFINITE = frozenset(sign + word for sign in ("", "+", "-") for word in ("inf", "infinity"))
NPY_MAGIC = b"\x93NUMPY"

NOT_A_NUMBER = "must be a number"


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


def read_table(path: Path) -> Table:
    """Read a table of finite numbers from a .csv or .npy file.

    A .csv file is UTF-8 text, with or without a byte order mark, its cells separated by commas. The
    first line is a header if one of its cells is text, neither a number nor a missing or infinite
    value. Blank lines at the end are ignored. A .npy file holds one array of real numbers with two
    dimensions.

    Raises
    ------
    InvalidInput : the file cannot be read, or a cell, line or name breaks a rule. This reads the
        data, so whether it raises, and what it says, is not private.
    """
    path = Path(path)
    if os.path.isdir(path):
        raise InvalidInput(f"{_named(path)} is a directory: must be a file")
    suffix = _require_suffix(path, READABLE)
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise InvalidInput(f"{_named(path)} does not exist: must be a file") from None
    except (OSError, ValueError) as error:  # ValueError: a null character in the path
        raise InvalidInput(f"{_named(path)} cannot be read ({_reason(error)}): must be a readable file") from None
    if not content:
        raise InvalidInput(f"{_named(path)} is empty: must have at least one row")
    return _read_csv(path, content) if suffix == ".csv" else _read_npy(path, content)


def require_writable(path: Path | None) -> None:
    """Raise `InvalidInput` unless `write_release` can write to `path`; for use before a release.

    Creates and removes an empty file in the directory, since nothing else tells for certain that
    one can be created there. None, standard output, always passes.
    """
    if path is None:
        return
    path = Path(path)
    target = _target(path)
    _require_suffix(path, WRITABLE)
    probe = _temporary_beside(target)
    try:
        probe.open("xb").close()
        probe.unlink()
    except OSError as error:
        raise InvalidInput(
            f"{_named(path)} cannot be created ({_reason(error)}): must be in a directory that can be written to"
        ) from None


def write_release(
    path: Path | None,
    matrix: ArrayLike,
    columns: Sequence[str],
    provenance: dict[str, object],
) -> None:
    """Write a released matrix or direction, exactly, in the format of the path's suffix.

    Parameters
    ----------
    path : where to write; an existing file is replaced, and stays as it is if anything fails.
        - .csv: a line of column names, then a line per row of the matrix; a direction is one line.
        - .json: an object with columns, matrix and provenance; a direction is a flat list.
        - .npy: the array alone.
        - .npz: the arrays covariance, columns (text) and provenance (JSON text, zero-dimensional).
        - None: what .csv would hold, on standard output.
    matrix : (m, d), m = d for a covariance, or (d,) for a direction; finite.
    columns : the d column names.
    provenance : what JSON can hold, NumPy numbers and arrays included; .csv and .npy leave it out.

    Raises
    ------
    InvalidInput : an argument breaks a rule. Nothing has been written.
    OSError : the system failed while writing. No part of the file is left behind.
    """
    values = _require_release(matrix, columns)
    if path is None:
        _print_text(_csv_text(values, columns))
        return
    path = Path(path)
    require_writable(path)
    _replace(_target(path), _encoded(path.suffix.lower(), values, columns, provenance))


# Reading


def _read_csv(path: Path, content: bytes) -> Table:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = len(_lines(error.object[: error.start].decode("utf-8") + "?"))
        byte = error.object[error.start]
        raise InvalidInput(f"{_named(path)}, line {line} has the byte 0x{byte:02x}: must be UTF-8 text") from None
    lines = _lines(text)
    while lines and not lines[-1].strip():
        lines.pop()
    if not lines:
        raise InvalidInput(f"{_named(path)} is empty: must have at least one row")

    columns: tuple[str, ...] = ()
    values = array("d")
    for line, record in _records(path, lines):
        if not columns:
            if any(_broken_rule(cell) == NOT_A_NUMBER for cell in record):
                columns = _header(path, record)
                continue
            columns = _numbered(len(record))
        values.extend(_numbers(path, line, columns, record))
    if not values:
        raise InvalidInput(f"{_named(path)} has a header and no rows: must have at least one row")
    return Table(columns, np.array(values, dtype=np.float64).reshape(-1, len(columns)))


def _lines(text: str) -> list[str]:
    # str.splitlines would also break lines at form feeds and other characters that csv does not.
    return list(io.StringIO(text, newline=""))


def _records(path: Path, lines: list[str]) -> Iterator[tuple[int, list[str]]]:
    """The line that every record starts on and its cells; a quoted cell may span lines."""
    # strict: otherwise a quote that is never closed swallows the rest of the file without a word.
    reader = csv.reader(lines, strict=True, skipinitialspace=True)
    while True:
        line = reader.line_num + 1
        try:
            record = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise InvalidInput(
                f"{_named(path)}, line {line} = {_shown(lines[line - 1].rstrip())} ({error}): "
                f"must be cells separated by commas, with every quote closed"
            ) from None
        if not lines[line - 1].strip():
            raise InvalidInput(f"{_named(path)}, line {line} is blank: must be a record, only the end may be blank")
        yield line, record


def _header(path: Path, cells: list[str]) -> tuple[str, ...]:
    columns = tuple(" ".join(cell.split()) for cell in cells)
    first_seen: dict[str, int] = {}
    for j, name in enumerate(columns, start=1):
        if not name:
            raise InvalidInput(f"{_named(path)}, line 1, column {j} = '': must have a name, like every column")
        if name in first_seen:
            raise InvalidInput(
                f"{_named(path)}, line 1, column {j} = {_shown(name)}: "
                f"must differ from the name of column {first_seen[name]}"
            )
        first_seen[name] = j
    return columns


def _numbers(path: Path, line: int, columns: tuple[str, ...], record: list[str]) -> list[float]:
    if len(record) != len(columns):
        raise InvalidInput(
            f"{_named(path)}, line {line} has {len(record)} cell(s), "
            f"the last is {_shown(record[-1])}: must have {len(columns)}, as many as line 1"
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
    raise InvalidInput(f"{_named(path)}, line {line}, column {_shown(name)} = {_shown(cell.strip())}: {rule}")


def _broken_rule(cell: str) -> str | None:
    """The rule for numbers that a cell breaks, None if it is a finite number."""
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


def _read_npy(path: Path, content: bytes) -> Table:
    if not content.startswith(NPY_MAGIC):
        raise InvalidInput(f"{_named(path)} starts with {content[:6]!r}: must be one array in NumPy's .npy format")
    try:
        loaded = np.load(io.BytesIO(content), allow_pickle=False)
    except Exception as error:  # on damaged headers NumPy lets many types of exception through
        raise InvalidInput(
            f"{_named(path)} cannot be read ({_reason(error)}): must be a whole array of numbers"
        ) from None
    if loaded.dtype.kind not in "biuf":
        raise InvalidInput(f"{_named(path)} has entries of type {_clipped(str(loaded.dtype))}: must be real numbers")
    if loaded.ndim != 2:
        raise InvalidInput(f"{_named(path)} has {loaded.ndim} dimension(s): must have 2, one row per record")
    if min(loaded.shape) < 1:
        raise InvalidInput(f"{_named(path)} has shape {loaded.shape}: must have at least one row and one column")
    with np.errstate(over="ignore"):  # a long double may exceed float64; the next check finds it
        rows = np.array(loaded, dtype=np.float64, order="C")
    columns = _numbered(rows.shape[1])
    if not np.isfinite(rows).all():
        i, j = np.argwhere(~np.isfinite(rows))[0]
        rule = "must not be missing" if np.isnan(rows[i, j]) else "must be finite"
        raise InvalidInput(f"{_named(path)}, row {i + 1}, column {columns[j]!r} = {float(rows[i, j])}: {rule}")
    return Table(columns, rows)


def _numbered(d: int) -> tuple[str, ...]:
    return tuple(f"x{j}" for j in range(1, d + 1))


# Writing


def _require_release(matrix: ArrayLike, columns: Sequence[str]) -> NDArray[np.float64]:
    values = np.asarray(matrix, dtype=np.float64)
    d = len(columns)
    if values.ndim not in (1, 2) or values.shape[-1] != d or values.size == 0:
        raise InvalidInput(
            f"matrix of shape {values.shape}: must have shape ({d}, {d}) or ({d},), as there are {d} column names"
        )
    if not np.isfinite(values).all():
        raise InvalidInput("matrix contains a value that is not finite: every value must be finite")
    return values


def _encoded(suffix: str, values: NDArray[np.float64], columns: Sequence[str], provenance: dict[str, object]) -> bytes:
    buffer = io.BytesIO()
    if suffix == ".csv":
        buffer.write(_encoded_text(_csv_text(values, columns)))
    elif suffix == ".json":
        document = {"columns": list(columns), "matrix": values, "provenance": provenance}
        buffer.write(_encoded_text(_json_text(document) + "\n"))
    elif suffix == ".npy":
        np.save(buffer, values, allow_pickle=False)
    else:
        np.savez(
            buffer,
            covariance=values,
            columns=np.array(columns, dtype=np.str_),
            provenance=np.array(_json_text(provenance), dtype=np.str_),
        )
    return buffer.getvalue()


def _csv_text(values: NDArray[np.float64], columns: Sequence[str]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(map(repr, row) for row in np.atleast_2d(values).tolist())
    return text.getvalue()


def _json_text(document: object) -> str:
    def plain(value: object) -> object:
        if isinstance(value, np.ndarray | np.generic):
            return value.tolist()
        raise TypeError(f"a {type(value).__name__}")

    try:
        return json.dumps(document, default=plain, allow_nan=False, ensure_ascii=False, indent=2)
    except (TypeError, ValueError) as error:
        raise InvalidInput(
            f"provenance has an entry that JSON cannot hold ({_reason(error)}): "
            f"must be finite numbers, text, lists and dictionaries"
        ) from None


def _print_text(text: str) -> None:
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(_encoded_text(text, encoding).decode(encoding))
    sys.stdout.flush()


def _encoded_text(text: str, encoding: str = "utf-8") -> bytes:
    # A character in a name that the encoding lacks must not cost a release that has been paid for.
    return text.encode(encoding, "backslashreplace")


def _target(path: Path) -> Path:
    """The file that writing to `path` replaces: where it points, if it is a link."""
    try:
        target = path.resolve()
        mode = target.stat().st_mode
    except FileNotFoundError:
        if not target.parent.is_dir():
            raise InvalidInput(
                f"{_named(path)} is in a directory that does not exist: must be in an existing one"
            ) from None
        return target
    except (OSError, ValueError, RuntimeError) as error:  # RuntimeError: a loop of links
        raise InvalidInput(f"{_named(path)} cannot be written ({_reason(error)}): must be a path for a file") from None
    if stat.S_ISDIR(mode):
        raise InvalidInput(f"{_named(path)} is a directory: must be a file")
    if not stat.S_ISREG(mode):
        raise InvalidInput(f"{_named(path)} is a device or a pipe: must be an ordinary file")
    if not os.access(target, os.W_OK):
        raise InvalidInput(f"{_named(path)} is write-protected: must be a file to replace")
    return target


def _temporary_beside(target: Path) -> Path:
    # Not the module tempfile: its files are readable by their owner alone, also once renamed.
    return target.with_name(f".covassay-{secrets.token_hex(8)}.tmp")


def _replace(target: Path, content: bytes) -> None:
    temporary = _temporary_beside(target)
    try:
        with temporary.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


# Messages


def _require_suffix(path: Path, suffixes: tuple[str, ...]) -> str:
    suffix = path.suffix.lower()
    if suffix not in suffixes:
        raise InvalidInput(f"{_named(path)} has the suffix {path.suffix!r}: must be one of {', '.join(suffixes)}")
    return suffix


def _named(path: Path) -> str:
    return str(path) if str(path).isprintable() else repr(str(path))


def _clipped(text: str) -> str:
    return text if len(text) <= LONGEST_SHOWN else text[: LONGEST_SHOWN - 1] + "…"


def _shown(value: str) -> str:
    return repr(_clipped(value))


def _reason(error: Exception) -> str:
    """What the system or a library says about an error, on one line and without the path."""
    said = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return " ".join(said.split()) or type(error).__name__
