"""K-norm mechanism: Σ plus noise with density ∝ exp(−ε‖Z‖_K/Δ_K), for five bodies K. Hardt–Talwar 2010.

Release Σ + (Δ_K/ε) Z, Z a symmetric matrix with density ∝ exp(−‖Z‖_K) (`laws.k_norm`, where the norms are).

Where the scale comes from. Δ_K is the largest ‖Σ − Σ'‖_K over neighbours. The density of the output at Y is a constant
times exp(−(ε/Δ_K)‖Y − Σ‖_K), so by the triangle inequality the loss is at most (ε/Δ_K)‖Σ − Σ'‖_K ≤ ε, with equality at
Y = Σ. Replacing the row x by y changes nΣ by Δ = xxᵀ − yyᵀ, with eigenvalues μ₊ ≥ 0 ≥ μ₋, μ₊ ≤ ‖x‖², −μ₋ ≤ ‖y‖²:

    body         nΔ_K                  because
    schatten1    2                     μ₊ − μ₋ ≤ 2; orthonormal rows
    covariance   1                     max(μ₊, −μ₋) ≤ 1; one row against none
    l1           ½√((d + 2)² + 4⌊d²/4⌋)   Σ_{i≤j} |Δ_ij|, proven and attained in `sensitivity`; 1.07 times that,
                                       √((d² + 3d)/2), is seen at once: ⟨W, Δ⟩ = xᵀWx − yᵀWy ≤ √2 ‖W‖_F with W the
                                       signs of Δ, those off the diagonal halved
    l2           √2                    ‖Δ‖_F² = μ₊² + μ₋² ≤ 2; orthonormal rows
    linf         1                     |Δ_ij| ≤ ‖Δ‖ = max(μ₊, −μ₋) ≤ 1; one row against none

In dimension 1 all norms are |M| and nΔ_K = 1.

The covariance body is the set of all M = A − B with A, B ≥ 0 of trace at most 1, which is the convex hull of all the
Δ: so it lies in every body that is scaled by its own nΔ_K, and is the smallest of them. Mean Frobenius error, times nε
(measured):

    d     schatten1   covariance   l1      l2      linf
    2     5.0         3.4          5.4     4.2     4.4
    3     8.5         6.9          11.1    8.5     11.8
    10    45          44           109     78      322

`schatten1` is the symmetric form of DN25 Algorithm 1, and `l1` is Laplace noise on the entries with a proven scale.
"""

import numpy as np

from covassay.reference.domain import (
    DataSet,
    Matrix,
    Number,
    OnLargeRows,
    require_choice,
    require_dimension,
    require_positive,
    require_symmetric,
    second_moment,
    unit_rows,
)
from covassay.reference.laws import k_norm as law
from covassay.reference.laws.k_norm import BODIES, Body
from covassay.reference.mechanisms.legacy import About
from covassay.reference.privacy import PureDP, Spend
from covassay.reference.sensitivity import triangle_l1

# FORMULAS


def sensitivity(body: str, n: Number, d: int) -> Number:
    """Δ_K."""
    if d == 1 or body in ("covariance", "linf"):
        return 1 / n
    if body == "l1":
        return triangle_l1(d) / n
    return (2 if body == "schatten1" else 2**0.5) / n


def noise_scale(change: Number, epsilon: Number) -> Number:
    """Δ_K/ε."""
    return change / epsilon


def privacy_loss(change: Number, scale: Number) -> Number:
    """Supremum over outputs of the loss between neighbours with ‖Σ − Σ'‖_K = `change`."""
    return change / scale


# MECHANISM


def release(
    x: DataSet,
    noise: Matrix,
    *,
    epsilon: float,
    body: Body = "schatten1",
    row_bound: float = 1.0,
    on_large_rows: OnLargeRows = "clip",
) -> Matrix:
    """Release the noisy second moment, given symmetric noise.

    Parameters
    ----------
    x : (n, d), n, d ≥ 1. Records in rows.
    noise : (d, d) symmetric, with density ∝ exp(−‖Z‖_K).
    epsilon : ε > 0.
    body : K, one of "schatten1", "covariance", "l1", "l2", "linf".
    row_bound : r > 0, public, in the unit of x.
    on_large_rows : "clip" (per record, private) or "raise" (reads the data).

    Returns
    -------
    (d, d) symmetric, in the unit of x squared. Not always positive semidefinite.

    Raises
    ------
    InvalidInput : an argument breaks its rule. That the entries of x are finite, and with "raise" that the rows are
        short, is read off the data: a precondition, not part of the mechanism.

    Privacy : ε-DP for replacing one row, n public, in real arithmetic.
    Source : Hardt–Talwar 2010 (DN25 Lemma 4 for schatten1); the covariance body and its sampler are ours.
    """
    # VALIDATE
    require_positive("epsilon", epsilon)
    require_choice("body", body, BODIES)
    rows = unit_rows(x, row_bound, on_large_rows)
    n, d = rows.shape
    z = require_symmetric("noise", noise, (d, d))

    # QUERY
    moment = second_moment(rows)

    # NOISE
    noisy: Matrix = moment + noise_scale(sensitivity(body, n, d), epsilon) * z

    # RELEASE
    return noisy * row_bound**2


def sample(
    x: DataSet,
    rng: np.random.Generator,
    *,
    epsilon: float,
    body: Body = "schatten1",
    row_bound: float = 1.0,
    on_large_rows: OnLargeRows = "clip",
) -> Matrix:
    """Draw the noise from `rng`, then `release`. Not for production: float64 noise."""
    require_positive("epsilon", epsilon)
    require_choice("body", body, BODIES)
    rows = unit_rows(x, row_bound, on_large_rows)
    noise = law.sample(body, rows.shape[1], rng)
    return release(x, noise, epsilon=epsilon, body=body, row_bound=row_bound, on_large_rows=on_large_rows)


def spend(*, epsilon: float, dimension: int, body: Body = "schatten1") -> Spend:
    """Claimed and proven ε; attained."""
    require_positive("epsilon", epsilon)
    d = require_dimension("dimension", dimension)
    require_choice("body", body, BODIES)
    change = sensitivity(body, 1, d)
    proven = privacy_loss(change, noise_scale(change, epsilon))
    return Spend(PureDP(epsilon), PureDP(proven), True, "at Y = Σ")


ABOUT = About(
    name="k-norm",
    title="K-norm mechanism",
    paper="DN25",
    algorithm="Lemma 4 (Hardt–Talwar)",
    notion="pure",
    released="matrix",
    symmetric=True,
    release=release,
    sample=sample,
    spend=spend,
    choices={"body": BODIES},
)
