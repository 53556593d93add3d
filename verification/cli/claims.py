"""`covassay claims list | show | check | mutants | theorems | accept | render`."""

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from covassay.reference.errors import InvalidInput
from covassay.verification.claims import ledger, render
from covassay.verification.claims.evidence import checks
from covassay.verification.claims.kernel.gate import RECORDED, GateReport
from covassay.verification.claims.kernel.kernel import REQUIRE
from covassay.verification.cli import mutant_table, theorems
from covassay.verification.cli.theorems import proofs_folder


@contextmanager
def progress(title: str, total: int, quiet: bool) -> Iterator[Callable[[str], None]]:
    """A bar on a terminal, none in a pipe; what it gives advances it by one and names what was done."""
    console = Console(stderr=True)
    columns = TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn()
    with Progress(*columns, console=console, transient=True, disable=quiet or not console.is_terminal) as bar:
        task = bar.add_task(title, total=total)
        yield lambda name: bar.update(task, advance=1, description=name)


def list_claims(options: argparse.Namespace) -> int:
    """Every claim, a line each."""
    selected = render.select(options.paper, options.verdict, options.kind)
    if options.json:
        json.dump([render.as_json(c) for c in selected], sys.stdout, indent=2, ensure_ascii=False)
        print()
        return 0
    table = Table("id", "verdict", "status", "statement")
    for c in selected:
        table.add_row(c.id, c.verdict, c.status, c.statement)
    Console(width=None if sys.stdout.isatty() else 150).print(table)
    print(render.totals(selected))
    return 0


def show(options: argparse.Namespace) -> int:
    """One claim, whole."""
    c = ledger.claim(options.id)
    print(json.dumps(render.as_json(c), indent=2, ensure_ascii=False) if options.json else render.screen(c))
    return 0


def check(options: argparse.Namespace) -> int:
    """Run the checks of the claims; exit 1 if one does not hold."""
    if options.ids:
        selected = [ledger.claim(name) for name in options.ids]
    else:
        selected = render.select(options.paper, options.verdict, options.kind)
    names = render.checks_of(selected)
    outcomes: dict[str, render.CheckOutcome] = {}
    with progress("checks", len(names), options.json) as advance:
        for outcome in render.run_checks(names, options.jobs):
            outcomes[outcome.name] = outcome
            advance(outcome.name)
    failed = [o for o in outcomes.values() if not o.evidence.holds]
    report = _theorems(options, sorted({leg.name for c in selected for leg in c.legs if leg.kind == "rocq"}))
    status = 1 if failed or report.findings else 0
    if options.json:
        rows = [
            {"check": o.name, "kind": checks()[o.name].kind, "holds": o.evidence.holds, "scope": o.evidence.scope,
             "detail": o.evidence.detail, "figures": dict(o.evidence.figures), "seconds": round(o.seconds, 3)}
            for o in sorted(outcomes.values(), key=lambda o: o.name)
        ]  # fmt: skip
        shown = {"checks": rows, "theorems": report.words, "findings": [str(finding) for finding in report.findings]}
        json.dump(shown, sys.stdout, indent=2, ensure_ascii=False)
        print()
        return status
    table = Table("check", "kind", "holds", "scope", "figures or detail", "s")
    for name in names:
        e = outcomes[name].evidence
        figures = ", ".join(f"{key} = {value}" for key, value in e.figures.items())
        told = figures or e.detail if e.holds else e.detail
        table.add_row(
            name, checks()[name].kind, "yes" if e.holds else "NO", e.scope, told,
            f"{outcomes[name].seconds:.1f}",
        )  # fmt: skip
    Console(width=None if sys.stdout.isatty() else 150).print(table)
    theorems.print_report(report)
    print(render.totals(selected))
    print(f"{len(names)} checks, {len(failed)} failed")
    return status


def _theorems(options: argparse.Namespace, tags: list[str]) -> GateReport:
    """The theorems of a selection. Rocq compiles for minutes, so it is asked only on request."""
    if not tags:
        return GateReport({}, [], [])
    asked = options.rocq or options.kind == "rocq"
    if not asked and not Path("proofs").is_dir():
        return GateReport(dict.fromkeys(tags, RECORDED), [], [])
    everything = tags == sorted(ledger.theorem_tags(proofs_folder()))
    return theorems.run(options, None if everything else tags, compiling=asked)


def mutants(options: argparse.Namespace) -> int:
    """Put every mutant before its check; exit 1 if one is not rejected."""
    rows = [*mutant_table.ledger_rows(), *mutant_table.audit_rows()]
    wanted = options.only.lower() if options.only else ""
    rows = [row for row in rows if wanted in f"{row.check} {row.mutant}".lower()]
    if not rows:
        raise InvalidInput(f"only = {options.only!r}: no check and no mutant has that in its name")
    accepted, outcomes = [], []
    with progress("mutants", len(rows), options.json) as advance:
        for row, rejected in mutant_table.run(rows, options.jobs):
            outcomes.append({"check": row.check, "mutant": row.mutant, "rejected": rejected})
            accepted += [] if rejected else [row]
            advance(row.check)
    if options.json:
        json.dump(sorted(outcomes, key=lambda o: (o["check"], o["mutant"])), sys.stdout, indent=2, ensure_ascii=False)
        print()
        return 1 if accepted else 0
    for row in accepted:
        print(f"NOT REJECTED by {row.check}: {row.mutant}")
    print(f"{len(rows)} mutants, {len(accepted)} not rejected")
    return 1 if accepted else 0


def accept(options: argparse.Namespace) -> int:
    """Lock the code of claims, or the theorems, as they are now."""
    if options.rocq:
        return theorems.accept(options)
    names = list(ledger.claims()) if options.all else options.ids
    if not names:
        raise InvalidInput("accept: name the claims whose proofs you have read again, or --all")
    changed = ledger.accept(proofs_folder(), names)
    print(*(f"locked {name}" for name in changed), sep="\n")
    return 0


def render_files(options: argparse.Namespace) -> int:
    """Write proofs/LEDGER.md and proofs/MUTANTS.md, or with --check compare them."""
    generated = {"LEDGER.md": render.render_ledger(), "MUTANTS.md": mutant_table.render()}
    found = ledger.problems(proofs_folder()) if options.check else []
    for name, text in generated.items():
        path = proofs_folder() / name
        if not options.check:
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            found.append(f"proofs/{name} differs from the code: covassay claims render")
    if found:
        print(*found, sep="\n", file=sys.stderr)
    return 1 if found else 0


def add_parser(commands: Any) -> None:
    """Add the command to the command line."""
    top = commands.add_parser("claims", help="what the papers claim, and what is known of it")
    actions = top.add_subparsers(dest="action", required=True)
    filters = argparse.ArgumentParser(add_help=False)
    filters.add_argument("--paper", choices=ledger.PAPERS)
    filters.add_argument("--verdict", choices=tuple(ledger.VERDICTS))
    filters.add_argument("--kind", choices=tuple(ledger.WORDS), help="claims that rest on such a leg")
    filters.add_argument("--json", action="store_true")
    a = actions.add_parser("list", parents=[filters], help="a line per claim")
    a.set_defaults(run=list_claims)
    a = actions.add_parser("show", help="one claim, whole")
    a.add_argument("id", help="such as DN25.Thm6")
    a.add_argument("--json", action="store_true")
    a.set_defaults(run=show)
    kernel = argparse.ArgumentParser(add_help=False)
    kernel.add_argument(
        "--build", type=Path, metavar="DIR", help="where Rocq compiles; what is up to date is not redone"
    )
    kernel.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    a = actions.add_parser(
        "check", parents=[filters, kernel], help="run the checks; exit 1 if one fails",
        description="Run the checks of claims. Theorems are compiled and audited by Rocq, for minutes, only with "
        "--rocq or --kind rocq. Otherwise, and on a machine without Rocq, their sources are compared with the lock, "
        'and the word is "recorded, not re-run".',
    )  # fmt: skip
    a.add_argument("ids", nargs="*")
    a.add_argument("--rocq", action="store_true", help="compile and audit the theorems that the claims rest on")
    a.set_defaults(run=check)
    a = actions.add_parser(
        "theorems", parents=[kernel], help="compile proofs/rocq, ask the kernel, and compare with the lock",
        description="Compile proofs/rocq, ask the kernel what every tagged theorem says and rests on, and compare with "
        'proofs/rocq.lock.json; exit 1 on a difference. Without Rocq the sources alone are compared: "recorded, not '
        f're-run", or an error if {REQUIRE} is set.',
    )  # fmt: skip
    a.add_argument("--json", action="store_true")
    a.set_defaults(run=theorems.theorems)
    a = actions.add_parser(
        "accept", parents=[kernel], help="lock the code of claims, or the theorems, after reading the proofs again"
    )
    a.add_argument("ids", nargs="*")
    a.add_argument("--all", action="store_true")
    a.add_argument(
        "--rocq", action="store_true", help="compile, audit, and lock what the kernel says; shows what changed"
    )
    a.set_defaults(run=accept)
    a = actions.add_parser(
        "mutants", help="put a wrong formula or implementation before every check; exit 1 if one is not rejected"
    )
    a.add_argument("--only", metavar="TEXT", help="those with this text in the name of the check or of the mutant")
    a.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    a.add_argument("--json", action="store_true")
    a.set_defaults(run=mutants)
    a = actions.add_parser("render", help="write proofs/LEDGER.md and proofs/MUTANTS.md")
    a.add_argument("--check", action="store_true", help="compare, and hold entries, checks, code and theorems together")
    a.set_defaults(run=render_files)
