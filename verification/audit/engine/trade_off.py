"""Compute the trade-off curve of one pair of data sets, as claimed and as observed. The curve says how well tests can
distinguish the two data sets.

A test that says "first" for outputs in a set S is wrong with probability α = P'(S) on the second data set (a false
positive), and with probability β = 1 − P(S) on the first (a false negative). A guarantee is a curve f with β ≥ f(α) for
the two error probabilities of every test on every pair of neighbours. Each event S = {statistic ≥ t} on one pair gives
a point (α, β). If the mechanism keeps a guarantee, the curve of the guarantee lies on or below every such point. The
Clopper–Pearson intervals of both error probabilities at all points of the curve hold together with the stated
confidence.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
from scipy.special import ndtri

from covassay.reference.domain import Matrix, Vector
from covassay.reference.privacy import ZCDP, ApproximateDP, Guarantee
from covassay.verification.audit.engine.event_choice import GRID, LARGEST_EXPONENT, largest_kept
from covassay.verification.audit.engine.facts import CurvePoint, TestedEvent, TradeOff
from covassay.verification.audit.engine.finding import Finding
from covassay.verification.statistics.ratio import clopper_pearson


def claimed_curve(guarantee: Guarantee, alpha: Vector) -> Vector:
    """Return the smallest false-negative probabilities that the guarantee allows for these false-positive
    probabilities.
    """
    if isinstance(guarantee, ZCDP):
        missed = 1 - largest_kept(guarantee)
        descending = np.argsort(missed)
        one = np.interp(alpha, GRID, missed, right=0.0)
        other = np.interp(
            alpha, missed[descending], GRID[descending], right=0.0
        )  # this bound follows from the guarantee with the two data sets exchanged
        return np.asarray(np.clip(np.maximum(one, other), 0.0, 1.0))
    epsilon = min(guarantee.epsilon, LARGEST_EXPONENT)
    delta = guarantee.delta if isinstance(guarantee, ApproximateDP) else 0.0
    steep, flat = 1 - delta - math.exp(epsilon) * alpha, math.exp(-epsilon) * (1 - delta - alpha)
    return np.asarray(np.maximum(0.0, np.maximum(steep, flat)))


def _intervals(counts: Vector, size: int, error: float) -> Matrix:
    """Return the lower bound, estimate and upper bound of every probability, as an array (points, 3).

    Each of the two bounds on a probability fails with probability `error`.
    """
    lower, upper = np.array([clopper_pearson(int(k), size, error) for k in counts]).T
    return np.column_stack([lower, counts / size, upper])


def points(
    first: tuple[Vector, int], second: tuple[Vector, int], levels: Sequence[float], guarantee: Guarantee, error: float
) -> TradeOff:
    """Return the points of the trade-off curve of one pair of data sets.

    `first` and `second` have the count of each event on one data set and the number of draws. `levels` are the
    thresholds of the events, which were chosen without these draws. `error` is a bound on the probability that at least
    one of the confidence intervals does not contain the probability that it estimates.
    """
    share = error / (4 * len(levels))
    caught, alpha = _intervals(*first, share), _intervals(*second, share)
    beta = 1 - caught[:, ::-1]
    with np.errstate(invalid="ignore"):
        mu = np.nan_to_num(ndtri(1 - beta[:, 2]) - ndtri(alpha[:, 2]), nan=-math.inf)
    claimed = claimed_curve(guarantee, alpha[:, 1])
    shown = tuple(
        CurvePoint(float(t), (a[0], a[1], a[2]), (b[0], b[1], b[2]), float(f))
        for t, a, b, f in zip(levels, alpha.tolist(), beta.tolist(), claimed, strict=True)
    )
    return TradeOff(1 - error, max(0.0, float(mu.max())), shown)


def keep_most_telling(checks: Iterable[Finding]) -> list[Finding]:
    """Keep only one trade-off curve among the checks, which is that of the pair with the strongest evidence."""
    listed = list(checks)
    drawn = [(c, c.facts) for c in listed if isinstance(c.facts, TestedEvent) and c.facts.trade_off]
    if not drawn:
        return listed
    telling, _ = min(
        drawn, key=lambda one: (1.0 if one[0].p_value is None else one[0].p_value, -one[1].loss_lower_bound)
    )
    return [
        replace(check, facts=replace(check.facts, trade_off=None))
        if isinstance(check.facts, TestedEvent) and check is not telling
        else check
        for check in listed
    ]
