"""Define a child process that answers each line with a line, and is ended together with all processes that it started.

The child process has a process group of its own, and the whole group is ended even if its first process ended earlier.
The process that supervises the audit records the process group (`deadline`), so that the group is ended even if the
audit is killed. While the audit waits for a reply, it also reads the child's standard error, and keeps the last
`LOG_KEPT` bytes. Every wait in this module has a time limit.
"""

import contextlib
import os
import select
import signal
import subprocess
import threading
import time
from collections.abc import Iterator

from covassay.verification.audit.targets.calling import CannotRun
from covassay.verification.audit.targets.deadline import group_ended, group_started

LOG_KEPT = 2**20  # the number of bytes of standard error that are kept
PART = 2**16  # the number of bytes that are read or written at once
SHOWN = 300  # the largest number of characters of a process's output that are shown
PATIENCE = 0.5  # a process must end by itself within this many seconds after its input is closed
AGAIN = 3.0  # after a restart, the program may take this many times as long to start as after the first start
TICK = 0.005  # the number of seconds between two checks whether the process has ended


_whole = 0  # the number of running `with` blocks that no time limit may interrupt


def must_finish() -> bool:
    """Return whether a process is being started or stopped at this moment.

    If a time limit interrupted a start or a stop, a process of which the audit does not know might go on running.
    """
    return _whole > 0


@contextlib.contextmanager
def in_one_piece() -> Iterator[None]:
    """Prevent a time limit from interrupting the `with` block."""
    global _whole
    _whole += 1
    try:
        yield
    finally:
        _whole -= 1


class OutOfStep(CannotRun):
    """Raised if a process wrote more than one line for a request, so that it is not known which request a line
    answers."""


class CannotStart(Exception):
    """Raised if the program cannot be started; the message says why."""


class Child:
    """A program that is started by the first request, and again by the next request after a stop."""

    def __init__(self, command: tuple[str, ...], directory: str) -> None:
        self._command = command
        self._directory = directory
        self._running: subprocess.Popen[bytes] | None = None
        self._log = bytearray()
        self._took: float | None = None
        self._answered = 0  # the number of lines that the program answered since its start
        self._rest = b""  # this is the text that was read after the last line of an answer
        self._lock = threading.Lock()

    def starting(self, limit: float) -> float:
        """Return the extra seconds that the next answer may take, which are 0 if the program is running.

        A program that has never answered gets `limit` extra seconds after a start. Later, let t be the longest time
        that the program has ever taken for its first answer after a start. After the next start, the program gets
        `AGAIN` · t extra seconds, but at most `limit`. A program that takes longer probably hangs.
        """
        if self._running is not None:
            return 0.0
        return limit if self._took is None else min(limit, AGAIN * self._took)

    def line(self, request: bytes, longest: int) -> bytes:
        """Send a line, and return the answer, which is a line of at most `longest` bytes. The program is started if it
        is not running.

        The returned answer has no newline at its end if the answer is too long, or if the process ended before it wrote
        the newline. If a call of `line` raises an exception, for example at a time limit, the caller must call `stop`.
        Otherwise a late answer could be taken for the answer to the next request.

        Raises
        ------
        OutOfStep : more than one line answered the previous request.
        CannotStart : the program cannot be started.
        """
        with in_one_piece():
            known, process = self._running, self._running or self._start()
            self._running = process
        if known is not None:
            self.require_silence()
        asked = time.monotonic()
        line, rest = self._exchanged(process, request, longest, None)
        if known is None and line.endswith(b"\n"):
            self._took = max(self._took or 0.0, time.monotonic() - asked)
        self._answered += 1
        self._rest = rest
        return line

    def require_silence(self, seconds: float = 0.0) -> None:
        """Raise `OutOfStep` if the process has written text that answers no request, or writes such text within
        `seconds`."""
        assert self._running is not None
        assert self._running.stdout is not None
        text = self._rest
        if not text and select.select([self._running.stdout], [], [], seconds)[0]:
            text = os.read(self._running.stdout.fileno(), PART)
        if text:
            raise self._surplus(text)

    def require_no_other(self, line: bytes) -> None:
        """Raise `OutOfStep` if the process writes another line soon after `line`, which was read but is no valid reply.

        If there is another line, it is probably the answer to the present request, and `line` belongs to the answer to
        the previous request. The first request after a start is not tested, because no answer came before it.
        """
        if self._running is not None and self._answered > 1:
            more = self._rest or self._exchanged(self._running, b"", PART, PATIENCE)[0]
            if more:
                raise self._surplus(line, more)

    def _surplus(self, *texts: bytes) -> OutOfStep:
        told = " and ".join(shown(text.decode(errors="replace")) if text.strip() else "an empty line" for text in texts)
        return OutOfStep(
            f"{' '.join(self._command)}: a request must be answered by one line, but there was more: {told}"
        )

    def _exchanged(
        self, process: "subprocess.Popen[bytes]", request: bytes, longest: int, seconds: float | None
    ) -> tuple[bytes, bytes]:
        """Write the request while reading, and return the line that arrives in time, with the text after it."""
        end = None if seconds is None else time.monotonic() + seconds
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        given = process.stdin.fileno() if request else -1
        replies, log = process.stdout.fileno(), process.stderr.fileno()
        left, line, listening = memoryview(request), b"", [replies, log]
        while len(line) < longest:
            patience = None if end is None else max(0.0, end - time.monotonic())
            reading, writing, _ = select.select(listening, [given] if left else [], [], patience)
            if not (reading or writing):
                break
            if log in reading and not self._logged(log):
                listening.remove(log)
            if writing:
                left = _written(given, left)
            if replies in reading:
                part = os.read(replies, min(PART, longest - len(line)))
                line += part
                if b"\n" in part:
                    whole, newline, rest = line.partition(b"\n")
                    return whole + newline, rest
                if not part:
                    break
        return line, b""

    def _logged(self, log: int) -> bool:
        """Keep what the process wrote to standard error, and return whether the process may write more."""
        part = os.read(log, PART)
        self._log += part
        if len(self._log) > 2 * LOG_KEPT:
            del self._log[:-LOG_KEPT]
        return bool(part)

    def _start(self) -> "subprocess.Popen[bytes]":
        self._log.clear()
        self._answered, self._rest = 0, b""
        try:
            process = subprocess.Popen(
                self._command, cwd=self._directory, bufsize=0, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=subprocess.PIPE, start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            raise CannotStart(str(error)) from error
        assert process.stdin is not None
        os.set_blocking(process.stdin.fileno(), False)  # if its input is closed, the process can read no more requests
        group_started(process.pid)
        return process

    def last_words(self) -> str:
        """Return, in quotes, the last line with the word "error" that the process wrote to standard error.

        If no line has this word, return the last line.
        """
        log = self._running.stderr if self._running else None
        end = time.monotonic() + PATIENCE
        while log and time.monotonic() < end and select.select([log], [], [], 0)[0] and self._logged(log.fileno()):
            pass
        lines = bytes(self._log[-LOG_KEPT:]).decode(errors="replace").strip().splitlines()
        # the last line may be the version of the programming language
        errors = [line for line in lines if "error" in line.lower()]
        return shown((errors or lines)[-1]) if lines else "nothing on standard error"

    def ending(self) -> str:
        """Return a description of how the process ended, after a short wait for its end."""
        assert self._running is not None
        process = self._running
        if not _has_ended(process, PATIENCE):
            return "or closed its standard output"
        _end_group(process)
        return f"exit status {process.wait()}"

    def stop(self) -> None:
        """Kill the process and all processes of its group."""
        with in_one_piece():
            process, self._running = self._running, None
            if process is not None:
                _end(process)

    def finish(self) -> None:
        """Close the input of the process so that it can end by itself, and then kill the rest of its group."""
        process = self._running
        if process is not None and process.stdin is not None:
            with contextlib.suppress(OSError):
                process.stdin.close()
            _has_ended(process, PATIENCE)
        self.stop()


def _written(descriptor: int, left: memoryview) -> memoryview:
    try:
        return left[os.write(descriptor, left[:PART]) :]
    except BlockingIOError:
        return left
    except BrokenPipeError:  # the process may have ended after its last answer
        return left[:0]


def _has_ended(process: "subprocess.Popen[bytes]", seconds: float) -> bool:
    """Return whether the first process of the group ends within `seconds`.

    The operating system does not reuse the number of this process until its parent waits for the process.
    """
    end = time.monotonic() + seconds
    while process.returncode is None:
        if hasattr(os, "waitid"):
            ended = os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        else:
            ended = process.poll() is not None
        if ended or time.monotonic() >= end:
            return ended
        time.sleep(TICK)
    return True


def _end_group(process: "subprocess.Popen[bytes]") -> None:
    """Kill all processes of the group. The number of the first process is not yet reused, so no other process group can
    have this number.
    """
    if process.returncode is not None:
        return
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    group_ended(process.pid)


def _end(process: "subprocess.Popen[bytes]") -> None:
    _end_group(process)
    process.wait()
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()


def shown(text: str) -> str:
    """Return the first characters of a process's output, in quotes."""
    return repr(text.strip()[:SHOWN])
