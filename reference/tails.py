"""Bound the norms of noise by public numbers, each of which is exceeded with probability at most β.

The bounds on the noise say how large an error can be. No privacy guarantee rests on the bounds of this module. Let N ~
N(0, I_d), and let W be a symmetric matrix with independent N(0, 1) on and above the diagonal ("Wigner"). In the
variants of W, the entries above the diagonal are N(0, 1/2) ("GOE"), or all entries are Laplace(1) ("symmetric
Laplace"). The bounds are

    ‖N‖ ≤ η(d, β)     ‖W‖_F ≤ ω(d, β)     ‖W‖ ≤ υ(d, β)     (DLY22 Lemmas 6, 7, 15, 16, 17)

The names of the functions are the Greek letters of DLY22. Of the bounds, `omega_sharp`, `upsilon_star` and
`upsilon_goe` are not in DLY22; we derived them. `omega_sharp` is never above ω. `upsilon_star` is proven below and
holds for d = 1 too; at the sizes of the authors' experiments `upsilon_star` is at most about half of the authors' υ.

Every logarithm is natural and is an argument, so the formulas take floats, mpmath numbers and, with numpy's
log, arrays.
"""

import math
from collections.abc import Callable

from covassay.reference.domain import Number

Log = Callable[[Number], Number]

# GAUSSIAN


def eta(d: Number, beta: Number, log: Log = math.log) -> Number:
    """The bound √(d + 2√(d ln(1/β)) + 2 ln(1/β)) on ‖N(0, I_d)‖ (Laurent–Massart 2000, Lemma 1; DLY22 Lemma 6).

    With d(d + 1)/2 in place of d, the formula is a bound on ‖GOE‖_F.
    """
    return (d + 2 * (d * log(1 / beta)) ** 0.5 + 2 * log(1 / beta)) ** 0.5


def omega(d: Number, beta: Number, log: Log = math.log) -> Number:
    """The bound √(d² + 2√(d ln(2/β)) (1 + √(2(d − 1))) + 6 ln(2/β)) on ‖Wigner‖_F (DLY22 Lemma 7).

    ‖W‖_F² is the sum of a χ² variable with d degrees of freedom and of twice an independent χ² variable with d(d − 1)/2
    degrees. Each χ² variable is bounded by `eta` at β/2.
    """
    return (d**2 + 2 * (d * log(2 / beta)) ** 0.5 * (1 + (2 * (d - 1)) ** 0.5) + 6 * log(2 / beta)) ** 0.5


def omega_sharp(d: Number, beta: Number, log: Log = math.log) -> Number:
    """The bound √(d² + 2√(d(2d − 1) ln(1/β)) + 4 ln(1/β)) on ‖Wigner‖_F, which we derived.

    The inequality of Laurent–Massart is used once, for ‖W‖_F² as a weighted sum of squares. Of the weights, d are 1 and
    d(d − 1)/2 are 2. The sum of the squares of the weights is d + 2d(d − 1) = d(2d − 1), and the largest weight is 2.
    """
    return (d**2 + 2 * (d * (2 * d - 1) * log(1 / beta)) ** 0.5 + 4 * log(1 / beta)) ** 0.5


def upsilon(d: Number, beta: Number, log: Log = math.log) -> Number:
    """The bound υ on ‖Wigner‖ for d ≥ 2 with the constants of the authors' code (DLY22 Lemma 7). False for tiny β.

    υ = (1 + θ)(2√d + 6√(ln d)/√(ln(1 + θ))) + √(2 ln(2/β)), θ = min(((ln d)/d)^0.3, 1/2). The part before √(2 ln(2/β))
    bounds the mean of ‖W‖ (Bandeira–van Handel 2016). The last part of the bound, √(2 ln(2/β)), should be √((4 − 2/d)
    ln(2/β)), as in `upsilon_star`. With the part √(2 ln(2/β)) the bound is false for tiny β: at d = 2 from ln(1/β) =
    2600 on.
    """
    theta = min((log(d) / d) ** 0.3, 0.5)
    return (1 + theta) * (2 * d**0.5 + 6 * (log(d) / log(1 + theta)) ** 0.5) + (2 * log(2 / beta)) ** 0.5


def upsilon_star(d: Number, beta: Number, log: Log = math.log) -> Number:
    """The bound υ* = 2√d + √((4 − 2/d) ln(2/β)) on ‖Wigner‖, which we derived.

    Mean. For unit u and v, the process X(u) = uᵀWu has E(X(u) − X(v))² = 2‖uuᵀ − vvᵀ‖_F² − Σ_i (u_i² − v_i²)²
    ≤ 4(1 − ⟨u, v⟩²) ≤ 4‖u − v‖², because 1 − c² ≤ 2(1 − c). The process 2⟨g, u⟩ with g ~ N(0, I_d) has increments of
    mean square 4‖u − v‖², so by Sudakov–Fernique E λ_max(W) ≤ 2 E‖g‖ ≤ 2√d.

    Deviation. uᵀWu = Σ_i u_i² W_ii + 2 Σ_{i<j} u_i u_j W_ij is linear in the independent entries, with a gradient of
    squared length Σ u_i⁴ + 4 Σ_{i<j} u_i² u_j² = 2 − Σ u_i⁴ ≤ 2 − 1/d. Hence λ_max is Lipschitz with constant √(2 −
    1/d), and P(λ_max ≥ 2√d + t) ≤ exp(−t²/(4 − 2/d)). The bound on the smallest eigenvalue follows, because −W has the
    law of W. The constant cannot be smaller: at u = (1, …, 1)/√d the variance of uᵀWu is 2 − 1/d.
    """
    return 2 * d**0.5 + ((4 - 2 / d) * log(2 / beta)) ** 0.5


def upsilon_goe(d: Number, beta: Number, log: Log = math.log) -> Number:
    """The bound √(2d) + √(2 ln(2/β)) on ‖GOE‖, which we derived.

    The proof is as for `upsilon_star`, with E(X(u) − X(v))² = ‖uuᵀ − vvᵀ‖_F² ≤ 2‖u − v‖² and a gradient of length
    ‖uuᵀ‖_F = 1.
    """
    return (2 * d) ** 0.5 + (2 * log(2 / beta)) ** 0.5


# LAPLACE
# The formulas of the authors' code for Laplace noise set an unnamed constant of Sambale (2020) to 1.
# With the constant 1, η and ω hold for every d and β by another proof (claims DLY22.Lem15 and DLY22.Lem17).
# The formula υ for Laplace noise is theirs too; we have no proof that it is a bound.


def psi_norm(m: Number, log: Log = math.log) -> Number:
    """K = 2 max((√2 + 1)/(√2 − 1), 2 log₂ m), the authors' bound on the Orlicz norm of the largest of m
    independent Laplace(1) variables.
    """
    return 2 * max((2**0.5 + 1) / (2**0.5 - 1), 2 * log(m) / log(2))


def eta_laplace(d: Number, beta: Number, log: Log = math.log) -> Number:
    """The bound η for a vector of d independent Laplace(1): 1.5√d + K ln(2/β), K = `psi_norm`(d) (DLY22 Lemma 15).

    The mean of the norm of the vector is at most √(2d).
    """
    return 1.5 * d**0.5 + psi_norm(d, log) * log(2 / beta)


def omega_laplace(d: Number, beta: Number, log: Log = math.log) -> Number:
    """The bound ω for ‖symmetric Laplace‖_F: 1.5 d + K ln(2/β), K = `psi_norm`(d(d + 1)/2) (DLY22 Lemma 17)."""
    return 1.5 * d + psi_norm(d * (d + 1) / 2, log) * log(2 / beta)


def upsilon_laplace(d: Number, beta: Number, log: Log = math.log) -> Number:
    """The bound υ for ‖symmetric Laplace‖, d ≥ 2: (1 + θ)(2√d + 6 ln d/√(ln(1 + θ))) + √2 K ln(2/β) (DLY22 Lemma 16).

    The docstring of `upsilon` defines θ, and that of `omega_laplace` defines K. Laplace(1) entries have variance 2, so
    ‖W‖/√d → 2√2. The term 2√d in DLY22 should therefore be 2√(2d). From d = 3·10⁵ on the first part of the bound is
    below 2√(2d).
    """
    theta = min((log(d) / d) ** 0.3, 0.5)
    mean = (1 + theta) * (2 * d**0.5 + 6 * log(d) / log(1 + theta) ** 0.5)
    return mean + 2**0.5 * psi_norm(d * (d + 1) / 2, log) * log(2 / beta)
