"""Check noise on a lattice: its samplers, by exact probabilities, and the sensitivities that set its scale."""

from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import product
from math import isqrt
from typing import Any, TypeVar

from covassay.reference.domain import Number
from covassay.reference.domain.exact_data import ExactData
from covassay.reference.laws import discrete_gaussian, discrete_laplace
from covassay.reference.laws.exact_draws import Coins
from covassay.reference.mechanisms.concentrated import discrete_gaussian_covariance as gaussian
from covassay.reference.mechanisms.pure import discrete_laplace_covariance as laplace
from covassay.verification.claims.evidence import Formula, Found, check, mutant
from covassay.verification.exact import series
from covassay.verification.exact.decision_tree import ExpSum, Extent, OnBits, OnChances, OnExponentials, probabilities

T = TypeVar("T")
Attempt = Callable[[Fraction, Coins], int | None]
THREE_PERCENT = Fraction(103, 100)


def on(function: Callable[..., T], *given: object) -> Callable[[Coins], T]:
    """Return the function that calls `function` with given coins and with the other arguments given here."""
    return lambda coins: function(coins, *given)


# DECISIONS


def modulo(coins: Coins, m: int) -> int:
    """Draw an integer below m with a deliberate error: the bits are taken modulo m, and no draw is rejected."""
    return coins.bits((m - 1).bit_length()) % m


@check("exact", scope="m ≤ 40, all bits enumerated")
@mutant("modulo m", below=modulo)
@mutant("one bit less", below=lambda coins, m: coins.bits(max(0, (m - 1).bit_length() - 1)))
def uniform_integers(below: Formula = Coins.below) -> Found:
    """One round of `Coins.below(m)` gives each of 0, …, m − 1 with the same probability, and no other number.

    `Coins.below` repeats rounds with fresh bits until one round gives a number, so the result is uniform.
    """
    for m in range(1, 41):
        found = probabilities(on(below, m), OnBits, Extent(1, 1))
        yield {f"m={m}": set(found) == set(range(m)) and len(set(found.values())) == 1}


def without_splitting(coins: Coins, p: int, q: int) -> bool:
    """Draw True with probability e^{−p/q}, with a deliberate error: an exponent p/q above 1 is not split into smaller
    ones.
    """
    k = 1
    while coins.chance(p, k * q):
        k += 1
    return k % 2 == 1


@check("enclosed", scope="5 exponents up to 2")
@mutant("3 % more", chance_exp=lambda coins, p, q: Coins.chance_exp(coins, 103 * p, 100 * q))
@mutant("the loop ends even", chance_exp=lambda coins, p, q: not Coins.chance_exp(coins, p, q))
@mutant("exponents above 1 are not split", chance_exp=without_splitting)
@mutant("e^{−1} once too often", chance_exp=lambda coins, p, q: Coins.chance_exp(coins, p + (p > q) * q, q))
def exponential_chance(chance_exp: Formula = Coins.chance_exp) -> Found:
    """`Coins.chance_exp(p, q)` is true with probability e^{−p/q}, up to an error of at most 10^−12.

    The check enumerates all runs of up to 22 decisions. Every decision of a run has a rational probability, so the
    check computes two exact sums: the probability l of the runs that give True, and the probability 1 − u of the runs
    that give False. The probability of True lies between l and u, and u − l is below 10^−12. The check confirms that
    the rational bounds on e^{−p/q} do not contradict l ≤ e^{−p/q} ≤ u.
    """
    widest = Fraction(0)
    for p, q in ((0, 1), (1, 7), (1, 1), (3, 2), (2, 1)):
        found = probabilities(on(chance_exp, p, q), OnChances, Extent(22, 1))
        low, past = (found.get(answer, ExpSum({})).rational for answer in (True, False))
        least, most = series.exponential(Fraction(-p, q))
        widest = max(widest, 1 - past - low)
        if not (low <= most and least <= 1 - past and 1 - past - low < Fraction(1, 10**12)):
            yield f"{p}/{q}: {float(low):.6g} to {float(1 - past):.6g}"
    yield "widest", f"{float(widest):.1g}"


# ROUNDS OF THE SAMPLERS


def keeps_both_zeros(scale: Fraction, coins: Coins) -> int | None:
    """Draw with a deliberate error: the proposal −0 is not rejected, so 0 is drawn too often."""
    size = discrete_laplace.attempt_size(scale, coins)
    return size if size is None or not coins.chance(1, 2) else -size


def forgets_the_remainder(scale: Fraction, coins: Coins) -> int | None:
    """Draw with a deliberate error: every uniform number u below t is accepted, where the sampler of CKS20 accepts u
    with probability e^{−u/t}.
    """
    t, s = scale.numerator, scale.denominator
    size, negative = coins.below(t), coins.chance(1, 2)
    while coins.chance_exp(1, 1):
        size += t
    return None if negative and size // s == 0 else -(size // s) if negative else size // s


class Hasty(Coins):
    """A mutant of the coins, which draws with probability e^{−1.03 p/q} in place of e^{−p/q}."""

    def __init__(self, coins: Coins) -> None:
        self.coins = coins

    def below(self, m: int) -> int:
        """Return an integer below m, drawn by the method `below` of the coins."""
        return self.coins.below(m)

    def chance(self, p: int, q: int) -> bool:
        """Return True with probability p/q, drawn by the method `chance` of the coins."""
        return self.coins.chance(p, q)

    def chance_exp(self, p: int, q: int) -> bool:
        """Return True with probability e^{−1.03 p/q}."""
        return self.coins.chance_exp(103 * p, 100 * q)


def proportional(attempt: Attempt, parameter: Fraction, exponents: list[Fraction], extent: Extent) -> bool:
    """Return whether for some c > 0 a round gives z and −z with probability exactly c·e^{−exponents[z]} each, for every
    index z.
    """
    found = probabilities(lambda coins: attempt(parameter, coins), OnExponentials, extent)
    c = found.get(0, ExpSum({}))
    wanted = [c * ExpSum.of(1, exponent) for exponent in exponents]
    return bool(c.terms) and all(found.get(z) == found.get(-z) == mass for z, mass in enumerate(wanted))


SCALES = tuple(Fraction(*scale) for scale in ((1, 1), (5, 1), (7, 2), (2, 3), (1, 5)))
VARIANCES = tuple(Fraction(*variance) for variance in ((1, 10), (1, 3), (1, 1), (5, 2), (7, 1), (40, 3)))


@check("exact", scope=f"t = {', '.join(map(str, SCALES))}; |z| ≤ 10t − 1")
@mutant("3 % of the scale", attempt=lambda scale, coins: discrete_laplace.attempt(scale, Hasty(coins)))
@mutant("0 has both signs", attempt=keeps_both_zeros)
@mutant("every remainder is kept", attempt=forgets_the_remainder)
@mutant("scale s/t", attempt=lambda scale, coins: discrete_laplace.attempt(1 / scale, coins))
def laplace_round(attempt: Formula = discrete_laplace.attempt) -> Found:
    """One round of `discrete_laplace.attempt` gives z with probability c·e^{−|z|/t}, exactly, at rational scales t.

    The check enumerates all runs in which the quotient v is at most 9. All runs that return a z with |z| ≤ 10t − 1 are
    among them.
    """
    for scale in SCALES:
        reach = int(10 * scale) - 1
        wanted = [abs(z) / scale for z in range(reach + 1)]
        yield {f"t={scale}": proportional(attempt, scale, wanted, Extent(13, 1))}


def gaussian_round_with(gamma: Callable[[int, Fraction, Fraction], Fraction], proposal: Attempt) -> Attempt:
    """Return a round of the discrete Gaussian sampler with the acceptance probability e^{−γ(|y|, t, σ²)}, where γ and
    the proposal may be wrong.
    """

    def attempt(variance: Fraction, coins: Coins) -> int | None:
        t = Fraction(isqrt(variance.numerator // variance.denominator) + 1)
        while (y := proposal(t, coins)) is None:
            pass
        exponent = gamma(abs(y), t, variance)
        return y if coins.chance_exp(exponent.numerator, exponent.denominator) else None

    return attempt


def right_gamma(size: int, t: Fraction, variance: Fraction) -> Fraction:
    """Return the exponent γ = (|y| − σ²/t)²/(2σ²) of the acceptance probability."""
    return (size - variance / t) ** 2 / (2 * variance)


@check("exact", scope=f"σ² = {', '.join(map(str, VARIANCES))}; |z| ≤ 6t")
@mutant(
    "3 % of the scale", attempt=lambda variance, coins: discrete_gaussian.attempt(variance * THREE_PERCENT**2, coins)
)
@mutant(
    "y² in place of (|y| − σ²/t)²",
    attempt=gaussian_round_with(lambda size, t, v: size**2 / (2 * v), discrete_laplace.attempt),
)
@mutant(
    "a centre of σ",
    attempt=gaussian_round_with(
        lambda size, t, v: (size - Fraction(isqrt(v.numerator // v.denominator))) ** 2 / (2 * v),
        discrete_laplace.attempt,
    ),
)
@mutant(
    "every proposal is accepted", attempt=gaussian_round_with(lambda size, t, v: Fraction(0), discrete_laplace.attempt)
)
@mutant("proposals of 0 have both signs", attempt=gaussian_round_with(right_gamma, keeps_both_zeros))
def gaussian_round(attempt: Formula = discrete_gaussian.attempt) -> Found:
    """One round of `discrete_gaussian.attempt` gives z with probability c·e^{−z²/(2σ²)}, exactly, at rational σ².

    The check enumerates runs up to the second uniform integer, at which the proposal starts again. Repeating the round
    until it accepts multiplies all probabilities by one factor.
    """
    for variance in VARIANCES:
        reach = 6 * (isqrt(variance.numerator // variance.denominator) + 1)
        wanted = [z**2 / (2 * variance) for z in range(reach + 1)]
        yield {f"σ²={variance}": proportional(attempt, variance, wanted, Extent(11, 1))}


# THE SENSITIVITIES


RELEASED: dict[str, Callable[..., Any]] = {"laplace": laplace.noisy_products, "gaussian": gaussian.noisy_products}


def _without_noise(data: ExactData, noise: Callable[[Number], Any], rho: Number) -> Any:
    """Return the sums of products with a deliberate error: the noise is drawn, but not added."""
    return gaussian.noisy_products(data, noise, rho) * 0 + data.products


def integer_ball(d: int, radius: int) -> list[tuple[int, ...]]:
    """Return all rows of integers whose length is at most the radius."""
    inside = product(range(-radius, radius + 1), repeat=d)
    return [row for row in inside if sum(q**2 for q in row) <= radius**2]


def triangles(d: int, radius: int) -> set[tuple[int, ...]]:
    """Return the upper triangle of q qᵀ for every row q of `integer_ball`."""
    places = [(i, j) for i in range(d) for j in range(i, d)]
    return {tuple(row[i] * row[j] for i, j in places) for row in integer_ball(d, radius)}


@check("exact", less="l1", scope="d ≤ 4, b ≤ 4, all pairs of rows")
@mutant("the ℓ2 sensitivity in ℓ1", l1=lambda d, b: isqrt(gaussian.sensitivity_squared(d, b)))
@mutant("3 % less in ℓ2", l2_squared=lambda d, b: gaussian.sensitivity_squared(d, b) * Fraction(97, 100) ** 2)
@mutant("16^b in every dimension", l2_squared=lambda d, b: 16**b)
@mutant("the noise forgotten", released={**RELEASED, "gaussian": _without_noise})
@mutant("3 % more in ℓ2", l2_squared=lambda d, b: gaussian.sensitivity_squared(d, b) * Fraction(103, 100) ** 2)
def sensitivities(
    l1: Formula = laplace.sensitivity,
    l2_squared: Formula = gaussian.sensitivity_squared,
    released: Mapping[str, Callable[..., Any]] = RELEASED,
) -> Found:
    """Replacing an integer row of length up to 2^b by another moves the upper triangle of Σ q qᵀ by at most the ℓ1 and
    ℓ2 sensitivities of the reference.

    The check tries all pairs of integer rows of length up to 2^b. Some pair of rows attains the ℓ2 sensitivity, and for
    d = 1 also the ℓ1 sensitivity. The release is Σ q qᵀ plus noise. It requests Laplace noise of the scale S/ε, where S
    is the ℓ1 sensitivity, or Gaussian noise of the variance S²/(2ρ), where S is the ℓ2 sensitivity.
    """
    data, z = (ExactData(3, gram, [], 2) for gram in ([[5, 1], [1, 2]], [[7, -3], [-3, 4]]))
    asked: list[Number] = []

    def noise(scale: Number) -> Any:
        asked.append(scale)
        return z.products

    for name, scale in (("laplace", l1(2, 2) / Fraction(1, 2)), ("gaussian", l2_squared(2, 2) / (2 * Fraction(1, 2)))):
        found = released[name](data, noise, Fraction(1, 2))
        if asked.pop() != scale or [list(row) for row in found] != [[12, -2], [-2, 6]]:
            yield f"what {name} releases"
    for d, b in ((1, 1), (1, 4), (2, 1), (2, 2), (2, 3), (3, 1), (3, 2), (4, 1)):
        rows = triangles(d, 2**b)
        changes = [[abs(p - q) for p, q in zip(one, other, strict=True)] for one in rows for other in rows]
        largest = max(map(sum, changes)), max(sum(c**2 for c in change) for change in changes)
        yield f"d = {d}, b = {b}", f"{largest[0]} of {float(l1(d, b)):g}"
        if largest[0] > l1(d, b) or (d == 1 and largest[0] != l1(d, b)) or largest[1] != l2_squared(d, b):
            yield f"d={d}, b={b}: {largest}"
