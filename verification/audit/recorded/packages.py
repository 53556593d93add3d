"""Primitives of packages, by the name of their adapter. An adapter may declare its own."""

import math
from typing import Any

from covassay.verification.audit.recorded.primitives import Primitive


def _value(mechanism: Any, value: float) -> float:
    return float(value)


def _laplace_scale(mechanism: Any, value: float) -> float:
    return float(mechanism.sensitivity) / (float(mechanism.epsilon) - math.log(1 - float(mechanism.delta)))


PRIMITIVES: dict[str, tuple[Primitive, ...]] = {
    # LaplaceTruncated and LaplaceFolded call it too, and then bring its output into their range
    "diffprivlib": (
        Primitive("diffprivlib.mechanisms.laplace", "Laplace.randomise", "laplace", _value, _laplace_scale),
    )
}
