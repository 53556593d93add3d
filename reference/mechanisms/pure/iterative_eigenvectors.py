"""Iterative eigenvector sampling: noisy eigenvalues, then eigenvectors one by one. ADK19 Algorithm 1.

1. λ̂_i = λ_i(C) + Laplace(2/ε₀), C = Σ_j x_j x_jᵀ, λ_1 ≥ … ≥ λ_d. P_1 = I.
2. For i = 1..d: draw a unit vector u in R^{d−i+1} with density ∝ exp(η_i uᵀ(P_i C P_iᵀ)u); θ_i = P_iᵀu; P_{i+1} = an
   orthonormal basis of what is orthogonal to θ_1, …, θ_i. The last vector is determined and costs nothing.
3. Release (1/n) Σ_i λ̂_i θ_i θ_iᵀ. (The paper releases n times that; n is public.)

Where the scales come from. Eigenvalues: replacing x by y moves them by at most ‖Δ‖_* ≤ s + t ≤ 2 in ℓ1 (Mirsky), so
they cost at most ε₀. Eigenvectors: with a_i = (θ_i·x)², b_i = (θ_i·y)², step i has loss at most η_i(a_i − b_i) + η_i
‖P_i y‖² (the second term bounds the ratio of the normalisers), and ‖P_i y‖² = Σ_{j≥i} b_j because the θ are an
orthonormal basis. Summed,

    Σ_{i<d} η_i a_i + Σ_{i<d} η_i Σ_{j>i} b_j ≤ max_{i<d} η_i + Σ_{i<d} η_i,

since the a_i and the b_j each sum to at most 1 (the joint lemma; approached for C = K yyᵀ, K → ∞). The total
ε₀ + Σ_{i<d} η_i + max_{i<d} η_i is approached by one pair of neighbours.

Budgets, with ε₀ = ε/2:
uniform : paper η_i = ε_i/4 with ε_i = ε/(2d); tight η_i = ε/(2d).
adaptive : with weights w_i = √(clip(λ̂_i, 0, n) + τ), τ = (2/ε₀) ln(2d/β) (ADK19 Corollary 1; the clip to [0, n],
    which keeps the root real, is ours): paper η_i = (ε/2)(w_i/Σ_j w_j)/4; tight η_i = (ε/2) w_i/(Σ_{j<d} w_j +
    max_{j<d} w_j). They read λ̂ only, which is already paid for.

The paper claims ε. Its scales spend 0.625 ε (uniform) and at most 0.75 ε (adaptive); the tight ones spend ε.

Rank k < d ("stop after k"): release the first k terms of the sum, with k in place of d in ε_i and τ. Now each of the k
directions is drawn. The joint lemma is the same with sums over i ≤ k; Σ_{j>i} b_j, which now includes what y has
outside θ_1, …, θ_k, can be 1 for all of them, so they spend Σ_{i≤k} η_i + max_{i≤k} η_i (approached by y orthogonal to
all θ_i, x = θ_i for the largest η_i). For k = 1 there is one eigenvalue; it moves by at most 1 and spends ε₀/2.
paper : uniform η_i = ε/(8k) spends (5/8 + 1/(8k)) ε in all, adaptive at most 0.75 ε; either spends ε/2 for k = 1.
tight : uniform η_i = ε/(2(k + 1)), adaptive as above with sums over i ≤ k. Spends ε in all, and 3ε/4 for k = 1.
What the paper says of the error at rank k is true of ‖C − Ĉ‖_F (`error_bound`), but not of the distance from the best
approximation of rank k: that is another matrix altogether if λ_k and λ_{k+1} are close and θ_k is the other vector.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.linalg import null_space

from covassay.reference.domain import (
    DataSet,
    Matrix,
    Number,
    OnLargeRows,
    Vector,
    require_below_one,
    require_choice,
    require_dimension,
    require_positive,
    require_shape,
    second_moment,
    unit_rows,
)
from covassay.reference.errors import InvalidInput
from covassay.reference.laws import bingham as law
from covassay.reference.mechanisms.legacy import CALIBRATIONS, About, Calibration
from covassay.reference.privacy import PureDP, Spend

Budget = Literal["uniform", "adaptive"]
BUDGETS: tuple[Budget, ...] = ("uniform", "adaptive")

# FORMULAS


def eigenvalue_scale(epsilon: Number) -> Number:
    """2/ε₀ with ε₀ = ε/2, in the unit of C."""
    return 4 / epsilon


def adaptive_offset(epsilon: Number, d: Number, beta: Number, log: Callable[[Number], Number] = np.log) -> Number:
    """τ = (2/ε₀) ln(2d/β): with probability 1 − β/2 no eigenvalue noise exceeds it (ADK19 Corollary 1)."""
    return eigenvalue_scale(epsilon) * log(2 * d / beta)


def uniform_exponents(epsilon: Number, d: int, calibration: str, rank: int = 0) -> list[Number]:
    """η_1, …, η_{d−1} of the uniform budget, or η_1, …, η_k for rank k < d."""
    kept = min(rank or d, d)
    drawn = min(kept, d - 1)
    return [epsilon / (8 * kept if calibration == "paper" else 2 * (drawn + 1))] * drawn


def adaptive_exponents(epsilon: Number, weights: list[Number], calibration: str, d: int = 0) -> list[Number]:
    """η_1, …, η_{d−1} in proportion to w_1, …, w_{d−1}, or η_1, …, η_k if there are but k < d weights."""
    drawn = weights[: (d or len(weights)) - 1]
    if not drawn:
        return []
    total = 4 * sum(weights) if calibration == "paper" else sum(drawn) + max(drawn)
    return [epsilon / 2 * w / total for w in drawn]


def eigenvector_loss(exponents: list[Number]) -> Number:
    """Σ η_i + max η_i over the directions that are drawn: the joint lemma."""
    return sum(exponents) + max(exponents, default=0)


def error_bound(tail: Number, missed: Number, tau: Number, k: Number) -> Number:
    """‖C − Σ_{i≤k} λ̂_i θ_i θ_iᵀ‖_F ≤ tail + √(2 missed) + τ√k, if no λ̂_i is off by more than τ (ADK19 Lemma 6).

    tail = ‖C − C_k‖_F, the error of the best approximation; missed = Σ_{i≤k} λ_i (λ_i − θ_iᵀCθ_i).
    """
    return tail + (2 * missed) ** 0.5 + tau * k**0.5


# MECHANISM


@dataclass(frozen=True)
class IterativeEigenvectorsNoise:
    """`eigenvalues` (d,): Laplace(1), rank k takes the first k; `direction`: M ↦ a unit vector, density ∝ exp(uᵀMu)."""

    eigenvalues: Vector
    direction: Callable[[Matrix], Vector]


def draw_directions(c: Matrix, exponents: list[Number], direction: Callable[[Matrix], Vector]) -> Matrix:
    """Step 2: the orthonormal θ_1, …, θ_d, one a row; those without an exponent complete the basis."""
    d = len(c)
    directions = np.zeros((0, d))
    basis = np.eye(d)  # P_i, rows orthonormal
    for eta in exponents:
        u = require_shape("noise.direction(M)", direction(eta * (basis @ c @ basis.T)), (len(basis),))
        if abs(np.linalg.norm(u) - 1) > 1e-9:
            raise InvalidInput(f"noise.direction(M) has norm {np.linalg.norm(u)}: must be a unit vector")
        directions = np.vstack([directions, basis.T @ u])
        basis = null_space(directions).T
    return np.vstack([directions, basis])


def release(
    x: DataSet,
    noise: IterativeEigenvectorsNoise,
    *,
    epsilon: float,
    budget: Budget = "uniform",
    calibration: Calibration = "paper",
    beta: float = 0.1,
    rank: int = 0,
    row_bound: float = 1.0,
    on_large_rows: OnLargeRows = "clip",
) -> Matrix:
    """Release the second moment rebuilt from noisy eigenvalues and sampled eigenvectors.

    Parameters
    ----------
    x : (n, d), n, d ≥ 1. Records in rows.
    noise : see `IterativeEigenvectorsNoise`.
    epsilon : ε > 0.
    budget : "uniform" or "adaptive".
    calibration : "paper" or "tight".
    beta : in (0, 1), used by the adaptive budget only.
    rank : k ≥ 0, how many terms of the sum to release; 0, or more than d, for all d.
    row_bound : r > 0, public, in the unit of x.
    on_large_rows : "clip" (per record, private) or "raise" (reads the data).

    Returns
    -------
    (d, d) symmetric, in the unit of x squared. Eigenvalues are not clipped; project as you like.

    Raises
    ------
    InvalidInput : an argument breaks its rule. That the entries of x are finite, and with "raise" that the rows are
        short, is read off the data: a precondition, not part of the mechanism.

    Privacy : ε-DP for replacing one row, n public, in real arithmetic (proven: less with "paper").
    Source : ADK19 Algorithm 1, Theorem 1, Corollary 1; the joint lemma and "tight" are ours.
    """
    # VALIDATE
    require_positive("epsilon", epsilon)
    require_choice("budget", budget, BUDGETS)
    require_choice("calibration", calibration, CALIBRATIONS)
    require_below_one("beta", beta)
    if rank != 0:
        require_dimension("rank", rank)
    rows = unit_rows(x, row_bound, on_large_rows)
    n, d = rows.shape
    laplace = require_shape("noise.eigenvalues", noise.eigenvalues, (d,))

    # QUERY
    c = n * second_moment(rows)
    eigenvalues = np.linalg.eigvalsh(c)[::-1]

    # NOISE
    kept = min(rank or d, d)
    noisy = (eigenvalues + eigenvalue_scale(epsilon) * laplace)[:kept]
    if budget == "uniform":
        exponents = uniform_exponents(epsilon, d, calibration, rank)
    else:
        offset = adaptive_offset(epsilon, kept, beta)
        weights = list(np.sqrt(np.clip(noisy, 0, n) + offset))
        exponents = adaptive_exponents(epsilon, weights, calibration, d)
    directions = draw_directions(c, exponents, noise.direction)[:kept]

    # RELEASE
    matrix = (directions.T * noisy) @ directions / n
    released: Matrix = (matrix + matrix.T) / 2 * row_bound**2
    return released


def sample(
    x: DataSet,
    rng: np.random.Generator,
    *,
    epsilon: float,
    budget: Budget = "uniform",
    calibration: Calibration = "paper",
    beta: float = 0.1,
    rank: int = 0,
    row_bound: float = 1.0,
    on_large_rows: OnLargeRows = "clip",
) -> Matrix:
    """Draw the noise from `rng`, then `release`. Not for production: float64 noise."""
    rows = unit_rows(x, row_bound, on_large_rows)
    noise = IterativeEigenvectorsNoise(np.asarray(rng.laplace(size=rows.shape[1])), lambda m: law.sample(m, rng))
    return release(
        x,
        noise,
        epsilon=epsilon,
        budget=budget,
        calibration=calibration,
        beta=beta,
        rank=rank,
        row_bound=row_bound,
        on_large_rows=on_large_rows,
    )


def spend(
    *,
    epsilon: float,
    dimension: int,
    budget: Budget = "uniform",
    calibration: Calibration = "paper",
    rank: int = 0,
) -> Spend:
    """Claimed ε; proven: the eigenvalues, ε₀ or for one of them ε₀/2, and Σ η + max η.

    The paper's adaptive budget depends on λ̂; the supremum ε/4 of the second is reached when one weight dominates.
    """
    require_positive("epsilon", epsilon)
    d = require_dimension("dimension", dimension)
    require_choice("budget", budget, BUDGETS)
    require_choice("calibration", calibration, CALIBRATIONS)
    if rank != 0:
        require_dimension("rank", rank)
    kept = min(rank or d, d)
    eigenvalues = (2 if kept > 1 else 1) / eigenvalue_scale(epsilon)
    if d == 1:
        directions = 0.0
    elif budget == "uniform":
        directions = eigenvector_loss(uniform_exponents(epsilon, d, calibration, rank))
    elif calibration == "tight":
        directions = eigenvector_loss(adaptive_exponents(epsilon, [1.0] * kept, calibration, d))
    else:
        directions = epsilon / 4
    return Spend(PureDP(epsilon), PureDP(eigenvalues + directions), True, "in the limit of large n")


ABOUT = About(
    name="iterative-eigenvectors",
    title="iterative eigenvector sampling",
    paper="ADK19",
    algorithm="Algorithm 1",
    notion="pure",
    released="matrix",
    symmetric=True,
    release=release,
    sample=sample,
    spend=spend,
    choices={"calibration": CALIBRATIONS, "budget": BUDGETS},
    parameters={"beta": 0.1, "rank": 0},
)
