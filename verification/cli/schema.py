"""Implement the command `covassay schema`."""

import argparse
import json
from importlib import resources
from typing import Any

from covassay.reference.errors import InvalidInput
from covassay.verification.cli.screen import print_json

FOLDERS = "covassay.verification.cli.schemas", "covassay.verification.audit.reports.schema"
PARSER = {
    "description": "Print the JSON Schema (draft 2020-12) of what a command prints with --json, or of a file that "
    "it writes.\nWithout a name, list the schemas.",
    "epilog": "example: covassay schema audit",
}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command to the parser."""
    parser.add_argument("name", nargs="?", help="the schema, such as audit, claims-list or release")
    parser.set_defaults(run=run)


def schemas() -> dict[str, dict[str, Any]]:
    """Return every JSON Schema, keyed by its name."""
    from covassay.verification.audit.reports.json_report import schema as audit_schema

    found = {}
    for folder in FOLDERS:
        for path in resources.files(folder).iterdir():
            if path.name.endswith(".json"):
                found[path.name.removesuffix(".json")] = json.loads(path.read_text(encoding="utf-8"))
    found["audit"] = audit_schema()  # the schema of a report includes the settings, and the facts of the checks
    return dict(sorted(found.items()))


def run(options: argparse.Namespace) -> int:
    """Print one schema, or the names of all schemas."""
    found = schemas()
    if options.name is None:
        print(*(f"{name:22}{schema['description']}" for name, schema in found.items()), sep="\n")
        return 0
    if options.name not in found:
        raise InvalidInput(f"schema = {options.name!r}: must be one of {', '.join(found)}")
    print_json(found[options.name])
    return 0
