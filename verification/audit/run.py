"""One audit: contract, then law, then privacy; one false-alarm budget; one verdict.

Every p-value of the run enters one Holm procedure, which has half of the false-alarm budget. If that procedure refutes
nothing, every scenario or pair with a p-value below `SUSPICIOUS` gets a second look: fresh draws, ten times as many. A
Holm procedure on the new p-values has the other half of the budget. A target that keeps its promises is therefore
refuted with at most the stated probability.

Low-order bits are a question of their own, with a verdict of its own: the checks above round what they see, so that
they speak of real arithmetic. `engine.low_order_bits` has the share `SHARE` of the false-alarm budget, and all other
checks have the rest but for the share `ASIDE`, so that the probability that either verdict wrongs a target that keeps
its claim to the bit is at most the stated one. With `scope` "real" the verdict of the run is the one in real
arithmetic; with "bits" both count.
"""

import shlex
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from typing import Any

from covassay.reference.box_sensitivity import ADJACENCIES, one_signed
from covassay.reference.domain import Box, Matrix
from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.output import OUTPUTS
from covassay.reference.mechanisms.registry import mechanism
from covassay.reference.privacy import Guarantee
from covassay.verification.audit.engine.adjacency import REPLACE_ONE, explained, with_adjacency
from covassay.verification.audit.engine.batches import batch_is_single
from covassay.verification.audit.engine.bit_pairs import bit_pairs, most_moving, unit_length
from covassay.verification.audit.engine.bulk import draw_many_is_draw
from covassay.verification.audit.engine.called import called
from covassay.verification.audit.engine.checks import CheckResult, Kind, Status, Verdict
from covassay.verification.audit.engine.coincidences import coincidences, coincidences_seen
from covassay.verification.audit.engine.columns import COVARIANCE, ColumnFindings, columns
from covassay.verification.audit.engine.contract import contract, require_answer
from covassay.verification.audit.engine.equal_laws import equal_laws
from covassay.verification.audit.engine.events import Pair
from covassay.verification.audit.engine.kinds_of_data import KINDS, Beside, run_kinds
from covassay.verification.audit.engine.law import Scenario, Suspect, diagnose, fits, run_scenario
from covassay.verification.audit.engine.location import Location
from covassay.verification.audit.engine.low_order_bits import SHARE, BitBudget, BitFindings, low_order_bits
from covassay.verification.audit.engine.other_budgets import at_other_budgets, other_budgets
from covassay.verification.audit.engine.output_kind import USUAL, found_kind, stated
from covassay.verification.audit.engine.own_accounting import own_accounting
from covassay.verification.audit.engine.pair_search import worse_pairs
from covassay.verification.audit.engine.privacy import ESTIMATED, FAILURES, run_pair
from covassay.verification.audit.engine.same_noise import NAME as SAME_NOISE
from covassay.verification.audit.engine.same_noise import DataPath, same_noise
from covassay.verification.audit.engine.sampling import Setting
from covassay.verification.audit.engine.shapes import SHAPES, Shapes, run_shapes
from covassay.verification.audit.engine.summation import summation_order
from covassay.verification.audit.engine.symmetry import symmetry_seen
from covassay.verification.audit.engine.tails import ALL, rare_branches
from covassay.verification.audit.engine.trade_off import keep_most_telling
from covassay.verification.audit.engine.user_data import UserData, user_checks
from covassay.verification.audit.engine.user_pair import UserPair, given_pair, pair_to_test
from covassay.verification.audit.engine.violation import claimed_loss, loss_letter
from covassay.verification.audit.profiles.box import box_profile
from covassay.verification.audit.profiles.by_mechanism import profile
from covassay.verification.audit.profiles.centres import location
from covassay.verification.audit.profiles.profile import Profile, black_box
from covassay.verification.audit.profiles.wrong_scales import explained_by_adjacency
from covassay.verification.audit.targets.bounds import BOUNDS, needs_bounds, takes_bounds
from covassay.verification.audit.targets.process_state import random_states_put_back
from covassay.verification.audit.targets.target import (
    TIME_LIMIT,
    Target,
    TargetReference,
    TargetSource,
    as_source,
    load,
    require_seconds,
)
from covassay.verification.audit.targets.whereabouts import Whereabouts, whereabouts
from covassay.verification.statistics.multiplicity import holm, require_false_alarm
from covassay.verification.statistics.streams import Progress, no_progress, watching
from covassay.verification.statistics.tests import POWER

SUSPICIOUS = 1e-3  # a smaller p-value earns a second look: rare for a correct target, so second looks cost little
PROMISING = 1.2  # times the claim, an estimated loss earns a second look; a smaller one could hardly be proven
ESCALATION = 10  # times the draws of the first look
USUAL_CHECKS = 5  # share the false-alarm budget of a look: a guess that chooses events and decides nothing
OVERWHELMING = 1e-3  # times the budget: such p-values stay refuted however many checks would still have come
LOOKS = 2  # each has this share of the false-alarm budget
# Share of the budget for the checks outside Holm's procedure. Each spends at most a thousandth of the budget of a look
# on a test: fourteen comparisons of equivalent data, and one test each of `draw_many`, coincidences and columns.
ASIDE = 0.02
MOST_CHECKS = 1000  # of a look; a p-value below its budget divided by this is refuted whatever the others are
FALSE_ALARM = 1e-9
SAMPLES = 2000
SCOPES = "real", "bits"  # whether the verdict of the run is about real arithmetic alone, or about the bits as well
FIRST_LOOK = {"real": 0.2, "bits": 1.0}  # times the samples: draws a side that look at low-order bits
BIT_TESTS = {"real": 2.5, "bits": 10.0}  # times the samples: draws a side that may test what the first look found
FEWEST_SAMPLES = 100  # fewer draws could show only the grossest violations


@dataclass(frozen=True)
class AuditSettings:
    """How to audit: everything beside the target and its claim that decides what an audit draws and reports.

    `checkpoint` and `dimension` are those of a streaming audit (`streaming`).

    Raises
    ------
    InvalidInput : a number breaks its rule.
    """

    claimed: str | None = None
    options: dict[str, Any] = field(default_factory=dict)
    released: str | None = None
    samples: int = SAMPLES
    seed: int = 0
    false_alarm: float = FALSE_ALARM
    seconds: float = TIME_LIMIT
    user_data: UserData | None = None
    user_pair: UserPair | None = None
    box: Box | None = None
    adjacency: str | None = None
    equivariant: bool = False
    stop_early: bool = False
    scope: str = "real"
    checkpoint: str = ""
    dimension: int | None = None

    def __post_init__(self) -> None:
        if self.scope not in SCOPES:
            raise InvalidInput(f"scope = {self.scope!r}: must be {' or '.join(SCOPES)}")
        if self.adjacency not in (None, *ADJACENCIES):
            raise InvalidInput(f"adjacency = {self.adjacency!r}: must be {' or '.join(ADJACENCIES)}")
        if self.box is None and self.equivariant:
            raise InvalidInput("equivariant: only for rows in a box; give bounds")
        if self.box is not None and self.user_data is not None:
            raise InvalidInput("data and bounds: a data set of your own is scaled into the unit ball; leave one out")
        require_false_alarm(self.false_alarm)
        require_seconds(self.seconds)
        if self.samples < FEWEST_SAMPLES:
            raise InvalidInput(f"samples = {self.samples!r}: must be at least {FEWEST_SAMPLES}")

    @property
    def own_rows(self) -> Matrix | None:
        """The user's data set, if there is one."""
        return None if self.user_data is None else self.user_data.x

    @property
    def alpha(self) -> float:
        """The false-alarm budget of one look, in real arithmetic."""
        return self.false_alarm * (1 - SHARE - ASIDE) / LOOKS

    @property
    def bit_budget(self) -> BitBudget:
        """The draws and the false-alarm budget of the check of low-order bits."""
        first, most = self.samples * FIRST_LOOK[self.scope], self.samples * BIT_TESTS[self.scope]
        return BitBudget(first, most, self.false_alarm * SHARE, thorough=self.scope == "bits")


@dataclass(frozen=True)
class AuditReport:
    """What an audit found. The verdict is never a certificate.

    `options` are those of the mechanism, complete. `diagnoses` explain the laws that fit the draws although the claimed
    law was refuted. `replay` runs the audit again, draw for draw. `draws` is the number of draws for laws and pairs;
    `failures` counts those of them that gave no output, by what happened. `covassay` is the version of this package.
    `bits` is what was found of low-order bits, None if they were not looked at; it counts toward the verdict if `scope`
    is "bits". `found_at` is where the source of the target is, None if that is not known.
    """

    target: str
    version: str
    mechanism: str | None
    options: dict[str, Any]
    claim: Guarantee
    adjacency: str
    verdict: Verdict
    checks: tuple[CheckResult, ...]
    diagnoses: tuple[str, ...]
    seed: int
    samples: int
    false_alarm: float
    seconds: float
    replay: str
    notes: tuple[str, ...] = ()
    draws: int = 0
    failures: dict[str, int] = field(default_factory=dict)
    covassay: str = field(default_factory=lambda: version("covassay"))
    scope: str = "real"
    bits: BitFindings | None = None
    found_at: Whereabouts | None = None

    @property
    def in_real_arithmetic(self) -> Verdict:
        """The verdict of all checks but that of low-order bits."""
        return verdict_of(check for check in self.checks if check.kind != "bits")

    @property
    def refuted(self) -> tuple[CheckResult, ...]:
        """The checks that failed."""
        return tuple(check for check in self.checks if check.status is Status.REFUTED)


def part_of(kind: Kind, name: str, look: str) -> str:
    """The name of a part of an audit for whoever follows it."""
    return f"{kind}: {name}, {look}"


@dataclass
class _Looks:
    """The statistical checks of a run.

    `outputs` holds the draws of the latest look at each scenario, `fitted` the suspects whose law fits these draws.
    """

    setting: Setting
    guarantee: Guarantee
    settings: AuditSettings
    scenarios: dict[str, Scenario]
    shapes: Shapes | None = None
    beside: Beside | None = None
    pairs: dict[str, Pair] = field(default_factory=dict)
    outputs: dict[str, Matrix] = field(default_factory=dict)
    fitted: list[Suspect] = field(default_factory=list)

    def run(self, kind: Kind, name: str, look: str, factor: int = 1) -> list[CheckResult]:
        """The checks of one scenario ("law") or pair ("privacy"), not yet decided; the two kinds may share a name."""
        samples = self.settings.samples * factor
        if kind == "privacy":
            stop, error = self.settings.alpha / MOST_CHECKS, self.settings.alpha / USUAL_CHECKS
            checks = run_pair(self.setting, self.pairs[name], self.guarantee, samples, look, stop, error)
        elif self.shapes is not None and name == SHAPES:
            checks = run_shapes(self.setting, self.shapes, samples, look)
        elif self.beside is not None and name == KINDS:
            checks = run_kinds(self.setting, self.beside, samples, look)
        else:
            checks, draws = run_scenario(self.setting, self.scenarios[name], samples, look)
            self.outputs[name] = draws.outputs
        self.setting.progress.done(part_of(kind, name, look), len(checks))
        return checks

    def plan(self, kind: Kind, names: Iterable[str], look: str, factor: int = 1) -> None:
        """Tell whoever follows the audit what comes next, and about how many draws it takes."""
        samples = self.settings.samples * factor
        weights = {name: 2 * pair.weight for name, pair in self.pairs.items()} if kind == "privacy" else {}
        weights = weights or {name: scenario.weight for name, scenario in self.scenarios.items()}
        self.setting.progress.plan({part_of(kind, name, look): samples * weights.get(name, 1.0) for name in names})

    def data_sets(self) -> list[str]:
        """The names under which `run` finds all data sets of the law."""
        return [*self.scenarios, *([SHAPES] if self.shapes else []), *([KINDS] if self.beside else [])]

    def first(self, pairs: Callable[[frozenset[str]], tuple[Pair, ...]]) -> list[CheckResult]:
        """The first look at every scenario, and then at the pairs, which may aim at a law that fitted; decided."""
        checks: list[CheckResult] = []
        self.plan("law", self.data_sets(), "first look")
        for name in self.data_sets():
            asked = self.settings.stop_early or name in (SHAPES, KINDS)
            if asked and any_refuted(decide(checks, self.settings.alpha * OVERWHELMING)):
                if self.settings.stop_early:
                    return decide(checks, self.settings.alpha)
                continue  # the law is wrong where it is known best; other data can tell no more
            checks += self.run("law", name, "first look")
        checks += rare_branches(checks)
        self.fitted = self.suspects(decide(checks, self.settings.alpha))
        self.pairs = {pair.name: pair for pair in pairs(frozenset(suspect.name for suspect in self.fitted))}
        self.plan("privacy", self.pairs, "first look")
        checks += [check for name in self.pairs for check in self.run("privacy", name, "first look")]
        return decide(checks, self.settings.alpha)

    def second(self, decided: list[CheckResult]) -> list[CheckResult]:
        """A second look, on fresh draws and more of them, at whatever looked suspicious in the first; decided."""
        again = dict.fromkeys((c.kind, c.scenario) for c in decided if c.p_value is not None and self.promising(c))
        rare = ("law", ALL) in again
        if rare:  # a draw of any scenario may have taken the branch
            again |= dict.fromkeys(("law", name) for name in self.data_sets())
        for kind in ("law", "privacy"):
            names = [name for of, name in again if of == kind and name != ALL]
            self.plan(kind, names, "second look", ESCALATION)
        checks = [
            check for kind, name in again if name != ALL for check in self.run(kind, name, "second look", ESCALATION)
        ]
        checks += rare_branches(checks) if rare else []
        kept = [check for check in decided if (check.kind, check.scenario) not in again]
        decided = kept + decide(checks, self.settings.alpha)
        self.fitted = self.suspects(decided)
        return decided

    def diagnoses(self, decided: list[CheckResult], centre: Location | None, path: DataPath | None) -> tuple[str, ...]:
        """Explanations of refuted laws: where the outputs are centred, and the suspects that fit about that centre."""
        if centre is None:
            return tuple(dict.fromkeys(suspect.explanation for suspect in self.fitted))
        if path is None or path.query is None:
            return (centre.sentence,)
        for name, outputs in self.outputs.items():
            x = self.scenarios[name].x
            self.outputs[name] = outputs - (centre.at(x) - path.query(x))
        still = {name for name, outputs in self.outputs.items() if not fits(self.scenarios[name], outputs)}
        found = self.suspects([check for check in decided if check.scenario in still])
        return centre.sentence, *dict.fromkeys(f"about that centre, {suspect.explanation}" for suspect in found)

    def promising(self, check: CheckResult) -> bool:
        """Whether more draws may refute: the p-value is small, or the loss that was estimated is above the claim."""
        if (check.p_value or 0.0) < SUSPICIOUS:
            return True
        return bool(check.facts.get(ESTIMATED, 0.0) > PROMISING * claimed_loss(self.guarantee))

    def suspects(self, decided: list[CheckResult]) -> list[Suspect]:
        """The suspects that fit in every scenario whose law was refuted, the best fit first.

        Scenarios without suspects are left out.
        """
        failed = dict.fromkeys(c.scenario for c in decided if c.status is Status.REFUTED and c.kind == "law")
        fits: list[dict[str, tuple[Suspect, float]]] = [
            {suspect.name: (suspect, p) for suspect, p in diagnose(self.scenarios[name], self.outputs[name])}
            for name in failed
            if name in self.scenarios and self.scenarios[name].suspects
        ]
        if not fits:
            return []
        common = [name for name in fits[0] if all(name in fit for fit in fits)]
        common.sort(key=lambda name: -min(fit[name][1] for fit in fits))
        return [fits[0][name][0] for name in common]


def decide(checks: Iterable[CheckResult], alpha: float) -> list[CheckResult]:
    """The checks with their status by Holm's procedure at level alpha, and with the effect that each could detect.

    A pair without failures has no check of failures. It counts as one with p = 1, because chance decides which pairs
    have failures.
    """
    listed = list(checks)
    tested = [check for check in listed if check.p_value is not None]
    pairs = {check.scenario for check in tested if check.kind == "privacy"}
    failing = {check.scenario for check in tested if check.kind == "privacy" and check.name == FAILURES}
    p_values = [*(check.p_value or 0.0 for check in tested), *[1.0] * len(pairs - failing)]
    rejected = dict(zip((check.label for check in tested), holm(p_values, alpha), strict=False))
    return [
        check if check.p_value is None else _decided(check, rejected[check.label], alpha / len(p_values))
        for check in listed
    ]


def any_refuted(checks: Iterable[CheckResult]) -> bool:
    """Whether one of the checks failed."""
    return any(check.status is Status.REFUTED for check in checks)


def _decided(check: CheckResult, rejected: bool, alpha: float) -> CheckResult:
    facts = dict(check.facts)
    detectable = facts.pop("detectable", None)
    if detectable is not None:
        facts |= {"detectable": detectable(alpha), "power": POWER}
    for name in ("reach", "largest_loss", "in_reach"):
        if name in facts:
            facts[name] = facts[name](alpha)
    status = Status.SUSPICIOUS if (check.p_value or 0.0) < SUSPICIOUS else Status.NOT_REFUTED
    return replace(check, status=Status.REFUTED if rejected else status, facts=facts)


def beyond_reach(checks: Iterable[CheckResult], guarantee: Guarantee) -> list[CheckResult]:
    """A check that is inconclusive if no event of the run could have refuted the claim, and otherwise nothing.

    It matters where no law was tested: there a claim so weak passes even without any noise.
    """
    shown = [check.facts["largest_loss"] for check in checks if "largest_loss" in check.facts]
    claimed = claimed_loss(guarantee)
    if not shown or max(shown) > claimed:
        return []
    letter = loss_letter(guarantee)
    detail = (
        f"no law was tested, and the largest {letter} that this run could have refuted is {max(shown):.2f}, below the "
        f"claim {letter} = {claimed:g}: raise --samples, which it takes e^{letter}-fold, or name the mechanism by --as"
    )
    return [CheckResult("privacy", "reach", Status.INCONCLUSIVE, detail)]


def expected_of(
    target: Target, guarantee: Guarantee, settings: AuditSettings
) -> tuple[str | None, dict[str, Any], Profile]:
    """The mechanism that the target claims to be, that mechanism's complete options, and what is known of its law."""
    name = settings.claimed or target.mechanism
    if settings.box is None and needs_bounds(target):
        raise InvalidInput(f"{target.name} takes the bounds of its columns: give bounds (--bounds)")
    if name is None:
        return None, {}, _black_box(target, settings)
    if settings.box is not None:
        raise InvalidInput(f"bounds: the rows of {name} lie in the unit ball; audit a target in a box without its name")
    if settings.adjacency not in (None, mechanism(name).adjacency):
        raise InvalidInput(
            f"adjacency = {settings.adjacency}: the law of {name} is known for {mechanism(name).adjacency}; "
            "audit another claim without its name"
        )
    stated = dict(target.options) if name == target.mechanism else {}
    options = mechanism(name).resolve({**stated, **settings.options})
    if settings.claimed is None:
        _require_what_it_draws(target, mechanism(name).resolve(stated), options)
    return name, options, profile(name, guarantee, options, settings.samples, settings.seed)


def _require_what_it_draws(target: Target, drawn: dict[str, Any], claimed: dict[str, Any]) -> None:
    """Raise `InvalidInput` if an option was given that is not the one the target draws with, by its own word."""
    for key, value in claimed.items():
        usual = mechanism(str(target.mechanism)).parameters.get(key)
        if value != drawn.get(key, usual):
            raise InvalidInput(
                f"{key} = {value}: {target.name} draws with {key} = {drawn.get(key, usual)}; to hold it against "
                f"another claim, name the mechanism too (--as {target.mechanism})"
            )


def _as_stated_by(target: Target, settings: AuditSettings) -> AuditSettings:
    """The settings, with the box and the adjacency of the target's own claim where no others were given."""
    if settings.claimed or target.mechanism:
        return settings
    box = settings.box or (Box.of(target.bounds) if target.bounds else None)
    return replace(settings, box=box, adjacency=settings.adjacency or target.adjacency)


def _with_pair(expected: Profile, given: UserPair | None, adjacency: str) -> Profile:
    """The profile, with the pair that the user gave before all others."""
    if given is None:
        return expected
    own = pair_to_test(given, expected.form.output, expected.domain, expected.form.smallest_dimension, adjacency)
    return replace(expected, pairs=lambda fitted: (own, *expected.pairs(fitted)))


def _black_box(target: Target, settings: AuditSettings) -> Profile:
    """What is known of a target that names no mechanism: pairs of neighbours."""
    output = OUTPUTS[settings.released or target.released or USUAL]
    box = settings.box
    if box is not None and min(output.shape(box.dimension), default=1) == 0:
        raise InvalidInput(f"bounds of {box.dimension} column: too few for an output of the kind {output.kind}")
    known = black_box(output) if box is None else box_profile(output, box, takes_bounds(target))
    pairs = with_adjacency(known.pairs(frozenset()), settings.adjacency or REPLACE_ONE, output)
    return replace(known, form=replace(known.form, symmetric=target.symmetric), pairs=lambda _: pairs)


def _with_kind(
    origin: TargetSource, target: Target, budget: dict[str, Any], settings: AuditSettings
) -> tuple[AuditSettings, tuple[str, ...]]:
    """The settings, with the kind of output if nobody states it and it is no matrix, and a note that says so."""
    if settings.claimed or target.mechanism or settings.released or target.released:
        return settings, ()
    if settings.box is None and needs_bounds(target):
        return settings, ()  # the audit will ask for the bounds
    setting = Setting(origin, budget, OUTPUTS[USUAL], settings.seed, seconds=settings.seconds, box=settings.box)
    with random_states_put_back():
        kind = found_kind(setting)
    return (settings, ()) if kind is None else (replace(settings, released=kind), (stated(kind),))


def _as_box(domain: str | None, bounds: Any) -> Box | None:
    """The box, if the domain is one."""
    if domain not in (None, "ball", "box"):
        raise InvalidInput(f'domain = {domain!r}: must be "ball" or "box"')
    if (domain == "box") != (bounds is not None) and domain is not None:
        raise InvalidInput(f"domain = {domain!r}: bounds belong to a box, and a box needs bounds")
    return bounds if bounds is None or isinstance(bounds, Box) else Box.of(bounds)


def with_call(
    source: TargetSource | Callable[..., Any] | str, guarantee: Guarantee, settings: AuditSettings, call: str | None
) -> TargetSource:
    """The source, with the expression that calls it if it is a function with another signature."""
    if settings.claimed:
        mechanism(settings.claimed).require_budget(guarantee)
    output = mechanism(settings.claimed).output if settings.claimed else OUTPUTS[settings.released or USUAL]
    box = settings.box
    budget: dict[str, Any] = dict(guarantee.keywords()) | ({BOUNDS: box.bounds} if box is not None else {})
    setting = Setting(Target("", print), budget, output, settings.seed, seconds=settings.seconds, box=box)
    return called(source, setting, call)


def audit(
    source: TargetSource | Callable[..., Any] | str,
    guarantee: Guarantee,
    *,
    claimed: str | None = None,
    options: dict[str, Any] | None = None,
    released: str | None = None,
    samples: int = SAMPLES,
    seed: int = 0,
    jobs: int | None = None,
    false_alarm: float = FALSE_ALARM,
    seconds: float = TIME_LIMIT,
    user_data: UserData | None = None,
    pair: UserPair | tuple[Any, Any] | None = None,
    seeded: bool = True,
    domain: str | None = None,
    bounds: Any = None,
    adjacency: str | None = None,
    equivariant: bool = False,
    stop_early: bool = False,
    scope: str = "real",
    call: str | None = None,
    progress: Progress = no_progress,
) -> AuditReport:
    """Look for a violation of a claim in an implementation.

    >>> import numpy as np
    >>> from covassay.reference.privacy import PureDP
    >>> def release(x, *, epsilon, rng):  # too little noise by far
    ...     return x.T @ x / len(x) + 0.01 * rng.laplace(size=(x.shape[1],) * 2)
    >>> report = audit(release, PureDP(epsilon=1.0), samples=200)
    >>> report.verdict.value, sorted({check.kind for check in report.refuted})
    ('REFUTED', ['privacy'])

    Parameters
    ----------
    source : a function f(x, *, epsilon, rng), the name of a target such as "covassay:nuclear-laplace" or
        "module:function", a `Target`, or a `TargetReference`. How a function with another signature is called is found
        from the names of its parameters.
    guarantee : the claim, for neighbouring data sets.
    claimed : the mechanism that the target claims to be, a name in `covassay mechanisms`. By default it is what the
        target says of itself; if it says nothing, the audit is a black-box audit of contract and privacy.
    options : choices and parameters of the mechanism, such as calibration="tight".
    released : the kind of output, a key of `OUTPUTS`, for a black-box audit.
    samples : the number of draws on each data set, which a check may scale.
    seed : the whole audit is a function of it, if the target draws from `rng` alone.
    jobs : how many workers draw; by default what joblib.parallel_config says, or 1. Results do not depend on it.
    false_alarm : the largest probability that a target which keeps every promise is refuted.
    seconds : the time limit of one draw.
    user_data : a data set of the user's own, on which the target is tried as well.
    pair : two neighbouring data sets of the user's own, on which the privacy loss is tested as well.
    seeded : False for a target that draws from the operating system: it is not asked to give equal outputs for equal
        generators.
    domain : where rows lie: "ball", or "box" with `bounds`. By default it is "box" if there are bounds.
    bounds : a pair (low, high) for every column. The target gets them as `bounds` if it has such a parameter.
    adjacency : which data sets are neighbours: "replace-one" (the same number of rows, one row differs) or "add-remove"
        (one has one row more). By default it is what the mechanism says, and replace-one if there is none.
    equivariant : the target promises that bounds enter only as scales, so that columns are treated alike. Then a
        difference refutes it; otherwise it is noted.
    stop_early : leave out the checks that come after an overwhelming refutation, and those that only add notes; the
        verdict is the same.
    scope : "real" for a verdict about real arithmetic, with what low-order bits reveal as a finding beside it; "bits"
        for a verdict about the released bits, to which both count. Then more draws look at low-order bits.
    call : an expression that says how the function is called, such as "f(x, eps=epsilon)[0]"; see `wrap`.
    progress : called with the label of a check and a number of draws as they are made.

    Raises
    ------
    InvalidInput : an argument breaks its rule. CannotRun : the target cannot be loaded.
    """
    start = time.monotonic()
    own = None if pair is None else given_pair(pair)
    box = _as_box(domain, bounds)
    settings = AuditSettings(
        claimed, options or {}, released, samples, seed, false_alarm, seconds, user_data, own, box, adjacency,
        equivariant, stop_early, scope,
    )  # fmt: skip
    origin = with_call(source, guarantee, settings, call)
    origin = origin if seeded else replace(origin, seeded=False)
    target = load(origin)
    settings = _as_stated_by(target, settings)
    box, adjacency = settings.box, settings.adjacency
    budget: dict[str, Any] = dict(guarantee.keywords())
    if box is not None and takes_bounds(target):
        budget[BOUNDS] = box.bounds
    settings, kind = _with_kind(origin, target, budget, settings)
    name, resolved, known = expected_of(target, guarantee, settings)
    neighbours = adjacency or (mechanism(name).adjacency if name else REPLACE_ONE)
    expected = _with_pair(known, settings.user_pair, neighbours)
    setting = Setting(origin, budget, expected.form.output, seed, jobs, seconds, watching(progress), box=box)
    with random_states_put_back():
        checks, laws, fitted = _checks(setting, guarantee, settings, expected, name is not None)
        found = columns(setting, samples, settings.alpha, equivariant) if box is not None else ColumnFindings()
        checks += found.checks
        bits = _low_order_bits(setting, guarantee, settings, expected, neighbours, verdict_of(checks))
        checks += tuple(summation_order(setting, expected.form)) if bits else ()
    verdict = _overall(verdict_of(checks), bits, scope)
    same_noise_needed = box is not None and (found.query.startswith(COVARIANCE) or one_signed(box))
    return AuditReport(
        target=target.name,
        version=target.version,
        mechanism=name,
        options=resolved,
        claim=guarantee,
        adjacency=neighbours,
        verdict=verdict,
        checks=(*checks, *(bits.checks if bits else ())),
        diagnoses=_diagnoses(name, laws, fitted, found, checks, guarantee, neighbours, same_noise_needed)
        or tuple(text for text in (explained(bits.checks if bits else (), guarantee, neighbours),) if text),
        seed=seed,
        samples=samples,
        false_alarm=false_alarm,
        seconds=time.monotonic() - start,
        replay=replay_command(origin, guarantee, settings),
        draws=setting.tally.draws,
        failures=dict(setting.tally.failures),
        notes=(*target.notes, *kind, *([expected.data_path.stated] if expected.data_path else [])),
        scope=scope,
        bits=bits,
        found_at=whereabouts(origin, target),
    )


def _low_order_bits(
    setting: Setting, guarantee: Guarantee, settings: AuditSettings, expected: Profile, adjacency: str, real: Verdict
) -> BitFindings | None:
    """What low-order bits reveal; None if the verdict does not ask for it and the audit ends early or refutes."""
    refuted = real is Verdict.REFUTED
    if (refuted and settings.stop_early) or (settings.scope == "real" and (refuted or settings.stop_early)):
        return None
    form = expected.form
    own = []
    if settings.user_pair is not None:
        own = [pair_to_test(settings.user_pair, form.output, expected.domain, form.smallest_dimension, adjacency)]
    length = most_moving(setting) if expected.domain == "space" else unit_length
    pairs = bit_pairs(form.output, form.smallest_dimension, setting.box, adjacency, own, length)
    shown = Status.REFUTED if settings.scope == "bits" else Status.NOTED
    setting.progress.plan({"bits": 2 * len(pairs) * settings.samples * FIRST_LOOK[settings.scope]})
    found = low_order_bits(setting, pairs, guarantee, settings.bit_budget, shown)
    setting.progress.done("bits", len(found.checks))
    return found


def audit_bits(
    source: TargetSource | str, guarantee: Guarantee, *, samples: int = SAMPLES, seed: int = 0, scope: str = "bits"
) -> BitFindings:
    """What `audit` with these arguments finds of low-order bits, draw for draw, without its other checks."""
    settings = AuditSettings(samples=samples, seed=seed, scope=scope)
    origin = as_source(source)
    target = load(origin)
    settings = _as_stated_by(target, settings)
    name, _, expected = expected_of(target, guarantee, settings)
    neighbours = settings.adjacency or (mechanism(name).adjacency if name else REPLACE_ONE)
    setting = Setting(origin, dict(guarantee.keywords()), expected.form.output, seed)
    with random_states_put_back():
        found = _low_order_bits(setting, guarantee, settings, expected, neighbours, Verdict.NOT_REFUTED)
    assert found is not None
    return found


def _overall(real: Verdict, bits: BitFindings | None, scope: str) -> Verdict:
    """The verdict of a run from that in real arithmetic and, if the scope asks for it, that of the bits."""
    verdicts = [real, *([bits.verdict] if bits and scope == "bits" else [])]
    return next((v for v in (Verdict.REFUTED, Verdict.INCONCLUSIVE) if v in verdicts), Verdict.NOT_REFUTED)


def _diagnoses(
    name: str | None,
    laws: tuple[str, ...],
    fitted: list[Suspect],
    found: ColumnFindings,
    checks: Iterable[CheckResult],
    guarantee: Guarantee,
    adjacency: str,
    one_sensitivity: bool,
) -> tuple[str, ...]:
    """What explains the findings, if there are any: laws that fit, entries that are out of place, other neighbours.

    `one_sensitivity` says that add-remove asks for the same noise as replace-one, so that it explains nothing.
    """
    refuted = [check for check in checks if check.status is Status.REFUTED]
    if not refuted:
        return ()
    other = explained_by_adjacency(name, (suspect.name for suspect in fitted))
    moved = any(check.kind == "data path" for check in refuted)  # no other neighbours explain another query
    if not other and not moved and not (one_sensitivity and adjacency == REPLACE_ONE):
        other = explained(refuted, guarantee, adjacency)
    return tuple(dict.fromkeys(text for text in (*laws, *found.explanations, other) if text))


def checks_of_few_draws(
    setting: Setting, guarantee: Guarantee, settings: AuditSettings, expected: Profile
) -> tuple[list[CheckResult], list[Pair]]:
    """The checks of the contract and of the data path, and pairs of neighbours on which the noise was not the same."""
    require_answer(setting)
    data_path, neighbours = same_noise(setting, expected.data_path, settings.alpha, settings.own_rows)
    data_path += other_budgets(setting, guarantee, expected.at_budget, expected.data_path, settings.alpha)
    data_path += coincidences(setting, expected.data_path, settings.alpha)
    data_path += equal_laws(setting, expected.data_path, settings.alpha)
    many = draw_many_is_draw(setting, settings.alpha, expected.form.smallest_dimension)
    checks = [*contract(setting, expected.form, settings.alpha), *many, *data_path]
    return [*checks, *batch_is_single(setting), *own_accounting(setting, guarantee)], neighbours


def _checks(
    setting: Setting, guarantee: Guarantee, settings: AuditSettings, expected: Profile, named: bool
) -> tuple[tuple[CheckResult, ...], tuple[str, ...], list[Suspect]]:
    """Every check of an audit, decided; what explains the draws if they were refuted; and the suspects that fit."""
    checks, neighbours = checks_of_few_draws(setting, guarantee, settings, expected)
    setting.progress.done("contract and data path", len(checks))
    if settings.stop_early and any_refuted(checks):
        return tuple(checks), (), []
    exactly = any(check.name == SAME_NOISE and check.status is Status.NOT_REFUTED for check in checks)
    beside = None if exactly and not on_lattice(expected) else _beside(setting, guarantee, settings, expected)
    looks = _Looks(
        setting, guarantee, settings, {scenario.name: scenario for scenario in expected.scenarios}, expected.shapes,
        beside,
    )  # fmt: skip
    in_ball = setting.box is None and settings.adjacency in (None, REPLACE_ONE)
    if not expected.scenarios and in_ball:
        neighbours += worse_pairs(setting, settings.samples)
    decided = looks.first(lambda fitted: (*expected.pairs(fitted), *neighbours))
    draws = [(looks.scenarios[name].x, outputs) for name, outputs in looks.outputs.items()]
    checks += coincidences_seen(expected.data_path, draws, settings.alpha)
    if expected.form.symmetric:
        seen = [(name, looks.scenarios[name].x, outputs) for name, outputs in looks.outputs.items()]
        checks += symmetry_seen(expected.form.output, seen)
    if not any_refuted(decided):
        decided = looks.second(decided)
    decided = keep_most_telling(decided)
    if not expected.scenarios:
        decided += beyond_reach(decided, guarantee)
    if settings.user_data is not None:
        checks += user_checks(setting, settings.user_data)
    checks += decided
    if not any(check.status is Status.REFUTED and check.kind != "contract" for check in checks):
        return tuple(checks), (), []
    centre = location(setting, expected, named) if in_ball else None
    diagnoses = looks.diagnoses(decided, centre, expected.data_path)
    return (
        tuple(check if centre is None else said_first(centre.sentence, check) for check in checks),
        diagnoses,
        looks.fitted,
    )


def on_lattice(expected: Profile) -> bool:
    """Whether the noise lies on a lattice, so that one seed does not give one residual at every budget."""
    return expected.data_path is not None and expected.data_path.atom > 0


def _beside(setting: Setting, guarantee: Guarantee, settings: AuditSettings, expected: Profile) -> Beside | None:
    """The reference to be drawn beside the target, at other budgets too unless `other_budgets` compares these."""
    if expected.beside is None or expected.at_budget is None:
        return None
    beside = replace(expected.beside, own=settings.own_rows)
    additive = expected.data_path is not None and expected.data_path.query is not None
    if additive and not on_lattice(expected):
        return beside
    return at_other_budgets(setting, guarantee, expected.at_budget, beside)


def said_first(sentence: str, check: CheckResult) -> CheckResult:
    """A refuted check, which begins with where the outputs are centred; estimates about another centre are left out."""
    if check.status is not Status.REFUTED or check.kind == "contract":
        return check
    facts = {**check.facts, "estimates": ""} if "estimates" in check.facts else check.facts
    return replace(check, detail=f"{sentence}{'' if sentence.endswith('?') else ';'} {check.detail}", facts=facts)


def verdict_of(checks: Iterable[CheckResult]) -> Verdict:
    """REFUTED if any check is; INCONCLUSIVE if any is, or if there was no statistical test."""
    listed = list(checks)
    statuses = {check.status for check in listed}
    if Status.REFUTED in statuses:
        return Verdict.REFUTED
    if Status.INCONCLUSIVE in statuses or all(check.p_value is None for check in listed):
        return Verdict.INCONCLUSIVE
    return Verdict.NOT_REFUTED


def _digits(value: float) -> str:
    """A number in as few digits as give it back exactly."""
    short = f"{value:g}"
    return short if float(short) == value else repr(value)


def replay_command(source: TargetSource, guarantee: Guarantee, settings: AuditSettings) -> str:
    """The command that runs an audit again, draw for draw.

    A function that has no name of the form module:function cannot be named in a command: then it is a Python call.
    """
    name = source.spec if isinstance(source, TargetReference) else source.name
    if ":" not in name or (settings.user_pair is not None and not settings.user_pair.source):
        return _replay_call(name, guarantee, settings, source)
    words: list[Any] = ["covassay", "audit", name]
    if isinstance(source, TargetReference) and source.call:
        words += ["--call", source.call]
    if settings.claimed:
        words += ["--as", settings.claimed]
    for key, value in guarantee.keywords().items():
        words += [f"--{key}", _digits(value)]
    for key, choice in settings.options.items():
        words += ["--set", f"{key}={choice}"]
    if settings.released:
        words += ["--released", settings.released]
    if settings.user_data is not None:
        words += ["--data", settings.user_data.name]
    if settings.user_pair is not None:
        words += ["--pair", settings.user_pair.source]
    if settings.box is not None:
        words.append(f"--bounds={settings.box}")  # with "=", because a list may begin with a minus sign
    if settings.adjacency is not None:
        words += ["--adjacency", settings.adjacency]
    if settings.equivariant:
        words.append("--equivariant")
    if settings.scope != "real":
        words += ["--scope", settings.scope]
    words += ["--samples", settings.samples, "--seed", settings.seed]
    words += ["--false-alarm", _digits(settings.false_alarm), "--time-limit", _digits(settings.seconds)]
    if settings.checkpoint:
        words += ["--checkpoint", settings.checkpoint]
    if settings.dimension is not None:
        words += ["--dimension", settings.dimension]
    if not source.seeded and isinstance(source, TargetReference):
        words.append("--unseeded")
    return shlex.join(str(word) for word in words)


def _replay_call(name: str, guarantee: Guarantee, settings: AuditSettings, source: TargetSource) -> str:
    given = {
        "claimed": settings.claimed,
        "options": settings.options,
        "released": settings.released,
        "samples": settings.samples,
        "seed": settings.seed,
        "false_alarm": settings.false_alarm,
        "seconds": settings.seconds,
        "bounds": settings.box and settings.box.bounds,
        "adjacency": settings.adjacency,
        "equivariant": settings.equivariant,
        "scope": settings.scope if settings.scope != "real" else None,
        "call": source.call if isinstance(source, TargetReference) else getattr(source.draw, "call", None),
        "checkpoint_file": settings.checkpoint,
        "dimension": settings.dimension,
    }
    words = [
        repr(name) if ":" in name else name,
        repr(guarantee),
        *(f"{key}={value!r}" for key, value in given.items() if value),
    ]
    if settings.user_data is not None:
        words.append(f"user_data=load_user_data({settings.user_data.name!r})")
    if settings.user_pair is not None:
        file = settings.user_pair.source
        words.append(f"pair=load_pair({file!r})" if file else "pair=(x, y)")
    if not source.seeded:
        words.append("seeded=False")
    return f"{'stream_audit' if settings.checkpoint else 'audit'}({', '.join(words)})"
