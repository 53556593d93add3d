"""Test that the file of every mechanism and the ledger of claims state the same provenance."""

import pytest

from covassay.reference.mechanisms.registry import MECHANISMS
from covassay.verification.claims.ledger import claims


@pytest.mark.parametrize("name", MECHANISMS)
def test_a_mechanism_and_its_ledger_entry_state_the_same_provenance(name: str) -> None:
    declared = MECHANISMS[name]
    assert claims()[declared.claim].provenance == declared.about.provenance
