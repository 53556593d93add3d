"""Find a target by its name, turn it into a function `f(x, *, epsilon, rng)`, and call the function under a time limit.

The name of a function is `module:function` or `dir/file.py:function`, which is looked up from the current directory.
The name of a process in any language is `exec:COMMAND` (see `process_target`). The name of a target of an adapter is
`ADAPTER:NAME`; adapters are the entry points of the group `covassay.adapters`. The target is called as

    f(x, *, epsilon: float, rng: numpy.random.Generator) -> array

The argument x is a float64 array (n, d) whose rows lie in the unit ball or in a box with public bounds. If the function
has a parameter `bounds`, it also gets the box as d pairs (low, high). If the claim is zCDP or approximate DP, the
function is called with `rho=`, or with `epsilon=` and `delta=`. The function may have an attribute `draw_many`, and
then f.draw_many(x, size, *, epsilon, rng) returns an array of `size` outputs. The audit compares their law with that of
f. If the function has an attribute `accounting`, f.accounting(x, *, epsilon) returns the privacy loss that the function
itself reports for one call: ε, or ρ for zCDP. A reported privacy loss above the claim refutes the claim. If a call
raises an exception (also SystemExit) or exceeds the time limit, this is an outcome of the target like any output.
"""

import contextlib
import difflib
import gc
import importlib
import importlib.util
import math
import os
import signal
import sys
import threading
import time
import traceback
import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from importlib.metadata import entry_points
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

from covassay.reference.domain import Matrix
from covassay.reference.errors import InvalidInput, guess
from covassay.reference.privacy import Guarantee, guarantee_of
from covassay.verification.audit.targets import environment
from covassay.verification.audit.targets.calling import RANDOM, Wrapped, name_of

# the engine and the adapters raise this exception, which they import from this module
from covassay.verification.audit.targets.calling import CannotRun as CannotRun
from covassay.verification.audit.targets.calling import text_of as text_of
from covassay.verification.audit.targets.child import OutOfStep, must_finish
from covassay.verification.audit.targets.deadline import clear_deadline, set_deadline
from covassay.verification.audit.targets.package import Package, last_line
from covassay.verification.audit.targets.process_state import Changed, put_back
from covassay.verification.audit.targets.process_target import (
    NOTE,
    PREFIX,
    NoReply,
    draw_batches,
    process_draw,
    starting,
    words_of,
)

ADAPTER_GROUP = "covassay.adapters"
SUFFIX = ".py"  # a file of Python source has this suffix
TIME_LIMIT = 3.0  # the default time limit of a draw, in seconds
AGAIN = 0.002  # a delayed interruption is repeated after this many seconds
LONGEST_DELAY = 10  # code that ignores exceptions is interrupted only after a time of this many time limits
PLAIN = (np.ndarray, np.float64, float)  # the conversion of these types runs no code of the target
NOT_FINITE = "an entry that is not finite"
ALMOST = 0.99  # an exception that comes after this share of the time limit counts as a time-out


@dataclass(frozen=True)
class Target:
    """An implementation under audit.

    The function draw(x, rng=…, **budget) returns one output of the target. `mechanism` is the name, in the reference's
    registry, of the mechanism that the target claims to implement, or None. `options` are the choices of the mechanism
    that belong to the claim of the target, such as "calibration". `seeded` says whether all randomness of the target
    comes from `rng`, and is False for a target that draws from the operating system.

    The optional function draw_many(x, size, rng=…, **budget) returns `size` outputs of the same law faster. The
    optional function accounting(x, **budget) returns the cost of one call by the target's own accounting, in the unit
    of the claim. `starting` returns extra seconds for the next draw if a program must be started for it. `primitives`
    are functions of the target's package that add noise of a known law (`recorded.primitives`).

    The field `released` and all fields after it describe a target that names no mechanism. `released` is the kind of
    output of the target, and `claim` its usual claim, if the target states them. `adjacency` says which data sets are
    neighbours. `bounds` is the box in which the target is audited, with a pair (low, high) for every column. The user
    of an audit can override the adjacency and the bounds. `symmetric` says whether the target promises that its
    matrices are symmetric.
    """

    name: str
    draw: Callable[..., Any]
    mechanism: str | None = None
    options: tuple[tuple[str, str], ...] = ()
    seeded: bool = True
    version: str = ""
    notes: tuple[str, ...] = ()
    draw_many: Callable[..., Any] | None = None
    accounting: Callable[..., Any] | None = None
    released: str | None = None
    claim: Guarantee | None = None
    adjacency: str | None = None
    bounds: tuple[tuple[float, float], ...] | None = None
    symmetric: bool = False
    starting: Callable[[], float] | None = None
    primitives: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Failure:
    """A draw that gave no usable output, where `kind` is "exception", "exit", "time-out" or "malformed"."""

    kind: str
    message: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.message}"


@dataclass(frozen=True)
class TargetReference:
    """The name of a target, with the directory from which it is looked up. Another process can load the target from
    this small object.

    If `seeded` is False, the target draws from the operating system, even if it declares otherwise. `call` is an
    expression that calls a function with another signature; the module `calling` describes such expressions. `batch` is
    the number of draws that a process makes for one request, if the process draws in batches.
    """

    spec: str
    directory: str
    seeded: bool = True
    call: str | None = None
    batch: int = 0

    @property
    def command(self) -> tuple[str, ...]:
        """Return the words of the command of a process, which are empty for any other target."""
        prefix, command = parts_of_name(self.spec)
        return words_of(command) if prefix == PREFIX else ()

    @property
    def is_function(self) -> bool:
        """Return whether the target is a function, and neither a process nor a target of an adapter."""
        prefix, _ = parts_of_name(self.spec)
        return prefix != PREFIX and prefix not in adapters()

    def load(self) -> Target:
        """Return the target with this name."""
        target = _load(self.spec, self.directory, self.call)
        if self.batch:
            target = replace(target, draw_many=partial(_in_batches, self.command, self.directory, self.batch))
        return target if self.seeded else replace(target, seeded=False)


TargetSource = Target | TargetReference


def as_source(source: TargetSource | Callable[..., Any] | str) -> TargetSource:
    """Return a source as it is, or make a source from a function or a name; a name is looked up from the current
    directory.
    """
    if isinstance(source, Target | TargetReference):
        return source
    if isinstance(source, str):
        return TargetReference(source, os.getcwd())
    return as_called(name_of(source), source)


def as_called(name: str, function: Any, call: str | None = None) -> Target:
    """Return the target for a function; the expression `call`, if there is one, calls the function."""
    own = function.function if isinstance(function, Wrapped) else function
    draw = Wrapped(own, call) if call is not None else function
    if not isinstance(draw, Wrapped) or draw.call is None:
        many, accounting = getattr(draw, "draw_many", None), getattr(draw, "accounting", None)
        return Target(name, draw, draw_many=many, accounting=accounting)
    rest = "; the other parts of the returned value are not audited" if draw.takes_part else ""
    notes = (f"called as {draw.call}{rest}",)
    return Target(name, draw, seeded=bool(draw.uses & set(RANDOM)), notes=notes)


def load(source: TargetSource) -> Target:
    """Return the target for a source, which is the target itself or its name."""
    return source.load() if isinstance(source, TargetReference) else source


def adapters() -> dict[str, Any]:
    """Return the registered adapters by their names, without importing any of them."""
    return {point.name: point for point in entry_points(group=ADAPTER_GROUP)}


def parts_of_name(spec: str) -> tuple[str, str]:
    """Return the parts of a name before and after the colon.

    The path of a file, which ends in .py, may itself contain colons.
    """
    prefix, _, name = spec.partition(":")
    if prefix == PREFIX or f"{SUFFIX}:" not in spec:
        return prefix, name
    file, _, name = spec.rpartition(f"{SUFFIX}:")
    return f"{file}{SUFFIX}", name


@lru_cache(maxsize=32)
def _load(spec: str, directory: str, call: str | None) -> Target:
    prefix, name = parts_of_name(spec)
    if not (prefix and name):
        raise InvalidInput(
            f"target = {spec!r}: must be module:function, file.py:function, exec:COMMAND or ADAPTER:NAME"
        )
    if call is not None and (prefix == PREFIX or prefix in adapters()):
        raise InvalidInput(f"call = {call!r}: only for a target module:function; {spec} needs no expression")
    if prefix == PREFIX:
        return _process_target(spec, name, directory)
    known = adapters()
    if prefix in known:
        return _adapter_target(spec, prefix, name)
    return as_called(spec, _function(spec, prefix, name, directory), call)


def _in_batches(command: tuple[str, ...], directory: str, most: int, x: Matrix, size: int, **given: Any) -> list[Any]:
    """Return draws of a process that draws in batches; a `Failure` represents each draw without an output."""
    drawn = draw_batches(command, directory, most, x, size, **given)
    return [Failure(output.kind, output.message) if isinstance(output, NoReply) else output for output in drawn]


def _process_target(spec: str, command: str, directory: str) -> Target:
    try:
        ready = partial(starting, words_of(command), directory)
        return Target(name=spec, draw=process_draw(command, directory), notes=(NOTE,), starting=ready)
    except ValueError as error:
        raise InvalidInput(f"target = {spec!r}: {error}") from error


def adapter(name: str) -> Any:
    """Return the module of a registered adapter.

    Raises
    ------
    InvalidInput : no adapter has that name.
    CannotRun : the module of the adapter does not import.
    """
    known = adapters()
    if name not in known:
        raise InvalidInput(f"adapter = {name!r}: {guess(name, known)}must be one of {', '.join(sorted(known))}")
    try:
        return known[name].load()
    except (Exception, SystemExit) as error:
        raise CannotRun(f"the adapter {name} does not import: {last_line(error)}") from error


def _adapter_target(spec: str, prefix: str, name: str) -> Target:
    module = adapter(prefix)
    targets: dict[str, Callable[[], Target]] = module.TARGETS
    if name not in targets:
        raise InvalidInput(f"target = {spec!r}: {_meant(name, targets)}{prefix} has {', '.join(targets)}")
    package: Package | None = getattr(module, "PACKAGE", None)
    if package is not None:
        absent = package.no_copy()
        if absent:
            raise CannotRun(f"{spec}: {absent}")
        problem = package.problem()
        if problem:
            return _target_elsewhere(spec, prefix, module, name, problem)
    try:
        return targets[name]()
    except (ImportError, SystemExit) as error:
        raise CannotRun(f"{spec}: {last_line(error)}") from error


def _meant(name: str, known: Iterable[str]) -> str:
    """Return the question "did you mean …" for an unknown name; the comparison ignores case, hyphens and
    underscores.
    """

    def plain(text: str) -> str:
        return "".join(letter for letter in text.lower() if letter.isalnum())

    by_plain = {plain(one): one for one in known}
    near = difflib.get_close_matches(plain(name), by_plain, n=1)
    return f"did you mean {by_plain[near[0]]}? " if near else ""


def _target_elsewhere(spec: str, prefix: str, module: Any, name: str, problem: str) -> Target:
    """Return a target that runs in the separate environment of its package; `problem` says why it cannot run in this
    process.
    """
    wrong = environment.state(prefix, module.PACKAGE)
    if wrong:
        made = f"covassay adapters install {prefix}"
        raise CannotRun(f"{spec}: {problem}, and {wrong}: {made}")
    try:
        draw, told = environment.described(prefix, module, name)
    except CannotRun as error:
        raise CannotRun(f"{spec}: in its environment, {error}") from error
    claim = told.pop("claim")
    return Target(
        draw=draw,
        claim=guarantee_of(claim) if claim else None,
        options=tuple((key, value) for key, value in told.pop("options")),
        notes=(*told.pop("notes"), environment.NOTE),
        bounds=tuple((low, high) for low, high in told.pop("bounds") or ()) or None,
        **told,
    )


def _function(spec: str, module: str, path: str, directory: str) -> Any:
    if "/" in module and not module.endswith(SUFFIX):
        raise InvalidInput(f"target = {spec!r}: a path must be that of a file, such as {module}{SUFFIX}:{path}")
    try:
        with put_back():
            found: Any = _module(spec, module, directory)
            for part in path.split("."):
                found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        absent = isinstance(error, ModuleNotFoundError) and error.name == module
        meant = _meant(module, adapters()) if absent else ""
        raise InvalidInput(f"target = {spec!r}: {meant}{error}") from error
    except InvalidInput:
        raise
    except (Exception, SystemExit) as error:
        raise CannotRun(f"{spec}: importing {module} raised {type(error).__name__}: {text_of(error)}") from error
    if not (callable(found) or hasattr(found, "fit")):
        raise InvalidInput(f"target = {spec!r}: must be a function, is {type(found).__name__}")
    return found


def _module(spec: str, name: str, directory: str) -> Any:
    if name.endswith(SUFFIX):
        return _module_of_file(spec, name, directory)
    _look_in(directory)
    return importlib.import_module(name)


def _look_in(directory: str) -> None:
    if directory not in sys.path:
        sys.path.insert(0, directory)


def _module_of_file(spec: str, name: str, directory: str) -> Any:
    """Return the module in a file; the module may import modules beside it, and a file of a package is imported as part
    of the package.

    If a module of the same name was loaded from another file, it is not replaced.
    """
    file = Path(directory, name).resolve()
    if not file.is_file():
        raise InvalidInput(f"target = {spec!r}: there is no file {name} in {directory}")
    root, words = file.parent, [file.stem]
    while (root / "__init__.py").is_file():
        root, words = root.parent, [root.name, *words]
    _look_in(str(root))
    full = ".".join(words)
    known = sys.modules.get(full)
    if known is not None and getattr(known, "__file__", None) != str(file):
        full = f"{full}_{zlib.crc32(str(file).encode()):08x}"
    elif len(words) > 1:
        return importlib.import_module(full)
    if full in sys.modules:
        return sys.modules[full]
    found = importlib.util.spec_from_file_location(full, file)
    assert found is not None
    assert found.loader is not None
    module = sys.modules[full] = importlib.util.module_from_spec(found)
    try:
        found.loader.exec_module(module)
    except BaseException:
        del sys.modules[full]
        raise
    return module


class TimeLimitError(Exception):
    """Raised inside of the target when the time limit of a draw is over.

    The class is an `Exception`, because libraries in C that call back into Python (OpenDP is one) catch instances of
    `Exception` before they return to C, and crash at other exceptions.
    """


class InsistentTimeLimitError(BaseException):
    """Raised inside of the target when the time limit of a draw is over and the target has caught a `TimeLimitError`.

    A clause `except Exception` in the target does not catch this exception.
    """


def _has_limit() -> bool:
    return hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()


# whenever the time limit interrupts a draw of this process, this function is called with the limit in seconds
stopped: ContextVar[Callable[[float], None]] = ContextVar("stopped", default=lambda seconds: None)


@dataclass
class _Limit:
    """A flag that says whether an alarm may interrupt at this moment.

    An alarm may interrupt only while the block of code runs, and not while the timer is set or cleared.
    """

    armed: bool = False


def _ignores_exceptions(frame: FrameType | None) -> bool:
    """Return whether a finaliser or a callback of the garbage collector runs, whose exceptions Python ignores."""
    callbacks = {getattr(callback, "__code__", None) for callback in gc.callbacks}
    running = [called.f_code for called, _ in traceback.walk_stack(frame)]
    return any(code in callbacks or code.co_name == "__del__" for code in running)


@contextlib.contextmanager
def _alarms(seconds: float) -> Iterator[_Limit]:
    """Raise an exception in the `with` block after `seconds`, and raise exceptions repeatedly from then on.

    The `with` statement gives the block an object. No exception is raised while the attribute `armed` of this object is
    false.
    """
    limit, raised = _Limit(), 0

    def interrupt(signum: int, frame: FrameType | None) -> None:
        nonlocal raised
        if not limit.armed:
            return
        late = time.monotonic() - start > LONGEST_DELAY * seconds
        if must_finish() or (_ignores_exceptions(frame) and not late):
            signal.setitimer(signal.ITIMER_REAL, AGAIN, seconds)
            return
        raised += 1
        kind = TimeLimitError if raised == 1 else InsistentTimeLimitError
        raise kind(f"no output after {seconds:g} s")

    start = time.monotonic()
    set_deadline(seconds)
    previous = signal.signal(signal.SIGALRM, interrupt)
    # the timer repeats the interruption, because the target may catch the first exception
    left, interval = signal.setitimer(signal.ITIMER_REAL, seconds, seconds)
    try:
        yield limit
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
        clear_deadline()
        if raised:
            stopped.get()(seconds)
        if left:  # other code, such as pytest-timeout, had set the timer
            signal.setitimer(signal.ITIMER_REAL, max(left - (time.monotonic() - start), 1e-6), interval)


def within(seconds: float, function: Callable[[], Any]) -> Any:
    """Call the function and return its result; after `seconds`, interrupt the function repeatedly.

    No limit is set without SIGALRM, or outside of the main thread. A function that catches every interruption goes on;
    the command `covassay audit` ends the process of such a function.
    """
    if not _has_limit():
        return function()
    with _alarms(seconds) as limit:
        # Python runs signal handlers at calls and in loops, so no alarm comes here after the function has ended
        try:
            limit.armed = True
            return function()
        finally:
            limit.armed = False


def call(
    target: Target, x: Matrix, budget: dict[str, Any], rng: np.random.Generator, seconds: float
) -> tuple[Any, float]:
    """Make one draw, and return the raw output or a `Failure`, with the time in seconds."""
    output, elapsed, _ = observed_call(target, x, budget, rng, seconds)
    return output, elapsed


def observed_call(
    target: Target, x: Matrix, budget: dict[str, Any], rng: np.random.Generator, seconds: float
) -> tuple[Any, float, Changed]:
    """Make one draw as `call` does, and also return the changes that the draw made to the state of the process."""
    limit = seconds + (target.starting() if target.starting else 0.0)
    start = time.perf_counter()
    output: Any
    changed = Changed()
    try:
        with put_back() as changed:
            output = within(limit, lambda: target.draw(x, rng=rng, **budget))
    except (KeyboardInterrupt, OutOfStep):
        raise
    except BaseException as error:
        output = _failure(error, time.perf_counter() - start, limit, seconds)
    elapsed = time.perf_counter() - start
    # the target caught the exception of the interruption
    if elapsed > limit and _has_limit() and not isinstance(output, Failure):
        output = _failure(TimeLimitError(), elapsed, limit, seconds)
    return output, elapsed, changed


def ran_out_of_time(error: BaseException, elapsed: float, seconds: float) -> bool:
    """Return whether the time limit ended a draw.

    An error after almost all of the time counts as a time-out, because the target may turn the interruption into an
    error of its own.
    """
    return isinstance(error, TimeLimitError | InsistentTimeLimitError) or elapsed >= seconds * ALMOST


def _failure(error: BaseException, elapsed: float, limit: float, seconds: float) -> Failure:
    if ran_out_of_time(error, elapsed, limit):
        return Failure("time-out", f"no output after {seconds:g} s")
    if isinstance(error, NoReply):
        return Failure(error.kind, error.message)
    return Failure("exit" if isinstance(error, SystemExit) else "exception", type(error).__name__)


def _as_array(output: Any) -> Any:
    with put_back(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.array(output, subok=False)


def well_formed(output: Any, shape: tuple[int, ...]) -> Matrix | Failure:
    """Return the output as a finite float64 array of the given shape, or a description of what is wrong with it."""
    if isinstance(output, Failure):
        return output
    try:
        array = np.asarray(output) if type(output) in PLAIN else _as_array(output)
    except (Exception, SystemExit) as error:
        return Failure("malformed", f"not an array ({type(error).__name__})")
    if array.shape != shape:
        return Failure("malformed", f"shape {array.shape} in place of {shape}")
    if array.dtype.kind not in "biuf":
        return Failure("malformed", f"entries of type {array.dtype} in place of real numbers")
    with np.errstate(all="ignore"):
        values = array.astype(np.float64)
    if not np.isfinite(values).all():
        return Failure("malformed", NOT_FINITE)
    return values


def require_seconds(value: float) -> float:
    """Check that a time limit is more than 0 seconds, and return it."""
    if not (math.isfinite(value) and value > 0):
        raise InvalidInput(f"time_limit = {value!r}: must be a number of seconds above 0")
    return float(value)
