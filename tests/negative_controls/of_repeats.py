"""Negative controls whose noise repeats itself, satisfies an equation or takes few values."""

from collections.abc import Callable
from typing import Any

import numpy as np

from covassay.reference.domain import Matrix
from covassay.reference.mechanisms.concentrated import gauss_cov
from covassay.reference.mechanisms.pure import nuclear_laplace_symmetric
from covassay.reference.mechanisms.registry import mechanism
from tests.negative_controls.broken import each, mirrored, other_noise, part
from tests.negative_controls.negative_control import NegativeControl

Draw = Callable[..., Any]


def reseeded(
    name: str, mechanism_name: str, mistake: str, seed: Callable[[np.random.Generator, Matrix], Any]
) -> NegativeControl:
    """Return a mechanism with a new generator, whose seed is a function of the given generator and the data."""

    def draw(x: Matrix, *, rng: np.random.Generator, **budget: float) -> Any:
        return mechanism(mechanism_name).sample(x, np.random.default_rng(seed(rng, x)), **budget)

    return NegativeControl(name, mistake, mechanism_name, (), draw)


def drawn_below(bound: int) -> Callable[[np.random.Generator, Matrix], int]:
    """Return a function that draws a seed from 0, …, bound − 1."""
    return lambda rng, x: int(rng.integers(bound))


class Antithetic:
    """A function that replaces the noise of every second call by minus the noise of the previous call."""

    def __init__(self) -> None:
        self.before: dict[int, Any] = {}

    def __call__(self, z: Any, rng: np.random.Generator, x: Matrix) -> Any:
        """Return the noise, or the noise of the previous call with the opposite sign."""
        kept = self.before.pop(x.shape[1], None)
        if kept is None:
            self.before[x.shape[1]] = z
            return z
        return -kept


class Smooth:
    """A function that adds 0.9 times the noise of the previous call to √0.19 times new noise.

    The noise of a single call has the correct law if the noise is Gaussian.
    """

    def __init__(self) -> None:
        self.last: dict[int, Any] = {}

    def __call__(self, z: Any, rng: np.random.Generator, x: Matrix) -> Any:
        """Return the next noise of the autoregression."""
        d = x.shape[1]
        self.last[d] = 0.9 * self.last[d] + 0.19**0.5 * z if d in self.last else z
        return self.last[d]


class Pool:
    """A function that picks every noise variable at random from a fixed pool of 256 numbers."""

    def __init__(self) -> None:
        self.numbers: Any = None

    def __call__(self, z: Any, rng: np.random.Generator, x: Matrix) -> Any:
        """Return noise variables that are picked at random from the 256 stored numbers."""
        if self.numbers is None:
            self.numbers = rng.laplace(size=256)
        return rng.choice(self.numbers, size=z.shape)


def common_factor(z: Matrix, rng: np.random.Generator, x: Matrix) -> Matrix:
    """Replace the noise off the diagonal by the products v_i v_j of the entries of one vector v."""
    v = rng.standard_normal(len(z))
    return np.outer(v, v) - np.diag(v**2) + np.diag(np.diag(z))


def off_diagonal_from_diagonal(z: Matrix, rng: np.random.Generator, x: Matrix) -> Matrix:
    """Replace the noise z_ij off the diagonal by (z_ii + z_jj)/√2."""
    sums = np.add.outer(np.diag(z), np.diag(z)) / 2**0.5
    return np.asarray(np.where(np.eye(len(z)) > 0, z, sums))


def without_mean(z: Matrix, rng: np.random.Generator, x: Matrix) -> Matrix:
    """Subtract the mean of the noise from the noise."""
    return np.asarray(z - z.mean() if len(z) > 1 else z)


def box_muller(z: Matrix, rng: np.random.Generator, x: Matrix) -> Matrix:
    """Make the two numbers of every pair equal, as a Box–Muller method does if it uses the cosine twice."""
    return np.resize(np.repeat(z[: (len(z) + 1) // 2], 2), z.shape)


def rolled(z: Matrix, rng: np.random.Generator, x: Matrix) -> Matrix:
    """Fill every diagonal of the noise matrix with one number, taken from the first row."""
    d = len(z)
    return np.asarray(z[0][np.abs(np.subtract.outer(np.arange(d), np.arange(d)))])


def reused_seed(x: Matrix, *, rng: np.random.Generator, rho: float) -> Matrix:
    """Seed a new generator with the seed of the given generator, so that all calls have the same noise."""
    seed: Any = rng.bit_generator.seed_seq
    return gauss_cov.sample(x, np.random.default_rng(seed), rho=rho)


def kept_output() -> Draw:
    """Return a mechanism that returns a stored output for all data of the same shape."""
    kept: dict[tuple[int, ...], Any] = {}

    def draw(x: Matrix, *, rng: np.random.Generator, epsilon: float) -> Matrix:
        if x.shape not in kept:
            kept[x.shape] = nuclear_laplace_symmetric.sample(x, rng, epsilon=epsilon)
        return np.array(kept[x.shape])

    return draw


NEGATIVE_CONTROLS = (
    NegativeControl("seed-of-the-generator", reused_seed.__doc__ or "", "gauss-cov", (), reused_seed),
    NegativeControl(
        "outputs-cached-by-shape",
        "Return a stored output for all data of the same shape.",
        "nuclear-laplace-symmetric",
        (),
        kept_output(),
    ),
    reseeded(
        "seed-from-the-data",
        "gaussian",
        "Seed the generator with a hash of the data.",
        lambda rng, x: abs(hash(x.tobytes())),
    ),
    reseeded("seed-from-n", "laplace", "Seed the generator with n and d.", lambda rng, x: list(x.shape)),
    reseeded("seeds-of-16-bits", "separate-cov", "Draw a seed of 12 bits for every call.", drawn_below(4096)),
    reseeded("seeds-of-a-byte", "bingham", "Draw a seed of 8 bits for every call.", drawn_below(256)),
    reseeded("seed-of-a-million", "centred-covariance", "Draw a seed below 10⁶ for every call.", drawn_below(10**6)),
    other_noise(
        "antithetic-calls", "gaussian", "In every second call, use minus the noise of the previous call.", Antithetic()
    ),
    other_noise(
        "smooth-calls", "gauss-cov", "Draw noise that contains 0.9 times the noise of the previous call.", Smooth()
    ),
    other_noise("pool-of-noise", "laplace", "Pick the noise from a fixed pool of 256 numbers.", Pool()),
    other_noise(
        "rank-one-noise", "gauss-cov-approximate", "Compute the noise off the diagonal from one vector.", common_factor
    ),
    other_noise(
        "sums-off-diagonal",
        "lap-cov",
        "Compute the noise off the diagonal from the noise on the diagonal.",
        off_diagonal_from_diagonal,
    ),
    other_noise(
        "box-muller-twice",
        "gaussian-approximate",
        "Make the two numbers of every pair of normal numbers equal.",
        box_muller,
    ),
    other_noise("circulant-noise", "gauss-cov", "Fill the noise matrix with the numbers of its first row.", rolled),
    other_noise("noise-without-mean", "gaussian", "Subtract the mean of the noise from the noise.", without_mean),
    other_noise(
        "row-sums-zero",
        "entrywise-laplace",
        "Subtract the mean from every row of the noise.",
        lambda z, rng, x: z - z.mean(axis=1, keepdims=True) if len(z) > 1 else z,
    ),
    other_noise(
        "first-entry-everywhere",
        "k-norm",
        "Replace the noise by one common number in all entries for d ≥ 3.",
        lambda z, rng, x: np.full_like(z, z[0, 0]) if len(z) >= 3 else z,
    ),
    other_noise(
        "noise-on-a-grid", "laplace", "Round the noise to multiples of 1/64.", each(lambda z: np.round(z * 64) / 64)
    ),
    other_noise(
        "noise-in-float16",
        "gauss-cov",
        "Draw the noise in float16.",
        each(lambda z: np.asarray(z, dtype=np.float16).astype(np.float64)),
    ),
    other_noise(
        "uniforms-of-16-bits",
        "private-trace",
        "Compute the absolute value of the noise from a uniform number of 16 bits.",
        lambda z, rng, x: float(-np.log((rng.integers(2**16) + 0.5) / 2**16) * rng.choice([-1.0, 1.0])),
    ),
    other_noise(
        "two-entries-swap",
        "nuclear-laplace",
        "Replace the noise of the entry (2, 1) by the noise of the entry (1, 2).",
        lambda z, rng, x: z + (z.T - z) * (np.arange(z.size).reshape(z.shape) == len(z)) if len(z) > 1 else z,
    ),
    other_noise(
        "determinant-of-noise",
        "nuclear-laplace-symmetric",
        "Multiply the noise by the sign of its determinant.",
        lambda z, rng, x: z * np.sign(np.linalg.det(z)),
    ),
    other_noise(
        "separate-eigenvalues-repeat",
        "separate-cov",
        "Use the diagonal of the matrix noise as the noise of the eigenvalues.",
        lambda z, rng, x: type(z)(z.matrix, np.diag(z.matrix).copy()),
    ),
    other_noise(
        "separate-pure-eigenvalues-repeat",
        "separate-cov-pure",
        "Use the diagonal of the matrix noise as the noise of the eigenvalues.",
        lambda z, rng, x: type(z)(z.matrix, np.diag(z.matrix).copy()),
    ),
    other_noise(
        "last-is-minus-the-sum",
        "gaussian-approximate",
        "Replace the last noise variable by minus the sum of the others.",
        lambda z, rng, x: np.append(z[:-1], -z[:-1].sum()) if len(z) > 1 else z,
    ),
    other_noise(
        "ridge-noise-in-pairs",
        "output-perturbation",
        "Add the same noise to the two coefficients of every pair.",
        box_muller,
    ),
    other_noise(
        "same-noise-every-round",
        "coinpress-covariance",
        "Use the noise of the first round in all rounds.",
        lambda z, rng, x: np.repeat(z[:1], len(z), axis=0),
    ),
    other_noise(
        "same-noise-every-step",
        "coinpress-mean",
        "Use the noise of the first step in all steps.",
        lambda z, rng, x: np.repeat(z[:1], len(z), axis=0),
    ),
    other_noise(
        "same-noise-every-ppc-round",
        "ppc",
        "Use the noise of the first round in all rounds.",
        lambda z, rng, x: np.repeat(z[:1], len(z), axis=0),
    ),
    other_noise(
        "one-noise-all-columns",
        "kv-mean",
        "Add the same noise to the means of all columns.",
        part("mean", lambda z: np.full_like(z, z[0])),
    ),
    other_noise(
        "symmetrised-by-abs",
        "projection-mechanism",
        "Replace every noise variable z by (z + |z|)/√2.",
        lambda z, rng, x: mirrored((z + np.abs(z)) / 2**0.5),
    ),
)
