"""Iterative eigenvector sampling: noisy eigenvalues, then eigenvectors one by one. ADK19 Algorithm 1.

1. λ̂_i = λ_i(C) + Laplace(2/ε₀), C = Σ_j x_j x_jᵀ, λ_1 ≥ … ≥ λ_d, ε₀ = ε/2. P_1 = I.
2. For i = 1, …, d draw a unit vector u in R^{d−i+1} with density ∝ exp(η_i uᵀ(P_i C P_iᵀ)u), and set θ_i = P_iᵀu. The
   rows of P_{i+1} are orthonormal, and orthogonal to θ_1, …, θ_i. θ_d is determined up to sign and costs nothing.
3. Release Ĉ/n, Ĉ = Σ_{i≤k} λ̂_i θ_i θ_iᵀ, where k is `rank`, or d if no rank is given. The mechanism draws k
   directions, or d − 1 if k = d. The noisy eigenvalues are not clipped. (The paper releases Ĉ, not Ĉ/n; n is public.)

Why it is private. Replacing a row moves the eigenvalues by at most 2 in ℓ1, so they cost at most ε₀, and ε₀/2 if k = 1.
Replacing x by y moves the exponent of step i by η_i ((θ_i·x)² − (θ_i·y)²), and the logarithm of its normalising
constant by at most η_i. Since Σ_i (θ_i·x)² ≤ 1, all drawn directions together cost at most max η_i + Σ η_i. We call
this bound the joint lemma. For some neighbours the loss of the list (λ̂, θ_1, …, θ_d) tends to the sum of these costs
as n grows. The released matrix does not reveal the order of the list, so its cost may be smaller.

Two budgets. "uniform" has equal η_i. "adaptive" has η_i in proportion to w_i = √(clip(λ̂_i, 0, n) + τ), with τ = (2/ε₀)
ln(2k/β). The weights are computed from λ̂ only, which is already released, so they cost no privacy. NOTE: we added the
clipping, which keeps the root real.
paper : uniform η_i = ε/(8k), adaptive η_i = (ε/8) w_i/Σ_{j≤k} w_j. The mechanism claims ε. "uniform" spends 0.625 ε, or
    (5/8 + 1/(8k)) ε for 2 ≤ k < d. "adaptive" spends at most 0.75 ε.
tight : uniform η_i = ε/(2d), or ε/(2(k + 1)) for k < d; adaptive η_i = (ε/2) w_i/(Σ w_j + max w_j) over the directions
    that are drawn. The mechanism spends ε, and less for k = 1. Ours.

Accuracy. `error_bound` bounds ‖C − Ĉ‖_F, but not the distance of Ĉ from the best approximation of rank k.

Proof: proofs/paper/iterative-eigenvectors.md
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, Protocol

import numpy as np

from covassay.reference.domain import (
    require_dimension,
    require_shape,
    require_unit_vector,
    second_moment,
    shape_of,
    sized_unit_rows,
)
from covassay.reference.domain.types import DataSet, Matrix, Number, Vector
from covassay.reference.laws import bingham as law
from covassay.reference.laws.draws_again import draws_again
from covassay.reference.mechanisms.mechanism import About, Mechanism
from covassay.reference.mechanisms.output import SYMMETRIC_SECOND_MOMENT
from covassay.reference.mechanisms.parameters import (
    Calibration,
    Dimension,
    Epsilon,
    LargeRows,
    Meaning,
    RowBound,
    Rule,
    below_one,
    checked,
    strict,
)
from covassay.reference.privacy import PURE, PureDP, Spend


def require_rank(name: str, value: int) -> int:
    """Return `value` as an int if it is a whole number of at least 0, and raise an error otherwise."""
    return 0 if value == 0 else require_dimension(name, value)


Budget = Annotated[
    Literal["uniform", "adaptive"],
    Meaning('"uniform" treats all directions alike, "adaptive" spends more on larger noisy eigenvalues'),
]
OffsetBeta = Annotated[float, below_one("β", "public: only the offset τ of the adaptive budget uses it")]
Rank = Annotated[
    int,
    Rule("k ≥ 0, public: how many rank-one terms are released; 0, or more than d, means d", require_rank, (0, None)),
]

# FORMULAS


def eigenvalue_scale(epsilon: Number) -> Number:
    """The noise scale 2/ε₀ with ε₀ = ε/2, in the unit of C."""
    return 4 / epsilon


def adaptive_offset(epsilon: Number, d: Number, beta: Number, log: Callable[[Number], Number] = np.log) -> Number:
    """The offset τ = (2/ε₀) ln(2d/β), which with probability 1 − β/2 no eigenvalue noise exceeds (ADK19 Cor. 1)."""
    return eigenvalue_scale(epsilon) * log(2 * d / beta)


@strict(calibration=Calibration)
def uniform_exponents(epsilon: Number, d: int, calibration: str, rank: int = 0) -> list[Number]:
    """The exponents η_1, …, η_{d−1} of the uniform budget, or η_1, …, η_k for a rank k < d."""
    kept = min(rank or d, d)
    drawn = min(kept, d - 1)
    return [epsilon / (8 * kept if calibration == "paper" else 2 * (drawn + 1))] * drawn


@strict(calibration=Calibration)
def adaptive_exponents(
    epsilon: Number,
    weights: list[Number],
    calibration: str,
    d: int = 0,
    largest: Callable[[Sequence[Number]], Number] = max,
) -> list[Number]:
    """Exponents η_1, …, η_{d−1} in proportion to w_1, …, w_{d−1}, or η_1, …, η_k if there are only k < d weights."""
    drawn = weights[: (d or len(weights)) - 1]
    if not drawn:
        return []
    total = 4 * sum(weights) if calibration == "paper" else sum(drawn) + largest(drawn)
    return [epsilon / 2 * w / total for w in drawn]


def eigenvector_loss(exponents: list[Number]) -> Number:
    """The cost Σ η_i + max η_i of the directions that are drawn, by the joint lemma."""
    return sum(exponents) + max(exponents, default=0)


def error_bound(tail: Number, missed: Number, tau: Number, k: Number) -> Number:
    """The bound tail + √(2 missed) + τ√k on ‖C − Σ_{i≤k} λ̂_i θ_i θ_iᵀ‖_F, if no |λ̂_i − λ_i| exceeds τ (ADK19 Lemma 6).

    tail : ‖C − C_k‖_F, the error of the best approximation of rank k.
    missed : Σ_{i≤k} λ_i (λ_i − θ_iᵀCθ_i).
    """
    return tail + (2 * missed) ** 0.5 + tau * k**0.5


# MECHANISM


class Direction(Protocol):
    """A function that draws a direction for a matrix and a step; equal arguments give the same direction."""

    def __call__(self, m: Matrix, /, *, step: int) -> Vector:
        """Draw a unit vector u with density ∝ exp(uᵀMu). Draws for different steps are independent."""


@dataclass(frozen=True)
class IterativeEigenvectorsNoise:
    """The noise of the eigenvalues and of the directions.

    eigenvalues : shape (d,), Laplace(1); a release of rank k uses the first k.
    direction : the law of a direction, see `Direction`.
    """

    eigenvalues: Vector
    direction: Direction


def draw_directions(c: Matrix, exponents: list[Number], direction: Direction) -> Matrix:
    """Draw one direction for every exponent, as in step 2. Return the orthonormal θ_1, …, θ_d as rows; those that were
    not drawn complete the basis.

    c : shape (..., d, d). If c is a stack of matrices, `direction` draws one vector for each of them.
    """
    *stack, d, _ = c.shape
    directions = np.empty(c.shape)
    basis = np.broadcast_to(np.eye(d), c.shape)  # P_i, rows orthonormal
    for i, eta in enumerate(exponents):
        back = np.swapaxes(basis, -1, -2)
        u = require_unit_vector("noise.direction(M)", direction(eta * (basis @ c @ back), step=i), d - i, tuple(stack))
        directions[..., i, :] = (back @ u[..., None])[..., 0]
        if i + 1 < d:
            basis = np.linalg.svd(directions[..., : i + 1, :])[2][..., i + 1 :, :]
    if len(exponents) < d:
        directions[..., len(exponents) :, :] = basis
    return directions


@checked
def release(
    x: DataSet,
    noise: IterativeEigenvectorsNoise,
    *,
    epsilon: Epsilon,
    calibration: Calibration = "paper",
    budget: Budget = "uniform",
    beta: OffsetBeta = 0.1,
    rank: Rank = 0,
    row_bound: RowBound = 1.0,
    on_large_rows: LargeRows = "clip",
) -> Matrix:
    """Release a second moment rebuilt from noisy eigenvalues and directions, given the noise of both."""
    # VALIDATE, and take row_bound as the unit of the rows
    rows, n, d = sized_unit_rows(x, row_bound, on_large_rows)
    laplace = require_shape("noise.eigenvalues", noise.eigenvalues, (d,))

    # 1. QUERY and NOISE: λ̂
    c = n * second_moment(rows)
    eigenvalues = np.linalg.eigvalsh(c)[::-1]
    kept = min(rank or d, d)
    noisy = (eigenvalues + eigenvalue_scale(epsilon) * laplace)[:kept]

    # 2. NOISE: compute the η_i (an adaptive budget computes them from λ̂), and then draw the θ_i one by one
    if budget == "uniform":
        exponents = uniform_exponents(epsilon, d, calibration, rank)
    else:
        offset = adaptive_offset(epsilon, kept, beta)
        weights = list(np.sqrt(np.clip(noisy, 0, n) + offset))
        exponents = adaptive_exponents(epsilon, weights, calibration, d)
    directions = draw_directions(c, exponents, noise.direction)[:kept]

    # 3. RELEASE
    matrix = (directions.T * noisy) @ directions / n
    released: Matrix = (matrix + matrix.T) / 2 * row_bound**2
    return released


def draw_noise(dimension: int, rng: np.random.Generator) -> IterativeEigenvectorsNoise:
    """Return the noise that `release` takes. Its `direction` is a function: equal arguments give equal directions."""
    return IterativeEigenvectorsNoise(np.asarray(rng.laplace(size=dimension)), draws_again(law.sample, rng))


@checked
def sample(
    x: DataSet,
    rng: np.random.Generator,
    *,
    epsilon: Epsilon,
    calibration: Calibration = "paper",
    budget: Budget = "uniform",
    beta: OffsetBeta = 0.1,
    rank: Rank = 0,
    row_bound: RowBound = 1.0,
    on_large_rows: LargeRows = "clip",
) -> Matrix:
    """Draw the noise from `rng`, then call `release`. The function is not for production, because its noise is float64.

    Parameters
    ----------
    x : shape (n, d), n ≥ 1 records, d ≥ 1 features; rows in the ball of radius `row_bound`.
    rng : the source of all randomness.
    epsilon : ε in [1e-30, 1e30], the budget.
    calibration : value "paper" has the constants of the source; "tight" has less noise, and our proof covers both.
    budget : value "uniform" treats all directions alike, "adaptive" spends more on larger noisy eigenvalues.
    beta : β in [1e-300, 1), public: only the offset τ of the adaptive budget uses it.
    rank : k ≥ 0, public: how many rank-one terms are released; 0, or more than d, means d.
    row_bound : r in [1e-100, 1e100], public, in the unit of x: longer rows are clipped or rejected.
    on_large_rows : value "clip" scales a row longer than r to length r; "raise" rejects the row, which is not private.

    Returns
    -------
    (d, d), symmetric, in the unit of x squared.

    Raises
    ------
    InvalidInput : an argument breaks its rule. An error caused by the data (an entry that is not finite or, with
        "raise", a row that is too long) is not private.

    Privacy : the output is ε-DP (replace-one) for public n, in real arithmetic; `spend` returns the proven budget.
    """
    _, d = shape_of(x)
    noise = draw_noise(d, rng)
    return release(
        x,
        noise,
        epsilon=epsilon,
        calibration=calibration,
        budget=budget,
        beta=beta,
        rank=rank,
        row_bound=row_bound,
        on_large_rows=on_large_rows,
    )


@checked
def spend(
    *,
    epsilon: Epsilon,
    dimension: Dimension,
    calibration: Calibration = "paper",
    budget: Budget = "uniform",
    rank: Rank = 0,
) -> Spend:
    """The claimed budget is ε.

    The proven budget is the cost of the eigenvalues (ε₀, or ε₀/2 if there is only one) plus that of the directions (Σ η
    + max η).

    With the paper's adaptive budget the exponents depend on λ̂. The sum Σ η + max η is then at most ε/4, and approaches
    ε/4 if the weight of one drawn direction dominates.
    """
    kept = min(rank or dimension, dimension)
    eigenvalues = (2 if kept > 1 else 1) / eigenvalue_scale(epsilon)
    if dimension == 1:
        directions = 0.0
    elif budget == "uniform":
        directions = eigenvector_loss(uniform_exponents(epsilon, dimension, calibration, rank))
    elif calibration == "tight":
        directions = eigenvector_loss(adaptive_exponents(epsilon, [1.0] * kept, calibration, dimension))
    else:
        directions = epsilon / 4
    return Spend(
        PureDP(epsilon),
        PureDP(eigenvalues + directions),
        True,
        "the released λ̂_i and the drawn θ_i, as a list, approach the proven budget as n → ∞",
    )


ABOUT = About("iterative-eigenvectors", "iterative eigenvector sampling", "ADK19", "Algorithm 1")
MECHANISM = Mechanism(ABOUT, PURE, SYMMETRIC_SECOND_MOMENT, release, draw_noise, sample, spend)
