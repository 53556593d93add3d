"""Check the rules that arguments must obey.

Each function returns the checked value, or raises `InvalidInput` with the name of the argument, its value and the rule.
"""

import math
import re

import numpy as np
from numpy.typing import ArrayLike, NDArray

from covassay.reference.domain.types import IntegerMatrix, Matrix, Vector
from covassay.reference.errors import InvalidInput

SMALLEST_ROW_BOUND, LARGEST_ROW_BOUND = 1e-100, 1e100


def shown(number: float) -> str:
    """Return a number as it is written in the text of a rule, such as 1e-30, 0.5 or 1e30."""
    return re.sub(r"e([+-])0*", lambda found: "e" + found[1].strip("+"), f"{number:g}")


def is_real(value: object) -> bool:
    """Return whether `value` is a real number. Booleans, complex numbers and text do not count as real numbers."""
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def require_positive(name: str, value: float) -> float:
    """Return `value` as a float if it is finite and greater than 0."""
    if not is_real(value):
        raise InvalidInput(f"{name} = {value!r}: must be a number")
    try:
        number = float(value)
    except OverflowError:
        raise InvalidInput(f"{name} is an integer beyond the largest float: must be finite") from None
    if not (math.isfinite(number) and number > 0):
        raise InvalidInput(f"{name} = {value!r}: must be finite and greater than 0")
    return number


def require_below_one(name: str, value: float, low: float = 0.0) -> float:
    """Return `value` as a float if it lies strictly between 0 and 1, and is at least the limit `low`."""
    number = require_positive(name, value)
    if number >= 1:
        raise InvalidInput(f"{name} = {value!r}: must be below 1")
    if number < low:
        raise InvalidInput(f"{name} = {value!r}: must be at least {shown(low)}")
    return number


def require_between(name: str, value: float, low: float, high: float) -> float:
    """Return `value` as a float if it lies between the limits `low` > 0 and `high`."""
    number = require_positive(name, value)
    if not low <= number <= high:
        raise InvalidInput(f"{name} = {value!r}: must be between {shown(low)} and {shown(high)}")
    return number


def require_row_bound(value: float) -> float:
    """Return `value` as a float if it lies in [1e-100, 1e100].

    Outputs are in the unit of the row bound squared. In the allowed range the square of the row bound, times any noise,
    neither overflows nor underflows.
    """
    return require_between("row_bound", value, SMALLEST_ROW_BOUND, LARGEST_ROW_BOUND)


def require_dimension(name: str, value: int) -> int:
    """Return `value` as an int if it is a whole number of at least 1."""
    return require_count(name, value, 1)


def require_count(name: str, value: int, low: int, high: float = math.inf) -> int:
    """Return `value` as an int if it is a whole number in [low, high]."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer):
        raise InvalidInput(f"{name} = {value!r}: must be a whole number")
    if value < low:
        raise InvalidInput(f"{name} = {value!r}: must be at least {low}")
    if value > high:
        raise InvalidInput(f"{name} = {value!r}: must be at most {high}")
    return int(value)


def require_choice(name: str, value: str, choices: tuple[str, ...]) -> str:
    """Return `value` if it is one of `choices`."""
    if value not in choices:
        raise InvalidInput(f"{name} = {value!r}: must be one of {', '.join(map(repr, choices))}")
    return value


def require_shape(name: str, value: ArrayLike, shape: tuple[int, ...], stacked: bool = False) -> NDArray[np.float64]:
    """Return `value` as a finite float64 array of the given shape. With `stacked`, the array may have further axes in
    front, and its last axes must have the given shape.
    """
    try:
        array = np.asarray(value)
    except (ValueError, TypeError) as error:
        raise InvalidInput(f"{name} cannot be read as an array ({error}): must have shape {shape}") from None
    if array.dtype.kind not in "biuf":
        raise InvalidInput(f"{name} has entries of type {array.dtype}: must be real numbers")
    if array.shape != shape and not (stacked and array.shape[-len(shape) :] == shape):
        raise InvalidInput(f"{name} of shape {array.shape}: must have shape {shape}")
    numbers = array.astype(np.float64)
    if not np.isfinite(numbers).all():
        raise InvalidInput(f"{name} contains a value that is not finite: every value must be finite")
    return numbers


def require_number(name: str, value: float) -> float:
    """Return `value` if it is a finite number."""
    if not (isinstance(value, int | float) and math.isfinite(value)):
        raise InvalidInput(f"{name} = {value!r}: must be a finite number")
    return value


def require_target(dimension: int) -> None:
    """Raise `InvalidInput` unless the data have at least one feature besides the target, which is the last column."""
    if dimension < 2:
        raise InvalidInput("x has 1 column: must have at least one feature and a target")


def require_symmetric(name: str, value: ArrayLike, shape: tuple[int, ...], stacked: bool = False) -> Matrix:
    """Return `value` as in `require_shape` if every matrix in it equals its transpose."""
    matrix = require_shape(name, value, shape, stacked)
    if not np.array_equal(matrix, np.swapaxes(matrix, -1, -2)):
        raise InvalidInput(f"{name} is not symmetric: must equal its transpose")
    return matrix


def require_whole(name: str, value: IntegerMatrix, dimension: int) -> IntegerMatrix:
    """Return `value` if it is a symmetric (d, d) array of Python integers."""
    if not (isinstance(value, np.ndarray) and value.shape == (dimension, dimension)):
        raise InvalidInput(f"{name} must be an array of shape {(dimension, dimension)}")
    if not all(isinstance(entry, int) and not isinstance(entry, bool) for entry in value.ravel().tolist()):
        raise InvalidInput(f"{name} has entries that are not Python integers: must be whole, as noise on a lattice is")
    if not np.array_equal(value, value.T):
        raise InvalidInput(f"{name} is not symmetric: must equal its transpose")
    return value


def require_unit_vector(name: str, value: ArrayLike, dimension: int, stack: tuple[int, ...] = ()) -> Vector:
    """Return `value` as a finite float64 vector of the given dimension, or as a stack of such vectors, if every vector
    has length 1, up to 1e-9.
    """
    vectors = require_shape(name, value, (*stack, dimension))
    lengths = np.sqrt((vectors**2).sum(axis=-1))
    wrong = np.abs(lengths - 1) > 1e-9
    if wrong.any():
        raise InvalidInput(f"{name} has norm {lengths[wrong][0]:.10g}: must be a unit vector")
    return vectors
