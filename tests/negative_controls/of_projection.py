"""Negative controls of the projection on a nuclear-norm ball."""

from collections.abc import Callable
from functools import partial

import numpy as np

from covassay.reference.domain import Matrix, second_moment, unit_rows
from covassay.reference.laws import nuclear_laplace as law
from covassay.reference.mechanisms.pure import nuclear_ball_projection as mechanism
from covassay.reference.projections import nuclear_ball
from tests.negative_controls.negative_control import vectorised

Finish = Callable[[Matrix, float], Matrix]  # a function that maps (noisy matrix, noisy radius) to the released matrix


def projection(finish: Finish = nuclear_ball, trace_factor: float = 1.0) -> Callable[..., Matrix]:
    """Return the mechanism, as a function of (x, size, rng=, epsilon=), with its last step replaced by `finish`."""

    def draw_many(x: Matrix, size: int, *, rng: np.random.Generator, epsilon: float) -> Matrix:
        rows = unit_rows(x)
        n, d = rows.shape
        moment = second_moment(rows)
        matrices = moment + mechanism.matrix_scale(n, epsilon, "paper") * law.sample(d, rng, size)
        noise = trace_factor * mechanism.trace_scale(n, epsilon, "paper") * rng.laplace(size=size)
        radii = np.maximum(0.0, 2 * np.trace(moment) + noise)
        return np.array([finish(matrix, float(radius)) for matrix, radius in zip(matrices, radii, strict=True)])

    return draw_many


def no_projection(matrix: Matrix, radius: float) -> Matrix:
    """Return the noisy matrix, unchanged."""
    return matrix


def rescaled(matrix: Matrix, radius: float) -> Matrix:
    """Multiply a matrix outside the ball by a factor that takes it to the boundary, in place of projecting it."""
    return matrix * min(1.0, radius / float(np.linalg.norm(matrix, "nuc")))


def diagonal(matrix: Matrix, radius: float) -> Matrix:
    """Return the diagonal of the projected matrix."""
    return np.diag(np.diag(nuclear_ball(matrix, radius)))


def absolute_value(matrix: Matrix, radius: float) -> Matrix:
    """Return the matrix (YᵀY)^{1/2}, where Y is the projected matrix."""
    _, s, vt = np.linalg.svd(nuclear_ball(matrix, radius))
    return (vt.T * s) @ vt


_control = partial(vectorised, mechanism="nuclear-ball-projection", options=(("calibration", "paper"),))
NEGATIVE_CONTROLS = (
    _control(
        "half-radius-noise",
        "Halve the noise of the radius.",
        (("law", "radius"),),
        projection(trace_factor=0.5),
        diagnosis="the noise of the radius has half",
    ),
    _control(
        "exact-radius",
        "Project on a ball whose radius is exactly twice the trace, so that the output reveals the trace.",
        (("law", "radius"), ("privacy", "event")),
        projection(trace_factor=0.0),
    ),
    _control(
        "no-projection",
        "Release the noisy matrix without projecting it.",
        (("law", "radius"),),
        projection(no_projection),
    ),
    _control(
        "rescales",
        "Multiply a matrix outside the ball by a factor that takes it to the boundary, in place of projecting it.",
        (("law", "spectral norm"),),
        projection(rescaled),
    ),
    _control(
        "diagonal-only",
        "Set the entries off the diagonal to zero.",
        (("law", "entry (1, 2)"), ("law", "nuclear norm")),
        projection(diagonal),
    ),
    _control(
        "absolute-values",
        "Release |Y| = (YᵀY)^{1/2} in place of the projected matrix Y.",
        (("law", "trace"),),
        projection(absolute_value),
        seen_in="coin-press 9c74725, psd_proj_symm",
    ),
)
