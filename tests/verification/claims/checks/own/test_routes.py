"""Test that the check that computes one probability by several methods reports a method that could not be used."""

import importlib.util

import pytest

from covassay.verification.claims.checks.own import routes


def test_a_missing_python_flint_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """This test catches a check that claims three computations after only two."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    evidence = routes.norm_by_iterated_integration()
    assert evidence.holds
    assert evidence.figures["with Arb"] == "none: it needs python-flint (covassay[exact])"


@pytest.mark.skipif(importlib.util.find_spec("flint") is None, reason="needs the extra exact")
def test_with_python_flint_there_is_a_third_computation() -> None:
    """This test catches a check that leaves out the third computation although its library is installed."""
    evidence = routes.norm_by_iterated_integration()
    assert evidence.figures["with Arb"] == f"{len(routes.PROBABILITIES)} of them"
