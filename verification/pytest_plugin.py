"""The pytest fixture `covassay_audit`: an audit as a test.

    def test_release(covassay_audit):
        covassay_audit(release, claimed="nuclear-laplace", epsilon=1.0, samples=500)

pytest loads this module in every project of an environment that has covassay, so nothing is imported before the
fixture is called.
"""

import argparse
import shlex
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from covassay.verification.audit.engine.run import AuditReport


@pytest.fixture
def covassay_audit(request: pytest.FixtureRequest) -> Callable[..., "AuditReport"]:
    """Audit an implementation; the test fails unless it is NOT REFUTED, which is not a certificate.

    covassay_audit(target, *, claimed=None, epsilon=None, delta=None, rho=None, **settings) -> AuditReport

    target : a function f(x, *, epsilon, rng), or what `covassay audit` takes: "module:function", "exec:COMMAND",
        "ADAPTER:NAME", looked up from the root directory of the tests.
    claimed : the mechanism that it claims to be, as --as. None: contract and privacy only.
    epsilon, delta, rho : the claimed budget; by default what `covassay audit` assumes.
    settings : samples=2000, seed=0, false_alarm=1e-9, seconds=3.0 a draw, jobs=1, options={"calibration": "tight"},
        released="vector", as for `covassay audit`.
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
        from covassay.verification.audit.engine.run import audit
        from covassay.verification.audit.reports.words import summary
        from covassay.verification.audit.targets.target import Target, TargetReference, load
        from covassay.verification.cli.options import guarantee

        source: Target | TargetReference
        if isinstance(target, str):
            source = TargetReference(target, str(request.config.rootpath))
        else:
            source = Target(getattr(target, "__qualname__", repr(target)), target)
        budget = argparse.Namespace(epsilon=epsilon, delta=delta, rho=rho)
        claim = guarantee(budget, claimed or load(source).mechanism)
        report = audit(source, claim, claimed=claimed, **settings)
        if not isinstance(target, str):  # a function need not have a name that a command can find
            report = replace(report, replay=shlex.join(["pytest", request.node.nodeid]))
        if report.verdict is not Verdict.NOT_REFUTED:
            pytest.fail(summary(report))
        return report

    return audited
