"""One round of private preconditioning: shrink the directions of large variance. KLSU19 Algorithm 2 (WeakPPC).

1. Z = M + σW with negative eigenvalues set to 0, a noisy covariance (`naive_pce`). M = (1/n) Σ x_i x_iᵀ over the rows
   with ‖x_i‖² ≤ r² = κ(d + 2√(dL) + 2L), L = ln(n/β); W is symmetric, N(0, 1) on and above the diagonal.
2. V = the span of the eigenvectors of Z with eigenvalue at least κ/2, and Π the projection on V.
   A = (Π/2 + (I − Π))/√c, c = 0.84. The factor of A on directions in V is half of that on directions orthogonal to V.
3. Release A. A is symmetric, with no eigenvalues but 1/√c and 1/(2√c), so it is invertible whatever Z is.

Reconstructed: the copy of the paper that we had has neither the pseudocode nor the formulas. From memory, and
not checked: the paper multiplies directions of large variance by 1/2, and has AΣA ⪯ 0.7 κI. We added c, the other
constants and the proof.

Why ρ-zCDP. Replacing one row moves M by at most Δ = √2 r²/n in Frobenius norm (r²/n for d = 1), so Z costs at most
Δ²/(2σ²). Steps 2 and 3 read Z alone: they are post-processing.

reconstructed : σ² = 2r⁴/(n²ρ), from the triangle inequality, Δ ≤ 2r²/n. A spends at most ρ/2, and ρ/4 for d = 1.
tight : σ² = r⁴/(n²ρ). Releasing A spends at most ρ, and ρ/2 for d = 1.

Accuracy. Lemma: let I ⪯ Σ ⪯ κI and κ ≥ 1000. Let Σ̂ = M have (1 − s)Σ ⪯ Σ̂ ⪯ (1 + s)Σ with s = 1/20, and let the noise
N = σW have ‖N‖ ≤ νκ with ν = 1/20. Then I ⪯ AΣA ⪯ 0.69 κI. For n ≥ `sufficient_rows` Gaussian rows, the premises hold
except with probability 3β.

Proof: proofs/paper/weak-ppc.md
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from covassay.reference.domain import DataSet, Matrix, Number, as_rows, require_dimension, shape_of
from covassay.reference.mechanisms.gaussian_estimation import naive_pce
from covassay.reference.mechanisms.gaussian_estimation.naive_pce import Kappa, noise_variance, radius_squared
from covassay.reference.mechanisms.mechanism import About, Mechanism
from covassay.reference.mechanisms.output import MatrixOutput
from covassay.reference.mechanisms.parameters import Beta, Dimension, ReconstructedCalibration, Rho, checked, strict
from covassay.reference.privacy import CONCENTRATED, ZCDP, Spend
from covassay.reference.tails import upsilon_star

FLOOR = 0.84  # the constant c
PROGRESS = 0.69  # the factor by which a round multiplies κ
SAMPLING_ERROR = 0.05  # s
NOISE_SHARE = 0.05  # ν
SMALLEST_KAPPA = 1000  # the least κ for which the lemma holds

# FORMULAS


def upper_bound(s: Number, nu: Number) -> Number:
    """The factor u = (1/2 + ν)/(1 − s) in the bound BΣB ⪯ uκI, where B = √c A. The bound needs 1 + s + ν ≤ 2."""
    return (nu + nu + 1) / (2 * (1 - s))


def lower_bound_mixed(p: Number, q: Number, kappa: Number, s: Number, nu: Number) -> Number:
    """A lower bound on vᵀBΣBv, from the bound on the noise: κ p ((1/2 − ν)p/4 − νq)/(1 + s).

    The unit vector v has a component of length p in V, and a component of length q orthogonal to V.
    """
    return kappa * p * ((1 - 2 * nu) * p / 8 - nu * q) / (1 + s)


def lower_bound_small(p: Number) -> Number:
    """The lower bound 1 − 3p²/4 on vᵀBΣBv, from Σ ⪰ I, for a unit vector v with a component of length p in V."""
    return 1 - 3 * p**2 / 4


def regularity_rows(
    d: Number, beta: Number, s: Number = SAMPLING_ERROR, log: Callable[[Number], Number] = math.log
) -> Number:
    """How many rows give (1 − s)Σ ⪯ Σ̂ ⪯ (1 + s)Σ except with probability β: (√d + √(2 ln(2/β)))² / (√(1 + s) − 1)²."""
    return ((d**0.5 + (2 * log(2 / beta)) ** 0.5) / ((1 + s) ** 0.5 - 1)) ** 2


@strict(calibration=ReconstructedCalibration)
def noise_rows(
    n: Number,
    d: Number,
    rho: Number,
    beta: Number,
    calibration: str,
    nu: Number = NOISE_SHARE,
    log: Callable[[Number], Number] = math.log,
) -> Number:
    """A lower bound on n, which itself grows with ln n.

    If n is at least this bound, then ‖N‖ ≤ νκ except with probability β.
    """
    r2 = radius_squared(n, d, 1, beta, log)
    return noise_variance(1, rho, r2, calibration) ** 0.5 * upsilon_star(d, beta, log) / nu


# MECHANISM


@checked
def sufficient_rows(
    *, rho: float, dimension: int, calibration: ReconstructedCalibration, beta: float, rounds: int = 1
) -> int:
    """The smallest n that is at least `regularity_rows` and `noise_rows`, for T rounds at ρ/T and β/T each.

    With probability 1 − 3β the premises of the lemma then hold, on the same data in all rounds.

    The premise on Σ̂ is the same in every round, since x ↦ Ax preserves it. The bound `noise_rows` depends on n itself.
    The function therefore starts from n = 1, and repeatedly replaces n by the bound at n, until the bound is at most n.
    """
    d, beta_each = require_dimension("dimension", dimension), beta / rounds
    regular = math.ceil(regularity_rows(d, beta))
    n, needed = 0, 1
    while needed > n:
        n = needed
        needed = max(regular, math.ceil(noise_rows(n, d, rho / rounds, beta_each, calibration)))
    return n


def preconditioner(z: Matrix, kappa: float) -> tuple[Matrix, Matrix]:
    """Return A and A⁻¹ from the eigenvectors of Z, (..., d, d) each. No matrix is inverted numerically."""
    values, vectors = np.linalg.eigh(z)
    scale = (np.where(values >= kappa / 2, 0.5, 1.0) / math.sqrt(FLOOR))[..., None, :]
    back = np.swapaxes(vectors, -1, -2)
    a, inverse = (vectors * scale) @ back, (vectors / scale) @ back
    return (a + np.swapaxes(a, -1, -2)) / 2, (inverse + np.swapaxes(inverse, -1, -2)) / 2


@checked
def release(
    x: DataSet,
    noise: Matrix,
    *,
    rho: Rho,
    calibration: ReconstructedCalibration = "reconstructed",
    kappa: Kappa = 1e4,
    beta: Beta = 0.1,
) -> Matrix:
    """Release the preconditioner A, given the noise of NaivePCE: a symmetric (d, d) matrix."""
    # VALIDATE
    rows = as_rows(x)

    # 1. QUERY and NOISE: Z, by NaivePCE
    z = naive_pce.release(rows, noise, rho=rho, calibration=calibration, kappa=kappa, beta=beta)

    # 2. A
    a, _ = preconditioner(z, kappa)

    # 3. RELEASE
    return a


draw_noise = naive_pce.draw_noise


@checked
def sample(
    x: DataSet,
    rng: np.random.Generator,
    *,
    rho: Rho,
    calibration: ReconstructedCalibration = "reconstructed",
    kappa: Kappa = 1e4,
    beta: Beta = 0.1,
) -> Matrix:
    """Draw the noise from `rng`, then call `release`. The function is not for production, because its noise is float64.

    Parameters
    ----------
    x : shape (n, d), n ≥ 1 records, d ≥ 1 features; rows of any real numbers.
    rng : the source of all randomness.
    rho : ρ in [1e-30, 1e30], the budget.
    calibration : value "reconstructed" has the constants of our reconstruction; "tight" has sharper ones, also ours.
    kappa : κ in [1, 1e30], public: I ⪯ Σ ⪯ κI, for accuracy only.
    beta : β in [1e-300, 1), public: the probability that the error bound may fail.

    Returns
    -------
    (d, d), symmetric, in 1/(unit of x).

    Raises
    ------
    InvalidInput : an argument breaks its rule. An error about an entry that is not finite depends on the data, and is
        not private.

    Privacy : the output is ρ-zCDP (replace-one) for public n, in real arithmetic; `spend` returns the proven budget.
    """
    _, d = shape_of(x)
    noise = draw_noise(d, rng)
    return release(x, noise, rho=rho, calibration=calibration, kappa=kappa, beta=beta)


@checked
def spend(*, rho: Rho, dimension: Dimension, calibration: ReconstructedCalibration = "reconstructed") -> Spend:
    """The claimed and the proven budget of NaivePCE, because A is post-processing of its output."""
    proven = naive_pce.spend(rho=rho, dimension=dimension, calibration=calibration).proven
    return Spend(
        ZCDP(rho), proven, False, "the budget of NaivePCE is an upper bound, because A is computed from its output"
    )


ABOUT = About("weak-ppc", "one round of private preconditioning", "KLSU19", "Algorithm 2", "reconstructed")
MECHANISM = Mechanism(
    ABOUT,
    CONCENTRATED,
    MatrixOutput(power=-1, symmetric=True),
    release,
    draw_noise,
    sample,
    spend,
    domain="space",
    repeats=True,
)
