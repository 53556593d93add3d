"""Predict the root mean square error of mechanisms whose noise does not depend on the data.

The error is a scale times a random matrix Z, whose law depends on the dimension alone. The Frobenius norms are exact,
except for the covariance body. The spectral norms of nuclear-Laplace noise are exact too (from the Pfaffian
distribution function, E ‖Z‖² = ∫ 2t P(‖Z‖ > t) dt). For nuclear-Laplace noise in more than `EXACT_DIMENSION`
dimensions, both norms are limits for large d. The remaining norms are the spectral norms of the other noises and both
norms of the covariance body. Each of them is predicted as a measured constant times a formula that grows with d like
the norm. Beyond the largest measured dimension the formula alone is the prediction, and is called a limit.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np

from covassay.reference.domain import Number
from covassay.reference.laws import nuclear_laplace
from covassay.reference.laws.k_norm import degrees_of_freedom
from covassay.reference.mechanisms.concentrated import gauss_cov
from covassay.reference.mechanisms.pure import entrywise_laplace, k_norm, lap_cov
from covassay.reference.mechanisms.pure import nuclear_laplace as nuclear
from covassay.reference.recommendation.measured import measured

Kind = Literal["exact", "limit", "bound", "measured"]
KINDS: dict[Kind, str] = {
    "exact": "the value of a formula, up to rounding",
    "limit": "the limit of a formula for large d",
    "bound": "an upper bound",
    "measured": "computed from constants that were measured by simulation",
}
EXACT_DIMENSION = 300  # the largest dimension up to which the accuracy of the Pfaffian ensemble has been checked
# the number of nodes of the Gauss–Legendre rule for E ‖Z‖²; 400 nodes change it by less than 1e-9 up to d = 300
TAIL_NODES = 120


@dataclass(frozen=True)
class Figure:
    """A number with its kind (one of `KINDS`) and its relative standard error, which is 0 unless the number was
    measured.
    """

    value: float
    kind: Kind
    error: float = 0.0

    def times(self, factor: float) -> "Figure":
        """Return the same figure with its number multiplied by `factor`, for another unit."""
        return Figure(self.value * factor, self.kind, self.error)


# FORMULAS: E ‖Z‖_F² at scale 1


def square_of_laplace(d: Number) -> Number:
    """E ‖Z‖_F² = 2d² for a matrix of Laplace(1) entries, symmetric or not, because every entry has variance 2."""
    return entrywise_laplace.mean_squared_error(d, 1)


def square_of_l2_ball(d: Number) -> Number:
    """E ‖Z‖_F² = D(D + 1), D = d(d + 1)/2, for k-norm noise of the ℓ2 ball, whose norm is a Gamma(D) variable."""
    return degrees_of_freedom(d) * (degrees_of_freedom(d) + 1)


def square_of_linf_ball(d: Number) -> Number:
    """E ‖Z‖_F² = D(D + 1) d² (1 + 2/D)/3, D = d(d + 1)/2, for k-norm noise of the ℓ∞ ball.

    The noise is a Gamma(D) variable times a symmetric matrix. One entry of the upper triangle is ±1, and the others are
    uniform on [−1, 1]. Off-diagonal entries count twice in ‖Z‖_F².
    """
    entries = degrees_of_freedom(d)
    return entries * (entries + 1) * d**2 * (1 + 2 / entries) / 3


def square_of_wigner(d: Number) -> Number:
    """E ‖Z‖_F² = d² for a symmetric matrix with entries of variance 1."""
    return d**2


def square_of_goe(d: Number) -> Number:
    """E ‖Z‖_F² = d(d + 1)/2 for a GOE matrix, with variance 1 on the diagonal and 1/2 off it."""
    return degrees_of_freedom(d)


# THE ORDER OF GROWTH of the spectral norm at scale 1, a formula in d that is multiplied by a measured constant


def gaussian_edge(d: float) -> float:
    """The limit 2√d of ‖W‖ for a symmetric matrix with independent entries of variance 1."""
    return 2 * math.sqrt(d)


def linf_edge(d: float) -> float:
    """The number 2√d s, which grows with d like the spectral norm of k-norm noise of the ℓ∞ ball.

    The number s = √(D(D + 1)/3), with D = d(d + 1)/2, is √(1 + 2/D) times smaller than the standard deviation of an
    entry of the noise.
    """
    entries = degrees_of_freedom(d)
    return float(gaussian_edge(d) * (entries * (entries + 1) / 3) ** 0.5)


# NUCLEAR-LAPLACE NOISE


@lru_cache(maxsize=256)
def nuclear_frobenius(d: int, symmetric: bool) -> Figure:
    """Return the root of the mean square E ‖Z‖_F²."""
    if d <= EXACT_DIMENSION:
        return Figure(nuclear_laplace.mean_power_sum(d, 2.0, symmetric) ** 0.5, "exact")
    return Figure(nuclear_laplace.schatten_limit(2.0) * d**1.5 / (2 if symmetric else 1), "limit")


@lru_cache(maxsize=256)
def nuclear_spectral(d: int, symmetric: bool) -> Figure:
    """Return the root of the mean square E ‖Z‖²."""
    if d > EXACT_DIMENSION:
        return Figure(float(nuclear_laplace.spectral_edge(d, symmetric)), "limit")
    law = nuclear_laplace.ensemble(d, symmetric)
    nodes, weights = np.polynomial.legendre.leggauss(TAIL_NODES)
    half = float(law.panels.edges[-1]) / 2
    t = half * (nodes + 1)
    survival = np.array([law.largest_survival(float(s)) for s in t])
    return Figure(float(half * (weights * 2 * t * survival).sum()) ** 0.5, "exact")


def _multiple(law: str, norm: str, order: Callable[[int], float], limit: bool) -> Callable[[int], Figure | None]:
    """Return a function that maps d to the norm, which is a measured constant times `order(d)`.

    If d is larger than every measured dimension and `limit` is true, the returned function gives `order(d)` with the
    constant 1. For every other d without a measured constant, the returned function gives None.
    """

    def figure(d: int) -> Figure | None:
        if limit and d > measured()[law].axes["d"][-1]:
            return Figure(order(d), "limit")
        found = measured()[law].at(norm, d=d)
        return None if found is None else Figure(found[0] * order(d), "measured", found[1])

    return figure


def _exact(square: Callable[[int], float]) -> Callable[[int], Figure | None]:
    return lambda d: Figure(math.sqrt(square(d)), "exact")


# THE LAWS


@dataclass(frozen=True)
class Additive:
    """A law of noise. For n rows, d columns and a budget, the function `scale` gives the scale of the noise. For d
    columns, the functions `frobenius` and `spectral` give the root mean squares of these norms of the noise at scale 1.
    """

    scale: Callable[[int, int, float], float]
    frobenius: Callable[[int], Figure | None]
    spectral: Callable[[int], Figure | None]


def _body(body: str) -> Callable[[int, int, float], float]:
    return lambda n, d, epsilon: float(k_norm.noise_scale(k_norm.sensitivity(body, n, d), epsilon))


def _l2_spectral(d: int) -> Figure | None:
    """Return the root mean square spectral norm of k-norm noise of the ℓ2 ball, a Gamma(D) radius times the direction
    of a GOE matrix.
    """
    goe = ADDITIVE["goe"].spectral(d)
    return None if goe is None else goe.times((degrees_of_freedom(d) + 1) ** 0.5)


ADDITIVE: dict[str, Additive] = {
    "laplace-full": Additive(
        lambda n, d, epsilon: float(entrywise_laplace.noise_scale(n, d, epsilon, "full", "tight")),
        _exact(square_of_laplace),
        _multiple("laplace-full", "spectral", lambda d: 2**0.5 * gaussian_edge(d), True),
    ),
    "laplace-symmetric": Additive(
        lambda n, d, epsilon: float(lap_cov.noise_scale(n, d, epsilon, "tight")),
        _exact(square_of_laplace),
        _multiple("laplace-symmetric", "spectral", lambda d: 2**0.5 * gaussian_edge(d), True),
    ),
    "nuclear-full": Additive(
        lambda n, d, epsilon: float(nuclear.noise_scale(n, epsilon)),
        lambda d: nuclear_frobenius(d, False),
        lambda d: nuclear_spectral(d, False),
    ),
    "nuclear-symmetric": Additive(
        lambda n, d, epsilon: float(nuclear.noise_scale(n, epsilon)),
        lambda d: nuclear_frobenius(d, True),
        lambda d: nuclear_spectral(d, True),
    ),
    "covariance-body": Additive(
        _body("covariance"),
        _multiple("covariance-body", "frobenius", lambda d: 2 * nuclear_frobenius(d, True).value, False),
        _multiple("covariance-body", "spectral", lambda d: 2 * nuclear_spectral(d, True).value, False),
    ),
    "l2-ball": Additive(_body("l2"), _exact(square_of_l2_ball), _l2_spectral),
    "linf-ball": Additive(
        _body("linf"), _exact(square_of_linf_ball), _multiple("linf-ball", "spectral", linf_edge, True)
    ),
    "wigner": Additive(
        lambda n, d, rho: float(gauss_cov.noise_scale(n, rho)),
        _exact(square_of_wigner),
        _multiple("wigner", "spectral", gaussian_edge, True),
    ),
    "goe": Additive(
        lambda n, d, rho: float(gauss_cov.noise_scale(n, rho)),
        _exact(square_of_goe),
        _multiple("goe", "spectral", lambda d: 0.5**0.5 * gaussian_edge(d), True),
    ),
}
