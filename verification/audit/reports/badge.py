"""Write the verdict of an audit as a JSON file from which shields.io draws a badge for a README.

A reader sees a badge without the report, so the badge states only the verdict and what it rests on. A badge is never
green, because no audit proves privacy.
"""

import json
from typing import Any

from covassay.verification.audit.engine.finding import Verdict
from covassay.verification.audit.report import AuditReport
from covassay.verification.audit.reports.format import Format

LABEL = "covassay"
COLOUR = {Verdict.REFUTED: "red", Verdict.NOT_REFUTED: "blue", Verdict.INCONCLUSIVE: "lightgrey"}


def short(number: float) -> str:
    """Write a small number in few digits, with an exponent without leading zeros, such as 1e-9."""
    digits, e, exponent = f"{number:g}".partition("e")
    return f"{digits}e{int(exponent)}" if e else digits


def as_badge(report: AuditReport) -> dict[str, Any]:
    """Return the badge of a report.

    A user can ask shields.io for another colour in the URL of a badge. The badge of a refuted or undecided report keeps
    its own colour, because it has the key `isError`.
    """
    message = report.verdict.value.lower()
    if report.verdict is Verdict.NOT_REFUTED:
        message += f" ({report.samples} draws, {short(report.false_alarm)})"
    standing = report.verdict is Verdict.NOT_REFUTED
    return {
        "schemaVersion": 1,
        "label": LABEL,
        "message": message,
        "color": COLOUR[report.verdict],
        **({} if standing else {"isError": True}),
    }


def badge_text(report: AuditReport) -> str:
    """Return the badge of a report as JSON text."""
    return json.dumps(as_badge(report), indent=2) + "\n"


FORMAT = Format(
    "badge",
    "also write the verdict as a badge, the JSON that shields.io reads",
    lambda report, status: badge_text(report),
)
