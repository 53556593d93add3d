"""Private trace: known answers, exact law and loss, and the upper bound that AdaptiveCov reads.

Statistical tests have a fixed seed and state n. With a random seed, each would raise a false alarm with probability at
most 1e-9.
"""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from covassay.reference.domain import unit_rows
from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.building_blocks import private_trace
from covassay.reference.privacy import PureDP, zcdp_of_gaussian
from covassay.verification.statistics.tests import kolmogorov_smirnov
from tests.conventions import SEEDS


def test_the_release_agrees_with_a_hand_calculation() -> None:
    # n = 2, tr Σ = (1 + .25)/2; b = 1/(2 · .5) = 1
    x = np.array([[0.6, 0.8], [0.0, 0.5]])
    assert private_trace.release(x, 0.0, epsilon=0.5) == pytest.approx(0.625, rel=1e-15)
    assert private_trace.release(x, -1.0, epsilon=0.5) == pytest.approx(-0.375, rel=1e-15)
    assert private_trace.release(10 * x, -1.0, epsilon=0.5, row_bound=10) == pytest.approx(-37.5, rel=1e-14)


@pytest.mark.parametrize("noise", [math.nan, math.inf, [0.0], None])
def test_bad_noise_is_refused(noise: Any) -> None:
    with pytest.raises(InvalidInput, match=r"^noise"):
        private_trace.release(np.eye(2), noise, epsilon=1.0)


def test_the_formulas_run_on_fractions_and_symbols() -> None:
    assert private_trace.laplace_scale(4, Fraction(1, 8)) == 2
    assert private_trace.privacy_loss(1, 4, private_trace.laplace_scale(4, Fraction(1, 8))) == Fraction(1, 8)
    n, rho, beta = sympy.symbols("n rho beta", positive=True)
    sigma = private_trace.gaussian_scale(n, rho)
    assert sympy.nsimplify(sympy.simplify(zcdp_of_gaussian(1 / n, sigma**2) / rho)) == 1
    # the scales and margins of AdaptiveCov, on an eighth of the budget: (2/(n√ρ)) (N + √(2 ln(8/β))) and
    # (8/(nε)) (L + ln(4/β))
    assert private_trace.gaussian_scale(3, 0.4 / 8) == pytest.approx(2 / (3 * math.sqrt(0.4)), rel=1e-15)
    assert sympy.nsimplify(private_trace.gaussian_margin(beta / 8, sympy.log) ** 2) == 2 * sympy.log(8 / beta)
    assert private_trace.laplace_margin(beta / 8, sympy.log) == sympy.log(4 / beta)
    assert private_trace.laplace_scale(n, sympy.Rational(1, 8)) == 8 / n


def test_the_upper_bound_agrees_with_a_hand_calculation() -> None:
    assert private_trace.upper_bound(0.5, -1.0, 0.1, 3.0) == pytest.approx(0.7)
    assert private_trace.upper_bound(0.5, 9.0, 0.1, 3.0) == 1
    assert private_trace.upper_bound(0.0, -9.0, 0.1, 3.0) == 1e-16


@pytest.mark.parametrize("failure", [0.5, 0.1, 1e-3, 1e-9])
def test_the_noise_undercuts_its_margin_with_the_stated_probability(failure: float) -> None:
    assert stats.laplace.cdf(-private_trace.laplace_margin(failure)) == pytest.approx(failure, rel=1e-12)
    assert stats.norm.cdf(-private_trace.gaussian_margin(failure)) <= failure
    # mutants: half the Laplace margin, and √(ln(1/failure)) as the Gaussian margin
    assert stats.laplace.cdf(-private_trace.laplace_margin(failure) / 2) > failure or failure == 0.5
    assert stats.norm.cdf(-private_trace.gaussian_margin(failure) / math.sqrt(2)) > failure or failure >= 0.1


@settings(max_examples=60)
@given(seed=SEEDS, d=st.integers(1, 4))
def test_one_row_moves_the_trace_by_its_sensitivity_at_most(seed: int, d: int) -> None:
    x = unit_rows(2 * np.random.default_rng(seed).standard_normal((2, d)))
    first, second = (private_trace.release(row[None], 0.0, epsilon=1.0) for row in x)
    assert abs(first - second) <= 1 + 1e-12


@pytest.mark.parametrize("d", [1, 2, 7])
def test_the_spend_is_the_loss_at_the_worst_pair(d: int) -> None:
    result = private_trace.spend(epsilon=0.7, dimension=d)
    assert result.claimed == PureDP(0.7)
    assert result.attained
    # n = 5, b = 1/(5 · .7); rows e₁ and 0: the traces are 1/5 and 0; any output at or beyond them has the same loss
    b = private_trace.laplace_scale(5, 0.7)
    for y in (0.2, 0.3, 50.0):
        loss = stats.laplace.logpdf(y, 0.2, b) - stats.laplace.logpdf(y, 0.0, b)
        assert loss == pytest.approx(result.proven.epsilon, rel=1e-9)  # type: ignore[union-attr]
    mutant = private_trace.laplace_scale(10, 0.7)  # half the scale
    assert stats.laplace.logpdf(0.2, 0.2, mutant) - stats.laplace.logpdf(0.2, 0.0, mutant) > 1.3


def test_the_release_has_its_exact_law() -> None:
    # 3000 draws; n = 4, tr Σ = 1/4, b = 1/(4 · .5) = 1/2
    x, rng = np.full((4, 1), 0.5), np.random.default_rng(12)
    draws = np.array([private_trace.sample(x, rng, epsilon=0.5) for _ in range(3000)])
    assert kolmogorov_smirnov(draws, stats.laplace(0.25, 0.5).cdf, "exact").p_value > 1e-9
    assert kolmogorov_smirnov(draws, stats.laplace(0.25, 0.25).cdf, "half the scale").p_value < 1e-9
