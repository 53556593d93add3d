"""Compute the distribution functions of a sample and of its law at some values, so that a plot can compare them."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from covassay.reference.domain import Vector

SHARES = np.concatenate([[0.002, 0.005, 0.01, 0.02], np.linspace(0.05, 0.95, 19), [0.98, 0.99, 0.995, 0.998]])
# the values at these positions, counted from the largest value, are kept to show the upper tail
LAST = (1, 2, 3, 5, 10, 20, 50, 100)


@dataclass(frozen=True)
class Curve:
    """The shares of a sample of `size` values and the probabilities of its law, at the same values in increasing order.

    up_to, from_on : the shares of the sample that are at most and at least each value.
    law_up_to, law_from_on : the probabilities of the same events.
    law_size : 0 if the law is known exactly, or else the size of the second sample that stands for the law.
    """

    values: tuple[float, ...]
    up_to: tuple[float, ...]
    law_up_to: tuple[float, ...]
    from_on: tuple[float, ...]
    law_from_on: tuple[float, ...]
    size: int
    law_size: int = 0


def curve(
    values: Vector, up_to: Vector, law: Callable[[Vector], tuple[Vector, Vector]], size: int, law_size: int = 0
) -> Curve:
    """Return the curve of a sample, given its distinct values in increasing order and the share up to each of them.

    The function `law` takes the positions of some of the values in the list, and returns P(X ≤ value) and P(X ≥ value)
    for them.
    """
    ranks = np.concatenate([SHARES * size, [1], size + 1 - np.array(LAST)])
    places = np.unique(np.searchsorted(up_to * size, np.clip(ranks, 1, size) - 0.5))
    before = np.concatenate([[0.0], up_to])[places]
    at_most, at_least = law(places)
    columns = [tuple(map(float, c)) for c in (values[places], up_to[places], at_most, 1 - before, at_least)]
    return Curve(columns[0], columns[1], columns[2], columns[3], columns[4], size, law_size)


def between(values: Vector, other: Vector) -> Curve:
    """Return the curve that compares the sample `values` with the sample `other`, which stands for an unknown law."""
    found, counts = np.unique(values, return_counts=True)
    ordered = np.sort(other)

    def law(places: Vector) -> tuple[Vector, Vector]:
        at_most = np.searchsorted(ordered, found[places], "right") / len(ordered)
        below = np.searchsorted(ordered, found[places], "left") / len(ordered)
        return at_most, 1 - below

    return curve(found, np.cumsum(counts) / len(values), law, len(values), len(ordered))
