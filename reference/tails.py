"""Public upper bounds on the norms of noise, each exceeded with probability at most β.

They say how large an error can be. No privacy guarantee rests on them. With N ~ N(0, I_d), and W a symmetric matrix
with independent N(0, 1) on and above the diagonal ("Wigner"), or with N(0, 1/2) above it ("GOE"), or with Laplace(1):

    ‖N‖ ≤ η(d, β)     ‖W‖_F ≤ ω(d, β)     ‖W‖ ≤ υ(d, β)     (DLY22 Lemmas 6, 7, 15, 16, 17)

The names are the paper's. Two bounds are ours: `omega_sharp`, never above ω, and `upsilon_star`, which is proven below,
needs no d ≥ 2, and is about half of the authors' υ, or less, at the sizes of their experiments.

Every logarithm is natural and comes in as an argument, so floats, mpmath numbers and arrays (with numpy's) all do.
"""

import math
from collections.abc import Callable

from covassay.reference.domain import Number

Log = Callable[[Number], Number]

# GAUSSIAN


def eta(d: Number, beta: Number, log: Log = math.log) -> Number:
    """η = √(d + 2√(d ln(1/β)) + 2 ln(1/β)) for ‖N(0, I_d)‖ (Laurent–Massart 2000, Lemma 1; DLY22 Lemma 6).

    ‖GOE‖_F is the same thing in d(d + 1)/2 dimensions.
    """
    return (d + 2 * (d * log(1 / beta)) ** 0.5 + 2 * log(1 / beta)) ** 0.5


def omega(d: Number, beta: Number, log: Log = math.log) -> Number:
    """ω = √(d² + 2√(d ln(2/β)) (1 + √(2(d − 1))) + 6 ln(2/β)) for ‖Wigner‖_F (DLY22 Lemma 7).

    ‖W‖_F² is χ² with d degrees plus twice an independent χ² with d(d − 1)/2: `eta` for each at β/2, and the sum.
    """
    return (d**2 + 2 * (d * log(2 / beta)) ** 0.5 * (1 + (2 * (d - 1)) ** 0.5) + 6 * log(2 / beta)) ** 0.5


def omega_sharp(d: Number, beta: Number, log: Log = math.log) -> Number:
    """√(d² + 2√(d(2d − 1) ln(1/β)) + 4 ln(1/β)) for ‖Wigner‖_F: Laurent–Massart once, for the weighted sum.

    Weights 1 (d times) and 2 (d(d − 1)/2 times): their squares add up to d + 2d(d − 1) = d(2d − 1), the largest is 2.
    """
    return (d**2 + 2 * (d * (2 * d - 1) * log(1 / beta)) ** 0.5 + 4 * log(1 / beta)) ** 0.5


def upsilon(d: Number, beta: Number, log: Log = math.log) -> Number:
    """υ for ‖Wigner‖ as the authors' code has it, d ≥ 2 (DLY22 Lemma 7).

    (1 + θ)(2√d + 6√(ln d)/√(ln(1 + θ))) + √(2 ln(2/β)), θ = min(((ln d)/d)^0.3, 1/2). The first part bounds the mean
    (Bandeira–van Handel 2016). The second should be √((4 − 2/d) ln(2/β)), as in `upsilon_star`: with this one the bound
    is false for tiny β, from ln(1/β) = 2600 on at d = 2.
    """
    theta = min((log(d) / d) ** 0.3, 0.5)
    return (1 + theta) * (2 * d**0.5 + 6 * (log(d) / log(1 + theta)) ** 0.5) + (2 * log(2 / beta)) ** 0.5


def upsilon_star(d: Number, beta: Number, log: Log = math.log) -> Number:
    """υ* = 2√d + √((4 − 2/d) ln(2/β)) for ‖Wigner‖. Ours.

    Mean. X(u) = uᵀWu has E(X(u) − X(v))² = 2‖uuᵀ − vvᵀ‖_F² − Σ_i (u_i² − v_i²)² ≤ 4(1 − ⟨u, v⟩²) ≤ 4‖u − v‖² for unit
    u, v, because 1 − c² ≤ 2(1 − c). That is the increment of 2⟨g, u⟩, g ~ N(0, I_d), so by Sudakov–Fernique
    E λ_max(W) ≤ 2 E‖g‖ ≤ 2√d.

    Deviation. uᵀWu = Σ_i u_i² W_ii + 2 Σ_{i<j} u_i u_j W_ij is linear in the independent entries, with a gradient of
    squared length Σ u_i⁴ + 4 Σ_{i<j} u_i² u_j² = 2 − Σ u_i⁴ ≤ 2 − 1/d. So λ_max is Lipschitz with that constant, and
    P(λ_max ≥ 2√d + t) ≤ exp(−t²/(4 − 2/d)); −W has the law of W. No smaller constant does: at u = (1, …, 1)/√d the
    variance of uᵀWu is 2 − 1/d.
    """
    return 2 * d**0.5 + ((4 - 2 / d) * log(2 / beta)) ** 0.5


def upsilon_goe(d: Number, beta: Number, log: Log = math.log) -> Number:
    """√(2d) + √(2 ln(2/β)) for ‖GOE‖. Ours.

    The proof of `upsilon_star` with E(X(u) − X(v))² = ‖uuᵀ − vvᵀ‖_F² ≤ 2‖u − v‖² and a gradient of length ‖uuᵀ‖_F = 1.
    """
    return (2 * d) ** 0.5 + (2 * log(2 / beta)) ** 0.5


# LAPLACE
# As in the authors' code, which sets an unnamed constant of Sambale (2020) to 1. η and ω hold with it for every d
# and β, by another proof (claims DLY22.Lem15 and DLY22.Lem17); υ is recorded, not proven.


def psi_norm(m: Number, log: Log = math.log) -> Number:
    """2 max((√2 + 1)/(√2 − 1), 2 log₂ m): the Orlicz norm of the largest of m Laplace(1), as the code bounds it."""
    return 2 * max((2**0.5 + 1) / (2**0.5 - 1), 2 * log(m) / log(2))


def eta_laplace(d: Number, beta: Number, log: Log = math.log) -> Number:
    """η for d independent Laplace(1): 1.5√d + K ln(2/β), K = `psi_norm`(d). E‖·‖ ≤ √(2d) (DLY22 Lemma 15)."""
    return 1.5 * d**0.5 + psi_norm(d, log) * log(2 / beta)


def omega_laplace(d: Number, beta: Number, log: Log = math.log) -> Number:
    """ω for the symmetric Laplace matrix: 1.5 d + K ln(2/β), K = `psi_norm`(d(d + 1)/2) (DLY22 Lemma 17)."""
    return 1.5 * d + psi_norm(d * (d + 1) / 2, log) * log(2 / beta)


def upsilon_laplace(d: Number, beta: Number, log: Log = math.log) -> Number:
    """υ for the symmetric Laplace matrix, d ≥ 2: (1 + θ)(2√d + 6 ln d/√(ln(1 + θ))) + √2 K ln(2/β) (DLY22 Lemma 16).

    θ as in `upsilon`, K as in `omega_laplace`. Laplace(1) has variance 2, so ‖W‖/√d → 2√2, and the leading 2√d should
    be 2√(2d): from d = 3·10⁵ on the first part is below that limit.
    """
    theta = min((log(d) / d) ** 0.3, 0.5)
    mean = (1 + theta) * (2 * d**0.5 + 6 * log(d) / log(1 + theta) ** 0.5)
    return mean + 2**0.5 * psi_norm(d * (d + 1) / 2, log) * log(2 / beta)
