"""`covassay experiments`: figures of the papers, rates, negative controls, low-order bits, other auditors."""

import argparse
import csv
import io
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.table import Table

from covassay.reference.errors import InvalidInput
from covassay.verification.audit.negative_controls.every import NEGATIVE_CONTROLS
from covassay.verification.audit.options import FALSE_ALARM, FEWEST_SAMPLES, SAMPLES
from covassay.verification.claims.rates.accuracy import TOLERANCE, Measurement, Rate, measure
from covassay.verification.claims.rates.rates import RATES
from covassay.verification.cli import bit_table, control_table, experiment_runs, null_audits
from covassay.verification.cli import findings as findings_page
from covassay.verification.cli.screen import console, print_json, progress

REMARKS = "findings.toml"  # beside the page: what a person adds to it
FEWEST_DRAWS = 1000  # on an input; with fewer no tool shows much
PARSER = {
    "description": "Run the figures and theorems of the papers as experiments, or measure the rates of the theory,\n"
    "what refutes every negative control of the audit, or covassay beside other auditors."
}


def as_row(m: Measurement) -> dict[str, object]:
    """One measurement as a flat record."""
    return {
        "rate": m.rate.name,
        "mechanism": m.rate.mechanism,
        "varied": m.rate.varied,
        "grid": " ".join(f"{value:g}" for value in m.rate.grid),
        "errors": " ".join(f"{value:.6g}" for value in m.errors),
        "slope": f"{m.slope:.4f}",
        "slope_error": f"{m.slope_error:.4f}",
        "theory": f"{m.rate.slope:g}",
        "agrees": "yes" if m.agrees else "no",
        "over_theory": "" if m.ratio is None else f"{m.ratio:.4f}",
    }


def as_csv(rows: list[dict[str, object]]) -> str:
    """The records as CSV text."""
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def select(only: str | None) -> list[Rate]:
    """The rates whose name or mechanism contains a text."""
    chosen = [r for r in RATES if only is None or only.lower() in f"{r.name} {r.mechanism}".lower()]
    if not chosen:
        raise InvalidInput(f"only = {only!r}: no rate has this text in its name or mechanism")
    return chosen


def accuracy(options: argparse.Namespace) -> int:
    """Measure the rates, print and write them; return 1 if a slope misses the theory by more than the tolerance."""
    chosen = select(options.only)
    out = Path(options.write) if options.write else None
    if out is not None and not out.parent.is_dir():
        raise InvalidInput(f"{options.write}: must be in a directory that exists")
    rows = []
    with progress("", len(chosen)) as advance:
        for rate in chosen:
            advance(rate.name, 0)
            rows.append(as_row(measure(rate, options.seed)))
            advance(rate.name)
    if out is not None:
        out.write_text(as_csv(rows), encoding="utf-8")
    if options.json:
        print_json(rows)
    else:
        table = Table("rate", "mechanism", "slope", "theory", "agrees", "measured / theory")
        for row in rows:
            table.add_row(
                str(row["rate"]), str(row["mechanism"]), f"{row['slope']} ± {row['slope_error']}",
                str(row["theory"]), str(row["agrees"]), str(row["over_theory"]),
            )  # fmt: skip
        console().print(table)
        print(
            f"seed {options.seed}; tolerance {TOLERANCE:g}; replay: covassay experiments accuracy --seed {options.seed}"
        )
    return 1 if any(row["agrees"] == "no" for row in rows) else 0


def printing(options: argparse.Namespace) -> bool:
    """Whether lines are printed on a terminal as the work goes on: they say how far it is, in place of a bar."""
    return not options.json and sys.stdout.isatty()


def _file(name: str | None) -> Path | None:
    """The file of that name; its directory must exist."""
    path = Path(name) if name else None
    if path is not None and not path.absolute().parent.is_dir():
        raise InvalidInput(f"{name}: must be in a directory that exists")
    return path


def controls(options: argparse.Namespace) -> int:
    """Audit the negative controls, print a line for each, and write the table; return 1 if one stands unexpectedly."""
    names = [n for n, c in NEGATIVE_CONTROLS.items() if not options.only or options.only in f"{n} {c.mechanism}"]
    if not names:
        raise InvalidInput(f"only = {options.only!r}: no control has this text in its name or mechanism")
    if options.jobs < 1:
        raise InvalidInput(f"jobs = {options.jobs}: must be at least 1")
    out, kept = _file(options.write), _file(options.rows)
    rows = []
    with progress("", len(names), quiet=printing(options)) as advance:
        for row in control_table.measured(names, options.jobs, kept):
            rows.append(row)
            advance(row.control)
            if not options.json:
                print(control_table.line(row), flush=True)
    if out is not None:
        out.write_text(control_table.render(rows), encoding="utf-8")
    if options.json:
        print_json([asdict(row) for row in rows])
    return 1 if any((row.verdict == control_table.REFUTED) == bool(row.stands) for row in rows) else 0


def null(options: argparse.Namespace) -> int:
    """Audit correct mechanisms and print what happened; return 1 if one was refuted or p-values are not uniform."""
    if min(options.audits, options.jobs) < 1:
        raise InvalidInput("audits and jobs: must be at least 1")
    if options.samples < FEWEST_SAMPLES:
        raise InvalidInput(f"samples = {options.samples}: must be at least {FEWEST_SAMPLES}")
    rows = []
    with progress("", options.audits) as advance:
        for row in null_audits.run(
            options.audits, options.samples, options.only or "", options.jobs, _file(options.rows)
        ):
            advance(row.target)
            rows.append(row)
    if not rows:
        raise InvalidInput(f"only = {options.only!r}: no target has this text in its name")
    found = null_audits.summary(rows)
    if options.json:
        print_json(found)
    else:
        exact, bounds = found["exact"], found["bounds"]
        print(f"{found['audits']} audits of {found['targets']} correct targets: {len(found['refuted'])} refuted")
        print(*found["refuted"], sep="\n", end="")
        print(f"{exact['p_values']} exact p-values, one a scenario; that they are uniform has p = {exact['uniform']}")
        print(f"  least {exact['least']}; share below each level: {exact['share_below']}")
        print(f"{bounds['p_values']} p-values that are bounds; share below each level: {bounds['share_below']}")
    uniform = found["exact"]["uniform"]
    return 1 if found["refuted"] or (uniform is not None and uniform < FALSE_ALARM) else 0


def bits(options: argparse.Namespace) -> int:
    """Audit the low-order bits of samplers, or of many rounded releases; return 1 if a rounded release is flagged."""
    if min(options.jobs, 1 + options.rounded) < 1:
        raise InvalidInput("jobs and rounded: must be at least 1 and 0")
    if options.samples < FEWEST_SAMPLES:
        raise InvalidInput(f"samples = {options.samples}: must be at least {FEWEST_SAMPLES}")
    out, kept = _file(options.write), _file(options.rows)
    rows, repeated = [], []
    if options.rounded:
        with progress("", options.rounded) as advance:
            for one in bit_table.rounded(options.rounded, bit_table.ROUNDED_SAMPLES, options.jobs, _file(options.kept)):
                advance(one["target"])
                repeated.append(one)
    if out is not None or not options.rounded:
        chosen = bit_table.chosen(options.only)
        with progress("", len(chosen), quiet=printing(options)) as advance:
            for row in bit_table.measured(chosen, options.samples, options.jobs, kept):
                rows.append(row)
                advance(row.target)
                if not options.json:
                    print(f"{row.target}: {row.missing or row.loss or 'no loss above the claim was found'}", flush=True)
    found = bit_table.rounded_summary(repeated) if repeated else None
    if out is not None:
        out.write_text(bit_table.render(rows, found), encoding="utf-8")
    if options.json:
        print_json({"targets": [asdict(row) for row in rows], "rounded": found})
    elif found:
        print(f"{found['checks']} checks of {found['targets']} rounded mechanisms: {len(found['flagged'])} flagged")
        print(*found["flagged"], sep="\n", end="")
    flagged = [row for row in rows if row.loss and row.target.startswith("rounded:")]
    return 1 if flagged or (found and found["flagged"]) else 0


def findings(options: argparse.Namespace) -> int:
    """Audit every adapter of another project, or render the page of what was found."""
    if options.jobs < 1:
        raise InvalidInput("jobs: must be at least 1")
    out, kept = _file(options.write), _file(options.rows)
    chosen, rows = findings_page.chosen(options.only), []
    if out is not None and options.only:
        raise InvalidInput("write: the page has every target; leave --only out")
    for row in findings_page.measured(chosen, options.jobs, kept):
        rows.append(row)
        if not options.json:
            print(f"{row.target}: {row.missing or row.verdict}", flush=True)
    if out is not None:
        remarks = findings_page.Remarks.read(Path(options.remarks) if options.remarks else out.parent / REMARKS)
        out.write_text(findings_page.render(rows, remarks), encoding="utf-8")
    if options.json:
        print_json([asdict(row) for row in rows])
    return 0


def peers(options: argparse.Namespace) -> int:
    """Measure covassay and the other auditors that are installed on the same tasks; print, and write if asked."""
    from covassay.verification.audit.peers import table
    from covassay.verification.audit.peers.cases import CASES
    from covassay.verification.audit.peers.page import page
    from covassay.verification.audit.peers.tools import TOOLS

    folder = Path(options.write) if options.write else None
    if folder is not None and not folder.is_dir():
        raise InvalidInput(f"{options.write}: must be a directory that exists")
    chosen = [case for case in CASES.values() if options.only is None or options.only.lower() in case.name]
    if not chosen:
        raise InvalidInput(f"only = {options.only!r}: no case has this text in its name")
    if options.draws < FEWEST_DRAWS or options.seeds < 1:
        raise InvalidInput(f"draws = {options.draws}, seeds = {options.seeds}: at least {FEWEST_DRAWS} and 1")
    tools = [tool for tool in TOOLS.values() if options.tool in (None, tool.name)]
    for tool in tools:
        if not tool.installed:
            print(
                f"{tool.name} is not installed: get {tool.home}, so that `import {tool.package}` works", file=sys.stderr
            )
    lines: list[table.Line] = []
    installed = [tool for tool in tools if tool.installed]
    runs = sum(options.seeds * len(t.settings) for t in installed for case in chosen if not t.absent(case))
    with progress("", runs) as advance:
        for tool in installed:
            for case in chosen:
                lines += table.measure(case, tool, options.draws, options.seeds, advance)
    if folder is not None:
        figures = folder / "peers.csv"
        kept = table.from_csv(figures.read_text(encoding="utf-8")) if figures.exists() else []
        everything = table.merged(kept, lines)
        figures.write_text(table.as_csv(everything), encoding="utf-8")
        (folder / "PEERS.md").write_text(page(everything), encoding="utf-8")
    rows = [asdict(line) for line in table.merged([], lines)]
    if options.json:
        print_json(rows)
        return 0
    shown = Table("case", "tool", "setting", "level", "bound", "refuted", "failed")
    for row in rows:
        shown.add_row(*(str(row[name]) for name in ("case", "tool", "setting", "level", "bound", "refuted", "failed")))
    console().print(shown)
    print(f"{options.draws} draws on each input, {options.seeds} seeds from 0 on")
    return 0


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the actions of the command."""
    actions = parser.add_subparsers(dest="action", required=True)
    experiment_runs.configure(actions)
    a = _action(
        actions, "accuracy", accuracy, "rates whose name or mechanism", "--only 'Theorem 1'",
        "measure the error against n, d and the budget; exit 1 if a slope is off by more than 0.1",
    )  # fmt: skip
    a.add_argument("--write", metavar="FILE", help="also write the table as CSV")
    a.add_argument("--seed", type=int, default=0, help="seed of the data and the noise (default %(default)s)")
    c = _action(
        actions, "controls", controls, "controls whose name or mechanism", "--only laplace-97",
        "audit every negative control: what refutes it, after how many draws and seconds",
    )  # fmt: skip
    _kept(c, "rows")
    c.add_argument("--write", metavar="FILE", help="also write the table as Markdown")
    n = _action(
        actions, "null", null, "targets whose name", "--audits 4 --only gauss-cov",
        "audit correct mechanisms: how many are refuted, and whether exact p-values are uniform",
    )  # fmt: skip
    n.add_argument("--audits", type=int, default=20, help="how many (default %(default)s)")
    n.add_argument("--samples", type=int, default=FEWEST_SAMPLES, help="draws on each data set (default %(default)s)")
    _kept(n, "audits")
    low = _action(
        actions, "bits", bits, "targets whose name", "--only numpy",
        "what the low-order bits of samplers of several packages tell of neighbouring data sets",
    )  # fmt: skip
    low.add_argument("--samples", type=int, default=SAMPLES, help="as for covassay audit (default %(default)s)")
    low.add_argument(
        "--rounded", type=int, default=0, metavar="N", help="check N rounded releases, each with its own seed"
    )
    _kept(low, "rows")
    low.add_argument("--kept", metavar="FILE", help="the same for --rounded")
    low.add_argument("--write", metavar="FILE", help="also write the table as Markdown")
    w = _action(
        actions, "findings", findings, "targets whose name", "--only python-dp",
        "what audits of the functions of other projects find, each by one command without hints",
    )  # fmt: skip
    _kept(w, "rows")
    w.add_argument("--write", metavar="FILE", help="also write the page as Markdown")
    w.add_argument("--remarks", metavar="FILE", help=f"what a person adds to the page (default: {REMARKS} beside it)")
    b = _action(
        actions, "peers", peers, "cases whose name", "--only laplace",
        "what covassay and other auditors prove on the same tasks, as many of them as are installed",
    )  # fmt: skip
    b.add_argument("--tool", metavar="NAME", help="only this tool: covassay, DP-Sniper, dp_auditorium or dp-recorder")
    b.add_argument("--draws", type=int, default=10_000, help="on each of the two inputs (default %(default)s)")
    b.add_argument("--seeds", type=int, default=10, help="how many runs (default %(default)s)")
    b.add_argument("--write", metavar="FOLDER", help="also bring FOLDER/peers.csv and FOLDER/PEERS.md up to date")


def _action(
    actions: Any, name: str, run: Callable[[argparse.Namespace], int], these: str, example: str, does: str
) -> argparse.ArgumentParser:
    """The parser of an action that can be asked for `these` alone, and prints JSON if asked."""
    parser: argparse.ArgumentParser = actions.add_parser(
        name, help=does, epilog=f"example: covassay experiments {name} {example}"
    )
    parser.add_argument("--only", metavar="TEXT", help=f"only the {these} contains this text")
    parser.add_argument("--json", action="store_true", help=f"print JSON (covassay schema experiments-{name})")
    parser.set_defaults(run=run)
    return parser


def _kept(parser: argparse.ArgumentParser, rows: str) -> None:
    """The options of an action that makes many audits and can go on after a kill."""
    parser.add_argument("--jobs", type=int, default=1, help="audits at the same time (default %(default)s)")
    parser.add_argument(
        "--rows", metavar="FILE", help=f"keep {rows} as JSON lines; those that are there are not made again"
    )
