"""Replace draws from a Bingham law by directions that are given in advance, or by the mode of the law."""

from typing import Any

import numpy as np

from tests.conventions import Matrix, Vector


class GivenDirections:
    """A source of directions that are given in advance; it records the requested matrices."""

    def __init__(self, *directions: Any) -> None:
        self.directions = list(directions)
        self.matrices: list[Matrix] = []

    def __call__(self, m: Matrix, step: int) -> Vector:
        self.matrices.append(m)
        return np.array(self.directions[step], dtype=np.float64)


def leading_eigenvector(m: Matrix, step: int) -> Vector:
    """Return the mode of the Bingham law in place of a draw."""
    return np.linalg.eigh(m)[1][:, -1]
