"""Read a data set: validate its rows, clip them to the unit ball, and compute their second moment."""

from collections.abc import Iterator
from functools import partial
from typing import overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from covassay.reference.domain.passes import blocks, sum_rows
from covassay.reference.domain.requirements import (
    is_real,
    require_choice,
    require_count,
    require_dimension,
    require_row_bound,
)
from covassay.reference.domain.types import Chunks, DataSet, Matrix, OnLargeRows, Rows, Vector
from covassay.reference.errors import InvalidInput

NEAR = 1e-9  # a relative distance far above the rounding of a sum of squares of up to 1e6 entries
SMALLEST_PLAIN = 1e-150  # between this number and its inverse, squares neither underflow nor overflow
ROUNDING = 1e-12  # relative excess over the row bound that counts as rounding with on_large_rows="raise"


@overload
def as_rows(x: Chunks, fewest: int = 1) -> Chunks: ...
@overload
def as_rows(x: ArrayLike, fewest: int = 1) -> Matrix: ...
def as_rows(x: DataSet, fewest: int = 1) -> Rows:
    """Return `x` as a new float64 array of shape (n, d), n ≥ `fewest` and d ≥ 1, or as `Chunks` of such arrays.

    The data set `x` may be an array of integers, booleans or floats of any width, order and stride, a nested list, or a
    data frame of numbers. The caller's array is never written to.

    Raises
    ------
    InvalidInput : the argument `x` is not two-dimensional, has no row or no column, or has an entry that is not a
        finite real number. Whether all entries are finite is a property of the data, and not public. Chunks are checked
        while they are read.
    """
    if isinstance(x, Chunks):
        require_count("the number of rows of x", x.shape[0], fewest)
        require_dimension("the number of columns of x", x.shape[1])
        return x.once("rows", lambda: x.through(_checked_chunks, x.shape[1]))
    return _as_array(x, fewest=fewest)


def shape_of(x: DataSet, fewest: int = 1) -> tuple[int, int]:
    """Return the shape (n, d) of a data set without a pass over the rows. A data set without a shape (n, d) raises
    `InvalidInput`.
    """
    if not isinstance(x, Chunks):
        try:
            shape = np.shape(x)
        except ValueError:
            shape = ()
        if len(shape) == 2 and shape[0] >= fewest and shape[1] >= 1:
            return shape[0], shape[1]
    n, d = as_rows(x, fewest).shape
    return n, d


def _checked_chunks(x: Chunks) -> Iterator[Matrix]:
    """Yield the chunks of one pass over the rows, each checked by the function `_as_array`."""
    first = 0
    for chunk in blocks(x):
        rows = _as_array(chunk, first)
        if rows.shape[1] != x.shape[1]:
            raise InvalidInput(f"x has {rows.shape[1]} columns from row {first} on: must have {x.shape[1]}")
        first += len(rows)
        yield rows


def _as_array(x: ArrayLike, first: int = 0, fewest: int = 1) -> Matrix:
    """Validate an array as `as_rows` does. The argument `first` is the position of the array's first row in the data
    set, for messages.
    """
    if np.ma.isMaskedArray(x):
        raise InvalidInput("x is a masked array: must have a number in every place")
    try:
        array = np.array(x)  # a copy
    except (ValueError, TypeError) as error:
        raise InvalidInput(f"x cannot be read as a matrix ({error}): must be (n, d) numbers") from None
    if array.ndim != 2:
        raise InvalidInput(f"x has {array.ndim} dimension(s): must have 2, one row per record")
    if array.shape[0] < fewest or array.shape[1] < 1:
        wanted = "one column" if fewest == 0 else "one row and one column"
        raise InvalidInput(f"x has shape {array.shape}: must have at least {wanted}")
    if array.dtype.kind == "O":  # for example columns of different types, or integers too long for int64
        if not all(is_real(entry) or isinstance(entry, bool | np.bool_) for entry in array.flat):
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
    """Return the largest absolute entry of every row, and the norm of the row divided by this entry, (..., d) -> (...)
    each.

    The norm is the product of the two factors, and can overflow although neither factor does.
    """
    largest = np.abs(rows).max(axis=-1, initial=0.0)
    relative: Vector = np.linalg.norm(rows / np.where(largest > 0, largest, 1.0)[..., None], axis=-1)
    return largest, relative


def row_norms(rows: Matrix) -> Vector:
    """Return the Euclidean norm of every row, (..., d) -> (...).

    A norm is infinite only if its true value is above the largest float.
    """
    largest, relative = _norm_factors(rows)
    with np.errstate(over="ignore"):
        norms: Vector = largest * relative
    return norms


def longer_rows(rows: Matrix, bound: float) -> NDArray[np.bool_]:
    """Return a boolean for every row, which tells whether its norm exceeds the bound ≥ 0, (..., d) -> (...).

    The function compares the square of the norm with the square of the bound. If the two squares are nearly equal, or
    if the square of the bound could overflow or underflow, the norm itself is compared with the bound.
    """
    if not SMALLEST_PLAIN < bound < 1 / SMALLEST_PLAIN:
        return np.asarray(row_norms(rows) > bound)
    squares: Vector = np.einsum("...j,...j->...", rows, rows)
    longer: NDArray[np.bool_] = squares > bound**2
    near = np.abs(squares - bound**2) <= NEAR * bound**2
    if near.any():
        longer[near] = row_norms(rows[near]) > bound
    return longer


@overload
def unit_rows(x: Chunks, row_bound: float = 1.0, on_large_rows: OnLargeRows = "clip", fewest: int = 1) -> Chunks: ...
@overload
def unit_rows(x: ArrayLike, row_bound: float = 1.0, on_large_rows: OnLargeRows = "clip", fewest: int = 1) -> Matrix: ...
def unit_rows(x: DataSet, row_bound: float = 1.0, on_large_rows: OnLargeRows = "clip", fewest: int = 1) -> Rows:
    """Validate `x`, divide it by the row bound, and bring every row into the unit ball.

    Parameters
    ----------
    x : shape (n, d), in any unit.
    row_bound : r > 0, public, in the unit of `x`.
    on_large_rows : value "clip" scales a row longer than r back to length r, one record at a time. "raise" raises
        `InvalidInput` instead. Whether the function raises depends on the data, and is not private.
    fewest : the smallest number of rows that is accepted.

    Returns
    -------
    (n, d) float64, without unit. Every row has norm at most 1 up to rounding.
    """
    r = require_row_bound(row_bound)
    require_choice("on_large_rows", on_large_rows, ("clip", "raise"))
    if isinstance(x, Chunks):
        brought = partial(_unit_chunks, r=r, on_large_rows=on_large_rows)
        return x.once((r, on_large_rows, fewest), lambda: as_rows(x, fewest).through(brought, x.shape[1]))
    return _unit(as_rows(x, fewest), r, on_large_rows)


def sized_unit_rows(x: DataSet, row_bound: float, on_large_rows: OnLargeRows, fewest: int = 1) -> tuple[Rows, int, int]:
    """Return the rows that `unit_rows` returns, their number n ≥ `fewest` and their dimension d."""
    rows = unit_rows(x, row_bound, on_large_rows, fewest)
    n, d = rows.shape
    return rows, n, d


def _unit_chunks(rows: Chunks, r: float, on_large_rows: OnLargeRows) -> Iterator[Matrix]:
    """Yield the chunks of one pass over the rows, each brought into the unit ball by the function `_unit`."""
    first = 0
    for chunk in blocks(rows):
        yield _unit(chunk, r, on_large_rows, first)
        first += len(chunk)


def _unit(rows: Matrix, r: float, on_large_rows: OnLargeRows, first: int = 0) -> Matrix:
    """Bring the rows of an array into the unit ball as `unit_rows` does. The argument `first` is the position of the
    array's first row in the data set, for messages.
    """
    largest, relative = _norm_factors(rows)
    with np.errstate(over="ignore"):  # rows / r can overflow only in rows that are clipped
        norms, unit = largest * relative, rows / r
    if on_large_rows == "raise" and (norms > r * (1 + ROUNDING)).any():
        i = int(norms.argmax())
        raise InvalidInput(f"x[{first + i}] has norm {norms[i]}: must be at most row_bound = {r}")
    large = norms > r
    if large.any():
        unit[large] = rows[large] / largest[large, None] / np.maximum(relative[large, None], 1.0)
    return unit


def column_squares(rows: Rows) -> Vector:
    """Return for every column j the sum Σ_i x_ij² of its squares, (d,)."""
    squares: Vector = sum_rows(lambda block: (block**2).sum(axis=0), rows)
    return squares


def total_square(rows: Rows) -> float:
    """Return the sum Σ_i ‖x_i‖² over all rows, which is n tr Σ."""
    return float(sum_rows(lambda block: (block**2).sum(), rows))


def second_moment(rows: Rows) -> Matrix:
    """Return the second moment Σ = (1/n) Σ_i x_i x_iᵀ, (..., n, d) -> (..., d, d), symmetric and not centred; the
    papers call it the covariance.
    """

    def moment() -> Matrix:
        product: Matrix = sum_rows(lambda block: np.swapaxes(block, -1, -2) @ block, rows) / rows.shape[-2]
        return (product + np.swapaxes(product, -1, -2)) / 2

    return rows.once("second moment", moment) if isinstance(rows, Chunks) else moment()
