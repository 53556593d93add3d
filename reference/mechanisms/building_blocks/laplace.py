"""Laplace mechanism: a vector plus independent Laplace noise. Dwork–McSherry–Nissim–Smith 2006, ADK19 Lemma 3.

Release f + b (L_1, …, L_k), L_i ~ Laplace(1). `perturb` does this to any f; `release` to the second moments of the
features, f_i = Σ_ii = (1/n) Σ_k x_ki².

Where the scale comes from. The density of the output at y is a constant times exp(−‖y − f‖₁/b), so by the triangle
inequality the loss is at most ‖f − f'‖₁/b, and it is exactly that at y = f. With the ℓ1 sensitivity Δ₁ = sup ‖f − f'‖₁,
b = Δ₁/ε spends exactly ε. For the second moments n‖f − f'‖₁ = Σ_i |x_i² − y_i²| ≤ ‖x‖² + ‖y‖² ≤ 2, attained by
x = e₁, y = e₂; in dimension 1 it is |x² − y²| ≤ 1, attained by y = 0. So Δ₁ = 2/n, or 1/n in dimension 1.

Accuracy. P(|L_i| ≥ t) = e^{−t}, so with probability 1 − β no coordinate is off by more than b ln(k/β) (ADK19 Lemma 3).
"""

import math
from collections.abc import Callable

import numpy as np

from covassay.reference.domain import (
    DataSet,
    Number,
    OnLargeRows,
    Vector,
    require_dimension,
    require_positive,
    require_shape,
    sum_rows,
    unit_rows,
)
from covassay.reference.mechanisms.legacy import About
from covassay.reference.privacy import PureDP, Spend

# FORMULAS


def noise_scale(sensitivity: Number, epsilon: Number) -> Number:
    """b = Δ₁/ε."""
    return sensitivity / epsilon


def privacy_loss(change: Number, scale: Number) -> Number:
    """Supremum over outputs of the loss between neighbours with ‖f − f'‖₁ = `change`."""
    return change / scale


def second_moments_sensitivity(n: Number, d: int) -> Number:
    """Δ₁ of (Σ_11, …, Σ_dd): 2/n, or 1/n in dimension 1."""
    return (2 if d > 1 else 1) / n


def largest_error(scale: Number, k: Number, beta: Number, log: Callable[[Number], Number] = math.log) -> Number:
    """What the largest of k errors exceeds with probability at most β: b ln(k/β)."""
    return scale * log(k / beta)


# MECHANISM


def perturb(value: Vector, noise: Vector, *, sensitivity: float, epsilon: float) -> Vector:
    """`value` + Δ₁/ε · `noise`, of any shape; `noise` is Laplace(1), and the shape that of `value`."""
    perturbed: Vector = value + noise_scale(sensitivity, epsilon) * require_shape("noise", noise, np.shape(value))
    return perturbed


def release(
    x: DataSet,
    noise: Vector,
    *,
    epsilon: float,
    row_bound: float = 1.0,
    on_large_rows: OnLargeRows = "clip",
) -> Vector:
    """Release the second moment of every feature, given the noise.

    Parameters
    ----------
    x : (n, d), n, d ≥ 1. Records in rows.
    noise : (d,), Laplace(1).
    epsilon : ε > 0.
    row_bound : r > 0, public, in the unit of x.
    on_large_rows : "clip" (per record, private) or "raise" (reads the data).

    Returns
    -------
    (d,), in the unit of x squared; entries may be negative.

    Raises
    ------
    InvalidInput : an argument breaks its rule. That the entries of x are finite, and with "raise" that the rows are
        short, is read off the data: a precondition, not part of the mechanism.

    Privacy : ε-DP for replacing one row, n public, in real arithmetic.
    Source : ADK19 Lemma 3 (Dwork–McSherry–Nissim–Smith 2006).
    """
    # VALIDATE
    require_positive("epsilon", epsilon)
    rows = unit_rows(x, row_bound, on_large_rows)
    n, d = rows.shape

    # QUERY
    moments: Vector = sum_rows(lambda block: (block**2).sum(axis=0), rows) / n

    # NOISE
    noisy = perturb(moments, noise, sensitivity=second_moments_sensitivity(n, d), epsilon=epsilon)

    # RELEASE
    return noisy * row_bound**2


def sample(
    x: DataSet,
    rng: np.random.Generator,
    *,
    epsilon: float,
    row_bound: float = 1.0,
    on_large_rows: OnLargeRows = "clip",
) -> Vector:
    """Draw the noise from `rng`, then `release`. Not for production: float64 noise."""
    require_positive("epsilon", epsilon)
    rows = unit_rows(x, row_bound, on_large_rows)
    noise = np.asarray(rng.laplace(size=rows.shape[1]))
    return release(x, noise, epsilon=epsilon, row_bound=row_bound, on_large_rows=on_large_rows)


def spend(*, epsilon: float, dimension: int) -> Spend:
    """Claimed and proven ε, attained in every dimension."""
    require_positive("epsilon", epsilon)
    change = second_moments_sensitivity(1, require_dimension("dimension", dimension))
    proven = privacy_loss(change, noise_scale(change, epsilon))
    return Spend(PureDP(epsilon), PureDP(proven), True, "at y = f, for rows e₁ and e₂ (one row against none if d = 1)")


ABOUT = About(
    name="laplace",
    title="Laplace mechanism",
    paper="ADK19",
    algorithm="Lemma 3",
    notion="pure",
    released="vector",
    symmetric=False,
    release=release,
    sample=sample,
    spend=spend,
)
