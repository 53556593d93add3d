"""Mutants of the nuclear-ball projection."""

from functools import partial

import numpy as np

from covassay.reference.domain import Matrix, second_moment, unit_rows
from covassay.reference.laws import nuclear_laplace as law
from covassay.reference.mechanisms import nuclear_ball_projection as mechanism
from covassay.reference.projections import nuclear_ball
from covassay.verification.audit.mutants.mutant import Mutant


def _parts(x: Matrix, epsilon: float, rng: np.random.Generator, trace_factor: float) -> tuple[Matrix, float]:
    rows = unit_rows(x)
    n, d = rows.shape
    moment = second_moment(rows)
    matrix = moment + mechanism.matrix_scale(n, epsilon, "paper") * law.sample(d, rng)
    radius = 2 * np.trace(moment) + trace_factor * mechanism.trace_scale(n, epsilon, "paper") * rng.laplace()
    return matrix, max(0.0, float(radius))


def half_radius_noise(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    """Halves the noise of the radius."""
    return nuclear_ball(*_parts(x, epsilon, rng, 0.5))


def exact_radius(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    """Projects on a ball of exactly the trace of the data: the output gives the trace away."""
    return nuclear_ball(*_parts(x, epsilon, rng, 0.0))


def no_projection(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    """Releases the noisy matrix as it is."""
    return _parts(x, epsilon, rng, 1.0)[0]


def rescales(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    """Shrinks the whole matrix to the radius in place of projecting."""
    matrix, radius = _parts(x, epsilon, rng, 1.0)
    return matrix * min(1.0, radius / float(np.linalg.norm(matrix, "nuc")))


def diagonal_only(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    """Loses the off-diagonal entries of the projected matrix."""
    return np.diag(np.diag(nuclear_ball(*_parts(x, epsilon, rng, 1.0))))


def absolute_values(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    """Takes |Y| = (YᵀY)^{1/2} for the positive part, as an SVD in place of an eigendecomposition does."""
    _, s, vt = np.linalg.svd(nuclear_ball(*_parts(x, epsilon, rng, 1.0)))
    matrix: Matrix = (vt.T * s) @ vt
    return matrix


_mutant = partial(Mutant, mechanism="nuclear-ball-projection", options=(("calibration", "paper"),))
MUTANTS = (
    _mutant("half-radius-noise", half_radius_noise.__doc__ or "", caught_by=(("law", "radius"),), draw=half_radius_noise,
            diagnosis="the noise of the radius has half"),
    _mutant("exact-radius", exact_radius.__doc__ or "", caught_by=(("law", "radius"), ("privacy", "event")), draw=exact_radius),
    _mutant("no-projection", no_projection.__doc__ or "", caught_by=(("law", "radius"),), draw=no_projection),
    _mutant("rescales", rescales.__doc__ or "", caught_by=(("law", "entry (1, 2)"),), draw=rescales),
    _mutant("diagonal-only", diagonal_only.__doc__ or "", caught_by=(("law", "entry (1, 2)"), ("law", "nuclear norm")),
            draw=diagonal_only),
    _mutant("absolute-values", absolute_values.__doc__ or "", caught_by=(("law", "trace"),), draw=absolute_values,
            seen_in="coin-press 9c74725, psd_proj_symm"),
)  # fmt: skip
