"""Haar measure: the uniform law on the orthogonal group O(d), and on the unit sphere.

The Q of a QR decomposition of a Gaussian matrix is Haar distributed only when the decomposition is
made unique, R having a positive diagonal; LAPACK does not promise that, so the signs of R go
back into Q (Stewart 1980; Mezzadri 2007).
"""

import math

import numpy as np
from scipy.special import betainc

from covassay.reference.domain import Matrix, Vector, require_dimension

# FORMULAS


def squared_coordinate_shape(subspace: int, dimension: int) -> tuple[float, float]:
    """(a, b) of the Beta law of ‖P u‖², u uniform on the sphere, P a projection of that rank."""
    return subspace / 2, (dimension - subspace) / 2


def sample(dimension: int, rng: np.random.Generator, size: int | None = None) -> Matrix:
    """Draw from O(d): shape (d, d), or (size, d, d)."""
    d = require_dimension("dimension", dimension)
    shape = (d, d) if size is None else (size, d, d)
    q, r = np.linalg.qr(rng.standard_normal(shape))
    signs = np.where(np.diagonal(r, axis1=-2, axis2=-1) < 0, -1.0, 1.0)
    return q * signs[..., None, :]


def squared_coordinate_cdf(w: Vector, dimension: int) -> Vector:
    """P(⟨u, a⟩² ≤ w) for u uniform on the unit sphere of R^d and a fixed unit vector a."""
    if dimension == 1:
        return np.where(np.asarray(w) >= 1.0, 1.0, 0.0)
    a, b = squared_coordinate_shape(1, dimension)
    values: Vector = betainc(a, b, np.clip(w, 0.0, 1.0))
    return values


def log_sphere_area(dimension: int) -> float:
    """Log of the surface area of the unit sphere of R^d: ln(2 π^{d/2} / Γ(d/2))."""
    return math.log(2) + dimension / 2 * math.log(math.pi) - math.lgamma(dimension / 2)
