"""One audit: contract, then law, then privacy; one false-alarm budget; one verdict.

Every p-value of the run goes into one Holm procedure at half the false-alarm budget. If that decides nothing, each
scenario or pair with a p-value below `SUSPICIOUS` is drawn again, ten times as often and afresh, and Holm's
procedure on the new p-values has the other half. So a target that keeps its promises is refuted with at most the
stated probability.
"""

import shlex
import time
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from typing import Any

from covassay.reference.domain import Matrix
from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.output import OUTPUTS
from covassay.reference.mechanisms.registry import mechanism
from covassay.reference.privacy import Guarantee
from covassay.verification.audit.engine.checks import CheckResult, Status, Verdict
from covassay.verification.audit.engine.contract import contract, require_answer
from covassay.verification.audit.engine.law import Scenario, Suspect, diagnose, run_scenario
from covassay.verification.audit.engine.privacy import Pair, run_pair
from covassay.verification.audit.engine.sampling import Setting
from covassay.verification.audit.engine.user_data import UserData, user_checks
from covassay.verification.audit.profiles.by_mechanism import profile
from covassay.verification.audit.profiles.profile import black_box
from covassay.verification.audit.targets.target import (
    TIME_LIMIT,
    Target,
    TargetReference,
    TargetSource,
    load,
    require_seconds,
)
from covassay.verification.statistics.multiplicity import holm, require_false_alarm
from covassay.verification.statistics.streams import Progress, no_progress

SUSPICIOUS = 1e-3
ESCALATION = 10
FALSE_ALARM = 1e-9
SAMPLES = 2000


@dataclass(frozen=True)
class AuditReport:
    """What an audit found. `verdict` is never a certificate."""

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
    """The statistical checks of a run, look by look; `outputs` are those of the last look at each scenario."""

    setting: Setting
    guarantee: Guarantee
    samples: int
    alpha: float
    scenarios: dict[str, Scenario]
    pairs: dict[str, Pair] = field(default_factory=dict)
    outputs: dict[str, Matrix] = field(default_factory=dict)

    def run(self, name: str, look: str, factor: int = 1) -> list[CheckResult]:
        """The checks of one scenario or pair."""
        if name in self.pairs:
            return run_pair(self.setting, self.pairs[name], self.guarantee, self.samples * factor, look)
        checks, draws = run_scenario(self.setting, self.scenarios[name], self.samples * factor, look)
        self.outputs[name] = draws.outputs
        return checks

    def escalate(self, decided: list[CheckResult]) -> list[CheckResult]:
        """A second look, ten times as large and on fresh draws, at whatever looked suspicious in the first."""
        again = dict.fromkeys(c.scenario for c in decided if c.p_value is not None and c.p_value < SUSPICIOUS)
        second = [check for name in again for check in self.run(name, "second look", ESCALATION)]
        return [check for check in decided if check.scenario not in again] + decide(second, self.alpha)

    def suspects(self, decided: list[CheckResult]) -> list[Suspect]:
        """The suspects that fit in every scenario whose law was refuted and that has any, the best first."""
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
    """Holm over the p-values; the detail of a check that stands says what it could have seen."""
    listed = list(checks)
    tested = [check for check in listed if check.p_value is not None]
    rejected = dict(zip((c.label for c in tested), holm([c.p_value or 0.0 for c in tested], alpha), strict=True))
    decided = []
    for check in listed:
        if check.p_value is None:
            decided.append(check)
            continue
        facts = dict(check.facts)
        detectable = facts.pop("detectable", None)
        if detectable is not None:
            facts["detectable"] = detectable(alpha / max(len(tested), 1))
            facts["power"] = 0.99
        status = Status.SUSPICIOUS if check.p_value < SUSPICIOUS else Status.NOT_REFUTED
        if rejected[check.label]:
            status = Status.REFUTED
        decided.append(replace(check, status=status, facts=facts))
    return decided


def audit(
    source: TargetSource,
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
    progress: Progress = no_progress,
) -> AuditReport:
    """Audit a target against a claim.

    Parameters
    ----------
    source : a `Target`, or a `TargetReference` to one by name.
    guarantee : the claim, for replacing one row.
    claimed : the mechanism it claims to be (a name of the registry); by default what the target says of itself. None
        for both: a black-box audit of contract and privacy.
    options : choices and parameters of the mechanism, such as calibration="tight".
    released : the kind of output (a key of `OUTPUTS`), for a black-box audit.
    samples : draws per scenario and side of a pair, scaled by the check.
    false_alarm : the probability that a target which keeps every promise is refuted.
    seconds : the time limit of one draw.
    user_data : a data set of the user's to try as well.

    Raises
    ------
    InvalidInput : an argument breaks its rule. CannotRun : the target cannot be loaded.
    """
    start = time.monotonic()
    require_false_alarm(false_alarm)
    require_seconds(seconds)
    if samples < 100:
        raise InvalidInput(f"samples = {samples!r}: must be at least 100")
    target = load(source)
    name = claimed or target.mechanism
    chosen: dict[str, Any] = {}
    if name is None:
        knowledge = black_box(OUTPUTS[released or "matrix"])
    else:
        stated = dict(target.options) if name == target.mechanism else {}
        chosen = mechanism(name).resolve({**stated, **(options or {})})
        knowledge = profile(name, guarantee, chosen, samples, seed)
    setting = Setting(source, guarantee.keywords(), knowledge.form.output, seed, jobs, seconds, progress)

    require_answer(setting)
    checks = contract(setting, knowledge.form)
    looks = _Looks(setting, guarantee, samples, false_alarm / 2, {s.name: s for s in knowledge.scenarios})
    statistical = [check for name in looks.scenarios for check in looks.run(name, "first look")]
    fitted = looks.suspects(decide(statistical, looks.alpha))
    looks.pairs = {pair.name: pair for pair in knowledge.pairs(frozenset(s.name for s in fitted))}
    statistical += [check for name in looks.pairs for check in looks.run(name, "first look")]
    decided = decide(statistical, looks.alpha)
    if not any(c.status is Status.REFUTED for c in (*checks, *decided)):
        decided = looks.escalate(decided)
        fitted = looks.suspects(decided)
    if user_data is not None:
        checks += user_checks(setting, user_data)
    everything = (*checks, *decided)
    return AuditReport(
        target=target.name,
        version=target.version,
        mechanism=name,
        options=chosen,
        claim=guarantee,
        adjacency="replace-one",
        verdict=_verdict(everything),
        checks=everything,
        diagnoses=tuple(dict.fromkeys(s.explanation for s in fitted)),
        seed=seed,
        samples=samples,
        false_alarm=false_alarm,
        seconds=time.monotonic() - start,
        replay=replay_command(
            target, source, guarantee, claimed, options or {}, released, samples, seed, false_alarm, seconds, user_data
        ),
        notes=target.notes,
    )


def _verdict(checks: Iterable[CheckResult]) -> Verdict:
    statuses = [check.status for check in checks]
    if Status.REFUTED in statuses:
        return Verdict.REFUTED
    tested = [c for c in checks if c.p_value is not None]
    if Status.INCONCLUSIVE in statuses or not tested:
        return Verdict.INCONCLUSIVE
    return Verdict.NOT_REFUTED


def replay_command(
    target: Target,
    source: TargetSource,
    guarantee: Guarantee,
    claimed: str | None,
    options: dict[str, Any],
    released: str | None,
    samples: int,
    seed: int,
    false_alarm: float,
    seconds: float,
    user_data: UserData | None,
) -> str:
    """The command that runs this audit again, draw for draw."""

    def digits(value: float) -> str:
        short = f"{value:g}"
        return short if float(short) == value else repr(value)

    words: list[Any] = ["covassay", "audit", source.spec if isinstance(source, TargetReference) else target.name]
    if claimed:
        words += ["--as", claimed]
    for key, value in guarantee.keywords().items():
        words += [f"--{key}", digits(value)]
    for key, choice in options.items():
        words += ["--set", f"{key}={choice}"]
    if released:
        words += ["--released", released]
    if user_data is not None:
        words += ["--data", user_data.name]
    words += ["--samples", samples, "--seed", seed]
    words += ["--false-alarm", digits(false_alarm), "--time-limit", digits(seconds)]
    return shlex.join(str(word) for word in words)
