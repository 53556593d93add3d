"""Make reports of every verdict quickly, for tests of the report formats."""

from functools import cache

import numpy as np

from covassay.reference.domain import Matrix
from covassay.reference.privacy import PureDP
from covassay.verification.audit.api import audit
from covassay.verification.audit.engine.finding import Finding, Status, Verdict
from covassay.verification.audit.options import AuditOptions
from covassay.verification.audit.report import AuditReport
from covassay.verification.audit.reports.undecided import undecided
from covassay.verification.audit.targets.target import TargetReference

CLAIM = PureDP(1.0)
HOSTILE = (
    "</title></style><script>alert(1)</script><img src=x onerror=alert(2)> \"' onload='alert(3) {0} "
    "[a](https://example.org) \u202e\x00\x1b[31m\ud800&amp;"
)


def no_noise(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    return np.asarray(x.T @ x / max(1, len(x)) + 0.01 * rng.laplace(size=(x.shape[1],) * 2))


@cache
def report_of(kind: str) -> AuditReport:
    """A report: Make a report of the given kind. The kinds are "refuted", "not refuted", "inconclusive" and "hostile",
    where all texts from the target are hostile.
    """
    if kind == "refuted":
        return audit(no_noise, epsilon=1.0, samples=100)
    if kind == "not refuted":
        return audit("covassay:private-trace", epsilon=1.0, samples=100)
    if kind == "inconclusive":
        source = TargetReference("mine:release", "/nowhere")
        return undecided(source, CLAIM, AuditOptions(samples=100), None, "the process ended")
    return _hostile()


def _hostile() -> AuditReport:
    """Make a report in which every text that a target can influence is hostile."""
    checks = tuple(
        Finding("privacy", HOSTILE, status, HOSTILE, HOSTILE, p_value=0.5, n=10, facts={"estimates": HOSTILE})
        for status in Status
    )
    return AuditReport(
        target=HOSTILE, version=HOSTILE, mechanism=None, options={HOSTILE: HOSTILE}, claim=CLAIM,
        adjacency="replace-one", verdict=Verdict.REFUTED, checks=checks, diagnoses=(HOSTILE,), seed=0, samples=100,
        false_alarm=1e-9, seconds=1.0, replay=HOSTILE, notes=(HOSTILE,), draws=10, failures={HOSTILE: 3},
    )  # fmt: skip


KINDS = ("refuted", "not refuted", "inconclusive", "hostile")
