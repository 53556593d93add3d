"""Describe the low-order bits of an output by numbers. Some of these numbers are the lowest set bits of the entries of
the output. The other numbers are rounding errors. In real arithmetic, certain equations between the entries hold
exactly. In floating-point arithmetic, rounding makes the two sides of such an equation differ.

The lowest set bit of a float is the exponent of the largest power of two that divides the float. The smallest of these
exponents over all entries of an output is low as soon as one entry has a low exponent. A test of this smallest exponent
therefore notices low bits in any entry.

The squared norm of a released unit vector differs from 1 by the rounding errors of its computation. In real arithmetic
the squared norm is exactly 1. In floating-point arithmetic the difference of the squared norm from 1 depends on how the
vector was computed. The difference is larger if the vector is the product of a rotation matrix and another vector,
because this product rounds once more.
"""

import math
from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np

from covassay.reference.domain import Matrix, Vector
from covassay.reference.mechanisms.output import Output
from covassay.verification.audit.engine.coincidences import entry_name
from covassay.verification.audit.engine.events import Statistic

NAME = "lowest set bit"
MOST_NUMBERS = 64  # the largest number of entries that are tested one by one
NO_BIT = math.inf  # infinity stands for the lowest set bit of the number 0, which has none
MANTISSA = 53  # bits of a float64
SPLIT = 2.0**27 + 1  # multiplying by this number splits off the upper half of a mantissa (Dekker 1971)
QUARTERS = 4  # a squared norm is rounded to multiples of 2^−53 divided by this number
# the distance of a squared norm from 1, in units of 2^−53, is reduced to this number if it is larger
MOST_UNITS = 64.0


def lowest_bits(values: Matrix) -> Matrix:
    """Return the exponent of the lowest set bit of every number: the largest k for which the number is a multiple of
    2^k.

    >>> lowest_bits(np.array([1.0, 6.0, 0.375, 0.0])).tolist()
    [0.0, 1.0, -3.0, inf]
    """
    fraction, exponent = np.frexp(np.asarray(values, dtype=np.float64))
    whole = np.abs(np.ldexp(fraction, MANTISSA)).astype(np.int64)
    # frexp returns the exponent k + 1 for 2^k, so the lowest set bit of `whole` is 2^(power − 1)
    _, power = np.frexp((whole & -whole).astype(np.float64))
    return np.where(whole == 0, NO_BIT, exponent - MANTISSA + power - 1.0)


def smallest_bit(outputs: Matrix) -> Vector:
    """Return, for every output, the smallest exponent of a lowest set bit among its numbers."""
    smallest: Vector = lowest_bits(outputs).reshape(len(outputs), -1).min(axis=1)
    return smallest


def norm_excess(vectors: Matrix) -> Vector:
    """Return (‖u‖² − 1)·2^53 for every row u. The value is computed exactly, then rounded to a multiple of 1/4, and
    then limited to the interval from −`MOST_UNITS` to `MOST_UNITS`.

    >>> norm_excess(np.array([[1.0, 0.0], [1.0, 2.0**-26], [0.6, 0.8], [2.0, 0.0]])).tolist()
    [0.0, 2.0, 0.5, 64.0]
    """
    u = np.clip(vectors, -2.0, 2.0)
    high = SPLIT * u - (SPLIT * u - u)
    low = u - high
    terms = np.hstack([high * high, 2 * high * low, low * low, -np.ones((len(u), 1))])  # every product is exact
    exact = np.array([math.fsum(row) for row in terms])
    return np.clip(np.round(exact * 2.0**MANTISSA * QUARTERS) / QUARTERS, -MOST_UNITS, MOST_UNITS)


def statistics(output: Output, dimension: int) -> tuple[Statistic, ...]:
    """Return statistics of an output. They are the lowest set bit of each number, the smallest of these bits over all
    numbers, and the rounding errors of two equations that hold exactly in real arithmetic.

    One equation says that the norm of a unit vector is 1. The other equation says that a symmetric matrix equals its
    transpose.
    """

    def entry(place: tuple[int, ...]) -> Callable[[Matrix], Vector]:
        index: Any = (slice(None), *place)
        return lambda outputs: lowest_bits(outputs[index])

    def asymmetry(i: int, j: int) -> Callable[[Matrix], Vector]:
        return lambda outputs: lowest_bits(outputs[:, i, j] - outputs[:, j, i])

    shape = output.shape(dimension)
    places = sorted(np.ndindex(shape), key=lambda place: len(set(place)) > 1)  # the diagonal first
    together = [Statistic(f"smallest {NAME} of all numbers", smallest_bit)] if len(places) > 1 else []
    if output.normalised:
        together.append(Statistic("(‖u‖² − 1)·2^53", norm_excess))
    found = [Statistic(f"{NAME} of {entry_name(place)}", entry(place)) for place in places]
    if len(shape) == 2 and shape[0] == shape[1]:
        found += [
            Statistic(f"{NAME} of {entry_name((i, j))} − {entry_name((j, i))}", asymmetry(i, j))
            for i, j in combinations(range(shape[0]), 2)
        ]
    return (*found[:MOST_NUMBERS], *together)
