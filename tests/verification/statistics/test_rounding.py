"""Test p-values and confidence bounds for counts against results with 60 digits. Rounding may only increase the
p-values and widen the intervals, and only slightly.
"""

import math
from fractions import Fraction
from itertools import product

import mpmath
import numpy as np
import pytest
from scipy import stats

from covassay.reference.errors import InvalidInput
from covassay.reference.privacy import ZCDP, ApproximateDP, PureDP
from covassay.verification.audit.engine.violation import excess, p_value, violates
from covassay.verification.statistics.betting import Bet, Inequality, event_bet, renyi_bet, renyi_inequality
from covassay.verification.statistics.multiplicity import holm
from covassay.verification.statistics.ratio import EventCounts, probability_bounds, ratio_p_value
from covassay.verification.statistics.rounding import SMALLEST_TAIL

WIDER = 1e-8  # the largest relative amount by which a p-value may exceed its exact value
mp = mpmath.mp.clone()
mp.dps = 60


def at_most(k: int, n: int, p: mpmath.mpf) -> mpmath.mpf:
    """Return P(Bin(n, p) ≤ k), summed from its largest terms."""
    if k >= n:
        return mp.mpf(1)
    if k > n * p:
        return 1 - at_most(n - k - 1, n, 1 - p)
    term = mp.exp(mp.loggamma(n + 1) - mp.loggamma(k + 1) - mp.loggamma(n - k + 1)) * p**k * (1 - p) ** (n - k)
    total = term
    for i in range(k, 0, -1):
        term *= i * (1 - p) / ((n - i + 1) * p)
        total += term
        if term < total * mp.mpf(10) ** -25:
            break
    return total


def counted(first: int, second: int, n: int = 0) -> EventCounts:
    size = n or max(first, second, 1)
    return EventCounts(first, second, size, size, float(size))


def extreme_counts() -> list[tuple[int, int, float]]:
    """Return two counts of events, which add up to at most about 10⁸, and ε, for many values of ε. The second count is
    0, or at most 30 standard deviations below the smallest mean that ε-DP allows.
    """
    rng = np.random.default_rng(1)
    found: list[tuple[int, int, float]] = [(k, 0, e) for k, e in product((1, 2, 900, 10**6), (1e-6, 0.5, 15.0, 30.0))]
    for epsilon in (1e-3, 0.1, 1.0, 3.0, 8.0, 15.0, 20.0):
        for exponent in np.linspace(0.3, 8.0, 12):
            n, share = int(10**exponent), 1 / (1 + math.exp(epsilon))
            fewer = rng.uniform(0, 30) * math.sqrt(n * share * (1 - share))
            second = min(n, max(0, round(n * share - fewer)))
            found.append((n - second, second, epsilon))
    return found


@pytest.mark.thorough
def test_the_p_value_of_the_ratio_is_rounded_up() -> None:
    old = worst = mp.mpf(0)
    for first, second, epsilon in extreme_counts():
        n, other = first + second, 1 / (1 + mp.exp(mp.mpf(epsilon)))
        exact, found = at_most(second, n, other), ratio_p_value(counted(first, second), epsilon)
        assert exact <= found <= max(SMALLEST_TAIL, exact * (1 + WIDER)), (first, second, epsilon)
        if exact > SMALLEST_TAIL:
            worst = max(worst, found / exact - 1)
            old = max(old, 1 - mp.mpf(float(stats.binom.sf(first - 1, n, 1 / (1 + math.exp(-epsilon))))) / exact)
    assert worst < WIDER
    # This wrong version is the tail of the first count, computed in floats without a margin for rounding errors. For
    # some counts, this wrong version gives a p-value that is too small.
    assert old > 1e-9


@pytest.mark.thorough
@pytest.mark.parametrize("error", [1e-40, 1e-20, 1e-9, 1e-3, 0.3, 0.9])
def test_bounds_on_probabilities_are_rounded_outwards(error: float) -> None:
    rng = np.random.default_rng(2)
    for n in (1, 2, 7, 100, 4000, 10**6):
        for k in {0, 1, n // 2, n - 1, n, int(rng.integers(0, n + 1))}:
            lower, upper = probability_bounds(counted(k, k, n), error)
            half = mp.mpf(error) / 2
            if lower > 0:
                assert at_most(n - k, n, 1 - mp.mpf(lower)) <= half
                assert half <= at_most(n - k, n, max(mp.mpf(0), 1 - mp.mpf(lower) * (1 + WIDER)))
            if upper < 1:
                assert at_most(k, n, mp.mpf(upper)) <= half
                assert half <= at_most(k, n, mp.mpf(upper) * (1 - WIDER))
            assert (lower == 0) == (k == 0)
            assert upper == 1 or k < n


def test_the_divergence_of_two_coins_is_rounded_down() -> None:
    rng = np.random.default_rng(5)
    for _ in range(2000):
        p, q = sorted((10 ** rng.uniform(-12, 0), 10 ** rng.uniform(-12, 0)), reverse=True)
        p = 1 - p if rng.random() < 0.3 and 1 - p > q else p
        rho, beta = 10 ** rng.uniform(-6, 1), math.exp(rng.uniform(-8, 6))
        one, two, alpha = mp.mpf(p), mp.mpf(q), 1 + mp.mpf(beta)
        moment = one**alpha * two ** (1 - alpha) + (1 - one) ** alpha * (1 - two) ** (1 - alpha)
        exact = mp.log(moment) / (alpha - 1) - mp.mpf(rho) * alpha
        found = excess(p, q, rho, beta)
        assert found <= exact
        assert exact - found <= 1e-9 * (1 + abs(exact) + rho * alpha) + 1e-13 / beta


def test_bounds_contradict_a_claim_only_if_they_do_in_real_arithmetic() -> None:
    for epsilon, q in product((1e-3, 0.1, 1.0, 5.0), (1e-9, 1e-3, 0.1, 0.3)):
        edge = mp.exp(mp.mpf(epsilon)) * mp.mpf(q)
        for steps in range(-40, 41):
            p = float(edge) * (1 + steps * 2.0**-52)
            for guarantee, delta in ((PureDP(epsilon), 0.0), (ApproximateDP(epsilon, 1e-6), 1e-6)):
                if p + delta < 1 and violates(p + delta, q, guarantee):
                    assert mp.mpf(p + delta) > edge + mp.mpf(delta)
        assert violates(float(edge) * (1 + 1e-13), q, PureDP(epsilon)) or float(edge) >= 1


def test_a_printed_p_value_is_an_error_of_bounds_that_contradict_the_claim() -> None:
    for guarantee in (ApproximateDP(1.0, 1e-5), ZCDP(0.05)):
        for first, second, n in ((300, 20, 1000), (60, 0, 2000), (5, 5, 100), (90_000, 20_000, 10**6)):
            p = p_value(counted(first, second, n), guarantee)
            assert p == 1.0 or violates(*probability_bounds(counted(first, second, n), p), guarantee)


def exact_log_value(bet: Bet, first: np.ndarray, second: np.ndarray) -> mpmath.mpf:
    """Return the logarithm of the factor by which a bet multiplies the wealth, for the given counts and with 60
    digits.
    """
    inequality, n, other = bet.inequality, mp.mpf(first.sum()), mp.mpf(second.sum())
    gains = [mp.mpf(a) - mp.mpf(bet.centre) for a in inequality.first]
    others = [(mp.mpf(bet.centre) - mp.mpf(inequality.bound) - mp.mpf(b)) * n / other for b in inequality.second]
    worst = -min([*gains, *others])
    stake = min(mp.mpf(bet.stake), mp.mpf(0.95) / worst) if worst > 0 else mp.mpf(bet.stake)
    return mp.fsum(
        mp.mpf(k) * mp.log(1 + stake * g)
        for k, g in zip([*first.tolist(), *second.tolist()], [*gains, *others], strict=True)
    )


def test_the_gain_of_a_bet_is_rounded_down() -> None:
    rng = np.random.default_rng(3)
    for size in (10, 1000, 10**6, 10**8):
        for epsilon, delta in ((0.1, 0.0), (1.0, 1e-5), (5.0, 0.0)):
            one, two = (np.array([share * size, (1 - share) * size]).round() for share in rng.uniform(0.01, 0.9, 2))
            bet = event_bet(one, two, epsilon, delta)
            right = mp.mpf(delta)
            exact = replaced(bet, [mp.mpf(1), mp.mpf(0)], [mp.exp(mp.mpf(epsilon)), mp.mpf(0)], right)
            gap = exact_log_value(exact, one, two) - mp.mpf(bet.log_value(one, two))
            assert 0 <= gap <= 1e-12 * 3 * size + 1e-9
        one, two = rng.multinomial(size, np.full(6, 1 / 6)).astype(float), rng.multinomial(size, [0.3] + [0.14] * 5)
        log_ratio = rng.normal(size=6)
        for order in (1.0, 1.5, 3.0):
            inequality = renyi_inequality(log_ratio, order, 0.3)
            bet = Bet(inequality, 0.2 / np.abs(inequality.first).max(), 0.1)
            exact = replaced(bet, *in_digits(log_ratio, order, 0.3))
            gap = exact_log_value(exact, one, two.astype(float)) - mp.mpf(bet.log_value(one, two.astype(float)))
            assert 0 <= gap <= 1e-11 * size + 1e-9


def replaced(bet: Bet, first: list[mpmath.mpf], second: list[mpmath.mpf], bound: mpmath.mpf) -> Bet:
    """Return a copy of the bet whose inequality has the given functions and the given bound, which are numbers with
    many digits.
    """
    inequality = Inequality(np.array(first, dtype=object), np.array(second, dtype=object), bound)
    return Bet(inequality, bet.stake, bet.centre)


def in_digits(log_ratio: np.ndarray, order: float, rho: float) -> tuple[list[mpmath.mpf], list[mpmath.mpf], mpmath.mpf]:
    """Compute with many digits the two functions and the bound of the inequality from `renyi_inequality`."""
    ratios, alpha = [mp.mpf(value) for value in log_ratio], mp.mpf(order)
    if order == 1:
        return ratios, [mp.exp(value) for value in ratios], mp.mpf(rho) - 1
    right = alpha * (alpha - 1) * mp.mpf(rho)
    first = [alpha * mp.exp((alpha - 1) * value - right) for value in ratios]
    return first, [(alpha - 1) * mp.exp(alpha * value - right) for value in ratios], mp.mpf(1)


def test_a_bet_of_zcdp_has_p_value_1_without_a_gain() -> None:
    same = np.array([50.0, 50.0])
    assert renyi_bet(same, same, 1.0).p_value(same, same) == 1.0


@pytest.mark.parametrize("p", [math.nan, -1e-3, 1.1])
def test_what_is_no_p_value_is_not_decided(p: float) -> None:
    with pytest.raises(InvalidInput, match="p-value"):
        holm([0.5, p], 0.05)


def test_holm_rejects_what_the_exact_comparison_rejects() -> None:
    """The test fails if Holm's procedure rounds a comparison of p-values in the wrong direction. The test repeats the
    procedure in fractions, also for p-values that equal their level.
    """
    rng = np.random.default_rng(4)
    for _ in range(200):
        p_values = rng.choice([1e-9, 0.01, 0.0125, 0.02, 0.05, 0.5], size=5)
        order = sorted(range(5), key=lambda i: p_values[i])
        expected = [False] * 5
        for rank, i in enumerate(order):
            if Fraction(p_values[i]) > Fraction(0.05 / (5 - rank)):
                break
            expected[i] = True
        assert holm(list(p_values), 0.05) == expected
