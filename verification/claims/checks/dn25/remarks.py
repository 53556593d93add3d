"""Check the comparisons of rates in DN25's introduction and after Theorem 2, and slips of algebra in its §4."""

import math
from fractions import Fraction

import numpy as np
import sympy as sp

from covassay.reference.domain import Number
from covassay.reference.mechanisms.pure import nuclear_ball_projection
from covassay.verification.claims.evidence import Evidence, Formula, Found, check, mutant


@check("symbolic", covers="all", more="crossover", scope="all n, d, ε")
@mutant("a crossover at n = d/ε", crossover=lambda d: d)
@mutant("above 1 for εn < 2d", trivial=lambda d: 2 * d)
def crossover(crossover: Formula = lambda d: d**2, trivial: Formula = lambda d: d) -> Evidence:
    """In min{d^{3/2}/(εn), √(d/(εn))} the second term is below the first exactly for εn < d²; both exceed 1 for εn < d.

    The quotient √(d/(εn)) over d^{3/2}/(εn) is √x at εn = xd². At εn = d/(1 + x) the second term is √(1 + x), and the
    first term is √d (1 + x).
    """
    d, n, x = sp.symbols("d n x", positive=True)  # n stands for εn
    first, second = d ** sp.Rational(3, 2) / n, sp.sqrt(d / n)
    ratio = sp.simplify((second / first).subs(n, x * crossover(d)) - sp.sqrt(x))
    small = {n: trivial(d) / (1 + x)}
    large = [sp.simplify(second.subs(small) - sp.sqrt(1 + x)), sp.simplify(first.subs(small) - sp.sqrt(d) * (1 + x))]
    return Evidence(ratio == 0 and large == [0, 0], f"residuals {[ratio, *large]}")


@check("exact", scope="2 ≤ d < 200")
@mutant("an error of √d", zero_error_squared=lambda d: Fraction(d))
def zero_release(zero_error_squared: Formula = lambda d: Fraction(1)) -> Found:
    """At n = ε = 1 the printed bound min{d^{3/2}, √d} is √d times as large as the largest error of the release 0.

    The error of the release 0 is ‖Σ‖_F, which is at most tr Σ, and so at most 1. Squares are compared.
    """
    yield {f"d={d}": min(d**3, d) / zero_error_squared(d) == d for d in range(2, 200)}


Pair = tuple[Number, Number]


def corrected_threshold(d: Number, n: Number) -> Pair:
    """Return the two terms of the corrected threshold min{d^{3/2}/(εn), d^{−1/2}} for tr Σ; the argument n stands for
    εn.
    """
    return d ** sp.Rational(3, 2) / n, 1 / sp.sqrt(d)


@check("symbolic", covers="all", exhausts="each of the two bounds has two terms", scope="all d, n, ε")
@mutant("the printed threshold", threshold=lambda d, n: (1 / n, d ** -sp.Rational(1, 4)))
@mutant(
    "a threshold 3 % larger", threshold=lambda d, n: tuple(sp.Rational(103, 100) * v for v in corrected_threshold(d, n))
)
@mutant("d/(εn) for √d/(εn)", additive=lambda d, n: d / n)
@mutant("√(d/(εn)) in place of √d/(εn), as in DN25's text", additive=lambda d, n: sp.sqrt(d / n))
@mutant("n ≥ d^{1/4} in place of n ≥ √d", enough=sp.Rational(1, 4))
def earlier_work(
    threshold: Formula = corrected_threshold,
    additive: Formula = lambda d, n: sp.sqrt(d) / n,
    enough: Number = sp.S.Half,
) -> Evidence:
    """The earlier rate d^{3/4} √(tr/(εn)) + √d/(εn) beats min{d^{3/2}/(εn), √(d/(εn))} if tr Σ is small.

    The small traces are those with tr Σ ≪ min{d^{3/2}/(εn), d^{−1/2}}, for d, εn ≫ 1. The term d^{3/4} √(tr/(εn)) is
    √(tr/t₁) times d^{3/2}/(εn) and √(tr/t₂) times √(d/(εn)), where t₁ and t₂ are the two terms of the threshold. The
    other term of the earlier rate, √d/(εn), is d^{3/2}/(εn) divided by d. The term √d/(εn) is also √(d/(εn)) divided by
    √(εn). DN25 prints min{1/n, d^{−1/4}}/ε. Let ε = 1 and n = √d/x. The two printed terms are then x d^{−1/2} and
    d^{−1/4}, so the printed threshold is at most the true one exactly for x ≤ 1.
    """
    d, n, trace, x = sp.symbols("d n t x", positive=True)  # n stands for εn
    nikolov = d ** sp.Rational(3, 2) / n, sp.sqrt(d / n)
    first = d ** sp.Rational(3, 4) * sp.sqrt(trace / n)
    residuals = [sp.simplify((first / v) ** 2 - trace / t) for v, t in zip(nikolov, threshold(d, n), strict=True)]
    small = [sp.simplify(additive(d, n) / v - s) for v, s in zip(nikolov, (1 / d, 1 / sp.sqrt(n)), strict=True)]
    printed = [1 / n, d ** -sp.Rational(1, 4)]
    ratios = [sp.simplify((v * sp.sqrt(d)).subs(n, d**enough / x)) for v in printed]
    told = [sp.simplify(ratios[0] - x), sp.simplify(ratios[1] - d ** sp.Rational(1, 4))]
    return Evidence([*residuals, *small, *told] == [0] * 6, f"residuals {[*residuals, *small, *told]}")


@check("symbolic", covers="all", scope="d fixed, n → ∞")
@mutant("the printed square", power=2)
def approximate_rate(power: int = 1) -> Evidence:
    """Under (ε, δ)-DP, d/n is the rate of ‖Σ̂ − Σ‖_F, and not the rate of its square.

    Gaussian noise of standard deviation σ = c/n on the upper triangle has E‖N‖_F² = d²σ². If d/n is to be tight,
    (E‖N‖_F²)^{power/2}/(d/n) must have a finite limit above 0 as n → ∞.
    """
    n, d, c = sp.symbols("n d c", positive=True)
    on_diagonal, above = d, d * (d - 1) / 2
    mean_square = sp.factor((on_diagonal + 2 * above) * (c / n) ** 2)
    limit = sp.limit(mean_square ** sp.Rational(power, 2) / (d / n), n, sp.oo)
    return Evidence(bool(limit.is_positive), f"limit {limit}")


def gain_of_theorem_2(trace: Number, level: Number) -> Number:
    """Return the ratio of √(d/(εn)) to the second term of Theorem 2's bound, as a function of tr Σ and ln(d)/(εn)."""
    return 1 / (sp.sqrt(trace) + sp.sqrt(level))


@check("symbolic", covers="all", scope="all n, d, ε, tr Σ")
@mutant("1/tr Σ, as printed", gain=lambda t, level: 1 / t)
@mutant("without the additive term", gain=lambda t, level: 1 / sp.sqrt(t))
@mutant("ln d for its root", gain=lambda t, level: 1 / (sp.sqrt(t) + level))
def small_sample_gain(gain: Formula = gain_of_theorem_2) -> Evidence:
    """√(d/(εn)) is 1/(√tr Σ + √l) times √(d tr Σ/(εn)) + √(d ln d)/(εn), l = ln(d)/(εn).

    The factor 1/(√tr Σ + √l) is the gain of Theorem 2 over the rate √(d/(εn)). The gain 1/(√tr Σ + √l) lies between g/2
    and g for g = min((tr Σ)^{−1/2}, l^{−1/2}), because x + y is between max(x, y) and its double. For small tr Σ the
    gain of Theorem 2 is therefore never of the order 1/tr Σ.
    """
    n, d, epsilon, trace, log = sp.symbols("n d epsilon t L", positive=True)
    second = sp.sqrt(d * trace / (epsilon * n)) + sp.sqrt(d * log) / (epsilon * n)
    residual = sp.simplify(sp.sqrt(d / (epsilon * n)) - gain(trace, log / (epsilon * n)) * second)
    x, more = sp.symbols("x m", positive=True)  # x is the smaller of √tr Σ and √l, and x + m is the larger
    factors = [gain(x**2, (x + more) ** 2), gain((x + more) ** 2, x**2)]
    between = all(
        sp.simplify(1 / g - (x + more)).is_positive and sp.simplify(2 * (x + more) - 1 / g).is_positive for g in factors
    )
    return Evidence(residual == 0 and between, f"residual {residual}; the gain lies between g/2 and g: {between}")


@check("symbolic", covers="all", exhausts="the bound of Nikolov is a minimum of two terms", scope="all n, d, ε")
@mutant("without the additive term", additive=0)
@mutant("ln d for √ln d", additive=sp.Symbol("s", positive=True))
@mutant("tr Σ ≪ d/(εn)", least=lambda d, n: d / n)
def recovered_rate(additive: Number = 1, least: Formula = lambda d, n: d**2 / n) -> Evidence:
    """Theorem 2's bound is at most 2√(d/(εn)) for εn ≥ ln d and tr Σ ≤ 1, and not O(√(d/(εn))) for smaller n.

    With ln d = s² the ratio of the second term to √(d/(εn)) is √tr Σ + s/√(εn). The ratio √tr Σ + s/√(εn) is at most 2
    for εn ≥ s². The ratio is always at least s/√(εn), which is unbounded. The ratio of the first term to √(d/(εn)) is
    d/√(εn), which is unbounded too. For εn < ln d, √(d/(εn)) is above 1, and so above the error of returning 0. The
    term √(d tr Σ/(εn)) is √(tr Σ/t₁) times d^{3/2}/(εn), t₁ = d²/(εn), and √tr Σ times √(d/(εn)).
    """
    n, s, trace, more, d = sp.symbols("n s t m d", positive=True)  # n stands for εn
    ratio = sp.sqrt(trace) + additive * s / sp.sqrt(n)
    enough = sp.simplify(ratio.subs({trace: 1, n: s**2 * (1 + more)}) - 1 - 1 / sp.sqrt(1 + more)) == 0
    unbounded = sp.simplify(ratio.subs(trace, 0) - s / sp.sqrt(n)) == 0
    shares = [sp.sqrt(d * trace / n) / rate for rate in (d ** sp.Rational(3, 2) / n, sp.sqrt(d / n))]
    needed = [sp.simplify(v**2 - trace / t) for v, t in zip(shares, (least(d, n), sp.Integer(1)), strict=True)]
    first = sp.simplify(d ** sp.Rational(3, 2) / n / sp.sqrt(d / n) - d / sp.sqrt(n)) == 0
    holds = enough and unbounded and first and needed == [0, 0]
    return Evidence(holds, f"at tr Σ = 0 the ratio is {ratio.subs(trace, 0)}")


@check("floating", covers="case", scope="rows of zeros")
@mutant("the bound of Theorem 2", bound=lambda d, n, trace: math.sqrt(d * trace / n) + math.sqrt(d) * 10 / n)
def abstract_bound(bound: Formula = lambda d, n, trace: 10**6 * math.sqrt(d * trace / n)) -> Evidence:
    """The abstract's bound O(√(d tr Σ/n)) is 0 for rows of zeros, but the error of Algorithm 2 is then positive.

    Half of the time the Laplace noise on the trace is positive, and then so is the radius r = bL. The projection of the
    noise on the ball of radius r has nuclear norm min(r, ‖Z‖_*), so it is not 0. Theorem 2 itself has an additive term,
    which avoids the contradiction at rows of zeros.
    """
    d, n = 3, 5
    noise = nuclear_ball_projection.NuclearBallProjectionNoise(np.diag([1.0, 2.0, 0.5]), 1.0)
    released = nuclear_ball_projection.release(np.zeros((n, d)), noise, epsilon=1.0)
    error = float(np.linalg.norm(released))
    return Evidence(error > bound(d, n, 0.0), f"error {error:.4g}, bound {bound(d, n, 0.0):.4g}")


def never_negative(expression: sp.Expr) -> bool:
    """Return whether no coefficient of a rational function is negative, in the numerator or in the denominator."""
    parts = sp.fraction(sp.cancel(sp.together(expression)))
    return all(c >= 0 for part in parts for c in sp.Poly(sp.expand(part), *expression.free_symbols).coeffs())


@check("symbolic", covers="all", exhausts="the three ranges of tr Σ", scope="all d, n, ε, tr Σ")
@mutant("d^{1/4} in all regimes", small=lambda q: q)
@mutant("d^{1/2} for large traces", large=lambda q: q**2)
@mutant("εn tr Σ in place of its square root", between=lambda q, y: q * y**2)
def gain_over_dly22(
    small: Formula = lambda q: sp.Integer(1), between: Formula = lambda q, y: q * y, large: Formula = lambda q: q
) -> Evidence:
    """The gain "in all regimes by d^{1/4}" is false: for tr Σ ≤ 1/(εn√d) the bounds differ by a factor of at most 2.

    The two compared bounds are √(d tr/(εn)) + √d/(εn) and d^{3/4}√(tr/(εn)) + √d/(εn). With q = d^{1/4} and y = √(εn
    tr) the ratio of the bounds is (qy + 1)/(y + 1). The ratio of the bounds lies between g/2 and 2g, where g is 1 if qy
    ≤ 1, qy if 1/q ≤ y ≤ 1, and q if y ≥ 1.
    """
    q, y, n, a, b = sp.symbols("q y n a b", positive=True)  # n stands for εn
    d, trace = q**4, y**2 / n
    ours = sp.sqrt(d * trace / n) + sp.sqrt(d) / n
    theirs = d ** sp.Rational(3, 4) * sp.sqrt(trace / n) + sp.sqrt(d) / n
    ratio = (q * y + 1) / (y + 1)
    residual = sp.simplify(theirs / ours - ratio)
    held = []
    for point, gain in (
        ({q: 1 + a, y: 1 / ((1 + a) * (1 + b))}, small(q)),
        ({q: (1 + a) * (1 + b), y: 1 / (1 + b)}, between(q, y)),  # qy = 1 + a
        ({q: 1 + a, y: 1 + b}, large(q)),
    ):
        value, g = ratio.subs(point, simultaneous=True), sp.sympify(gain).subs(point, simultaneous=True)
        held += [never_negative(value - g / 2), never_negative(2 * g - value)]
    return Evidence(residual == 0 and all(held), f"residual {residual}, {held}")


@check("symbolic", covers="all", scope="all d, β")
@mutant("as printed", power=1)
@mutant("the printed prefactor", other=1)
def step_2_display(power: int = 2, other: int = 2) -> Evidence:
    """Let t = C₃ (L/d)^{3/2}, where L is the logarithm. Then (d³/L) t² is C₃² L², and not C₃² L as printed. The product
    (d³/L²) t² is C₃² L.
    """
    c, d, log = sp.symbols("c d L", positive=True)
    t = c * (log / d) ** sp.Rational(3, 2)
    residual = sp.simplify(d**3 / log * t**2 - c**2 * log**power)
    before = sp.simplify(d**3 / log**other * t**2 - c**2 * log)
    return Evidence(residual == 0 and before == 0, f"residuals {residual}, {before}")


@check("symbolic", covers="case", scope="β = 1/2, d → ∞")
@mutant("with log(d/β)", numerator=lambda d, b: sp.log(d / b))
def cap(numerator: Formula = lambda d, b: sp.log(1 / b)) -> Evidence:
    """α₁ = C₁ √(log(1/β)/d) does not dominate √(log(d/β)/(c₁d)): log(d/β)/log(1/β) tends to ∞ for fixed β."""
    d = sp.symbols("d", positive=True)
    beta = sp.Rational(1, 2)
    limit = sp.limit(sp.log(d / beta) / numerator(d, beta), d, sp.oo)
    return Evidence(limit == sp.oo, f"limit {limit}")


@check("symbolic", covers="all", scope="all d ≥ 2 and β < 1")
@mutant("with log(1/β)", level=lambda d, b: sp.log(1 / b))
def corrected_cap(level: Formula = lambda d, b: sp.log(d / b)) -> Evidence:
    """The corrected cap α₁ = (1 + c₁^{−1/2}) √(log(d/β)/d) bounds 1/d + √(log(d/β)/(c₁d)).

    The reason is that 1/d ≤ √(log(d/β)/d) for d ≥ 2. This holds because d log(d/β) ≥ d ln d ≥ 2 ln 2 > 1.
    """
    d, beta = sp.symbols("d beta", positive=True)
    product = sp.expand_log(d * level(d, beta), force=True)
    smallest = product.subs(beta, 1)
    falls_in_beta = sp.simplify(sp.diff(product, beta) * beta / d) == -1
    grows = sp.simplify(sp.diff(smallest, d) - sp.log(d) - 1) == 0
    return Evidence(bool(falls_in_beta and grows and smallest.subs(d, 2) > 1), f"d log(d/β) ≥ {smallest}")
