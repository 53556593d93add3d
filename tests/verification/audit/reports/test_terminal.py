"""Test the report on a terminal: the order of its parts, the figures of a violation, and the width of its lines."""

import ast
import io
import shlex
from dataclasses import replace

import pytest
from rich.cells import cell_len
from rich.console import Console

from covassay.verification.audit.engine.finding import Status
from covassay.verification.audit.report import AuditReport
from covassay.verification.audit.reports.terminal import folded_command, print_report
from covassay.verification.audit.reports.words import findings, summary, witness
from tests.verification.audit.reports.kinds_of_reports import report_of

LAW, RIGHT = "refuted by its law", "not refuted"


def text(report: AuditReport, width: int = 80, verbose: bool = False) -> str:
    out = io.StringIO()
    print_report(report, Console(file=out, width=width, force_terminal=False), verbose)
    return out.getvalue()


@pytest.fixture(scope="module")
def reports() -> dict[str, AuditReport]:
    return {kind: report_of(kind) for kind in ("refuted by privacy", LAW, RIGHT, "inconclusive, never answers")}


@pytest.mark.thorough
def test_no_line_is_wider_than_the_terminal_and_nothing_is_cut(reports: dict[str, AuditReport]) -> None:
    for report in reports.values():
        for width in (50, 80, 150):
            for verbose in (False, True):
                shown = text(report, width, verbose)
                assert max(cell_len(line) for line in shown.splitlines()) <= width
                squeezed = "".join(shown.split())
                for check, *_ in findings(report):
                    assert "".join(check.detail.split()) in squeezed
                assert "…" not in shown


@pytest.mark.thorough
def test_the_report_begins_with_the_verdict_and_has_its_parts_in_order(reports: dict[str, AuditReport]) -> None:
    refuted = text(reports[LAW])
    claim = "as entrywise-laplace, ε = 1 (pure DP), replace-one"
    first = f"REFUTED (law, privacy): mutant:half-noise-entrywise-laplace {claim} At least one promise"
    assert " ".join(refuted.split()).startswith(first)
    parts = ["What failed", "Replay", "Law that fits instead", "Checks", "Run"]
    places = [refuted.index(f"\n{part}\n") for part in parts]
    assert places == sorted(places)
    right = text(reports[RIGHT])
    first = "NOT REFUTED: covassay:private-trace as private-trace, ε = 1 (pure DP), replace-one Nothing was found"
    assert " ".join(right.split()).startswith(first)
    assert "not a certificate" in right
    assert "What failed" not in right
    inconclusive = text(reports["inconclusive, never answers"])
    assert inconclusive.startswith("INCONCLUSIVE: mine as nuclear-laplace")
    assert "time-out" in inconclusive


@pytest.mark.thorough
def test_a_witness_has_the_data_sets_the_event_both_counts_and_the_replay_command(
    reports: dict[str, AuditReport],
) -> None:
    report = reports["refuted by privacy"]
    (check,) = (c for c in report.refuted if c.name == "failures")
    shown = " ".join(text(report).split())
    assert check.detail in shown
    assert "event {the target fails}: " in check.detail
    assert witness(check) == (
        "The data sets have 2 × 1 entries and are equal but for this: row 2 is (1) in the first and (0) in the second."
    )
    assert witness(check) in shown
    assert witness(check) in summary(report)
    assert "covassay audit mutant:fails-on-zero --epsilon 1 --samples 100" in shown


@pytest.mark.thorough
def test_checks_that_passed_are_one_line_for_each_kind_with_their_figures(reports: dict[str, AuditReport]) -> None:
    report = reports[RIGHT]
    checks = " ".join(text(report).split("\nChecks\n")[1].split("\nRun\n")[0].split())
    law = [c for c in report.checks if c.kind == "law" and c.status is not Status.SKIPPED]
    smallest = min(c.p_value for c in law if c.p_value is not None)
    assert f"law: {len(law)} checks, none refuted; smallest p-value {smallest:.2g}; " in checks
    assert "effects that would be refuted with 99 % power: CDF distance ≥ " in checks
    assert "d=6" not in checks


@pytest.mark.thorough
def test_a_check_that_was_not_passed_has_a_line_of_its_own(reports: dict[str, AuditReport]) -> None:
    for report in reports.values():
        shown = " ".join(text(report).split())
        for check in report.checks:
            if check.status is Status.SKIPPED and not check.scenario:
                assert check.name in shown  # the skipped checks are in one list
            elif check.status is not Status.NOT_REFUTED:
                name = " / ".join(part for part in (check.scenario, check.name) if part)
                assert f"{check.status.value} {name}" in shown


@pytest.mark.thorough
def test_the_whole_table_is_printed_only_when_asked(reports: dict[str, AuditReport]) -> None:
    report = reports[RIGHT]
    assert "Every check" not in text(report)
    shown = " ".join(text(report, 150, verbose=True).split())
    for check in report.checks:
        assert f"{check.label}: {check.detail}" in shown


@pytest.mark.parametrize("width", [20, 60, 78, 200])
def test_a_folded_command_is_the_same_command(width: int) -> None:
    """On the screen, a long command is folded into several lines. The test fails if a shell reads other words from
    these lines than from the original command.
    """
    command = shlex.join(
        ["covassay", "audit", "exec:python3 'my release.py'", "--mechanism", "nuclear-laplace", "--options", "a=b c",
         "--samples", "200", "--seed", "3"]
    )  # fmt: skip
    lines = folded_command(command, width)
    assert shlex.split("\n".join(lines).replace("\\\n", " ")) == shlex.split(command)
    if width >= 60:
        assert max(map(len, lines)) <= width


def test_a_folded_python_call_is_the_same_call() -> None:
    call = "audit(f, mechanism='k-norm', epsilon=1.0, options={'body': 'l2', 'seed': 3}, samples=100, time_limit=2.5)"
    lines = folded_command(call, 50)
    assert max(map(len, lines)) <= 50
    assert ast.dump(ast.parse("\n".join(lines))) == ast.dump(ast.parse(call))


@pytest.mark.thorough
def test_a_name_between_colons_is_no_emoji(reports: dict[str, AuditReport]) -> None:
    """The test fails if the terminal library replaces a part of a name by an emoji."""
    report = replace(next(iter(reports.values())), notes=("mymodule:two: it raised",))
    assert "note: mymodule:two: it raised" in text(report)


@pytest.mark.thorough
def test_markup_in_a_name_is_shown_as_it_is() -> None:
    report = replace(report_of("inconclusive, never answers"), target="[red]mine[/red]")
    assert "[red]mine[/red] as nuclear-laplace" in text(report)
