"""Test a law by tests that state their null hypothesis, their p-value, and an effect size that the test detects with
high probability.

Every p-value is exact or conservative: under the null hypothesis P(p ≤ α) ≤ α for every n and α, down to α = 1e-12 and
beyond. Every p-value is rounded up (`statistics.rounding`). No p-value of this module uses a normal approximation. The
word "detectable" refers to an effect size at which the null hypothesis is rejected at level α with probability at least
99 %, by the inequalities of Dvoretzky–Kiefer–Wolfowitz–Massart and Hoeffding.
"""

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import scipy
from scipy.special import gammainc, gammaincc, gammainccinv, gammaincinv, rel_entr, smirnov

from covassay.reference.domain import Matrix, Vector
from covassay.reference.errors import InvalidInput
from covassay.verification.statistics.curves import Curve, between, curve
from covassay.verification.statistics.laws import Placed, placed
from covassay.verification.statistics.rounding import UNIT, rounded_up
from covassay.verification.statistics.tail_probabilities import (
    binomial_at_least,
    binomial_at_most,
    hypergeometric_tails,
)

POWER = 0.99
TWO_CDFS = "distance of two CDFs"  # the field `effect` in results of the test `two_sample`
# the p-value is exact if the larger of the two samples has at most this size
LARGEST_COUNTED = 20_000
SCALE = "relative error of the noise scale"
LARGEST_SHAPE = 1e5  # up to this shape, scipy computes the tails of a Gamma law to many digits
DIVERGENCE_ROUNDING = 8 * UNIT  # the relative error of the computed divergence of two Bernoulli laws
# Smirnov's exact tail is computed for at most MOST_COUNTED values, if Massart's bound is below SMALL
MOST_COUNTED, SMALL = 1000, 0.05
CDF_ROUNDING = 1e-9  # the rounding error of a given distribution function, which is subtracted from the statistic


@dataclass(frozen=True)
class TestResult:
    """The result of one test. The field `effect` names an effect, and `detectable(α)` is a size of the effect that the
    test detects at level α.

    The field `placed` has the tail probabilities of the tested law at all values. The field `total` has the sum of the
    values, the shape of its Gamma law, and the power of the noise scale in the sum. With the fields `placed` and
    `total`, samples of several laws can be tested together. The field `curve` has the numbers for a plot that compares
    the sample with its law. The field `pooled` has sums of this sample, which can be added to those of other samples
    for one test of all samples.
    """

    __test__ = False  # this tells pytest that the class is not a test case

    null: str
    statistic: float
    p_value: float
    n: int
    effect: str
    detectable: Callable[[float], float]
    placed: Placed | None = None
    total: tuple[float, float, float] | None = None
    curve: Curve | None = None
    pooled: "Pooled | None" = None


class Pooled(Protocol):
    """Sums of one test over a block of draws. The memory for the sums of a block does not grow with the number of
    draws."""

    def plus(self, other: Any) -> Any:
        """Return the sums over this and another block of draws."""

    def result(self) -> TestResult:
        """Return the result of the test on all draws whose sums were added up."""


class NotFinite(InvalidInput):
    """Raised if a sample contains an infinity or a NaN."""


def _require_sample(values: Vector) -> Vector:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1 or len(array) < 1 or not np.isfinite(array).all():
        wrong = NotFinite if array.ndim == 1 and len(array) else InvalidInput
        raise wrong(f"values of shape {array.shape}: must be a non-empty list of finite numbers")
    return array


def band(n: int, alpha: float) -> float:
    """Return the half-width of Massart's confidence band, for which P(sup |F_n − F| > half-width) ≤ α."""
    return math.sqrt(math.log(2 / alpha) / (2 * n))


def p_value_of_distance(statistic: float, n: int, error: float = 0.0) -> float:
    """Return the p-value of Kolmogorov's statistic of n values, if the distribution function has an error of at most
    `error`.

    The p-value of Kolmogorov's statistic is Massart's bound. If Massart's bound and n are small, the p-value is instead
    twice the exact tail of Smirnov's one-sided statistic. This number is close to the exact p-value if the latter is
    below 0.02. For n = `MOST_COUNTED`, a p-value of 1e-12 from Smirnov's tail is 15 % smaller than Massart's bound.
    """
    distance = min(max(statistic - CDF_ROUNDING - error, 0.0), 1.0)
    p_value = 2 * math.exp(-2 * n * distance**2)
    if n <= MOST_COUNTED and p_value < SMALL:
        p_value = 2 * float(smirnov(n, distance))
    return rounded_up(p_value, n)


def kolmogorov_smirnov(values: Vector, cdf: Callable[[Vector], Vector], null: str) -> TestResult:
    """Test whether `values` is an independent sample of the law with distribution function `cdf`.

    The Kolmogorov–Smirnov test is conservative if the law has atoms.
    """
    x, counts = np.unique(_require_sample(values), return_counts=True)
    n = int(counts.sum())
    up_to = np.cumsum(counts) / n
    below = up_to - counts / n
    just_before = np.nextafter(x, -np.inf)  # laws with atoms need the left limit of the distribution function
    at, before = cdf(x), cdf(just_before)
    statistic = max(float((up_to - at).max()), float((before - below).max()), 0.0)
    places = placed(x, cdf, at, before)
    p_value = p_value_of_distance(statistic, n, places.error)
    return TestResult(
        null,
        statistic,
        p_value,
        n,
        "CDF distance",
        lambda alpha: band(n, alpha) + band(n, 1 - POWER),
        places.repeated(counts),
        curve=curve(x, up_to, lambda some: (places.below[some], places.above[some]), n),
    )


def two_sample(values: Vector, other: Vector, null: str) -> TestResult:
    """Test whether two samples come from one law, by the two-sample Kolmogorov–Smirnov statistic D.

    For samples of one size n the p-value is e·exp(−n D²), which Wei and Dudley (2012) prove to be a bound for any n.
    For samples of different sizes, the p-value is exact (by counting lattice paths) if neither sample has more than
    `LARGEST_COUNTED` values. If a sample has more values, or scipy cannot count the paths, the p-value is a bound by
    Massart's inequality for both samples. If some values are equal, the two-sample test is conservative.
    """
    x, y = _require_sample(values), _require_sample(other)
    n, m = len(x), len(y)
    both = np.concatenate([x, y])
    shares = (np.searchsorted(np.sort(z), both, "right") / len(z) for z in (x, y))
    statistic = float(np.abs(np.subtract(*shares)).max())
    p_value = rounded_up(math.exp(1 - n * statistic**2) if n == m else _of_different_sizes(x, y, statistic), n + m)
    return TestResult(null, statistic, p_value, n, TWO_CDFS, lambda alpha: detected(n, m, alpha), curve=between(x, y))


def detected(n: int, m: int, alpha: float) -> float:
    """Return the distance of two laws that `two_sample` detects at the level `alpha` with n and m draws."""
    needed = math.sqrt((1 - math.log(alpha)) / n) if n == m else band(n, alpha / 2) + band(m, alpha / 2)
    return needed + band(n, (1 - POWER) / 2) + band(m, (1 - POWER) / 2)


def _of_different_sizes(x: Vector, y: Vector, statistic: float) -> float:
    n, m = len(x), len(y)
    # if the samples have the distance D, then x has a distance of at least share · D from the common law, or y has a
    # distance of at least (1 − share) · D from the common law
    share = math.sqrt(m) / (math.sqrt(n) + math.sqrt(m))
    bound = 2 * math.exp(-2 * n * (share * statistic) ** 2) + 2 * math.exp(-2 * m * ((1 - share) * statistic) ** 2)
    if max(n, m) > LARGEST_COUNTED:
        return bound
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # scipy must not replace the count of paths by an approximation
        try:
            return min(bound, float(scipy.stats.ks_2samp(x, y, method="exact").pvalue))
        except RuntimeWarning:
            return bound


@dataclass(frozen=True)
class Successes:
    """The count of an event of known probability in n draws; if `at_most` is set, the probability is an upper bound."""

    null: str
    successes: int
    n: int
    probability: float
    at_most: bool = False

    def plus(self, other: "Successes") -> "Successes":
        """Return the counts over this and another block of draws."""
        return replace(self, successes=self.successes + other.successes, n=self.n + other.n)

    def result(self) -> TestResult:
        """Test the probability of the event by an exact two-sided test, whose p-value is twice the smaller tail.

        If the probability is an upper bound, only large counts are evidence.
        """
        lower = float(binomial_at_most(self.successes, self.n, self.probability))
        upper = float(binomial_at_least(self.successes, self.n, self.probability))
        p_value = upper if self.at_most else 2 * min(lower, upper)
        return TestResult(
            self.null,
            self.successes / self.n,
            rounded_up(p_value, self.n),
            self.n,
            "probability off by",
            lambda alpha: band(self.n, alpha) + math.sqrt(math.log(1 / (1 - POWER)) / (2 * self.n)),
            pooled=self,
        )


def binomial(successes: int, n: int, probability: float, null: str) -> TestResult:
    """Test whether an event has the given probability; the test is exact and two-sided (twice the smaller tail)."""
    if not 0 <= successes <= n or n < 1:
        raise InvalidInput(f"successes = {successes}, n = {n}: must satisfy 0 <= successes <= n, n >= 1")
    return Successes(null, successes, n, probability).result()


@dataclass(frozen=True)
class Quadrants:
    """The number of points, over blocks of draws, that lie above the median of their block in both quantities.

    A point is the pair of the first and the second quantity of one draw. The field `trials` is the number of points
    whose second quantity is above its median. The margins of a block are the numbers of points whose first quantity is
    above its median, and whose second quantity is. Given the margins, the number of points above both medians is
    hypergeometric, and the first quantity of each of the `trials` points is above its median with a known probability.
    The field `mean` is the sum of these probabilities. Let K be the number of points above both medians. By
    Hoeffding (1963, Theorem 4), E exp(tK) is at most as large as it would be for independent points, so the Chernoff
    bound for independent points holds for the sum over blocks.
    """

    null: str
    both: int
    trials: int
    mean: float
    n: int

    def plus(self, other: "Quadrants") -> "Quadrants":
        """Return the numbers of points over this and another block of draws."""
        return replace(
            self, both=self.both + other.both, trials=self.trials + other.trials, mean=self.mean + other.mean,
            n=self.n + other.n,
        )  # fmt: skip

    def result(self) -> TestResult:
        """Test independence by a two-sided test with the Chernoff bound."""
        share, expected = self.both / max(self.trials, 1), self.mean / max(self.trials, 1)
        divergence = float(rel_entr(share, expected) + rel_entr(1 - share, 1 - expected)) - DIVERGENCE_ROUNDING
        return TestResult(
            self.null,
            4 * self.both / self.n - 1,
            rounded_up(2 * math.exp(-self.trials * max(divergence, 0.0)), self.n),
            self.n,
            "quadrant probability off by",
            lambda alpha: band(self.n, alpha) + band(self.n, 1 - POWER),
            pooled=self,
        )


def independence(first: Vector, second: Vector, null: str) -> TestResult:
    """Test whether two continuous quantities are independent, by Fisher's exact test of the quadrants around the
    medians.

    Given the margins of the table, the number of points above both medians is exactly hypergeometric. The test of
    independence detects a dependence that moves mass between the quadrants, but not every dependence.
    """
    x, y = _require_sample(first), _require_sample(second)
    n = len(x)
    high_x, high_y = x > np.median(x), y > np.median(y)
    both, a, b = int((high_x & high_y).sum()), int(high_x.sum()), int(high_y.sum())
    tail = min(hypergeometric_tails(both, n, a, b))
    pooled = Quadrants(null, both, b, a * b / n, n)
    return replace(pooled.result(), p_value=rounded_up(2 * tail, n))


def gamma_total(values: Vector, shape: float, null: str, power: float = 1.0) -> TestResult:
    """Test whether `values` is an independent sample of Gamma(shape, 1), by its sum, which then has the law Gamma(n ·
    shape, 1).

    The test of the total is exact and two-sided. The test of the total detects a wrong scale with fewer draws than any
    test of the whole distribution. The values are proportional to the noise scale raised to the power `power`. For
    example, half the square of a standard normal variable has the law Gamma(1/2, 1). This value is proportional to the
    square of the noise scale, so `power` is 2.
    """
    x = _require_sample(values)
    return gamma_sum(float(x.sum()), len(x) * shape, len(x), null, power)


def gamma_sum(total: float, shapes: float, n: int, null: str, power: float = 1.0) -> TestResult:
    """Test whether a sum of n values has the law Gamma(shapes, 1); the test is two-sided, and exact up to
    `LARGEST_SHAPE`.
    """
    p_value = rounded_up(2 * _smaller_gamma_tail(total, shapes), max(n, round(shapes)))

    def detectable(alpha: float) -> float:
        above = gammainccinv(shapes, alpha / 2) / gammaincinv(shapes, 1 - POWER)
        below = gammaincinv(shapes, alpha / 2) / gammainccinv(shapes, 1 - POWER)
        return float(max(above ** (1 / power) - 1, 1 - below ** (1 / power)))

    scale = (total / shapes) ** (1 / power)
    return TestResult(null, scale, p_value, n, SCALE, detectable, total=(total, shapes, power))


def _smaller_gamma_tail(x: float, a: float) -> float:
    """Return the smaller tail of Gamma(a, 1) at x, or a bound on it for large a, because scipy ends its series too
    early for large a.

    The lower tail is P(X ≤ x) = xᵃe⁻ˣ/Γ(a + 1) · (1 + x/(a + 1) + x²/((a + 1)(a + 2)) + …), which a geometric series
    bounds. The upper tail P(X ≥ x) is at most xᵃe⁻ˣ/Γ(a) · 1/(x − a + 1), for x > a − 1. By Stirling's inequality Γ(a +
    1) ≥ √(2πa) (a/e)ᵃ. At z standard deviations from the mean, both bounds are larger than the tail by a relative error
    of about 1/z².
    """
    if a <= LARGEST_SHAPE:
        return min(float(gammainc(a, x)), float(gammaincc(a, x))) if x > 0 else 0.0
    if x <= 0:
        return 0.0
    change = (x - a) / a
    height = math.exp(a * (math.log1p(change) - change)) / math.sqrt(2 * math.pi * a)
    return min(1.0, height * ((a + 1) / (a + 1 - x) if x <= a else a / (x - a + 1)))


def gamma_totals(values: Matrix, shape: float, null: str, power: float = 1.0) -> TestResult:
    """Test whether every column of `values` is a sample of Gamma(shape, 1), by the smallest p-value of their sums.

    The smallest p-value is multiplied by the number of columns, by Bonferroni's inequality.
    """
    results = [gamma_total(column, shape, null, power) for column in values.T]
    least = min(results, key=lambda result: result.p_value)
    return replace(
        least,
        p_value=min(1.0, len(results) * least.p_value),
        effect="relative error of the noise scale of an entry",
        detectable=lambda alpha: least.detectable(alpha / len(results)),
        total=None,
    )


def cosines(angles: Vector, null: str) -> TestResult:
    """Test whether angles are independent and uniform on the circle, by the sum S of their cosines.

    A uniform angle U has E exp(t cos U) = I₀(t) ≤ exp(t²/4), so |S| ≥ s has probability at most 2 exp(−s²/n). For
    example, U = 2 arctan X is uniform if X is a standard Cauchy variable. Then −cos U is the derivative of the log
    density of X with respect to the scale of X, at scale 1. For many draws, no statistic therefore detects a small
    change of this scale better than S. If the scale is multiplied by r, the mean of cos U becomes (1 − r)/(1 + r).
    """
    x = _require_sample(angles)
    mean, n = float(np.cos(x).mean()), len(x)

    def detectable(alpha: float) -> float:
        return math.sqrt(math.log(2 / alpha) / n) + math.sqrt(-math.log(1 - POWER) / n)

    p_value = rounded_up(2 * math.exp(-n * mean**2), n)
    return TestResult(null, mean, p_value, n, "mean cosine off by", detectable)


BARE = 2.0**-36  # noise below this multiple of its scale counts as a rounding error
# the probability that noise is below `BARE` times its scale is at most this number. The bound also holds for noise in
# float32, although neighbouring numbers in float32 have a relative distance of up to 2⁻²³
CHANCE_OF_BARE = 2.0**-16


def bare_draws(noise: Matrix) -> TestResult:
    """Test whether every draw contains noise. The array `noise` of shape (n, k) has independent entries, each divided
    by its scale.
    """
    entries = noise.reshape(len(noise), -1)
    bare = int((np.abs(entries) <= BARE).all(axis=1).sum())
    chance = CHANCE_OF_BARE ** min(entries.shape[1], 4)
    return Successes("no draw is without noise", bare, len(noise), chance, at_most=True).result()


@dataclass(frozen=True)
class Interval:
    """A confidence interval that contains the true value with probability at least `confidence`."""

    lower: float
    upper: float
    confidence: float

    def __contains__(self, value: float) -> bool:
        return self.lower <= value <= self.upper


def gamma_scale(values: Vector, shape: float, confidence: float) -> Interval:
    """Return an exact confidence interval for ρ from an independent sample of Gamma(shape, ρ), by the law of its
    sum.
    """
    x = _require_sample(values)
    tail = (1 - confidence) / 2
    total, shapes = float(x.sum()), len(x) * shape
    return Interval(total / float(gammainccinv(shapes, tail)), total / float(gammaincinv(shapes, tail)), confidence)
