"""Compute the symmetric part of a released matrix, after a check that the matrix is square and finite."""

import numpy as np
from numpy.typing import ArrayLike

from covassay.reference.domain import Matrix, require_shape
from covassay.reference.errors import InvalidInput


def symmetric_part(released: ArrayLike) -> Matrix:
    """Return the symmetric part (M + Mᵀ)/2 of a released matrix M, (d, d) -> (d, d).

    Taking the symmetric part is a projection in Frobenius norm, so it never moves an estimate away from a symmetric
    true value.
    """
    shape = np.shape(released)
    if len(shape) != 2 or shape[0] != shape[1] or shape[0] < 1:
        raise InvalidInput(f"released has the shape {shape}: must be a square matrix")
    matrix = require_shape("released", released, shape)
    symmetric: Matrix = (matrix + matrix.T) / 2
    return symmetric
