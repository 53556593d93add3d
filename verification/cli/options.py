"""This module has options that several commands share."""

import argparse
import csv

from covassay.reference.digits import read_number
from covassay.reference.errors import InvalidInput
from covassay.reference.privacy import Guarantee, guarantee_of
from covassay.reference.release.messages import shown
from covassay.verification.declared import stated_claim


def texts(docstring: str | None) -> dict[str, str]:
    """Return the texts of a command's help: the second and the later paragraphs of its module's docstring."""
    _, description, epilog = f"{docstring}\n\n\n\n".split("\n\n", 2)
    return {"description": description, "epilog": epilog.rstrip()}


def guarantee(options: argparse.Namespace, name: str | None) -> Guarantee:
    """Return the budget given on the command line, or the default budget of the mechanism `name`."""
    return stated_claim(name, options.epsilon, options.delta, options.rho)


def chosen(options: argparse.Namespace) -> dict[str, str]:
    """Return the options of the mechanism that were given with --calibration and --set."""
    given = {} if options.calibration is None else {"calibration": options.calibration}
    for item in options.set or ():
        name, equals, value = item.partition("=")
        if not (name and equals):
            raise InvalidInput(f"--set {item}: must be NAME=VALUE")
        given[name.replace("-", "_")] = value
    return given


def parse_names(option: str, text: str) -> tuple[str, ...]:
    """Return the names in a list such as a,b,c, in which quotes protect a comma: '"a, b",c'."""
    try:
        (names,) = csv.reader([text], strict=True, skipinitialspace=True)
    except (csv.Error, ValueError):
        raise InvalidInput(f"{option} {shown(text)}: must be names with commas between them") from None
    return tuple(names)


def parse_total(text: str) -> Guarantee:
    """Return the total budget that a text such as "epsilon=1", "rho=0.5" or "epsilon=1,delta=1e-6" gives."""
    pairs = [part.partition("=") for part in text.split(",")]
    try:
        budget = {name.strip(): read_number(value) for name, _, value in pairs}
        if len(budget) < len(pairs):
            raise KeyError("one of them twice")
        return guarantee_of(budget)
    except (ValueError, KeyError) as error:
        detail = f" ({error})" if isinstance(error, InvalidInput) else ""
        raise InvalidInput(f"--total {text}{detail}: must be epsilon=…, rho=… or epsilon=…,delta=…") from None
