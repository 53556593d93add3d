"""Run the command line `covassay`.

Every command is a module of this package with a function `configure(parser)`. The module of a command is imported when
the command is run, so that `covassay --help` answers at once.

Exit status: 0 done, or not refuted; 1 refuted, or a check failed; 2 invalid use or input, with one line on standard
error; 3 inconclusive, or the target cannot be run; 4 an internal error of covassay, with one line on standard error
and, if the environment variable COVASSAY_DEBUG is set, the traceback; 130 or 143 interrupted by SIGINT
or SIGTERM, which `covassay audit` reports like an inconclusive audit.
"""

import argparse
import importlib
import io
import os
import sys
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any, NoReturn

from covassay.reference.digits import read_number
from covassay.reference.errors import InvalidInput
from covassay.verification.cli.audit_process import INTERNAL_ERROR, INTERRUPTED, Finished, run_in_child

DEBUG = "COVASSAY_DEBUG"  # this is the name of an environment variable
INVALID_USE = 2
BROKEN_PIPE = 128 + 13  # a shell reports this exit status for a program that SIGPIPE ended
COMMANDS = {
    "audit": "look for a violation in an implementation",
    "adapters": "list the packages that can be audited by name, or install one",
    "release": "release a private covariance of a table",
    "recommend": "which mechanism to use, from public facts alone",
    "mechanisms": "list the mechanisms, or show one of them",
    "law": "compute exact figures of a noise law",
    "claims": "show which claims of the papers are true, and check the evidence",
    "vectors": "test an implementation with known answers, or print exact values",
    "experiments": "run experiments on figures and theorems of the papers, or measure error rates",
}
# these commands are named only in the epilog of the help
UNLISTED = {"schema": "print the JSON Schema of what a command prints"}
DESCRIPTION = """\
Differentially private covariance estimation: reference mechanisms, and an
auditor that looks for violations in other implementations."""
EPILOG = """\
examples:
  covassay audit covassay:nuclear-laplace --epsilon 1
  covassay mechanisms nuclear-laplace
  covassay claims show DN25.Thm6

covassay COMMAND --help shows the options of a command, and covassay schema
the JSON Schema of what a command prints.

exit status: 0 done, or not refuted; 1 refuted, or a check failed; 2 invalid
use or input; 3 inconclusive, or the target cannot be run; 4 internal error
(COVASSAY_DEBUG=1 shows its traceback); 130 or 143 interrupted"""


def _formatter(prog: str) -> argparse.HelpFormatter:
    """Make a formatter of help texts that keeps the line breaks of descriptions.

    If the name of an option or command has at most 16 letters, its help begins on the same line.
    """
    return argparse.RawDescriptionHelpFormatter(prog, max_help_position=20)


def read_whole(text: str) -> int:
    """Return the whole number that a text of ASCII digits denotes; underscores are rejected."""
    if not text.isascii() or "_" in text:
        raise ValueError(f"{text!r} must be written in the digits 0 to 9, without underscores")
    return int(text)


class _Parser(argparse.ArgumentParser):
    """An argument parser that reports every error on one line, and accepts only the digits 0 to 9 in numbers."""

    def __init__(self, *args: Any, **keywords: Any) -> None:
        super().__init__(*args, **keywords)
        self.register("type", float, read_number)
        self.register("type", int, read_whole)

    def error(self, message: str) -> NoReturn:
        raise InvalidInput(f"{message} (see {self.prog} --help)")


@dataclass(frozen=True)
class Program:
    """A command line, with its name, the package with its commands, and the texts of
    its help.

    commands : maps the name of every command that the help lists, in this order, to a sentence about the command.
    unlisted : maps the name of every command that the help omits to a sentence about the command.
    elsewhere : maps the name of every command whose module is not in `package` to its module.
    """

    name: str
    package: str
    commands: Mapping[str, str]
    description: str
    epilog: str
    unlisted: Mapping[str, str] = field(default_factory=dict)
    elsewhere: Mapping[str, str] = field(default_factory=dict)

    def _top(self) -> argparse.ArgumentParser:
        parser = _Parser(prog=self.name, description=self.description, epilog=self.epilog, formatter_class=_formatter)
        parser.add_argument("--version", action="version", version=f"covassay {version('covassay')}")
        commands = parser.add_subparsers(title="commands", dest="command", required=True, metavar="COMMAND")
        for name, text in self.commands.items():
            commands.add_parser(name, help=text, add_help=False)
        return parser

    def parse(self, arguments: Sequence[str]) -> argparse.Namespace:
        """Return the parsed options of one command; the attribute `run` of the options
        is the function that runs the command."""
        if not arguments or arguments[0] not in {**self.commands, **self.unlisted}:
            return self._top().parse_args(arguments)
        name, *rest = arguments
        module = importlib.import_module(self.elsewhere.get(name, f"{self.package}.{name.replace('-', '_')}"))
        parser = _Parser(prog=f"{self.name} {name}", formatter_class=_formatter, **module.PARSER)
        module.configure(parser)
        return parser.parse_args(rest)

    def run(self, arguments: Sequence[str]) -> int:
        """Run one command and return its exit status. An internal error of the command
        is not caught."""
        try:
            options = self.parse(arguments)
            status: int = options.run(options)
            return status
        except BrokenPipeError:
            raise
        except (InvalidInput, OSError, MemoryError) as error:
            return one_line(error).deliver()


def one_line(error: Exception) -> Finished:
    """Return the exit status and the message for an error, which is one line and, if
    requested, the traceback."""
    if isinstance(error, InvalidInput | OSError):
        return Finished(INVALID_USE, err=f"covassay: {error}\n")
    if isinstance(error, MemoryError):
        text = "there is not enough memory for this: the data have too many columns"
        return Finished(INVALID_USE, err=f"covassay: {text}\n")
    trace = "".join(traceback.format_exception(error)) if os.environ.get(DEBUG) else ""
    hint = "" if trace else f" ({DEBUG}=1 shows the traceback)"
    text = " ".join(f"internal error: {type(error).__name__}: {error}".split())
    return Finished(INTERNAL_ERROR, err=f"{trace}covassay: {text}{hint}\n")


PROGRAM = Program("covassay", "covassay.verification.cli", COMMANDS, DESCRIPTION, EPILOG, UNLISTED)
parse, run = PROGRAM.parse, PROGRAM.run


def _run_command(arguments: Sequence[str]) -> int:
    """Run one command as in a terminal, where `covassay audit` runs in a separate process."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # the encoding of some locales lacks letters of the reports
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        status = run_in_child(arguments[1:]) if arguments[:1] == ["audit"] else run(arguments)
        sys.stdout.flush()
        return status
    except BrokenPipeError:  # the reader of the output closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except Exception as error:
        return one_line(error).deliver()


def main() -> NoReturn:
    """Run the command line, and end the process with its exit status."""
    try:
        sys.exit(_run_command(sys.argv[1:]))
    except KeyboardInterrupt:
        print("covassay: interrupted", file=sys.stderr)
        sys.exit(INTERRUPTED)
