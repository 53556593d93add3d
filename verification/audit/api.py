"""An audit from Python: `audit` finds out how the target is called and what is known of it, and runs the questions."""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

from covassay.reference.domain import Box
from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.registry import mechanism
from covassay.reference.privacy import Guarantee
from covassay.verification.audit.budget import ErrorBudget
from covassay.verification.audit.engine.adjacency import REPLACE_ONE, with_adjacency
from covassay.verification.audit.engine.called import called
from covassay.verification.audit.engine.contract import require_answer
from covassay.verification.audit.engine.facts import Bits, Explanation
from covassay.verification.audit.engine.finding import Finding, Verdict
from covassay.verification.audit.engine.output_kind import OUTPUTS, USUAL, found_kind, stated
from covassay.verification.audit.engine.sampling import Setting
from covassay.verification.audit.engine.user_data import UserData
from covassay.verification.audit.engine.user_pair import UserPair, given_pair, pair_to_test
from covassay.verification.audit.knowledge.known import profile
from covassay.verification.audit.knowledge.shared.box import box_profile
from covassay.verification.audit.knowledge.shared.profile import Profile, black_box
from covassay.verification.audit.options import FALSE_ALARM, SAMPLES, AuditSettings, replay_command
from covassay.verification.audit.question import Subject
from covassay.verification.audit.questions import questions
from covassay.verification.audit.questions.bits import low_order_bits
from covassay.verification.audit.questions.law.law_that_fits import FittingLaw
from covassay.verification.audit.report import AuditReport
from covassay.verification.audit.run import ask, verdict
from covassay.verification.audit.targets.bounds import BOUNDS, needs_bounds, takes_bounds
from covassay.verification.audit.targets.process_state import random_states_put_back
from covassay.verification.audit.targets.target import TIME_LIMIT, Target, TargetSource, as_source, load
from covassay.verification.audit.targets.whereabouts import whereabouts
from covassay.verification.statistics.streams import Progress, no_progress, watching


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
    subject = Subject(setting, guarantee, expected, name, neighbours, settings)
    budget_of_errors = ErrorBudget(false_alarm)
    with random_states_put_back():
        require_answer(setting)
        ask(questions(), subject, budget_of_errors)
    explained = [f.facts for f in subject.findings if isinstance(f.facts, Explanation)]
    return AuditReport(
        target=target.name,
        version=target.version,
        mechanism=name,
        options=resolved,
        claim=guarantee,
        adjacency=neighbours,
        verdict=verdict(subject.findings, bits=scope == "bits"),
        checks=tuple(f for f in subject.findings if not isinstance(f.facts, Explanation)),
        diagnoses=tuple(facts.sentence for facts in explained if not isinstance(facts, FittingLaw)),
        seed=seed,
        samples=samples,
        false_alarm=false_alarm,
        seconds=time.monotonic() - start,
        replay=replay_command(origin, guarantee, settings),
        draws=setting.tally.draws,
        failures=dict(setting.tally.failures),
        notes=(*target.notes, *kind, *([expected.data_path.stated] if expected.data_path else [])),
        scope=scope,
        budget=tuple(budget_of_errors.spent),
        found_at=whereabouts(origin, target),
    )


class BitsFound(NamedTuple):
    """What one audit found of low-order bits: one finding for every pair, and one for all of them."""

    checks: tuple[Finding, ...]

    @property
    def facts(self) -> Bits:
        """What all pairs together say."""
        return next((f.facts for f in self.checks if isinstance(f.facts, Bits)), Bits("INCONCLUSIVE", "", "", 0))

    @property
    def verdict(self) -> Verdict:
        """The verdict on the bits alone."""
        return Verdict(self.facts.verdict)


def audit_bits(
    source: TargetSource | str, guarantee: Guarantee, *, samples: int = SAMPLES, seed: int = 0, scope: str = "bits"
) -> BitsFound:
    """What `audit` with these arguments finds of low-order bits, draw for draw, without its other checks."""
    settings = AuditSettings(samples=samples, seed=seed, scope=scope)
    origin = as_source(source)
    target = load(origin)
    settings = _as_stated_by(target, settings)
    name, _, expected = expected_of(target, guarantee, settings)
    neighbours = settings.adjacency or (mechanism(name).adjacency if name else REPLACE_ONE)
    setting = Setting(origin, dict(guarantee.keywords()), expected.form.output, seed)
    subject = Subject(setting, guarantee, expected, name, neighbours, settings)
    with random_states_put_back():
        ask([low_order_bits.QUESTION], subject, ErrorBudget(settings.false_alarm))
    return BitsFound(tuple(subject.findings))
