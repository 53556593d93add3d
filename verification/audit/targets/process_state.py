"""Save and restore the parts of the state of this process that a target can change.

A draw from a target must not change what the audit computes afterwards. Around every draw, the code therefore saves and
restores the working directory, numpy's handling of floating-point errors, the filters of warnings, the standard
streams, the recursion limit and the functions of a few modules. The global random states of numpy and of Python are
restored only when the audit ends. A target may use the global random states of numpy and Python, so these continue from
draw to draw.
"""

import builtins
import contextlib
import math
import os
import random
import sys
import warnings
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np

MODULES: tuple[ModuleType, ...] = (np, np.linalg, np.random, math, builtins)
Names = tuple[list[str], list[Any]]
DIRECTORY = "the working directory"
ERROR_STATE = "numpy's error state"
FILTERS = "the filters for warnings"
STREAMS = "the standard streams"
RECURSION = "the recursion limit"


def _directory() -> str | None:
    try:
        return os.getcwd()
    except OSError:  # another process may have removed the working directory
        return None


class Changed(set[str]):
    """The names of the parts of the state that a target changed and that the code then restored."""


@contextlib.contextmanager
def put_back() -> Iterator[Changed]:
    """Restore the state when the block ends, also after an exception, and report the parts that the block changed.

    If the block forked this process (`os.fork`), the child process exits at the end of the block, so that it does not
    continue the audit.
    """
    process, changed = os.getpid(), Changed()
    directory, errors, recursion = _directory(), np.geterr(), sys.getrecursionlimit()
    filters, shown = warnings.filters, warnings.showwarning
    kept = list(filters)
    streams = sys.stdin, sys.stdout, sys.stderr
    names = [_names(module) for module in MODULES]
    try:
        yield changed
    finally:
        if os.getpid() != process:
            os._exit(0)
        for module, before in zip(MODULES, names, strict=True):
            _put_back_names(module, before, changed)
        if _directory() != directory:
            changed.add(DIRECTORY)
            with contextlib.suppress(OSError):
                os.chdir(directory or os.curdir)
        if np.geterr() != errors:
            changed.add(ERROR_STATE)
            np.seterr(**errors)
        if sys.getrecursionlimit() != recursion:
            changed.add(RECURSION)
            sys.setrecursionlimit(recursion)
        if warnings.filters is not filters or filters != kept or warnings.showwarning is not shown:
            changed.add(FILTERS)
            _put_back_filters(filters, kept, shown)
        if (sys.stdin, sys.stdout, sys.stderr) != streams:
            changed.add(STREAMS)
            sys.stdin, sys.stdout, sys.stderr = streams


_SEEN: dict[ModuleType, Names] = {}  # the names and values of every module when they were last read


def _names(module: ModuleType) -> Names:
    """Return the names of a module with their values."""
    values = list(vars(module).values())
    seen = _SEEN.get(module)
    if seen is None or not _equal(values, seen[1]):
        seen = _SEEN[module] = list(vars(module)), values
    return seen


def _put_back_names(module: ModuleType, before: Names, changed: Changed) -> None:
    now = vars(module)
    keys, values = before
    if _equal(list(now.values()), values):
        return
    for name, value in zip(keys, values, strict=True):
        # names that a module defines later, as some modules do at the first use of a name, are not removed
        if name not in now or now[name] is not value:
            if name != "_":  # in an interactive session, `_` is the value of the last expression
                changed.add(f"{module.__name__}.{name}")
            now[name] = value


def _equal(first: list[Any], second: list[Any]) -> bool:
    try:
        return first == second  # this is fast, because Python finds identical objects equal without comparing them
    except Exception:
        return False


def _put_back_filters(filters: Any, kept: list[Any], shown: Any) -> None:
    warnings.filters = filters
    filters[:] = kept
    warnings.showwarning = shown
    warnings._filters_mutated()  # type: ignore[attr-defined]


@contextlib.contextmanager
def random_states_put_back() -> Iterator[None]:
    """Restore the global random states of numpy and Python when the block ends."""
    of_numpy, of_python = np.random.get_state(), random.getstate()  # noqa: NPY002
    try:
        yield
    finally:
        np.random.set_state(of_numpy)  # noqa: NPY002
        random.setstate(of_python)
