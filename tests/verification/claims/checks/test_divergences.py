"""The Rényi divergence of finite laws, by hand."""

import math

import numpy as np
import pytest

from covassay.verification.claims.checks.divergences import renyi


def test_two_points_by_hand() -> None:
    # order 2: ln Σ p²/q = ln(2 · (4/9 + 1/9)) for p = (2/3, 1/3) and q = (1/2, 1/2)
    log_p, log_q = np.log([2 / 3, 1 / 3]), np.log([1 / 2, 1 / 2])
    assert renyi(log_p, log_q, 2.0) == pytest.approx(math.log(10 / 9), rel=1e-14)
    assert renyi(log_p, log_p, 5.0) == pytest.approx(0, abs=1e-15)


def test_tiny_probabilities_do_not_underflow() -> None:
    # the ratio is e on a point of probability about e^{−2000} and nearly 1 on the other: D_∞ = 1 is the limit
    log_p, log_q = np.array([0.0, -1999.0]), np.array([0.0, -2000.0])
    assert renyi(log_p, log_q, 1e6) == pytest.approx(1, abs=3e-3)
