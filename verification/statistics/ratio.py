"""Bound the probabilities p and p' of one event under two laws, and the ratio p/p'.

The ratio p/p' has an exact confidence interval if both sample sizes are drawn from Poisson(m) before the data are
drawn. With sizes chosen in this way, the counts K and K' of the event are independent Poisson variables with means m p
and m p', and given K + K' the count K is binomial with success probability p/(p + p'). One Clopper–Pearson interval for
the success probability gives an exact interval for p/p'. The exact interval for p/p' needs about half as many draws as
two separate intervals.

Every p-value, and every error probability of a bound, is rounded so that it is at least as large as in real arithmetic
(`statistics.rounding`). Binomial tails are incomplete beta functions of the smaller of two complementary probabilities.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy import special

from covassay.reference.errors import InvalidInput
from covassay.verification.statistics.rounding import GUARD, at_least, rounded_up

LARGEST_POWER = 700.0  # larger exponents are replaced by this one, because e^710 overflows


@dataclass(frozen=True)
class EventCounts:
    """The counts of an event, which are `first` of `first_n` draws from one law, and `second` of `second_n` draws from
    another law.

    Bounds on the ratio of the probabilities are valid only if `first_n` and `second_n` were drawn from Poisson(`mean`).
    """

    first: int
    second: int
    first_n: int
    second_n: int
    mean: float

    def __post_init__(self) -> None:
        if not (0 <= self.first <= self.first_n and 0 <= self.second <= self.second_n):
            raise InvalidInput(f"{self}: counts must lie between 0 and the number of draws")


def poisson_size(mean: float, rng: np.random.Generator) -> int:
    """Return a number drawn from Poisson(mean), which is the number of samples to take from one of two laws."""
    return int(rng.poisson(mean))


def _lower(k: int, n: int, error: float) -> float:
    """Return the Clopper–Pearson lower bound on p, given k successes in n draws. The computed bound is decreased until
    P(Bin(n, bound) ≥ k), rounded up, is at most `error`.
    """
    if k == 0:
        return 0.0
    bound, step = float(np.nan_to_num(special.betaincinv(k, n - k + 1, error), nan=0.0)), GUARD
    while bound > 0 and rounded_up(float(special.betainc(k, n - k + 1, bound)), n) > error:
        bound, step = max(0.0, bound * (1 - step)), 2 * step
    return bound


def _upper(k: int, n: int, error: float) -> float:
    """Return the Clopper–Pearson upper bound on p, given k successes in n draws. The computed bound is increased until
    P(Bin(n, bound) ≤ k), rounded up, is at most `error`.
    """
    if k == n:
        return 1.0
    bound, step = float(np.nan_to_num(special.betainccinv(k + 1, n - k, error), nan=1.0)), GUARD
    while bound < 1 and rounded_up(float(special.betaincc(k + 1, n - k, bound)), n) > error:
        bound, step = min(1.0, bound * (1 + step)), 2 * step
    return bound


def clopper_pearson(k: int, n: int, error: float) -> tuple[float, float]:
    """Return a lower and an upper bound on p, given k successes in n draws; each bound is false with probability at
    most `error`.
    """
    return _lower(k, n, error), _upper(k, n, error)


def log_ratio_lower(counts: EventCounts, confidence: float) -> float:
    """Return a lower bound on ln(p/p') that is valid with probability at least `confidence`; return −inf if the first
    count is 0.
    """
    share = _lower(counts.first, counts.first + counts.second, 1 - confidence)
    if share <= 0:
        return -math.inf
    return math.log(share) - math.log1p(-share) if share < 1 else math.inf


def ratio_p_value(counts: EventCounts, log_ratio: float) -> float:
    """Return the p-value of the null hypothesis p ≤ e^{log_ratio} p', which is an exact binomial tail given K + K',
    rounded up.
    """
    # Given K + K', the count K is binomial with success probability odds/(1 + odds) or less. The last argument of
    # `at_least` is the probability of failure, 1/(1 + odds), which floats represent precisely even if odds is large.
    odds = math.exp(min(log_ratio, LARGEST_POWER))
    return at_least(counts.first, counts.first + counts.second, 1 / (1 + odds))


def probability_bounds(counts: EventCounts, error: float) -> tuple[float, float]:
    """Return a lower bound on p and an upper bound on p', both true with probability at least 1 − error.

    The two bounds are Clopper–Pearson bounds with half of the error each. The two bounds hold conditionally on the
    sample sizes, whatever the law of the sizes is.
    """
    return _lower(counts.first, counts.first_n, error / 2), _upper(counts.second, counts.second_n, error / 2)
