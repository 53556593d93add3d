"""Test that a badge shows only the verdict, and that the schema rejects badges that look more favourable."""

import json
from dataclasses import replace
from typing import Any

import jsonschema
import pytest

from covassay.verification.audit.engine.finding import Verdict
from covassay.verification.audit.reports.badge import as_badge, badge_text, short
from covassay.verification.cli.schema import schemas
from tests.verification.audit.reports.kinds_of_reports import report_of

VALIDATOR = jsonschema.Draft202012Validator(schemas()["audit-badge"])
MESSAGES = {
    "refuted": "refuted",
    "not refuted": "not refuted (100 draws, 1e-9)",
    "inconclusive": "inconclusive",
    "hostile": "refuted",
}


@pytest.mark.thorough
@pytest.mark.parametrize("kind", MESSAGES)
def test_a_badge_says_the_verdict(kind: str) -> None:
    """The test fails if a badge claims more than its audit shows, for example by being green."""
    badge = json.loads(badge_text(report_of(kind)))
    assert VALIDATOR.is_valid(badge)
    assert badge["message"] == MESSAGES[kind]
    assert badge["color"] != "green"


@pytest.mark.thorough
def test_every_verdict_has_its_own_colour_and_none_is_green() -> None:
    reports = [replace(report_of("not refuted"), verdict=verdict) for verdict in Verdict]
    colours = [as_badge(report)["color"] for report in reports]
    assert len(set(colours)) == len(Verdict)
    assert not any("green" in colour for colour in colours)
    assert [as_badge(report).get("isError", False) for report in reports] == [
        v is not Verdict.NOT_REFUTED for v in Verdict
    ]


def test_a_level_is_short() -> None:
    assert [short(level) for level in (1e-9, 0.05, 2.5e-12, 1e-10)] == ["1e-9", "0.05", "2.5e-12", "1e-10"]


FLATTERING: dict[str, Any] = {
    "passed": {"message": "passed"},
    "verified": {"message": "verified"},
    "verified, not refuted": {"message": "not refuted, verified"},
    "not refuted without its draws": {"message": "not refuted"},
    "green": {"color": "brightgreen"},
    "blue for the undecided": {"color": "blue"},
    "another colour can be asked for": {"isError": False},
    "another label": {"label": "privacy"},
    "a logo": {"namedLogo": "checkmark"},
    "another version": {"schemaVersion": 2},
}


@pytest.mark.parametrize("name", FLATTERING)
def test_the_schema_rejects_a_badge_that_flatters(name: str) -> None:
    badge = as_badge(report_of("inconclusive"))
    assert not VALIDATOR.is_valid(badge | FLATTERING[name])


@pytest.mark.thorough
def test_an_inconclusive_audit_cannot_have_the_badge_of_one_that_was_completed() -> None:
    assert not VALIDATOR.is_valid(as_badge(report_of("not refuted")) | {"color": "lightgrey"})
    assert not VALIDATOR.is_valid(as_badge(report_of("refuted")) | {"color": "blue"})
    assert not VALIDATOR.is_valid(as_badge(report_of("inconclusive")) | {"message": MESSAGES["not refuted"]})
