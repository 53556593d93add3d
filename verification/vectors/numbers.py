"""Define the number format of the tests, in which numbers are written without loss and read back."""

import contextlib
import math
import re
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np

DIGITS = 30
DECIMAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,3})?", re.IGNORECASE)
RATIONAL = re.compile(r"[+-]?\d+/0*[1-9]\d*")
LONGEST = 1000  # the largest number of characters of a number


def read(value: Any) -> Any:
    """Convert a value of a question to Python, also within lists and objects: the words "nan" and "inf" become
    numbers.
    """
    if isinstance(value, list):
        return [read(item) for item in value]
    if isinstance(value, dict):
        return {key: read(item) for key, item in value.items()}
    return float(value) if value in ("nan", "inf") else value


def exact(value: Any) -> Any:
    """Convert finite floats to fractions, also within lists and objects."""
    if isinstance(value, list):
        return [exact(item) for item in value]
    if isinstance(value, dict):
        return {key: exact(item) for key, item in value.items()}
    return Fraction(value) if isinstance(value, float) and math.isfinite(value) else value


def parts_of(value: Any) -> Any:
    """Return an output or a noise as lists, objects, numbers and words. Raises TypeError if the output or the noise has
    no such form.
    """
    if value is None or isinstance(value, int | float | str | Fraction):
        return value
    if isinstance(value, np.ndarray | np.generic):
        return parts_of(value.tolist())
    if isinstance(value, list | tuple) and not hasattr(value, "_fields"):
        return [parts_of(item) for item in value]
    if isinstance(value, dict):
        return {key: parts_of(item) for key, item in value.items()}
    fields = getattr(value, "_fields", None) or getattr(value, "__dataclass_fields__", None)
    if fields is None:
        raise TypeError(f"{type(value).__name__} has no form in JSON")
    return {name: parts_of(getattr(value, name)) for name in fields}


def written(value: Any) -> Any:
    """Convert an output to the form of the file: floats become hexadecimal, fractions become p/q; integers and words
    stay.
    """
    value = parts_of(value)
    if isinstance(value, list):
        return [written(item) for item in value]
    if isinstance(value, dict):
        return {key: written(item) for key, item in value.items()}
    if isinstance(value, Fraction):
        return str(value)
    return value.hex() if isinstance(value, float) else value


def digits(value: Any) -> str:
    """Return a number of mpmath as text with `DIGITS` digits."""
    return str(mpmath.nstr(mpmath.mpf(value), DIGITS))


def number(value: Any) -> Fraction:
    """Return the exact value of a number in an output or an answer: a JSON number, or text (p/q, hexadecimal or
    decimal).

    Raises
    ------
    ValueError : the value is not a number, or not finite.
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str | np.integer | np.floating | Fraction):
        raise ValueError("not a number")
    if not isinstance(value, str):
        if not math.isfinite(value):
            raise ValueError("not finite")
        return Fraction(value if isinstance(value, int | Fraction) else float(value))
    text = value.strip()
    if len(text) <= LONGEST:
        if RATIONAL.fullmatch(text) or DECIMAL.fullmatch(text):
            return Fraction(text)
        if "0x" in text.lower():
            with contextlib.suppress(OverflowError):
                return number(float.fromhex(text))
            raise ValueError("not finite")
        if text.lower().lstrip("+-") in ("nan", "inf", "infinity"):
            raise ValueError("not finite")
    raise ValueError("not a number")
