"""`covassay vectors`: exact values of the formulas in the theorems, evaluated by the Rocq kernel."""

import argparse
import sys

from covassay.verification.claims.kernel import vectors
from covassay.verification.cli.theorems import proofs_folder

PARSER = {"description": "Print exact values of the formulas in the theorems, evaluated by the Rocq kernel, as JSON."}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the values that the kernel evaluated, from the folder proofs/ of the clone."""
    sys.stdout.write(vectors.path_of(proofs_folder()).read_text(encoding="utf-8"))
    return 0
