"""Options that several commands share."""

import argparse

from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.registry import default_claim
from covassay.reference.privacy import ZCDP, ApproximateDP, Guarantee, PureDP


def guarantee(options: argparse.Namespace, name: str | None) -> Guarantee:
    """The stated budget, or the default for that mechanism."""
    if options.rho is not None:
        if options.epsilon is not None or options.delta is not None:
            raise InvalidInput("--rho excludes --epsilon and --delta: give one claim")
        return ZCDP(options.rho)
    if options.epsilon is None and options.delta is None:
        return default_claim(name)
    epsilon = 1.0 if options.epsilon is None else options.epsilon
    return PureDP(epsilon) if options.delta is None else ApproximateDP(epsilon, options.delta)


def chosen(options: argparse.Namespace) -> dict[str, str]:
    """The options of a mechanism that were given."""
    given = {} if options.calibration is None else {"calibration": options.calibration}
    for item in options.set or ():
        name, equals, value = item.partition("=")
        if not (name and equals):
            raise InvalidInput(f"--set {item}: must be NAME=VALUE")
        given[name.replace("-", "_")] = value
    return given
