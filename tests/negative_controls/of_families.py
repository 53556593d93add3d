"""Negative controls that are right in the middle of the law, and wrong in its tails or in rare draws.

The variance of the noise is right or nearly right. A branch of probability p occurs in N draws with probability 1 −
(1 − p)^N.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from covassay.reference.domain import Matrix
from covassay.reference.mechanisms.registry import mechanism
from tests.negative_controls.broken import Noise, Output, each, mirrored, other_noise, other_output
from tests.negative_controls.negative_control import NegativeControl

Numbers = Callable[[np.random.Generator, tuple[int, ...]], Any]  # maps (rng, shape) to independent numbers


def drawn(numbers: Numbers, symmetric: bool = False) -> Noise:
    """Make a change that draws independent numbers of another law, in the shape of the reference's noise."""

    def noise(z: Any, rng: np.random.Generator, x: Matrix) -> Any:
        values = numbers(rng, np.shape(z))
        return mirrored(values) if symmetric else values if np.ndim(z) else float(values)

    return noise


def redrawn(numbers: Numbers, limit: float) -> Numbers:
    """Make a law that draws numbers beyond a limit again."""

    def draw(rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
        values = np.asarray(numbers(rng, shape))
        while (np.abs(values) > limit).any():
            values = np.where(np.abs(values) > limit, numbers(rng, shape), values)
        return values

    return draw


def sometimes(name: str, mechanism_name: str, mistake: str, probability: float, factor: float) -> NegativeControl:
    """Make a control of the reference with its noise multiplied by a factor in rare draws."""
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
    """Draw two-sided geometric numbers with step 1/8, which have the discrete Laplace law."""
    q = 1 - np.exp(-1 / 8)
    return (rng.geometric(q, size=shape) - rng.geometric(q, size=shape)) / 8


def single_precision(rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
    """Draw Laplace numbers by inversion of a uniform number in float16."""
    u = np.asarray(rng.random(shape)).astype(np.float16).astype(np.float64) - 0.5
    return -np.sign(u) * np.log1p(-2 * np.minimum(np.abs(u), 0.4999))


def until_positive(name: str) -> Output:
    """Make a change of the output that draws again until it is positive semidefinite, at most 50 times."""
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
    """Shortens noise whose Frobenius norm exceeds 2d to the norm 2d."""
    return z / max(1.0, float(np.linalg.norm(z)) / (2 * len(z)))


def _retry(name: str, mechanism_name: str) -> NegativeControl:
    mistake = "Draws again until the output is positive semidefinite."
    return other_output(name, mechanism_name, mistake, until_positive(mechanism_name))


NEGATIVE_CONTROLS = (
    other_noise("laplace-clipped", "laplace", "Clips the noise at 5 scales.", each(lambda z: np.clip(z, -5, 5))),
    other_noise("laplace-redrawn", "lap-cov", "Draws noise beyond 4 scales again.", drawn(redrawn(laplace, 4), True)),
    other_noise("gaussian-clipped", "gaussian", "Clips the noise at 3 deviations.", each(lambda z: np.clip(z, -3, 3))),
    other_noise(
        "gaussian-redrawn", "gauss-cov", "Draws noise beyond 2.5 deviations again.", drawn(redrawn(normal, 2.5), True)
    ),
    other_noise(
        "gaussian-redrawn-at-six",
        "gaussian-approximate",
        "Draws noise beyond 6 deviations again.",
        drawn(redrawn(normal, 6)),
    ),
    other_noise("trace-redrawn", "private-trace", "Draws noise beyond 6 scales again.", drawn(redrawn(laplace, 6))),
    other_noise(
        "twelve-uniforms", "gaussian", "Uses a sum of twelve uniform numbers for a normal one.", drawn(twelve_uniforms)
    ),
    other_noise(
        "twelve-uniforms-matrix",
        "gauss-cov-approximate",
        "Uses a sum of twelve uniform numbers for a normal one.",
        drawn(twelve_uniforms, True),
    ),
    other_noise("logistic-for-laplace", "laplace", "Draws logistic noise of the right variance.", drawn(logistic)),
    other_noise(
        "normal-for-laplace-entries",
        "entrywise-laplace",
        "Draws normal noise of the right variance.",
        drawn(lambda rng, shape: 2**0.5 * normal(rng, shape)),
    ),
    other_noise(
        "student-for-normal-entries", "gauss-cov", "Draws Student noise of the right variance.", drawn(student, True)
    ),
    other_noise(
        "laplace-for-normal",
        "gaussian-approximate",
        "Draws Laplace noise of the right variance.",
        drawn(lambda rng, shape: laplace(rng, shape) / 2**0.5),
    ),
    other_noise("heavy-mixture", "gaussian", "Mixes two normal laws with the right variance.", drawn(heavy)),
    other_noise(
        "uniform-noise",
        "lap-cov",
        "Draws uniform noise of the right variance.",
        drawn(lambda rng, shape: rng.uniform(-(6**0.5), 6**0.5, shape), True),
    ),
    other_noise(
        "geometric-noise", "laplace", "Draws the discrete Laplace law with step 1/8 of the scale.", drawn(geometric)
    ),
    other_noise("float16-uniforms", "private-trace", "Inverts uniform numbers in float16.", drawn(single_precision)),
    sometimes("bare-once-in-200", "gauss-cov", "Adds no noise once in 200 draws.", 1 / 200, 0.0),
    sometimes("bare-once-in-1500", "nuclear-laplace", "Adds no noise once in 1500 draws.", 1 / 1500, 0.0),
    sometimes("tenfold-once-in-100", "k-norm", "Multiplies the noise by ten once in 100 draws.", 1 / 100, 10.0),
    sometimes("small-once-in-50", "gaussian", "Uses a hundredth of the noise once in 50 draws.", 1 / 50, 0.01),
    sometimes("half-the-time", "centred-covariance", "Uses half the noise in one draw of five.", 1 / 5, 0.5),
    sometimes("bare-once-in-a-million", "lap-cov", "Adds no noise once in 10⁶ draws.", 1e-6, 0.0),
    other_noise("radius-truncated", "nuclear-laplace", "Shortens noise beyond the Frobenius norm 2d.", shorter),
    other_noise("radius-capped", "nuclear-laplace-symmetric", "Shortens noise beyond the Frobenius norm 2d.", shorter),
    other_noise(
        "ridge-radius-capped",
        "output-perturbation",
        "Shortens noise beyond three times its mean length.",
        lambda z, rng, x: z / max(1.0, float(np.linalg.norm(z)) / (3 * len(z))),
    ),
    _retry("retry-until-positive", "gauss-cov"),
    _retry("retry-until-positive-nuclear", "nuclear-laplace-symmetric"),
    other_noise(
        "separate-clipped", "separate-cov", "Clips all noise at 2 deviations.", each(lambda z: np.clip(z, -2, 2))
    ),
    other_noise(
        "separate-pure-redrawn",
        "separate-cov-pure",
        "Clips the noise of the eigenvalues at 2 scales.",
        lambda z, rng, x: type(z)(z.matrix, np.clip(z.eigenvalues, -2, 2)),
    ),
    other_noise(
        "projection-uniform",
        "projection-mechanism",
        "Draws uniform noise of the right variance.",
        drawn(lambda rng, shape: rng.uniform(-(3**0.5), 3**0.5, shape), True),
    ),
    other_noise(
        "gumbel-clipped", "exponential", "Clips the Gumbel noise to [−1, 1].", each(lambda z: np.clip(z, -1, 1))
    ),
    other_noise(
        "normal-for-gumbel",
        "exponential",
        "Draws normal noise with the variance of Gumbel's law.",
        drawn(lambda rng, shape: normal(rng, shape) * np.pi / 6**0.5),
    ),
    other_noise(
        "sparse-vector-gaussian",
        "above-threshold",
        "Draws normal noise of the right variance for the queries.",
        lambda z, rng, x: type(z)(z.threshold, 2**0.5 * rng.standard_normal(z.queries.shape)),
    ),
    other_noise(
        "radius-bounded",
        "private-radius",
        "Clips the noise of the search at 1 scale.",
        each(lambda z: np.clip(z, -1, 1)),
    ),
    other_noise(
        "naive-pce-clipped", "naive-pce", "Clips the noise at 1.5 deviations.", each(lambda z: np.clip(z, -1.5, 1.5))
    ),
    sometimes("bare-round-once-in-100", "coinpress-mean", "Adds no noise in any step once in 100 draws.", 1 / 100, 0.0),
)
