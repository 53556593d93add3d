"""Write the report of an audit as JUnit XML, which CI services can display."""

import re
from xml.etree import ElementTree

from covassay.verification.audit.engine.finding import Finding, Status
from covassay.verification.audit.report import AuditReport
from covassay.verification.audit.reports.format import Format
from covassay.verification.audit.reports.words import (
    MEANING,
    bits_sentence,
    exact_sentence,
    explanation,
    p_text,
    questions_asked,
)

NOT_XML = re.compile(
    "[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
)  # XML 1.0 cannot contain these characters
UNDECIDED = (Status.SKIPPED, Status.INCONCLUSIVE)


def _text(value: str) -> str:
    return NOT_XML.sub("?", value)


def _add_case(suite: ElementTree.Element, check: Finding, replay: str) -> None:
    case = ElementTree.SubElement(suite, "testcase", classname=f"covassay.{check.kind}", name=_text(check.label))
    if check.status is Status.REFUTED:
        failure = ElementTree.SubElement(case, "failure", message=_text(check.detail))
        failure.text = _text(f"{explanation(check)}\np = {p_text(check.p_value) or 'none'}\nreplay: {replay}")
    elif check.status in UNDECIDED:
        ElementTree.SubElement(case, "skipped", message=_text(check.detail or check.status.value))


def as_junit(report: AuditReport) -> str:
    """Return a test suite with a test case for every check; a refuted check fails, and an undecided check is
    skipped.
    """
    suite = ElementTree.Element(
        "testsuite", name=_text(f"covassay audit {report.target}"), time=f"{report.seconds:.3f}"
    )
    properties = ElementTree.SubElement(suite, "properties")
    facts = {"verdict": report.verdict.value, "meaning": MEANING[report.verdict], "claim": str(report.claim),
             "seed": str(report.seed), "false_alarm": f"{report.false_alarm:g}", "replay": report.replay,
             "scope": report.scope, "questions": questions_asked(report), "exact": exact_sentence(report),
             "bits": bits_sentence(report)}  # fmt: skip
    for key, value in facts.items():
        ElementTree.SubElement(properties, "property", name=key, value=_text(value))
    for check in report.checks:
        _add_case(suite, check, report.replay)
    skipped = sum(check.status in UNDECIDED for check in report.checks)
    counts = {"tests": len(report.checks), "failures": len(report.refuted), "skipped": skipped}
    suite.attrib |= {name: str(count) for name, count in counts.items()}
    ElementTree.indent(suite)
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=False) + "\n"


FORMAT = Format(
    "junit", "also write the report as JUnit XML, one case for every check", lambda report, status: as_junit(report)
)
