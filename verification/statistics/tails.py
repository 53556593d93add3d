"""Test the tails of a law by the number of values beyond its quantiles, and by the most extreme value.

Kolmogorov's statistic hardly changes if one value in a hundred is wrong. The number of values beyond a quantile is
binomial with a known probability, so exact counts detect a truncated, heavier or lighter tail. A quantile is only
tried if at least `EXPECTED` values are expected beyond it. With fewer expected
values, even an empty tail would not be significant. Bonferroni's inequality combines all p-values of one sample.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from covassay.reference.domain import Vector
from covassay.verification.statistics.laws import Placed
from covassay.verification.statistics.rounding import rounded_up
from covassay.verification.statistics.tail_probabilities import binomial_at_least, binomial_at_most
from covassay.verification.statistics.tests import POWER, TestResult

EXPECTED = 10  # beyond every quantile that is tried, at least this many values are expected
STEPS = 1.0, 0.5, 0.2  # the tried tail probabilities are these numbers times powers of ten, if at most 1/2
CUT = "missing tail of probability"
RARE = "share of draws with a value far outside the law"


def levels(n: int) -> Vector:
    """Return the tail probabilities that n values can estimate: 1/2, 1/5, 1/10, …, down to 10/n."""
    exponents = range(int(math.log10(max(n, 1))) + 1)
    tried = sorted((step * 10.0**-k for k in exponents for step in STEPS), reverse=True)
    return np.array([level for level in tried if level == 0.5 or EXPECTED / n <= level < 0.5])


def _regions(sample: Placed) -> dict[str, Vector]:
    """Return, for each region such as "the lower tail", the level of every value of the sample. The level of a value is
    the probability, under the law, of the smallest region of this form that contains the value. For example, the level
    of x for the lower tail is P(X ≤ x). Under the law, a level is therefore at most q with probability q.
    """
    u = sample.uniform
    above = np.where(u == sample.below, sample.above, 1 - u)
    regions = {"the lower tail": u, "the upper tail": above, "the two tails": 2 * np.minimum(u, above)}
    if sample.symmetric:
        regions["the middle"] = np.abs(u - above)
    return regions


def seen_beyond(sample: Placed, tried: Vector) -> dict[str, NDArray[np.int64]]:
    """Return, for each region of extreme values, the number of values beyond the quantiles with the tail probabilities
    in `tried`.
    """
    return {
        name: np.array([np.count_nonzero(places <= level) for level in tried], dtype=np.int64)
        for name, places in _regions(sample).items()
    }


def beyond_p_values(seen: NDArray[np.int64], n: int, tried: Vector, error: float) -> Vector:
    """Return the exact two-sided p-value of every count of values beyond a quantile, for n values in total."""
    fewer: Vector = binomial_at_most(seen, n, np.maximum(tried - 2 * error, 0))
    more: Vector = binomial_at_least(seen, n, np.minimum(tried + 2 * error, 1))
    return rounded_up(2 * np.minimum(fewer, more), n)


def _counts(sample: Placed) -> tuple[Vector, list[tuple[str, float, int, int]]]:
    """Return a p-value and a description for every region and every tried quantile. The description has the region, the
    tail probability of the quantile, the number of values beyond the quantile, and the number of all values.
    """
    n = len(sample.below)
    tried = levels(n)
    p_values, counts = [], []
    for name, seen in seen_beyond(sample, tried).items():
        p_values.append(beyond_p_values(seen, n, tried, sample.error))
        counts += [(name, float(q), int(k), n) for q, k in zip(tried, seen, strict=True)]
    return np.concatenate(p_values), counts


def tail_counts(samples: Sequence[tuple[str, Placed]], null: str) -> TestResult:
    """Test whether the right number of values lies beyond every quantile, for named samples."""
    found = [_counts(sample) for _, sample in samples]
    p_values = np.concatenate([p for p, _ in found])
    named = [(name, *count) for (name, _), (_, counts) in zip(samples, found, strict=True) for count in counts]
    tests = len(p_values)
    name, region, level, seen, n = named[int(p_values.argmin())]
    largest = max((sample for _, sample in samples), key=lambda s: len(s.below))
    return TestResult(
        f"{null}; largest deviation: of {name}, {seen} of {n} values lie in {region} of probability {level:g}",
        seen / n,
        min(1.0, tests * float(p_values.min())),
        n,
        CUT,
        lambda alpha: missing_tail(len(largest.below), largest.error, tests, alpha),
    )


def missing_tail(n: int, error: float, tests: int, alpha: float) -> float:
    """Return the smallest tried tail probability such that n values detect a missing tail of this probability. That is,
    if no value lies in the tail, the test rejects at level `alpha` after Bonferroni's correction for `tests` tests.
    """
    for level in levels(n)[::-1]:
        if 2 * tests * (1 - max(level - 2 * error, 0)) ** n <= alpha:
            return float(level)
    return 1.0


def rarest_seen(draws: int) -> float:
    """Return the smallest probability of a branch that is taken at least once in `draws` draws with 99 %
    probability.
    """
    return float(-math.expm1(math.log1p(-POWER) / draws)) if draws else 1.0


def furthest(extreme: float, values: int, draws: int, null: str) -> TestResult:
    """Test whether the most extreme of many values is plausible under its law, by P(min p ≤ m) ≤ values · m
    (Bonferroni).
    """
    p_value = rounded_up(values * extreme, values)
    return TestResult(null, extreme, p_value, draws, RARE, lambda alpha: rarest_seen(draws))
