"""Check KLSU19 §2 on finite sets with rational laws: notions of privacy, conversion, composition, Gaussian noise."""

import math
import random
from collections.abc import Sequence
from fractions import Fraction
from itertools import product

import mpmath
import sympy as sp
from scipy.special import log_ndtr

from covassay.reference import privacy
from covassay.reference.domain import Number
from covassay.reference.mechanisms.building_blocks import gaussian, gaussian_approximate
from covassay.verification.claims.checks.quoted import all_round_to, exceeds
from covassay.verification.claims.evidence import Evidence, Formula, Found, check, mutant
from covassay.verification.exact import series

Law = list[Fraction]
Kernel = list[Law]

ORDERS = (2, 3, 5)


def random_law(rng: random.Random, size: int) -> Law:
    """Return a random law without zeros, which may be nearly uniform or very uneven."""
    weights = [Fraction(rng.randint(1, 9) ** rng.choice((1, 4))) for _ in range(size)]
    return [w / sum(weights) for w in weights]


def random_kernel(rng: random.Random, rows: int, columns: int) -> Kernel:
    """Return a random Markov kernel, which has a law on the columns in every row."""
    return [random_law(rng, columns) for _ in range(rows)]


def joint_law(law: Law, kernel: Kernel) -> Law:
    """Return the joint law of the kernel's input and its output."""
    return [p * k for p, row in zip(law, kernel, strict=True) for k in row]


def renyi_moment(p: Law, q: Law, order: int) -> Fraction:
    """Return the moment Σ P^α Q^{1−α}, which is exp((α − 1) D_α) for the Rényi divergence D_α."""
    return sum((a**order / b ** (order - 1) for a, b in zip(p, q, strict=True)), Fraction(0))


# CONVERSION


@check("symbolic", covers="all", scope="all ρ, ε, δ")
@mutant("without ρ", conversion=lambda rho, delta, log: 2 * sp.sqrt(rho * log(1 / delta)))
@mutant("√(ρ ln(1/δ)) for its double", conversion=lambda rho, delta, log: rho + sp.sqrt(rho * log(1 / delta)))
def approximate_dp_of_zcdp(conversion: Formula = privacy.epsilon_of_zcdp) -> Evidence:
    """ρ-zCDP implies (ρ + 2√(ρ ln(1/δ)), δ)-DP; for ρ = ε²/2 this is (ε²/2 + ε√(2 ln(1/δ)), δ)-DP.

    For ε' = ρ + 2√(ρ ln(1/δ)), Markov's inequality at order α − 1 gives P(loss > ε') ≤ exp((α − 1)(αρ − ε')). The bound
    exp((α − 1)(αρ − ε')) on the probability is smallest at α = (ε' + ρ)/(2ρ) > 1, where it equals δ.
    """
    rho, level, a, e = sp.symbols("rho L alpha epsilon", positive=True)

    target = sp.nsimplify(conversion(rho, sp.exp(-level), lambda v: level))
    exponent = (a - 1) * (a * rho - target)
    best = sp.solve(sp.diff(exponent, a), a)[0]
    residual = sp.simplify(exponent.subs(a, best) + level)
    printed = sp.simplify(target.subs(rho, e**2 / 2) - e**2 / 2 - e * sp.sqrt(2 * level))
    above_one = sp.simplify(best - 1).is_positive
    holds = residual == 0 and printed == 0 and bool(above_one)
    return Evidence(holds, f"residuals {residual}, {printed}")


@check("floating", covers="case", scope="a counterexample", more="quoted")
@mutant("the corrected ε, at δ = e^{−8}", point=Fraction(9, 2), level=Fraction(8))
@mutant("a larger δ at the same ε", level=Fraction(299, 100))
@mutant("the allowed δ larger by 3 %", quoted=("0.0209", "0.0188"))
def literal_conversion(
    point: Fraction = Fraction(2), level: Fraction = Fraction(4), quoted: tuple[str, str] = ("0.0209", "0.0183")
) -> Evidence:
    """ε²/2-zCDP does not imply (ε√(ln(1/δ)), δ)-DP: the Gaussian mechanism at ε = 1, δ = e^{−4} is a counterexample.

    With Δ = σ the mechanism is 1/2-zCDP, and its smallest δ at ε' = 2 is Φ(−3/2) − e² Φ(−5/2) = 0.0209 > e^{−4} =
    0.0183, by rational enclosures. The value of the reference's formula for the smallest δ lies in the rational
    enclosure.
    """
    half = Fraction(1, 2)
    above, below = (series.chi_square_tail((point + s) ** 2) for s in (-half, half))
    factor = series.exponential(point)
    low = (above[0] - factor[1] * below[1]) / 2
    high = (above[1] - factor[0] * below[0]) / 2
    reference = math.exp(gaussian_approximate.log_delta(1.0, float(point), log_ndtr))
    spent = privacy.zcdp_of_gaussian(Fraction(1), Fraction(1)) == half
    agrees = abs(reference - float(low)) < 1e-12 and high - low < Fraction(1, 10**30)
    return exceeds(low, series.exponential(-level)[1], quoted, spent and agrees)


# COMPOSITION


@check("exact", scope="150 random programs, half of them not adaptive")
@mutant("the larger ρ", composed=lambda *logs: max(logs, key=float))
@mutant("the smaller ρ", composed=lambda *logs: min(logs, key=float))
def zcdp_composition(composed: Formula = privacy.zcdp_composition) -> Found:
    """A ρ₁-zCDP mechanism followed adaptively by a ρ₂-zCDP mechanism is (ρ₁ + ρ₂)-zCDP.

    The moment Σ P^α Q^{1−α} of the composition is at most the product of the largest moments of the two mechanisms. The
    check draws random two-stage programs on 3 × 3 outcomes, and computes the moments of their joint laws exactly. The
    orders α of the moments are 2, 3 and 5. If the second stage does not depend on the first, the moments of the
    composition are the products of the moments of the two stages.
    """
    rng = random.Random(3)
    for i in range(150):
        first, kernels = random_kernel(rng, 2, 3), [random_kernel(rng, 3, 3), random_kernel(rng, 3, 3)]
        if i % 2:
            kernels = [[kernel[0]] * 3 for kernel in kernels]
        joint = [joint_law(law, kernel) for law, kernel in zip(first, kernels, strict=True)]
        for order in ORDERS:
            stages = (
                renyi_moment(first[0], first[1], order),
                max(renyi_moment(k, other, order) for k, other in zip(*kernels, strict=True)),
            )
            logs = [sp.log(sp.Rational(m.numerator, m.denominator)) for m in stages]
            bound = sp.exp(composed(*logs))
            reached = renyi_moment(joint[0], joint[1], order)
            exact = sp.Rational(reached.numerator, reached.denominator)
            yield not (exact > bound or (i % 2 and exact != bound))


# T-fold randomised response with odds a : 1 has the loss (2k − T) ln a if k answers are truthful.
# No composition of ε₀-DP mechanisms with ε₀ = ln a has a larger δ (Kairouz–Oh–Viswanath 2015).


def response_laws(odds: Fraction, folds: int) -> tuple[Law, Law]:
    """Return the two laws of the number k of truthful answers: for the true bit and for the other bit."""
    p, q = odds.numerator, odds.denominator
    total = (p + q) ** folds
    first = [Fraction(math.comb(folds, k) * p**k * q ** (folds - k), total) for k in range(folds + 1)]
    return first, first[::-1]


def printed_units(folds: int, j: int) -> int:
    """Return √(6Tj) rounded up, a bound on √(6T ln(1/δ₀)) for δ₀ = (3/8)^j, where ln(1/δ₀) < j."""
    return math.isqrt(6 * folds * j - 1) + 1


@check("exact", covers="case", scope="4 counterexamples")
@mutant("the corrected ε", units=lambda folds, j: math.isqrt(2 * folds * j) + 1 + -(-5 * folds // 11))
@mutant("too few folds", cases=((6, 1), (24, 4)))
@mutant("a figure larger by 3 %", quoted=("0.84", "0.053"))
def printed_advanced_composition(
    units: Formula = printed_units,
    cases: Sequence[tuple[int, int]] = ((54, 1), (96, 2), (98, 3), (128, 3)),
    quoted: tuple[str, str] = ("0.81", "0.053"),
) -> Found:
    """ε₀√(6T ln(1/δ₀)) is not enough for every T: 128-fold randomised response has δ = 0.81 at δ₀ = 0.053.

    The odds are 8 : 3, so ε₀ = ln(8/3) < 1 because e > 1 + 1 + 1/2 + 1/6 = 8/3, and δ₀ = (3/8)^j. The printed ε is less
    than √(6Tj) ε₀. At √(6Tj) ε₀ the exact δ, in rational arithmetic, is above δ₀.
    """
    odds = Fraction(8, 3)
    for folds, j in cases:
        first, second = response_laws(odds, folds)
        cut = units(folds, j)
        delta = sum((max(p - odds**cut * q, Fraction(0)) for p, q in zip(first, second, strict=True)), Fraction(0))
        yield f"T = {folds}, δ₀ = {float(odds**-j):.4g}", f"δ ≥ {float(delta):.4g}"
        yield {f"no contradiction at T={folds}": delta > odds**-j}
    yield all_round_to((delta, odds**-j), quoted)  # the claim quotes δ and δ₀ of the last of the `cases`
    yield odds <= sum(Fraction(1, math.factorial(k)) for k in range(4))


# 4.287: the reconstructed ε is enough if Tε₀² is at most this number times ln(1/δ₀)
PRINTED_SUFFICES = 16 * (2 - sp.sqrt(3))


def with_mean_loss(epsilon: Number, folds: int, level: Number) -> Number:
    """Return the corrected ε of advanced composition, ε₀√(2T ln(1/δ₀)) + T ε₀ tanh(ε₀/2)."""
    return epsilon * mpmath.sqrt(2 * folds * level) + folds * privacy.zcdp_of_pure(epsilon, mpmath.tanh)


@check("floating", scope="T ≤ 250, ε₀ < 1, δ₀ ≥ 1e-8", less="total")
@mutant("without the mean loss", total=lambda e, t, level: e * mpmath.sqrt(2 * t * level))
@mutant("3 % less of the root", total=lambda e, t, level: with_mean_loss(e, t, level * 94 / 100))
@mutant("Tε₀² ≤ 5 ln(1/δ₀)", hypothesis=sp.Integer(5))
@mutant("the reference without the mean loss", reference=lambda e, t, d, log: e * (2 * t * log(1 / d)) ** 0.5)
@mutant("the reference smaller by 1 %", reference=lambda *given: 0.99 * privacy.advanced_composition(*given))
def corrected_advanced_composition(
    total: Formula = with_mean_loss,
    reference: Formula = privacy.advanced_composition,
    hypothesis: sp.Expr = PRINTED_SUFFICES,
) -> Found:
    """P(loss > ε₀√(2T ln(1/δ₀)) + Tε₀ tanh(ε₀/2)) ≤ δ₀; if Tε₀² ≤ 4.28 ln(1/δ₀), ε₀√(6T ln(1/δ₀)) is enough too.

    The bound follows from the inequality of Azuma and Hoeffding, because a step loses at most ε₀ in modulus and, given
    the past, at most ε₀ tanh(ε₀/2) ≤ ε₀²/2 on average. The check confirms the bound for randomised response, with
    rational binomial tails. It also confirms that Azuma's bound exp(−u²/(2Tε₀²)) is δ₀, where u is the bound on the
    loss minus T times the mean loss of randomised response. A step that is (ε₀, δ_t)-DP is ε₀-DP except on an event of
    probability δ_t. If the steps are (ε₀, δ_t)-DP, the δ of the composition is therefore δ₀ + Σ δ_t. The reference has
    the textbook formula, with e^{ε₀} − 1 in place of tanh(ε₀/2), which gives a larger ε.
    """
    with mpmath.workdps(40):
        for odds, j in product((Fraction(5, 4), Fraction(2), Fraction(8, 3)), (1, 3, 8)):
            ratio = mpmath.mpf(odds.numerator) / odds.denominator
            epsilon, level = mpmath.log(ratio), j * mpmath.log(10)
            for folds in (1, 10, 60, 250):
                bound = total(epsilon, folds, level)
                units = bound / epsilon
                decided = abs(units - mpmath.nint(units)) > mpmath.mpf(10) ** -20
                first, _ = response_laws(odds, folds)
                tail = sum((p for k, p in enumerate(first) if 2 * k - folds > units), Fraction(0))
                spread = bound - folds * epsilon * (ratio - 1) / (ratio + 1)
                azuma = mpmath.almosteq(spread**2 / (2 * folds * epsilon**2), level, 1e-30)
                textbook = reference(epsilon, folds, mpmath.mpf(10) ** -j, mpmath.log)
                exactly = epsilon * (mpmath.sqrt(2 * folds * level) + folds * (ratio - 1))
                # the reference uses the float math.e, so the two are equal only up to rounding
                same = mpmath.almosteq(textbook, exactly, 1e-12)
                if not (decided and azuma and tail <= Fraction(1, 10**j) and bound <= textbook and same):
                    yield f"odds={odds}, T={folds}, δ₀=1e-{j}"
    # √2 √(TL) ε₀ + Tε₀²/2 ≤ √6 √(TL) ε₀ exactly for Tε₀² ≤ 4(√6 − √2)² L
    margin = sp.simplify(hypothesis - 4 * (sp.sqrt(6) - sp.sqrt(2)) ** 2)
    yield margin == 0


# THE GAUSSIAN MECHANISM


@check("symbolic", covers="all", scope="all f, f', σ, α")
@mutant("σ = Δ/√ρ", scale=lambda s, r: s / sp.sqrt(r))
@mutant("Δ²/σ² for Δ²/(2σ²)", spent=lambda s, v: s**2 / v)
@mutant("1 − α for α in the mean", order=lambda a: 1 - a)
def gaussian_mechanism(
    scale: Formula = gaussian.noise_scale, spent: Formula = privacy.zcdp_of_gaussian, order: Formula = lambda a: a
) -> Evidence:
    """Gaussian noise with σ = Δ/√(2ρ) spends exactly ρ, because D_α(N(f, σ²I)‖N(f', σ²I)) = α‖f − f'‖²/(2σ²).

    In every coordinate the exponent of P^α Q^{1−α} is the exponent of N(αf + (1 − α)f', σ²) plus α(α − 1)(f −
    f')²/(2σ²).
    """
    x, f, g = sp.symbols("x f g", real=True)
    a, v, rho, change = sp.symbols("alpha v rho Delta", positive=True)

    def exponent(mean: sp.Expr) -> sp.Expr:
        return -((x - mean) ** 2) / (2 * v)

    centre = order(a) * f + (1 - order(a)) * g
    left = a * exponent(f) + (1 - a) * exponent(g)
    divergence_times = sp.simplify(sp.expand(left - exponent(centre)))  # (α − 1) D_α, which does not depend on x
    residual = sp.simplify(divergence_times - (a - 1) * a * spent(f - g, v))
    budget = sp.simplify(sp.nsimplify(spent(change, scale(change, rho) ** 2)) - rho)
    return Evidence(residual == 0 and budget == 0, f"residuals {residual}, {budget}")
