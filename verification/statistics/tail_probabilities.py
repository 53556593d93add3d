"""Compute tails and quantiles of the discrete laws that the tests use.

The package `scipy.stats` has the same functions, but importing it takes longer than all other imports of an audit, in
every process.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from covassay.reference.domain import Array


def binomial_at_most(k: ArrayLike, n: ArrayLike, p: ArrayLike) -> Array:
    """Return P(Bin(n, p) ≤ k), for whole numbers k of any size.

    >>> float(binomial_at_most(1, 2, 0.5)), float(binomial_at_most(-1, 2, 0.5)), float(binomial_at_most(2, 2, 0.5))
    (0.75, 0.0, 1.0)
    """
    k, n, p = np.broadcast_arrays(k, n, p)
    inside = (k >= 0) & (k < n)
    at = np.where(inside, k, 0)
    return np.where(inside, special.betaincc(at + 1, np.where(inside, n - at, 1), p), np.where(k < 0, 0.0, 1.0))


def binomial_at_least(k: ArrayLike, n: ArrayLike, p: ArrayLike) -> Array:
    """Return P(Bin(n, p) ≥ k), for whole numbers k of any size.

    >>> float(binomial_at_least(1, 2, 0.5)), float(binomial_at_least(0, 2, 0.5)), float(binomial_at_least(3, 2, 0.5))
    (0.75, 1.0, 0.0)
    """
    k, n, p = np.broadcast_arrays(k, n, p)
    inside = (k >= 1) & (k <= n)
    at = np.where(inside, k, 1)
    return np.where(inside, special.betainc(at, np.where(inside, n - at + 1, 1), p), np.where(k < 1, 1.0, 0.0))


def hypergeometric_tails(k: int, n: int, a: int, b: int) -> tuple[float, float]:
    """Return P(X ≤ k) and P(X ≥ k), where X is the number of marked items among b items drawn from n, of which a are
    marked.

    The probabilities are products of the ratios of neighbouring probabilities, starting from the largest; a product
    that underflows becomes 0.

    >>> hypergeometric_tails(1, 4, 2, 2) == (5 / 6, 5 / 6)
    True
    """
    low, high = max(0, a + b - n), min(a, b)
    top = min(max((a + 1) * (b + 1) // (n + 2), low), high)
    up, down = np.arange(top, high, dtype=float), np.arange(top, low, -1, dtype=float)
    above = np.cumprod((a - up) * (b - up) / ((up + 1) * (n - a - b + up + 1)))
    below = np.cumprod(down * (n - a - b + down) / ((a - down + 1) * (b - down + 1)))
    weights = np.concatenate([below[::-1], [1.0], above])
    at, total = k - low, float(weights.sum())
    return float(weights[: max(at + 1, 0)].sum()) / total, float(weights[max(at, 0) :].sum()) / total


def poisson_quantile(tail: float, mean: float) -> int:
    """Return the smallest k with P(X ≤ k) ≥ tail, for a Poisson variable X with the given mean."""
    return _first(lambda k: float(special.pdtr(k, mean)) >= tail, mean)


def poisson_upper_quantile(tail: float, mean: float) -> int:
    """Return the smallest k with P(X > k) ≤ tail, for a Poisson variable X with the given mean."""
    return _first(lambda k: float(special.pdtrc(k, mean)) <= tail, mean)


def _first(holds: Callable[[int], bool], mean: float) -> int:
    """Return the smallest k ≥ 0 that has a property; the property must also hold for all larger k."""
    low, high = -1, int(mean) + 1
    while not holds(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
