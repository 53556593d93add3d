"""Bet against a claim on two laws. A bet has an e-value, which is a factor whose mean is at most 1 if the claim is
true.

Every output is sorted into one of finitely many categories. Let P and Q be the laws of the output's category on two
data sets. A claim of privacy implies that E_P[A] − E_Q[B] ≤ c, for suitable functions A and B, which map every category
to a number, and a suitable number c. A bet has a stake λ > 0 and a centre u. The bet multiplies two kinds of factors:

    1 + λ (A(y) − u)          for each of the n draws y from P, and
    1 + λ' (u − c − B(y'))    for each of the n' draws y' from Q, with λ' = λ n/n'.

By 1 + t ≤ eᵗ the mean of the product is at most exp(λ n (E_P[A] − E_Q[B] − c)) ≤ 1. By Markov's inequality the inverse
of the product is a p-value for every n and n'. The bet may be chosen in any way that does not depend on the draws y and
y'. The logarithm of the product is rounded down, so that the p-value is never too small.

For (ε, δ)-DP the inequality of an event S is P(S) − e^ε Q(S) ≤ δ. For the Rényi divergence of order α > 1 the
inequality is Young's: for every function L > 0, α E_P[L^{α−1}] − (α − 1) E_Q[L^α] ≤ E_Q[(dP/dQ)^α] = exp((α − 1) D_α(P
‖ Q)), with equality for L = dP/dQ. The limit of Young's inequality for the Kullback–Leibler divergence is E_P[ln L] −
E_Q[L] + 1 ≤ D_1(P ‖ Q).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy

from covassay.reference.domain import Vector
from covassay.verification.statistics.rounding import UNIT

PRIOR = 0.5  # this many pseudo-draws are added to every category of the pilot
LARGEST_SHARE = 0.95  # a stake is at most this multiple of the stake at which a factor of the bet could be 0
# the orders of the Rényi divergences that are tried, where 1 stands for the Kullback–Leibler divergence
ORDERS = 1.0, 1.5, 3.0
TINY = 1e-12  # keeps numbers that must be positive, such as variances and stakes, away from 0
# Let r be the ratio of the shares of a category on the two data sets. The search for a bet begins with several
# functions L, which are multiples of powers of r. These are the exponents of the powers.
FIRST_POWERS = 0.3, 0.5, 0.7, 0.85, 1.0
# Before the power is taken, ln r is clipped to [−cap, cap], where cap is one of these numbers.
FIRST_CAPS = 1.0, 2.0, 4.0
FIRST_STEP = 0.3  # the search begins with this step in every parameter
# a search follows at most this many promising starting points, and always the best one
REFINED = 5
ITERATIONS = 400  # a search for a bet makes at most this many steps; if it stops early, only the power is smaller


@dataclass(frozen=True)
class Inequality:
    """An inequality of the form E_P[first] − E_Q[second] ≤ bound. The fields `first` and `second` are functions that
    map every category to a number, given as arrays of shape (categories,).

    The values of the functions are computed with exponentials. The field `exponent` is the largest absolute value of an
    exponent, and the relative error of the functions grows with it.
    """

    first: Vector
    second: Vector
    bound: float
    exponent: float = 0.0


@dataclass(frozen=True)
class Bet:
    """A bet against an inequality, given by the stake λ and the centre u.

    If necessary, `log_value` uses a smaller stake, so that every factor is at least 1 − `LARGEST_SHARE`.
    """

    inequality: Inequality
    stake: float
    centre: float

    def log_value(self, first: Vector, second: Vector) -> float:
        """Return the logarithm of the e-value, rounded down; `first` and `second` are the numbers of draws in every
        category.

        The rounding error of a factor 1 + λ (A − u) is at most 8 + 2 `exponent` units in the last place of 1 + λ (|A| +
        |u| + |c|). The factor 1 + λ (A − u) of a bet is at least 1 − `LARGEST_SHARE`. Computing the logarithm of a
        factor adds an error of a few units, and adding up the logarithms adds an error of one unit for each category.
        """
        n, other = float(first.sum()), float(second.sum())
        if n == 0 or other == 0:
            return 0.0
        gain = self.inequality.first - self.centre
        other_gain = (self.centre - self.inequality.bound - self.inequality.second) * n / other
        worst = -min(float(gain.min()), float(other_gain.min()))
        stake = min(self.stake, LARGEST_SHARE / worst) if worst > 0 else self.stake
        logs, other_logs = np.log1p(stake * gain), np.log1p(stake * other_gain)
        rounding = UNIT * (
            first @ self._error(self.inequality.first, stake, logs)
            + second @ self._error(self.inequality.second, stake * n / other, other_logs)
        )
        return float(first @ logs + second @ other_logs - rounding)

    def _error(self, values: Vector, stake: float, logs: Vector) -> Vector:
        """Return a bound, in units in the last place, on the rounding error of the log factors on one data set and of
        their sum.
        """
        size = 1 + stake * (np.abs(values) + abs(self.centre) + abs(self.inequality.bound))
        units: Vector = (8 + 2 * self.inequality.exponent) * size / np.exp(np.minimum(logs, 0.0)) + (
            len(logs) + 8
        ) * np.abs(logs)
        return units

    def p_value(self, first: Vector, second: Vector) -> float:
        """Return the p-value of the claim, for draws that were not used to choose the bet."""
        return math.exp(min(0.0, -self.log_value(first, second)))


def event_inequality(epsilon: float, delta: float) -> Inequality:
    """Return the inequality of (ε, δ)-DP for an event; the categories are the event and its complement."""
    inside = np.array([1.0, 0.0])
    return Inequality(inside, math.exp(epsilon) * inside, delta, epsilon)


def renyi_inequality(log_ratio: Vector, alpha: float, rho: float) -> Inequality:
    """Return the inequality that ρ-zCDP implies for the Rényi divergence of order α, with L = exp(log_ratio).

    For α > 1 both sides of the inequality are divided by its right side.
    """
    if alpha == 1:
        return Inequality(log_ratio, np.exp(log_ratio), rho - 1, float(np.abs(log_ratio).max()))
    right = alpha * (alpha - 1) * rho
    first, second = np.exp((alpha - 1) * log_ratio - right), np.exp(alpha * log_ratio - right)
    return Inequality(alpha * first, (alpha - 1) * second, 1.0, alpha * float(np.abs(log_ratio).max()) + right)


def smoothed(counts: Vector) -> Vector:
    """Return the shares of the categories among the pilot draws, after `PRIOR` pseudo-draws were added to every
    category.
    """
    shares: Vector = (counts + PRIOR) / (counts + PRIOR).sum()
    return shares


def _approximate(inequality: Inequality, first: Vector, second: Vector) -> tuple[float, float, float]:
    """Return the stake and the centre of the best bet, and its growth, which is the expected logarithm of the two
    factors of a pair of draws. The stake, the centre and the growth are computed to second order in the stake.

    If no bet has a positive expected growth, the returned stake is close to 0 and the growth is not positive.
    """
    mean, other_mean = float(first @ inequality.first), float(second @ inequality.second)
    gap = mean - other_mean - inequality.bound
    variance = float(first @ (inequality.first - mean) ** 2)
    total = variance + float(second @ (inequality.second - other_mean) ** 2) + TINY
    # the centre divides the distance of E_P[A] and E_Q[B] + c in proportion to the variances of A and B; the same stake
    # is then the best for the draws from P and for the draws from Q
    return max(gap, TINY) / total, mean - gap * variance / total, gap * abs(gap) / (2 * total)


Family = Callable[[Vector], Inequality]  # a family of inequalities, as a function of the parameters that select one


def _grown(family: Family, start: Vector, first: Vector, second: Vector) -> tuple[Bet, float]:
    """Search near the parameters `start` for the bet with the largest growth, and return it with its growth. The growth
    is the mean logarithm of the two factors of a pair of draws, whose categories have the probabilities `first` on one
    data set and `second` on the other.
    """
    stake, centre, _ = _approximate(family(start), first, second)

    def bet(parameters: Vector) -> Bet:
        log_factor, shift = float(np.clip(parameters[0], -9, 9)), float(parameters[1])
        return Bet(family(parameters[2:]), stake * math.exp(log_factor), centre + 0.1 * shift)

    def loss(parameters: Vector) -> float:
        return -bet(parameters).log_value(first, second)

    start = np.concatenate([(0.0, 0.0), start])
    simplex = start + FIRST_STEP * np.vstack([np.zeros(len(start)), np.eye(len(start))])
    options = {"maxiter": ITERATIONS, "xatol": 0.05, "fatol": 1e-5, "initial_simplex": simplex}
    found = scipy.optimize.minimize(loss, start, method="Nelder-Mead", options=options)
    return bet(found.x), -float(found.fun)


def event_bet(first: Vector, second: Vector, epsilon: float, delta: float) -> Bet:
    """Choose a bet against (ε, δ)-DP from the numbers of pilot draws inside and outside of an event.

    Let (p, q) be the event's probabilities on the two data sets, as estimated from the pilot, and let (a, b) be the
    closest probabilities with a = e^ε b + δ. For equal numbers of draws, the factors of the bet are the likelihood
    ratios p/a and q/b in the event, and (1 − p)/(1 − a) and (1 − q)/(1 − b) outside of it.
    """
    (p, _), (q, _) = smoothed(first), smoothed(second)

    def allowed(b: float) -> float:
        return min(math.exp(epsilon) * b + delta, 1 - TINY)

    def closest(b: float) -> float:
        a = allowed(b)
        return -float(p * math.log(a) + (1 - p) * math.log1p(-a) + q * math.log(b) + (1 - q) * math.log1p(-b))

    top = (1 - delta) * math.exp(-epsilon)
    found = scipy.optimize.minimize_scalar(
        closest, bounds=(top * TINY, top * (1 - TINY)), method="bounded", options={"xatol": TINY}
    )
    a = allowed(float(found.x))
    outside = (1 - p) / (1 - a)
    stake = p / a - outside
    inequality = event_inequality(epsilon, delta)
    return Bet(inequality, stake, (1 - outside) / stake) if stake > 0 else Bet(inequality, 0.0, 0.0)


@dataclass(frozen=True)
class RenyiBet:
    """A bet against ρ-zCDP at one order; `swapped` says that P is the law of the second data set, and Q the law of the
    first.
    """

    bet: Bet
    order: float
    swapped: bool

    def log_value(self, first: Vector, second: Vector) -> float:
        """Return the logarithm of the e-value; `first` and `second` are the numbers of draws in every category on the
        two data sets, without the draws that chose the bet.
        """
        return self.bet.log_value(second, first) if self.swapped else self.bet.log_value(first, second)

    def p_value(self, first: Vector, second: Vector) -> float:
        """Return the p-value of the claim; `first` and `second` are the numbers of draws in every category on the two
        data sets, without the draws that chose the bet.
        """
        return math.exp(min(0.0, -self.log_value(first, second)))


def renyi_bet(first: Vector, second: Vector, rho: float) -> RenyiBet:
    """Choose a bet against ρ-zCDP from the numbers of pilot draws in every category.

    The function L of the bet is a capped power of the ratio of the shares on the two data sets, times a constant.
    """
    sides = smoothed(first), smoothed(second)

    def family(order: float, swapped: bool) -> Family:
        one, two = sides[::-1] if swapped else sides
        log_ratio = np.log(one / two)

        def inequality(parameters: Vector) -> Inequality:
            cap = abs(float(parameters[2]))
            scaled = float(np.clip(parameters[0], -2, 2)) * np.clip(log_ratio, -cap, cap)
            normalised = scaled - math.log(float(two @ np.exp(scaled))) + float(np.clip(parameters[1], -2, 2))
            return renyi_inequality(normalised, order, rho)

        return inequality

    candidates = []
    for order in ORDERS:
        for swapped in (False, True):
            inequalities = family(order, swapped)
            for start in (np.array([power, 0.0, cap]) for power in FIRST_POWERS for cap in FIRST_CAPS):
                growth = _approximate(inequalities(start), *(sides[::-1] if swapped else sides))[2]
                candidates.append((growth, order, swapped, start))
    candidates.sort(key=lambda c: -c[0])
    found = []
    promising = [candidate for candidate in candidates[1:REFINED] if candidate[0] > 0]
    for _, order, swapped, start in [candidates[0], *promising]:
        bet, growth = _grown(family(order, swapped), start, *(sides[::-1] if swapped else sides))
        found.append((growth, RenyiBet(bet, order, swapped)))
    return max(found, key=lambda f: f[0])[1]
