"""Haar measure is the uniform law on the orthogonal group O(d). This module also has the uniform law on the sphere.

The sampler takes the Q of a QR decomposition of a Gaussian matrix. A Gaussian matrix times an orthogonal matrix has the
same law, so Q is Haar distributed if the decomposition is the unique one in which R has a positive diagonal. LAPACK
does not promise a positive diagonal, so the sampler multiplies every column of Q by the sign of R's diagonal entry
(Stewart 1980; Mezzadri 2007).
"""

import numpy as np
from scipy.special import betainc

from covassay.reference.domain import Matrix, Vector, require_dimension

# FORMULAS


def squared_coordinate_shape(subspace: int, dimension: int) -> tuple[float, float]:
    """Return the two parameters of the Beta law of ‖Pu‖², for a vector u that is uniform on the unit sphere of R^d, d =
    `dimension`.

    The matrix P is an orthogonal projection of rank `subspace`.
    """
    return subspace / 2, (dimension - subspace) / 2


def sample(dimension: int, rng: np.random.Generator, size: int | None = None) -> Matrix:
    """Draw Haar distributed orthogonal matrices, of shape (d, d) or (size, d, d)."""
    d = require_dimension("dimension", dimension)
    shape = (d, d) if size is None else (size, d, d)
    q, r = np.linalg.qr(rng.standard_normal(shape))
    signs = np.where(np.diagonal(r, axis1=-2, axis2=-1) < 0, -1.0, 1.0)
    return q * signs[..., None, :]


def squared_coordinate_cdf(w: Vector, dimension: int) -> Vector:
    """Return P(⟨u, a⟩² ≤ w) for u uniform on the unit sphere of R^d and any fixed unit vector a, for every entry of
    `w`.
    """
    if dimension == 1:
        return np.where(np.asarray(w) >= 1.0, 1.0, 0.0)
    a, b = squared_coordinate_shape(1, dimension)
    values: Vector = betainc(a, b, np.clip(w, 0.0, 1.0))
    return values
