"""Bad arguments that both CoinPress mechanisms reject, and random neighbours for tests of both."""

from typing import Any

import numpy as np

from tests.conventions import Matrix

# given noise for three steps
BAD_ARGUMENTS: list[tuple[dict[str, Any], str]] = [
    ({"steps": 0}, "steps = "),
    ({"steps": 2.5}, "steps = "),
    ({"beta": 1.0}, "beta = "),
    ({"constants": "Code"}, "constants = "),
    ({"steps": 2}, "noise of shape"),
]


def neighbours(rng: np.random.Generator, n: int, d: int, sizes: tuple[float, float]) -> tuple[Matrix, Matrix]:
    """Two data sets that differ in their first row, which may be zero or very long; the rest has one of two sizes."""
    first = rng.choice(sizes) * rng.standard_normal((n, d))
    second = first.copy()
    second[0] = rng.choice([0.0, 1.0, 1e5]) * rng.standard_normal(d)
    return first, second
