"""Negative controls whose mistake shows only on some data. Some of these controls are wrong only if two values that the
mechanism compares are close together. Other controls are wrong only if two values that the mechanism compares are far
apart.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy.optimize import linear_sum_assignment

from covassay.reference.domain import Matrix, Vector, as_rows, second_moment, unit_rows
from covassay.reference.laws.draws_again import DrawsAgain
from covassay.reference.mechanisms.building_blocks import above_threshold
from covassay.reference.mechanisms.concentrated import em_cov, separate_cov
from covassay.reference.mechanisms.gaussian_estimation import coinpress_mean, gaussian_learner, pme, ppc, ppde, weak_ppc
from covassay.reference.mechanisms.gaussian_estimation.coinpress_covariance import budgets
from covassay.reference.mechanisms.pure import bingham, iterative_eigenvectors, matrix_bingham
from covassay.reference.mechanisms.pure.iterative_eigenvectors import IterativeEigenvectorsNoise
from covassay.verification.audit.engine.kinds_of_data import NAMES
from tests.negative_controls.negative_control import NegativeControl

FAR = 30.0  # number of noise scales


def _leading(m: Matrix) -> Vector | None:
    """Return the leading eigenvector if its eigenvalue is far above the second largest, and None otherwise."""
    values, vectors = np.linalg.eigh(m)
    return vectors[:, -1] if len(values) > 1 and values[-1] - values[-2] > FAR else None


def bare_direction(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Vector:
    """Release the exact leading eigenvector if its eigenvalue is 30 noise scales above the others."""
    eta = bingham.exponent(epsilon, "paper")
    rows = x / np.maximum(1.0, np.linalg.norm(x, axis=1, keepdims=True))
    found = _leading(eta * rows.T @ rows)
    if found is None:
        return bingham.sample(x, rng, epsilon=epsilon)
    return found * rng.choice([-1.0, 1.0])


def _far_apart(noise: IterativeEigenvectorsNoise) -> IterativeEigenvectorsNoise:
    """Return the noise with the random direction replaced by the exact eigenvector if the eigenvalues are far apart."""

    def direction(m: Matrix, /, *, step: int) -> Vector:
        found = _leading(m)
        return noise.direction(m, step=step) if found is None else found

    return replace(noise, direction=direction)


def bare_directions(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    """Use the exact eigenvector if its eigenvalue is 30 noise scales above the others."""
    noise = _far_apart(iterative_eigenvectors.draw_noise(x.shape[1], rng))
    return iterative_eigenvectors.release(x, noise, epsilon=epsilon)


def bare_directions_of_em(x: Matrix, *, rho: float, rng: np.random.Generator) -> Matrix:
    """Use the exact eigenvector if its eigenvalue is 30 noise scales above the others."""
    return em_cov.release(x, _far_apart(em_cov.draw_noise(x.shape[1], rng)), rho=rho)


def near_misses(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> float:
    """Report the first query within two noise scales of the threshold as above the threshold."""
    answer = above_threshold.sample(x, rng, epsilon=epsilon)
    rows = x / np.maximum(1.0, np.linalg.norm(x, axis=1, keepdims=True))
    distance = (rows**2).sum(axis=0) - len(x) / x.shape[1]
    near = np.abs(distance) < 2 * above_threshold.query_scale(epsilon, "paper")
    return float(1 + np.argmax(near)) if near.any() and len(x) > 30 else answer


def matched_to_the_data(x: Matrix, *, rho: float, rng: np.random.Generator) -> Matrix:
    """Pair every noisy eigenvector with the eigenvalue of the nearest eigenvector of the data."""
    n, d = x.shape
    noise, scale = separate_cov.draw_noise(d, rng), separate_cov.noise_scale(n, rho)
    moment = second_moment(unit_rows(x))
    values, vectors = np.linalg.eigh(moment)
    noisy = np.linalg.eigh(moment + scale * noise.matrix)[1]
    _, order = linear_sum_assignment(-np.abs(vectors.T @ noisy))
    matched = noisy[:, order]
    return np.asarray((matched * (values + scale * noise.eigenvalues)) @ matched.T)


def _bare_projection(draw: DrawsAgain) -> DrawsAgain:
    """Return a function that draws the projection, or returns the exact projection of rank 1 if the eigenvalues are far
    apart.
    """

    def projection(m: Matrix, rank: int) -> Matrix:
        found = _leading(m) if rank == 1 else None
        return draw(m, rank) if found is None else np.outer(found, found)

    return projection


def bare_subspace(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    """Release the exact projection of rank 1 if its eigenvalue is 30 noise scales above the others."""
    noise = matrix_bingham.draw_noise(as_rows(x).shape[1], rng)
    return matrix_bingham.release(x, _bare_projection(noise), epsilon=epsilon)


def bare_centre(x: Matrix, *, rho: float, rng: np.random.Generator) -> Vector:
    """Add no noise in the second step if the largest distance from the mean is within 10 % of the clipping radius."""
    rows = as_rows(x)
    n, d = rows.shape
    noise, tau, r = coinpress_mean.draw_noise(d, rng, steps=3), 0.0, 10.0
    for budget in budgets(rho, 3):
        tau = coinpress_mean.clip_radius(r, coinpress_mean.row_bound(n, d, 0.1 / 3, "paper"), "paper")
        r = coinpress_mean.next_radius(n, d, coinpress_mean.noise_scale(tau, n, budget), 0.1 / 3, "paper")
    if abs(float(np.linalg.norm(rows - rows.mean(axis=0), axis=1).max()) / tau - 1) < 0.1:
        noise[1] = 0.0
    return coinpress_mean.release(x, noise, rho=rho)


def bare_at_the_threshold(x: Matrix, *, rho: float, rng: np.random.Generator) -> Vector:
    """With 1000 rows or more, add no noise to coordinates whose mean over the first block is within 10 % of the
    threshold.
    """
    rows = as_rows(x)
    n, d = rows.shape
    noise = ppde.draw_noise(d, rng)
    if n >= 1000:
        first = np.clip(rows[: n // (ppde.most_rounds(d) + 1)], 0, 1).mean(axis=0)
        noise[0, np.abs(first / ppde.threshold(1) - 1) < 0.1] = 0.0
    return ppde.release(x, noise, rho=rho)


def _bare_last_round(rounds: Matrix, rows: Matrix) -> Matrix:
    """Return the noise of PPC. If the largest eigenvalue is near the threshold of the last round, the noise of the last
    round is replaced by zeros.
    """
    count = len(rounds)
    largest = float(np.linalg.eigvalsh(second_moment(rows))[-1]) / weak_ppc.FLOOR ** (count - 1)
    near = abs(largest / (ppc.kappa_of_round(1e4, count) / 2) - 1) < 0.1
    return np.append(rounds[:-1], np.zeros_like(rounds[-1:]), axis=0) if near else rounds


def bare_last_round(x: Matrix, *, rho: float, rng: np.random.Generator) -> Matrix:
    """Add no noise in the last round if the largest eigenvalue is within 10 % of the threshold."""
    noise = ppc.draw_noise(as_rows(x).shape[1], rng, kappa=1e4)
    return ppc.release(x, _bare_last_round(noise, as_rows(x)), rho=rho)


def bare_only_round(x: Matrix, *, rho: float, rng: np.random.Generator) -> Matrix:
    """Add no noise if the largest eigenvalue is within 10 % of the threshold."""
    noise = weak_ppc.draw_noise(as_rows(x).shape[1], rng)
    return weak_ppc.release(x, _bare_last_round(noise[None], as_rows(x))[0], rho=rho)


def bare_last_round_of_mean(x: Matrix, *, rho: float, rng: np.random.Generator) -> Vector:
    """Add no noise in the last round if the largest eigenvalue is within 10 % of the threshold."""
    noise = pme.draw_noise(as_rows(x).shape[1], rng, kappa=1e4, mean_bound=10.0)
    return pme.release(x, _of_differences(noise, x), rho=rho)


def _of_differences(noise: pme.PMENoise, x: Matrix) -> pme.PMENoise:
    return replace(noise, rounds=_bare_last_round(noise.rounds, pme.differences(as_rows(x))))


def bare_last_round_of_learner(x: Matrix, *, rho: float, rng: np.random.Generator) -> Matrix:
    """In the estimate of the mean, add no noise in the last round if the largest eigenvalue is within 10 % of the
    threshold.
    """
    noise = gaussian_learner.draw_noise(as_rows(x).shape[1], rng, kappa=1e4, mean_bound=10.0)
    return gaussian_learner.release(x, replace(noise, mean=_of_differences(noise.mean, x)), rho=rho)


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
    _control("bare-subspace-far-apart", "matrix-bingham", bare_subspace),
    _control("bare-centre-at-the-edge", "coinpress-mean", bare_centre),
    _control("ppde-bare-at-the-threshold", "ppde", bare_at_the_threshold),
    _control("weak-ppc-bare-at-the-threshold", "weak-ppc", bare_only_round),
    _control("ppc-bare-at-the-threshold", "ppc", bare_last_round),
    _control("pme-bare-at-the-threshold", "pme", bare_last_round_of_mean),
    _control("learner-bare-at-the-threshold", "gaussian-learner", bare_last_round_of_learner),
)
