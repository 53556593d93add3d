"""Test that the JSON report conforms to its published schema, and that the schema is complete and rejects invalid
reports.
"""

import json
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest

from covassay.verification.audit.reports.json_report import as_json, schema
from tests.verification.audit.reports.kinds_of_reports import AUDITS, report_of

VALIDATOR = jsonschema.Draft202012Validator(schema())


def _report(kind: str) -> dict[str, Any]:
    """Return a new copy of a JSON report."""
    report: dict[str, Any] = json.loads(json.dumps(as_json(report_of(kind)), allow_nan=False))
    return report


@pytest.mark.thorough
def test_every_kind_of_report_keeps_the_schema() -> None:
    for name in AUDITS:
        report = _report(name)
        errors = [f"{name}: {list(error.path)}: {error.message}" for error in VALIDATOR.iter_errors(report)]
        assert not errors, errors
        assert report["verdict"].lower() == name.split(",")[0].split(" by ")[0].split(" at ")[0]


SHAPES_OF_FACTS = {
    "bits",
    "entries",
    "ignores_rng",
    "law_test",
    "out_of_time",
    "own_data",
    "residuals",
    "running_time",
    "tested_event",
}


@pytest.mark.thorough
def test_the_reports_cover_every_shape_of_facts() -> None:
    """The schema defines several kinds of facts. The test fails if one of these kinds is in no report, because its
    definition would then be untested.
    """
    whole = schema()
    of_reports = (check["facts"] for kind in AUDITS for check in _report(kind)["checks"] if check["facts"])
    # of all facts with the same field names, only one is validated
    found = list({frozenset(facts): facts for facts in of_reports}.values())
    for name in SHAPES_OF_FACTS:
        part = {"$schema": whole["$schema"], "$defs": whole["$defs"], "$ref": f"#/$defs/{name}"}
        validator = jsonschema.Draft202012Validator(part)
        assert any(validator.is_valid(facts) for facts in found), name


def _objects(node: Any) -> Iterator[dict[str, Any]]:
    if isinstance(node, dict):
        if node.get("type") == "object" and "properties" in node:
            yield node
        for child in node.values():
            yield from _objects(child)
    elif isinstance(node, list):
        for child in node:
            yield from _objects(child)


def test_the_schema_is_valid_and_describes_every_field() -> None:
    jsonschema.Draft202012Validator.check_schema(schema())
    found = list(_objects(schema()))
    assert len(found) >= 8
    for node in found:
        assert node["additionalProperties"] is False
        for name, field in node["properties"].items():
            assert field.get("description"), name


def _event(report: dict[str, Any]) -> dict[str, Any]:
    """Return the facts about an event that the audit has tested."""
    return next(check["facts"] for check in report["checks"] if "counts" in check["facts"])


MUTATIONS: dict[str, Any] = {
    "no verdict": lambda r: r.pop("verdict"),
    "no checks": lambda r: r.update(checks=[]),
    "another field": lambda r: r.update(certificate=True),
    "a certificate": lambda r: r.update(verdict="CERTIFIED"),
    "exit status of another verdict": lambda r: r.update(exit_status=0),
    "a refutation without a refuted check": lambda r: [c.update(status="noted") for c in r["checks"]],
    "two budgets": lambda r: r["claim"].update(rho=0.5),
    "no budget": lambda r: r.update(claim={}),
    "delta alone": lambda r: r.update(claim={"delta": 1e-6}),
    "a p-value above 1": lambda r: r["checks"][-1].update(p_value=1.5),
    "a p-value as text": lambda r: r["checks"][-1].update(p_value="0.1"),
    "a p-value of the contract": lambda r: r["checks"][0].update(p_value=0.1),
    "another kind": lambda r: r["checks"][0].update(kind="hearsay"),
    "another status": lambda r: r["checks"][0].update(status="passed"),
    "a check without a name": lambda r: r["checks"][0].update(name=""),
    "another fact": lambda r: _event(r).update(more=1),
    "a test without its counts": lambda r: _event(r).pop("counts"),
    "one count": lambda r: _event(r).update(counts=[3]),
    "another format": lambda r: r.update(schema="covassay-audit-2"),
}


@pytest.mark.thorough
@pytest.mark.parametrize("mutation", MUTATIONS)
def test_the_schema_rejects_a_mutated_report(mutation: str) -> None:
    report = _report("refuted by privacy")
    assert report["checks"][-1]["kind"] == "privacy"
    MUTATIONS[mutation](report)
    assert not VALIDATOR.is_valid(report)


CURVES: dict[str, Any] = {
    "a share above 1": lambda curve: curve["up_to"].__setitem__(0, 1.5),
    "a value as text": lambda curve: curve["values"].__setitem__(0, "much"),
    "no law": lambda curve: curve.pop("law_up_to"),
    "no values": lambda curve: curve.update(values=[]),
    "a fact more": lambda curve: curve.update(colour="red"),
}


@pytest.mark.thorough
def test_the_numbers_behind_the_pictures_are_in_the_report_and_a_spoiled_one_is_rejected() -> None:
    for name, most in (("refuted by its law", 1), ("refuted, zCDP in a box", 0), ("not refuted", 1)):
        drawn = [check["facts"]["curve"] for check in _report(name)["checks"] if "curve" in check["facts"]]
        assert len(drawn) == most, name
    for change in CURVES.values():
        report = _report("refuted by its law")
        (curve,) = (check["facts"]["curve"] for check in report["checks"] if "curve" in check["facts"])
        assert len({len(numbers) for numbers in curve.values() if isinstance(numbers, list)}) == 1
        change(curve)
        assert not VALIDATOR.is_valid(report)
