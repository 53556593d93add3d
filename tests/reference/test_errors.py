"""Test that an error message suggests a similar name."""

import pytest

from covassay.reference.errors import guess

NAMES = ("gaussian", "gauss-cov", "laplace", "lap-cov", "exponential")


@pytest.mark.parametrize(
    ("typed", "guessed"),
    [
        ("gauss", "did you mean gaussian or gauss-cov? It "),
        ("lap", "did you mean laplace or lap-cov? It "),
        ("laplac", "did you mean laplace? It "),
        ("gaus-cov", "did you mean gauss-cov? It "),
        ("wishart", ""),
        ("", ""),
    ],
)
def test_names_that_begin_alike_come_first_and_then_the_most_alike(typed: str, guessed: str) -> None:
    assert guess(typed, NAMES) == guessed


def test_where_very_many_begin_alike_one_is_named() -> None:
    assert guess("row", [f"row{i}" for i in range(9)]).count("row") == 1


def test_names_are_quoted_as_asked() -> None:
    assert guess("lap-co", NAMES, repr) == "did you mean 'lap-cov'? It "
