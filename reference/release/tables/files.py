"""Find the files of a table, given as one file, several files, or a directory of parts, in the order of their names.

Every record counts once. A file that is given twice is rejected, even if the second path is spelled differently, a link
or a hard link. Files with equal contents are rejected too, unless the caller says that their records are of different
people. Files that contain the same records in another form are not detected.
"""

import hashlib
import os
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from covassay.reference.errors import InvalidInput
from covassay.reference.release.messages import named, reason
from covassay.reference.release.tables.data_file import ZIPPED, on_disk

# the first characters of names that are not data, by the convention of Spark and Arrow: _SUCCESS, .crc
IGNORED = ("_", ".")


def data_suffix(path: Path, suffixes: Sequence[str]) -> str:
    """Return the suffix of the format, without .gz, or raise `InvalidInput` unless the format is accepted."""
    suffix = (Path(path.stem) if path.suffix.lower() == ZIPPED else path).suffix.lower()
    if suffix not in suffixes:
        raise InvalidInput(
            f"{named(path)} has the suffix {path.suffix!r}: must be one of {', '.join(suffixes)}, or one of them "
            f"followed by {ZIPPED}"
        )
    return suffix


def data_files(data: Path | Sequence[Path]) -> list[Path]:
    """Return the data files, sorted by name. Files in a directory whose names begin with _ or a dot are left out.

    Raises
    ------
    InvalidInput : there is no file, two of the paths lead to the same file, or a directory contains another directory.
    """
    files = _listed(data)
    require_once(files)
    return files


def require_once(files: Sequence[Path]) -> None:
    """Raise `InvalidInput` if two paths lead to the same file."""
    seen: dict[tuple[int, int], Path] = {}
    for path in files:
        try:
            found = path.stat()
        except (OSError, ValueError):  # the error is reported when the file is opened
            continue
        first = seen.setdefault((found.st_dev, found.st_ino), path)
        if first is not path:
            raise InvalidInput(
                f"{named(first)} and {named(path)} are one file: must be given once, or its records count twice"
            )


def require_no_copies(files: Sequence[Path]) -> None:
    """Raise `InvalidInput` if two files have the same content, compressed or not."""
    alike: dict[tuple[Any, ...], list[Path]] = {}
    for path in files:
        alike.setdefault(_mark(path), []).append(path)
    for group in alike.values():
        seen: dict[bytes, Path] = {}
        for path in group if len(group) > 1 else ():
            first = seen.setdefault(_digest(path), path)
            if first is not path:
                raise InvalidInput(
                    f"{named(first)} and {named(path)} have the same content: must be different records, or the same "
                    "people count twice (--allow-copies, if they are of different people)"
                )


def _mark(path: Path) -> tuple[Any, ...]:
    """Return a quick fingerprint that is equal for equal contents: the size of the file or, if it is compressed, its
    last bytes.
    """
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        if path.suffix.lower() != ZIPPED:
            return (size,)
        file.seek(max(0, size - 8))  # the last 8 bytes of a .gz file are a checksum and the size of its content
        return ZIPPED, file.read()


def _digest(path: Path) -> bytes:
    hashed = hashlib.sha256()
    with on_disk(path, seekable=False).open() as file:
        while block := file.read(2**20):
            hashed.update(block)
    return hashed.digest()


def _listed(data: Path | Sequence[Path]) -> list[Path]:
    if isinstance(data, Path):
        return _within(data) if _is_directory(data) else [data]
    paths = sorted(map(Path, data), key=str)
    if not paths:
        raise InvalidInput("no data file is given: must be at least one")
    for path, following in pairwise(paths):
        if path == following:
            raise InvalidInput(f"{named(path)} is given twice: must be given once")
    for path in paths:
        if len(paths) > 1 and _is_directory(path):
            raise InvalidInput(f"{named(path)} is a directory: must be a file if several paths are given")
    return _listed(paths[0]) if len(paths) == 1 else paths


def _is_directory(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):  # no file can have this name; the error is reported when the file is opened
        return False


def _within(directory: Path) -> list[Path]:
    try:
        found = sorted(path for path in directory.iterdir() if not path.name.startswith(IGNORED))
    except OSError as error:
        raise InvalidInput(
            f"{named(directory)} cannot be read ({reason(error)}): must be a readable directory"
        ) from None
    if not found:
        raise InvalidInput(f"{named(directory)} is a directory without data files: must have at least one")
    for path in found:
        if path.is_dir():
            raise InvalidInput(f"{named(path)} is a directory inside a directory of data: must be a file")
    return found
