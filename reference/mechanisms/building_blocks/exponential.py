"""Exponential mechanism: which feature has the most energy. ADK19 Lemma 4 (McSherry–Talwar 2007).

1. Compute g(u) = n Σ_uu = Σ_k x_ku², the energy of feature u.
2. Draw G_1, …, G_d, independent standard Gumbel, and find the u with the largest η g(u) + G_u, where η = ε/2. The
   result is feature u with probability ∝ exp(η g(u)).
3. Release the number of feature u.

The function `sample_index` carries out step 2 for any scores of finitely many outcomes.

Why ε-DP. Let Δ(u) = g'(u) − g(u) be the change of the scores, and R = sup Δ − inf Δ its range. The privacy loss at u is
−ηΔ(u) plus a constant, which lies between η inf Δ and η sup Δ. The loss is therefore at most ηR, and its values lie in
an interval of length ηR. Hence η = ε/R gives ε-DP, and ε²/8-zCDP too (Cesar–Rogers 2020). Replacing one row changes
every energy by at most 1. It can raise one energy by 1 and lower another by 1, so R = 2. Some neighbours approach the
loss ε as n → ∞. In dimension 1 there is one outcome and no loss.

Accuracy. P(g(u) < max g − τ) ≤ e^{−η(τ − s)}/μ for every s with 0 ≤ s ≤ τ, where μ is the share of outcomes with g ≥
max g − s.
NOTE: the bound e^{−ητ} μ of ADK19 Lemma 4, with μ taken at s = τ, is false.

Proof: proofs/paper/exponential.md
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from covassay.reference.domain import Array, DataSet, Number, Vector, column_squares, require_shape, shape_of, unit_rows
from covassay.reference.mechanisms.mechanism import About, Mechanism
from covassay.reference.mechanisms.output import LevelOutput
from covassay.reference.mechanisms.parameters import Dimension, Epsilon, LargeRows, RowBound, checked
from covassay.reference.privacy import PURE, PureDP, Spend

ENERGY_RANGE = 2  # R = sup Δ − inf Δ for d ≥ 2, where replacing one row changes the energies by Δ

# FORMULAS


def exponent(epsilon: Number, score_range: Number) -> Number:
    """The exponent η = ε/R."""
    return epsilon / score_range


def privacy_loss(eta: Number, score_range: Number) -> Number:
    """The bound ηR on the privacy loss. All values of the loss lie in an interval of length ηR."""
    return eta * score_range


def failure_bound(eta: Number, gap: Number, share: Number, exp: Callable[[Number], Number] = math.exp) -> Number:
    """The bound e^{−η(τ − s)}/μ on P(g < max g − τ), where `gap` is τ − s and `share` is μ.

    The number μ is the share of outcomes with g ≥ max g − s.
    """
    return exp(-eta * gap) / share


# MECHANISM


def sample_index(scores: Vector, noise: Vector, *, eta: float) -> int:
    """Return the outcome, one of 0, …, m − 1, for which η times the score plus the noise is largest.

    If the m entries of `noise` are independent standard Gumbel, an outcome has probability ∝ exp(η score).
    """
    return int(np.argmax(eta * scores + require_shape("noise", noise, scores.shape)))


@checked
def release(
    x: DataSet, noise: Vector, *, epsilon: Epsilon, row_bound: RowBound = 1.0, on_large_rows: LargeRows = "clip"
) -> float:
    """Release the number 1, …, d of the feature with the largest noisy score, given standard Gumbel noise of shape
    (d,).
    """
    # VALIDATE, and take row_bound as the unit of the rows
    rows = unit_rows(x, row_bound, on_large_rows)

    # 1. QUERY
    energies = column_squares(rows)

    # 2. NOISE
    index = sample_index(energies, noise, eta=exponent(epsilon, ENERGY_RANGE))

    # 3. RELEASE
    return np.float64(index + 1)


def draw_noise(dimension: int, rng: np.random.Generator, size: int | None = None) -> Array:
    """Return the noise that `release` takes, (d,) or (size, d)."""
    return rng.gumbel(size=dimension if size is None else (size, dimension))


@checked
def sample(
    x: DataSet,
    rng: np.random.Generator,
    *,
    epsilon: Epsilon,
    row_bound: RowBound = 1.0,
    on_large_rows: LargeRows = "clip",
) -> float:
    """Draw the noise from `rng`, then call `release`. The function is not for production, because its noise is float64.

    Parameters
    ----------
    x : shape (n, d), n ≥ 1 records, d ≥ 1 features; rows in the ball of radius `row_bound`.
    rng : the source of all randomness.
    epsilon : ε in [1e-30, 1e30], the budget.
    row_bound : r in [1e-100, 1e100], public, in the unit of x: longer rows are clipped or rejected.
    on_large_rows : value "clip" scales a row longer than r to length r; "raise" rejects the row, which is not private.

    Returns
    -------
    The number of the feature, of shape (). This number has no unit.

    Raises
    ------
    InvalidInput : an argument breaks its rule. An error caused by the data (an entry that is not finite or, with
        "raise", a row that is too long) is not private.

    Privacy : the output is ε-DP (replace-one) for public n, in real arithmetic; `spend` returns the proven budget.
    """
    _, d = shape_of(x)
    noise = draw_noise(d, rng)
    return release(x, noise, epsilon=epsilon, row_bound=row_bound, on_large_rows=on_large_rows)


@checked
def spend(*, epsilon: Epsilon, dimension: Dimension) -> Spend:
    """The claimed budget is ε. The proven budget is ε, which some neighbours approach as n → ∞. In dimension 1 no
    budget is spent.
    """
    proven = privacy_loss(exponent(epsilon, ENERGY_RANGE), ENERGY_RANGE)
    remark = (
        "some neighbours approach the proven budget as n → ∞"
        if dimension > 1
        else "there is only one outcome, so no budget is spent"
    )
    return Spend(PureDP(epsilon), PureDP(proven), dimension > 1, remark)


ABOUT = About("exponential", "exponential mechanism", "ADK19", "Lemma 4")
MECHANISM = Mechanism(ABOUT, PURE, LevelOutput(), release, draw_noise, sample, spend, repeats=True)
