"""Implement the actions `list`, `run`, `show`, `plot` and `regenerate` of `covassay experiments`."""

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.table import Table

from covassay.reference.errors import InvalidInput
from covassay.verification.cli.screen import console, print_json, progress
from covassay.verification.experiments import plots, released, results, running
from covassay.verification.experiments.catalogue import EXPERIMENTS
from covassay.verification.experiments.data import files
from covassay.verification.experiments.experiment import REPETITIONS, SCALES, Experiment
from covassay.verification.experiments.running import Plan

FOLDER = "experiments"


def _row(one: Experiment) -> dict[str, Any]:
    return {
        "name": one.name,
        "title": one.title,
        "source": one.source,
        "panels": [{"name": panel.name, "title": panel.title, "needs": panel.needs} for panel in one.panels],
        "methods": list(dict.fromkeys(method.label for panel in one.panels for method in panel.methods)),
        "claims": [{"statement": claim.statement, "ledger": claim.ledger} for claim in one.claims],
        "cells": {scale: len(Plan.of(one.name, scale).cells) for scale in SCALES},
    }


def list_experiments(options: argparse.Namespace) -> int:
    """Print every experiment with its requirements."""
    rows = [_row(one) for one in EXPERIMENTS.values()]
    if options.json:
        print_json(rows)
        return 0
    table = Table("experiment", "what", "source", "panels", "needs")
    for row in rows:
        needs = ", ".join(sorted({panel["needs"] for panel in row["panels"]} - {""}))
        table.add_row(row["name"], row["title"], row["source"], str(len(row["panels"])), needs)
    console().print(table)
    print("data sets that you give with --data NAME=PATH (nothing is downloaded):")
    print(*(f"  {name:10}{text}" for name, text in files.FORMATS.items()), sep="\n")
    return 0


def run(options: argparse.Namespace) -> int:
    """Run experiments, write their results, and report panels whose data are missing."""
    if bool(options.names) == options.all:
        raise InvalidInput("give the names of experiments (covassay experiments list), or --all")
    if options.jobs < 1:
        raise InvalidInput(f"jobs = {options.jobs}: must be at least 1")
    given = _given(options)
    wanted = list(EXPERIMENTS) if options.all else list(dict.fromkeys(options.names))
    plans = [Plan.of(name, options.scale, options.seed, options.repetitions, given) for name in wanted]
    for plan in plans:
        if not plan.panels and not options.all:
            reasons = {plan.missing(panel) for panel in plan.experiment.panels}
            raise InvalidInput(f"{plan.experiment.name}: {'; '.join(sorted(reasons))}")
    folder = _folder(options.out)
    _execute([plan for plan in plans if plan.panels], folder, options.jobs)
    for plan in plans:
        for panel in plan.experiment.panels:
            if plan.missing(panel):
                print(f"{plan.experiment.name}, panel {panel.name}: left out; {plan.missing(panel)}", file=sys.stderr)
    return 0


def _execute(plans: Sequence[Plan], folder: Path, jobs: int, quiet: bool = False) -> list[Path]:
    """Run the plans one by one, and print the name of every file that is written."""
    written = []
    with running.workers(jobs) as pool, progress("", sum(len(plan.cells) for plan in plans)) as advance:
        for plan in plans:
            written.append(running.run(plan, folder, pool, advance))
            if not quiet:
                print(written[-1], flush=True)
    return written


def _given(options: argparse.Namespace) -> dict[str, Path]:
    """Return the data sets and the released code that the user named."""
    code = {released.NAME: released.require(Path(options.released_code))} if options.released_code else {}
    return {**files.given(options.data), **code}


def _folder(name: str) -> Path:
    """Return the folder `name`, and make it if its parent exists."""
    folder = Path(name)
    if not folder.absolute().parent.is_dir() or (folder.exists() and not folder.is_dir()):
        raise InvalidInput(f"{name}: must be a folder, or a new one in a folder that exists")
    folder.mkdir(exist_ok=True)
    return folder


def _stored(name: str) -> list[Path]:
    """Return the experiment results that are stored in a folder, or in a single file."""
    path = Path(name)
    found = sorted(path.glob("*.parquet")) if path.is_dir() else [path]
    if not found:
        raise InvalidInput(f"{name}: holds no results; covassay experiments run writes them")
    return found


def plot(options: argparse.Namespace) -> int:
    """Draw every result in a folder as SVG and PNG beside it."""
    for file in _stored(options.path):
        print(*plots.draw(results.read(file), file.parent, file.stem), sep="\n", flush=True)
    return 0


def show(options: argparse.Namespace) -> int:
    """Print the facts about a result, and the mean and the interval at every point."""
    result = results.read(Path(options.file))
    means: list[dict[str, Any]] = [
        {"panel": panel, "measure": measure, "method": method, "value": value, "mean": mean.mean,
         "low": mean.low if mean.repetitions > 1 else None, "high": mean.high if mean.repetitions > 1 else None}
        for (panel, measure, method), line in results.lines(result.rows).items()
        for value, mean in line.items()
    ]  # fmt: skip
    if options.json:
        print_json({"facts": result.facts, "means": means})
        return 0
    print(f"{result.facts['title']} ({result.facts['source']})")
    print(f"{result.facts['command']}: {result.facts['repetitions']} repetitions")
    table = Table("panel", "measure", "method", "value", "mean", result.facts["interval"])
    for row in means:
        between = "" if row["low"] is None else f"{row['low']:.4g} to {row['high']:.4g}"
        table.add_row(row["panel"], row["measure"], row["method"], f"{row['value']:g}", f"{row['mean']:.4g}", between)
    console().print(table)
    print(*plots.verdicts(result.facts), *(f"note: {note}" for note in result.facts["notes"]), sep="\n")
    return 0


def regenerate(options: argparse.Namespace) -> int:
    """Run a stored result again from the settings in its metadata.

    If the new result is not equal bit by bit, `regenerate` prints the difference and returns 1.
    """
    if options.jobs < 1:
        raise InvalidInput(f"jobs = {options.jobs}: must be at least 1")
    kept = results.read(Path(options.file))
    plan = running.replan(kept.facts, _given(options))
    with tempfile.TemporaryDirectory() as temporary:
        folder = _folder(options.out) if options.out else Path(temporary)
        again = results.read(_execute([plan], folder, options.jobs, quiet=True)[0])
    found = results.differences(kept, again)
    print(*found, sep="\n", end="\n" if found else "")
    print(f"{options.file}: {'differs' if found else f'all {len(kept.rows)} measured errors are the same, bit by bit'}")
    return 1 if found else 0


def configure(actions: Any) -> None:
    """Add the actions of the command to the parser."""
    entry = actions.add_parser("list", help="list the experiments: figures and theorems of the papers")
    entry.add_argument("--json", action="store_true", help="print JSON (covassay schema experiments-list)")
    entry.set_defaults(run=list_experiments)
    r = actions.add_parser(
        "run",
        help="run experiments, or continue a run that was killed or that had fewer repetitions",
        epilog="example: covassay experiments run dn25-constants --jobs 2",
    )
    r.add_argument("names", nargs="*", metavar="NAME", help="experiments, see covassay experiments list")
    r.add_argument("--all", action="store_true", help="all experiments; panels whose data are missing are left out")
    r.add_argument("--scale", choices=SCALES, default="small", help="sizes and grids (default %(default)s)")
    r.add_argument(
        "--repetitions", type=int, metavar="N",
        help=f"repetitions at each point (default {REPETITIONS['small']}, or {REPETITIONS['paper']} at paper scale)",
    )  # fmt: skip
    r.add_argument("--seed", type=int, default=0, help="seed of the data and the noise (default %(default)s)")
    r.add_argument("--jobs", type=int, default=1, help="number of worker processes (default %(default)s)")
    r.add_argument("--out", default=FOLDER, metavar="DIR", help="where results are written (default %(default)s)")
    r.set_defaults(run=run)
    s = actions.add_parser("show", help="print a stored result: means, intervals, and where it contradicts the paper")
    s.add_argument("file", metavar="FILE", help="a result, DIR/NAME.parquet")
    s.add_argument("--json", action="store_true", help="print JSON (covassay schema experiments-show)")
    s.set_defaults(run=show)
    p = actions.add_parser("plot", help="draw stored results as SVG and PNG beside them")
    p.add_argument("path", metavar="DIR", help="a folder with results, or one result")
    p.set_defaults(run=plot)
    g = actions.add_parser("regenerate", help="run a stored result again and compare bit by bit; exit 1 if it differs")
    g.add_argument("file", metavar="FILE", help="a result, DIR/NAME.parquet")
    g.add_argument("--jobs", type=int, default=1, help="number of worker processes (default %(default)s)")
    g.add_argument("--out", metavar="DIR", help="keep the new result in this folder")
    g.set_defaults(run=regenerate)
    for parser in (r, g):
        parser.add_argument(
            "--data", action="append", default=[], metavar="NAME=PATH", help="a data set that you have; may be repeated"
        )
        parser.add_argument(
            "--released-code", metavar="PATH",
            help="a copy of hkustDB/PrivateCovariance, to compare in experiments of DLY22; needs torch",
        )  # fmt: skip
