"""Compute a ridge regression of any column on the others, for any penalty, from one released second moment. ADK19 Lemma
1.

One column of x is the target y, and the others are the features a. The minimiser of
(1/n) Σ_i ½ (w·a_i − y_i)² + α ‖w‖² is

    w = (M_aa + 2αI)⁻¹ M_ay,

where M_aa and M_ay are blocks of the second moment M = (1/n) Σ x xᵀ. One release M̂ of M therefore serves every choice
of the target and of α at no further cost. The release M̂ need not be positive semidefinite, and then M̂_aa + 2αI could
be singular. The function `ridge` therefore projects M̂ first on the positive semidefinite matrices, at no cost of
privacy. The projection never increases the Frobenius error of M̂, and increases its spectral error by at most a factor
of 2/√3 = 1.1547.

The error of ŵ, which is computed from M̂, has the following bound. Here M̂ is the projected matrix. Let H = M_aa + 2αI
and Δ = M − M̂. Since M̂_ay = (M̂_aa + 2αI) ŵ, the vector M_ay − Hŵ equals Δ_ay − Δ_aa ŵ. The error is w − ŵ = H⁻¹(M_ay
− Hŵ). Hence

    ‖w − ŵ‖ ≤ (‖Δ_ay‖ + ‖Δ_aa‖ ‖ŵ‖) / (λ_min(M_aa) + 2α).

ADK19 Lemma 1 has the largest column norm of Δ in place of ‖Δ_ay‖, ‖Δ‖ in place of ‖Δ_aa‖, and λ_min(M) in place of
λ_min(M_aa). The bound of ADK19 on ‖w − ŵ‖ is weaker, but true. NOTE: the remark in ADK19 that ‖ŵ‖ may be replaced by
‖w‖ is false. A counterexample is M = [[1, 10], [10, 1000]], M̂ = [[1/10, 10], [10, 1000]] and 2α = 1/100, with ‖w − ŵ‖
= 81.0 and a bound of 10.8. The proof above also holds with M and M̂ exchanged. It then gives the bound with ‖w‖ in
place of ‖ŵ‖ and λ_min(M̂_aa) in place of λ_min(M_aa).
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from covassay.reference.domain import Matrix, Number, Vector, require_positive
from covassay.reference.downstream.released import symmetric_part
from covassay.reference.errors import InvalidInput
from covassay.reference.projections import psd_cone
from covassay.reference.sensitivity import square_root

# FORMULAS


def error_bound(
    column_error: Number, matrix_error: Number, norm: Number, smallest_eigenvalue: Number, penalty: Number
) -> Number:
    """Return the bound (‖Δ_ay‖ + ‖Δ_aa‖ ‖ŵ‖)/(λ_min(M_aa) + 2α) on ‖w − ŵ‖.

    The bound also holds with ‖w‖ in place of ‖ŵ‖ and λ_min(M̂_aa) in place of λ_min(M_aa). In either form, 0 is always
    a valid `smallest_eigenvalue`, because M is positive semidefinite, and so is M̂ after the projection.
    """
    return (column_error + matrix_error * norm) / (smallest_eigenvalue + 2 * penalty)


def projected_error(spectral_error: Number, sqrt: Callable[[Number], Number] = square_root) -> Number:
    """Return the bound (2/√3) ‖M − M̂‖ on ‖M − P‖, where P is the projection of M̂ on the positive semidefinite matrices.

    No smaller factor suffices: M = diag(m, 0) and M̂ − M = [[1, √2], [√2, −1]] attain the bound in the limit m → ∞.
    """
    return 2 * spectral_error / sqrt(3)


# POST-PROCESSING


def coefficients(moment: Matrix, target: int, penalty: float) -> Vector:
    """Return the minimiser w for a positive semidefinite second moment, in the order of the other columns, (d, d) -> (d
    − 1,).

    The argument `target` is the column to predict, and `penalty` is α.
    """
    others = np.arange(len(moment)) != target
    values, vectors = np.linalg.eigh(moment[np.ix_(others, others)])
    # rounding may make an eigenvalue negative; the maximum replaces it by 0
    inverses = 1 / (np.maximum(values, 0.0) + 2 * penalty)
    w: Vector = vectors @ (inverses * (vectors.T @ moment[others, target]))
    return w


def ridge(released: ArrayLike, target: int, penalty: float) -> Vector:
    """Return the coefficients ŵ of the ridge regression of one column on the others, from a released second moment.

    Parameters
    ----------
    released : shape (d, d) with d ≥ 2, the output of any mechanism for the second moment. The release need not be
        positive semidefinite.
    target : the column to predict, 0, …, d − 1.
    penalty : α > 0, in the unit of x squared.

    Returns
    -------
    (d − 1,), in the order of the other columns.
    """
    require_positive("penalty", penalty)
    matrix = symmetric_part(released)
    if len(matrix) < 2:
        raise InvalidInput("released has the shape (1, 1): must have a target and at least one other column")
    if isinstance(target, bool) or not isinstance(target, int | np.integer) or not 0 <= target < len(matrix):
        raise InvalidInput(f"target = {target!r}: must be a column, 0 to {len(matrix) - 1}")
    return coefficients(psd_cone(matrix), target, penalty)
