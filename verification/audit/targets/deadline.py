"""Write the deadline of the current draw to a file, which a supervising process reads.

If a draw hangs in C and holds the interpreter's lock, its own process cannot interrupt it, because no signal handler
and no thread runs in that process. Every process of `covassay audit` therefore writes the deadline of its draw to a
file of its own. The supervising process ends a process whose deadline has passed.

The folder with these files also has a file for each process group of a target, so that the supervising process can end
all groups if the audit is killed.
"""

import mmap
import os
import struct
import time
from pathlib import Path

# if another process supervises this process, this environment variable has the path of the folder for the files with
# deadlines
SUPERVISED = "COVASSAY_SUPERVISED"
INTERRUPTIONS = 5  # the time from the time limit of a draw to its deadline is this many times the limit
SLACK = 2.0  # the deadline is later by these additional seconds, because a busy machine delays interruptions
_TIME = struct.Struct("d")  # times are read from `time.monotonic`, a clock that all processes of a machine share
_SUFFIX = ".deadline"
_GROUP = ".group"

# the process starts shortly before this import, because `covassay audit` imports this module first
BEGUN = time.monotonic()
_folder = os.environ.get(SUPERVISED)  # the variable is read at the import, before a target can change it
_mark: mmap.mmap | None = None
_owner = 0  # the id of the process that opened `_mark`; a forked process has another id, and opens its own file


def supervised() -> bool:
    """Return whether another process supervises this process.

    If this process ends before the audit has a result, the supervising process reports this.
    """
    return bool(_folder)


def set_deadline(seconds: float) -> None:
    """Record that a draw with this time limit begins now."""
    _write(time.monotonic() + seconds * (1 + INTERRUPTIONS) + SLACK)


def clear_deadline() -> None:
    """Record that the draw of this process has ended."""
    _write(0.0)


def passed(folder: Path) -> bool:
    """Return whether a process that writes to this folder is past its deadline."""
    now = time.monotonic()
    return any(0 < _read(file) < now for file in folder.glob(f"*{_SUFFIX}"))


def group_started(number: int) -> None:
    """Record a process group that belongs to a target, by its number."""
    if _folder:
        (Path(_folder) / f"{number}{_GROUP}").touch()


def group_ended(number: int) -> None:
    """Record that this process group was ended."""
    if _folder:
        (Path(_folder) / f"{number}{_GROUP}").unlink(missing_ok=True)


def groups(folder: Path) -> list[int]:
    """Return the process groups of targets that have not been ended yet."""
    return [int(file.stem) for file in folder.glob(f"*{_GROUP}")]


def _read(file: Path) -> float:
    content = file.read_bytes()
    return float(_TIME.unpack(content)[0]) if len(content) == _TIME.size else 0.0


def _write(value: float) -> None:
    global _mark, _owner
    if not _folder:
        return
    if _mark is None or _owner != os.getpid():
        _owner = os.getpid()
        path = Path(_folder) / f"{_owner}{_SUFFIX}"
        path.write_bytes(_TIME.pack(0.0))
        with path.open("r+b") as file:
            _mark = mmap.mmap(file.fileno(), _TIME.size)
    _TIME.pack_into(_mark, 0, value)
