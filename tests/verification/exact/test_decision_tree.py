"""Test the enumeration of random decisions. The probabilities must equal hand calculations. Two sums of exponentials
must be compared exactly, and not after rounding.
"""

from fractions import Fraction

from covassay.reference.laws.exact_draws import Coins
from covassay.verification.exact.decision_tree import ExpSum, Extent, OnBits, OnChances, OnExponentials, probabilities


def half_of(coins: Coins) -> str:
    """Make a random decision of probability 1/3, and if the answer is no, a second one of probability e^{−1/2}."""
    if coins.chance(1, 3):
        return "left"
    return "left" if coins.chance_exp(1, 2) else "right"


def test_probabilities_by_hand() -> None:
    found = probabilities(half_of, OnExponentials, Extent(5, 5))
    assert found["right"] == ExpSum({Fraction(0): Fraction(2, 3), Fraction(1, 2): Fraction(-2, 3)})
    assert found["left"] + found["right"] == ExpSum.of(1)


def test_runs_beyond_the_extent_are_left_out() -> None:
    """The test fails if the probability of a run that exceeds the limits is added to the probability of an outcome. The
    outcome of such a run is not known.
    """
    found = probabilities(half_of, OnExponentials, Extent(1, 5))
    assert found == {"left": ExpSum.of(Fraction(1, 3))}
    assert probabilities(lambda coins: coins.bits(2), OnBits, Extent(1, 1)) == dict.fromkeys(
        range(4), ExpSum.of(Fraction(1, 4))
    )
    assert probabilities(lambda coins: coins.bits(1) + coins.bits(1), OnBits, Extent(5, 1)) == {}


def test_products_and_equality() -> None:
    """The test fails if two equal sums of exponentials do not compare as equal, or if a
    sum equals its rounded value.
    """
    one, e = ExpSum.of(1), ExpSum.of(1, Fraction(1, 3))
    assert (one + ExpSum.of(-1) * e) * (one + e) == one + ExpSum.of(-1, Fraction(2, 3))
    assert e * e * e == ExpSum.of(1, 1)
    assert e != ExpSum.of(Fraction(7165313105737893, 10**16))  # this number is e^{−1/3} rounded to 16 digits
    assert hash(e * e * e) == hash(ExpSum.of(1, 1))


def test_a_decision_that_is_certain_has_no_other_branch() -> None:
    found = probabilities(lambda coins: coins.chance(1, 1), OnChances, Extent(3, 1))
    assert found == {True: ExpSum.of(1)}
