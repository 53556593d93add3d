"""Whether a figure that an entry of the ledger quotes is the rounded value that a check computes."""

from collections.abc import Iterable
from fractions import Fraction

from covassay.reference.domain import Number


def rounds_to(value: Number, figure: str) -> bool:
    """Whether the value, rounded to as many places as the figure has, is the figure."""
    unit = Fraction(1, 10 ** len(figure.partition(".")[2]))
    return 2 * abs(Fraction(value) - Fraction(figure)) <= unit


def all_round_to(values: Iterable[Number], figures: Iterable[str]) -> bool:
    """Whether the values, one after the other, round to the figures."""
    return all(rounds_to(value, figure) for value, figure in zip(values, figures, strict=True))
