"""Negative controls in which each number has the right law, but the numbers depend on one another."""

import numpy as np

from covassay.reference.domain import Matrix, Vector
from covassay.reference.laws import haar
from covassay.reference.laws import nuclear_laplace as nuclear
from tests.negative_controls.broken import Noise, mirrored, other_noise


def correlated(share: float) -> Noise:
    """Make normal noise with one common part, so that all correlations are `share`."""

    def noise(z: Matrix, rng: np.random.Generator, x: Matrix) -> Matrix:
        return np.asarray((1 - share) ** 0.5 * z + share**0.5 * rng.standard_normal())

    return noise


def in_sequence(z: Vector, rng: np.random.Generator, x: Matrix) -> Vector:
    """Draws normal noise with correlations 0.5^|i − j|."""
    for i in range(1, len(z)):
        z[i] = 0.5 * z[i - 1] + 0.75**0.5 * z[i]
    return z


def one_sign(z: Matrix, rng: np.random.Generator, x: Matrix) -> Matrix:
    """Gives all entries of the noise one sign."""
    return np.asarray(np.abs(z) * rng.choice([-1.0, 1.0]))


def row_effects(z: Matrix, rng: np.random.Generator, x: Matrix) -> Matrix:
    """Takes half of the variance from row effects and column effects."""
    effect = rng.standard_normal(len(z)) / 2
    return np.asarray(mirrored(z / 2**0.5 + np.add.outer(effect, effect)))


def averaged(z: Matrix, rng: np.random.Generator, x: Matrix) -> Matrix:
    """Draws (A + Aᵀ)/√2 for a full matrix A, which has variance 2 on the diagonal."""
    a = rng.standard_normal(z.shape)
    return np.asarray((a + a.T) / 2**0.5)


def common_scale(z: Matrix, rng: np.random.Generator, x: Matrix) -> Matrix:
    """Multiplies independent entries by one common scale, 0.5 or √1.75, so that the variance is right."""
    return np.asarray(z * (0.5 if rng.random() < 0.5 else 1.75**0.5))


def laplace_of_a_common_scale(z: Matrix, rng: np.random.Generator, x: Matrix) -> Matrix:
    """Draws √(2E) N with one exponential E for all entries: every entry is Laplace(1), and all are large together."""
    return np.asarray((2 * rng.exponential()) ** 0.5 * rng.standard_normal(z.shape))


def cube_direction(z: Vector, rng: np.random.Generator, x: Matrix) -> Vector:
    """Draws noise of the right length in a direction that is uniform in a cube."""
    u = rng.uniform(-1, 1, z.shape)
    return np.asarray(u / np.linalg.norm(u) * np.linalg.norm(z))


def long_along_the_axes(z: Vector, rng: np.random.Generator, x: Matrix) -> Vector:
    """Replaces long noise by its signs, so that it points to a corner of the cube."""
    corner = np.sign(z) / len(z) ** 0.5
    return np.asarray(corner * np.linalg.norm(z) if np.linalg.norm(z) > len(z) else z)


def rotation_reused(z: Matrix, rng: np.random.Generator, x: Matrix) -> Matrix:
    """Uses U diag(s) Uᵀ in place of U diag(s) Vᵀ, with random signs."""
    d = len(z)
    u = haar.sample(d, rng)
    return np.asarray(u * (nuclear.sample_spectrum(d, rng, 1)[0] * rng.choice([-1.0, 1.0], d)) @ u.T)


def alike_eigenvalues(z: Matrix, rng: np.random.Generator, x: Matrix) -> Matrix:
    """Draws eigenvalues of equal size with the right sum of absolute values."""
    vectors = np.linalg.eigh(z)[1]
    values = np.full(len(z), np.linalg.norm(z, "nuc") / len(z)) * rng.choice([-1.0, 1.0], len(z))
    return mirrored((vectors * values) @ vectors.T)


def neighbours_mixed(z: Matrix, rng: np.random.Generator, x: Matrix) -> Matrix:
    """Takes a moving average over the entries of the noise."""
    flat = z.ravel()
    return np.asarray(((flat + np.roll(flat, 1)) / 2**0.5).reshape(z.shape))


NEGATIVE_CONTROLS = (
    other_noise("equicorrelated", "gaussian", "Has a common part in all components: correlation 0.3.", correlated(0.3)),
    other_noise(
        "equicorrelated-matrix", "gauss-cov", "Has a common part in all entries: correlation 0.3.", correlated(0.3)
    ),
    other_noise(
        "equicorrelated-approximate",
        "gauss-cov-approximate",
        "Has a common part in all entries: correlation 0.2.",
        correlated(0.2),
    ),
    other_noise("autoregressive", "gaussian-approximate", "Draws the components as an autoregression.", in_sequence),
    other_noise("one-sign", "laplace", "Gives all components one sign.", one_sign),
    other_noise("one-sign-matrix", "lap-cov", "Gives all entries one sign.", one_sign),
    other_noise("one-sign-full", "entrywise-laplace", "Gives all entries one sign.", one_sign),
    other_noise("row-effects", "gauss-cov", "Has effects of rows and columns in the noise.", row_effects),
    other_noise("root-two-diagonal", "gauss-cov", "Uses (A + Aᵀ)/√2 for a full matrix A.", averaged),
    other_noise("common-scale", "gaussian", "Multiplies all components by one random scale.", common_scale),
    other_noise(
        "common-scale-matrix", "gauss-cov-approximate", "Multiplies all entries by one random scale.", common_scale
    ),
    other_noise(
        "elliptic-laplace",
        "laplace",
        "Draws a multivariate Laplace law, whose components are not independent.",
        laplace_of_a_common_scale,
    ),
    other_noise(
        "elliptic-laplace-matrix",
        "entrywise-laplace",
        "Draws a multivariate Laplace law, whose entries are not independent.",
        laplace_of_a_common_scale,
    ),
    other_noise(
        "cube-direction", "output-perturbation", "Takes a direction that is uniform in a cube.", cube_direction
    ),
    other_noise(
        "image-cube-direction", "johnson-lindenstrauss", "Takes a direction that is uniform in a cube.", cube_direction
    ),
    other_noise(
        "ridge-long-to-corners", "output-perturbation", "Turns long noise to the corners.", long_along_the_axes
    ),
    other_noise(
        "one-rotation", "nuclear-laplace", "Uses one rotation on both sides, with random signs.", rotation_reused
    ),
    other_noise("equal-eigenvalues", "k-norm", "Makes all eigenvalues of the noise equally large.", alike_eigenvalues),
    other_noise(
        "equal-eigenvalues-centred",
        "centred-covariance",
        "Makes all eigenvalues of the noise equally large.",
        alike_eigenvalues,
    ),
    other_noise("moving-average", "entrywise-laplace", "Averages neighbouring entries of the noise.", neighbours_mixed),
    other_noise(
        "alternating-signs",
        "lap-cov",
        "Gives the noise the signs of a chessboard, with one common random sign.",
        lambda z, rng, x: mirrored(
            np.abs(z) * (-1.0) ** np.add.outer(np.arange(len(z)), np.arange(len(z))) * rng.choice([-1.0, 1.0])
        ),
    ),
    other_noise("largest-last", "gaussian", "Puts the largest noise last.", lambda z, rng, x: z[np.argsort(np.abs(z))]),
    other_noise(
        "sizes-sorted-diagonal",
        "k-norm",
        "Sorts the diagonal of the noise by size.",
        lambda z, rng, x: z + np.diag(np.diag(z)[np.argsort(np.abs(np.diag(z)))] - np.diag(z)),
    ),
    other_noise(
        "separate-dependent",
        "separate-cov",
        "Draws the noise of the eigenvalues with correlation 0.5.",
        lambda z, rng, x: type(z)(z.matrix, 0.5**0.5 * (z.eigenvalues + rng.standard_normal())),
    ),
    other_noise(
        "separate-steps-dependent",
        "separate-cov-pure",
        "Scales both steps by one random number.",
        lambda z, rng, x: (lambda c: type(z)(c * z.matrix, c * z.eigenvalues))(rng.choice([0.5, 1.75**0.5])),
    ),
    other_noise(
        "ball-steps-dependent",
        "nuclear-ball-projection",
        "Uses the nuclear norm of the matrix noise for the trace, with a random sign.",
        lambda z, rng, x: type(z)(z.matrix, float(np.trace(z.matrix))),
    ),
    other_noise(
        "sparse-vector-dependent",
        "above-threshold",
        "Gives all queries noise of one sign.",
        lambda z, rng, x: type(z)(z.threshold, np.abs(z.queries) * rng.choice([-1.0, 1.0])),
    ),
    other_noise(
        "gumbel-in-pairs",
        "exponential",
        "Repeats Gumbel noise in pairs.",
        lambda z, rng, x: np.resize(np.repeat(z, 2), z.shape),
    ),
    other_noise(
        "mean-columns-dependent",
        "kv-mean",
        "Draws the noise of the means with correlation 0.6.",
        lambda z, rng, x: type(z)(z.counts, 0.4**0.5 * z.mean + 0.6**0.5 * rng.standard_normal()),
    ),
)
