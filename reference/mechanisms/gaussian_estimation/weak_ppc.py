"""One round of private preconditioning: shrink the directions of large variance. KLSU19 Algorithm 2 (WeakPPC).

1. Z = NaivePCE of the data at ρ, β, κ.
2. V = span of the eigenvectors of Z with eigenvalue at least κ/2, Π its projection.
3. Release A = (Π/2 + (I − Π))/√c, c = 0.84.

Reconstructed: the text at hand has neither the pseudocode nor the formulas. That the large directions are multiplied by
1/2 and that AΣA ⪯ 0.7 κI are recalled, not checked; c, the constants below and the proof are ours.

Steps 2 and 3 are post-processing: the budget is NaivePCE's. A is symmetric, with eigenvalues 1/√c and 1/(2√c), so it is
invertible whatever Z is.

Lemma. Let I ⪯ Σ ⪯ κI, κ ≥ 1000, (1 − s)Σ ⪯ Σ̂ ⪯ (1 + s)Σ, and let Z be the projection of Σ̂ + N on the positive
semidefinite cone, ‖N‖ ≤ νκ, with s = ν = 1/20. Then I ⪯ AΣA ⪯ 0.69 κI.

Proof. The projection changes eigenvalues below 0 only, so V is the same space for M = Σ̂ + N. Write B = Π/2 + (I − Π).
Upper. M commutes with Π, and ‖B‖ ≤ 1. On V, BMB = M/4 ⪯ (1 + s + ν)κ/4 ⪯ κ/2; on its complement BMB = M ⪯ κ/2. So
    BΣ̂B = BMB − BNB ⪯ (1/2 + ν)κI and BΣB ⪯ (1/2 + ν)/(1 − s) κI = 0.5790 κI. Divided by c: 0.6892 κ.
Lower. Let v be a unit vector, v = p e + q f with unit e ∈ V, f ⊥ V, p, q ≥ 0, p² + q² = 1.
    p ≤ 9/20: vᵀBΣBv ≥ ‖Bv‖² = 1 − 3p²/4 ≥ 0.848 > c, because Σ ⪰ I.
    p ≥ 9/20: eᵀΣ̂e ≥ κ/2 − νκ, and eᵀΣ̂f = −eᵀNf because eᵀMf = 0. With fᵀΣ̂f ≥ 0,
    vᵀBΣ̂Bv ≥ (p²/4)(1/2 − ν)κ − p q νκ = κ p ((1/2 − ν)p/4 − νq). The bracket grows with p, and at p = 9/20, q < 9/10
    it is above 0.0056; so vᵀBΣBv ≥ 0.0025 κ/(1 + s) > 2.3 > c. ∎

How many rows that takes. Each of three events fails with probability at most β.
(1) The hypothesis on Σ̂: n ≥ `regularity_rows`, by the extreme singular values of a Gaussian matrix (Davidson–Szarek).
(2) No row is dropped: by the choice of r².
(3) ‖N‖ ≤ νκ: n ≥ `noise_rows`, by σ υ*(d, β) ≤ νκ. Both are free of κ.
"""

import math
from collections.abc import Callable

import numpy as np

from covassay.reference.domain import (
    DataSet,
    Matrix,
    Number,
    as_rows,
    require_below_one,
    require_choice,
    require_dimension,
    require_positive,
)
from covassay.reference.mechanisms.gaussian_estimation import naive_pce
from covassay.reference.mechanisms.gaussian_estimation.naive_pce import noise_variance, radius_squared, require_kappa
from covassay.reference.mechanisms.legacy import CALIBRATIONS, About, Calibration
from covassay.reference.privacy import ZCDP, Spend
from covassay.reference.tails import upsilon_star

FLOOR = 0.84  # c
PROGRESS = 0.69  # the factor by which κ goes down
SAMPLING_ERROR = 0.05  # s
NOISE_SHARE = 0.05  # ν
SMALLEST_KAPPA = 1000  # the lemma holds from here on

# FORMULAS


def upper_bound(s: Number, nu: Number) -> Number:
    """BΣB ⪯ this times κ: (1/2 + ν)/(1 − s), for 1 + s + ν ≤ 2."""
    return (nu + nu + 1) / (2 * (1 - s))


def lower_bound_mixed(p: Number, q: Number, kappa: Number, s: Number, nu: Number) -> Number:
    """vᵀBΣBv is at least this, by the noise: κ p ((1/2 − ν)p/4 − νq)/(1 + s)."""
    return kappa * p * ((1 - 2 * nu) * p / 8 - nu * q) / (1 + s)


def lower_bound_small(p: Number) -> Number:
    """vᵀBΣBv is at least this, by Σ ⪰ I: 1 − 3p²/4."""
    return 1 - 3 * p**2 / 4


def regularity_rows(
    d: Number, beta: Number, s: Number = SAMPLING_ERROR, log: Callable[[Number], Number] = math.log
) -> Number:
    """n for (1 − s)Σ ⪯ Σ̂ ⪯ (1 + s)Σ but with probability β: (√d + √(2 ln(2/β)))² / (√(1 + s) − 1)²."""
    return ((d**0.5 + (2 * log(2 / beta)) ** 0.5) / ((1 + s) ** 0.5 - 1)) ** 2


def noise_rows(
    n: Number,
    d: Number,
    rho: Number,
    beta: Number,
    calibration: str,
    nu: Number = NOISE_SHARE,
    log: Callable[[Number], Number] = math.log,
) -> Number:
    """n is enough for ‖N‖ ≤ νκ but with probability β if it is at least this, which grows with ln n."""
    r2 = radius_squared(n, d, 1, beta, log)
    return noise_variance(1, rho, r2, calibration) ** 0.5 * upsilon_star(d, beta, log) / nu


# MECHANISM


def sufficient_rows(*, rho: float, dimension: int, calibration: Calibration, beta: float, rounds: int = 1) -> int:
    """The smallest n of the lemma, for T rounds at ρ/T and β/T each, on the same data.

    The hypothesis on Σ̂ is the same in every round: it survives x ↦ Ax. Starting from n = 1, n ↦ `noise_rows`(n) grows
    to its smallest fixed point.
    """
    d, beta_each = require_dimension("dimension", dimension), beta / rounds
    regular = math.ceil(regularity_rows(d, beta))
    n, needed = 0, 1
    while needed > n:
        n = needed
        needed = max(regular, math.ceil(noise_rows(n, d, rho / rounds, beta_each, calibration)))
    return n


def preconditioner(z: Matrix, kappa: float) -> tuple[Matrix, Matrix]:
    """A and A⁻¹ from the eigenvectors of Z. No matrix is inverted, so nothing can fail."""
    values, vectors = np.linalg.eigh(z)
    scale = np.where(values >= kappa / 2, 0.5, 1.0) / math.sqrt(FLOOR)
    a, inverse = (vectors * scale) @ vectors.T, (vectors / scale) @ vectors.T
    return (a + a.T) / 2, (inverse + inverse.T) / 2


def release(
    x: DataSet,
    noise: Matrix,
    *,
    rho: float,
    calibration: Calibration = "paper",
    kappa: float = 1e4,
    beta: float = 0.1,
) -> Matrix:
    """Release a matrix A with I ⪯ AΣA ⪯ 0.69 κI, given the noise.

    Parameters
    ----------
    x : (n, d), n, d ≥ 1. Records in rows, any real numbers.
    noise : (d, d) symmetric, "wigner".
    rho : ρ > 0.
    calibration : "paper" or "tight", of NaivePCE.
    kappa : κ ≥ 1, public: Σ ⪯ κI. For utility only; the lemma takes κ ≥ 1000.
    beta : in (0, 1), public. For utility only.

    Returns
    -------
    (d, d) symmetric, in the unit of 1/x; eigenvalues 1/√0.84 and 1/(2√0.84).

    Raises
    ------
    InvalidInput : an argument breaks its rule. That the entries of x are finite is read off the data: a precondition,
        not part of the mechanism.

    Privacy : ρ-zCDP for replacing one row, n public, in real arithmetic (proven: ρ/2 with "paper").
    Source : KLSU19 Algorithm 2, Theorem 3.8; reconstructed. The constants are ours.
    """
    # VALIDATE
    require_positive("rho", rho)
    require_choice("calibration", calibration, CALIBRATIONS)
    require_kappa(kappa)
    require_below_one("beta", beta)
    rows = as_rows(x)

    # QUERY
    # NOISE
    z = naive_pce.release(rows, noise, rho=rho, calibration=calibration, kappa=kappa, beta=beta)

    # RELEASE
    a, _ = preconditioner(z, kappa)
    return a


def sample(
    x: DataSet,
    rng: np.random.Generator,
    *,
    rho: float,
    calibration: Calibration = "paper",
    kappa: float = 1e4,
    beta: float = 0.1,
) -> Matrix:
    """Draw the noise from `rng`, then `release`. Not for production: float64 noise."""
    noise = naive_pce.draw_noise(as_rows(x).shape[1], rng)
    return release(x, noise, rho=rho, calibration=calibration, kappa=kappa, beta=beta)


def spend(*, rho: float, dimension: int, calibration: Calibration = "paper") -> Spend:
    """What NaivePCE spends; A is post-processing of its output."""
    proven = naive_pce.spend(rho=rho, dimension=dimension, calibration=calibration).proven
    return Spend(ZCDP(rho), proven, False, "by NaivePCE, of which A shows the space V only")


ABOUT = About(
    name="weak-ppc",
    title="one round of private preconditioning",
    paper="KLSU19",
    algorithm="Algorithm 2",
    notion="zcdp",
    released="matrix",
    symmetric=True,
    release=release,
    sample=sample,
    spend=spend,
    choices={"calibration": CALIBRATIONS},
    parameters={"kappa": 1e4, "beta": 0.1},
    degree=-1,
    domain="space",
    repeats=True,
)
