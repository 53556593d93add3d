"""The command line: `covassay audit | release | law | mechanisms | claims | vectors | experiments | figures | schema`.

Every command is a module of this package with `configure(parser)`. It is imported when the command is run, so that
`covassay --help` answers at once.

Exit status: 0 done, or not refuted; 1 refuted, or a check failed; 2 invalid use or input, with one line on standard
error; 3 inconclusive, or the target cannot be run.
"""

import argparse
import importlib
import sys
from collections.abc import Sequence
from importlib.metadata import version
from typing import NoReturn

from covassay.reference.errors import InvalidInput

COMMANDS = {
    "audit": "look for a violation in an implementation",
    "release": "release a private covariance of a table",
    "mechanisms": "list the mechanisms, or show one of them",
    "law": "compute exact figures of a noise law",
    "claims": "show and check what the papers claim, and what is known about it",
    "vectors": "print exact values that the Rocq kernel evaluated",
    "experiments": "measure the rates of the theory",
    "figures": "draw the pictures of proofs/paper again",
    "schema": "print the JSON Schema of what a command prints",
}
DESCRIPTION = """\
Differentially private covariance estimation: reference mechanisms, and an
auditor that looks for violations in other implementations."""
EPILOG = """\
examples:
  covassay audit covassay:nuclear-laplace --epsilon 1
  covassay mechanisms nuclear-laplace
  covassay claims show DN25.Thm6

covassay COMMAND --help shows the options of a command."""


def _formatter(prog: str) -> argparse.HelpFormatter:
    """Help that keeps the line breaks of descriptions, and has names of up to 16 letters on the line of their text."""
    return argparse.RawDescriptionHelpFormatter(prog, max_help_position=20)


class _Parser(argparse.ArgumentParser):
    """An argument parser that reports every error on one line."""

    def error(self, message: str) -> NoReturn:
        raise InvalidInput(f"{message} (see {self.prog} --help)")


def _top() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="covassay",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=_formatter,
    )
    parser.add_argument("--version", action="version", version=f"covassay {version('covassay')}")
    commands = parser.add_subparsers(title="commands", dest="command", required=True, metavar="COMMAND")
    for name, text in COMMANDS.items():
        commands.add_parser(name, help=text, add_help=False)
    return parser


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """The parsed options of one command; their attribute `run` is the function that carries it out."""
    if not arguments or arguments[0] not in COMMANDS:
        return _top().parse_args(arguments)
    name, *rest = arguments
    module = importlib.import_module(f"covassay.verification.cli.{name}")
    parser = _Parser(prog=f"covassay {name}", formatter_class=_formatter, **module.PARSER)
    module.configure(parser)
    return parser.parse_args(rest)


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit status."""
    try:
        options = parse(arguments)
        status: int = options.run(options)
        return status
    except (InvalidInput, OSError) as error:
        print(f"covassay: {error}", file=sys.stderr)
        return 2
    except MemoryError:
        print("covassay: there is not enough memory for this: the data have too many columns", file=sys.stderr)
        return 2


def main() -> NoReturn:
    """Run the command line and exit with its status."""
    try:
        sys.exit(run(sys.argv[1:]))
    except KeyboardInterrupt:
        print("covassay: interrupted", file=sys.stderr)
        sys.exit(130)
