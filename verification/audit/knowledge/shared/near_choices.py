"""Make data near the choices of a mechanism, such as the order of two eigenvalues, a threshold or the fullest bin.

If the data are far from a point where a choice of the mechanism changes, the outcome of the choice is almost certain,
and draws do not show how the mechanism chooses. Each function returns data sets that lie a few noise scales before or
beyond the point where the choice changes. On these data sets, draws of the target are compared with draws of the
reference.
"""

import math
from collections.abc import Callable

import numpy as np

from covassay.reference.domain import Matrix
from covassay.verification.audit.engine.zoo import DataSetOfZoo, zoo

# the nearest data sets come first, because a slow mechanism is tried on the first data set only
BOTH_SIDES = (0.5, -0.5, 1.0, -1.0, 2.0, -2.0, 4.0, -4.0, 8.0, -8.0)
APART = (0.5, 1.0, 2.0, 4.0, 8.0, 40.0)
MOST_ROWS = 4000
TIMES, TIMES_IF_FAST = 8, 40  # the number of draws on each data set is multiplied by one of these factors
ANGLE = 0.4  # the eigenvectors have this angle to the axes, so that all entries of an output depend on them

Choices = tuple[DataSetOfZoo, ...]

# the shape (n, d) of the data, and the factor by which the number of draws is multiplied
LONG_AT, LONG_TIMES = (1000, 2), 4
LONG_KINDS = (
    "one row in 128 much longer than the others",
    "one row much longer than the others",
    "duplicated rows",
    "some zero rows",
)


def at_scales(
    words: str,
    at: Callable[[float], Matrix | None],
    scales: tuple[float, ...] = BOTH_SIDES,
    times: int = TIMES,
    most: int = MOST_ROWS,
) -> Choices:
    """Return data sets at the distances `scales`, in noise scales, from the point where a choice changes.

    `at` takes a number of noise scales and returns a data set at this distance, or None if there is no such data set.
    `times` multiplies the number of draws on each data set. `most` is the largest number of rows of the data sets;
    larger data sets are left out.
    """
    found = ((k, at(k)) for k in scales)
    return tuple(
        DataSetOfZoo(words, x, f"{k:+g} noise scales", times) for k, x in found if x is not None and len(x) <= most
    )


def with_eigenvalues(first: float, second: float, angle: float = ANGLE) -> Matrix:
    """Return rows of the unit ball in R² for which Σ xxᵀ has the two given eigenvalues."""
    axes = np.array([[math.cos(angle), math.sin(angle)], [-math.sin(angle), math.cos(angle)]])
    rows = []
    for axis, value in zip(axes, (first, second), strict=True):
        whole = math.floor(value)
        rows += [axis] * whole + [math.sqrt(value - whole) * axis]
    return np.array(rows)


def eigenvalue_gaps(scale: float) -> Choices:
    """Return data for which two eigenvalues of Σ xxᵀ differ by a few noise scales; `scale` is the noise scale in the
    unit of Σ xxᵀ.
    """
    return at_scales("a gap between eigenvalues", lambda k: with_eigenvalues((1 + k) * scale, scale), APART)


def small_eigenvalues(scale: float) -> Choices:
    """Return data for which both eigenvalues of Σ xxᵀ are a few noise scales from 0."""
    return at_scales("the smallest eigenvalue", lambda k: with_eigenvalues(k * scale, k * scale), APART)


def unit_rows_among(n: int, count: float, angle: float = ANGLE) -> Matrix | None:
    """Return n rows in R² of which the given number have length 1 and the others are zero, or None if impossible."""
    if not 0 <= count <= n:
        return None
    return np.vstack([with_eigenvalues(count, 0.0, angle), np.zeros((n, 2))])[:n]


def first_clip_level(n: int, noise_bound: Callable[[float], float], scale: float) -> Choices:
    """Return unit rows and zero rows, whose proportion makes the search for a clipping norm stop at its first level or
    go on.

    At its level 1, the search for a clipping norm compares the bias of clipping to norm 1/2 with a bound on the error
    of the noise. The bias is 3/4 of the share of unit rows.

    `noise_bound` takes the mean of ‖x‖² and returns the bound on the error of the noise at level 1. `scale` is the
    noise scale of the query of the search, which is n times the difference between the bias and the bound.
    """

    excess = np.array([0.75 * count - n * noise_bound(count / n) for count in range(1, n)])

    def at(k: float) -> Matrix | None:
        reached = np.flatnonzero(excess >= k * scale)
        return unit_rows_among(n, 1 + int(reached[0])) if len(reached) else None

    return at_scales("the first clipping norm", at)


def long_rows(seed: int, radius: Callable[[int, int], float]) -> Choices:
    """Return data for a mechanism that accepts rows of any length. The longest rows have the largest length that the
    mechanism neither shortens nor drops.

    If all rows lay in the unit ball, the noise of a mechanism on the whole space would hide the effect of single rows.

    `radius` takes (n, d) and returns the length beyond which the mechanism drops or shortens rows.
    """
    found = zoo(*LONG_AT, seed, LONG_KINDS)
    return tuple(
        DataSetOfZoo(f"{member.category}, of the largest length", member.x * radius(*LONG_AT), times=LONG_TIMES)
        for member in found
    )
