"""Implement the command `covassay experiments`."""

import argparse
import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.table import Table

from covassay.reference.errors import InvalidInput
from covassay.verification.claims.rates.accuracy import TOLERANCE, Measurement, Rate, measure
from covassay.verification.claims.rates.rates import RATES
from covassay.verification.cli import experiment_runs
from covassay.verification.cli.screen import console, print_json, progress

PARSER = {
    "description": "Run experiments on figures and theorems of the papers, or compare error rates with the theory."
}


def as_row(m: Measurement) -> dict[str, object]:
    """Return the measurement of one rate as a dictionary of plain values."""
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
    """Return the records as CSV text."""
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def select(only: str | None) -> list[Rate]:
    """Return the error rates whose name or mechanism contains the given text."""
    chosen = [r for r in RATES if only is None or only.lower() in f"{r.name} {r.mechanism}".lower()]
    if not chosen:
        raise InvalidInput(f"only = {only!r}: no rate has this text in its name or mechanism")
    return chosen


def accuracy(options: argparse.Namespace) -> int:
    """Measure the rates, print and write them, and return 1 if a slope contradicts the theory by more than the
    tolerance.
    """
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


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the actions of the command to the parser."""
    actions = parser.add_subparsers(dest="action", required=True)
    experiment_runs.configure(actions)
    a = _action(
        actions, "accuracy", accuracy, "rates whose name or mechanism", "--only 'Theorem 1'",
        "measure how errors depend on n, d and the budget; exit 1 if a slope contradicts the theory by more than 0.1",
    )  # fmt: skip
    a.add_argument("--write", metavar="FILE", help="also write the table as CSV")
    a.add_argument("--seed", type=int, default=0, help="seed of the data and the noise (default %(default)s)")


def _action(
    actions: Any, name: str, run: Callable[[argparse.Namespace], int], these: str, example: str, does: str
) -> argparse.ArgumentParser:
    """Make the parser of one action, with options that select items and print JSON."""
    parser: argparse.ArgumentParser = actions.add_parser(
        name, help=does, epilog=f"example: covassay experiments {name} {example}"
    )
    parser.add_argument("--only", metavar="TEXT", help=f"select only the {these} contains this text")
    parser.add_argument("--json", action="store_true", help=f"print JSON (covassay schema experiments-{name})")
    parser.set_defaults(run=run)
    return parser
