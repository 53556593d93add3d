"""Test the function that changes every number of a noise object. The function must change every number in the object,
also in nested parts, but no sampler in the object.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from covassay.reference.laws.draws_again import DrawsAgain
from covassay.verification.audit.engine.noise_parts import mapped


def normal(mean: float, rng: np.random.Generator) -> float:
    return float(rng.normal(mean))


@dataclass(frozen=True)
class Inner:
    threshold: float
    queries: Any


@dataclass(frozen=True)
class Noise:
    search: Inner
    entries: Any
    direction: DrawsAgain[float]
    missing: None = None


NOISE = Noise(Inner(2.0, np.ones(3)), np.eye(2), DrawsAgain(normal, key=2**250 + 1))


def test_every_number_is_changed_and_no_key() -> None:
    """The test fails if a number of the noise object is not changed. Some negative controls halve the noise by this
    function, and their mistakes would then be smaller than stated.
    """
    half = mapped(NOISE, lambda z: 0.5 * z)
    assert half.search.threshold == 1.0
    assert (half.search.queries == 0.5).all()
    assert (half.entries == 0.5 * np.eye(2)).all()
    assert half.missing is None
    assert half.direction == NOISE.direction
    assert half.direction(1.0, step=2) == NOISE.direction(1.0, step=2)


def test_a_sampler_is_changed_where_that_is_asked() -> None:
    shifted = mapped(NOISE, lambda z: z, lambda draws: partial(draws, 5.0))
    assert shifted.direction() == NOISE.direction(5.0)
    assert shifted.search.threshold == 2.0
