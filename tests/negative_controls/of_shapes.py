"""Negative controls whose law is wrong for some numbers of rows or columns, and correct for all others."""

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


Where = Callable[[int, int], bool]  # a function that maps (n, d) to whether the shape is selected
Checks = tuple[tuple[str, str], ...]


def at_n(name: str, mechanism_name: str, mistake: str, factor: float, where: Callable[[int], bool]) -> NegativeControl:
    """Return a mechanism whose noise is multiplied by a factor for some numbers of rows."""
    return with_noise(name, mistake, mechanism(mechanism_name), scaled_where(lambda n, d: where(n), factor), ROWS)


def at_d(
    name: str, mechanism_name: str, mistake: str, factor: float, where: Callable[[int], bool], part: str = ""
) -> NegativeControl:
    """Return a mechanism whose noise, or one part of it, is multiplied by a factor for some numbers of columns."""
    change = scaled_where(lambda n, d: where(d), factor, part)
    return with_noise(name, mistake, mechanism(mechanism_name), change, COLUMNS)


def at_large_budget(
    name: str, mistake: str, mechanism_name: str, caught_by: Checks, factor: float, where: Where
) -> NegativeControl:
    """Return a mechanism whose budget is multiplied by a factor on data of some shapes."""
    declared = mechanism(mechanism_name)

    def draw(x: Matrix, *, rng: np.random.Generator, epsilon: float) -> Any:
        return declared.sample(x, rng, epsilon=epsilon * (factor if where(*x.shape) else 1.0))

    return NegativeControl(name, mistake, declared.name, caught_by, draw)


def bare_threshold(again: Callable[[], Any], x: Matrix, rng: np.random.Generator) -> Any:
    """Add no noise to the threshold if there are 64 rows."""
    return replace(again(), threshold=0.0) if len(x) == 64 else again()


def last_block_short(again: Callable[[], Any], x: Matrix, rng: np.random.Generator) -> Any:
    """Halve the noise of all columns after the eighth."""
    noise = np.array(again())
    noise[8:] *= 0.5
    return noise


def beyond_four(again: Callable[[], Any], x: Matrix, rng: np.random.Generator) -> Any:
    """Multiply the noise by 0.75 in all rows and columns after the fourth."""
    noise = np.array(again())
    noise[4:, :] *= 0.75
    noise[:4, 4:] *= 0.75
    return noise


NEGATIVE_CONTROLS = (
    at_d("less-at-eleven", "gauss-cov", "Multiply the noise by 0.75 at d = 11.", 0.75, lambda d: d == 11),
    at_n("less-at-64-rows", "nuclear-laplace", "Multiply the noise by 0.8 at n = 64.", 0.8, lambda n: n == 64),
    at_d("less-at-thirty-two", "laplace", "Multiply the noise by 0.6 at d ≥ 20.", 0.6, lambda d: d >= 20),
    at_n("less-for-two-rows", "private-trace", "Multiply the noise by 0.6 at n = 2.", 0.6, lambda n: n == 2),
    at_n(
        "less-for-many-rows",
        "k-norm",
        "Multiply the noise by 0.8 if there are 500 rows or more.",
        0.8,
        lambda n: n >= 500,
    ),
    at_d(
        "more-in-even-dimensions",
        "entrywise-laplace",
        "Multiply the noise by 1.3 if the number of columns is even and at least 6.",
        1.3,
        lambda d: d >= 6 and d % 2 == 0,
    ),
    at_d("less-at-nine", "output-perturbation", "Multiply the noise by 0.6 at d = 9.", 0.6, lambda d: d == 9),
    at_n("less-for-a-pair", "centred-covariance", "Multiply the noise by 0.75 at n = 2.", 0.75, lambda n: n == 2),
    at_n("less-above-a-block", "gaussian", "Multiply the noise by 0.7 at n = 65.", 0.7, lambda n: n == 65),
    at_n("less-for-one-row", "gaussian-approximate", "Multiply the noise by 0.7 at n = 1.", 0.7, lambda n: n == 1),
    at_d("more-in-ten", "lap-cov", "Multiply the noise by 1.4 at d = 10.", 1.4, lambda d: d == 10),
    with_noise(
        "less-in-squares",
        "Multiply the noise by 0.3 if there are as many rows as columns.",
        mechanism("nuclear-laplace-symmetric"),
        scaled_where(lambda n, d: n == d, 0.3),
        COLUMNS,
    ),
    with_noise(
        "eight-at-a-time",
        "Halve the noise of all columns after the eighth.",
        mechanism("gaussian"),
        last_block_short,
        ANY,
    ),
    with_noise(
        "four-at-a-time",
        "Multiply the noise by 0.75 in all rows and columns after the fourth.",
        mechanism("gauss-cov"),
        beyond_four,
        ANY,
    ),
    at_d(
        "eigenvalues-at-five",
        "separate-cov",
        "Halve the noise of the eigenvalues at d = 5.",
        0.5,
        lambda d: d == 5,
        "eigenvalues",
    ),
    at_d(
        "eigenvalues-in-many",
        "iterative-eigenvectors",
        "Halve the noise of the eigenvalues at d ≥ 4.",
        0.5,
        lambda d: d >= 4,
        "eigenvalues",
    ),
    at_d(
        "eigenvalues-at-six",
        "em-cov",
        "Halve the noise of the eigenvalues at d = 6.",
        0.5,
        lambda d: d == 6,
        "eigenvalues",
    ),
    at_d("mean-noise-at-nine", "kv-mean", "Halve the noise of the mean at d = 9.", 0.5, lambda d: d == 9, "mean"),
    at_d(
        "ball-at-three",
        "nuclear-ball-projection",
        "Multiply the matrix noise by 0.6 at d = 3.",
        0.6,
        lambda d: d == 3,
        "matrix",
    ),
    at_d(
        "projection-at-seven", "projection-mechanism", "Multiply the noise by 0.6 from d = 7 on.", 0.6, lambda d: d >= 7
    ),
    with_noise(
        "bare-threshold-at-64",
        "Add no noise to the threshold at n = 64.",
        mechanism("above-threshold"),
        bare_threshold,
        ROWS,
    ),
    at_large_budget(
        "direction-at-eight", "Spend five times the budget at d = 8.", "bingham", COLUMNS, 5, lambda n, d: d == 8
    ),
    at_large_budget(
        "choice-at-six", "Spend twelve times the budget at d = 6.", "exponential", COLUMNS, 12, lambda n, d: d == 6
    ),
    at_large_budget(
        "radius-at-64", "Spend ten times the budget at n = 64.", "private-radius", ROWS, 10, lambda n, d: n == 64
    ),
)
