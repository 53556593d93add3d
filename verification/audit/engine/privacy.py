"""Privacy: lower confidence bounds on the loss between neighbouring data sets.

For a pair of neighbours both sides are drawn a Poisson number of times. An event is chosen on a first part of the
draws, among thresholds of a few one-dimensional statistics, or in advance from an exactly known likelihood ratio,
and tested on the rest. That the target failed is an event too. The witness is the pair, the event, and how often it
occurred.

The bound is on what this event shows. A bound below the claim proves nothing.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar

from covassay.reference.domain import Matrix, Vector
from covassay.reference.mechanisms.output import Output
from covassay.reference.privacy import ApproximateDP, Guarantee, PureDP
from covassay.verification.audit.engine.checks import CheckResult, Status
from covassay.verification.audit.engine.sampling import Draws, Setting, draw
from covassay.verification.statistics.ratio import (
    EventCounts,
    log_ratio_lower,
    poisson_size,
    probability_bounds,
    ratio_p_value,
)
from covassay.verification.statistics.streams import stream

DECIMALS = 9  # statistics are rounded: what the low-order bits of a float give away is a matter of its own
PROBE = 10  # draws a side that show whether one side always fails
FAILING_MEAN = 100.0  # then only failure is tested, on few draws, for failing can be slow: p near 1e-14 at ε = 1
PILOT = 0.3  # share of the draws that choose the event
CONFIDENCE = 0.999  # of the bound that is printed; the verdict uses p-values
THRESHOLDS = np.linspace(0.01, 0.99, 60)


@dataclass(frozen=True)
class Statistic:
    """A number per output, (size, …) -> (size,). With `threshold`, the event is fixed: statistic ≥ threshold."""

    name: str
    function: Callable[[Matrix], Vector]
    threshold: float | None = None

    def values(self, outputs: Matrix) -> Vector:
        """The statistic of every output, rounded."""
        return np.round(self.function(outputs), DECIMALS)


@dataclass(frozen=True)
class Pair:
    """Neighbouring data sets and the statistics whose events are tried.

    `remarks` are exact figures printed beside the bound, such as the true loss of a law that the target was found to
    follow.
    """

    name: str
    first: Matrix
    second: Matrix
    statistics: tuple[Statistic, ...]
    weight: float = 1.0
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Event:
    """{statistic ≥ threshold} or {statistic ≤ threshold}, or failure when `statistic` is None."""

    statistic: Statistic | None
    threshold: float = 0.0
    above: bool = True

    def count(self, draws: Draws) -> int:
        """How many of the draws lie in the event."""
        if self.statistic is None:
            return draws.failed
        if not len(draws.outputs):
            return 0
        values = self.statistic.values(draws.outputs)
        return int((values >= self.threshold).sum() if self.above else (values <= self.threshold).sum())

    def __str__(self) -> str:
        if self.statistic is None:
            return "the target fails"
        return f"{self.statistic.name} {'≥' if self.above else '≤'} {self.threshold:.6g}"


def generic_statistics(first: Matrix, second: Matrix, output: Output) -> tuple[Statistic, ...]:
    """Statistics for a target of unknown law, from the pair and the kind of output alone."""
    return tuple(Statistic(name, values) for name, values in output.contrasts(first, second).items())


def _choose(pair: Pair, pilots: tuple[Draws, Draws], mean: float) -> tuple[Event, bool]:
    """The event with the largest lower bound on the pilot draws, and whether the sides are to be swapped."""
    best, best_bound, swapped = Event(pair.statistics[0], math.inf), -math.inf, False
    for statistic in pair.statistics:
        values = [np.sort(statistic.values(d.outputs)) if len(d.outputs) else np.empty(0) for d in pilots]
        pooled = np.concatenate(values)
        if not len(pooled):
            continue
        for threshold in np.unique(np.quantile(pooled, THRESHOLDS)):
            for above in (True, False):
                counts = [
                    int(len(v) - np.searchsorted(v, threshold, "left"))
                    if above
                    else int(np.searchsorted(v, threshold, "right"))
                    for v in values
                ]
                for swap in (False, True):
                    one, two = (counts[1], counts[0]) if swap else (counts[0], counts[1])
                    bound = log_ratio_lower(EventCounts(one, two, 10**9, 10**9, mean), 0.95)
                    if bound > best_bound:
                        best, best_bound, swapped = Event(statistic, float(threshold), above), bound, swap
    return best, swapped


def p_value(counts: EventCounts, guarantee: Guarantee) -> float:
    """p-value of the null that the event respects the guarantee.

    Pure DP: the exact binomial test of p ≤ e^ε p'. Otherwise the smallest error at which two Clopper–Pearson bounds
    on (p, p') contradict the guarantee.
    """
    if isinstance(guarantee, PureDP):
        return ratio_p_value(counts, guarantee.epsilon)
    if not violates(*probability_bounds(counts, 1 - 1e-9), guarantee):
        return 1.0
    low, high = -100.0, 0.0  # log of the error; below e⁻¹⁰⁰ the beta quantile of scipy does not converge
    for _ in range(60):
        middle = (low + high) / 2
        contradicted = violates(*probability_bounds(counts, math.exp(middle)), guarantee)
        low, high = (low, middle) if contradicted else (middle, high)
    return math.exp(high)


def violates(p: float, q: float, guarantee: Guarantee) -> bool:
    """Does an event of probability ≥ p on one side and ≤ q on the other contradict the guarantee?

    zCDP: by data processing the Rényi divergence of the two coins (p, 1 − p), (q, 1 − q) is at most ρα for every α > 1.
    """
    if p <= q:
        return False
    if isinstance(guarantee, PureDP):
        return p > math.exp(guarantee.epsilon) * q
    if isinstance(guarantee, ApproximateDP):
        return p > math.exp(guarantee.epsilon) * q + guarantee.delta

    def excess(log_order: float) -> float:
        alpha = 1 + math.exp(log_order)
        with np.errstate(divide="ignore"):
            terms = alpha * np.log([p, 1 - p]) + (1 - alpha) * np.log([q, 1 - q])
        return float(np.logaddexp.reduce(terms)) / (alpha - 1) - guarantee.rho * alpha

    if q == 0:
        return True
    found = minimize_scalar(lambda t: -excess(t), bounds=(-8.0, 6.0), method="bounded")
    return bool(-found.fun > 0)


def _describe(event: Event, counts: EventCounts, guarantee: Guarantee, sides: tuple[str, str]) -> tuple[str, float]:
    bound = log_ratio_lower(counts, CONFIDENCE)
    text = (
        f"event {{{event}}}: {counts.first} of {counts.first_n} on the {sides[0]} data set, "
        f"{counts.second} of {counts.second_n} on the {sides[1]}"
    )
    if isinstance(guarantee, PureDP):
        text += f"; loss ≥ {bound:.3f} at {CONFIDENCE:.1%} (claim {guarantee.epsilon:g})"
    return text, bound


def run_pair(setting: Setting, pair: Pair, guarantee: Guarantee, samples: int, look: str) -> list[CheckResult]:
    """Draw both sides, choose an event, test it and the failure event."""
    label = f"privacy/{pair.name}/{look}"
    fixed = [s for s in pair.statistics if s.threshold is not None]
    sizes_rng = np.random.default_rng(stream(setting.seed, label, "sizes"))
    sides = (("first", pair.first), ("second", pair.second))
    probes = [draw(setting, x, PROBE, f"{label}/{side}/probe") for side, x in sides]
    always_failing = [len(probe.outputs) == 0 for probe in probes]
    if all(always_failing):
        reason = ", ".join(f"{count} × {what}" for what, count in probes[0].failures.items())
        return [CheckResult("privacy", "event", Status.SKIPPED, f"no output on either data set: {reason}", pair.name)]
    mean = samples * pair.weight
    pilots: tuple[Draws, ...] = ()
    swapped, test_mean = False, mean
    if any(always_failing):
        event, test_mean = Event(None), min(mean, FAILING_MEAN)
    elif fixed:
        event = Event(fixed[0], float(fixed[0].threshold or 0.0))
    else:
        pilot_mean, test_mean = PILOT * mean, (1 - PILOT) * mean
        pilots = tuple(
            draw(setting, x, poisson_size(pilot_mean, sizes_rng), f"{label}/{side}/pilot") for side, x in sides
        )
        event, swapped = _choose(pair, (pilots[0], pilots[1]), pilot_mean)
    tests = [(side, draw(setting, x, poisson_size(test_mean, sizes_rng), f"{label}/{side}/test")) for side, x in sides]
    if swapped:
        tests.reverse()
    if any(d.skipped for d in (*pilots, *(d for _, d in tests))):
        return [
            CheckResult(
                "privacy",
                "event",
                Status.INCONCLUSIVE,
                f"the target ran into the time limit of {setting.seconds:g} s again and again",
                pair.name,
                facts={"failures": [dict(d.failures) for _, d in tests]},
            )
        ]
    checks = []
    failure = Event(None)
    for name, tried in (("event", event), ("failures", failure)) if event != failure else (("failures", failure),):
        (side, ones), (other, twos) = tests
        if tried == failure and ones.failed < twos.failed:
            # which side fails more often is a choice made on the same draws: the p-value is doubled
            (side, ones), (other, twos) = (other, twos), (side, ones)
        counts = EventCounts(tried.count(ones), tried.count(twos), ones.size, twos.size, test_mean)
        p = p_value(counts, guarantee)
        if tried == failure:
            if not counts.first:
                continue
            p = min(1.0, 2 * p)
        text, bound = _describe(tried, counts, guarantee, (side, other))
        checks.append(
            CheckResult(
                "privacy",
                name,
                Status.NOT_REFUTED,
                "; ".join((text, *pair.remarks)),
                pair.name,
                p_value=p,
                n=counts.first_n + counts.second_n,
                facts={
                    "event": str(tried),
                    "counts": [counts.first, counts.second],
                    "draws": [counts.first_n, counts.second_n],
                    "loss_lower_bound": bound,
                    "confidence": CONFIDENCE,
                    "sides": [side, other],
                    "failures": [dict(ones.failures), dict(twos.failures)],
                },
            )
        )
    return checks
