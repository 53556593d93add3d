"""Check KLSU19 §6: fingerprinting, distances of products and of Gaussians, and lower bounds for private estimators."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product

import sympy as sp

from covassay.verification.claims.checks.quoted import exceeds, rounds_to
from covassay.verification.claims.evidence import Evidence, Formula, Found, check, mutant
from covassay.verification.exact.series import Bounds, chi_square_tail, exponential, square_root

TERMS = 26  # the number of terms of the power series in ν


@dataclass(frozen=True)
class Moments:
    """Bounds on moments of the likelihood ratio 1 + η of two near laws: |E η³| ≤ γ₃s^{3/2} and E η⁴ ≤ γ₄s², where s = E
    η².

    The second moment s lies between `low` and `high` times the squared distance of the parameters. The claim may be
    stated for another distance, such as ‖A₁ − A₂‖_F, which is at most `scale` times the distance of the parameters.
    `distance` is the claimed ratio of the total variation distance TV to the distance of the parameters, for distances
    up to `radius`.
    """

    third: Fraction
    fourth: Fraction
    low: Fraction
    high: Fraction
    scale: Fraction
    distance: Fraction
    radius: Fraction = Fraction(1, 20)


BITS = Moments(*map(Fraction, ("0.71", "1.5", "4", "4.5", "1", "2/5")))  # products of bits with means in [1/3, 2/3]
PRECISIONS = Moments(*map(Fraction, ("3.2", "19.7", "0.454", "0.556", "1.02", "1/15")))  # centred Gaussians


# BOOSTING


@check("exact", covers="all", less="constant every", more="quoted largest", scope="all n, d, ε")
@mutant("success with probability 4/5", share=Fraction(4, 5))
def five_runs(
    share: Fraction = Fraction(9, 10),
    quoted: str = "0.0086",
    constant: int = 1590,
    every: int = 25380,
    largest: Fraction = Fraction(1, 18000),
) -> Evidence:
    """Theorem 1.5 of KLSU19 follows from its Theorem 6.9 if an algorithm of success probability 9/10 is run five times.

    By the binomial law at least three of the five runs fail with probability 0.0086 < 1/25. If at most two of the five
    runs fail, more than half of the outputs are within α of the truth, and the chosen output is within 3α (KLSU19.fn3).
    The runs use disjoint sets of n records, so the five runs together are ε-DP on 5n records. Theorem 6.9 at accuracy
    3α ≤ 1/6000 therefore gives 5n ≥ (d²/1024 − ln 16)/(106 · 3α(e^ε − 1)) and 5n ≥ (d²/1024 − ln 32)/(1692 · 3αε).
    """
    rest = 1 - share
    missed = 10 * rest**3 * share**2 + 5 * rest**4 * share + rest**5
    held = missed < Fraction(1, 25) and rounds_to(missed, quoted)
    held = held and constant >= 106 * 3 * 5 and every >= 1692 * 3 * 5 and 3 * largest <= Fraction(1, 6000)
    return Evidence(held, f"probability {float(missed):.5f}")


# DISTANCES


def fourth_moment_bound(total: Fraction, third: Fraction, fourth: Fraction) -> Bounds:
    """Return rational bounds on G = e^{6Λ + 4c + q} − 4e^{3Λ + c} + 6e^Λ − 3, where c = γ₃Λ^{3/2} and q = γ₄Λ²."""
    c = square_root(total**3)[1] * third
    q = fourth * total**2
    low_c = square_root(total**3)[0] * third
    high = exponential(6 * total + 4 * c + q)[1] - 4 * exponential(3 * total + low_c)[0] + 6 * exponential(total)[1] - 3
    low = exponential(6 * total + 4 * low_c + q)[0] - 4 * exponential(3 * total + c)[1] + 6 * exponential(total)[0] - 3
    return low, high


@check("enclosed", scope="the largest Λ, by an enclosure; smaller Λ, because G/Λ² increases")
@mutant("1/2 for 2/5", products=Fraction(1, 2))
@mutant("1/12 for 1/15", gaussians=Fraction(1, 12))
@mutant("distances up to 1/4", radius=Fraction(1, 4))
def distance_constants(
    products: Fraction = BITS.distance, gaussians: Fraction = PRECISIONS.distance, radius: Fraction = BITS.radius
) -> Found:
    """Near laws have TV ≥ (2/5)‖p − q‖ (products of bits) and TV ≥ ‖A₁ − A₂‖_F/15 (Gaussians).

    Let r_j = 1 + η_j be the likelihood ratios of the coordinates, with E_Q η = 0, s_j = E η², |E η³| ≤ γ₃s^{3/2} and E
    η⁴ ≤ γ₄s². The proof bounds a fourth moment. Let Λ = Σ s_j be the sum of the second moments, and let L = ∏r_j − 1 be
    the joint likelihood ratio minus 1. By Hölder's inequality 2TV = E|L| ≥ (E L²)^{3/2}/(E L⁴)^{1/2}, where E L² = ∏(1
    + s_j) − 1 ≥ Λ. L⁴ expands into a sum over four non-empty sets of coordinates, and a term counts only if each
    coordinate is in none or in at least two of the sets. The expansion of L⁴ gives E L⁴ ≤ G(Λ), with G as in
    `fourth_moment_bound`. G/Λ² increases in Λ, because the power series of G has no negative coefficient and no term of
    an order below Λ². Hölder's inequality therefore gives TV ≥ (κ/2)√Λ for all Λ ≤ Λ₀, where κ² = Λ₀²/G(Λ₀). Products
    whose means lie in [1/3, 2/3] have γ₃ = 0.71, γ₄ = 1.5 and 4‖p − q‖² ≤ Λ ≤ 4.5‖p − q‖². Gaussians have γ₃ = 3.2, γ₄
    = 19.7, 0.454‖ν‖² ≤ Λ ≤ 0.556‖ν‖² for ‖ν‖ ≤ 1/20, and ‖A₁ − A₂‖_F ≤ 1.02‖ν‖.
    """
    for i, j, k in product(range(8), repeat=3):  # i! j! k! times the coefficient of Λ^i c^j q^k in G
        count = 6**i * 4**j - 4 * 3**i * (k == 0) + 6 * (j + k == 0) - 3 * (i + j + k == 0)
        if count < 0 or (count > 0) != (2 * i + 3 * j + 4 * k >= 4):
            yield f"coefficient {i, j, k}"
    for name, known, claimed in (("products", BITS, products), ("Gaussians", PRECISIONS, gaussians)):
        total = known.high * radius**2
        bound = total**2 / fourth_moment_bound(total, known.third, known.fourth)[1]  # κ²
        square = bound / 4 * known.low / known.scale**2
        yield name, f"{math.sqrt(square):.5f}"
        if square < claimed**2:
            yield name


def binomial_series(power: Fraction, factor: int) -> list[Fraction]:
    """Return the first coefficients of the power series of (1 + factor · ν)^power."""
    coefficients = [Fraction(1)]
    for n in range(1, TERMS):
        coefficients.append(coefficients[-1] * (power - n + 1) * factor / n)
    return coefficients


def moment_series(k: int) -> list[Fraction]:
    """Return the first coefficients of the power series of (1 + ν)^{k/2}(1 + kν)^{−1/2}."""
    first, second = binomial_series(Fraction(k, 2), 1), binomial_series(Fraction(-1, 2), k)
    return [sum((first[i] * second[n - i] for i in range(n + 1)), Fraction(0)) for n in range(TERMS)]


def evaluated(coefficients: Sequence[Fraction], nu: Fraction) -> Fraction:
    """Return the value at a point of the polynomial with the given coefficients."""
    value = Fraction(0)
    for coefficient in reversed(coefficients):
        value = value * nu + coefficient
    return value


@check("enclosed", scope="all |ν| ≤ 1/20")
@mutant("γ₃ smaller by 3 %", known=replace(PRECISIONS, third=PRECISIONS.third * Fraction(97, 100)))
@mutant("γ₄ smaller by 3 %", known=replace(PRECISIONS, fourth=PRECISIONS.fourth * Fraction(97, 100)))
@mutant("0.454 larger by 3 %", known=replace(PRECISIONS, low=PRECISIONS.low * Fraction(103, 100)))
@mutant("0.556 smaller by 3 %", known=replace(PRECISIONS, high=PRECISIONS.high * Fraction(97, 100)))
def precision_moments(known: Moments = PRECISIONS) -> Evidence:
    """Gaussians of relative precision 1 + ν, |ν| ≤ 1/20: |E η³| ≤ 3.2 s^{3/2}, E η⁴ ≤ 19.7 s², 0.454 ≤ s/ν² ≤ 0.556.

    The likelihood ratio r = (1 + ν)^{1/2} e^{−νx²/2} has E r^k = (1 + ν)^{k/2}(1 + kν)^{−1/2}, analytic for |ν| < 1/4.
    s/ν², E η³/ν³ and E η⁴/ν⁴ are power series. At |ν| = 1/5 the sums of moments are at most 21, which bounds the
    remainders of the series by Cauchy's inequality. The check evaluates the ratios at 250 values of ν, and a Lipschitz
    constant covers the values between them.
    """
    moments = [moment_series(k) for k in range(5)]
    series = [
        [sum((w * m[n] for w, m in zip(weights, moments, strict=True)), Fraction(0)) for n in range(TERMS)]
        for weights in ((-1, 0, 1, 0, 0), (2, 0, -3, 1, 0), (-3, 0, 6, -4, 1))
    ]
    vanish = all(c == 0 for i, coefficients in enumerate(series) for c in coefficients[: i + 2])
    quotients = [coefficients[i + 2 :] for i, coefficients in enumerate(series)]
    end, step = Fraction(1, 20), Fraction(1, 5000)
    rest = 21 * end**-4 * Fraction(1, 4) ** TERMS * Fraction(4, 3)
    slack = [
        rest + step * sum((n * abs(c) * end ** (n - 1) for n, c in enumerate(q) if n), Fraction(0)) for q in quotients
    ]
    worst = [Fraction(0)] * 4
    for j in range(-125, 125):
        nu = (2 * j + 1) * step
        size, third, fourth = (evaluated(q, nu) for q in quotients)
        low, high = size - slack[0], size + slack[0]
        ratios = (
            (abs(third) + slack[1]) ** 2 / (known.third**2 * low**3),
            (abs(fourth) + slack[2]) / (known.fourth * low**2),
            known.low / low,
            high / known.high,
        )
        worst = [max(a, b) for a, b in zip(worst, ratios, strict=True)]
    told = ", ".join(f"{float(v):.5f}" for v in worst)
    return Evidence(vanish and max(worst) <= 1, f"largest ratios {told}")


@check("enclosed", more="constant", scope="δ ≤ 2; all δ by concavity")
def gaussian_distance(constant: Fraction = Fraction(3829, 10000)) -> Found:
    """Fact 6.6: The distance TV(N(μ, I), N(μ′, I)) is 2Φ(δ/2) − 1 ≥ 0.3829 min(δ, 1) with δ = ‖μ − μ′‖.

    At distance t from the first mean, along the line through the means, the log ratio of the densities is δ(t − δ/2),
    so they are equal half-way. The function 2Φ(δ/2) − 1 = P(χ²₁ < δ²/4) grows and is concave in δ, so it lies above its
    chord on [0, 1]. The check encloses 2Φ(δ/2) − 1 at δ = 1 and on a grid.
    """
    for j in range(1, 41):
        delta = Fraction(j, 20)
        distance = 1 - chi_square_tail(delta**2 / 4)[1]
        yield {f"δ = {delta}": distance >= constant * min(delta, Fraction(1))}
    t, delta_symbol = sp.symbols("t delta", real=True)
    ratio = sp.expand(t**2 / 2 - (t - delta_symbol) ** 2 / 2 - delta_symbol * (t - delta_symbol / 2))
    value = 1 - chi_square_tail(Fraction(1, 4))[1]
    yield ratio == 0
    yield "2Φ(½) − 1", f"{float(value):.6f}"


# COVARIANCES


@check("enclosed", covers="case", scope="a counterexample", more="quoted")
@mutant("ε = 2", epsilon=Fraction(2))
@mutant("the sharp exponent γ(e^ε − 1)", printed=lambda e, gamma: gamma * (exponential(e)[1] - 1))
def printed_hybrid(
    epsilon: Fraction = Fraction(3),
    printed: Formula = lambda e, gamma: 4 * e * gamma,
    quoted: tuple[str, str] = ("1.1909", "1.1275"),
) -> Evidence:
    """Lemma 6.15 with e^{4εγn} fails for large ε: at n = 1, γ = 1/100, ε = 3 the ratio is 1.1909 > e^{0.12} = 1.1275.

    In the counterexample X₀ is always 0, X₁ is 1 with probability γ, and M is randomised response with odds e^ε. The
    ratio of probabilities of the counterexample is 1 + γ(e^ε − 1).
    """
    gamma = Fraction(1, 100)
    ratio = 1 + gamma * (exponential(epsilon)[0] - 1)
    bound = exponential(printed(epsilon, gamma))[1]
    return exceeds(ratio, bound, quoted)


@check("enclosed", covers="all", scope="all ε; the root is between 2.3366 and 2.3367", less="limit", more="limit")
def printed_hybrid_range(limit: Fraction = Fraction(23366, 10000)) -> Found:
    """(1 + γ(e^ε − 1))^n ≤ e^{4εγn} holds for all γ exactly if e^ε − 1 ≤ 4ε, that is for ε ≤ 2.3366….

    The condition e^ε − 1 ≤ 4ε is necessary, as γ → 0 shows, and it is sufficient because 1 + x ≤ e^x. The function e^ε
    − 1 − 4ε is convex and 0 at 0, so it changes sign once. Since e^ε − 1 − 2ε is convex too, e^ε − 1 ≤ 2ε holds exactly
    for ε ≤ 1.2564….
    """
    step = Fraction(1, 10**4)
    below = exponential(limit)[1] - 1 <= 4 * limit
    above = exponential(limit + step)[0] - 1 > 4 * (limit + step)
    half = Fraction(12564, 10000)
    two = exponential(half)[1] - 1 <= 2 * half and exponential(half + step)[0] - 1 > 2 * (half + step)
    yield {"it holds below": below, "it fails above": above, "e^ε − 1 ≤ 2ε": two}


@check("exact", covers="all", scope="all n, d, α, ε in the stated ranges")
@mutant("boosting without its factor 3", choice=1)
@mutant("the covariance for an accuracy of α", scale=60)
def theorems_of_section_6(choice: int = 3, scale: int = 120) -> Found:
    """Theorems 6.1, 6.5 and 6.9 of KLSU19 follow from its lemmas with the stated constants.

    The check confirms the constants in rational arithmetic. Suppose that an algorithm releases a law within TV distance
    α of the truth. Let the estimate be the law of the class that is nearest to the released law. The TV distance of the
    estimate from the truth is at most 2α.

    In Theorem 6.1, ‖p̂ − p‖ ≤ 2α/(2/5) = 5α. Boosting with k runs multiplies the bound by 3, to 15α. The set of means
    [1/3, 2/3]^d has the squared diameter d/9. If boosting fails with probability at most β = 2025α²/d, the mean square
    error is therefore at most 225α² + βd/9 = 450α². For bits in {±1} in place of {0, 1} this bound on the mean square
    error is four times as large, 1800α². Since √1800 < 42.5, n ≥ d/(12 · 42.5 · 2αεk).

    In Theorem 6.5, the radii before and after boosting are 5.23α and 16α, and the squared diameter is 4dR². For
    β = 64α²/(dR²) the mean square error is therefore at most 512α², and √512 < 22.7.

    In Theorem 6.9, let α′ = 120α. The error is at most 2α · 15 = 30α = α′/4 with probability 24/25, so the mean square
    error is at most α′²/16 + 4α′²/25 ≤ α′²/4. The constants follow from 0.88α′ < 106α and 14.1α′ = 1692α.
    """
    products = Fraction(2) / BITS.distance * choice
    square = products**2 * 2 * 4
    gaussians = Fraction(2) / Fraction(3829, 10000) * choice
    tests = {
        "6.1 radius": products == 15 and Fraction(2, 320) < BITS.distance * BITS.radius,
        "6.1 β": Fraction(2025) / 9 == products**2,
        "6.1 constant": square <= Fraction(425, 10) ** 2 and 12 * Fraction(425, 10) * 2 == 1020,
        "6.1 α² ≤ d/54": square / 320**2 <= Fraction(1, 54),
        "6.5 radius": 15 < gaussians <= 16 and Fraction(64 * 4) == 16**2,
        "6.5 α² ≤ dR²/6": Fraction(512, 56**2) <= Fraction(1, 6),
        "6.5 constant": Fraction(227, 10) ** 2 >= 2 * 16**2 and 12 * Fraction(227, 10) * 2 <= 545,
        "6.9 radius": scale == 2 / PRECISIONS.distance * 4,
        "6.9 mean square": Fraction(1, 16) + Fraction(4, 25) <= Fraction(1, 4),
        "6.9 distance": Fraction(88, 100) * scale <= 106 and Fraction(scale, 6000) <= Fraction(1, 50),
        "6.9 every ε": Fraction(141, 10) * scale == 1692,
    }
    yield tests
