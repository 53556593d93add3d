"""How far one row moves the second moment, in every norm a mechanism uses.

Replacing the row x by y, ‖x‖, ‖y‖ ≤ 1, changes C = Σ_i x_i x_iᵀ by Δ = x xᵀ − y yᵀ (and Σ = C/n by
Δ/n). Everything below is a function of the three numbers

    s = ‖x‖²,  t = ‖y‖²,  c = ⟨x, y⟩  (c² ≤ st),

because Δ has rank two, trace s − t and determinant c² − st on the plane of x and y: its non-zero
eigenvalues are the roots of μ² − (s − t) μ − (st − c²), that is

    μ± = ((s − t) ± √((s + t)² − 4c²)) / 2,   μ₊ ≥ 0 ≥ μ₋.

`SENSITIVITIES` is the table: for each quantity the change itself, its supremum over the unit ball,
and a pair that attains it. Where the supremum is only bounded, `attained` is False.

The two entrywise ℓ1 norms need a proof. For fixed signs each of them is xᵀWx − yᵀWy with a symmetric matrix W, so its
maximum over the ball is at orthonormal x, y (eigenvectors of W), or at x = 0 or y = 0.

All entries: W is a sign matrix, and λ_max − λ_min ≤ √2 ‖W‖_F = √2 d. Attained for even d.

Upper triangle, d ≥ 2: the sum is ½ (Σ_ij |Δ_ij| + Σ_i |Δ_ii|). If y = 0 that is ½ ((Σ |x_i|)² + Σ x_i²) ≤ (d + 1)/2.
For orthonormal x, y let P be the m features with Δ_ii ≥ 0, N the other k = d − m, c = Σ_P Δ_ii = −Σ_N Δ_ii (Δ has trace
0), and a, b, g the Frobenius norms of the blocks PP, NN, PN, so that a² + b² + 2g² = ‖Δ‖_F² = 2. With p, q the parts of
x, y on P, a² = ‖ppᵀ − qqᵀ‖_F² = (‖p‖² − ‖q‖²)² + 2 (‖p‖²‖q‖² − ⟨p, q⟩²) ≥ c²; in the same way b ≥ c. By Cauchy–Schwarz
in each block,

    2 × the sum ≤ m a + k b + 2 √(mk) g + 2c ≤ m a + (k + 2) b + 2 √(mk) g,

say with b ≤ a (the other case is the same with P and N exchanged).
If m ≤ k + 2: let h = (a + b)/2. Then m a + (k + 2) b ≤ (d + 2) h and g² ≤ 1 − h², so the right side is at most
    (d + 2) h + 2 √(mk) √(1 − h²) ≤ √((d + 2)² + 4mk).
If m ≥ k + 3: it is at most √2 √(m² + (k + 2)² + 2mk) = √(2d² + 8k + 8), and k ≤ (d − 3)/2.
In both cases that is at most √((d + 2)² + 4⌊d²/4⌋), and `block_pair` attains it.

The centred covariance is another quantity: how far one row moves it depends on the other rows, through their mean. Its
sensitivity and the data sets that attain it are at the end of this file.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from covassay.reference.domain import Matrix, Number, Vector

# FORMULAS


def eigenvalue_gap(s: Number, t: Number, c: Number) -> Number:
    """μ₊ − μ₋ = √((s + t)² − 4c²): the nuclear norm of Δ, at most s + t."""
    return ((s + t) ** 2 - 4 * c**2) ** 0.5


def positive_eigenvalue(s: Number, t: Number, c: Number) -> Number:
    """μ₊ = (s − t + √((s + t)² − 4c²)) / 2, at most s."""
    return (s - t + eigenvalue_gap(s, t, c)) / 2


def negative_eigenvalue(s: Number, t: Number, c: Number) -> Number:
    """μ₋ = (s − t − √((s + t)² − 4c²)) / 2, at least −t."""
    return (s - t - eigenvalue_gap(s, t, c)) / 2


def frobenius_change_squared(s: Number, t: Number, c: Number) -> Number:
    """‖Δ‖_F² = s² + t² − 2c²."""
    return s**2 + t**2 - 2 * c**2


def trace_change(s: Number, t: Number) -> Number:
    """tr Δ = s − t."""
    return s - t


def full_l1(d: int) -> Number:
    """Bound √2 d on Σ_ij |Δ_ij| over the unit ball: the supremum for even d, and 1 for d = 1."""
    return (2 * d**2) ** 0.5 if d > 1 else 1


def triangle_l1(d: int) -> Number:
    """Supremum ½√((d + 2)² + 4⌊d²/4⌋) of Σ_{i≤j} |Δ_ij| over the unit ball, and 1 for d = 1."""
    return ((d + 2) ** 2 + 4 * (d**2 // 4)) ** 0.5 / 2 if d > 1 else 1


# THE TABLE


@dataclass(frozen=True)
class Sensitivity:
    """One quantity of C, its replace-one sensitivity over the unit ball, and a worst pair.

    `change(x, y)` is the change of the quantity, or for eigenvalue vectors the bound on it by Δ
    (Mirsky, Hoffman–Wielandt). `supremum(d)` is in the unit of C (divide by n for Σ).
    `pair(d)` gives rows x, y of shape (d,).
    """

    quantity: str
    change: Callable[[Vector, Vector], float]
    supremum: Callable[[int], float]
    pair: Callable[[int], tuple[Vector, Vector]]
    attained: Callable[[int], bool]


def difference(x: Vector, y: Vector) -> Matrix:
    """Δ = x xᵀ − y yᵀ."""
    return np.outer(x, x) - np.outer(y, y)


def orthonormal_pair(d: int) -> tuple[Vector, Vector]:
    """x = e₁ and y = e₂; at d = 1, where no two rows are orthogonal, x = 1 and y = 0."""
    identity = np.eye(max(d, 2))[:, :d]
    return identity[0], identity[1]


def one_sided_pair(d: int) -> tuple[Vector, Vector]:
    """x = e₁ and y = 0."""
    return np.eye(d)[0], np.zeros(d)


def hadamard_pair(d: int) -> tuple[Vector, Vector]:
    """The pair that attains √2 d for the entrywise ℓ1 norm when d is even.

    ‖Δ‖₁ = ⟨S, Δ⟩ = xᵀSx − yᵀSy for the sign matrix S = [[1, 1], [1, −1]] ⊗ J, whose extreme
    eigenvalues are ±√2 d/2; x and y are their eigenvectors.
    """
    signs = np.kron([[1.0, 1.0], [1.0, -1.0]], np.ones((d // 2, d // 2))) if d > 1 else np.eye(1)
    _, vectors = np.linalg.eigh(signs)
    if len(vectors) < d:  # odd d: the pair of d − 1, padded with a zero feature
        vectors = np.pad(vectors, ((0, 1), (0, 0)))
    return vectors[:, -1], vectors[:, 0] if d > 1 else np.zeros(1)


def block_pair(d: int) -> tuple[Vector, Vector]:
    """The pair that attains the ℓ1 norm of the triangle: constant on the first m = ⌈d/2⌉ features and on the other k.

    Δ is c/m on the first block, −c/k on the second, g/√(mk) between them, c² + g² = 1. That sums up to
    ½ ((d + 2) c + 2√(mk) g), with its maximum at g/c = 2√(mk)/(d + 2).
    """
    m, k = (d + 1) // 2, d // 2
    angle = math.atan2(2 * math.sqrt(m * k), d + 2) / 2  # c = cos, g = sin of twice the angle
    first = np.repeat([1 / math.sqrt(m), 0.0], [m, k])
    second = np.repeat([0.0, 1 / math.sqrt(max(k, 1))], [m, k])
    x: Vector = math.cos(angle) * first + math.sin(angle) * second
    y: Vector = -math.sin(angle) * first + math.cos(angle) * second
    return x, y


def _singular_values(x: Vector, y: Vector) -> Vector:
    values: Vector = np.abs(np.linalg.eigvalsh(difference(x, y)))
    return values


def _triangle(x: Vector, y: Vector) -> Vector:
    triangle: Vector = difference(x, y)[np.triu_indices(len(x))]
    return triangle


SENSITIVITIES: dict[str, Sensitivity] = {
    entry.quantity: entry
    for entry in (
        Sensitivity(
            "nuclear norm",
            lambda x, y: float(_singular_values(x, y).sum()),
            lambda d: 2.0 if d > 1 else 1.0,
            orthonormal_pair,
            lambda d: True,
        ),
        Sensitivity(
            "Frobenius norm",
            lambda x, y: float(np.linalg.norm(difference(x, y))),
            lambda d: math.sqrt(2) if d > 1 else 1.0,
            orthonormal_pair,
            lambda d: True,
        ),
        Sensitivity(
            "spectral norm",
            lambda x, y: float(_singular_values(x, y).max()),
            lambda d: 1.0,
            orthonormal_pair,
            lambda d: True,
        ),
        Sensitivity(
            "trace",
            lambda x, y: abs(float(x @ x - y @ y)),
            lambda d: 1.0,
            one_sided_pair,
            lambda d: True,
        ),
        Sensitivity(
            "eigenvalues, l1",
            lambda x, y: float(_singular_values(x, y).sum()),
            lambda d: 2.0 if d > 1 else 1.0,
            orthonormal_pair,
            lambda d: True,
        ),
        Sensitivity(
            "eigenvalues, l2",
            lambda x, y: float(np.linalg.norm(_singular_values(x, y))),
            lambda d: math.sqrt(2) if d > 1 else 1.0,
            orthonormal_pair,
            lambda d: True,
        ),
        Sensitivity(
            "upper triangle, l2",
            lambda x, y: float(np.linalg.norm(_triangle(x, y))),
            lambda d: math.sqrt(2) if d > 1 else 1.0,
            orthonormal_pair,
            lambda d: True,
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
            lambda d: True,
        ),
    )
}


def neighbours(rows: Matrix, x: Vector, y: Vector) -> tuple[Matrix, Matrix]:
    """The neighbouring data sets (rows, x) and (rows, y), of shape (n + 1, d)."""
    return np.vstack([rows, x[None]]), np.vstack([rows, y[None]])


# THE CENTRED COVARIANCE


def centred_change(n: Number, apart: Number, beyond: Number) -> Number:
    """‖S − S'‖_* = ((n − 1)/n²) |x − y| |x + y − 2m|, S = (1/n) Σ_i (x_i − x̄)(x_i − x̄)ᵀ, m the mean of the other rows.

    `apart` = |x − y|, `beyond` = |x + y − 2m|. With v = x − m and w = y − m the last row adds ((n − 1)/n²) v vᵀ to what
    the others give on their own, so the change is ((n − 1)/n²)(v vᵀ − w wᵀ), of nuclear norm
    √((|v|² + |w|²)² − 4⟨v, w⟩²) = |v − w| |v + w|, as above.
    """
    return (n - 1) * apart * beyond / n**2


def centred_sensitivity(n: Number, d: int, sqrt: Callable[[Number], Number] = math.sqrt) -> Number:
    """The supremum of `centred_change` over the unit ball: 3√3 (n − 1)/n², and 4 (n − 1)/n² for d = 1.

    |x + y − 2m| ≤ |x + y| + 2, and |x − y|² + |x + y|² ≤ 4 allows |x − y| = 2 sin θ, |x + y| = 2 cos θ at most: the
    product is 4 sin θ (1 + cos θ), largest at θ = 60°, where it is 3√3. For d = 1 it is |v² − w²| ≤ 4, because v and
    w lie in an interval of length 2 that ends at distance 2 from 0 at most. For n = 1 the covariance is 0, whatever x.
    """
    return (4 if d == 1 else 3 * sqrt(3)) * (n - 1) / n**2


def centred_pair(n: int, d: int) -> tuple[Matrix, Matrix]:
    """Neighbours that attain it: n − 1 rows at one corner of an equilateral triangle, the last at either of the others.

    For d = 1: n − 1 rows at −1, the last at 1 or at −1.
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
