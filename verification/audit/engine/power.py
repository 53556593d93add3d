"""Compute the smallest privacy loss that a test of an event refutes with probability 99 %.

Let p be the share of the draws on one data set in which the tested event occurred. Suppose that the event had
probability p on the first data set, and q on the second. If q is small enough for a given p, the test would have
refuted the claim in 99 % of all runs. The privacy loss of an event with the probabilities p and q is, for instance,
ln(p/q) for pure DP. Take an event that is as likely on the first data set as the tested event, and that shows at least
the privacy loss that this module computes. In 99 % of all runs, the test of such an event refutes the claim. If a
privacy loss shows only in rarer events than the tested one, more draws are needed to detect the loss.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

from scipy.special import ndtri

from covassay.reference.privacy import ApproximateDP, Guarantee, PureDP
from covassay.verification.audit.engine.event_choice import rho_of_coins
from covassay.verification.statistics.ratio import EventCounts
from covassay.verification.statistics.tail_probabilities import poisson_quantile, poisson_upper_quantile
from covassay.verification.statistics.tests import POWER

FEWEST = 20  # the probability of an event is estimated if it occurred at least this often
CLOSE = 1.1  # the report says how many draws are needed to detect a loss of CLOSE times the claimed loss
# a loss counts as undetectable if its detection needs more than this many times the draws of the run
LARGEST_FACTOR = 1e6
LOG_RATIO = 40.0  # the largest ln(p/q) in the search
BISECTIONS = 24
# for larger means, a normal law approximates the Poisson law, whose quantiles are NaN in scipy for huge means
LARGE_MEAN = 1e8
# a test takes (counts, level) and says whether the counts refute the claim
Refutes = Callable[[EventCounts, float], bool]


def _lower(tail: float, mean: float) -> int:
    """Return the largest number that a Poisson variable falls below with probability at most `tail`."""
    return poisson_quantile(tail, mean) if mean < LARGE_MEAN else int(mean + ndtri(tail) * math.sqrt(mean))


def _upper(tail: float, mean: float) -> int:
    """Return the number that a Poisson variable exceeds with probability at most `tail`."""
    return poisson_upper_quantile(tail, mean) if mean < LARGE_MEAN else int(mean - ndtri(tail) * math.sqrt(mean) + 1)


def _last(holds: Callable[[float], bool], low: float, high: float) -> float:
    """Return the point between `low` and `high` up to which a condition holds, given that it is true at `low`."""
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def _loss(p: float, q: float, guarantee: Guarantee) -> float:
    """Return the ε or ρ that follows from two probabilities of an event."""
    if isinstance(guarantee, PureDP):
        return math.log(p / q)
    if isinstance(guarantee, ApproximateDP):
        return math.log((p - guarantee.delta) / q) if p > guarantee.delta else -math.inf
    return rho_of_coins(p, q)


@dataclass(frozen=True)
class EventTest:
    """A test of a claim at one level, by an event that has probability p on the first data set."""

    p: float
    guarantee: Guarantee
    refutes: Refutes
    level: float

    def sees(self, log_q: float, mean: float) -> bool:
        """Return whether the test refutes in 99 % of runs if the event has probability q on the second data set.

        The probability of 99 % follows from a union bound over the four counts of a test, so it also holds for
        dependent counts.
        """
        miss = (1 - POWER) / 4
        first, size = _lower(miss, mean * self.p), _upper(miss, mean)
        second, other_size = _upper(miss, mean * math.exp(log_q)), _lower(miss, mean)
        if first < 1 or second > other_size:
            return False
        return self.refutes(EventCounts(first, second, size, other_size, mean), self.level)

    def smallest_loss(self, mean: float) -> float:
        """Return the smallest loss that the test detects with `mean` draws on each data set, or infinity if the test
        detects none.
        """
        top = math.log(self.p)
        if not self.sees(top - LOG_RATIO, mean):
            return math.inf
        log_q = _last(lambda t: self.sees(t, mean), top - LOG_RATIO, top)
        return _loss(self.p, math.exp(log_q), self.guarantee)

    def factor(self, loss: float, mean: float) -> float:
        """Return the factor by which the number of draws must grow to detect this loss, or infinity if the factor is
        too large.
        """
        top = math.log(self.p)
        log_q = _last(lambda t: _loss(self.p, math.exp(t), self.guarantee) >= loss, top - LOG_RATIO, top)

        def unseen(log_factor: float) -> bool:
            return not self.sees(log_q, mean * math.exp(log_factor))

        if unseen(math.log(LARGEST_FACTOR)):
            return math.inf
        return math.exp(_last(unseen, 0.0, math.log(LARGEST_FACTOR)))
