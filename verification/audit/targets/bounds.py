"""Read the bounds of columns in any of several forms, and find whether a target takes bounds as an argument."""

import inspect
from pathlib import Path
from typing import Any

import numpy as np

from covassay.reference.domain import Box
from covassay.reference.errors import InvalidInput
from covassay.verification.audit.targets.process_target import is_process
from covassay.verification.audit.targets.target import Target

# a function gets its bounds, d pairs (low, high), by a keyword argument of this name; a request to a process has a key
# of the same name
BOUNDS = "bounds"


def takes_bounds(target: Target) -> bool:
    """Return whether the function has a parameter `bounds`. A process always gets the bounds in its request, and may
    ignore them.
    """
    if is_process(target.name):
        return True
    try:
        return BOUNDS in inspect.signature(target.draw).parameters
    except (TypeError, ValueError):
        return False


def needs_bounds(target: Target) -> bool:
    """Return whether the function has a parameter `bounds` without a default."""
    if is_process(target.name) or not takes_bounds(target):
        return False
    return inspect.signature(target.draw).parameters[BOUNDS].default is inspect.Parameter.empty


def as_box(given: Any) -> Box:
    """Return the box for bounds in one of several forms.

    The bounds are a pair (low, high) for every column, or (minima, maxima), or a text LOW:HIGH,LOW:HIGH,…, or the name
    of a .toml or .json file with a pair [low, high] for every column, in order. A two-by-two array of bounds is read as
    a pair for each of two columns, although it could also mean (minima, maxima).

    Raises
    ------
    InvalidInput : the bounds have none of these forms, or break the rule of a box.
    """
    if isinstance(given, Box):
        return given
    if isinstance(given, str | Path):
        return _read_box(str(given))
    try:
        numbers = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidInput(
            "bounds: must be a pair of numbers (low, high) for every column, or (minima, maxima)"
        ) from None
    if numbers.ndim != 2 or 2 not in numbers.shape:
        raise InvalidInput(
            f"bounds of shape {numbers.shape}: must be (d, 2), a pair (low, high) for every column, or (2, d), the "
            "minima and the maxima of the columns"
        )
    try:
        return Box.of(numbers if numbers.shape[1] == 2 else numbers.T)
    except InvalidInput as error:
        if numbers.shape == (2, 2):
            raise InvalidInput(f"{error}; bounds of two columns are read as two pairs (low, high)") from None
        raise


def _read_box(text: str) -> Box:
    if text.lower().endswith((".toml", ".json")):
        # the import stands in this function because it loads the readers of tables
        from covassay.reference.release.scaling import read_bounds

        return Box.of(list(read_bounds(Path(text)).values()))
    pairs = [item.split(":") for item in text.split(",")]
    try:
        return Box.of([(float(low), float(high)) for low, high in pairs])
    except ValueError as error:
        if isinstance(error, InvalidInput):
            raise
        raise InvalidInput(f"bounds = {text}: must be LOW:HIGH,LOW:HIGH,… or a .toml or .json file") from None
