"""Print the report of an audit on a terminal, with the verdict, the failures and how to reproduce them, and a summary
of the checks.
"""

import re
import shlex
from collections.abc import Iterable, Sequence
from itertools import groupby

from rich.cells import cell_len
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from covassay.verification.audit.engine.facts import LawTest, TestedEvent, TradeOff
from covassay.verification.audit.engine.finding import KINDS, Finding, Kind, Status, Verdict
from covassay.verification.audit.question import NOT_QUICK
from covassay.verification.audit.report import AuditReport
from covassay.verification.audit.reports.words import (
    MEANING,
    bits_sentence,
    could_have_seen,
    draws_made,
    estimates,
    exact_sentence,
    findings,
    in_full,
    p_text,
    power_sentences,
    questions_asked,
    repeats,
    subject,
    witness,
)

STYLE = {
    Status.REFUTED: "bold red",
    Status.SUSPICIOUS: "yellow",
    Status.NOTED: "yellow",
    Status.INCONCLUSIVE: "yellow",
    Status.SKIPPED: "dim",
    Status.NOT_REFUTED: "",
}
VERDICT_STYLE = {Verdict.REFUTED: "bold red", Verdict.NOT_REFUTED: "bold green", Verdict.INCONCLUSIVE: "bold yellow"}
# the top of the report already gives the reasons of the verdict REFUTED
EXPLAINED = (Status.SUSPICIOUS, Status.NOTED, Status.INCONCLUSIVE, Status.SKIPPED)
POINTS_SHOWN = 7  # the approximate number of points of a trade-off curve that are printed
NEIGHBOURS = {
    "replace-one": "neighbouring data sets differ in one row",
    "add-remove": "neighbouring data sets are equal except for one additional row in one of them",
}
STATUS_WIDTH = max(len(status.value) for status in Status)


def print_report(report: AuditReport, console: Console, verbose: bool = False) -> None:
    """Print a report with the verdict, the failures and their data sets, the diagnosis, and a summary of the checks.

    With `verbose`, the report also has a table of all checks, and a description of what each check tested.
    """
    _print_verdict(report, console)
    failed = report.refuted
    if failed:
        _print_heading("What failed", console)
        for group in findings(report):
            _print_finding(group, report, console, verbose)
        _print_replay(report, console)
    if report.diagnoses:
        _print_heading("Law that fits instead" if report.mechanism else "What explains it", console)
        for diagnosis in report.diagnoses:
            _print_indented(f"• {escape(diagnosis)}" if len(report.diagnoses) > 1 else escape(diagnosis), console)
    _print_heading("Checks", console)
    for kind in KINDS:
        _print_kind(kind, [check for check in report.checks if check.kind == kind], console)
    for sentence in power_sentences(report):
        _print_indented(escape(sentence), console)
    if verbose:
        _print_everything(report, console)
        _print_budget(report, console)
    _print_run(report, console)
    if not failed:
        _print_replay(report, console)


# VERDICT AND REASONS


def _print_verdict(report: AuditReport, console: Console) -> None:
    style = VERDICT_STYLE[report.verdict]
    kinds = [kind for kind in KINDS if any(check.kind == kind for check in report.refuted)]
    broken = f" ({', '.join(kinds)})" if kinds else ""
    _print_indented(f"[{style}]{report.verdict.value}[/{style}]{broken}: {escape(subject(report))}", console, 0)
    _print_indented(MEANING[report.verdict], console, 0)
    if report.exact:
        _print_indented(f"Exact: {escape(exact_sentence(report))}", console, 0)
    if report.bits is not None:
        _print_indented(f"Bits: {escape(bits_sentence(report))}.", console, 0)


def _print_finding(group: Sequence[Finding], report: AuditReport, console: Console, verbose: bool) -> None:
    """Print the first of several checks that have the same finding. Its numbers and data sets are printed as well, and
    then the number of the other checks.
    """
    check = group[0]
    _print_indented(f"[{STYLE[check.status]}]{escape(check.label)}[/]{_p_suffix(p_text(check.p_value))}", console)
    rows = in_full(check) if verbose else []
    for sentence in (check.detail, estimates(check, report), witness(check), *rows, repeats(group)):
        if sentence:
            _print_indented(escape(sentence), console, 4)


def _p_suffix(p: str) -> str:
    return "" if not p else f" (p {p})" if p.startswith("<") else f" (p = {p})"


def _print_replay(report: AuditReport, console: Console) -> None:
    _print_heading("Replay", console)
    for line in folded_command(report.replay, console.width - 2):
        console.print(f"  {line}", soft_wrap=True, markup=False, highlight=False)


def folded_command(command: str, width: int) -> list[str]:
    """Split a command into lines of limited width that can be copied as one command; a long word is never split.

    A shell joins lines that end in a backslash, and a Python call may be broken between its arguments.
    """
    if cell_len(command) <= width:
        return [command]
    if command.startswith("audit("):
        return _folded(re.split(r"(?<=,) (?=\w+=)", command), width, "")
    return _folded(_grouped(shlex.split(command)), width, " \\")


def _folded(pieces: Sequence[str], width: int, end: str) -> list[str]:
    lines: list[str] = []
    current, *rest = pieces
    for piece in rest:
        if cell_len(f"{current} {piece}{end}") > width:
            lines.append(current + end)
            current = f"  {piece}"
        else:
            current = f"{current} {piece}"
    return [*lines, current]


def _grouped(words: Sequence[str]) -> list[str]:
    """Return the quoted words of a command, in which an option and its value form one string."""
    grouped: list[str] = []
    for previous, word in zip(("", *words), words, strict=False):
        if previous.startswith("--"):
            grouped[-1] += f" {shlex.quote(word)}"
        else:
            grouped.append(shlex.quote(word))
    return grouped


# THE CHECKS


def _print_kind(kind: Kind, checks: Sequence[Finding], console: Console) -> None:
    """Print the checks of a kind: one line for all that were not refuted, a line for each other check, and the skipped
    questions.
    """
    if not checks:
        return
    passed = [check for check in checks if check.status is Status.NOT_REFUTED]
    skipped = [check for check in checks if check.status is Status.SKIPPED and not check.scenario]
    others = [check for check in checks if check.status is not Status.NOT_REFUTED and check not in skipped]
    checks = [check for check in checks if check not in skipped]
    count = f"{len(checks)} {'check' if len(checks) == 1 else 'checks'}"
    figures = "; ".join(("none refuted", *_figures(passed)))
    if not others:
        result = f"{count}, {figures}" if checks else "no check"
        _print_indented(f"[bold]{kind}[/bold]: {result}", console)
        return _print_skipped(skipped, console)
    _print_indented(f"[bold]{kind}[/bold]: {count}", console)
    for check in others:
        name = escape(" / ".join(part for part in (check.scenario, check.name) if part))
        style = STYLE[check.status] or "default"
        p = p_text(check.p_value)
        _print_indented(f"[{style}]{check.status.value:<{STATUS_WIDTH}}[/] {name}{_p_suffix(p)}", console, 4)
    for check in others:
        if check.status in EXPLAINED:
            _print_indented(f"{escape(check.name)}: {escape(check.detail)}", console, 4)
    if passed:
        _print_indented(f"{len(passed)} others: {figures}" if len(passed) > 1 else f"1 other: {figures}", console, 4)
    _print_skipped(skipped, console)


def _print_skipped(skipped: Sequence[Finding], console: Console) -> None:
    """Print the names of the skipped questions, except those that every quick audit skips.

    With the option `--verbose`, the reasons why questions were skipped are printed as well.
    """
    names = [check.name for check in skipped if check.detail != NOT_QUICK]
    if names:
        _print_indented(f"[dim]not asked: {escape(', '.join(names))}[/dim]", console, 4)


def _figures(passed: Iterable[Finding]) -> list[str]:
    """Return the results of the checks that are statistical tests, and the effects that these tests would have
    detected.
    """
    tested = [check for check in passed if check.p_value is not None]
    if not tested:
        return []
    figures = [f"smallest p-value {min(check.p_value or 0.0 for check in tested):.2g}"]
    effects: dict[str, list[float]] = {}
    for check in tested:
        if isinstance(check.facts, LawTest):
            effects.setdefault(check.facts.effect, []).append(check.facts.detectable)
    if effects:
        seen = ", ".join(f"{effect} ≥ {_range(values)}" for effect, values in effects.items())
        figures.append(f"effects that would be refuted with 99 % power: {seen}")
    events = [check.facts for check in tested if isinstance(check.facts, TestedEvent)]
    if events:
        largest = max(0.0, *(facts.loss_lower_bound for facts in events))
        figures.append(f"largest loss shown with confidence {events[0].confidence:.1%}: {largest:.3f}")
    return figures


def _range(values: Sequence[float]) -> str:
    low, high = f"{min(values):.2g}", f"{max(values):.2g}"
    return low if low == high else f"{low} to {high}, depending on the check"


def _print_everything(report: AuditReport, console: Console) -> None:
    _print_heading("Every check", console)
    table = Table(pad_edge=False, expand=False)
    for heading in ("check", "status", "p", "draws", "loss shown, or effect detectable with 99 % power"):
        table.add_column(heading, overflow="fold")
    for check in report.checks:
        table.add_row(
            escape(check.label), check.status.value, p_text(check.p_value), str(check.n or ""),
            escape(could_have_seen(check)), style=STYLE[check.status],
        )  # fmt: skip
    console.print(table)
    for _, checks in groupby(report.checks, key=lambda check: (check.kind, check.scenario)):
        shared = ""
        for check in checks:
            _print_indented(f"[bold]{escape(check.label)}[/bold]: {escape(check.detail)}", console)
            shared = estimates(check, report)
        if shared:
            _print_indented(escape(shared), console, 4)
    for check in report.checks:
        if isinstance(check.facts, TestedEvent) and check.facts.trade_off:
            _print_trade_off(check.scenario, check.facts.event, check.facts.trade_off, console)


def _print_trade_off(pair: str, event: str, curve: TradeOff, console: Console) -> None:
    """Print the claimed and the observed trade-off curve at some points, for the pair with the strongest evidence."""
    _print_heading("Trade-off curve of the most telling pair", console)
    _print_indented(
        f"{escape(pair)}: {escape(event)}, and the same event with other thresholds; "
        f"all intervals hold together with confidence {curve.confidence:.1%}",
        console,
    )
    table = Table(pad_edge=False, expand=False)
    for heading in ("false positives", "false negatives", "claim: at least"):
        table.add_column(heading, overflow="fold")
    shown = curve.points
    for point in shown[:: max(1, len(shown) // POINTS_SHOWN)]:
        rates = (point.false_positive, point.false_negative)
        texts = (f"{rate:.3f} ({low:.3f} to {high:.3f})" for low, rate, high in rates)
        table.add_row(*texts, f"{point.claimed:.3f}")
    console.print(table)
    bound = curve.gaussian_lower_bound
    _print_indented(
        f"as Gaussian differential privacy: μ ≥ {bound:.3f} with confidence {curve.confidence:.1%}", console
    )


def _print_budget(report: AuditReport, console: Console) -> None:
    """Print the share of the false-alarm probability that each question may use up in each look at the draws."""
    _print_heading("Error budget", console)
    table = Table(pad_edge=False, expand=False)
    for heading in ("question", "look", "share", "tests"):
        table.add_column(heading, overflow="fold")
    for one in report.budget:
        table.add_row(escape(one.question), one.look, f"{float(one.share):.4f}", str(one.tests or "its own"))
    table.add_row("spent", "", f"{float(sum(one.share for one in report.budget)):.4f}", f"of {report.false_alarm:g}")
    console.print(table)


# THE RUN


def _print_run(report: AuditReport, console: Console) -> None:
    _print_heading("Run", console)
    chosen = ", ".join(f"{key} {value}" for key, value in report.options.items())
    _print_indented(f"target version: {escape(report.version or 'not stated')}", console)
    if chosen:
        _print_indented(f"{report.mechanism}: {escape(chosen)}", console)
    _print_indented(
        f"{NEIGHBOURS[report.adjacency]} ({report.adjacency}); "
        f"probability of a false alarm at most {report.false_alarm:g}; "
        f"{report.seconds:.1f} s; covassay {report.covassay}",
        console,
    )
    _print_indented(f"{questions_asked(report)} (--verbose says why); {escape(draws_made(report))}", console)
    for note in report.notes:
        _print_indented(f"note: {escape(note)}", console)


def _print_heading(text: str, console: Console) -> None:
    console.print()
    console.print(f"[bold]{text}[/bold]", highlight=False)


def _print_indented(text: str, console: Console, indent: int = 2) -> None:
    lines = Text.from_markup(text, emoji=False).wrap(console, max(1, console.width - indent), overflow="fold")
    for line in lines:
        line.rstrip()
        console.print(Text(" " * indent) + line, highlight=False, soft_wrap=True)
