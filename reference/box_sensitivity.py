"""Bound the change of the second moment and of the centred covariance of rows in a box when one row changes.

Every column j has public bounds low_j ≤ x_j ≤ high_j, and W_j = high_j − low_j is its width. Unless stated otherwise,
neighbours have the same public number of rows n and differ in one row, which is x in one data set and y in the other.

The entry (i, j) of the second moment XᵀX/n changes as follows. If x replaces y, the entry changes by (x_i x_j − y_i
y_j)/n. The supremum of the change of the entry is the length R_ij of the range of the product, divided by n. Off the
diagonal the product is linear in x_i and in x_j, so its range ends at corners. On the diagonal the entry is a square,
which is 0 inside the box if low_i < 0 < high_i. Some rows attain both ends of the range of the product.

The centred covariance is (1/q) Σ_k (x_k − x̄)(x_k − x̄)ᵀ with q = n or q = n − 1. Let m be the mean of the rows that
stay, v = x − m and w = y − m. The change of the centred covariance is ((n − 1)/(nq)) (v vᵀ − w wᵀ), as in
`sensitivity.centred_change`. Off the diagonal v_i v_j − w_i w_j is linear in each of x_i, x_j, y_i, y_j, and in m_i and
m_j too, because the product m_i m_j cancels. The maximum of the change of the covariance is therefore at corners of the
box. If m is a corner, v_i v_j and w_i w_j both lie in [0, W_i W_j] or both in [−W_i W_j, 0], hence |v_i v_j − w_i w_j|
≤ W_i W_j. On the diagonal v_i² and w_i² lie in [0, W_i²]. The supremum of the change of entry (i, j) is therefore ((n −
1)/(nq)) W_i W_j. The supremum for the centred covariance is attained in all entries at once, by x = high, y = low and
all other rows at low.

Joint norms. The norms ℓ1, ℓ1 over the triangle and ℓ2 do not decrease when the absolute values of entries increase. The
norm of a change is therefore at most the norm of the matrix of the entries' sensitivities. The norm of the matrix of
sensitivities is the supremum if one pair of data sets attains the sensitivities of all entries at once. For the centred
covariance one pair always attains the sensitivities of all entries. For the second moment one pair attains the
sensitivities of all entries if d = 1, or if no column has low_j < 0 < high_j. In this pair x has the largest possible
absolute value in every column, and y has the smallest. If no pair attains all entries at once, the norm of the matrix
of sensitivities is only an upper bound. For example, on [−1, 1]² with n = 1 the ℓ1 bound over the triangle is 4. It is
not attained, because a change of 2 in entry (1, 2) needs |x_i| = |y_i| = 1, and then the diagonal does not change.

Under add-remove one row is added or removed, the larger data set has n rows, and each statistic is divided by its own
number of rows.

- XᵀX/n: the change is (x xᵀ − A)/n, where A is the second moment of the n − 1 other rows. The matrix A lies in the
  convex hull of the matrices y yᵀ, and equals y yᵀ if all other rows are y. For every entry and every norm, the
  supremum of the change is therefore the same as under replace-one.
- The centred covariance with q = n: the change is ((n − 1)/n²) v vᵀ − S/n, where S is the covariance of the other rows.
  Let a be the distance of m_i from the farther end of its interval, divided by W_i, and let b be the same for column j.
  With these distances |v_i v_j| ≤ ab, and |S_ij| ≤ √(a(1 − a) b(1 − b)), because values in [0, 1] with mean a have
  variance at most a(1 − a). By Cauchy–Schwarz √((1 − a)(1 − b)) ≤ 1 − t for t = √(ab). Hence n |change| ≤ ((n − 1)/n)
  t² + t(1 − t). The right side of this bound is concave in t for n ≥ 1, and its derivative at t = 1 is 1 − 2/n ≥ 0 for
  n ≥ 2. The bound is therefore largest over t ≤ 1 at t = 1, with the value (n − 1)/n. Under replace-one the supremum is
  the same. Under add-remove the supremum is attained if the row x = high is added to n − 1 rows that all equal low.
- The centred covariance with q = n − 1: n |change| ≤ t² + (n/(n − 2)) t(1 − t), whose derivative at 1 is 2 − n/(n − 2)
  ≥ 0 for n ≥ 4. For n < 4 no sensitivity is claimed.
- The sum XᵀX, or XᵀX over a fixed public number: the change is x xᵀ. The supremum of entry (i, j) is M_i M_j with M_j =
  max(|low_j|, |high_j|), attained in all entries at once. Replacing a row changes entry (i, j) by R_ij, which is up to
  twice as much as M_i M_j.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from covassay.reference.domain import ADJACENCIES, Adjacency, Box, Matrix, Number, Vector, require_choice
from covassay.reference.errors import InvalidInput

Divisor = Literal["n", "n-1"]
DIVISORS: tuple[Divisor, ...] = ("n", "n-1")

# FORMULAS


def centred_factor(n: Number, divisor: Divisor = "n") -> Number:
    """Return the factor in the change of the centred covariance: (n − 1)/n² for q = n, and 1/n for q = n − 1."""
    require_choice("divisor", divisor, DIVISORS)
    return (n - 1) / n**2 if divisor == "n" else 1 / n


def product_range(first: tuple[Number, Number], second: tuple[Number, Number]) -> tuple[Number, Number]:
    """Return the smallest and the largest product of a number in one interval and a number in the other."""
    products = [one * other for one in first for other in second]
    return min(products), max(products)


def square_range(interval: tuple[Number, Number]) -> tuple[Number, Number]:
    """Return the smallest and the largest square of a number in an interval."""
    low, high = interval
    return (0 * low if low < 0 < high else min(low**2, high**2)), max(low**2, high**2)


# THE SENSITIVITIES


@dataclass(frozen=True)
class BoxSensitivity:
    """The sensitivity of every entry of a symmetric matrix, and the norms of the matrix that these sensitivities form.

    entries : shape (d, d), the supremum of the absolute change of every entry. For every entry, some pair of data sets
        attains this supremum.
    jointly : whether one pair of data sets attains the suprema of all entries at once. If so, the norms below are
        suprema; otherwise the norms are upper bounds.
    """

    entries: Matrix
    jointly: bool

    @property
    def l1(self) -> float:
        """Return a bound on the sum of the absolute changes of all entries."""
        return float(self.entries.sum())

    @property
    def triangle_l1(self) -> float:
        """Return a bound on the sum of the absolute changes on and above the diagonal."""
        return float(np.triu(self.entries).sum())

    @property
    def l2(self) -> float:
        """Return a bound on the change of the matrix in Frobenius norm when a row changes."""
        return float(np.linalg.norm(self.entries))


def one_signed(box: Box) -> bool:
    """Return whether every column of the box has only values ≥ 0 or only values ≤ 0."""
    return not any(low < 0 < high for low, high in box.bounds)


def second_moment_sensitivity(box: Box, n: int) -> BoxSensitivity:
    """Return the sensitivity of XᵀX/n under either adjacency; under add-remove n is the larger number of rows."""
    d = box.dimension
    ranges = np.empty((d, d))
    for i, j in np.ndindex(d, d):
        low, high = square_range(box.bounds[i]) if i == j else product_range(box.bounds[i], box.bounds[j])
        ranges[i, j] = high - low
    return BoxSensitivity(ranges / n, d == 1 or one_signed(box))


def centred_sensitivity(
    box: Box, n: int, divisor: Divisor = "n", adjacency: Adjacency = "replace-one"
) -> BoxSensitivity:
    """Return the sensitivity of the centred covariance, divided by n or by n − 1; n counts the rows of the larger data
    set.

    Raises
    ------
    InvalidInput : n is too small for the divisor or for the proof under this adjacency, or `divisor` or `adjacency` is
        unknown.
    """
    require_choice("divisor", divisor, DIVISORS)
    require_choice("adjacency", adjacency, ADJACENCIES)
    least = (4 if adjacency == "add-remove" else 2) if divisor == "n-1" else (2 if adjacency == "add-remove" else 1)
    if n < least:
        raise InvalidInput(f"n = {n}: must be at least {least} for the divisor {divisor} and {adjacency}")
    return BoxSensitivity(float(centred_factor(n, divisor)) * np.outer(box.widths, box.widths), True)


# DATA SETS THAT ATTAIN THE SENSITIVITIES


def far_and_near(box: Box) -> tuple[Vector, Vector]:
    """Return the row of largest absolute values and the row of smallest absolute values in the box."""
    far = np.where(np.abs(box.high) >= np.abs(box.low), box.high, box.low)
    near: Vector = np.clip(0.0, box.low, box.high)
    return far, near


def moment_pair(box: Box, i: int, j: int) -> tuple[Vector, Vector]:
    """Return rows x and y that differ only in columns i and j and maximise entry (i, j) of x xᵀ − y yᵀ."""
    far, near = far_and_near(box)
    x, y = far.copy(), far.copy()
    if i == j:
        y[i] = near[i]
        return x, y
    corners = [(one, other) for one in box.bounds[i] for other in box.bounds[j]]
    corners.sort(key=lambda ends: ends[0] * ends[1])
    (y[i], y[j]), (x[i], x[j]) = corners[0], corners[-1]
    return x, y


def centred_pair(box: Box, n: int) -> tuple[Matrix, Matrix]:
    """Return data sets (n, d) that attain every entry of the covariance: n − 1 rows are at low, and the last row is at
    high or low.
    """
    second = np.tile(box.low, (n, 1))
    first = second.copy()
    first[-1] = box.high
    return first, second
