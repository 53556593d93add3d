"""Test whether some event is too likely on one of two neighbouring data sets.

The target is the implementation that is audited. The function `run_pair` runs the target many times on two neighbouring
data sets, which are called the two sides.

1. Probe. Ten draws are made on each data set. If all ten fail on one data set, and not all on the other, the tested
   event is a failure of the target. If one of the data sets lies outside of the domain, the target may reject it, so
   failures are not tested.

2. Choose. If the law of the output is not known, a part of the draws, called the pilot, chooses the event (`pilot`).
   The event has the form {statistic ≥ t} or {statistic ≤ t}, where the statistic is a number computed from an output.
   If the likelihood ratio of the mechanism is known for a pair, the ratio gives the event without a pilot.

3. Test. Draws that did not choose the event show how often the event occurs on each data set. The counts of the event
   give its p-value (`violation`).

4. Wagers (`wager`). The pilot draws also choose a bet on the new draws. For zCDP and (ε, δ)-DP, the bet that the pilot
chose is a second test. For pure DP the bet is used only to end the draws on the pair early (see below). For zCDP the
bet distinguishes about 20 intervals in which the statistic may lie, while the event has a single threshold.

5. Failures. The draws for the event also show whether the target fails more often on one data set.

If a betting test rejects the claim early, no further draws are made on this pair of data sets (`pair_draws`). Because
this can happen by chance, the p-values of all pairs whose draws were not stopped are divided by 1 − `EARLY_SHARE`.

If the claim is refuted, the report shows the two data sets, the event, and how often it occurred on each. The report
also gives a lower bound on the loss of the event that refutes the claim. A lower bound below the claim proves nothing,
because another event may have a larger loss.
"""

import math
from dataclasses import replace
from functools import partial

from covassay.reference.privacy import ZCDP, ApproximateDP, Guarantee, PureDP
from covassay.verification.audit.engine.event_choice import RUN_ERROR, largest_loss
from covassay.verification.audit.engine.events import Event, Pair, data_sets
from covassay.verification.audit.engine.facts import InReach, OutOfTime, TestedEvent, TradeOff
from covassay.verification.audit.engine.finding import Finding, Look, Status
from covassay.verification.audit.engine.pair_draws import EARLY_SHARE, PROBE, EarlyEnd, EventTrial, PairSampler
from covassay.verification.audit.engine.pilot import FEWEST_LEARNED
from covassay.verification.audit.engine.power import CLOSE, FEWEST, EventTest
from covassay.verification.audit.engine.sampling import Draws, Setting
from covassay.verification.audit.engine.standardised import laplace_loss
from covassay.verification.audit.engine.trade_off import points
from covassay.verification.audit.engine.violation import claimed_loss, p_value, refutes
from covassay.verification.audit.engine.wager import Wager
from covassay.verification.statistics.betting import RenyiBet, renyi_bet
from covassay.verification.statistics.ratio import EventCounts, log_ratio_lower, probability_bounds

CONFIDENCE = 0.999  # the confidence level of the printed bound; the verdict uses p-values and not this bound
FAILURES = "failures"  # the name of the check that tests failures of the target
# the largest number of stages is 30 for the pilot and 30 for the test, which is more than any run makes
MOST_STAGES = 60
SMALLEST_P = 1e-300  # the smallest p-value whose logarithm is taken

# If the estimated loss is above PROMISING times the claim, more draws are made. A smaller excess is hard to prove.
PROMISING = 1.2
# a target that is ρ-zCDP for adding or removing a row is 4ρ-zCDP for replacing a row
STEPS_SQUARED = 4
TESTS = 3  # one pair gives at most three p-values, namely of an event, of a bet on a Rényi divergence, and of failures


def run_pair(
    setting: Setting, pair: Pair, guarantee: Guarantee, look: Look, stop: float = 0.0, error: float = RUN_ERROR
) -> list[Finding]:
    """Draw on both data sets of a pair, choose an event and test it, and test whether failures distinguish the data
    sets.

    `look.samples` is the number of draws planned on each data set. `stop` is the p-value at which a bet may end the
    draws; 0 means that no bet ends the draws. `error` is close to the level with which the p-values of the findings are
    compared later. The argument `error` affects only which event is chosen, and how many draws are made if the target
    seems always to fail on one data set.
    """
    sampler = PairSampler(setting.within(pair.box), pair, f"privacy/{pair.name}/{look.name}", stop, error)
    probes = sampler.draws("probe", (PROBE, PROBE))
    always_failing = [len(probe.outputs) == 0 for probe in probes]
    if all(always_failing):
        return [_no_output(pair, probes)]
    if any(always_failing) and not pair.failures_tell:
        return [_rejected(pair, probes[always_failing.index(True)])]
    trial = sampler.trial(look.samples * pair.weight, any(always_failing), guarantee)
    if trial.cut_short:
        return [_ran_out_of_time(pair, trial, setting.seconds)]
    if trial.early is not None:
        return [_ended_early(pair, guarantee, trial, trial.early, look)]
    failure = Event(None)
    estimate = _estimated(pair, guarantee, trial)
    checks = [] if trial.event == failure else [_tested(pair, guarantee, trial, trial.event, "event", look)]
    if trial.wager is not None and isinstance(trial.wager.bet, RenyiBet):
        checks.append(_divergence(pair, guarantee, trial, trial.wager, trial.wager.bet, look))
    turned = trial.turned_to_failures()
    if pair.failures_tell and (turned.counts(failure).first or not checks):
        # choices=2 doubles the p-value, because the tested draws themselves decided which data set comes first
        checks.append(_tested(pair, guarantee, turned, failure, FAILURES, look, choices=2))
    checks = [_with_estimate(check, estimate, guarantee) for check in checks]
    if stop <= 0:
        return checks
    p_values = (1.0 if check.p_value is None else check.p_value for check in checks)
    return [replace(c, p_value=min(1.0, p / (1 - EARLY_SHARE))) for c, p in zip(checks, p_values, strict=True)]


def _with_estimate(check: Finding, estimate: float | None, guarantee: Guarantee) -> Finding:
    """Return the finding with the estimated privacy loss of the pair.

    The finding asks for more draws if the estimate is well above the claim.
    """
    if estimate is None or not isinstance(check.facts, TestedEvent):
        return check
    promising = estimate > PROMISING * claimed_loss(guarantee)
    return replace(check, facts=replace(check.facts, estimated_loss=estimate), promising=promising)


def _curve(trial: EventTrial, guarantee: Guarantee, error: float) -> TradeOff | None:
    """Return the trade-off curve, or None if there are no thresholds or a data set has no draws."""
    if trial.event.statistic is None or not trial.levels or min(side.draws.size for side in trial.sides) == 0:
        return None
    one, two = ((side.draws.sums.beyond, side.draws.size) for side in trial.sides)
    return points(one, two, trial.levels, guarantee, error)


def _no_output(pair: Pair, probes: tuple[Draws, Draws]) -> Finding:
    failures = probes[0].failures + probes[1].failures
    reason = ", ".join(f"{count} × {what}" for what, count in failures.items())
    return Finding("privacy", "event", Status.SKIPPED, f"no output on either data set: {reason}", pair.name)


def _rejected(pair: Pair, draws: Draws) -> Finding:
    reason = ", ".join(f"{count} × {what}" for what, count in draws.failures.items())
    detail = f"no output on one data set; one of the two is outside the domain, so this breaks no promise: {reason}"
    return Finding("privacy", "event", Status.NOTED, detail, pair.name)


def _ran_out_of_time(pair: Pair, trial: EventTrial, seconds: float) -> Finding:
    return Finding(
        "privacy",
        "event",
        Status.INCONCLUSIVE,
        f"the target ran into the time limit of {seconds:g} s again and again",
        pair.name,
        facts=OutOfTime((dict(trial.sides[0].draws.failures), dict(trial.sides[1].draws.failures))),
    )


def _tested(
    pair: Pair, guarantee: Guarantee, trial: EventTrial, event: Event, name: str, look: Look, choices: int = 1
) -> Finding:
    """Test one event on the draws of a trial.

    If the event was fixed without the draws of `trial`, `choices` is 1. If these draws chose the event among several
    events, `choices` is the number of these events. The p-value is multiplied by `choices`, and the error of the bound
    is divided by it.
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
        # the smaller of two p-values is doubled, because the event and the bet are two tests of the claim
        p, tests = min(1.0, 2 * min(p, trial.wager_p_value())), 2
    return Finding(
        "privacy",
        name,
        Status.NOT_REFUTED,
        "; ".join((text, *pair.remarks)),
        pair.name,
        p_value=min(1.0, choices * p),
        n=counts.first_n + counts.second_n,
        facts=TestedEvent(
            str(event),
            (counts.first, counts.second),
            (counts.first_n, counts.second_n),
            bound,
            CONFIDENCE,
            (one.name, two.name),
            data_sets(pair),
            (dict(one.draws.failures), dict(two.draws.failures)),
            largest_loss=largest_loss((counts.first_n, counts.second_n), guarantee, look.step),
            in_reach=in_reach(counts, guarantee, choices * tests, look.step),
            trade_off=_curve(trial, guarantee, error) if event == trial.event else None,
        ),
        data=(pair.first, pair.second),
    )


def _divergence(
    pair: Pair, guarantee: Guarantee, trial: EventTrial, wager: Wager, bet: RenyiBet, look: Look
) -> Finding:
    """Return the finding of a bet on the Rényi divergence of a statistic. The fields of `facts` are those of the
    finding on the tested event, except for `in_reach` and `p_of_two_steps`.
    """
    tested = _tested(pair, guarantee, trial, trial.event, "divergence", look)
    far, near = ("second", "first") if bet.swapped else ("first", "second")
    intervals = 0 if wager.bounds is None else len(wager.bounds) + 1
    p = trial.wager_p_value()
    gained = f"gained a factor e^{-math.log(max(p, SMALLEST_P)):.1f}" if p < 1 else "gained nothing"
    text = (
        f"a bet on {intervals} intervals of the values of {{{wager.event.statistic_name}}} {gained}; the bet is that "
        f"the outputs on the {far} data set have a Rényi divergence of order {bet.order:g} from those on the {near} "
        "data set that is above the claim"
    )
    # `p_of_two_steps` comes from a bet against 4ρ-zCDP. This bet is chosen on the same draws on which it is evaluated,
    # so its p-value tends to be too small. If even this p-value is 1, these draws give no evidence against 4ρ-zCDP.
    one, two = (side.draws.sums.bet for side in trial.sides)
    rho = STEPS_SQUARED * guarantee.rho if isinstance(guarantee, ZCDP) else 0.0
    assert isinstance(tested.facts, TestedEvent)
    facts = replace(tested.facts, in_reach=None, p_of_two_steps=renyi_bet(one, two, rho).p_value(one, two))
    return replace(tested, detail="; ".join((text, *pair.remarks)), p_value=p, facts=facts)


def _ended_early(pair: Pair, guarantee: Guarantee, trial: EventTrial, early: EarlyEnd, look: Look) -> Finding:
    """Return the finding on a pair of data sets whose draws ended early.

    The confidence bound of this check is valid at whatever stage the draws end.
    """
    tested = _tested(pair, guarantee, replace(trial, wager=None), trial.event, "event", look)
    counts = trial.counts(trial.event)
    error = EARLY_SHARE * (1 - CONFIDENCE) / MOST_STAGES
    p, q = probability_bounds(counts, error)
    bound = math.log(p) - math.log(q) if p > 0 else -math.inf
    one, two = trial.sides
    text = (
        f"event {{{trial.event}}}: {counts.first} of {counts.first_n} on the {one.name} data set, "
        f"{counts.second} of {counts.second_n} on the {two.name}; a bet against the claim gained a factor "
        f"e^{early.log_value:.0f}, so the draws ended before the planned number, {early.planned:.0f} per data set"
    )
    if isinstance(guarantee, PureDP):
        text += f"; loss ≥ {bound:.3f} at {CONFIDENCE:.1%} (claim {guarantee.epsilon:g})"
    assert isinstance(tested.facts, TestedEvent)
    facts = replace(tested.facts, trade_off=_curve(trial, guarantee, error), loss_lower_bound=bound)
    p_value = math.exp(min(0.0, math.log(2 / EARLY_SHARE) - early.log_value))
    return replace(tested, detail="; ".join((text, *pair.remarks)), p_value=p_value, facts=facts)


def in_reach(counts: EventCounts, guarantee: Guarantee, choices: int, alpha: float) -> InReach | None:
    """Return the smallest privacy loss that the test would have detected. The loss is that of an event whose
    probability on the first data set equals the observed frequency of the tested event on this data set.

    This function returns None if the tested event occurred fewer than `FEWEST` times on the first data set. `choices`
    multiplies the p-values of the test, which is made at the level `alpha`.
    """
    if counts.first < FEWEST:
        return None
    test = EventTest(
        counts.first / counts.first_n, guarantee, partial(refutes, guarantee), alpha * (1 - EARLY_SHARE) / choices
    )
    loss = test.smallest_loss(counts.mean)
    small = CLOSE * claimed_loss(guarantee)
    factor = 1.0 if loss <= small else test.factor(small, counts.mean)
    return InReach(test.p, loss, small, factor)


def _estimated(pair: Pair, guarantee: Guarantee, trial: EventTrial) -> float | None:
    """Return the loss of a pair, estimated as if the noise were independent Laplace noise.

    The estimate decides whether more draws are made on the pair, and is not a bound. `_estimated` returns None if
    `pair.by_entry` is false, if the claim is not pure DP, or if there are too few draws.
    """
    first, second = (side.draws.kept.outputs for side in trial.sides)
    if not pair.by_entry or not isinstance(guarantee, PureDP) or min(len(first), len(second)) < FEWEST_LEARNED:
        return None
    return laplace_loss(first, second)
