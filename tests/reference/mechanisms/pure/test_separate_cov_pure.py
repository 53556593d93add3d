"""Test the error bound of SeparateCov under pure DP."""

import math

import mpmath
import pytest
import sympy

from covassay.reference import tails
from covassay.reference.mechanisms.pure.separate_cov_pure import error_bound, likely_error

# The error


def test_the_likely_error_is_the_papers() -> None:
    # In DLY22, Lemma 18, the bound is √(8√2 d tr υ/(nε)) + 4η/(nε) with the tail bounds υ and η.
    # With the tight calibration, the noise and the bound are smaller.
    n, d, epsilon, trace, beta = 1000, 5, 0.5, 0.3, 0.1
    upsilon, eta = tails.upsilon_laplace(d, beta / 2), tails.eta_laplace(d, beta / 2)
    expected = math.sqrt(8 * math.sqrt(2) * d * trace * upsilon / (n * epsilon)) + 4 * eta / (n * epsilon)
    assert likely_error(n, d, epsilon, trace, beta, "paper") == pytest.approx(expected, rel=1e-13)
    assert likely_error(n, d, epsilon, trace, beta, "tight") < expected
    with mpmath.workdps(30):
        got = likely_error(n, d, mpmath.mpf(1) / 2, mpmath.mpf(3) / 10, mpmath.mpf(1) / 10, "paper", mpmath.log)
        assert abs(got - expected) < 1e-12
    a, b = sympy.symbols("a b", positive=True)
    assert error_bound(a**2, b**2, 0) == 2 * (a**2 * b**2) ** 0.5
