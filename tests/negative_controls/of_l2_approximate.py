"""Negative controls of the ℓ2 mechanism with a wrong scale, a wrong radius or a wrong direction of the noise."""

from functools import partial

import numpy as np

from covassay.reference.domain import Matrix
from tests.negative_controls.broken import mirrored, other_noise, times
from tests.negative_controls.negative_control import by_law

RADIUS = by_law("radius", "total scale")
_l2 = partial(other_noise, mechanism_name="l2-approximate")


def _entries(z: Matrix) -> int:
    """Return the dimension D of the noise, the number of entries on and above the diagonal."""
    return len(z) * (len(z) + 1) // 2


def in_the_ball(z: Matrix, rng: np.random.Generator, x: Matrix) -> Matrix:
    """Multiply a Gamma(D) radius by a uniform point of the ball in place of a point of its boundary."""
    return np.asarray(z * rng.random() ** (1 / _entries(z)))


def mean_length(z: Matrix, rng: np.random.Generator, x: Matrix) -> Matrix:
    """Scale every draw of the noise to length D, which is only the mean of the correct length."""
    return np.asarray(z * _entries(z) / np.linalg.norm(z))


def one_fewer(z: Matrix, rng: np.random.Generator, x: Matrix) -> Matrix:
    """Draw the radius of the noise from Gamma(D − 1) in place of Gamma(D)."""
    shape = _entries(z) - 1
    return np.asarray(z * (rng.gamma(shape) if shape else 0.0) / np.linalg.norm(z))


def normal(z: Matrix, rng: np.random.Generator, x: Matrix) -> Matrix:
    """Draw Gaussian noise of the same variance."""
    unit = z / np.linalg.norm(z)
    return np.asarray(unit * np.sqrt(rng.chisquare(_entries(z)) * (_entries(z) + 1)))


def alike(z: Matrix, rng: np.random.Generator, x: Matrix) -> Matrix:
    """Draw noise off the diagonal that is √2 times too large, which is private but less accurate."""
    return np.asarray(z * np.where(np.eye(len(z), dtype=bool), 1.0, np.sqrt(2)))


def positive(z: Matrix, rng: np.random.Generator, x: Matrix) -> Matrix:
    """Replace the noise off the diagonal by its absolute value."""
    return np.where(np.eye(len(z), dtype=bool), z, np.abs(z))


def diagonal(z: Matrix, rng: np.random.Generator, x: Matrix) -> Matrix:
    """Add noise only to the diagonal."""
    return mirrored(z * np.eye(len(z)))


NEGATIVE_CONTROLS = (
    _l2("l2-approximate-97", mistake="Multiply the noise by 0.97, because a constant was rounded.", noise=times(0.97)),
    _l2("l2-approximate-add-remove", mistake="Use 1/n, the sensitivity for adding or removing a row, in place of √2/n.",
        noise=times(np.sqrt(0.5)), caught_by=RADIUS),
    _l2("l2-approximate-in-the-ball", mistake=in_the_ball.__doc__ or "", noise=in_the_ball, caught_by=RADIUS),
    _l2("l2-approximate-mean-length", mistake=mean_length.__doc__ or "", noise=mean_length, caught_by=by_law("radius")),
    _l2("l2-approximate-one-fewer", mistake=one_fewer.__doc__ or "", noise=one_fewer, caught_by=RADIUS),
    _l2("l2-approximate-normal", mistake=normal.__doc__ or "", noise=normal, caught_by=by_law("radius")),
    _l2("l2-approximate-alike", mistake=alike.__doc__ or "", noise=alike, caught_by=RADIUS),
    _l2("l2-approximate-positive", mistake=positive.__doc__ or "", noise=positive, caught_by=by_law("orientation")),
    _l2("l2-approximate-diagonal", mistake=diagonal.__doc__ or "", noise=diagonal, caught_by=RADIUS),
)  # fmt: skip
