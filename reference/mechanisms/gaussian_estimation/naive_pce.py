"""Naive private covariance estimation: long rows are dropped, Gaussian noise is added. KLSU19 Algorithm 1 (NaivePCE).

1. r² = κ(d + 2√(dL) + 2L), L = ln(n/β). A row with ‖x‖² > r² is dropped: it counts as a zero row, and n stays n.
2. M' = (1/n) Σ_{‖x_i‖² ≤ r²} x_i x_iᵀ + σW, W symmetric with independent N(0, 1) on and above the diagonal.
3. Release the positive semidefinite matrix nearest to M' in Frobenius norm.

Reconstructed: the text at hand has neither the pseudocode nor the formulas, so the constants in 1 and 2 are ours.

Where σ comes from. Whether a row is dropped depends on that row and on public numbers alone, so replacing one row
replaces one term of the sum: x, y with ‖x‖², ‖y‖² ≤ r² (a dropped row being x = 0) change M' by Δ = (xxᵀ − yyᵀ)/n. The
noise is N(0, σ²) in every entry on and above the diagonal, so the Rényi divergence of order α is α Σ_{i≤j} Δ_ij²/(2σ²).
In units of r⁴/n², Σ_{i≤j} Δ_ij² ≤ ‖Δ‖_F² = s² + t² − 2⟨x, y⟩² ≤ 2 (s, t the squared lengths), attained by x = r e₁,
y = r e₂. In one dimension Δ = s − t, and the supremum is 1.

paper : Δ₂ = 2r²/n, the triangle inequality ‖Δ‖_F ≤ s + t; σ = Δ₂/√(2ρ), so σ² = 2r⁴/(n²ρ). It spends ρ/2.
tight : Δ₂ = √2 r²/n; σ² = r⁴/(n²ρ). It spends ρ.

In one dimension half of that. Step 3 is post-processing; it brings the estimate nearer to every positive semidefinite
matrix in Frobenius norm, not in spectral norm, where the distance can grow by a factor of up to 2/√3. Privacy holds
for any rows whatever. How many rows were dropped is not released, and n is not replaced by their number: dividing by
it would have sensitivity of the order of r².

What the parameters mean. For rows from N(0, Σ), I ⪯ Σ ⪯ κI: ‖x‖² ≤ κ‖z‖² with z = Σ^{-1/2}x ~ N(0, I_d), and
P(‖z‖² > d + 2√(dL) + 2L) ≤ e^{−L} = β/n (Laurent–Massart 2000), so with probability 1 − β no row is dropped.
"""

import math
from collections.abc import Callable

import numpy as np

from covassay.reference.domain import (
    DataSet,
    Matrix,
    Number,
    as_rows,
    map_rows,
    require_below_one,
    require_between,
    require_choice,
    require_dimension,
    require_positive,
    require_symmetric,
    row_norms,
    second_moment,
)
from covassay.reference.laws import wigner
from covassay.reference.mechanisms.legacy import CALIBRATIONS, About, Calibration
from covassay.reference.privacy import ZCDP, Spend
from covassay.reference.projections import psd_cone

LARGEST_KAPPA = 1e30  # so that no product of preconditioners leaves the range of floats

# FORMULAS


def radius_squared(
    n: Number, d: Number, kappa: Number, beta: Number, log: Callable[[Number], Number] = math.log
) -> Number:
    """r² = κ(d + 2√(dL) + 2L), L = ln(n/β)."""
    length = log(n / beta)
    return kappa * (d + 2 * (d * length) ** 0.5 + 2 * length)


def noise_variance(n: Number, rho: Number, r2: Number, calibration: str) -> Number:
    """σ²: 2r⁴/(n²ρ) in the paper, r⁴/(n²ρ) tight."""
    return (2 if calibration == "paper" else 1) * r2**2 / (n**2 * rho)


def largest_change(d: int) -> Number:
    """The supremum of Σ_{i≤j} Δ_ij², in units of r⁴/n²: 2, and 1 in one dimension."""
    return 2 if d > 1 else 1


def privacy_loss(change: Number, n: Number, r2: Number, variance: Number) -> Number:
    """ρ of neighbours with Σ_{i≤j} Δ_ij² = `change` · r⁴/n²."""
    return change * r2**2 / n**2 / (2 * variance)


# MECHANISM


def require_kappa(kappa: float) -> None:
    """κ ≥ 1: the bound on Σ, in the unit in which Σ ⪰ I."""
    require_between("kappa", kappa, 1, LARGEST_KAPPA)


def drop_long(block: Matrix, radius: float) -> Matrix:
    """The rows, those longer than the radius replaced by zero rows."""
    return np.where((row_norms(block) <= radius)[:, None], block, 0.0)


def release(
    x: DataSet,
    noise: Matrix,
    *,
    rho: float,
    calibration: Calibration = "paper",
    kappa: float = 10.0,
    beta: float = 0.1,
) -> Matrix:
    """Release the noisy covariance of the short rows, given the noise.

    Parameters
    ----------
    x : (n, d), n, d ≥ 1. Records in rows, any real numbers.
    noise : (d, d) symmetric, "wigner".
    rho : ρ > 0.
    calibration : "paper" or "tight".
    kappa : κ ≥ 1, public: Σ ⪯ κI. For utility only.
    beta : in (0, 1), public: the probability that a row is dropped. For utility only.

    Returns
    -------
    (d, d) symmetric, positive semidefinite up to rounding.

    Raises
    ------
    InvalidInput : an argument breaks its rule. That the entries of x are finite is read off the data: a precondition,
        not part of the mechanism.

    Privacy : ρ-zCDP for replacing one row, n public, in real arithmetic (proven: ρ/2 with "paper").
    Source : KLSU19 Algorithm 1, Lemma 3.6, Theorem 3.7; reconstructed. "tight" is ours.
    """
    # VALIDATE
    require_positive("rho", rho)
    require_choice("calibration", calibration, CALIBRATIONS)
    require_kappa(kappa)
    require_below_one("beta", beta)
    rows = as_rows(x)
    n, d = rows.shape
    z = require_symmetric("noise", noise, (d, d))

    # QUERY
    r2 = radius_squared(n, d, kappa, beta)
    moment = second_moment(map_rows(lambda block: drop_long(block, math.sqrt(r2)), rows))

    # NOISE
    sigma = r2 / n * math.sqrt(noise_variance(1, rho, 1, calibration))  # so that r⁴ cannot overflow
    noisy = moment + sigma * z

    # RELEASE
    projected = psd_cone(noisy)
    return (projected + projected.T) / 2


def draw_noise(dimension: int, rng: np.random.Generator) -> Matrix:
    """The noise that `release` takes."""
    return wigner.sample_wigner(dimension, rng)


def sample(
    x: DataSet,
    rng: np.random.Generator,
    *,
    rho: float,
    calibration: Calibration = "paper",
    kappa: float = 10.0,
    beta: float = 0.1,
) -> Matrix:
    """Draw the noise from `rng`, then `release`. Not for production: float64 noise."""
    noise = draw_noise(as_rows(x).shape[1], rng)
    return release(x, noise, rho=rho, calibration=calibration, kappa=kappa, beta=beta)


def spend(*, rho: float, dimension: int, calibration: Calibration = "paper") -> Spend:
    """Claimed ρ; proven ρ/2 with "paper" and ρ with "tight", half of that in one dimension."""
    require_positive("rho", rho)
    require_choice("calibration", calibration, CALIBRATIONS)
    change = largest_change(require_dimension("dimension", dimension))
    proven = privacy_loss(change, 1, 1, noise_variance(1, rho, 1, calibration))
    return Spend(ZCDP(rho), ZCDP(proven), True, "by M', for orthogonal rows of length r; by the projection as n → ∞")


ABOUT = About(
    name="naive-pce",
    title="naive private covariance estimation",
    paper="KLSU19",
    algorithm="Algorithm 1",
    notion="zcdp",
    released="matrix",
    symmetric=True,
    release=release,
    sample=sample,
    spend=spend,
    choices={"calibration": CALIBRATIONS},
    parameters={"kappa": 10.0, "beta": 0.1},
    domain="space",
)
