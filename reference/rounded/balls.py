"""Decide on balls (intervals with a midpoint and a radius), and repeat a computation until all of its decisions are
certain.

A ball is a midpoint and a radius, and contains the real number that it represents (python-flint's `arb`). An operation
on balls gives a ball that contains the result of exact arithmetic. A decision is made only if it is the same for all
points of the ball; otherwise the functions below raise `Undecided` instead of using the midpoint.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Generic, TypeVar

from flint import arb, ctx, fmpq

from covassay.reference.rounded.bits import Uniforms

T = TypeVar("T")
Number = arb | fmpq | int
LARGEST_PRECISION = 2**18  # the precision in bits beyond which a release is aborted


class Undecided(Exception):
    """The balls are too wide for a decision."""


# DECISIONS


def less(a: Number, b: Number) -> bool:
    """Return whether a < b, with certainty. The caller must know that a and b almost surely differ."""
    if a < b:
        return True
    if a > b:
        return False
    raise Undecided


def is_negative(x: Number) -> bool:
    """Return whether x < 0, for a number that is almost surely not 0."""
    return less(x, 0)


def largest(values: Sequence[arb]) -> arb:
    """Return a ball that contains the maximum of the values. It is not decided which value is largest."""
    most = values[0]
    for value in values[1:]:
        most = most.max(value)
    return most


def sum_of_squares(values: Iterable[arb]) -> arb:
    """Return the sum Σ v² of the squares of the values. (For a ball that contains 0, python-flint's v**2 is not a
    number; the product v·v is a ball.)
    """
    return sum((value * value for value in values), arb(0))


def nearest_multiple(x: arb, grid: Fraction) -> int:
    """Return the integer k for which k · grid is nearest to x."""
    k = (x / exact(grid) + exact(Fraction(1, 2))).floor().unique_fmpz()
    if k is None:
        raise Undecided
    return int(k)


def exact(x: Fraction) -> fmpq:
    """Return a rational number in the form that arithmetic with balls takes."""
    return fmpq(x.numerator, x.denominator)


def square_root(x: Number) -> arb:
    """Return the ball of √x, for formulas that take a function `sqrt`."""
    return arb(x).sqrt()


def bracketed_root(increasing: Callable[[arb], arb], slope: Callable[[arb], arb], low: arb, high: arb) -> arb:
    """Return a ball that certainly contains the root of a function that increases from below 0 at `low` to above 0 at
    `high`.

    Bisection and then Newton's method on midpoints give an approximation. Two numbers left and right of the
    approximation then enclose the root. A number between `low` and `high` is accepted if the sign of the function there
    is certain. If the left number is certainly below `low`, or the right number certainly above `high`, it is accepted
    too, and the sign of the function at this number is not computed. If a number is not accepted, `Undecided` is
    raised.
    """
    x = _proposed_root(increasing, slope, low.mid(), high.mid())
    step = increasing(x) / slope(x)
    reach = 8 * (abs(step.mid()) + step.rad() + arb((1, -ctx.prec)) * (1 + abs(x)))
    if not reach.is_finite():
        raise Undecided
    left, right = (x - reach).mid(), (x + reach).mid()
    enclosed_left = left < low or (low < left < high and increasing(left) < 0)
    enclosed_right = right > high or (low < right < high and increasing(right) > 0)
    if not (enclosed_left and enclosed_right):
        raise Undecided
    return left.union(right)


def _proposed_root(increasing: Callable[[arb], arb], slope: Callable[[arb], arb], low: arb, high: arb) -> arb:
    """Return an approximation of the root, with no bound on its error."""

    def halved() -> tuple[arb, arb]:
        middle = ((low + high) / 2).mid()
        return (middle, high) if increasing(middle).mid() < 0 else (low, middle)

    for _ in range(30):
        low, high = halved()
    x = ((low + high) / 2).mid()
    for _ in range(60):
        step = increasing(x) / slope(x)
        proposed = (x - step).mid()
        if not low <= proposed <= high:  # Newton's method has left the bracket
            low, high = halved()
            proposed = ((low + high) / 2).mid()
        moved, x = abs(proposed - x), proposed
        if moved <= 4 * (step.rad() + arb((1, -ctx.prec)) * (1 + abs(x))):
            break
    return x


# THE LOOP


@dataclass(frozen=True)
class Refined(Generic[T]):
    """A result for which every decision was certain, and the precisions that were tried, in bits; the last precision
    sufficed.
    """

    result: T
    precisions: tuple[int, ...]


def refined(compute: Callable[[Uniforms], T], uniforms: Uniforms, precision: int) -> Refined[T]:
    """Run `compute` at a precision, and again at twice the precision as long as a decision is not certain.

    Every run reads the same uniform numbers; later runs read more of their bits. The argument `compute` must be a
    function of the uniform numbers alone: it must not keep any state from one run to the next.

    Raises
    ------
    ArithmeticError : `LARGEST_PRECISION` does not suffice. For a result with a density, this `ArithmeticError` has
        probability below 2^{−100000}. If this `ArithmeticError` occurs, the likely cause is therefore a mistake in this
        package: some comparison or rounding stays uncertain, however high the precision is.
    """
    before, tried = ctx.prec, [precision]
    try:
        while tried[-1] <= LARGEST_PRECISION:
            ctx.prec = tried[-1]
            uniforms.rewind()
            try:
                return Refined(compute(uniforms), tuple(tried))
            except Undecided:
                tried.append(2 * tried[-1])
    finally:
        ctx.prec = before
    raise ArithmeticError(f"a decision is not certain at {LARGEST_PRECISION} bits")
