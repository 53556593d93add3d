"""Words that the reports share, and the report in a few lines of plain text."""

from covassay.verification.audit.engine.checks import CheckResult, Status, Verdict
from covassay.verification.audit.engine.run import AuditReport

MEANING = {
    Verdict.REFUTED: "At least one promise is broken. The witness and the replay command reproduce it.",
    Verdict.NOT_REFUTED: (
        "Nothing was found that contradicts the claim. That is not a certificate: the checks say what this run could "
        "have seen."
    ),
    Verdict.INCONCLUSIVE: "The target gave too few outputs to decide.",
}
SMALLEST_P = 1e-300  # floating point can hold smaller p-values only as 0


def p_text(p_value: float | None) -> str:
    """A p-value in two digits; empty for a check that is no statistical test."""
    if p_value is None:
        return ""
    return f"{p_value:.2g}" if p_value > 0 else f"< {SMALLEST_P:g}"


def subject(report: AuditReport) -> str:
    """The target, what it claims to be, and its claim."""
    return f"{report.target}{f' as {report.mechanism}' if report.mechanism else ''}, {report.claim}"


def could_have_seen(check: CheckResult) -> str:
    """What a test is sure to see with 99 % power, or the loss that an event has shown; empty for other checks."""
    facts = check.facts
    if "detectable" in facts:
        return f"{facts['effect']} ≥ {facts['detectable']:.3f}"
    if "loss_lower_bound" in facts:
        return f"loss ≥ {facts['loss_lower_bound']:.3f}"
    return ""


def summary(report: AuditReport) -> str:
    """Claim, verdict, what led to it and the replay command as plain text: the message of a test that fails."""
    undecided = (Status.INCONCLUSIVE, Status.SKIPPED)
    decisive = report.refuted or [check for check in report.checks if check.status in undecided]
    lines = [f"{subject(report)}: {report.verdict.value}. {MEANING[report.verdict]}"]
    for check in decisive:
        p = p_text(check.p_value)
        lines.append(f"{check.label}{f': p = {p}' if p else ''}: {check.detail}")
    lines += [f"law that fits instead: {diagnosis}" for diagnosis in report.diagnoses]
    return "\n".join((*lines, f"replay: {report.replay}"))
