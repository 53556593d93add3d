"""Bounds on the probabilities of one event under two laws, and on their ratio.

The ratio has an exact interval if the sample sizes are themselves Poisson: with N ~ Poisson(m) draws a side, drawn
ahead of the data, the counts K, K' inside the event are independent Poisson variables with means m p and m p', and
given K + K' the first is binomial with success probability p/(p + p'). One Clopper–Pearson interval for that
proportion is an exact interval for p/p'. It needs about half the draws of two separate intervals.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from covassay.reference.errors import InvalidInput


@dataclass(frozen=True)
class EventCounts:
    """An event seen `first` times in `first_n` draws from one law, `second` times in `second_n` from another.

    For the ratio, `first_n` and `second_n` must have been drawn from one Poisson law with mean `mean`.
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
    """The number of draws on one side."""
    return int(rng.poisson(mean))


def log_ratio_lower(counts: EventCounts, confidence: float) -> float:
    """Lower bound on ln(p/p'), valid with probability at least `confidence`; −inf if the event never happened."""
    total = counts.first + counts.second
    if counts.first == 0:
        return -math.inf
    share = float(stats.beta.ppf(1 - confidence, counts.first, total - counts.first + 1))
    return math.log(share) - math.log1p(-share) if share < 1 else math.inf


def ratio_p_value(counts: EventCounts, log_ratio: float) -> float:
    """p-value of the null p ≤ e^{log_ratio} p': the binomial tail, exact given K + K'."""
    share = 1 / (1 + math.exp(-log_ratio))
    return float(stats.binom.sf(counts.first - 1, counts.first + counts.second, share))


def probability_bounds(counts: EventCounts, error: float) -> tuple[float, float]:
    """A lower bound on p and an upper bound on p', both true with probability at least 1 − error.

    Two Clopper–Pearson bounds with half the error each; conditional on the sample sizes, whatever their law.
    """
    lower, _ = proportion_confint(counts.first, max(counts.first_n, 1), alpha=error, method="beta")
    _, upper = proportion_confint(counts.second, max(counts.second_n, 1), alpha=error, method="beta")
    return (float(lower) if counts.first_n else 0.0), (float(upper) if counts.second_n else 1.0)
