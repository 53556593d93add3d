"""Data sets: rows in a Euclidean ball, their second moment, and what neighbours are.

A data set is an array, or `Chunks`, if it does not fit in memory. Mechanisms read their rows through `blocks`,
`map_rows`, `sum_rows` and `second_moment` alone, which treat both alike.

A data set is a matrix `x` of shape (n, d): n records, d features. `n`, `d`, the row bound `r` and
every parameter of a mechanism are public. Two data sets are neighbours (replace-one) when they
have the same n and differ in one row. Mechanisms work on the rows `x_i / r`, clipped to the unit
ball one record at a time, and give their output back in the unit of `x` squared.

Clipping maps neighbours to neighbours, so it costs no privacy. After it the norms are at most 1
up to rounding (a few units in the last place); like everything about float64, that rounding is
outside the guarantees, which are theorems about real numbers.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from covassay.reference.errors import InvalidInput

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]
Number = Any  # what a formula takes: float, Fraction, a sympy expression, an mpmath number, an array
OnLargeRows = Literal["clip", "raise"]


@dataclass(frozen=True)
class Chunks:
    """A data set too large for memory: its shape (n, d), and `start`, which begins a pass over its rows.

    A pass yields arrays of shape (m, d), m ≥ 1, n rows in all, and every pass yields the same rows in the same order.
    """

    shape: tuple[int, int]
    start: Callable[[], Iterator[Matrix]]


Rows = Matrix | Chunks  # what a mechanism works on
DataSet = ArrayLike | Chunks  # what it is given

ROUNDING = 1e-12  # relative excess over the row bound that on_large_rows="raise" forgives


def _is_real(value: object) -> bool:
    """A real number: no boolean, no complex number, no text."""
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def require_positive(name: str, value: float) -> float:
    """Return `value` as a float if it is finite and above 0; raise `InvalidInput` otherwise."""
    if not _is_real(value):
        raise InvalidInput(f"{name} = {value!r}: must be a number")
    try:
        number = float(value)
    except OverflowError:
        raise InvalidInput(f"{name} is an integer beyond the largest float: must be finite") from None
    if not (math.isfinite(number) and number > 0):
        raise InvalidInput(f"{name} = {value!r}: must be finite and greater than 0")
    return number


def require_below_one(name: str, value: float) -> float:
    """Return `value` as a float if it lies strictly between 0 and 1."""
    number = require_positive(name, value)
    if number >= 1:
        raise InvalidInput(f"{name} = {value!r}: must be below 1")
    return number


def require_between(name: str, value: float, low: float, high: float) -> float:
    """Return `value` as a float if it lies in [low, high], for low > 0."""
    number = require_positive(name, value)
    if not low <= number <= high:
        raise InvalidInput(f"{name} = {value!r}: must be between {low:g} and {high:g}")
    return number


def require_row_bound(value: float) -> float:
    """A row bound whose square, the unit of the output, is a normal float."""
    bound = require_positive("row_bound", value)
    if not 1e-150 <= bound <= 1e150:
        raise InvalidInput(f"row_bound = {value!r}: must be between 1e-150 and 1e150, so that its square is a float")
    return bound


def require_dimension(name: str, value: int) -> int:
    """Return `value` as an int if it is a whole number of at least 1."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer):
        raise InvalidInput(f"{name} = {value!r}: must be a whole number")
    if value < 1:
        raise InvalidInput(f"{name} = {value!r}: must be at least 1")
    return int(value)


def require_choice(name: str, value: str, choices: tuple[str, ...]) -> str:
    """Return `value` if it is one of `choices`."""
    if value not in choices:
        raise InvalidInput(f"{name} = {value!r}: must be one of {', '.join(map(repr, choices))}")
    return value


def require_shape(name: str, value: ArrayLike, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Return `value` as a finite float64 array of the given shape."""
    try:
        array = np.asarray(value)
    except (ValueError, TypeError) as error:
        raise InvalidInput(f"{name} cannot be read as an array ({error}): must have shape {shape}") from None
    if array.dtype.kind not in "biuf":
        raise InvalidInput(f"{name} has entries of type {array.dtype}: must be real numbers")
    if array.shape != shape:
        raise InvalidInput(f"{name} of shape {array.shape}: must have shape {shape}")
    numbers = array.astype(np.float64)
    if not np.isfinite(numbers).all():
        raise InvalidInput(f"{name} contains a value that is not finite: every value must be finite")
    return numbers


def require_symmetric(name: str, value: ArrayLike, shape: tuple[int, ...]) -> Matrix:
    """Return `value` as a finite float64 matrix, or stack of matrices, of that shape that equals its transpose."""
    matrix = require_shape(name, value, shape)
    if not np.array_equal(matrix, np.swapaxes(matrix, -1, -2)):
        raise InvalidInput(f"{name} is not symmetric: must equal its transpose")
    return matrix


def blocks(rows: Rows) -> Iterator[Matrix]:
    """One pass over the rows: the whole array, or chunk by chunk."""
    if not isinstance(rows, Chunks):
        yield rows
        return
    seen = 0
    for chunk in rows.start():
        seen += len(chunk)
        yield chunk
    if seen != rows.shape[0]:
        raise InvalidInput(f"x has {seen} rows on this pass: must have {rows.shape[0]} on every pass")


@overload
def map_rows(function: Callable[[Matrix], Matrix], rows: Chunks, dimension: int | None = None) -> Chunks: ...
@overload
def map_rows(function: Callable[[Matrix], Matrix], rows: Matrix, dimension: int | None = None) -> Matrix: ...
def map_rows(function: Callable[[Matrix], Matrix], rows: Rows, dimension: int | None = None) -> Rows:
    """The data set of f(x_i); `function` takes (m, d) to (m, k), k = `dimension` (by default d)."""
    if not isinstance(rows, Chunks):
        return function(rows)
    shape = (rows.shape[0], rows.shape[1] if dimension is None else dimension)
    return Chunks(shape, lambda: (function(chunk) for chunk in blocks(rows)))


def sum_rows(function: Callable[[Matrix], ArrayLike], rows: Rows) -> Any:
    """Σ over the blocks of `function` of a block, which must itself be a sum over rows."""
    total: Any = 0.0
    for block in blocks(rows):
        total = total + np.asarray(function(block))
    return total


def rows_between(rows: Rows, first: int, last: int) -> Rows:
    """Records first, …, last − 1, counted from 0, as a data set of their own; 0 ≤ first < last ≤ n."""
    if not isinstance(rows, Chunks):
        return rows[first:last]

    def start() -> Iterator[Matrix]:
        position = 0
        for chunk in blocks(rows):
            begin, end = max(first - position, 0), min(last - position, len(chunk))
            if begin < end:
                yield chunk[begin:end]
            position += len(chunk)
            if position >= last:
                return

    return Chunks((last - first, rows.shape[1]), start)


def map_groups(function: Callable[[Matrix], Matrix], rows: Rows, size: int) -> Rows:
    """The data set of f(x_1, …, x_k), f(x_{k+1}, …, x_{2k}), …, k = `size` ≤ n; n mod k records at the end go unused.

    `function` takes m groups (m, k, d) to (m, d). One record belongs to one group, so neighbours become neighbours.
    """
    n, d = rows.shape
    groups = n // size
    if not isinstance(rows, Chunks):
        return function(rows[: groups * size].reshape(groups, size, d))

    def start() -> Iterator[Matrix]:
        rest = np.empty((0, d))
        for chunk in blocks(rows):
            waiting = np.concatenate([rest, chunk])
            whole = len(waiting) // size * size
            if whole:
                yield function(waiting[:whole].reshape(-1, size, d))
            rest = waiting[whole:]

    return Chunks((groups, d), start)


@overload
def as_rows(x: Chunks) -> Chunks: ...
@overload
def as_rows(x: ArrayLike) -> Matrix: ...
def as_rows(x: DataSet) -> Rows:
    """Return `x` as a new float64 array of shape (n, d), n >= 1 and d >= 1.

    Takes arrays of integers, booleans or floats of any width, order and stride, nested lists and data
    frames of numbers. The caller's array is never written to.

    Raises
    ------
    InvalidInput : not two-dimensional, no row, no column, not real numbers, NaN or infinity. Whether
        a value is finite is read off the data. Chunks are looked at as they are read.
    """
    if isinstance(x, Chunks):
        require_dimension("the number of rows of x", x.shape[0])
        require_dimension("the number of columns of x", x.shape[1])
        return Chunks(x.shape, lambda: _checked_chunks(x))
    return _as_array(x)


def _checked_chunks(x: Chunks) -> Iterator[Matrix]:
    first = 0
    for chunk in blocks(x):
        rows = _as_array(chunk, first)
        if rows.shape[1] != x.shape[1]:
            raise InvalidInput(f"x has {rows.shape[1]} columns from row {first} on: must have {x.shape[1]}")
        first += len(rows)
        yield rows


def _as_array(x: ArrayLike, first: int = 0) -> Matrix:
    if np.ma.isMaskedArray(x):
        raise InvalidInput("x is a masked array: must have a number in every place")
    try:
        array = np.array(x)  # a copy
    except (ValueError, TypeError) as error:
        raise InvalidInput(f"x cannot be read as a matrix ({error}): must be (n, d) numbers") from None
    if array.ndim != 2:
        raise InvalidInput(f"x has {array.ndim} dimension(s): must have 2, one row per record")
    if min(array.shape) < 1:
        raise InvalidInput(f"x has shape {array.shape}: must have at least one row and one column")
    if array.dtype.kind == "O":  # mixed columns of a data frame, or integers of any length
        if not all(_is_real(entry) or isinstance(entry, bool | np.bool_) for entry in array.flat):
            raise InvalidInput("x has entries that are not numbers: must be real numbers")
        try:
            array = array.astype(np.float64)
        except OverflowError:
            raise InvalidInput("x has an integer beyond the largest float: every entry must be finite") from None
    if array.dtype.kind not in "biuf":
        raise InvalidInput(f"x has entries of type {array.dtype}: must be real numbers")
    rows = np.ascontiguousarray(array, dtype=np.float64)
    if not np.isfinite(rows).all():
        i, j = np.argwhere(~np.isfinite(rows))[0]
        raise InvalidInput(f"x[{first + i}, {j}] = {rows[i, j]}: every entry must be a finite number")
    return rows


def _norm_factors(rows: Matrix) -> tuple[Vector, Vector]:
    """Largest absolute entry of every row, and the norm of the row in units of it; their product can overflow."""
    largest = np.abs(rows).max(axis=1)
    relative: Vector = np.linalg.norm(rows / np.where(largest > 0, largest, 1.0)[:, None], axis=1)
    return largest, relative


def row_norms(rows: Matrix) -> Vector:
    """Euclidean norm of every row; infinite only where the norm itself is beyond the largest float."""
    largest, relative = _norm_factors(rows)
    with np.errstate(over="ignore"):
        norms: Vector = largest * relative
    return norms


@overload
def unit_rows(x: Chunks, row_bound: float = 1.0, on_large_rows: OnLargeRows = "clip") -> Chunks: ...
@overload
def unit_rows(x: ArrayLike, row_bound: float = 1.0, on_large_rows: OnLargeRows = "clip") -> Matrix: ...
def unit_rows(x: DataSet, row_bound: float = 1.0, on_large_rows: OnLargeRows = "clip") -> Rows:
    """Validate `x`, divide it by the row bound, and bring every row into the unit ball.

    Parameters
    ----------
    x : (n, d), in any unit.
    row_bound : r > 0, public, in the unit of `x`.
    on_large_rows : "clip" scales a row longer than r back to length r, one record at a time. "raise"
        raises `InvalidInput` instead; that reads the data, so whether it raises is not private.

    Returns
    -------
    (n, d) float64, dimensionless, rows of norm at most 1 up to rounding.
    """
    r = require_row_bound(row_bound)
    require_choice("on_large_rows", on_large_rows, ("clip", "raise"))
    rows = as_rows(x)
    if isinstance(rows, Chunks):
        return Chunks(rows.shape, lambda: _unit_chunks(rows, r, on_large_rows))
    return _unit(rows, r, on_large_rows)


def _unit_chunks(rows: Chunks, r: float, on_large_rows: OnLargeRows) -> Iterator[Matrix]:
    first = 0
    for chunk in blocks(rows):
        yield _unit(chunk, r, on_large_rows, first)
        first += len(chunk)


def _unit(rows: Matrix, r: float, on_large_rows: OnLargeRows, first: int = 0) -> Matrix:
    norms = row_norms(rows)
    if on_large_rows == "raise" and (norms > r * (1 + ROUNDING)).any():
        i = int(norms.argmax())
        raise InvalidInput(f"x[{first + i}] has norm {norms[i]}: must be at most row_bound = {r}")
    largest, relative = _norm_factors(rows)
    clipped = rows / np.where(largest > 0, largest, 1.0)[:, None] / np.maximum(relative, 1.0)[:, None]
    with np.errstate(over="ignore"):  # only in rows that are clipped
        return np.where((norms > r)[:, None], clipped, rows / r)


def second_moment(rows: Rows) -> Matrix:
    """Σ = (1/n) Σ_i x_i x_iᵀ of shape (d, d), symmetric: the uncentred covariance of the papers."""
    moment: Matrix = sum_rows(lambda block: block.T @ block, rows) / rows.shape[0]
    return (moment + moment.T) / 2
