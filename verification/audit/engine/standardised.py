"""Learn statistics from pilot draws, for outputs whose entries may have noise of different scales."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from covassay.reference.domain import Matrix, Vector

SMALLEST_SPREAD = 1e-12  # a spread below this share of the size of an entry counts as a rounding error


def _summary(first: Matrix, second: Matrix) -> tuple[NDArray[np.intp], Vector, Vector, Vector]:
    """Return the distinct entries of the outputs and, for each of them, its medians on the two data sets and its pooled
    mean absolute deviation.
    """
    flat = [values.reshape(len(values), -1) for values in (first, second)]
    _, columns = np.unique(np.concatenate(flat), axis=1, return_index=True)
    sides = [values[:, columns] for values in flat]
    near, far = (np.median(values, axis=0) for values in sides)
    spread = sum(np.abs(values - middle).mean(axis=0) for values, middle in zip(sides, (near, far), strict=True)) / 2
    return columns, near, far, np.asarray(spread)


@np.errstate(all="ignore")
def laplace_loss(first: Matrix, second: Matrix) -> float:
    """Estimate the privacy loss between two samples of outputs with independent Laplace noise by the sum of |M − M'|/s
    over the entries.

    The numbers M and M' are the medians of an entry on the two data sets, and s is the spread of the entry. Entries
    that are equal in all draws count once.
    """
    _, near, far, spread = _summary(first, second)
    return float(np.nan_to_num(np.abs(near - far) / np.maximum(spread, 1e-300)).sum())


@np.errstate(all="ignore")
def standardised(first: Matrix, second: Matrix) -> list[tuple[str, Callable[[Matrix], Vector]]]:
    """Return names and functions of statistics of an output that are learned from draws on two data sets.

    Entries are centred at their median on one of the two data sets and divided by a pooled mean absolute deviation. For
    independent Laplace noise, the difference of the ℓ₁ distances of the output from the medians on the two data sets is
    nearly the log likelihood ratio. For Gaussian noise, a linear function of the output is the log likelihood ratio.
    The distance of an output from the median on one data set detects noise that is small on that data set. Entries that
    are equal in all draws, such as those of a symmetric matrix, count once.
    """
    columns, near, far, spread = _summary(first, second)
    spread = np.maximum(spread, SMALLEST_SPREAD * (1e-280 + np.abs(near) + np.abs(far)))

    def units(outputs: Matrix, middle: Vector) -> Matrix:
        values: Matrix = (outputs.reshape(len(outputs), -1)[:, columns] - middle) / spread
        return values

    @np.errstate(all="ignore")
    def gap(outputs: Matrix) -> Vector:
        distances: Vector = np.abs(units(outputs, far)).sum(axis=1) - np.abs(units(outputs, near)).sum(axis=1)
        return distances

    @np.errstate(all="ignore")
    def linear(outputs: Matrix) -> Vector:
        return np.asarray(units(outputs, (near + far) / 2) @ ((near - far) / spread))

    def closeness(middle: Vector) -> Callable[[Matrix], Vector]:
        return lambda outputs: -np.abs(units(outputs, middle)).max(axis=1)

    return [
        ("‖(Y − M')/s‖₁ − ‖(Y − M)/s‖₁ of the output Y, for the medians M and M' and spreads s of pilot draws", gap),
        ("⟨Y, (M − M')/s²⟩ of the output Y, for the medians M and M' and spreads s of pilot draws", linear),
        ("closeness to the median of pilot draws on the first data set", closeness(near)),
        ("closeness to the median of pilot draws on the second data set", closeness(far)),
    ]
