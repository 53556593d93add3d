"""What mechanisms take and give: matrices, data sets in memory, and data sets that are read in chunks."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

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
