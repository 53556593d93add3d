"""Test how the command line reads the values of options."""

import pytest

from covassay.reference.errors import InvalidInput
from covassay.reference.privacy import ZCDP, ApproximateDP, Guarantee, PureDP
from covassay.verification.cli.options import parse_names, parse_total


@pytest.mark.parametrize(
    ("text", "total"),
    [
        ("epsilon=1", PureDP(1.0)),
        ("rho=0.5", ZCDP(0.5)),
        ("epsilon=1,delta=1e-6", ApproximateDP(1.0, 1e-6)),
        ("delta=1e-6, epsilon=1", ApproximateDP(1.0, 1e-6)),
    ],
)
def test_a_total_is_read(text: str, total: Guarantee) -> None:
    assert parse_total(text) == total


@pytest.mark.parametrize(
    "text", ["", "1", "epsilon", "epsilon=", "epsilon=x", "epsilon=0", "rho=nan", "delta=1e-6", "epsilon=1,rho=1",
             "epsilon=1,epsilon=2", "epsilon=1,delta=1", "epsilon=1,"]
)  # fmt: skip
def test_a_bad_total_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match=r"^--total .*must be epsilon=…, rho=… or epsilon=…,delta=…$"):
        parse_total(text)


def test_quotes_protect_a_comma_in_a_name() -> None:
    """The test fails if a quoted column name with a comma is read as two names."""
    assert parse_names("--columns", '"a, b",c') == ("a, b", "c")


@pytest.mark.parametrize("text", ['"a', 'a"b"\n,"', "a\nb"])
def test_a_list_of_names_that_is_no_line_of_names_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match=r"^--drop .*must be names with commas between them"):
        parse_names("--drop", text)
