"""Test that the provenance in the file of a mechanism agrees with its provenance in the ledger."""

import pytest

from covassay.reference.mechanisms.registry import MECHANISMS
from covassay.verification.claims.ledger import claims


@pytest.mark.parametrize("name", MECHANISMS)
def test_a_mechanism_and_its_ledger_entry_state_the_same_provenance(name: str) -> None:
    declared = MECHANISMS[name]
    assert claims()[declared.claim].provenance == declared.about.provenance
