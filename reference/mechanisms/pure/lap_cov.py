"""LapCov: symmetric Laplace noise on the second moment. DLY22 Section 6.

1. Σ = (1/n) Σ_i x_i x_iᵀ.
2. Draw W symmetric, with independent Laplace(1) entries on and above the diagonal ("symmetric Laplace Wigner").
3. Release Σ + bW. The output is not always positive semidefinite.

Why it is private. The noise is that of `entrywise_laplace` with `entries="triangle"`: the privacy loss is at most
Σ_{i≤j} |Δ_ij|/(nb), with equality at Y = Σ. The supremum of the sum is s = ½√((d + 2)² + 4⌊d²/4⌋), and 1 for d = 1.

paper : b = √2 d/(nε). Lemma 11 bounds the ℓ1 norm of all d² entries, but only d(d + 1)/2 of them get noise of their
    own. Claims ε; spends ε s/(√2 d), which is 0.791 ε, 0.637 ε, 0.566 ε for d = 2, 4, 8, and tends to ε/2.
tight : b = s/(nε). Spends exactly ε, with half of the paper's noise for large d. Ours, and so is the sensitivity s.

Accuracy. ‖bW‖_F ≤ b ω with probability 1 − β (`error_bound`, with constants that are not proven here). The paper's
experiments then bring the eigenvalues into [0, 1] (`projections.spectral_interval`), which is post-processing.

Proof: proofs/paper/lap-cov.md
"""

from collections.abc import Callable

import numpy as np

from covassay.reference import tails
from covassay.reference.domain import DataSet, Matrix, Number, require_symmetric, second_moment, sized_unit_rows
from covassay.reference.laws import wigner
from covassay.reference.mechanisms.mechanism import About, Mechanism
from covassay.reference.mechanisms.output import SYMMETRIC_SECOND_MOMENT
from covassay.reference.mechanisms.parameters import Calibration, Dimension, Epsilon, LargeRows, RowBound, checked
from covassay.reference.mechanisms.pure.entrywise_laplace import privacy_loss
from covassay.reference.privacy import PURE, PureDP, Spend
from covassay.reference.sensitivity import square_root, triangle_l1

# FORMULAS, with `privacy_loss`, `mean_squared_error` and `largest_entry` of `entrywise_laplace`


def noise_scale(
    n: Number, d: int, epsilon: Number, calibration: str, sqrt: Callable[[Number], Number] = square_root
) -> Number:
    """b: √2 d/(nε) in the paper, in dimension 1 too; s/(nε) tight."""
    return (sqrt(2) * d if calibration == "paper" else triangle_l1(d, sqrt)) / (n * epsilon)


def error_bound(d: Number, scale: Number, beta: Number, log: tails.Log = np.log) -> Number:
    """Bound b ω on ‖Σ̂ − Σ‖_F, with probability 1 − β (DLY22 Lemma 17, with the constants of the authors' code)."""
    return scale * tails.omega_laplace(d, beta, log)


# MECHANISM


@checked
def release(
    x: DataSet,
    noise: Matrix,
    *,
    epsilon: Epsilon,
    calibration: Calibration = "paper",
    row_bound: RowBound = 1.0,
    on_large_rows: LargeRows = "clip",
) -> Matrix:
    """Release the noisy second moment, given the noise: a (d, d) symmetric draw of W."""
    # VALIDATE
    rows, n, d = sized_unit_rows(x, row_bound, on_large_rows)
    z = require_symmetric("noise", noise, (d, d))

    # QUERY
    moment = second_moment(rows)

    # NOISE
    noisy: Matrix = moment + noise_scale(n, d, epsilon, calibration) * z

    # RELEASE
    return noisy * row_bound**2


def draw_noise(dimension: int, rng: np.random.Generator, size: int | None = None) -> Matrix:
    """The noise that `release` takes: (d, d), or (size, d, d), symmetric."""
    return wigner.sample_laplace(dimension, rng, size)


@checked
def spend(*, epsilon: Epsilon, dimension: Dimension, calibration: Calibration = "paper") -> Spend:
    """The claimed ε; proven is s/(nb), attained."""
    proven = privacy_loss(triangle_l1(dimension), 1, noise_scale(1, dimension, epsilon, calibration))
    return Spend(PureDP(epsilon), PureDP(proven), True, "at Y = Σ")


ABOUT = About("lap-cov", "LapCov", "DLY22", "Section 6", "code")
MECHANISM = Mechanism(ABOUT, PURE, SYMMETRIC_SECOND_MOMENT, release, draw_noise, spend)
sample = MECHANISM.sample
