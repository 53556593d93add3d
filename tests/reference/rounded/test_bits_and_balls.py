"""Test uniform random numbers that begin with a few bits and get further bits when they are needed. Test also that a
comparison of two intervals gives a result only if the result is certain.
"""

import importlib.util
from fractions import Fraction

import pytest
from flint import arb, ctx
from hypothesis import given
from hypothesis import strategies as st

from covassay.reference import rounded
from covassay.reference.errors import InvalidInput
from covassay.reference.rounded import spectrum
from covassay.reference.rounded.balls import (
    Undecided,
    bracketed_root,
    exact,
    is_negative,
    less,
    nearest_multiple,
    refined,
    sum_of_squares,
)
from covassay.reference.rounded.bits import OperatingSystem, Seeded, Uniforms
from covassay.reference.rounded.mechanisms import ROUNDED
from covassay.reference.rounded.releasing import rational, require_grid

ONE = Fraction(1)


@given(st.integers(1, 200), st.integers(1, 200), st.integers(0, 50))
def test_a_seeded_number_is_the_same_however_it_is_read(first: int, more: int, index: int) -> None:
    source = Seeded(4)
    whole = source.bits(index, 0, first + more)
    assert (source.bits(index, 0, first) << more) | source.bits(index, first, more) == whole
    assert whole.bit_length() <= first + more


@pytest.mark.parametrize("source", [OperatingSystem(), Seeded(1)], ids=["system", "seeded"])
def test_more_bits_leave_the_bits_that_are_there(source: OperatingSystem | Seeded) -> None:
    uniforms, before = Uniforms(source), ctx.prec
    try:
        ctx.prec = 20
        coin, short = uniforms.coin(), [uniforms.uniform() for _ in range(5)]
        for precision in (40, 80, 800):
            ctx.prec = precision
            uniforms.rewind()
            assert uniforms.coin() == coin
            longer = [uniforms.uniform() for _ in range(5)]
            for old, new in zip(short, longer, strict=True):
                assert old.contains(new.mid())
                assert new.rad() <= arb((1, -precision))
            short = longer
        assert uniforms.extensions == 15
    finally:
        ctx.prec = before


def test_what_is_not_certain_is_not_decided() -> None:
    """Test that a comparison raises `Undecided` if the intervals do not determine its result."""
    wide, half = arb(0, 1), arb(0.5, 1e-12)
    for undecided in (
        lambda: is_negative(wide),
        lambda: is_negative(arb("nan")),
        lambda: less(wide, 0.5),
        lambda: less(arb(1), arb(1)),
        lambda: nearest_multiple(half, ONE),
        lambda: nearest_multiple(wide, ONE),
    ):
        with pytest.raises(Undecided):
            undecided()
    assert nearest_multiple(arb(0.499), ONE) == 0
    assert nearest_multiple(arb(-0.501), ONE) == -1
    assert nearest_multiple(arb(-5.2), Fraction(1, 4)) == -21


@pytest.mark.thorough
@given(st.fractions(-1000, 1000, max_denominator=10**6), st.integers(-20, 20))
def test_a_certain_rounding_is_the_nearest(x: Fraction, power: int) -> None:
    grid = Fraction(2) ** power
    try:
        k = nearest_multiple(arb(exact(x)), grid)
    except Undecided:
        assert abs(x / grid - round(x / grid)) > Fraction(49, 100)
    else:
        assert abs(x - k * grid) <= grid / 2


def test_the_square_of_a_ball_about_zero_is_a_ball() -> None:
    assert sum_of_squares([arb(0, 1e-9), arb(2)]).contains(4)


@pytest.mark.thorough
@given(st.fractions(0, 50, max_denominator=1000))
def test_a_root_is_in_its_ball(value: Fraction) -> None:
    root = bracketed_root(lambda y: y**2 + y - exact(value * (value + 1)), lambda y: 2 * y + 1, arb(-0.25), arb(64))
    assert root.contains(arb(exact(value)))
    assert root.rad() < 1e-10


def test_beyond_the_ends_of_a_bracket_a_sign_proves_nothing() -> None:
    # The function has the roots 1 ± 2^{−30}, and increases only on [1, 2].
    # If the lower end of the bracket is only known to be 1 ± 1e-6, the bracket may contain the smaller root.
    with pytest.raises(Undecided):
        bracketed_root(lambda y: (y - 1) ** 2 - arb(2) ** -60, lambda y: 2 * (y - 1), arb(1, 1e-6), arb(2))
    root = bracketed_root(lambda y: (y - 1) ** 2 - arb(2) ** -60, lambda y: 2 * (y - 1), arb(1), arb(2))
    assert root.contains(1 + arb(2) ** -30)


def test_a_run_that_is_not_certain_is_repeated_at_twice_the_precision_and_leaves_the_precision_as_it_was() -> None:
    before, seen = ctx.prec, []

    def compute(uniforms: Uniforms) -> int:
        seen.append(ctx.prec)
        x = uniforms.uniform()
        if ctx.prec < 300:
            raise Undecided
        return nearest_multiple(x, Fraction(1, 1024))

    done = refined(compute, Uniforms(Seeded(2)), 50)
    assert done.precisions == (50, 100, 200, 400) == tuple(seen)
    assert done.result == round(Seeded(2).bits(0, 0, 60) / 2**50)
    assert ctx.prec == before


def test_a_decision_that_can_never_be_made_is_broken_off() -> None:
    with pytest.raises(ArithmeticError, match="not certain"):
        refined(lambda uniforms: less(arb(1), arb(1)), Uniforms(Seeded(2)), 50)


def test_numbers_mean_the_decimal_that_is_written() -> None:
    """Test that an ε of 0.1 means 1/10, and not the nearest float, which is larger."""
    assert rational("epsilon", "0.1") == rational("epsilon", 0.1) == Fraction(1, 10)
    assert rational("epsilon", "1e-3") == Fraction(1, 1000)
    assert rational("body", "l1") == "l1"
    for wrong in ("nan", float("inf"), True, "1/0", None):
        with pytest.raises(InvalidInput, match="must be a number"):
            rational("epsilon", wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("grid", ["0.3", "2^x", 0, -0.5, "2^-99999", 3, "nan"])
def test_a_grid_is_a_power_of_two(grid: str | float) -> None:
    with pytest.raises(InvalidInput, match="grid = "):
        require_grid(grid)
    assert require_grid("2^-20") == require_grid("2**-20") == require_grid(2.0**-20) == Fraction(1, 2**20)


def test_points_are_put_in_order_however_close_they_are() -> None:
    before, ctx.prec = ctx.prec, 200
    try:
        assert spectrum.ascending([arb(1), arb(1) - arb((1, -90)), arb(2), arb(1) + arb((1, -90))]) == [1, 0, 3, 2]
        with pytest.raises(Undecided):
            spectrum.ascending([arb(1), arb(1, 1e-30)])
    finally:
        ctx.prec = before


def test_the_mechanisms_with_a_rounded_form_are_listed() -> None:
    assert tuple(ROUNDED) == rounded.WITH_ROUNDED_FORM


def test_without_python_flint_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(InvalidInput, match="python-flint: pip install"):
        rounded.rounded_release("laplace", [[1.0]], epsilon=1)
