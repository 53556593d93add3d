"""Run `covassay audit` in a child process, so that no action of a target can look like a completed audit.

The parent starts a child, which audits and writes its finished result to a file. Only a completed audit writes that
file. The parent prints the content of the file and ends with the exit status in this file. If a child ends without a
result, the parent prints an INCONCLUSIVE report and ends with exit status 3, whatever the child's exit status is. If
SIGINT or SIGTERM interrupts the audit, the parent, which never waits for a target, handles the signal, reports the
findings of the child so far, and ends with exit status 130 or 143.

All output of a target goes to a pipe that the parent reads, so that it is never part of a report. The parent prints at
most the first `PRINTED` bytes of this output on standard error, and says how many bytes it left out. If standard error
is a terminal, the parent prints the output of the target at the end, because a progress bar uses the terminal.
"""

import base64
import codecs
import contextlib
import ctypes
import io
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from types import FrameType
from typing import IO, Any, TextIO

from covassay.verification.audit.targets.deadline import SUPERVISED, groups, passed

RESULT = "result.json"  # in the folder of a run, this file exists only when the audit is complete
KNOWN = "known.json"  # this file has the mechanism and the budget of the loaded target, and the findings so far
SHOW_CURSOR = "\x1b[?25h"
TICK = 0.1  # the number of seconds between two checks of the child
PRINTED = 20_000  # the largest number of bytes of a target's output that are printed
LAST_WORDS = 0.5  # after the child has ended, the rest of its output is read for at most this many seconds
GRACE = 5.0  # the number of seconds in which the child must end after it has written its result or was interrupted
INCONCLUSIVE = 3
INTERNAL_ERROR = 4
INTERRUPTED = 130
STUCK = "a draw passed the time limit and could not be interrupted, so the process of the audit was ended"
PR_SET_PDEATHSIG = 1  # the option of prctl(2) for the signal that a process gets when its parent ends
BY_SIGNAL = 128  # as in a shell, the exit status after a signal is this number plus the number of the signal
HEARD = signal.SIGINT, signal.SIGTERM  # the signals that end an audit with a report


class _Interrupted(BaseException):
    """Raised if a signal interrupted the audit.

    The attribute `known` contains the claim and the findings that the child wrote before the interruption.
    """

    def __init__(self, number: int) -> None:
        super().__init__()
        self.signal = signal.Signals(number)
        self.known: dict[str, Any] = {}


@dataclass(frozen=True)
class Finished:
    """The result of a command: its exit status, its output, and the files that it writes, with the content in base64 by
    path.
    """

    status: int
    out: str = ""
    err: str = ""
    files: dict[str, str] = field(default_factory=dict)

    def with_file(self, name: str, content: bytes) -> "Finished":
        """Return a copy of this result to which the file `name` with the given content is added."""
        added = {str(Path(name).absolute()): base64.b64encode(content).decode("ascii")}
        return replace(self, files={**self.files, **added})

    def deliver(self) -> int:
        """Write all files, print the output, and return the exit status."""
        for name, content in self.files.items():
            write_whole(Path(name), base64.b64decode(content))
        sys.stderr.write(self.err)
        sys.stderr.flush()
        sys.stdout.write(self.out)
        sys.stdout.flush()
        return self.status


@dataclass(frozen=True)
class Screen:
    """The properties of standard output: whether it is a terminal, and its width in columns (0 without a terminal)."""

    width: int = 0
    terminal: bool = False


def screen() -> Screen:
    """Return the properties of the standard output of this process."""
    terminal = sys.stdout.isatty()
    return Screen(shutil.get_terminal_size().columns if terminal else 0, terminal)


# THE PARENT


def run_in_child(arguments: Sequence[str]) -> int:
    """Run `covassay audit` with these arguments in a child process, print the result, and return the exit status."""
    with tempfile.TemporaryDirectory(prefix="covassay-", ignore_cleanup_errors=True) as folder:
        place = screen()
        command = [sys.executable, "-P", "-m", __name__, folder, str(place.width), str(int(place.terminal)), *arguments]
        # the target and all processes that it starts are in a session of their own, so that they can be ended together
        environment = {**os.environ, SUPERVISED: folder}
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, start_new_session=True, env=environment
        )
        assert process.stdout is not None
        try:
            with _shown(process.stdout), _ended(process, Path(folder)):
                stuck = _wait(process, Path(folder))
            ending = STUCK if stuck else _ending(process)
            known = _known(Path(folder))
            finished = _read(Path(folder) / RESULT) or _unfinished(arguments, place, ending, INCONCLUSIVE, known)
        except _Interrupted as stop:
            ending = f"{stop.signal.name} interrupted the audit before it was complete"
            finished = _unfinished(arguments, place, ending, BY_SIGNAL + stop.signal, stop.known)
    return finished.deliver()


def _wait(process: "subprocess.Popen[bytes]", folder: Path) -> bool:
    """Wait until the child ends or a draw of the target exceeds its time limit; return whether a draw exceeded it.

    After the child has written its result, `_wait` waits only briefly, because a thread of the target may continue.
    """
    patience = GRACE
    while process.poll() is None and patience > 0:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(TICK)
        if (folder / RESULT).exists():
            patience -= TICK
        elif passed(folder):
            return True
    return False


@contextlib.contextmanager
def _ended(process: "subprocess.Popen[bytes]", folder: Path) -> Iterator[None]:
    """End the child, its process group, and the process groups of targets when the `with` block ends.

    If a signal or an error interrupts the block, the child first gets SIGINT and a short time to finish.
    """

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise _Interrupted(number)

    # a program that was started in the background ignores SIGINT, and must continue to ignore the signal
    previous = {one: signal.signal(one, interrupt) for one in HEARD if signal.getsignal(one) is not signal.SIG_IGN}
    try:
        yield
    except BaseException as stop:
        if isinstance(stop, _Interrupted):
            # the findings are read before the child gets the signal, because the child may then write other findings
            stop.known = _known(folder)
        with contextlib.suppress(OSError, subprocess.TimeoutExpired, _Interrupted):
            process.send_signal(signal.SIGINT)
            process.wait(GRACE)
        raise
    finally:
        _kill(process)
        for number in groups(folder):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(number, signal.SIGKILL)
        # the cursor is shown again, because a progress bar that was killed leaves it hidden
        if sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb":
            sys.stderr.write(SHOW_CURSOR)
        for one, handler in previous.items():
            signal.signal(one, handler)


@contextlib.contextmanager
def _shown(pipe: IO[bytes]) -> Iterator[None]:
    """Read the output of the child while the block runs, so that no writer has to wait; show the first part, and count
    the remaining bytes.
    """
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    held: list[str] = []
    at_once = not sys.stderr.isatty()
    size, over = 0, threading.Event()

    def read() -> None:
        nonlocal size
        while True:
            ready = select.select([pipe], [], [], TICK)[0]
            part = os.read(pipe.fileno(), PRINTED) if ready else b""
            if not part and (ready or over.is_set()):
                return  # the pipe is closed, or the child has ended and nothing is left to read
            text = decoder.decode(part[: max(0, PRINTED - size)])
            size += len(part)
            if at_once:
                sys.stderr.write(text)
                sys.stderr.flush()
            else:
                held.append(text)

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    try:
        yield
    finally:
        over.set()
        reader.join(LAST_WORDS)
        sys.stderr.write("".join(held))
        if size > PRINTED:
            more = f"{size - PRINTED:,}".replace(",", " ")
            sys.stderr.write(f"\ncovassay: the target printed {more} bytes more; the first {PRINTED} are shown\n")
        sys.stderr.flush()


def _kill(process: "subprocess.Popen[bytes]") -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    process.wait()


def _ending(process: "subprocess.Popen[bytes]") -> str:
    status = process.returncode
    if status >= 0:
        return f"the process of the audit ended with exit status {status} before the audit was complete"
    name = signal.Signals(-status).name if -status in set(signal.Signals) else "unknown"
    return f"the process of the audit was ended by signal {-status} ({name}) before the audit was complete"


def _read(result: Path) -> Finished | None:
    try:
        return Finished(**json.loads(result.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def _known(folder: Path) -> dict[str, Any]:
    """Return the claim and the findings that the child has written so far."""
    try:
        known: dict[str, Any] = json.loads((folder / KNOWN).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return known


def _unfinished(arguments: Sequence[str], place: Screen, ending: str, status: int, known: dict[str, Any]) -> Finished:
    """Return the INCONCLUSIVE report of an audit without a result.

    If no audit was requested, for instance with --list or --example, return one line without a report.
    """
    from covassay.verification.cli import audit
    from covassay.verification.cli.main import parse

    options = parse(["audit", *arguments])
    if not options.target or options.list or options.example:
        return Finished(status, err=f"covassay: {ending}\n")
    if status > BY_SIGNAL:
        ending += "; the command in this report " + (
            "continues from the checkpoint" if options.checkpoint else "starts the audit again"
        )
    return audit.unfinished(options, ending, place, status, **known)


# THE CHILD


def write(folder: Path, name: str, content: object) -> None:
    """Write a file of the run as a whole, so that a reader finds either the complete file or no file."""
    write_whole(folder / name, json.dumps(content).encode("utf-8"))


def write_whole(path: Path, content: bytes) -> None:
    """Write a file as a whole, so that an earlier file of that name stays unchanged if writing fails or is interrupted.

    A path that is no regular file, such as /dev/stdout or a pipe, is written to and not replaced.
    """
    if path.exists() and (not path.is_file() or path.is_relative_to("/dev")):
        with open(os.dup(1) if _is_stdout(path) else os.open(path, os.O_WRONLY), "wb") as there:
            there.write(content)
        return
    path = path.resolve()
    part = path.with_name(f"{path.name}.part")
    try:
        part.write_bytes(content)
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def _is_stdout(path: Path) -> bool:
    """Return whether a path is the standard output of this process."""
    try:
        return os.path.samestat(path.stat(), os.fstat(1))
    except OSError:
        return False


def _streams() -> TextIO | None:
    """Redirect standard error to the parent, like standard output, and keep the original stream for the progress
    bar."""
    own = None
    with contextlib.suppress(OSError):  # a process may have no standard error stream
        own = open(os.dup(2), "w", encoding="utf-8", errors="backslashreplace", buffering=1)  # noqa: SIM115
    os.dup2(1, 2)
    sys.stdout, sys.stderr = (
        open(number, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False)  # noqa: SIM115
        for number in (1, 2)
    )
    return own


def _end_with_parent() -> None:
    """Let Linux end this process when its parent is killed; on other systems do nothing."""
    if sys.platform != "linux":
        return
    parent = os.getppid()
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    # if the parent ended before the call of prctl, Linux sends no signal, and this process must end itself
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)


def _child(folder: Path, place: Screen, arguments: Sequence[str]) -> None:
    """Audit in the child process, and write the result to its file."""
    process = os.getpid()
    _end_with_parent()
    own = _streams()
    from covassay.verification.cli import audit
    from covassay.verification.cli import screen as shown
    from covassay.verification.cli.main import one_line, parse

    shown.errors = own
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            options = parse(["audit", *arguments])
    except SystemExit as left:  # argparse exits after it has printed the help of the command
        finished = Finished(int(left.code or 0), printed.getvalue())
    except Exception as error:
        finished = one_line(error)
    else:
        finished = audit.finished(options, place, lambda known: write(folder, KNOWN, known))
    if os.getpid() == process:  # a copy of this process that the target has forked must not write a result
        write(folder, RESULT, asdict(finished))


if __name__ == "__main__":
    try:
        _child(Path(sys.argv[1]), Screen(int(sys.argv[2]), sys.argv[3] == "1"), sys.argv[4:])
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
