"""Negative controls whose law is right on most data and wrong at some numbers of rows or columns."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from covassay.reference.domain import Matrix
from covassay.reference.mechanisms.registry import mechanism
from covassay.verification.audit.engine.shapes import NAMES
from tests.negative_controls.changed_noise import scaled_where, with_noise
from tests.negative_controls.negative_control import NegativeControl

ROWS, COLUMNS, ANY = ((("law", NAMES[axis]),) for axis in ("n", "d", ""))


Where = Callable[[int, int], bool]  # maps (n, d) to whether the shape is selected
Checks = tuple[tuple[str, str], ...]


def at_n(name: str, mechanism_name: str, mistake: str, factor: float, where: Callable[[int], bool]) -> NegativeControl:
    """Return a negative control: the reference, with noise multiplied by a factor for some numbers of rows."""
    return with_noise(name, mistake, mechanism(mechanism_name), scaled_where(lambda n, d: where(n), factor), ROWS)


def at_d(
    name: str, mechanism_name: str, mistake: str, factor: float, where: Callable[[int], bool], part: str = ""
) -> NegativeControl:
    """Make a control of the reference with its noise, or a part of it, multiplied at some numbers of columns."""
    change = scaled_where(lambda n, d: where(d), factor, part)
    return with_noise(name, mistake, mechanism(mechanism_name), change, COLUMNS)


def at_large_budget(
    name: str, mistake: str, mechanism_name: str, caught_by: Checks, factor: float, where: Where
) -> NegativeControl:
    """Make a control of the reference with several times its budget on data of some shapes."""
    declared = mechanism(mechanism_name)

    def draw(x: Matrix, *, rng: np.random.Generator, epsilon: float) -> Any:
        return declared.sample(x, rng, epsilon=epsilon * (factor if where(*x.shape) else 1.0))

    return NegativeControl(name, mistake, declared.name, caught_by, draw)


def bare_threshold(again: Callable[[], Any], x: Matrix, rng: np.random.Generator) -> Any:
    """Adds no noise to the threshold at 64 rows."""
    return replace(again(), threshold=0.0) if len(x) == 64 else again()


def last_block_short(again: Callable[[], Any], x: Matrix, rng: np.random.Generator) -> Any:
    """Halves the noise in the columns beyond the eighth."""
    noise = np.array(again())
    noise[8:] *= 0.5
    return noise


def beyond_four(again: Callable[[], Any], x: Matrix, rng: np.random.Generator) -> Any:
    """Multiplies the noise by three quarters in rows and columns beyond the fourth."""
    noise = np.array(again())
    noise[4:, :] *= 0.75
    noise[:4, 4:] *= 0.75
    return noise


NEGATIVE_CONTROLS = (
    at_d("less-at-eleven", "gauss-cov", "Scales the noise by 0.75 at d = 11.", 0.75, lambda d: d == 11),
    at_n("less-at-64-rows", "nuclear-laplace", "Scales the noise by 0.8 at n = 64.", 0.8, lambda n: n == 64),
    at_d("less-at-thirty-two", "laplace", "Scales the noise by 0.6 at d ≥ 20.", 0.6, lambda d: d >= 20),
    at_n("less-for-two-rows", "private-trace", "Scales the noise by 0.6 at n = 2.", 0.6, lambda n: n == 2),
    at_n("less-for-many-rows", "k-norm", "Scales the noise by 0.8 from 500 rows on.", 0.8, lambda n: n >= 500),
    at_d(
        "more-in-even-dimensions",
        "entrywise-laplace",
        "Scales the noise by 1.3 in even dimensions from 6 on.",
        1.3,
        lambda d: d >= 6 and d % 2 == 0,
    ),
    at_d("less-at-nine", "output-perturbation", "Scales the noise by 0.6 at d = 9.", 0.6, lambda d: d == 9),
    at_n("less-for-a-pair", "centred-covariance", "Scales the noise by 0.75 at n = 2.", 0.75, lambda n: n == 2),
    at_n("less-above-a-block", "gaussian", "Scales the noise by 0.7 at n = 65.", 0.7, lambda n: n == 65),
    at_n("less-for-one-row", "gaussian-approximate", "Scales the noise by 0.7 at n = 1.", 0.7, lambda n: n == 1),
    at_d("more-in-ten", "lap-cov", "Scales the noise by 1.4 at d = 10.", 1.4, lambda d: d == 10),
    with_noise(
        "less-in-squares",
        "Scales the noise by 0.3 if there are as many rows as columns.",
        mechanism("nuclear-laplace-symmetric"),
        scaled_where(lambda n, d: n == d, 0.3),
        COLUMNS,
    ),
    with_noise(
        "eight-at-a-time", "Halves the noise beyond the eighth column.", mechanism("gaussian"), last_block_short, ANY
    ),
    with_noise(
        "four-at-a-time", "Scales the noise beyond the fourth column.", mechanism("gauss-cov"), beyond_four, ANY
    ),
    at_d(
        "eigenvalues-at-five",
        "separate-cov",
        "Halves the noise of the eigenvalues at d = 5.",
        0.5,
        lambda d: d == 5,
        "eigenvalues",
    ),
    at_d(
        "eigenvalues-in-many",
        "iterative-eigenvectors",
        "Halves the noise of the eigenvalues at d ≥ 4.",
        0.5,
        lambda d: d >= 4,
        "eigenvalues",
    ),
    at_d(
        "eigenvalues-at-six",
        "em-cov",
        "Halves the noise of the eigenvalues at d = 6.",
        0.5,
        lambda d: d == 6,
        "eigenvalues",
    ),
    at_d("mean-noise-at-nine", "kv-mean", "Halves the noise of the mean at d = 9.", 0.5, lambda d: d == 9, "mean"),
    at_d(
        "ball-at-three",
        "nuclear-ball-projection",
        "Scales the matrix noise by 0.6 at d = 3.",
        0.6,
        lambda d: d == 3,
        "matrix",
    ),
    at_d(
        "projection-at-seven", "projection-mechanism", "Scales the noise by 0.6 from d = 7 on.", 0.6, lambda d: d >= 7
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
