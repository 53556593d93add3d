"""Principal components from one released second moment or covariance: directions, and how much they explain.

The columns of V, eigenvectors of the release M̂ for its k largest eigenvalues, estimate the principal directions of M.
What they are worth is the variance they capture of M, tr(VᵀMV), against the best possible, λ_1(M) + … + λ_k(M):

    0 ≤ λ_1 + … + λ_k − tr(VᵀMV) ≤ 2k ‖M − M̂‖,  and ≤ 2 √k ‖M − M̂‖_F,

because for every V with k orthonormal columns |tr(VᵀMV) − tr(VᵀM̂V)| ≤ k‖M − M̂‖ and ≤ √k ‖M − M̂‖_F, used at the best
V for M and at the best one for M̂. No gap between eigenvalues is needed. (The directions themselves do need one.)
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from covassay.reference.domain import Matrix, Number, Vector, require_dimension
from covassay.reference.downstream.released import symmetric_part
from covassay.reference.errors import InvalidInput

# FORMULAS


def lost_variance_bound(components: Number, spectral_error: Number) -> Number:
    """2k ‖M − M̂‖: captured variance that k noisy directions can lose."""
    return 2 * components * spectral_error


# POST-PROCESSING


@dataclass(frozen=True)
class PrincipalComponents:
    """`directions` (k, d), orthonormal rows, strongest first; `variances` (k,) and `shares` (k,), estimates from M̂.

    Variances below 0, which only noise makes, count as 0. Shares are of the sum of all d variances; if that is 0, all
    shares are 0. The sign of a direction means nothing: its largest entry is made positive.
    """

    directions: Matrix
    variances: Vector
    shares: Vector


def principal_components(released: ArrayLike, components: int) -> PrincipalComponents:
    """The k strongest directions of a released matrix, projected or not.

    Parameters
    ----------
    released : (d, d): the output of any mechanism for the second moment, or for the centred covariance.
    components : k, 1 to d.
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
