"""Compute the releases of `box-gauss` and `box-laplace` in interval arithmetic, so that they can be rounded to a grid.
These releases are the noisy number of rows, mean and covariance of columns with public bounds. Each computed number is
a ball, that is, an interval that contains the exact number.

The columns are scaled to [−1, 1] and are integers over 2^b, so the sums are exact. The weights are the float64 weights
of `box_moments`, read as exact fractions. The sensitivity is computed exactly from the fractions of the weights, so the
release is private for any weights. The proof of `box_moments` assumes that the weight of the squares is at most a
bound, and under add-remove the weight equals this bound. A float64 weight might be rounded above the bound, so this
module lowers the weight of the squares slightly.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb
from numpy.typing import NDArray

from covassay.reference.box_moments import Weights, gauss_weights, l1, l2_squared, laplace_weights
from covassay.reference.domain import Adjacency
from covassay.reference.domain.exact_data import ExactData
from covassay.reference.rounded import noise
from covassay.reference.rounded.balls import exact, less, square_root
from covassay.reference.rounded.bits import Uniforms

BELOW = 1 - Fraction(1, 2**40)  # the factor below 1 by which the weight of the squares is multiplied

Noises = Callable[[int, Uniforms], list[arb]]


def fractions_of(weights: Weights) -> Weights:
    """Return the weights as fractions, with the weight of the squares lowered slightly."""
    count, mean, square, product = (
        Fraction(float(w)) for w in (weights.count, weights.mean, weights.square, weights.product)
    )
    return Weights(count, mean, square * BELOW, product)


def gauss(data: ExactData, uniforms: Uniforms, options: Any) -> dict[str, list[arb]]:
    """Return the parts of a release by `box-gauss`, for scaled columns."""
    adjacency: Adjacency = options["adjacency"]
    weights = fractions_of(gauss_weights(data.d, adjacency))
    scale = square_root(exact(l2_squared(data.d, weights, adjacency)) / (2 * options["rho"]))
    return _estimates(data, weights, scale, noise.normals, uniforms)


def laplace(data: ExactData, uniforms: Uniforms, options: Any) -> dict[str, list[arb]]:
    """Return the parts of a release by `box-laplace`, for scaled columns."""
    adjacency: Adjacency = options["adjacency"]
    weights = fractions_of(laplace_weights(data.d, adjacency))
    scale = exact(l1(data.d, weights, adjacency)) / options["epsilon"]
    return _estimates(data, weights, scale, noise.laplaces, uniforms)


def _estimates(
    data: ExactData, weights: Weights, scale: arb, noises: Noises, uniforms: Uniforms
) -> dict[str, list[arb]]:
    """Return the number of rows, the mean and the covariance, on and above the diagonal, from the noisy sums."""
    d, unit = data.d, Fraction(1, 2**data.input_bits)
    pairs = noise.triangle(d)
    drawn = iter(noises(1 + d + len(pairs), uniforms))
    count = divisor = arb(max(data.n, 1))
    if weights.count:  # the weight 0 means that n is public and gets no noise
        count = data.n + scale / exact(weights.count) * next(drawn)
        divisor = arb(1) if less(count, arb(1)) else count
    means = [(exact(s * unit) + scale / exact(weights.mean) * next(drawn)) / divisor for s in data.sums]
    covariance = []
    for i, j in pairs:
        weight, known = (weights.square, data.n) if i == j else (weights.product, 0)
        total = exact(data.gram[i][j] * unit**2 - known) + scale / exact(weight) * next(drawn)
        covariance.append(total / divisor + (1 if i == j else 0) - means[i] * means[j])
    return {"rows": [count], "mean": means, "covariance": covariance}


def finish(parts: dict[str, NDArray[np.float64]], n: int, d: int, options: Any) -> NDArray[np.float64]:
    """Return the output for columns scaled to [−1, 1], (d + 1, d + 1)."""
    values = np.empty((d + 1, d + 1))
    values[0, 0] = parts["rows"][0]
    values[0, 1:] = values[1:, 0] = parts["mean"]
    i, j = np.triu_indices(d)
    values[i + 1, j + 1] = values[j + 1, i + 1] = parts["covariance"]
    return values
