"""Read the bytes of one data file (a plain file, a .gz file or a stream) repeatedly from the beginning.

- A plain file is opened again for every pass.
- A .csv.gz or .tsv.gz file is decompressed again in every pass; nothing is stored.
- A .npy.gz or .parquet.gz file is decompressed once, because these formats are not read from beginning to end. A
  stream, for example standard input, is read once. Decompressed files and streams are stored in a temporary file
  without a name, which the operating system removes when the process ends for any reason.
"""

import gzip
import io
import shutil
import stat
import tempfile
import threading
import weakref
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, BinaryIO, cast

from covassay.reference.domain import Matrix
from covassay.reference.errors import InvalidInput
from covassay.reference.release.messages import named, reason

ZIPPED = ".gz"
STREAM = "standard input"
# the first bytes of a stream of a binary format; every other stream is text
MAGIC = {b"\x93NUMPY": ".npy", b"PAR1": ".parquet"}
ZIP_MAGIC = b"\x1f\x8b"
ON_READ = (OSError, EOFError, zlib.error)  # exceptions that damaged files and failing disks cause


@dataclass(frozen=True)
class DataFile:
    """The bytes of a data file, which can be read repeatedly.

    name : the name in messages.
    open : a function that opens the data, to read the bytes from the beginning.
    state : a function that returns some numbers. The file has changed if a later call returns other numbers.
    """

    name: str
    open: Callable[[], BinaryIO]
    state: Callable[[], tuple[int, ...]]

    def unchanged(self, start: Callable[[], Iterator[Matrix]]) -> Callable[[], Iterator[Matrix]]:
        """Return `start` with one more check: every pass over the file raises `InvalidInput` if the file has changed
        since the call of this method.
        """

        def require_same() -> None:
            if self.state() != before:
                raise InvalidInput(f"{self.name} changed while it was read: must stay as it is until the end")

        before = self.state()

        def again() -> Iterator[Matrix]:
            require_same()
            for chunk in start():
                require_same()
                yield chunk

        return again


def on_disk(path: Path, seekable: bool) -> DataFile:
    """Return the file at the given path, decompressed if its name ends in .gz. If `seekable` is true, the file that is
    returned can be read in any order.
    """
    _require_readable(path)
    name = named(path)
    if path.suffix.lower() != ZIPPED:
        return DataFile(name, lambda: path.open("rb"), lambda: _state(path))

    def unzipped() -> BinaryIO:
        return cast(BinaryIO, io.BufferedReader(_Unzipped(name, path.open("rb"))))

    if not seekable:
        return DataFile(name, unzipped, lambda: _state(path))
    with unzipped() as stream:
        return _spooled(name, stream)


def from_stream(stream: IO[bytes], limit: int, name: str = STREAM) -> tuple[DataFile, str]:
    """Read a stream to its end, and return its bytes as a file and the suffix of its format, recognised by its first
    bytes.

    Raises
    ------
    InvalidInput : the stream is empty, or it has more bytes than the limit, compressed or decompressed.
    """
    file = _spooled(name, cast(IO[bytes], _Limited(name, stream, limit)))
    with file.open() as copy:
        beginning = copy.read(8)
    if not beginning:
        raise InvalidInput(f"{name} is empty: must have at least one row")
    if beginning.startswith(ZIP_MAGIC):
        with file.open() as copy, io.BufferedReader(_Unzipped(name, copy)) as unzipped:
            return from_stream(cast(BinaryIO, unzipped), limit, name)
    return file, next((suffix for magic, suffix in MAGIC.items() if beginning.startswith(magic)), ".csv")


def _require_readable(path: Path) -> None:
    """Raise `InvalidInput` unless there is a regular, non-empty file at the path."""
    try:
        ordinary = stat.S_ISREG(path.stat().st_mode)
        empty = ordinary and not path.stat().st_size
        if ordinary:
            path.open("rb").close()
    except FileNotFoundError:
        raise InvalidInput(f"{named(path)} does not exist: must be a file") from None
    except (OSError, ValueError) as error:  # a null character in the path raises ValueError
        raise InvalidInput(f"{named(path)} cannot be read ({reason(error)}): must be a readable file") from None
    if not ordinary:  # opening a pipe would wait for its other end
        raise InvalidInput(
            f"{named(path)} is a device or a pipe: must be an ordinary file, to be read more than once, or - with the "
            "data on standard input"
        )
    if empty:
        raise InvalidInput(f"{named(path)} is empty: must have at least one row")


def _state(path: Path) -> tuple[int, ...]:
    try:
        found = path.stat()
    except OSError as error:
        raise InvalidInput(
            f"{named(path)} cannot be read ({reason(error)}): must not change while it is read"
        ) from None
    return found.st_ino, found.st_size, found.st_mtime_ns


def _spooled(name: str, stream: IO[bytes]) -> DataFile:
    """Return a copy of the stream in a temporary file without a name."""
    copy = tempfile.TemporaryFile()  # noqa: SIM115 (closed with the DataFile)
    try:
        shutil.copyfileobj(stream, copy)
        copy.flush()
    except BaseException as error:
        copy.close()
        if isinstance(error, OSError):
            raise InvalidInput(
                f"{name} cannot be copied to a temporary file ({reason(error)}): must fit into a temporary file, "
                "because the data are read more than once"
            ) from None
        raise
    lock = threading.Lock()
    file = DataFile(name, lambda: cast(BinaryIO, io.BufferedReader(_View(copy, lock))), lambda: ())
    weakref.finalize(file, copy.close)
    return file


class _Limited:
    """A stream that raises `InvalidInput` after more than `limit` bytes have been read from it."""

    def __init__(self, name: str, stream: IO[bytes], limit: int) -> None:
        self._name, self._stream, self._limit, self._left = name, stream, limit, limit

    def read(self, size: int = -1) -> bytes:
        part = self._stream.read(size)
        if not isinstance(part, bytes):
            raise InvalidInput(f"{self._name} gives {type(part).__name__}: must be a binary stream, which gives bytes")
        self._left -= len(part)
        if self._left < 0:
            raise InvalidInput(
                f"{self._name} has more than {self._limit} bytes: must not have more (--stream-limit), or be a file"
            )
        return part


class _View(io.RawIOBase):
    """A reader of a shared file that has its own position."""

    def __init__(self, file: IO[bytes], lock: threading.Lock) -> None:
        self._file, self._lock, self._position = file, lock, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        with self._lock:
            base = {io.SEEK_SET: 0, io.SEEK_CUR: self._position}.get(whence)
            self._position = offset + (self._file.seek(0, io.SEEK_END) if base is None else base)
        return self._position

    def tell(self) -> int:
        return self._position

    def readinto(self, buffer: Any) -> int:
        with self._lock:
            self._file.seek(self._position)
            part = self._file.read(len(buffer))
        buffer[: len(part)] = part
        self._position += len(part)
        return len(part)


class _Unzipped(io.RawIOBase):
    """A reader of gzip-compressed bytes that reports damage as `InvalidInput`."""

    def __init__(self, name: str, zipped: IO[bytes]) -> None:
        self._name, self._zipped = name, zipped
        self._file = gzip.GzipFile(fileobj=zipped)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            part = self._file.read(len(buffer))
        except ON_READ as error:
            raise InvalidInput(f"{self._name} cannot be read ({reason(error)}): must be a whole gzip file") from None
        buffer[: len(part)] = part
        return len(part)

    def close(self) -> None:
        self._file.close()
        self._zipped.close()
        super().close()
