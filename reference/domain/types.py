"""The types that mechanisms take and return: matrices, data sets in memory, and data sets read in chunks."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]
IntegerMatrix = NDArray[np.object_]  # of Python integers, which have any length
Number = Any  # the argument of a formula: a float, a Fraction, a sympy expression, an mpmath number or an array
OnLargeRows = Literal["clip", "raise"]


@dataclass(frozen=True)
class Chunks:
    """A data set that need not fit in memory: its shape (n, d), and `start`, which begins a pass over its rows.

    A pass yields arrays of shape (m, d) with m ≥ 1, and n rows in all. Every pass must yield the same rows in the same
    order.
    """

    shape: tuple[int, int]
    start: Callable[[], Iterator[Matrix]]


@dataclass(frozen=True)
class SharedRows(Chunks):
    """A data set in memory that many releases read: what they all compute from it is computed once, and kept.

    The array must not be written to afterwards.
    """

    kept: dict[object, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, rows: Matrix) -> "SharedRows":
        """The data set with the rows of an array, as its one chunk."""
        n, d = rows.shape
        return cls((n, d), lambda: iter((rows,)))

    def once(self, key: object, compute: Callable[[Matrix], Any]) -> Any:
        """`compute(rows)`, which is kept under the key."""
        if key not in self.kept:
            self.kept[key] = compute(*self.start())
        return self.kept[key]


Rows = Matrix | Chunks  # validated rows, on which a mechanism works
DataSet = ArrayLike | Chunks  # a data set as the caller gives it
