"""Compare a paper's statements about a figure with the results, and find the points that contradict a statement.

A point contradicts a comparison of two methods only if the 95 % intervals of both means are disjoint. Suppose that the
means of two methods are equal, and that their errors are independent and normal with equal variances. The intervals are
then disjoint with a probability of about 0.6 %, and one given interval lies below the other with about 0.3 %. If the
variances differ greatly, these probabilities grow up to 5 % and 2.5 %. A paper states what its figure shows, and the
authors made the figure from their data. A contradiction means that the statement fails for our data, scaling and
constants. A contradiction does not mean that the statement fails for the authors' data, scaling and constants.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Mean:
    """The mean of the errors at one point of one line of a plot, with a Student interval for the mean."""

    mean: float
    low: float
    high: float
    repetitions: int


def mean_of(errors: Sequence[float]) -> Mean:
    """Return the mean of the errors and its Student interval. With one repetition the interval of the mean is the whole
    real line.
    """
    values = np.asarray(errors, dtype=np.float64)
    count = len(values)
    centre = float(values.mean())
    if count < 2:
        return Mean(centre, -math.inf, math.inf, count)
    half = float(stats.t.ppf((1 + CONFIDENCE) / 2, count - 1) * values.std(ddof=1) / math.sqrt(count))
    return Mean(centre, centre - half, centre + half, count)


Line = Mapping[float, Mean]  # the mean errors of one method, one for each value of the varied quantity
Lines = Mapping[tuple[str, str, str], Line]  # the lines of a result by panel, measure and method


@dataclass(frozen=True)
class Contradiction:
    """A point that contradicts a statement, given by the panel, the measure, the method and the value of the varied
    quantity.
    """

    panel: str
    measure: str
    method: str
    value: float


@dataclass(frozen=True)
class Outcome:
    """The number of points that were compared with a statement, and the contradicting points; the outcomes of several
    checks can be added.
    """

    compared: int
    points: tuple[Contradiction, ...]

    def __add__(self, other: "Outcome") -> "Outcome":
        return Outcome(self.compared + other.compared, self.points + other.points)


Check = Callable[[Lines], Outcome]


@dataclass(frozen=True)
class PaperClaim:
    """A statement that a paper makes about one of its figures or theorems.

    ledger : the entry of the ledger about the statement, or "" if there is none.
    check : compares the statement with results.
    """

    statement: str
    ledger: str
    check: Check


Values = Callable[[Sequence[float]], Iterable[float]]  # a selection is a function that selects points of a grid


# a bound is a function of the panel, the measure and the value of the varied quantity
Bound = Callable[[str, str, float], float]


def everywhere(grid: Sequence[float]) -> Iterable[float]:
    """Select all points of the grid."""
    return grid


def smallest(grid: Sequence[float]) -> Iterable[float]:
    """Select only the smallest value of the grid."""
    return [min(grid)]


def largest(grid: Sequence[float]) -> Iterable[float]:
    """Select only the largest value of the grid."""
    return [max(grid)]


def beats(
    winners: Sequence[str], losers: Sequence[str], panels: Sequence[str], at: Values = everywhere, factor: float = 1.0
) -> Check:
    """Make a check of the statement that the best method in `winners` has a mean error of at most `factor` times the
    mean error of every method in `losers`, at every selected point of the given panels.

    At every point, the best method in `winners` is the one with the smallest mean error. A method in `losers`
    contradicts the statement if its interval, multiplied by `factor`, lies below the interval of this best method.
    """

    def check(lines: Lines) -> Outcome:
        compared, found = 0, []
        for (panel, measure, method), line in lines.items():
            if method not in losers or panel not in panels:
                continue
            ours = [lines[key] for key in ((panel, measure, winner) for winner in winners) if key in lines]
            for value in at(list(line)):
                best = min((one[value] for one in ours if value in one), key=lambda mean: mean.mean, default=None)
                compared += best is not None
                if best is not None and factor * line[value].high < best.low:
                    found.append(Contradiction(panel, measure, method, value))
        return Outcome(compared, tuple(found))

    return check


def at_most(bound: float | Bound, methods: Sequence[str], panels: Sequence[str]) -> Check:
    """Make a check that the means of the given methods are at most `bound`; an interval above `bound` contradicts the
    statement.
    """
    bound_at: Bound = bound if callable(bound) else lambda panel, measure, value: bound

    def check(lines: Lines) -> Outcome:
        points = {
            Contradiction(panel, measure, method, value): mean.low > bound_at(panel, measure, value)
            for (panel, measure, method), line in lines.items()
            if method in methods and panel in panels
            for value, mean in line.items()
        }
        return Outcome(len(points), tuple(point for point, above in points.items() if above))

    return check


def agrees(first: str, second: str) -> Check:
    """Make a check that two methods have equal means; disjoint intervals contradict the statement."""

    def check(lines: Lines) -> Outcome:
        points = {
            Contradiction(panel, measure, first, value): mean.high < other.low or other.high < mean.low
            for (panel, measure, method), line in lines.items()
            if method == first and (panel, measure, second) in lines
            for value, mean in line.items()
            for other in [lines[panel, measure, second].get(value)]
            if other
        }
        return Outcome(len(points), tuple(point for point, disjoint in points.items() if disjoint))

    return check
