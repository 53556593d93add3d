"""Options that several commands share."""

import argparse
from pathlib import Path

from covassay.reference.domain import Box
from covassay.reference.errors import InvalidInput
from covassay.reference.privacy import Guarantee
from covassay.reference.release.scaling import read_bounds
from covassay.verification.declared import stated_claim


def parse_bounds(text: str) -> Box:
    """The box of a list LOW:HIGH,LOW:HIGH,… or of a .toml or .json file with [low, high] for every column, in order."""
    if text.lower().endswith((".toml", ".json")):
        return Box.of(list(read_bounds(Path(text)).values()))
    pairs = [item.split(":") for item in text.split(",")]
    try:
        return Box.of([(float(low), float(high)) for low, high in pairs])
    except ValueError as error:
        if isinstance(error, InvalidInput):
            raise
        raise InvalidInput(f"bounds = {text}: must be LOW:HIGH,LOW:HIGH,… or a .toml or .json file") from None


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
