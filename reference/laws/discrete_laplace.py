"""The discrete Laplace law of scale t, also called two-sided geometric: P(Z = z) ∝ e^{−|z|/t} on the integers.

The scale is a positive rational number. The function `sample` draws in integers, with exactly the probabilities of the
law (CKS20 Algorithm 2). One round of the sampler, `attempt`, gives z with probability c·e^{−|z|/t} for a constant c,
and otherwise gives nothing; rounds are repeated until one gives a number. Proof:
proofs/paper/discrete-laplace-covariance.md
"""

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from covassay.reference.domain import IntegerMatrix, Number
from covassay.reference.laws.exact_draws import Coins

# THE LAW


def pmf(z: Number, scale: Number, exp: Callable[[Number], Number] = np.exp) -> Number:
    """Return P(Z = z) = e^{−|z|/t} (1 − q)/(1 + q), q = e^{−1/t}."""
    q = exp(-1 / scale)
    return exp(-abs(z) / scale) * (1 - q) / (1 + q)


def tail(size: Number, scale: Number, exp: Callable[[Number], Number] = np.exp) -> Number:
    """Return P(|Z| ≥ size) = 2 e^{−size/t}/(1 + q), for a whole number size ≥ 1."""
    return 2 * exp(-size / scale) / (1 + exp(-1 / scale))


# DRAWS


def attempt_size(scale: Fraction, coins: Coins) -> int | None:
    """Make one attempt to draw: return k ≥ 0 with probability ∝ e^{−k/t}, or None if the attempt fails."""
    t, s = scale.numerator, scale.denominator
    u = coins.below(t)
    if not coins.chance_exp(u, t):
        return None
    v = 0
    while coins.chance_exp(1, 1):
        v += 1
    return (u + t * v) // s  # P(u + tv = x) ∝ e^{−x/t}, with t the numerator of the scale


def attempt(scale: Fraction, coins: Coins) -> int | None:
    """Make one attempt to draw: return z with probability ∝ e^{−|z|/t}, or None if the attempt fails."""
    size = attempt_size(scale, coins)
    if size is None:
        return None
    negative = coins.chance(1, 2)
    # without this rejection, 0 would be drawn twice as often as it should be, with either sign
    if negative and size == 0:
        return None
    return -size if negative else size


def sample(scale: Fraction, coins: Coins) -> int:
    """Draw one integer from the discrete Laplace law."""
    while (z := attempt(scale, coins)) is None:
        pass
    return z


def symmetric(dimension: int, scale: Fraction, coins: Coins) -> IntegerMatrix:
    """Return a symmetric (d, d) matrix with independent draws on and above the diagonal."""
    return filled(dimension, lambda: sample(scale, coins))


def filled(dimension: int, draw: Callable[[], int]) -> IntegerMatrix:
    """Return the symmetric matrix whose entries on and above the diagonal are made by calls of `draw`, row by row."""
    matrix = np.zeros((dimension, dimension), dtype=object)
    for i in range(dimension):
        for j in range(i, dimension):
            matrix[i, j] = matrix[j, i] = draw()
    return matrix
