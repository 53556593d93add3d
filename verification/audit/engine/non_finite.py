"""Handle tests whose statistic is not a finite number although every output is finite.

A target without noise gives 0/0 if a statistic divides by the size of the noise, and an output of 1e200 overflows.
Both cases have probability 0 under the tested law, so a statistic that is not finite gets the p-value 0.
"""

import math
from collections.abc import Callable

import numpy as np

from covassay.reference.domain import Matrix
from covassay.verification.statistics.tests import POWER, NotFinite, TestResult

EFFECT = "probability of an output without a finite statistic"


def finite_test(test: Callable[[Matrix], TestResult], outputs: Matrix) -> TestResult:
    """Run a test; if its statistic is not finite, the p-value of the result is 0."""
    try:
        with np.errstate(all="ignore"):
            result = test(outputs)
    except (NotFinite, np.linalg.LinAlgError):
        return not_finite(len(outputs))
    return result if math.isfinite(result.p_value) else not_finite(result.n)


def finite_estimate(estimate: Callable[[Matrix], str], outputs: Matrix) -> str:
    """Compute an estimate and return the sentence that states it, or a sentence that says why it cannot be computed."""
    try:
        with np.errstate(all="ignore"):
            return estimate(outputs)
    except (NotFinite, np.linalg.LinAlgError):
        return "no interval: it cannot be computed in finite numbers from these outputs"


def not_finite(n: int) -> TestResult:
    """Return the result of a test whose statistic is not a finite number; its p-value is 0."""
    null = "the statistic of every output is a finite number"
    return TestResult(null, math.nan, 0.0, n, EFFECT, lambda alpha: 1 - (1 - POWER) ** (1 / n))
