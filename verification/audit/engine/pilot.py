"""Choose an event for a test from some of the draws, which are called the pilot.

The candidates are the events {statistic ≥ t} and {statistic ≤ t}, for the statistics of the pair, for statistics that
are learned from pilot draws, and for many thresholds t. The score of a candidate (`event_choice.scores`) says how
clearly it is expected to refute the claim on the test draws. The event with the best score is tested on draws that are
not part of the pilot.
"""

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from covassay.reference.domain import Matrix, Vector
from covassay.reference.privacy import Guarantee
from covassay.verification.audit.engine.event_choice import scores, thresholds
from covassay.verification.audit.engine.events import DECIMALS, Event, Pair, Statistic
from covassay.verification.audit.engine.learned import log_ratios
from covassay.verification.audit.engine.sampling import Draws
from covassay.verification.audit.engine.standardised import standardised

FEWEST_LEARNED = 20  # a statistic is learned only from at least this many outputs on each data set
# The score of a learned statistic is reduced by this share of its absolute value, because the score is computed from
# only half of the pilot draws.
EDGE = 0.1
GAP = 100.0  # the means on two data sets must differ by more than this many times the size of rounding errors
# A trade-off curve is computed at these quantiles of a statistic on pilot draws. A bet on a Rényi divergence divides
# the values of the statistic into intervals at the same quantiles.
CUTS = np.array([0.005, 0.02, *np.linspace(0.05, 0.95, 14), 0.98, 0.995])


@dataclass(frozen=True)
class EventChoice:
    """The event that the pilot chose, and the draws on which it was chosen.

    `swapped` says whether the event seemed likelier on the second data set than on the first. `ranking` has the pilot
    draws on which the event was scored. If the event has a learned statistic, the draws from which it was learned are
    not in `ranking`.
    """

    event: Event
    swapped: bool
    ranking: tuple[Draws, ...] = ()


def choose(pair: Pair, pilots: tuple[Draws, Draws], mean: float, guarantee: Guarantee, error: float) -> EventChoice:
    """Choose the event with the best score.

    The score is for a test at the level `error` with `mean` draws on average on each data set.
    """
    best, best_score = EventChoice(Event(pair.statistics[0], math.inf), False, pilots), -math.inf
    learned = _learned(pilots) + (_learned_by_entry(pilots) if pair.by_entry else [])
    given = [(statistic, pilots, 0.0) for statistic in pair.statistics]
    for statistic, ranking, edge in (*given, *((*one, EDGE) for one in learned)):
        sizes = ranking[0].size, ranking[1].size
        first, second = (np.sort(statistic.values(d.outputs)) if len(d.outputs) else np.empty(0) for d in ranking)
        if not len(first) + len(second):
            continue
        tried = thresholds(np.concatenate([first, second]))
        for above in (True, False):
            one, two = (beyond(values, tried, above) for values in (first, second))
            for swapped, found in (
                (False, scores(one, two, sizes, mean, guarantee, error)),
                (True, scores(two, one, sizes[::-1], mean, guarantee, error)),
            ):
                index = int(np.argmax(found))
                promised = float(found[index]) - edge * abs(float(found[index]))
                if promised > best_score:
                    best_score = promised
                    best = EventChoice(Event(statistic, float(tried[index]), above), swapped, ranking)
    return best


def _learned(pilots: tuple[Draws, Draws]) -> list[tuple[Statistic, tuple[Draws, Draws]]]:
    """Learn statistics from the first half of the pilot. Return each learned statistic together with the second half of
    the pilot. The score of the statistic is computed on this second half.

    On the half of the pilot from which a statistic was learned, the statistic would look better than it is.

    Four kinds of statistics are learned from pilot draws. The statistics of `log_ratios` are estimates of a log
    likelihood ratio. Let M and M' be the medians of the outputs on the two data sets, and let Y be an output. The
    statistic `spread` is the distance of an output Y from the middle (M + M')/2 of the medians M and M'. The statistic
    `spread` detects noise whose scale differs between the data sets. The statistic `closer` is ‖Y − M'‖₁ − ‖Y − M‖₁ for
    an output Y and the medians M and M'. The statistic `closer` is nearly the best one if the entries of the noise are
    independent Laplace variables of one scale. The statistic of the fourth kind is a linear combination of the entries
    of an output, which `without_noise` finds.
    """
    if min(len(draws.outputs) for draws in pilots) < FEWEST_LEARNED:
        return []
    (one, first), (two, second) = (_halves(draws) for draws in pilots)
    near, far = (np.median(outputs.reshape(len(outputs), -1), axis=0) for outputs in (one, two))

    def closer(outputs: Matrix) -> Vector:
        values = outputs.reshape(len(outputs), -1)
        gap: Vector = np.abs(values - far).sum(axis=1) - np.abs(values - near).sum(axis=1)
        return gap

    def spread(outputs: Matrix) -> Vector:
        values: Vector = np.abs(outputs.reshape(len(outputs), -1) - (near + far) / 2).sum(axis=1)
        return values

    found = [
        _of_rounded(name, function) for name, function in log_ratios(np.round(one, DECIMALS), np.round(two, DECIMALS))
    ]
    found.append(Statistic("‖Y − (M + M')/2‖₁ of the output Y, for the medians M and M' of pilot draws", spread))
    if len(near) > 1:
        found.append(Statistic("‖Y − M'‖₁ − ‖Y − M‖₁ of the output Y, for the medians M and M' of pilot draws", closer))
    direction = without_noise(one, two)
    if direction is not None:
        found.append(
            Statistic(
                "linear combination of the entries that is constant over the pilot draws on each data set",
                combination(direction),
            )
        )
    return [(statistic, (first, second)) for statistic in found]


def without_noise(one: Matrix, two: Matrix) -> Vector | None:
    """Look for a unit vector w for which ⟨w, Y⟩ is constant over the outputs Y on each data set, with different
    constants. Return None if there is no such w.

    If one noise variable is added to several entries, some combination of these entries has no spread. Numbers below
    1e-9 of the largest entry count as rounding errors. Some combinations, such as Y_ij − Y_ji, have the same constant
    value on both data sets, and do not distinguish the data sets. The function therefore returns w only if the two
    constants differ by much more than rounding errors.
    """
    flat = [side.reshape(len(side), -1) for side in (one, two)]
    pooled = np.vstack(flat)
    with np.errstate(over="ignore", invalid="ignore"):
        unit = float(np.abs(pooled).max()) * 10.0**-DECIMALS
        centred = np.vstack([side - side.mean(axis=0) for side in flat])
    if not np.isfinite(centred).all() or not np.isfinite(unit) or len(pooled) <= 2 * pooled.shape[1]:
        return None
    _, sizes, rows = np.linalg.svd(centred, full_matrices=False)
    null = rows[sizes <= unit * math.sqrt(len(centred))]
    gap: Vector = (flat[0].mean(axis=0) - flat[1].mean(axis=0)) @ null.T @ null
    size = float(np.linalg.norm(gap))
    return gap / size if size > GAP * unit else None


def combination(direction: Vector) -> Callable[[Matrix], Vector]:
    """Return the statistic ⟨direction, Y⟩ of an output Y."""
    return lambda outputs: outputs.reshape(len(outputs), -1) @ direction


def _of_rounded(name: str, function: Callable[[Matrix], Vector]) -> Statistic:
    """Return a statistic of rounded outputs, which does not depend on their low-order bits."""
    return Statistic(name, lambda outputs: function(np.round(outputs, DECIMALS)))


def _learned_by_entry(pilots: tuple[Draws, Draws]) -> list[tuple[Statistic, tuple[Draws, Draws]]]:
    """Return the statistics of `standardised` that are learned on the first half of the pilot.

    Each learned statistic is returned with the second half of the pilot, on which it is scored.
    """
    (one, first), (two, second) = (_halves(draws) for draws in pilots)
    if 2 * min(len(one), len(two)) < FEWEST_LEARNED:
        return []
    return [(Statistic(name, function), (first, second)) for name, function in standardised(one, two)]


def _halves(draws: Draws) -> tuple[Matrix, Draws]:
    """Return the outputs of the first and of the second half of the draws; each half has half of the failures."""
    middle = len(draws.outputs) // 2
    failures = Counter({what: count - count // 2 for what, count in draws.failures.items()})
    return draws.outputs[:middle], replace(draws, outputs=draws.outputs[middle:], failures=failures)


def beyond(ordered: Vector, tried: Vector, above: bool) -> Vector:
    """Return, for every threshold in `tried`, how many of the ordered values are at least the threshold, or at most the
    threshold if `above` is False.
    """
    if above:
        return np.asarray(len(ordered) - np.searchsorted(ordered, tried, "left"), dtype=np.float64)
    return np.asarray(np.searchsorted(ordered, tried, "right"), dtype=np.float64)


def levels(event: Event, pilots: tuple[Draws, Draws]) -> tuple[float, ...]:
    """Return the thresholds of a trade-off curve: quantiles of the statistic on pilot draws, and the event's own
    threshold.
    """
    if event.statistic is None or not any(len(draws.outputs) for draws in pilots):
        return ()
    pooled = np.concatenate([event.statistic.values(draws.outputs) for draws in pilots if len(draws.outputs)])
    quantiles = np.quantile(pooled, CUTS, method="inverted_cdf")
    return tuple(float(t) for t in np.unique([*quantiles, event.threshold]))
