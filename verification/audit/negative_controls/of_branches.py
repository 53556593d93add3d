"""Negative controls that take another branch at some number of rows or columns, as fast paths and special cases do."""

import numpy as np

from covassay.verification.audit.negative_controls.broken import broken, mirrored, times, times_if

NEGATIVE_CONTROLS = (
    broken(
        "noise-by-batches",
        "laplace",
        "Divides the noise by √2 from 130 rows on.",
        noise=times_if(0.5**0.5, lambda x: len(x) >= 130),
    ),
    broken("two-rows", "gaussian", "Halves the noise of two rows.", noise=times_if(0.5, lambda x: len(x) == 2)),
    broken(
        "one-row-bare", "k-norm", "Returns a single row's moment as it is.", noise=times_if(0.0, lambda x: len(x) == 1)
    ),
    broken(
        "large-n",
        "nuclear-laplace",
        "Counts 1000 rows or more as large data, without noise.",
        noise=times_if(0.0, lambda x: len(x) >= 1000),
    ),
    broken(
        "odd-n",
        "lap-cov",
        "Rounds n up to an even number.",
        noise=lambda z, rng, x: z * (len(x) / (len(x) + len(x) % 2)),
    ),
    broken(
        "power-of-two",
        "entrywise-laplace",
        "Rounds n up to a power of two.",
        noise=lambda z, rng, x: z * (len(x) / 2 ** int(np.ceil(np.log2(len(x))))),
    ),
    broken(
        "wide-data",
        "gauss-cov",
        "Takes d for n when there are more columns than rows.",
        noise=lambda z, rng, x: z * len(x) / max(x.shape),
    ),
    broken(
        "twelve-columns",
        "gauss-cov-approximate",
        "Halves the noise from twelve columns on.",
        noise=times_if(0.5, lambda x: x.shape[1] >= 12),
    ),
    broken(
        "four-columns",
        "nuclear-laplace-symmetric",
        "Unrolls the loop for four columns, and forgets a factor 0.9.",
        noise=times_if(0.9, lambda x: x.shape[1] == 4),
    ),
    broken(
        "one-column",
        "laplace",
        "Uses a quarter of the noise for one column.",
        noise=times_if(0.25, lambda x: x.shape[1] == 1),
    ),
    broken(
        "last-column-from-eight",
        "gaussian",
        "Leaves the last component bare from eight columns on.",
        noise=lambda z, rng, x: np.append(z[:-1], 0.0) if len(z) >= 8 else z,
    ),
    broken(
        "blocked-noise",
        "gauss-cov",
        "Draws the noise of 4 × 4 blocks, and leaves entries between blocks bare.",
        noise=lambda z, rng, x: z * (np.subtract.outer(np.arange(len(z)) // 4, np.arange(len(z)) // 4) == 0),
    ),
    broken(
        "trace-of-65",
        "private-trace",
        "Sums rows in blocks of 64 and adds the noise of one block only to the first.",
        noise=times_if(0.5, lambda x: len(x) == 65),
    ),
    broken(
        "centred-twelve-rows",
        "centred-covariance",
        "Uses n − 1 for n in the noise below 13 rows.",
        noise=lambda z, rng, x: z * (1 - 0.5 * (len(x) <= 12)),
    ),
    broken(
        "ridge-three-columns",
        "output-perturbation",
        "Halves the noise from four columns on.",
        noise=times_if(0.5, lambda x: x.shape[1] >= 4),
    ),
    broken(
        "separate-one-column",
        "separate-cov",
        "Leaves the eigenvalue bare in one dimension.",
        noise=times_if(0.0, lambda x: x.shape[1] == 1),
    ),
    broken(
        "separate-pure-many-rows",
        "separate-cov-pure",
        "Leaves the noise out from 300 rows on.",
        noise=times_if(0.0, lambda x: len(x) >= 300),
    ),
    broken(
        "projection-five-columns",
        "projection-mechanism",
        "Halves the noise from five columns on.",
        noise=times_if(0.5, lambda x: x.shape[1] >= 5),
    ),
    broken(
        "em-wide",
        "em-cov",
        "Uses a tenth of the eigenvalue noise when there are more columns than rows.",
        noise=times_if(0.1, lambda x: x.shape[1] > len(x)),
    ),
    broken(
        "mean-one-row", "kv-mean", "Returns a single row as it is.", output=lambda y, rng, x: x[0] if len(x) == 1 else y
    ),
    broken(
        "exactly-500-rows",
        "gaussian",
        "Halves the noise at n = 500 and nowhere else.",
        noise=times_if(0.5, lambda x: len(x) == 500),
    ),
    broken(
        "exactly-nine-columns",
        "gauss-cov",
        "Halves the noise at d = 9 and nowhere else.",
        noise=times_if(0.5, lambda x: x.shape[1] == 9),
    ),
    broken(
        "triangle-of-three",
        "k-norm",
        "At d = 3 mirrors the wrong triangle with the signs of the other.",
        noise=lambda z, rng, x: mirrored(np.abs(z)) if len(z) == 3 else z,
    ),
    broken(
        "image-two-columns",
        "johnson-lindenstrauss",
        "Halves the noise at d = 2.",
        noise=times_if(0.5, lambda x: x.shape[1] == 2),
    ),
    broken(
        "ball-many-rows",
        "nuclear-ball-projection",
        "Uses half the noise from 30 rows on.",
        noise=lambda z, rng, x: times(0.5 if len(x) >= 30 else 1.0)(z, rng, x),
    ),
)
