"""Draw from the nuclear-norm ball by hit-and-run. The speed of the exact sampler is compared with this baseline.

Let Z be uniform on {‖Z‖_* ≤ 1} ⊂ R^{d×d}, and multiply it by an independent radius with the law Gamma(d² + 1). The
product has density ∝ exp(−‖Z‖_*). One step of hit-and-run draws a uniform direction V and moves to a uniform point of
the chord {t : ‖Z + tV‖_* ≤ 1}. Each norm costs one singular value decomposition (SVD), and the decompositions are
nearly the whole cost of a step.

The function t ↦ ‖Z + tV‖_* is convex, so that it reaches 1 once on each side of 0. The search for these ends of the
chord uses the parabola through t = −h, 0, h first, and then safeguarded secants. Many chains are computed together, by
NumPy calls that work on all of them. A chain that has found the ends of its chord costs nothing while other chains
still search.
"""

from dataclasses import dataclass

import numpy as np

from covassay.reference.domain import Matrix, Vector
from covassay.reference.laws import nuclear_laplace

# A chord ends where the nuclear norm is 1. The search for an end stops if the error of the norm is at most this number
# times 1/d², which is the typical distance of a chain from the sphere.
CHORD_TOLERANCE = 1e-3
CHORD_STEPS = 200
WINDOW = 6.0  # Sokal's c


def on_lines(z: Matrix, t: Vector, v: Matrix) -> Matrix:
    """Return Z + tV, with one t for each matrix."""
    return z + t[:, None, None] * v


# THE CHAINS


class Chains:
    """The object holds independent hit-and-run chains. The array `z` has the shape (chains, d, d), and its matrices
    never leave the ball."""

    def __init__(self, start: Matrix, rng: np.random.Generator) -> None:
        self.z: Matrix = start
        self.rng = rng
        self.decompositions = 0
        self.singular_values = self.decompose(start)

    def decompose(self, z: Matrix) -> Matrix:
        """Return the singular values, largest first, and count how many matrices were decomposed."""
        self.decompositions += len(z)
        return np.linalg.svd(z, compute_uv=False)

    @property
    def norms(self) -> Vector:
        """Return ‖Z‖_* of every chain."""
        return self.singular_values.sum(axis=1)

    def ends(self, v: Matrix) -> Vector:
        """Return the distance to the sphere along v, and then along −v, in the shape (2 · chains,).

        The search approaches the sphere from within the ball.
        """
        chains, d, _ = self.z.shape
        z, v = np.concatenate([self.z, self.z]), np.concatenate([v, -v])
        tolerance = CHORD_TOLERANCE / d**2
        inner, outer = np.zeros(2 * chains), np.full(2 * chains, 2.0)  # ‖V‖_* ≥ ‖V‖_F = 1, so the chord is within ±2

        # the search tries t = h, and then the zero of the parabola through the values at −h, 0 and h
        h = 1.6 * d**-1.5  # a typical half chord
        t = np.full(2 * chains, h)
        origin, excess = np.tile(self.norms - 1, 2), self.decompose(on_lines(z, t, v)).sum(axis=1) - 1
        opposite = np.roll(excess, chains)
        slope, curvature = (excess - opposite) / (2 * h), (excess + opposite - 2 * origin) / (2 * h**2)
        with np.errstate(divide="ignore", invalid="ignore"):
            following = -2 * origin / (slope + np.sqrt(slope**2 - 4 * curvature * origin))

        # A secant aims at the middle of the allowed interval [−tolerance, 0]. If it leaves the bracket, and at every
        # sixth step, the search bisects the bracket instead.
        todo = np.arange(2 * chains)
        for i in range(CHORD_STEPS):
            inner[todo] = np.where(excess[todo] <= 0, np.maximum(inner[todo], t[todo]), inner[todo])
            outer[todo] = np.where(excess[todo] > 0, np.minimum(outer[todo], t[todo]), outer[todo])
            todo = todo[~((-tolerance <= excess[todo]) & (excess[todo] <= 0))]
            if len(todo) == 0:
                return inner
            x, low, high = following[todo], inner[todo], outer[todo]
            x = np.where((low < x) & (x < high) & (i % 6 != 5), x, (low + high) / 2)
            y = self.decompose(on_lines(z[todo], x, v[todo])).sum(axis=1) - 1
            with np.errstate(divide="ignore", invalid="ignore"):
                following[todo] = x - (y + tolerance / 2) * (x - t[todo]) / (y - excess[todo])
            t[todo], excess[todo] = x, y
        raise ArithmeticError(f"{len(todo)} ends of chords were not found in {CHORD_STEPS} steps")

    def move(self, v: Matrix) -> None:
        forward, back = np.split(self.ends(v), 2)
        self.z = on_lines(self.z, self.rng.uniform(-back, forward), v)
        self.singular_values = self.decompose(self.z)

    def step(self) -> None:
        """Take one step of every chain."""
        v = self.rng.standard_normal(self.z.shape)
        self.move(v / np.linalg.norm(v, axis=(1, 2), keepdims=True))

    def run(self, steps: int) -> Matrix:
        """Return ‖Z‖/‖Z‖_* after each step, in the shape (steps, chains)."""
        ratios = np.empty((steps, len(self.z)))
        for i in range(steps):
            self.step()
            ratios[i] = self.singular_values[:, 0] / self.norms
        return ratios

    def noise(self) -> Matrix:
        """Return `z` times an exactly drawn radius. The product has density ∝ exp(−‖Z‖_*) as soon as the chains have
        forgotten their start.
        """
        radius = self.rng.gamma(self.z.shape[1] ** 2 + 1, size=len(self.z))
        return self.z * radius[:, None, None]


def stationary_start(dimension: int, chains: int, rng: np.random.Generator) -> Matrix:
    """Return exact draws from the uniform law on the ball, from which chains need no burn-in."""
    z = nuclear_laplace.sample(dimension, rng, chains)
    radius = rng.random(chains) ** (1 / dimension**2)
    return z * (radius / nuclear_laplace.nuclear_norm(z))[:, None, None]


# EFFECTIVE SAMPLE SIZE


@dataclass(frozen=True)
class AutocorrelationTime:
    """The autocorrelation time is 1 + 2 Σ_k ρ_k, where ρ_k is the autocorrelation at lag k ≥ 1. It is the number of
    steps of a chain that are worth one independent sample. The sum stops at the lag `window`.
    """

    value: float
    standard_error: float
    window: int


def autocorrelation_time(series: Matrix) -> AutocorrelationTime:
    """Return the integrated autocorrelation time of a positively correlated stationary series of shape (steps, chains).

    The estimator is Sokal's (Monte Carlo Methods in Statistical Mechanics, 1997, §3). Let τ(M) = 1/2 + Σ_{1≤k≤M} ρ_k.
    The window M is the smallest M ≥ 6 τ(M), and the time is 2 τ(M). The autocovariances are averaged over the chains,
    about the common mean. The sum leaves out the terms ρ_k with k > M. If the autocorrelation is one exponential, the
    omitted terms are about e^{−6} times the whole sum. If the autocorrelation is a sum of several exponentials, the
    omitted terms are larger. The estimated time is then too small, and the chain seems to mix faster than it does. The
    standard error is that of Madras and Sokal (1988), 2τ √(2(2M + 1)/(steps · chains)).
    """
    steps, chains = series.shape
    spectrum = np.fft.rfft(series - series.mean(), 2 * steps, axis=0)
    products = np.fft.irfft((np.abs(spectrum) ** 2).mean(axis=1), 2 * steps)[:steps]
    autocovariance = products / np.arange(steps, 0, -1)
    times = 2 * np.cumsum(autocovariance / autocovariance[0]) - 1
    wide_enough = np.flatnonzero(np.arange(steps) >= WINDOW * times / 2)
    if len(wide_enough) == 0:
        raise ArithmeticError(f"{steps} steps are too few: no window M is at least {WINDOW} τ(M)")
    window = int(wide_enough[0])
    value = float(times[window])
    return AutocorrelationTime(value, value * float(np.sqrt(2 * (2 * window + 1) / (steps * chains))), window)
