"""Negative controls that take another branch at some number of rows or columns, as fast paths and special cases do."""

import numpy as np

from covassay.verification.audit.negative_controls.broken import mirrored, other_noise, other_output, times, times_if

NEGATIVE_CONTROLS = (
    other_noise(
        "noise-by-batches",
        "laplace",
        "Divides the noise by √2 from 130 rows on.",
        times_if(0.5**0.5, lambda x: len(x) >= 130),
    ),
    other_noise("two-rows", "gaussian", "Halves the noise of two rows.", times_if(0.5, lambda x: len(x) == 2)),
    other_noise(
        "one-row-bare", "k-norm", "Returns a single row's moment as it is.", times_if(0.0, lambda x: len(x) == 1)
    ),
    other_noise(
        "large-n",
        "nuclear-laplace",
        "Counts 1000 rows or more as large data, without noise.",
        times_if(0.0, lambda x: len(x) >= 1000),
    ),
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
        "Takes d for n when there are more columns than rows.",
        lambda z, rng, x: z * len(x) / max(x.shape),
    ),
    other_noise(
        "twelve-columns",
        "gauss-cov-approximate",
        "Halves the noise from twelve columns on.",
        times_if(0.5, lambda x: x.shape[1] >= 12),
    ),
    other_noise(
        "four-columns",
        "nuclear-laplace-symmetric",
        "Unrolls the loop for four columns, and forgets a factor 0.9.",
        times_if(0.9, lambda x: x.shape[1] == 4),
    ),
    other_noise(
        "one-column",
        "laplace",
        "Uses a quarter of the noise for one column.",
        times_if(0.25, lambda x: x.shape[1] == 1),
    ),
    other_noise(
        "last-column-from-eight",
        "gaussian",
        "Leaves the last component bare from eight columns on.",
        lambda z, rng, x: np.append(z[:-1], 0.0) if len(z) >= 8 else z,
    ),
    other_noise(
        "blocked-noise",
        "gauss-cov",
        "Draws the noise of 4 × 4 blocks, and leaves entries between blocks bare.",
        lambda z, rng, x: z * (np.subtract.outer(np.arange(len(z)) // 4, np.arange(len(z)) // 4) == 0),
    ),
    other_noise(
        "trace-of-65",
        "private-trace",
        "Sums rows in blocks of 64 and adds the noise of one block only to the first.",
        times_if(0.5, lambda x: len(x) == 65),
    ),
    other_noise(
        "centred-twelve-rows",
        "centred-covariance",
        "Uses n − 1 for n in the noise below 13 rows.",
        lambda z, rng, x: z * (1 - 0.5 * (len(x) <= 12)),
    ),
    other_noise(
        "ridge-three-columns",
        "output-perturbation",
        "Halves the noise from four columns on.",
        times_if(0.5, lambda x: x.shape[1] >= 4),
    ),
    other_noise(
        "separate-one-column",
        "separate-cov",
        "Leaves the eigenvalue bare in one dimension.",
        times_if(0.0, lambda x: x.shape[1] == 1),
    ),
    other_noise(
        "separate-pure-many-rows",
        "separate-cov-pure",
        "Leaves the noise out from 300 rows on.",
        times_if(0.0, lambda x: len(x) >= 300),
    ),
    other_noise(
        "projection-five-columns",
        "projection-mechanism",
        "Halves the noise from five columns on.",
        times_if(0.5, lambda x: x.shape[1] >= 5),
    ),
    other_noise(
        "em-wide",
        "em-cov",
        "Uses a tenth of the eigenvalue noise when there are more columns than rows.",
        times_if(0.1, lambda x: x.shape[1] > len(x)),
    ),
    other_output(
        "mean-one-row", "kv-mean", "Returns a single row as it is.", lambda y, rng, x: x[0] if len(x) == 1 else y
    ),
    other_noise(
        "exactly-500-rows",
        "gaussian",
        "Halves the noise at n = 500 and nowhere else.",
        times_if(0.5, lambda x: len(x) == 500),
    ),
    other_noise(
        "exactly-nine-columns",
        "gauss-cov",
        "Halves the noise at d = 9 and nowhere else.",
        times_if(0.5, lambda x: x.shape[1] == 9),
    ),
    other_noise(
        "triangle-of-three",
        "k-norm",
        "At d = 3 mirrors the wrong triangle with the signs of the other.",
        lambda z, rng, x: mirrored(np.abs(z)) if len(z) == 3 else z,
    ),
    other_noise(
        "image-two-columns",
        "johnson-lindenstrauss",
        "Halves the noise at d = 2.",
        times_if(0.5, lambda x: x.shape[1] == 2),
    ),
    other_noise(
        "ball-many-rows",
        "nuclear-ball-projection",
        "Uses half the noise from 30 rows on.",
        lambda z, rng, x: times(0.5 if len(x) >= 30 else 1.0)(z, rng, x),
    ),
)
