"""EMCov: noisy eigenvalues, and eigenvectors drawn one by one, under zCDP. DLY22 Appendix A, from ADK19 Algorithm 1.

C = Σ_j x_j x_jᵀ is n times the second moment. The eigenvalues λ_1 ≥ … ≥ λ_d get additive noise. The eigenvectors of C
are drawn by an exponential mechanism on the sphere, where the score of a unit vector u is uᵀCu.

1. λ̂_i = λ_i + noise of scale b, independent for every i.
2. For i = 1, …, d − 1: let the rows of P_i be an orthonormal basis of the space orthogonal to θ_1, …, θ_{i−1}, the
   directions drawn before. Draw a unit vector u with density ∝ exp(η_i uᵀ(P_i C P_iᵀ)u), and set θ_i = P_iᵀu. θ_d is a
   unit vector orthogonal to all others. The other vectors determine θ_d up to its sign, so θ_d costs no privacy.
3. Release (1/n) Σ_i λ̂_i θ_i θ_iᵀ. Eigenvalues are not clipped.

Why ρ-zCDP. Rows lie in the unit ball. Replacing x by y moves C by Δ = y yᵀ − x xᵀ, and the vector of the λ_i by some m
with ‖m‖² ≤ ‖Δ‖_F² ≤ 2 (Hoffman–Wielandt). Step 1 costs ‖m‖²/(2b²) with Gaussian noise, and no more with Laplace noise.
In step 2, given θ_1, …, θ_{i−1}, the score moves by (u·P_i y)² − (u·P_i x)², which lies in [−1, 1]. The privacy loss
therefore lies in an interval of length 2η_i, which costs (2η_i)²/8 = η_i²/2 under zCDP (Cesar–Rogers 2020). The costs
of all steps add up to a bound on the spend.

reconstructed : Laplace noise, with b = 2/√ρ and η_i = √(ρ/d)/4. The mechanism spends at most ρ/4 + (ρ/32)(d − 1)/d, or
    ρ/8 for d = 1.
tight : Gaussian noise, with b² = 2/ρ and η_i = √(ρ/(d − 1)), our choice. At most ρ is spent, or ρ/4 for d = 1.

NOTE: the experiments of DLY22 ran EMCov as an ε-DP mechanism, and spent ε/2 on the eigenvalues. They took ε from the
conversion of ρ-zCDP to (ε, δ)-DP at δ = 10^−10. At ρ = 0.1 the noisy eigenvalues alone cost at least 4.8 ρ under zCDP.

Proof: proofs/paper/em-cov.md
"""

from __future__ import annotations

import numpy as np

from covassay.reference.domain import DataSet, Matrix, Number, require_shape, second_moment, shape_of, sized_unit_rows
from covassay.reference.laws import bingham as law
from covassay.reference.laws.draws_again import draws_again
from covassay.reference.mechanisms.mechanism import About, Mechanism
from covassay.reference.mechanisms.output import SYMMETRIC_SECOND_MOMENT
from covassay.reference.mechanisms.parameters import (
    Dimension,
    LargeRows,
    ReconstructedCalibration,
    Rho,
    RowBound,
    checked,
    strict,
)
from covassay.reference.mechanisms.pure.iterative_eigenvectors import IterativeEigenvectorsNoise, draw_directions
from covassay.reference.privacy import CONCENTRATED, ZCDP, Spend, zcdp_of_bounded_range

# FORMULAS


@strict(calibration=ReconstructedCalibration)
def eigenvalue_scale(rho: Number, calibration: str) -> Number:
    """The scale b of the noise on the eigenvalues: 2/√ρ (Laplace) if "reconstructed", √(2/ρ) (Gaussian) if "tight"."""
    return 2 / rho**0.5 if calibration != "tight" else (2 / rho) ** 0.5


@strict(calibration=ReconstructedCalibration)
def exponents(rho: Number, d: int, calibration: str) -> list[Number]:
    """The equal exponents η_1, …, η_{d−1}: √(ρ/d)/4 if "reconstructed", √(ρ/(d − 1)) if "tight"."""
    if d == 1:
        return []
    return [(rho / d) ** 0.5 / 4 if calibration != "tight" else (rho / (d - 1)) ** 0.5] * (d - 1)


@strict(calibration=ReconstructedCalibration)
def eigenvalue_loss(rho: Number, change_squared: Number, calibration: str) -> Number:
    """The zCDP cost ‖m‖²/(2b²) of releasing eigenvalues that move by m; `change_squared` is ‖m‖².

    The cost is exact for Gaussian noise, and an upper bound for Laplace noise.
    """
    return change_squared / (2 * eigenvalue_scale(rho, calibration) ** 2)


def direction_loss(steps: list[Number]) -> Number:
    """The zCDP cost Σ_{i<d} η_i²/2 of releasing the directions.

    `steps` are the exponents η_i. The loss of direction i lies in an interval of length 2η_i.
    """
    return sum(zcdp_of_bounded_range(2 * eta) for eta in steps)


# MECHANISM


@checked
def release(
    x: DataSet,
    noise: IterativeEigenvectorsNoise,
    *,
    rho: Rho,
    calibration: ReconstructedCalibration = "reconstructed",
    row_bound: RowBound = 1.0,
    on_large_rows: LargeRows = "clip",
) -> Matrix:
    """Release the second moment rebuilt from noisy eigenvalues and sampled eigenvectors.

    The array `noise.eigenvalues` has d entries, which are Laplace(1) for "reconstructed" and N(0, 1) for "tight".
    `noise.direction` maps a symmetric matrix M and a step to a unit vector u with density ∝ exp(uᵀMu), independent for
    every step. The noise may hold many draws: `eigenvalues` then has shape (..., d), `direction` takes one matrix for
    each draw, and `release` returns one output for each draw.
    """
    # VALIDATE, and take row_bound as the unit of the rows
    rows, n, d = sized_unit_rows(x, row_bound, on_large_rows)
    standard = require_shape("noise.eigenvalues", noise.eigenvalues, (d,), stacked=True)

    # 1. QUERY and NOISE: λ̂
    c = n * second_moment(rows)
    eigenvalues = np.linalg.eigvalsh(c)[::-1]
    noisy = eigenvalues + eigenvalue_scale(rho, calibration) * standard

    # 2. NOISE: θ_1, …, θ_d, one per row, drawn one by one
    one_c_each = np.broadcast_to(c, (*standard.shape[:-1], d, d))
    directions = draw_directions(one_c_each, exponents(rho, d, calibration), noise.direction)

    # 3. RELEASE
    matrix = (np.swapaxes(directions, -1, -2) * noisy[..., None, :]) @ directions / n
    released: Matrix = (matrix + np.swapaxes(matrix, -1, -2)) / 2 * row_bound**2
    return released


@checked
def draw_noise(
    dimension: int, rng: np.random.Generator, *, calibration: ReconstructedCalibration = "reconstructed"
) -> IterativeEigenvectorsNoise:
    """Return the noise that `release` takes. Its directions are drawn when `direction` is called, and the same call
    returns the same directions.
    """
    standard = rng.laplace(size=dimension) if calibration != "tight" else rng.standard_normal(dimension)
    return IterativeEigenvectorsNoise(np.asarray(standard), draws_again(law.sample, rng))


@checked
def sample(
    x: DataSet,
    rng: np.random.Generator,
    *,
    rho: Rho,
    calibration: ReconstructedCalibration = "reconstructed",
    row_bound: RowBound = 1.0,
    on_large_rows: LargeRows = "clip",
) -> Matrix:
    """Draw the noise from `rng`, then call `release`. The function is not for production, because its noise is float64.

    Parameters
    ----------
    x : shape (n, d), n ≥ 1 records, d ≥ 1 features; rows in the ball of radius `row_bound`.
    rng : the source of all randomness.
    rho : ρ in [1e-30, 1e30], the budget.
    calibration : value "reconstructed" has the constants of our reconstruction; "tight" has sharper ones, also ours.
    row_bound : r in [1e-100, 1e100], public, in the unit of x: longer rows are clipped or rejected.
    on_large_rows : value "clip" scales a row longer than r to length r; "raise" rejects the row, which is not private.

    Returns
    -------
    (d, d), symmetric, in the unit of x squared.

    Raises
    ------
    InvalidInput : an argument breaks its rule. An error caused by the data (an entry that is not finite or, with
        "raise", a row that is too long) is not private.

    Privacy : the output is ρ-zCDP (replace-one) for public n, in real arithmetic; `spend` returns the proven budget.
    """
    _, d = shape_of(x)
    noise = draw_noise(d, rng, calibration=calibration)
    return release(x, noise, rho=rho, calibration=calibration, row_bound=row_bound, on_large_rows=on_large_rows)


@checked
def spend(*, rho: Rho, dimension: Dimension, calibration: ReconstructedCalibration = "reconstructed") -> Spend:
    """The claimed budget is ρ. With "reconstructed" the proven budget is less than 9ρ/32, and with "tight"
    the proven budget is ρ.

    For d = 1 the proven budget is ρ/8 with "reconstructed", and ρ/4 with "tight".
    """
    change_squared = 2 if dimension > 1 else 1
    eigenvalues = eigenvalue_loss(rho, change_squared, calibration)
    proven = eigenvalues + direction_loss(exponents(rho, dimension, calibration))
    attained = dimension == 1 and calibration == "tight"
    return Spend(ZCDP(rho), ZCDP(proven), attained, "" if attained else "the sum of upper bounds of the steps")


ABOUT = About("em-cov", "iterative eigenvector sampling under zCDP", "DLY22", "Appendix A", "reconstructed")
MECHANISM = Mechanism(ABOUT, CONCENTRATED, SYMMETRIC_SECOND_MOMENT, release, draw_noise, sample, spend)
