"""An audit as a test: the fixture `covassay_audit`, and the decorator `parametrize_with_checks`.

    def test_release(covassay_audit):
        covassay_audit(release, mechanism="nuclear-laplace", epsilon=1.0, samples=500)

    @parametrize_with_checks([release], mechanism="gauss-cov", rho=0.5, expected_failed={"row order": "issue 7"})
    def test_release(target, check):
        check(target)

pytest loads this module in every project whose environment has covassay. No other module of covassay is imported before
the fixture is called or the decorator is used.
"""

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from covassay.verification.audit.options import AuditOptions
    from covassay.verification.audit.report import AuditReport


@pytest.fixture
def covassay_audit(request: pytest.FixtureRequest) -> Callable[..., "AuditReport"]:
    """Audit an implementation; the test fails unless the verdict is NOT REFUTED, which is not a certificate.

    covassay_audit(target, mechanism=None, *, epsilon=None, delta=None, rho=None, …) -> AuditReport

    The arguments are those of `covassay.verification.audit`. The name of a target, such as "module:function",
    "exec:COMMAND" or "ADAPTER:NAME", is looked up from the root directory of the tests.
    """

    def audited(target: str | Callable[..., Any], mechanism: str | None = None, **options: Any) -> "AuditReport":
        __tracebackhide__ = True
        from covassay.verification.audit.engine.finding import Verdict
        from covassay.verification.audit.reports.words import summary

        report = _report(request, target, mechanism, options)
        if report.verdict is not Verdict.NOT_REFUTED:
            pytest.fail(summary(report))
        return report

    return audited


def _report(
    request: pytest.FixtureRequest, target: str | Callable[..., Any], mechanism: str | None, options: dict[str, Any]
) -> "AuditReport":
    from covassay.verification.audit.api import audit
    from covassay.verification.audit.targets.target import TargetReference

    __tracebackhide__ = True
    source = TargetReference(target, str(request.config.rootpath)) if isinstance(target, str) else target
    report = audit(source, mechanism, **options)
    if isinstance(target, str):
        return report
    # `covassay audit` might be unable to import the function that the test audits, so the replay command is the test
    return replace(report, replay=shlex.join(["pytest", request.node.nodeid]))


def parametrize_with_checks(
    targets: Sequence[Any],
    mechanism: str | None = None,
    *,
    expected_failed: "Mapping[str, str] | Callable[[Any], Mapping[str, str]] | None" = None,
    **options: Any,
) -> pytest.MarkDecorator:
    """Run a test once for every target and every group of checks, with an id of its own each time.

    @parametrize_with_checks([release, "mymodule:other"], mechanism="gauss-cov", rho=0.5)
    def test_release(target, check):
        check(target)

    The audit of a target is run once, when the first of its ids is run, and all of its ids share the result. Under
    pytest-xdist every worker that gets one of the ids runs it. `mechanism` and `options` are those of
    `covassay.verification.audit`. A pair such as (release, {"rho": 0.5}) gives a target options of its own.

    expected_failed : groups of checks that are known to fail, each with the reason. If a group is known to fail, but
        its checks pass, are not run or cannot decide, the test fails. `expected_failed` may also be a function of the
        target.
    """
    from covassay.verification.audit.check import Refuted, by_group, groups, target_name
    from covassay.verification.audit.options import AuditOptions, require_keywords

    listed = list(targets)
    if isinstance(targets, str) or not listed:
        raise pytest.UsageError("parametrize_with_checks: give a list with at least one target")
    parameters = []
    for item in listed:
        target, own = item if isinstance(item, tuple) else (item, {})
        expected = by_group(expected_failed(target) if callable(expected_failed) else expected_failed or {})
        given = {"mechanism": mechanism, **options, **own}
        require_keywords(given)
        shared = SharedAudit(target, AuditOptions(**given))
        for group in groups():
            marks = []
            if group in expected:
                marks = [pytest.mark.xfail(reason=expected[group], strict=True, raises=Refuted)]
            check = partial(shared.require, group, group in expected)
            parameters.append(pytest.param(target, check, id=f"{target_name(target)}-{group}", marks=marks))
    return pytest.mark.parametrize(("target", "check"), parameters)


class SharedAudit:
    """The audit of one target, which is run at the first request."""

    def __init__(self, target: Any, options: "AuditOptions") -> None:
        self._target = target
        self._options = options
        self._report: AuditReport | None = None
        self._error: Exception | None = None

    def require(self, group: str, expected: bool, target: Any) -> None:
        """Fail the test if a check of the group is refuted or undecided, and skip the test if all checks of the group
        were skipped. If `expected` is true, the group is known to fail, and the test then fails if all were skipped.
        """
        from covassay.verification.audit.check import require_group

        __tracebackhide__ = True
        if target is not self._target:
            raise pytest.UsageError("check(target): must be called with the argument `target` of the same test case")
        left_out = require_group(self.report(), group)
        if left_out and expected:
            pytest.fail(f"{group} was expected to fail, and was not checked: {left_out}")
        if left_out:
            pytest.skip(left_out)

    def report(self) -> "AuditReport":
        """The report. If the audit could not be run, every check gets the same error."""
        from covassay.verification.audit.api import audited

        __tracebackhide__ = True
        if self._error is not None:
            raise self._error.with_traceback(None)
        if self._report is None:
            try:
                self._report = audited(self._target, self._options)
            except Exception as error:
                self._error = error
                raise
        return self._report
