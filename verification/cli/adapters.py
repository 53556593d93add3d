"""Implement the command `covassay adapters`.

List the packages that can be audited by name (covassay audit NAME:FUNCTION), make an
environment for a package, or print a module from which to start your own adapter.

examples:
  covassay adapters list
  covassay adapters install python-dp
  covassay adapters template > my_package_adapter.py

An environment is a venv that has the package in the version that its adapter supports.
The command covassay audit uses this environment if covassay's own environment lacks the
package or has another version of it. Environments are in a cache directory, or in the
directory that the environment variable COVASSAY_ADAPTERS names.
"""

import argparse
import os
import sys
from importlib import resources
from pathlib import Path
from typing import Any

from rich.table import Table

from covassay.reference.errors import InvalidInput
from covassay.verification.audit.targets import environment, examples
from covassay.verification.audit.targets.package import Package
from covassay.verification.audit.targets.target import CannotRun, adapter, adapters
from covassay.verification.cli.audit_process import INCONCLUSIVE
from covassay.verification.cli.options import texts
from covassay.verification.cli.screen import console, print_json

TEMPLATE = "adapter.py.txt"
ACTIONS = "list", "install", "remove", "template"
PARSER = texts(__doc__)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command to the parser."""
    add = parser.add_argument
    add("action", choices=ACTIONS, help="list, install or remove adapters, or print a template of an adapter")
    add("names", nargs="*", metavar="NAME", help="names of adapters, from covassay adapters list")
    add("--directory", metavar="DIR", help="where environments are made (default: COVASSAY_ADAPTERS or a cache)")
    add("--json", action="store_true", help="list: print JSON (covassay schema adapters)")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Carry out the action that the user requested."""
    if options.json and options.action != "list":
        raise InvalidInput("--json: only for list")
    if options.action in ("install", "remove") and not options.names:
        raise InvalidInput(f"{options.action}: name an adapter (covassay adapters list)")
    if options.action in ("list", "template") and options.names:
        raise InvalidInput(f"{options.action}: takes no name")
    if options.directory:
        os.environ[environment.DIRECTORY] = str(Path(options.directory).absolute())
    try:
        return {"list": _list, "install": _install, "remove": _remove, "template": _template}[options.action](options)
    except CannotRun as error:
        print(f"covassay: {error}", file=sys.stderr)
        return INCONCLUSIVE


def record(name: str) -> dict[str, Any]:
    """Return the facts about one adapter as plain data, for JSON."""
    try:
        module = adapter(name)
    except CannotRun as error:
        unknown = {"targets": [], "package": "", "requirements": [], "source": ""}
        return {"name": name, **unknown, "usable": "no", "reason": str(error)}
    package: Package | None = getattr(module, "PACKAGE", None)
    found = {
        "name": name,
        "targets": list(module.TARGETS),
        "package": package.audited if package else "",
        "requirements": package.everything if package else [],
        "source": package.source if package else "",
    }
    if package is None:
        return {**found, "usable": "here", "reason": ""}
    absent = package.no_copy()
    problem = absent or package.problem()
    if not problem:
        return {**found, "usable": "here", "reason": ""}
    wrong = absent or environment.state(name, package)
    return {**found, "usable": "no" if wrong else "in its environment", "reason": problem}


def _list(options: argparse.Namespace) -> int:
    rows = [record(name) for name in sorted(adapters())]
    if options.json:
        print_json(rows)
        return 0
    table = Table("adapter", "targets", "package", "usable", "why not here")
    for row in rows:
        names = row["targets"]
        shown = ", ".join(names[:6]) + (f", … ({len(names)})" if len(names) > 6 else "")
        table.add_row(row["name"], shown, row["package"], row["usable"], row["reason"])
    console().print(table)
    print(f"environments: {environment.directory()}")
    return 0


def _install(options: argparse.Namespace) -> int:
    where = environment.directory()
    for name in options.names:
        try:
            place = environment.install(name, adapter(name), where)
        except CannotRun as error:
            raise CannotRun(f"{name}: {error}") from error
        print(f"{name}: {place}")
    if options.directory:
        print(f"set {environment.DIRECTORY}={where}, so that covassay audit finds the environments")
    return 0


def _remove(options: argparse.Namespace) -> int:
    for name in options.names:
        adapter(name)
        environment.remove(name)
    return 0


def _template(options: argparse.Namespace) -> int:
    print((resources.files(examples) / TEMPLATE).read_text(encoding="utf-8"), end="")
    return 0
