"""Privacy: lower confidence bounds on the loss between neighbouring data sets.

The target, the mechanism that is audited, is run on two neighbouring data sets, a Poisson number of times on each. Most
events have the form {statistic ≥ threshold} or {statistic ≤ threshold}, where a statistic is one number computed from
an output. The first part of the draws, the pilot, chooses such an event. The rest, the test, shows how often it occurs.
If a likelihood ratio is known exactly, it fixes the event in advance, and there is no pilot.

That the target fails is an event too. Before the pilot, a few draws are made on each side, that is, on each data set.
If all of them fail on one side but not on the other, the event is failure. A violation is shown by its witness: the
pair of data sets, the event, and how often the event occurred on each.

An event chosen by a pilot is also tested by a bet. A bet is a stake that is not expected to grow if the claim holds, so
a large gain refutes the claim (`statistics.betting`). For (ε, δ)-DP the bet is on the event. For zCDP it is on the
Rényi divergence of all values of a statistic, of which one event sees only a part. For pure DP the test of the event is
exact already, and the bet serves only to end early.

Ending early. The draws come in stages, each of which doubles their number. The pilot and the test each have a bet. The
bet of the pilot is chosen on the first stage of the pilot, and gains from the second stage on. The bet of the test is
chosen on the whole pilot, and gains from the first stage of the test on. The gains of a bet are multiplied over its
stages. If the claim is true, the probability that the product ever reaches 1/p is at most p (Ville's inequality).

The caller of `run_pair` gives `stop`, the p-value at which a pair may end early; 0 turns early ends off. Once the
product of a bet reaches 1/q, with q = `EARLY_SHARE` · `stop`/2, the pair ends, and the draws made so far refute the
claim. So either bet ends the pair wrongly with probability at most q. To pay for this, if `stop` > 0 and no bet ends
the pair, its p-values are divided by 1 − `EARLY_SHARE`.

The confidence bound is for the chosen event alone. A bound below the claim proves nothing.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar

from covassay.reference.domain import Box, Matrix, Vector
from covassay.reference.mechanisms.output import Output
from covassay.reference.privacy import ZCDP, ApproximateDP, Guarantee, PureDP
from covassay.verification.audit.engine.checks import CheckResult, Status
from covassay.verification.audit.engine.event_choice import (
    LARGEST_EXPONENT,
    RUN_ERROR,
    largest_loss,
    scores,
    thresholds,
)
from covassay.verification.audit.engine.learned import log_ratios
from covassay.verification.audit.engine.power import CLOSE, FEWEST, EventTest
from covassay.verification.audit.engine.sampling import CHUNK, Draws, Setting, draw, joined
from covassay.verification.audit.engine.standardised import laplace_loss, standardised
from covassay.verification.audit.engine.trade_off import TRADE_OFF, points
from covassay.verification.statistics.betting import Bet, RenyiBet, event_bet, renyi_bet
from covassay.verification.statistics.ratio import (
    EventCounts,
    log_ratio_lower,
    poisson_size,
    probability_bounds,
    ratio_p_value,
)
from covassay.verification.statistics.streams import stream

DECIMALS = 9  # of a rounded statistic; what the low-order bits of a float reveal is not tested here
PROBE = 10  # first draws on each side; if all of them fail, the target is taken to fail always on that side
# If all first draws fail on one side but not on the other, more draws are made: so many that the p-value is
# FAILING_SHARE times the level of a check, if one side always fails and the other never does. Holm's correction divides
# the level by at most the number of checks. So even among a thousand checks the claim is refuted. The number of draws
# is a Poisson number, which may be below its mean. So SHORTFALL standard deviations are added to the mean.
FAILING_SHARE, SHORTFALL = 1e-3, 6.0
PILOT = 0.3  # share of the draws that choose the event; the rest test it
# The quantiles of a statistic at which a bet cuts its range into intervals.
CUTS = np.array([0.005, 0.02, *np.linspace(0.05, 0.95, 14), 0.98, 0.995])
CONFIDENCE = 0.999  # of the bound that is printed; the verdict does not use it, but p-values
EDGE = 0.1  # share by which the score of a statistic learned from draws is lowered, because fewer draws support it
FEWEST_LEARNED = 20  # outputs on each side; with fewer, no statistic is learned and no loss is estimated
# ESTIMATED and TWO_STEPS are keys of `CheckResult.facts`. Under ESTIMATED stands an estimate of the loss, right if the
# noise is independent Laplace noise. It guides the search, and is no bound.
ESTIMATED = "estimated_loss"
# Replacing a row is two steps: remove it, and add another. So ρ-zCDP for neighbours that differ by one step gives
# 4ρ-zCDP for a replacement. The value of TWO_STEPS is small if the draws show more than 4ρ. Then a claim made for
# add-remove neighbours does not explain the loss. The value is no p-value, because the same draws also choose the bet.
TWO_STEPS = "p_of_two_steps"
STEPS_SQUARED = 4  # ρ-zCDP for one step gives 2²ρ-zCDP for two
LARGEST_ERROR = 1 - 1e-9  # of confidence bounds; if even these do not contradict the claim, the p-value is 1
LARGEST_POWER = 700.0  # a larger power of e would overflow
SMALLEST_P = 1e-300  # replaces a smaller p-value where a logarithm is taken
SMALLEST_LOG_ERROR = -100.0  # ln of the smallest error of bounds; below it the beta quantile of scipy does not converge
BISECTIONS = 60  # how often the interval [−100, 0] of the log error is halved; 60 times reach the limit of rounding
FAILURES = "failures"  # the name of a check: do failures tell the data sets apart?
EARLY_SHARE = 1e-3  # the share of the allowed error that is reserved for early ends
FIRST_STAGE = 2 * CHUNK  # draws on each side; every later stage doubles the number of draws made so far
MOST_STAGES = 60  # 30 for the pilot and 30 for the test; 30 stages have 2^30 chunks of draws, more than any run makes
LOG_ORDERS = (-8.0, 6.0)  # ln(α − 1) of the Rényi orders α that are searched: α from 1.0003 to 404


@dataclass(frozen=True)
class Statistic:
    """One number for each output: (size, …) -> (size,). A `threshold` fixes {statistic ≥ threshold} as the event."""

    name: str
    function: Callable[[Matrix], Vector]
    threshold: float | None = None

    def values(self, outputs: Matrix) -> Vector:
        """The statistic of every output, rounded to `DECIMALS`."""
        with np.errstate(over="ignore", invalid="ignore"):
            return np.nan_to_num(np.round(self.function(outputs), DECIMALS), posinf=np.inf, neginf=-np.inf)


@dataclass(frozen=True)
class Pair:
    """Two neighbouring data sets, and the statistics from which an event is chosen.

    `weight` multiplies the number of draws. `remarks` are printed beside the bound: exact figures about the mechanism,
    such as the loss of a known wrong law that fits the draws. `failures_tell` is False if exactly one of the data sets
    lies outside the domain: the target may reject this one, so its failures show nothing. `box` is a box that holds the
    rows of this pair; None stands for the box of the whole audit. `by_entry` says that the noise on every entry of the
    output may have a scale of its own.
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

    @property
    def statistic_name(self) -> str:
        """The name of the statistic of the event, or "failure"."""
        return "failure" if self.statistic is None else self.statistic.name

    def __str__(self) -> str:
        if self.statistic is None:
            return "the target fails"
        return f"{self.statistic.name} {'≥' if self.above else '≤'} {self.threshold:.6g}"


def generic_statistics(first: Matrix, second: Matrix, output: Output) -> tuple[Statistic, ...]:
    """Statistics for a target whose law is unknown. They use the two data sets and the kind of output alone."""
    return tuple(Statistic(name, values) for name, values in output.contrasts(first, second).items())


@dataclass(frozen=True)
class _Choice:
    """An event that the pilot draws suggest. `swapped` says that it seems likelier on the second data set.

    `ranking` are the pilot draws by which the event was scored. Its statistic was not learned from them.
    """

    event: Event
    swapped: bool
    ranking: tuple[Draws, ...] = ()


def _of_rounded(name: str, function: Callable[[Matrix], Vector]) -> Statistic:
    """A statistic of rounded outputs. So what it learns does not depend on their low-order bits."""
    return Statistic(name, lambda outputs: function(np.round(outputs, DECIMALS)))


def _learned(pilots: tuple[Draws, Draws]) -> list[tuple[Statistic, tuple[Draws, Draws]]]:
    """Statistics learned on one half of the pilot, each returned with the other half, on which it is scored.

    Scored on the half from which it was learned, a statistic would seem better than it is. `closer` compares the
    distances of an output from the medians M and M' of the two sides. It is nearly the best statistic if the entries
    of the noise are independent Laplace variables of one scale. `spread` is the distance of an output from
    (M + M')/2, for noise whose scale differs between the sides. The statistics of `log_ratios` estimate a log
    likelihood ratio.
    """
    if min(len(draws.outputs) for draws in pilots) < FEWEST_LEARNED:
        return []
    one, two = (draws.outputs[: len(draws.outputs) // 2] for draws in pilots)
    first, second = (replace(draws, outputs=draws.outputs[len(draws.outputs) // 2 :]) for draws in pilots)
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
    found.append(Statistic("‖Y − (M + M')/2‖₁, M and M' medians of pilot draws", spread))
    if len(near) > 1:
        found.append(Statistic("‖Y − M'‖₁ − ‖Y − M‖₁, M and M' medians of pilot draws", closer))
    return [(statistic, (first, second)) for statistic in found]


def _learned_by_entry(pilots: tuple[Draws, Draws]) -> list[tuple[Statistic, tuple[Draws, Draws]]]:
    """The statistics of `standardised`, learned on one half of the pilot, each with the other half, which scores it."""
    middles = [len(draws.outputs) // 2 for draws in pilots]
    if 2 * min(middles) < FEWEST_LEARNED:
        return []
    seen = [draws.outputs[:middle] for draws, middle in zip(pilots, middles, strict=True)]
    first, second = (
        replace(draws, outputs=draws.outputs[middle:]) for draws, middle in zip(pilots, middles, strict=True)
    )
    return [(Statistic(name, function), (first, second)) for name, function in standardised(seen[0], seen[1])]


def _choose(
    pair: Pair, pilots: tuple[Draws, Draws], mean: float, guarantee: Guarantee, error: float, learn: bool = True
) -> _Choice:
    """The event with the best score: it promises to refute the claim most clearly at the level `error`.

    `mean` is the mean number of test draws on each side. The score of a learned statistic is lowered by the share
    `EDGE`. Without `learn`, only the statistics of the pair are tried.
    """
    best, best_score = _Choice(Event(pair.statistics[0], math.inf), False, pilots), -math.inf
    learned = _learned(pilots) + (_learned_by_entry(pilots) if pair.by_entry else []) if learn else []
    given = [(statistic, pilots, 0.0) for statistic in pair.statistics]
    for statistic, ranking, edge in (*given, *((*one, EDGE) for one in learned)):
        sizes = ranking[0].size, ranking[1].size
        first, second = (np.sort(statistic.values(d.outputs)) if len(d.outputs) else np.empty(0) for d in ranking)
        if not len(first) + len(second):
            continue
        tried = thresholds(np.concatenate([first, second]))
        for above in (True, False):
            one, two = (_beyond(values, tried, above) for values in (first, second))
            for swapped, found in (
                (False, scores(one, two, sizes, mean, guarantee, error)),
                (True, scores(two, one, sizes[::-1], mean, guarantee, error)),
            ):
                index = int(np.argmax(found))
                promised = float(found[index]) - edge * abs(float(found[index]))
                if promised > best_score:
                    best_score = promised
                    best = _Choice(Event(statistic, float(tried[index]), above), swapped, ranking)
    return best


def event_among_given(
    pair: Pair, pilots: tuple[Draws, Draws], mean: float, guarantee: Guarantee, error: float
) -> tuple[int, Event, bool, tuple[float, ...]]:
    """The event that pilot draws suggest, among the statistics of the pair. Learned statistics are not tried.

    The result is the index of the statistic, the event, whether the event seems likelier on the second data set, and
    the thresholds at which the trade-off curve is drawn (`_levels`).
    """
    choice = _choose(pair, pilots, mean, guarantee, error, learn=False)
    index = next(i for i, one in enumerate(pair.statistics) if one is choice.event.statistic)
    return index, choice.event, choice.swapped, _levels(choice.event, pilots)


def _beyond(ordered: Vector, tried: Vector, above: bool) -> Vector:
    """For every threshold in `tried`, how many of the ordered values are ≥ it; or ≤ it, if `above` is False."""
    if above:
        return np.asarray(len(ordered) - np.searchsorted(ordered, tried, "left"), dtype=np.float64)
    return np.asarray(np.searchsorted(ordered, tried, "right"), dtype=np.float64)


@dataclass(frozen=True)
class _Wager:
    """A bet against the claim. All that it sees of a draw is its category.

    With `bounds`, the categories are the intervals into which `bounds` cuts the range of the statistic, and failure.
    Without `bounds`, they are an event and its complement; `swapped` says that in the pilot the event seemed likelier
    on the second data set.
    """

    bet: Bet | RenyiBet
    event: Event
    bounds: Vector | None
    swapped: bool

    def log_value(self, sides: tuple[Draws, Draws]) -> float:
        """The logarithm of the factor (e-value) that the bet gains on fresh draws, first data set first."""
        one, two = (_categories(self.event, self.bounds, draws) for draws in sides)
        return self.bet.log_value(two, one) if self.swapped else self.bet.log_value(one, two)

    def p_value(self, sides: tuple[Draws, Draws]) -> float:
        """The p-value of the claim, from fresh draws, first data set first: 1 over the factor gained, and at most 1."""
        return math.exp(min(0.0, -self.log_value(sides)))


def _categories(event: Event, bounds: Vector | None, draws: Draws) -> Vector:
    """The number of draws in every category of a wager."""
    if bounds is None or event.statistic is None:
        inside = event.count(draws)
        return np.array([inside, draws.size - inside], dtype=np.float64)
    steps = np.zeros(len(bounds) + 1)
    if len(draws.outputs):
        steps += np.bincount(
            np.searchsorted(bounds, event.statistic.values(draws.outputs), "right"), minlength=len(steps)
        )
    return np.append(steps, draws.failed)


def _wager(choice: _Choice, guarantee: Guarantee) -> _Wager | None:
    """The bet that the pilot draws suggest, or None if they are too few or the claim too weak to bet against."""
    pilots = choice.ranking
    if min(draws.size for draws in pilots) == 0:
        return None
    event = choice.event
    if not isinstance(guarantee, ZCDP):
        if guarantee.epsilon > LARGEST_EXPONENT:
            return None
        one, two = (_categories(event, None, draws) for draws in (pilots[::-1] if choice.swapped else pilots))
        delta = guarantee.delta if isinstance(guarantee, ApproximateDP) else 0.0
        return _Wager(event_bet(one, two, guarantee.epsilon, delta), event, None, choice.swapped)
    if event.statistic is None:
        return None
    pooled = [event.statistic.values(draws.outputs) for draws in pilots if len(draws.outputs)]
    if not pooled:
        return None
    bounds = np.unique(np.quantile(np.concatenate(pooled), CUTS, method="inverted_cdf"))
    one, two = (_categories(event, bounds, draws) for draws in pilots)
    return _Wager(renyi_bet(one, two, guarantee.rho), event, bounds, swapped=False)


def p_value(counts: EventCounts, guarantee: Guarantee) -> float:
    """The p-value of the null hypothesis that the event respects the guarantee.

    Let p and p' be the probabilities of the event on the two sides. For pure DP, the function returns the p-value of
    the exact binomial test of p ≤ e^ε p'. Otherwise, it returns the smallest error at which Clopper–Pearson bounds on p
    and p' contradict the guarantee.
    """
    if isinstance(guarantee, PureDP):
        return ratio_p_value(counts, guarantee.epsilon)
    if not violates(*probability_bounds(counts, LARGEST_ERROR), guarantee):
        return 1.0
    low, high = SMALLEST_LOG_ERROR, 0.0
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        contradicted = violates(*probability_bounds(counts, math.exp(middle)), guarantee)
        low, high = (low, middle) if contradicted else (middle, high)
    return math.exp(high)


def in_reach(counts: EventCounts, guarantee: Guarantee, choices: int, alpha: float) -> dict[str, float]:
    """What loss the test would have detected, for an event as probable on the first side as this one.

    "loss" is the smallest loss that it detects with the probability POWER of `EventTest`. "small_loss" is `CLOSE` times
    the claim, and "times_the_samples" the factor by which the number of draws must grow to detect it. The result is
    empty if the event was too rare. `choices` multiplies the p-values of the test.
    """
    if counts.first < FEWEST:
        return {}
    test = EventTest(
        counts.first / counts.first_n, guarantee, partial(refutes, guarantee), alpha * (1 - EARLY_SHARE) / choices
    )
    loss = test.smallest_loss(counts.mean)
    small = CLOSE * claimed_loss(guarantee)
    factor = 1.0 if loss <= small else test.factor(small, counts.mean)
    return {"probability": test.p, "loss": loss, "small_loss": small, "times_the_samples": factor}


def failing_mean(guarantee: Guarantee, level: float, most: float) -> float:
    """The mean number of draws on each side, at most `most`, if one side seems always to fail (see FAILING_SHARE)."""
    size = PROBE
    while size < most and not refutes(guarantee, EventCounts(size, 0, size, size, float(size)), FAILING_SHARE * level):
        size = math.ceil(1.1 * size)
    return min(most, size + SHORTFALL * math.sqrt(size))


def refutes(guarantee: Guarantee, counts: EventCounts, level: float) -> bool:
    """Whether the p-value of these counts is at most the level."""
    if isinstance(guarantee, PureDP):
        return p_value(counts, guarantee) <= level
    return violates(*probability_bounds(counts, level), guarantee)


def claimed_loss(guarantee: Guarantee) -> float:
    """The ε or ρ of a claim."""
    return guarantee.rho if isinstance(guarantee, ZCDP) else guarantee.epsilon


def loss_letter(guarantee: Guarantee) -> str:
    """The letter of the loss that a claim bounds."""
    return "ρ" if isinstance(guarantee, ZCDP) else "ε"


def violates(p: float, q: float, guarantee: Guarantee) -> bool:
    """Whether an event of probability at least p on one side and at most q on the other contradicts the guarantee."""
    if p <= q:
        return False
    if isinstance(guarantee, PureDP):
        return p > math.exp(min(guarantee.epsilon, LARGEST_POWER)) * q
    if isinstance(guarantee, ApproximateDP):
        return p > math.exp(min(guarantee.epsilon, LARGEST_POWER)) * q + guarantee.delta
    return _violates_zcdp(p, q, guarantee.rho)


def _violates_zcdp(p: float, q: float, rho: float) -> bool:
    """Whether the coins (p, 1 − p) and (q, 1 − q), p > q, have a Rényi divergence above ρα at an order α > 1.

    No event of a ρ-zCDP mechanism gives such coins (data processing). Only orders within `LOG_ORDERS` are searched. A
    search that misses the best order can overlook a violation, but cannot report a false one.
    """
    if q == 0:
        return True

    def excess(log_order: float) -> float:
        alpha = 1 + math.exp(log_order)
        with np.errstate(divide="ignore"):
            terms = alpha * np.log([p, 1 - p]) + (1 - alpha) * np.log([q, 1 - q])
        return float(np.logaddexp.reduce(terms)) / (alpha - 1) - rho * alpha

    found = minimize_scalar(lambda t: -excess(t), bounds=LOG_ORDERS, method="bounded")
    return bool(-found.fun > 0)


@dataclass(frozen=True)
class _Side:
    """The name of one of the two data sets, "first" or "second", and the draws on it that test an event."""

    name: str
    draws: Draws


@dataclass(frozen=True)
class _Trial:
    """An event, and in `sides` the fresh draws that test it. The event was chosen without these draws.

    The number of draws on each side has a Poisson law, and `mean` is its mean. If a bet ended the pair early, `mean` is
    what was planned for the pilot and the test together. `cut_short` says that draws were skipped, because the target
    kept running into the time limit. `wager` is a bet, and `levels` are further thresholds of the statistic of the
    event; both were also chosen without these draws. `early` is set if a bet ended the pair.
    """

    event: Event
    sides: tuple[_Side, _Side]
    mean: float
    cut_short: bool
    wager: _Wager | None = None
    levels: tuple[float, ...] = ()
    early: "_EarlyEnd | None" = None

    def wager_p_value(self) -> float:
        """The p-value of the bet on these draws; 1 without a bet."""
        if self.wager is None:
            return 1.0
        draws = {side.name: side.draws for side in self.sides}
        return self.wager.p_value((draws["first"], draws["second"]))

    def counts(self, event: Event) -> EventCounts:
        """How often an event occurred on either side."""
        one, two = (side.draws for side in self.sides)
        return EventCounts(event.count(one), event.count(two), one.size, two.size, self.mean)

    def turned_to_failures(self) -> "_Trial":
        """The same trial, with the side on which the target failed more often first."""
        one, two = self.sides
        return replace(self, sides=(two, one)) if one.draws.failed < two.draws.failed else self


@dataclass(frozen=True)
class _EarlyEnd:
    """The logarithm of what the bet gained until it ended the pair, and the planned mean number of draws."""

    log_value: float
    planned: float


@dataclass(frozen=True)
class _PairSampler:
    """Makes the draws on the two data sets of a pair. The pilot and the test have random streams of their own.

    The pair ends early once a bet gives it a p-value of at most `stop`. `error` is the level for which the event is
    chosen. It also decides how many draws are made if one side seems always to fail.
    """

    setting: Setting
    pair: Pair
    label: str
    stop: float = 0.0
    error: float = RUN_ERROR

    def draws(self, part: str, sizes: tuple[int, int], chunks: slice = slice(None)) -> tuple[Draws, Draws]:
        """Draws on the first and on the second data set: all `sizes` of them, or only the given chunks."""
        first, second = (
            draw(self.setting, x, size, f"{self.label}/{side}/{part}", chunks)
            for side, x, size in zip(("first", "second"), (self.pair.first, self.pair.second), sizes, strict=True)
        )
        return first, second

    def stages(self, part: str, sizes: tuple[int, int]) -> Iterator[tuple[Draws, Draws]]:
        """The draws of a part in stages, each doubling their number. They end where the time limit prevents a draw."""
        start, stop = 0, FIRST_STAGE // CHUNK
        while start * CHUNK < max(sizes):
            stage = self.draws(part, sizes, slice(start, stop))
            yield stage
            if any(draws.skipped for draws in stage):
                return
            start, stop = stop, 2 * stop

    def enough(self, log_value: float) -> bool:
        """Whether a bet ends the pair once the logarithm of its gain is `log_value`.

        The allowed error is halved, because the bets of the pilot and of the test may each end the pair.
        """
        return self.stop > 0 and log_value >= math.log(2 / EARLY_SHARE) - math.log(self.stop)

    def pilot(
        self, sizes: tuple[int, int], mean: float, guarantee: Guarantee
    ) -> tuple[tuple[Draws, Draws], _Trial | None]:
        """The pilot draws, and None or, if the pair ends early, its trial.

        The pair ends early if a bet chosen on the first stage has gained enough on the later stages.
        """
        made: list[tuple[Draws, Draws]] = []
        wager: _Wager | None = None
        choice: _Choice | None = None
        gained = 0.0
        for stage in self.stages("pilot", sizes):
            made.append(stage)
            if self.stop <= 0:
                continue
            if choice is None:
                choice = _choose(self.pair, stage, mean, guarantee, self.error)
                wager = _wager(choice, guarantee)
                continue
            gained += wager.log_value(stage) if wager else 0.0
            if self.enough(gained):
                ended = self.ended(choice, made[0], made[1:], wager, _EarlyEnd(gained, mean))
                return _joined(made), ended
        return _joined(made or [self.draws("pilot", (0, 0))]), None  # both Poisson sizes can be 0

    def ended(
        self, choice: _Choice, chosen_on: tuple[Draws, Draws], fresh: Sequence[tuple[Draws, Draws]],
        wager: _Wager | None, early: _EarlyEnd,
    ) -> _Trial:  # fmt: skip
        """The trial of a pair that ended early."""
        first, second = _joined(fresh)
        sides = (_Side("first", first), _Side("second", second))
        sides = sides[::-1] if choice.swapped else sides
        return _Trial(choice.event, sides, early.planned, False, wager, _levels(choice.event, chosen_on), early)

    def trial(self, mean: float, always_failing: bool, guarantee: Guarantee) -> _Trial:
        """Choose an event and make the draws that test it. Pilot and test together have mean `mean` on each side."""
        rng = np.random.default_rng(stream(self.setting.seed, self.label, "sizes"))

        def sizes(mean: float) -> tuple[int, int]:
            return poisson_size(mean, rng), poisson_size(mean, rng)

        fixed = [s for s in self.pair.statistics if s.threshold is not None]
        pilots: tuple[Draws, ...] = ()
        test_mean, wager = mean, None
        levels: tuple[float, ...] = ()
        if always_failing:
            choice, test_mean = _Choice(Event(None), False), min(mean, failing_mean(guarantee, self.error, mean))
        elif fixed:
            choice = _Choice(Event(fixed[0], float(fixed[0].threshold or 0.0)), False)
        else:
            test_mean = (1 - PILOT) * mean
            pilot, ended = self.pilot(sizes(PILOT * mean), mean, guarantee)
            if ended:
                return ended
            pilots = pilot
            choice = _choose(self.pair, pilot, test_mean, guarantee, self.error)
            levels = _levels(choice.event, pilot)
            wager = _wager(choice, guarantee)
        made: list[tuple[Draws, Draws]] = []
        gained = 0.0
        pilot_cut_short = any(d.skipped for d in pilots)
        for stage in () if pilot_cut_short else self.stages("test", sizes(test_mean)):
            made.append(stage)
            gained += wager.log_value(stage) if wager and self.stop > 0 else 0.0
            if pilots and self.enough(gained):
                return self.ended(choice, (pilots[0], pilots[1]), made, wager, _EarlyEnd(gained, mean))
        if pilot_cut_short:
            first, second = pilots  # nothing is tested; they say how the target failed
        else:
            first, second = _joined(made or [self.draws("test", (0, 0))])  # both Poisson sizes can be 0
        sides = (_Side("first", first), _Side("second", second))
        cut_short = any(d.skipped for d in (*pilots, first, second))
        return _Trial(choice.event, sides[::-1] if choice.swapped else sides, test_mean, cut_short, wager, levels)


def _joined(stages: Sequence[tuple[Draws, Draws]]) -> tuple[Draws, Draws]:
    """The draws of several stages, joined on each side."""
    return joined([first for first, _ in stages]), joined([second for _, second in stages])


def _levels(event: Event, pilots: tuple[Draws, Draws]) -> tuple[float, ...]:
    """Thresholds for the trade-off curve: quantiles of the statistic on pilot draws, and the event's own threshold."""
    if event.statistic is None or not any(len(draws.outputs) for draws in pilots):
        return ()
    pooled = np.concatenate([event.statistic.values(draws.outputs) for draws in pilots if len(draws.outputs)])
    quantiles = np.quantile(pooled, CUTS, method="inverted_cdf")
    return tuple(float(t) for t in np.unique([*quantiles, event.threshold]))


def _curve(trial: _Trial, guarantee: Guarantee, error: float) -> dict[str, Any]:
    """The trade-off curve, as an entry of `CheckResult.facts`.

    The result is empty if the event is a failure or was fixed in advance.
    """
    event = trial.event
    if event.statistic is None or not trial.levels or min(side.draws.size for side in trial.sides) == 0:
        return {}
    tried = np.array(trial.levels)
    one, two = (
        (
            _beyond(np.sort(event.statistic.values(d.outputs)), tried, event.above) if len(d.outputs) else 0 * tried,
            d.size,
        )
        for d in (side.draws for side in trial.sides)
    )
    return {TRADE_OFF: points(one, two, trial.levels, guarantee, error)}


def data_sets(pair: Pair) -> dict[str, Any]:
    """The size of the first data set of a pair, and the rows in which the two data sets differ, counted from 1.

    A row that one of the data sets does not have is None.
    """
    longest = max(len(pair.first), len(pair.second))
    rows = [[*x.tolist(), *[None] * (longest - len(x))] for x in (pair.first, pair.second)]
    return {
        "n": len(pair.first),
        "d": pair.first.shape[1],
        "differing_rows": [
            {"row": i + 1, "first": one, "second": two}
            for i, (one, two) in enumerate(zip(*rows, strict=True))
            if one != two
        ],
    }


def _no_output(pair: Pair, draws: Draws) -> CheckResult:
    reason = ", ".join(f"{count} × {what}" for what, count in draws.failures.items())
    return CheckResult("privacy", "event", Status.SKIPPED, f"no output on either data set: {reason}", pair.name)


def _rejected(pair: Pair, draws: Draws) -> CheckResult:
    reason = ", ".join(f"{count} × {what}" for what, count in draws.failures.items())
    detail = f"no output on one data set; one of the two is outside the domain, so this breaks no promise: {reason}"
    return CheckResult("privacy", "event", Status.NOTED, detail, pair.name)


def _ran_out_of_time(pair: Pair, trial: _Trial, seconds: float) -> CheckResult:
    return CheckResult(
        "privacy",
        "event",
        Status.INCONCLUSIVE,
        f"the target ran into the time limit of {seconds:g} s again and again",
        pair.name,
        facts={"failures": [dict(side.draws.failures) for side in trial.sides]},
    )


def _tested(pair: Pair, guarantee: Guarantee, trial: _Trial, event: Event, name: str, choices: int = 1) -> CheckResult:
    """The check of one event.

    The draws that test the event may also have chosen it, among `choices` events. So `choices` multiplies the p-value,
    and divides the error of the bound.
    """
    counts = trial.counts(event)
    error = (1 - EARLY_SHARE) * (1 - CONFIDENCE) / choices
    bound = log_ratio_lower(counts, 1 - error)
    one, two = trial.sides
    text = (
        f"event {{{event}}}: {counts.first} of {counts.first_n} on the {one.name} data set, "
        f"{counts.second} of {counts.second_n} on the {two.name}"
    )
    p = p_value(counts, guarantee)
    if isinstance(guarantee, PureDP):
        text += f"; loss ≥ {bound:.3f} at {CONFIDENCE:.1%} (claim {guarantee.epsilon:g})"
    tests = 1
    if isinstance(guarantee, ApproximateDP) and event == trial.event:
        p, tests = min(1.0, 2 * min(p, trial.wager_p_value())), 2  # two tests of one claim on the same draws
    return CheckResult(
        "privacy",
        name,
        Status.NOT_REFUTED,
        "; ".join((text, *pair.remarks)),
        pair.name,
        p_value=min(1.0, choices * p),
        n=counts.first_n + counts.second_n,
        facts=(_curve(trial, guarantee, error) if event == trial.event else {})
        | {
            "event": str(event),
            "counts": [counts.first, counts.second],
            "draws": [counts.first_n, counts.second_n],
            "loss_lower_bound": bound,
            "confidence": CONFIDENCE,
            "sides": [one.name, two.name],
            "data_sets": data_sets(pair),
            "failures": [dict(one.draws.failures), dict(two.draws.failures)],
            "largest_loss": partial(largest_loss, (counts.first_n, counts.second_n), guarantee),
            "in_reach": partial(in_reach, counts, guarantee, choices * tests),
        },
        data=(pair.first, pair.second),
    )


def _divergence(pair: Pair, guarantee: Guarantee, trial: _Trial, wager: _Wager, bet: RenyiBet) -> CheckResult:
    """The check of a Rényi divergence of one statistic.

    Its `CheckResult.facts` are taken from the check of the event on the same draws, without "in_reach"; TWO_STEPS is
    added.
    """
    tested = _tested(pair, guarantee, trial, trial.event, "divergence")
    far, near = ("second", "first") if bet.swapped else ("first", "second")
    intervals = 0 if wager.bounds is None else len(wager.bounds) + 1
    p = trial.wager_p_value()
    gained = f"gained a factor e^{-math.log(max(p, SMALLEST_P)):.1f}" if p < 1 else "gained nothing"
    text = (
        f"Rényi divergence of order {bet.order:g} of {{{wager.event.statistic_name}}} on the {far} data set from the "
        f"{near}, in {intervals} intervals; a bet against the claim {gained}"
    )
    facts = {key: fact for key, fact in tested.facts.items() if key != "in_reach"}
    # A second bet is tried against 4ρ, the claim for a replacement if ρ is claimed for add-remove neighbours. The draws
    # that choose it also try it, which favours it. If it gains nothing even so, these draws show no more than 4ρ.
    one, two = (_categories(wager.event, wager.bounds, side.draws) for side in trial.sides)
    rho = STEPS_SQUARED * guarantee.rho if isinstance(guarantee, ZCDP) else 0.0
    facts |= {TWO_STEPS: renyi_bet(one, two, rho).p_value(one, two)}
    return replace(tested, detail="; ".join((text, *pair.remarks)), p_value=p, facts=facts)


def _ended_early(pair: Pair, guarantee: Guarantee, trial: _Trial, early: _EarlyEnd) -> CheckResult:
    """The check of a pair that ended early. Its confidence bound holds at whatever stage the pair ends."""
    tested = _tested(pair, guarantee, replace(trial, wager=None), trial.event, "event")
    counts = trial.counts(trial.event)
    error = EARLY_SHARE * (1 - CONFIDENCE) / MOST_STAGES
    p, q = probability_bounds(counts, error)
    bound = math.log(p) - math.log(q) if p > 0 else -math.inf
    one, two = trial.sides
    text = (
        f"event {{{trial.event}}}: {counts.first} of {counts.first_n} on the {one.name} data set, "
        f"{counts.second} of {counts.second_n} on the {two.name}; a bet against the claim gained a factor "
        f"e^{early.log_value:.0f}, so the draws ended before the {early.planned:.0f} a side that were planned"
    )
    if isinstance(guarantee, PureDP):
        text += f"; loss ≥ {bound:.3f} at {CONFIDENCE:.1%} (claim {guarantee.epsilon:g})"
    facts = tested.facts | _curve(trial, guarantee, error) | {"loss_lower_bound": bound}
    p_value = math.exp(min(0.0, math.log(2 / EARLY_SHARE) - early.log_value))
    return replace(tested, detail="; ".join((text, *pair.remarks)), p_value=p_value, facts=facts)


def _estimated(pair: Pair, guarantee: Guarantee, trial: _Trial) -> dict[str, float]:
    """The loss of a pair, estimated for independent Laplace noise, as an entry of `CheckResult.facts`.

    The result is empty if `by_entry` is false, if the claim is not pure DP, or if there are too few draws.
    """
    first, second = (side.draws.outputs for side in trial.sides)
    if not pair.by_entry or not isinstance(guarantee, PureDP) or min(len(first), len(second)) < FEWEST_LEARNED:
        return {}
    return {ESTIMATED: laplace_loss(first, second)}


def run_pair(
    setting: Setting,
    pair: Pair,
    guarantee: Guarantee,
    samples: int,
    look: str,
    stop: float = 0.0,
    error: float = RUN_ERROR,
) -> list[CheckResult]:
    """Draw on both data sets, choose an event, and test it; then test whether failures tell the data sets apart.

    The draws end as soon as a bet gives the pair a p-value of at most `stop`. `error` is near the level at which the
    checks will be decided. It only affects which event is chosen, and how many draws are made if one side seems always
    to fail.
    """
    sampler = _PairSampler(setting.within(pair.box), pair, f"privacy/{pair.name}/{look}", stop, error)
    probes = sampler.draws("probe", (PROBE, PROBE))
    always_failing = [len(probe.outputs) == 0 for probe in probes]
    if all(always_failing):
        return [_no_output(pair, probes[0])]
    if any(always_failing) and not pair.failures_tell:
        return [_rejected(pair, probes[always_failing.index(True)])]
    trial = sampler.trial(samples * pair.weight, any(always_failing), guarantee)
    if trial.cut_short:
        return [_ran_out_of_time(pair, trial, setting.seconds)]
    if trial.early is not None:
        return [_ended_early(pair, guarantee, trial, trial.early)]
    failure = Event(None)
    estimate = _estimated(pair, guarantee, trial)
    checks = [] if trial.event == failure else [_tested(pair, guarantee, trial, trial.event, "event")]
    if trial.wager is not None and isinstance(trial.wager.bet, RenyiBet):
        checks.append(_divergence(pair, guarantee, trial, trial.wager, trial.wager.bet))
    turned = trial.turned_to_failures()
    if turned.counts(failure).first and pair.failures_tell:
        # choices=2: these draws also chose which side comes first
        checks.append(_tested(pair, guarantee, turned, failure, FAILURES, choices=2))
    checks = [replace(check, facts=check.facts | estimate) for check in checks]
    if stop <= 0:
        return checks
    return [replace(check, p_value=min(1.0, (check.p_value or 0.0) / (1 - EARLY_SHARE))) for check in checks]
