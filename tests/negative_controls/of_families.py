"""Negative controls whose noise has the wrong law in its tails, in rare draws, or at almost the right variance.

A branch of probability p occurs at least once in N draws with probability 1 − (1 − p)^N.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from covassay.reference.domain import Matrix
from covassay.reference.mechanisms.registry import mechanism
from tests.negative_controls.broken import Noise, Output, each, mirrored, other_noise, other_output
from tests.negative_controls.negative_control import NegativeControl

# a function that maps (rng, shape) to independent numbers
Numbers = Callable[[np.random.Generator, tuple[int, ...]], Any]


def drawn(numbers: Numbers, symmetric: bool = False) -> Noise:
    """Return a function that replaces the noise by independent numbers of another law."""

    def noise(z: Any, rng: np.random.Generator, x: Matrix) -> Any:
        values = numbers(rng, np.shape(z))
        return mirrored(values) if symmetric else values if np.ndim(z) else float(values)

    return noise


def redrawn(numbers: Numbers, limit: float) -> Numbers:
    """Return a sampler that draws a number again while its absolute value is above a limit."""

    def draw(rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
        values = np.asarray(numbers(rng, shape))
        while (np.abs(values) > limit).any():
            values = np.where(np.abs(values) > limit, numbers(rng, shape), values)
        return values

    return draw


def sometimes(name: str, mechanism_name: str, mistake: str, probability: float, factor: float) -> NegativeControl:
    """Return a negative control that, with the given probability, multiplies the noise of a draw by a factor."""
    change: Any = each(lambda z: factor * z)
    return other_noise(
        name, mechanism_name, mistake, lambda z, rng, x: change(z, rng, x) if rng.random() < probability else z
    )


def laplace(rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
    """Draw standard Laplace numbers."""
    return rng.laplace(size=shape)


def normal(rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
    """Draw standard normal numbers."""
    return rng.standard_normal(shape)


def twelve_uniforms(rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
    """Draw sums of twelve uniform numbers minus 6, which have variance 1."""
    return rng.random((12, *shape)).sum(axis=0) - 6


def logistic(rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
    """Draw logistic numbers of variance 2."""
    return rng.logistic(scale=6**0.5 / np.pi, size=shape)


def student(rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
    """Draw Student numbers with 8 degrees of freedom and variance 1."""
    return rng.standard_t(8, size=shape) * 0.75**0.5


def heavy(rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
    """Draw a mixture of 95 % N(0, 0.8²) and 5 % N(0, 2.8²), which has variance 1."""
    wide = rng.random(shape) < 0.05
    return rng.standard_normal(shape) * np.where(wide, 7.84, (1 - 0.05 * 7.84) / 0.95) ** 0.5


def geometric(rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
    """Draw discrete Laplace numbers on the multiples of 1/8, as differences of geometric numbers."""
    q = 1 - np.exp(-1 / 8)
    return (rng.geometric(q, size=shape) - rng.geometric(q, size=shape)) / 8


def single_precision(rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
    """Draw Laplace numbers by inversion of uniform numbers in float16."""
    u = np.asarray(rng.random(shape)).astype(np.float16).astype(np.float64) - 0.5
    return -np.sign(u) * np.log1p(-2 * np.minimum(np.abs(u), 0.4999))


def until_positive(name: str) -> Output:
    """Return a function that draws the output again, at most 50 times, until it is positive semidefinite."""
    declared = mechanism(name)
    budget = declared.notion.default.keywords()

    def again(y: Matrix, rng: np.random.Generator, x: Matrix) -> Matrix:
        others = declared.release(x, declared.draw_noise(len(y), rng, size=50), **budget)
        outputs = np.concatenate([y[None], others])
        positive = np.linalg.eigvalsh((outputs + np.swapaxes(outputs, 1, 2)) / 2)[:, 0] >= 0
        chosen: Matrix = outputs[positive.argmax() if positive.any() else -1]
        return chosen

    return again


def shorter(z: Matrix, rng: np.random.Generator, x: Matrix) -> Matrix:
    """If the Frobenius norm of the noise is above 2d, shrink the noise to the norm 2d."""
    return z / max(1.0, float(np.linalg.norm(z)) / (2 * len(z)))


def _retry(name: str, mechanism_name: str) -> NegativeControl:
    mistake = "Draw the output again until it is positive semidefinite."
    return other_output(name, mechanism_name, mistake, until_positive(mechanism_name))


NEGATIVE_CONTROLS = (
    other_noise("laplace-clipped", "laplace", "Clip the noise at 5 scales.", each(lambda z: np.clip(z, -5, 5))),
    other_noise(
        "laplace-redrawn",
        "lap-cov",
        "Draw a noise variable again while it is beyond 4 scales.",
        drawn(redrawn(laplace, 4), True),
    ),
    other_noise(
        "gaussian-clipped", "gaussian", "Clip the noise at 3 standard deviations.", each(lambda z: np.clip(z, -3, 3))
    ),
    other_noise(
        "gaussian-redrawn",
        "gauss-cov",
        "Draw a noise variable again while it is beyond 2.5 standard deviations.",
        drawn(redrawn(normal, 2.5), True),
    ),
    other_noise(
        "gaussian-redrawn-at-six",
        "gaussian-approximate",
        "Draw a noise variable again while it is beyond 6 standard deviations.",
        drawn(redrawn(normal, 6)),
    ),
    other_noise(
        "trace-redrawn",
        "private-trace",
        "Draw a noise variable again while it is beyond 6 scales.",
        drawn(redrawn(laplace, 6)),
    ),
    other_noise(
        "twelve-uniforms",
        "gaussian",
        "Use the sum of twelve uniform numbers in place of a normal number.",
        drawn(twelve_uniforms),
    ),
    other_noise(
        "twelve-uniforms-matrix",
        "gauss-cov-approximate",
        "Use the sum of twelve uniform numbers in place of a normal number.",
        drawn(twelve_uniforms, True),
    ),
    other_noise("logistic-for-laplace", "laplace", "Draw logistic noise of the right variance.", drawn(logistic)),
    other_noise(
        "normal-for-laplace-entries",
        "entrywise-laplace",
        "Draw normal noise of the right variance.",
        drawn(lambda rng, shape: 2**0.5 * normal(rng, shape)),
    ),
    other_noise(
        "student-for-normal-entries", "gauss-cov", "Draw Student noise of the right variance.", drawn(student, True)
    ),
    other_noise(
        "laplace-for-normal",
        "gaussian-approximate",
        "Draw Laplace noise of the right variance.",
        drawn(lambda rng, shape: laplace(rng, shape) / 2**0.5),
    ),
    other_noise(
        "heavy-mixture",
        "gaussian",
        "Draw noise from a mixture of two normal laws with the right variance.",
        drawn(heavy),
    ),
    other_noise(
        "uniform-noise",
        "lap-cov",
        "Draw uniform noise of the right variance.",
        drawn(lambda rng, shape: rng.uniform(-(6**0.5), 6**0.5, shape), True),
    ),
    other_noise(
        "geometric-noise",
        "laplace",
        "Draw discrete Laplace noise on the multiples of an eighth of the scale.",
        drawn(geometric),
    ),
    other_noise(
        "float16-uniforms",
        "private-trace",
        "Draw the noise by inversion of uniform numbers in float16.",
        drawn(single_precision),
    ),
    sometimes("bare-once-in-200", "gauss-cov", "Add no noise in one draw of 200.", 1 / 200, 0.0),
    sometimes("bare-once-in-1500", "nuclear-laplace", "Add no noise in one draw of 1500.", 1 / 1500, 0.0),
    sometimes("tenfold-once-in-100", "k-norm", "Multiply the noise by ten in one draw of 100.", 1 / 100, 10.0),
    sometimes("small-once-in-50", "gaussian", "Use a hundredth of the noise in one draw of 50.", 1 / 50, 0.01),
    sometimes("half-the-time", "centred-covariance", "Halve the noise in one draw of five.", 1 / 5, 0.5),
    sometimes("bare-once-in-a-million", "lap-cov", "Add no noise in one draw of 10⁶.", 1e-6, 0.0),
    other_noise(
        "radius-truncated",
        "nuclear-laplace",
        "If the Frobenius norm of the noise is above 2d, shrink the noise to the norm 2d.",
        shorter,
    ),
    other_noise(
        "radius-capped",
        "nuclear-laplace-symmetric",
        "If the Frobenius norm of the noise is above 2d, shrink the noise to the norm 2d.",
        shorter,
    ),
    other_noise(
        "ridge-radius-capped",
        "output-perturbation",
        "Shrink noise that is longer than three times its mean length to three times its mean length.",
        lambda z, rng, x: z / max(1.0, float(np.linalg.norm(z)) / (3 * len(z))),
    ),
    _retry("retry-until-positive", "gauss-cov"),
    _retry("retry-until-positive-nuclear", "nuclear-laplace-symmetric"),
    other_noise(
        "separate-clipped",
        "separate-cov",
        "Clip all noise at 2 standard deviations.",
        each(lambda z: np.clip(z, -2, 2)),
    ),
    other_noise(
        "separate-pure-redrawn",
        "separate-cov-pure",
        "Clip the noise of the eigenvalues at 2 scales.",
        lambda z, rng, x: type(z)(z.matrix, np.clip(z.eigenvalues, -2, 2)),
    ),
    other_noise(
        "projection-uniform",
        "projection-mechanism",
        "Draw uniform noise of the right variance.",
        drawn(lambda rng, shape: rng.uniform(-(3**0.5), 3**0.5, shape), True),
    ),
    other_noise(
        "gumbel-clipped", "exponential", "Clip the Gumbel noise to [−1, 1].", each(lambda z: np.clip(z, -1, 1))
    ),
    other_noise(
        "normal-for-gumbel",
        "exponential",
        "Draw normal noise with the variance of Gumbel noise.",
        drawn(lambda rng, shape: normal(rng, shape) * np.pi / 6**0.5),
    ),
    other_noise(
        "sparse-vector-gaussian",
        "above-threshold",
        "Draw normal noise of the right variance for the queries.",
        lambda z, rng, x: type(z)(z.threshold, 2**0.5 * rng.standard_normal(z.queries.shape)),
    ),
    other_noise("radius-bounded", "private-radius", "Clip all noise at one scale.", each(lambda z: np.clip(z, -1, 1))),
    other_noise(
        "naive-pce-clipped",
        "naive-pce",
        "Clip the noise at 1.5 standard deviations.",
        each(lambda z: np.clip(z, -1.5, 1.5)),
    ),
    sometimes(
        "bare-round-once-in-100", "coinpress-mean", "In one draw of 100, add no noise in any step.", 1 / 100, 0.0
    ),
)
