"""Draw many outputs of the reference on one data set; this is faster than single calls, because rows are
checked once.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from covassay.reference.domain import Matrix
from covassay.verification.shared_rows import SharedRows


def one_by_one(
    sample: Callable[..., Any], x: Matrix, size: int, *, rng: np.random.Generator, **given: Any
) -> list[Any]:
    """Return the outputs of `size` calls of `sample`."""
    rows = SharedRows.of(x)
    return [sample(rows, rng, **given) for _ in range(size)]


@dataclass(frozen=True)
class InOneBatch:
    """The two steps of `sample`, which draw the noise of many outputs in one batch and then release them.

    An option that `draw_noise` takes is passed to both steps.
    """

    draw_noise: Callable[..., Any]
    release: Callable[..., Matrix]

    def __call__(self, x: Matrix, size: int, *, rng: np.random.Generator, **given: Any) -> list[Matrix]:
        """Draw `size` outputs on the rows x."""
        taken = inspect.signature(self.draw_noise).parameters
        noise = self.draw_noise(x.shape[1], rng, size=size, **{k: v for k, v in given.items() if k in taken})
        rows = SharedRows.of(x)
        return [self.release(rows, z, **given) for z in noise]
