"""Audit by sequential f-DP (Kutta, Dunsche, Wei and Zikas, arXiv 2602.06518), written anew: the black-box test APT.

A classifier is learned from the first pairs of draws, and again when enough pairs have been added (`REFIT`). The two
errors of the classifier are counted on all pairs so far, including those from which it was learned. Every ten pairs,
each error gets an upper bound, from a boundary that Brownian motion ever crosses with probability α/2. The claim is
refuted when the two bounds lie below the claimed trade-off curve. The level is asymptotic. For a fixed classifier the
level is proven; for a retrained classifier it holds only under further conditions.

The classifier is that of `trade_off`, with the η for which the largest square fits between its errors and the curve. If
the level is too small for a simulation, the quantile of the boundary is that of a union bound over the pairs.
"""

import math
from functools import cache

import numpy as np
from scipy import optimize, stats

from covassay.reference.domain import Vector
from covassay.reference.privacy import Guarantee, PureDP
from tests.peers.cases import Case
from tests.peers.tool import LEVELS, Finding, Findings, drawn
from tests.peers.trade_off import THRESHOLDS, Ratio, claimed_curve, loss_below

SEQUENTIAL = "sequential f-DP"
BURN_IN, EVERY, REFIT = 100, 10, 0.1
PATHS, BLOCK = 10_000, 500  # the number of simulated paths, and the number of paths that are simulated together


def _log(n: Vector) -> Vector:
    return np.asarray(np.log(20 + n / BURN_IN))


@cache
def quantile(level: float, draws: int) -> float:
    """Return the upper `level` quantile of sup W(n)/√(n log(20 + n/100)) over the evaluated n, for Brownian motion
    W.
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
    """Return the η whose estimated errors lie farthest from the curve along the diagonal, below or above it."""
    budget = claim.keywords()
    room, factor = 1 - budget.get("delta", 0.0), math.exp(budget["epsilon"])
    gap = ratio.alpha - ratio.beta
    meets = np.maximum(gap, np.maximum((room + gap) / (1 + factor), (room + factor * gap) / (1 + factor)))
    usable = (ratio.alpha > 0) & (ratio.beta <= 1) & (THRESHOLDS > 0)
    return float(THRESHOLDS[np.argmax(np.where(usable, np.abs(meets - ratio.alpha), -np.inf))])


def error_bounds(first: Vector, second: Vector, claim: Guarantee, q: float) -> tuple[Vector, Vector, Vector]:
    """Return the numbers of pairs at which the test looks, and the upper bounds on the two errors at each."""
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
    """Test whether the bounds ever lie below the curve; also return the largest ε that they show at any time."""
    findings = []
    for level in LEVELS:
        _, alpha, beta = _bounds_of(case, draws, seed, level)
        refuted = bool(np.any(beta < claimed_curve(alpha, case.claim)))
        bound = max(map(loss_below, alpha.tolist(), beta.tolist()))
        findings.append(Finding(bound if isinstance(case.claim, PureDP) else None, refuted))
    return tuple(findings)


def waits(case: Case, draws: int, seed: int) -> tuple[float, ...]:
    """Return, for every level, the number of pairs that were drawn when the bounds lay below the curve, or infinity if
    they never did.
    """
    found = []
    for level in LEVELS:
        looks, alpha, beta = _bounds_of(case, draws, seed, level)
        below = beta < claimed_curve(alpha, case.claim)
        found.append(float(looks[np.argmax(below)]) if below.any() else math.inf)
    return tuple(found)
