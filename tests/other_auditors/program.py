"""Run covassay and the other auditors that are installed on the same tasks."""

import argparse
import sys
from dataclasses import asdict
from pathlib import Path

from rich.table import Table

from covassay.reference.errors import InvalidInput
from covassay.verification.cli.screen import console, print_json, progress
from covassay.verification.maintain.arguments import add_choice
from tests.other_auditors import by_draws, further, table
from tests.other_auditors.cases import CASES
from tests.other_auditors.page import page
from tests.other_auditors.tools import TOOLS

BY_DRAWS = "peers-by-draws.csv"
FEWEST_DRAWS = 1000  # smallest number of draws on an input; with fewer draws no tool proves much
PARSER = {
    "description": "Run covassay and the other installed auditors on the same tasks, and compare what they prove.",
    "epilog": "example: python -P -m covassay.verification.maintain peers --only laplace",
}


def _kept(file: Path) -> list[table.Line]:
    return table.from_csv(file.read_text(encoding="utf-8")) if file.exists() else []


def _by_draws(folder: Path | None) -> int:
    lines = [*by_draws.measured(), *further.measured()]
    print(table.as_csv(lines), end="")
    if folder is not None:
        tools = {(line.tool, line.setting) for line in lines}
        lines += [line for line in _kept(folder / BY_DRAWS) if (line.tool, line.setting) not in tools]
        (folder / BY_DRAWS).write_text(table.as_csv(lines), encoding="utf-8")
        (folder / "PEERS.md").write_text(page(_kept(folder / "peers.csv"), lines), encoding="utf-8")
    return 0


def run(options: argparse.Namespace) -> int:
    """Run the auditors on the chosen cases, print the results, and write the page if a folder is given."""
    folder = Path(options.write) if options.write else None
    if folder is not None and not folder.is_dir():
        raise InvalidInput(f"{options.write}: must be a directory that exists")
    if options.by_draws:
        return _by_draws(folder)
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
        everything = table.merged(_kept(figures), lines)
        figures.write_text(table.as_csv(everything), encoding="utf-8")
        (folder / "PEERS.md").write_text(page(everything, _kept(folder / BY_DRAWS)), encoding="utf-8")
    rows = [asdict(line) for line in table.merged([], lines)]
    if options.json:
        print_json(rows)
        return 0
    shown = Table("case", "tool", "setting", "level", "bound", "refuted", "failed")
    for row in rows:
        shown.add_row(*(str(row[name]) for name in ("case", "tool", "setting", "level", "bound", "refuted", "failed")))
    console().print(shown)
    print(f"{options.draws} draws on each input, {options.seeds} seeds, starting at 0")
    return 0


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    add_choice(parser, "cases whose name", "maintain-peers")
    parser.add_argument("--tool", metavar="NAME", help=f"run only this auditor, one of {', '.join(TOOLS)}")
    parser.add_argument(
        "--draws", type=int, default=10_000, help="number of draws on each of the two inputs (default %(default)s)"
    )
    parser.add_argument("--seeds", type=int, default=10, help="number of seeds (default %(default)s)")
    parser.add_argument("--write", metavar="FOLDER", help="also update FOLDER/peers.csv and FOLDER/PEERS.md")
    parser.add_argument(
        "--by-draws",
        action="store_true",
        help="make the further tables instead: share proven by draws, draws until refuted, low-order bits",
    )
    parser.set_defaults(run=run)
