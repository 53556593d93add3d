"""Negative controls that are wrong by 3 % for data of some types, or after some earlier calls."""

from collections.abc import Callable
from typing import Any

import numpy as np

from covassay.reference.domain import Matrix, row_norms
from covassay.reference.mechanisms.registry import mechanism
from covassay.verification.audit.engine.ways import NAME_OF_FORMS, NAME_OF_PROCESS, NAME_OF_STATE
from tests.negative_controls.broken import noise_of, times
from tests.negative_controls.negative_control import NegativeControl

LESS = 0.97
BY_PROCESS = (("contract", NAME_OF_PROCESS),)
BY_FORM, BY_STATE = (("contract", NAME_OF_FORMS),), (("contract", NAME_OF_STATE),)
# a function that maps (data as given, budget) to whether the result is wrong
Odd = Callable[[Any, dict[str, Any]], bool]


def _asked(
    name: str, mechanism_name: str, mistake: str, odd: Odd, caught_by: tuple[tuple[str, str], ...] = BY_FORM
) -> NegativeControl:
    """Return a negative control whose noise is 3 % too small in each call for which the function `odd` returns True."""
    declared = mechanism(mechanism_name)

    def draw(x: Any, *, rng: np.random.Generator, **budget: Any) -> Any:
        less = odd(x, budget)
        rows = np.asarray(x, dtype=np.float64)
        z = noise_of(declared, rows, rng, budget)
        return declared.release(rows, times(LESS)(z, rng, rows) if less else z, **budget)

    return NegativeControl(name, mistake, mechanism_name, caught_by, draw)


def _misread(name: str, mechanism_name: str, mistake: str, read: Callable[[Any], Matrix]) -> NegativeControl:
    """Return a mechanism that gets the data read(x) in place of x."""
    declared = mechanism(mechanism_name)

    def draw(x: Any, *, rng: np.random.Generator, **budget: Any) -> Any:
        return declared.sample(np.array(read(x), dtype=np.float64), rng, **budget)

    return NegativeControl(name, mistake, mechanism_name, BY_FORM, draw)


# FORMS


def is_float32(x: Any, budget: dict[str, Any]) -> bool:
    """Return whether the data are in single precision."""
    return getattr(x, "dtype", None) == np.float32


def is_fortran(x: Any, budget: dict[str, Any]) -> bool:
    """Return whether the columns are contiguous in memory."""
    return isinstance(x, np.ndarray) and x.flags.f_contiguous and not x.flags.c_contiguous


def is_view(x: Any, budget: dict[str, Any]) -> bool:
    """Return whether neither rows nor columns are contiguous in memory."""
    return isinstance(x, np.ndarray) and not x.flags.forc


def is_read_only(x: Any, budget: dict[str, Any]) -> bool:
    """Return whether the data must not be written to."""
    return isinstance(x, np.ndarray) and not x.flags.writeable


def is_list(x: Any, budget: dict[str, Any]) -> bool:
    """Return whether the data are a list."""
    return isinstance(x, list)


def is_frame(x: Any, budget: dict[str, Any]) -> bool:
    """Return whether the data are a data frame."""
    return hasattr(x, "columns")


def is_swapped(x: Any, budget: dict[str, Any]) -> bool:
    """Return whether the bytes of the numbers are in the non-native order."""
    return isinstance(x, np.ndarray) and not x.dtype.isnative


def is_whole(x: Any, budget: dict[str, Any]) -> bool:
    """Return whether the data are an integer array."""
    return isinstance(x, np.ndarray) and x.dtype.kind == "i"


def has_whole_budget(x: Any, budget: dict[str, Any]) -> bool:
    """Return whether the budget is an int."""
    return any(isinstance(value, int) for value in budget.values())


def has_budget_of_numpy(x: Any, budget: dict[str, Any]) -> bool:
    """Return whether a value of the budget is a NumPy float."""
    return any(isinstance(value, np.floating) for value in budget.values())


def in_memory_order(x: Any) -> Matrix:
    """Read the numbers in the order in which they are stored."""
    array = np.asarray(x)
    return array.ravel(order="K").reshape(array.shape)


def long_in_single(x: Any) -> Matrix:
    """Multiply rows in single precision by 1.015."""
    return np.asarray(x, dtype=np.float64) * (1.015 if is_float32(x, {}) else 1.0)


def without_last_of_lists(x: Any) -> Matrix:
    """Replace the last row of a list by zeros."""
    array = np.array(x, dtype=np.float64)
    if isinstance(x, list):
        array[-1] = 0
    return array


def without_first_of_frames(x: Any) -> Matrix:
    """Replace the first row of a data frame by the second."""
    array = np.array(x, dtype=np.float64)
    if is_frame(x, {}) and len(array) > 1:
        array[0] = array[1]
    return array


# STATE


class AfterData:
    """A function that tells whether the data of the previous call, or of any earlier call, satisfied a condition."""

    def __init__(self, sort: Callable[[Matrix], bool], ever: bool = False) -> None:
        self.sort, self.ever, self.before = sort, ever, False

    def __call__(self, x: Any, budget: dict[str, Any]) -> bool:
        """Return whether the data of the previous call satisfied the condition `self.sort`, and store whether the
        present data satisfy it. If `self.ever` is true, return whether the data of any earlier call satisfied the
        condition.
        """
        before, rows = self.before, np.asarray(x, dtype=np.float64)
        self.before = self.sort(rows) or (self.ever and before)
        return before


class AfterAnother:
    """A function that tells whether a property of the call differs from that of the previous call."""

    def __init__(self, figure: Callable[[Matrix, dict[str, Any]], Any]) -> None:
        self.figure, self.last = figure, None

    def __call__(self, x: Any, budget: dict[str, Any]) -> bool:
        """Return whether `self.figure` has another value for this call than for the previous call."""
        last, self.last = self.last, self.figure(np.asarray(x, dtype=np.float64), budget)
        return last is not None and last != self.last


class Running:
    """Replace the rows by 0.95 times the rows plus 0.05 times the rows of the previous call, if the shapes agree."""

    def __init__(self) -> None:
        self.last: Matrix | None = None

    def __call__(self, x: Any) -> Matrix:
        """Return the rows that the mechanism gets in place of the given rows: 0.95 times the given rows plus 0.05 times
        the rows of the previous call. Store the given rows for the next call.
        """
        rows = np.array(x, dtype=np.float64)
        mixed = rows if self.last is None or self.last.shape != rows.shape else 0.95 * rows + 0.05 * self.last
        self.last = rows
        return mixed


def _running(mechanism_name: str) -> NegativeControl:
    declared, running = mechanism(mechanism_name), Running()

    def draw(x: Any, *, rng: np.random.Generator, **budget: Any) -> Any:
        return declared.sample(running(x), rng, **budget)

    return NegativeControl(f"{mechanism_name}-running-rows", Running.__doc__ or "", mechanism_name, BY_STATE, draw)


def has_long(x: Matrix) -> bool:
    """Return whether a row has a norm above 10."""
    return bool(row_norms(x).max(initial=0.0) > 10)


def is_empty(x: Matrix) -> bool:
    """Return whether all rows are zero."""
    return not x.any()


def all_equal(x: Matrix) -> bool:
    """Return whether there are several rows, all equal and not zero."""
    return len(x) > 1 and bool(np.ptp(x, axis=0).max() == 0 and x.any())


def _after(
    name: str, mechanism_name: str, when: str, odd: Odd, caught_by: tuple[tuple[str, str], ...] = BY_STATE
) -> NegativeControl:
    return _asked(name, mechanism_name, f"Reduce the noise by 3 % {when}.", odd, caught_by)


NEGATIVE_CONTROLS = (
    _asked("single-precision-less", "gauss-cov", "Reduce the noise by 3 % for float32.", is_float32),
    _asked("fortran-order-less", "laplace", "Reduce the noise by 3 % for data in Fortran order.", is_fortran),
    _asked("views-less", "gaussian", "Reduce the noise by 3 % for array views that are not contiguous.", is_view),
    _asked("read-only-less", "private-trace", "Reduce the noise by 3 % for data that are read-only.", is_read_only),
    _asked("lists-less", "gauss-cov", "Reduce the noise by 3 % if the data are a Python list.", is_list),
    _asked("frames-less", "lap-cov", "Reduce the noise by 3 % for data frames.", is_frame),
    _asked("swapped-bytes-less", "gaussian", "Reduce the noise by 3 % for numbers with swapped bytes.", is_swapped),
    _asked("whole-numbers-less", "laplace", "Reduce the noise by 3 % for integer arrays.", is_whole),
    _asked("whole-budget-less", "lap-cov", "Reduce the noise by 3 % if the budget is an int.", has_whole_budget),
    _asked("budget-of-numpy-less", "laplace", "Reduce the noise by 3 % if ε is a NumPy float.", has_budget_of_numpy),
    _asked("separate-single-precision-less", "separate-cov", "Reduce the noise by 3 % for float32.", is_float32),
    _asked("separate-frames-less", "separate-cov-pure", "Reduce the noise by 3 % for data frames.", is_frame),
    _asked("coinpress-lists-less", "coinpress-mean", "Reduce the noise by 3 % if the data are a Python list.", is_list),
    _misread("fortran-order-misread", "gauss-cov", in_memory_order.__doc__ or "", in_memory_order),
    _misread("fortran-order-misread-separate", "separate-cov", in_memory_order.__doc__ or "", in_memory_order),
    _misread("single-precision-longer", "laplace", long_in_single.__doc__ or "", long_in_single),
    _misread("list-without-its-end", "private-trace", without_last_of_lists.__doc__ or "", without_last_of_lists),
    _misread("frame-without-its-head", "k-norm", without_first_of_frames.__doc__ or "", without_first_of_frames),
    _after("less-after-another-budget", "lap-cov", "if the previous call had another budget",
           AfterAnother(lambda x, budget: tuple(budget.values()))),
    _after("separate-less-once-a-row-was-long", "separate-cov", "if any earlier call had a row of norm above 10",
           AfterData(has_long, ever=True), BY_PROCESS),
    _after("separate-less-after-zeros", "separate-cov", "if all rows of the previous call were zero",
           AfterData(is_empty)),
    _after("separate-less-after-other-columns", "separate-cov", "if the previous call had another number of columns",
           AfterAnother(lambda x, budget: x.shape[1])),
    _after("separate-less-after-other-rows", "separate-cov-pure", "if the previous call had another number of rows",
           AfterAnother(lambda x, budget: len(x))),
    _after("coinpress-less-after-a-long-row", "coinpress-mean", "if the previous call had a row of norm above 10",
           AfterData(has_long)),
    _after("coinpress-less-after-equal-rows", "coinpress-mean", "if all rows of the previous call were equal",
           AfterData(all_equal)),
    _after("em-less-after-another-budget", "em-cov", "if the previous call had another budget",
           AfterAnother(lambda x, budget: tuple(budget.values()))),
    _running("separate-cov"),
    _running("separate-cov-pure"),
)  # fmt: skip
