"""The report of an audit: for a terminal, as JSON, and as JUnit XML for the pages of a CI service."""

import math
import re
from collections.abc import Mapping
from typing import Any
from xml.etree import ElementTree

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from covassay.verification.audit.engine.checks import CheckResult, Status, Verdict
from covassay.verification.audit.engine.run import AuditReport

MEANING = {
    Verdict.REFUTED: "At least one promise is broken. The witness and the command below reproduce it.",
    Verdict.NOT_REFUTED: (
        "Nothing was found that contradicts the claim. That is not a certificate: the table says what this run could "
        "have seen."
    ),
    Verdict.INCONCLUSIVE: "The target gave too few outputs to decide.",
}
STYLE = {
    Status.REFUTED: "bold red",
    Status.SUSPICIOUS: "yellow",
    Status.NOTED: "yellow",
    Status.INCONCLUSIVE: "yellow",
    Status.SKIPPED: "dim",
    Status.NOT_REFUTED: "",
}


def _plain(value: Any) -> Any:
    """JSON has no infinities; they become strings."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


def as_json(report: AuditReport) -> dict[str, Any]:
    """The whole report as plain data; schema covassay-audit-1."""
    return {
        "schema": "covassay-audit-1",
        "covassay": report.covassay,
        "target": report.target,
        "version": report.version,
        "mechanism": report.mechanism,
        "options": report.options,
        "claim": report.claim.keywords(),
        "adjacency": report.adjacency,
        "verdict": report.verdict.value,
        "exit_status": report.verdict.exit_status,
        "meaning": MEANING[report.verdict],
        "diagnoses": list(report.diagnoses),
        "seed": report.seed,
        "samples": report.samples,
        "false_alarm": report.false_alarm,
        "replay": report.replay,
        "seconds": round(report.seconds, 3),
        "notes": list(report.notes),
        "checks": [
            {
                "kind": check.kind,
                "scenario": check.scenario,
                "name": check.name,
                "status": check.status.value,
                "detail": check.detail,
                "p_value": check.p_value,
                "n": check.n,
                "facts": _plain(check.facts),
            }
            for check in report.checks
        ],
    }


NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def as_junit(report: AuditReport) -> str:
    """A test suite with a case for every check; a refuted check is a failure, one without a decision is skipped."""

    def text(value: str) -> str:
        return NOT_XML.sub("?", value)

    suite = ElementTree.Element("testsuite", name=text(f"covassay audit {report.target}"), time=f"{report.seconds:.3f}")
    properties = ElementTree.SubElement(suite, "properties")
    facts = {"verdict": report.verdict.value, "meaning": MEANING[report.verdict], "claim": str(report.claim),
             "seed": str(report.seed), "false_alarm": f"{report.false_alarm:g}", "replay": report.replay}  # fmt: skip
    for key, value in facts.items():
        ElementTree.SubElement(properties, "property", name=key, value=text(value))
    failures = skipped = 0
    for check in report.checks:
        case = ElementTree.SubElement(suite, "testcase", classname=f"covassay.{check.kind}", name=text(check.label))
        if check.status is Status.REFUTED:
            failures += 1
            failure = ElementTree.SubElement(case, "failure", message=text(check.detail))
            failure.text = text(f"{check.detail}\np = {_p(check) or 'none'}\nreplay: {report.replay}")
        elif check.status in (Status.SKIPPED, Status.INCONCLUSIVE):
            skipped += 1
            ElementTree.SubElement(case, "skipped", message=text(check.detail or check.status.value))
    suite.attrib |= {"tests": str(len(report.checks)), "failures": str(failures), "skipped": str(skipped)}
    ElementTree.indent(suite)
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=False) + "\n"


def _could_have_seen(check: CheckResult) -> str:
    facts = check.facts
    if "detectable" in facts:
        return f"{facts['effect']} ≥ {facts['detectable']:.3f}"
    if "loss_lower_bound" in facts:
        return f"loss ≥ {facts['loss_lower_bound']:.3f}"
    return ""


def _p(check: CheckResult) -> str:
    if check.p_value is None:
        return ""
    return f"{check.p_value:.2g}" if check.p_value > 0 else "< 1e-300"


def summary(report: AuditReport) -> str:
    """Claim, verdict, what led to it and the replay command as plain text: the message of a test that fails."""
    undecided = (Status.INCONCLUSIVE, Status.SKIPPED)
    decisive = report.refuted or [check for check in report.checks if check.status in undecided]
    return "\n".join(
        (
            f"{report.target}{f' as {report.mechanism}' if report.mechanism else ''}, {report.claim}: "
            f"{report.verdict.value}. {MEANING[report.verdict]}",
            *(f"{check.label}{f': p = {_p(check)}' if _p(check) else ''}: {check.detail}" for check in decisive),
            *(f"law that fits instead: {diagnosis}" for diagnosis in report.diagnoses),
            f"replay: {report.replay}",
        )
    )


def print_report(report: AuditReport, console: Console) -> None:
    """The report as a table, with the verdict and the replay command last."""
    claimed = f" as {report.mechanism}" if report.mechanism else ""
    chosen = "".join(f", {key} {value}" for key, value in report.options.items())
    console.print(f"[bold]{escape(report.target)}[/bold] ({escape(report.version or 'your own')}){claimed}{chosen}")
    console.print(f"claim: {report.claim}, {report.adjacency}; false alarm at most {report.false_alarm:g} per run")
    for note in report.notes:
        console.print(f"note: {escape(note)}")
    table = Table("check", "status", "p", "draws", "seen, or sure to be seen (99 %)", pad_edge=False, expand=False)
    for check in report.checks:
        table.add_row(
            escape(check.label), check.status.value, _p(check), str(check.n or ""), _could_have_seen(check),
            style=STYLE[check.status],
        )  # fmt: skip
    console.print(table)
    for check in report.checks:
        if check.status not in (Status.NOT_REFUTED, Status.SKIPPED):
            console.print(f"[bold]{escape(check.label)}[/bold]: {escape(check.detail)}")
            if check.facts.get("estimates"):
                console.print(f"    {escape(check.facts['estimates'])}")
    for diagnosis in report.diagnoses:
        console.print(f"[bold]law that fits instead[/bold]: {escape(diagnosis)}")
    style = {"REFUTED": "bold red", "NOT REFUTED": "bold green", "INCONCLUSIVE": "bold yellow"}[report.verdict.value]
    kinds = sorted({check.kind for check in report.refuted})
    suffix = f" ({', '.join(kinds)})" if kinds else ""
    console.print(
        f"[{style}]{report.verdict.value}[/{style}]{suffix} in {report.seconds:.1f} s. {MEANING[report.verdict]}"
    )
    console.print("replay: ", end="")
    console.print(report.replay, soft_wrap=True, markup=False, highlight=False)
