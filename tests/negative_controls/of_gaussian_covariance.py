"""Negative controls of GaussCov, under zCDP and under (ε, δ)-DP, and of other mechanisms in the paper DLY22."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from covassay.reference.domain import Matrix, row_norms, second_moment, unit_rows
from covassay.reference.laws import bingham, wigner
from covassay.reference.mechanisms.approximate import gauss_cov_approximate
from covassay.reference.mechanisms.building_blocks.gaussian_approximate import multiplier
from covassay.reference.mechanisms.concentrated import adaptive_cov, clipped_cov, gauss_cov, separate_cov
from covassay.reference.mechanisms.pure import iterative_eigenvectors
from tests.negative_controls.negative_control import NegativeControl, by_law, by_privacy, vectorised

# ADDITIVE NOISE

# a function that maps (d, rng, size) to noise of shape (size, d, d)
Noise = Callable[[int, np.random.Generator, int], Matrix]


def averaged(d: int, rng: np.random.Generator, size: int) -> Matrix:
    """Draw the noise (A + Aᵀ)/2 for a Gaussian matrix A, which has only half of the variance above the diagonal."""
    a = rng.standard_normal((size, d, d))
    return (a + np.swapaxes(a, 1, 2)) / 2


def one_diagonal(d: int, rng: np.random.Generator, size: int) -> Matrix:
    """Use one number as the noise of the whole diagonal."""
    w = wigner.sample_wigner(d, rng, size)
    w[:, range(d), range(d)] = w[:, :1, 0]
    return w


def one_row(d: int, rng: np.random.Generator, size: int) -> Matrix:
    """Use one number as the noise of the whole first row."""
    w = wigner.sample_wigner(d, rng, size)
    w[:, 0, :] = w[:, :, 0] = w[:, :1, 0]
    return w


def additive(factor: float = 1.0, noise: Noise = wigner.sample_wigner) -> Callable[..., Matrix]:
    """Return GaussCov, as a function of (x, size, rng=, rho=), with its noise replaced or multiplied by a factor."""

    def draw_many(x: Matrix, size: int, *, rng: np.random.Generator, rho: float) -> Matrix:
        rows = unit_rows(x)
        n, d = rows.shape
        return second_moment(rows) + factor * gauss_cov.noise_scale(n, rho) * noise(d, rng, size)

    return draw_many


def add_or_remove(x: Matrix, *, epsilon: float, delta: float, rng: np.random.Generator) -> Matrix:
    """Use 1/n, the sensitivity for adding or removing a row, in place of √2/n."""
    rows = unit_rows(x)
    n, d = rows.shape
    sigma = gauss_cov_approximate.sensitivity(n) / math.sqrt(2) * multiplier(epsilon, delta, "paper")
    return second_moment(rows) + sigma * wigner.sample_wigner(d, rng)


# MECHANISMS THAT USE IT


def _rebuilt(vectors: Matrix, values: Matrix, right: Matrix | None = None) -> Matrix:
    """Return the symmetric part of Σ λ_i u_i v_iᵀ. The λ_i are `values`, the u_i are the columns of `vectors`, and the
    v_iᵀ are the rows of `right`. If `right` is None, v_i is u_i.
    """
    matrices = (vectors * values[:, None, :]) @ (np.swapaxes(vectors, 1, 2) if right is None else right)
    return (matrices + np.swapaxes(matrices, 1, 2)) / 2


def separate(
    vectors: Callable[[Matrix, Matrix], tuple[Matrix, Matrix]], one_draw: bool = False
) -> Callable[..., Matrix]:
    """Return SeparateCov with the eigenvectors that `vectors` computes. If `one_draw` is true, all eigenvalues have the
    same noise.
    """

    def draw_many(x: Matrix, size: int, *, rng: np.random.Generator, rho: float) -> Matrix:
        rows = unit_rows(x)
        n, d = rows.shape
        moment, scale = second_moment(rows), separate_cov.noise_scale(n, rho)
        left, right = vectors(moment, moment + scale * wigner.sample_wigner(d, rng, size))
        noise = rng.standard_normal((size, 1 if one_draw else d))
        return _rebuilt(left, np.linalg.eigvalsh(moment)[::-1] + scale * noise, right)

    return draw_many


def descending(moment: Matrix, noisy: Matrix) -> tuple[Matrix, Matrix]:
    """Return the correct eigenvectors, in descending order of their eigenvalues, and their transposes."""
    vectors = np.linalg.eigh(noisy)[1][:, :, ::-1]
    return vectors, np.swapaxes(vectors, 1, 2)


def singular(moment: Matrix, noisy: Matrix) -> tuple[Matrix, Matrix]:
    """Return the left and right singular vectors of the noisy matrices. If a noisy matrix is indefinite, some of the
    left vectors are the negatives of the right ones.
    """
    u, _, vt = np.linalg.svd(noisy)
    return u, vt


def exact(moment: Matrix, noisy: Matrix) -> tuple[Matrix, Matrix]:
    """Return the eigenvectors of the data, without noise."""
    return descending(moment, np.broadcast_to(moment, noisy.shape))


def rounded(x: Matrix, size: int, *, rng: np.random.Generator, rho: float) -> Matrix:
    """Draw outputs of GaussCov with every eigenvalue clipped to [0, 1]."""
    values, vectors = np.linalg.eigh(additive()(x, size, rng=rng, rho=rho))
    return _rebuilt(vectors, np.clip(values, 0.0, 1.0))


def as_in_the_experiments(x: Matrix, *, rho: float, rng: np.random.Generator) -> Matrix:
    """Use ε = ρ + 2√(ρ ln(1/δ)) with δ = 1e-10 as the budget in place of ρ. For this ε, ρ-zCDP implies (ε, δ)-DP."""
    rows = unit_rows(x)
    n, d = rows.shape
    log = math.log(1e10)
    half = (rho + 2 * math.sqrt(rho * log)) / 2
    c = n * second_moment(rows)
    b = math.sqrt(2 * d * log)
    step = (-b + math.sqrt(b * b + 4 * d * half)) / (2 * d)  # the positive solution x of the equation d x² + b x = half
    noisy = np.linalg.eigvalsh(c)[::-1] + 2 / half * rng.laplace(size=d)
    directions = iterative_eigenvectors.draw_directions(c, [step / 4] * (d - 1), lambda m, step: bingham.sample(m, rng))
    matrix = (directions.T * noisy) @ directions / n
    return (matrix + matrix.T) / 2


def not_shrunk(x: Matrix, size: int, *, rng: np.random.Generator, rho: float) -> Matrix:
    """Draw outputs of ClippedCov for rows that are clipped to norm τ, with noise proportional to τ in place of τ²."""
    tau = clipped_cov.CLIP_NORM
    return separate(descending)(unit_rows(x, tau), size, rng=rng, rho=rho * tau**2) * tau**2


def logarithm_of_norms(x: Matrix, *, rho: float, rng: np.random.Generator) -> Matrix:
    """Compute the logarithm of the norm of every row, so that a row of zeros raises an exception."""
    with np.errstate(divide="ignore"):
        # the conversion of −∞ to an integer raises an exception
        levels = [int(-np.floor(np.log2(norm))) for norm in row_norms(unit_rows(x))]
    assert min(levels) >= 0 or max(levels) >= 0
    return adaptive_cov.sample(x, rng, rho=rho)


SEEN = "hkustDB/PrivateCovariance dafcdfe"
EIGENVALUE, NORM = by_law("eigenvalue 1"), by_law("squared norm")
WIGNER = (("ensemble", "wigner"),)


def _noise(name: str, noise: Noise, caught_by: tuple[tuple[str, str], ...], **more: Any) -> NegativeControl:
    """Return a negative control of GaussCov with its noise replaced; the docstring of `noise` states the mistake."""
    return _gauss(name, noise.__doc__ or "", caught_by, additive(noise=noise), **more)


_gauss = partial(vectorised, mechanism="gauss-cov", options=WIGNER)
_separate = partial(vectorised, mechanism="separate-cov", options=WIGNER)
NEGATIVE_CONTROLS = (
    _gauss(
        "gauss-sensitivity-one",
        "Use the sensitivity 1 in place of √2, so that the noise is √2 times too small.",
        NORM + by_law("entry (1, 1)") + by_privacy("divergence"),
        additive(math.sqrt(0.5)),
        diagnosis="sensitivity of 1",
    ),
    _noise("gauss-averaged", averaged, by_law("entry (1, 2)"), diagnosis="goe in place of wigner"),
    _noise("gauss-one-diagonal", one_diagonal, by_law("turned entry")),
    _noise("gauss-one-row", one_row, by_law("independence")),
    NegativeControl(
        "gauss-add-or-remove",
        add_or_remove.__doc__ or "",
        "gauss-cov-approximate",
        NORM,
        add_or_remove,
        (("calibration", "paper"), ("ensemble", "wigner")),
        diagnosis="sensitivity of 1",
        seen_in="google-research, private_covariance_estimation",
    ),
    _separate(
        "separate-singular-vectors",
        "Use the singular vectors of an indefinite matrix as its eigenvectors.",
        by_law("trace"),
        separate(singular),
        seen_in=f"{SEEN}, SeparateCov",
    ),
    _separate(
        "separate-exact-eigenvectors",
        "Add noise to the eigenvalues, but release the exact eigenvectors of the data.",
        by_law("angle"),
        separate(exact),
    ),
    _separate(
        "separate-one-draw",
        "Add the same number as noise to all eigenvalues.",
        by_law("independence"),
        separate(descending, one_draw=True),
    ),
    vectorised(
        "rounded-eigenvalues",
        "Clip every eigenvalue to [0, 1] in place of projecting on the matrices of trace at most 1.",
        by_law("trace"),
        rounded,
        mechanism="projection-mechanism",
        options=WIGNER,
    ),
    NegativeControl(
        "em-as-in-the-experiments",
        as_in_the_experiments.__doc__ or "",
        "em-cov",
        by_privacy("event"),
        as_in_the_experiments,
        (("calibration", "reconstructed"),),
        seen_in=f"{SEEN}, EMCov",
    ),
    vectorised(
        "clipped-noise-too-large",
        "Multiply the noise by the norm τ of the clip in place of τ².",
        EIGENVALUE,
        not_shrunk,
        mechanism="clipped-cov",
        diagnosis="twice the calibrated scale",
    ),
    NegativeControl(
        "adaptive-zero-rows",
        logarithm_of_norms.__doc__ or "",
        "adaptive-cov",
        (("contract", "edge cases"),),
        logarithm_of_norms,
        seen_in=f"{SEEN}, get_bincounts",
    ),
)
