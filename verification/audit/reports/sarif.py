"""Write the report of an audit as SARIF 2.1.0, a format that code-scanning services and editors read.

In a SARIF file, only findings become results. A refuted check gives a result of level "error". A finding that breaks no
promise of the target gives a result of level "note". Code-scanning services show every result as an alert. A check that
found nothing is therefore only an entry in the list of rules, and gives no result. An undecided check is listed as a
notification of the run.
"""

import hashlib
import json
import os
import re
from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

from covassay.verification.audit.engine.finding import Finding, Kind, Status, Verdict
from covassay.verification.audit.questions import questions
from covassay.verification.audit.report import AuditReport
from covassay.verification.audit.reports.format import Format
from covassay.verification.audit.reports.plain import plain
from covassay.verification.audit.reports.words import (
    MEANING,
    bits_sentence,
    exact_sentence,
    explanation,
    p_text,
    questions_asked,
    subject,
)

VERSION = "2.1.0"
SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
ROOT = "%SRCROOT%"  # in a SARIF file, this name stands for the directory in which the audit was started
# only checks with these statuses become results, and each status has its SARIF level
LEVEL = {Status.REFUTED: "error", Status.NOTED: "note"}
COMPLETED = (0, 1)  # an audit with one of these exit statuses has reached a decision
ABOUT: dict[Kind, str] = {
    "contract": "These checks test promises on which any caller may rely.",
    "data path": "These checks test whether the noise depends on the data if the seed is fixed.",
    "law": "These checks test whether the outputs have the distribution that the reference gives them.",
    "privacy": "These checks test whether the loss between neighbouring data sets exceeds the claim.",
    "bits": "These checks test whether the low-order bits of an output show which of two neighbours was used.",
}


def as_sarif(report: AuditReport, status: int | None = None) -> dict[str, Any]:
    """Return the report as SARIF 2.1.0; `status` is the exit status if it differs from the usual one for the
    verdict."""
    rules = {rule_id(check): _rule(check) for check in report.checks}
    ids = list(rules)
    found = [check for check in report.checks if check.status in LEVEL]
    driver = {"name": "covassay", "version": report.covassay, "rules": list(rules.values())}
    run = {
        "tool": {"driver": driver},
        "automationDetails": {"id": f"covassay/{quote(plain(report.target), safe='')}/"},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {ROOT: {"description": _message("The directory from which the audit was run.")}},
        "invocations": [_invocation(report, report.verdict.exit_status if status is None else status)],
        "results": [_result(check, ids.index(rule_id(check)), report) for check in found],
        "properties": _properties(report),
    }
    return {"$schema": SCHEMA, "version": VERSION, "runs": [run]}


def sarif_text(report: AuditReport, status: int | None = None) -> str:
    """Return the report as SARIF 2.1.0 in text form."""
    return json.dumps(as_sarif(report, status), indent=2) + "\n"


def rule_id(check: Finding) -> str:
    """Return a name of a check that is the same in every run, made from its kind and its name without the data sets."""
    return "/".join(re.sub(r"\W+", "-", part).strip("-") for part in (check.kind, check.name))


def _message(text: str) -> dict[str, str]:
    """Return a text as a message of SARIF, in which braces are doubled so that nothing becomes a link."""
    return {"text": plain(text).replace("{", "{{").replace("}", "}}").replace("](", "] (")}


def _rule(check: Finding) -> dict[str, Any]:
    return {
        "id": rule_id(check),
        "shortDescription": _message(f"{check.kind}: {check.name}"),
        "fullDescription": _message(ABOUT[check.kind]),
        "help": _message(_help(check)),
        "defaultConfiguration": {"level": "error"},
    }


def _help(check: Finding) -> str:
    """Return the help text of a rule, which says what its question tests and what it cannot detect."""
    asked = {question.id: question for question in questions()}.get(check.question)
    return ABOUT[check.kind] if asked is None else f"{asked.asks} It cannot detect: {asked.blind_to}."


def _fingerprint(check: Finding, report: AuditReport) -> str:
    """Return a fingerprint of target, claim, rule and data set, so that the same finding has the same fingerprint in
    two runs.
    """
    words = (report.target, str(report.claim), rule_id(check), check.scenario)
    return hashlib.sha256("\n".join(words).encode("utf-8", "backslashreplace")).hexdigest()


def _result(check: Finding, index: int, report: AuditReport) -> dict[str, Any]:
    p = p_text(check.p_value)
    text = f"{report.target}, {report.claim}: {check.label}: {explanation(check)}{f' p = {p}.' if p else ''}"
    return {
        "ruleId": rule_id(check),
        "ruleIndex": index,
        "level": LEVEL[check.status],
        "message": _message(text),
        "locations": [location(report)],
        "partialFingerprints": {"covassay/v1": _fingerprint(check, report)},
        "properties": {"scenario": plain(check.scenario), "p_value": check.p_value, "draws": check.n},
    }


def location(report: AuditReport) -> dict[str, Any]:
    """Return the name of a target and, if they are known, the file and the line of its source."""
    named = {"logicalLocations": [{"fullyQualifiedName": plain(report.target), "kind": "function"}]}
    found = report.found_at
    if found is None:
        return named
    if found.file.is_relative_to(found.directory):
        path = found.file.relative_to(found.directory).as_posix()
        file = {"uri": quote(os.fsencode(path)), "uriBaseId": ROOT}
    else:
        file = {"uri": found.file.as_uri()}
    return {"physicalLocation": {"artifactLocation": file, "region": {"startLine": found.line}}, **named}


def _invocation(report: AuditReport, status: int) -> dict[str, Any]:
    return {
        "executionSuccessful": status in COMPLETED,
        "exitCode": status,
        "exitCodeDescription": f"{report.verdict.value}. {MEANING[report.verdict]}",
        "toolExecutionNotifications": list(_notifications(report)),
        "properties": {"seed": report.seed, "replay": plain(report.replay)},
    }


def _notifications(report: AuditReport) -> Iterable[dict[str, Any]]:
    level = "error" if report.verdict is Verdict.INCONCLUSIVE else "warning"
    undecided = [check for check in report.checks if check.status is Status.INCONCLUSIVE]
    for check in undecided:
        yield {
            "level": level,
            "message": _message(f"{check.label}: {explanation(check)}"),
            "locations": [location(report)],
        }
    if report.verdict is Verdict.INCONCLUSIVE and not undecided:
        yield {"level": level, "message": _message(MEANING[report.verdict]), "locations": [location(report)]}


def _properties(report: AuditReport) -> dict[str, Any]:
    return {
        "verdict": report.verdict.value,
        "subject": plain(subject(report)),
        "questions": questions_asked(report),
        "exact": plain(exact_sentence(report)),
        "bits": plain(bits_sentence(report)),
        "diagnoses": [plain(text) for text in report.diagnoses],
        "false_alarm": report.false_alarm,
        "samples": report.samples,
    }


FORMAT = Format("sarif", "also write what was found as SARIF 2.1.0, for code-scanning services", sarif_text)
