"""Gaussian mechanism under zCDP: a vector plus independent Gaussian noise. Bun–Steinke 2016, DLY22 Lemma 3.

Release f + σ (N_1, …, N_k), N_i ~ N(0, 1). `perturb` does this to any f; `release` to the second moments of the
features, f_i = Σ_ii = (1/n) Σ_k x_ki².

Where the scale comes from. The Rényi divergence of order α between N(f, σ² I) and N(f', σ² I) is exactly
α ‖f − f'‖₂²/(2σ²). With the ℓ2 sensitivity Δ₂ = sup ‖f − f'‖₂, σ = Δ₂/√(2ρ) spends exactly ρ, at every order. For the
second moments put a_i = x_i², b_i = y_i²: n²‖f − f'‖₂² = Σ_i (a_i − b_i)² ≤ Σ_i a_i² + Σ_i b_i² ≤ 2, as a, b ≥ 0 sum to
at most 1; attained by x = e₁, y = e₂. In dimension 1, (a − b)² ≤ 1. So Δ₂ = √2/n, or 1/n in dimension 1.
"""

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
from covassay.reference.privacy import ZCDP, Spend, zcdp_of_gaussian

# FORMULAS: the spend of a σ is `privacy.zcdp_of_gaussian`.


def noise_scale(sensitivity: Number, rho: Number) -> Number:
    """σ = Δ₂/√(2ρ)."""
    return sensitivity / (2 * rho) ** 0.5


def second_moments_sensitivity(n: Number, d: int) -> Number:
    """Δ₂ of (Σ_11, …, Σ_dd): √2/n, or 1/n in dimension 1."""
    return (2 if d > 1 else 1) ** 0.5 / n


# MECHANISM


def perturb(value: Vector, noise: Vector, *, sensitivity: float, rho: float) -> Vector:
    """`value` + Δ₂/√(2ρ) · `noise`, of any shape; `noise` is N(0, 1), and the shape that of `value`."""
    perturbed: Vector = value + noise_scale(sensitivity, rho) * require_shape("noise", noise, np.shape(value))
    return perturbed


def release(
    x: DataSet,
    noise: Vector,
    *,
    rho: float,
    row_bound: float = 1.0,
    on_large_rows: OnLargeRows = "clip",
) -> Vector:
    """Release the second moment of every feature, given the noise.

    Parameters
    ----------
    x : (n, d), n, d ≥ 1. Records in rows.
    noise : (d,), standard normal.
    rho : ρ > 0.
    row_bound : r > 0, public, in the unit of x.
    on_large_rows : "clip" (per record, private) or "raise" (reads the data).

    Returns
    -------
    (d,), in the unit of x squared; entries may be negative.

    Raises
    ------
    InvalidInput : an argument breaks its rule. That the entries of x are finite, and with "raise" that the rows are
        short, is read off the data: a precondition, not part of the mechanism.

    Privacy : ρ-zCDP for replacing one row, n public, in real arithmetic.
    Source : DLY22 Lemma 3 (Bun–Steinke 2016).
    """
    # VALIDATE
    require_positive("rho", rho)
    rows = unit_rows(x, row_bound, on_large_rows)
    n, d = rows.shape

    # QUERY
    moments: Vector = sum_rows(lambda block: (block**2).sum(axis=0), rows) / n

    # NOISE
    noisy = perturb(moments, noise, sensitivity=second_moments_sensitivity(n, d), rho=rho)

    # RELEASE
    return noisy * row_bound**2


def sample(
    x: DataSet,
    rng: np.random.Generator,
    *,
    rho: float,
    row_bound: float = 1.0,
    on_large_rows: OnLargeRows = "clip",
) -> Vector:
    """Draw the noise from `rng`, then `release`. Not for production: float64 noise."""
    require_positive("rho", rho)
    rows = unit_rows(x, row_bound, on_large_rows)
    noise = np.asarray(rng.standard_normal(rows.shape[1]))
    return release(x, noise, rho=rho, row_bound=row_bound, on_large_rows=on_large_rows)


def spend(*, rho: float, dimension: int) -> Spend:
    """Claimed and proven ρ, attained in every dimension."""
    require_positive("rho", rho)
    change = second_moments_sensitivity(1, require_dimension("dimension", dimension))
    proven = zcdp_of_gaussian(change, noise_scale(change, rho) ** 2)
    return Spend(ZCDP(rho), ZCDP(proven), True, "at every order, for rows e₁ and e₂ (one row against none if d = 1)")


ABOUT = About(
    name="gaussian",
    title="Gaussian mechanism",
    paper="DLY22",
    algorithm="Lemma 3",
    notion="zcdp",
    released="vector",
    symmetric=False,
    release=release,
    sample=sample,
    spend=spend,
)
