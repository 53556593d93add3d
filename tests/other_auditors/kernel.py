"""Audit a function with the sequential kernel test of González, Dulce-Rubio, Ramdas and Ribero (arXiv 2509.07055). We
wrote the code ourselves.

The output laws P and Q of an (ε, δ)-DP mechanism on neighbouring inputs have a total variation distance of at most 1 −
2(1 − δ)/(1 + e^ε). The maximum mean discrepancy of P and Q for a Gaussian kernel is at most √2 times their total
variation distance. So there is a threshold τ with E f(X) − E f(Y) ≤ τ for every function f in the unit ball of the
kernel's space, where X has the law P and Y has the law Q. The test draws pairs (X, Y) one after another. Before each
pair, it computes a function f by online gradient ascent, and the stake λ of a bet by an online Newton step. Only
earlier pairs enter f and λ. After each pair, the test multiplies its wealth by 1 + λ(f(X) − f(Y) − τ). If the claim is
true, the wealth is a non-negative supermartingale. The probability that the wealth ever reaches 1/α is then at most α.
The claim may therefore be refuted as soon as the wealth is at least 1/α.

The parameter `radius` bounds the norm of f, and the parameter `largest` bounds the stake λ. The authors' notebook uses
the radius 1/2, the largest stake 1/(8 + 4τ), and a larger τ.
"""

import math

import numpy as np

from covassay.reference.domain import Matrix, Vector
from covassay.reference.privacy import Guarantee, PureDP
from tests.other_auditors.cases import Case
from tests.other_auditors.tool import LEVELS, Finding, Findings, drawn

KERNEL = "kernel e-process"
BURN_IN = 20  # number of first pairs from which the bandwidth is computed; these pairs are not tested
LOSSES = np.linspace(0.02, 4, 200)  # the values of ε that are tested for a lower bound
NEWTON = 2 / (2 - math.log(3))


def threshold(epsilon: float, delta: float = 0.0) -> float:
    """Return an upper bound on the maximum mean discrepancy between the output laws of an (ε, δ)-DP mechanism."""
    return math.sqrt(2) * (1 - 2 * (1 - delta) / (1 + math.exp(epsilon)))


def bandwidth(x: Matrix, y: Matrix) -> float:
    """Return the median of the positive distances between the points of x and y."""
    points = np.vstack([x, y])
    distances = np.linalg.norm(points[:, None] - points, axis=2)
    return float(np.median(distances[distances > 0])) if distances.any() else 1.0


def payoffs(x: Matrix, y: Matrix, width: float, radius: float = 1.0) -> Vector:
    """Return f(X) − f(Y) for every pair, where f is computed from earlier pairs."""
    n = len(x)
    weights, paid = np.zeros(n), np.zeros(n)
    moment = norm = 0.0  # the sum of the squared gradients, and the squared norm of f
    squares = [(z * z).sum(axis=1) for z in (x, y)]

    def kernel(side: int, t: int, points: Matrix) -> Matrix:
        gaps = squares[side][:t, None] - 2 * (x, y)[side][:t] @ points.T + (points * points).sum(axis=1)
        return np.asarray(np.exp(np.maximum(gaps, 0) / (-2 * width * width)))

    for t in range(n):
        pair = np.stack([x[t], y[t]])
        witness = weights[:t] @ (kernel(0, t, pair) - kernel(1, t, pair))
        paid[t] = witness[0] - witness[1]
        squared = 2 - 2 * math.exp(float(((x[t] - y[t]) ** 2).sum()) / (-2 * width * width))
        moment += squared
        if moment == 0:
            continue
        step = 1 / (2 * math.sqrt(moment))
        norm += 2 * step * paid[t] + step * step * squared
        shrink = min(1.0, radius / math.sqrt(norm)) if norm > 0 else 1.0
        weights[:t] *= shrink
        weights[t] = step * shrink
        norm *= shrink * shrink
    return paid


def log_wealth(paid: Vector, taus: Vector, largest: Vector) -> Matrix:
    """Return the logarithm of the wealth after every pair, for every threshold τ in `taus`."""
    stake, squares, logs = np.zeros(len(taus)), np.ones(len(taus)), np.zeros((len(paid), len(taus)))
    total = np.zeros(len(taus))
    for t, value in enumerate(paid):
        gain = value - taus
        factor = 1 + stake * gain
        total = total + np.log(factor)
        logs[t] = total
        slope = -gain / factor
        squares = squares + slope * slope
        stake = np.clip(stake - NEWTON * slope / squares, 0, largest)
    return logs


def wealth_of(x: Matrix, y: Matrix, claim: Guarantee) -> Matrix:
    """Return the logarithm of the wealth of the test after every tested pair. The first column belongs to a test of the
    claim, and the other columns belong to tests of the values of ε in `LOSSES`.
    """
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        raise ValueError("outputs must be finite")
    taus = np.array([threshold(**claim.keywords()), *map(threshold, LOSSES)])
    width = bandwidth(x[:BURN_IN], y[:BURN_IN])
    return log_wealth(payoffs(x[BURN_IN:], y[BURN_IN:], width), taus, 1 / (2 * (math.sqrt(2) + taus)))


def by_kernel(case: Case, draws: int, seed: int) -> Findings:
    """Test the claim. Also return a lower bound on ε, namely the largest value in `LOSSES` for which it and all smaller
    values are refuted."""
    best = wealth_of(*drawn(case, draws, seed, KERNEL), case.claim).max(axis=0)
    findings = []
    for level in LEVELS:
        reached = best >= -math.log(level)
        proven = LOSSES[: int(np.argmin(np.append(reached[1:], False)))]
        bound = float(proven[-1]) if len(proven) else 0.0
        findings.append(Finding(bound if isinstance(case.claim, PureDP) else None, bool(reached[0])))
    return tuple(findings)


def waits(case: Case, draws: int, seed: int) -> tuple[float, ...]:
    """Return, for every level α, the number of pairs after which the wealth reached 1/α, or infinity if it did not."""
    logs = wealth_of(*drawn(case, draws, seed, KERNEL), case.claim)[:, 0]
    reached = (logs >= -math.log(level) for level in LEVELS)
    return tuple(BURN_IN + 1.0 + int(np.argmax(here)) if here.any() else math.inf for here in reached)
