"""Negative controls whose noise repeats itself, obeys a relation, or has few values, unlike any continuous law."""

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
    """Make a control of the reference with a generator of its own, seeded from the given generator and the data."""

    def draw(x: Matrix, *, rng: np.random.Generator, **budget: float) -> Any:
        return mechanism(mechanism_name).sample(x, np.random.default_rng(seed(rng, x)), **budget)

    return NegativeControl(name, mistake, mechanism_name, (), draw)


def drawn_below(bound: int) -> Callable[[np.random.Generator, Matrix], int]:
    """Make a function that draws a seed from 0, …, bound − 1."""
    return lambda rng, x: int(rng.integers(bound))


class Antithetic:
    """Repeats in every second call the noise of the previous call with the opposite sign."""

    def __init__(self) -> None:
        self.before: dict[int, Any] = {}

    def __call__(self, z: Any, rng: np.random.Generator, x: Matrix) -> Any:
        """Return the noise, or the opposite of the last noise."""
        kept = self.before.pop(x.shape[1], None)
        if kept is None:
            self.before[x.shape[1]] = z
            return z
        return -kept


class Smooth:
    """Draws noise of an autoregression: 0.9 times the last noise plus some new noise.

    The noise of a single call has the right law.
    """

    def __init__(self) -> None:
        self.last: dict[int, Any] = {}

    def __call__(self, z: Any, rng: np.random.Generator, x: Matrix) -> Any:
        """Return the next noise of the autoregression."""
        d = x.shape[1]
        self.last[d] = 0.9 * self.last[d] + 0.19**0.5 * z if d in self.last else z
        return self.last[d]


class Pool:
    """Draws 256 numbers once, and then picks from them at random."""

    def __init__(self) -> None:
        self.numbers: Any = None

    def __call__(self, z: Any, rng: np.random.Generator, x: Matrix) -> Any:
        """Choose numbers from the pool."""
        if self.numbers is None:
            self.numbers = rng.laplace(size=256)
        return rng.choice(self.numbers, size=z.shape)


def common_factor(z: Matrix, rng: np.random.Generator, x: Matrix) -> Matrix:
    """Draws noise of rank one."""
    v = rng.standard_normal(len(z))
    return np.outer(v, v) - np.diag(v**2) + np.diag(np.diag(z))


def off_diagonal_from_diagonal(z: Matrix, rng: np.random.Generator, x: Matrix) -> Matrix:
    """Sets the noise z_ij to (z_ii + z_jj)/√2 off the diagonal."""
    sums = np.add.outer(np.diag(z), np.diag(z)) / 2**0.5
    return np.asarray(np.where(np.eye(len(z)) > 0, z, sums))


def without_mean(z: Matrix, rng: np.random.Generator, x: Matrix) -> Matrix:
    """Subtracts the mean from the noise."""
    return np.asarray(z - z.mean() if len(z) > 1 else z)


def box_muller(z: Matrix, rng: np.random.Generator, x: Matrix) -> Matrix:
    """Uses the cosine twice in the method of Box and Muller: the two numbers of a pair are equal."""
    return np.resize(np.repeat(z[: (len(z) + 1) // 2], 2), z.shape)


def rolled(z: Matrix, rng: np.random.Generator, x: Matrix) -> Matrix:
    """Makes a circulant matrix from the first row of the noise."""
    d = len(z)
    return np.asarray(z[0][np.abs(np.subtract.outer(np.arange(d), np.arange(d)))])


def reused_seed(x: Matrix, *, rng: np.random.Generator, rho: float) -> Matrix:
    """Restarts from the seed of the given generator, so that all calls have the same noise."""
    seed: Any = rng.bit_generator.seed_seq
    return gauss_cov.sample(x, np.random.default_rng(seed), rho=rho)


def kept_output() -> Draw:
    """Make a target that caches its outputs by the shape of the data."""
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
        "Caches outputs by the shape of the data.",
        "nuclear-laplace-symmetric",
        (),
        kept_output(),
    ),
    reseeded(
        "seed-from-the-data",
        "gaussian",
        "Seeds its generator with a hash of the data.",
        lambda rng, x: abs(hash(x.tobytes())),
    ),
    reseeded("seed-from-n", "laplace", "Seeds its generator with n and d.", lambda rng, x: list(x.shape)),
    reseeded("seeds-of-16-bits", "separate-cov", "Draws a seed of 12 bits for every call.", drawn_below(4096)),
    reseeded("seeds-of-a-byte", "bingham", "Draws a seed of 8 bits for every call.", drawn_below(256)),
    reseeded("seed-of-a-million", "centred-covariance", "Draws a seed below 10⁶ for every call.", drawn_below(10**6)),
    other_noise(
        "antithetic-calls", "gaussian", "Gives every second call the opposite of the last noise.", Antithetic()
    ),
    other_noise("smooth-calls", "gauss-cov", "Makes noise by an autoregression from call to call.", Smooth()),
    other_noise("pool-of-noise", "laplace", "Picks noise from a pool of 256 numbers.", Pool()),
    other_noise(
        "rank-one-noise", "gauss-cov-approximate", "Makes the noise off the diagonal from one vector.", common_factor
    ),
    other_noise(
        "sums-off-diagonal",
        "lap-cov",
        "Makes the noise off the diagonal from the diagonal.",
        off_diagonal_from_diagonal,
    ),
    other_noise("box-muller-twice", "gaussian-approximate", "Uses the cosine of Box–Muller twice.", box_muller),
    other_noise("circulant-noise", "gauss-cov", "Fills the noise from its first row.", rolled),
    other_noise("noise-without-mean", "gaussian", "Takes the mean off the noise.", without_mean),
    other_noise(
        "row-sums-zero",
        "entrywise-laplace",
        "Subtracts the mean from every row of the noise.",
        lambda z, rng, x: z - z.mean(axis=1, keepdims=True) if len(z) > 1 else z,
    ),
    other_noise(
        "first-entry-everywhere",
        "k-norm",
        "Replaces the noise by one common number in all entries for d ≥ 3.",
        lambda z, rng, x: np.full_like(z, z[0, 0]) if len(z) >= 3 else z,
    ),
    other_noise(
        "noise-on-a-grid", "laplace", "Rounds the noise to multiples of 1/64.", each(lambda z: np.round(z * 64) / 64)
    ),
    other_noise(
        "noise-in-float16",
        "gauss-cov",
        "Draws the noise in float16.",
        each(lambda z: np.asarray(z, dtype=np.float16).astype(np.float64)),
    ),
    other_noise(
        "uniforms-of-16-bits",
        "private-trace",
        "Inverts a uniform number of 16 bits.",
        lambda z, rng, x: float(-np.log((rng.integers(2**16) + 0.5) / 2**16) * rng.choice([-1.0, 1.0])),
    ),
    other_noise(
        "two-entries-swap",
        "nuclear-laplace",
        "Mirrors the noise of the first two entries.",
        lambda z, rng, x: z + (z.T - z) * (np.arange(z.size).reshape(z.shape) == len(z)) if len(z) > 1 else z,
    ),
    other_noise(
        "determinant-of-noise",
        "nuclear-laplace-symmetric",
        "Removes the sign of the determinant from the noise.",
        lambda z, rng, x: z * np.sign(np.linalg.det(z)),
    ),
    other_noise(
        "separate-eigenvalues-repeat",
        "separate-cov",
        "Uses the diagonal of the first noise for the eigenvalues.",
        lambda z, rng, x: type(z)(z.matrix, np.diag(z.matrix).copy()),
    ),
    other_noise(
        "separate-pure-eigenvalues-repeat",
        "separate-cov-pure",
        "Uses the diagonal of the first noise for the eigenvalues.",
        lambda z, rng, x: type(z)(z.matrix, np.diag(z.matrix).copy()),
    ),
    other_noise(
        "last-is-minus-the-sum",
        "gaussian-approximate",
        "Makes the last noise minus the sum of the others.",
        lambda z, rng, x: np.append(z[:-1], -z[:-1].sum()) if len(z) > 1 else z,
    ),
    other_noise("ridge-noise-in-pairs", "output-perturbation", "Gives coefficients in pairs one noise.", box_muller),
    other_noise(
        "same-noise-every-round",
        "coinpress-covariance",
        "Uses the noise of the first round in all rounds.",
        lambda z, rng, x: np.repeat(z[:1], len(z), axis=0),
    ),
    other_noise(
        "same-noise-every-step",
        "coinpress-mean",
        "Uses the noise of the first step in all steps.",
        lambda z, rng, x: np.repeat(z[:1], len(z), axis=0),
    ),
    other_noise(
        "same-noise-every-ppc-round",
        "ppc",
        "Uses the noise of the first round in all rounds.",
        lambda z, rng, x: np.repeat(z[:1], len(z), axis=0),
    ),
    other_noise(
        "one-noise-all-columns",
        "kv-mean",
        "Uses one noise for the means of all columns.",
        part("mean", lambda z: np.full_like(z, z[0])),
    ),
    other_noise(
        "symmetrised-by-abs",
        "projection-mechanism",
        "Mirrors |z| below the diagonal and averages.",
        lambda z, rng, x: mirrored((z + np.abs(z)) / 2**0.5),
    ),
)
