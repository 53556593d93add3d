"""Define the types that mechanisms take and return: matrices, data sets in memory, and data sets in chunks."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

T = TypeVar("T")
Array = NDArray[np.float64]  # an array of any shape
Matrix = NDArray[np.float64]  # an array with two axes, or with more, of which the last two are the axes of a matrix
Vector = NDArray[np.float64]  # an array with one axis
IntegerMatrix = NDArray[np.object_]  # an array of Python integers, which have any length
Number = Any  # the argument of a formula: a float, a Fraction, a sympy expression, an mpmath number or an array
OnLargeRows = Literal["clip", "raise"]
Adjacency = Literal["replace-one", "add-remove"]
ADJACENCIES: tuple[Adjacency, ...] = ("replace-one", "add-remove")


@dataclass(frozen=True)
class Chunks:
    """A data set that need not fit in memory, given by its shape (n, d) and by `start`, which begins a pass over its
    rows.

    A pass yields arrays of shape (m, d) with m ≥ 1, and n rows in all. Every pass must yield the same rows in the same
    order.
    """

    shape: tuple[int, int]
    start: Callable[[], Iterator[Matrix]]

    def fold(self, function: Callable[["Chunks"], T]) -> list[T]:
        """Return the values of `function` for all parts of the data set.

        There is one part unless the rows are stored in several places.

        If there are several parts, the function runs where each part is stored, and only its value is sent back.
        """
        return [function(self)]

    def through(self, function: Callable[["Chunks"], Iterator[Matrix]], dimension: int) -> "Chunks":
        """Return the data set of the rows that `function` yields, one part of this data set after another (see `fold`).
        The function maps chunks of shape (m, d) to chunks of shape (m, `dimension`).
        """
        return Chunks((self.shape[0], dimension), lambda: function(self))

    def once(self, key: object, compute: Callable[[], T]) -> T:
        """Return the value of `compute()`, which must be determined by the rows of this data set.

        A data set that many releases read may store the value of `compute()`.
        """
        return compute()


Rows = Matrix | Chunks  # validated rows, from which a mechanism computes
DataSet = ArrayLike | Chunks  # a data set in the form that the caller gives
