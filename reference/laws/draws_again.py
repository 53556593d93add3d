"""Noise whose law depends on the data: a function of the parameters of a law that always draws from the same bits.

An exponential mechanism draws from a law that the data fix, such as the Bingham law of ηC. Its noise is then not a
number but a function, which maps the parameters of the law to a draw. Here it holds a random key in place of a
generator. So the same parameters give the same draw, however often, in whatever order, and after a copy or a pickle.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np

R = TypeVar("R")
KEY_BYTES = 32


@dataclass(frozen=True)
class DrawsAgain(Generic[R]):
    """A draw for every value of the parameters, determined by a key.

    draw : draw(*parameters, rng). A function of a module, or a `partial` of one, so that the object can be pickled.
    key : a whole number, the seed of the generator that `draw` is given.
    """

    draw: Callable[..., R]
    key: int

    def __call__(self, *parameters: Any, step: int = 0) -> R:
        """The draw for these parameters. Draws for different steps are independent."""
        return self.draw(*parameters, np.random.default_rng(np.random.SeedSequence(self.key, spawn_key=(step,))))


def draws_again(draw: Callable[..., R], rng: np.random.Generator) -> DrawsAgain[R]:
    """Draws with a key from `rng`, of which 32 bytes are taken."""
    return DrawsAgain(draw, int.from_bytes(rng.bytes(KEY_BYTES)))
