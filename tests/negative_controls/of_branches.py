"""Negative controls with a wrong special case for some numbers of rows or columns."""

from collections.abc import Callable

import numpy as np

from tests.negative_controls.broken import mirrored, other_noise, other_output, times_if
from tests.negative_controls.negative_control import NegativeControl


def scaled(
    name: str, mechanism_name: str, mistake: str, factor: float, where: Callable[[int, int], bool]
) -> NegativeControl:
    """Return a mechanism whose noise is multiplied by a factor if `where` is true for the shape (n, d) of the data."""
    return other_noise(name, mechanism_name, mistake, times_if(factor, lambda x: where(*x.shape)))


NEGATIVE_CONTROLS = (
    scaled(
        "noise-by-batches",
        "laplace",
        "Divide the noise by √2 if there are 130 rows or more.",
        0.5**0.5,
        lambda n, d: n >= 130,
    ),
    scaled("two-rows", "gaussian", "Halve the noise if there are two rows.", 0.5, lambda n, d: n == 2),
    scaled("one-row-bare", "k-norm", "Add no noise to the second moment of a single row.", 0.0, lambda n, d: n == 1),
    scaled("large-n", "nuclear-laplace", "Add no noise if there are 1000 rows or more.", 0.0, lambda n, d: n >= 1000),
    other_noise(
        "odd-n", "lap-cov", "Round n up to an even number.", lambda z, rng, x: z * (len(x) / (len(x) + len(x) % 2))
    ),
    other_noise(
        "power-of-two",
        "entrywise-laplace",
        "Round n up to a power of two.",
        lambda z, rng, x: z * (len(x) / 2 ** int(np.ceil(np.log2(len(x))))),
    ),
    other_noise(
        "wide-data",
        "gauss-cov",
        "Use d in place of n if there are more columns than rows.",
        lambda z, rng, x: z * len(x) / max(x.shape),
    ),
    scaled(
        "twelve-columns",
        "gauss-cov-approximate",
        "Halve the noise if there are twelve columns or more.",
        0.5,
        lambda n, d: d >= 12,
    ),
    scaled(
        "four-columns",
        "nuclear-laplace-symmetric",
        "Multiply the noise by 0.9 if there are four columns.",
        0.9,
        lambda n, d: d == 4,
    ),
    scaled("one-column", "laplace", "Use a quarter of the noise if there is one column.", 0.25, lambda n, d: d == 1),
    other_noise(
        "last-column-from-eight",
        "gaussian",
        "Add no noise to the last component if there are eight columns or more.",
        lambda z, rng, x: np.append(z[:-1], 0.0) if len(z) >= 8 else z,
    ),
    other_noise(
        "blocked-noise",
        "gauss-cov",
        "Add noise only to the 4 × 4 blocks on the diagonal.",
        lambda z, rng, x: z * (np.subtract.outer(np.arange(len(z)) // 4, np.arange(len(z)) // 4) == 0),
    ),
    scaled("trace-of-65", "private-trace", "Halve the noise if there are 65 rows.", 0.5, lambda n, d: n == 65),
    other_noise(
        "centred-twelve-rows",
        "centred-covariance",
        "Halve the noise if there are twelve rows or fewer.",
        lambda z, rng, x: z * (1 - 0.5 * (len(x) <= 12)),
    ),
    scaled(
        "ridge-three-columns",
        "output-perturbation",
        "Halve the noise if there are four columns or more.",
        0.5,
        lambda n, d: d >= 4,
    ),
    scaled("separate-one-column", "separate-cov", "Add no noise if there is one column.", 0.0, lambda n, d: d == 1),
    scaled(
        "separate-pure-many-rows",
        "separate-cov-pure",
        "Add no noise if there are 300 rows or more.",
        0.0,
        lambda n, d: n >= 300,
    ),
    scaled(
        "projection-five-columns",
        "projection-mechanism",
        "Halve the noise if there are five columns or more.",
        0.5,
        lambda n, d: d >= 5,
    ),
    scaled(
        "em-wide", "em-cov", "Use a tenth of the noise if there are more columns than rows.", 0.1, lambda n, d: d > n
    ),
    other_output(
        "mean-one-row",
        "kv-mean",
        "If there is only one row, release it without noise.",
        lambda y, rng, x: x[0] if len(x) == 1 else y,
    ),
    scaled("exactly-500-rows", "gaussian", "Halve the noise at n = 500 and nowhere else.", 0.5, lambda n, d: n == 500),
    scaled("exactly-nine-columns", "gauss-cov", "Halve the noise at d = 9 and nowhere else.", 0.5, lambda n, d: d == 9),
    other_noise(
        "triangle-of-three",
        "k-norm",
        "Replace the entries of the noise by their absolute values if there are three columns.",
        lambda z, rng, x: mirrored(np.abs(z)) if len(z) == 3 else z,
    ),
    scaled("image-two-columns", "johnson-lindenstrauss", "Halve the noise at d = 2.", 0.5, lambda n, d: d == 2),
    scaled(
        "ball-many-rows",
        "nuclear-ball-projection",
        "Halve the noise if there are 30 rows or more.",
        0.5,
        lambda n, d: n >= 30,
    ),
)
