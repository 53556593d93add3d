"""EMCov: iterative eigenvector sampling under zCDP. DLY22 Appendix A, from ADK19 Algorithm 1.

The steps are those of `iterative_eigenvectors`, with C = Σ_j x_j x_jᵀ: noisy eigenvalues λ̂, then θ_i with density
∝ exp(η_i uᵀ(P_i C P_iᵀ)u) for i < d; release (1/n) Σ_i λ̂_i θ_i θ_iᵀ.

paper : λ̂_i = λ_i + Laplace(2/√ρ), η_i = √(ρ/d)/4. The paper counts ρ/2 for ε₀ = √ρ and d·(ρ/d)/2 for ε_i = √(ρ/d).
tight : λ̂_i = λ_i + N(0, 2/ρ), η_i = √(ρ/(d − 1)). Ours.

What they spend. Eigenvalues: λ(C) moves by a vector of length at most ‖Δ‖_F ≤ √2 (Hoffman–Wielandt). One Laplace
variable of scale b whose centre moves by m is m/b-DP, hence m²/(2b²)-zCDP; they are independent, so Laplace noise
spends at most 2/(2b²) = ρ/4, and Gaussian noise of variance v spends 2/(2v) = ρ/2. Directions: given those before,
step i is an exponential mechanism whose score moves by (u·x)² − (u·y)², so its loss lies in an interval of length
2η_i, and it is η_i²/2-zCDP (bounded range, Cesar–Rogers 2020). The last direction is determined. With
Σ_{i<d} η_i²/2 = (ρ/32)(d − 1)/d in the paper and ρ/2 tight,

    paper : ρ/4 + (ρ/32)(d − 1)/d < 0.282 ρ        tight : ρ/2 + ρ/2 = ρ.

Both are upper bounds: on two features the most that we found a direction to spend is η²/4, half of its bound, for small
η. In dimension 1 there is no direction and the eigenvalue moves by at most 1: ρ/8 and ρ/4.

The experiments of DLY22 ran something else: ε = ρ + 2√(ρ ln(1/δ)) with δ = 1e-10, half of it for the eigenvalues,
Laplace(4/ε). That half alone spends more than ρ, 4.8 ρ for ρ = 0.1, so EMCov had more budget than its competitors.
"""

from functools import partial

import numpy as np

from covassay.reference.domain import (
    DataSet,
    Matrix,
    Number,
    OnLargeRows,
    require_choice,
    require_dimension,
    require_positive,
    require_shape,
    second_moment,
    unit_rows,
)
from covassay.reference.laws import bingham as law
from covassay.reference.mechanisms.legacy import CALIBRATIONS, About, Calibration
from covassay.reference.mechanisms.pure.iterative_eigenvectors import IterativeEigenvectorsNoise, draw_directions
from covassay.reference.privacy import ZCDP, Spend, zcdp_of_bounded_range

# FORMULAS


def eigenvalue_scale(rho: Number, calibration: str) -> Number:
    """Scale of the eigenvalue noise, in the unit of C: 2/√ρ of a Laplace in the paper, √(2/ρ) of a Gaussian tight."""
    return 2 / rho**0.5 if calibration == "paper" else (2 / rho) ** 0.5


def exponents(rho: Number, d: int, calibration: str) -> list[Number]:
    """η_1, …, η_{d−1}: √(ρ/d)/4 in the paper, √(ρ/(d − 1)) tight."""
    if d == 1:
        return []
    return [(rho / d) ** 0.5 / 4 if calibration == "paper" else (rho / (d - 1)) ** 0.5] * (d - 1)


def eigenvalue_loss(rho: Number, change_squared: Number, calibration: str) -> Number:
    """‖Δλ‖²/(2b²): of Gaussian noise exactly, of Laplace noise at most."""
    return change_squared / (2 * eigenvalue_scale(rho, calibration) ** 2)


def direction_loss(steps: list[Number]) -> Number:
    """Σ_{i<d} η_i²/2: the loss of step i lies in an interval of length 2η_i."""
    return sum(zcdp_of_bounded_range(2 * eta) for eta in steps)


# MECHANISM


def release(
    x: DataSet,
    noise: IterativeEigenvectorsNoise,
    *,
    rho: float,
    calibration: Calibration = "paper",
    row_bound: float = 1.0,
    on_large_rows: OnLargeRows = "clip",
) -> Matrix:
    """Release the second moment rebuilt from noisy eigenvalues and sampled eigenvectors.

    Parameters
    ----------
    x : (n, d), n, d ≥ 1. Records in rows.
    noise : `eigenvalues` (d,): Laplace(1) with "paper", N(0, 1) with "tight"; `direction`: M ↦ a unit vector with
        density ∝ exp(uᵀMu).
    rho : ρ > 0.
    calibration : "paper" or "tight".
    row_bound : r > 0, public, in the unit of x.
    on_large_rows : "clip" (per record, private) or "raise" (reads the data).

    Returns
    -------
    (d, d) symmetric, in the unit of x squared. Eigenvalues are not clipped; project as you like.

    Raises
    ------
    InvalidInput : an argument breaks its rule. That the entries of x are finite, and with "raise" that the rows are
        short, is read off the data: a precondition, not part of the mechanism.

    Privacy : ρ-zCDP for replacing one row, n public, in real arithmetic (proven: 9ρ/32 with "paper").
    Source : DLY22 Appendix A; ADK19 Algorithm 1; "tight" is ours.
    """
    # VALIDATE
    require_positive("rho", rho)
    require_choice("calibration", calibration, CALIBRATIONS)
    rows = unit_rows(x, row_bound, on_large_rows)
    n, d = rows.shape
    standard = require_shape("noise.eigenvalues", noise.eigenvalues, (d,))

    # QUERY
    c = n * second_moment(rows)
    eigenvalues = np.linalg.eigvalsh(c)[::-1]

    # NOISE
    noisy = eigenvalues + eigenvalue_scale(rho, calibration) * standard
    directions = draw_directions(c, exponents(rho, d, calibration), noise.direction)

    # RELEASE
    matrix = (directions.T * noisy) @ directions / n
    released: Matrix = (matrix + matrix.T) / 2 * row_bound**2
    return released


def sample(
    x: DataSet,
    rng: np.random.Generator,
    *,
    rho: float,
    calibration: Calibration = "paper",
    row_bound: float = 1.0,
    on_large_rows: OnLargeRows = "clip",
) -> Matrix:
    """Draw the noise from `rng`, then `release`. Not for production: float64 noise."""
    require_positive("rho", rho)
    require_choice("calibration", calibration, CALIBRATIONS)
    d = unit_rows(x, row_bound, on_large_rows).shape[1]
    standard = rng.laplace(size=d) if calibration == "paper" else rng.standard_normal(d)
    noise = IterativeEigenvectorsNoise(np.asarray(standard), partial(law.sample, rng=rng))
    return release(x, noise, rho=rho, calibration=calibration, row_bound=row_bound, on_large_rows=on_large_rows)


def spend(*, rho: float, dimension: int, calibration: Calibration = "paper") -> Spend:
    """Claimed ρ; proven below 9ρ/32 with "paper" and ρ with "tight"; in dimension 1 ρ/8 and ρ/4."""
    require_positive("rho", rho)
    d = require_dimension("dimension", dimension)
    require_choice("calibration", calibration, CALIBRATIONS)
    change_squared = 2 if d > 1 else 1
    eigenvalues = eigenvalue_loss(rho, change_squared, calibration)
    proven = eigenvalues + direction_loss(exponents(rho, d, calibration))
    attained = d == 1 and calibration == "tight"
    return Spend(ZCDP(rho), ZCDP(proven), attained, "" if attained else "step by step; an upper bound")


ABOUT = About(
    name="em-cov",
    title="iterative eigenvector sampling under zCDP",
    paper="DLY22",
    algorithm="Appendix A",
    notion="zcdp",
    released="matrix",
    symmetric=True,
    release=release,
    sample=sample,
    spend=spend,
    choices={"calibration": CALIBRATIONS},
)
