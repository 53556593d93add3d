"""Negative controls whose law is right on most data and wrong at some numbers of rows or columns."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from covassay.reference.domain import Matrix
from covassay.reference.mechanisms.registry import mechanism
from covassay.verification.audit.engine.shapes import NAMES
from covassay.verification.audit.negative_controls.changed_noise import scaled_where, with_noise
from covassay.verification.audit.negative_controls.negative_control import NegativeControl

ROWS, COLUMNS, ANY = ((("law", NAMES[axis]),) for axis in ("n", "d", ""))


Where = Callable[[int, int], bool]  # (n, d) -> whether
Checks = tuple[tuple[str, str], ...]


def scaled(
    name: str, mistake: str, mechanism_name: str, caught_by: Checks, factor: float, where: Where, part: str = ""
) -> NegativeControl:
    """The reference with its noise, or one part of it, times a factor on data of some shapes."""
    return with_noise(name, mistake, mechanism(mechanism_name), scaled_where(where, factor, part), caught_by)


def at_large_budget(
    name: str, mistake: str, mechanism_name: str, caught_by: Checks, factor: float, where: Where
) -> NegativeControl:
    """The reference with several times its budget on data of some shapes."""
    declared = mechanism(mechanism_name)

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
    scaled("less-at-eleven", "Scales the noise by 0.75 at d = 11.", "gauss-cov", COLUMNS, 0.75, lambda n, d: d == 11),
    scaled("less-at-64-rows", "Scales the noise by 0.8 at n = 64.", "nuclear-laplace", ROWS, 0.8, lambda n, d: n == 64),
    scaled("less-at-thirty-two", "Scales the noise by 0.6 at d ≥ 20.", "laplace", COLUMNS, 0.6, lambda n, d: d >= 20),
    scaled("less-for-two-rows", "Scales the noise by 0.6 at n = 2.", "private-trace", ROWS, 0.6, lambda n, d: n == 2),
    scaled(
        "less-for-many-rows", "Scales the noise by 0.8 from 500 rows on.", "k-norm", ROWS, 0.8, lambda n, d: n >= 500
    ),
    scaled(
        "more-in-even-dimensions",
        "Scales the noise by 1.3 in even dimensions from 6 on.",
        "entrywise-laplace",
        COLUMNS,
        1.3,
        lambda n, d: d >= 6 and d % 2 == 0,
    ),
    scaled(
        "less-at-nine", "Scales the noise by 0.6 at d = 9.", "output-perturbation", COLUMNS, 0.6, lambda n, d: d == 9
    ),
    scaled(
        "less-for-a-pair", "Scales the noise by 0.75 at n = 2.", "centred-covariance", ROWS, 0.75, lambda n, d: n == 2
    ),
    scaled("less-above-a-block", "Scales the noise by 0.7 at n = 65.", "gaussian", ROWS, 0.7, lambda n, d: n == 65),
    scaled(
        "less-for-one-row", "Scales the noise by 0.7 at n = 1.", "gaussian-approximate", ROWS, 0.7, lambda n, d: n == 1
    ),
    scaled("more-in-ten", "Scales the noise by 1.4 at d = 10.", "lap-cov", COLUMNS, 1.4, lambda n, d: d == 10),
    scaled(
        "less-in-squares",
        "Scales the noise by 0.3 if there are as many rows as columns.",
        "nuclear-laplace-symmetric",
        COLUMNS,
        0.3,
        lambda n, d: n == d,
    ),
    with_noise(
        "eight-at-a-time", "Halves the noise beyond the eighth column.", mechanism("gaussian"), last_block_short, ANY
    ),
    with_noise(
        "four-at-a-time", "Scales the noise beyond the fourth column.", mechanism("gauss-cov"), beyond_four, ANY
    ),
    scaled(
        "eigenvalues-at-five",
        "Halves the noise of the eigenvalues at d = 5.",
        "separate-cov",
        COLUMNS,
        0.5,
        lambda n, d: d == 5,
        "eigenvalues",
    ),
    scaled(
        "eigenvalues-in-many",
        "Halves the noise of the eigenvalues at d ≥ 4.",
        "iterative-eigenvectors",
        COLUMNS,
        0.5,
        lambda n, d: d >= 4,
        "eigenvalues",
    ),
    scaled(
        "eigenvalues-at-six",
        "Halves the noise of the eigenvalues at d = 6.",
        "em-cov",
        COLUMNS,
        0.5,
        lambda n, d: d == 6,
        "eigenvalues",
    ),
    scaled(
        "mean-noise-at-nine",
        "Halves the noise of the mean at d = 9.",
        "kv-mean",
        COLUMNS,
        0.5,
        lambda n, d: d == 9,
        "mean",
    ),
    scaled(
        "ball-at-three",
        "Scales the matrix noise by 0.6 at d = 3.",
        "nuclear-ball-projection",
        COLUMNS,
        0.6,
        lambda n, d: d == 3,
        "matrix",
    ),
    scaled(
        "projection-at-seven",
        "Scales the noise by 0.6 from d = 7 on.",
        "projection-mechanism",
        COLUMNS,
        0.6,
        lambda n, d: d >= 7,
    ),
    with_noise(
        "bare-threshold-at-64",
        "Has no noise on the threshold at n = 64.",
        mechanism("above-threshold"),
        bare_threshold,
        ROWS,
    ),
    at_large_budget(
        "direction-at-eight", "Spends five times the budget at d = 8.", "bingham", COLUMNS, 5, lambda n, d: d == 8
    ),
    at_large_budget(
        "choice-at-six", "Spends twelve times the budget at d = 6.", "exponential", COLUMNS, 12, lambda n, d: d == 6
    ),
    at_large_budget(
        "radius-at-64", "Spends ten times the budget at n = 64.", "private-radius", ROWS, 10, lambda n, d: n == 64
    ),
)
