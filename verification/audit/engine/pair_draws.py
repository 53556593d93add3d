"""Make the draws on the two data sets of a pair: pilot draws choose an event, and test draws count it.

The pilot and the test use different streams of random numbers. The number of draws on each data set has a Poisson law,
which makes the test of pure DP exact (`statistics.ratio`).

A betting test, given by the argument `wager`, may end the draws on a pair of data sets early. The draws on a pair come
in stages, and each stage doubles their number. Two sequential betting tests, called wagers, bet on the draws. The first
stage of the pilot draws determines the first betting test, which then bets on the later stages of the pilot draws. All
pilot draws together determine the second betting test, which then bets on the test draws. Let p be the largest p-value
that ends the draws of a pair (`stop`). Once the wealth of a bet reaches 2/(`EARLY_SHARE` · p), no more draws are made.
If the claim is true, the wealth of each bet reaches 2/(`EARLY_SHARE` · p) with probability at most `EARLY_SHARE` · p/2.
The draws end early with probability at most `EARLY_SHARE` · p.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from covassay.reference.domain import Vector
from covassay.reference.privacy import Guarantee
from covassay.verification.audit.engine.event_choice import RUN_ERROR
from covassay.verification.audit.engine.events import Event, Pair
from covassay.verification.audit.engine.facts import Side as Name
from covassay.verification.audit.engine.pilot import EventChoice, beyond, choose, levels
from covassay.verification.audit.engine.sampling import CHUNK, KEPT, Draws, Setting, Summary, draw, joined, reduced
from covassay.verification.audit.engine.store import storable
from covassay.verification.audit.engine.violation import refutes
from covassay.verification.audit.engine.wager import Wager, wager_on
from covassay.verification.statistics.ratio import EventCounts, poisson_size
from covassay.verification.statistics.streams import stream

# the number of first draws on each data set; if all of them fail, the target counts as always failing on that data set
PROBE = 10
# If the target seems always to fail on one data set, the tested event is that a draw fails. The mean number of draws is
# then `failing_mean`.
# If the target never fails on the other data set, the p-value is at most FAILING_SHARE times the level of a check.
# A p-value below that bound refutes the claim even after multiplication by 2 or 4 and Holm's correction for 250 checks.
# SHORTFALL standard deviations are added, because a Poisson number of draws may be below its mean.
FAILING_SHARE, SHORTFALL = 1e-3, 6.0
PILOT = 0.3  # this share of the draws chooses the event, and the rest of the draws tests it
EARLY_SHARE = 1e-3  # this share of the allowed error probability is reserved for draws that end early
FIRST_STAGE = 2 * CHUNK  # the number of draws on each data set in the first stage


@storable
@dataclass(frozen=True)
class Counts:
    """The counts of draws in an event, in every category of a bet, and at or beyond every threshold of a trade-off
    curve.
    """

    inside: int
    bet: Vector
    beyond: Vector

    def plus(self, other: "Counts") -> "Counts":
        """Add the counts over two blocks of draws."""
        return Counts(self.inside + other.inside, self.bet + other.bet, self.beyond + other.beyond)


@dataclass(frozen=True)
class Counting:
    """Count the draws of a block that lie in the event. Also count the draws in each category that the bet
    distinguishes, and the draws at or beyond each threshold in `levels`.
    """

    event: Event
    wager: Wager | None = None
    levels: tuple[float, ...] = ()

    def __call__(self, draws: Draws, block: int = 0) -> Counts:
        """Return the counts in a block of draws."""
        tried, found = np.array(self.levels), np.zeros(len(self.levels))
        if self.levels and self.event.statistic is not None and len(draws.outputs):
            found = beyond(np.sort(self.event.statistic.values(draws.outputs)), tried, self.event.above)
        bet = self.wager.seen(draws) if self.wager else np.zeros(0)
        return Counts(self.event.count(draws), bet, found)


class Side(NamedTuple):
    """The name of a data set, "first" or "second", and the draws on it that test the event."""

    name: Name
    draws: Summary[Counts]


class EarlyEnd(NamedTuple):
    """The record of a betting test that ended the draws early. `log_value` is the logarithm of its wealth at the end.
    `planned` is the mean number of draws that was planned.
    """

    log_value: float
    planned: float


@dataclass(frozen=True)
class EventTrial:
    """An event, and the draws that test it.

    `sides` has the draws, first those on the data set on which the event is expected to be likelier. `mean` is the
    planned mean number of draws on each data set. `cut_short` says whether draws are missing because the target kept
    running into the time limit. `wager` is a betting test that uses the draws in `sides` too, or None if there is none.
    `levels` are thresholds of the statistic, for a trade-off curve. `early` says how a betting test ended the draws
    early, and is None if the draws did not end early.

    The event, the bet and the thresholds were chosen without the draws in `sides`, unless `cut_short` is set.
    """

    event: Event
    sides: tuple[Side, Side]
    mean: float
    cut_short: bool
    wager: Wager | None = None
    levels: tuple[float, ...] = ()
    early: EarlyEnd | None = None

    def wager_p_value(self) -> float:
        """Return the p-value of the betting test on these draws, or 1 if there is no betting test."""
        if self.wager is None:
            return 1.0
        bets = {side.name: side.draws.sums.bet for side in self.sides}
        return self.wager.p_value(bets["first"], bets["second"])

    def counts(self, event: Event) -> EventCounts:
        """Return the counts of the event, or of failures, on both data sets."""
        one, two = (side.draws for side in self.sides)
        first, second = (d.failed if event.statistic is None else d.sums.inside for d in (one, two))
        return EventCounts(first, second, one.size, two.size, self.mean)

    def turned_to_failures(self) -> "EventTrial":
        """Return this trial with the data set that has more failures in first place."""
        one, two = self.sides
        return replace(self, sides=(two, one)) if one.draws.failed < two.draws.failed else self


@dataclass(frozen=True)
class _Plan:
    """The decisions before the test: the event, the bet, and the mean number of test draws on each data set.

    `pilot` has the pilot draws on both data sets, or is None if no pilot draws were made.
    """

    choice: EventChoice
    mean: float
    pilot: tuple[Draws, Draws] | None = None
    wager: Wager | None = None

    @property
    def counting(self) -> Counting:
        """Return what to count in the draws that test the event."""
        return Counting(self.choice.event, self.wager, levels(self.choice.event, self.pilot) if self.pilot else ())

    def trial(self, draws: tuple[Summary[Counts], Summary[Counts]], counting: Counting) -> EventTrial:
        """Return the event of this plan together with the draws that test this event."""
        cut_short = any(d.skipped for d in (*(self.pilot or ()), *draws))
        return EventTrial(
            self.choice.event, _sides(draws, self.choice), self.mean, cut_short, self.wager, counting.levels
        )


@dataclass(frozen=True)
class PairSampler:
    """The settings for the draws of a pair, with the methods that make the draws.

    `label` names the streams of random numbers. `stop` is the p-value at which the draws of the pair may end early, and
    0 turns early ends off. `error` is the level of the test that the event is chosen for. If the target seems always to
    fail on one data set, `error` also decides the number of draws.
    """

    setting: Setting
    pair: Pair
    label: str
    stop: float = 0.0
    error: float = RUN_ERROR

    def trial(self, mean: float, always_failing: bool, guarantee: Guarantee) -> EventTrial:
        """Choose an event, and make the draws that test it.

        `mean` is the mean number of draws on each data set, for pilot and test together. `always_failing` says that the
        target seems always to fail on one data set.
        """
        rng = np.random.default_rng(stream(self.setting.seed, self.label, "sizes"))
        plan = self.planned(mean, always_failing, guarantee, rng)
        return plan if isinstance(plan, EventTrial) else self.tested(plan, mean, rng)

    def planned(
        self, mean: float, always_failing: bool, guarantee: Guarantee, rng: np.random.Generator
    ) -> _Plan | EventTrial:
        """Plan the test of one event. The event is a failure of the target, an event that was fixed in advance, or an
        event that is chosen by pilot draws.

        If a betting test on pilot draws already rejects the claim, no test draws are needed. This method then returns
        no plan. It returns an `EventTrial` with the pilot draws that the betting test used.
        """
        if always_failing:
            return _Plan(EventChoice(Event(None), False), failing_mean(guarantee, self.error, mean))
        for statistic in self.pair.statistics:
            if statistic.threshold is not None:
                return _Plan(EventChoice(Event(statistic, statistic.threshold), False), mean)
        share = min(PILOT, KEPT / mean)
        pilot = self.pilot(_sizes(share * mean, rng), mean, guarantee)
        if isinstance(pilot, EventTrial):
            return pilot
        test_mean = (1 - share) * mean
        choice = choose(self.pair, pilot, test_mean, guarantee, self.error)
        return _Plan(choice, test_mean, pilot, wager_on(choice, guarantee))

    def pilot(self, sizes: tuple[int, int], mean: float, guarantee: Guarantee) -> tuple[Draws, Draws] | EventTrial:
        """Make the pilot draws, and return them. The draws of the first stage choose a bet against the claim. If this
        bet rejects the claim on later stages, the method stops, and returns an `EventTrial` with the draws of these
        stages.
        """
        made: list[tuple[Draws, Draws]] = []
        choice, wager, gained = None, None, 0.0
        for chunks in _stages(sizes):
            stage = self.draws("pilot", sizes, chunks)
            made.append(stage)
            if _skipped(stage):
                break
            if self.stop <= 0:
                continue
            if choice is None:
                choice = choose(self.pair, stage, mean, guarantee, self.error)
                wager = wager_on(choice, guarantee)
                continue
            gained += wager.log_value(wager.seen(stage[0]), wager.seen(stage[1])) if wager else 0.0
            if self.enough(gained):
                counting = Counting(choice.event, wager, levels(choice.event, made[0]))
                fresh = joined([one for one, _ in made[1:]]), joined([two for _, two in made[1:]])
                return _ended(choice, counting, _counted(fresh, counting), EarlyEnd(gained, mean))
        made = made or [self.draws("none", (0, 0))]  # if both sizes are 0, two empty samples are returned
        return joined([one for one, _ in made]), joined([two for _, two in made])

    def tested(self, plan: _Plan, mean: float, rng: np.random.Generator) -> EventTrial:
        """Make the test draws of a plan.

        If the target kept running into the time limit in the pilot, no test draws are made. The trial is then
        `cut_short`, and holds the pilot draws in place of test draws. The report then shows only the number of
        failures.
        """
        sizes, counting = _sizes(plan.mean, rng), plan.counting
        if plan.pilot and _skipped(plan.pilot):
            return plan.trial(_counted(plan.pilot, counting), counting)
        made = _counted(self.draws("none", (0, 0)), counting)
        gained = 0.0
        for chunks in _stages(sizes):
            stage = self.counted("test", sizes, chunks, counting)
            made = made[0].plus(stage[0]), made[1].plus(stage[1])
            if _skipped(stage):
                break
            if plan.wager and self.stop > 0:
                gained += plan.wager.log_value(stage[0].sums.bet, stage[1].sums.bet)
            if plan.pilot and self.enough(gained):
                return _ended(plan.choice, counting, made, EarlyEnd(gained, mean))
        return plan.trial(made, counting)

    def draws(self, part: str, sizes: tuple[int, int], chunks: slice = slice(None)) -> tuple[Draws, Draws]:
        """Make `sizes[0]` draws on the first data set and `sizes[1]` draws on the second. If `chunks` is given, make
        only the draws in these chunks.
        """
        first, second = (
            draw(self.setting, x, size, f"{self.label}/{side}/{part}", chunks)
            for side, x, size in zip(("first", "second"), (self.pair.first, self.pair.second), sizes, strict=True)
        )
        return first, second

    def counted(
        self, part: str, sizes: tuple[int, int], chunks: slice, counting: Counting
    ) -> tuple[Summary[Counts], Summary[Counts]]:
        """Make the draws that `draws` would make, and keep only their counts."""
        first, second = (
            reduced(self.setting, x, size, f"{self.label}/{side}/{part}", counting, chunks)
            for side, x, size in zip(("first", "second"), (self.pair.first, self.pair.second), sizes, strict=True)
        )
        return first, second

    def enough(self, log_value: float) -> bool:
        """Return whether a bet ends the draws of the pair when the logarithm of the wealth of the bet is
        `log_value`.
        """
        return self.stop > 0 and log_value >= math.log(2 / EARLY_SHARE) - math.log(self.stop)


def failing_mean(guarantee: Guarantee, level: float, most: float) -> float:
    """Return the mean number of draws on each data set for a target that seems to fail in every draw on one data set.
    If all of these draws fail, and no draw on the other data set fails, the p-value is at most `FAILING_SHARE` times
    `level`, unless `most` allows too few draws. The mean is at most `most`.
    """
    size = PROBE
    while size < most and not refutes(guarantee, EventCounts(size, 0, size, size, float(size)), FAILING_SHARE * level):
        size = math.ceil(1.1 * size)
    return min(most, size + SHORTFALL * math.sqrt(size))


def _sizes(mean: float, rng: np.random.Generator) -> tuple[int, int]:
    """Return two independent Poisson numbers of draws, one for each data set."""
    return poisson_size(mean, rng), poisson_size(mean, rng)


def _stages(sizes: tuple[int, int]) -> Iterator[slice]:
    """Yield the chunks of every stage; each stage doubles the number of draws."""
    start, stop = 0, FIRST_STAGE // CHUNK
    while start * CHUNK < max(sizes):
        yield slice(start, stop)
        start, stop = stop, 2 * stop


def _counted(draws: tuple[Draws, Draws], counting: Counting) -> tuple[Summary[Counts], Summary[Counts]]:
    """Return the counts in draws that were already made."""
    return Summary.of(draws[0], counting(draws[0])), Summary.of(draws[1], counting(draws[1]))


def _skipped(draws: tuple[Draws, Draws] | tuple[Summary[Counts], Summary[Counts]]) -> bool:
    """Return whether draws are missing because the target kept running into the time limit."""
    return any(side.skipped for side in draws)


def _sides(draws: tuple[Summary[Counts], Summary[Counts]], choice: EventChoice) -> tuple[Side, Side]:
    """Return the draws with the names of their data sets, first those on which the event is expected to be likelier."""
    sides = Side("first", draws[0]), Side("second", draws[1])
    return sides[::-1] if choice.swapped else sides


def _ended(
    choice: EventChoice, counting: Counting, fresh: tuple[Summary[Counts], Summary[Counts]], early: EarlyEnd
) -> EventTrial:
    """Return the event, and the draws that test it, for a pair of data sets on which a betting test ended the draws
    early. The event was chosen without the draws in `fresh`.
    """
    sides = _sides(fresh, choice)
    return EventTrial(choice.event, sides, early.planned, False, counting.wager, counting.levels, early)
