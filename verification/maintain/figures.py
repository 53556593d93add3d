"""Draw the pictures of proofs/paper again, or compare the numbers behind them."""

import argparse
import sys
from pathlib import Path

from covassay.reference.errors import InvalidInput
from covassay.verification.experiments.figures import FIGURES, problems, write

PARSER = {"description": "Draw the pictures of proofs/paper again, or compare the numbers behind them."}


def figures(options: argparse.Namespace) -> int:
    """Write every picture and its table to the folder of the picture. With the option --check, compare only the tables,
    and return 1 if one of them differs.
    """
    folder = Path(options.folder)
    if not folder.is_dir():
        raise InvalidInput(
            f"folder = {options.folder}: there is no such folder; run this from a clone of the repository"
        )
    if options.check:
        found = problems(folder)
        print(*found, sep="\n", file=sys.stderr)
        return 1 if found else 0
    for figure in FIGURES:
        write(figure, folder)
        print(folder / f"{figure.name}.svg")
    return 0


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command to the parser."""
    parser.add_argument("--folder", default="proofs/paper/figures", help="where the pictures are (default %(default)s)")
    parser.add_argument(
        "--check", action="store_true", help="compare the numbers behind the pictures; needs no drawing library"
    )
    parser.set_defaults(run=figures)
