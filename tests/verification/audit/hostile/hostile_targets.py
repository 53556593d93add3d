"""Functions that try to disturb an audit in many ways. Each function also violates its claim of ε = 1."""

import array
import asyncio
import atexit
import builtins
import contextlib
import ctypes
import decimal
import gc
import itertools
import json
import locale
import logging
import math
import os
import random
import resource
import signal
import subprocess
import sys
import threading
import time
import traceback
import types
import warnings
import weakref
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from scipy import sparse

HOSTILE: dict[str, Callable[..., Any]] = {}
DEADLY: dict[str, Callable[..., Any]] = {}
calls = 0
kept: list[Any] = []


def bare(x, rng):
    """Return the second moment with far too little noise."""
    return x.T @ x / len(x) + 1e-6 * rng.standard_normal((x.shape[1], x.shape[1]))


def register(where, name, body):
    """Define a target that returns the result of `body`, or a nearly noiseless release if the result is None."""

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
    """An object whose conversion to an array runs the function `act`."""

    def __init__(self, act):
        self.act = act

    def __array__(self, dtype=None, copy=None):
        return self.act()


class StrangeArray(np.ndarray):
    """An array whose comparison with anything returns True."""

    def __eq__(self, other):
        return True

    __hash__ = None


class Sequence:
    """A sequence of a given length whose items are all the same object."""

    def __init__(self, length, item):
        self.length, self.item = length, item

    def __len__(self):
        return self.length

    def __getitem__(self, i):
        return self.item


class Overridden:
    """An object for which every numpy function raises an error."""

    def __array_function__(self, *arguments):
        raise ZeroDivisionError

    __array_ufunc__ = __array_function__


class ExitsWhenFreed:
    """An object that exits the process when it is deleted."""

    def __del__(self):
        sys.exit(0)


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
    "a_liar_that_is_late": lambda y: Liar(lambda: time.sleep(0.1)),
    "a_sparse_matrix": sparse.csr_matrix,
    "a_matrix": np.asmatrix,
    "no_axis": lambda y: np.array(1.0),
    "twelve_axes": lambda y: y.reshape((1,) * 10 + y.shape),
    "a_bytearray": lambda y: bytearray(y.tobytes()),
    "a_view_of_memory": lambda y: memoryview(y),
    "an_array_of_the_standard_library": lambda y: array.array("d", y.ravel()),
    "an_array_of_c": lambda y: (ctypes.c_double * y.size)(*y.ravel()),
    "a_range": lambda y: range(len(y)),
    "a_module": lambda y: math,
    "a_mapping_that_cannot_be_changed": lambda y: types.MappingProxyType({"output": y}),
    "a_weak_reference": weakref.ref,
    "numbers_as_text": lambda y: [[repr(v) for v in row] for row in y.tolist()],
    "not_a_time": lambda y: np.full(y.shape, "NaT", dtype="datetime64[s]"),
    "arrays_in_an_array": lambda y: np.array([[y, None], [None, y]], dtype=object)[: len(y), : len(y)],
    "the_other_byte_order": lambda y: y.astype(">f8") if sys.byteorder == "little" else y.astype("<f8"),
    "unsigned_bytes": lambda y: (y * 1000).astype(np.int64).astype(np.uint8),
    "a_sequence_of_negative_length": lambda y: Sequence(-1, y),
    "a_sequence_that_is_too_long": lambda y: Sequence(sys.maxsize, 1.0),
    "an_iterator_without_end": lambda y: itertools.repeat(1.0),
    "an_object_that_overrides_numpy": lambda y: Overridden(),
    "another_shape_every_time": lambda y: y[: kept.append(None) or len(kept) % 3],
    "another_type_every_time": lambda y: (y, y.tolist(), str(y), None)[kept.append(None) or len(kept) % 4],
    "lists_a_hundred_deep": lambda y: [itertools.accumulate(range(100), lambda inner, _: [inner], initial=y)][:1],
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
def raises_a_message_of_megabytes(x, rng):
    raise ValueError("x" * 5_000_000)


@hostile
def raises_control_characters(x, rng):
    raise ValueError("\x1b[2J\x00\n\ud800]]>")


@hostile
def raises_another_error_every_time(x, rng):
    kept.append(None)
    raise type(f"Error{len(kept)}", (Exception,), {})(len(kept))


@hostile
def raises_its_own_cause(x, rng):
    first, second = ValueError(1), ValueError(2)
    first.__cause__, second.__cause__ = second, first
    raise first


@hostile
def raises_groups_in_groups(x, rng):
    error = ValueError()
    for _ in range(200):
        error = BaseExceptionGroup("one more", [error])
    raise error


@hostile
def raises_what_cannot_be_pickled(x, rng):
    raise ValueError(threading.Lock(), lambda: None)


@hostile
def raises_while_it_raises(x, rng):
    try:
        raise ValueError
    finally:
        raise asyncio.CancelledError


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


@hostile
def changes_how_numbers_are_printed(x, rng):
    np.set_printoptions(precision=0, threshold=1, legacy="1.13")


@hostile
def changes_the_decimal_context(x, rng):
    decimal.getcontext().prec = 1


@hostile
def leaves_a_call_back_for_errors(x, rng):
    np.seterrcall(lambda *error: fail(ValueError(error)))


@hostile
def replaces_its_generator(x, rng):
    rng.__init__(np.random.PCG64(0))


@hostile
def runs_an_event_loop(x, rng):
    asyncio.run(asyncio.sleep(0))


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


@hostile
def leaves_threads_that_print(x, rng):
    threading.Timer(0.001, print, ["a line of a thread"]).start()


@hostile
def sets_an_alarm(x, rng):
    signal.setitimer(signal.ITIMER_REAL, 0.001)
    time.sleep(0.002)


# FUNCTIONS THAT END OR DAMAGE THE PROCESS


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
    )  # a call through PyDLL does not release the interpreter's lock
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


@deadly
def ends_well_at_exit(x, rng):
    atexit.register(os._exit, 0)


@deadly
def ends_well_when_freed(x, rng):
    kept.append(ExitsWhenFreed())
    kept.clear()


@deadly
def stops_itself(x, rng):
    os.kill(os.getpid(), signal.SIGSTOP)


@deadly
def leaves_a_process_that_holds_the_streams(x, rng):
    if not kept:
        kept.append(subprocess.Popen(["sleep", "20"]))


@deadly
def writes_to_the_file_of_the_output(x, rng):
    os.write(1, b'{"verdict": "NOT REFUTED", "exit_status": 0}\n')


@deadly
def fills_the_file_of_the_errors(x, rng):
    if len(kept) < 3:
        kept.append(os.write(2, b"x" * 1_000_000))


@deadly
def closes_the_file_of_the_output(x, rng):
    with contextlib.suppress(OSError):
        os.close(1)


@deadly
def makes_the_output_another_file(x, rng):
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.close(null)


@deadly
def destroys_json(x, rng):
    json.dumps = json.dump = lambda *values, **options: '{"verdict": "NOT REFUTED", "exit_status": 0}'


@deadly
def destroys_the_clock(x, rng):
    time.monotonic = time.perf_counter = time.time = lambda: 0.0


@deadly
def destroys_signals(x, rng):
    signal.signal = signal.setitimer = lambda *arguments: None


@deadly
def destroys_printing(x, rng):
    builtins.print = builtins.open = None


@deadly
def destroys_exit(x, rng):
    sys.exit = os._exit = builtins.exit = lambda *status: None


@deadly
def forgets_every_module(x, rng):
    sys.modules.clear()


@deadly
def forgets_every_path(x, rng):
    sys.path.clear()


@deadly
def clears_the_whole_environment(x, rng):
    os.environ.clear()


@deadly
def allows_no_recursion(x, rng):
    sys.setrecursionlimit(len(traceback.extract_stack()) + 5)


@deadly
def traces_every_line(x, rng):
    sys.settrace(lambda *event: fail(ValueError("traced")))


@deadly
def profiles_every_call(x, rng):
    sys.setprofile(lambda *event: None)


@deadly
def raises_in_the_collector(x, rng):
    gc.callbacks.append(lambda *event: fail(ValueError("collected")))


@deadly
def changes_the_language(x, rng):
    with contextlib.suppress(locale.Error):
        locale.setlocale(locale.LC_ALL, "C.UTF-8")
    locale.getpreferredencoding = lambda *setting: "ascii"


@deadly
def hides_the_uncaught(x, rng):
    sys.excepthook = threading.excepthook = lambda *error: os._exit(0)
    raise ValueError


@deadly
def exits_in_a_finalizer(x, rng):
    weakref.finalize(rng, os._exit, 0)


@deadly
def forks_and_lets_the_child_answer(x, rng):
    if not kept and os.fork():
        os._exit(0)
    kept.append(None)


@deadly
def allows_no_more_files(x, rng):
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))


@deadly
def allows_no_file_to_grow(x, rng):
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
