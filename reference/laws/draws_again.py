"""Make noise whose law depends on the data, as a function that draws with fixed random bits.

An exponential mechanism draws from a law that depends on the data, such as the Bingham law of ηC. The noise of an
exponential mechanism is therefore not a number but a function, which maps the parameters of the law to a draw. The
function, a `DrawsAgain`, holds a random key in place of a generator. Equal parameters always give the same draw,
whatever the order of the calls, and also after the object is copied or pickled.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np

R = TypeVar("R")
KEY_BYTES = 32


@dataclass(frozen=True)
class DrawsAgain(Generic[R]):
    """A function that returns a draw for every value of the parameters, and is determined by a key.

    draw : the sampler, called as draw(*parameters, rng). The sampler is a function of a module, or a `partial` of one,
        so that the object can be pickled.
    key : a whole number, the seed of the generator that `draw` is given.
    """

    draw: Callable[..., R]
    key: int

    def __call__(self, *parameters: Any, step: int = 0) -> R:
        """Return the draw for the given parameters. Draws for different values of `step` are independent."""
        return self.draw(*parameters, self.generator(step))

    def generator(self, step: int) -> np.random.Generator:
        """Return a new generator, which the key and the argument `step` determine."""
        # the 32-bit words of the key; SeedSequence would divide a whole number into the same words, but more slowly
        words = np.frombuffer(self.key.to_bytes(4 * max(1, -(-self.key.bit_length() // 32)), "little"), "<u4")
        return np.random.default_rng(np.random.SeedSequence(words, spawn_key=(step,)))


def draws_again(draw: Callable[..., R], rng: np.random.Generator) -> DrawsAgain[R]:
    """Make a `DrawsAgain` whose key is 32 bytes drawn from `rng`."""
    return DrawsAgain(draw, int.from_bytes(rng.bytes(KEY_BYTES)))
