"""Implement the command `covassay claims`."""

import argparse
import os
import sys
from pathlib import Path

from rich.table import Table

from covassay.reference.errors import InvalidInput
from covassay.verification.claims import ledger, pages, render
from covassay.verification.claims.checks import checks
from covassay.verification.claims.kernel import picture
from covassay.verification.claims.kernel.gate import RECORDED, GateReport
from covassay.verification.claims.kernel.kernel import REQUIRE
from covassay.verification.cli import mutant_table, theorems
from covassay.verification.cli.screen import console, print_json, progress
from covassay.verification.cli.theorems import proofs_folder

PARSER = {
    "description": "Show the claims of the papers and what is known about them, and check them.",
    "epilog": "example: covassay claims show DN25.Thm6",
}


def list_claims(options: argparse.Namespace) -> int:
    """Print every claim in one line, or print the false claims with their corrections."""
    selected = render.select(options.paper, options.verdict, options.kind, options.wrong)
    if options.json:
        print_json([render.as_json(c) for c in selected])
        return 0
    if options.wrong:
        print("\n\n".join(map(render.erratum, selected)))
        return 0
    table = Table("id", "verdict", "status", "statement")
    for c in selected:
        table.add_row(c.id, c.verdict, str(c.status), c.statement)
    console().print(table)
    print(render.totals(selected))
    return 0


def show(options: argparse.Namespace) -> int:
    """Print one claim with all its fields."""
    c = ledger.claim(options.id)
    if options.json:
        print_json(render.as_json(c))
    else:
        print(render.screen(c))
    return 0


def check(options: argparse.Namespace) -> int:
    """Run the checks of the selected claims, and return 1 if a check does not hold."""
    if options.ids:
        selected = [ledger.claim(name) for name in options.ids]
    else:
        selected = render.select(options.paper, options.verdict, options.kind)
    names = render.checks_of(selected)
    outcomes: dict[str, render.CheckOutcome] = {}
    with progress("checks", len(names)) as advance:
        for outcome in render.run_checks(names, options.jobs):
            outcomes[outcome.name] = outcome
            advance(outcome.name)
    failed = [o for o in outcomes.values() if not o.evidence.holds]
    report = _theorems(options, sorted({leg.name for c in selected for leg in c.legs if leg.kind == "rocq"}))
    status = 1 if failed or report.findings else 0
    if options.json:
        rows = [
            {"check": o.name, "kind": checks()[o.name].kind, "holds": o.evidence.holds, "scope": checks()[o.name].scope,
             "detail": o.evidence.detail, "figures": dict(o.evidence.figures), "seconds": round(o.seconds, 3)}
            for o in sorted(outcomes.values(), key=lambda o: o.name)
        ]  # fmt: skip
        shown = {"checks": rows, "theorems": report.words, "findings": [str(finding) for finding in report.findings]}
        print_json(shown)
        return status
    table = Table("check", "kind", "holds", "scope", "figures or detail", "s")
    for name in names:
        e = outcomes[name].evidence
        figures = ", ".join(f"{key} = {value}" for key, value in e.figures.items())
        told = figures or e.detail if e.holds else e.detail
        table.add_row(
            name, checks()[name].kind, "yes" if e.holds else "NO", checks()[name].scope, told,
            f"{outcomes[name].seconds:.1f}",
        )  # fmt: skip
    console().print(table)
    theorems.print_report(report)
    print(render.totals(selected))
    print(f"{len(names)} checks, {len(failed)} failed")
    return status


def _theorems(options: argparse.Namespace, tags: list[str]) -> GateReport:
    """Report on the theorems of the selected claims.

    Rocq runs only with --rocq or --kind rocq, because compiling the theorems takes minutes.
    """
    if not tags:
        return GateReport({}, [], [])
    asked = options.rocq or options.kind == "rocq"
    if not asked and not Path("proofs").is_dir():
        return GateReport(dict.fromkeys(tags, RECORDED), [], [])
    everything = tags == sorted(ledger.theorem_tags(proofs_folder()))
    return theorems.run(options, None if everything else tags, compiling=asked)


def mutants(options: argparse.Namespace) -> int:
    """Run every check on its mutants; return 1 if a mutant is not rejected."""
    rows = mutant_table.rows()
    wanted = options.only.lower() if options.only else ""
    rows = [row for row in rows if wanted in f"{row.check} {row.mutant}".lower()]
    if not rows:
        raise InvalidInput(f"only = {options.only!r}: no check or mutant has this text in its name")
    accepted, outcomes = [], []
    with progress("mutants", len(rows)) as advance:
        for row, rejected in mutant_table.run(rows, options.jobs):
            outcomes.append({"check": row.check, "mutant": row.mutant, "rejected": rejected})
            accepted += [] if rejected else [row]
            advance(row.check)
    if options.json:
        print_json(sorted(outcomes, key=lambda o: (o["check"], o["mutant"])))
        return 1 if accepted else 0
    for row in accepted:
        print(f"NOT REJECTED by {row.check}: {row.mutant}")
    print(f"{len(rows)} mutants, {len(accepted)} not rejected")
    return 1 if accepted else 0


def accept(options: argparse.Namespace) -> int:
    """Record the present code of the named claims in the lock file; with --rocq, record the theorems."""
    if options.rocq:
        return theorems.accept(options)
    names = list(ledger.claims()) if options.all else options.ids
    if not names:
        raise InvalidInput("accept: name the claims whose proofs you have read again, or --all")
    changed = ledger.accept(proofs_folder(), names)
    print(*(f"locked {name}" for name in changed), sep="\n")
    return 0


def render_files(options: argparse.Namespace) -> int:
    """Write the generated pages of proofs/ and a table in proofs/README.md, or compare them with the present files if
    the option --check is given.
    """
    readme = (proofs_folder() / "README.md").read_text(encoding="utf-8")
    generated = {
        **pages.pages(),
        "MUTANTS.md": mutant_table.render(),
        "mutants.jsonl": mutant_table.data(),
        "README.md": pages.with_kernel_table(readme),
        picture.NAME: picture.draw(proofs_folder() / "rocq"),
    }
    found = ledger.problems(proofs_folder()) if options.check else []
    for name, text in generated.items():
        path = proofs_folder() / name
        if not options.check:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            found.append(f"proofs/{name} differs from the code: run covassay claims render")
    if found:
        print(*found, sep="\n", file=sys.stderr)
    return 1 if found else 0


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the actions of the command to the parser."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    as_json = argparse.ArgumentParser(add_help=False)
    as_json.add_argument("--json", action="store_true", help="print JSON (covassay schema claims-ACTION)")
    filters = argparse.ArgumentParser(add_help=False)
    filters.add_argument("--paper", choices=ledger.PAPERS, help="only claims of this paper, or of our own")
    filters.add_argument("--verdict", choices=tuple(ledger.VERDICTS), help="only claims with this verdict")
    filters.add_argument("--kind", choices=tuple(ledger.HOW), help="only claims that rest on evidence of this kind")
    jobs = argparse.ArgumentParser(add_help=False)
    jobs.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="parallel workers (default: every core)")
    kernel = argparse.ArgumentParser(add_help=False, parents=[jobs])
    kernel.add_argument("--build", type=Path, metavar="DIR", help="folder in which Rocq compiles; reused if up to date")

    a = actions.add_parser("list", parents=[filters, as_json], help="list the claims, one line each")
    a.add_argument(
        "--wrong", action="store_true", help="list only wrong claims, each with the true statement and what to use"
    )
    a.set_defaults(run=list_claims)

    a = actions.add_parser("show", parents=[as_json], help="show one claim in full")
    a.add_argument("id", help="the claim, such as DN25.Thm6")
    a.set_defaults(run=show)

    a = actions.add_parser(
        "check",
        parents=[filters, kernel, as_json],
        help="run the checks of claims; exit 1 if one fails",
        description="Run the checks of claims. Rocq takes minutes to compile and audit theorems, so it runs only "
        "with --rocq or --kind rocq. Without these options, and on a machine without Rocq, only the sources of the "
        'proofs are compared with proofs/rocq.lock.json, and the report says "recorded, not re-run".',
    )
    a.add_argument("ids", nargs="*", help="the claims to check (default: all that pass the filters)")
    a.add_argument("--rocq", action="store_true", help="also compile and audit the theorems that the claims rest on")
    a.set_defaults(run=check)

    a = actions.add_parser(
        "theorems",
        parents=[kernel, as_json],
        help="compile the proofs, and compare what the Rocq kernel says about them with the lock file",
        description="Compile proofs/rocq, and ask the Rocq kernel what every tagged theorem states and which axioms it "
        "uses. Compare the answers with proofs/rocq.lock.json; the exit status is 1 if they differ. On a machine "
        'without Rocq only the sources are compared, and the report says "recorded, not re-run"; if the environment '
        f"variable {REQUIRE} is set, a machine without Rocq is an error.",
    )
    a.set_defaults(run=theorems.theorems)

    a = actions.add_parser(
        "accept",
        parents=[kernel],
        help="record the code of claims, or theorems, in the lock file, after you have read the proofs again",
    )
    a.add_argument("ids", nargs="*", help="the claims whose proofs you have read again; with --rocq, theorems")
    a.add_argument("--all", action="store_true", help="every claim")
    a.add_argument(
        "--rocq",
        action="store_true",
        help="compile and audit the theorems, show the changes, and write the answers of the kernel to the lock file",
    )
    a.set_defaults(run=accept)

    a = actions.add_parser(
        "mutants",
        parents=[jobs, as_json],
        help="run every check on wrong formulas or implementations; exit 1 if it does not reject one",
    )
    a.add_argument("--only", metavar="TEXT", help="only checks or mutants with this text in their name")
    a.set_defaults(run=mutants)

    a = actions.add_parser(
        "render", help="write the generated pages of proofs, the table in its README.md and its picture"
    )
    a.add_argument(
        "--check",
        action="store_true",
        help="write nothing; report outdated files, and contradictions among entries, checks, code, theorems and pages",
    )
    a.set_defaults(run=render_files)
