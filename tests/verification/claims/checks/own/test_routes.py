"""Test a check that computes one probability by several methods. The check must report a method that could not be
used.
"""

import importlib.util

import pytest

from covassay.verification.claims.checks.own import routes


def test_a_missing_python_flint_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test fails if the check claims three computations although python-flint is missing and only two were made."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    evidence = routes.norm_by_iterated_integration()
    assert evidence.holds
    assert evidence.figures["with Arb"] == "none: it needs python-flint (covassay[exact])"


@pytest.mark.skipif(importlib.util.find_spec("flint") is None, reason="needs the extra exact")
def test_with_python_flint_there_is_a_third_computation() -> None:
    """The test fails if the third computation is left out although python-flint is installed."""
    evidence = routes.norm_by_iterated_integration()
    assert evidence.figures["with Arb"] == f"{len(routes.PROBABILITIES)} of them"
