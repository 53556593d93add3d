"""Negative controls of deflation with private eigenvectors and of the pure SeparateCov."""

from collections.abc import Callable
from functools import partial

import numpy as np

from covassay.reference.domain import Matrix, Vector, second_moment, unit_rows
from covassay.reference.laws import bingham as law
from covassay.reference.mechanisms.pure import kapralov_talwar, separate_cov_pure
from covassay.verification.audit.negative_controls.negative_control import NegativeControl

Direction = Callable[[Matrix, np.random.Generator], Vector]


def deflation(
    x: Matrix, rng: np.random.Generator, epsilon: float, direction: Direction = law.sample, noise_factor: float = 1.0
) -> Matrix:
    """Deflation with its directions or the noise of its values replaced."""
    values = noise_factor * np.asarray(rng.laplace(size=x.shape[1]))
    noise = kapralov_talwar.KapralovTalwarNoise(values, lambda m: direction(m, rng))
    return kapralov_talwar.release(x, noise, epsilon=epsilon)


def sixteen_times(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    """Uses the exponents 4ε/k in place of ε/(4k)."""
    return deflation(x, rng, epsilon, lambda m, rng: law.sample(16 * m, rng))


def half_value_noise(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    """Gives every value the whole ε/k, half of which the direction has spent."""
    return deflation(x, rng, epsilon, noise_factor=0.5)


def no_direction_noise(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    """Uses the exact leading eigenvectors and adds noise to the values only."""
    return deflation(x, rng, epsilon, lambda m, rng: np.linalg.eigh(m)[1][:, -1])


def separate(
    x: Matrix, rng: np.random.Generator, epsilon: float, *, matrix_factor: float = 1.0, eigenvalue_factor: float = 1.0
) -> Matrix:
    """SeparateCov with its two noises multiplied."""
    noise = separate_cov_pure.draw_noise(x.shape[1], rng)
    changed = separate_cov_pure.SeparateCovPureNoise(
        matrix_factor * noise.matrix, eigenvalue_factor * noise.eigenvalues
    )
    return separate_cov_pure.release(x, changed, epsilon=epsilon)


def by_svd(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    """Uses an SVD of an indefinite matrix: it orders by |λ|, and left and right vectors can differ in sign."""
    rows = unit_rows(x)
    n, d = rows.shape
    noise, moment = separate_cov_pure.draw_noise(d, rng), second_moment(rows)
    u, _, vt = np.linalg.svd(moment + separate_cov_pure.matrix_scale(n, d, epsilon, "paper") * noise.matrix)
    scale = separate_cov_pure.eigenvalue_scale(n, epsilon)
    matrix = (u * np.clip(np.linalg.eigvalsh(moment)[::-1] + scale * noise.eigenvalues, 0, 1)) @ vt
    released: Matrix = (matrix + matrix.T) / 2
    return released


def eigenvalues_at_one(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    """Calibrates the eigenvalue noise to the sensitivity 1 in place of 2: its scale is 1/ε₀."""
    return separate(x, rng, epsilon, eigenvalue_factor=0.5)


def matrix_at_one(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    """Calibrates the noise of the matrix to the sensitivity 1 in place of √2 d."""
    return separate(x, rng, epsilon, matrix_factor=1 / (2**0.5 * x.shape[1]))


def ascending(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    """Pairs descending eigenvalues with ascending eigenvectors."""
    rows = unit_rows(x)
    n, d = rows.shape
    noise, moment = separate_cov_pure.draw_noise(d, rng), second_moment(rows)
    _, vectors = np.linalg.eigh(moment + separate_cov_pure.matrix_scale(n, d, epsilon, "paper") * noise.matrix)
    scale = separate_cov_pure.eigenvalue_scale(n, epsilon)
    matrix = (vectors * np.clip(np.linalg.eigvalsh(moment)[::-1] + scale * noise.eigenvalues, 0, 1)) @ vectors.T
    released: Matrix = (matrix + matrix.T) / 2
    return released


_deflation = partial(NegativeControl, mechanism="kapralov-talwar")
_separate = partial(NegativeControl, mechanism="separate-cov-pure", options=(("calibration", "paper"),))
NEGATIVE_CONTROLS = (
    _deflation(
        "deflation-exponents-times-16",
        sixteen_times.__doc__ or "",
        caught_by=(("law", "trace"),),
        draw=sixteen_times,
        diagnosis="4ε/k",
        seen_in="google-research, private_covariance_estimation",
    ),
    _deflation(
        "half-value-noise",
        half_value_noise.__doc__ or "",
        caught_by=(("law", "value"),),
        draw=half_value_noise,
        diagnosis="the noise of the values has half",
    ),
    _deflation(
        "no-direction-noise", no_direction_noise.__doc__ or "", caught_by=(("law", "axis"),), draw=no_direction_noise
    ),
    _separate(
        "separate-by-svd",
        by_svd.__doc__ or "",
        caught_by=(("law", "trace"),),
        draw=by_svd,
        seen_in="hkustDB/PrivateCovariance dafcdfe",
    ),
    _separate(
        "separate-eigenvalues-at-one",
        eigenvalues_at_one.__doc__ or "",
        caught_by=(("law", "eigenvalue 1"), ("law", "eigenvalue 2")),
        draw=eigenvalues_at_one,
        diagnosis="the eigenvalue noise has half",
        seen_in="google-research, private_covariance_estimation",
    ),
    _separate("separate-matrix-at-one", matrix_at_one.__doc__ or "", caught_by=(("law", "angle"),), draw=matrix_at_one),
    _separate("separate-ascending", ascending.__doc__ or "", caught_by=(("law", "angle"),), draw=ascending),
)
