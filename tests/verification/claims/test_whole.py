"""Test that an entry of the ledger may be marked `whole` only for a theorem about the whole mechanism and neighbouring
data sets.
"""

from dataclasses import replace
from pathlib import Path

from covassay.verification.claims.kernel import lock
from covassay.verification.claims.ledger import LedgerClaim, Leg, _whole_problems, claims

PROOFS = Path(__file__).resolve().parents[3] / "proofs"


def with_leg(claim: LedgerClaim, theorem: str) -> LedgerClaim:
    """Return a copy of the claim in which only the given theorem has the mark `whole`. The mark says that a theorem is
    about the whole mechanism.
    """
    others = tuple(leg for leg in claim.legs if not leg.whole)
    return replace(claim, legs=(*others, Leg("rocq", theorem, True, "all", "", True)))


def test_the_entries_call_whole_what_is() -> None:
    """The test fails if the ledger calls a lemma a theorem about a whole mechanism."""
    assert sum(any(leg.whole for leg in claim.legs) for claim in claims().values()) >= 42
    assert _whole_problems(claims().values(), lock.read(PROOFS)) == []


def test_a_flag_on_a_lemma_and_a_swapped_flag_are_seen() -> None:
    """The mark `whole` in the ledger says that a theorem is about a whole mechanism. The test fails if the ledger may
    put this mark on a lemma, on a theorem about another mechanism, or on a theorem that does not exist.
    """
    locked, laplace = lock.read(PROOFS), claims()["MECH.laplace"]
    (lemma,) = _whole_problems([with_leg(laplace, "KNORM-DP")], locked)
    assert "is not that of a theorem on a mechanism" in lemma
    (swapped,) = _whole_problems([with_leg(laplace, "WHOLE.ppc")], locked)
    assert "another mechanism" in swapped
    (missing,) = _whole_problems([with_leg(laplace, "WHOLE.nothing")], locked)
    assert "WHOLE.nothing" in missing
