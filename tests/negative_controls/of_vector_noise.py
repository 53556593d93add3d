"""Negative controls of output perturbation and of the Johnson–Lindenstrauss mechanism, whose noise has a random norm
and direction.

One more negative control is of the centred covariance. Its noise has the scale that is correct for the second moment.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from covassay.reference.domain import Matrix, Vector, second_moment, unit_rows
from covassay.reference.laws.wigner import svec
from covassay.reference.mechanisms.pure import centred_covariance, johnson_lindenstrauss, output_perturbation
from covassay.reference.mechanisms.pure.nuclear_laplace import noise_scale as uncentred_scale
from tests.negative_controls.negative_control import NegativeControl, by_law, by_privacy, vectorised

Checks = tuple[tuple[str, str], ...]
Draw = Callable[[int, np.random.Generator], Vector]  # a function that maps (length, rng) to a noise vector


def right(length: int, rng: np.random.Generator) -> Vector:
    """Draw the correct noise, with a uniform direction and a norm that follows a Gamma law."""
    return output_perturbation.draw_vector(length, rng)


def half(length: int, rng: np.random.Generator) -> Vector:
    """Draw half the correct noise."""
    return right(length, rng) / 2


def laplace(length: int, rng: np.random.Generator) -> Vector:
    """Draw a Laplace variable for every coordinate."""
    return np.asarray(rng.laplace(size=length))


def one_sided(length: int, rng: np.random.Generator) -> Vector:
    """Draw noise whose first coordinate is never negative."""
    v = right(length, rng)
    v[0] = abs(v[0])
    return v


def uneven(length: int, rng: np.random.Generator) -> Vector:
    """Draw noise whose first coordinate is twice as large."""
    v = right(length, rng)
    v[0] *= 2
    return v


def tied(index: int) -> Draw:
    """Return a sampler of noise whose norm and direction are dependent: a direction with a large coordinate gets a
    large norm.
    """

    def draw(length: int, rng: np.random.Generator) -> Vector:
        gaussians = rng.standard_normal((2, length))
        directions = gaussians / np.linalg.norm(gaussians, axis=1, keepdims=True)
        directions = directions[np.argsort(np.abs(directions[:, index % length]))]
        norms = np.sort(rng.gamma(length, size=2))
        chosen = int(rng.integers(2))
        return np.asarray(norms[chosen] * directions[chosen])

    return draw


def off_diagonal_unweighted(length: int, rng: np.random.Generator) -> Vector:
    """Draw noise of a symmetric (2, 2) matrix, and double the noise off the diagonal."""
    v = right(length, rng)
    return np.asarray(v * np.where(np.arange(length) == 1, 2.0, 1.0)) if length == 3 else v


def sorted_noise(length: int, rng: np.random.Generator) -> Vector:
    """Draw noise whose coordinates are sorted by absolute value, the smallest first."""
    v = right(length, rng)
    return np.asarray(v[np.argsort(np.abs(v))])


def coefficients(draw: Draw) -> Callable[..., Matrix]:
    """Return output perturbation, as a function of (x, size, rng=, epsilon=), with its noise replaced."""

    def draw_many(x: Matrix, size: int, *, rng: np.random.Generator, epsilon: float) -> Matrix:
        length = max(1, np.shape(x)[-1] - 1)
        w = output_perturbation.release(x, np.zeros(length), epsilon=epsilon)
        scale = output_perturbation.noise_scale(len(x), 0.1, epsilon, "paper")
        return w + scale * np.array([draw(length, rng) for _ in range(size)])

    return draw_many


def image(draw: Draw) -> Callable[..., Matrix]:
    """Return the Johnson–Lindenstrauss mechanism with its noise replaced, and without a random projection."""

    def draw_many(x: Matrix, size: int, *, rng: np.random.Generator, epsilon: float) -> Matrix:
        rows = unit_rows(x)
        n, d = rows.shape
        t = np.eye(johnson_lindenstrauss.entries(d))
        moment = svec(second_moment(rows))
        scale = johnson_lindenstrauss.noise_scale(n, epsilon, johnson_lindenstrauss.image_sensitivity(1.0, 1.0))
        noise = [scale * draw(len(t), rng) for _ in range(size)]
        return np.array([johnson_lindenstrauss.fit(t, moment + z, d) for z in noise])

    return draw_many


def uncentred(x: Matrix, size: int, *, rng: np.random.Generator, epsilon: float) -> Matrix:
    """Add noise with the scale 2/(nε) for the second moment to the centred covariance."""
    rows = unit_rows(x)
    n, d = rows.shape
    covariance = second_moment(centred_covariance.centred(rows))
    return covariance + uncentred_scale(n, epsilon) * centred_covariance.draw_noise(d, rng, size)


def _output(name: str, mistake: str, caught_by: Checks, draw: Draw, **more: Any) -> NegativeControl:
    more |= {"mechanism": "output-perturbation", "options": (("calibration", "paper"),)}
    return vectorised(name, mistake, caught_by, coefficients(draw), **more)


def _image(name: str, mistake: str, caught_by: Checks, draw: Draw, **more: Any) -> NegativeControl:
    return vectorised(name, mistake, caught_by, image(draw), mechanism="johnson-lindenstrauss", **more)


NEGATIVE_CONTROLS = (
    vectorised(
        "uncentred-sensitivity", uncentred.__doc__ or "", by_privacy("event"), uncentred, mechanism="centred-covariance"
    ),
    _output(
        "ridge-half-noise",
        "Use half of the sensitivity.",
        by_law("noise norm"),
        half,
        diagnosis="half the calibrated scale",
    ),
    _output("ridge-laplace", "Add a Laplace variable to every coefficient.", by_law("noise norm"), laplace),
    _output("ridge-uneven", "Double the noise of the first coefficient.", by_law("noise direction"), uneven),
    _output(
        "ridge-one-sided",
        "Add noise that is never negative to the first coefficient.",
        by_law("coefficient sign"),
        one_sided,
    ),
    _output("ridge-tied", "Let the norm of the noise depend on its direction.", by_law("norm and direction"), tied(0)),
    _image(
        "image-half-noise",
        "Use half of the sensitivity.",
        by_law("noise norm"),
        half,
        diagnosis="half the calibrated scale",
    ),
    _image(
        "image-unweighted",
        "Double the noise of the entry off the diagonal of a (2, 2) matrix.",
        by_law("off-diagonal direction"),
        off_diagonal_unweighted,
    ),
    _image(
        "image-sorted",
        "Sort the coordinates of the noise by absolute value.",
        by_law("diagonal direction"),
        sorted_noise,
    ),
    _image(
        "image-one-sided",
        "Add noise that is never negative to the first entry.",
        by_law("trace sign", "entry (1, 1)"),
        one_sided,
    ),
    _image("image-tied", "Let the norm of the noise depend on its direction.", by_law("norm and direction"), tied(1)),
)
