"""Define functions that tests use in place of draws from a Bingham law."""

from typing import Any

import numpy as np

from tests.conventions import Matrix, Vector


class GivenDirections:
    """A function that returns given directions, and records the matrices for which they are requested."""

    def __init__(self, *directions: Any) -> None:
        self.directions = list(directions)
        self.matrices: list[Matrix] = []

    def __call__(self, m: Matrix, step: int) -> Vector:
        self.matrices.append(m)
        return np.array(self.directions[step], dtype=np.float64)


def leading_eigenvector(m: Matrix, step: int) -> Vector:
    """Return the mode of the Bingham law, the leading eigenvector."""
    return np.linalg.eigh(m)[1][:, -1]
