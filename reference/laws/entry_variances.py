"""Compute variances of the entries of noise matrices from their exact laws. The variances of the entries give the
expected error of a release.

The square root of the sum of all variances is the root mean square of the Frobenius norm of the noise. If every column
of the data has its own unit, the noise in the entry (i, j) is multiplied by the units of columns i and j, so the
variance of each entry is needed.

Nuclear-Laplace noise Z has a density that rotations do not change. If Z is drawn from all matrices, symmetric or not,
its law stays the same when Z is multiplied by a rotation on one side only. All d² entries of such a Z therefore have
the same variance. A symmetric Z with the same law as QZQᵀ has

    E Z_ij Z_kl = a δ_ij δ_kl + b (δ_ik δ_jl + δ_il δ_jk),

so E ‖Z‖_F² = ad + bd(d + 1) and E (tr Z)² = ad² + 2bd give a and b. The diagonal entries have variance a + 2b, and
every other entry has variance b. The term E ‖Z‖_F² is the mean of the sum of the squared eigenvalues, and E (tr Z)² is
computed in this module.

The eigenvalues x_i of a symmetric Z form a Pfaffian ensemble, for which E ∏(1 + t x_i) = Pf A(t)/Pf A gives E (Σ x_i)².
The matrix A(t) is A with every basis function φ(x) multiplied by 1 + tx. With A(t) = A + tA₁ + t²A₂ and μ = A^{−1}, the
coefficient of t² is E Σ_{i<j} x_i x_j = (tr μA₂ − ½ tr (μA₁)²)/2, since the term in t vanishes by symmetry
(`pfaffian_ensemble` explains A and μ).
"""

import math

import numpy as np

from covassay.reference.domain import Matrix, require_choice, require_dimension
from covassay.reference.laws import nuclear_laplace, wigner
from covassay.reference.laws.k_norm import BODIES, Body, degrees_of_freedom
from covassay.reference.laws.pfaffian_ensemble import PfaffianEnsemble

# FORMULAS


def discrete_laplace_variance(scale: float) -> float:
    """Return the variance of discrete Laplace noise of scale t, which is 2q/(1 − q)² for q = e^{−1/t}."""
    return 2 * math.exp(-1 / scale) / math.expm1(-1 / scale) ** 2


def discrete_gaussian_variance(sigma_squared: float) -> float:
    """Return the variance of the discrete Gaussian law.

    For σ ≥ 10 the variance is σ² up to a relative error far below the rounding of float64.
    """
    if sigma_squared >= 100:
        return sigma_squared
    z = np.arange(-500, 501)
    weights = np.exp(-(z**2) / (2 * sigma_squared))
    return float((z**2 * weights).sum() / weights.sum())


# ARRAYS


def uniform(variance: float, dimension: int) -> Matrix:
    """Return the given variance in every entry, (d, d)."""
    return np.full((dimension, dimension), variance)


def of_gaussian(ensemble: str, dimension: int) -> Matrix:
    """Return the variances of the entries of the Gaussian ensemble "wigner" or "goe", (d, d)."""
    variances: Matrix = wigner.deviations(dimension, ensemble) ** 2
    return variances


def of_nuclear_laplace(dimension: int, symmetric: bool = False) -> Matrix:
    """Return the variances of the entries of nuclear-Laplace noise at scale 1, (d, d)."""
    d = require_dimension("dimension", dimension)
    square = nuclear_laplace.mean_power_sum(d, 2, symmetric)
    if d == 1 or not symmetric:
        return uniform(square / d**2, d)
    trace_squared = square + 2 * _mean_product(nuclear_laplace.ensemble(d, symmetric=True))
    off_diagonal = (d * square - trace_squared) / (d * (d - 1) * (d + 2))
    diagonal = square / d - (d - 1) * off_diagonal
    return np.where(np.eye(d, dtype=bool), diagonal, off_diagonal)


def of_k_norm(body: Body, dimension: int) -> Matrix | None:
    """Return the variances of the entries of K-norm noise at scale 1, (d, d), or None for the covariance body, for
    which they are not known.

    With D = d(d + 1)/2 and R ~ Gamma(D), E R² = D(D + 1). The noise of l2 is R times a uniform direction in the
    isometric coordinates. The noise of linf is R times a point of the boundary of a cube, where one entry is ±1 and the
    others are uniform on [−1, 1].
    """
    require_choice("body", body, BODIES)
    entries = float(degrees_of_freedom(dimension))
    if body == "schatten1":
        return of_nuclear_laplace(dimension, symmetric=True)
    if body == "l1":
        return uniform(2.0, dimension)
    if body == "l2":
        return (entries + 1) * of_gaussian("goe", dimension)
    return uniform((entries + 1) * (entries + 2) / 3, dimension) if body == "linf" else None


def _mean_product(law: PfaffianEnsemble) -> float:
    """Return the mean of Σ_{i<j} x_i x_j for the points x_i of an ensemble on the full line."""
    phi, moved = law.phi, law.phi * law.panels.nodes
    edges, nodes = law.panels.antiderivative(moved)
    totals = edges[:, -1]
    e_phi, e_moved = law.totals[:, None, None] - 2 * law.g_nodes, totals[:, None, None] - 2 * nodes

    def paired(left: Matrix, right: Matrix) -> Matrix:
        weighted = (left * law.panels.weights).reshape(law.points, -1)
        product: Matrix = weighted @ right.reshape(law.points, -1).T
        return product

    first = law.bordered(paired(moved, e_phi) + paired(phi, e_moved), totals)
    second = law.bordered(paired(moved, e_moved), np.zeros(law.points))
    change = law.kernel @ first
    return float(np.trace(law.kernel @ second) - np.trace(change @ change) / 2) / 2
