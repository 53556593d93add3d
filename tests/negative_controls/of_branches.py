"""Negative controls that behave differently from some number of rows or columns on, as fast paths and special cases
do.
"""

from collections.abc import Callable

import numpy as np

from tests.negative_controls.broken import mirrored, other_noise, other_output, times_if
from tests.negative_controls.negative_control import NegativeControl


def scaled(
    name: str, mechanism_name: str, mistake: str, factor: float, where: Callable[[int, int], bool]
) -> NegativeControl:
    """Make a control with the reference's noise multiplied by a factor on shapes that a function of (n, d) selects."""
    return other_noise(name, mechanism_name, mistake, times_if(factor, lambda x: where(*x.shape)))


NEGATIVE_CONTROLS = (
    scaled("noise-by-batches", "laplace", "Divides the noise by √2 from 130 rows on.", 0.5**0.5, lambda n, d: n >= 130),
    scaled("two-rows", "gaussian", "Halves the noise of two rows.", 0.5, lambda n, d: n == 2),
    scaled("one-row-bare", "k-norm", "Returns a single row's moment as it is.", 0.0, lambda n, d: n == 1),
    scaled("large-n", "nuclear-laplace", "Adds no noise for 1000 rows or more.", 0.0, lambda n, d: n >= 1000),
    other_noise(
        "odd-n", "lap-cov", "Rounds n up to an even number.", lambda z, rng, x: z * (len(x) / (len(x) + len(x) % 2))
    ),
    other_noise(
        "power-of-two",
        "entrywise-laplace",
        "Rounds n up to a power of two.",
        lambda z, rng, x: z * (len(x) / 2 ** int(np.ceil(np.log2(len(x))))),
    ),
    other_noise(
        "wide-data",
        "gauss-cov",
        "Uses d in place of n when there are more columns than rows.",
        lambda z, rng, x: z * len(x) / max(x.shape),
    ),
    scaled(
        "twelve-columns", "gauss-cov-approximate", "Halves the noise from twelve columns on.", 0.5, lambda n, d: d >= 12
    ),
    scaled(
        "four-columns",
        "nuclear-laplace-symmetric",
        "Unrolls the loop for four columns, and forgets a factor 0.9.",
        0.9,
        lambda n, d: d == 4,
    ),
    scaled("one-column", "laplace", "Uses a quarter of the noise for one column.", 0.25, lambda n, d: d == 1),
    other_noise(
        "last-column-from-eight",
        "gaussian",
        "Adds no noise to the last component from eight columns on.",
        lambda z, rng, x: np.append(z[:-1], 0.0) if len(z) >= 8 else z,
    ),
    other_noise(
        "blocked-noise",
        "gauss-cov",
        "Draws noise in 4 × 4 blocks only, and adds none to entries between blocks.",
        lambda z, rng, x: z * (np.subtract.outer(np.arange(len(z)) // 4, np.arange(len(z)) // 4) == 0),
    ),
    scaled(
        "trace-of-65",
        "private-trace",
        "Sums rows in blocks of 64 and adds the noise of one block only to the first.",
        0.5,
        lambda n, d: n == 65,
    ),
    other_noise(
        "centred-twelve-rows",
        "centred-covariance",
        "Uses n − 1 for n in the noise below 13 rows.",
        lambda z, rng, x: z * (1 - 0.5 * (len(x) <= 12)),
    ),
    scaled(
        "ridge-three-columns", "output-perturbation", "Halves the noise from four columns on.", 0.5, lambda n, d: d >= 4
    ),
    scaled(
        "separate-one-column", "separate-cov", "Leaves the eigenvalue bare in one dimension.", 0.0, lambda n, d: d == 1
    ),
    scaled(
        "separate-pure-many-rows", "separate-cov-pure", "Adds no noise from 300 rows on.", 0.0, lambda n, d: n >= 300
    ),
    scaled(
        "projection-five-columns",
        "projection-mechanism",
        "Halves the noise from five columns on.",
        0.5,
        lambda n, d: d >= 5,
    ),
    scaled(
        "em-wide",
        "em-cov",
        "Uses a tenth of the eigenvalue noise when there are more columns than rows.",
        0.1,
        lambda n, d: d > n,
    ),
    other_output(
        "mean-one-row", "kv-mean", "Returns a single row as it is.", lambda y, rng, x: x[0] if len(x) == 1 else y
    ),
    scaled("exactly-500-rows", "gaussian", "Halves the noise at n = 500 and nowhere else.", 0.5, lambda n, d: n == 500),
    scaled(
        "exactly-nine-columns", "gauss-cov", "Halves the noise at d = 9 and nowhere else.", 0.5, lambda n, d: d == 9
    ),
    other_noise(
        "triangle-of-three",
        "k-norm",
        "At d = 3 mirrors the wrong triangle with the signs of the other.",
        lambda z, rng, x: mirrored(np.abs(z)) if len(z) == 3 else z,
    ),
    scaled("image-two-columns", "johnson-lindenstrauss", "Halves the noise at d = 2.", 0.5, lambda n, d: d == 2),
    scaled(
        "ball-many-rows", "nuclear-ball-projection", "Uses half the noise from 30 rows on.", 0.5, lambda n, d: n >= 30
    ),
)
