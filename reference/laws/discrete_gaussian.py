"""The discrete Gaussian law P(Z = z) ∝ e^{−z²/(2σ²)} on the integers. The variance is at most σ² (CKS20).

The parameter σ² is a positive rational number. The function `sample` draws in integers, with exactly the probabilities
of the law (CKS20 Algorithm 3): it proposes a discrete Laplace number y of scale t = ⌊σ⌋ + 1, and accepts it with
probability e^{−(|y| − σ²/t)²/(2σ²)}. As |y|/t + (|y| − σ²/t)²/(2σ²) = y²/(2σ²) + σ²/(2t²), accepted numbers have the
discrete Gaussian law for every scale t; the scale t = ⌊σ⌋ + 1 makes acceptance likely. Proof:
proofs/paper/discrete-gaussian-covariance.md
"""

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np
from scipy.special import ndtr

from covassay.reference.domain import IntegerMatrix, Vector
from covassay.reference.laws import discrete_laplace
from covassay.reference.laws.exact_draws import Coins

# THE LAW

LARGE = 1e4  # the least σ for which the law differs from that of a rounded Gaussian number by less than 1e-9
REACH = 40  # the multiple of σ beyond which probabilities are below the range of float64


@lru_cache(maxsize=8)
def _tails(sigma: float) -> Vector:
    """Return the probabilities P(|Z| ≥ k) for k = 0, 1, …, for σ below `LARGE`."""
    sizes = np.arange(math.ceil(REACH * sigma) + 2)
    weights = np.exp(-((sizes / sigma) ** 2) / 2) * np.where(sizes > 0, 2, 1)
    beyond: Vector = np.cumsum(weights[::-1])[::-1]
    tails: Vector = beyond / beyond[0]
    return tails


def tail(size: Vector, sigma: float) -> Vector:
    """Return the probability P(|Z| ≥ size) for whole numbers size ≥ 0."""
    sizes = np.asarray(size, dtype=np.float64)
    if sigma < LARGE:
        table = _tails(sigma)
        return np.where(sizes < len(table), table[np.minimum(sizes, len(table) - 1).astype(int)], 0.0)
    # e^{−x²/(2σ²)} at a whole number x equals its mean over [x − ½, x + ½], up to a relative error of order 1/σ²
    return np.where(sizes > 0, 2 * ndtr(-(sizes - 0.5) / sigma), 1.0)


def pmf(z: Vector, sigma: float) -> Vector:
    """Return the probability P(Z = z) for whole numbers z."""
    at_zero = 1 - _tails(sigma)[1] if sigma < LARGE else 1 / (sigma * math.sqrt(2 * math.pi))
    mass: Vector = at_zero * np.exp(-((np.asarray(z) / sigma) ** 2) / 2)
    return mass


# DRAWS


def attempt(sigma_squared: Fraction, coins: Coins) -> int | None:
    """Make one attempt to draw: return z with probability ∝ e^{−z²/(2σ²)}, or None if the attempt fails."""
    a, b = sigma_squared.numerator, sigma_squared.denominator
    t = math.isqrt(a // b) + 1
    y = discrete_laplace.sample(Fraction(t), coins)
    # the exponent (|y| − σ²/t)²/(2σ²), where σ² = a/b
    return y if coins.chance_exp((abs(y) * t * b - a) ** 2, 2 * a * b * t**2) else None


def sample(sigma_squared: Fraction, coins: Coins) -> int:
    """Draw one integer from the discrete Gaussian law."""
    while (z := attempt(sigma_squared, coins)) is None:
        pass
    return z


def symmetric(dimension: int, sigma_squared: Fraction, coins: Coins) -> IntegerMatrix:
    """Return a symmetric (d, d) matrix with independent draws on and above the diagonal."""
    return discrete_laplace.filled(dimension, lambda: sample(sigma_squared, coins))
