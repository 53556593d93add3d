"""One audit: contract, then law, then privacy; one false-alarm budget; one verdict.

Every p-value of the run enters one Holm procedure, which has half of the false-alarm budget. If that procedure refutes
nothing, every scenario or pair with a p-value below `SUSPICIOUS` gets a second look: fresh draws, ten times as many. A
Holm procedure on the new p-values has the other half of the budget. A target that keeps its promises is therefore
refuted with at most the stated probability.
"""

import shlex
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from typing import Any

from covassay.reference.domain import Matrix
from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.output import OUTPUTS
from covassay.reference.mechanisms.registry import mechanism
from covassay.reference.privacy import ZCDP, Guarantee
from covassay.verification.audit.engine.checks import CheckResult, Kind, Status, Verdict
from covassay.verification.audit.engine.coincidences import coincidences, coincidences_seen
from covassay.verification.audit.engine.contract import contract, require_answer
from covassay.verification.audit.engine.equal_laws import equal_laws
from covassay.verification.audit.engine.law import Scenario, Suspect, diagnose, run_scenario
from covassay.verification.audit.engine.privacy import Pair, claimed_loss, run_pair
from covassay.verification.audit.engine.same_noise import same_noise
from covassay.verification.audit.engine.sampling import Setting
from covassay.verification.audit.engine.user_data import UserData, user_checks
from covassay.verification.audit.profiles.by_mechanism import profile
from covassay.verification.audit.profiles.profile import Profile, black_box
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
from covassay.verification.statistics.multiplicity import holm, require_false_alarm
from covassay.verification.statistics.streams import Progress, no_progress
from covassay.verification.statistics.tests import POWER

SUSPICIOUS = 1e-3  # a smaller p-value earns a second look: rare for a correct target, so second looks cost little
ESCALATION = 10  # times the draws of the first look
OVERWHELMING = 1e-3  # times the budget: such p-values stay refuted however many checks would still have come
LOOKS = 2  # each has this share of the false-alarm budget
FALSE_ALARM = 1e-9
SAMPLES = 2000
FEWEST_SAMPLES = 100  # fewer draws could show only the grossest violations


@dataclass(frozen=True)
class AuditSettings:
    """How to audit: everything beside the target and its claim that decides what an audit draws and reports.

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
    stop_early: bool = False

    def __post_init__(self) -> None:
        require_false_alarm(self.false_alarm)
        require_seconds(self.seconds)
        if self.samples < FEWEST_SAMPLES:
            raise InvalidInput(f"samples = {self.samples!r}: must be at least {FEWEST_SAMPLES}")

    @property
    def alpha(self) -> float:
        """The false-alarm budget of one look."""
        return self.false_alarm / LOOKS


@dataclass(frozen=True)
class AuditReport:
    """What an audit found. The verdict is never a certificate.

    `options` are those of the mechanism, complete. `diagnoses` explain the laws that fit the draws although the claimed
    law was refuted. `replay` runs the audit again, draw for draw. `covassay` is the version of this package.
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
    covassay: str = field(default_factory=lambda: version("covassay"))

    @property
    def refuted(self) -> tuple[CheckResult, ...]:
        """The checks that failed."""
        return tuple(check for check in self.checks if check.status is Status.REFUTED)


@dataclass
class _Looks:
    """The statistical checks of a run.

    `outputs` holds the draws of the latest look at each scenario, `fitted` the suspects whose law fits these draws.
    """

    setting: Setting
    guarantee: Guarantee
    settings: AuditSettings
    scenarios: dict[str, Scenario]
    pairs: dict[str, Pair] = field(default_factory=dict)
    outputs: dict[str, Matrix] = field(default_factory=dict)
    fitted: list[Suspect] = field(default_factory=list)

    def run(self, kind: Kind, name: str, look: str, factor: int = 1) -> list[CheckResult]:
        """The checks of one scenario ("law") or pair ("privacy"), not yet decided; the two kinds may share a name."""
        samples = self.settings.samples * factor
        if kind == "privacy":
            return run_pair(self.setting, self.pairs[name], self.guarantee, samples, look)
        checks, draws = run_scenario(self.setting, self.scenarios[name], samples, look)
        self.outputs[name] = draws.outputs
        return checks

    def first(self, pairs: Callable[[frozenset[str]], tuple[Pair, ...]]) -> list[CheckResult]:
        """The first look at every scenario, and then at the pairs, which may aim at a law that fitted; decided."""
        checks: list[CheckResult] = []
        for name in self.scenarios:
            checks += self.run("law", name, "first look")
            if self.settings.stop_early and any_refuted(decide(checks, self.settings.alpha * OVERWHELMING)):
                return decide(checks, self.settings.alpha)
        self.fitted = self.suspects(decide(checks, self.settings.alpha))
        self.pairs = {pair.name: pair for pair in pairs(frozenset(suspect.name for suspect in self.fitted))}
        checks += [check for name in self.pairs for check in self.run("privacy", name, "first look")]
        return decide(checks, self.settings.alpha)

    def second(self, decided: list[CheckResult]) -> list[CheckResult]:
        """A second look, on fresh draws and more of them, at whatever looked suspicious in the first; decided."""
        again = dict.fromkeys((c.kind, c.scenario) for c in decided if c.p_value is not None and c.p_value < SUSPICIOUS)
        checks = [check for kind, name in again for check in self.run(kind, name, "second look", ESCALATION)]
        kept = [check for check in decided if (check.kind, check.scenario) not in again]
        decided = kept + decide(checks, self.settings.alpha)
        self.fitted = self.suspects(decided)
        return decided

    def suspects(self, decided: list[CheckResult]) -> list[Suspect]:
        """The suspects that fit in every scenario whose law was refuted, the best fit first.

        Scenarios without suspects are left out.
        """
        failed = dict.fromkeys(c.scenario for c in decided if c.status is Status.REFUTED and c.kind == "law")
        fits: list[dict[str, tuple[Suspect, float]]] = [
            {suspect.name: (suspect, p) for suspect, p in diagnose(self.scenarios[name], self.outputs[name])}
            for name in failed
            if self.scenarios[name].suspects
        ]
        if not fits:
            return []
        common = [name for name in fits[0] if all(name in fit for fit in fits)]
        common.sort(key=lambda name: -min(fit[name][1] for fit in fits))
        return [fits[0][name][0] for name in common]


def decide(checks: Iterable[CheckResult], alpha: float) -> list[CheckResult]:
    """The checks with their status by Holm's procedure at level alpha, and with the effect that each could detect."""
    listed = list(checks)
    tested = [check for check in listed if check.p_value is not None]
    rejected = dict(zip((c.label for c in tested), holm([c.p_value or 0.0 for c in tested], alpha), strict=True))
    return [
        check if check.p_value is None else _decided(check, rejected[check.label], alpha / len(tested))
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
    if "largest_loss" in facts:
        facts["largest_loss"] = facts["largest_loss"](alpha)
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
    letter = "ρ" if isinstance(guarantee, ZCDP) else "ε"
    detail = (
        f"no law was tested, and the largest {letter} that this run could have refuted is {max(shown):.2f}, below the "
        f"claim {letter} = {claimed:g}: raise --samples, which it takes e^{letter}-fold, or name the mechanism by --as"
    )
    return [CheckResult("privacy", "reach", Status.INCONCLUSIVE, detail)]


def _expected(
    target: Target, guarantee: Guarantee, settings: AuditSettings
) -> tuple[str | None, dict[str, Any], Profile]:
    """The mechanism that the target claims to be, that mechanism's complete options, and what is known of its law."""
    name = settings.claimed or target.mechanism
    if name is None:
        return None, {}, black_box(OUTPUTS[settings.released or "matrix"])
    stated = dict(target.options) if name == target.mechanism else {}
    options = mechanism(name).resolve({**stated, **settings.options})
    return name, options, profile(name, guarantee, options, settings.samples, settings.seed)


def audit(
    source: TargetSource | Callable[..., Any] | str,
    guarantee: Guarantee,
    *,
    claimed: str | None = None,
    options: dict[str, Any] | None = None,
    released: str | None = None,
    samples: int = SAMPLES,
    seed: int = 0,
    jobs: int = 1,
    false_alarm: float = FALSE_ALARM,
    seconds: float = TIME_LIMIT,
    user_data: UserData | None = None,
    seeded: bool = True,
    stop_early: bool = False,
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
        "module:function", a `Target`, or a `TargetReference`.
    guarantee : the claim, for data sets that differ in one row.
    claimed : the mechanism that the target claims to be, a name in `covassay mechanisms`. By default it is what the
        target says of itself; if it says nothing, the audit is a black-box audit of contract and privacy.
    options : choices and parameters of the mechanism, such as calibration="tight".
    released : the kind of output, a key of `OUTPUTS`, for a black-box audit.
    samples : the number of draws on each data set, which a check may scale.
    seed : the whole audit is a function of it, if the target draws from `rng` alone.
    jobs : how many processes draw; results do not depend on it.
    false_alarm : the largest probability that a target which keeps every promise is refuted.
    seconds : the time limit of one draw.
    user_data : a data set of the user's own, on which the target is tried as well.
    seeded : False for a target that draws from the operating system: it is not asked to give equal outputs for equal
        generators.
    stop_early : leave out the checks that come after an overwhelming refutation; the verdict is the same.
    progress : called with the label of a check and a number of draws as they are made.

    Raises
    ------
    InvalidInput : an argument breaks its rule. CannotRun : the target cannot be loaded.
    """
    start = time.monotonic()
    settings = AuditSettings(
        claimed, options or {}, released, samples, seed, false_alarm, seconds, user_data, stop_early
    )
    origin = as_source(source) if seeded else replace(as_source(source), seeded=False)
    target = load(origin)
    name, resolved, expected = _expected(target, guarantee, settings)
    setting = Setting(origin, guarantee.keywords(), expected.form.output, seed, jobs, seconds, progress)
    with random_states_put_back():
        checks, fitted = _checks(setting, guarantee, settings, expected)
    return AuditReport(
        target=target.name,
        version=target.version,
        mechanism=name,
        options=resolved,
        claim=guarantee,
        adjacency="replace-one",
        verdict=_verdict(checks),
        checks=checks,
        diagnoses=tuple(dict.fromkeys(suspect.explanation for suspect in fitted)),
        seed=seed,
        samples=samples,
        false_alarm=false_alarm,
        seconds=time.monotonic() - start,
        replay=replay_command(origin, guarantee, settings),
        notes=(*target.notes, *([expected.data_path.stated] if expected.data_path else [])),
    )


def _checks(
    setting: Setting, guarantee: Guarantee, settings: AuditSettings, expected: Profile
) -> tuple[tuple[CheckResult, ...], list[Suspect]]:
    """Every check of an audit, decided, and the suspects that fit the draws if the law was refuted."""
    require_answer(setting)
    data_path, neighbours = same_noise(setting, expected.data_path, settings.alpha)
    data_path += coincidences(setting, expected.data_path, settings.alpha)
    data_path += equal_laws(setting, expected.data_path, settings.alpha)
    checks = [*contract(setting, expected.form), *data_path]
    if settings.stop_early and any_refuted(checks):
        return tuple(checks), []
    looks = _Looks(setting, guarantee, settings, {scenario.name: scenario for scenario in expected.scenarios})
    decided = looks.first(lambda fitted: (*expected.pairs(fitted), *neighbours))
    draws = [(looks.scenarios[name].x, outputs) for name, outputs in looks.outputs.items()]
    checks += coincidences_seen(expected.data_path, draws, settings.alpha)
    if not any_refuted((*checks, *decided)):
        decided = looks.second(decided)
    if not expected.scenarios:
        decided += beyond_reach(decided, guarantee)
    if settings.user_data is not None:
        checks += user_checks(setting, settings.user_data)
    return (*checks, *decided), looks.fitted


def _verdict(checks: Iterable[CheckResult]) -> Verdict:
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
    if ":" not in name:
        return _replay_call(name, guarantee, settings, source.seeded)
    words: list[Any] = ["covassay", "audit", name]
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
    words += ["--samples", settings.samples, "--seed", settings.seed]
    words += ["--false-alarm", _digits(settings.false_alarm), "--time-limit", _digits(settings.seconds)]
    if not source.seeded and isinstance(source, TargetReference):
        words.append("--unseeded")
    return shlex.join(str(word) for word in words)


def _replay_call(name: str, guarantee: Guarantee, settings: AuditSettings, seeded: bool) -> str:
    given = {
        "claimed": settings.claimed,
        "options": settings.options,
        "released": settings.released,
        "samples": settings.samples,
        "seed": settings.seed,
        "false_alarm": settings.false_alarm,
        "seconds": settings.seconds,
    }
    words = [name, repr(guarantee), *(f"{key}={value!r}" for key, value in given.items() if value)]
    if settings.user_data is not None:
        words.append(f"user_data=load_user_data({settings.user_data.name!r})")
    if not seeded:
        words.append("seeded=False")
    return f"audit({', '.join(words)})"
