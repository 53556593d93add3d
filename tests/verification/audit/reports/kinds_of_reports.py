"""Make reports with every verdict, for tests of the report formats."""

from functools import cache
from typing import Any

import numpy as np

from covassay.reference.domain import Matrix
from covassay.reference.privacy import PureDP
from covassay.verification.audit.api import audit
from covassay.verification.audit.engine.finding import Finding, Status, Verdict
from covassay.verification.audit.engine.user_data import UserData
from covassay.verification.audit.options import AuditOptions
from covassay.verification.audit.report import AuditReport
from covassay.verification.audit.reports.undecided import undecided
from covassay.verification.audit.targets.target import Target, TargetReference

CLAIM = PureDP(1.0)
HOSTILE = (
    "</title></style><script>alert(1)</script><img src=x onerror=alert(2)> \"' onload='alert(3) {0} "
    "[a](https://example.org) \u202e\x00\x1b[31m\ud800&amp;"
)


def no_noise(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    return np.asarray(x.T @ x / max(1, len(x)) + 0.01 * rng.laplace(size=(x.shape[1],) * 2))


def never_answers(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    while True:
        pass


def sometimes_late(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    late = rng.random() < 0.2
    while late:
        pass
    return x.T @ x / len(x) + rng.laplace(size=(x.shape[1],) * 2)


def infinite_loss(x: Matrix, *, rho: float, rng: np.random.Generator) -> Matrix:
    return x.T @ x / len(x)


def approximate(x: Matrix, *, epsilon: float, delta: float, rng: np.random.Generator) -> Matrix:
    return x.T @ x / len(x) + rng.laplace(size=(x.shape[1],) * 2)


def ignores_its_generator(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    own = np.random.default_rng()
    return x.T @ x / len(x) + own.laplace(size=(x.shape[1],) * 2, scale=20 / (len(x) * epsilon))


AUDITS: dict[str, tuple[Any, dict[str, Any]]] = {
    "refuted": (no_noise, {"epsilon": 1.0}),
    "refuted by its law": (TargetReference("mutant:half-noise-entrywise-laplace", "."), {"epsilon": 1.0}),
    "refuted by privacy": (TargetReference("mutant:fails-on-zero", "."), {"epsilon": 1.0}),
    "refuted, ignores its generator": (ignores_its_generator, {"epsilon": 9.0}),
    "refuted, zCDP in a box": (infinite_loss, {"rho": 0.5, "bounds": [(0, 1), (0, 1)]}),
    "not refuted": ("covassay:private-trace", {"epsilon": 1.0}),
    "not refuted, own data": ("covassay:bingham", {"epsilon": 1.0, "data": UserData("mine", np.full((4, 2), 0.5))}),
    "not refuted, approximate DP": ("covassay:gauss-cov-approximate", {"epsilon": 1.0, "delta": 1e-06}),
    "inconclusive by its claim": (approximate, {"epsilon": 9.0, "delta": 1e-05}),
    "inconclusive, never answers": (
        Target("mine", never_answers), {"epsilon": 1.0, "mechanism": "nuclear-laplace", "time_limit": 0.01},
    ),
    "inconclusive at times": (Target("mine", sometimes_late), {"epsilon": 9.0, "time_limit": 0.005}),
}  # fmt: skip


@cache
def report_of(kind: str) -> AuditReport:
    """Return the report of an audit.

    kind : a key of AUDITS, "inconclusive" for an audit that could not be run, or "hostile" for a report with malicious
    texts.
    """
    if kind in AUDITS:
        target, given = AUDITS[kind]
        return audit(target, **given, samples=100)
    if kind == "inconclusive":
        source = TargetReference("mine:release", "/nowhere")
        return undecided(source, CLAIM, AuditOptions(samples=100), None, "the process ended")
    return _hostile()


def _hostile() -> AuditReport:
    """Return a report in which every text that a target can influence is malicious."""
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
