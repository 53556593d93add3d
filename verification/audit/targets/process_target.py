"""A target in any language: a process that reads requests and writes replies, one line of JSON each.

`exec:COMMAND` runs COMMAND in the current directory. The command is split into words as a shell splits it, but no shell
runs it. A request is one line on the process's standard input: the data, the keywords of the claimed budget ("epsilon",
"rho", or "epsilon" and "delta"), a seed, and for data in a box its bounds ("bounds": [[0, 1], [0, 100]]).
The reply is one line on its standard output, flushed: an output, or an error, which counts as an exception.

    {"x": [[0.6, 0.8], [1.0, 0.0]], "epsilon": 1.0, "seed": 4503599627370497}
    {"output": [[3.17, -0.72], [1.94, 0.05]]}

    {"x": [], "epsilon": 1.0, "seed": 81129638414606}
    {"error": "no rows"}

- All randomness comes from "seed", so that equal requests get equal replies. The seed is a whole number from 0 to
  2⁵³ − 1, which JSON readers of every language read exactly.
- A process answers one request after another until its standard input ends. Every worker (`--jobs`) has its own
  process.
- Standard output is for replies, standard error for everything else. If the target cannot be run, the last line on
  standard error is shown.
- A process that ends, passes the time limit or writes anything else has given no output for that request. It is
  killed, and the next request starts another; the time to start counts as part of the draw (`--time-limit`).
- JSON has no NaN and no infinity. Data that contain one are not sent and count as refused. A reply may contain them as
  some languages write them, NaN and Infinity; such an output is malformed.
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
CHARACTERS = 100  # that one number of an output may take; a reply longer than this allows, and `SLACK`, is malformed
SLACK = 2**20
LOG_KEPT = 2**20  # bytes of standard error that are kept; then the log is emptied
SHOWN = 300  # characters of what a process wrote that are shown
PATIENCE = 0.5  # seconds that a process has to end by itself when its work is done


_whole = 0  # how many blocks are running that no time limit may interrupt


def must_finish() -> bool:
    """Whether a process is being started or stopped. An interruption at that moment would leave it running, unknown."""
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
    """A process gave no output. `detail` is what it wrote, which may contain data."""

    def __init__(self, kind: str, message: str, detail: str) -> None:
        super().__init__(f"{message}: {detail}" if detail else message)
        self.kind = kind
        self.message = message


class Process:
    """A command that runs from the first request on, and is started again if it ended."""

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
            except BaseException:  # a time-out too: a late reply must not be taken for the reply to the next request
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
        """Kill the process and every process that it started."""
        with _in_one_piece():
            process, self._running = self._running, None
            if process is None:
                return
            if process.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    _kill(process)
                process.wait()
            for pipe in filter(None, (process.stdin, process.stdout)):
                with contextlib.suppress(OSError):  # for a request that nobody will read
                    pipe.close()

    def finish(self) -> None:
        """Close its input so that it can end by itself; then kill it."""
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
    """The process of this worker, which is kept as long as the worker lives."""
    process = Process(command, directory)
    atexit.register(process.finish)
    return process


def draw(command: tuple[str, ...], directory: str, x: Matrix, *, rng: np.random.Generator, **budget: Any) -> Any:
    """One draw: one request to the process of this worker."""
    request = {"x": x.tolist(), **budget, "seed": int(rng.integers(SEEDS))}
    longest = CHARACTERS * (x.shape[-1] + 1) ** 2 + SLACK
    return _process(command, directory, os.getpid()).ask(request, longest)


def process_draw(command: str, directory: str) -> Callable[..., Any]:
    """The function by which a target that is a command draws. It raises ValueError if there is no command."""
    words = shlex.split(command)
    if not words:
        raise ValueError("must be exec:COMMAND")
    return partial(draw, tuple(words), directory)
