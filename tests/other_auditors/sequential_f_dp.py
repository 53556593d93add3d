"""Audit a function with the sequential f-DP auditor of Kutta, Dunsche, Wei and Zikas (arXiv 2602.06518), its black-box
test APT. We wrote the code ourselves.

The auditor trains a classifier on the first pairs of draws, and trains it again when enough new pairs are drawn
(`REFIT`). It counts the two errors of the classifier on all pairs so far, including those of the training. After every
ten pairs it computes an upper bound on each error. The bound uses a boundary that Brownian motion exceeds at one or
more of the tested times with probability α/2. The claim is refuted as soon as the two bounds lie below the claimed
trade-off curve. The test has the level α only asymptotically. This is proven for a fixed classifier; for a classifier
that is trained again it needs further conditions.

The classifier is that of the module `trade_off`. For every threshold η, the two estimated errors of the classifier are
the coordinates of a point in the plane. The auditor chooses the η whose point is farthest from the claimed trade-off
curve, if the distance is measured in the direction (1, 1). If the level is too small for a simulation, a union bound
over the tested times gives the boundary.
"""

import math
from functools import cache

import numpy as np
from scipy import optimize, stats

from covassay.reference.domain import Vector
from covassay.reference.privacy import Guarantee, PureDP
from tests.other_auditors.cases import Case
from tests.other_auditors.tool import LEVELS, Finding, Findings, drawn
from tests.other_auditors.trade_off import THRESHOLDS, Ratio, claimed_curve, loss_below

SEQUENTIAL = "sequential f-DP"
BURN_IN, EVERY, REFIT = 100, 10, 0.1
PATHS, BLOCK = 10_000, 500  # number of simulated paths, and number of paths that are simulated at once


def _log(n: Vector) -> Vector:
    return np.asarray(np.log(20 + n / BURN_IN))


@cache
def quantile(level: float, draws: int) -> float:
    """Return the number that the maximum of W(n)/√(n log(20 + n/100)) over the tested n exceeds with probability
    `level`, where W is Brownian motion.
    """
    looks = np.arange(BURN_IN, draws + 1.0, EVERY)
    if PATHS * level < 10:
        return float(optimize.brentq(lambda q: np.sum(stats.norm.sf(q * np.sqrt(_log(looks)))) - level, 0.1, 20))
    rng, scale = np.random.default_rng(0), np.sqrt(looks * _log(looks))
    steps = np.sqrt(np.diff(looks, prepend=0))
    tops = [
        (np.cumsum(rng.standard_normal((BLOCK, len(looks))) * steps, axis=1) / scale).max(axis=1)
        for _ in range(PATHS // BLOCK)
    ]
    return float(np.quantile(np.concatenate(tops), 1 - level))


def best_threshold(ratio: Ratio, claim: Guarantee) -> float:
    """Return the threshold η whose point is farthest from the claimed trade-off curve. The coordinates of the point are
    the two estimated errors for η, and the distance from the curve is measured in the direction (1, 1).
    """
    budget = claim.keywords()
    room, factor = 1 - budget.get("delta", 0.0), math.exp(budget["epsilon"])
    gap = ratio.alpha - ratio.beta
    meets = np.maximum(gap, np.maximum((room + gap) / (1 + factor), (room + factor * gap) / (1 + factor)))
    usable = (ratio.alpha > 0) & (ratio.beta <= 1) & (THRESHOLDS > 0)
    return float(THRESHOLDS[np.argmax(np.where(usable, np.abs(meets - ratio.alpha), -np.inf))])


def error_bounds(first: Vector, second: Vector, claim: Guarantee, q: float) -> tuple[Vector, Vector, Vector]:
    """Return the numbers of pairs after which the claim is tested, and the upper bounds on the two errors at each of
    them."""
    looks = np.arange(BURN_IN, len(first) + 1.0, EVERY)
    renewed = [BURN_IN]
    for n in looks:
        if 1 - (renewed[-1] / n) ** 0.2 > REFIT:
            renewed.append(int(n))
    bounds = np.empty((2, len(looks)))
    for start, end in zip(renewed, [*renewed[1:], len(first) + 1], strict=True):
        ratio = Ratio(first[:start], second[:start], max(50, min(1000, start // 10)))
        eta = best_threshold(ratio, claim)
        here = (looks >= start) & (looks < end)
        n = looks[here]
        for side, wrong in enumerate((ratio.errs(first, eta), 1 - ratio.errs(second, eta))):
            share = np.cumsum(wrong)[n.astype(int) - 1] / n
            spread = np.maximum(np.sqrt(share * (1 - share)), 1 / (2 * np.sqrt(n)))
            bounds[side, here] = np.minimum(1, share + q * spread * np.sqrt(_log(n) / n))
    return looks, bounds[0], bounds[1]


def _bounds_of(case: Case, draws: int, seed: int, level: float) -> tuple[Vector, Vector, Vector]:
    first, second = drawn(case, draws, seed, SEQUENTIAL)
    return error_bounds(first[:, 0], second[:, 0], case.claim, quantile(level / 2, draws))


def by_sequential(case: Case, draws: int, seed: int) -> Findings:
    """Test whether the bounds on the errors ever lie below the claimed curve. Also return the largest lower bound on ε
    at any time."""
    findings = []
    for level in LEVELS:
        _, alpha, beta = _bounds_of(case, draws, seed, level)
        refuted = bool(np.any(beta < claimed_curve(alpha, case.claim)))
        bound = max(map(loss_below, alpha.tolist(), beta.tolist()))
        findings.append(Finding(bound if isinstance(case.claim, PureDP) else None, refuted))
    return tuple(findings)


def waits(case: Case, draws: int, seed: int) -> tuple[float, ...]:
    """Return, for every level, the number of pairs after which the claim was refuted, or infinity if it was not."""
    found = []
    for level in LEVELS:
        looks, alpha, beta = _bounds_of(case, draws, seed, level)
        below = beta < claimed_curve(alpha, case.claim)
        found.append(float(looks[np.argmax(below)]) if below.any() else math.inf)
    return tuple(found)
