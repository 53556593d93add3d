"""What a mechanism says of its provenance agrees with what the ledger says of the same mechanism."""

import pytest

from covassay.reference.mechanisms.registry import MECHANISMS
from covassay.verification.claims.ledger import claims

# The ledger knows no "ours": what is ours after a printed source has the provenance "printed" there.
IN_THE_LEDGER = {"printed": "printed", "ours": "printed", "code": "code", "reconstructed": "reconstructed"}


@pytest.mark.parametrize("name", MECHANISMS)
def test_a_mechanism_and_its_ledger_entry_state_the_same_provenance(name: str) -> None:
    declared = MECHANISMS[name]
    assert claims()[declared.claim].provenance == IN_THE_LEDGER[declared.about.provenance]
