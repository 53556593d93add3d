"""This module draws the synthetic data of DLY22 §7.1, which are Gaussian rows mixed at random, centred, with norms that
follow Zipf's law.

X = GU, where G is (n, d) with N(0, 1) entries and U is (d, d) with entries uniform on (0, 1). The mean of the rows is
subtracted from every row, and every row is then given a new norm. The rows are divided, in their order, into buckets k
= 1, …, N with shares ∝ k^{−s}. The rows of bucket k have norm 2^{k−N}. A single bucket (N = 1) gives rows of norm 1.

Centring depends on all rows of the data, so no privacy guarantee covers it. The authors draw with torch; this module
draws from the same law with numpy.
"""

import numpy as np

from covassay.reference.domain import Matrix, Number, require_dimension, require_positive

# Settings of the figures in the paper: the skew s, the number N of buckets, and the parameters of the runs
SKEW = 3.0
BUCKETS = 4


def shares(skew: Number, buckets: int) -> list[Number]:
    """Return the shares k^{−s}/Σ_j j^{−s} of the rows that the buckets k = 1, …, N hold."""
    weights = [1 / k**skew for k in range(1, buckets + 1)]
    return [w / sum(weights) for w in weights]


def bucket_sizes(n: int, skew: float, buckets: int) -> list[int]:
    """Return the number of rows in each bucket: bucket k ends at ⌊n Σ_{j≤k} share_j⌋, and the last bucket has the
    rest.
    """
    boundaries = [0, *(int(n * total) for total in np.cumsum(shares(skew, buckets))[:-1]), n]
    return [int(size) for size in np.diff(boundaries)]


def zipf_norms(n: int, skew: float = SKEW, buckets: int = BUCKETS) -> Matrix:
    """Return the norms of the rows in ascending order, (n,)."""
    require_dimension("n", n)
    require_dimension("buckets", buckets)
    require_positive("skew", skew)
    return np.repeat(2.0 ** np.arange(1 - buckets, 1), bucket_sizes(n, skew, buckets))


def zipf_rows(n: int, d: int, rng: np.random.Generator, skew: float = SKEW, buckets: int = BUCKETS) -> Matrix:
    """Draw the synthetic data set of n ≥ 2 rows, (n, d)."""
    x = rng.standard_normal((n, d)) @ rng.uniform(size=(d, d))
    x -= x.mean(axis=0)
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    x *= zipf_norms(n, skew, buckets)[:, None]
    return x
