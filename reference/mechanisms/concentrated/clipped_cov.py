"""ClippedCov: clip the rows to a norm τ, release their second moment, accept the bias. DLY22 §5.1.

DLY22: Dong, Liang and Yi 2022, Differentially Private Covariance Revisited. Neighbours: one row x is replaced by y, n
public. Every row is divided by the row bound and clipped to the unit ball by itself. Σ(X) = (1/n) Σ_i x_i x_iᵀ.

X^τ has the rows x_i min(1, τ/‖x_i‖). Release τ² M(X^τ/τ): the noise of M shrinks by τ². M at ρ₁ is one of

gauss : Σ + σW, σ = 1/(n√ρ₁) (`gauss_cov`). W is symmetric with independent entries on and above the diagonal: N(0, 1)
    ("wigner"), or N(0, 1) on it and N(0, 1/2) above it ("goe", ours).
separate : eigenvectors of Σ + √2 σW, with the eigenvalues λ(Σ) + √2 σ N(0, I_d), both in descending order
    (`separate_cov`).

Clipping x to τ changes x xᵀ by (‖x‖² − τ²)₊ in Frobenius norm, so the bias is at most (Lemma 9)

    ‖Σ(X) − Σ(X^τ)‖_F ≤ γ(τ) = (1/n) Σ_i (‖x_i‖² − τ²)₊.

τ is public, or found privately: twice the first 2^{−k} at which the bias is noticeably larger than the noise.

1. Bins c_j = #{i : 2^{−j} < ‖x_i‖ ≤ 2^{1−j}}, j ≥ 1; rows of zeros are in no bin. B_k = (1/n) Σ_{j≤k} c_j (4^{1−j} −
   4^{−k}) lies between γ(2^{−k}) and 4 γ(2^{−k−1}).
2. With ν a public bound on the Frobenius error of M at ρ₁, valid on all data with probability 1 − β (`base_error`), the
   noise at 2^{−k} is N_k = 4^{−k} ν.
3. Q_k = n(B_k − N_k), k = 0, …, K = min(nd, 79). k* = the first k with Q_k + b₂ Laplace ≥ b₁ Laplace (AboveThreshold,
   one draw of Laplace(1) on the right, a fresh one for every k on the left), b₁ = 2/ε₀, b₂ = 4/ε₀, ε₀ = √(ρ/2), or
   K + 1 if there is none. τ = min(1, 2^{1−k*}), so τ is at least 2^{−K}.

What M spends. Clipping maps neighbours to neighbours, and X^τ/τ lies in the unit ball. There x, y move nΣ by
Δ = xxᵀ − yyᵀ, ‖Δ‖_F² = ‖x‖⁴ + ‖y‖⁴ − 2⟨x, y⟩² ≤ 2. gauss: D_α = (α/2) Σ_{i≤j} (Δ_ij/n)²/(σ² Var W_ij) ≤
(αρ₁/2) ‖Δ‖_F² ≤ αρ₁, equal for goe, no more for wigner. separate: ρ₁/2 for its matrix, which is gauss at ρ₁/2, and ρ₁/2
for the eigenvalues, which move by at most √2/n in ℓ₂ (Hoffman–Wielandt): (√2/n)²/(2 · 2σ²). In dimension 1, |Δ| ≤ 1 and
there is no direction: ρ₁/2 and ρ₁/4.

What the search spends. N_k is public. In nB_k a row of bin j counts φ_k = 4^{1−j} − 4^{−k} if j ≤ k and 0 otherwise: in
[0, 1), and falling with j, so the longer of two rows has the larger φ_k for every k. The queries move by less than 1,
all in one direction. Let P, P' be the laws of k* for Q and Q' ≥ Q. To raise the noise on the right by 1 (a factor
e^{ε₀/2}) and that of Q_k by at most 1 (e^{ε₀/4}) maps a stop at k for Q into one for Q': P ≤ e^{3ε₀/4} P'. Back, the
noise of Q_k alone is raised, by at most 1: P' ≤ e^{ε₀/4} P. So L = ln(P'/P) lies in [−3ε₀/4, ε₀/4], of length
1/b₁ + 2/b₂ = ε₀, and step 3 is ε₀²/8-zCDP (bounded range, Cesar–Rogers 2020): ρ/16. For ψ(α) = ln E_P e^{αL} has
ψ(0) = ψ(1) = 0 and ψ'' ≤ ε₀²/4, a variance on that interval, so D_α(P'‖P) = ψ(α)/(α − 1) ≤ αε₀²/8; likewise D_α(P‖P'),
with −L. Counted as an ε₀-DP step it would be ε₀²/2 = ρ/4. It is not the least bound: the moves grow with k, so it is
enough to raise the noise on the right by the move at k − 1, and [−ε₀/2, ε₀/4] gives 9ρ/256 (`adaptive_cov_pure`). Not
used. zCDP adds up, also if M depends on τ.

public threshold : ρ₁ = ρ. Spends ρ; ρ/2 (gauss) or ρ/4 (separate) in dimension 1.
private, paper : ρ₁ = 3ρ/4, as in the authors' code, which counts ρ/4 + 3ρ/4. Spends at most 13ρ/16. Claimed: ρ.
private, tight : ρ₁ = 15ρ/16. Proven: ρ. Ours.

The code has M = separate, with ν from a noisy trace that it is given, another K, and eigenvalues rounded to [0, τ²].
Here ν is the bound for tr Σ = 1, so that no trace is needed, and rounding is left to the caller. `adaptive_cov` is the
paper's own algorithm, with either M and a private trace.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from covassay.reference.domain import (
    DataSet,
    Matrix,
    Number,
    OnLargeRows,
    Rows,
    Vector,
    require_below_one,
    require_between,
    require_choice,
    require_dimension,
    require_positive,
    row_norms,
    sum_rows,
    unit_rows,
)
from covassay.reference.laws.wigner import ENSEMBLES, Ensemble
from covassay.reference.mechanisms.building_blocks import above_threshold
from covassay.reference.mechanisms.concentrated import gauss_cov, separate_cov
from covassay.reference.mechanisms.legacy import CALIBRATIONS, About, Calibration
from covassay.reference.privacy import ZCDP, Spend, zcdp_of_bounded_range

Base = Literal["separate", "gauss"]
BASES: tuple[Base, ...] = ("separate", "gauss")
Threshold = Literal["public", "private"]
THRESHOLDS: tuple[Threshold, ...] = ("public", "private")
CLIP_NORM = 0.5
BETA = 0.1
LAST_LEVEL = 79  # ⌊log₂ 10²⁴⌋: the authors' code (AdaptiveCov) stops at 1e-24

# FORMULAS


def bias_bound(counts: Sequence[Number], k: int, n: Number) -> Number:
    """B_k = (1/n) Σ_{j≤k} c_j (4^{1−j} − 4^{−k}); `counts` are c_1, c_2, …"""
    return sum(c * (4 ** (1 - j) - 4 ** (-k)) for j, c in enumerate(counts[:k], start=1)) / n


def noise_bound(k: int, nu: Number) -> Number:
    """N_k = 4^{−k} ν."""
    return 4 ** (-k) * nu


def clip_level(k: int) -> Number:
    """τ = min(1, 2^{1−k})."""
    return min(1, 2 ** (1 - k))


def search_epsilon(rho: Number) -> Number:
    """ε₀ = √(ρ/2) of AboveThreshold."""
    return (rho / 2) ** 0.5


def search_loss(epsilon: Number) -> Number:
    """The ρ of AboveThreshold at ε₀ on monotone queries: (1/b₁ + 2/b₂)²/8 = ε₀²/8."""
    b1, b2 = above_threshold.threshold_scale(epsilon), above_threshold.query_scale(epsilon, "paper")
    return zcdp_of_bounded_range(1 / b1 + 2 / b2)


def final_budget(rho: Number, threshold: str, calibration: str) -> Number:
    """ρ₁, for M."""
    if threshold == "public":
        return rho
    return 3 * rho / 4 if calibration == "paper" else 15 * rho / 16


def base_loss(rho: Number, d: int, base: str) -> Number:
    """What M spends at ρ₁ = `rho`: ρ₁; in dimension 1, ρ₁/2 for "gauss" and ρ₁/4 for "separate"."""
    return gauss_cov.privacy_loss(rho, d) if base == "gauss" else separate_cov.privacy_loss(rho, d)


def base_error(
    n: Number,
    d: Number,
    rho: Number,
    beta: Number,
    base: str,
    ensemble: str,
    log: Callable[[Number], Number] = math.log,
) -> Number:
    """ν: the Frobenius error of M at τ = 1 exceeds it with probability at most β, on all data in the unit ball.

    gauss : ω(d, β)/(√ρ₁ n). separate : 2^{5/4} √υ(d, β/2)/(ρ₁^{1/4} √n) + √2 η(d, β/2)/(√ρ₁ n), for tr Σ = 1 (DLY22
    Theorem 1, proven in `separate_cov`). With probability 1 − β, ‖W‖_F ≤ ω(d, β), ‖W‖ ≤ υ(d, β) in the spectral norm,
    ‖N(0, I_d)‖ ≤ η(d, β) (`tails`). `log` : the natural logarithm of the type of number that comes in.
    """
    if base == "gauss":
        return gauss_cov.error_bound(n, d, rho, beta, ensemble, log)
    return separate_cov.error_bound(n, d, rho, 1, beta, ensemble, log)


# MECHANISM


@dataclass(frozen=True)
class ClippedCovNoise:
    """`search`: of AboveThreshold, with `last_level(n, d)` + 1 queries; `base`: of M, which may not use all of it."""

    search: above_threshold.AboveThresholdNoise
    base: separate_cov.SeparateCovNoise


def last_level(n: int, d: int) -> int:
    """K: the levels 2^0, …, 2^{−K} are tried. Public."""
    return min(d * n, LAST_LEVEL)


def bin_counts(rows: Rows, last: int) -> Vector:
    """c_1, …, c_K for rows in the unit ball."""
    edges = 2.0 ** -np.arange(last + 1)  # 1, 1/2, …, 2^{−K}

    def longer(block: Matrix) -> Vector:
        norms = np.minimum(row_norms(block), 1.0)  # a clipped row can come out longer by rounding
        return np.array([(norms > edge).sum() for edge in edges], dtype=np.float64)

    counts: Vector = np.diff(sum_rows(longer, rows))
    return counts


def first_level(
    counts: Vector, noise_bounds: Sequence[float], n: int, noise: above_threshold.AboveThresholdNoise, epsilon: float
) -> int:
    """k* of step 3: 0, …, K, or K + 1 if no query is above."""
    queries = np.array([n * (bias_bound(list(counts), k, n) - bound) for k, bound in enumerate(noise_bounds)])
    return above_threshold.first_above(queries, 0.0, noise, epsilon=epsilon, calibration="paper")


def clipped(
    rows: Rows, noise: separate_cov.SeparateCovNoise, rho: float, tau: float, base: Base, ensemble: Ensemble
) -> Matrix:
    """τ² M(X^τ/τ): with row bound τ, M clips to τ, divides by it, and gives its output back in the unit of τ²."""
    if base == "gauss":
        return gauss_cov.release(rows, noise.matrix, rho=rho, ensemble=ensemble, row_bound=tau)
    return separate_cov.release(rows, noise, rho=rho, ensemble=ensemble, row_bound=tau)


def release(
    x: DataSet,
    noise: ClippedCovNoise,
    *,
    rho: float,
    base: Base = "separate",
    threshold: Threshold = "public",
    calibration: Calibration = "paper",
    ensemble: Ensemble = "wigner",
    clip_norm: float = CLIP_NORM,
    beta: float = BETA,
    row_bound: float = 1.0,
    on_large_rows: OnLargeRows = "clip",
) -> Matrix:
    """Release the noisy second moment of clipped rows, given the noise.

    Parameters
    ----------
    x : (n, d), n, d ≥ 1. Records in rows.
    noise : see `ClippedCovNoise`.
    rho : ρ > 0.
    base : "separate" or "gauss", the mechanism M.
    threshold : "public" or "private".
    calibration : "paper" or "tight"; they differ with a private threshold only.
    ensemble : "wigner" or "goe", the law that `noise.base.matrix` was drawn from.
    clip_norm : τ of the public threshold, in the unit of row_bound: in [1e-100, 1].
    beta : in (0, 1), public: ν is exceeded with at most this probability. Used by the private threshold only.
    row_bound : r > 0, public, in the unit of x.
    on_large_rows : "clip" (per record, private) or "raise" (reads the data).

    Returns
    -------
    (d, d) symmetric, in the unit of x squared. Eigenvalues are not clipped; project as you like.

    Raises
    ------
    InvalidInput : an argument breaks its rule. That the entries of x are finite, and with "raise" that the rows are
        short, is read off the data: a precondition, not part of the mechanism.

    Privacy : ρ-zCDP for replacing one row, n public, in real arithmetic (proven: 13ρ/16 with a private threshold and
        "paper").
    Source : DLY22 Section 5.1; the private threshold after the authors' code; its account and "tight" are ours.
    """
    # VALIDATE
    require_positive("rho", rho)
    require_choice("base", base, BASES)
    require_choice("threshold", threshold, THRESHOLDS)
    require_choice("calibration", calibration, CALIBRATIONS)
    require_choice("ensemble", ensemble, ENSEMBLES)
    require_between("clip_norm", clip_norm, 1e-100, 1)
    require_below_one("beta", beta)
    rows = unit_rows(x, row_bound, on_large_rows)
    n, d = rows.shape
    final = final_budget(rho, threshold, calibration)

    # QUERY
    tau = float(clip_norm)
    if threshold == "private":
        last = last_level(n, d)
        nu = base_error(n, d, final, beta, base, ensemble)
        bounds = [noise_bound(k, nu) for k in range(last + 1)]
        level = first_level(bin_counts(rows, last), bounds, n, noise.search, search_epsilon(rho))
        tau = float(clip_level(level))

    # NOISE
    noisy = clipped(rows, noise.base, final, tau, base, ensemble)

    # RELEASE
    return noisy * row_bound**2


def draw_noise(n: int, dimension: int, rng: np.random.Generator, *, ensemble: Ensemble = "wigner") -> ClippedCovNoise:
    """The noise that `release` takes."""
    search = above_threshold.draw_noise(last_level(n, dimension) + 1, rng)
    return ClippedCovNoise(search, separate_cov.draw_noise(dimension, rng, ensemble=ensemble))


def sample(
    x: DataSet,
    rng: np.random.Generator,
    *,
    rho: float,
    base: Base = "separate",
    threshold: Threshold = "public",
    calibration: Calibration = "paper",
    ensemble: Ensemble = "wigner",
    clip_norm: float = CLIP_NORM,
    beta: float = BETA,
    row_bound: float = 1.0,
    on_large_rows: OnLargeRows = "clip",
) -> Matrix:
    """Draw the noise from `rng`, then `release`. Not for production: float64 noise."""
    require_positive("rho", rho)
    n, d = unit_rows(x, row_bound, on_large_rows).shape
    return release(
        x,
        draw_noise(n, d, rng, ensemble=ensemble),
        rho=rho,
        base=base,
        threshold=threshold,
        calibration=calibration,
        ensemble=ensemble,
        clip_norm=clip_norm,
        beta=beta,
        row_bound=row_bound,
        on_large_rows=on_large_rows,
    )


def spend(
    *,
    rho: float,
    dimension: int,
    base: Base = "separate",
    threshold: Threshold = "public",
    calibration: Calibration = "paper",
    ensemble: Ensemble = "wigner",
) -> Spend:
    """Claimed ρ; proven ρ with a public threshold (13ρ/16 and ρ with a private one), less in dimension 1."""
    require_positive("rho", rho)
    d = require_dimension("dimension", dimension)
    for name, value, choices in (
        ("base", base, BASES),
        ("threshold", threshold, THRESHOLDS),
        ("calibration", calibration, CALIBRATIONS),
        ("ensemble", ensemble, ENSEMBLES),
    ):
        require_choice(name, value, choices)
    proven = base_loss(final_budget(rho, threshold, calibration), d, base)
    if threshold == "public":
        return Spend(ZCDP(rho), ZCDP(proven), attained=True, remark="as the mechanism on the clipped rows")
    proven += search_loss(search_epsilon(rho))
    return Spend(ZCDP(rho), ZCDP(proven), attained=False, remark="step by step; an upper bound")


ABOUT = About(
    name="clipped-cov",
    title="covariance of clipped rows",
    paper="DLY22",
    algorithm="Section 5.1 (ClippedCov)",
    notion="zcdp",
    released="matrix",
    symmetric=True,
    release=release,
    sample=sample,
    spend=spend,
    choices={"base": BASES, "threshold": THRESHOLDS, "calibration": CALIBRATIONS, "ensemble": ENSEMBLES},
    parameters={"clip_norm": CLIP_NORM, "beta": BETA},
)
