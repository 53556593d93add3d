"""Negative controls whose noise repeats itself, obeys a relation, or has few values: what continuous laws never do."""

from collections.abc import Callable
from typing import Any

import numpy as np

from covassay.reference.domain import Matrix
from covassay.reference.mechanisms.concentrated import gauss_cov
from covassay.reference.mechanisms.pure import nuclear_laplace_symmetric
from covassay.reference.mechanisms.registry import mechanism
from covassay.verification.audit.negative_controls.broken import broken, each, mirrored, part
from covassay.verification.audit.negative_controls.negative_control import NegativeControl

Draw = Callable[..., Any]


def reseeded(name: str, seed: Callable[[np.random.Generator, Matrix], Any]) -> Draw:
    """The mechanism of that name with a generator of its own."""

    def draw(x: Matrix, *, rng: np.random.Generator, **budget: float) -> Any:
        return mechanism(name).sample(x, np.random.default_rng(seed(rng, x)), **budget)

    return draw


class Antithetic:
    """Every second call repeats the noise of the call before with the opposite sign."""

    def __init__(self) -> None:
        self.before: dict[int, Any] = {}

    def __call__(self, z: Any, rng: np.random.Generator, x: Matrix) -> Any:
        """The noise, or the opposite of the last one."""
        kept = self.before.pop(x.shape[1], None)
        if kept is None:
            self.before[x.shape[1]] = z
            return z
        return -kept


class Smooth:
    """Noise of an autoregression: 0.9 times the last noise and a little of the new one. Each call alone is right."""

    def __init__(self) -> None:
        self.last: dict[int, Any] = {}

    def __call__(self, z: Any, rng: np.random.Generator, x: Matrix) -> Any:
        """The next noise."""
        d = x.shape[1]
        self.last[d] = 0.9 * self.last[d] + 0.19**0.5 * z if d in self.last else z
        return self.last[d]


class Pool:
    """256 numbers, drawn once and then picked at random."""

    def __init__(self) -> None:
        self.numbers: Any = None

    def __call__(self, z: Any, rng: np.random.Generator, x: Matrix) -> Any:
        """A choice from the pool."""
        if self.numbers is None:
            self.numbers = rng.laplace(size=256)
        return rng.choice(self.numbers, size=z.shape)


def common_factor(z: Matrix, rng: np.random.Generator, x: Matrix) -> Matrix:
    """Noise of rank one."""
    v = rng.standard_normal(len(z))
    return np.outer(v, v) - np.diag(v**2) + np.diag(np.diag(z))


def off_diagonal_from_diagonal(z: Matrix, rng: np.random.Generator, x: Matrix) -> Matrix:
    """z_ij = (z_ii + z_jj)/√2 off the diagonal."""
    sums = np.add.outer(np.diag(z), np.diag(z)) / 2**0.5
    return np.asarray(np.where(np.eye(len(z)) > 0, z, sums))


def box_muller(z: Matrix, rng: np.random.Generator, x: Matrix) -> Matrix:
    """Box–Muller with the cosine twice: neighbours in a pair are equal."""
    return np.resize(np.repeat(z[: (len(z) + 1) // 2], 2), z.shape)


def rolled(z: Matrix, rng: np.random.Generator, x: Matrix) -> Matrix:
    """A circulant matrix from the first row of the noise."""
    d = len(z)
    return np.asarray(z[0][np.abs(np.subtract.outer(np.arange(d), np.arange(d)))])


def reused_seed(x: Matrix, *, rng: np.random.Generator, rho: float) -> Matrix:
    """Starts again from the seed of the generator that it is given, so that all calls have one noise."""
    seed: Any = rng.bit_generator.seed_seq
    return gauss_cov.sample(x, np.random.default_rng(seed), rho=rho)


def kept_output() -> Draw:
    """A cache of outputs by the shape of the data."""
    kept: dict[tuple[int, ...], Any] = {}

    def draw(x: Matrix, *, rng: np.random.Generator, epsilon: float) -> Matrix:
        if x.shape not in kept:
            kept[x.shape] = nuclear_laplace_symmetric.sample(x, rng, epsilon=epsilon)
        return np.array(kept[x.shape])

    return draw


_by_hand = NegativeControl
NEGATIVE_CONTROLS = (
    _by_hand("seed-of-the-generator", reused_seed.__doc__ or "", "gauss-cov", (), reused_seed),
    _by_hand(
        "outputs-cached-by-shape",
        "Caches outputs by the shape of the data.",
        "nuclear-laplace-symmetric",
        (),
        kept_output(),
    ),
    _by_hand(
        "seed-from-the-data",
        "Seeds its generator with a hash of the data.",
        "gaussian",
        (),
        reseeded("gaussian", lambda rng, x: abs(hash(x.tobytes()))),
    ),
    _by_hand(
        "seed-from-n",
        "Seeds its generator with n and d.",
        "laplace",
        (),
        reseeded("laplace", lambda rng, x: list(x.shape)),
    ),
    _by_hand(
        "seeds-of-16-bits",
        "Draws a seed of 12 bits for every call.",
        "separate-cov",
        (),
        reseeded("separate-cov", lambda rng, x: int(rng.integers(4096))),
    ),
    _by_hand(
        "seeds-of-a-byte",
        "Draws a seed of 8 bits for every call.",
        "bingham",
        (),
        reseeded("bingham", lambda rng, x: int(rng.integers(256))),
    ),
    _by_hand(
        "seed-of-a-million",
        "Draws a seed below 10⁶ for every call.",
        "centred-covariance",
        (),
        reseeded("centred-covariance", lambda rng, x: int(rng.integers(10**6))),
    ),
    broken(
        "antithetic-calls", "gaussian", "Gives every second call the opposite of the last noise.", noise=Antithetic()
    ),
    broken("smooth-calls", "gauss-cov", "Makes noise by an autoregression from call to call.", noise=Smooth()),
    broken("pool-of-noise", "laplace", "Picks noise from a pool of 256 numbers.", noise=Pool()),
    broken(
        "rank-one-noise",
        "gauss-cov-approximate",
        "Makes the noise off the diagonal from one vector.",
        noise=common_factor,
    ),
    broken(
        "sums-off-diagonal",
        "lap-cov",
        "Makes the noise off the diagonal from the diagonal.",
        noise=off_diagonal_from_diagonal,
    ),
    broken("box-muller-twice", "gaussian-approximate", "Uses the cosine of Box–Muller twice.", noise=box_muller),
    broken("circulant-noise", "gauss-cov", "Fills the noise from its first row.", noise=rolled),
    broken(
        "noise-without-mean",
        "gaussian",
        "Takes the mean off the noise.",
        noise=lambda z, rng, x: z - z.mean() if len(z) > 1 else z,
    ),
    broken(
        "row-sums-zero",
        "entrywise-laplace",
        "Takes the mean off every row of the noise.",
        noise=lambda z, rng, x: z - z.mean(axis=1, keepdims=True) if len(z) > 1 else z,
    ),
    broken(
        "first-entry-everywhere",
        "k-norm",
        "Adds one number to all entries of the noise, the same for d ≥ 3.",
        noise=lambda z, rng, x: np.full_like(z, z[0, 0]) if len(z) >= 3 else z,
    ),
    broken(
        "noise-on-a-grid",
        "laplace",
        "Rounds the noise to multiples of 1/64.",
        noise=each(lambda z: np.round(z * 64) / 64),
    ),
    broken(
        "noise-in-float16",
        "gauss-cov",
        "Draws the noise in float16.",
        noise=each(lambda z: np.asarray(z, dtype=np.float16).astype(np.float64)),
    ),
    broken(
        "uniforms-of-16-bits",
        "private-trace",
        "Inverts a uniform number of 16 bits.",
        noise=lambda z, rng, x: float(-np.log((rng.integers(2**16) + 0.5) / 2**16) * rng.choice([-1.0, 1.0])),
    ),
    broken(
        "two-entries-swap",
        "nuclear-laplace",
        "Mirrors the noise of the first two entries.",
        noise=lambda z, rng, x: z + (z.T - z) * (np.arange(z.size).reshape(z.shape) == len(z)) if len(z) > 1 else z,
    ),
    broken(
        "determinant-of-noise",
        "nuclear-laplace-symmetric",
        "Takes the sign of the determinant off the noise.",
        noise=lambda z, rng, x: z * np.sign(np.linalg.det(z)),
    ),
    broken(
        "separate-eigenvalues-repeat",
        "separate-cov",
        "Uses the diagonal of the first noise for the eigenvalues.",
        noise=lambda z, rng, x: type(z)(z.matrix, np.diag(z.matrix).copy()),
    ),
    broken(
        "separate-pure-eigenvalues-repeat",
        "separate-cov-pure",
        "Uses the diagonal of the first noise for the eigenvalues.",
        noise=lambda z, rng, x: type(z)(z.matrix, np.diag(z.matrix).copy()),
    ),
    broken(
        "last-is-minus-the-sum",
        "gaussian-approximate",
        "Makes the last noise minus the sum of the others.",
        noise=lambda z, rng, x: np.append(z[:-1], -z[:-1].sum()) if len(z) > 1 else z,
    ),
    broken("ridge-noise-in-pairs", "output-perturbation", "Gives coefficients in pairs one noise.", noise=box_muller),
    broken(
        "same-noise-every-round",
        "coinpress-covariance",
        "Uses the noise of the first round in all.",
        noise=lambda z, rng, x: np.repeat(z[:1], len(z), axis=0),
    ),
    broken(
        "same-noise-every-step",
        "coinpress-mean",
        "Uses the noise of the first step in all.",
        noise=lambda z, rng, x: np.repeat(z[:1], len(z), axis=0),
    ),
    broken(
        "same-noise-every-ppc-round",
        "ppc",
        "Uses the noise of the first round in all.",
        noise=lambda z, rng, x: np.repeat(z[:1], len(z), axis=0),
    ),
    broken(
        "one-noise-all-columns",
        "kv-mean",
        "Uses one noise for the means of all columns.",
        noise=part("mean", lambda z: np.full_like(z, z[0])),
    ),
    broken(
        "symmetrised-by-abs",
        "projection-mechanism",
        "Mirrors |z| below the diagonal and averages.",
        noise=lambda z, rng, x: mirrored((z + np.abs(z)) / 2**0.5),
    ),
)
