"""Euclidean projections. Project onto closed convex sets; as post-processing of a release, projections cost no privacy
budget.

Each function of this module maps a point to the nearest point of a closed convex set. A projection on a convex set is
therefore 1-Lipschitz in the Euclidean (Frobenius) norm, and never moves an estimate away from a true value inside the
set.
"""

import numpy as np

from covassay.reference.domain import Matrix, Vector
from covassay.reference.errors import InvalidInput


def _require_radius(radius: float) -> None:
    """Raise `InvalidInput` unless the radius is finite and at least 0."""
    if not (np.isfinite(radius) and radius >= 0):
        raise InvalidInput(f"radius = {radius!r}: must be finite and at least 0")


def simplex(v: Vector, radius: float) -> Vector:
    """Return the point of {u ≥ 0, Σ u ≤ radius} that is nearest to `v`, (d,) -> (d,).

    By the KKT conditions this point is u = max(v − θ, 0) with one shift θ ≥ 0. The shift θ is 0 if the positive part of
    v already sums to at most the radius. If the positive part of v sums to more than the radius, θ is the shift for
    which u sums to the radius. Sort v in descending order, and let θ_k = (v_1 + … + v_k − radius)/k. Then θ = θ_k for
    the last k with v_k ≥ θ_k (Held–Wolfe–Crowder 1974).
    """
    _require_radius(radius)
    positive = np.maximum(v, 0.0)
    if positive.sum() <= radius:
        return positive
    descending = np.sort(v)[::-1]
    shifts = (np.cumsum(descending) - radius) / np.arange(1, len(v) + 1)
    theta = shifts[np.flatnonzero(descending >= shifts)[-1]]
    projected: Vector = np.maximum(v - theta, 0.0)
    return projected


def nuclear_ball(matrix: Matrix, radius: float) -> Matrix:
    """Return the nearest matrix with nuclear norm at most `radius`, (d, d) -> (d, d). The function is step 2 of DN25
    Algorithm 2.

    The singular vectors of the matrix stay, and its singular values are projected on the simplex (by von Neumann's
    trace inequality). A radius of 0 gives the zero matrix.
    """
    _require_radius(radius)
    u, s, vt = np.linalg.svd(matrix)
    projected: Matrix = (u * simplex(s, radius)) @ vt
    return projected


def psd_cone(matrix: Matrix) -> Matrix:
    """Return the positive semidefinite matrix that is nearest in Frobenius norm to a symmetric one, (..., d, d) ->
    same.
    """
    values, vectors = np.linalg.eigh(matrix)
    projected: Matrix = (vectors * np.maximum(values, 0.0)[..., None, :]) @ np.swapaxes(vectors, -1, -2)
    return projected


def psd_trace_ball(matrix: Matrix, radius: float) -> Matrix:
    """Return the nearest positive semidefinite matrix with trace at most `radius` to a symmetric one, (d, d) -> (d,
    d).
    """
    values, vectors = np.linalg.eigh(matrix)
    projected: Matrix = (vectors * simplex(values, radius)) @ vectors.T
    return projected


def spectral_interval(matrix: Matrix, low: float, high: float) -> Matrix:
    """Return the nearest symmetric matrix with all eigenvalues in [low, high] to a symmetric one, (d, d) -> (d, d)."""
    if not (np.isfinite([low, high]).all() and low <= high):
        raise InvalidInput(f"low = {low!r}, high = {high!r}: must be finite, with low <= high")
    values, vectors = np.linalg.eigh(matrix)
    projected: Matrix = (vectors * np.clip(values, low, high)) @ vectors.T
    return (projected + projected.T) / 2
