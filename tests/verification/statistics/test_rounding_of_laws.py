"""Test the p-values of tests of laws against results with 80 digits. The p-values and bounds must never be too small,
and hardly too large.
"""

import math
from collections.abc import Callable, Iterator

import mpmath
import numpy as np
import pytest
from scipy import stats

from covassay.reference.domain import Vector
from covassay.verification.statistics import rounding
from covassay.verification.statistics.dependence import NORMAL_TAIL, _p_value, _sums
from covassay.verification.statistics.pooling import PARTS, Places
from covassay.verification.statistics.rounding import SMALLEST_TAIL, UNIT, at_least
from covassay.verification.statistics.tails import beyond_p_values, furthest
from covassay.verification.statistics.tests import (
    CDF_ROUNDING,
    LARGEST_SHAPE,
    MOST_COUNTED,
    SMALL,
    Quadrants,
    Successes,
    binomial,
    cosines,
    gamma_sum,
    independence,
    p_value_of_distance,
    two_sample,
)

WIDER = 1e-7  # the largest relative amount by which a p-value may exceed its exact value
mp = mpmath.mp.clone()
mp.dps = 80
Compared = Iterator[tuple[float, mpmath.mpf]]  # pairs of a computed and an exact p-value
DEVIATIONS = (0.0, 0.7, 3.0, 6.5, 9.0, 15.0)


def binomial_at_most(k: int, n: int, p: mpmath.mpf) -> mpmath.mpf:
    """Return P(Bin(n, p) ≤ k), summed from its largest terms if k is below the mean, and otherwise from the other
    tail.
    """
    if k > n * p:
        return 1 - (binomial_at_most(n - k - 1, n, 1 - p) if k < n else 0)
    term = mp.exp(mp.loggamma(n + 1) - mp.loggamma(k + 1) - mp.loggamma(n - k + 1)) * p**k * (1 - p) ** (n - k)
    total = mp.mpf(0)
    while k >= 0 and term > total * mp.mpf(10) ** -30:
        total += term
        term *= k * (1 - p) / ((n - k + 1) * p)
        k -= 1
    return total


def of_counts() -> Compared:
    for n, q in ((20, 0.5), (2000, 0.1), (10**5, 1e-3), (10**6, 0.5), (10**8, 2.0**-16)):
        for z in (-6.5, -3.0, 0.0, 3.0, 6.5, 15.0):
            k = min(n, max(0, round(n * q + z * math.sqrt(n * q * (1 - q)))))
            below = binomial_at_most(k, n, mp.mpf(q))
            above = 1 - binomial_at_most(k - 1, n, mp.mpf(q)) if k else mp.mpf(1)
            yield binomial(k, n, q, "").p_value, 2 * min(below, above)
            yield float(beyond_p_values(np.array([k]), n, np.array([q]), 0.0)[0]), 2 * min(below, above)
            yield Successes("", k, n, q, at_most=True).result().p_value, above
            if q in (0.5, 2.0**-16):  # only for these values of q is 1 − q computed without a rounding error
                yield at_least(k, n, 1 - q), above


def smirnov(n: int, d: mpmath.mpf) -> mpmath.mpf:
    """Return the exact tail probability of the one-sided Kolmogorov–Smirnov statistic of n values (Birnbaum and Tingey
    1951).
    """
    found = mp.mpf(0)
    for k in range(int(mp.floor(n * (1 - d))) + 1):
        a = d + mp.mpf(k) / n
        found += mp.binomial(n, k) * a ** (k - 1) * (1 - a) ** (n - k)
    return d * found


def of_distances() -> Compared:
    for n in (1, 5, 12, 141, 600, MOST_COUNTED, MOST_COUNTED + 1):
        for exponent in (0.3, 2.0, 10.0, 25.0, 60.0, 300.0):
            distance = math.sqrt(exponent / 2 / n)
            if distance < 1:
                moved = mp.mpf(distance) - mp.mpf(CDF_ROUNDING)
                exact, massart = 2 * smirnov(n, moved), 2 * mp.exp(-2 * n * moved**2)
                assert exact <= massart
                yield p_value_of_distance(distance, n), exact if n <= MOST_COUNTED and massart < SMALL else massart


def of_equal_samples() -> Compared:
    for n in (20, 200, 5000):
        for k in {1, n // 20, n // 10, n // 3}:
            first, second = np.arange(n), np.arange(n) + k - 0.5  # the distance of the two samples is k/n
            yield two_sample(first, second, "").p_value, mp.exp(1 - mp.mpf(k) ** 2 / n)


def beyond(n: int, m: int, apart: int) -> mpmath.mpf:
    """Return the probability that the distribution functions of two samples have a distance of at least apart/lcm(n,
    m). The samples have n and m values and the same law, so that all orderings of the n + m values are equally likely.
    """
    a, b = m // math.gcd(n, m), n // math.gcd(n, m)
    row = [0] * (m + 1)
    for i in range(n + 1):
        for j in range(m + 1):
            ways = (row[j] if i else 0) + (row[j - 1] if j else 0) if i or j else 1
            row[j] = ways if abs(i * a - j * b) < apart else 0
    return 1 - mp.mpf(row[m]) / mp.binomial(n + m, n)


def of_other_samples() -> Compared:
    for n, m in ((20, 200), (30, 47), (40, 400)):
        for shift in (0.02, 0.2, 0.5, 0.8):
            first, second = (np.arange(n) + 0.5) / n + shift, (np.arange(m) + 0.25) / m
            result = two_sample(first, second, "")
            yield result.p_value, beyond(n, m, round(result.statistic * math.lcm(n, m)))


def hypergeometric(both: int, a: int, n: int) -> mpmath.mpf:
    """Return twice the smaller tail of the number of common elements of two random sets of size a among n elements."""
    terms = {k: mp.binomial(a, k) * mp.binomial(n - a, a - k) for k in range(max(0, 2 * a - n), a + 1)}
    tails = (sum(term for k, term in terms.items() if side(k)) for side in (lambda k: k <= both, lambda k: k >= both))
    return 2 * min(tails) / mp.binomial(n, a)


def of_quadrants() -> Compared:
    for n in (21, 200, 1000):
        for z in DEVIATIONS:
            both = min(n // 2, round(n / 4 + z * math.sqrt(n) / 4))
            a = n // 2
            # Of n points, a points have a high first value, and `both` of these a points also have a high second value.
            high = np.arange(n) < a
            other = np.concatenate([np.arange(a) < both, np.arange(n - a) < a - both])
            spread = np.linspace(0, 0.1, n)
            result = independence(high + spread, other + spread, "")
            yield result.p_value, hypergeometric(both, a, n)
    for trials in (100, 10**5, 5 * 10**7):
        for z in DEVIATIONS[1:]:
            both, mean = min(trials - 1, round(trials / 2 + z * math.sqrt(trials) / 2)), trials / 2
            p, q = mp.mpf(both) / trials, mp.mpf(1) / 2
            divergence = p * mp.log(p / q) + (1 - p) * mp.log((1 - p) / (1 - q))
            yield Quadrants("", both, trials, mean, 2 * trials).result().p_value, 2 * mp.exp(-trials * divergence)


def lower_gamma(a: mpmath.mpf, x: mpmath.mpf) -> mpmath.mpf:
    term, total, k = mp.mpf(1), mp.mpf(0), 0
    while term > total * mp.mpf(10) ** -75:
        total += term
        k += 1
        term *= x / (a + k)
    return total * mp.exp(a * mp.log(x) - x - mp.loggamma(a + 1))


def of_totals() -> Compared:
    for shapes in (0.5, 30.0, 5000.0, LARGEST_SHAPE):
        for z in (-6.5, -3.0, 0.0, 3.0, 6.5, 9.0):
            total = shapes + z * math.sqrt(shapes)
            if total > 0:
                below = lower_gamma(mp.mpf(shapes), mp.mpf(total))
                yield gamma_sum(total, shapes, round(shapes) or 1, "").p_value, 2 * min(below, 1 - below)


@pytest.mark.thorough
def test_totals_of_large_shape_have_a_bound() -> None:
    """The test fails if the p-value uses scipy's tail of the Gamma law. The tail in scipy is too small, by a relative
    error of 2e-7 at shape 10⁶ and of a quarter at shape 10⁸.
    """
    shape = 10.0**6
    for z in (-12.0, -6.5, -3.0, 3.0, 6.5, 12.0):
        total = shape + z * math.sqrt(shape)
        below = lower_gamma(mp.mpf(shape), mp.mpf(total))
        exact = 2 * min(below, 1 - below)
        assert exact <= gamma_sum(total, shape, 1, "").p_value <= exact * (1 + 1.1 / z**2)
    assert gamma_sum(shape, shape, 1, "").p_value == 1.0
    total = shape - 6.5 * math.sqrt(shape)
    assert float(stats.gamma.cdf(total, shape)) < lower_gamma(mp.mpf(shape), mp.mpf(total)) * (1 - 1e-7)


def of_powers_of_e() -> Compared:
    rng = np.random.default_rng(1)
    for shift in (0.0, 0.2, 1.0):
        angles = rng.normal(0, 3 - 2 * shift, size=400)
        mean = mp.fsum(mp.cos(mp.mpf(angle)) for angle in angles) / 400
        yield cosines(angles, "").p_value, 2 * mp.exp(-400 * mean**2)
    for n in (100_000, 10**8):
        for z in (1.5, 4.0, 12.0):
            first = n // PARTS + round(z * math.sqrt(n) / 2)
            inside = np.full(PARTS, n // PARTS)
            inside[0], inside[-1] = first, 2 * (n // PARTS) - first
            nothing = np.zeros(0)
            result = Places("", n, inside, nothing, (), np.zeros((0, 0), dtype=np.int64), 1.0, 1e-5).result()
            distance = mp.mpf(first) / n - mp.mpf(1) / PARTS - mp.mpf(1e-5) - mp.mpf(CDF_ROUNDING)
            yield result.p_value, 2 * mp.exp(-2 * n * max(distance, 0) ** 2)


def of_signs() -> Compared:
    for z in (0.0, 1.0, 6.5, 12.0, 30.0):
        for comparisons in (1, 500):
            exact = 2 * mp.mpf(NORMAL_TAIL) * comparisons * mp.erfc(mp.mpf(z) / mp.sqrt(2)) / 2
            yield _p_value(z, comparisons, 2000), exact


def of_furthest() -> Compared:
    for extreme in (1e-250, 1e-17, 1e-3):
        for values in (1, 3000, 10**8):
            yield furthest(extreme, values, values, "").p_value, values * mp.mpf(extreme)


FORMULAS: dict[str, Callable[[], Compared]] = {
    "counts": of_counts, "distances": of_distances, "equal samples": of_equal_samples, "samples": of_other_samples,
    "quadrants": of_quadrants, "totals": of_totals, "powers of e": of_powers_of_e, "signs": of_signs,
    "furthest": of_furthest,
}  # fmt: skip


@pytest.mark.thorough
@pytest.mark.parametrize("name", FORMULAS)
def test_p_values_of_laws_are_rounded_up_and_hardly_larger(name: str) -> None:
    compared = list(FORMULAS[name]())
    assert sum(0 < exact < 1 for _, exact in compared) >= 3
    for found, exact in compared:
        assert min(exact, mp.mpf(1)) <= found <= min(1.0, max(SMALLEST_TAIL, exact * (1 + WIDER)))


@pytest.mark.parametrize("name", FORMULAS)
def test_without_the_guard_some_are_too_small(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test fails if the comparison accepts p-values that are too small by a relative error of 1e-8."""
    monkeypatch.setattr(rounding, "GUARD", -1e-8)
    assert any(found < min(exact, mp.mpf(1)) for found, exact in FORMULAS[name]())


def test_sums_of_products_are_off_by_less_than_is_allowed_for() -> None:
    rng = np.random.default_rng(2)
    for n in (100, 4000):
        first, second = rng.normal(size=(n, 1)) * 10.0 ** rng.integers(-8, 8, (n, 1)), rng.normal(size=(n, 1))
        found = _sums(first, second, np.ones((1, 1), dtype=bool), "").z[0, 0]
        columns: list[tuple[Vector, Vector]] = [(first[:, 0], second[:, 0])]
        for one, two in columns:
            terms = [mp.mpf(a) * mp.mpf(b) for a, b in zip(one, two, strict=True)]
            exact = mp.fsum(terms) / mp.sqrt(mp.fsum(term**2 for term in terms))
            assert abs(mp.mpf(found) - exact) <= 4 * UNIT * n**1.5
