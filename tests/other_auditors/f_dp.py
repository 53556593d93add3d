"""Audit a function with the general f-DP auditor of Askin, Dette, Dunsche, Kutta, Lu, Wei and Zikas (arXiv 2502.07066).
We wrote the code ourselves.

The first half of the draws chooses a threshold η, at which the estimated trade-off curve (module `trade_off`) lies
farthest below the claimed curve. The first half of the draws also trains a k-nearest-neighbours classifier. Before the
training, the draws on one input are thinned. The best classifier is then the test p/q > η, where p and q are the
densities of the outputs on the two inputs. The second half of the draws estimates the two error probabilities α and β
of the classifier. Hoeffding's inequality gives a margin ω for both. The claim is refuted if the point (α + ω, β + ω)
lies below the claimed trade-off curve.

This choice of η needs outputs that are single numbers. The setting `FIXED` uses η = e^ε instead. If an event is more
than e^ε times as probable on the first input as on the second, the claim of ε-DP is violated at this threshold.
"""

import math

import numpy as np

from covassay.reference.domain import Matrix, Vector
from covassay.reference.privacy import PureDP
from tests.other_auditors.cases import Case
from tests.other_auditors.tool import LEVELS, Attempt, Finding, Findings, drawn, generator
from tests.other_auditors.trade_off import THRESHOLDS, Ratio, claimed_curve, loss_below

GENERAL = "general f-DP"
FOUND, FIXED = "η from its finder", "η = e^ε"
BLOCK = 500  # number of outputs that are classified at once


def nearest_majority(train: Matrix, labels: Vector, outputs: Matrix) -> Vector:
    """Classify outputs by the majority label (0 or 1) of their k nearest training outputs."""
    root = math.ceil(math.sqrt(len(train)))
    k = min(10 * (root + 1 - root % 2), len(train) - 1)
    found = [
        labels[np.argpartition((train * train).sum(axis=1) - 2 * block @ train.T, k, axis=1)[:, :k]].mean(axis=1)
        for block in (outputs[i : i + BLOCK] for i in range(0, len(outputs), BLOCK))
    ]
    return np.asarray(np.concatenate(found) > 0.5, dtype=np.float64)


def by_general(threshold: str) -> Attempt:
    """Return a function that audits a case; the argument, `FOUND` or `FIXED`, says how the threshold η is chosen."""

    def attempt(case: Case, draws: int, seed: int) -> Findings:
        first, second = drawn(case, draws, seed, GENERAL)
        if not (np.isfinite(first).all() and np.isfinite(second).all()):
            raise ValueError("outputs must be finite")
        half = draws // 2
        p, q = first[:half], second[:half]
        eta = math.exp(case.claim.keywords()["epsilon"])
        if threshold == FOUND:
            if p.shape[1] > 1:
                raise ValueError("this choice of η needs outputs that are one number")
            ratio = Ratio(p[:, 0], q[:, 0])
            eta = max(float(THRESHOLDS[np.argmin(ratio.beta - claimed_curve(ratio.alpha, case.claim))]), 1e-3)
        rng = generator(case, seed, f"{GENERAL}, thinning")
        p, q = p[rng.random(half) < 1 / eta], q[rng.random(half) < eta]
        train, labels = np.vstack([p, q]), np.repeat([0.0, 1.0], [len(p), len(q)])
        alpha = float(nearest_majority(train, labels, first[half:]).mean())
        beta = 1 - float(nearest_majority(train, labels, second[half:]).mean())
        findings = []
        for level in LEVELS:
            margin = math.sqrt(math.log(4 / level) / (2 * (draws - half)))
            corner = min(1.0, alpha + margin), min(1.0, beta + margin)
            refuted = corner[1] < claimed_curve(np.array(corner[0]), case.claim)
            bound = loss_below(*corner) if isinstance(case.claim, PureDP) else None
            findings.append(Finding(bound, bool(refuted)))
        return tuple(findings)

    return attempt
