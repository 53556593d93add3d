"""Private k-dimensional subspace: the exponential mechanism on projections of rank k. CSS13 PPCA.

1. Compute C = Σ_i x_i x_iᵀ, which is not divided by n.
2. Draw a projection P of rank k with density ∝ exp(η tr(PC)), the matrix Bingham law of ηC (`laws.matrix_bingham`).
3. Release P. P has no unit, whatever the unit of x is. The range of P is the private subspace.

Why it is private. Replacing x by y changes the score tr(PC) by ‖Py‖² − ‖Px‖², which lies in [−1, 1] for every k. The
density before normalisation, and its integral, therefore change by a factor of at most e^η. The privacy loss is at most
2η, whatever k is, and approaches 2η as n → ∞. With η = ε/2 the mechanism claims ε and spends ε.

All privacy losses lie in an interval of length 2η, so the release is also η²/2-zCDP (Cesar–Rogers 2020).

Accuracy. E[λ_1 + … + λ_k − tr(PC)] ≤ (k(d − k) + min(k, d − k))/η, where λ_1 ≥ … ≥ λ_d are the eigenvalues of C.

For k = 1 this mechanism is `bingham` with the exponent ε/2, and P = uuᵀ. NOTE: the only projection of rank d is I,
which says nothing about the data, so a rank of d or more means d − 1. NOTE: of CSS13 and LMV21 we read only the
abstracts, and a summary of CSS13. CSS13 has the exponential mechanism on subspaces, drawn by a Markov chain. LMV21 has
a density of this form on the unitary group, and draws from it approximately. We derived the constants, the accuracy and
the exact draw.

Proof: proofs/paper/matrix-bingham.md
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import numpy as np

from covassay.reference.domain import require_dimension, require_symmetric, second_moment, shape_of, sized_unit_rows
from covassay.reference.domain.types import DataSet, Matrix, Number
from covassay.reference.errors import InvalidInput
from covassay.reference.laws import matrix_bingham as law
from covassay.reference.laws.draws_again import DrawsAgain, draws_again
from covassay.reference.mechanisms.mechanism import About, Mechanism
from covassay.reference.mechanisms.output import OUTPUTS
from covassay.reference.mechanisms.parameters import Dimension, Epsilon, LargeRows, RowBound, Rule, checked
from covassay.reference.privacy import PURE, PureDP, Spend

Rank = Annotated[int, Rule("k ≥ 1, public: the rank of P; d or more means d − 1", require_dimension, (1, None))]


def require_projection(name: str, value: Matrix, dimension: int, rank: int) -> Matrix:
    """Return `value` if it is symmetric, (d, d), with P² = P and trace `rank`, up to 1e-9."""
    p = require_symmetric(name, value, (dimension, dimension))
    if np.abs(p @ p - p).max() > 1e-9 or abs(np.trace(p) - rank) > 1e-9:
        raise InvalidInput(f"{name} must be a projection of rank {rank}")
    return p


# FORMULAS


def exponent(epsilon: Number) -> Number:
    """The exponent η = ε/2."""
    return epsilon / 2


def privacy_loss(eta: Number) -> Number:
    """The supremum of the privacy loss over neighbours and outputs, in the limit of large n: 2η."""
    return 2 * eta


def released_rank(rank: int, d: int) -> int:
    """The rank k of the release, or d − 1 if k is not below d."""
    return min(rank, d - 1)


def error_bound(eta: Number, d: int, k: int) -> Number:
    """The bound (k(d − k) + min(k, d − k))/η on E[λ_1 + … + λ_k − tr(PC)]."""
    return (k * (d - k) + min(k, d - k)) / eta


# MECHANISM


@checked
def release(
    x: DataSet,
    noise: Callable[[Matrix, int], Matrix],
    *,
    epsilon: Epsilon,
    rank: Rank = 2,
    row_bound: RowBound = 1.0,
    on_large_rows: LargeRows = "clip",
) -> Matrix:
    """Release a private projection; `noise` maps (M, k) to a projection of rank k with density ∝ exp(tr(PM))."""
    # VALIDATE, and take row_bound as the unit of the rows
    rows, n, d = sized_unit_rows(x, row_bound, on_large_rows)
    if d < 2:
        raise InvalidInput("x has 1 column: a subspace needs at least two")

    # 1. QUERY
    c = n * second_moment(rows)

    # 2. NOISE
    k = released_rank(rank, d)
    p = require_projection("noise(M, k)", noise(exponent(epsilon) * c, k), d, k)

    # 3. RELEASE
    return p


def draw_noise(dimension: int, rng: np.random.Generator) -> DrawsAgain[Matrix]:
    """Return the noise that `release` takes: for any symmetric matrix and rank, one draw of its matrix Bingham law."""
    return draws_again(law.sample, rng)


@checked
def sample(
    x: DataSet,
    rng: np.random.Generator,
    *,
    epsilon: Epsilon,
    rank: Rank = 2,
    row_bound: RowBound = 1.0,
    on_large_rows: LargeRows = "clip",
) -> Matrix:
    """Draw the noise from `rng`, then call `release`. The function is not for production, because its noise is float64.

    Parameters
    ----------
    x : shape (n, d), n ≥ 1 records, d ≥ 2 features; rows in the ball of radius `row_bound`.
    rng : the source of all randomness.
    epsilon : ε in [1e-30, 1e30], the budget.
    rank : k ≥ 1, public: the rank of P; d or more means d − 1.
    row_bound : r in [1e-100, 1e100], public, in the unit of x: longer rows are clipped or rejected.
    on_large_rows : value "clip" scales a row longer than r to length r; "raise" rejects the row, which is not private.

    Returns
    -------
    The matrix P of shape (d, d), which is symmetric. P has no unit.

    Raises
    ------
    InvalidInput : an argument breaks its rule. An error caused by the data (an entry that is not finite or, with
        "raise", a row that is too long) is not private.
    ArithmeticError : the sampler rejected 10⁷ proposals in a row. For a large rank this is likely, and its probability
        depends on the data.

    Privacy : the output is ε-DP (replace-one) for public n, in real arithmetic; `spend` returns the proven budget.
    """
    _, d = shape_of(x)
    noise = draw_noise(d, rng)
    return release(x, noise, epsilon=epsilon, rank=rank, row_bound=row_bound, on_large_rows=on_large_rows)


@checked
def spend(*, epsilon: Epsilon, dimension: Dimension) -> Spend:
    """The claimed budget is ε. The proven budget is 2η = ε, approached as n → ∞, for every rank."""
    return Spend(PureDP(epsilon), PureDP(privacy_loss(exponent(epsilon))), True, "some neighbours approach ε as n → ∞")


ABOUT = About("matrix-bingham", "private k-dimensional subspace (matrix Bingham)", "CSS13", "PPCA", "reconstructed")
MECHANISM = Mechanism(
    ABOUT,
    PURE,
    OUTPUTS["projection"],
    release,
    draw_noise,
    sample,
    spend,
    smallest_dimension=2,
    unranked="it releases the projection onto a subspace, and no second moment",
)
