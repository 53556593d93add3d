"""Map a table in its own units to the domain of a mechanism, and back, by public bounds on every feature.

The user gives bounds low_j < high_j on every feature x_j, chosen without looking at the data. The bounds define u_j =
(x_j − shift_j)/scale_j. The mechanism gets u_j, clipped to the interval that corresponds to [low_j, high_j]:

- for a mechanism on a ball, shift_j is the middle of the bounds, scale_j = √d (high_j − low_j)/2, so that |u_j| ≤ 1/√d
  and ‖u‖ ≤ 1;
- for a mechanism on a cube, shift_j = low_j, scale_j = high_j − low_j, so that 0 ≤ u_j ≤ 1;
- for a mechanism on the whole space, shift_j is the middle of the bounds, scale_j = (high_j − low_j)/2, so that |u_j| ≤
  1.

Each record is mapped separately, with public numbers only, so the map costs no privacy. Undoing the scaling of an
output is post-processing:

- a matrix M of degree 2 becomes scale_i scale_j M_ij, in the units of the data. A second moment therefore becomes the
  second moment of x − shift, not of x, unless every shift is 0. A conversion to the second moment about another point
  needs the mean, which the output does not contain. (A centred covariance does not depend on the point.)
- the mean of a Gaussian becomes shift + scale · mean, and its covariance scale_i scale_j C_ij;
- a mean and a second moment that are released together become the moments of x about the origin;
- a coefficient w_j of a regression becomes w_j scale_target/scale_j, for features and a target from which the shifts
  are subtracted;
- every other output (a direction, a vector, a number, a level, a preconditioner) is about the scaled rows u, and is not
  converted.

If a parameter of a mechanism has a unit, such as a bound on the mean, it is in the unit of u.
"""

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from covassay.reference.domain import Chunks, Matrix, Vector, blocks, map_rows
from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.output import Output
from covassay.reference.release.messages import named, reason, require_suffix, shown, unique_keys

SMALLEST_WIDTH, LARGEST_WIDTH = 1e-100, 1e100  # bounds on the widths, so that squares of scales are finite floats

Bounds = dict[str, tuple[float, float]]


@dataclass(frozen=True)
class Scaling:
    """The map u = (x − shift)/scale, clipped to [smallest, largest], which acts on every feature separately."""

    low: Vector
    high: Vector
    shift: Vector
    scale: Vector
    smallest: float
    largest: float

    def apply(self, rows: Chunks) -> Chunks:
        """Return the scaled rows, which are the input of the mechanism."""
        return map_rows(self._unit, rows)

    def _unit(self, x: Matrix) -> Matrix:
        with np.errstate(over="ignore"):  # an overflow happens only in entries that are clipped
            return np.clip((x - self.shift) / self.scale, self.smallest, self.largest)

    def restore(self, values: Any, output: Output) -> Any:
        """Return the output of the mechanism in the units of the data, if it has such units."""
        restored = output.restore(values, self.shift, self.scale)
        return values if restored is None else restored


def scaling(low: Vector, high: Vector, domain: str) -> Scaling:
    """Return the scaling for a mechanism on the given domain. The scaled values of a feature with low = high are 0."""
    half = high / 2 - low / 2
    middle = low + half
    half = np.where(half > 0, half, 1.0)
    if domain == "cube":
        return Scaling(low, high, low, 2 * half, 0.0, 1.0)
    root = len(low) ** 0.5 if domain == "ball" else 1.0
    return Scaling(low, high, middle, root * half, -1 / root, 1 / root)


def extremes(rows: Chunks) -> tuple[Vector, Vector]:
    """Return the smallest and the largest value of every feature, by one pass over the rows.

    The extremes of the features are not private.
    """
    low, high = np.full(rows.shape[1], np.inf), np.full(rows.shape[1], -np.inf)
    for block in blocks(rows):
        low, high = np.minimum(low, block.min(axis=0)), np.maximum(high, block.max(axis=0))
    if (high / 2 - low / 2).max() > LARGEST_WIDTH / 2:
        raise InvalidInput(
            f"the data have a column whose range is wider than {LARGEST_WIDTH:g}: must be narrower to be scaled"
        )
    return low, high


def read_bounds(path: Path | Mapping[str, Any]) -> Bounds:
    """Return the bounds in a .toml or .json file, or in a dictionary, which has [low, high] for every column by
    name.
    """
    if isinstance(path, Mapping):
        return _bounds("bounds", path)
    suffix = require_suffix(path, (".toml", ".json"))
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise InvalidInput(f"{named(path)} does not exist: must be a file of bounds") from None
    except (OSError, ValueError) as error:
        raise InvalidInput(f"{named(path)} cannot be read ({reason(error)}): must be a readable file") from None
    try:
        document = tomllib.loads(text) if suffix == ".toml" else json.loads(text, object_pairs_hook=unique_keys)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"{named(path)} cannot be read ({reason(error)}): must be {suffix[1:].upper()}") from None
    if not isinstance(document, dict):
        raise InvalidInput(f"{named(path)} holds no names: must hold [low, high] for every column by its name")
    return _bounds(named(path), document)


def _bounds(place: str, document: Mapping[str, Any]) -> Bounds:
    bounds: Bounds = {}
    for key, value in document.items():
        name = " ".join(str(key).split())
        if name in bounds:
            raise InvalidInput(f"{place} names {shown(name)} twice: must name every column once")
        bounds[name] = _interval(f"{place}, {shown(name)}", value)
    return bounds


def require_every_column(
    path: Path | Mapping[str, Any], bounds: Bounds, columns: tuple[str, ...]
) -> tuple[Vector, Vector]:
    """Return `low` and `high` in the order of the columns, or raise `InvalidInput` unless exactly the given columns
    have bounds.
    """
    place = "bounds" if isinstance(path, Mapping) else named(path)
    missing = [name for name in columns if name not in bounds]
    if missing:
        raise InvalidInput(f"{place} has no bounds for column {shown(missing[0])}: must have them for every column")
    unknown = [name for name in bounds if name not in columns]
    if unknown:
        raise InvalidInput(f"{place} has bounds for {shown(unknown[0])}: must name columns of the data only")
    low, high = np.array([bounds[name] for name in columns]).T
    return low, high


def _interval(place: str, value: Any) -> tuple[float, float]:
    numbers = isinstance(value, list | tuple) and all(
        isinstance(v, int | float) and not isinstance(v, bool) for v in value
    )
    if not numbers or len(value) != 2:
        raise InvalidInput(f"{place} = {shown(str(value))}: must be two numbers, [low, high]")
    try:
        low, high = float(value[0]), float(value[1])
    except OverflowError:
        raise InvalidInput(f"{place} has an integer beyond the largest float: must be finite") from None
    if not (np.isfinite(low) and np.isfinite(high) and low < high):
        raise InvalidInput(f"{place} = [{low:g}, {high:g}]: must be finite, low below high")
    if not SMALLEST_WIDTH <= high - low <= LARGEST_WIDTH:
        raise InvalidInput(f"{place} = [{low:g}, {high:g}]: must differ by {SMALLEST_WIDTH:g} to {LARGEST_WIDTH:g}")
    return low, high
