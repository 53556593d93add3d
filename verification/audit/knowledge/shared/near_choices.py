"""Make data near the choices of a mechanism: the order of two eigenvalues, a threshold, the fullest bin, a clip.

Far from a choice its outcome is almost certain, so draws on such data do not show how it is made. Each function returns
data sets that lie a few noise scales on either side of a choice. Draws on them are compared with draws of the
reference.
"""

import math
from collections.abc import Callable

import numpy as np

from covassay.reference.domain import Matrix
from covassay.verification.audit.engine.zoo import DataSetOfZoo, zoo

# the nearest come first, because of slow mechanisms only the first data set is tried
BOTH_SIDES = (0.5, -0.5, 1.0, -1.0, 2.0, -2.0, 4.0, -4.0, 8.0, -8.0)
APART = (0.5, 1.0, 2.0, 4.0, 8.0, 40.0)
MOST_ROWS = 4000
TIMES, TIMES_IF_FAST = 8, 40  # factors for the draws on each data set
ANGLE = 0.4  # the eigenvectors do not lie on the axes, so that all entries of an output depend on them

Choices = tuple[DataSetOfZoo, ...]

LONG_AT, LONG_TIMES = (1000, 2), 4  # (n, d), and a factor for the draws
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
    """Return the data sets at these numbers of noise scales from a choice.

    at : a number of noise scales -> a data set, or None if there is no such data set on that side. times : a factor for
    the draws on each data set, compared with those on other kinds of data. most : data sets of more rows are left out.
    """
    found = ((k, at(k)) for k in scales)
    return tuple(
        DataSetOfZoo(words, x, f"{k:+g} noise scales", times) for k, x in found if x is not None and len(x) <= most
    )


def with_eigenvalues(first: float, second: float, angle: float = ANGLE) -> Matrix:
    """Make rows of the unit ball in R² whose Σ x xᵀ has these two eigenvalues."""
    axes = np.array([[math.cos(angle), math.sin(angle)], [-math.sin(angle), math.cos(angle)]])
    rows = []
    for axis, value in zip(axes, (first, second), strict=True):
        whole = math.floor(value)
        rows += [axis] * whole + [math.sqrt(value - whole) * axis]
    return np.array(rows)


def eigenvalue_gaps(scale: float) -> Choices:
    """Return data on which two eigenvalues of Σ x xᵀ differ by a few noise scales; `scale` is that of the noise in
    the same unit.
    """
    return at_scales("a gap between eigenvalues", lambda k: with_eigenvalues((1 + k) * scale, scale), APART)


def small_eigenvalues(scale: float) -> Choices:
    """Return data on which both eigenvalues of Σ x xᵀ are a few noise scales from 0."""
    return at_scales("the smallest eigenvalue", lambda k: with_eigenvalues(k * scale, k * scale), APART)


def unit_rows_among(n: int, count: float, angle: float = ANGLE) -> Matrix | None:
    """Make a number of unit rows among n rows of R², the others being zero; None if there are not so many."""
    if not 0 <= count <= n:
        return None
    return np.vstack([with_eigenvalues(count, 0.0, angle), np.zeros((n, 2))])[:n]


def first_clip_level(n: int, noise_bound: Callable[[float], float], scale: float) -> Choices:
    """Return unit rows among n rows, on either side of the number at which the search for a clipping norm ends at level
    1.

    The search compares the bias of clipping to 1/2, which is 3/4 of the share of unit rows, with a bound on the noise.

    noise_bound : mean of ‖x‖² -> the bound on the error of the noise at level 1. scale : of the noise on n times the
    difference.
    """

    excess = np.array([0.75 * count - n * noise_bound(count / n) for count in range(1, n)])

    def at(k: float) -> Matrix | None:
        reached = np.flatnonzero(excess >= k * scale)
        return unit_rows_among(n, 1 + int(reached[0])) if len(reached) else None

    return at_scales("the first clipping norm", at)


def long_rows(seed: int, radius: Callable[[int, int], float]) -> Choices:
    """Kinds of data whose longest rows are as long as a mechanism on the whole space lets them be.

    On rows of the unit ball the noise of such a mechanism hides what happens to single rows.

    radius : (n, d) -> the length beyond which rows are dropped or shortened.
    """
    found = zoo(*LONG_AT, seed, LONG_KINDS)
    return tuple(
        DataSetOfZoo(f"{member.category}, of the largest length", member.x * radius(*LONG_AT), times=LONG_TIMES)
        for member in found
    )
