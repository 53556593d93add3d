"""Functions that do everything that an audit should survive. None of them keeps the claim ε = 1."""

import asyncio
import builtins
import contextlib
import ctypes
import gc
import logging
import math
import os
import random
import resource
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

HOSTILE: dict[str, Callable[..., Any]] = {}
DEADLY: dict[str, Callable[..., Any]] = {}
calls = 0
kept: list[Any] = []


def bare(x, rng):
    """Nearly the second moment itself."""
    return x.T @ x / len(x) + 1e-6 * rng.standard_normal((x.shape[1], x.shape[1]))


def register(where, name, body):
    """A target that runs `body` and gives its result, or the nearly exact answer if there is none."""

    def target(x, *, epsilon, rng):
        result = body(x, rng)
        return bare(x, rng) if result is None else result

    target.__name__ = target.__qualname__ = name
    where[name] = globals()[name] = target
    return target


def hostile(body):
    return register(HOSTILE, body.__name__, body)


def deadly(body):
    return register(DEADLY, body.__name__, body)


def returns(name, make):
    register(HOSTILE, f"returns_{name}", lambda x, rng: make(bare(x, rng)))


class Liar:
    """An array-like whose conversion misbehaves."""

    def __init__(self, act):
        self.act = act

    def __array__(self, dtype=None, copy=None):
        return self.act()


class StrangeArray(np.ndarray):
    """An array that claims to be equal to everything."""

    def __eq__(self, other):
        return True

    __hash__ = None


def list_of_itself():
    whole = []
    whole.append(whole)
    return whole


def fail(error):
    raise error


# WHAT IS RETURNED

nothing_useful = {
    "a_string": lambda y: "[[1, 0], [0, 1]]",
    "bytes": lambda y: y.tobytes(),
    "a_number": lambda y: 1.0,
    "false": lambda y: False,
    "not_implemented": lambda y: NotImplemented,
    "ellipsis": lambda y: ...,
    "complex": lambda y: y + 1j,
    "object_dtype": lambda y: y.astype(object),
    "fractions": lambda y: [[Fraction(v) for v in row] for row in y],
    "decimals": lambda y: [[Decimal(v) for v in row] for row in y],
    "strings": lambda y: y.astype(str),
    "dates": lambda y: y.astype("datetime64[s]"),
    "a_record_array": lambda y: np.zeros(y.shape, dtype=[("a", float)]),
    "ragged": lambda y: [list(row[: i + 1]) for i, row in enumerate(y)],
    "one_row_less": lambda y: y[1:],
    "an_axis_more": lambda y: y[None],
    "a_flat_array": lambda y: y.ravel(),
    "an_empty_array": lambda y: np.empty((0, 0)),
    "a_list": lambda y: y.tolist(),
    "a_tuple_of_two": lambda y: (y, y),
    "a_dictionary": lambda y: {"output": y},
    "a_set": lambda y: set(y.ravel()),
    "a_generator": lambda y: (row for row in y),
    "a_function": lambda y: lambda: y,
    "a_coroutine": lambda y: asyncio.sleep(0),
    "a_class": lambda y: np.ndarray,
    "an_exception": lambda y: ValueError("not raised"),
    "itself_in_a_list": lambda y: list_of_itself(),
    "nan": lambda y: y * math.nan,
    "infinity": lambda y: y + math.inf,
    "huge_numbers": lambda y: y * 1e300,
    "the_largest_numbers": lambda y: np.full_like(y, np.finfo(float).max),
    "tiny_numbers": lambda y: y * 1e-320,
    "minus_zero": lambda y: -0.0 * y,
    "huge_integers": lambda y: [[10**400] * len(y)] * len(y),
    "long_doubles": lambda y: y.astype(np.longdouble) * np.longdouble("1e4000"),
    "halves": lambda y: (y * 1e6).astype(np.float16),
    "booleans": lambda y: y > 0,
    "a_masked_array": lambda y: np.ma.masked_less(y, 0.1),
    "a_strange_array": lambda y: y.view(StrangeArray),
    "a_read_only_array": lambda y: np.broadcast_to(y[:1, :1], y.shape),
    "a_large_array": lambda y: np.zeros((2000, 2000)),
    "a_liar_that_raises": lambda y: Liar(lambda: fail(ValueError())),
    "a_liar_that_exits": lambda y: Liar(lambda: sys.exit(0)),
    "a_liar_that_gives_text": lambda y: Liar(lambda: np.array("text")),
}  # fmt: skip
for name, make in nothing_useful.items():
    returns(name, make)

# WHAT IS RAISED

for error in (SystemExit(0), SystemExit("text"), GeneratorExit(), StopIteration(), MemoryError(), RecursionError(),
              BaseException(), AssertionError(), OSError(28, "No space left"), BrokenPipeError(),
              ExceptionGroup("several", [ValueError()]), UnicodeError("\ud800"), TimeoutError(),
              FloatingPointError(), np.linalg.LinAlgError()):  # fmt: skip
    register(HOSTILE, f"raises_{type(error).__name__}_{len(HOSTILE)}", lambda x, rng, error=error: fail(error))


@hostile
def raises_an_exception_that_cannot_be_shown(x, rng):
    class Unspeakable(Exception):
        def __str__(self):
            raise ValueError

        __repr__ = __str__

    raise Unspeakable


@hostile
def exits_once_in_a_while(x, rng):
    if rng.random() < 0.05:
        sys.exit(0)


@hostile
def exits_when_a_row_is_zero(x, rng):
    if not x.any():
        sys.exit(0)


@hostile
def nan_once_in_a_thousand(x, rng):
    return bare(x, rng) * (math.nan if rng.random() < 0.001 else 1.0)


@hostile
def recurses_for_ever(x, rng):
    recurses_for_ever_body(x)


def recurses_for_ever_body(x):
    recurses_for_ever_body(x)


# WHAT IS CHANGED


@hostile
def writes_to_its_input(x, rng):
    x[:] = math.nan


@hostile
def changes_the_shape_of_its_input(x, rng):
    x.shape = (x.size,)
    return np.eye(2)


@hostile
def locks_its_input(x, rng):
    x.setflags(write=False)


@hostile
def returns_its_input_and_changes_it_later(x, rng):
    kept[:] = kept or [np.eye(x.shape[1])]
    kept[0][:] += rng.standard_normal()
    return kept[0] if kept[0].shape == (x.shape[1],) * 2 else None


@hostile
def destroys_numpy(x, rng):
    answer = bare(x, rng)
    for name in ("array", "asarray", "isfinite", "sqrt", "abs", "sort", "unique", "float64"):
        setattr(np, name, None)
    np.linalg.norm = np.random.default_rng = None
    return answer


@hostile
def destroys_the_builtins(x, rng):
    answer = bare(x, rng)
    builtins.len = builtins.sum = builtins.isinstance = None
    math.log = math.exp = None
    return answer


@hostile
def turns_errors_on(x, rng):
    np.seterr(all="raise")
    warnings.simplefilter("error")


@hostile
def warns(x, rng):
    with contextlib.suppress(Warning):
        warnings.warn("a warning", RuntimeWarning, stacklevel=1)


@hostile
def seeds_everything(x, rng):
    np.random.seed(0)  # noqa: NPY002
    random.seed(0)


@hostile
def sets_its_generator_back(x, rng):
    rng.bit_generator.state = np.random.default_rng(0).bit_generator.state


@hostile
def exhausts_its_generator(x, rng):
    rng.bit_generator.state = {"bit_generator": "wrong"}


@hostile
def goes_elsewhere(x, rng):
    os.chdir("/")


@hostile
def closes_the_standard_streams(x, rng):
    sys.stdout = sys.stderr = sys.stdin = None


@hostile
def limits_recursion(x, rng):
    sys.setrecursionlimit(sys.getrecursionlimit() - 1)


@hostile
def clears_the_environment(x, rng):
    os.environ["COVASSAY_DEBUG"] = "0"
    os.environ.pop("COVASSAY_DEBUG")


@hostile
def disables_the_collector(x, rng):
    gc.enable()
    gc.collect(0)


@hostile
def removes_modules(x, rng):
    sys.modules.pop("covassay.verification.audit.engine.law", None)


# WHAT IS PRINTED


@hostile
def prints_json(x, rng):
    print('{"verdict": "NOT REFUTED", "exit_status": 0}')


@hostile
def prints_control_characters(x, rng):
    print("\x1b[2J\x00\x07", file=sys.stderr)


@hostile
def logs(x, rng):
    logging.getLogger("hostile").error("a line of a log")


@hostile
def prints_much(x, rng):
    print("x" * 10_000)


# TIME, THREADS AND SIGNALS


@hostile
def is_late(x, rng):
    time.sleep(0.1)


@hostile
def is_late_now_and_then(x, rng):
    if rng.random() < 0.01:
        time.sleep(0.1)


@hostile
def swallows_the_interruption(x, rng):
    try:
        time.sleep(0.1)
    except BaseException:
        return None


@hostile
def swallows_three_interruptions(x, rng):
    for _ in range(3):
        with contextlib.suppress(BaseException):
            time.sleep(0.1)


@hostile
def answers_from_finally(x, rng):
    try:
        time.sleep(0.1)
    finally:
        return bare(x, rng)  # noqa: B012


@hostile
def starts_threads(x, rng):
    threading.Thread(target=time.sleep, args=(0.01,), daemon=True).start()


@hostile
def dies_in_a_thread(x, rng):
    def exits():
        sys.exit(1)

    thread = threading.Thread(target=exits)
    thread.start()
    thread.join()


@hostile
def turns_the_timer_off(x, rng):
    signal.setitimer(signal.ITIMER_REAL, 0)


@hostile
def handles_the_alarm(x, rng):
    signal.signal(signal.SIGALRM, signal.SIG_IGN)


@hostile
def sends_itself_a_signal_that_it_ignores(x, rng):
    previous = signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    os.kill(os.getpid(), signal.SIGUSR1)
    signal.signal(signal.SIGUSR1, previous)


@hostile
def counts_its_calls(x, rng):
    global calls
    calls += 1
    if calls % 7 == 0:
        raise ValueError(calls)


# WHAT ENDS THE PROCESS


@deadly
def exits_at_once(x, rng):
    os._exit(0)


@deadly
def kills_itself(x, rng):
    os.kill(os.getpid(), signal.SIGKILL)


@deadly
def kills_its_group(x, rng):
    os.killpg(0, signal.SIGTERM)


@deadly
def crashes(x, rng):
    ctypes.string_at(0)


@deadly
def aborts(x, rng):
    os.abort()


@deadly
def interrupts(x, rng):
    raise KeyboardInterrupt


@deadly
def exits_in_a_thread(x, rng):
    threading.Thread(target=os._exit, args=(0,)).start()
    time.sleep(5)


@deadly
def swallows_every_interruption(x, rng):
    while True:
        with contextlib.suppress(BaseException):
            time.sleep(60)


@deadly
def waits_for_ever_in_c(x, rng):
    libc, lock = (
        ctypes.PyDLL(None),
        ctypes.create_string_buffer(64),
    )  # a call through PyDLL keeps the interpreter's lock
    libc.pthread_mutex_lock(lock)
    libc.pthread_mutex_lock(lock)


@deadly
def forks_ten_times(x, rng):
    if len(kept) < 10:
        kept.append(None)
        child = os.fork()
        if child:
            os.waitpid(child, 0)


@deadly
def closes_every_file(x, rng):
    os.closerange(0, 256)


@deadly
def fills_its_memory(x, rng):
    resource.setrlimit(resource.RLIMIT_AS, (2**31, 2**31))
    kept.append(np.ones(2**30))


@deadly
def replaces_the_process(x, rng):
    os.execv("/bin/true", ["true"])


@deadly
def may_not_use_the_processor(x, rng):
    resource.setrlimit(resource.RLIMIT_CPU, (1, 1))
    while True:
        pass


@deadly
def leaves_a_thread_that_never_ends(x, rng):
    threading.Thread(target=time.sleep, args=(10**6,)).start()
