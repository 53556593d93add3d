"""Private covariance of a Gaussian: precondition, then the naive estimator. KLSU19 Algorithm 4 (PGCE).

1. A = PPC(x_1, …, x_n; ρ/2, β/2, κ).
2. S = NaivePCE(A x_1, …, A x_n; ρ/2, β/2, 1000).
3. Release A⁻¹ S A⁻ᵀ.

Reconstructed: the text at hand has neither the pseudocode nor the formulas; the halves are ours.

Step 1 costs ρ/2, step 2, which may depend on A, costs ρ/2, step 3 nothing: each spends what NaivePCE spends of it. A⁻¹
is the product of the inverses of the rounds, which are known in closed form, so nothing can fail.

Why it works. Theorem 3.11 gives AΣAᵀ ⪯ 1000 I, for which NaivePCE has noise of the order of 1000, not κ. The error is
the same seen from x or from Ax: ‖Σ^{-1/2}(A⁻¹SA⁻ᵀ − Σ)Σ^{-1/2}‖_F = ‖R^{-1/2}(S − R)R^{-1/2}‖_F with R = AΣAᵀ, because
R^{-1/2}AΣ^{1/2} is orthogonal.
"""

from dataclasses import dataclass

import numpy as np

from covassay.reference.domain import (
    DataSet,
    Matrix,
    Number,
    Rows,
    as_rows,
    require_below_one,
    require_choice,
    require_positive,
)
from covassay.reference.mechanisms.gaussian_estimation import naive_pce, ppc
from covassay.reference.mechanisms.gaussian_estimation.naive_pce import require_kappa
from covassay.reference.mechanisms.gaussian_estimation.weak_ppc import SMALLEST_KAPPA
from covassay.reference.mechanisms.legacy import CALIBRATIONS, About, Calibration
from covassay.reference.privacy import ZCDP, Spend

# FORMULAS


def half(budget: Number) -> Number:
    """The share of ρ, and of β, of each of the two steps."""
    return budget / 2


# MECHANISM


@dataclass(frozen=True)
class PGCENoise:
    """`rounds` (T, d, d): of PPC; `estimate` (d, d): of NaivePCE. Symmetric, "wigner"."""

    rounds: Matrix
    estimate: Matrix


def release(
    x: DataSet,
    noise: PGCENoise,
    *,
    rho: float,
    calibration: Calibration = "paper",
    kappa: float = 1e4,
    beta: float = 0.1,
) -> Matrix:
    """Release the covariance, estimated where it is nearly round, given the noise.

    Parameters
    ----------
    x : (n, d), n, d ≥ 1. Records in rows, any real numbers.
    noise : see `PGCENoise`.
    rho : ρ > 0.
    calibration : "paper" or "tight", of NaivePCE.
    kappa : κ ≥ 1, public: I ⪯ Σ ⪯ κI. For utility only.
    beta : in (0, 1), public. For utility only.

    Returns
    -------
    (d, d) symmetric, positive semidefinite up to rounding.

    Raises
    ------
    InvalidInput : an argument breaks its rule. That the entries of x are finite is read off the data: a precondition,
        not part of the mechanism.

    Privacy : ρ-zCDP for replacing one row, n public, in real arithmetic (proven: ρ/2 with "paper").
    Source : KLSU19 Algorithm 4, Theorem 3.12; reconstructed.
    """
    # VALIDATE
    require_positive("rho", rho)
    require_choice("calibration", calibration, CALIBRATIONS)
    require_kappa(kappa)
    require_below_one("beta", beta)
    rows: Rows = as_rows(x)

    # QUERY
    # NOISE
    a, inverse = ppc.precondition(
        rows, noise.rounds, rho=half(rho), calibration=calibration, kappa=kappa, beta=half(beta)
    )
    estimate = naive_pce.release(
        ppc.image(a, rows),
        noise.estimate,
        rho=half(rho),
        calibration=calibration,
        kappa=SMALLEST_KAPPA,
        beta=half(beta),
    )

    # RELEASE
    covariance = inverse @ estimate @ inverse.T
    return (covariance + covariance.T) / 2


def draw_noise(dimension: int, rng: np.random.Generator, kappa: float) -> PGCENoise:
    """The noise that `release` takes."""
    return PGCENoise(ppc.draw_noise(dimension, rng, kappa), naive_pce.draw_noise(dimension, rng))


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
    """What PPC spends of ρ/2 and NaivePCE of ρ/2, by composition."""
    require_positive("rho", rho)
    parts = [
        step(rho=half(rho), dimension=dimension, calibration=calibration).proven
        for step in (ppc.spend, naive_pce.spend)
    ]
    proven = sum(part.rho for part in parts if isinstance(part, ZCDP))
    return Spend(ZCDP(rho), ZCDP(proven), False, "by composition of PPC and NaivePCE")


ABOUT = About(
    name="pgce",
    title="private covariance of a Gaussian",
    paper="KLSU19",
    algorithm="Algorithm 4",
    notion="zcdp",
    released="matrix",
    symmetric=True,
    release=release,
    sample=sample,
    spend=spend,
    choices={"calibration": CALIBRATIONS},
    parameters={"kappa": 1e4, "beta": 0.1},
    domain="space",
)
