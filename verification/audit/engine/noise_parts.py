"""Change every number of a noise object, whose parts are arrays, numbers, samplers, and dataclasses of these."""

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from typing import Any


def mapped(noise: Any, number: Callable[[Any], Any], sampler: Callable[[Any], Any] = lambda draws: draws) -> Any:
    """Apply `number` to every array and number of the noise, and `sampler` to every sampler; None is left unchanged.

    A sampler is a callable part of the noise, such as `DrawsAgain`. The numbers inside a sampler are a random key, and
    no noise.
    """
    if noise is None:
        return None
    if callable(noise):
        return sampler(noise)
    if is_dataclass(noise) and not isinstance(noise, type):
        parts = {part.name: getattr(noise, part.name) for part in fields(noise)}
        return replace(noise, **{name: mapped(part, number, sampler) for name, part in parts.items()})
    return number(noise)
