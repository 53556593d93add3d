"""What is audited: a function `f(x, *, epsilon, rng)` that is found by its name and called under a time limit.

The name of a target is `module:function` (the user's own function, looked up from the current directory),
`exec:COMMAND` (a process in any language: `process_target`) or `ADAPTER:NAME` (adapters are the entry points of the
group `covassay.adapters`). It is called as

    f(x, *, epsilon: float, rng: numpy.random.Generator) -> array

with x (n, d) float64, rows in the unit ball. If the claim is zCDP or approximate DP, it is called with `rho=`, or with
`epsilon=` and `delta=`. An exception (SystemExit too) and a time-out are outcomes of the target
like any other.
"""

import contextlib
import importlib
import math
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import entry_points
from typing import Any

import numpy as np

from covassay.reference.domain import Matrix
from covassay.reference.errors import InvalidInput
from covassay.verification.audit.targets.process_target import NOTE, PREFIX, NoReply, must_finish, process_draw

ADAPTER_GROUP = "covassay.adapters"
TIME_LIMIT = 3.0  # seconds a draw may take, unless told otherwise
AGAIN = 0.002  # seconds after which an interruption that had to wait is tried again
ALMOST = 0.99  # share of the time limit after which an exception counts as a time-out
OUTCOMES = (Exception, SystemExit)  # what a target may raise: sys.exit(0) in a target must not end the audit


class CannotRun(Exception):
    """The target cannot be loaded or called at all; the message says why."""


@dataclass(frozen=True)
class Target:
    """An implementation under audit.

    draw : called as draw(x, rng=…, **budget) for one output.
    mechanism : what it claims to be, a name of the reference's registry, or None.
    options : the choices of the mechanism that belong to its claim, such as "calibration".
    seeded : whether all randomness comes from `rng`; False for a target that draws from the operating system.
    draw_many : optional, (x, size, rng=…, **budget) -> that many outputs with the same law, faster.
    """

    name: str
    draw: Callable[..., Any]
    mechanism: str | None = None
    options: tuple[tuple[str, str], ...] = ()
    seeded: bool = True
    version: str = ""
    notes: tuple[str, ...] = ()
    draw_many: Callable[..., Any] | None = None


@dataclass(frozen=True)
class Failure:
    """A draw that gave no usable output. kind: "exception", "time-out" or "malformed"."""

    kind: str
    message: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.message}"


@dataclass(frozen=True)
class TargetReference:
    """A target by its name and the directory from which it is looked up. It is cheap to send to another process."""

    spec: str
    directory: str

    def load(self) -> Target:
        """The target of this name."""
        return _load(self.spec, self.directory)


TargetSource = Target | TargetReference


def as_source(source: TargetSource | Callable[..., Any] | str) -> TargetSource:
    """The source itself, or a target made from a plain function or from a name, as seen from the current directory."""
    if isinstance(source, Target | TargetReference):
        return source
    if isinstance(source, str):
        return TargetReference(source, os.getcwd())
    return Target(getattr(source, "__qualname__", repr(source)), source)


def load(source: TargetSource) -> Target:
    """The target itself, found by its name if need be."""
    return source.load() if isinstance(source, TargetReference) else source


def adapters() -> dict[str, Any]:
    """The registered adapters by name; none of them is imported yet."""
    return {point.name: point for point in entry_points(group=ADAPTER_GROUP)}


@lru_cache(maxsize=32)
def _load(spec: str, directory: str) -> Target:
    prefix, colon, name = spec.partition(":")
    if not (prefix and colon and name):
        raise InvalidInput(f"target = {spec!r}: must be module:function, exec:COMMAND or ADAPTER:NAME")
    if prefix == PREFIX:
        return _process_target(spec, name, directory)
    known = adapters()
    if prefix in known:
        return _adapter_target(spec, known[prefix], name)
    return Target(name=spec, draw=_function(spec, prefix, name, directory))


def _process_target(spec: str, command: str, directory: str) -> Target:
    try:
        return Target(name=spec, draw=process_draw(command, directory), notes=(NOTE,))
    except ValueError as error:
        raise InvalidInput(f"target = {spec!r}: {error}") from error


def _adapter_target(spec: str, point: Any, name: str) -> Target:
    try:
        targets: dict[str, Callable[[], Target]] = point.load().TARGETS
        if name in targets:
            return targets[name]()
    except ImportError as error:
        raise CannotRun(f"{spec}: {error}; install the extra covassay[audit]") from error
    raise InvalidInput(f"target = {spec!r}: {point.name} has {', '.join(targets)}")


def _function(spec: str, module: str, path: str, directory: str) -> Callable[..., Any]:
    if directory not in sys.path:
        sys.path.insert(0, directory)
    try:
        found: Any = importlib.import_module(module)
        for part in path.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        raise InvalidInput(f"target = {spec!r}: {error}") from error
    except OUTCOMES as error:
        raise CannotRun(f"{spec}: importing {module} raised {type(error).__name__}: {error}") from error
    if not callable(found):
        raise InvalidInput(f"target = {spec!r}: must be a function, is {type(found).__name__}")
    function: Callable[..., Any] = found
    return function


class TimeLimitError(Exception):
    """The time of a draw is up. It is raised inside the target."""


@contextlib.contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Interrupt the block after `seconds`. Without SIGALRM or off the main thread there is no limit."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(signum: int, frame: object) -> None:
        if must_finish():
            signal.setitimer(signal.ITIMER_REAL, AGAIN)
            return
        raise TimeLimitError(f"no output after {seconds:g} s")

    start = time.monotonic()
    previous = signal.signal(signal.SIGALRM, interrupt)
    left, interval = signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
        if left:  # somebody else had set the timer, for instance pytest-timeout
            signal.setitimer(signal.ITIMER_REAL, max(left - (time.monotonic() - start), 1e-6), interval)


def call(
    target: Target, x: Matrix, budget: dict[str, float], rng: np.random.Generator, seconds: float
) -> tuple[Any, float]:
    """One draw: the raw output or a `Failure`, and the seconds that it took."""
    start = time.perf_counter()
    try:
        with time_limit(seconds):
            output = target.draw(x, rng=rng, **budget)
    except OUTCOMES as error:
        elapsed = time.perf_counter() - start
        if elapsed >= seconds * ALMOST:  # the target may have wrapped the interruption in an error of its own
            return Failure("time-out", f"no output after {seconds:g} s"), elapsed
        if isinstance(error, NoReply):
            return Failure(error.kind, error.message), elapsed
        return Failure("exception", type(error).__name__), elapsed
    return output, time.perf_counter() - start


def well_formed(output: Any, shape: tuple[int, ...]) -> Matrix | Failure:
    """The output as a finite float64 array of the given shape, or what is wrong with it."""
    if isinstance(output, Failure):
        return output
    try:
        array = np.asarray(output)
    except OUTCOMES as error:
        return Failure("malformed", f"not an array ({type(error).__name__})")
    if array.shape != shape:
        return Failure("malformed", f"shape {array.shape} in place of {shape}")
    if array.dtype.kind not in "biuf":
        return Failure("malformed", f"entries of type {array.dtype} in place of real numbers")
    values = array.astype(np.float64)
    if not np.isfinite(values).all():
        return Failure("malformed", "an entry that is not finite")
    return values


def require_seconds(value: float) -> float:
    """A time limit in seconds, above 0."""
    if not (math.isfinite(value) and value > 0):
        raise InvalidInput(f"time limit = {value!r}: must be a number of seconds above 0")
    return float(value)
