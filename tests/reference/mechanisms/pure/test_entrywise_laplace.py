"""Test the bound on the largest entry of entrywise Laplace noise."""

import math

import pytest

from covassay.reference.mechanisms.pure.entrywise_laplace import largest_entry


@pytest.mark.parametrize("count", [1, 3, 10, 100])
@pytest.mark.parametrize("beta", [0.5, 0.1, 1e-6])
def test_no_entry_exceeds_the_bound_with_the_stated_probability(count: int, beta: float) -> None:
    # All k Laplace variables are at most t in absolute value with probability (1 − e^{−t})^k.
    def failure(t: float) -> float:
        return -math.expm1(count * math.log1p(-math.exp(-t)))

    t = largest_entry(count, 1.0, beta)
    assert 0.3 * beta < failure(t) <= beta * (1 + 1e-12)
    if count > 1:  # mutants: the bound for a single entry, and half of the bound
        assert failure(math.log(1 / beta)) > beta
        assert failure(t / 2) > beta
