"""Negative controls of the mechanisms in the folder building_blocks.

Among them are broken variants of the sparse vector technique (Lyu–Su–Li 2017).
"""

from collections.abc import Callable
from functools import partial

import numpy as np

from covassay.reference.domain import Matrix, Vector, second_moment, unit_rows
from covassay.reference.laws import k_norm as k_norm_law
from covassay.reference.mechanisms.building_blocks import above_threshold, gaussian, laplace, private_trace
from covassay.reference.mechanisms.building_blocks.exponential import ENERGY_RANGE, exponent
from covassay.reference.mechanisms.building_blocks.gaussian_approximate import classical_multiplier
from covassay.reference.mechanisms.building_blocks.private_radius import PRECISION, public_radii
from covassay.reference.mechanisms.pure import k_norm
from covassay.reference.privacy import ApproximateDP
from tests.negative_controls.negative_control import NegativeControl, by_law, vectorised

DrawMany = Callable[..., Matrix]  # a function that maps (x, size, rng=, epsilon=) to `size` outputs


def _energies(x: Matrix) -> Vector:
    return (unit_rows(x) ** 2).sum(axis=0)


def sparse_vector(
    threshold: float = 1.0, queries: float = 1.0, *, refreshed: bool = True, with_value: bool = False
) -> DrawMany:
    """Return the mechanism AboveThreshold with its two noise scales multiplied by the factors `threshold` and
    `queries`."""

    def draw_many(x: Matrix, size: int, *, rng: np.random.Generator, epsilon: float) -> Matrix:
        n, d = x.shape
        z = threshold * above_threshold.threshold_scale(epsilon) * rng.laplace(size=(size, 1))
        nu = queries * above_threshold.query_scale(epsilon, "paper") * rng.laplace(size=(size, d if refreshed else 1))
        noisy = np.hstack([_energies(x) + nu, np.full((size, 1), np.inf)])
        position = np.argmax(noisy >= n / d + z, axis=1)
        if with_value:
            return np.where(position < d, noisy[np.arange(size), np.minimum(position, d - 1)], 0.0)
        return position + 1.0

    return draw_many


def exact_radius(x: Matrix, size: int, *, rng: np.random.Generator, epsilon: float) -> Vector:
    """Return the smallest of the public radii that is at least the norm of every row, without noise."""
    radii = public_radii(PRECISION)
    largest = float(np.linalg.norm(unit_rows(x), axis=1).max())
    return np.full(size, radii[np.argmax(radii >= min(largest, 1.0))])


def laplace_noise(noise: Callable[[np.random.Generator, int, int], Matrix]) -> DrawMany:
    """Return the Laplace mechanism with its noise replaced by noise(rng, size, d), an array of shape (size, d)."""

    def draw_many(x: Matrix, size: int, *, rng: np.random.Generator, epsilon: float) -> Matrix:
        n, d = x.shape
        scale = laplace.noise_scale(laplace.second_moments_sensitivity(n, d), epsilon)
        return _energies(x) / n + scale * noise(rng, size, d)

    return draw_many


def half_trace_noise(x: Matrix, size: int, *, rng: np.random.Generator, epsilon: float) -> Vector:
    """Release the trace with half the noise."""
    n = len(x)
    return _energies(x).sum() / n + private_trace.laplace_scale(n, epsilon) / 2 * rng.laplace(size=size)


def half_score_sensitivity(x: Matrix, size: int, *, rng: np.random.Generator, epsilon: float) -> Vector:
    """Run the exponential mechanism with twice the correct exponent."""
    eta = 2 * exponent(epsilon, ENERGY_RANGE)
    return np.argmax(eta * _energies(x) + rng.gumbel(size=(size, x.shape[1])), axis=1) + 1.0


def rare_outcomes_lost(x: Matrix, size: int, *, rng: np.random.Generator, epsilon: float) -> Vector:
    """Run the exponential mechanism without the outcomes of probability below 1/10 000."""
    weights = exponent(epsilon, ENERGY_RANGE) * _energies(x)
    p = np.exp(weights - weights.max())
    p = np.where(p / p.sum() < 1e-4, 0.0, p)
    return rng.choice(len(p), size=size, p=p / p.sum()) + 1.0


def gaussian_sensitivity_one(x: Matrix, *, rho: float, rng: np.random.Generator) -> Vector:
    """Calibrate Gaussian noise to 1/n, the sensitivity for adding or removing a row, in place of √2/n."""
    return gaussian.sample(x, rng, rho=rho * (2 if x.shape[1] > 1 else 1))


def classical_beyond_one(x: Matrix, *, epsilon: float, delta: float, rng: np.random.Generator) -> Vector:
    """Use σ = Δ √(2 ln(1.25/δ))/ε for ε above 1, where the classical theorem does not hold."""
    rows = unit_rows(x)
    n, d = rows.shape
    sigma = gaussian.second_moments_sensitivity(n, d) * classical_multiplier(epsilon, delta)
    return np.diag(second_moment(rows)) + sigma * rng.standard_normal(d)


# a function that maps (d, rng, size) to noise of shape (size, d, d)
Noise = Callable[[int, np.random.Generator, int], Matrix]


def k_norm_noise(noise: Noise, body: k_norm_law.Body) -> DrawMany:
    """Return the K-norm mechanism with its noise replaced."""

    def draw_many(x: Matrix, size: int, *, rng: np.random.Generator, epsilon: float) -> Matrix:
        return np.array([k_norm.release(x, z, epsilon=epsilon, body=body) for z in noise(x.shape[1], rng, size)])

    return draw_many


def _unthinned(d: int, rng: np.random.Generator, size: int) -> Matrix:
    z = k_norm_law.sample("schatten1", d, rng, size)
    radius = rng.gamma(k_norm_law.degrees_of_freedom(d), size=size)
    return z * (radius / k_norm_law.norm(z, "covariance"))[:, None, None]


def _inside(d: int, rng: np.random.Generator, size: int) -> Matrix:
    shrunk = rng.random(size) ** (1 / k_norm_law.degrees_of_freedom(d))
    return k_norm_law.sample("covariance", d, rng, size) * shrunk[:, None, None]


def _positive_entries(d: int, rng: np.random.Generator, size: int) -> Matrix:
    z = k_norm_law.sample("linf", d, rng, size)
    return np.where(np.eye(d) > 0, z, np.abs(z))


OUTPUT, EVENT = ("law", "output"), ("privacy", "event")
_svt = partial(vectorised, mechanism="above-threshold", options=(("calibration", "paper"),))
_laplace = partial(vectorised, mechanism="laplace")
_k_norm = partial(vectorised, mechanism="k-norm")
NEGATIVE_CONTROLS = (
    _svt(
        "sparse-vector-no-query-noise",
        "Compare the exact queries with a noisy threshold.",
        (OUTPUT, EVENT),
        sparse_vector(queries=0.0),
        diagnosis="the queries have no noise",
        seen_in="Stoddard et al. 2014",
    ),
    _svt(
        "sparse-vector-no-threshold-noise",
        "Compare noisy queries with the exact threshold.",
        (OUTPUT,),
        sparse_vector(threshold=0.0),
    ),
    _svt(
        "sparse-vector-stale-noise",
        "Draw one number as the noise of all queries.",
        (OUTPUT, EVENT),
        sparse_vector(refreshed=False),
    ),
    _svt(
        "sparse-vector-quarter-noise",
        "Add a quarter of the noise, as if four positive answers cost as much as one.",
        (OUTPUT,),
        sparse_vector(0.25, 0.25),
        seen_in="Lee–Clifton 2014",
    ),
    _svt(
        "sparse-vector-noisy-value",
        "Release the noisy value of the query that is above the threshold.",
        (OUTPUT,),
        sparse_vector(with_value=True),
        seen_in="Roth's lecture notes, 2011",
    ),
    vectorised(
        "exact-radius-search",
        "Release the smallest radius that contains all rows, without noise.",
        (OUTPUT, EVENT),
        exact_radius,
        mechanism="private-radius",
        options=(("calibration", "paper"),),
    ),
    _laplace(
        "laplace-sensitivity-one",
        "Calibrate the noise to 1/n, the sensitivity for adding or removing a row, in place of 2/n.",
        (("law", "coordinate 1"), EVENT),
        laplace_noise(lambda rng, size, d: rng.laplace(size=(size, d)) / 2),
        diagnosis="half the calibrated scale",
        seen_in="google-research, private_covariance_estimation",
    ),
    _laplace(
        "laplace-shared-noise",
        "Add the same Laplace variable to every coordinate.",
        by_law("independence"),
        laplace_noise(lambda rng, size, d: np.tile(rng.laplace(size=(size, 1)), d)),
    ),
    _laplace(
        "laplace-second-coordinate-bare",
        "Add noise only to the first coordinate.",
        by_law("coordinate 2"),
        laplace_noise(lambda rng, size, d: rng.laplace(size=(size, d)) * (np.arange(d) < 1)),
    ),
    NegativeControl(
        "gaussian-sensitivity-one",
        gaussian_sensitivity_one.__doc__ or "",
        "gaussian",
        by_law("coordinate 1"),
        gaussian_sensitivity_one,
    ),
    NegativeControl(
        "classical-gaussian-beyond-one",
        classical_beyond_one.__doc__ or "",
        "gaussian-approximate",
        by_law("coordinate 1"),
        classical_beyond_one,
        (("calibration", "tight"),),
        claim=ApproximateDP(30.0, 0.1),
    ),
    vectorised(
        "half-trace-noise",
        "Halve the noise of the trace.",
        by_law("noise"),
        half_trace_noise,
        mechanism="private-trace",
    ),
    vectorised(
        "half-score-sensitivity",
        "Use half of the sensitivity of the score, so that the exponent is twice too large.",
        (OUTPUT, EVENT),
        half_score_sensitivity,
        mechanism="exponential",
        diagnosis="twice the calibrated one",
    ),
    vectorised(
        "rare-outcomes-lost",
        "Round probabilities below 1/10 000 to 0, so that the privacy loss is infinite.",
        (OUTPUT,),
        rare_outcomes_lost,
        mechanism="exponential",
    ),
    _k_norm(
        "k-norm-not-thinned",
        "For the covariance body, take the direction of the noise from a uniform point of the nuclear-norm ball.",
        by_law("direction"),
        k_norm_noise(_unthinned, "covariance"),
        options=(("body", "covariance"),),
    ),
    _k_norm(
        "k-norm-uniform-point",
        "Multiply a Gamma(D) radius by a uniform point of the body in place of a point of its boundary.",
        by_law("radius"),
        k_norm_noise(_inside, "covariance"),
        options=(("body", "covariance"),),
    ),
    _k_norm(
        "k-norm-positive-entries",
        "Draw the entries off the diagonal without a random sign.",
        by_law("orientation"),
        k_norm_noise(_positive_entries, "linf"),
        options=(("body", "linf"),),
    ),
)
