"""Test the Gaussian mechanism under (ε, δ)-DP: its exact δ, and the classical noise scale in and outside its range."""

import math
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.building_blocks.gaussian_approximate import log_delta, multiplier, release, spend
from covassay.reference.mechanisms.parameters import CALIBRATIONS


def log_cdf(t: Any) -> Any:
    return mpmath.log(mpmath.erfc(-t / mpmath.sqrt(2)) / 2)


def exact_log_delta(q: float, epsilon: float) -> float:
    """Evaluate the formula `log_delta` with 60 digits."""
    with mpmath.workdps(60):
        return float(log_delta(mpmath.mpf(q), mpmath.mpf(epsilon), log_cdf, mpmath.log, mpmath.expm1))


@pytest.mark.parametrize(
    ("q", "epsilon"),
    [(1e-3, 1e-3), (0.05, 1.0), (1e-6, 1e-6), (30.0, 700.0), (0.02, 2.0), (5.0, 0.01), (100.0, 5000.0), (1e-7, 1e-9)],
)
def test_the_exact_delta_is_accurate_where_floats_run_out(q: float, epsilon: float) -> None:
    assert log_delta(q, epsilon) == pytest.approx(exact_log_delta(q, epsilon), rel=1e-8, abs=1e-8)


@settings(max_examples=100)
@given(epsilon=st.floats(1e-3, 100), log_delta_claimed=st.floats(-60, -0.01))
def test_the_tight_scale_is_the_smallest_one(epsilon: float, log_delta_claimed: float) -> None:
    """Test that the tight scale satisfies the claim, and that a scale smaller by 1e-6 does not."""
    delta = math.exp(log_delta_claimed)
    sigma = multiplier(epsilon, delta, "tight")
    assert exact_log_delta(1 / sigma, epsilon) <= math.log(delta)
    assert exact_log_delta(1 / (sigma * (1 - 1e-6)), epsilon) > math.log(delta)
    spent = spend(epsilon=epsilon, delta=delta, dimension=2, calibration="tight").proven
    assert spent.delta <= delta  # type: ignore[union-attr]
    assert spent.delta == pytest.approx(delta, rel=1e-5)  # type: ignore[union-attr]


@pytest.mark.parametrize("epsilon", [1.0000001, 4.0, 1e9])
def test_the_classical_scale_is_refused_beyond_one(epsilon: float) -> None:
    for call in (
        lambda: release(np.eye(2), np.zeros(2), epsilon=epsilon, delta=1e-6),
        lambda: spend(epsilon=epsilon, delta=1e-6, dimension=2),
    ):
        with pytest.raises(InvalidInput, match=r'^epsilon = .*: must be at most 1 with calibration="paper"'):
            call()
    assert multiplier(epsilon, 1e-6, "tight") > 0


@pytest.mark.parametrize("epsilon", [1e-8, 3e-7, 1e-5, 1e-4, 9e-4, 1e-3, 1.0])
def test_small_budgets_are_rounded_to_the_safe_side(epsilon: float) -> None:
    """Test that rounding errors do not make the noise scale too small.

    The exact δ of the tight scale is at most the claimed δ. With either calibration, the exact δ is at most the proven
    δ, up to a factor e^{2e-6} for ε ≥ 1e-3.
    """
    for log10_delta in (-299, -203, -100, -61, -30, -13, -7, -2):
        delta = 10.0**log10_delta
        assert exact_log_delta(1 / multiplier(epsilon, delta, "tight"), epsilon) <= math.log(delta)
        for calibration in CALIBRATIONS:
            spent = spend(epsilon=epsilon, delta=delta, dimension=2, calibration=calibration).proven  # type: ignore[arg-type]
            exact = exact_log_delta(1 / multiplier(epsilon, delta, calibration), epsilon)  # type: ignore[arg-type]
            assert math.log(spent.keywords()["delta"]) >= exact - (0 if epsilon < 1e-3 else 2e-6)


def test_a_budget_that_float64_cannot_tell_from_none_is_refused() -> None:
    with pytest.raises(InvalidInput, match="one of the two must be at least 1e-08"):
        multiplier(1e-9, 1e-9, "tight")
    assert multiplier(1e-9, 1e-6, "tight") == pytest.approx(1 / (1e-6 * math.sqrt(2 * math.pi)), rel=1e-2)
    assert multiplier(0.5, 1e-300, "tight") > 70
