"""Bound how far one row moves the second moment, in every norm that a mechanism uses.

The rows lie in the unit ball. Replacing the row y by x changes C = Σ_i x_i x_iᵀ by Δ = x xᵀ − y yᵀ, and changes the
second moment Σ = C/n by Δ/n. All formulas of this module are functions of the three numbers

    s = ‖x‖²,  t = ‖y‖²,  c = ⟨x, y⟩  (c² ≤ st).

The reason is that Δ has rank at most two, and on the plane of x and y it has trace s − t and determinant c² − st. The
non-zero eigenvalues of Δ are therefore the roots of μ² − (s − t) μ − (st − c²), that is

    μ± = ((s − t) ± √((s + t)² − 4c²)) / 2,   μ₊ ≥ 0 ≥ μ₋.

The table `SENSITIVITIES` has for each quantity the change itself, the supremum of the change over the unit ball, and a
pair of rows that attains it. If only an upper bound on the supremum is known, `attained` is False.

The suprema of the two entrywise ℓ1 norms need a proof. For fixed signs of the entries of Δ, each of the two entrywise
ℓ1 norms is xᵀWx − yᵀWy with a symmetric matrix W. The maximum of the norm over the ball is therefore at eigenvectors x,
y of W, hence at orthonormal x and y, or at x = 0 or y = 0.

For the sum over all entries, every entry of W is ±1, and λ_max − λ_min ≤ √2 ‖W‖_F = √2 d. For even d there are rows x,
y with which the sum equals √2 d.

For the upper triangle and d ≥ 2, the norm is ½ (Σ_ij |Δ_ij| + Σ_i |Δ_ii|). If y = 0, the norm of the upper triangle is
½ ((Σ |x_i|)² + Σ x_i²) ≤ (d + 1)/2. For the rest of the proof x and y are orthonormal. Let P be the set of the m
features with Δ_ii ≥ 0, and N the set of the remaining k = d − m features. Since Δ has trace 0, c = Σ_P Δ_ii = −Σ_N
Δ_ii. Let a, b and g be the Frobenius norms of the blocks PP, NN and PN of Δ, so that a² + b² + 2g² = ‖Δ‖_F² = 2. Let p
and q be the parts of x and y on P. Then a² = ‖ppᵀ − qqᵀ‖_F² = (‖p‖² − ‖q‖²)² + 2 (‖p‖²‖q‖² − ⟨p, q⟩²) ≥ c², and in the
same way b ≥ c. Assume b ≤ a; if b > a, the proof is the same with P and N exchanged. By Cauchy–Schwarz in each block,

    2 × the norm ≤ m a + k b + 2 √(mk) g + 2c ≤ m a + (k + 2) b + 2 √(mk) g.

For m ≤ k + 2, let h = (a + b)/2 be the mean of the norms of the two diagonal blocks. With this h, m a + (k + 2) b ≤ (d
+ 2) h and g² ≤ 1 − h², so the right side is at most (d + 2) h + 2 √(mk) √(1 − h²) ≤ √((d + 2)² + 4mk). For m ≥ k + 3,
which means k ≤ (d − 3)/2, the right side is at most √2 √(m² + (k + 2)² + 2mk) = √(2d² + 8k + 8). In both cases the
right side is at most √((d + 2)² + 4⌊d²/4⌋), and `block_pair` attains this value.

How far one row moves the centred covariance depends on the other rows, through their mean. The sensitivity of the
centred covariance, and data sets that attain it, are at the end of this file.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from covassay.reference.domain import Matrix, Number, Vector

# FORMULAS


def square_root(value: Number) -> Number:
    """Return √value as a power, which works for floats and symbols.

    Several formulas use the function `square_root`, unless the caller passes another function for square roots.
    """
    return value**0.5


def cube_root(value: Number) -> Number:
    """Return the cube root of `value` as a power, which works for floats and symbols."""
    return value ** (1 / 3)


def eigenvalue_gap(s: Number, t: Number, c: Number) -> Number:
    """The gap μ₊ − μ₋ = √((s + t)² − 4c²), which is the nuclear norm of Δ. The gap between the two eigenvalues is at
    most s + t.
    """
    return ((s + t) ** 2 - 4 * c**2) ** 0.5


def positive_eigenvalue(s: Number, t: Number, c: Number) -> Number:
    """The eigenvalue μ₊ = (s − t + √((s + t)² − 4c²)) / 2 of Δ. The positive eigenvalue is at most s."""
    return (s - t + eigenvalue_gap(s, t, c)) / 2


def negative_eigenvalue(s: Number, t: Number, c: Number) -> Number:
    """The eigenvalue μ₋ = (s − t − √((s + t)² − 4c²)) / 2 of Δ. The negative eigenvalue is at least −t."""
    return (s - t - eigenvalue_gap(s, t, c)) / 2


def frobenius_change_squared(s: Number, t: Number, c: Number) -> Number:
    """The squared Frobenius norm ‖Δ‖_F² = s² + t² − 2c²."""
    return s**2 + t**2 - 2 * c**2


def trace_change(s: Number, t: Number) -> Number:
    """The trace s − t of the change Δ."""
    return s - t


def nuclear_supremum(d: int) -> float:
    """The supremum of ‖Δ‖_* over the unit ball: 2, or 1 for d = 1."""
    return 2.0 if d > 1 else 1.0


def frobenius_supremum(d: int) -> float:
    """The supremum of ‖Δ‖_F over the unit ball: √2, or 1 for d = 1."""
    return math.sqrt(2) if d > 1 else 1.0


def full_l1(d: int, sqrt: Callable[[Number], Number] = square_root) -> Number:
    """The bound √2 d on Σ_ij |Δ_ij| over the unit ball, or 1 for d = 1. The bound is the supremum if d is even or 1."""
    return sqrt(2 * d**2) if d > 1 else 1


def triangle_l1(d: int, sqrt: Callable[[Number], Number] = square_root) -> Number:
    """The supremum ½√((d + 2)² + 4⌊d²/4⌋) of Σ_{i≤j} |Δ_ij| over the unit ball, or 1 for d = 1."""
    return sqrt((d + 2) ** 2 + 4 * (d**2 // 4)) / 2 if d > 1 else 1


# THE TABLE


@dataclass(frozen=True)
class Sensitivity:
    """One quantity of C, with its sensitivity to the replacement of one row in the unit ball, and a worst pair of rows.

    The function `change(x, y)` returns the size of the change when the row x is replaced by the row y. Both have shape
    (d,). For vectors of eigenvalues `change` gives the bound on the change that Δ implies (Mirsky, Hoffman–Wielandt).
    The function `supremum(d)` gives the sensitivity in the unit of C; divide it by n for Σ. The function `pair(d)`
    gives rows x and y that attain the sensitivity if `attained(d)`, and come close to it otherwise.
    """

    quantity: str
    change: Callable[[Vector, Vector], float]
    supremum: Callable[[int], float]
    pair: Callable[[int], tuple[Vector, Vector]]
    attained: Callable[[int], bool] = lambda d: True


def difference(x: Vector, y: Vector) -> Matrix:
    """Return the change Δ = x xᵀ − y yᵀ of C, (d, d)."""
    return np.outer(x, x) - np.outer(y, y)


def orthonormal_pair(d: int) -> tuple[Vector, Vector]:
    """Return the pair of rows x = e₁, y = e₂. At d = 1, where unit vectors cannot be orthogonal, the pair is x = 1, y =
    0.
    """
    identity = np.eye(max(d, 2))[:, :d]
    return identity[0], identity[1]


def one_sided_pair(d: int) -> tuple[Vector, Vector]:
    """Return the pair of rows x = e₁, y = 0."""
    return np.eye(d)[0], np.zeros(d)


def hadamard_pair(d: int) -> tuple[Vector, Vector]:
    """Return the pair of rows that attains √2 d for the entrywise ℓ1 norm of Δ if d is even.

    ‖Δ‖₁ = ⟨S, Δ⟩ = xᵀSx − yᵀSy for the sign matrix S = [[1, 1], [1, −1]] ⊗ J, where J is the matrix of ones. x and y
    are eigenvectors to its extreme eigenvalues ±√2 d/2.
    """
    signs = np.kron([[1.0, 1.0], [1.0, -1.0]], np.ones((d // 2, d // 2))) if d > 1 else np.eye(1)
    _, vectors = np.linalg.eigh(signs)
    if len(vectors) < d:  # for odd d, take the pair for d − 1 and add a feature that is zero
        vectors = np.pad(vectors, ((0, 1), (0, 0)))
    return vectors[:, -1], vectors[:, 0] if d > 1 else np.zeros(1)


def block_pair(d: int) -> tuple[Vector, Vector]:
    """Return the pair of rows that attains the supremum of the ℓ1 norm of the upper triangle of Δ.

    Each of the two rows is constant on the first m = ⌈d/2⌉ features and on the other k features. For these two rows Δ
    is c/m in the first block, −c/k in the second and g/√(mk) between them, with c² + g² = 1. The ℓ1 norm of the
    triangle is ½ ((d + 2) c + 2√(mk) g), which has its maximum at g/c = 2√(mk)/(d + 2).
    """
    m, k = (d + 1) // 2, d // 2
    angle = math.atan2(2 * math.sqrt(m * k), d + 2) / 2  # c and g are the cosine and the sine of twice the angle
    first = np.repeat([1 / math.sqrt(m), 0.0], [m, k])
    second = np.repeat([0.0, 1 / math.sqrt(max(k, 1))], [m, k])
    x: Vector = math.cos(angle) * first + math.sin(angle) * second
    y: Vector = -math.sin(angle) * first + math.cos(angle) * second
    return x, y


def _singular_values(x: Vector, y: Vector) -> Vector:
    """Return the singular values of Δ, not sorted, (d,)."""
    values: Vector = np.abs(np.linalg.eigvalsh(difference(x, y)))
    return values


def _triangle(x: Vector, y: Vector) -> Vector:
    """Return the entries of Δ on and above the diagonal, row by row, (d(d + 1)/2,)."""
    triangle: Vector = difference(x, y)[np.triu_indices(len(x))]
    return triangle


SENSITIVITIES: dict[str, Sensitivity] = {
    entry.quantity: entry
    for entry in (
        Sensitivity(
            "nuclear norm", lambda x, y: float(_singular_values(x, y).sum()), nuclear_supremum, orthonormal_pair
        ),
        Sensitivity(
            "Frobenius norm", lambda x, y: float(np.linalg.norm(difference(x, y))), frobenius_supremum, orthonormal_pair
        ),
        Sensitivity("spectral norm", lambda x, y: float(_singular_values(x, y).max()), lambda d: 1.0, orthonormal_pair),
        Sensitivity("trace", lambda x, y: abs(float(x @ x - y @ y)), lambda d: 1.0, one_sided_pair),
        Sensitivity(
            "eigenvalues, l1", lambda x, y: float(_singular_values(x, y).sum()), nuclear_supremum, orthonormal_pair
        ),
        Sensitivity(
            "eigenvalues, l2",
            lambda x, y: float(np.linalg.norm(_singular_values(x, y))),
            frobenius_supremum,
            orthonormal_pair,
        ),
        Sensitivity(
            "upper triangle, l2",
            lambda x, y: float(np.linalg.norm(_triangle(x, y))),
            frobenius_supremum,
            orthonormal_pair,
        ),
        Sensitivity(
            "all entries, l1",
            lambda x, y: float(np.abs(difference(x, y)).sum()),
            lambda d: float(full_l1(d)),
            hadamard_pair,
            lambda d: d == 1 or d % 2 == 0,
        ),
        Sensitivity(
            "upper triangle, l1",
            lambda x, y: float(np.abs(_triangle(x, y)).sum()),
            lambda d: float(triangle_l1(d)),
            block_pair,
        ),
    )
}


def neighbours(rows: Matrix, x: Vector, y: Vector) -> tuple[Matrix, Matrix]:
    """Return the neighbouring data sets that consist of `rows` (n, d) and one more row, which is x or y; (n + 1, d)
    each.
    """
    return np.vstack([rows, x[None]]), np.vstack([rows, y[None]])


# THE CENTRED COVARIANCE


def centred_change(n: Number, apart: Number, beyond: Number) -> Number:
    """The nuclear norm ((n − 1)/n²) |x − y| |x + y − 2m| of the change of the centred covariance.

    The centred covariance is S = (1/n) Σ_i (x_i − x̄)(x_i − x̄)ᵀ. The row x is replaced by y, and m is the mean of the
    other n − 1 rows. The argument `apart` is |x − y|, and `beyond` is |x + y − 2m|. Let v = x − m and w = y − m. The
    rest of S depends on the other rows only, so the change of S is ((n − 1)/n²)(v vᵀ − w wᵀ). By `eigenvalue_gap`, the
    nuclear norm of v vᵀ − w wᵀ is √((|v|² + |w|²)² − 4⟨v, w⟩²) = |v − w| |v + w|.
    """
    return (n - 1) * apart * beyond / n**2


def centred_sensitivity(n: Number, d: int, sqrt: Callable[[Number], Number] = math.sqrt) -> Number:
    """The supremum of `centred_change` over the unit ball: 3√3 (n − 1)/n², and 4 (n − 1)/n² for d = 1.

    By the triangle inequality |x + y − 2m| ≤ |x + y| + 2. Since |x − y|² + |x + y|² ≤ 4, there is an angle θ with |x −
    y| ≤ 2 sin θ and |x + y| ≤ 2 cos θ. The product |x − y| |x + y − 2m| is therefore at most 4 sin θ (1 + cos θ), which
    is largest at θ = 60°, where it is 3√3. For d = 1 the product is |v² − w²| ≤ 4, because v and w lie in an interval
    of length 2 that reaches no farther than distance 2 from 0. For n = 1 the covariance is 0, whatever x is.
    """
    return (4 if d == 1 else 3 * sqrt(3)) * (n - 1) / n**2


def centred_pair(n: int, d: int) -> tuple[Matrix, Matrix]:
    """Return neighbouring data sets, (n, d) each, whose centred covariances differ by `centred_sensitivity`.

    In both data sets, n − 1 rows lie at one corner of an equilateral triangle on the unit circle. The last row lies at
    the second corner in one data set and at the third corner in the other. For d = 1, n − 1 rows are −1, and the last
    row is 1 or −1.
    """
    first = np.zeros((n, d))
    first[:, 0] = -1.0
    second = first.copy()
    if d == 1:
        first[-1] = 1.0
    else:
        first[-1, :2] = 0.5, math.sqrt(3) / 2
        second[-1, :2] = 0.5, -math.sqrt(3) / 2
    return first, second
