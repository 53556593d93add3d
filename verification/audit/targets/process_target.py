"""Run a target in any language as a process that reads requests and writes replies, each of them one line of JSON.
Protocol 1.

`exec:COMMAND` runs COMMAND in the current directory. The command is split into words as a shell splits it, but no shell
runs it. A request is one line on the standard input of the process. A request has the data, the keywords of the claimed
budget ("epsilon", "rho", or "epsilon" and "delta"), a seed, and the version of the protocol. For data in a box, a
request also has the bounds ("bounds": [[0, 1], [0, 100]]). The reply of a process is one line on its standard output,
which must be flushed. A reply has an output, or an error, which counts as an exception.

    {"x": [[0.6, 0.8], [1.0, 0.0]], "epsilon": 1.0, "seed": 4503599627370497, "protocol": 1}
    {"output": [[3.17, -0.72], [1.94, 0.05]]}

    {"x": [], "epsilon": 1.0, "seed": 81129638414606, "protocol": 1}
    {"error": "no rows"}

A process may state in its replies that it also draws in batches, as in {"output": …, "batch": 1000}. If a process draws
in batches, a request may ask for up to "batch" draws on the same data, with one seed for each draw. The reply to a
request for a batch has as many outputs, or errors in place of outputs. Without batches, each draw may take the time to
start the program and to read the data.

    {"x": [[0.6, 0.8], [1.0, 0.0]], "epsilon": 1.0, "seeds": [4503599627370497, 81129638414606], "protocol": 1}
    {"outputs": [[[3.17, -0.72], [1.94, 0.05]], {"error": "no convergence"}]}

- All randomness of a reply must come from its "seed", so that equal requests get equal replies. In a batch, each output
  must be the output that its seed would give alone. A seed is a whole number from 0 to 2⁵³ − 1, which JSON readers of
  every language read exactly.

- A process answers one request after another until its standard input ends. Every worker (`--jobs`) has its own process
  of the target.

- Standard output is for replies, one line for a request; standard error is for everything else. If the target cannot be
  run, the audit shows one line of standard error: the last line with the word "error", or the last line if no line has
  this word. A second line on standard output ends the audit as INCONCLUSIVE, because it is not known which request each
  line answers.

- If a process ends, exceeds the time limit or writes anything other than a reply, the request has no output. If a
  request has no output, the audit kills the process, and starts the program again for the next request. The time limit
  of a batch is the sum of the limits of its draws (`--time-limit`).

- The first reply of a process may take `START_LIMIT` more seconds, or as many as the environment variable
  COVASSAY_START_LIMIT allows. If the first reply takes longer than this limit, the target cannot be run. When a process
  is started again, its first reply also gets additional time: three times the longest time that a first reply has taken
  so far, but at most the same limit.

- A process and the processes that it starts end with the audit, unless they leave its process group.

- JSON has no NaN and no infinity. Data with NaN or infinity are not sent and count as rejected by the target. A reply
  may contain NaN and Infinity, as some languages write them, but such an output counts as malformed.

- An "error" that is null in a reply counts as no error. Later versions may add keys to requests. Unknown keys in
  replies are ignored. A reply may have "protocol": 1; a reply with another number is rejected.

`covassay schema exec-request` and `covassay schema exec-reply` print the JSON Schemas. `covassay audit --example c`
prints a whole target in C; there are also examples for node, python, r and sh (a shell with awk).
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
# for each number of an output, a reply may have this many characters, plus `SLACK`; a longer reply is malformed
CHARACTERS = 100
SLACK = 2**20
ERROR = "an error in place of an output"
NO_REPLY = "a line on standard output that is no reply (logs go to standard error)"
MOMENT = 0.2  # the audit waits this many seconds for a second line after the first reply
START_LIMIT = 10.0  # the seconds by which the first reply of a process may exceed the time limit of a draw
START_VARIABLE = "COVASSAY_START_LIMIT"  # this environment variable replaces `START_LIMIT`


def is_process(name: str) -> bool:
    """Return whether the target with this name is a process."""
    return name.startswith(f"{PREFIX}:")


def start_limit(usual: float = START_LIMIT) -> float:
    """Return the number of seconds that a program may take to start."""
    text = os.environ.get(START_VARIABLE, "")
    try:
        value = float(text or usual)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value >= 0):
        raise InvalidInput(f"{START_VARIABLE} = {text}: must be a number of seconds, 0 or more")
    return value


class NoReply(Exception):
    """Raised if a process gave no output. `detail` is the text that the process wrote, which may contain data."""

    def __init__(self, kind: str, message: str, detail: str) -> None:
        super().__init__(f"{message}: {detail}" if detail else message)
        self.kind = kind
        self.message = message


class Process(Child):
    """A process that answers requests in JSON."""

    def ask(self, request: dict[str, Any], longest: int) -> dict[str, Any]:
        """Return the reply to one request; raise an exception if the reply is an error or is longer than `longest`
        characters.
        """
        reply = self.reply_to(request, longest)
        if reply.get("error") is not None:
            raise NoReply("exception", ERROR, shown(str(reply["error"])))
        return reply

    def reply_to(self, request: dict[str, Any], longest: int) -> dict[str, Any]:
        """Return the reply to one request, which may be an error, and has at most `longest` characters."""
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
        """Send the request to a new process, and return why the process seems to hang.

        The text is empty if the output of the process shows no reason.
        """
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
    """Return the process of this worker, which is kept until the worker ends."""
    process = Process(command, directory)
    atexit.register(process.finish)
    return process


def longest_reply(x: Matrix, size: int = 1) -> int:
    """Return the largest number of characters that a reply with `size` outputs may have."""
    return size * CHARACTERS * (int(x.shape[-1]) + 1) ** 2 + SLACK


def starting(command: tuple[str, ...], directory: str) -> float:
    """Return extra seconds for the next draw if the draw must start the process of this worker."""
    return _process(command, directory, os.getpid()).starting(start_limit())


def draw(command: tuple[str, ...], directory: str, x: Matrix, *, rng: np.random.Generator, **budget: Any) -> Any:
    """Make one draw by one request to the process of this worker."""
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
    """Make several draws, with up to `most` of them in one request. A draw without an output is represented by a
    `NoReply`.
    """
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
    """Return how many draws the process offers to make in one request, or 0 if the process draws one by one.

    The function `batch_of` makes the first request of an audit to a process. If a second line arrives within `MOMENT`
    seconds after the first reply, it raises `OutOfStep`, because the next request could get this line as its answer.
    """
    process = _process(command, directory, os.getpid())
    request = {"x": x.tolist(), **budget, "seed": int(rng.integers(SEEDS))}
    most: object = process.ask(request, longest_reply(x)).get("batch")
    process.require_silence(MOMENT)
    return int(most) if isinstance(most, float) and most >= 1 and most.is_integer() else 0


def why_late(command: tuple[str, ...], directory: str, x: Matrix, seconds: float, **budget: Any) -> str:
    """Repeat a request that exceeded its time limit, and return why the process seems to hang.

    The text is empty if the output of the process shows no reason.
    """
    return _process(command, directory, os.getpid()).late_words({"x": x.tolist(), **budget, "seed": 1}, seconds)


def words_of(command: str) -> tuple[str, ...]:
    """Split a command into words; raise ValueError if there are no words."""
    words = shlex.split(command)
    if not words:
        raise ValueError("must be exec:COMMAND")
    return tuple(words)


def process_draw(command: str, directory: str) -> Callable[..., Any]:
    """Return the function that draws from a target that a command runs.

    Raise ValueError if the command has no words.
    """
    return partial(draw, words_of(command), directory)
