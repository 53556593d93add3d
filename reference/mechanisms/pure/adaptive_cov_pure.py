"""AdaptiveCov, pure: find a clipping threshold, then the better of two mechanisms on clipped rows. DLY22 Section 6.

0. With radius = "private": r = PrivRadius at ε/8 and β/8; clip the rows to r and divide them by r. Otherwise r = 1.
1. U = an upper bound on tr Σ at ε/8 (`private_trace.upper_bound`), too small with probability at most β/8.
2. With ε₁ what is left of ε, N_k = min(4^{−k} g, 2^{−k} a + 4^{−k} e) bounds the noise on rows clipped at 2^{−k}: g is
   the error bound of LapCov at ε₁, and a + e that of SeparateCov at ε₁ and trace U, all at 3β/4.
3. B_k = (1/n) Σ_i max(0, u_i² − 4^{−k}), u_i the least power of two ≥ ‖x_i‖ (0 for a zero row), bounds the bias of that
   clipping. k* = the first k in 0..K with n(B_k − N_k) noisily ≥ 0, K = min(nd, 79), or K + 1: AboveThreshold at ε/8.
4. τ = min(1, 2^{1−k*}). Run LapCov or SeparateCov, whichever has the smaller bound in N_{k*}, at ε₁ on the rows clipped
   to τ and divided by τ. Release r² τ² times the result, with its eigenvalues clipped to [0, 1].

What each step spends. Trace: it moves by at most 1/n, ε/8. Radius: `private_radius`, 3ε/32 in the paper, ε/8 tight.
Final step: at most what LapCov or SeparateCov spends at ε₁.
Threshold: replacing x by y moves the k-th query by D_k = max(0, u² − 4^{−k}) − max(0, v² − 4^{−k}), u, v the powers of
two for x and y. Say u ≥ v: 0 ≤ D_k < 1, and D_k does not decrease in k. Let b₁, b₂ be the noise scales of the threshold
and of a query, and k the output. If the queries rise, raise the threshold by D_{k−1}: those passed over stay passed
over, and k, which rises by D_k ≥ D_{k−1}, still stops; loss at most 1/b₁. If they fall, raise the noise of query k by
D_k; loss at most 1/b₂. So the loss is at most max(1/b₁, 1/b₂), where monotone queries in general cost 1/b₁ + 1/b₂.

paper : ε₁ = 3ε/4, or 5ε/8 with a radius step (the split of the paper for that case is not known); b₁ = 16/ε, b₂ = 32/ε.
    Spends (3/16) ε + f ε₁, and (9/32) ε + f ε₁ with a radius step, f what the final step spends of its own claim:
    0.895, 0.819, 0.783 in dimension 2, 4, 8. Claimed: ε.
tight : b₁ = b₂ = 8/ε, and the radius and the final step tight. Spends ε, with a radius step at most ε.

The steps do not exclude one another, although a large change of the trace seems to forbid a large change of the final
matrix: for ‖x‖ = 1 and ‖y‖ = τ → 0 the trace moves by nearly 1/n, D_k is nearly 1, and both rows have length 1 after
clipping at τ (in dimension 1, y = 0). With y in the first data set and many rows of length 1, the queries rise by D_k
from far above the threshold, and the tight spend is approached. With a radius step it is not: there the loss is large
only if the long row is in the first data set. Then the search queries fall, and they cost 1/b₂ only from far below the
threshold, which they are not: f_k ≥ −4^{−k} ng.

Deviations. The code of the authors divides a by 14, takes 2^k g for 4^k g in step 3, forgets 1/ε₁ in g, and fails on
zero rows. υ in a is taken at dimension 2 when d = 1, where it is not defined.
"""

from dataclasses import dataclass

import numpy as np

from covassay.reference import tails
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
    require_shape,
    sum_rows,
    unit_rows,
)
from covassay.reference.laws import wigner
from covassay.reference.mechanisms.building_blocks import above_threshold, private_radius, private_trace
from covassay.reference.mechanisms.concentrated.adaptive_cov import RADII, Radius, gauss_noise, separate_noise
from covassay.reference.mechanisms.concentrated.clipped_cov import bias_bound, bin_counts, clip_level, last_level
from covassay.reference.mechanisms.legacy import CALIBRATIONS, About, Calibration
from covassay.reference.mechanisms.pure import lap_cov, separate_cov_pure
from covassay.reference.privacy import PureDP, Spend
from covassay.reference.projections import spectral_interval

# FORMULAS, with `bias_bound` and `clip_level` of `clipped_cov`


def step_epsilon(epsilon: Number) -> Number:
    """ε/8 for each of radius, trace and threshold."""
    return epsilon / 8


def final_epsilon(epsilon: Number, radius: str) -> Number:
    """ε₁: 3ε/4, or 5ε/8 with a radius step."""
    return epsilon * (6 if radius == "none" else 5) / 8


def search_epsilon(epsilon: Number, calibration: str) -> Number:
    """What AboveThreshold is told: ε/8, or, tight, ε/4, since on these queries it spends half."""
    return step_epsilon(epsilon) * (1 if calibration == "paper" else 2)


def search_scales(epsilon: Number, calibration: str) -> tuple[Number, Number]:
    """b₁ and b₂ of AboveThreshold."""
    return above_threshold.threshold_scale(epsilon), above_threshold.query_scale(epsilon, calibration)


def search_loss(b1: Number, b2: Number) -> Number:
    """Bound on the loss of AboveThreshold for queries whose changes have one sign and do not decrease in size."""
    return max(1 / b1, 1 / b2)


def noise_level(k: int, g: Number, a: Number, e: Number) -> Number:
    """N_k = min(4^{−k} g, 2^{−k} a + 4^{−k} e)."""
    return min(gauss_noise(k, g), separate_noise(k, a, e))


def lap_bound(n: Number, d: int, epsilon: Number, beta: Number, calibration: str, log: tails.Log = np.log) -> Number:
    """g, at ε₁."""
    return lap_cov.error_bound(d, lap_cov.noise_scale(n, d, epsilon, calibration), beta, log)


def separate_bounds(
    n: Number, d: int, epsilon: Number, trace: Number, beta: Number, calibration: str, log: tails.Log = np.log
) -> tuple[Number, Number]:
    """a and e, at ε₁: the parts of SeparateCov's bound that scale with τ and with τ²."""
    upsilon = tails.upsilon_laplace(max(d, 2), beta / 2, log)
    a = separate_cov_pure.error_bound(trace, separate_cov_pure.matrix_scale(n, d, epsilon, calibration) * upsilon, 0)
    return a, separate_cov_pure.eigenvalue_scale(n, epsilon) * tails.eta_laplace(d, beta / 2, log)


# MECHANISM


@dataclass(frozen=True)
class AdaptiveCovPureNoise:
    """All of it Laplace(1), independent.

    radius : `AboveThresholdNoise` with one query per public radius; not used when there is no radius step.
    trace : a number. search : `above_threshold.AboveThresholdNoise` with K + 1 queries.
    matrix : (d, d) symmetric, independent on and above the diagonal. eigenvalues : (d,).
    """

    radius: above_threshold.AboveThresholdNoise
    trace: float
    search: above_threshold.AboveThresholdNoise
    matrix: Matrix
    eigenvalues: Vector


def release(
    x: DataSet,
    noise: AdaptiveCovPureNoise,
    *,
    epsilon: float,
    radius: Radius = "none",
    calibration: Calibration = "paper",
    beta: float = 0.1,
    precision: float = private_radius.PRECISION,
    row_bound: float = 1.0,
    on_large_rows: OnLargeRows = "clip",
) -> Matrix:
    """Release an estimate from rows clipped at a privately chosen length, given the noise.

    Parameters
    ----------
    x : (n, d), n, d ≥ 1. Records in rows.
    noise : see `AdaptiveCovPureNoise`.
    epsilon : ε > 0.
    radius : "none" or "private".
    calibration : "paper" or "tight".
    beta : in (0, 1), public: the error bounds that steer the search hold with probability 1 − β.
    precision : in (0, 1], public: the smallest private radius, in the unit of row_bound.
    row_bound : r > 0, public, in the unit of x.
    on_large_rows : "clip" (per record, private) or "raise" (reads the data).

    Returns
    -------
    (d, d) symmetric, positive semidefinite, in the unit of x squared.

    Raises
    ------
    InvalidInput : an argument breaks its rule. That the entries of x are finite, and with "raise" that the rows are
        short, is read off the data: a precondition, not part of the mechanism.

    Privacy : ε-DP for replacing one row, n public, in real arithmetic (proven: less with "paper").
    Source : DLY22 Algorithm 3 with the noise of Section 6, Theorem 4; the account and "tight" are ours.
    """
    # VALIDATE
    require_positive("epsilon", epsilon)
    require_choice("radius", radius, RADII)
    require_choice("calibration", calibration, CALIBRATIONS)
    require_below_one("beta", beta)
    require_between("precision", precision, 1e-100, 1)
    rows: Rows = unit_rows(x, row_bound, on_large_rows)
    n, d = rows.shape
    z_trace = float(require_shape("noise.trace", noise.trace, ()))
    share, final = step_epsilon(epsilon), final_epsilon(epsilon, radius)

    # QUERY
    unit = 1.0
    if radius == "private":
        unit = private_radius.release(
            rows, noise.radius, epsilon=share, calibration=calibration, precision=precision, beta=beta / 8
        )
        rows = unit_rows(rows, unit)
    trace = float(sum_rows(lambda block: (block**2).sum(), rows)) / n
    last = last_level(n, d)
    counts = list(bin_counts(rows, last))

    # NOISE
    upper = private_trace.upper_bound(
        trace, z_trace, private_trace.laplace_scale(n, share), private_trace.laplace_margin(beta / 8)
    )
    g = lap_bound(n, d, final, 3 * beta / 4, calibration)
    a, e = separate_bounds(n, d, final, upper, 3 * beta / 4, calibration)
    queries = np.array([n * (bias_bound(counts, k, n) - noise_level(k, g, a, e)) for k in range(last + 1)])
    level = above_threshold.first_above(
        queries,
        0.0,
        noise.search,
        epsilon=search_epsilon(epsilon, calibration),
        calibration=calibration,
    )
    tau = float(clip_level(level))

    # RELEASE
    clipped = unit_rows(rows, tau)
    if gauss_noise(level, g) <= separate_noise(level, a, e):
        estimate = lap_cov.release(clipped, noise.matrix, epsilon=final, calibration=calibration)
    else:
        both = separate_cov_pure.SeparateCovPureNoise(noise.matrix, noise.eigenvalues)
        estimate = separate_cov_pure.release(clipped, both, epsilon=final, calibration=calibration)
    return spectral_interval(estimate, 0.0, 1.0) * (tau * unit * row_bound) ** 2


def draw_noise(rows: int, dimension: int, precision: float, rng: np.random.Generator) -> AdaptiveCovPureNoise:
    """The noise that `release` takes, for so many rows."""
    return AdaptiveCovPureNoise(
        above_threshold.draw_noise(len(private_radius.public_radii(precision)), rng),
        float(rng.laplace()),
        above_threshold.draw_noise(last_level(rows, dimension) + 1, rng),
        wigner.sample_laplace(dimension, rng),
        np.asarray(rng.laplace(size=dimension)),
    )


def sample(
    x: DataSet,
    rng: np.random.Generator,
    *,
    epsilon: float,
    radius: Radius = "none",
    calibration: Calibration = "paper",
    beta: float = 0.1,
    precision: float = private_radius.PRECISION,
    row_bound: float = 1.0,
    on_large_rows: OnLargeRows = "clip",
) -> Matrix:
    """Draw the noise from `rng`, then `release`. Not for production: float64 noise."""
    require_positive("epsilon", epsilon)
    require_between("precision", precision, 1e-100, 1)
    n, d = unit_rows(x, row_bound, on_large_rows).shape
    return release(
        x,
        draw_noise(n, d, precision, rng),
        epsilon=epsilon,
        radius=radius,
        calibration=calibration,
        beta=beta,
        precision=precision,
        row_bound=row_bound,
        on_large_rows=on_large_rows,
    )


def spend(*, epsilon: float, dimension: int, radius: Radius = "none", calibration: Calibration = "paper") -> Spend:
    """Claimed ε; proven: the sum over the steps."""
    require_positive("epsilon", epsilon)
    d = require_dimension("dimension", dimension)
    require_choice("radius", radius, RADII)
    require_choice("calibration", calibration, CALIBRATIONS)
    share, final = step_epsilon(epsilon), final_epsilon(epsilon, radius)
    proven = private_trace.privacy_loss(1, 1, private_trace.laplace_scale(1, share))
    proven += search_loss(*search_scales(search_epsilon(epsilon, calibration), calibration))
    if radius == "private":
        proven += above_threshold.monotone_loss(*search_scales(share, calibration))
    finals = (m.spend(epsilon=final, dimension=d, calibration=calibration) for m in (lap_cov, separate_cov_pure))
    proven += max(result.proven.keywords()["epsilon"] for result in finals)
    attained = calibration == "tight" and radius == "none"
    remark = "by all steps, in the limit of large n" if attained else "the sum over the steps; a bound"
    return Spend(PureDP(epsilon), PureDP(proven), attained, remark)


ABOUT = About(
    name="adaptive-cov-pure",
    title="AdaptiveCov, pure",
    paper="DLY22",
    algorithm="Theorem 4",
    notion="pure",
    released="matrix",
    symmetric=True,
    release=release,
    sample=sample,
    spend=spend,
    choices={"radius": RADII, "calibration": CALIBRATIONS},
    parameters={"beta": 0.1, "precision": private_radius.PRECISION},
)
