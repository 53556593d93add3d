"""Plausible mistakes in the scale of noise, which several mechanisms share."""

import math
from collections.abc import Callable

from covassay.verification.audit.engine.law import Suspect, Test

MISTAKES = (  # each mistake has a name, a factor of the scale, and an explanation
    ("half-scale", 0.5, "the noise has half the calibrated scale: too little noise"),
    ("add-remove", math.sqrt(0.5), "the noise is √2 too small: the sensitivity of adding or removing a row"),
    ("root-two", math.sqrt(2), "the noise is √2 too large: private but wasteful"),
    ("double-scale", 2.0, "the noise has twice the calibrated scale: private but wasteful"),
)


def scale_suspects(test: Callable[[float], Test]) -> tuple[Suspect, ...]:
    """Return a suspect for every factor; `test` makes the test that the noise scale is multiplied by the factor."""
    return tuple(Suspect.times(name, explanation, factor, test) for name, factor, explanation in MISTAKES)
