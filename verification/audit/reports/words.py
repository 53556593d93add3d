"""Write the sentences that several formats of a report share, and a short report in plain text."""

import math
from collections.abc import Sequence

from covassay.verification.audit.engine.facts import InReach, LawTest, TestedEvent
from covassay.verification.audit.engine.finding import Finding, Status, Verdict
from covassay.verification.audit.engine.violation import loss_letter
from covassay.verification.audit.recorded.facts import ExactLosses, ExactPair, loss_words
from covassay.verification.audit.report import AuditReport

MEANING = {
    Verdict.REFUTED: "At least one promise is broken. The witness and the replay command reproduce the violation.",
    Verdict.NOT_REFUTED: (
        "Nothing was found that contradicts the claim. This verdict is not a certificate. The report says which "
        "violations this run could have detected."
    ),
    Verdict.INCONCLUSIVE: "The run could not decide. The checks that are marked inconclusive or skipped say why.",
}
MOST_ROWS, MOST_COLUMNS = 6, 3  # a data set with more numbers than this is not printed in full
MOST_FAILURES = 4  # a report lists at most this many kinds of failures
SMALLEST_P = 1e-300  # a p-value below this number is printed as an upper bound


def p_text(p_value: float | None) -> str:
    """Write a p-value with two digits, or an empty text for a check that is no statistical test."""
    if p_value is None:
        return ""
    return f"{p_value:.2g}" if p_value > 0 else f"< {SMALLEST_P:g}"


def subject(report: AuditReport) -> str:
    """Return, in words, the target, the mechanism that it claims to be, its privacy claim, and the adjacency."""
    mechanism = f" as {report.mechanism}" if report.mechanism else ""
    return f"{report.target}{mechanism}, {report.claim}, {report.adjacency}"


IN_REAL_ARITHMETIC = {
    Verdict.REFUTED: "refuted in real arithmetic",
    Verdict.NOT_REFUTED: "not refuted in real arithmetic",
    Verdict.INCONCLUSIVE: "not decided in real arithmetic",
}


def bits_sentence(report: AuditReport) -> str:
    """Return a sentence with two verdicts: on the outputs in real arithmetic, and on their low-order bits."""
    real, bits = IN_REAL_ARITHMETIC[report.in_real_arithmetic], report.bits
    if bits is None:
        return f"{real}; the low-order bits of the outputs were not tested"
    if bits.loss:
        return f"{real}; the low-order bits of the outputs distinguish neighbouring data sets: {bits.loss}, proven"
    if bits.verdict == Verdict.INCONCLUSIVE.value:
        return f"{real}; whether the low-order bits of the outputs distinguish neighbouring data sets was not decided"
    seen = f"; the test would have detected {bits.reach}" if bits.reach else ""
    return f"{real}; no loss above the claim was found in the low-order bits of the outputs{seen}"


def could_have_seen(check: Finding) -> str:
    """Return, in words, the effect that a test detects with 99 % probability, or the privacy loss that an event has
    shown.

    The text is empty for checks without a detectable effect or loss.
    """
    facts = check.facts
    if isinstance(facts, LawTest):
        return f"{facts.effect} ≥ {facts.detectable:.2g}"
    if isinstance(facts, TestedEvent):
        return loss_in_reach(facts.in_reach) if facts.in_reach else f"loss ≥ {facts.loss_lower_bound:.3f}"
    return ""


def loss_in_reach(reach: InReach) -> str:
    """Return, in words, the smallest privacy loss that a test detects with 99 % probability, and the probability of the
    tested event.
    """
    if math.isinf(reach.loss):
        return f"no loss on an event of probability {reach.probability:.2g}"
    return f"loss ≥ {reach.loss:.2f} on an event of probability {reach.probability:.2g}"


def power_sentences(report: AuditReport) -> list[str]:
    """Return sentences that say which rare branches of the code, and which privacy losses, the run would have detected.

    The sentence on privacy losses also says how many draws would detect a loss slightly above the claim.
    """
    laws = [(check.scenario, check.facts) for check in report.checks if isinstance(check.facts, LawTest)]
    sentences = [f"rare branches, {scenario}: {facts.reach}." for scenario, facts in laws if facts.reach]
    best = _best_event(report)
    if best is None:
        return sentences
    scenario, reach = best
    letter = loss_letter(report.claim)
    seen = _losses_from(report, reach) if math.isfinite(reach.loss) else "no loss"
    text = (
        f"privacy, by counting events: the tested event of “{scenario}” has the probability {reach.probability:.2g} on "
        f"one of its data sets. On an equally likely event, {seen} would have been detected with 99 % probability"
    )
    factor = reach.times_the_samples
    if math.isinf(factor):
        return [*sentences, f"{text}; {letter} = {reach.small_loss:.3g} cannot be detected on such an event."]
    if factor > 1:
        samples, duration = _rounded_up(factor * report.samples), _duration(factor * report.seconds)
        small = f"{letter} = {reach.small_loss:.3g}"
        text += (
            f"; to detect {small} on such an event, raise --samples to {samples} (about {duration} at the pace of this "
            "run)"
        )
    return [*sentences, f"{text}. A loss that shows only in rarer events needs more draws."]


def _best_event(report: AuditReport) -> tuple[str, InReach] | None:
    """Return the pair of neighbours on which counting events needs the fewest draws to detect a small privacy loss.

    The result has the name of the pair, and the losses that the test of this pair would have detected. Refuted pairs
    are left out.
    """
    standing = [
        (check.scenario, check.facts.in_reach)
        for check in report.checks
        if isinstance(check.facts, TestedEvent) and check.facts.in_reach and check.status is not Status.REFUTED
    ]
    return min(standing, key=lambda one: (one[1].times_the_samples, one[1].loss), default=None)


def _power(report: AuditReport, reach: InReach) -> str:
    if math.isinf(reach.loss):
        return "With so few draws, counts of events would probably not have shown a finite loss, however large"
    return f"Counts of events would probably have shown {_losses_from(report, reach)}"


def _losses_from(report: AuditReport, reach: InReach) -> str:
    return f"a loss of {loss_letter(report.claim)} = {reach.loss:.2f} or more"


def _rounded_up(samples: float) -> str:
    """Write a number of draws, rounded up to two digits."""
    unit = 10 ** max(0, math.floor(math.log10(samples)) - 1)
    return f"{math.ceil(samples / unit) * unit:,}".replace(",", " ")


def _duration(seconds: float) -> str:
    for size, unit in ((86_400, "days"), (3600, "h"), (60, "min")):
        if seconds >= 1.5 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"


def exact_sentence(report: AuditReport) -> str:
    """Return, in words, the largest exact privacy loss and the data sets that have this loss, or why no loss is known.

    The text is empty if the audit tried to compute no loss. If the loss is known on fewer than half of the pairs, the
    text also says which loss the counts of events would have shown.
    """
    found = next((check for check in report.checks if isinstance(check.facts, ExactLosses)), None)
    if found is None:
        return ""
    worst, best = report.exact[0], _best_event(report)
    known = sum(one.decided for one in report.exact)
    few = 2 * known < len(report.exact)
    power = f". {_power(report, best[1])}; the claim is {report.claim}" if best and few else ""
    if not worst.decided:
        return f"the exact loss is not known: {worst.reason}{power}"
    found_at = f"the largest exact loss found is {loss_words(worst)}, at these rows{_known_on(report.exact)}"
    return f"{found_at}. {witness(found)}{power.removeprefix('.')}"


def _known_on(losses: Sequence[ExactPair]) -> str:
    """Return, in words, on how many of the tested pairs the loss is known; return an empty text if it is known on all
    pairs."""
    known = [one for one in losses if one.decided]
    if len(known) == len(losses):
        return ""
    columns = sorted({len(one.pair[0][0]) for one in known if one.pair})
    with_d = f", with d = {', '.join(map(str, columns))}" if columns else ""
    return f" (the loss is known on {len(known)} of {len(losses)} pairs{with_d})"


def witness(check: Finding) -> str:
    """Return, in words, the two data sets whose outputs a check compares, or an empty text if the check compares no
    data sets."""
    facts = check.facts
    if not isinstance(facts, TestedEvent | ExactLosses):
        return ""
    rows = facts.data_sets.differing_rows
    size = f"The data sets have {facts.data_sets.n} × {facts.data_sets.d} entries"
    if not rows:
        return f"{size} and are equal."
    differences = (
        f"row {row.row} is {_row(row.first)} in the first and {_row(row.second)} in the second" for row in rows
    )
    return f"{size} and are equal but for this: {'; '.join(differences)}."


def _row(values: Sequence[float] | None) -> str:
    if values is None:
        return "missing"
    return f"({', '.join(f'{value:.6g}' for value in values)})"


def in_full(check: Finding) -> list[str]:
    """Return the two data sets of a refuted check row by row if they are small, and otherwise nothing."""
    if not check.data or any(len(x) > MOST_ROWS or x.shape[1] > MOST_COLUMNS for x in check.data):
        return []
    names = ("first", "second") if len(check.data) > 1 else ("data set",)
    return [f"{name}: {'; '.join(_row(row) for row in x.tolist())}" for name, x in zip(names, check.data, strict=True)]


def cause(check: Finding, explained: bool) -> tuple[str, ...]:
    """Return a key that is equal for refuted checks with the same cause.

    `explained` says whether a diagnosis explains why the law of the outputs was refuted. If so, all refuted checks of
    the kind "law" get the same key.
    """
    if check.kind == "law":
        return ("law",) if explained else ("law", check.name)
    if check.kind == "privacy" and check.name != "failures":
        return ("privacy",)
    return check.kind, check.scenario, check.name


def findings(report: AuditReport) -> list[list[Finding]]:
    """Return the refuted checks grouped by cause; the first check of a group has the smallest p-value of the group."""
    groups: dict[tuple[str, ...], list[Finding]] = {}
    for check in report.refuted:
        groups.setdefault(cause(check, bool(report.diagnoses)), []).append(check)
    return [sorted(group, key=lambda check: check.p_value or 0.0) for group in groups.values()]


def repeats(group: Sequence[Finding]) -> str:
    """Return, in words, how many further checks have the same finding, and on how many data sets; return an empty text
    if there are no others.
    """
    others = len(group) - 1
    if not others:
        return ""
    more = {check.scenario for check in group} - {group[0].scenario}
    on = f" on {len(more)} more data {'set' if len(more) == 1 else 'sets'}" if group[0].kind == "law" else ""
    if group[0].kind == "privacy":
        on = f" on {len(more)} more {'pair' if len(more) == 1 else 'pairs'}"
    return f"{others} further {'check' if others == 1 else 'checks'}{on if more else ''} failed in the same way."


def draws_made(report: AuditReport) -> str:
    """Return the number of draws and, for each kind of failure, the share of draws without an output."""
    failed = sum(report.failures.values())
    if not report.draws:
        return "no draws were made for tests of laws and of pairs of data sets"
    if not failed:
        return f"{report.draws} draws for tests of laws and of pairs of data sets; every one gave an output"
    most = sorted(report.failures.items(), key=lambda item: -item[1])
    named = ", ".join(f"{count} × {what}" for what, count in most[:MOST_FAILURES])
    rest = f" and {len(most) - MOST_FAILURES} other kinds" if len(most) > MOST_FAILURES else ""
    return (
        f"{report.draws} draws for tests of laws and of pairs of data sets; "
        f"{failed / report.draws:.2%} gave no output: {named}{rest}"
    )


def estimates(check: Finding, report: AuditReport) -> str:
    """Return confidence intervals from the draws of a test, in words.

    The text is empty if the check is no test of a law, or if a diagnosis says that the noise has another centre than
    the test assumes.
    """
    facts = check.fact(LawTest)
    return "" if facts is None or any("centred" in text for text in report.diagnoses) else facts.estimates


def questions_asked(report: AuditReport) -> str:
    """Return a sentence on how many questions the audit asked and how many it skipped."""
    asked = len(report.asked)
    return f"{asked} question{'' if asked == 1 else 's'} asked, {len(report.not_asked)} skipped"


def explanation(check: Finding) -> str:
    """Return a description of a check and its result, with the data sets on which it counted an event."""
    data_sets = witness(check)
    return f"{check.detail}. {data_sets}" if data_sets else check.detail


def summary(report: AuditReport) -> str:
    """Return the claim, the verdict with its reasons, and the command that replays the audit, as the message of a
    failing test.
    """
    undecided = (Status.INCONCLUSIVE, Status.SKIPPED)
    decisive = findings(report) or [[check] for check in report.checks if check.status in undecided]
    lines = [f"{subject(report)}: {report.verdict.value}. {MEANING[report.verdict]}"]
    lines += [exact_sentence(report)] if report.exact else []
    if report.bits is not None:
        lines.append(bits_sentence(report))
    for group in decisive:
        check, p = group[0], p_text(group[0].p_value)
        lines.append(f"{check.label}{f': p = {p}' if p else ''}: {explanation(check)} {repeats(group)}".rstrip())
    word = "law that fits instead" if report.mechanism else "what explains it"
    lines += [f"{word}: {diagnosis}" for diagnosis in report.diagnoses]
    return "\n".join((*lines, f"replay: {report.replay}"))
