"""Compare figures that ledger entries quote with the values that a check computes, after rounding these values."""

from collections.abc import Iterable
from fractions import Fraction

from covassay.reference.domain import Number
from covassay.verification.claims.evidence import Evidence


def rounds_to(value: Number, figure: str) -> bool:
    """Return whether the value, rounded to as many decimal places as the figure has, equals the figure."""
    unit = Fraction(1, 10 ** len(figure.partition(".")[2]))
    return 2 * abs(Fraction(value) - Fraction(figure)) <= unit


def all_round_to(values: Iterable[Number], figures: Iterable[str]) -> bool:
    """Return whether every value rounds to the figure at its position in the list."""
    return all(rounds_to(value, figure) for value, figure in zip(values, figures, strict=True))


def exceeds(value: Number, bound: Number, quoted: tuple[str, str], also: bool = True) -> Evidence:
    """Return evidence that the value exceeds the bound.

    For the evidence to hold, the value and the bound must also round to the figures `quoted` of the ledger entry, and
    `also` must be true.
    """
    figures = {"value": f"{float(value):.6g}", "bound": f"{float(bound):.6g}"}
    return Evidence(also and value > bound and all_round_to((value, bound), quoted), "", figures)
