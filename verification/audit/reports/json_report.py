"""Write the report of an audit as JSON, and the JSON Schema to which every such report conforms."""

import json
import re
from importlib.resources import files
from typing import Any

from covassay.verification.audit.engine.facts import Explanation, Facts, LawTest, as_data, schema_of
from covassay.verification.audit.engine.finding import Finding
from covassay.verification.audit.options import settings_schema
from covassay.verification.audit.questions import questions
from covassay.verification.audit.recorded.facts import ExactPair
from covassay.verification.audit.report import AuditReport
from covassay.verification.audit.reports.pictures import curve_facts, pictured
from covassay.verification.audit.reports.words import MEANING, bits_sentence

SCHEMA = "covassay-audit-1"
CURVE = "curve"  # in a report, the numbers that a plot of a check shows are stored with this key
AUDITED = ("covassay", "target", "version", "mechanism", "options", "claim", "adjacency")


def schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a report."""
    text = (files(__package__) / "schema" / "audit.json").read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    given = {kind for question in questions() for kind in question.gives if not issubclass(kind, Explanation)}
    kinds = sorted(given, key=kind_of)  # the facts of a check are never of type `Explanation`
    for kind in kinds:
        shape = schema_of(kind)
        shape["properties"] = {
            "kind": {"description": "The kind of the facts.", "const": kind_of(kind)},
            **shape["properties"],
        }
        shape["required"] = ["kind", *shape["required"]]
        if kind is LawTest:
            shape["properties"][CURVE] = {"description": "The numbers behind a picture.", "$ref": "#/$defs/curve"}
        loaded["$defs"][kind_of(kind)] = shape
        loaded["$defs"]["check"]["properties"]["facts"]["anyOf"].append({"$ref": f"#/$defs/{kind_of(kind)}"})
    untested = [question.id for question in questions() if not question.share]
    loaded["$defs"]["check"]["if"] = {"properties": {"question": {"enum": untested}}}
    loaded["$defs"]["check"]["then"] = {"properties": {"p_value": {"const": None}}}
    loaded["properties"]["settings"] = settings_schema()
    loaded["properties"]["exact"] = {
        "description": "The pairs whose privacy loss is known, the largest loss first, and then the other pairs.",
        "type": "array",
        "items": schema_of(ExactPair),
    }
    return loaded


def kind_of(facts: type[Facts]) -> str:
    """Return the name of a class of facts in JSON, such as law_test for the class LawTest."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", facts.__name__).lower()


def _check(check: Finding, drawn: bool) -> dict[str, Any]:
    facts = {} if check.facts is None else {"kind": kind_of(type(check.facts)), **as_data(check.facts)}
    if drawn and check.curve:
        facts |= {CURVE: as_data(curve_facts(check.curve))}
    return {
        "question": check.question,
        "kind": check.kind,
        "scenario": check.scenario,
        "name": check.name,
        "status": check.status.value,
        "detail": check.detail,
        "p_value": check.p_value,
        "n": check.n,
        "facts": facts,
    }


def what_was_audited(report: AuditReport) -> dict[str, Any]:
    """Return the version of covassay, the target and the audited claim as data for JSON."""
    return {name: getattr(report, name) for name in AUDITED} | {"claim": report.claim.keywords()}


def as_json(report: AuditReport) -> dict[str, Any]:
    """Return the whole report as data for JSON that conform to the schema covassay-audit-1."""
    drawn = {id(check) for check in pictured(report)}
    return {
        "schema": SCHEMA,
        **what_was_audited(report),
        "verdict": report.verdict.value,
        "exit_status": report.verdict.exit_status,
        "meaning": MEANING[report.verdict],
        "scope": report.scope,
        "in_real_arithmetic": report.in_real_arithmetic.value,
        "bits": {
            "verdict": report.bits.verdict if report.bits else None,
            "sentence": bits_sentence(report),
            "would_have_seen": report.bits.reach if report.bits else "",
        },
        "diagnoses": list(report.diagnoses),
        "seed": report.seed,
        "samples": report.samples,
        "false_alarm": report.false_alarm,
        "settings": report.settings,
        "replay": report.replay,
        "seconds": round(report.seconds, 3),
        "error_budget": [
            {"question": s.question, "look": s.look, "share": float(s.share), "tests": s.tests} for s in report.budget
        ],
        "notes": list(report.notes),
        "questions": {"asked": len(report.asked), "skipped": len(report.not_asked)},
        "draws": {"made": report.draws, "failures": report.failures},
        "exact": [as_data(loss) for loss in report.exact],
        "checks": [_check(check, id(check) in drawn) for check in report.checks],
    }
