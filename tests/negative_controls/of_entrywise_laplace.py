"""Negative controls of entrywise Laplace noise and of LapCov."""

from collections.abc import Callable
from functools import partial

import numpy as np

from covassay.reference.domain import Matrix, second_moment, unit_rows
from covassay.reference.laws import wigner
from covassay.reference.mechanisms.pure import entrywise_laplace, lap_cov
from tests.negative_controls.negative_control import by_law, by_privacy, vectorised

# a function that maps (d, rng, size) to noise of shape (size, d, d)
Noise = Callable[[int, np.random.Generator, int], Matrix]


def full_noise(d: int, rng: np.random.Generator, size: int) -> Matrix:
    """Draw the correct noise for entries="full"."""
    return entrywise_laplace.draw_noise(d, rng, "full", size)


def additive(noise: Noise, scale: Callable[[int, int, float], float], clip: bool = True) -> Callable[..., Matrix]:
    """Return a function of (x, size, rng=, epsilon=) that adds noise of scale scale(n, d, ε) to the second moment."""

    def draw_many(x: Matrix, size: int, *, rng: np.random.Generator, epsilon: float) -> Matrix:
        rows = unit_rows(x) if clip else np.asarray(x, dtype=np.float64)
        n, d = rows.shape
        return second_moment(rows) + scale(n, d, epsilon) * noise(d, rng, size)

    return draw_many


def lap(noise: Noise = wigner.sample_laplace, sensitivity: float = 0.0, clip: bool = True) -> Callable[..., Matrix]:
    """Return the mechanism LapCov with its noise replaced. If `sensitivity` is given, the noise is calibrated to it and
    not to √2 d."""

    def scale(n: int, d: int, epsilon: float) -> float:
        return sensitivity / (n * epsilon) if sensitivity else lap_cov.noise_scale(n, d, epsilon, "paper")

    return additive(noise, scale, clip)


def full(noise: Noise) -> Callable[..., Matrix]:
    """Return the entrywise Laplace mechanism for all d² entries with its noise replaced."""
    return additive(noise, lambda n, d, epsilon: entrywise_laplace.noise_scale(n, d, epsilon, "full", "paper"))


def doubled_diagonal(d: int, rng: np.random.Generator, size: int) -> Matrix:
    """Draw U + Uᵀ for an upper triangular matrix U of noise, so that the diagonal is doubled."""
    return wigner.sample_laplace(d, rng, size) * (1 + np.eye(d))


def averaged(d: int, rng: np.random.Generator, size: int) -> Matrix:
    """Draw (U + Uᵀ)/2 for an upper triangular matrix U of noise, so that the entries off the diagonal are halved."""
    return wigner.sample_laplace(d, rng, size) * (1 + np.eye(d)) / 2


def upper_only(d: int, rng: np.random.Generator, size: int) -> Matrix:
    """Draw noise for all entries, and set the entries below the diagonal to zero."""
    return np.triu(full_noise(d, rng, size))


_lap = partial(vectorised, mechanism="lap-cov", options=(("calibration", "paper"),))
_full = partial(vectorised, mechanism="entrywise-laplace", options=(("entries", "full"), ("calibration", "paper")))
NEGATIVE_CONTROLS = (
    _lap(
        "unit-sensitivity",
        "Calibrate Laplace noise to the sensitivity 1 in place of √2 d.",
        by_law("entrywise norm") + by_privacy("event"),
        lap(sensitivity=1.0),
    ),
    _lap(
        "frobenius-sensitivity",
        "Calibrate Laplace noise to the Frobenius sensitivity √2.",
        by_law("entrywise norm"),
        lap(sensitivity=2**0.5),
        diagnosis="Frobenius sensitivity",
    ),
    _lap(
        "doubled-diagonal",
        "Add U + Uᵀ for an upper triangular matrix U of noise, so that the diagonal is doubled.",
        by_law("entry (1, 1)"),
        lap(doubled_diagonal),
    ),
    _lap(
        "averaged-noise",
        "Add (U + Uᵀ)/2 for an upper triangular matrix U of noise, so that the entries off the diagonal are halved.",
        by_law("entry (1, 2)"),
        lap(averaged),
    ),
    _lap(
        "lap-cov-unclipped",
        "Assume without a check that every row has norm at most 1.",
        by_privacy("event"),
        lap(clip=False),
        seen_in="hkustDB/PrivateCovariance dafcdfe, LapCov",
    ),
    _full(
        "mirrored-noise",
        "Draw symmetric noise, although every entry should have independent noise.",
        by_law("independence"),
        full(wigner.sample_laplace),
    ),
    _full(
        "upper-noise-only",
        "Add noise only to the entries on and above the diagonal.",
        by_law("entry (2, 1)") + by_privacy("event"),
        full(upper_only),
    ),
)
