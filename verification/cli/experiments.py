"""`covassay experiments accuracy`: error against n, d and the budget, beside the exponents of the theory."""

import argparse
import csv
import io
import json
import sys
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from covassay.reference.errors import InvalidInput
from covassay.verification.claims.rates.accuracy import TOLERANCE, Measurement, Rate, measure
from covassay.verification.claims.rates.rates import RATES


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
        raise InvalidInput(f"only = {only!r}: no rate has that in its name or mechanism")
    return chosen


def accuracy(options: argparse.Namespace) -> int:
    """Measure, print and write; exit 1 if a slope is further from the theory than the tolerance."""
    chosen = select(options.only)
    out = Path(options.write) if options.write else None
    if out is not None and not out.parent.is_dir():
        raise InvalidInput(f"{options.write}: must be in a directory that exists")
    console = Console(stderr=True)
    rows = []
    columns = TextColumn("{task.description}"), TimeElapsedColumn()
    with Progress(*columns, console=console, transient=True, disable=options.json or not console.is_terminal) as bar:
        task = bar.add_task("", total=None)
        for rate in chosen:
            bar.update(task, description=rate.name)
            rows.append(as_row(measure(rate, options.seed)))
    if out is not None:
        out.write_text(as_csv(rows), encoding="utf-8")
    if options.json:
        json.dump(rows, sys.stdout, indent=2, ensure_ascii=False)
        print()
    else:
        table = Table("rate", "mechanism", "slope", "theory", "agrees", "measured / theory")
        for row in rows:
            table.add_row(
                str(row["rate"]), str(row["mechanism"]), f"{row['slope']} ± {row['slope_error']}",
                str(row["theory"]), str(row["agrees"]), str(row["over_theory"]),
            )  # fmt: skip
        Console(width=None if sys.stdout.isatty() else 150).print(table)
        print(
            f"seed {options.seed}; tolerance {TOLERANCE:g}; replay: covassay experiments accuracy --seed {options.seed}"
        )
    return 1 if any(row["agrees"] == "no" for row in rows) else 0


def add_parser(commands: Any) -> None:
    """Add the command to the command line."""
    top = commands.add_parser("experiments", help="measure the rates of the theory")
    actions = top.add_subparsers(dest="action", required=True)
    a = actions.add_parser(
        "accuracy",
        help="error against n, d and the budget; exit 1 if a slope is off by more than 0.1",
        epilog="example: covassay experiments accuracy --only 'Theorem 1'",
    )
    a.add_argument("--only", metavar="TEXT", help="rates whose name or mechanism contains this")
    a.add_argument("--write", metavar="FILE", help="also write the table as CSV")
    a.add_argument("--seed", type=int, default=0)
    a.add_argument("--json", action="store_true")
    a.set_defaults(run=accuracy)
