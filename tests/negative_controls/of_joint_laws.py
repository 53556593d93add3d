"""Negative controls whose noise variables have the right variance, but are dependent."""

import numpy as np

from covassay.reference.domain import Matrix, Vector
from covassay.reference.laws import haar
from covassay.reference.laws import nuclear_laplace as nuclear
from tests.negative_controls.broken import Noise, mirrored, other_noise


def correlated(share: float) -> Noise:
    """Return a function that gives every two entries of normal noise the correlation `share`."""

    def noise(z: Matrix, rng: np.random.Generator, x: Matrix) -> Matrix:
        return np.asarray((1 - share) ** 0.5 * z + share**0.5 * rng.standard_normal())

    return noise


def in_sequence(z: Vector, rng: np.random.Generator, x: Matrix) -> Vector:
    """Draw normal noise in which the components i and j have the correlation 0.5^|i − j|."""
    for i in range(1, len(z)):
        z[i] = 0.5 * z[i - 1] + 0.75**0.5 * z[i]
    return z


def one_sign(z: Matrix, rng: np.random.Generator, x: Matrix) -> Matrix:
    """Give all entries of the noise the same sign."""
    return np.asarray(np.abs(z) * rng.choice([-1.0, 1.0]))


def row_effects(z: Matrix, rng: np.random.Generator, x: Matrix) -> Matrix:
    """Add a common noise variable to every row and to every column."""
    effect = rng.standard_normal(len(z)) / 2
    return np.asarray(mirrored(z / 2**0.5 + np.add.outer(effect, effect)))


def averaged(z: Matrix, rng: np.random.Generator, x: Matrix) -> Matrix:
    """Draw (A + Aᵀ)/√2 for a Gaussian matrix A, which has variance 2 on the diagonal."""
    a = rng.standard_normal(z.shape)
    return np.asarray((a + a.T) / 2**0.5)


def common_scale(z: Matrix, rng: np.random.Generator, x: Matrix) -> Matrix:
    """Multiply all entries by one random scale, 0.5 or √1.75, so that the variance is right."""
    return np.asarray(z * (0.5 if rng.random() < 0.5 else 1.75**0.5))


def laplace_of_a_common_scale(z: Matrix, rng: np.random.Generator, x: Matrix) -> Matrix:
    """Multiply normal entries by √(2E), with one exponential variable E for all entries; each entry is Laplace."""
    return np.asarray((2 * rng.exponential()) ** 0.5 * rng.standard_normal(z.shape))


def cube_direction(z: Vector, rng: np.random.Generator, x: Matrix) -> Vector:
    """Draw noise of the right length in the direction of a uniform point of a cube."""
    u = rng.uniform(-1, 1, z.shape)
    return np.asarray(u / np.linalg.norm(u) * np.linalg.norm(z))


def long_along_the_axes(z: Vector, rng: np.random.Generator, x: Matrix) -> Vector:
    """If the norm of the noise is above its mean, give the noise the direction of the nearest corner of a cube."""
    corner = np.sign(z) / len(z) ** 0.5
    return np.asarray(corner * np.linalg.norm(z) if np.linalg.norm(z) > len(z) else z)


def rotation_reused(z: Matrix, rng: np.random.Generator, x: Matrix) -> Matrix:
    """Use U diag(s) Uᵀ, with random signs of s, in place of U diag(s) Vᵀ with independent U and V."""
    d = len(z)
    u = haar.sample(d, rng)
    return np.asarray(u * (nuclear.sample_spectrum(d, rng, 1)[0] * rng.choice([-1.0, 1.0], d)) @ u.T)


def alike_eigenvalues(z: Matrix, rng: np.random.Generator, x: Matrix) -> Matrix:
    """Draw noise whose eigenvalues have equal absolute values, with the right nuclear norm."""
    vectors = np.linalg.eigh(z)[1]
    values = np.full(len(z), np.linalg.norm(z, "nuc") / len(z)) * rng.choice([-1.0, 1.0], len(z))
    return mirrored((vectors * values) @ vectors.T)


def neighbours_mixed(z: Matrix, rng: np.random.Generator, x: Matrix) -> Matrix:
    """Replace every entry of the noise by the sum of this entry and the one before it, divided by √2."""
    flat = z.ravel()
    return np.asarray(((flat + np.roll(flat, 1)) / 2**0.5).reshape(z.shape))


NEGATIVE_CONTROLS = (
    other_noise(
        "equicorrelated", "gaussian", "Give every two components of the noise the correlation 0.3.", correlated(0.3)
    ),
    other_noise(
        "equicorrelated-matrix",
        "gauss-cov",
        "Give every two entries of the noise the correlation 0.3.",
        correlated(0.3),
    ),
    other_noise(
        "equicorrelated-approximate",
        "gauss-cov-approximate",
        "Give every two entries of the noise the correlation 0.2.",
        correlated(0.2),
    ),
    other_noise(
        "autoregressive", "gaussian-approximate", "Draw the components of the noise as an autoregression.", in_sequence
    ),
    other_noise("one-sign", "laplace", "Give all components of the noise the same sign.", one_sign),
    other_noise("one-sign-matrix", "lap-cov", "Give all entries of the noise the same sign.", one_sign),
    other_noise("one-sign-full", "entrywise-laplace", "Give all entries of the noise the same sign.", one_sign),
    other_noise(
        "row-effects", "gauss-cov", "Add a common noise variable to every row and to every column.", row_effects
    ),
    other_noise("root-two-diagonal", "gauss-cov", "Draw the noise (A + Aᵀ)/√2 for a Gaussian matrix A.", averaged),
    other_noise("common-scale", "gaussian", "Multiply all components by one random scale.", common_scale),
    other_noise(
        "common-scale-matrix", "gauss-cov-approximate", "Multiply all entries by one random scale.", common_scale
    ),
    other_noise(
        "elliptic-laplace",
        "laplace",
        "Draw a multivariate Laplace law, whose components are not independent.",
        laplace_of_a_common_scale,
    ),
    other_noise(
        "elliptic-laplace-matrix",
        "entrywise-laplace",
        "Draw a multivariate Laplace law, whose entries are not independent.",
        laplace_of_a_common_scale,
    ),
    other_noise(
        "cube-direction",
        "output-perturbation",
        "Draw the direction of the noise from a uniform point of a cube.",
        cube_direction,
    ),
    other_noise(
        "image-cube-direction",
        "johnson-lindenstrauss",
        "Draw the direction of the noise from a uniform point of a cube.",
        cube_direction,
    ),
    other_noise(
        "ridge-long-to-corners",
        "output-perturbation",
        "If the norm of the noise is above its mean, give the noise the direction of the nearest corner of a cube.",
        long_along_the_axes,
    ),
    other_noise(
        "one-rotation",
        "nuclear-laplace",
        "Use one rotation on both sides of the noise, with random signs.",
        rotation_reused,
    ),
    other_noise(
        "equal-eigenvalues", "k-norm", "Give all eigenvalues of the noise the same absolute value.", alike_eigenvalues
    ),
    other_noise(
        "equal-eigenvalues-centred",
        "centred-covariance",
        "Give all eigenvalues of the noise the same absolute value.",
        alike_eigenvalues,
    ),
    other_noise(
        "moving-average",
        "entrywise-laplace",
        "Replace the noise by a moving average over its entries.",
        neighbours_mixed,
    ),
    other_noise(
        "alternating-signs",
        "lap-cov",
        "Give the noise alternating signs, as on a chessboard, times one random sign.",
        lambda z, rng, x: mirrored(
            np.abs(z) * (-1.0) ** np.add.outer(np.arange(len(z)), np.arange(len(z))) * rng.choice([-1.0, 1.0])
        ),
    ),
    other_noise(
        "largest-last",
        "gaussian",
        "Sort the noise by absolute value, the largest last.",
        lambda z, rng, x: z[np.argsort(np.abs(z))],
    ),
    other_noise(
        "sizes-sorted-diagonal",
        "k-norm",
        "Sort the diagonal of the noise by absolute value.",
        lambda z, rng, x: z + np.diag(np.diag(z)[np.argsort(np.abs(np.diag(z)))] - np.diag(z)),
    ),
    other_noise(
        "separate-dependent",
        "separate-cov",
        "Draw the noise of the eigenvalues with correlation 0.5.",
        lambda z, rng, x: type(z)(z.matrix, 0.5**0.5 * (z.eigenvalues + rng.standard_normal())),
    ),
    other_noise(
        "separate-steps-dependent",
        "separate-cov-pure",
        "Multiply the noise of both steps by the same random number.",
        lambda z, rng, x: (lambda c: type(z)(c * z.matrix, c * z.eigenvalues))(rng.choice([0.5, 1.75**0.5])),
    ),
    other_noise(
        "ball-steps-dependent",
        "nuclear-ball-projection",
        "Use the trace of the matrix noise as the noise of the trace.",
        lambda z, rng, x: type(z)(z.matrix, float(np.trace(z.matrix))),
    ),
    other_noise(
        "sparse-vector-dependent",
        "above-threshold",
        "Give the noise of all queries the same sign.",
        lambda z, rng, x: type(z)(z.threshold, np.abs(z.queries) * rng.choice([-1.0, 1.0])),
    ),
    other_noise(
        "gumbel-in-pairs",
        "exponential",
        "Use every Gumbel number as the noise of two candidates.",
        lambda z, rng, x: np.resize(np.repeat(z, 2), z.shape),
    ),
    other_noise(
        "mean-columns-dependent",
        "kv-mean",
        "Draw the noise of the means with correlation 0.6.",
        lambda z, rng, x: type(z)(z.counts, 0.4**0.5 * z.mean + 0.6**0.5 * rng.standard_normal()),
    ),
)
