"""Words that the reports share, and the report in a few lines of plain text."""

from collections.abc import Sequence
from typing import Any

from covassay.verification.audit.engine.checks import CheckResult, Status, Verdict
from covassay.verification.audit.run import AuditReport

MEANING = {
    Verdict.REFUTED: "At least one promise is broken. The witness and the replay command reproduce it.",
    Verdict.NOT_REFUTED: (
        "Nothing was found that contradicts the claim. That is not a certificate: the checks say what this run could "
        "have seen."
    ),
    Verdict.INCONCLUSIVE: "The run could not decide: too few outputs, or too few draws for this claim.",
}
SMALLEST_P = 1e-300  # floating point can hold smaller p-values only as 0


def p_text(p_value: float | None) -> str:
    """A p-value in two digits; empty for a check that is no statistical test."""
    if p_value is None:
        return ""
    return f"{p_value:.2g}" if p_value > 0 else f"< {SMALLEST_P:g}"


def subject(report: AuditReport) -> str:
    """The target, what it claims to be, its claim, and for which neighbours."""
    mechanism = f" as {report.mechanism}" if report.mechanism else ""
    return f"{report.target}{mechanism}, {report.claim}, {report.adjacency}"


def could_have_seen(check: CheckResult) -> str:
    """What a test is sure to see with 99 % power, or the loss that an event has shown; empty for other checks."""
    facts = check.facts
    if "detectable" in facts:
        return f"{facts['effect']} ≥ {facts['detectable']:.3f}"
    if "loss_lower_bound" in facts:
        return f"loss ≥ {facts['loss_lower_bound']:.3f}"
    return ""


def witness(check: CheckResult) -> str:
    """The two data sets on which an event was counted, in words; empty for a check that counts no event."""
    found: dict[str, Any] | None = check.facts.get("data_sets")
    if found is None:
        return ""
    rows = found["differing_rows"]
    size = f"The data sets have {found['n']} × {found['d']} entries"
    if not rows:
        return f"{size} and are equal."
    differences = (
        f"row {row['row']} is {_row(row['first'])} in the first and "
        + (f"{_row(row['second'])} in the second" if row["second"] is not None else "missing in the second")
        for row in rows
    )
    return f"{size} and are equal but for this: {'; '.join(differences)}."


def _row(values: Sequence[float]) -> str:
    return f"({', '.join(f'{value:.6g}' for value in values)})"


def explanation(check: CheckResult) -> str:
    """What a check tested and saw, and the data sets on which it counted an event."""
    data_sets = witness(check)
    return f"{check.detail}. {data_sets}" if data_sets else check.detail


def summary(report: AuditReport) -> str:
    """Claim, verdict, what led to it and the replay command as plain text: the message of a test that fails."""
    undecided = (Status.INCONCLUSIVE, Status.SKIPPED)
    decisive = report.refuted or [check for check in report.checks if check.status in undecided]
    lines = [f"{subject(report)}: {report.verdict.value}. {MEANING[report.verdict]}"]
    for check in decisive:
        p = p_text(check.p_value)
        lines.append(f"{check.label}{f': p = {p}' if p else ''}: {explanation(check)}")
    word = "law that fits instead" if report.mechanism else "what explains it"
    lines += [f"{word}: {diagnosis}" for diagnosis in report.diagnoses]
    return "\n".join((*lines, f"replay: {report.replay}"))
