"""List plausible mistakes in a noise scale that several mechanisms share."""

import math
from collections.abc import Callable

from covassay.verification.audit.engine.law import Suspect, Test

MISTAKES = {  # each mistake has a factor of the noise scale and an explanation
    "half-scale": (0.5, "the noise has half the calibrated scale: too little noise"),
    "sensitivity-one": (math.sqrt(0.5), "the noise is for a sensitivity of 1 in place of √2, so √2 times too small"),
    "add-remove": (math.sqrt(0.5), "the noise is √2 times too small: the sensitivity of adding or removing a row"),
    "root-two": (math.sqrt(2), "the noise is √2 times too large: private but wasteful"),
    "double-scale": (2.0, "the noise has twice the calibrated scale: private but wasteful"),
}
USUAL = "half-scale", "add-remove", "root-two", "double-scale"
HALF_AND_DOUBLE = "half-scale", "double-scale"
ONE_FOR_ROOT_TWO = "half-scale", "double-scale", "sensitivity-one"


def scale_suspects(test: Callable[[float], Test], names: tuple[str, ...] = USUAL) -> tuple[Suspect, ...]:
    """Return a suspect for each mistake in `names`, which is the law that this mistake would give.

    `test` takes a factor, and returns the test that the noise has this factor times the calibrated scale.
    """
    return tuple(Suspect.times(name, MISTAKES[name][1], MISTAKES[name][0], test) for name in names)
