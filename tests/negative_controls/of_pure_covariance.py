"""Negative controls of the mechanism of Kapralov and Talwar, and of SeparateCov for pure DP."""

from collections.abc import Callable
from functools import partial

import numpy as np

from covassay.reference.domain import Matrix, Vector, second_moment, unit_rows
from covassay.reference.laws import bingham as law
from covassay.reference.mechanisms.pure import kapralov_talwar, separate_cov_pure
from tests.negative_controls.negative_control import from_function

Direction = Callable[[Matrix, np.random.Generator], Vector]


def deflation(
    x: Matrix, rng: np.random.Generator, epsilon: float, direction: Direction = law.sample, noise_factor: float = 1.0
) -> Matrix:
    """Run the mechanism of Kapralov and Talwar with other directions, or with the noise of its eigenvalues multiplied
    by a factor."""
    values = noise_factor * np.asarray(rng.laplace(size=x.shape[1]))
    noise = kapralov_talwar.KapralovTalwarNoise(values, lambda m, step: direction(m, rng))
    return kapralov_talwar.release(x, noise, epsilon=epsilon)


def sixteen_times(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    """Use the exponent 4ε/k in place of ε/(4k), where k is the number of directions."""
    return deflation(x, rng, epsilon, lambda m, rng: law.sample(16 * m, rng))


def half_value_noise(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    """Halve the noise of the eigenvalues, as if the directions cost no budget."""
    return deflation(x, rng, epsilon, noise_factor=0.5)


def no_direction_noise(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    """Use the exact leading eigenvectors, and add noise only to the eigenvalues."""
    return deflation(x, rng, epsilon, lambda m, rng: np.linalg.eigh(m)[1][:, -1])


def separate(
    x: Matrix, rng: np.random.Generator, epsilon: float, *, matrix_factor: float = 1.0, eigenvalue_factor: float = 1.0
) -> Matrix:
    """Run SeparateCov with the noise of each of its two steps multiplied by a factor."""
    noise = separate_cov_pure.draw_noise(x.shape[1], rng)
    changed = separate_cov_pure.SeparateCovPureNoise(
        matrix_factor * noise.matrix, eigenvalue_factor * noise.eigenvalues
    )
    return separate_cov_pure.release(x, changed, epsilon=epsilon)


def by_svd(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    """Use singular vectors of an indefinite matrix as its eigenvectors."""
    rows = unit_rows(x)
    n, d = rows.shape
    noise, moment = separate_cov_pure.draw_noise(d, rng), second_moment(rows)
    u, _, vt = np.linalg.svd(moment + separate_cov_pure.matrix_scale(n, d, epsilon, "paper") * noise.matrix)
    scale = separate_cov_pure.eigenvalue_scale(n, epsilon)
    matrix = (u * np.clip(np.linalg.eigvalsh(moment)[::-1] + scale * noise.eigenvalues, 0, 1)) @ vt
    return (matrix + matrix.T) / 2


def eigenvalues_at_one(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    """Calibrate the eigenvalue noise to the sensitivity 1 in place of 2."""
    return separate(x, rng, epsilon, eigenvalue_factor=0.5)


def matrix_at_one(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    """Calibrate the noise of the matrix to the sensitivity 1 in place of √2 d."""
    return separate(x, rng, epsilon, matrix_factor=1 / (2**0.5 * x.shape[1]))


def ascending(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    """Combine the eigenvalues in descending order with the eigenvectors in the opposite order."""
    rows = unit_rows(x)
    n, d = rows.shape
    noise, moment = separate_cov_pure.draw_noise(d, rng), second_moment(rows)
    _, vectors = np.linalg.eigh(moment + separate_cov_pure.matrix_scale(n, d, epsilon, "paper") * noise.matrix)
    scale = separate_cov_pure.eigenvalue_scale(n, epsilon)
    matrix = (vectors * np.clip(np.linalg.eigvalsh(moment)[::-1] + scale * noise.eigenvalues, 0, 1)) @ vectors.T
    return (matrix + matrix.T) / 2


_deflation = partial(from_function, mechanism="kapralov-talwar")
_separate = partial(from_function, mechanism="separate-cov-pure", options=(("calibration", "paper"),))
NEGATIVE_CONTROLS = (
    _deflation(
        sixteen_times,
        ("law", "trace"),
        name="deflation-exponents-times-16",
        diagnosis="4ε/k",
        seen_in="google-research, private_covariance_estimation",
    ),
    _deflation(half_value_noise, ("law", "value"), diagnosis="the noise of the values has half"),
    _deflation(no_direction_noise, ("law", "axis")),
    _separate(by_svd, ("law", "trace"), name="separate-by-svd", seen_in="hkustDB/PrivateCovariance dafcdfe"),
    _separate(
        eigenvalues_at_one,
        ("law", "eigenvalue 1"),
        ("law", "eigenvalue 2"),
        name="separate-eigenvalues-at-one",
        diagnosis="the eigenvalue noise has half",
        seen_in="google-research, private_covariance_estimation",
    ),
    _separate(matrix_at_one, ("law", "angle"), name="separate-matrix-at-one"),
    _separate(ascending, ("law", "angle"), name="separate-ascending"),
)
