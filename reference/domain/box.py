"""Define the box: public bounds low_j ≤ x_j ≤ high_j on every column."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from covassay.reference.domain.types import Matrix, Vector
from covassay.reference.errors import InvalidInput

# the largest bound; the least width is 1/LARGEST, so that products of two bounds or widths do not overflow or underflow
LARGEST = 1e100


@dataclass(frozen=True)
class Box:
    """The rows x with low_j ≤ x_j ≤ high_j for every column j; `bounds` are the pairs (low_j, high_j).

    Raises
    ------
    InvalidInput : the argument `bounds` has no pair, or a pair that is not two numbers low < high of absolute value up
        to `LARGEST`, at least 1/LARGEST apart.
    """

    bounds: tuple[tuple[float, float], ...]

    def __post_init__(self) -> None:
        if not self.bounds:
            raise InvalidInput("bounds are empty: must be a pair (low, high) for every column")
        for column, (low, high) in enumerate(self.bounds, start=1):
            if not (max(abs(low), abs(high)) <= LARGEST and high - low >= 1 / LARGEST):
                raise InvalidInput(
                    f"bounds of column {column} = ({low:g}, {high:g}): must be finite, low < high, up to {LARGEST:g}"
                )

    @classmethod
    def of(cls, bounds: Any) -> "Box":
        """Return the box with the given bounds: a pair (low, high) for every column, as an array (d, 2) or as nested
        sequences.
        """
        try:
            pairs = np.asarray(bounds, dtype=np.float64)
        except (TypeError, ValueError):
            raise InvalidInput("bounds: must be a pair of numbers (low, high) for every column") from None
        if pairs.ndim != 2 or pairs.shape[1] != 2:
            raise InvalidInput(f"bounds of shape {pairs.shape}: must be (d, 2), a pair (low, high) for every column")
        return cls(tuple((float(low), float(high)) for low, high in pairs))

    @classmethod
    def of_columns(cls, bounds: Any, dimension: int) -> "Box":
        """Return the box with the given bounds, or the box with the bounds −1 and 1 for all columns if `bounds` is
        None.
        """
        return cls(((-1.0, 1.0),) * dimension) if bounds is None else cls.of(bounds)

    @property
    def dimension(self) -> int:
        """Return the number of columns d."""
        return len(self.bounds)

    @property
    def low(self) -> Vector:
        """Return the lower bounds, (d,)."""
        return np.array([low for low, _ in self.bounds])

    @property
    def high(self) -> Vector:
        """Return the upper bounds, (d,)."""
        return np.array([high for _, high in self.bounds])

    @property
    def widths(self) -> Vector:
        """Return the widths high_j − low_j, (d,)."""
        return self.high - self.low

    @property
    def half_widths(self) -> Vector:
        """Return half of the widths, (d,)."""
        return self.widths / 2

    @property
    def centre(self) -> Vector:
        """Return the middle of the bounds, (d,)."""
        return self.low + self.half_widths

    def place(self, shares: Matrix) -> Matrix:
        """Map rows of the unit cube to rows of the box by low + shares · width, column by column."""
        # in this form the result is exactly low for a share of 0, and exactly high for a share of 1
        rows: Matrix = self.low * (1 - shares) + self.high * shares
        return rows

    def reflect(self, x: Matrix) -> Matrix:
        """Return the rows reflected about the centre of the box, which are low + high − x."""
        rows: Matrix = self.low + self.high - x
        return rows

    def columns(self, order: Sequence[int]) -> "Box":
        """Return the box of the columns listed in `order`, in this order; a column may be listed several times."""
        return Box(tuple(self.bounds[j] for j in order))

    def stretched(self, factors: Sequence[float]) -> "Box":
        """Return the box in which both bounds of column j are multiplied by factors[j] > 0."""
        return Box(tuple((f * low, f * high) for f, (low, high) in zip(factors, self.bounds, strict=True)))

    def __str__(self) -> str:
        return ",".join(f"{low!r}:{high!r}" for low, high in self.bounds)
