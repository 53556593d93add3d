"""Private preconditioning: make any Gaussian nearly round, in rounds. KLSU19 Algorithm 3 (PPC).

1. T = max(0, ⌈ln(κ/1000)/ln(1/0.69)⌉). A = I.
2. For t = 1..T: κ_t = 0.69^{t−1} κ; A ← WeakPPC(A x_1, …, A x_n; ρ/T, β/T, κ_t) · A.
3. Release A.

Reconstructed: the text at hand has neither the pseudocode nor the formulas; T and 0.69 are ours, and follow from
`weak_ppc`. T is a function of κ, which is public.

Every round uses all records, so the budgets add up: ρ/T, T times, and each round spends what NaivePCE spends of it.

Induction. If I ⪯ AΣAᵀ ⪯ κ_t I before round t ≤ T, where κ_t > 1000, then by the lemma of `weak_ppc`, applied to the
covariance AΣAᵀ of the rows A x_i, after it I ⪯ AΣAᵀ ⪯ 0.69 κ_t I. So in the end I ⪯ AΣAᵀ ⪯ 1000 I (Theorem 3.11).

The lemma rests on three events. One is the same in every round, because (1 − s)Σ ⪯ Σ̂ ⪯ (1 + s)Σ survives x ↦ Ax; so is
the second, because ‖Ax‖² ≤ κ_t‖Σ^{-1/2}x‖² bounds the rows of every round by those of a standard Gaussian, although A
depends on them; the third, that the noise is small, is new in every round. Together they fail with probability at most
3β if n ≥ `sufficient_rows`.

A is a product of symmetric matrices, not symmetric: new rows are A x, and the covariance becomes AΣAᵀ. The theorem
speaks of a symmetric A. (AᵀA)^{1/2} is one, for the same budget: it is QA with Q orthogonal, so (QA)Σ(QA)ᵀ has the
eigenvalues of AΣAᵀ. A is invertible, with inverse the product of the inverses, whatever the data are.
"""

import math
from collections.abc import Callable

import numpy as np

from covassay.reference.domain import (
    DataSet,
    Matrix,
    Number,
    Rows,
    as_rows,
    map_rows,
    require_below_one,
    require_choice,
    require_positive,
    require_symmetric,
)
from covassay.reference.laws import wigner
from covassay.reference.mechanisms.gaussian_estimation import naive_pce, weak_ppc
from covassay.reference.mechanisms.gaussian_estimation.naive_pce import require_kappa
from covassay.reference.mechanisms.gaussian_estimation.weak_ppc import PROGRESS, SMALLEST_KAPPA
from covassay.reference.mechanisms.legacy import CALIBRATIONS, About, Calibration
from covassay.reference.privacy import ZCDP, Spend

# FORMULAS


def rounds_needed(kappa: Number, log: Callable[[Number], Number] = math.log) -> Number:
    """The real number of rounds from κ down to 1000: ln(κ/1000)/ln(1/0.69)."""
    return log(kappa / SMALLEST_KAPPA) / log(1 / PROGRESS)


def kappa_of_round(kappa: Number, t: int) -> Number:
    """κ_t = 0.69^{t−1} κ, t = 1, 2, …"""
    return PROGRESS ** (t - 1) * kappa


# MECHANISM


def rounds(kappa: float) -> int:
    """T."""
    needed: int = math.ceil(rounds_needed(kappa))
    return max(0, needed)


def sufficient_rows(*, rho: float, dimension: int, kappa: float, beta: float, calibration: Calibration) -> int:
    """The n from which on Theorem 3.11 holds with probability 1 − 3β, as proven above."""
    t = max(1, rounds(kappa))
    return weak_ppc.sufficient_rows(rho=rho, dimension=dimension, calibration=calibration, beta=beta, rounds=t)


def image(a: Matrix, rows: Rows) -> Rows:
    """The data set of A x_i. A row whose image is beyond the largest float counts as zero; it would be dropped."""

    def apply(block: Matrix) -> Matrix:
        with np.errstate(over="ignore", invalid="ignore"):
            mapped = block @ a.T
        return np.where(np.isfinite(mapped).all(axis=1, keepdims=True), mapped, 0.0)

    return map_rows(apply, rows)


def precondition(
    rows: Rows, noise: Matrix, *, rho: float, calibration: Calibration, kappa: float, beta: float
) -> tuple[Matrix, Matrix]:
    """A and A⁻¹: the T rounds, given their noise (T, d, d)."""
    t, d = rounds(kappa), rows.shape[1]
    a, inverse = np.eye(d), np.eye(d)
    for i, noise_of_round in enumerate(require_symmetric("noise", noise, (t, d, d))):
        kappa_t = kappa_of_round(kappa, i + 1)
        estimate = naive_pce.release(
            image(a, rows), noise_of_round, rho=rho / t, calibration=calibration, kappa=kappa_t, beta=beta / t
        )
        step, back = weak_ppc.preconditioner(estimate, kappa_t)
        a, inverse = step @ a, inverse @ back
    return a, inverse


def release(
    x: DataSet,
    noise: Matrix,
    *,
    rho: float,
    calibration: Calibration = "paper",
    kappa: float = 1e4,
    beta: float = 0.1,
) -> Matrix:
    """Release a matrix A with I ⪯ AΣAᵀ ⪯ 1000 I, given the noise.

    Parameters
    ----------
    x : (n, d), n, d ≥ 1. Records in rows, any real numbers.
    noise : (T, d, d), every one symmetric, "wigner", T = `rounds`(κ).
    rho : ρ > 0.
    calibration : "paper" or "tight", of NaivePCE.
    kappa : κ ≥ 1, public: Σ ⪯ κI. For utility only. With κ ≤ 1000, A = I.
    beta : in (0, 1), public. For utility only.

    Returns
    -------
    (d, d), in the unit of 1/x. Not symmetric; invertible.

    Raises
    ------
    InvalidInput : an argument breaks its rule. That the entries of x are finite is read off the data: a precondition,
        not part of the mechanism.

    Privacy : ρ-zCDP for replacing one row, n public, in real arithmetic (proven: ρ/2 with "paper").
    Source : KLSU19 Algorithm 3, Theorem 3.11; reconstructed. The constants are ours.
    """
    # VALIDATE
    require_positive("rho", rho)
    require_choice("calibration", calibration, CALIBRATIONS)
    require_kappa(kappa)
    require_below_one("beta", beta)
    rows = as_rows(x)

    # QUERY
    # NOISE
    a, _ = precondition(rows, noise, rho=rho, calibration=calibration, kappa=kappa, beta=beta)

    # RELEASE
    return a


def draw_noise(dimension: int, rng: np.random.Generator, kappa: float) -> Matrix:
    """The noise that `release` takes."""
    require_kappa(kappa)
    return wigner.sample_wigner(dimension, rng, rounds(kappa))


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
    noise = draw_noise(as_rows(x).shape[1], rng, kappa)
    return release(x, noise, rho=rho, calibration=calibration, kappa=kappa, beta=beta)


def spend(*, rho: float, dimension: int, calibration: Calibration = "paper") -> Spend:
    """T times what NaivePCE spends of ρ/T, by composition."""
    proven = naive_pce.spend(rho=rho, dimension=dimension, calibration=calibration).proven
    return Spend(ZCDP(rho), proven, False, "by composition of the rounds")


ABOUT = About(
    name="ppc",
    title="private preconditioning",
    paper="KLSU19",
    algorithm="Algorithm 3",
    notion="zcdp",
    released="matrix",
    symmetric=False,
    release=release,
    sample=sample,
    spend=spend,
    choices={"calibration": CALIBRATIONS},
    parameters={"kappa": 1e4, "beta": 0.1},
    degree=-1,
    domain="space",
    repeats=True,
)
