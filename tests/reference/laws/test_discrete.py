"""Test the discrete laws: probabilities and tails against sums with many digits, and the random bits of draws."""

import ast
import inspect
import math
import textwrap
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest

from covassay.reference.laws import discrete_gaussian, discrete_laplace
from covassay.reference.laws.exact_draws import AT_LEAST, Coins, generator_bits, system_bits


@pytest.mark.parametrize("t", [Fraction(1, 3), Fraction(1), Fraction(37, 4)])
def test_the_discrete_laplace_law_sums_to_one_and_its_tail_is_the_sum(t: Fraction) -> None:
    with mpmath.workdps(30):
        scale = mpmath.mpf(t.numerator) / t.denominator
        mass = {z: discrete_laplace.pmf(z, scale, mpmath.exp) for z in range(-1000, 1001)}
        assert abs(mpmath.fsum(mass.values()) - 1) < mpmath.mpf(10) ** -25
        for k in (1, 2, 5):
            beyond = mpmath.fsum(p for z, p in mass.items() if abs(z) >= k)
            assert abs(discrete_laplace.tail(k, scale, mpmath.exp) / beyond - 1) < mpmath.mpf(10) ** -20


@pytest.mark.parametrize("sigma", [0.4, 1.0, 7.3])
def test_the_discrete_gaussian_law_is_that_of_sums_to_many_digits(sigma: float) -> None:
    with mpmath.workdps(30):
        weights = {z: mpmath.exp(-(mpmath.mpf(z) ** 2) / (2 * mpmath.mpf(sigma) ** 2)) for z in range(-400, 401)}
        total = mpmath.fsum(weights.values())
        for k in (0, 1, 2, 5):
            assert discrete_gaussian.pmf(np.array(k), sigma) == pytest.approx(float(weights[k] / total), rel=1e-12)
            beyond = mpmath.fsum(w for z, w in weights.items() if abs(z) >= k) / total
            assert discrete_gaussian.tail(np.array(k), sigma) == pytest.approx(float(beyond), rel=1e-12)
            wrong = discrete_gaussian.tail(np.array(k), 1.03 * sigma)  # a scale that is 3 % too large
            assert k == 0 or wrong != pytest.approx(float(beyond), rel=1e-3, abs=0)


def test_the_two_forms_of_the_tail_meet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Test that the approximation of the tail probability for large scales agrees with the sum of probabilities."""
    sizes = np.array([0.0, 1.0, 10.0, 500.0, 1500.0, 3000.0])
    summed = discrete_gaussian.tail(sizes, 500.0)
    monkeypatch.setattr(discrete_gaussian, "LARGE", 100.0)
    np.testing.assert_allclose(discrete_gaussian.tail(sizes, 500.0), summed, atol=4 / 500**2 / 24)
    assert discrete_gaussian.pmf(np.array(0.0), 500.0) == pytest.approx(1 / (500 * math.sqrt(2 * math.pi)), rel=1e-14)


@pytest.mark.parametrize("law", [discrete_laplace, discrete_gaussian])
def test_a_draw_is_the_first_round_with_a_number_even_if_it_is_zero(law: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Test that the sampler repeats a round that gives no number, and returns the first number even if it is 0.

    The check `claims.checks.own.lattice` tests the law of one round.
    """
    rounds = iter([None, 0, 5])
    monkeypatch.setattr(law, "attempt", lambda parameter, coins: next(rounds))
    assert law.sample(Fraction(1), Coins(system_bits)) == 0


def test_bits_are_handed_out_once_and_in_order() -> None:
    asked: list[int] = []

    def source(count: int) -> int:
        asked.append(count)
        return int("10" * (count // 2) + "1" * (count % 2), 2)

    coins = Coins(source)
    assert [coins.bits(1) for _ in range(4)] == [0, 1, 0, 1]
    assert coins.bits(0) == 0
    assert asked == [AT_LEAST]
    assert coins.bits(AT_LEAST) < 2**AT_LEAST
    assert asked == [AT_LEAST, AT_LEAST]


@pytest.mark.parametrize("bits", [system_bits, generator_bits(np.random.default_rng(0))])
def test_a_source_gives_that_many_bits(bits: object) -> None:
    """Test that a source of random bits returns the requested number of bits."""
    assert callable(bits)
    for count in (1, 7, 8, 63, 4096):
        drawn = [bits(count) for _ in range(40)]
        assert max(drawn) < 2**count
        assert count < 8 or max(drawn) >= 2 ** (count - 1)  # fails with probability 2^−40


def floats_in(source: str) -> set[str]:
    """Return the operations of the code that give floats: divisions, floats, and functions of numpy or math."""
    found = set()
    for node in ast.walk(ast.parse(textwrap.dedent(source))):
        if isinstance(node, ast.Div) or (isinstance(node, ast.Constant) and isinstance(node.value, float)):
            found.add(type(node).__name__)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in ("np", "math"):
            found |= {node.attr} - {"isqrt"}
        if isinstance(node, ast.Name) and node.id == "float":
            found.add(node.id)
    return found


@pytest.mark.parametrize(
    "code",
    [Coins, discrete_laplace.attempt, discrete_laplace.sample, discrete_gaussian.attempt, discrete_gaussian.sample],
)
def test_no_decision_of_a_sampler_is_made_in_floating_point(code: Any) -> None:
    assert not floats_in(inspect.getsource(code))


@pytest.mark.parametrize(
    "line", ["u = bits / m", "t = math.floor(s)", "p = np.exp(-x)", "accept = u < 0.5", "float(a)"]
)
def test_floating_point_in_a_sampler_is_seen(line: str) -> None:
    assert floats_in(line)
