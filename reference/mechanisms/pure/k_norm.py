"""K-norm mechanism: Σ plus noise with density ∝ exp(−ε‖Z‖_K/Δ_K), for five bodies K. Hardt–Talwar 2010, DN25 Lemma 4.

1. Σ = (1/n) Σ_i x_i x_iᵀ.
2. Draw a symmetric matrix Z with density ∝ exp(−‖Z‖_K) (`laws.k_norm`, which defines the norms).
3. Release Σ + (Δ_K/ε) Z, where Δ_K is the largest ‖Σ − Σ'‖_K over neighbours. The output is not always positive
   semidefinite.

Why ε-DP. By the triangle inequality the privacy loss is at most (ε/Δ_K)‖Σ − Σ'‖_K ≤ ε, with equality at Y = Σ.

    body         nΔ_K                     attained by
    schatten1    2                        orthonormal rows
    covariance   1                        one row against none
    l1           ½√((d + 2)² + 4⌊d²/4⌋)   `sensitivity.block_pair`
    l2           √2                       orthonormal rows
    linf         1                        one row against none

In dimension 1 all norms are |M|, and nΔ_K = 1. The covariance body (ours) is the convex hull of all changes n(Σ − Σ'),
so it is the smallest body for this query. `schatten1` is the symmetric form of DN25 Algorithm 1; `l1` is Laplace noise
on the entries, with a proven scale.

Proof: proofs/paper/k-norm.md
"""

from collections.abc import Callable

import numpy as np

from covassay.reference.domain import DataSet, Matrix, Number, require_symmetric, second_moment, sized_unit_rows
from covassay.reference.laws import k_norm as law
from covassay.reference.laws.k_norm import Body
from covassay.reference.mechanisms.mechanism import About, Mechanism
from covassay.reference.mechanisms.output import SYMMETRIC_SECOND_MOMENT
from covassay.reference.mechanisms.parameters import Dimension, Epsilon, LargeRows, RowBound, checked
from covassay.reference.privacy import PURE, PureDP, Spend
from covassay.reference.sensitivity import square_root, triangle_l1

# FORMULAS


def sensitivity(body: str, n: Number, d: int, sqrt: Callable[[Number], Number] = square_root) -> Number:
    """Δ_K, the largest ‖Σ − Σ'‖_K over neighbours."""
    if d == 1 or body in ("covariance", "linf"):
        return 1 / n
    if body == "l1":
        return triangle_l1(d, sqrt) / n
    return (2 if body == "schatten1" else sqrt(2)) / n


def noise_scale(change: Number, epsilon: Number) -> Number:
    """Δ_K/ε, by which the noise Z is multiplied."""
    return change / epsilon


def privacy_loss(change: Number, scale: Number) -> Number:
    """Supremum over outputs of the privacy loss between neighbours with ‖Σ − Σ'‖_K = `change`."""
    return change / scale


# MECHANISM


@checked
def release(
    x: DataSet,
    noise: Matrix,
    *,
    epsilon: Epsilon,
    body: Body = "schatten1",
    row_bound: RowBound = 1.0,
    on_large_rows: LargeRows = "clip",
) -> Matrix:
    """Release the noisy second moment, given the noise: a (d, d) draw of Z, symmetric."""
    # VALIDATE
    rows, n, d = sized_unit_rows(x, row_bound, on_large_rows)
    z = require_symmetric("noise", noise, (d, d))

    # QUERY
    moment = second_moment(rows)

    # NOISE
    noisy: Matrix = moment + noise_scale(sensitivity(body, n, d), epsilon) * z

    # RELEASE
    return noisy * row_bound**2


def draw_noise(dimension: int, rng: np.random.Generator, body: Body = "schatten1", size: int | None = None) -> Matrix:
    """The noise that `release` takes: (d, d), or (size, d, d)."""
    return law.sample(body, dimension, rng, size)


@checked
def spend(*, epsilon: Epsilon, dimension: Dimension, body: Body = "schatten1") -> Spend:
    """The claimed ε; proven is the same, attained for every body in every dimension."""
    change = sensitivity(body, 1, dimension)
    proven = privacy_loss(change, noise_scale(change, epsilon))
    return Spend(PureDP(epsilon), PureDP(proven), True, "at Y = Σ")


ABOUT = About("k-norm", "K-norm mechanism", "DN25", "Lemma 4 (Hardt–Talwar)")
MECHANISM = Mechanism(ABOUT, PURE, SYMMETRIC_SECOND_MOMENT, release, draw_noise, spend)
sample = MECHANISM.sample
