"""A target in any language: a process that reads requests and writes replies, one line of JSON each. Protocol 1.

`exec:COMMAND` runs COMMAND in the current directory. The command is split into words as a shell splits it, but no shell
runs it. A request is one line on the process's standard input: the data, the keywords of the claimed budget ("epsilon",
"rho", or "epsilon" and "delta"), for data in a box its bounds ("bounds": [[0, 1], [0, 100]]), a seed, and the version
of the protocol. The reply is one line on its standard output, flushed: an output, or an error, which counts as an
exception.

    {"x": [[0.6, 0.8], [1.0, 0.0]], "epsilon": 1.0, "seed": 4503599627370497, "protocol": 1}
    {"output": [[3.17, -0.72], [1.94, 0.05]]}

    {"x": [], "epsilon": 1.0, "seed": 81129638414606, "protocol": 1}
    {"error": "no rows"}

A process may say in its replies that it also draws in batches, {"output": …, "batch": 1000}: many draws on the same
data in one request, which has up to that many seeds. Its reply has as many outputs, or errors in their place. Then
starting a program and reading the data are no longer what an audit waits for.

    {"x": [[0.6, 0.8], [1.0, 0.0]], "epsilon": 1.0, "seeds": [4503599627370497, 81129638414606], "protocol": 1}
    {"outputs": [[[3.17, -0.72], [1.94, 0.05]], {"error": "no convergence"}]}

- All randomness comes from "seed", so that equal requests get equal replies; in a batch, an output is what its seed
  alone would give. A seed is a whole number from 0 to 2⁵³ − 1, which JSON readers of every language read exactly.
- A process answers one request after another until its standard input ends. Every worker (`--jobs`) has its own
  process.
- Standard output is for replies, one line for a request; standard error is for everything else. If the target cannot be
  run, the last line on standard error is shown, or the last one there that has the word "error". A second line on
  standard output ends the audit as INCONCLUSIVE, because nobody can tell any more which request a line answers.
- A process that ends, passes the time limit or writes anything else has given no output for that request. It is
  killed, and the next request starts another. A batch has the time of all its draws (`--time-limit`).
- The first reply of a process may take `START_LIMIT` seconds more, or what the environment variable
  COVASSAY_START_LIMIT says. If it takes longer, the target cannot be run. A process that has to be started again may
  take no more than three times as long as the first did.
- A process and the processes that it starts end with the audit, unless they leave its process group.
- JSON has no NaN and no infinity. Data that contain one are not sent and count as refused. A reply may contain them as
  some languages write them, NaN and Infinity; such an output is malformed.
- An "error" that is null counts as none. Keys that are not named here may be added to requests in a later version, and
  are ignored in replies. A reply may have "protocol": 1; another number is refused.

`covassay schema exec-request` and `covassay schema exec-reply` print the JSON Schemas. `covassay audit --example c`
prints a whole target in C; there are others for node, python, r and sh (a shell with awk).
"""

import atexit
import contextlib
import json
import math
import os
import shlex
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np

from covassay.reference.domain import Matrix
from covassay.reference.errors import InvalidInput
from covassay.verification.audit.targets.child import PATIENCE, CannotStart, Child, shown
from covassay.verification.audit.targets.process_hints import LATE, UNENDED, hint

PROTOCOL = 1
PREFIX = "exec"
NOTE = "JSON has no NaN and no infinity: bad input that contains one is not sent and counts as refused"
SEEDS = 2**53
CHARACTERS = 100  # that one number of an output may take; a reply longer than this allows, and `SLACK`, is malformed
SLACK = 2**20
ERROR = "an error in place of an output"
NO_REPLY = "a line on standard output that is no reply (logs go to standard error)"
MOMENT = 0.2  # seconds that a second line may take after the first reply
START_LIMIT = 10.0  # seconds that the first reply of a process may take beyond the time limit of a draw
START_VARIABLE = "COVASSAY_START_LIMIT"  # the environment variable that sets it


def is_process(name: str) -> bool:
    """Whether the target of that name is a process."""
    return name.startswith(f"{PREFIX}:")


def start_limit(usual: float = START_LIMIT) -> float:
    """Seconds that a program may take to start."""
    text = os.environ.get(START_VARIABLE, "")
    try:
        value = float(text or usual)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value >= 0):
        raise InvalidInput(f"{START_VARIABLE} = {text}: must be a number of seconds, 0 or more")
    return value


class NoReply(Exception):
    """A process gave no output. `detail` is what it wrote, which may contain data."""

    def __init__(self, kind: str, message: str, detail: str) -> None:
        super().__init__(f"{message}: {detail}" if detail else message)
        self.kind = kind
        self.message = message


class Process(Child):
    """A process that answers requests in JSON."""

    def ask(self, request: dict[str, Any], longest: int) -> dict[str, Any]:
        """The reply to one request, without an error; it has at most `longest` characters."""
        reply = self.reply_to(request, longest)
        if reply.get("error") is not None:
            raise NoReply("exception", ERROR, shown(str(reply["error"])))
        return reply

    def reply_to(self, request: dict[str, Any], longest: int) -> dict[str, Any]:
        """The reply to one request, which may be an error; it has at most `longest` characters."""
        line = _line(request)
        with self._lock:
            try:
                return self._read(self.line(line, longest), longest)
            except CannotStart as error:
                raise NoReply("exception", "the process cannot be started", str(error)) from error
            except BaseException:
                self.stop()
                raise

    def _read(self, line: bytes, longest: int) -> dict[str, Any]:
        if not line.endswith(b"\n") and len(line) < longest:
            ending = self.ending()
            raise NoReply("exception", f"the process ended without a reply, {ending}", self.last_words())
        try:
            reply = json.loads(line, parse_int=float)
        except (ValueError, RecursionError):
            reply = None
        if not isinstance(reply, dict) or all(
            reply.get(key) is None for key in ("output", "outputs", "error", "declined")
        ):
            self.require_no_other(line)
            text = line.decode(errors="replace")
            told = hint(text)
            raise NoReply("malformed", NO_REPLY, f"{told}{': ' if told else ''}{shown(text)}")
        if reply.get("protocol", PROTOCOL) != PROTOCOL:
            raise NoReply("malformed", f"a reply in a protocol other than {PROTOCOL}", shown(str(reply["protocol"])))
        self.require_silence()
        return reply

    def late_words(self, request: dict[str, Any], seconds: float) -> str:
        """Why a process that should reply to this request seems to hang, if its output tells; otherwise ""."""
        self.stop()
        try:
            process = self._running = self._start()
            early, _ = self._exchanged(process, _line(request), SLACK, seconds)
            if early:
                return "" if early.endswith(b"\n") else f"{UNENDED}: {shown(early.decode(errors='replace'))}"
            assert process.stdin is not None
            with contextlib.suppress(OSError):
                process.stdin.close()
            return LATE if self._exchanged(process, b"", SLACK, PATIENCE)[0] else ""
        finally:
            self.stop()


def _line(request: dict[str, Any]) -> bytes:
    return json.dumps({**request, "protocol": PROTOCOL}, allow_nan=False).encode() + b"\n"


@cache
def _process(command: tuple[str, ...], directory: str, worker: int) -> Process:
    """The process of this worker, which is kept as long as the worker lives."""
    process = Process(command, directory)
    atexit.register(process.finish)
    return process


def longest_reply(x: Matrix, size: int = 1) -> int:
    """How many characters a reply with that many outputs may have."""
    return size * CHARACTERS * (int(x.shape[-1]) + 1) ** 2 + SLACK


def starting(command: tuple[str, ...], directory: str) -> float:
    """Seconds that the next draw may take more, because it has to start the process of this worker."""
    return _process(command, directory, os.getpid()).starting(start_limit())


def draw(command: tuple[str, ...], directory: str, x: Matrix, *, rng: np.random.Generator, **budget: Any) -> Any:
    """One draw: one request to the process of this worker."""
    request = {"x": x.tolist(), **budget, "seed": int(rng.integers(SEEDS))}
    return _output(_process(command, directory, os.getpid()).ask(request, longest_reply(x)))


def _output(reply: dict[str, Any]) -> Any:
    if reply.get("output") is None:
        raise NoReply("malformed", NO_REPLY, hint('{"outputs": []}'))
    return reply["output"]


def draw_batches(
    command: tuple[str, ...],
    directory: str,
    most: int,
    x: Matrix,
    size: int,
    *,
    rng: np.random.Generator,
    **budget: Any,
) -> list[Any]:
    """That many draws, up to `most` in one request. A draw without an output is a `NoReply` in its place."""
    process = _process(command, directory, os.getpid())
    seeds = [int(rng.integers(SEEDS)) for _ in range(size)]
    drawn: list[Any] = []
    for start in range(0, size, most):
        asked = seeds[start : start + most]
        reply = process.ask({"x": x.tolist(), **budget, "seeds": asked}, longest_reply(x, len(asked)))
        outputs = reply.get("outputs")
        if not isinstance(outputs, list) or len(outputs) != len(asked):
            raise NoReply("malformed", f'"outputs" is not a list of {len(asked)}, one for every seed', "")
        drawn += [NoReply("exception", ERROR, "") if isinstance(output, dict) else output for output in outputs]
    return drawn


def batch_of(command: tuple[str, ...], directory: str, x: Matrix, *, rng: np.random.Generator, **budget: Any) -> int:
    """How many draws the process says that it makes in one request; 0 if it draws one by one.

    This is the first question of an audit, so a program gets `MOMENT` here to show that it writes a second line, which
    would be taken for the answer to the next request.
    """
    process = _process(command, directory, os.getpid())
    request = {"x": x.tolist(), **budget, "seed": int(rng.integers(SEEDS))}
    most: object = process.ask(request, longest_reply(x)).get("batch")
    process.require_silence(MOMENT)
    return int(most) if isinstance(most, float) and most >= 1 and most.is_integer() else 0


def why_late(command: tuple[str, ...], directory: str, x: Matrix, seconds: float, **budget: Any) -> str:
    """Why a process that passed its time limit seems to hang, if its output tells; otherwise ""."""
    return _process(command, directory, os.getpid()).late_words({"x": x.tolist(), **budget, "seed": 1}, seconds)


def words_of(command: str) -> tuple[str, ...]:
    """The words of a command; ValueError if there are none."""
    words = shlex.split(command)
    if not words:
        raise ValueError("must be exec:COMMAND")
    return tuple(words)


def process_draw(command: str, directory: str) -> Callable[..., Any]:
    """The function by which a target that is a command draws. It raises ValueError if there is no command."""
    return partial(draw, words_of(command), directory)
