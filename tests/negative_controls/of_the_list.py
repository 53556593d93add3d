"""Assign a negative control to each mistake of a numbered list of 48 mistakes.

The list is from the project's survey of other audits of differential privacy.
"""

import math
from collections.abc import Mapping

import numpy as np

from covassay.reference.domain import Matrix, Vector, row_norms, second_moment, unit_rows
from covassay.reference.laws import bingham as law
from covassay.reference.laws import wigner
from covassay.reference.mechanisms.approximate import gauss_cov_approximate
from covassay.reference.mechanisms.concentrated import gauss_cov, separate_cov
from covassay.reference.mechanisms.pure import bingham, lap_cov, nuclear_laplace
from covassay.reference.projections import psd_trace_ball
from tests.negative_controls.broken import broken
from tests.negative_controls.negative_control import NegativeControl
from tests.negative_controls.of_eigenvectors import rejection

Draw = np.random.Generator


def envelope_of_zero(x: Matrix, *, epsilon: float, rng: Draw) -> Vector:
    """Propose uniform u, as for the zero matrix, and accept u with probability min(1, e^{q/4 − uᵀAu})."""
    rows = unit_rows(x)
    a, vectors = law.decompose(bingham.exponent(epsilon, "paper") * len(rows) * second_moment(rows))
    q = len(a)
    for _ in range(100_000):
        z = rng.standard_normal(q)
        u = z / np.linalg.norm(z)
        if math.log(rng.random()) < min(0.0, float(-(u**2) @ a) + q / 4):
            break
    return np.asarray(vectors @ u)


def single_precision_rejection(x: Matrix, *, epsilon: float, rng: Draw) -> Vector:
    """Compute acceptance probabilities in float16, and return the last of 20 proposals if none is accepted."""
    rows = unit_rows(x)
    a, vectors = law.decompose(bingham.exponent(epsilon, "paper") * len(rows) * second_moment(rows))
    q, u = len(a), np.zeros(0)
    for _ in range(20):
        z = rng.standard_normal(q)
        u = z / np.linalg.norm(z)
        if np.float16(rng.random()) < np.float16(math.exp(-float(u**2 @ a))):
            break
    return np.asarray(vectors @ u)


def noisy_n(x: Matrix, *, epsilon: float, rng: Draw) -> Matrix:
    """Divide the noisy sum by a noisy number of rows in place of the exact number of rows."""
    y = nuclear_laplace.sample(x, rng, epsilon=epsilon)
    return np.asarray(y * len(x) / max(1.0, len(x) + rng.laplace(scale=1 / epsilon)))


def variance_for_deviation(x: Matrix, *, rho: float, rng: Draw) -> Matrix:
    """Multiply the noise by the variance σ² in place of the standard deviation σ."""
    n, d = x.shape
    return np.asarray(second_moment(unit_rows(x)) + gauss_cov.noise_scale(n, rho) ** 2 * wigner.sample_wigner(d, rng))


def origin_ignored(x: Matrix, *, rho: float, rng: Draw) -> Matrix:
    """Add (2, 0, …, 0) to every row, but use the sensitivity for rows of norm at most 1."""
    rows = unit_rows(x) + 2 * np.eye(x.shape[1])[0]
    y = second_moment(rows) + gauss_cov.noise_scale(len(x), rho) * wigner.sample_wigner(x.shape[1], rng)
    return np.asarray(y)


def absolute_part(x: Matrix, *, rho: float, rng: Draw) -> Matrix:
    """Replace negative eigenvalues by their absolute values in place of zero."""
    u, s, _ = np.linalg.svd(gauss_cov.sample(x, rng, rho=rho))
    return psd_trace_ball((u * s) @ u.T, 1.0)


def sorted_after_noise(x: Matrix, *, rho: float, rng: Draw) -> Matrix:
    """Sort the eigenvalues after adding noise, but not the eigenvectors."""
    rows = unit_rows(x)
    n, d = rows.shape
    moment, scale = second_moment(rows), separate_cov.noise_scale(n, rho)
    vectors = separate_cov.descending_eigenvectors(moment + scale * wigner.sample_wigner(d, rng))
    noisy = np.sort(np.linalg.eigvalsh(moment) + scale * rng.standard_normal(d))[::-1]
    return np.asarray((vectors * noisy) @ vectors.T)


def delta_ignored(x: Matrix, *, epsilon: float, delta: float, rng: Draw) -> Matrix:
    """Use ρ = ε²/2, which ignores δ."""
    return gauss_cov.sample(x, rng, rho=epsilon**2 / 2)


def tells_the_norm(x: Matrix, *, epsilon: float, rng: Draw) -> Matrix:
    """Raise an error whose message contains the norm of a private row."""
    longest = float(row_norms(x).max())
    if longest > 1:
        raise ValueError(f"rows must have norm at most 1, got {longest}")
    return lap_cov.sample(x, rng, epsilon=epsilon)


def composition_shortcut(x: Matrix, *, epsilon: float, delta: float, rng: Draw) -> Matrix:
    """Replace ε by 2(e^{ε/2} − 1), which is larger."""
    return gauss_cov_approximate.sample(x, rng, epsilon=2 * math.expm1(epsilon / 2), delta=delta, calibration="tight")


def triangle_copied_early(x: Matrix, *, rho: float, rng: Draw) -> Matrix:
    """Clip the entries below the diagonal to [−½, ½], so that the output is not symmetric."""
    y = gauss_cov.sample(x, rng, rho=rho)
    return np.asarray(np.triu(y) + np.clip(np.tril(y, -1), -0.5, 0.5))


def one_seed_for_the_stages(x: Matrix, *, rho: float, rng: Draw) -> Matrix:
    """Draw the noise of both steps from generators with the same seed."""
    seed = int(rng.integers(2**63))
    d = x.shape[1]
    matrix = wigner.sample_wigner(d, np.random.default_rng(seed))
    values = np.asarray(np.random.default_rng(seed).standard_normal(d))
    return separate_cov.release(x, separate_cov.SeparateCovNoise(matrix, values), rho=rho)


PARENTHESIS = rejection(lambda y, b, q: -y - q / 2 * (np.log1p(2 * y / b) + law.log_envelope_bound(b, q)))
NEGATIVE_CONTROLS = (
    NegativeControl(
        "parenthesis-slip",
        "Use e^{−uᵀAu}/(M uᵀΩu)^{q/2} as the acceptance probability in place of e^{−uᵀAu} (uᵀΩu)^{q/2}/M.",
        "bingham",
        (),
        lambda x, *, epsilon, rng: PARENTHESIS(x, 1, rng=rng, epsilon=epsilon)[0],
    ),
    NegativeControl("envelope-of-zero", envelope_of_zero.__doc__ or "", "bingham", (), envelope_of_zero),
    NegativeControl(
        "float16-rejection", single_precision_rejection.__doc__ or "", "bingham", (), single_precision_rejection
    ),
    NegativeControl(
        "triangle-copied-early", triangle_copied_early.__doc__ or "", "gauss-cov", (), triangle_copied_early
    ),
    NegativeControl(
        "variance-for-deviation", variance_for_deviation.__doc__ or "", "gauss-cov", (), variance_for_deviation
    ),
    broken(
        "gamma-rate",
        "nuclear-laplace-symmetric",
        "Divide by the Gamma radius of the noise in place of multiplying by it.",
        noise=lambda z, rng, x: z / np.linalg.norm(z, "nuc") ** 2,
    ),
    NegativeControl("origin-ignored", origin_ignored.__doc__ or "", "gauss-cov", (), origin_ignored),
    broken("budget-doubled", "nuclear-laplace", "Use twice the budget ε.", budget=2.0),
    NegativeControl(
        "composition-shortcut",
        composition_shortcut.__doc__ or "",
        "gauss-cov-approximate",
        (),
        composition_shortcut,
        (("calibration", "tight"),),
    ),
    NegativeControl("delta-ignored", delta_ignored.__doc__ or "", "gauss-cov-approximate", (), delta_ignored),
    NegativeControl("absolute-part", absolute_part.__doc__ or "", "projection-mechanism", (), absolute_part),
    NegativeControl("noisy-n", noisy_n.__doc__ or "", "nuclear-laplace", (), noisy_n),
    NegativeControl(
        "one-seed-for-the-stages", one_seed_for_the_stages.__doc__ or "", "separate-cov", (), one_seed_for_the_stages
    ),
    NegativeControl("sorted-after-noise", sorted_after_noise.__doc__ or "", "separate-cov", (), sorted_after_noise),
    NegativeControl("error-tells-the-norm", tells_the_norm.__doc__ or "", "lap-cov", (), tells_the_norm),
)

CONTROL_OF: Mapping[int, str] = {
    1: "acg-sign", 2: "accept-all", 3: "parenthesis-slip", 4: "bingham-twice", 5: "envelope-of-zero",
    6: "laplace-sensitivity-one", 7: "radius-for-diameter", 8: "uncentred-sensitivity", 9: "averaged-noise",
    10: "doubled-diagonal", 11: "asymmetric", 12: "triangle-copied-early", 13: "variance-for-deviation",
    14: "gamma-shape", 15: "gamma-rate", 16: "frobenius-sensitivity", 17: "unsigned-qr", 18: "rotations-only",
    19: "cube-direction", 20: "unclipped", 21: "entries-clipped", 22: "clip-after-centring", 23: "clip-isclose",
    24: "largest-norm", 25: "origin-ignored", 26: "budget-doubled", 27: "iterative-directions-spent-again",
    28: "em-last-direction-forgotten", 29: "sparse-vector-threshold-as-query", 30: "sparse-vector-quarter-noise",
    31: "sparse-vector-noisy-value", 32: "adaptive-trace-bare", 33: "composition-shortcut", 34: "delta-ignored",
    35: "classical-gaussian-beyond-one", 36: "separate-singular-vectors", 37: "absolute-part", 38: "coinpress-order",
    39: "fails-on-zero", 40: "overwrites-input", 41: "float16-rejection", 42: "noisy-n",
    43: "one-seed-for-the-stages", 44: "global-state", 45: "sorted-after-noise", 46: "retry-until-positive",
    47: "output-clipped", 48: "error-tells-the-norm",
}  # fmt: skip
