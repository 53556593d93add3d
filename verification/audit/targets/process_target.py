"""A target in any language: a process that is asked in JSON, one line in, one line back.

`exec:COMMAND` runs COMMAND in the current directory, split into words as a shell does but without one. A request is one
line on its standard input: the data, the keywords of the claimed budget ("epsilon", "rho", or "epsilon" and "delta"),
and a seed. The reply is one line on its standard output, flushed: an output, or an error, which counts as an exception.

    {"x": [[0.6, 0.8], [1.0, 0.0]], "epsilon": 1.0, "seed": 4503599627370497}
    {"output": [[3.17, -0.72], [1.94, 0.05]]}

    {"x": [], "epsilon": 1.0, "seed": 81129638414606}
    {"error": "no rows"}

- Randomness comes from "seed" alone, so that equal requests get equal replies. It is a whole number from 0 to 2⁵³ − 1,
  which JSON readers of every language read exactly.
- A process answers request after request until its standard input ends. Every worker (`--jobs`) has one of its own.
- Standard output is for replies, standard error for all else; its last line is shown if the target cannot be run.
- A process that ends, passes the time limit or writes anything else has given no output for that request. It is
  killed and the next request starts another; the time to start counts as part of the draw (`--time-limit`).
- JSON has no NaN and no infinity. Data that contain one are not sent and count as refused. In a reply they are read as
  some languages write them, NaN and Infinity, and make the output malformed.
"""

import atexit
import contextlib
import json
import os
import shlex
import signal
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any

import numpy as np

from covassay.reference.domain import Matrix

PREFIX = "exec"
NOTE = "JSON has no NaN and no infinity: bad input that contains one is not sent and counts as refused"
SEEDS = 2**53
CHARACTERS = 100  # a number of an output takes at most; with `SLACK`, a longer line is no reply
SLACK = 2**20
LOG_KEPT = 2**20  # bytes of standard error, then it is emptied
SHOWN = 300  # characters of what a process wrote
PATIENCE = 0.5  # seconds for a process whose work is done to end by itself


_whole = 0  # how many blocks are being run that no time limit may cut in two


def must_finish() -> bool:
    """Is a process being started or stopped? A time limit that fell in between would lose it, still running."""
    return _whole > 0


@contextlib.contextmanager
def _in_one_piece() -> Iterator[None]:
    global _whole
    _whole += 1
    try:
        yield
    finally:
        _whole -= 1


class NoReply(Exception):
    """A process gave no output. `detail` is what it wrote, which may carry data."""

    def __init__(self, kind: str, message: str, detail: str) -> None:
        super().__init__(f"{message}: {detail}" if detail else message)
        self.kind = kind
        self.message = message


class Process:
    """A command that is running, or will be when it is asked."""

    def __init__(self, command: tuple[str, ...], directory: str) -> None:
        self._command = command
        self._directory = directory
        self._running: subprocess.Popen[bytes] | None = None
        self._log = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115
        self._lock = threading.Lock()

    def ask(self, request: dict[str, Any], longest: int) -> Any:
        """The output in the reply to one request; a reply has at most `longest` characters."""
        line = json.dumps(request, allow_nan=False).encode() + b"\n"
        with self._lock:
            if self._log.tell() > LOG_KEPT:
                self._empty_log()
            try:
                reply = self._exchange(line, longest)
            except BaseException:  # a time-out too: a late reply must not be taken for that to the next request
                self.stop()
                raise
        if "error" in reply:
            raise NoReply("exception", "an error in place of an output", _shown(str(reply["error"])))
        return reply["output"]

    def _exchange(self, request: bytes, longest: int) -> dict[str, Any]:
        with _in_one_piece():
            process = self._running = self._running or self._start()
        assert process.stdin is not None
        assert process.stdout is not None
        line = b""
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(request)
            process.stdin.flush()
            line = process.stdout.readline(longest)
        if not line.endswith(b"\n") and len(line) < longest:
            raise NoReply("exception", f"the process ended without a reply, {_ending(process)}", self._last_words())
        try:
            reply = json.loads(line, parse_int=float)
        except (ValueError, RecursionError):
            reply = None
        if not isinstance(reply, dict) or not ("output" in reply or "error" in reply):
            text = _shown(line.decode(errors="replace"))
            raise NoReply("malformed", "a line on standard output that is no reply (logs go to standard error)", text)
        return reply

    def _start(self) -> subprocess.Popen[bytes]:
        self._empty_log()
        try:
            return subprocess.Popen(
                self._command, cwd=self._directory, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log,
                start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            raise NoReply("exception", "the process cannot be started", str(error)) from error

    def _empty_log(self) -> None:
        self._log.seek(0)
        self._log.truncate()

    def _last_words(self) -> str:
        size = self._log.seek(0, os.SEEK_END)
        self._log.seek(max(0, size - LOG_KEPT))
        lines = self._log.read().decode(errors="replace").strip().splitlines()
        return _shown(lines[-1]) if lines else "nothing on standard error"

    def stop(self) -> None:
        """Kill it, and what it started."""
        with _in_one_piece():
            process, self._running = self._running, None
            if process is None:
                return
            if process.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    _kill(process)
                process.wait()
            for pipe in filter(None, (process.stdin, process.stdout)):
                with contextlib.suppress(OSError):  # a request that nobody will read
                    pipe.close()

    def finish(self) -> None:
        """Let it end by itself, as its input does; then kill it."""
        if self._running is not None and self._running.stdin is not None:
            with contextlib.suppress(OSError, subprocess.TimeoutExpired):
                self._running.stdin.close()
                self._running.wait(PATIENCE)
        self.stop()
        self._log.close()


def _kill(process: subprocess.Popen[bytes]) -> None:
    if hasattr(os, "killpg"):
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()


def _shown(text: str) -> str:
    return repr(text.strip()[:SHOWN])


def _ending(process: subprocess.Popen[bytes]) -> str:
    try:
        return f"exit status {process.wait(PATIENCE)}"
    except subprocess.TimeoutExpired:
        return "or closed its standard output"


@cache
def _process(command: tuple[str, ...], directory: str, worker: int) -> Process:
    """The process of this worker, kept for as long as the worker lives."""
    process = Process(command, directory)
    atexit.register(process.finish)
    return process


def draw(command: tuple[str, ...], directory: str, x: Matrix, *, rng: np.random.Generator, **budget: float) -> Any:
    """One draw: a request to the process of this worker."""
    request = {"x": x.tolist(), **budget, "seed": int(rng.integers(SEEDS))}
    longest = CHARACTERS * (x.shape[-1] + 1) ** 2 + SLACK
    return _process(command, directory, os.getpid()).ask(request, longest)


def process_draw(command: str, directory: str) -> Callable[..., Any]:
    """How a target draws that is a command. Raises ValueError if it is no command."""
    words = shlex.split(command)
    if not words:
        raise ValueError("must be exec:COMMAND")
    return partial(draw, tuple(words), directory)
