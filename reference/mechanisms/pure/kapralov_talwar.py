"""Deflation with private eigenvectors: the algorithm of Kapralov and Talwar (2013), "KT" in the experiments of ADK19.

NOTE: reconstructed. We did not have the pseudocode of Kapralov and Talwar. The steps are those that ADK19 Section 3
describes; we chose the shares of the budget and the constants η and b.

1. C_1 = C = Σ_j x_j x_jᵀ. There are k rounds. Round i = 1, …, k has the steps 2 to 4, with η = ε/(4k) and b = 2k/ε.
2. Draw a unit vector u_i with density ∝ exp(η uᵀC_i u).
3. l_i = u_iᵀC_i u_i + b Laplace(1), clipped to [0, n], where every eigenvalue of C lies.
4. C_{i+1} = C_i − l_i u_i u_iᵀ.
5. Release (1/n) Σ_i l_i u_i u_iᵀ. The output is positive semidefinite and of rank at most k. (ADK19 releases n
   times the output.)

The remainder, n times the error, is C_{k+1}. C_i need not be positive semidefinite, and the u_i are not orthogonal.

Why ε-DP. Given the same outputs so far, the C_i of neighbours still differ by xxᵀ − yyᵀ. A direction costs at most 2η
and a value at most 1/b, so k rounds cost at most k(2η + 1/b) = ε. A direction and a value cost ε/(2k) each. For d ≥ 2
and large n, the loss of all (u_i, l_i) together approaches ε for some neighbours. In dimension 1 the direction is ±1
whatever the data, and only k/b = ε/2 is spent. NOTE: the code of ADK19's authors has η = 4ε/k in place of ε/(4k), which
spends 8.5 ε.

Accuracy. ADK19 quotes a bound for the original algorithm: the error ‖C − Ĉ‖ is at most ζλ_1 if λ_1 ≥ c d⁴/(εζ⁶), for a
relative error ζ and an unspecified constant c.

Proof: proofs/paper/kapralov-talwar.md
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from covassay.reference.domain import require_shape, require_unit_vector, second_moment, shape_of, sized_unit_rows
from covassay.reference.domain.types import DataSet, Matrix, Number, Vector
from covassay.reference.laws import bingham as law
from covassay.reference.laws.draws_again import draws_again
from covassay.reference.mechanisms.mechanism import About, Mechanism
from covassay.reference.mechanisms.output import SYMMETRIC_SECOND_MOMENT
from covassay.reference.mechanisms.parameters import Dimension, Epsilon, LargeRows, RowBound, checked
from covassay.reference.mechanisms.pure.iterative_eigenvectors import Direction, Rank
from covassay.reference.privacy import PURE, PureDP, Spend

# FORMULAS


def exponent(epsilon: Number, k: Number) -> Number:
    """The exponent η = ε/(4k)."""
    return epsilon / (4 * k)


def value_scale(epsilon: Number, k: Number) -> Number:
    """The noise scale b = 2k/ε of a value, in the unit of C."""
    return 2 * k / epsilon


def privacy_loss(eta: Number, b: Number, k: Number) -> Number:
    """The supremum of the privacy loss of k rounds for d ≥ 2: k(2η + 1/b)."""
    return k * (2 * eta + 1 / b)


# MECHANISM


@dataclass(frozen=True)
class KapralovTalwarNoise:
    """The noise of the release.

    values : shape (k,), independent Laplace(1).
    direction : direction(M, step=i) is a unit vector with density ∝ exp(uᵀMu), for any symmetric M.
    """

    values: Vector
    direction: Direction


@checked
def release(
    x: DataSet,
    noise: KapralovTalwarNoise,
    *,
    epsilon: Epsilon,
    rank: Rank = 0,
    row_bound: RowBound = 1.0,
    on_large_rows: LargeRows = "clip",
) -> Matrix:
    """Release a sum of k noisy rank-one matrices, given the noise: a `KapralovTalwarNoise`."""
    # VALIDATE, and take row_bound as the unit of the rows
    rows, n, d = sized_unit_rows(x, row_bound, on_large_rows)
    k = min(rank or d, d)
    laplace = require_shape("noise.values", noise.values, (k,))

    # 1. QUERY: C_1. In the loop, `residual` is C_i, and `total` is C_1 − C_i.
    residual, total = n * second_moment(rows), np.zeros((d, d))
    eta, b = exponent(epsilon, k), value_scale(epsilon, k)

    for i, z in enumerate(laplace):
        # 2. NOISE: u_i
        u = require_unit_vector("noise.direction(M)", noise.direction(eta * residual, step=i), d)

        # 3. QUERY and NOISE: l_i
        value = min(max(u @ residual @ u + b * z, 0.0), n)

        # 4. C_{i+1}
        total = total + value * np.outer(u, u)
        residual = residual - value * np.outer(u, u)

    # 5. RELEASE
    released: Matrix = total / n * row_bound**2
    return released


def draw_noise(dimension: int, rng: np.random.Generator, *, rank: int = 0) -> KapralovTalwarNoise:
    """Return the noise that `release` takes. Its `direction` is a function: equal arguments give equal directions."""
    k = min(rank or dimension, dimension)
    return KapralovTalwarNoise(np.asarray(rng.laplace(size=k)), draws_again(law.sample, rng))


@checked
def sample(
    x: DataSet,
    rng: np.random.Generator,
    *,
    epsilon: Epsilon,
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
    noise = draw_noise(d, rng, rank=rank)
    return release(x, noise, epsilon=epsilon, rank=rank, row_bound=row_bound, on_large_rows=on_large_rows)


@checked
def spend(*, epsilon: Epsilon, dimension: Dimension) -> Spend:
    """The claimed budget is ε. The proven budget is k(2η + 1/b) = ε for every rank, and k/b = ε/2 in dimension 1."""
    eta = exponent(epsilon, 1) if dimension > 1 else 0
    proven = privacy_loss(eta, value_scale(epsilon, 1), 1)
    return Spend(
        PureDP(epsilon),
        PureDP(proven),
        True,
        "the outputs (u_i, l_i) of all rounds together approach the proven budget as n → ∞",
    )


ABOUT = About(
    "kapralov-talwar",
    "deflation with private eigenvectors",
    "ADK19",
    "Section 3, after Kapralov–Talwar 2013 (reconstructed)",
    "reconstructed",
)
MECHANISM = Mechanism(ABOUT, PURE, SYMMETRIC_SECOND_MOMENT, release, draw_noise, sample, spend)
