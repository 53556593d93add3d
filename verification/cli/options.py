"""Options that several commands share."""

import argparse

from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.registry import stated_claim
from covassay.reference.privacy import Guarantee


def guarantee(options: argparse.Namespace, name: str | None) -> Guarantee:
    """The budget that was stated on the command line, or the default of that mechanism."""
    return stated_claim(name, options.epsilon, options.delta, options.rho)


def chosen(options: argparse.Namespace) -> dict[str, str]:
    """The options of the mechanism that were given with --calibration and --set."""
    given = {} if options.calibration is None else {"calibration": options.calibration}
    for item in options.set or ():
        name, equals, value = item.partition("=")
        if not (name and equals):
            raise InvalidInput(f"--set {item}: must be NAME=VALUE")
        given[name.replace("-", "_")] = value
    return given
