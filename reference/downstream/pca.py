"""Compute principal components from one released second moment or covariance: directions, and the variance that they
explain.

The columns of V estimate the k principal directions of M. They are the eigenvectors of the release M̂ that belong to
its k largest eigenvalues. The directions are judged by the variance of M that they capture, tr(VᵀMV). The captured
variance falls short of the largest possible value, λ_1(M) + … + λ_k(M), by a bounded amount:

    0 ≤ λ_1 + … + λ_k − tr(VᵀMV) ≤ 2k ‖M − M̂‖,  and ≤ 2 √k ‖M − M̂‖_F.

The reason is that |tr(VᵀMV) − tr(VᵀM̂V)| is at most k‖M − M̂‖ and at most √k ‖M − M̂‖_F for every V with k orthonormal
columns. The proof applies this inequality to two matrices V: the one that maximises tr(VᵀMV), and the one that
maximises tr(VᵀM̂V). The bound on the captured variance needs no gap between eigenvalues. (A bound on the directions
themselves would need a gap between the eigenvalues.)
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from covassay.reference.domain import Matrix, Number, Vector, require_dimension
from covassay.reference.downstream.released import symmetric_part
from covassay.reference.errors import InvalidInput

# FORMULAS


def lost_variance_bound(components: Number, spectral_error: Number) -> Number:
    """Return the bound 2k ‖M − M̂‖ on the captured variance that k noisy directions lose. The bound on the loss of
    variance is in the unit of M.
    """
    return 2 * components * spectral_error


# POST-PROCESSING


@dataclass(frozen=True)
class PrincipalComponents:
    """The estimated principal directions, in descending order of variance: `directions` (k, d) with orthonormal rows,
    `variances` (k,) and `shares` (k,).

    A variance below 0, which only noise can cause, counts as 0. A share is a variance divided by the sum of all d
    variances; if this sum is 0, all shares are 0. The sign of a direction has no meaning. It is chosen so that the
    entry of largest modulus is positive.
    """

    directions: Matrix
    variances: Vector
    shares: Vector


def principal_components(released: ArrayLike, components: int) -> PrincipalComponents:
    """Return the k strongest principal directions of a released matrix, with their variances.

    Parameters
    ----------
    released : shape (d, d), the output of any mechanism for the second moment or the centred covariance. The release
        need not be positive semidefinite.
    components : k, from 1 to d.
    """
    matrix = symmetric_part(released)
    k = require_dimension("components", components)
    if k > len(matrix):
        raise InvalidInput(f"components = {k}: must be at most {len(matrix)}, the number of columns")
    values, vectors = np.linalg.eigh(matrix)
    directions = vectors[:, ::-1][:, :k].T
    largest = np.abs(directions).argmax(axis=1)
    directions = directions * np.sign(directions[np.arange(k), largest])[:, None]
    variances = np.maximum(values[::-1], 0.0)
    total = variances.sum()
    shares = variances / total if total > 0 else np.zeros_like(variances)
    return PrincipalComponents(directions, variances[:k], shares[:k])
