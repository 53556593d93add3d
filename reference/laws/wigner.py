"""Wigner matrices: symmetric random matrices with independent entries on and above the diagonal.

wigner : every entry is N(0, 1). DLY22 calls this law "symmetric Gaussian Wigner".
goe : entries N(0, 1) on the diagonal and N(0, 1/2) above it, the Gaussian orthogonal ensemble. In the isometric
    coordinates `svec` goe is N(0, I), so QGQᵀ has the law of G for every rotation Q.
laplace : every entry is Laplace(1). DLY22 calls this law "symmetric Laplace Wigner".

In svec coordinates wigner has variance 1 on the diagonal and 2 elsewhere. Hence wigner noise is goe noise plus
independent noise. Wigner noise gives every privacy guarantee that goe gives, but its error is larger.
"""

import math
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from covassay.reference.domain import Matrix, Vector, require_choice, require_dimension
from covassay.reference.errors import InvalidInput

Ensemble = Literal["wigner", "goe"]
ENSEMBLES: tuple[Ensemble, ...] = ("wigner", "goe")

# COORDINATES


@lru_cache(maxsize=8)
def triangle(dimension: int) -> tuple[NDArray[np.intp], NDArray[np.intp], Vector]:
    """Return three vectors of length D with the row, the column and the weight in `svec` of every entry of the upper
    triangle, row by row.

    D = d(d + 1)/2. The weights are 1 on the diagonal and √2 off it.
    """
    i, j = np.triu_indices(dimension)
    return i, j, np.where(i == j, 1.0, math.sqrt(2))


def svec(matrix: Matrix) -> Matrix:
    """Return the coordinates (M_11, √2 M_12, …, √2 M_1d, M_22, …, M_dd), (..., d, d) -> (..., d(d + 1)/2).

    The map `svec` is an isometry from the symmetric matrices in Frobenius norm. Only the entries M_ij with i ≤ j are
    read.
    """
    i, j, weights = triangle(matrix.shape[-1])
    coordinates: Matrix = matrix[..., i, j] * weights
    return coordinates


def unsvec(coordinates: Matrix) -> Matrix:
    """Return the symmetric matrix with given coordinates, the inverse of `svec`, (..., d(d + 1)/2) -> (..., d, d)."""
    length = coordinates.shape[-1]
    d = (math.isqrt(8 * length + 1) - 1) // 2
    if d < 1 or d * (d + 1) // 2 != length:
        raise InvalidInput(f"coordinates of shape {coordinates.shape}: the last axis must have d(d + 1)/2 entries")
    return symmetric(coordinates / triangle(d)[2])


def symmetric(upper: Matrix) -> Matrix:
    """Return the symmetric matrix with given entries M_ij for i ≤ j, row by row, (..., d(d + 1)/2) -> (..., d, d)."""
    d = (math.isqrt(8 * upper.shape[-1] + 1) - 1) // 2
    i, j, _ = triangle(d)
    matrix = np.zeros((*upper.shape[:-1], d, d))
    matrix[..., i, j] = upper
    matrix[..., j, i] = upper
    return matrix


# THE LAWS


def _shape(dimension: int, size: int | None) -> tuple[int, ...]:
    """Return the shape of an array that holds the free entries of one matrix if `size` is None, else of `size`
    matrices.
    """
    d = require_dimension("dimension", dimension)
    entries = d * (d + 1) // 2
    return (entries,) if size is None else (size, entries)


def sample_wigner(dimension: int, rng: np.random.Generator, size: int | None = None) -> Matrix:
    """Draw from wigner, N(0, 1) entries: shape (d, d), or (size, d, d)."""
    return symmetric(rng.standard_normal(_shape(dimension, size)))


def sample_goe(dimension: int, rng: np.random.Generator, size: int | None = None) -> Matrix:
    """Draw from the Gaussian orthogonal ensemble: shape (d, d), or (size, d, d)."""
    return unsvec(rng.standard_normal(_shape(dimension, size)))


def sample_laplace(dimension: int, rng: np.random.Generator, size: int | None = None) -> Matrix:
    """Draw from laplace, Laplace(1) entries: shape (d, d), or (size, d, d)."""
    return symmetric(rng.laplace(size=_shape(dimension, size)))


def sample(ensemble: str, dimension: int, rng: np.random.Generator, size: int | None = None) -> Matrix:
    """Draw from the Gaussian ensemble with the given name, "wigner" or "goe": shape (d, d), or (size, d, d)."""
    require_choice("ensemble", ensemble, ENSEMBLES)
    draw = sample_wigner if ensemble == "wigner" else sample_goe
    return draw(dimension, rng, size)


def deviations(dimension: int, ensemble: str) -> Matrix:
    """Return the standard deviation of every entry of the Gaussian ensemble with the given name, (d, d)."""
    require_choice("ensemble", ensemble, ENSEMBLES)
    d = require_dimension("dimension", dimension)
    off_diagonal = 1.0 if ensemble == "wigner" else math.sqrt(0.5)
    return np.where(np.eye(d, dtype=bool), 1.0, off_diagonal)


def log_density(matrix: Matrix, ensemble: str) -> Vector:
    """Return the log density of the Gaussian ensemble with respect to ∏_{i≤j} dM_ij, (..., d, d) -> (...)."""
    d = matrix.shape[-1]
    i, j = np.triu_indices(d)
    deviation = deviations(d, ensemble)[i, j]
    standard = matrix[..., i, j] / deviation
    values: Vector = -(standard**2 + math.log(2 * math.pi)).sum(axis=-1) / 2 - np.log(deviation).sum()
    return values


def separation_squared(change: Matrix, ensemble: str) -> Vector:
    """Return the sum Σ_{i≤j} (Δ_ij/s_ij)² for a change Δ and standard deviations s_ij of the entries, (..., d, d) ->
    (...).

    The Rényi divergence D_α between M plus noise and M + Δ plus noise is α/2 times the sum. The sum equals ‖Δ‖_F² for
    goe and (‖Δ‖_F² + Σ_i Δ_ii²)/2 for wigner.
    """
    d = change.shape[-1]
    i, j = np.triu_indices(d)
    values: Vector = ((change[..., i, j] / deviations(d, ensemble)[i, j]) ** 2).sum(axis=-1)
    return values
