"""Test tail probabilities and quantiles of discrete laws against sums of exact probabilities."""

import math
from fractions import Fraction
from itertools import accumulate

import pytest

from covassay.verification.statistics.tail_probabilities import (
    binomial_at_least,
    binomial_at_most,
    hypergeometric_tails,
    poisson_quantile,
    poisson_upper_quantile,
)


@pytest.mark.parametrize(("n", "p"), [(1, 0.5), (7, 0.25), (40, 1 / 1024), (40, 1.0), (9, 0.0)])
def test_binomial_tails_are_sums_of_exact_probabilities(n: int, p: float) -> None:
    """The test fails if a binomial tail leaves out the term k or contains a term too many. The test covers every k,
    also below 0 and above n.
    """
    share = Fraction(p)
    exact = [math.comb(n, k) * share**k * (1 - share) ** (n - k) for k in range(n + 1)]
    for k in range(-2, n + 3):
        assert float(binomial_at_most(k, n, p)) == pytest.approx(float(sum(exact[: max(k + 1, 0)])), rel=1e-12)
        assert float(binomial_at_least(k, n, p)) == pytest.approx(float(sum(exact[max(k, 0) :])), rel=1e-12)


@pytest.mark.parametrize(("n", "a", "b"), [(2, 1, 1), (12, 5, 7), (60, 30, 30), (60, 50, 40), (9, 0, 4), (9, 9, 4)])
def test_hypergeometric_tails_are_sums_of_exact_probabilities(n: int, a: int, b: int) -> None:
    """The test fails if a hypergeometric tail differs from the sum of its exact probabilities."""
    low, high = max(0, a + b - n), min(a, b)
    exact = [Fraction(math.comb(a, k) * math.comb(n - a, b - k), math.comb(n, b)) for k in range(low, high + 1)]
    for k in range(low - 1, high + 2):
        found = hypergeometric_tails(k, n, a, b)
        wanted = sum(exact[: max(k - low + 1, 0)]), sum(exact[max(k - low, 0) :])
        assert found == pytest.approx([float(w) for w in wanted], rel=1e-12)


@pytest.mark.parametrize("mean", [0.02, 1.0, 7.5, 900.0])
@pytest.mark.parametrize("tail", [0.0025, 0.5, 0.99])
def test_poisson_quantiles_are_the_first_numbers_beyond_their_tail(mean: float, tail: float) -> None:
    """The test fails if a quantile of the Poisson law is off by one."""
    top = int(mean + 20 * math.sqrt(mean) + 20)
    terms = [math.exp(k * math.log(mean) - mean - math.lgamma(k + 1)) for k in range(top)]
    below = list(accumulate(terms))
    assert poisson_quantile(tail, mean) == next(k for k in range(top) if below[k] >= tail)
    above = [0.0, *accumulate(reversed(terms))][-2::-1]  # each entry is the sum of the terms after k
    assert poisson_upper_quantile(tail, mean) == next(k for k in range(top) if above[k] <= tail)
