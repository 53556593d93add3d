"""Declare the law of noise that a library draws in compiled code, such as Rust or C++, whose draws cannot be recorded.

An adapter calls the library's sampler through the functions of this module, which do nothing else. While draws are
recorded, covassay draws noise of the declared law instead of calling the sampler. The scale of this noise is the one
that the library reports, or the one that the adapter gave to the library. Statistical tests must check that the
library's own noise has the declared law.
"""

from collections.abc import Callable
from typing import Any

from covassay.verification.audit.recorded.primitives import Primitive

Sampler = Callable[[Any], Any]  # a sampler takes a value and returns the value plus noise


def laplace_noise(sampler: Sampler, value: Any, scale: float) -> Any:
    """Return what the sampler returns for the value, which is the value plus Laplace noise of this scale."""
    return sampler(value)


def normal_noise(sampler: Sampler, value: Any, deviation: float) -> Any:
    """Return what the sampler returns for the value, which is the value plus normal noise with this standard
    deviation."""
    return sampler(value)


def _value(sampler: Sampler, value: Any, scale: float) -> Any:
    return value


def _scale(sampler: Sampler, value: Any, scale: float) -> float:
    return scale


PRIMITIVES = (
    Primitive(__name__, "laplace_noise", "laplace", _value, _scale),
    Primitive(__name__, "normal_noise", "normal", _value, _scale),
)
