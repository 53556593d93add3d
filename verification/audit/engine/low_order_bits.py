"""Test the privacy loss through low-order bits, which are the last digits of a released float.

A float is a whole number times a power of two, and its lowest set bit is the exponent of the largest power of two that
divides it. The check uses the events {lowest set bit ≤ t} and {lowest set bit ≥ t}, for every released number alone and
for all of them together. It counts these events on two neighbouring data sets. On one of the two data sets a query is
0, and on the other data set it is far from 0. Noise that is added to 0 keeps its lowest bits. Noise that is added to a
large query is rounded to a multiple of a larger unit. An event of lowest set bits can therefore occur on one data set
and never on the other (Mironov 2012). The module `bit_statistics` defines the numbers behind the events, and
`bit_pairs` makes the data sets.

The following argument shows that a finding on low-order bits is a violation of privacy. Lowest set bits are functions
of the released bits, so an event in them is a set of outputs. A claim of ε-DP, zCDP or (ε, δ)-DP holds for every set of
outputs. A loss above the claim on an event of low-order bits therefore refutes the claim about what is released,
whatever the law in real arithmetic is.

A release that keeps its claim in all bits is not flagged. Let an ideal mechanism M keep the claim, and let R be any
function of its output, such as rounding to a public grid. Then R ∘ M keeps the claim for every event (post-processing),
also for events of lowest set bits. Whole numbers and multiples of a coarse grid have lowest set bits as well, whose
laws on the two data sets may differ. The claim bounds how much the laws may differ, and only a loss above the claim is
a finding. If a release keeps its claim, the test refutes it with at most the stated probability.

The test of low-order bits uses its draws as follows. The first draws on a pair of neighbours only choose an event. The
event is tested on further draws if the first draws suggest that the remaining draws can prove a loss above the claim.
All earlier draws choose the event of the next stage, and new draws test it. The error of a run is at most the number of
pairs times the number of stages times the level of one test.
"""

import math
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from covassay.reference.domain import Matrix, Vector
from covassay.reference.privacy import ZCDP, ApproximateDP, Guarantee, PureDP
from covassay.verification.audit.engine.bit_statistics import NAME
from covassay.verification.audit.engine.event_choice import exponents, largest_loss, pessimistic
from covassay.verification.audit.engine.events import Event, Pair, data_sets
from covassay.verification.audit.engine.facts import Side, TestedEvent
from covassay.verification.audit.engine.finding import Finding, Status, Verdict
from covassay.verification.audit.engine.pair_draws import Counting, Counts
from covassay.verification.audit.engine.sampling import KEPT, Draws, Setting, Summary, draw, joined, reduced
from covassay.verification.audit.engine.violation import claimed_loss, p_value, refutes, violates
from covassay.verification.statistics.ratio import (
    EventCounts,
    log_ratio_lower,
    poisson_size,
    probability_bounds,
    ratio_p_value,
)
from covassay.verification.statistics.streams import stream
from covassay.verification.statistics.tail_probabilities import poisson_quantile
from covassay.verification.statistics.tests import POWER

STAGES = 4  # the largest number of tests on one pair
# Some draws choose an event, and new draws test it. The event is tested only if, on the draws that chose it, the
# p-value of the hypothesis of equal probabilities is at most EQUAL.
EQUAL = 1e-3
# the test of an event makes this many times as many draws as it is expected to need
SPARE = 1.5
# the number of draws that a test needs is estimated roughly; an event is tested if the estimate is at most this number
# times the number of remaining draws
HOPE = 2.0
BISECTIONS = 40
LARGEST = 100.0  # the largest lower bound on ρ that a report states


# CHOICE OF AN EVENT


@dataclass(frozen=True)
class BitBudget:
    """The number of draws on each data set that the check may make, and its error probability.

    The numbers of draws are random, and have Poisson laws. `first` is the expected number of draws that choose the
    first event of a pair. `most` is the expected number of draws that test events, added over all pairs. `alpha` is a
    bound on the probability that the check flags a target although its released bits satisfy the claim. If `thorough`
    is true, the remaining draws are made even after a loss above the claim is found, so that the proven loss becomes as
    large as possible.
    """

    first: float
    most: float
    alpha: float
    thorough: bool = False


@dataclass(frozen=True)
class _Choice:
    """An event, its counts in the draws that chose it, and the number of draws that its test is expected to need."""

    event: Event
    swapped: bool
    counts: EventCounts
    needed: float

    @property
    def seen(self) -> str:
        """Return the counts of the event in words."""
        return f"{self.counts.first} of {self.counts.first_n} against {self.counts.second} of {self.counts.second_n}"


def _needed(first: Vector, second: Vector, sizes: tuple[int, int], guarantee: Guarantee, level: float) -> Vector:
    """Return the number of draws on each data set that a test at this level needs for events with these counts.

    The probabilities of an event are estimated from its counts. If these probabilities do not violate the claim, the
    number of draws is infinite.
    """
    p, q = pessimistic(first, sizes[0])[0], second / max(sizes[1], 1)
    with np.errstate(divide="ignore"):
        needed: Vector = SPARE * -math.log(level) / exponents(p, q, guarantee)
    return needed


def _choose(pair: Pair, sides: tuple[Draws, Draws], guarantee: Guarantee, level: float) -> _Choice | None:
    """Return the event whose test is expected to need the fewest draws, or None if all draws on one of the data sets
    fail.

    If a target fails on one data set alone, other checks examine the failures.
    """
    best: _Choice | None = None
    sizes = sides[0].size, sides[1].size
    failed = any(draws.failed for draws in sides)
    if not all(len(draws.outputs) for draws in sides) or (failed and not pair.failures_tell):
        return None
    for statistic in pair.statistics:
        one, two = (np.sort(statistic.values(draws.outputs)) for draws in sides)
        tried = np.unique(np.concatenate([one, two]))
        at_most = [np.searchsorted(values, tried, "right").astype(np.float64) for values in (one, two)]
        at_least = [len(values) - np.searchsorted(values, tried, "left").astype(np.float64) for values in (one, two)]
        for above, counts in ((False, at_most), (True, at_least)):
            for swapped in (False, True):
                a, b = counts[::-1] if swapped else counts
                n, m = sizes[::-1] if swapped else sizes
                needed = _needed(a, b, (n, m), guarantee, level)
                i = int(np.argmin(needed))
                if best is None or needed[i] < best.needed:
                    event = Event(statistic, float(tried[i]), above)
                    best = _Choice(event, swapped, EventCounts(int(a[i]), int(b[i]), n, m, n), float(needed[i]))
    return best


def _promising(choice: _Choice | None, draws: float) -> bool:
    """Return whether the chosen event is worth a test: its counts are unlikely under equal laws, and `draws` new draws
    on each data set may suffice to prove a loss above the claim.
    """
    return choice is not None and choice.needed <= HOPE * draws and ratio_p_value(choice.counts, 0.0) <= EQUAL


# THE PROVEN LOSS


def shown_loss(counts: EventCounts, guarantee: Guarantee, error: float) -> dict[str, float]:
    """Return the lower bounds that the counts prove with this error: on ε at the claimed δ and on δ at the claimed ε,
    or on ρ.
    """
    if isinstance(guarantee, PureDP):
        return {"epsilon": max(0.0, log_ratio_lower(counts, 1 - error))}
    p, q = probability_bounds(counts, error)
    if isinstance(guarantee, ApproximateDP):
        epsilon = math.log((p - guarantee.delta) / q) if p > guarantee.delta else 0.0
        return {"epsilon": max(0.0, epsilon), "delta": max(0.0, p - math.exp(guarantee.epsilon) * q)}
    return {"rho": _shown_rho(p, q)}


def _shown_rho(p: float, q: float) -> float:
    """Return the largest ρ, up to rounding, that is refuted by an event with the probabilities p and q."""
    low, high = 0.0, LARGEST
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if violates(p, q, ZCDP(middle)) else (low, middle)
    return low


def loss_in_words(shown: dict[str, float], guarantee: Guarantee) -> str:
    """Return the proven loss and the claim in words."""
    if isinstance(guarantee, ApproximateDP):
        return f"δ({guarantee.epsilon:g}) ≥ {shown['delta']:.2g} in place of {guarantee.delta:g}"
    letter, value = ("ρ", shown["rho"]) if isinstance(guarantee, ZCDP) else ("loss", shown["epsilon"])
    return f"{letter} ≥ {value:.2f} in place of {claimed_loss(guarantee):g}"


# THE CHECK


@dataclass(frozen=True)
class BitFindings:
    """The result of the check on low-order bits: its verdict, one result for every pair, and the proven loss in words.

    `reach` describes the events that the check would have detected, and `draws` is the number of draws of the check.
    """

    verdict: Verdict
    checks: tuple[Finding, ...]
    loss: str = ""
    reach: str = ""
    draws: int = 0

    def status(self, shown: Status) -> Status:
        """Return the status of all pairs together; `shown` is the status if a pair shows a loss above the claim."""
        return {Verdict.REFUTED: shown, Verdict.INCONCLUSIVE: Status.INCONCLUSIVE}.get(self.verdict, Status.NOT_REFUTED)

    @property
    def sentence(self) -> str:
        """Return the result of all pairs together as a sentence."""
        if self.verdict is Verdict.REFUTED:
            return f"low-order bits distinguish neighbouring data sets: {self.loss}, proven"
        if self.verdict is Verdict.INCONCLUSIVE:
            return "whether low-order bits distinguish neighbouring data sets could not be decided"
        detected = f"; the test would have detected {self.reach}" if self.reach else ""
        return f"no loss above the claim was found{detected}"


@dataclass
class _Trials:
    """The progress of the check on one pair of data sets: the draws that are kept, the number of draws made so far, the
    event to test next, and the counts in the last test.
    """

    setting: Setting
    pair: Pair
    guarantee: Guarantee
    level: float
    draws: tuple[Draws, Draws] = field(init=False)
    made: int = 0
    cut_short: bool = False  # says whether the target repeatedly ran into the time limit
    stages: int = 0
    choice: _Choice | None = None
    counts: EventCounts | None = None
    refuted: bool = False

    def sides(self, mean: float, part: str) -> Iterator[tuple[Matrix, int, str]]:
        """Yield the two data sets, each with a Poisson number of draws and the label of these draws."""
        label = f"bits/{self.pair.name}/{part}"
        rng = np.random.default_rng(stream(self.setting.seed, label, "sizes"))
        for side, x in (("first", self.pair.first), ("second", self.pair.second)):
            yield x, poisson_size(mean, rng), f"{label}/{side}"

    def look(self, mean: float) -> None:
        """Make the first draws, and choose an event from them."""
        first, second = (draw(self.setting, *side) for side in self.sides(min(mean, KEPT), "first look"))
        self.draws, self.made = (first, second), first.size + second.size
        self.cut_short = bool(first.skipped or second.skipped)
        self.choice = _choose(self.pair, self.draws, self.guarantee, self.level)

    def test(self, mean: float) -> None:
        """Test the chosen event on new draws, which are kept and help to choose the event of the next stage."""
        assert self.choice is not None
        self.stages += 1
        counting = Counting(self.choice.event)
        sides = self.sides(mean, f"stage {self.stages}")
        fresh: list[Summary[Counts]] = [reduced(self.setting, *side, counting) for side in sides]
        one, two = fresh[::-1] if self.choice.swapped else fresh
        self.counts = EventCounts(one.sums.inside, two.sums.inside, one.size, two.size, mean)
        self.cut_short = self.cut_short or any(draws.skipped for draws in fresh)
        # if the time limit ends the draws early, their number does not have the Poisson law that the test needs
        self.refuted = not self.cut_short and refutes(self.guarantee, self.counts, self.level)
        self.made += one.size + two.size
        self.draws = joined([self.draws[0], fresh[0].kept]), joined([self.draws[1], fresh[1].kept])
        if not self.refuted:
            self.choice = _choose(self.pair, self.draws, self.guarantee, self.level)

    def strengthen(self, mean: float) -> None:
        """Test an event that has shown a loss once more, on more new draws. If the new test also refutes the claim,
        keep the result of the new test. Otherwise keep the result of the earlier test.
        """
        before, choice = self.counts, self.choice
        self.test(mean)
        if not self.refuted or before is None:
            self.counts, self.choice, self.refuted = before, choice, True


def low_order_bits(
    setting: Setting, pairs: Sequence[Pair], guarantee: Guarantee, budget: BitBudget, status: Status
) -> BitFindings:
    """Search for an event of low-order bits whose loss is above the claim; a pair with such an event gets `status`."""
    if not pairs:
        return BitFindings(Verdict.INCONCLUSIVE, (_result("no pair of data sets fits this output"),))
    level = budget.alpha / (len(pairs) * STAGES)
    trials = [_Trials(setting.within(pair.box), pair, guarantee, level) for pair in pairs]
    for trial in trials:
        trial.look(budget.first)
    left = budget.most
    for trial in sorted(trials, key=lambda t: math.inf if t.choice is None else t.choice.needed):
        while not trial.refuted and trial.stages < STAGES and _promising(trial.choice, left) and not trial.cut_short:
            assert trial.choice is not None
            mean = min(max(trial.choice.needed, budget.first), left)
            trial.test(mean)
            left -= mean
        if trial.refuted:
            if budget.thorough and left > 0 and trial.stages < STAGES:
                trial.strengthen(left)
            break
    checks = tuple(_checked(trial, status) for trial in trials)
    found = next((trial for trial in trials if trial.refuted), None)
    made = sum(trial.made for trial in trials)
    if found is not None and found.counts is not None:
        loss = loss_in_words(shown_loss(found.counts, guarantee, level), guarantee)
        return BitFindings(Verdict.REFUTED, checks, loss, draws=made)
    beyond = claimed_loss(guarantee) >= largest_loss((round(budget.most),) * 2, guarantee, level)
    unseen = all(trial.choice is None or trial.cut_short for trial in trials)
    reach = _reach(budget, guarantee, level)
    return BitFindings(Verdict.INCONCLUSIVE if beyond or unseen else Verdict.NOT_REFUTED, checks, "", reach, made)


def _reach(budget: BitBudget, guarantee: Guarantee, level: float) -> str:
    """Describe, among the events that never occur on one of the two data sets, those that the check detects with
    probability `POWER`.
    """
    miss = (1 - POWER) / 2

    def counts(p: float, mean: float) -> EventCounts:
        size = round(mean)
        return EventCounts(min(poisson_quantile(miss, p * mean), size), 0, size, size, mean)

    def unseen(p: float) -> bool:
        looked = counts(p, budget.first)
        needed = _needed(np.array([looked.first]), np.zeros(1), (looked.first_n,) * 2, guarantee, level)[0]
        chosen = needed <= HOPE * budget.most and ratio_p_value(looked, 0.0) <= EQUAL
        return not (chosen and refutes(guarantee, counts(p, min(max(needed, budget.first), budget.most)), level))

    grid = np.geomspace(1e-4, 1.0, 64)
    i = bisect_left(grid, 1, key=lambda p: not unseen(float(p)))
    if i == len(grid):
        return ""
    often = f"at least {grid[i]:.2g}" if i < len(grid) - 1 else "1"
    return f"an event whose probability is {often} on one data set and 0 on the other"


def _result(detail: str, status: Status = Status.SKIPPED) -> Finding:
    return Finding("bits", NAME, status, detail)


def _checked(trial: _Trials, status: Status) -> Finding:
    """Return the result of the check for one pair."""
    pair, guarantee = trial.pair, trial.guarantee
    if (trial.cut_short and not trial.refuted) or trial.choice is None:
        word = (
            "the target ran into the time limit repeatedly" if trial.cut_short else "no output on one of the data sets"
        )
        return Finding("bits", NAME, Status.INCONCLUSIVE if trial.cut_short else Status.SKIPPED, word, pair.name)
    if trial.counts is None:
        text = (
            f"counts of {{{trial.choice.event}}} in the first draws: {trial.choice.seen}; the event was not tested on "
            "further draws"
        )
        return Finding("bits", NAME, Status.NOT_REFUTED, text, pair.name, n=trial.made)
    counts, choice = trial.counts, trial.choice
    sides: tuple[Side, Side] = ("second", "first") if choice.swapped else ("first", "second")
    one, two = trial.draws[::-1] if choice.swapped else trial.draws
    shown = shown_loss(counts, guarantee, trial.level)
    text = (
        f"event {{{choice.event}}}: {counts.first} of {counts.first_n} on the {sides[0]} data set, "
        f"{counts.second} of {counts.second_n} on the {sides[1]}; {loss_in_words(shown, guarantee)}"
    )
    return Finding(
        "bits",
        NAME,
        status if trial.refuted else Status.NOT_REFUTED,
        text,
        pair.name,
        p_value=min(1.0, p_value(counts, guarantee)),
        n=counts.first_n + counts.second_n,
        facts=TestedEvent(
            str(choice.event),
            (counts.first, counts.second),
            (counts.first_n, counts.second_n),
            log_ratio_lower(counts, 1 - trial.level),
            1 - trial.level,
            sides,
            data_sets(pair),
            (dict(one.failures), dict(two.failures)),
            shown=shown,
            level=trial.level,
        ),
        data=(pair.first, pair.second),
    )
