"""An audit in one line: `check(release, mechanism="gauss-cov", rho=0.5)` raises unless the verdict is NOT REFUTED.

The checks of an audit fall into groups. A group can be declared an expected failure by its name: "law", "privacy",
"data path", "contract: row order" or, in short, "row order".
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from covassay.reference.errors import InvalidInput, guess
from covassay.reference.privacy import Guarantee
from covassay.verification.audit.api import audit
from covassay.verification.audit.engine.finding import KINDS, Finding, Status, Verdict
from covassay.verification.audit.questions import questions
from covassay.verification.audit.report import AuditReport
from covassay.verification.audit.reports.words import explanation, p_text, summary
from covassay.verification.audit.run import in_order
from covassay.verification.audit.targets.calling import BUDGET, Wrapped, name_of
from covassay.verification.audit.targets.fitting import uses_budget
from covassay.verification.audit.targets.target import Target, TargetReference, TargetSource, as_source, load
from covassay.verification.declared import stated_claim

COMPLETED = "completed"  # the group of every other check, and of what makes an audit inconclusive as a whole


class Refuted(AssertionError):
    """A promise is broken; `report` shows it."""

    def __init__(self, message: str, report: AuditReport) -> None:
        super().__init__(message)
        self.report = report


class Inconclusive(Exception):
    """The audit could not decide, which is no success; `report` says why."""

    def __init__(self, message: str, report: AuditReport) -> None:
        super().__init__(message)
        self.report = report


def claim_of(
    source: TargetSource | Callable[..., Any] | str,
    mechanism: str | None = None,
    epsilon: float | None = None,
    delta: float | None = None,
    rho: float | None = None,
    call: str | None = None,
) -> Guarantee:
    """The stated claim, the usual one of a target that has its own, or else the default one of the mechanism.

    There is a default only for a target that is told its budget.

    Raises
    ------
    InvalidInput : nothing is stated, and the target cannot be told: what it spends is known to its author alone.
    """
    found = as_source(source)
    target = load(found)
    unstated = epsilon is None and delta is None and rho is None
    if unstated and mechanism is None and target.claim is not None:
        return target.claim
    own = not isinstance(source, Target) and (not isinstance(found, TargetReference) or found.is_function)
    if own and unstated:
        call = call or getattr(found, "call", None)
        function = target.draw
        if isinstance(function, Wrapped):
            call, function = call or function.call, function.function
        if not uses_budget(function, call):
            raise InvalidInput(f"{target.name} takes no budget: say which one it claims (epsilon, delta or rho)")
    return stated_claim(mechanism or target.mechanism, epsilon, delta, rho)


def check(
    target: TargetSource | Callable[..., Any] | str,
    mechanism: str | None = None,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    rho: float | None = None,
    **settings: Any,
) -> AuditReport:
    """Audit an implementation; the report of an audit that refuted nothing, which is not a certificate.

    >>> import numpy as np
    >>> def release(X, eps, random_state):
    ...     noise = np.random.default_rng(random_state).laplace(size=(X.shape[1],) * 2)
    ...     return X.T @ X / len(X) + noise * 2 * X.shape[1] / (len(X) * eps)
    >>> check(release, "entrywise-laplace", epsilon=1.0, samples=100).notes
    ('called as f(x, eps=epsilon, random_state=seed)',)

    Parameters
    ----------
    target : a function, a method, an estimator, or the name of a target as for `covassay audit`. How it is called is
        found from the names of its parameters; `call` says it where that fails, see `wrap`.
    mechanism : what it claims to be, a name in `covassay mechanisms`. None: contract and privacy only.
    epsilon, delta, rho : the claimed budget; by default that of the mechanism, or ε = 1.
    settings : samples=2000, seed=0, call="f(x, eps=epsilon)", … as for `audit`.

    Raises
    ------
    Refuted : a promise is broken. Inconclusive : the audit could not decide. CannotRun : the target cannot be called.
    InvalidInput : an argument breaks its rule.
    """
    __tracebackhide__ = True
    report = audited(target, mechanism, epsilon=epsilon, delta=delta, rho=rho, **settings)
    if report.verdict is Verdict.REFUTED:
        raise Refuted(summary(report), report)
    if report.verdict is not Verdict.NOT_REFUTED:
        raise Inconclusive(summary(report), report)
    return report


def audited(target: TargetSource | Callable[..., Any] | str, mechanism: str | None = None, **given: Any) -> AuditReport:
    """The report of the audit that `check` makes of these arguments, whatever its verdict."""
    settings = {name: value for name, value in given.items() if name not in BUDGET}
    budget = {name: value for name, value in given.items() if name in BUDGET}
    claim = claim_of(target, mechanism, **budget, call=settings.get("call"))
    return audit(target, claim, claimed=mechanism, **settings)


def groups() -> tuple[str, ...]:
    """What can be expected to fail and is one test case: every question of the contract, the other kinds, the end."""
    contract = (question.id for question in in_order(questions()) if question.kind == KINDS[0])
    return (*contract, *KINDS[1:], COMPLETED)


def group_of(check: Finding) -> str:
    """The group of a finding."""
    if check.kind == KINDS[0]:
        return check.question if check.question in groups() else COMPLETED
    return check.kind if check.kind in KINDS else COMPLETED


def require_group(report: AuditReport, group: str) -> str:
    """What was checked in a group of which nothing is refuted: "" or, if nothing was, the reason.

    Raises
    ------
    Refuted : a check of the group is refuted. Inconclusive : one could not decide, or, in the group "completed", the
        audit as a whole could not.
    """
    if group == COMPLETED and report.verdict is Verdict.INCONCLUSIVE:
        raise Inconclusive(summary(report), report)
    found = [check for check in report.checks if group_of(check) == group]
    refuted = [check for check in found if check.status is Status.REFUTED]
    if refuted:
        raise Refuted(_told(refuted, report), report)
    undecided = [check for check in found if check.status is Status.INCONCLUSIVE]
    if undecided:
        raise Inconclusive(_told(undecided, report), report)
    if group != COMPLETED and all(check.status is Status.SKIPPED for check in found):
        return "; ".join(check.detail for check in found) or "this audit has no such check"
    return ""


def _told(checks: Iterable[Finding], report: AuditReport) -> str:
    ordered = sorted(checks, key=lambda check: 1.0 if check.p_value is None else check.p_value)
    lines = [f"{c.label}{f': p = {p_text(c.p_value)}' if p_text(c.p_value) else ''}: {explanation(c)}" for c in ordered]
    lines += [f"what explains it: {diagnosis}" for diagnosis in report.diagnoses]
    return "\n".join([f"{report.target}, {report.claim}, {report.adjacency}", *lines, f"replay: {report.replay}"])


def by_group(expected: Mapping[str, str]) -> dict[str, str]:
    """The reasons for expected failures by group; `InvalidInput` if there is no such group, or no reason is given."""
    named = [name for name in groups() if name != COMPLETED]
    short = {name.partition(": ")[2]: name for name in named if ": " in name}
    known = {**short, **{name: name for name in named}}
    for name, why in expected.items():
        if name not in known:
            names = ", ".join(named)
            raise InvalidInput(f"expected_failed[{name!r}]: {guess(name, known, repr)}must be one of {names}")
        if not (isinstance(why, str) and why.strip()):
            raise InvalidInput(f"expected_failed[{name!r}] = {why!r}: must say why, in words")
    return {known[name]: why for name, why in expected.items()}


def target_name(target: TargetSource | Callable[..., Any] | str) -> str:
    """The name of a target in the id of a test."""
    if isinstance(target, str):
        return target
    return target.spec if isinstance(target, TargetReference) else getattr(target, "name", "") or name_of(target)
