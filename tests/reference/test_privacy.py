"""Test the conversions between notions of privacy. They are compared with calculations by hand, calculations with many
digits, and the exact privacy losses of Gaussian noise.
"""

import dataclasses
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath
import pytest
import sympy

from covassay.reference.errors import InvalidInput
from covassay.reference.privacy import (
    ZCDP,
    ApproximateDP,
    PureDP,
    Spend,
    advanced_composition,
    epsilon_of_zcdp,
    epsilon_of_zcdp_at,
    log_delta_of_zcdp_at,
    smallest_epsilon_of_zcdp,
    zcdp_of_bounded_range,
    zcdp_of_gaussian,
    zcdp_of_pure,
)

# Composition


def test_advanced_composition_agrees_with_a_hand_calculation() -> None:
    # For δ = e^{-8}, the bound is ε √(2·9·8) + 9 ε (e^ε − 1), which is 12 ε + 9 ε = 21 ln 2 at ε = ln 2.
    got = advanced_composition(math.log(2), 9, math.exp(-8))
    assert got == pytest.approx(21 * 0.6931471805599453, rel=1e-14)


# Conversions to zCDP


def test_one_pure_epsilon_is_this_much_zcdp() -> None:
    # The value is tanh(1/2) = (e − 1)/(e + 1) = 1.718281828459045/3.718281828459045.
    assert zcdp_of_pure(1.0) == pytest.approx(0.46211715726000973, rel=1e-15)
    with mpmath.workdps(40):
        e = mpmath.e
        assert abs(zcdp_of_pure(mpmath.mpf(1), tanh=mpmath.tanh) - (e - 1) / (e + 1)) < mpmath.mpf(10) ** -39


def test_a_bounded_range_of_one_gives_an_eighth() -> None:
    assert zcdp_of_bounded_range(Fraction(1)) == Fraction(1, 8)
    gamma = sympy.Symbol("gamma")
    assert zcdp_of_bounded_range(2 * gamma) == gamma**2 / 2


def test_gaussian_noise_agrees_with_a_hand_calculation() -> None:
    # For the sensitivity √2 and σ² = 4, ρ = 2/8.
    assert zcdp_of_gaussian(Fraction(3), Fraction(9, 2)) == 1
    assert zcdp_of_gaussian(math.sqrt(2), 4.0) == pytest.approx(0.25, rel=1e-15)


# Conversions to approximate DP


def test_epsilon_of_zcdp_agrees_with_a_hand_calculation() -> None:
    # With ρ = 1/4 and δ = e^{−4}, ε = 1/4 + 2 √(1/4 · 4).
    assert epsilon_of_zcdp(0.25, math.exp(-4)) == pytest.approx(2.25, rel=1e-15)
    exact = epsilon_of_zcdp(sympy.Rational(1, 4), sympy.exp(-4), log=sympy.log)
    assert sympy.nsimplify(exact) == sympy.Rational(9, 4)


def test_log_delta_agrees_with_a_hand_calculation() -> None:
    # With α = 2, ρ = 1 and ε = 5, ln δ = (2 − 5) + 2 ln(1/2) − ln 1.
    assert log_delta_of_zcdp_at(1, 5, 2) == pytest.approx(-3 - 2 * 0.6931471805599453, rel=1e-15)
    rho, epsilon = sympy.symbols("rho epsilon")
    symbolic = log_delta_of_zcdp_at(rho, epsilon, sympy.Integer(2), log=sympy.log)
    assert sympy.simplify(symbolic - (2 * rho - epsilon - 2 * sympy.log(2))) == 0


# The smallest ε of zCDP


def smallest_by_mpmath(rho: float, delta: float) -> float:
    """Return the infimum over α of `epsilon_of_zcdp_at`, by a search on finer and finer grids of ln(α − 1) with 30
    digits."""
    with mpmath.workdps(30):
        low, high = mpmath.mpf(-12), mpmath.mpf(40)
        for _ in range(40):
            grid = [low + (high - low) * k / 20 for k in range(21)]
            values = [
                epsilon_of_zcdp_at(mpmath.mpf(rho), mpmath.mpf(delta), 1 + mpmath.exp(t), mpmath.log) for t in grid
            ]
            best = min(range(21), key=values.__getitem__)
            low, high = grid[max(best - 1, 0)], grid[min(best + 1, 20)]
        return float(max(values[best], 0))


SMALLEST_CASES = [(rho, delta) for rho in (1e-8, 0.01, 3.0, 100.0) for delta in (1e-300, 1e-9, 0.4)]


def test_epsilon_at_an_order_agrees_with_a_hand_calculation() -> None:
    # With α = 2, ρ = 1 and δ = e^{−4}, ε = 2 + (2 ln(1/2) − ln 1 + 4)/1 = 6 − 2 ln 2.
    assert epsilon_of_zcdp_at(1, math.exp(-4), 2) == pytest.approx(6 - 2 * 0.6931471805599453, rel=1e-15)
    # With α = 3, ρ = 1/2 and δ = e^{−2}, ε = 3/2 + (3 ln(2/3) − ln 2 + 2)/2.
    by_hand = 1.5 + (3 * math.log(2 / 3) - math.log(2) + 2) / 2
    assert epsilon_of_zcdp_at(0.5, math.exp(-2), 3) == pytest.approx(by_hand, rel=1e-15)


@pytest.mark.parametrize(("rho", "delta"), SMALLEST_CASES)
def test_the_search_finds_the_smallest_epsilon_and_never_less(rho: float, delta: float) -> None:
    exact = smallest_by_mpmath(rho, delta)
    found = smallest_epsilon_of_zcdp(rho, delta)
    assert exact * (1 - 1e-12) <= found <= exact * (1 + 1e-8) + 1e-15


def test_where_the_best_order_is_out_of_reach_the_printed_epsilon_stands() -> None:
    # At ρ = 10¹⁵ the best order α is 1 + √(ln 2/ρ) = 1 + 2.6e-8. The search begins at the order 1 + e^{−12}.
    assert smallest_epsilon_of_zcdp(1e15, 0.5) == epsilon_of_zcdp(1e15, 0.5)


@pytest.mark.parametrize(("rho", "delta"), [(0, 0.1), (-1, 0.1), (math.nan, 0.1), (1, 0), (1, 1.0), (1, 2), (1, True)])
def test_the_smallest_epsilon_of_nonsense_is_refused(rho: Any, delta: Any) -> None:
    with pytest.raises(InvalidInput, match=r"^(rho|delta) = "):
        smallest_epsilon_of_zcdp(rho, delta)


# Guarantees


@pytest.mark.parametrize(
    ("guarantee", "keywords", "text"),
    [
        (PureDP(0.5), {"epsilon": 0.5}, "ε = 0.5 (pure DP)"),
        (ZCDP(0.1), {"rho": 0.1}, "ρ = 0.1 (zCDP)"),
        (ApproximateDP(1.0, 1e-9), {"epsilon": 1.0, "delta": 1e-9}, "ε = 1, δ = 1e-09 (approximate DP)"),
    ],
)
def test_a_guarantee_names_its_parameters(guarantee: Any, keywords: dict[str, float], text: str) -> None:
    assert guarantee.keywords() == keywords
    assert str(guarantee) == text
    with pytest.raises(dataclasses.FrozenInstanceError):
        guarantee.epsilon = 2.0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        pytest.param(lambda: PureDP(0), "epsilon = 0", id="no budget"),
        pytest.param(lambda: PureDP(math.inf), "epsilon = inf", id="all the budget"),
        pytest.param(lambda: PureDP(math.nan), "epsilon = nan", id="NaN"),
        pytest.param(lambda: PureDP(True), "epsilon = True", id="boolean"),
        pytest.param(lambda: PureDP("1"), "epsilon = '1'", id="string"),  # type: ignore[arg-type]
        pytest.param(lambda: ZCDP(-1), "rho = -1", id="negative rho"),
        pytest.param(lambda: ApproximateDP(1, 0), "delta = 0", id="delta zero is pure"),
        pytest.param(lambda: ApproximateDP(1, 1.0), "delta = 1.0: must be below 1", id="delta one is nothing"),
        pytest.param(lambda: ApproximateDP(-1, 0.1), "epsilon = -1", id="negative epsilon"),
    ],
)
def test_a_guarantee_with_a_bad_parameter_is_refused(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        make()


def test_guarantees_of_different_notions_are_never_equal() -> None:
    """Test that guarantees of different notions are not equal, even if their numbers are."""
    assert PureDP(1.0) != ZCDP(1.0)
    assert PureDP(1.0) == PureDP(1)
    assert Spend(PureDP(1), PureDP(0.5), True) == Spend(PureDP(1), PureDP(0.5), True, "")
