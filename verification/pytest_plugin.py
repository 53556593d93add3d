"""The pytest fixture `covassay_audit`: an audit as a test.

    def test_release(covassay_audit):
        covassay_audit(release, claimed="nuclear-laplace", epsilon=1.0, samples=500)

pytest loads this module in every project whose environment has covassay. Nothing else of covassay is imported before
the fixture is called.
"""

import shlex
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from covassay.verification.audit.run import AuditReport


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
        from covassay.verification.audit.engine.checks import Verdict
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
    from covassay.reference.mechanisms.registry import stated_claim
    from covassay.verification.audit.run import audit
    from covassay.verification.audit.targets.target import TargetReference, as_source, load

    __tracebackhide__ = True
    source = TargetReference(target, str(request.config.rootpath)) if isinstance(target, str) else as_source(target)
    report = audit(source, stated_claim(claimed or load(source).mechanism, **budget), claimed=claimed, **settings)
    if isinstance(target, str):
        return report
    return replace(report, replay=shlex.join(["pytest", request.node.nodeid]))  # a command need not find the function
