"""ClippedCov: clip the rows to a norm τ, release their second moment, and accept the bias. DLY22 §5.1.

1. Choose τ. With threshold="public", τ is `clip_norm`. With "private", search for it: B_k bounds the bias of clipping
   to 2^{−k}, computed from the numbers of rows with 2^{−j} < ‖x‖ ≤ 2^{1−j}. N_k = 4^{−k} ν, with a public ν, bounds the
   noise of step 2 for τ = 2^{−k}. AboveThreshold at ε₀ = √(ρ/2) finds the first k* = 0, …, K at which n(B_k − N_k) ≥ 0,
   up to its Laplace noise; τ = min(1, 2^{1−k*}). K = min(nd, 79), and k* = K + 1 if no k is found.
2. Clip every row to norm τ and divide it by τ. Run M on the clipped rows X' at budget ρ₁. M is `gauss_cov` ("gauss"),
   which adds Gaussian noise to the second moment, or `separate_cov` ("separate"), which rebuilds it from noisy
   eigenvalues and the eigenvectors of a noisy matrix. Multiplying the output by τ² also multiplies the noise of M by
   τ².
3. Release τ² M(X'). Eigenvalues are not clipped.

Why ρ-zCDP. Clipping acts on single rows, so neighbours stay neighbours and M spends ρ₁ at most. In the search one row
moves all queries in one direction, each by less than 1. The privacy loss of the search therefore lies in an interval of
length ε₀, which costs ε₀²/8 = ρ/16 (bounded range, Cesar–Rogers 2020). Under zCDP the costs of the search and of M add
up, although M depends on τ.

public threshold : ρ₁ = ρ with either calibration. The mechanism spends what M spends.
private threshold, "paper" : ρ₁ = 3ρ/4, as in the authors' code. The mechanism claims ρ and spends at most 13ρ/16.
private threshold, "tight" : we chose ρ₁ = 15ρ/16. At most ρ is spent. The bound ρ/16 on the cost of the search is ours.

Accuracy. The bias is at most (1/n) Σ_i (‖x_i‖² − τ²)₊ (DLY22 Lemma 9).
NOTE: the authors' code has M = "separate" only, another ν and another K, and rounds eigenvalues to [0, τ²].

Proof: proofs/paper/clipped-cov.md
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np

from covassay.reference.domain import (
    DataSet,
    Matrix,
    Number,
    Rows,
    Vector,
    row_norms,
    shape_of,
    sized_unit_rows,
    sum_rows,
)
from covassay.reference.mechanisms.building_blocks import above_threshold
from covassay.reference.mechanisms.concentrated import gauss_cov, separate_cov
from covassay.reference.mechanisms.concentrated.gauss_cov import Ensemble
from covassay.reference.mechanisms.mechanism import About, Mechanism
from covassay.reference.mechanisms.output import SYMMETRIC_SECOND_MOMENT
from covassay.reference.mechanisms.parameters import (
    BetaToShare,
    Calibration,
    Dimension,
    LargeRows,
    Meaning,
    RhoToShare,
    RowBound,
    between,
    checked,
    strict,
)
from covassay.reference.privacy import CONCENTRATED, ZCDP, Spend, zcdp_of_bounded_range

Base = Annotated[
    Literal["separate", "gauss"], Meaning('the mechanism M: "separate" for `separate_cov`, "gauss" for `gauss_cov`')
]
Threshold = Annotated[Literal["public", "private"], Meaning('"public" takes τ = clip_norm, "private" searches for τ')]
ClipNorm = Annotated[
    float, between("τ", 1e-100, 1, 'the clipping norm if threshold is "public", in the unit of row_bound')
]
CLIP_NORM = 0.5
BETA = 0.1
LAST_LEVEL = 79  # ⌊log₂ 10²⁴⌋, because the authors' code of AdaptiveCov stops at 1e-24

# FORMULAS


def bias_bound(counts: Sequence[Number], k: int, n: Number) -> Number:
    """The bound B_k = (1/n) Σ_{j≤k} c_j (4^{1−j} − 4^{−k}) on the bias of clipping to 2^{−k}; `counts` has c_1, …"""
    return sum(c * (4 ** (1 - j) - 4 ** (-k)) for j, c in enumerate(counts[:k], start=1)) / n


def noise_bound(k: int, nu: Number) -> Number:
    """The bound N_k = 4^{−k} ν on the noise at the clipping norm 2^{−k}."""
    return 4 ** (-k) * nu


def clip_level(k: int) -> Number:
    """The clipping norm τ = min(1, 2^{1−k}) when the search stops at k."""
    return min(1, 2 ** (1 - k))


def search_epsilon(rho: Number) -> Number:
    """The budget ε₀ = √(ρ/2) of AboveThreshold."""
    return (rho / 2) ** 0.5


def search_loss(epsilon: Number) -> Number:
    """The cost ρ = (1/b₁ + 2/b₂)²/8 = ε₀²/8 of AboveThreshold on monotone queries, with Laplace scales b₁ and b₂."""
    b1, b2 = above_threshold.threshold_scale(epsilon), above_threshold.query_scale(epsilon, "paper")
    return zcdp_of_bounded_range(1 / b1 + 2 / b2)


@strict(threshold=Threshold, calibration=Calibration)
def final_budget(rho: Number, threshold: str, calibration: str) -> Number:
    """The budget ρ₁ of the mechanism M that is run on the clipped rows."""
    if threshold == "public":
        return rho
    return 3 * rho / 4 if calibration == "paper" else 15 * rho / 16


@strict(base=Base)
def base_loss(rho: Number, d: int, base: str) -> Number:
    """The budget that M spends at ρ₁ = `rho`: ρ₁ for d ≥ 2; for d = 1, ρ₁/2 with "gauss" and ρ₁/4 with "separate"."""
    return gauss_cov.privacy_loss(rho, d) if base == "gauss" else separate_cov.privacy_loss(rho, d)


@strict(base=Base, ensemble=Ensemble)
def base_error(
    n: Number,
    d: Number,
    rho: Number,
    beta: Number,
    base: str,
    ensemble: str,
    log: Callable[[Number], Number] = math.log,
) -> Number:
    """The bound ν that the Frobenius error of M at τ = 1 exceeds with probability at most β, on data in the unit ball.

    gauss : ω(d, β)/(√ρ₁ n).
    separate : 2^{5/4} √υ(d, β/2)/(ρ₁^{1/4} √n) + √2 η(d, β/2)/(√ρ₁ n), for tr Σ = 1 (DLY22 Theorem 1, proven on the
        page of `separate_cov`).

    The numbers ω, υ and η bound ‖W‖_F, the spectral norm ‖W‖ and ‖N(0, I_d)‖, each with probability 1 − β (`tails`).
    The argument `log` is the natural logarithm for the type of the numbers.
    """
    if base == "gauss":
        return gauss_cov.error_bound(n, d, rho, beta, ensemble, log)
    return separate_cov.error_bound(n, d, rho, 1, beta, ensemble, log)


# MECHANISM


@dataclass(frozen=True)
class ClippedCovNoise:
    """The noise of both steps; `search` is for `last_level(n, d)` + 1 queries, and M uses `base` or a part of it."""

    search: above_threshold.AboveThresholdNoise
    base: separate_cov.SeparateCovNoise


def last_level(n: int, d: int) -> int:
    """Return the last level K of the search, which tries the norms 2^0, …, 2^{−K}. K is public."""
    return min(d * n, LAST_LEVEL)


def bin_counts(rows: Rows, last: int) -> Vector:
    """Return c_1, …, c_K, where c_j is the number of rows with a norm in (2^{−j}, 2^{1−j}], for rows in the unit ball.
    Zero rows are not counted.
    """
    edges = 2.0 ** -np.arange(last + 1)  # 1, 1/2, …, 2^{−K}

    def longer(block: Matrix) -> Vector:
        norms = np.minimum(row_norms(block), 1.0)  # rounding can make a clipped row slightly longer than 1
        return np.array([(norms > edge).sum() for edge in edges], dtype=np.float64)

    counts: Vector = np.diff(sum_rows(longer, rows))
    return counts


def first_level(
    counts: Vector, noise_bounds: Sequence[float], n: int, noise: above_threshold.AboveThresholdNoise, epsilon: float
) -> int:
    """Return the level k* in 0, …, K at which AboveThreshold stops, or K + 1 if no query is above the threshold."""
    queries = np.array([n * (bias_bound(list(counts), k, n) - bound) for k, bound in enumerate(noise_bounds)])
    return above_threshold.first_above(queries, 0.0, noise, epsilon=epsilon, calibration="paper")


def private_clip_norm(rows: Rows, nu: float, noise: above_threshold.AboveThresholdNoise, epsilon: float) -> float:
    """Return the private τ, for a public bound ν on the noise of M at τ = 1."""
    n, d = rows.shape
    last = last_level(n, d)
    bounds = [noise_bound(k, nu) for k in range(last + 1)]
    return float(clip_level(first_level(bin_counts(rows, last), bounds, n, noise, epsilon)))


@strict(base=Base, ensemble=Ensemble)
def clipped(
    rows: Rows, noise: separate_cov.SeparateCovNoise, rho: float, tau: float, base: Base, ensemble: Ensemble
) -> Matrix:
    """Do step 2: with row bound τ, M clips the rows to τ, divides them by τ, and multiplies its output by τ²."""
    if base == "gauss":
        return gauss_cov.release(rows, noise.matrix, rho=rho, ensemble=ensemble, row_bound=tau)
    return separate_cov.release(rows, noise, rho=rho, ensemble=ensemble, row_bound=tau)


@checked
def release(
    x: DataSet,
    noise: ClippedCovNoise,
    *,
    rho: RhoToShare,
    base: Base = "separate",
    threshold: Threshold = "public",
    calibration: Calibration = "paper",
    ensemble: Ensemble = "wigner",
    clip_norm: ClipNorm = CLIP_NORM,
    beta: BetaToShare = BETA,
    row_bound: RowBound = 1.0,
    on_large_rows: LargeRows = "clip",
) -> Matrix:
    """Release the noisy second moment of clipped rows, given the noise, a `ClippedCovNoise`.

    Only the private threshold uses `beta`, the largest probability with which the noise of M exceeds ν.
    """
    # VALIDATE, and take row_bound as the unit of the rows
    rows, n, d = sized_unit_rows(x, row_bound, on_large_rows)
    final = final_budget(rho, threshold, calibration)

    # 1. Take the public τ, or search for τ with QUERY and NOISE
    tau = float(clip_norm)
    if threshold == "private":
        nu = base_error(n, d, final, beta, base, ensemble)
        tau = private_clip_norm(rows, nu, noise.search, search_epsilon(rho))

    # 2. QUERY and NOISE: run M on the clipped rows X'. The function `clipped` returns τ² M(X').
    noisy = clipped(rows, noise.base, final, tau, base, ensemble)

    # 3. RELEASE
    return noisy * row_bound**2


@checked
def draw_noise(
    dimension: int, rng: np.random.Generator, *, rows: int, ensemble: Ensemble = "wigner"
) -> ClippedCovNoise:
    """Return the noise that `release` takes for a data set of the given size."""
    search = above_threshold.draw_noise(last_level(rows, dimension) + 1, rng)
    return ClippedCovNoise(search, separate_cov.draw_noise(dimension, rng, ensemble=ensemble))


@checked
def sample(
    x: DataSet,
    rng: np.random.Generator,
    *,
    rho: RhoToShare,
    base: Base = "separate",
    threshold: Threshold = "public",
    calibration: Calibration = "paper",
    ensemble: Ensemble = "wigner",
    clip_norm: ClipNorm = CLIP_NORM,
    beta: BetaToShare = BETA,
    row_bound: RowBound = 1.0,
    on_large_rows: LargeRows = "clip",
) -> Matrix:
    """Draw the noise from `rng`, then call `release`. The function is not for production, because its noise is float64.

    Parameters
    ----------
    x : shape (n, d), n ≥ 1 records, d ≥ 1 features; rows in the ball of radius `row_bound`.
    rng : the source of all randomness.
    rho : ρ in [1e-27, 1e30], the budget.
    base : the mechanism M, "separate" for `separate_cov` or "gauss" for `gauss_cov`.
    threshold : value "public" takes τ = clip_norm, "private" searches for τ.
    calibration : value "paper" has the constants of the source; "tight" has less noise, and our proof covers both.
    ensemble : the law of W; "wigner" has variance 1 on and above the diagonal, "goe" 1 on it and 1/2 above it.
    clip_norm : τ in [1e-100, 1], the clipping norm if threshold is "public", in the unit of row_bound.
    beta : β in [1e-297, 1), public: the probability that the error bound may fail.
    row_bound : r in [1e-100, 1e100], public, in the unit of x: longer rows are clipped or rejected.
    on_large_rows : value "clip" scales a row longer than r to length r; "raise" rejects the row, which is not private.

    Returns
    -------
    (d, d), symmetric, in the unit of x squared.

    Raises
    ------
    InvalidInput : an argument breaks its rule. An error caused by the data (an entry that is not finite or, with
        "raise", a row that is too long) is not private.

    Privacy : the output is ρ-zCDP (replace-one) for public n, in real arithmetic; `spend` returns the proven budget.
    """
    n, d = shape_of(x)
    noise = draw_noise(d, rng, rows=n, ensemble=ensemble)
    return release(
        x,
        noise,
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


@checked
def spend(
    *,
    rho: RhoToShare,
    dimension: Dimension,
    base: Base = "separate",
    threshold: Threshold = "public",
    calibration: Calibration = "paper",
    ensemble: Ensemble = "wigner",
) -> Spend:
    """The claimed budget is ρ.

    With threshold="public", the proven budget is ρ. With threshold="private", the proven budget is 13ρ/16 for the
    calibration "paper", and ρ for "tight". In dimension 1 the proven budget is less than these values.
    """
    proven = base_loss(final_budget(rho, threshold, calibration), dimension, base)
    if threshold == "public":
        return Spend(
            ZCDP(rho), ZCDP(proven), attained=True, remark="attained as by the mechanism that the option `base` selects"
        )
    proven += search_loss(search_epsilon(rho))
    return Spend(
        ZCDP(rho),
        ZCDP(proven),
        attained=False,
        remark="the sum of upper bounds for the search and for the mechanism on the clipped rows",
    )


ABOUT = About("clipped-cov", "covariance of clipped rows", "DLY22", "Section 5.1 (ClippedCov)", "code")
MECHANISM = Mechanism(ABOUT, CONCENTRATED, SYMMETRIC_SECOND_MOMENT, release, draw_noise, sample, spend)
