"""Declare arguments that several programs of the maintainers take."""

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path

from covassay.reference.errors import InvalidInput


def require_jobs(options: argparse.Namespace) -> None:
    """Raise `InvalidInput` unless the options ask for at least one worker."""
    if options.jobs < 1:
        raise InvalidInput(f"jobs = {options.jobs}: must be at least 1")


def printing(options: argparse.Namespace) -> bool:
    """Return whether the program prints each result as a line on a terminal; if so, it shows no progress bar."""
    return not options.json and sys.stdout.isatty()


def file_to_write(name: str | None) -> Path | None:
    """Return the path of the file `name` if its directory exists, and raise an error otherwise."""
    path = Path(name) if name else None
    if path is not None and not path.absolute().parent.is_dir():
        raise InvalidInput(f"{name}: must be in a directory that exists")
    return path


def chosen(names: Iterable[str], only: str | None) -> list[str]:
    """Return the targets whose name contains the text `only`, and raise an error if no target does."""
    found = [name for name in names if not only or only in name]
    if not found:
        raise InvalidInput(f"only = {only!r}: no target has this text in its name")
    return found


def add_choice(parser: argparse.ArgumentParser, these: str, schema: str) -> None:
    """Add options to the parser to select some of the items and to print JSON."""
    parser.add_argument("--only", metavar="TEXT", help=f"select only the {these} contains this text")
    parser.add_argument("--json", action="store_true", help=f"print JSON (covassay schema {schema})")


def add_kept(parser: argparse.ArgumentParser, rows: str) -> None:
    """Add the options of a program that makes many audits and can continue after it was killed."""
    parser.add_argument("--jobs", type=int, default=1, help="audits at the same time (default %(default)s)")
    parser.add_argument(
        "--rows", metavar="FILE", help=f"store the {rows} as JSON lines; stored {rows} are not made again"
    )
