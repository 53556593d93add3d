"""A figure is the rounded value, and a figure that is off by one in its last place is not."""

from fractions import Fraction

import pytest

from covassay.verification.claims.checks.quoted import all_round_to, rounds_to


@pytest.mark.parametrize(
    ("value", "figure"), [(Fraction(2, 3), "0.667"), (0.02092, "0.0209"), (81.008, "81.0"), (2, "2")]
)
def test_a_rounded_value_is_seen(value: float, figure: str) -> None:
    assert rounds_to(value, figure)
    last = 10.0 ** -len(figure.partition(".")[2])
    assert not rounds_to(value, str(float(figure) + last))


def test_every_figure_must_fit() -> None:
    assert all_round_to((Fraction(1, 3), 0.5), ("0.33", "0.5"))
    assert not all_round_to((Fraction(1, 3), 0.5), ("0.33", "0.6"))
    with pytest.raises(ValueError, match="zip"):
        all_round_to((Fraction(1, 3),), ("0.33", "0.5"))
