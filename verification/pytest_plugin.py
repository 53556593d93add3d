"""An audit as a test: the fixture `covassay_audit`, and the decorator `parametrize_with_checks`.

    def test_release(covassay_audit):
        covassay_audit(release, claimed="nuclear-laplace", epsilon=1.0, samples=500)

    @parametrize_with_checks([release], mechanism="gauss-cov", rho=0.5, expected_failed={"row order": "issue 7"})
    def test_release(target, check):
        check(target)

pytest loads this module in every project whose environment has covassay. Nothing else of covassay is imported before
the fixture is called or the decorator is used.
"""

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from covassay.verification.audit.report import AuditReport


@pytest.fixture
def covassay_audit(request: pytest.FixtureRequest) -> Callable[..., "AuditReport"]:
    """Audit an implementation; the test fails unless the verdict is NOT REFUTED, which is not a certificate.

    covassay_audit(target, *, claimed=None, epsilon=None, delta=None, rho=None, **settings) -> AuditReport

    target : a function f(x, *, epsilon, rng), or the name of a target as for `covassay audit`: "module:function",
        "exec:COMMAND" or "ADAPTER:NAME", looked up from the root directory of the tests.
    claimed : the mechanism that the target claims to be, as `--as` says it. None: contract and privacy only.
    epsilon, delta, rho : the claimed budget; by default what `covassay audit` assumes.
    settings : samples=2000, seed=0, false_alarm=1e-9, seconds=3.0 for one draw, jobs=1,
        options={"calibration": "tight"}, released="vector", bounds=[(0, 1), (0, 100)], adjacency="add-remove",
        scope="bits", as for `covassay audit`.
    """

    def audited(
        target: str | Callable[..., Any],
        *,
        claimed: str | None = None,
        epsilon: float | None = None,
        delta: float | None = None,
        rho: float | None = None,
        **settings: Any,
    ) -> "AuditReport":
        __tracebackhide__ = True
        from covassay.verification.audit.engine.finding import Verdict
        from covassay.verification.audit.reports.words import summary

        report = _report(request, target, claimed, {"epsilon": epsilon, "delta": delta, "rho": rho}, settings)
        if report.verdict is not Verdict.NOT_REFUTED:
            pytest.fail(summary(report))
        return report

    return audited


def _report(
    request: pytest.FixtureRequest,
    target: str | Callable[..., Any],
    claimed: str | None,
    budget: dict[str, float | None],
    settings: dict[str, Any],
) -> "AuditReport":
    from covassay.verification.audit.check import audited
    from covassay.verification.audit.targets.target import TargetReference

    __tracebackhide__ = True
    source = TargetReference(target, str(request.config.rootpath)) if isinstance(target, str) else target
    report = audited(source, claimed, **budget, **settings)
    if isinstance(target, str):
        return report
    return replace(report, replay=shlex.join(["pytest", request.node.nodeid]))  # a command need not find the function


def parametrize_with_checks(
    targets: Sequence[Any],
    *,
    expected_failed: "Mapping[str, str] | Callable[[Any], Mapping[str, str]] | None" = None,
    **settings: Any,
) -> pytest.MarkDecorator:
    """Give a test one id for every group of checks of every target.

    @parametrize_with_checks([release, "mymodule:other"], mechanism="gauss-cov", rho=0.5)
    def test_release(target, check):
        check(target)

    The audit of a target is run once, when the first of its ids is run, and is shared by the others. Under pytest-xdist
    every worker that gets one of the ids runs it. `settings` are those of `covassay.verification.check`. A target may
    have settings of its own, as a pair: (release, {"rho": 0.5}).

    expected_failed : groups of checks that are known to fail, each with the reason. They are strict: one that no longer
        fails, that was not made or that could not decide fails the test. A function of the target may give them.
    """
    from covassay.verification.audit.check import Refuted, by_group, groups, target_name

    listed = list(targets)
    if isinstance(targets, str) or not listed:
        raise pytest.UsageError("parametrize_with_checks: give a list with at least one target")
    parameters = []
    for item in listed:
        target, own = item if isinstance(item, tuple) else (item, {})
        expected = by_group(expected_failed(target) if callable(expected_failed) else expected_failed or {})
        shared = SharedAudit(target, {**settings, **own})
        for group in groups():
            marks = []
            if group in expected:
                marks = [pytest.mark.xfail(reason=expected[group], strict=True, raises=Refuted)]
            check = partial(shared.require, group, group in expected)
            parameters.append(pytest.param(target, check, id=f"{target_name(target)}-{group}", marks=marks))
    return pytest.mark.parametrize(("target", "check"), parameters)


class SharedAudit:
    """The audit of one target, which is run when it is first asked for."""

    def __init__(self, target: Any, settings: dict[str, Any]) -> None:
        self._target = target
        self._settings = settings
        self._report: AuditReport | None = None
        self._error: Exception | None = None

    def require(self, group: str, expected: bool, target: Any) -> None:
        """Fail, or skip, as the checks of a group did. `expected` says that a failure is expected."""
        from covassay.verification.audit.check import require_group

        __tracebackhide__ = True
        if target is not self._target:
            raise pytest.UsageError("check(target): give the target with which the check came")
        left_out = require_group(self.report(), group)
        if left_out and expected:
            pytest.fail(f"{group} was expected to fail, and was not checked: {left_out}")
        if left_out:
            pytest.skip(left_out)

    def report(self) -> "AuditReport":
        """The report; an audit that could not be run raises the same error for every check."""
        from covassay.verification.audit.check import audited

        __tracebackhide__ = True
        if self._error is not None:
            raise self._error.with_traceback(None)
        if self._report is None:
            try:
                self._report = audited(self._target, **self._settings)
            except Exception as error:
                self._error = error
                raise
        return self._report
