"""Decide whether an event violates a privacy guarantee, from its probabilities or its counts on two data sets."""

import math

import numpy as np
import scipy

from covassay.reference.privacy import ZCDP, ApproximateDP, Guarantee, PureDP
from covassay.verification.statistics.ratio import EventCounts, probability_bounds, ratio_p_value

# The search for the p-value begins with this error probability, for which the confidence bounds are narrowest.
# If even these bounds do not contradict the claim, the p-value is 1.
LARGEST_ERROR = 1 - 1e-9
# the logarithm of the smallest error probability; for smaller ones scipy's beta quantile does not converge
SMALLEST_LOG_ERROR = -100.0
BISECTIONS = 60  # the number of bisection steps on the log error in [−100, 0]; 60 steps reach the precision of floats
LARGEST_POWER = 700.0  # a larger power of e would overflow
# a bound on the relative rounding error of up to eight operations, each of which has an error of at most 2^−53
ROUNDING = 2.0**-49
# these are the values of ln(α − 1) for the Rényi orders α of the search, which lie between 1.0003 and 404
LOG_ORDERS = (-8.0, 6.0)


def p_value(counts: EventCounts, guarantee: Guarantee) -> float:
    """Return the p-value of the hypothesis that the event keeps the privacy guarantee, rounded up.

    Let p and p' be the probabilities of the event on the two data sets. For pure DP the hypothesis is p ≤ e^ε p', and
    the exact binomial test gives the p-value. For zCDP and (ε, δ)-DP, Clopper–Pearson confidence bounds on p and p' can
    contradict the guarantee. The p-value is then the smallest error probability for which the confidence bounds
    contradict the guarantee.
    """
    if isinstance(guarantee, PureDP):
        return ratio_p_value(counts, guarantee.epsilon)
    if not violates(*probability_bounds(counts, LARGEST_ERROR), guarantee):
        return 1.0
    low, high = SMALLEST_LOG_ERROR, 0.0
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        contradicted = violates(*probability_bounds(counts, math.exp(middle)), guarantee)
        low, high = (low, middle) if contradicted else (middle, high)
    return math.exp(high)


def refutes(guarantee: Guarantee, counts: EventCounts, level: float) -> bool:
    """Return whether the p-value of these counts is at most the level."""
    if isinstance(guarantee, PureDP):
        return p_value(counts, guarantee) <= level
    return violates(*probability_bounds(counts, level), guarantee)


def violates(p: float, q: float, guarantee: Guarantee) -> bool:
    """Return whether an event contradicts the guarantee if its probability is ≥ p on one data set and ≤ q on the other.

    A contradiction of the guarantee does not count if rounding errors could cause it.
    """
    if p <= q:
        return False
    if isinstance(guarantee, ZCDP):
        return _violates_zcdp(p, q, guarantee.rho)
    delta = guarantee.delta if isinstance(guarantee, ApproximateDP) else 0.0
    if guarantee.epsilon > LARGEST_POWER and q > 0:
        return False  # e^ε q may overflow, and is above 1 unless q is tiny, so no violation is reported
    return p > (math.exp(min(guarantee.epsilon, LARGEST_POWER)) * q + delta) * (1 + ROUNDING)


def _violates_zcdp(p: float, q: float, rho: float) -> bool:
    """Return whether an event with the probabilities p > q on two data sets contradicts ρ-zCDP.

    An event contradicts ρ-zCDP if, for some order α > 1, the Rényi divergence between the Bernoulli laws with its two
    probabilities is above ρα. The reason is that reducing an output to one event cannot increase a divergence. The
    search for a violation of zCDP covers only events with p > q and the orders in `LOG_ORDERS`. The search can
    therefore miss a violation, but never rejects a true claim.
    """
    if q == 0:
        return True
    found = scipy.optimize.minimize_scalar(
        lambda t: -excess(p, q, rho, math.exp(t)), bounds=LOG_ORDERS, method="bounded"
    )
    return bool(-found.fun > 0)


def excess(p: float, q: float, rho: float, beta: float) -> float:
    """Return the Rényi divergence of order 1 + beta between two Bernoulli laws minus ρ(1 + beta), rounded down."""
    with np.errstate(divide="ignore"):
        first, second = (np.array([np.log(x), np.log1p(-x)]) for x in (p, q))
    terms = (1 + beta) * first - beta * second
    used = terms > -np.inf
    size = 1 + beta + float(np.abs((1 + beta) * first[used]).max() + np.abs(beta * second[used]).max())
    right = rho * (1 + beta)
    return (float(np.logaddexp.reduce(terms)) - ROUNDING * size) / beta - right - ROUNDING * right


def claimed_loss(guarantee: Guarantee) -> float:
    """Return the privacy parameter of the claim, which is ε for pure and (ε, δ)-DP, and ρ for zCDP."""
    return guarantee.rho if isinstance(guarantee, ZCDP) else guarantee.epsilon


def loss_letter(guarantee: Guarantee) -> str:
    """Return the letter of the claim's privacy parameter, ρ for zCDP and ε otherwise."""
    return "ρ" if isinstance(guarantee, ZCDP) else "ε"
