"""Negative controls that are wrong only where the mechanism must choose between close values, or only where values are
far apart."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy.optimize import linear_sum_assignment

from covassay.reference.domain import Matrix, Vector, second_moment, unit_rows
from covassay.reference.mechanisms.building_blocks import above_threshold
from covassay.reference.mechanisms.concentrated import em_cov, separate_cov
from covassay.reference.mechanisms.pure import bingham, iterative_eigenvectors
from covassay.reference.mechanisms.pure.iterative_eigenvectors import IterativeEigenvectorsNoise
from covassay.verification.audit.engine.kinds_of_data import NAMES
from tests.negative_controls.negative_control import NegativeControl

FAR = 30.0  # noise scales


def _leading(m: Matrix) -> Vector | None:
    """Return the leading eigenvector, if its eigenvalue is far above the next one."""
    values, vectors = np.linalg.eigh(m)
    return vectors[:, -1] if len(values) > 1 and values[-1] - values[-2] > FAR else None


def bare_direction(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Vector:
    """Releases the exact eigenvector if its eigenvalue is 30 noise scales above the others."""
    eta = bingham.exponent(epsilon, "paper")
    rows = x / np.maximum(1.0, np.linalg.norm(x, axis=1, keepdims=True))
    found = _leading(eta * rows.T @ rows)
    if found is None:
        return bingham.sample(x, rng, epsilon=epsilon)
    return found * rng.choice([-1.0, 1.0])


def _far_apart(noise: IterativeEigenvectorsNoise) -> IterativeEigenvectorsNoise:
    """Return the noise with exact directions where eigenvalues are far apart."""

    def direction(m: Matrix, /, *, step: int) -> Vector:
        found = _leading(m)
        return noise.direction(m, step=step) if found is None else found

    return replace(noise, direction=direction)


def bare_directions(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    """Takes exact eigenvectors where eigenvalues are 30 noise scales apart."""
    noise = _far_apart(iterative_eigenvectors.draw_noise(x.shape[1], rng))
    return iterative_eigenvectors.release(x, noise, epsilon=epsilon)


def bare_directions_of_em(x: Matrix, *, rho: float, rng: np.random.Generator) -> Matrix:
    """Takes exact eigenvectors where eigenvalues are 30 noise scales apart."""
    return em_cov.release(x, _far_apart(em_cov.draw_noise(x.shape[1], rng)), rho=rho)


def near_misses(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> float:
    """Lets a query within two noise scales of the threshold reach it."""
    answer = above_threshold.sample(x, rng, epsilon=epsilon)
    rows = x / np.maximum(1.0, np.linalg.norm(x, axis=1, keepdims=True))
    distance = (rows**2).sum(axis=0) - len(x) / x.shape[1]
    near = np.abs(distance) < 2 * above_threshold.query_scale(epsilon, "paper")
    return float(1 + np.argmax(near)) if near.any() and len(x) > 30 else answer


def matched_to_the_data(x: Matrix, *, rho: float, rng: np.random.Generator) -> Matrix:
    """Matches every noisy eigenvector to the eigenvector of the data that is nearest to it."""
    n, d = x.shape
    noise, scale = separate_cov.draw_noise(d, rng), separate_cov.noise_scale(n, rho)
    moment = second_moment(unit_rows(x))
    values, vectors = np.linalg.eigh(moment)
    noisy = np.linalg.eigh(moment + scale * noise.matrix)[1]
    _, order = linear_sum_assignment(-np.abs(vectors.T @ noisy))
    matched = noisy[:, order]
    return np.asarray((matched * (values + scale * noise.eigenvalues)) @ matched.T)


def _control(name: str, mechanism: str, draw: Callable[..., object]) -> NegativeControl:
    return NegativeControl(name, draw.__doc__ or "", mechanism, (("law", NAMES["data set"]),), draw)


NEGATIVE_CONTROLS = (
    _control("bare-direction-far-apart", "bingham", bare_direction),
    _control("bare-directions-far-apart", "iterative-eigenvectors", bare_directions),
    _control("em-bare-directions-far-apart", "em-cov", bare_directions_of_em),
    NegativeControl(
        "matched-to-the-data",
        matched_to_the_data.__doc__ or "",
        "separate-cov",
        (("law", "entry (1, 2)"),),
        matched_to_the_data,
    ),
    _control("near-misses-reach", "above-threshold", near_misses),
)
