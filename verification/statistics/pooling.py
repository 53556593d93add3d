"""Test a sample that arrives in blocks, by sums whose memory does not depend on the number of draws.

A test on one block stores what can be added up in one of three fields of its result. The field `placed` has the tail
probabilities of the tested law at all values of the block. From these probabilities, this module counts the values
beyond exact quantiles, up to the far tails, and the values in parts of equal probability. The field `total` has the sum
of the values. This sum is a sum of independent Gamma variables with one scale, so the sum over all blocks is a Gamma
variable too. The field `pooled` has other sums. If the fields `placed`, `total` and `pooled` of a result are all None,
the blocks are not tested together by this test.

distance : the largest distance of the distribution functions at the ends of `PARTS` equal parts. The distance is at
    most Kolmogorov's distance, so Massart's inequality gives a p-value for every number of values.
tails : the exact tests of the binomial counts of `statistics.tails`.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from covassay.reference.domain import Vector
from covassay.verification.statistics.laws import Placed
from covassay.verification.statistics.rounding import rounded_up
from covassay.verification.statistics.tails import CUT, beyond_p_values, missing_tail, seen_beyond
from covassay.verification.statistics.tests import CDF_ROUNDING, POWER, Pooled, TestResult, band, gamma_sum

PARTS = 1000  # the number of parts of equal probability in which values are counted
Counts = NDArray[np.int64]


@dataclass(frozen=True)
class Places:
    """Counts of n values: in each of `PARTS` parts of equal probability, and beyond the quantiles with the tail
    probabilities in `tried`.
    """

    null: str
    n: int
    inside: Counts
    tried: Vector
    regions: tuple[str, ...]
    beyond: Counts  # shape (regions, quantiles)
    extreme: float
    error: float

    def plus(self, other: "Places") -> "Places":
        """Return the counts over this and another block of draws."""
        return replace(
            self, n=self.n + other.n, inside=self.inside + other.inside, beyond=self.beyond + other.beyond,
            extreme=min(self.extreme, other.extreme), error=max(self.error, other.error),
        )  # fmt: skip

    def result(self) -> TestResult:
        """Test whether the sample has its law, by the distance of the distribution functions."""
        apart = np.abs(np.cumsum(self.inside) / self.n - np.arange(1, PARTS + 1) / PARTS).max()
        distance = max(0.0, float(apart) - self.error - CDF_ROUNDING)
        return TestResult(
            self.null,
            float(apart),
            rounded_up(2 * math.exp(-2 * self.n * distance**2), self.n),
            self.n,
            "CDF distance",
            lambda alpha: band(self.n, alpha) + band(self.n, 1 - POWER) + self.error + 1 / PARTS,
        )

    def tails(self) -> TestResult:
        """Test the numbers of values beyond all quantiles, with Bonferroni's inequality."""
        p_values = np.array([beyond_p_values(seen, self.n, self.tried, self.error) for seen in self.beyond])
        i, j = divmod(int(p_values.argmin()), len(self.tried))
        level, seen, tests = float(self.tried[j]), int(self.beyond[i, j]), p_values.size
        return TestResult(
            "the share of values beyond every quantile is the share that the law predicts; largest deviation: "
            f"{seen} of {self.n} values lie in {self.regions[i]} of probability {level:g}",
            seen / self.n,
            min(1.0, tests * float(p_values.min())),
            self.n,
            CUT,
            lambda alpha: missing_tail(self.n, self.error, tests, alpha),
        )


@dataclass(frozen=True)
class Total:
    """The sum of n values, which has the law Gamma(shapes, 1) if the noise scale is right; the docstring of
    `gamma_total` explains `power`.
    """

    null: str
    total: float
    shapes: float
    power: float
    n: int

    def plus(self, other: "Total") -> "Total":
        """Return the sums over this and another block of draws."""
        return replace(
            self, total=self.total + other.total, shapes=self.shapes + other.shapes, n=self.n + other.n
        )  # fmt: skip

    def result(self) -> TestResult:
        """Test the sum of the draws by an exact two-sided test of the sum's known law."""
        return gamma_sum(self.total, self.shapes, self.n, self.null, self.power)


def _of_places(result: TestResult, sample: Placed, tried: Vector) -> Places:
    parts = np.clip((sample.uniform * PARTS).astype(np.int64), 0, PARTS - 1)
    seen = seen_beyond(sample, tried)
    return Places(
        result.null, len(sample.below), np.bincount(parts, minlength=PARTS).astype(np.int64), tried, tuple(seen),
        np.array(list(seen.values())), sample.extreme, sample.error,
    )  # fmt: skip


def has_sums(result: TestResult) -> bool:
    """Return whether the result of a test can be pooled over blocks; also return True if the statistic of the test is
    NaN.
    """
    return any(part is not None for part in (result.placed, result.total, result.pooled)) or math.isnan(
        result.statistic
    )


def pooled(result: TestResult, tried: Vector, block: int) -> Pooled | None:
    """Return the sums of a test on one block that can be pooled over blocks, or None if the test has no such sums.

    Values are counted beyond several quantiles, whose tail probabilities are given by the argument `tried`.
    """
    if result.placed is not None:
        return _of_places(result, replace(result.placed, block=block), tried)
    if result.total is not None:
        total, shapes, power = result.total
        return Total(result.null, total, shapes, power, result.n)
    return result.pooled
