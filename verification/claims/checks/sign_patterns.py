"""Compute the largest ℓ1 norm of the entries of xxᵀ − yyᵀ over the unit ball, by trying all sign patterns."""

from itertools import product

import numpy as np

from covassay.reference.domain import Matrix


def sign_matrices(d: int) -> Matrix:
    """Return all symmetric sign matrices whose first row is 1 right of the diagonal, as an array (count, d, d).

    Every symmetric sign matrix becomes one of these if the signs of some features are flipped.
    """
    free = [(i, j) for i in range(d) for j in range(i, d) if i > 0 or j == 0]
    signs = np.array(list(product((1.0, -1.0), repeat=len(free))))
    found = np.ones((len(signs), d, d))
    for column, (i, j) in enumerate(free):
        found[:, i, j] = found[:, j, i] = signs[:, column]
    return found


def enumerated_l1(d: int, triangle: bool) -> float:
    """Return the largest ℓ1 norm of the entries of xxᵀ − yyᵀ, found by trying all sign patterns W of its entries.

    For fixed W, xᵀWx − yᵀWy over the unit ball is largest at eigenvectors, or at x = 0 or y = 0, and its maximum is
    max(λ_max, 0) + max(−λ_min, 0). If `triangle` is true, the norm contains only the entries on and above the diagonal,
    and the weights off the diagonal in W are 1/2 in modulus. Flipping the signs of features does not change the norm.
    """
    w = sign_matrices(d)
    if triangle:
        w = w * np.where(np.eye(d, dtype=bool), 1.0, 0.5)
    values = np.linalg.eigvalsh(w)
    return float((np.maximum(values[:, -1], 0) - np.minimum(values[:, 0], 0)).max())
