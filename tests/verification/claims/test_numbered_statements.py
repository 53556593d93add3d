"""Test that the ledger covers every numbered statement of the papers. The lists contain theorems, lemmas, corollaries,
facts, claims, numbered equations, and footnotes with a claim. This test fails if a statement is lost when entries of
the ledger are merged.
"""

import pytest

from covassay.reference.errors import InvalidInput
from covassay.verification.claims import ledger

NUMBERED = {
    "DN25": "Thm1 (1.1) Thm2 Thm3 Lem4 Lem5-i Lem5-ii Lem5-iii Thm6 (2.1) (4.1) (4.2) (4.3) (4.4) fn2 fn6 "
    "Alg1-DP Alg2-DP",
    "KLSU19": "Thm1.1 Thm1.1-DP Thm1.2 Thm1.3 Thm1.4 Thm1.5 fn1 (1) (2) (3) Def2.2 Lem2.3 Lem2.4 Lem2.4-Pure "
    "Lem2.4-Approximate Lem2.5-Basic Lem2.5-Advanced Lem2.5-zCDP Lem2.7 Lem2.8 Lem2.9 Thm3.1 Thm3.2-Upper Thm3.2-Lower "
    "Fact3.3 Fact3.4 (6) (7) (8) Lem3.5 Lem3.6 Lem3.6-DP Lem3.6-Projection (9) (10) Thm3.7 Thm3.8 (11) Lem3.9 Lem3.10 "
    "(13) Thm3.11 Thm3.12 Thm4.1 Thm4.2 Thm4.3 Thm5.1 Thm5.2 Lem5.4-TV Lem5.4-ChiSquare Lem5.4-KL Lem5.5 Lem5.6 Lem5.7 "
    "Lem5.8 Claims5.9-5.14 (14) Lem5.15 Claims5.16-5.21 Thm6.1 fn3 Lem6.2 Lem6.2-Statistic Lem6.3 (15) (16) Lem6.4 "
    "Thm6.5 Fact6.6 Lem6.7 Lem6.8 (17)-(18) Thm6.9 Thm6.10 Lem6.11 Claim6.12 Claim6.13 Claim6.14 Lem6.15",
    "ADK19": "Lem1 Lem1-Remark Lem2 Lem3-DP Lem3-Tail Lem4-DP Lem4-Utility fn1 Sec3 Thm1 Lem5 Lem6 Lem6-Identity Thm2 "
    "Cor1-DP Cor1-Definition Cor1-Utility Cor2",
    "DLY22": "(1) (2) (3) Lem1 Lem2 Lem3 Lem4 SVT Lem5 Lem6 Lem7-Frobenius Lem7-Spectral Lem8 Fact1 (4) Thm1 (5) Thm2 "
    "Lem9 Claim1 (7) Ex1 (8) (9) (10) Lem10 Thm3 Thm3-DP (11) (12) (13) (14) (15) (16) (17) (18) (19) (20) (21) Lem11 "
    "Lem12 Lem13 Lem14 Lem15 Lem16 Lem17 Lem18 Thm4 Thm4-DP AppA AppB AppC (22) Lem19",
}


@pytest.mark.parametrize(
    "name", [f"{paper}.{number}" for paper, listed in NUMBERED.items() for number in listed.split()]
)
def test_a_numbered_statement_has_an_entry_or_is_covered_by_one(name: str) -> None:
    """The test fails if no entry of the ledger covers a numbered statement of a paper."""
    entry = ledger.claim(name)
    assert name.partition(".")[0] in entry.id or any(name.partition(".")[0] in c.id for c in entry.covers)


def test_a_statement_that_no_entry_covers_is_seen() -> None:
    """The test fails if the ledger returns an entry for an id that does not exist."""
    with pytest.raises(InvalidInput, match="no such id"):
        ledger.claim("DLY22.(23)")
