"""An audit of any number of draws in bounded memory, which goes on from a checkpoint after it was killed.

`covassay audit TARGET --mechanism MECHANISM --samples 100000000 --checkpoint FILE` makes that many draws on one data
set with `dimension` columns, on which the law of the mechanism is known exactly, and about as many on either side of
one pair of neighbours. Draws are made in blocks; the worker that makes a block reduces it to sums of fixed size. Blocks
are added up in their order, so that no figure depends on the number of workers or on interruptions.

What is checked:

contract, data path : as in any audit, on few draws, and first; if they refute, the run ends there.
law : the tests of the mechanism's profile on that data set, each of all draws: distances of distribution functions,
    counts beyond exact quantiles down to the one beyond which ten values are expected, total scales, signs, and the
    dependence of entries and of successive draws (`statistics.pooling`). The value furthest out of all.
coincidences : zeros, repeats and atoms within each block; repeats in different blocks are not looked for.
privacy : one event, chosen on training draws among the statistics that the profile gives, and for zCDP a bet on a Rényi
    divergence, tested on all other draws; the trade-off curve at thresholds that the training draws chose; failures.

What is not: other shapes of data and other pairs, statistics learned from draws, tests without sums that can be added
up, low-order bits, a diagnosis. An ordinary audit has these.

False alarms: Holm's procedure over the checks of law and privacy has the budget of both looks of an ordinary audit.
Whenever the number of blocks is a power of two, the law is looked at; the share `EARLY_SHARE` of the budget is set
aside for refutations there, which end the run.
"""

import hashlib
import math
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from covassay.reference.domain import Matrix, Vector
from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.registry import mechanism
from covassay.reference.privacy import ZCDP, ApproximateDP, Guarantee, PureDP
from covassay.verification.audit.budget import ErrorBudget, decide
from covassay.verification.audit.engine import checkpoint, workers
from covassay.verification.audit.engine.coincidences import NAME_SEEN, findings_in
from covassay.verification.audit.engine.contract import require_answer
from covassay.verification.audit.engine.event_choice import LARGEST_EXPONENT, largest_loss
from covassay.verification.audit.engine.events import Pair, data_sets
from covassay.verification.audit.engine.facts import LawTest, TestedEvent, TradeOff
from covassay.verification.audit.engine.facts import Side as Name
from covassay.verification.audit.engine.finding import Finding, Look, Status
from covassay.verification.audit.engine.law import ANSWERS, FEWEST_OUTPUTS, SMALLEST_SHARE, Scenario, number_of_tests
from covassay.verification.audit.engine.non_finite import finite_test
from covassay.verification.audit.engine.pilot import event_among_given
from covassay.verification.audit.engine.privacy import CONFIDENCE, FAILURES, TESTS, in_reach
from covassay.verification.audit.engine.sampling import Repeated, Setting, draw, draw_block
from covassay.verification.audit.engine.tails import TAILS, rare_branches
from covassay.verification.audit.engine.trade_off import points
from covassay.verification.audit.engine.violation import p_value
from covassay.verification.audit.expected import as_called_for, expected_of
from covassay.verification.audit.knowledge.known import profile
from covassay.verification.audit.knowledge.shared import noise_entries
from covassay.verification.audit.knowledge.shared.profile import Profile
from covassay.verification.audit.options import AuditOptions, replay_command
from covassay.verification.audit.question import Question, Subject
from covassay.verification.audit.questions import questions
from covassay.verification.audit.report import AuditReport
from covassay.verification.audit.run import ask, verdict
from covassay.verification.audit.targets.process_state import random_states_put_back
from covassay.verification.audit.targets.target import Target, TargetReference, TargetSource, load
from covassay.verification.statistics.betting import event_bet, renyi_bet
from covassay.verification.statistics.pooling import Places, pooled
from covassay.verification.statistics.ratio import EventCounts, log_ratio_lower, poisson_size
from covassay.verification.statistics.streams import stream, watching
from covassay.verification.statistics.tails import levels as tail_levels
from covassay.verification.statistics.tests import TestResult

DIMENSION = 3
ROWS = 12
BLOCK = 20_000  # draws that a worker makes and reduces in one go
FEWEST = 1000  # samples; fewer are no work for blocks
TRAINING = 20_000  # draws a side, at most, that choose the event
TRAINING_SHARE = 0.3  # of the samples, at most
EARLY_SHARE = 1e-3  # of the budget, for looks at the law before its last block
MOST_FINDINGS = 100  # coincidences that are looked for in a block, at most: some kinds, for every entry
MOST_LOOKS = 60  # before the last block, each after twice as many blocks as the one before
SECONDS = 5.0  # between two checkpoints, about: what a kill can cost
NOTE = (
    "A streaming run: one data set and one pair. Not looked at: other shapes of data and other pairs, statistics "
    "learned from draws, repeats in different blocks of {block} draws, low-order bits{more}."
)
SIDES: tuple[Name, Name] = ("first", "second")


# THE PLAN, WHICH EVERY WORKER MAKES FROM THE SAME FEW WORDS


@dataclass(frozen=True)
class Recipe:
    """What a streaming run is about: a mechanism with all its options, a claim, and the number of columns."""

    mechanism: str
    guarantee: Guarantee
    options: tuple[tuple[str, Any], ...]
    samples: int
    seed: int
    dimension: int


@dataclass(frozen=True)
class Plan:
    """The data set of the law with its tests, the pair of neighbours, and the profile that they are from."""

    scenario: Scenario
    pair: Pair
    profile: Profile


@lru_cache(maxsize=8)
def plan(recipe: Recipe) -> Plan:
    """The plan of a recipe.

    Raises
    ------
    InvalidInput : the law of the mechanism is not known exactly on data with so many columns.
    """
    known = profile(recipe.mechanism, recipe.guarantee, dict(recipe.options), recipe.samples, recipe.seed)
    name, d = recipe.mechanism, recipe.dimension
    sizes = [] if known.shapes is None else [n for n, columns in known.shapes.sizes if columns == d]
    pairs = [pair for pair in known.pairs(frozenset()) if pair.first.shape[1] == d and pair.failures_tell]
    if known.view is not None:
        raise InvalidInput(f"checkpoint: a streaming run does not look at {name} yet; audit it without --checkpoint")
    if known.shapes is None or not sizes or not pairs:
        raise InvalidInput(
            f"checkpoint: a streaming run needs a law that is known exactly and a pair of neighbours, and there is no "
            f"such {'pair' if sizes else 'law'} for {name} with {d} columns; audit it without --checkpoint"
        )
    n = ROWS if min(sizes) <= ROWS <= max(sizes) else sizes[0]
    scenario = known.shapes.scenario(n, d)
    path = known.data_path
    if path is not None and path.query is not None:
        scenario = noise_entries.with_entries(scenario, path.query(scenario.x), path.symmetric, known.independent)
    return Plan(replace(scenario, name=f"n={n}, d={d}"), max(pairs, key=lambda pair: pair.weight), known)


# WHAT A WORKER DOES WITH A BLOCK


@dataclass(frozen=True)
class LawSums:
    """What is kept of the blocks of the law, added up.

    `parts` has the sums of every test, `impossible` the number of blocks in which its statistic was not finite, and
    `without` the tests that have no sums. `finding` is the least likely coincidence within a block and its probability.
    """

    blocks: int = 0
    outputs: int = 0
    skipped: int = 0
    failures: dict[str, int] = field(default_factory=dict)
    parts: dict[str, Any] = field(default_factory=dict)
    impossible: dict[str, int] = field(default_factory=dict)
    without: tuple[str, ...] = ()
    finding: tuple[float, str] = (1.0, "")

    def plus(self, other: "LawSums") -> "LawSums":
        """The sums of both."""
        both = {name: self.parts[name].plus(part) if name in self.parts else part for name, part in other.parts.items()}
        return LawSums(
            self.blocks + other.blocks,
            self.outputs + other.outputs,
            self.skipped + other.skipped,
            dict(Counter(self.failures) + Counter(other.failures)),
            self.parts | both,
            dict(Counter(self.impossible) + Counter(other.impossible)),
            tuple(dict.fromkeys((*self.without, *other.without))),
            min(self.finding, other.finding),
        )

    @property
    def draws(self) -> int:
        """How many draws were made."""
        return self.outputs + sum(self.failures.values())


@dataclass(frozen=True)
class SideSums:
    """How many draws on one data set of the pair lie between any two thresholds, and how many failed."""

    blocks: int = 0
    skipped: int = 0
    failures: dict[str, int] = field(default_factory=dict)
    counts: Vector = field(default_factory=lambda: np.zeros(0))

    def plus(self, other: "SideSums") -> "SideSums":
        """The sums of both."""
        return SideSums(
            self.blocks + other.blocks,
            self.skipped + other.skipped,
            dict(Counter(self.failures) + Counter(other.failures)),
            other.counts if not len(self.counts) else self.counts + other.counts,
        )

    @property
    def failed(self) -> int:
        """How many draws failed."""
        return sum(self.failures.values())

    @property
    def draws(self) -> int:
        """How many draws were made."""
        return int(self.counts.sum()) + self.failed


checkpoint.KINDS.update({kind.__name__: kind for kind in (LawSums, SideSums)})


@dataclass(frozen=True)
class Work:
    """What every block of a run needs to be drawn."""

    source: TargetSource
    recipe: Recipe
    budget: tuple[tuple[str, Any], ...]
    seconds: float

    def draws(self, x: Matrix, size: int, label: str, block: int) -> Any:
        """The draws of one block, from a random stream that follows from the label and the number of the block."""
        root = stream(self.recipe.seed, "streaming", label)
        seed = np.random.SeedSequence(root.entropy, spawn_key=(block,))
        shape = plan(self.recipe).profile.form.output.shape(x.shape[1])
        return draw_block(Repeated(self.source, x, dict(self.budget), shape, self.seconds), size, seed)


def law_block(work: Work, size: int, block: int) -> LawSums:
    """The sums of one block of draws on the data set of the law."""
    planned = plan(work.recipe)
    x = planned.scenario.x
    drawn = work.draws(x, size, "law", block)
    sums = LawSums(1, len(drawn.outputs), drawn.skipped, dict(drawn.failures))
    if len(drawn.outputs) < FEWEST_OUTPUTS:
        return sums
    tried = tail_levels(work.recipe.samples)
    results = {name: finite_test(test, drawn.outputs) for name, test in planned.scenario.tests.items()}
    parts = {name: pooled(result, tried, block) for name, result in results.items()}
    path = planned.profile.data_path
    found = findings_in(path, x, drawn.outputs) if path is not None and (path.query or path.continuous) else []
    return replace(
        sums,
        parts={name: part for name, part in parts.items() if part is not None},
        impossible={name: 1 for name, result in results.items() if math.isnan(result.statistic)},
        without=tuple(name for name, part in parts.items() if part is None and not math.isnan(results[name].statistic)),
        finding=min([*found, (1.0, "")]),
    )


@dataclass(frozen=True)
class ChosenEvent:
    """The event that training draws suggested: {statistic ≥ or ≤ threshold}, among thresholds `levels`.

    `swapped` says that it is likelier on the second data set. `first` and `second` are the counts of the training draws
    between the thresholds; the last one counts failures.
    """

    statistic: int
    threshold: float
    above: bool
    swapped: bool
    levels: tuple[float, ...]
    first: Vector
    second: Vector

    def between(self, values: Vector) -> Vector:
        """How many values lie between any two thresholds; a threshold itself is in the event."""
        cells = np.searchsorted(self.levels, values, "right" if self.above else "left")
        return np.bincount(cells, minlength=len(self.levels) + 1).astype(np.float64)

    def beyond(self, counts: Vector) -> Vector:
        """For every threshold, how many values lie at or beyond it."""
        up_to = np.cumsum(counts)
        return np.asarray(up_to[-1] - up_to[:-1] if self.above else up_to[:-1])

    @property
    def index(self) -> int:
        """The place of the event's threshold among `levels`."""
        return self.levels.index(self.threshold)


checkpoint.KINDS[ChosenEvent.__name__] = ChosenEvent


def side_block(work: Work, event: ChosenEvent, side: str, size: int, block: int) -> SideSums:
    """The counts of one block of draws on one data set of the pair."""
    pair = plan(work.recipe).pair
    drawn = work.draws(pair.first if side == SIDES[0] else pair.second, size, f"privacy/{side}", block)
    values = pair.statistics[event.statistic].values(drawn.outputs) if len(drawn.outputs) else np.zeros(0)
    return SideSums(1, drawn.skipped, dict(drawn.failures), event.between(values))


# THE RUN


@dataclass
class _Run:
    """A streaming run under way: what it is, what it has seen so far, and where that is kept."""

    work: Work
    setting: Setting
    options: AuditOptions
    file: Path
    identity: dict[str, Any]
    state: dict[str, Any]
    resumed_after: float = 0.0
    started: float = field(default_factory=time.monotonic)
    written: float = field(default_factory=time.monotonic)

    @property
    def plan(self) -> Plan:
        """The plan of this run."""
        return plan(self.work.recipe)

    @property
    def alpha(self) -> float:
        """The false-alarm probability of the statistical checks: what the questions of few draws leave."""
        few = sum((question.share for question in few_questions()), Fraction(0))
        return self.options.false_alarm * float(1 - few)

    @property
    def look(self) -> Look:
        """The one look at law and privacy."""
        return Look(level=self.alpha, tests=number_of_tests(self.plan.scenario) + TESTS + 2)

    @property
    def seconds(self) -> float:
        """The time that the run took, without the time between a kill and the restart."""
        return self.resumed_after + time.monotonic() - self.started

    def save(self, now: bool = True) -> None:
        """Write the checkpoint; without `now`, only if the last one is old enough."""
        if now or time.monotonic() - self.written >= SECONDS:
            checkpoint.write(self.file, self.identity, {**self.state, "seconds": self.seconds})
            self.written = time.monotonic()

    def add_blocks(self, part: str, function: Callable[..., Any], given: tuple[Any, ...], draws: int) -> Iterator[int]:
        """Make the blocks of a part that are missing, add them up in order, and give their number after each."""
        done, blocks = self.state[part].blocks, -(-draws // BLOCK)
        calls = ((self.work, *given, min(BLOCK, draws - i * BLOCK), i) for i in range(done, blocks))
        for i, sums in enumerate(workers.run(self.setting.jobs, function, calls), done):
            self.state[part] = self.state[part].plus(sums)
            self.setting.progress(part, min(BLOCK, draws - i * BLOCK))
            yield i + 1
            self.save(now=i + 1 == blocks)
            if self.state[part].skipped:
                return

    def law(self) -> None:
        """Draw on the data set of the law, until the last block or an overwhelming refutation."""
        if self.state["ended"]:
            return
        for blocks in self.add_blocks("law", law_block, (), self.options.samples):
            looks = blocks & (blocks - 1) == 0 and blocks * BLOCK < self.options.samples
            if looks and self.overwhelming(self.early(law_checks(self))):
                self.state["ended"] = True
                self.save()
                return

    def early(self, checks: Iterable[Finding]) -> list[Finding]:
        """The checks with the p-values of a look before the last block."""
        return [_weighted(check, MOST_LOOKS / EARLY_SHARE) for check in checks]

    def overwhelming(self, checks: Iterable[Finding]) -> bool:
        """Whether the smallest p-value refutes by Bonferroni's inequality, and so by Holm's procedure."""
        p_values = [check.p_value for check in checks if check.p_value is not None]
        return bool(p_values) and min(p_values) * len(p_values) <= self.alpha

    def privacy(self) -> None:
        """Choose an event on training draws, and count it on both data sets of the pair."""
        pair, rng = self.plan.pair, np.random.default_rng(stream(self.work.recipe.seed, "streaming", "sizes"))
        mean = float(self.options.samples)
        sizes = dict(zip(SIDES, (poisson_size(mean, rng), poisson_size(mean, rng)), strict=True))
        if self.state["event"] is None:
            size = min(TRAINING, round(TRAINING_SHARE * mean))
            first, second = (
                draw(self.setting, x, size, f"streaming/training/{side}")
                for side, x in zip(SIDES, (pair.first, pair.second), strict=True)
            )
            if min(len(first.outputs), len(second.outputs)) == 0:
                return
            error = self.alpha / 5
            index, event, swapped, levels = event_among_given(
                pair, (first, second), mean, self.work.recipe.guarantee, error
            )
            chosen = ChosenEvent(index, float(event.threshold), event.above, swapped, levels, np.zeros(0), np.zeros(0))
            seen = [
                np.append(chosen.between(pair.statistics[index].values(d.outputs)), d.failed) for d in (first, second)
            ]
            self.state["event"] = replace(chosen, first=seen[0], second=seen[1])
            self.save()
        for side in SIDES:
            for _ in self.add_blocks(side, side_block, (self.state["event"], side), sizes[side]):
                pass


def _weighted(check: Finding, factor: float) -> Finding:
    return check if check.p_value is None else replace(check, p_value=min(1.0, check.p_value * factor))


def _check_of(name: str, scenario: str, result: TestResult, draws: int, look: Look, **facts: Any) -> Finding:
    return Finding(
        "law",
        name,
        Status.NOT_REFUTED,
        f"null: {result.null}; statistic {result.statistic:.4g}",
        scenario,
        p_value=result.p_value,
        n=draws,
        facts=LawTest(result.statistic, result.effect, result.detectable(look.step), **facts),
    )  # fmt: skip


def few_questions() -> list[Question]:
    """The questions of contract and data path that need few draws and no facts of others."""
    return [q for q in questions() if q.kind in ("contract", "data path") and not q.reads]


def law_checks(run: _Run) -> list[Finding]:
    """The checks of the law, not yet decided."""
    sums: LawSums = run.state["law"]
    name = run.plan.scenario.name
    if sums.skipped:
        detail = f"the target ran into the time limit of {run.options.time_limit:g} s again and again"
        return [Finding("law", "draws", Status.INCONCLUSIVE, detail, name, n=sums.outputs)]
    listed = ", ".join(f"{count} × {what}" for what, count in sums.failures.items())
    if sums.outputs < max(FEWEST_OUTPUTS, sums.draws // SMALLEST_SHARE):
        return [Finding("law", "draws", Status.INCONCLUSIVE, f"too few outputs: {listed}", name, n=sums.outputs)]
    checks = [
        _check_of(test, name, part.result(), sums.outputs, run.look)
        for test, part in sums.parts.items()
        if test not in sums.impossible
    ]
    for test, blocks in sums.impossible.items():
        detail = f"null: the statistic of every output is a finite number; it was not in {blocks} blocks"
        checks.append(Finding("law", test, Status.NOT_REFUTED, detail, name, p_value=0.0, n=sums.outputs))
    failed = {what: count for what, count in sums.failures.items() if not what.startswith("time-out")}
    if failed:
        detail = (
            f"the law gives every draw an output, and {sum(failed.values())} of {sums.draws} draws have none: {listed}"
        )
        checks.append(Finding("law", ANSWERS, Status.NOT_REFUTED, detail, name, p_value=0.0, n=sums.draws))
    places = {test: part for test, part in sums.parts.items() if isinstance(part, Places)}
    if places:
        tails = {test: part.tails() for test, part in places.items()}
        worst = min(tails, key=lambda test: tails[test].p_value)
        known = [part for part in places.values() if part.extreme < 1]
        least = replace(
            tails[worst],
            null=f"{tails[worst].null} ({worst})",
            p_value=min(1.0, len(tails) * tails[worst].p_value),
            detectable=lambda alpha: tails[worst].detectable(alpha / len(tails)),
        )
        checks.append(
            _check_of(
                TAILS, name, least, sums.outputs, run.look, values=sum(part.n for part in known),
                furthest=min((part.extreme for part in known), default=1.0),
            )
        )  # fmt: skip
    checks += rare_branches(checks, run.look)
    return [*checks, *_coincidences(run, sums)]


def _coincidences(run: _Run, sums: LawSums) -> list[Finding]:
    """The check of coincidences within blocks; the p-value is that of the least likely one, times the blocks."""
    p, text = sums.finding
    path = run.plan.profile.data_path
    if path is None or not (path.query or path.continuous):
        return []
    planned = -(-run.options.samples // BLOCK)
    seen = f"the least likely coincidence within a block: {text}" if text else f"none within {sums.blocks} blocks"
    detail = f"null: a continuous law shows no zero, no repeat and no atom; {seen}"
    factor = planned * MOST_FINDINGS
    return [
        Finding(
            "law", NAME_SEEN, Status.NOT_REFUTED, detail, run.plan.scenario.name, p_value=min(1.0, factor * p),
            n=sums.outputs,
        )
    ]  # fmt: skip


def privacy_checks(run: _Run) -> list[Finding]:
    """The checks of the pair, not yet decided."""
    pair, guarantee, event = run.plan.pair, run.work.recipe.guarantee, run.state["event"]
    first, second = (run.state[side] for side in SIDES)
    if event is None:
        detail = "no output on one of the data sets"
        return [Finding("privacy", "event", Status.INCONCLUSIVE, detail, pair.name)]
    if first.skipped or second.skipped:
        detail = f"the target ran into the time limit of {run.options.time_limit:g} s again and again"
        return [Finding("privacy", "event", Status.INCONCLUSIVE, detail, pair.name)]
    sides = (second, first) if event.swapped else (first, second)
    beyond = [event.beyond(side.counts) for side in sides]
    counts = EventCounts(
        int(beyond[0][event.index]), int(beyond[1][event.index]), sides[0].draws, sides[1].draws,
        float(run.options.samples),
    )  # fmt: skip
    names: tuple[Name, Name] = ("second", "first") if event.swapped else SIDES
    shape = f"{pair.statistics[event.statistic].name} {'≥' if event.above else '≤'} {event.threshold:.6g}"
    curve = points((beyond[0], sides[0].draws), (beyond[1], sides[1].draws), event.levels, guarantee, 1 - CONFIDENCE)
    p, tests = p_value(counts, guarantee), 1
    if isinstance(guarantee, ApproximateDP) and guarantee.epsilon <= LARGEST_EXPONENT:
        p, tests = min(1.0, 2 * min(p, _bet_p_value(event, sides, guarantee))), 2
    checks = [_event_check(run, shape, names, counts, p, tests, curve)]
    if isinstance(guarantee, ZCDP):
        bet = renyi_bet(event.first, event.second, guarantee.rho)
        p = bet.p_value(*(np.append(side.counts, side.failed) for side in (first, second)))
        text = (
            f"Rényi divergence of order {bet.order:g} of {{{pair.statistics[event.statistic].name}}}, in "
            f"{len(event.levels) + 1} intervals: a bet that it exceeds the claim gained a factor "
            f"e^{-math.log(max(p, 1e-300)):.1f}"
        )
        tested = checks[0].fact(TestedEvent)
        assert tested is not None
        facts = replace(tested, in_reach=None, trade_off=None)
        checks.append(replace(checks[0], name="divergence", detail=text, p_value=p, facts=facts))
    if first.failed + second.failed:
        more, less = sorted((first, second), key=lambda side: -side.failed)
        turned: tuple[Name, Name] = SIDES if more is first else ("second", "first")
        failures = EventCounts(more.failed, less.failed, more.draws, less.draws, float(run.options.samples))
        p = min(1.0, 2 * p_value(failures, guarantee))
        check = _event_check(run, "the target fails", turned, failures, p, 2, None)
        checks.append(replace(check, name=FAILURES))
    return checks


def _bet_p_value(event: ChosenEvent, sides: tuple[SideSums, SideSums], guarantee: ApproximateDP) -> float:
    """The p-value of a bet on the event that the training draws suggest."""
    trained = (event.second, event.first) if event.swapped else (event.first, event.second)

    def inside(counts: Vector, total: float) -> Vector:
        hits = float(event.beyond(counts)[event.index])
        return np.array([hits, total - hits])

    one, two = (inside(counts[:-1], float(counts.sum())) for counts in trained)
    bet = event_bet(one, two, guarantee.epsilon, guarantee.delta)
    return bet.p_value(*(inside(side.counts, float(side.draws)) for side in sides))


def _event_check(
    run: _Run, shape: str, names: tuple[Name, Name], counts: EventCounts, p: float, tests: int, curve: TradeOff | None
) -> Finding:
    pair, guarantee = run.plan.pair, run.work.recipe.guarantee
    bound = log_ratio_lower(counts, CONFIDENCE)
    text = (
        f"event {{{shape}}}: {counts.first} of {counts.first_n} on the {names[0]} data set, {counts.second} of "
        f"{counts.second_n} on the {names[1]}"
    )
    if isinstance(guarantee, PureDP):
        text += f"; loss ≥ {bound:.3f} at {CONFIDENCE:.1%} (claim {guarantee.epsilon:g})"
    return Finding(
        "privacy",
        "event",
        Status.NOT_REFUTED,
        "; ".join((text, *pair.remarks)),
        pair.name,
        p_value=p,
        n=counts.first_n + counts.second_n,
        facts=TestedEvent(
            shape,
            (counts.first, counts.second),
            (counts.first_n, counts.second_n),
            bound,
            CONFIDENCE,
            names,
            data_sets(pair),
            (run.state[names[0]].failures, run.state[names[1]].failures),
            largest_loss=largest_loss((counts.first_n, counts.second_n), guarantee, run.look.step),
            in_reach=in_reach(counts, guarantee, tests, run.look.step),
            trade_off=curve,
        ),
        data=(pair.first, pair.second),
    )


def _digest(source: TargetSource, target: Target) -> str:
    """A digest of the file that a function is from, or of the files that a command names; "" if there are none."""
    if isinstance(source, TargetReference) and source.command:
        files = [Path(source.directory, word) for word in source.command]
    else:
        function = getattr(target.draw, "function", target.draw)
        code = getattr(function, "__code__", None)
        files = [Path(code.co_filename)] if code is not None else []
    digest, found = hashlib.sha256(), [file for file in files if file.is_file()]
    for file in found:
        digest.update(file.read_bytes())
    return digest.hexdigest() if found else ""


def stream_audit(
    source: TargetSource | Callable[..., Any] | str, guarantee: Guarantee, options: AuditOptions
) -> AuditReport:
    """Audit with any number of draws in bounded memory; see the module.

    checkpoint : where the state of the run is kept. If it is there, the run goes on from it; if it is the state of a
        finished run, its report is given again.
    samples : the number of draws on the data set of the law, and the mean number on either side of the pair.
    dimension : the number of columns of the data.

    Raises
    ------
    InvalidInput : an argument breaks its rule, or the checkpoint is damaged or belongs to another run.
    CannotRun : the target cannot be loaded, or a worker ended. The checkpoint stays as it is.
    """
    options = replace(options, dimension=options.dimension or DIMENSION)
    assert options.checkpoint is not None
    assert options.dimension is not None
    file, samples, dimension = Path(options.checkpoint), options.samples, options.dimension
    if samples < FEWEST:
        raise InvalidInput(f"samples = {samples!r}: must be at least {FEWEST} for a streaming run")
    origin = as_called_for(source, guarantee, options)
    target = load(origin)
    name, resolved, expected = expected_of(target, guarantee, options)
    if name is None:
        raise InvalidInput(
            "checkpoint: a streaming run needs a law; say by mechanism which one the target claims to be"
        )
    recipe = Recipe(name, guarantee, tuple(resolved.items()), samples, options.seed, dimension)
    plan(recipe)
    budget = dict(guarantee.keywords())
    identity = {
        "target": origin.spec if isinstance(origin, TargetReference) else origin.name,
        "call": getattr(origin, "call", None),
        "target version": target.version,
        "file of the target": _digest(origin, target),
        "mechanism": name,
        "options": {key: str(value) for key, value in resolved.items()},
        "claim": budget,
        "samples": samples,
        "dimension": dimension,
        "seed": options.seed,
        "seeded": target.seeded,
        "false alarm": options.false_alarm,
        "time limit": options.time_limit,
        "block": BLOCK,
        **{package: version(package) for package in ("covassay", "numpy", "scipy")},
    }
    setting = Setting(
        origin, budget, expected.form.output, options.seed, options.jobs, options.time_limit, watching(options.progress)
    )
    with checkpoint.held(file), random_states_put_back():
        state = checkpoint.read(file, identity)
        fresh: dict[str, Any] = {
            "few": None, "law": LawSums(), "ended": False, "event": None, "first": SideSums(), "second": SideSums(),
            "seconds": 0.0,
        }  # fmt: skip
        work = Work(origin, recipe, tuple(budget.items()), options.time_limit)
        run = _Run(work, setting, options, file, identity, state or fresh, (state or fresh)["seconds"])
        checks = _carried_out(run, expected)
    law = run.state["law"]
    sides = [run.state[side] for side in SIDES]
    failures = sum((Counter(part.failures) for part in (law, *sides)), Counter[str]())
    more = f", {', '.join(law.without)}" if law.without else ""
    return AuditReport(
        target=target.name,
        version=target.version,
        mechanism=name,
        options=resolved,
        claim=guarantee,
        adjacency=mechanism(name).adjacency_of(resolved),
        verdict=verdict(checks),
        checks=tuple(checks),
        diagnoses=(),
        seed=options.seed,
        samples=samples,
        false_alarm=options.false_alarm,
        seconds=run.seconds,
        replay=replay_command(origin, guarantee, options),
        draws=law.draws + sum(side.draws for side in sides),
        failures=dict(failures),
        settings=options.stated(origin, guarantee).plain(),
        notes=(*target.notes, NOTE.format(block=BLOCK, more=more)),
    )


def _carried_out(run: _Run, expected: Profile) -> list[Finding]:
    """Every check of the run, decided; what is in the checkpoint is not done again."""
    if run.state["few"] is None:
        recipe = run.work.recipe
        adjacency = mechanism(recipe.mechanism).adjacency_of(dict(recipe.options))
        subject = Subject(run.setting, recipe.guarantee, expected, recipe.mechanism, adjacency, run.options)
        require_answer(run.setting)
        ask(few_questions(), subject, ErrorBudget(run.options.false_alarm))
        run.state["few"] = tuple(check.plain() for check in subject.findings)
        run.save()
    checks = [Finding.of_plain(one) for one in run.state["few"]]
    if any(check.status is Status.REFUTED for check in checks):
        return checks
    run.law()
    law = law_checks(run)
    if run.state["ended"]:
        return [*checks, *decide(run.early(law), run.look)]
    run.privacy()
    run.save()
    return [
        *checks,
        *decide([_weighted(check, 1 / (1 - EARLY_SHARE)) for check in (*law, *privacy_checks(run))], run.look),
    ]
