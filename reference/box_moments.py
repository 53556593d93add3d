"""Compute the moments of rows in a box: the change of the moments by one row, the best weights, and estimates from
noisy moments.

Columns are scaled to u = (x − centre)/(half the width), so rows u lie in [−1, 1]^d. The following terms are summed over
all rows:

    1,   u_j,   u_j² − 1,   u_i u_j (i < j)

The sums stand in one symmetric (d + 1, d + 1) matrix, with the number of rows in its corner and the first moments
beside it. Before noise of one scale is added, each kind of sum is multiplied by its own public weight. The formulas
below write k, a, b and c for the weights `count`, `mean`, `square` and `product`. For the weights of `gauss_weights`
and `laplace_weights`, the sensitivity of the weighted sums is exact.

Under replace-one (n is public, k = 0), a row u is replaced by a row v. Write the rows as u_j = σ_j + δ_j and v_j = σ_j
− δ_j, with |σ_j| + |δ_j| ≤ 1. The changes of the sums are 2δ_j, 4σ_jδ_j and 2(σ_iδ_j + σ_jδ_i). The absolute values of
all changes are largest for σ_j = 1 − δ_j with 0 ≤ δ_j ≤ 1. Then u is the corner (1, …, 1), and v_j = 1 − 2δ_j.

- ℓ2, b ≤ a: the square of the change is Σ 4a²δ_j² + 16b²δ_j²(1 − δ_j)² + 4c² Σ_{i<j} (δ_i + δ_j − 2δ_iδ_j)². As a
  function of each δ_j, the square lies on or below its chord from δ_j = 0 to δ_j = 1: the last term is convex, and 4a²δ
  − 4a²δ² − 16b²δ²(1 − δ)² ≥ 4δ(1 − δ)(a² − b²) ≥ 0. A chord is largest at one of its ends, so the square is largest at
  some δ ∈ {0, 1}^d. If p entries of δ are 1, then u and v are opposite in p columns and equal in the others, and the
  square of the change is 4p(a² + c²(d − p)). The change is largest for the whole number p that maximises p(a² + c²(d −
  p)).
- ℓ1, b ≥ c/2: with s = Σδ_j and Q = c(d − 1) + 2b, the change is 2(a + Q)s − 2cs² − (4b − 2c) Σδ_j². By Cauchy–Schwarz
  it is at most 2(a + Q)s − 2Qs²/d, with equality for equal δ_j. The largest ℓ1 change is d(a + Q)²/(2Q) if Q ≥ a, for
  v_j = −a/Q, and 2ad otherwise.

Under add-remove, one row u is added or removed. The terms u_j² − 1 of the squares are 0 at the corners of the box,
where the other sums change the most.

- ℓ2, b² ≤ a² + c²(d − 1)/2: with τ_j = u_j² the squared change is k² + Σ (a²τ_j + b²(1 − τ_j)²) + c² Σ_{i<j} τ_iτ_j,
  which is convex in each τ_j. If p entries of τ are 1 and the others 0, the squared change is k² + a²p + b²(d − p) +
  c²p(p − 1)/2. This is convex in p, and its maximum is at p = d: k² + da² + c²d(d − 1)/2.
- ℓ1, b ≤ (a + c(d − 1))/2: let t_j = |u_j| and s = Σt_j. The ℓ1 change is k + bd + as + cs²/2 − (b + c/2) Σt_j². For a
  fixed s it is largest if all t_j are equal. If all t_j equal t, the change k + d(b + at + (c(d − 1)/2 − b)t²) rises in
  t up to its value at 1, which is k + da + cd(d − 1)/2.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from covassay.reference.domain import Adjacency, Box, Matrix, Number, Rows, Vector, sum_rows
from covassay.reference.sensitivity import cube_root, square_root

Norm = Literal["l1", "l2"]

# FORMULAS


@dataclass(frozen=True)
class Weights:
    """The public factors by which the four kinds of sums are multiplied before noise of one scale is added."""

    count: Number
    mean: Number
    square: Number
    product: Number


def product_share(d: int, sqrt: Callable[[Number], Number] = square_root) -> Number:
    """Return the ratio c²/a² of squared weights that `gauss_weights` uses under replace-one, where b = a.

    The ratio t = c²/a² minimises p(1 + t(d − p))(M + D/t) over t, where M = d(2d + 3) and D = d(d − 1). The worst pair
    of rows is opposite in p columns, d/2 ≤ p ≤ d, if t is at least 1/(2p + 1 − d) (0 for p = d) and, for 2p > d + 1, at
    most 1/(2p − 1 − d). Then the minimum is at t = √(D/(M(d − p))) or at an end of this range.
    """
    if d == 1:
        return 1
    m, products, one = d * (2 * d + 3), d * (d - 1), sqrt(1)  # `one` is 1, of the type that `sqrt` returns
    best, least = one / (d - 1), d * (m + products * (d - 1))
    for p in range((d + 1) // 2, d):
        t = max(sqrt(one * products / (m * (d - p))), one / (2 * p + 1 - d))
        t = min(t, one / (2 * p - 1 - d)) if 2 * p > d + 1 else t
        value = p * (1 + t * (d - p)) * (m + products / t)
        best, least = (t, value) if value < least else (best, least)
    return best


def gauss_weights(d: int, adjacency: Adjacency, sqrt: Callable[[Number], Number] = square_root) -> Weights:
    """Return weights of the sums for which a bound on the error under Gaussian noise is small.

    The bound is on the mean squared error of the scaled covariance, summed over its entries, for the data with the
    largest error, and to first order in the noise. It is proportional to (ℓ2 sensitivity)² × (d(d + 3)/k² + 2d(d +
    1)/a² + d(d − 1)/c² + d/b²). Under replace-one the number of rows is public and gets no noise. The weights minimise
    the bound among weights with b ≤ a, and a and b are equal. Under add-remove the ratios k² : a² : c² = √(d(d + 3)) :
    √(2(d + 1)) : √2 minimise the bound without its term d/b², by Cauchy–Schwarz. The weight b is then the largest that
    does not raise the sensitivity.
    """
    if adjacency == "replace-one":
        return Weights(0, 1, 1, sqrt(product_share(d, sqrt)))
    a, c = sqrt(2 * (d + 1)), sqrt(2)
    return Weights(sqrt(sqrt(d * (d + 3))), sqrt(a), sqrt(a + c * (d - 1) / 2), sqrt(c))


def laplace_weights(
    d: int,
    adjacency: Adjacency,
    sqrt: Callable[[Number], Number] = square_root,
    cbrt: Callable[[Number], Number] = cube_root,
) -> Weights:
    """Return weights of the sums for which a bound on the error under Laplace noise is small.

    The bound is that of `gauss_weights`, with the ℓ1 sensitivity in place of the ℓ2 sensitivity. Under replace-one the
    weights minimise the bound among weights with b ≥ c/2: a = 1, b = c/2^{1/3} and c(d − 1) + 2b = Q, the root of
    Q³ − Q² = 2E for E = e³/(2d + 2) and e = d − 1 + 2^{2/3}. The root is Q = (1 + U + 1/U)/3 with U³ = w + √(w² − 1)
    and w = 1 + 27E. Under add-remove the weights k, a and c, which are proportional to (d(d + 3))^{1/3},
    (2(d + 1))^{1/3} and 2^{1/3}, minimise the bound without its term d/b², by Hölder's inequality. The weight b is
    then the largest that does not raise the sensitivity.
    """
    if adjacency == "replace-one":
        e = d - 1 + cbrt(4)
        w = 1 + 27 * e**3 / (2 * d + 2)
        u = cbrt(w + sqrt(w**2 - 1))
        c = (1 + u + 1 / u) / (3 * e)
        return Weights(0, 1, c / cbrt(2), c)
    a, c = cbrt(2 * (d + 1)), cbrt(2)
    return Weights(cbrt(d * (d + 3)), a, (a + c * (d - 1)) / 2, c)


def opposite_columns(d: int, w: Weights) -> int:
    """Return the number of columns in which u and v have opposite signs, if replacing the row u by the row v changes
    the weighted sums the most.

    This number is the whole number p that maximises 4p(a² + c²(d − p)), the squared change of the sums.
    """
    return d if d == 1 else min(d, int((w.mean**2 / w.product**2 + d + 1) / 2))


def l2_squared(d: int, w: Weights, adjacency: Adjacency) -> Number:
    """Return the square of the ℓ2 sensitivity of the weighted sums, for b ≤ a, or b² ≤ a² + c²(d − 1)/2 under
    add-remove.
    """
    if adjacency == "replace-one":
        p = opposite_columns(d, w)
        return 4 * p * (w.mean**2 + w.product**2 * (d - p))
    return w.count**2 + d * w.mean**2 + w.product**2 * d * (d - 1) / 2


def l1(d: int, w: Weights, adjacency: Adjacency) -> Number:
    """Return the ℓ1 sensitivity of the weighted sums, for b ≥ c/2, or b ≤ (a + c(d − 1))/2 under add-remove."""
    if adjacency == "replace-one":
        q = w.product * (d - 1) + 2 * w.square
        return d * (w.mean + q) ** 2 / (2 * q) if q >= w.mean else 2 * d * w.mean
    return w.count + d * w.mean + w.product * d * (d - 1) / 2


def squared_error(
    d: Number, mean: Number, square: Number, product: Number, off_centre: Number, kurtosis: Number
) -> Number:
    """Return the expectation of Σ_ij (Ĉ_ij − C_ij)², where Ĉ estimates the scaled covariance C under replace-one.

    The arguments `mean`, `square` and `product` are the variances of the noise on the scaled mean, on the mean squares
    and on the mean products. The argument `off_centre` is the squared norm ‖m‖² ≤ d of the mean m of the scaled rows.
    The argument `kurtosis` is 3 for Gaussian and 6 for Laplace noise.
    """
    quadratic = d * (kurtosis + d - 1) * mean**2
    return d * square + d * (d - 1) * product + 2 * (d + 1) * off_centre * mean + quadratic


def error_bound(n: Number, largest: Number, count: Number) -> Number:
    """Return a bound on every entry of the error of the scaled covariance.

    The bound holds if the absolute noise on every sum of scaled rows is at most `largest`, and the absolute noise on
    the number of rows is at most `count` ≤ n − 1.
    """
    moment = (largest + count) / (n - count)
    return moment * (3 + moment)


# THE SUMS


def moment_sums(rows: Rows, n: int, d: int) -> Matrix:
    """Return the symmetric matrix of the sums of 1, u_j, u_j² − 1 and u_iu_j over scaled rows u, (d + 1, d + 1)."""

    def lifted(block: Matrix) -> Matrix:
        z = np.hstack([np.ones((len(block), 1)), block])
        product: Matrix = z.T @ z
        return product

    sums = np.zeros((d + 1, d + 1)) + sum_rows(lifted, rows)
    j = np.arange(1, d + 1)
    sums[j, j] -= n
    symmetric: Matrix = (sums + sums.T) / 2
    return symmetric


def spreads(scale: float, w: Weights, d: int) -> Matrix:
    """Return the scale of the noise of every sum, (d + 1, d + 1). The scale of a sum is `scale` divided by the sum's
    weight, and 0 if the sum has no weight.
    """
    every = np.full((d + 1, d + 1), scale / w.product)
    every[0, :] = every[:, 0] = scale / w.mean
    np.fill_diagonal(every, scale / w.square)
    every[0, 0] = scale / w.count if w.count else 0.0
    return every


def estimates(sums: Matrix, box: Box) -> Matrix:
    """Return the number of rows, the mean and the covariance in the units of the data, from noisy sums, (d + 1, d + 1).

    The sums are divided by the noisy number of rows, or by 1 if that number is less than 1. In the result the number of
    rows is in the corner, the mean beside it, and the covariance below the mean; the covariance need not be positive
    semidefinite.
    """
    divisor = max(float(sums[0, 0]), 1.0)
    mean = sums[0, 1:] / divisor
    covariance = sums[1:, 1:] / divisor + np.eye(box.dimension) - np.outer(mean, mean)
    out = np.empty_like(sums)
    out[0, 0] = sums[0, 0]
    out[0, 1:] = out[1:, 0] = box.centre + box.half_widths * mean
    out[1:, 1:] = np.outer(box.half_widths, box.half_widths) * covariance
    return out


def sums_of(released: Matrix, box: Box) -> Matrix:
    """Return the noisy sums for which the function `estimates` returns `released`, (…, d + 1, d + 1)."""
    count = released[..., 0, 0]
    divisor = np.maximum(count, 1.0)[..., None]
    mean = (released[..., 0, 1:] - box.centre) / box.half_widths
    moment = released[..., 1:, 1:] / np.outer(box.half_widths, box.half_widths) - np.eye(box.dimension)
    sums = np.empty_like(released)
    sums[..., 0, 0] = count
    sums[..., 0, 1:] = sums[..., 1:, 0] = divisor * mean
    sums[..., 1:, 1:] = divisor[..., None] * (moment + mean[..., :, None] * mean[..., None, :])
    return sums


# ROWS THAT ATTAIN THE SENSITIVITIES


def worst_rows(d: int, w: Weights, norm: Norm) -> tuple[Vector, Vector]:
    """Return two scaled rows; replacing one by the other changes the weighted sums as much as possible.

    Under add-remove, adding the first row alone changes the weighted sums as much as possible.
    """
    first, second = np.ones(d), np.ones(d)
    if norm == "l2":
        second[: opposite_columns(d, w)] = -1.0
    else:
        q = float(w.product * (d - 1) + 2 * w.square)
        second[:] = -min(float(w.mean) / q, 1.0)
    return first, second
