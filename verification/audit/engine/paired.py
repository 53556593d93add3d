"""Test whether two samplers have the same law, by pairs of draws from equal generators.

Suppose that the two laws are equal, and take any event. If the event occurs in exactly one draw of a pair, this draw is
equally likely to be the first or the second one, even if the two draws are dependent. Take the pairs in which the event
occurs in exactly one draw. Given the number of these pairs, the number of pairs with the event in the first draw is
binomial with probability 1/2 (McNemar 1947). If the two draws of a pair are nearly equal, few pairs have the event in
exactly one draw, but these few pairs show a small difference of the laws clearly. Suppose, for instance, that the noise
of one sampler is slightly smaller. In nearly all pairs with the event in exactly one draw, the draw with the event then
comes from the same one of the two samplers. Some hundreds of such pairs detect noise that is 3 % too small. A test of
independent draws needs a hundred times as many draws.

Pilot pairs choose the event, and new pairs test it. When pairs are tested, a failed draw counts as outside of the
event. If pairs with a failed draw were left out, samplers with equal laws could seem to have different laws.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from covassay.reference.domain import Matrix, Vector
from covassay.verification.audit.targets.target import Failure
from covassay.verification.statistics.last_digits import rounded_to, unit_of
from covassay.verification.statistics.rounding import at_least
from covassay.verification.statistics.streams import stream

# PILOT pairs choose the event. If these pairs suggest a difference of the laws, the pilot is extended to LONGER pairs.
PILOT, LONGER = 200, 1000
SUGGESTED = 4.0  # the pilot is extended if the mean change of some feature exceeds this number of standard errors
FEWEST, MOST = 500, 8000  # the smallest and the largest number of pairs that test the event
PROMISING = 5e-3  # the best event of the pilot is tested if its p-value is below this
# The number of test pairs is SPARE times the number that would suffice if the frequencies in the pilot were exact.
SPARE = 2.0
LEVELS = np.linspace(0.1, 0.9, 9)  # these quantiles of the pilot are tried as thresholds
ENTRIES = 40  # the largest number of entries of an output that are compared
SMALL = 1e-9  # numbers that vary by less than this share of the largest number are treated as equal

Sampler = Callable[[np.random.Generator], Matrix | Failure]


@dataclass(frozen=True)
class _Event:
    """The event {weights · features ≥ threshold}, and the sampler for which the event is more frequent."""

    weights: Vector
    threshold: float
    first: bool

    def counts(self, a: Matrix, b: Matrix) -> tuple[int, int]:
        """Count the pairs in which the event occurs in one draw only. The first count is for the sampler for which the
        event is expected to be more frequent, and the second is for the other sampler.
        """
        one, two = a @ self.weights >= self.threshold, b @ self.weights >= self.threshold
        more, less = (one & ~two, two & ~one) if self.first else (two & ~one, one & ~two)
        return int(more.sum()), int(less.sum())


def _features(outputs: Matrix, unit: float, centre: Matrix) -> Matrix:
    """Return the first entries of the rounded outputs, minus a centre, and the products of these entries.

    Differences in location, scale and dependence show in the entries of an output and in their products.
    """
    flat = (rounded_to(unit, outputs) - centre).reshape(len(outputs), -1)[:, :ENTRIES]
    i, j = np.triu_indices(flat.shape[1])
    return np.hstack([flat, flat[:, i] * flat[:, j]])


def _pairs(first: Sampler, second: Sampler, size: int, seed: int, label: str) -> tuple[Matrix, Matrix] | None:
    """Return the outputs of pairs of draws, with NaN where a draw fails, or None if many draws fail."""
    drawn: list[tuple[Matrix | Failure, Matrix | Failure]] = []
    failed = 0
    for i in range(size):
        one, two = (side(np.random.default_rng(stream(seed, label, i))) for side in (first, second))
        failed += isinstance(one, Failure) or isinstance(two, Failure)
        if failed > size // 10:
            return None
        drawn.append((one, two))
    shape = next(output.shape for pair in drawn for output in pair if not isinstance(output, Failure))
    nothing = np.full(shape, np.nan)
    a, b = (
        np.array([nothing if isinstance(output, Failure) else output for output in side])
        for side in zip(*drawn, strict=True)
    )
    return a, b


def _whole(pairs: tuple[Matrix, Matrix]) -> tuple[Matrix, Matrix]:
    """Return the pairs of draws that both have an output."""
    a, b = pairs
    whole = ~np.isnan(a + b).reshape(len(a), -1).any(axis=1)
    return a[whole], b[whole]


def _standard_errors(a: Matrix, b: Matrix) -> Vector:
    """Return the mean change of every feature in standard errors, which is 0 for features that do not vary."""
    error = (a - b).std(axis=0) / math.sqrt(len(a))
    usable = np.concatenate([a, b]).std(axis=0) > SMALL * np.maximum(np.abs(a).max(axis=0), 1e-300)
    units: Vector = np.divide(np.abs((a - b).mean(axis=0)), error, out=np.zeros(a.shape[1]), where=usable & (error > 0))
    return units


def _best(a: Matrix, b: Matrix) -> tuple[_Event, int, int] | None:
    """Return the event with the smallest p-value in the pilot and its two counts, or None if there is no event."""
    both, change, z = np.concatenate([a, b]), (a - b).mean(axis=0), _standard_errors(a, b)
    spread = both.std(axis=0)
    weight = np.divide(change, spread**2, out=np.zeros_like(change), where=z > 0)
    entries = int((math.sqrt(8 * a.shape[1] + 9) - 3) / 2)  # k entries of an output have k(k + 1)/2 products
    linear, quadratic = weight.copy(), weight.copy()
    linear[entries:], quadratic[:entries] = 0, 0
    single = [np.eye(len(z))[k] * np.sign(change[k]) for k in np.argsort(-z)[:4]]
    found = []
    for weights in (linear, quadratic, *single):
        values = both @ weights
        if not np.ptp(values) > SMALL * np.abs(values).max():
            continue
        for threshold in np.quantile(values, LEVELS):
            for side in (True, False):
                event = _Event(weights, float(threshold), side)
                more, less = event.counts(a, b)
                if more > less:
                    found.append((at_least(more, more + less, 0.5), event, more, less))
    return min(found, key=lambda one: one[0])[1:] if found else None


@dataclass(frozen=True)
class _Pilot:
    """The features of the pilot pairs, the unit to which outputs are rounded, and the centre that is subtracted."""

    unit: float
    centre: Matrix
    a: Matrix
    b: Matrix


def _pilot(first: Sampler, second: Sampler, seed: int, label: str) -> _Pilot | None:
    """Return the pilot pairs, or None if many draws fail."""
    drawn = _pairs(first, second, PILOT, seed, f"{label}/pilot")
    if drawn is None:
        return None
    pairs = _whole(drawn)
    unit, centre = unit_of(*pairs), np.concatenate(pairs).mean(axis=0)
    a, b = (_features(side, unit, centre) for side in pairs)
    if _standard_errors(a, b).max(initial=0.0) < SUGGESTED:
        return _Pilot(unit, centre, a, b)
    more = _pairs(first, second, LONGER - PILOT, seed, f"{label}/longer pilot")
    if more is None:
        return None
    further = (_features(side, unit, centre) for side in _whole(more))
    return _Pilot(unit, centre, *(np.vstack(both) for both in zip((a, b), further, strict=True)))


def paired_difference(first: Sampler, second: Sampler, seed: int, label: str, alpha: float) -> str:
    """Return a sentence on the difference of the two laws, or an empty text if the pairs prove no difference.

    Two samplers with the same law are found to differ with probability at most `alpha`.
    """
    pilot = _pilot(first, second, seed, label)
    chosen = None if pilot is None else _best(pilot.a, pilot.b)
    if pilot is None or chosen is None:
        return ""
    event, more, less = chosen
    if at_least(more, more + less, 0.5) > PROMISING:
        return ""
    needed = SPARE * len(pilot.a) * 2 * (more + less) * math.log(1 / alpha) / (more - less) ** 2
    size = round(min(max(needed, FEWEST), MOST))
    fresh = _pairs(first, second, size, seed, f"{label}/test")
    if fresh is None:
        return ""
    more, less = event.counts(*(_features(side, pilot.unit, pilot.centre) for side in fresh))
    p = at_least(more, more + less, 0.5)
    if p > alpha:
        return ""
    return (
        f"the outputs differ in law: in {more} of {size} pairs of draws, an event occurs only in the draw of one "
        f"sampler, and in {less} pairs it occurs only in the draw of the other sampler (p = {p:.2g})"
    )
