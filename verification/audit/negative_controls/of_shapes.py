"""Negative controls whose law is right on most data and wrong at some numbers of rows or columns."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from covassay.reference.domain import Matrix
from covassay.reference.mechanisms.building_blocks import (
    above_threshold,
    exponential,
    gaussian,
    gaussian_approximate,
    laplace,
    private_radius,
    private_trace,
)
from covassay.reference.mechanisms.concentrated import em_cov, gauss_cov, projection_mechanism, separate_cov
from covassay.reference.mechanisms.gaussian_estimation import kv_mean
from covassay.reference.mechanisms.pure import (
    bingham,
    centred_covariance,
    entrywise_laplace,
    iterative_eigenvectors,
    k_norm,
    lap_cov,
    nuclear_ball_projection,
    nuclear_laplace,
    nuclear_laplace_symmetric,
    output_perturbation,
)
from covassay.verification.audit.engine.shapes import NAMES
from covassay.verification.audit.negative_controls.changed_noise import Declared, scaled_where, with_noise
from covassay.verification.audit.negative_controls.negative_control import NegativeControl

ROWS, COLUMNS, ANY = ((("law", NAMES[axis]),) for axis in ("n", "d", ""))


def at_large_budget(
    name: str, mistake: str, declared: Declared, where: Callable[[int, int], bool], factor: float, caught_by: Any
) -> NegativeControl:
    """The reference with several times its budget on data of some shapes."""

    def draw(x: Matrix, *, rng: np.random.Generator, epsilon: float) -> Any:
        return declared.sample(x, rng, epsilon=epsilon * (factor if where(*x.shape) else 1.0))

    return NegativeControl(name, mistake, declared.name, caught_by, draw)


def bare_threshold(again: Callable[[], Any], x: Matrix, rng: np.random.Generator) -> Any:
    """No noise on the threshold at 64 rows."""
    return replace(again(), threshold=0.0) if len(x) == 64 else again()


def last_block_short(again: Callable[[], Any], x: Matrix, rng: np.random.Generator) -> Any:
    """Half the noise in the columns beyond the eighth."""
    noise = np.array(again())
    noise[8:] *= 0.5
    return noise


def beyond_four(again: Callable[[], Any], x: Matrix, rng: np.random.Generator) -> Any:
    """Three quarters of the noise in rows and columns beyond the fourth."""
    noise = np.array(again())
    noise[4:, :] *= 0.75
    noise[:4, 4:] *= 0.75
    return noise


NEGATIVE_CONTROLS = (
    with_noise(
        "less-at-eleven", "Scales the noise by 0.75 at d = 11.", gauss_cov.MECHANISM,
        scaled_where(lambda n, d: d == 11, 0.75), COLUMNS,
    ),
    with_noise(
        "less-at-64-rows", "Scales the noise by 0.8 at n = 64.", nuclear_laplace.MECHANISM,
        scaled_where(lambda n, d: n == 64, 0.8), ROWS,
    ),
    with_noise(
        "less-at-thirty-two", "Scales the noise by 0.6 at d ≥ 20.", laplace.MECHANISM,
        scaled_where(lambda n, d: d >= 20, 0.6), COLUMNS,
    ),
    with_noise(
        "less-for-two-rows", "Scales the noise by 0.6 at n = 2.", private_trace.MECHANISM,
        scaled_where(lambda n, d: n == 2, 0.6), ROWS,
    ),
    with_noise(
        "less-for-many-rows", "Scales the noise by 0.8 from 500 rows on.", k_norm.MECHANISM,
        scaled_where(lambda n, d: n >= 500, 0.8), ROWS,
    ),
    with_noise(
        "more-in-even-dimensions", "Scales the noise by 1.3 in even dimensions from 6 on.", entrywise_laplace.MECHANISM,
        scaled_where(lambda n, d: d >= 6 and d % 2 == 0, 1.3), COLUMNS,
    ),
    with_noise(
        "less-at-nine", "Scales the noise by 0.6 at d = 9.", output_perturbation.MECHANISM,
        scaled_where(lambda n, d: d == 9, 0.6), COLUMNS,
    ),
    with_noise(
        "less-for-a-pair", "Scales the noise by 0.75 at n = 2.", centred_covariance.MECHANISM,
        scaled_where(lambda n, d: n == 2, 0.75), ROWS,
    ),
    with_noise(
        "less-above-a-block", "Scales the noise by 0.7 at n = 65.", gaussian.MECHANISM,
        scaled_where(lambda n, d: n == 65, 0.7), ROWS,
    ),
    with_noise(
        "less-for-one-row", "Scales the noise by 0.7 at n = 1.", gaussian_approximate.MECHANISM,
        scaled_where(lambda n, d: n == 1, 0.7), ROWS,
    ),
    with_noise(
        "more-in-ten", "Scales the noise by 1.4 at d = 10.", lap_cov.MECHANISM,
        scaled_where(lambda n, d: d == 10, 1.4), COLUMNS,
    ),
    with_noise(
        "less-in-squares", "Scales the noise by 0.3 if there are as many rows as columns.",
        nuclear_laplace_symmetric.MECHANISM, scaled_where(lambda n, d: n == d, 0.3), COLUMNS,
    ),
    with_noise("eight-at-a-time", "Halves the noise beyond the eighth column.", gaussian.MECHANISM,
               last_block_short, ANY),
    with_noise("four-at-a-time", "Scales the noise beyond the fourth column.", gauss_cov.MECHANISM, beyond_four, ANY),
    with_noise(
        "eigenvalues-at-five", "Halves the noise of the eigenvalues at d = 5.", separate_cov.MECHANISM,
        scaled_where(lambda n, d: d == 5, 0.5, "eigenvalues"), COLUMNS,
    ),
    with_noise(
        "eigenvalues-in-many", "Halves the noise of the eigenvalues at d ≥ 4.", iterative_eigenvectors.MECHANISM,
        scaled_where(lambda n, d: d >= 4, 0.5, "eigenvalues"), COLUMNS,
    ),
    with_noise(
        "eigenvalues-at-six", "Halves the noise of the eigenvalues at d = 6.", em_cov.MECHANISM,
        scaled_where(lambda n, d: d == 6, 0.5, "eigenvalues"), COLUMNS,
    ),
    with_noise(
        "mean-noise-at-nine", "Halves the noise of the mean at d = 9.", kv_mean.MECHANISM,
        scaled_where(lambda n, d: d == 9, 0.5, "mean"), COLUMNS,
    ),
    with_noise(
        "ball-at-three", "Scales the matrix noise by 0.6 at d = 3.", nuclear_ball_projection.MECHANISM,
        scaled_where(lambda n, d: d == 3, 0.6, "matrix"), COLUMNS,
    ),
    with_noise(
        "projection-at-seven", "Scales the noise by 0.6 from d = 7 on.", projection_mechanism.MECHANISM,
        scaled_where(lambda n, d: d >= 7, 0.6), COLUMNS,
    ),
    with_noise("bare-threshold-at-64", "Has no noise on the threshold at n = 64.", above_threshold.MECHANISM,
               bare_threshold, ROWS),
    at_large_budget(
        "direction-at-eight", "Spends five times the budget at d = 8.", bingham.MECHANISM,
        lambda n, d: d == 8, 5, COLUMNS,
    ),
    at_large_budget(
        "choice-at-six", "Spends twelve times the budget at d = 6.", exponential.MECHANISM, lambda n, d: d == 6, 12,
        COLUMNS,
    ),
    at_large_budget(
        "radius-at-64", "Spends ten times the budget at n = 64.", private_radius.MECHANISM,
        lambda n, d: n == 64, 10, ROWS,
    ),
)  # fmt: skip
