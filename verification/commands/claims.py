"""`covassay claims list | show | check | accept | render`."""

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from covassay.reference.errors import InvalidInput
from covassay.verification import ledger, ledger_report
from covassay.verification.evidence import checks

RECORDED = "recorded, not re-run"


def proofs_folder() -> Path:
    """The folder proofs/ of a clone, where the command is run from."""
    path = Path("proofs")
    if not path.is_dir():
        raise InvalidInput("no folder proofs/ here: run this from a clone of the repository")
    return path


def list_claims(options: argparse.Namespace) -> int:
    """Every claim, a line each."""
    selected = ledger_report.select(options.paper, options.verdict, options.kind)
    if options.json:
        json.dump([ledger_report.as_json(c) for c in selected], sys.stdout, indent=2, ensure_ascii=False)
        print()
        return 0
    table = Table("id", "verdict", "status", "statement")
    for c in selected:
        table.add_row(c.id, c.verdict, c.status, c.statement)
    Console(width=None if sys.stdout.isatty() else 150).print(table)
    print(ledger_report.totals(selected))
    return 0


def show(options: argparse.Namespace) -> int:
    """One claim, whole."""
    c = ledger.claim(options.id)
    print(
        json.dumps(ledger_report.as_json(c), indent=2, ensure_ascii=False) if options.json else ledger_report.screen(c)
    )
    return 0


def check(options: argparse.Namespace) -> int:
    """Run the checks of the claims; exit 1 if one does not hold."""
    if options.ids:
        selected = [ledger.claim(name) for name in options.ids]
    else:
        selected = ledger_report.select(options.paper, options.verdict, options.kind)
    names = ledger_report.checks_of(selected)
    console = Console(stderr=True)
    outcomes: dict[str, ledger_report.Outcome] = {}
    columns = TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn()
    with Progress(*columns, console=console, transient=True, disable=options.json or not console.is_terminal) as bar:
        task = bar.add_task("checks", total=len(names))
        for outcome in ledger_report.run_checks(names, options.jobs):
            outcomes[outcome.name] = outcome
            bar.update(task, advance=1, description=outcome.name)
    failed = [o for o in outcomes.values() if not o.evidence.holds]
    recorded = sorted({leg.name for c in selected for leg in c.legs if leg.kind == "rocq"})
    if options.json:
        rows = [
            {"check": o.name, "kind": checks()[o.name].kind, "holds": o.evidence.holds, "scope": o.evidence.scope,
             "detail": o.evidence.detail, "figures": dict(o.evidence.figures), "seconds": round(o.seconds, 3)}
            for o in sorted(outcomes.values(), key=lambda o: o.name)
        ]  # fmt: skip
        json.dump({"checks": rows, "theorems": dict.fromkeys(recorded, RECORDED)}, sys.stdout, indent=2,
                  ensure_ascii=False)  # fmt: skip
        print()
        return 1 if failed else 0
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
    for name in recorded:
        print(f"theorem {name}: {RECORDED}")
    print(ledger_report.totals(selected))
    print(f"{len(names)} checks, {len(failed)} failed")
    return 1 if failed else 0


def accept(options: argparse.Namespace) -> int:
    """Lock the code of claims as it is now."""
    names = list(ledger.claims()) if options.all else options.ids
    if not names:
        raise InvalidInput("accept: name the claims whose proofs you have read again, or --all")
    changed = ledger.accept(proofs_folder(), names)
    print(*(f"locked {name}" for name in changed), sep="\n")
    return 0


def render(options: argparse.Namespace) -> int:
    """Write proofs/LEDGER.md, or with --check compare it."""
    path = proofs_folder() / "LEDGER.md"
    text = ledger_report.render_ledger()
    if not options.check:
        path.write_text(text, encoding="utf-8")
        return 0
    found = ledger.problems(proofs_folder())
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        found.append("proofs/LEDGER.md differs from the ledger: covassay claims render")
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
    a = actions.add_parser("check", parents=[filters], help="run the checks; exit 1 if one fails")
    a.add_argument("ids", nargs="*")
    a.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    a.set_defaults(run=check)
    a = actions.add_parser("accept", help="lock the code of claims after their proofs have been read again")
    a.add_argument("ids", nargs="*")
    a.add_argument("--all", action="store_true")
    a.set_defaults(run=accept)
    a = actions.add_parser("render", help="write proofs/LEDGER.md")
    a.add_argument("--check", action="store_true", help="compare, and hold entries, checks, code and theorems together")
    a.set_defaults(run=render)
