"""Deflation with private eigenvectors: the algorithm of Kapralov and Talwar (2013), "KT" in the experiments of ADK19.

Reconstructed: the pseudocode of Kapralov and Talwar was not at hand. The steps are those that ADK19 Section 3
describes; how the budget is divided is ours.

1. C_1 = C = Σ_j x_j x_jᵀ.
2. For i = 1..k: draw a unit vector u_i with density ∝ exp(η uᵀC_i u); l_i = u_iᵀC_i u_i + b Laplace(1), clipped to
   [0, n], where every eigenvalue of C lies; C_{i+1} = C_i − l_i u_i u_iᵀ.
3. Release (1/n) Σ_i l_i u_i u_iᵀ. (The paper releases n times that; n is public.) nΣ less n times the output is
   C_{k+1}.

C_i need not be positive semidefinite, and the u_i are not orthogonal.

Where the scales come from. Given the same outputs so far, the residuals of neighbours still differ by Δ = xxᵀ − yyᵀ.
Write p = (u_i·x)², q = (u_i·y)², both in [0, 1]. The direction has loss η(p − q) + ln(Z'/Z) ≤ η(p − q) + η, Z'/Z being
a mean of exp(η((v·y)² − (v·x)²)); the value has loss at most |p − q|/b. So the k rounds cost at most k(2η + 1/b). It is
approached: C = K yyᵀ + xxᵀ, K → ∞, x orthogonal to y and all u_i near x, so that every residual keeps its K yyᵀ.

η = ε/(4k) and b = 2k/ε, half of ε/k for each of the two: exactly ε. In dimension 1 the direction is ±1 whatever the
data, and only k/b = ε/2 is spent. The code of ADK19's authors takes η = 4ε/k in place of ε/(4k), and spends 8.5 ε.

ADK19 quotes the error of the original: ‖C − Ĉ‖ ≤ ζλ_1 if λ_1 ≥ c d⁴/(εζ⁶), c unspecified.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from covassay.reference.domain import (
    DataSet,
    Matrix,
    Number,
    OnLargeRows,
    Vector,
    require_dimension,
    require_positive,
    require_shape,
    second_moment,
    unit_rows,
)
from covassay.reference.errors import InvalidInput
from covassay.reference.laws import bingham as law
from covassay.reference.mechanisms.legacy import About
from covassay.reference.privacy import PureDP, Spend

# FORMULAS


def exponent(epsilon: Number, k: Number) -> Number:
    """η = ε/(4k)."""
    return epsilon / (4 * k)


def value_scale(epsilon: Number, k: Number) -> Number:
    """b = 2k/ε, in the unit of C."""
    return 2 * k / epsilon


def privacy_loss(eta: Number, b: Number, k: Number) -> Number:
    """Supremum of the loss of k rounds, d ≥ 2: k(2η + 1/b)."""
    return k * (2 * eta + 1 / b)


# MECHANISM


@dataclass(frozen=True)
class KapralovTalwarNoise:
    """`values` (k,): Laplace(1); `direction`: M ↦ a unit vector with density ∝ exp(uᵀMu), M symmetric of any sign."""

    values: Vector
    direction: Callable[[Matrix], Vector]


def release(
    x: DataSet,
    noise: KapralovTalwarNoise,
    *,
    epsilon: float,
    rank: int = 0,
    row_bound: float = 1.0,
    on_large_rows: OnLargeRows = "clip",
) -> Matrix:
    """Release a sum of k noisy rank-one matrices, given the noise.

    Parameters
    ----------
    x : (n, d), n, d ≥ 1. Records in rows.
    noise : see `KapralovTalwarNoise`.
    epsilon : ε > 0.
    rank : k ≥ 0, the number of rounds; 0, or more than d, for d.
    row_bound : r > 0, public, in the unit of x.
    on_large_rows : "clip" (per record, private) or "raise" (reads the data).

    Returns
    -------
    (d, d) symmetric, positive semidefinite, of rank at most k, in the unit of x squared.

    Raises
    ------
    InvalidInput : an argument breaks its rule. That the entries of x are finite, and with "raise" that the rows are
        short, is read off the data: a precondition, not part of the mechanism.

    Privacy : ε-DP for replacing one row, n public, in real arithmetic.
    Source : Kapralov–Talwar 2013 as described in ADK19 Section 3, reconstructed; the division of the budget is ours.
    """
    # VALIDATE
    require_positive("epsilon", epsilon)
    if rank != 0:
        require_dimension("rank", rank)
    rows = unit_rows(x, row_bound, on_large_rows)
    n, d = rows.shape
    k = min(rank or d, d)
    laplace = require_shape("noise.values", noise.values, (k,))

    # QUERY
    residual = n * second_moment(rows)

    # NOISE
    eta, b = exponent(epsilon, k), value_scale(epsilon, k)
    total = np.zeros((d, d))
    for z in laplace:
        u = require_shape("noise.direction(M)", noise.direction(eta * residual), (d,))
        if abs(np.linalg.norm(u) - 1) > 1e-9:
            raise InvalidInput(f"noise.direction(M) has norm {np.linalg.norm(u)}: must be a unit vector")
        value = min(max(u @ residual @ u + b * z, 0.0), n)
        total = total + value * np.outer(u, u)
        residual = residual - value * np.outer(u, u)

    # RELEASE
    released: Matrix = total / n * row_bound**2
    return released


def sample(
    x: DataSet,
    rng: np.random.Generator,
    *,
    epsilon: float,
    rank: int = 0,
    row_bound: float = 1.0,
    on_large_rows: OnLargeRows = "clip",
) -> Matrix:
    """Draw the noise from `rng`, then `release`. Not for production: float64 noise."""
    require_positive("epsilon", epsilon)
    if rank != 0:
        require_dimension("rank", rank)
    d = unit_rows(x, row_bound, on_large_rows).shape[1]
    noise = KapralovTalwarNoise(np.asarray(rng.laplace(size=min(rank or d, d))), lambda m: law.sample(m, rng))
    return release(x, noise, epsilon=epsilon, rank=rank, row_bound=row_bound, on_large_rows=on_large_rows)


def spend(*, epsilon: float, dimension: int) -> Spend:
    """Claimed ε; proven k(2η + 1/b) = ε for every rank, and k/b = ε/2 in dimension 1."""
    require_positive("epsilon", epsilon)
    eta = exponent(epsilon, 1) if require_dimension("dimension", dimension) > 1 else 0
    proven = privacy_loss(eta, value_scale(epsilon, 1), 1)
    return Spend(PureDP(epsilon), PureDP(proven), True, "by the rounds (u_i, l_i), in the limit of large n")


ABOUT = About(
    name="kapralov-talwar",
    title="deflation with private eigenvectors",
    paper="ADK19",
    algorithm="Section 3, after Kapralov–Talwar 2013 (reconstructed)",
    notion="pure",
    released="matrix",
    symmetric=True,
    release=release,
    sample=sample,
    spend=spend,
    parameters={"rank": 0},
)
