"""Read the arguments of an exact release, in which every number is read as its decimal text and becomes a fraction."""

import inspect
import math
import re
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.mechanism import Mechanism

Rational = str | int | float | Fraction | Decimal
WORD = re.compile(r"[^\W\d]\w*(-\w+)*")  # words such as replace-one
FINEST_GRID = 1000  # the largest |m| for a grid 2^{−m}, so that multiples of the grid are floats


def rational(name: str, value: Rational) -> Any:
    """Return the fraction that the decimal text of a number means. A value that is a string, such as the name of a
    choice, is returned unchanged.
    """
    if isinstance(value, bool):
        raise InvalidInput(f"{name} = {value!r}: must be a number")
    if isinstance(value, float | np.floating):
        value = repr(float(value))
    try:
        if isinstance(value, str) and not (value.isascii() and "_" not in value):
            raise ValueError(value)
        return Fraction(value)
    except (ValueError, OverflowError, ZeroDivisionError, TypeError):
        if isinstance(value, str) and WORD.fullmatch(value) and value not in ("nan", "inf", "infinity"):
            return value
        raise InvalidInput(f"{name} = {value!r}: must be a number") from None


def require_grid(grid: Rational) -> Fraction:
    """Return the grid as a fraction, or raise `InvalidInput` unless it is a power of 2."""
    power = re.fullmatch(r"2(?:\^|\*\*)(-?[0-9]{1,4})", grid.replace(" ", "")) if isinstance(grid, str) else None
    if power:
        step: Any = Fraction(2) ** int(power[1])
    else:  # a float is tested by its exact binary value, not by its decimal text
        finite = isinstance(grid, float) and math.isfinite(grid)
        step = Fraction(grid) if finite else rational("grid", grid)
    if (
        not isinstance(step, Fraction)
        or step <= 0
        or step.numerator.bit_count() != 1
        or step.denominator.bit_count() != 1
    ):
        raise InvalidInput(f"grid = {grid!r}: must be a power of 2, like 2^-30")
    if not -FINEST_GRID <= step.numerator.bit_length() - step.denominator.bit_length() <= FINEST_GRID:
        raise InvalidInput(f"grid = {grid!r}: must be between 2^-{FINEST_GRID} and 2^{FINEST_GRID}")
    return step


def checked_arguments(
    declared: Mechanism[Any, ..., Any], arguments: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return two dictionaries: the arguments with which the mechanism's `spend` is called, and all options with their
    defaults.

    Every argument is checked against its rule.
    """
    keys = declared.notion.default.keywords()
    missing = [key for key in keys if key not in arguments]
    if missing:
        raise InvalidInput(f"{' and '.join(missing)} is missing: the budget of a release must be stated")
    stated: dict[str, Any] = {key: declared.declared[key].read(_as_float(arguments[key])) for key in keys}
    budget = type(declared.notion.default)(**stated)
    given = {name: value for name, value in arguments.items() if name not in keys}
    read = declared.resolve({name: v if isinstance(v, str) else _as_float(v) for name, v in given.items()})
    options: dict[str, Any] = {name: rational(name, value) for name, value in declared.parameters.items()}
    options |= {name: given.get(name, value) for name, value in read.items()}
    options = {name: int(v) if declared.declared[name].whole else v for name, v in options.items()}
    taken = inspect.signature(declared.spend).parameters
    spending = {**read, **budget.keywords()}
    return {name: value for name, value in spending.items() if name in taken}, options


def _as_float(value: Fraction | str) -> Any:
    try:
        return float(value)
    except ValueError:
        return value
