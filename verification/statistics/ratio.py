"""Bounds on the probabilities p and p' of one event under two laws, and on their ratio p/p'.

The ratio has an exact interval if both sample sizes are drawn from Poisson(m) before the data are seen. The counts K
and K' of the event are then independent Poisson variables with means m p and m p', and given K + K' the first is
binomial with success probability p/(p + p'). One Clopper–Pearson interval for that proportion is an exact interval for
p/p'. It needs about half as many draws as two separate intervals.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy import stats

from covassay.reference.errors import InvalidInput


@dataclass(frozen=True)
class EventCounts:
    """The counts of an event: `first` of `first_n` draws from one law, `second` of `second_n` draws from another.

    Bounds on the ratio of the probabilities need `first_n` and `second_n` to be draws from Poisson(`mean`).
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
    """Draw the number of samples to take from one of the two laws."""
    return int(rng.poisson(mean))


def log_ratio_lower(counts: EventCounts, confidence: float) -> float:
    """Lower bound on ln(p/p'), valid with probability at least `confidence`; −inf if the first count is 0."""
    total = counts.first + counts.second
    if counts.first == 0:
        return -math.inf
    share = float(stats.beta.ppf(1 - confidence, counts.first, total - counts.first + 1))
    return math.log(share) - math.log1p(-share) if share < 1 else math.inf


def ratio_p_value(counts: EventCounts, log_ratio: float) -> float:
    """p-value of the null hypothesis p ≤ e^{log_ratio} p': a binomial tail, exact given K + K'."""
    share = 1 / (1 + math.exp(-log_ratio))
    return float(stats.binom.sf(counts.first - 1, counts.first + counts.second, share))


def probability_bounds(counts: EventCounts, error: float) -> tuple[float, float]:
    """A lower bound on p and an upper bound on p', both true with probability at least 1 − error.

    They are two Clopper–Pearson bounds with half the error each. They hold given the sample sizes, whatever their law.
    """
    from statsmodels.stats.proportion import proportion_confint  # it loads pandas, so it is loaded when it is needed

    lower, _ = proportion_confint(counts.first, max(counts.first_n, 1), alpha=error, method="beta")
    _, upper = proportion_confint(counts.second, max(counts.second_n, 1), alpha=error, method="beta")
    return (float(lower) if counts.first_n else 0.0), (float(upper) if counts.second_n else 1.0)
