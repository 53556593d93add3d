"""Make decisions with exact probabilities from fair bits, in integers and without floating point (CKS20).

The reference CKS20 is Canonne, Kamath and Steinke (2020), "The Discrete Gaussian for Differential Privacy". The class
`Coins` has the building blocks of the samplers of CKS20. All building blocks use uniform integers, which are made of
fair bits by rejection. A probability is a fraction p/q of integers, so nothing is ever rounded.
"""

import secrets
from collections.abc import Callable

import numpy as np

Bits = Callable[[int], int]  # a function that returns k fair bits, as an integer from 0 to 2^k − 1
AT_LEAST = 4096  # the smallest number of bits that is requested from the source at a time


def system_bits(count: int) -> int:
    """Return `count` bits of the operating system's random number generator for secrets."""
    return secrets.randbits(count)


def generator_bits(rng: np.random.Generator) -> Bits:
    """Return a source of bits from a numpy generator. The bits are not secret, and they are meant for tests and
    experiments.
    """
    return lambda count: int.from_bytes(rng.bytes(-(-count // 8))) >> (-count % 8)


class Coins:
    """A source of random decisions, which are made from fair bits."""

    def __init__(self, source: Bits) -> None:
        self.source = source
        self._pool = self._left = 0

    def bits(self, count: int) -> int:
        """Return the next `count` unused bits as one integer."""
        if count > self._left:
            more = max(count - self._left, AT_LEAST)
            self._pool |= self.source(more) << self._left
            self._left += more
        value = self._pool & ((1 << count) - 1)
        self._pool >>= count
        self._left -= count
        return value

    def below(self, m: int) -> int:
        """Return an integer that is uniform among 0, …, m − 1."""
        width = (m - 1).bit_length()
        while (value := self.bits(width)) >= m:
            pass
        return value

    def chance(self, p: int, q: int) -> bool:
        """Return True with probability p/q, for 0 ≤ p ≤ q."""
        return self.below(q) < p

    def chance_exp(self, p: int, q: int) -> bool:
        """Return True with probability e^{−p/q}, for p ≥ 0 (CKS20 Algorithm 1).

        For γ = p/q ≤ 1, the loop below goes beyond k with probability γ^k/k!, so that k ends odd with probability 1 − γ
        + γ²/2! − … = e^{−γ}. If γ > 1, then e^{−γ} is a product of m factors e^{−1} and a last factor with an exponent
        of at most 1: e^{−γ} = e^{−1} ⋯ e^{−1} e^{−(γ − m)}.
        """
        while p > q:
            if not self.chance_exp(1, 1):
                return False
            p -= q
        k = 1
        while self.chance(p, k * q):
            k += 1
        return k % 2 == 1
