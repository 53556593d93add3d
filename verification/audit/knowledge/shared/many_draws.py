"""Draw many outputs of the reference on one data set, faster than by single calls, by checking the rows only once."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from covassay.reference.domain import Matrix
from covassay.verification.shared_rows import SharedRows

# so many outputs are computed at once that the copies of the rows stay in the processor's cache
ENTRIES = 2**16


def one_by_one(
    sample: Callable[..., Any], x: Matrix, size: int, *, rng: np.random.Generator, **given: Any
) -> list[Any]:
    """Return the outputs of `size` calls of `sample`."""
    rows = SharedRows.of(x)
    return [sample(rows, rng, **given) for _ in range(size)]


@dataclass(frozen=True)
class InOneBatch:
    """The two steps of `sample`, which draw the noise of many outputs in one batch and then release them.

    An option that `draw_noise` takes is passed to both steps. If one array has the noise of many draws, `release`
    computes all their outputs at once.
    """

    draw_noise: Callable[..., Any]
    release: Callable[..., Matrix]

    def __call__(self, x: Matrix, size: int, *, rng: np.random.Generator, **given: Any) -> list[Matrix] | Matrix:
        """Draw `size` outputs on x."""
        taken, options = (inspect.signature(step).parameters for step in (self.draw_noise, self.release))
        chosen = {name: option.default for name, option in options.items()} | given
        noise = self.draw_noise(x.shape[1], rng, size=size, **{k: v for k, v in chosen.items() if k in taken})
        if isinstance(noise, np.ndarray):
            part = max(1, ENTRIES // max(x.size, 1))
            return np.concatenate([self.release(x, noise[i : i + part], **given) for i in range(0, size, part)])
        rows = SharedRows.of(x)
        return [self.release(rows, z, **given) for z in noise]
