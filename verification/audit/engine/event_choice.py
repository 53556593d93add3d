"""Choose the event whose p-value on the test draws is expected to be the smallest.

Suppose that an event occurs k times in n pilot draws on one data set, where its probability is p, and k' times in n'
pilot draws on the other, where its probability is p'. Among many events, some look more extreme by chance than they
are. For the choice of an event, a lower confidence bound replaces the larger probability p, and an upper confidence
bound replaces the smaller probability p'. The score of an event is the expected result of the test draws, computed as
if these confidence bounds were the true probabilities. For each notion of privacy, the score is defined as follows.

pure DP : the lower confidence bound on ln(p/p') at the error level of a run.
(ε, δ)-DP and zCDP : the exponent of the best test against the claim. On each data set, the occurrence of the event has
a Bernoulli law. The claim allows some pairs of Bernoulli laws and excludes the others. For each allowed pair, take the
sum of two Kullback–Leibler divergences: on each data set, the divergence of the law of the event from the law in the
pair. The exponent is the smallest of these sums. If the pair of laws of the event is allowed itself, the event ranks
below all others, and has the score of pure DP minus a large number.
"""

import math
from functools import lru_cache

import numpy as np
from scipy.special import betaincinv, expit, logit, xlogy

from covassay.reference.domain import Vector
from covassay.reference.privacy import ApproximateDP, Guarantee, PureDP

RUN_ERROR = 1e-10  # the default error level of a test, which is near the level of a single check in a run
BOUND_ERROR = 0.05  # the error probability of each confidence bound on the pilot draws
MIDDLE = np.linspace(0.01, 0.99, 60)  # these quantiles of the pooled pilot draws are tried as thresholds
TAIL = 1.25  # the ratio of the numbers of draws beyond two successive thresholds in a tail
# a pair of Bernoulli laws P and Q satisfies ρ-zCDP here if D_α(P ‖ Q) ≤ ρα for these Rényi orders α
ORDERS = 1 + np.geomspace(1e-3, 400.0, 80)
SMALLEST = 1e-12  # the smallest probability in the table of Bernoulli laws that keep the claim
# the probabilities of the second Bernoulli law of a pair
GRID = expit(np.linspace(logit(SMALLEST), logit(1 - 1e-9), 500))
LARGEST_EXPONENT = 30.0  # a larger ε is replaced by this one, because e^30 already exceeds any number of draws
# a betting test chooses its bet by pilot draws; the ρ that it refutes is assumed to be this fraction of the largest ρ
# that the best bet refutes
REACHED = 0.5
WITHIN = 1e6  # this number is subtracted from the scores of events that keep the claim, so that such events rank last
BISECTIONS = 50


def thresholds(pooled: Vector) -> Vector:
    """Return the candidate thresholds, which are quantiles of the pooled draws and extreme order statistics."""
    ordered = np.sort(pooled)
    n = len(ordered)
    outer = np.unique(
        np.geomspace(1, max(n * MIDDLE[0], 1), 1 + round(math.log(max(n, 2)) / math.log(TAIL))).astype(int)
    )
    outer = outer[outer <= n] - 1
    inner = np.round(MIDDLE * (n - 1)).astype(int)
    values: Vector = np.unique(ordered[np.concatenate([outer, inner, n - 1 - outer])])
    return values


def pessimistic(counts: Vector, size: int) -> tuple[Vector, Vector]:
    """Return lower and upper Clopper–Pearson bounds on the probabilities of events with these counts among `size`
    draws.
    """
    if size == 0:
        return np.zeros(len(counts)), np.ones(len(counts))
    lower = np.where(counts > 0, betaincinv(np.maximum(counts, 1), size - counts + 1, BOUND_ERROR), 0.0)
    upper = np.where(counts < size, betaincinv(counts + 1, np.maximum(size - counts, 1), 1 - BOUND_ERROR), 1.0)
    return lower, upper


def scores(
    first: Vector, second: Vector, sizes: tuple[int, int], mean: float, guarantee: Guarantee, error: float = RUN_ERROR
) -> Vector:
    """Return the scores of events, given their counts in the pilot draws on two data sets, for a test with `mean` draws
    on each data set.

    The test is made at the level `error`.
    """
    p, q = pessimistic(first, sizes[0])[0], pessimistic(second, sizes[1])[1]
    ratio = _log_ratio_lower(p, q, mean, error)
    if isinstance(guarantee, PureDP):
        return ratio
    allowed = largest_kept(guarantee)
    outside = p > np.interp(q, GRID, allowed)
    # an event whose loss is at most the claimed loss ranks below every event whose loss exceeds the claim
    found = ratio - WITHIN
    found[outside] = mean * _exponent(p[outside], q[outside], allowed)
    return found


def _log_ratio_lower(p: Vector, q: Vector, mean: float, error: float) -> Vector:
    """Return the lower confidence bound on ln(p/q) that a test with this error gives if its counts equal their expected
    values.
    """
    share = betaincinv(np.maximum(mean * p, SMALLEST), mean * q + 1, error)
    with np.errstate(divide="ignore"):
        bound: Vector = np.where(p > 0, np.log(share) - np.log1p(-share), -np.inf)
    return bound


def _divergence(p: Vector, q: Vector) -> Vector:
    """Return the Kullback–Leibler divergence between Bernoulli laws with the probabilities p and q."""
    with np.errstate(divide="ignore", invalid="ignore"):
        divergence: Vector = xlogy(p, p / q) + xlogy(1 - p, (1 - p) / (1 - q))
    return np.where(np.isnan(divergence), np.inf, divergence)


def _exponent(p: Vector, q: Vector, allowed: Vector) -> Vector:
    """Return the smallest D(p ‖ a) + D(q ‖ b) over pairs (a, b) of probabilities, where b is in `GRID` and a is the
    largest probability that the claim allows for this b.
    """
    found: Vector = (_divergence(p[:, None], allowed) + _divergence(q[:, None], GRID)).min(axis=1, initial=np.inf)
    return found


def exponents(p: Vector, q: Vector, guarantee: Guarantee) -> Vector:
    """Return the exponent of the best test of the claim among the tests that only count how often an event occurs. The
    event has probability p on one data set and probability q on the other.

    For m draws on each of two data sets, the p-value of the best test is about e^(−m·c), where c is the exponent. The
    exponent is 0 for events that keep the claim.
    """
    allowed = largest_kept(guarantee)
    outside = p > np.interp(q, GRID, allowed)
    found: Vector = np.zeros(len(p))
    found[outside] = _exponent(p[outside], q[outside], allowed)
    return found


@lru_cache(maxsize=16)
def largest_kept(guarantee: Guarantee) -> Vector:
    """For every probability in `GRID` of an event on one data set, return the largest probability of the event on the
    other data set that the claim allows.
    """
    if isinstance(guarantee, PureDP | ApproximateDP):
        epsilon, delta = guarantee.epsilon, guarantee.delta if isinstance(guarantee, ApproximateDP) else 0.0
        return np.asarray(
            np.minimum(np.exp(min(epsilon, LARGEST_EXPONENT)) * GRID + delta, 1.0)
        )  # the bound on the complement is left out, because the complement is tried as an event of its own
    low, high = GRID, np.ones(len(GRID))
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        broken = renyi_excess(middle, GRID, guarantee.rho) > 0
        low, high = np.where(broken, low, middle), np.where(broken, middle, high)
    return np.asarray(low)


def renyi_excess(p: Vector, q: Vector, rho: float) -> Vector:
    """Return, for every pair of Bernoulli laws, the largest D_α(p ‖ q) − ρα over the orders α of `ORDERS`."""
    with np.errstate(divide="ignore"):
        heads = ORDERS[:, None] * np.log(p) + (1 - ORDERS[:, None]) * np.log(q)
        tails = ORDERS[:, None] * np.log1p(-p) + (1 - ORDERS[:, None]) * np.log1p(-q)
    excess = np.logaddexp(heads, tails) / (ORDERS[:, None] - 1) - rho * ORDERS[:, None]
    return np.asarray(excess.max(axis=0))


def largest_loss(sizes: tuple[int, int], guarantee: Guarantee, error: float) -> float:
    """Return the largest parameter of the claim that an event could refute at this error level with this many test
    draws.

    The event that shows the largest loss occurs in every draw on one data set and in no draw on the other. The returned
    parameter is ρ for zCDP, and otherwise ε; for (ε, δ)-DP, δ has the claimed value.
    """
    if min(sizes) == 0:
        return 0.0
    if isinstance(guarantee, PureDP):
        log_share = math.log(error) / sizes[0]
        return max(0.0, log_share - math.log(-math.expm1(log_share)))
    # the extreme case that keeps the claim has the probabilities p = 1 and q = (1 − δ) e^{−ε}
    if isinstance(guarantee, ApproximateDP):
        missed = -math.expm1(math.log(error / 2) / min(sizes))
        return max(0.0, math.log((1 - guarantee.delta) / missed))
    # suppose that an event occurs in every draw on one data set and in no draw on the other; two Clopper–Pearson bounds
    # then show that its probability is at least 1 − missed on the first data set, and at most `missed` on the other
    missed = -math.expm1(math.log(error / 4) / min(sizes))
    # the extreme case has the probabilities s and 1 − s with s^(n + n') = error, for n and n' draws
    share = math.exp(math.log(error) / sum(sizes))
    return max(_rho_of_coin(1 - missed), REACHED * _rho_of_coin(share))


def rho_of_coins(p: float, q: float) -> float:
    """Return the smallest ρ for which an event may have the probabilities p and q on two neighbouring data sets. Only
    the Rényi orders in `ORDERS` are used.
    """
    with np.errstate(divide="ignore"):
        heads = ORDERS * np.log(p) + (1 - ORDERS) * np.log(q)
        tails = ORDERS * np.log1p(-p) + (1 - ORDERS) * np.log1p(-q)
    return float((np.logaddexp(heads, tails) / (ORDERS * (ORDERS - 1))).max())


def _rho_of_coin(share: float) -> float:
    """Return the smallest ρ that allows the probabilities `share` and 1 − `share` of an event, for a share
    above 1/2.
    """
    if share <= 1 / 2:
        return 0.0
    odds = math.log(share) - math.log1p(-share)
    heads, tails = ORDERS * odds + math.log1p(-share), -ORDERS * odds + math.log(share)
    return float((np.logaddexp(heads, tails) / (ORDERS * (ORDERS - 1))).max())
