"""Define the objects of an audit of privacy: statistics of an output, events, and pairs of neighbouring data sets."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import zip_longest

import numpy as np

from covassay.reference.domain import Box, Matrix, Vector
from covassay.reference.mechanisms.output import Output
from covassay.verification.audit.engine.facts import DifferingRow, Neighbours
from covassay.verification.audit.engine.features import contrasts
from covassay.verification.audit.engine.sampling import Draws

# statistics are rounded to this many decimals; `low_order_bits` tests the bits that are rounded away
DECIMALS = 9


@dataclass(frozen=True)
class Statistic:
    """A function that computes one number from each output. (size, …) -> (size,).

    If `threshold` is given, the event to test is fixed in advance as {statistic ≥ threshold}.
    """

    name: str
    function: Callable[[Matrix], Vector]
    threshold: float | None = None

    def values(self, outputs: Matrix) -> Vector:
        """Return the statistic of every output, rounded to `DECIMALS`, and 0 if the statistic is not a number."""
        with np.errstate(over="ignore", invalid="ignore"):
            return np.nan_to_num(np.round(self.function(outputs), DECIMALS), posinf=np.inf, neginf=-np.inf)


@dataclass(frozen=True)
class Pair:
    """Two neighbouring data sets, and the statistics from which an event is chosen.

    `weight` multiplies the number of draws on this pair. `remarks` are exact facts about the mechanism, which a report
    prints next to the bound. `failures_tell` is False if one of the data sets lies outside of the domain of the
    mechanism. If a data set lies outside of the domain, the target may reject it, so that a difference in failures
    shows nothing. `box` is a box that holds the rows of this pair. If `box` is None, the box of the whole audit
    applies. `by_entry` says whether the noise may have a different scale on every entry of the output.
    """

    name: str
    first: Matrix
    second: Matrix
    statistics: tuple[Statistic, ...]
    weight: float = 1.0
    remarks: tuple[str, ...] = ()
    failures_tell: bool = True
    box: Box | None = None
    by_entry: bool = False


@dataclass(frozen=True)
class Event:
    """The event {statistic ≥ threshold} or {statistic ≤ threshold}, or, without a statistic, the event that the target
    fails.
    """

    statistic: Statistic | None
    threshold: float = 0.0
    above: bool = True

    def count(self, draws: Draws) -> int:
        """Return how many of these draws lie in the event."""
        if self.statistic is None:
            return draws.failed
        if not len(draws.outputs):
            return 0
        values = self.statistic.values(draws.outputs)
        return int((values >= self.threshold).sum() if self.above else (values <= self.threshold).sum())

    @property
    def statistic_name(self) -> str:
        """Return the name of the statistic, or "failure"."""
        return "failure" if self.statistic is None else self.statistic.name

    def __str__(self) -> str:
        if self.statistic is None:
            return "the target fails"
        return f"{self.statistic.name} {'≥' if self.above else '≤'} {self.threshold:.6g}"


def generic_statistics(first: Matrix, second: Matrix, output: Output) -> tuple[Statistic, ...]:
    """Return statistics for a target whose law is unknown.

    The statistics depend only on the two data sets and the kind of output.
    """
    return tuple(Statistic(name, values) for name, values in contrasts(output, first, second).items())


def data_sets(pair: Pair) -> Neighbours:
    """Return the size of the first data set, and the rows in which the two data sets differ, numbered from 1."""
    ones, twos = ([tuple(row) for row in x.tolist()] for x in (pair.first, pair.second))
    rows = zip_longest(ones, twos)
    differing = tuple(DifferingRow(i + 1, one, two) for i, (one, two) in enumerate(rows) if one != two)
    return Neighbours(len(pair.first), pair.first.shape[1], differing)
