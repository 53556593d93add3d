"""Represent laws on the real line by tails that are computed accurately, however far out a value lies.

A distribution function alone rounds to 1 a little beyond eight standard deviations. A `Law` also has the survival
function, so that the probability of a value as far out as an observed one is known to many digits.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammainc, gammaincc, ndtr

from covassay.reference.domain import Vector

Function = Callable[[Vector], Vector]
ERROR = 1e-5  # assumed absolute error of a distribution function that is not a `Law`, because it may be a table
ROUNDING = 1e-3  # a value of a float32 target may have this rounding error, as a multiple of the noise scale


@dataclass(frozen=True)
class Law:
    """A continuous law, which is a callable that returns the values of its distribution function.

    survival : P(X > t), with a small relative error.
    symmetric : whether X and −X have the same law.
    unit : the typical size of X.
    """

    cdf: Function
    survival: Function
    symmetric: bool = False
    unit: float = 1.0

    def __call__(self, t: Vector) -> Vector:
        """Return the value of the distribution function at each argument."""
        return self.cdf(t)

    def scaled(self, factor: float) -> "Law":
        """Return the law of X times a positive factor."""
        unit = factor * self.unit
        return Law(lambda t: self.cdf(t / factor), lambda t: self.survival(t / factor), self.symmetric, unit)


def _laplace_cdf(t: Vector) -> Vector:
    return np.where(t < 0, np.exp(np.minimum(t, 0)) / 2, 1 - np.exp(-np.maximum(t, 0)) / 2)


NORMAL = Law(ndtr, lambda t: ndtr(-np.asarray(t)), symmetric=True)
LAPLACE = Law(_laplace_cdf, lambda t: _laplace_cdf(-np.asarray(t)), symmetric=True)


def gamma(shape: float) -> Law:
    """Return the law Gamma(shape) with the scale 1."""
    return Law(
        lambda t: gammainc(shape, np.maximum(t, 0)),
        lambda t: gammaincc(shape, np.maximum(t, 0)),
        unit=max(1.0, math.sqrt(shape)),
    )


def chi_square(degrees: float) -> Law:
    """Return the χ² law with the given number of degrees of freedom."""
    return gamma(degrees / 2).scaled(2.0)


@dataclass(frozen=True)
class Placed:
    """The tail probabilities of the tested law at the values of a sample.

    below, above : P(X ≤ x) and P(X ≥ x) for every value x.
    error : the absolute error of these probabilities.
    symmetric : whether the law is symmetric.
    extreme : the probability, under the law, of a value that is at least as extreme as the most extreme value of the
        sample, in either tail. The probability includes an allowance for rounding, and is 1 if the tails of the law are
        not known.
    block : the number of the block of draws; None if the sample is not divided into blocks.
    """

    below: Vector
    above: Vector
    error: float = ERROR
    symmetric: bool = False
    extreme: float = 1.0
    block: int | None = None

    def repeated(self, counts: NDArray[np.integer[Any]]) -> "Placed":
        """Return the probabilities for a sample in which each value occurs as often as `counts` says."""
        if len(counts) == counts.sum():
            return self
        return replace(self, below=np.repeat(self.below, counts), above=np.repeat(self.above, counts))

    @property
    def uniform(self) -> Vector:
        """Return values that are uniform under the law, namely P(X ≤ x) or, at an atom, a random value from P(X < x) to
        P(X ≤ x).
        """
        jumps = self.below + self.above - 1
        if not (jumps > self.error).any():
            return self.below
        seed = len(jumps) if self.block is None else (len(jumps), self.block)
        share = np.random.default_rng(seed).random(len(jumps))
        values: Vector = np.where(jumps > self.error, self.below - share * jumps, self.below)
        return values


def placed(values: Vector, law: Function | Law, at: Vector, before: Vector) -> Placed:
    """Return the tail probabilities of a law at the given values. The distribution function of the law is `at` at the
    values, and `before` just below the values.
    """
    if not isinstance(law, Law):
        return Placed(np.asarray(at), 1 - np.asarray(before))
    slack = ROUNDING * (law.unit + np.abs(values))
    tails = np.minimum(law.cdf(values + slack), law.survival(values - slack))
    extreme = min(1.0, 2 * float(tails.min()))
    return Placed(np.asarray(at), np.asarray(law.survival(values)), 0.0, law.symmetric, extreme)
