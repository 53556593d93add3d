"""A child process that answers lines with lines: how it is started, spoken to, and ended with all that it has started.

It has a process group of its own, which ends as a whole, also when its leader has ended before. The group is known to
whoever supervises the audit (`deadline`), so that it ends even if the audit is killed. Standard error is read while a
reply is awaited, and its last `LOG_KEPT` bytes are kept. Nothing here waits longer than it is told.
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

LOG_KEPT = 2**20  # bytes of standard error that are kept
PART = 2**16  # bytes that are read or written at once
SHOWN = 300  # characters of what a process wrote that are shown
PATIENCE = 0.5  # seconds that a process has to end by itself when its work is done
AGAIN = 3.0  # times as long as the first start and answer took, every later one may take
TICK = 0.005  # seconds between two looks at whether it has ended


_whole = 0  # how many blocks are running that no time limit may interrupt


def must_finish() -> bool:
    """Whether a process is being started or stopped. An interruption at that moment would leave it running, unknown."""
    return _whole > 0


@contextlib.contextmanager
def in_one_piece() -> Iterator[None]:
    """A block that no time limit interrupts."""
    global _whole
    _whole += 1
    try:
        yield
    finally:
        _whole -= 1


class OutOfStep(CannotRun):
    """A process wrote more than one line for a request, so that nobody knows which request a line answers."""


class CannotStart(Exception):
    """The program cannot be started; the message says why."""


class Child:
    """A program that runs from the first request on, and is started again if it was stopped."""

    def __init__(self, command: tuple[str, ...], directory: str) -> None:
        self._command = command
        self._directory = directory
        self._running: subprocess.Popen[bytes] | None = None
        self._log = bytearray()
        self._took: float | None = None
        self._answered = 0  # lines since the start
        self._rest = b""  # what was read behind the last line
        self._lock = threading.Lock()

    def starting(self, limit: float) -> float:
        """Seconds that its next answer may take more, because it has to start: at most the limit.

        If it has answered after a start before, it gets `AGAIN` times what that took: what hangs is then told from what
        starts.
        """
        if self._running is not None:
            return 0.0
        return limit if self._took is None else min(limit, AGAIN * self._took)

    def line(self, request: bytes, longest: int) -> bytes:
        """The line that answers this one, which has at most `longest` bytes. It is started if it does not run.

        The line has no newline at its end if it is too long or if the process ends. What ends this in another way, such
        as a time limit, must be followed by `stop`: a late reply must not be taken for the reply to the next request.

        Raises
        ------
        OutOfStep : more than one line answered the request before. CannotStart : it cannot be started.
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
        """Raise `OutOfStep` if there is text for which nobody has asked, or if it comes within that time."""
        assert self._running is not None
        assert self._running.stdout is not None
        text = self._rest
        if not text and select.select([self._running.stdout], [], [], seconds)[0]:
            text = os.read(self._running.stdout.fileno(), PART)
        if text:
            raise self._surplus(text)

    def require_no_other(self, line: bytes) -> None:
        """Raise `OutOfStep` if this line, which is no answer, came after the one to the request before.

        Then the answer to this request is still to come.
        """
        if self._running is not None and self._answered > 1:
            more = self._rest or self._exchanged(self._running, b"", PART, PATIENCE)[0]
            if more:
                raise self._surplus(line, more)

    def _surplus(self, *texts: bytes) -> OutOfStep:
        told = " and ".join(shown(text.decode(errors="replace")) if text.strip() else "an empty line" for text in texts)
        return OutOfStep(f"{' '.join(self._command)}: one line answers a request, and there was more: {told}")

    def _exchanged(
        self, process: "subprocess.Popen[bytes]", request: bytes, longest: int, seconds: float | None
    ) -> tuple[bytes, bytes]:
        """Write the request while lines are read; the line that came within that time, and what came behind it."""
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
        """Keep what the process wrote to standard error; whether it may write more."""
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
        os.set_blocking(process.stdin.fileno(), False)  # it need not be read
        group_started(process.pid)
        return process

    def last_words(self) -> str:
        """What the process last said on standard error, in quotes."""
        log = self._running.stderr if self._running else None
        end = time.monotonic() + PATIENCE
        while log and time.monotonic() < end and select.select([log], [], [], 0)[0] and self._logged(log.fileno()):
            pass
        lines = bytes(self._log[-LOG_KEPT:]).decode(errors="replace").strip().splitlines()
        errors = [line for line in lines if "error" in line.lower()]  # some languages end with their version
        return shown((errors or lines)[-1]) if lines else "nothing on standard error"

    def ending(self) -> str:
        """How the process has ended, in words; it gets a moment for it."""
        assert self._running is not None
        process = self._running
        if not _has_ended(process, PATIENCE):
            return "or closed its standard output"
        _end_group(process)
        return f"exit status {process.wait()}"

    def stop(self) -> None:
        """Kill the process and every process of its group."""
        with in_one_piece():
            process, self._running = self._running, None
            if process is not None:
                _end(process)

    def finish(self) -> None:
        """Close its input so that it can end by itself; then kill what is left."""
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
    except BrokenPipeError:  # it may have answered before
        return left[:0]


def _has_ended(process: "subprocess.Popen[bytes]", seconds: float) -> bool:
    """Whether the leader of the group ends within that time. Its number stays taken until somebody waits for it."""
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
    """Kill every process of the group. The leader was not waited for, so that no other group can have its number."""
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
    """The beginning of what a process wrote, in quotes."""
    return repr(text.strip()[:SHOWN])
