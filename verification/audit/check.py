"""Run an audit in one line. The call `check(release, mechanism="gauss-cov", rho=0.5)` raises unless the verdict is NOT
REFUTED.

The checks of an audit fall into groups. A group can be declared an expected failure by its name, such as "law",
"privacy", "data path", "contract: row order" or, in short, "row order".
"""

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ParamSpec, TypeVar

from covassay.reference.errors import InvalidInput, guess
from covassay.verification.audit.api import audit
from covassay.verification.audit.engine.finding import KINDS, Finding, Status, Verdict
from covassay.verification.audit.questions import questions
from covassay.verification.audit.report import AuditReport
from covassay.verification.audit.reports.words import explanation, p_text, summary
from covassay.verification.audit.run import in_order
from covassay.verification.audit.targets.calling import name_of
from covassay.verification.audit.targets.target import TargetReference, TargetSource

P = ParamSpec("P")
R = TypeVar("R")
# the group of all checks that are in no other group; its test also fails if the verdict of the audit is INCONCLUSIVE
COMPLETED = "completed"


def _with_signature_of(model: Callable[P, R]) -> Callable[[Callable[..., R]], Callable[P, R]]:
    """Return a decorator that gives a function the signature of the function `model`."""

    def signed(function: Callable[..., R]) -> Callable[P, R]:
        function.__signature__ = inspect.signature(model)  # type: ignore[attr-defined]
        return function

    return signed


class Refuted(AssertionError):
    """Raised if the target breaks a promise, which `report` shows."""

    def __init__(self, message: str, report: AuditReport) -> None:
        super().__init__(message)
        self.report = report


class Inconclusive(Exception):
    """Raised if the audit could not decide, which is no success; `report` gives the reason."""

    def __init__(self, message: str, report: AuditReport) -> None:
        super().__init__(message)
        self.report = report


@_with_signature_of(audit)
def check(target: TargetSource | Callable[..., Any] | str, mechanism: str | None = None, **options: Any) -> AuditReport:
    """Audit an implementation; return the report if nothing was refuted, which does not certify the implementation.

    >>> import numpy as np
    >>> def release(X, eps, random_state):
    ...     X = X / np.maximum(1, np.linalg.norm(X, axis=1, keepdims=True))
    ...     noise = np.random.default_rng(random_state).laplace(size=(X.shape[1],) * 2)
    ...     return X.T @ X / len(X) + noise * 2 * X.shape[1] / (len(X) * eps)
    >>> check(release, mechanism="entrywise-laplace", epsilon=1.0, samples=100).notes[0]
    'called as f(x, eps=epsilon, random_state=seed)'

    The arguments are those of `audit`.

    Raises
    ------
    Refuted : a promise is broken.
    Inconclusive : the audit could not decide.
    CannotRun : the target cannot be called.
    InvalidInput : an argument breaks its rule.
    """
    __tracebackhide__ = True
    report = audit(target, mechanism, **options)
    if report.verdict is Verdict.REFUTED:
        raise Refuted(summary(report), report)
    if report.verdict is not Verdict.NOT_REFUTED:
        raise Inconclusive(summary(report), report)
    return report


def groups() -> tuple[str, ...]:
    """Return the names of all groups of checks; the decorator `parametrize_with_checks` makes one test of every group.
    Every question of the kind "contract" is a group. For every other kind, all questions of the kind are one group. The
    group "completed" contains all other checks.
    """
    contract = (question.id for question in in_order(questions()) if question.kind == KINDS[0])
    return (*contract, *KINDS[1:], COMPLETED)


def group_of(check: Finding) -> str:
    """Return the group of a finding."""
    if check.kind == KINDS[0]:
        return check.question if check.question in groups() else COMPLETED
    return check.kind if check.kind in KINDS else COMPLETED


def require_group(report: AuditReport, group: str) -> str:
    """Raise an error if a check of the group is refuted or undecided; return why all were skipped, or else "".

    Raises
    ------
    Refuted : a check of the group is refuted.
    Inconclusive : a check of the group could not decide, or the group is "completed" and the verdict is INCONCLUSIVE.
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
        return "; ".join(check.detail for check in found) or "the audit made no check of this group"
    return ""


def _told(checks: Iterable[Finding], report: AuditReport) -> str:
    ordered = sorted(checks, key=lambda check: 1.0 if check.p_value is None else check.p_value)
    lines = [f"{c.label}{f': p = {p_text(c.p_value)}' if p_text(c.p_value) else ''}: {explanation(c)}" for c in ordered]
    lines += [f"what explains it: {diagnosis}" for diagnosis in report.diagnoses]
    return "\n".join([f"{report.target}, {report.claim}, {report.adjacency}", *lines, f"replay: {report.replay}"])


def by_group(expected: Mapping[str, str]) -> dict[str, str]:
    """Return the reasons for expected failures by group; raise `InvalidInput` if a group is unknown or no reason is
    given.
    """
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
    """Return the name of the target that pytest shows in the id of a test of this target."""
    if isinstance(target, str):
        return target
    return target.spec if isinstance(target, TargetReference) else getattr(target, "name", "") or name_of(target)
