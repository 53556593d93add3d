"""KLSU19 §6: fingerprinting, distances of products and of Gaussians, and lower bounds for every private estimator."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product

import mpmath
import numpy as np
import sympy as sp
from scipy.optimize import linprog

from covassay.reference.domain import Matrix, Number, Vector
from covassay.verification.claims.checks.klsu19.products import product_distance
from covassay.verification.claims.checks.quoted import all_round_to, rounds_to
from covassay.verification.claims.evidence import Evidence, check
from covassay.verification.exact.series import Bounds, chi_square_tail, exponential, square_root

CASES = 3000
ROUNDING = 1e-9
P = sp.Symbol("p")
THIRD, NINTH = sp.Rational(1, 3), sp.Rational(1, 9)
SQUARE, LARGEST, LEFT_OVER = sp.Rational(1, 81), sp.Rational(8, 81), sp.Rational(1, 27)
SUMMAND = sp.Rational(505, 10000)
SIXTEENTH = sp.Rational(1, 16)
TERMS = 26  # of the power series in ν


@dataclass(frozen=True)
class Moments:
    """What is known of the likelihood ratios 1 + η of near laws: |E η³| ≤ γ₃s^{3/2}, E η⁴ ≤ γ₄s², s = E η².

    s is between `low` and `high` times the squared parameter distance, and the claimed distance is at most `scale`
    times that one. `distance` is the claimed ratio of TV to the distance, for distances up to `radius`.
    """

    third: Fraction
    fourth: Fraction
    low: Fraction
    high: Fraction
    scale: Fraction
    distance: Fraction
    radius: Fraction = Fraction(1, 20)


BITS = Moments(*map(Fraction, ("0.71", "1.5", "4", "4.5", "1", "2/5")))  # products of bits of means in [1/3, 2/3]
PRECISIONS = Moments(*map(Fraction, ("3.2", "19.7", "0.454", "0.556", "1.02", "1/15")))  # centred Gaussians


# FINGERPRINTING


def bits_probability(n: int, k: int) -> Number:
    """The probability of a given x in {±1}^n with k ones, for independent entries of mean p."""
    return ((1 + P) / 2) ** k * ((1 - P) / 2) ** (n - k)


def average(expression: Number, radius: Number, variable: sp.Symbol = P) -> Number:
    """The mean of a polynomial in p over p uniform on [−r, r]."""
    polynomial = sp.Poly(sp.cancel(sp.together(expression)), variable)
    return sp.expand(sp.integrate(polynomial.as_expr(), (variable, -radius, radius)) / (2 * radius))


@check("exact", mutants={"1 + p² for 1 − p²": {"factor": 1 + P**2}, "1 for 1 − p²": {"factor": sp.Integer(1)}})
def score_of_bits(factor: Number = 1 - P**2) -> Evidence:
    """(15): E[f(x) Σ(x_i − p)] = (1 − p²) g′(p) with g(p) = E f(x), for every real f on {±1}^n.

    Both sides are linear in f, so it is an identity for each x: P(x) Σ(x_i − p) = (1 − p²) P′(x), where P(x) depends
    only on the number of ones. It holds for all n because P′/P = Σ x_i/(1 + x_ip), and x(1 − p²) = (x − p)(1 + xp) for
    x² = 1.
    """
    failed = []
    for n in range(1, 9):
        for k in range(n + 1):
            weight = bits_probability(n, k)
            if sp.expand(weight * (2 * k - n - n * P) - factor * sp.diff(weight, P)) != 0:
                failed.append(f"n={n}, k={k}")
    x = sp.Symbol("x")
    one = sp.rem(sp.expand(x * (1 - P**2) - (x - P) * (1 + x * P)), x**2 - 1, x)
    return Evidence(not failed and one == 0, "n ≤ 8; all n by the logarithmic derivative", "; ".join(failed[:3]))


@check(
    "symbolic",
    covers="all",
    exhausts="an interval has two ends",
    mutants={"a radius of 1/2": {"radius": sp.Rational(1, 2)}, "1 for 2": {"factor": 1}},
)
def parts(radius: Number = THIRD, factor: int = 2) -> Evidence:
    """(16): for p uniform on [−1/3, 1/3], E[(1/9 − p²) g′(p)] = 2 E[p g(p)] for every g in C¹.

    This is integration by parts: ((1/9 − p²) g)′ = (1/9 − p²) g′ − 2p g, and (1/9 − p²) g vanishes at both ends.
    """
    g = sp.Function("g")(P)
    bracket = (NINTH - P**2) * g
    derivative = sp.diff(bracket, P) - (NINTH - P**2) * sp.diff(g, P) + factor * P * g
    ends = [(NINTH - P**2).subs(P, s * radius) for s in (1, -1)]
    return Evidence(
        sp.expand(derivative) == 0 and ends == [0, 0],
        "every continuously differentiable g",
        f"residual {sp.expand(derivative)}, ends {ends}",
    )


@check(
    "exact",
    mutants={
        "the weight 1/9 − p²": {"weight": NINTH - P**2},
        "p uniform on [−1/2, 1/2]": {"radius": sp.Rational(1, 2)},
        "1/26 for 1/27": {"constant": sp.Rational(1, 26)},
    },
)
def fingerprinting(
    weight: Number = (NINTH - P**2) / (1 - P**2), radius: Number = THIRD, constant: Number = LEFT_OVER
) -> Evidence:
    """Lemma 6.3 as an identity: E[(1/9 − p²)/(1 − p²) (f − p) Σ(x_i − p) + (f − p)²] = 1/27 + E f² for every real f.

    The check covers n ≤ 3 with every value of f a symbol. For all n the left side minus E f² is affine in f, so the two
    sides are compared at each x, here for n ≤ 8. By (15) and (16), E[w f Σ(x_i − p)] = 2 E[p f] in the first term,
    which cancels against (f − p)², and E p² = 1/27 remains.
    """
    failed = []
    for n in (1, 2, 3):
        f = {x: sp.Symbol("f" + "".join("+" if v > 0 else "-" for v in x)) for x in product((1, -1), repeat=n)}
        left = right = sp.Integer(0)
        for x, value in f.items():
            chance = bits_probability(n, x.count(1))
            left += average(chance * (weight * (value - P) * (sum(x) - n * P) + (value - P) ** 2), radius)
            right += average(chance, radius) * value**2
        if sp.expand(left - right - constant) != 0:
            failed.append(f"n={n}, all f")
    for n in range(4, 9):
        for k in range(n + 1):
            if average(bits_probability(n, k) * (weight * (2 * k - n - n * P) - 2 * P), radius) != 0:
                failed.append(f"n={n}, k={k}")
    if average(P**2, radius) != constant:
        failed.append("E p²")
    return Evidence(not failed, "n ≤ 3 in full, n ≤ 8 for each x; all n by (15) and (16)", "; ".join(failed[:3]))


def gaussian_moment(order: int, mean: sp.Symbol) -> Number:
    """The moment E x^k for x ~ N(m, 1), by the recursion m_{k+1} = m m_k + k m_{k−1}."""
    before, now = sp.Integer(0), sp.Integer(1)
    for k in range(order):
        before, now = now, sp.expand(mean * now + k * before)
    return now


@check(
    "exact", mutants={"(R² − μ²)(1 − μ²) for R² − μ²": {"power": 1}, "R²/2 for R²/3": {"constant": sp.Rational(1, 2)}}
)
def gaussian_fingerprinting(power: int = 0, constant: Number = THIRD) -> Evidence:
    """Lemma 6.8 as an identity: E[(R² − μ²)(f − μ) Σ(x_i − μ) + (f − μ)²] = R²/3 + E f², x_i ~ N(μ, 1), μ on [−R, R].

    Without E f² both sides are affine in f, so the check tries monomials f of degree at most 5 in n ≤ 3 values, with R
    a symbol. For every square-integrable f, E[f Σ(x_i − μ)] = g′(μ) by differentiating the density, and the rest is
    integration by parts as in (16).
    """
    mu, radius = sp.Symbol("mu"), sp.Symbol("R", positive=True)
    weight = (radius**2 - mu**2) * (1 - mu**2) ** power
    moments = [gaussian_moment(k, mu) for k in range(7)]
    failed = []
    for n, top in ((1, 5), (2, 4), (3, 2)):
        for powers in product(range(top + 1), repeat=n):
            mean = math.prod((moments[k] for k in powers), start=sp.Integer(1))
            score = sum(sp.prod([moments[k + (i == j)] for j, k in enumerate(powers)]) - mu * mean
                        for i in range(n))  # fmt: skip
            if average(weight * score - 2 * mu * mean, radius, mu) != 0:
                failed.append(f"x^{powers}")
            if sp.expand(score - sp.diff(mean, mu)) != 0:
                failed.append(f"score of x^{powers}")
    if sp.expand(average(mu**2, radius, mu) - constant * radius**2) != 0:
        failed.append("E μ²")
    return Evidence(not failed, "monomials in n ≤ 3 values; every f by the argument", "; ".join(failed[:3]))


@check(
    "floating",
    mutants={
        "1/100 for 1/81": {"square": sp.Rational(1, 100)},
        "4/81 for 8/81": {"largest": sp.Rational(4, 81)},
        "0.049 for 0.0505": {"exact": sp.Rational(490, 10000)},
        "0.052 for 0.0505": {"exact": sp.Rational(520, 10000)},
    },
)
def statistic_bounds(square: Number = SQUARE, largest: Number = LARGEST, exact: Number = SUMMAND) -> Evidence:
    """Z_i = Σ_j (1/9 − p_j²)/(1 − p_j²) (f_j − p_j)(x_ij − p_j) has E|Z′_i| ≤ α/9 and |Z_i| ≤ 8d/81 if |f_j| ≤ 1/3.

    In Z′ the row x is independent of f, so E Z′² = Σ w² (1 − p²) E(f − p)². Here w²(1 − p²) ≤ 1/81 means
    y(y − 17/81) ≤ 0 at y = p² ≤ 1/9. A summand is at most (1/9)(2/3)(4/3) = 8/81; its exact maximum, the maximum of
    (1/9 − p²)(1/3 + p)/(1 − p), is at most 0.0505, and within 1 % of it.
    """
    y = sp.Symbol("y", nonnegative=True)
    gap = sp.factor(sp.expand((NINTH - y) ** 2 - square * (1 - y)))
    wanted = sp.expand(gap - y * (y - sp.Rational(17, 81)))
    summand = (NINTH - P**2) * (THIRD + P) / (1 - P)
    numerator = sp.Poly(sp.numer(sp.together(sp.diff(summand, P))), P)
    inside = [r for r in sp.real_roots(numerator) if 0 <= r <= THIRD]
    top = max([summand.subs(P, r) for r in (*inside, 0, THIRD)], key=lambda v: float(sp.N(v)))
    product_bound = NINTH * sp.Rational(2, 3) * sp.Rational(4, 3)
    exactly = bool(sp.N(0.99 * exact, 30) <= sp.N(top, 30) <= sp.N(exact, 30) <= sp.N(largest, 30))
    held = wanted == 0 and product_bound == largest and exactly
    return Evidence(
        held, "all d, p, f", f"numerator of w²(1 − p²) − 1/81: {gap}", {"largest summand": str(sp.N(top, 8))}
    )


# PRIVACY


def largest_mean(q: Vector, z: Vector, epsilon: float, delta: float) -> float:
    """The maximum of E_P z over the laws P that are (ε, δ)-close to Q in both directions, by a linear program."""
    k, factor = len(q), math.exp(epsilon)
    none, eye, ones = np.zeros((k, k)), np.eye(k), np.ones(k)
    above = np.vstack([
        np.hstack([eye, -eye, none]),  # p − e^ε q ≤ u
        np.hstack([-factor * eye, none, -eye]),  # q − e^ε p ≤ v
        np.concatenate([0 * ones, ones, 0 * ones])[None, :],
        np.concatenate([0 * ones, 0 * ones, ones])[None, :],
    ])  # fmt: skip
    limits = np.concatenate([factor * q, -q, [delta, delta]])
    total = np.concatenate([ones, 0 * ones, 0 * ones])[None, :]
    solved = linprog(np.concatenate([-z, 0 * ones, 0 * ones]), A_ub=above, b_ub=limits, A_eq=total, b_eq=[1.0])
    return -float(solved.fun)


@check(
    "floating",
    mutants={
        "sinh(ε)/2 for sinh(ε)": {"factor": lambda e: math.sinh(e) / 2},
        "without the term in δ": {"tail": lambda e: 0.0},
    },
)
def correlation_under_privacy(
    factor: Callable[[float], float] = math.sinh, tail: Callable[[float], float] = lambda e: 1 + math.exp(-e)
) -> Evidence:
    """If Z and Z′ are (ε, δ)-close, E Z′ = 0 and |Z|, |Z′| ≤ T, then E Z ≤ sinh(ε) E|Z′| + (1 + e^{−ε}) δT.

    E Z = ∫₀^T P(Z > t) − ∫₀^T P(Z < −t), where P(Z > t) ≤ e^ε P(Z′ > t) + δ and P(Z < −t) ≥ e^{−ε}(P(Z′ < −t) − δ), and
    the positive and the negative part of Z′ have the mean E|Z′|/2 each. For each random law of Z′ the largest E Z is
    computed by a linear program. For δ = 0 and most of the mass at 0 the bound is attained.
    """
    rng = np.random.default_rng(1)
    failed, largest = 0, 0.0
    for i in range(400):
        k = int(rng.integers(2, 7))
        q, z = rng.dirichlet(np.ones(k)), rng.uniform(-1, 1, k)
        epsilon, delta = rng.uniform(0.05, 3), rng.choice([0.0, 0.01, 0.1])
        if i % 4 == 0:
            q, z, delta = np.array([0.01, 0.98, 0.01]), np.array([-1.0, 0.0, 1.0]), 0.0
        z = z - q @ z
        bound = factor(epsilon) * float(q @ np.abs(z)) + tail(epsilon) * delta * float(np.abs(z).max())
        ratio = largest_mean(q, z, epsilon, delta) / bound
        failed += ratio > 1 + 1e-6
        largest = max(largest, ratio)
    return Evidence(
        not failed and largest > 1 - 1e-6,
        "400 laws, the worst close law of each",
        f"{failed} cases fail; largest ratio {largest:.6g}",
    )


def sinh(x: Fraction) -> Bounds:
    """Rational bounds on sinh x."""
    up, down = exponential(x), exponential(-x)
    return (up[0] - down[1]) / 2, (up[1] - down[0]) / 2


@check(
    "enclosed",
    covers="all",
    mutants={"δ = 1/(16n)": {"delta": Fraction(1, 16)}, "ε ≤ 4 for ε ≤ 3.8": {"largest": Fraction(4)}},
)
def product_mean_bound(delta: Fraction = Fraction(3, 64), largest: Fraction = Fraction(19, 5)) -> Evidence:
    """Lemma 6.2 with constants: n ≥ d/(12α sinh ε), so n ≥ d/(72αε) for ε ≤ 3.8 and n ≥ d/(24αε) for ε ≤ 2.1.

    From below, E Σ_i Z_i ≥ d/27 − α² ≥ d/54 by the fingerprinting identity for each coordinate, since α² ≤ d/54. From
    above, with δ = 3/(64n), E Z_i ≤ sinh(ε) α/9 + 2δ · 8d/81, and 2nδ · 8d/81 = d/108. So d/108 ≤ n sinh(ε) α/9. The
    bounds for an interval of ε follow because sinh(ε)/ε grows.
    """
    lower = Fraction(1, 27) - Fraction(1, 54)  # all in units of d
    left = lower - 2 * delta * Fraction(8, 81)
    constant = left * 9  # n ≥ constant · d/(α sinh ε)
    wide = sinh(largest)[1] <= constant * 72 * largest
    narrow = sinh(Fraction(21, 10))[1] <= constant * 24 * Fraction(21, 10)
    return Evidence(constant == Fraction(1, 12) and wide and narrow, "all n, d, α", f"constant {constant}")


@check(
    "symbolic",
    covers="all",
    mutants={
        "e^{λ²/2} for 2e^{λ²/2}": {"factor": 1},
        "T without d ln 2": {"entropy": 0},
        "1/24 for 1/48": {"share": 24},
    },
)
def gaussian_mean_bound(factor: int = 2, entropy: int = 1, share: int = 48) -> Evidence:
    """Lemma 6.7 with constants: n ≥ d/(12α sinh ε) if α² ≤ dR²/6, δ(T + 0.85) ≤ d/(48Rn), T² = 2d(d ln 2 + ln(1/δ)).

    Let σ = 1. (17) is E Σ Z_i ≥ dR²/3 − α² ≥ dR²/6. For (18), |Z_i| ≤ 2R³‖g‖₁ with g ~ N(0, I), and E|Z′_i| ≤ R²α.
    Since E e^{λ|g_j|} = e^{λ²/2}(1 + erf(λ/√2)) ≤ 2e^{λ²/2}, P(‖g‖₁ > t) ≤ 2^d e^{−t²/(2d)}, and the integral of this
    from T on is at most 2^d e^{−T²/(2d)} d/T = δd/T ≤ 0.85δ. Splitting both parts of E Z_i at 2R³T gives E Z_i ≤
    sinh(ε) R²α + 2 · 2R³δ(T + 0.85), and n times the last term is at most dR²/12.
    """
    x, lam, d, t, delta = sp.symbols("x lambda d t delta", positive=True)
    mgf = sp.integrate(2 * sp.exp(lam * x - x**2 / 2) / sp.sqrt(2 * sp.pi), (x, 0, sp.oo)).rewrite(sp.erf)
    bounded = sp.simplify(sp.expand(mgf / sp.exp(lam**2 / 2)) - 1 - sp.erf(lam / sp.sqrt(2))) == 0  # and erf ≤ 1
    best = sp.solve(sp.diff(d * lam**2 / 2 - lam * t, lam), lam)[0]
    chernoff = sp.simplify((d * lam**2 / 2 - lam * t).subs(lam, best) + t**2 / (2 * d)) == 0
    cut = sp.sqrt(2 * d * (entropy * d * sp.log(2) + sp.log(1 / delta)))
    tail = sp.simplify(sp.expand_log(d * sp.log(factor) - cut**2 / (2 * d) - sp.log(delta), force=True)) == 0
    small = bool(1 / sp.sqrt(2 * sp.log(2)) < sp.Rational(85, 100))  # d/T for δ ≤ 1
    left = sp.Rational(1, 6) - 4 * sp.Rational(1, share)  # in units of dR²
    held = bounded and chernoff and tail and small and left == sp.Rational(1, 12)
    return Evidence(
        held,
        "all n, d, R, α",
        f"moment generating function {bounded}, exponent {chernoff}, tail {tail}; constant {left}",
    )


@check("floating", mutants={"e^{−t²/d} for e^{−t²/(2d)}": {"rate": 2.0}})
def half_normal_tails(rate: float = 1.0) -> Evidence:
    """P(‖g‖₁ > t) ≤ 2^d e^{−t²/(2d)} for g ~ N(0, I_d), by the exact laws for d = 1 and 2.

    At d = 2 a rotation by 45° shows that |g₁| + |g₂| is √2 times the larger of two half-normal variables, so the tail
    is 1 − erf(t/2)².
    """
    worst = mpmath.mpf(0)
    with mpmath.workdps(30):
        for t in (mpmath.mpf(j) / 10 for j in range(1, 121)):
            one, two = mpmath.erfc(t / mpmath.sqrt(2)), 1 - mpmath.erf(t / 2) ** 2
            worst = max(worst, one / (2 * mpmath.exp(-rate * t**2 / 2)), two / (4 * mpmath.exp(-rate * t**2 / 4)))
    return Evidence(bool(worst <= 1), "d = 1, 2, t ≤ 12", f"largest ratio {mpmath.nstr(worst, 5)}")


# BOOSTING


@check(
    "exact",
    mutants={
        "e^{−k/4} for e^{−k/18}": {"rate": Fraction(1, 4)},
        "success with probability 3/5": {"success": Fraction(3, 5)},
    },
)
def boosting(rate: Fraction = Fraction(1, 18), success: Fraction = Fraction(2, 3)) -> Evidence:
    """If each of k runs succeeds with probability 2/3, at most half succeed with probability at most e^{−k/18}.

    Hoeffding's inequality gives P(Bin(k, 2/3) ≤ k/2) ≤ e^{−2k/36}, which the check compares with the exact law. So
    k = ⌈18 ln(1/β)⌉ runs on kn records fail with probability at most β. Each record is in one run, so the whole is
    still (ε, δ)-DP.
    """
    failed, largest = [], Fraction(0)
    for k in (*range(1, 40), 60, 100, 200):
        missed = sum((math.comb(k, j) * success**j * (1 - success) ** (k - j) for j in range(k // 2 + 1)), Fraction(0))
        bound = exponential(-rate * k)[0]
        if missed > bound:
            failed.append(f"k={k}")
        largest = max(largest, missed / bound)
    return Evidence(
        not failed, "k ≤ 200; all k by Hoeffding", ", ".join(failed[:3]), {"largest ratio": f"{float(largest):.4g}"}
    )


@check("floating", mutants={"2r for 3r": {"factor": 2.0}})
def boosted_choice(factor: float = 3.0) -> Evidence:
    """If more than half of the outputs are within r of the truth, any output within 2r of half of them is within 3r.

    Such an output is within 2r of a good one, and every good output qualifies. The bound is attained if the majority is
    at distance r and another output is 2r beyond them.
    """
    rng = np.random.default_rng(2)
    failed, largest = 0, 0.0
    for i in range(1000):
        k, d = int(rng.integers(1, 12)), int(rng.integers(1, 4))
        good = k // 2 + 1
        points = rng.standard_normal((k, d)) * rng.choice([1.0, 3.0])
        radii = rng.random(good) ** (1 / d)
        points[:good] *= (radii / np.linalg.norm(points[:good], axis=1))[:, None]
        if i % 2:
            points[:good] = np.eye(d)[0]
            points[good:] = 3 * np.eye(d)[0]
        apart = np.linalg.norm(points[:, None] - points[None], axis=2)
        chosen = 2 * (apart <= 2 + ROUNDING).sum(axis=1) >= k
        distance = np.linalg.norm(points[chosen], axis=1)
        failed += bool(not chosen.any() or distance.max() > factor + ROUNDING)
        largest = max(largest, float(distance.max(initial=0)))
    return Evidence(
        not failed and abs(largest - factor) < ROUNDING, "1000 sets of outputs, r = 1", f"largest {largest:.6g} r"
    )


@check(
    "exact",
    covers="all",
    mutants={
        "success with probability 4/5": {"share": Fraction(4, 5)},
        "a figure larger by 3 %": {"quoted": "0.0089"},
        "a constant smaller by 3 %": {"constant": 1542},
        "α ≤ 1/17500": {"largest": Fraction(1, 17500)},
    },
)
def five_runs(
    share: Fraction = Fraction(9, 10),
    quoted: str = "0.0086",
    constant: int = 1590,
    largest: Fraction = Fraction(1, 18000),
) -> Evidence:
    """Theorem 1.5 follows from Theorem 6.9, by five runs that succeed with probability 9/10 each.

    Three of the five fail with probability 0.0086 < 1/25. Otherwise more than half of the outputs are within α of the
    truth, and the chosen one is within 3α (`boosted_choice`). The runs have disjoint records, so the whole is ε-DP on
    5n records, and 5n ≥ (d²/1024 − ln 16)/(106 · 3α(e^ε − 1)) if 3α ≤ 1/6000.
    """
    rest = 1 - share
    missed = 10 * rest**3 * share**2 + 5 * rest**4 * share + rest**5
    held = missed < Fraction(1, 25) and rounds_to(missed, quoted)
    held = held and constant >= 106 * 3 * 5 and 3 * largest <= Fraction(1, 6000)
    return Evidence(held, "all n, d, ε", f"probability {float(missed):.5f}")


# DISTANCES


def fourth_moment_bound(total: Fraction, third: Fraction, fourth: Fraction) -> Bounds:
    """Rational bounds on G = e^{6Λ + 4c + q} − 4e^{3Λ + c} + 6e^Λ − 3, where c = γ₃Λ^{3/2} and q = γ₄Λ²."""
    c = square_root(total**3)[1] * third
    q = fourth * total**2
    low_c = square_root(total**3)[0] * third
    high = exponential(6 * total + 4 * c + q)[1] - 4 * exponential(3 * total + low_c)[0] + 6 * exponential(total)[1] - 3
    low = exponential(6 * total + 4 * low_c + q)[0] - 4 * exponential(3 * total + c)[1] + 6 * exponential(total)[0] - 3
    return low, high


@check(
    "enclosed",
    mutants={
        "1/2 for 2/5": {"products": Fraction(1, 2)},
        "1/12 for 1/15": {"gaussians": Fraction(1, 12)},
        "distances up to 1/4": {"radius": Fraction(1, 4)},
    },
)
def distance_constants(
    products: Fraction = BITS.distance, gaussians: Fraction = PRECISIONS.distance, radius: Fraction = BITS.radius
) -> Evidence:
    """For near laws TV ≥ (2/5)‖p − q‖ for products of bits and TV ≥ ‖A₁ − A₂‖_F/15 for Gaussians, by fourth moments.

    Let r_j = 1 + η_j be the likelihood ratios of the coordinates, with E_Q η = 0, s_j = E η², |E η³| ≤ γ₃s^{3/2} and
    E η⁴ ≤ γ₄s². Let Λ = Σ s_j and L = ∏r_j − 1. By Hölder's inequality 2TV = E|L| ≥ (E L²)^{3/2}/(E L⁴)^{1/2}, where
    E L² = ∏(1 + s_j) − 1 ≥ Λ. L⁴ expands into a sum over four non-empty sets of coordinates, and a term counts only if
    each coordinate is in none or in at least two of them. This gives E L⁴ ≤ G(Λ), and G/Λ² grows because its
    coefficients are counts. So TV ≥ (κ/2)√Λ for all Λ ≤ Λ₀, where κ² = Λ₀²/G(Λ₀).
    Products with q in [1/3, 2/3] have γ₃ = 0.71, γ₄ = 1.5 and 4‖p − q‖² ≤ Λ ≤ 4.5‖p − q‖². Gaussians have γ₃ = 3.2,
    γ₄ = 19.7, 0.454‖ν‖² ≤ Λ ≤ 0.556‖ν‖² for ‖ν‖ ≤ 1/20, and ‖A₁ − A₂‖_F ≤ 1.02‖ν‖.
    """
    figures, failed = {}, []
    for i, j, k in product(range(8), repeat=3):  # i! j! k! times the coefficient of Λ^i c^j q^k in G
        count = 6**i * 4**j - 4 * 3**i * (k == 0) + 6 * (j + k == 0) - 3 * (i + j + k == 0)
        if count < 0 or (count > 0) != (2 * i + 3 * j + 4 * k >= 4):
            failed.append(f"coefficient {i, j, k}")
    for name, known, claimed in (("products", BITS, products), ("Gaussians", PRECISIONS, gaussians)):
        total = known.high * radius**2
        bound = total**2 / fourth_moment_bound(total, known.third, known.fourth)[1]  # κ²
        square = bound / 4 * known.low / known.scale**2
        figures[name] = f"{math.sqrt(square):.5f}"
        if square < claimed**2:
            failed.append(name)
    return Evidence(not failed, "the largest Λ is enclosed; smaller ones follow", ", ".join(failed), figures)


@check(
    "exact",
    mutants={
        "γ₄ smaller by 3 %": {"known": replace(BITS, fourth=BITS.fourth * Fraction(97, 100))},
        "γ₃ smaller by 3 %": {"known": replace(BITS, third=BITS.third * Fraction(97, 100))},
        "4.5 smaller by 3 %": {"known": replace(BITS, high=BITS.high * Fraction(97, 100))},
        "4 larger by 3 %": {"known": replace(BITS, low=BITS.low * Fraction(103, 100))},
        "G/2 for G": {"share": Fraction(1, 2)},
    },
)
def balanced_moments(known: Moments = BITS, share: Fraction = Fraction(1)) -> Evidence:
    """Bits with q in [1/3, 2/3] have E η⁴ ≤ 1.5 s², (E η³)² ≤ s³/2, 4t² ≤ s ≤ 4.5t² for t = p − q, and E L⁴ ≤ G(Λ).

    η = t(x − q)/(q(1 − q)). With v = 1/(q(1 − q)) in [4, 9/2], s = t²v, (E η³)² = s³(v − 4) and E η⁴ = s²(v − 3).
    """
    rng = np.random.default_rng(3)
    failed, largest = 0, Fraction(0)
    for i in range(300):
        d = int(rng.integers(1, 9))
        q = [Fraction(int(rng.integers(1000, 2001)), 3000) for _ in range(d)]
        t = [Fraction(int(rng.integers(-100, 101)), 1000 * d) for _ in range(d)]
        if i % 5 == 0:
            q, t = [Fraction(1, 3)] * (d - 1) + [Fraction(1, 2)], [Fraction(1, 20 * d)] * d  # v = 9/2, and v = 4
        powers, total = [Fraction(1)] * 5, Fraction(0)
        for mean, step in zip(q, t, strict=True):
            ratio = (1 - step / (1 - mean), 1 + step / mean)
            law = (1 - mean, mean)
            moment = [sum(w * (r - 1) ** k for w, r in zip(law, ratio, strict=True)) for k in range(5)]
            powers = [a * sum(w * r**k for w, r in zip(law, ratio, strict=True)) for k, a in enumerate(powers)]
            failed += moment[4] > known.fourth * moment[2] ** 2 or moment[3] ** 2 > known.third**2 * moment[2] ** 3
            failed += not known.low * step**2 <= moment[2] <= known.high * step**2
            total += moment[2]
        if total:
            exact = powers[4] - 4 * powers[3] + 6 * powers[2] - 3
            bound = share * fourth_moment_bound(total, known.third, known.fourth)[1]
            failed += exact > bound
            largest = max(largest, exact / bound)
    return Evidence(
        not failed, "300 products, d ≤ 8, in rationals", f"{failed} cases fail; largest E L⁴/G {float(largest):.4g}"
    )


@check("floating", mutants={"1.01 for 2/5": {"constant": 1.01}, "‖p − q‖₁ for ‖p − q‖₂": {"norm": 1}})
def balanced_distance(constant: float = float(BITS.distance), norm: int = 2) -> Evidence:
    """TV(P, Q) ≥ (2/5) min(‖p − q‖₂, 1/20) for products of bits with q in [1/3, 2/3]^d.

    The check sums over all 2^d points for d ≤ 10. The bound at 1/20 extends to larger distances: replacing each x_j by
    a fresh draw from q_j with probability 1 − λ takes p to q + λ(p − q), leaves q unchanged, and cannot raise TV.
    """
    rng = np.random.default_rng(4)
    smallest = math.inf
    for i in range(400):
        d = int(rng.integers(1, 11))
        q = rng.uniform(1 / 3, 2 / 3, d)
        direction = np.ones(d) if i % 2 else rng.standard_normal(d)
        if i % 4 == 1:
            q[:] = rng.choice([1 / 3, 0.5, 2 / 3])
        step = direction / np.linalg.norm(direction) * 10 ** rng.uniform(-3, -0.3)
        p = np.clip(q + step, 0, 1)
        size = min(float(np.linalg.norm(p - q, norm)), float(BITS.radius))
        smallest = min(smallest, product_distance(p, q) / size)
    return Evidence(smallest >= constant, "400 pairs, d ≤ 10", f"smallest ratio {smallest:.4g}")


def binomial_series(power: Fraction, factor: int) -> list[Fraction]:
    """The first coefficients of the power series of (1 + factor · ν)^power."""
    coefficients = [Fraction(1)]
    for n in range(1, TERMS):
        coefficients.append(coefficients[-1] * (power - n + 1) * factor / n)
    return coefficients


def moment_series(k: int) -> list[Fraction]:
    """The first coefficients of the power series of (1 + ν)^{k/2}(1 + kν)^{−1/2}."""
    first, second = binomial_series(Fraction(k, 2), 1), binomial_series(Fraction(-1, 2), k)
    return [sum((first[i] * second[n - i] for i in range(n + 1)), Fraction(0)) for n in range(TERMS)]


def evaluated(coefficients: Sequence[Fraction], nu: Fraction) -> Fraction:
    """The value of a polynomial."""
    value = Fraction(0)
    for coefficient in reversed(coefficients):
        value = value * nu + coefficient
    return value


@check(
    "enclosed",
    mutants={
        "γ₃ smaller by 3 %": {"known": replace(PRECISIONS, third=PRECISIONS.third * Fraction(97, 100))},
        "γ₄ smaller by 3 %": {"known": replace(PRECISIONS, fourth=PRECISIONS.fourth * Fraction(97, 100))},
        "0.454 larger by 3 %": {"known": replace(PRECISIONS, low=PRECISIONS.low * Fraction(103, 100))},
        "0.556 smaller by 3 %": {"known": replace(PRECISIONS, high=PRECISIONS.high * Fraction(97, 100))},
    },
)
def precision_moments(known: Moments = PRECISIONS) -> Evidence:
    """Gaussians of relative precision 1 + ν, |ν| ≤ 1/20: |E η³| ≤ 3.2 s^{3/2}, E η⁴ ≤ 19.7 s², 0.454 ≤ s/ν² ≤ 0.556.

    The likelihood ratio r = (1 + ν)^{1/2} e^{−νx²/2} has E r^k = (1 + ν)^{k/2}(1 + kν)^{−1/2}, analytic for |ν| < 1/4.
    s/ν², E η³/ν³ and E η⁴/ν⁴ are power series. At |ν| = 1/5 their sums of moments are at most 21, which bounds what is
    left out by Cauchy's inequality. The check evaluates 250 points, and a Lipschitz constant covers what is between.
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
    return Evidence(
        vanish and max(worst) <= 1, "all |ν| ≤ 1/20", "largest ratios " + ", ".join(f"{float(v):.5f}" for v in worst)
    )


def precision_distance(nu: Vector, nodes: int = 4000) -> float:
    """The total variation distance of N(0, I) and N(0, diag(1 + ν)⁻¹) in the plane.

    In polar coordinates w = r²/2 ~ Exp(1) and θ is uniform. The likelihood ratio is e^{h − wg} with h = ½Σ ln(1 + ν)
    and g = ν₁cos²θ + ν₂sin²θ.
    """
    theta = (np.arange(nodes) + 0.5) * 2 * math.pi / nodes
    g = nu[0] * np.cos(theta) ** 2 + nu[1] * np.sin(theta) ** 2
    h = 0.5 * float(np.log1p(nu).sum())
    with np.errstate(divide="ignore", over="ignore"):
        edge = h / g
    beyond = np.where(edge > 0, np.exp(-np.maximum(edge, 0)), 1.0)  # the mass of w > edge under Q
    other = np.where(edge > 0, np.exp(h - np.maximum(edge, 0) * (1 + g)), math.exp(h)) / (1 + g)
    above = other - beyond  # P − Q on w > edge
    whole = math.exp(h) / (1 + g) - 1  # P − Q on the ray
    # the ratio exceeds 1 where wg < h: below the edge if g > 0, above it if g < 0
    part = np.where(g > 0, np.where(edge > 0, whole - above, 0.0), above)
    return float(part.mean())


@check("floating", mutants={"1/3 for 1/15": {"constant": 1 / 3}})
def precision_distances(constant: float = float(PRECISIONS.distance)) -> Evidence:
    """TV ≥ ‖A₁ − A₂‖_F/15 for centred Gaussians with Σ_i⁻¹ = I + A_i, ‖A_i‖_F ≤ 1/50, whatever the diagonals of A_i.

    The check computes TV at d = 2 by quadrature. Only the eigenvalues 1 + ν of Σ₂^{1/2}Σ₁⁻¹Σ₂^{1/2} matter, and
    ‖A₁ − A₂‖_F ≤ (1 + ‖A₂‖)‖ν‖.
    """
    rng = np.random.default_rng(5)
    smallest, failed = math.inf, 0
    for _ in range(300):
        pair: list[Matrix] = []
        for _ in range(2):
            a = rng.standard_normal((2, 2))
            a = a + a.T - (rng.random() < 0.5) * np.diag(2 * np.diag(a))
            pair.append(a / np.linalg.norm(a) * rng.uniform(0.0005, 0.02))
        values, vectors = np.linalg.eigh(np.eye(2) + pair[1])
        root = (vectors / np.sqrt(values)) @ vectors.T
        nu = np.linalg.eigvalsh(root @ (np.eye(2) + pair[0]) @ root) - 1
        apart = float(np.linalg.norm(pair[0] - pair[1]))
        size = float(np.linalg.norm(nu))
        failed += apart > float(PRECISIONS.scale) * size * (1 + ROUNDING) or size > float(PRECISIONS.radius)
        smallest = min(smallest, precision_distance(nu) / apart)
    return Evidence(
        smallest >= constant and not failed, "300 pairs, d = 2", f"smallest ratio {smallest:.4g}, {failed} cases fail"
    )


@check("enclosed", mutants={"0.39 for 0.3829": {"constant": Fraction(39, 100)}})
def gaussian_distance(constant: Fraction = Fraction(3829, 10000)) -> Evidence:
    """Fact 6.6: TV(N(μ, I), N(μ′, I)) = 2Φ(δ/2) − 1 ≥ 0.3829 min(δ, 1) with δ = ‖μ − μ′‖.

    The densities cross half-way, because the log ratio along the line through the means is δ(t − δ/2).
    2Φ(δ/2) − 1 = P(χ²₁ < δ²/4) grows and is concave in δ, so it lies above its chord on [0, 1]. It is enclosed at 1 and
    on a grid.
    """
    failed = []
    for j in range(1, 41):
        delta = Fraction(j, 20)
        distance = 1 - chi_square_tail(delta**2 / 4)[1]
        if distance < constant * min(delta, Fraction(1)):
            failed.append(f"δ = {delta}")
    t, delta_symbol = sp.symbols("t delta", real=True)
    ratio = sp.expand(t**2 / 2 - (t - delta_symbol) ** 2 / 2 - delta_symbol * (t - delta_symbol / 2))
    value = 1 - chi_square_tail(Fraction(1, 4))[1]
    return Evidence(not failed and ratio == 0, "δ ≤ 2; all δ by concavity", ", ".join(failed[:3]),
                    {"2Φ(½) − 1": f"{float(value):.6f}"})  # fmt: skip


# COVARIANCES


@check("symbolic", mutants={"1/8 for 1/16": {"error": sp.Rational(1, 8)}})
def inner_product(error: Number = SIXTEENTH) -> Evidence:
    """Claim 6.12: Z = Σ_{i<j} M_ij A_ij with A_ij = ±α/d has E Z ≥ α²((d − 1)/(4d) − 1/16) ≥ α²/16 for d ≥ 2.

    4Z = ‖M‖² + ‖A‖² − ‖M − A‖² for symmetric matrices with zero diagonals, where ‖A‖² = α²(d − 1)/d and
    E‖M − A‖² ≤ α²/4.
    """
    failed = []
    for d in (2, 3, 4):
        pairs = d * (d - 1) // 2
        m, a = sp.symbols(f"m:{pairs}"), sp.symbols(f"a:{pairs}")
        norm = [2 * sum(v**2 for v in vector) for vector in (m, a, [x - y for x, y in zip(m, a, strict=True)])]
        if sp.expand(4 * sum(x * y for x, y in zip(m, a, strict=True)) - norm[0] - norm[1] + norm[2]) != 0:
            failed.append(f"d={d}")
    d = sp.Symbol("d", positive=True)
    slack = sp.factor((d - 1) / (4 * d) - error - SIXTEENTH)
    held = not failed and sp.simplify(slack - (d - 2) / (8 * d)) == 0
    return Evidence(held, "all d; the identity for d ≤ 4", "; ".join([f"slack {slack}", *failed]))


@check("floating", mutants={"twice the exponent": {"exponent": lambda d: Fraction(2 * d**4, 1024 * d * (d - 1))}})
def sign_sums(exponent: Callable[[int], Fraction] = lambda d: Fraction(d**4, 1024 * d * (d - 1))) -> Evidence:
    """Claim 6.13: P(Z′ > α²/32) ≤ exp(−d⁴/(1024d(d − 1))) ≤ e^{−d²/1024}, where Z′ = (α/d) Σ_{i<j} ±M_ij, |M_ij| ≤ α/d.

    Hoeffding's inequality has the exponent x²/(2N) with N = d(d − 1)/2 and x = d²/32. The check compares it with exact
    tails: for equal |M_ij| at d ≤ 120, and for random M_ij over all signs at d = 4 and 5, at every threshold x.
    """
    failed, figures = [], {}
    for d in (2, 5, 20, 40, 60, 80, 100, 120):
        n = d * (d - 1) // 2
        first = math.floor((n + Fraction(d * d, 32)) / 2) + 1  # k ones: 2k − n > d²/32
        tail, term = 0, math.comb(n, first)
        for k in range(first, n + 1):
            tail += term
            term = term * (n - k) // (k + 1)
        probability = Fraction(tail, 2**n)
        if probability > exponential(-exponent(d))[0] or exponent(d) * 1024 < d * d:
            failed.append(f"d={d}")
        figures[f"P (d={d})"] = f"{float(probability):.3g}"
    rng = np.random.default_rng(6)
    for d in (4, 5):
        n = d * (d - 1) // 2
        signs = 1 - 2 * ((np.arange(2**n)[:, None] >> np.arange(n)) & 1)
        for _ in range(20):
            sums = np.sort(signs @ rng.integers(-50, 51, n))
            for x in range(50, 50 * n, 50):
                count = int(len(sums) - np.searchsorted(sums, x, side="right"))
                scale = exponent(d) / Fraction(d**4, 1024) * Fraction(x, 50) ** 2  # x²/(2N) in units of α²/d²
                if Fraction(count, 2**n) > exponential(-scale)[0]:
                    failed.append(f"d={d}, random M, x={x}")
    shown = {key: figures[key] for key in ("P (d=40)", "P (d=80)", "P (d=120)")}
    return Evidence(not failed, "d ≤ 120; all d by Hoeffding", "; ".join(failed[:3]), shown)


@check("floating", mutants={"3 % less than 0.44": {"constant": 0.427}, "entries of 2α/d": {"entry": 2.0}})
def sign_covariances(constant: float = 0.44, entry: float = 1.0) -> Evidence:
    """Σ = I + A with A_ij = ±α/d, α ≤ ½, has ½I ⪯ Σ ⪯ (3/2)I, ‖A‖_F ≤ α, and TV(N(0, Σ), N(0, I)) ≤ 0.44α.

    KL = ½Σ(λ − ln(1 + λ)) over the eigenvalues of A, where |λ| ≤ ½. (λ − ln(1 + λ))/λ² falls in λ, so it is at most
    4(ln 2 − ½), and KL ≤ 2(ln 2 − ½)α² = 0.3863α². Pinsker's inequality gives the bound on TV. The same holds for
    Σ⁻¹ = I + A, with the arguments of KL exchanged. Two such laws are at most 0.88α apart.
    """
    rng = np.random.default_rng(7)
    failed, largest = 0, 0.0
    for i in range(600):
        d, alpha = int(rng.integers(2, 12)), 0.5 if i % 2 else rng.uniform(0.001, 0.5)
        a = np.triu(np.where(rng.random((d, d)) < (0.5 if i % 3 else 0.0), 1.0, -1.0), 1) * entry * alpha / d
        values = np.linalg.eigvalsh(a + a.T)
        kl = float((values - np.log1p(values)).sum()) / 2
        failed += not math.isclose(kl, -float(np.linalg.slogdet(np.eye(d) + a + a.T)[1]) / 2, abs_tol=1e-12)
        failed += math.sqrt(kl / 2) > constant * alpha or float(np.abs(values).max()) > 0.5
        failed += float((values**2).sum()) > alpha**2 * (1 + ROUNDING)
        largest = max(largest, math.sqrt(kl / 2) / alpha)
    extreme = math.sqrt(math.log(2) - 0.5)  # all of ‖A‖_F in one eigenvalue −½
    return Evidence(
        not failed and extreme <= constant, "600 sign matrices, d < 12", f"largest {largest:.4g} α, limit {extreme:.4g}"
    )


def hamming_scores(rng: np.random.Generator, points: Sequence[tuple[int, ...]]) -> list[int]:
    """Integer scores that change by at most 1 between neighbours: Hamming distances to a random set, with offsets."""
    anchors = [
        (points[int(rng.integers(0, len(points)))], int(rng.integers(0, 2))) for _ in range(int(rng.integers(1, 4)))
    ]
    return [min(sum(a != b for a, b in zip(x, y, strict=True)) + offset for y, offset in anchors) for x in points]


@check(
    "exact",
    mutants={
        "γ/2 for γ": {"bound": lambda n, gamma, s: (1 + gamma * (s - 1) / 2) ** n},
        "1 + γn(e^ε − 1), without the power": {"bound": lambda n, gamma, s: 1 + n * gamma * (s - 1)},
    },
)
def hybrid_bound(
    bound: Callable[[int, Fraction, Fraction], Fraction] = lambda n, gamma, s: (1 + gamma * (s - 1)) ** n,
) -> Evidence:
    """Lemma 6.15 in its sharp form: P(M(X₁) ∈ S) ≤ (1 + γ(e^ε − 1))^n P(M(X₀) ∈ S) for n draws from laws with TV = γ.

    For one draw let h = P(M(x) ∈ S). Then max h ≤ e^ε min h, E₁h − E₀h ≤ γ(max h − min h), and E₀h ≥ min h. For n draws
    replace one at a time; the mean of h over the others has the same property. The bound is attained by
    h ∝ e^{ε · #ones} with the laws δ₀ and (1 − γ)δ₀ + γδ₁.
    """
    rng = np.random.default_rng(8)
    failed, attained = 0, 0
    for i in range(400):
        n, k = int(rng.integers(1, 4)), int(rng.integers(2, 4))
        s = Fraction(int(rng.integers(11, 60)), 10)
        points = list(product(range(k), repeat=n))
        weights = [[int(w) for w in rng.integers(0, 6, k)] for _ in range(2)]
        laws = [[Fraction(w + 1, sum(row) + k) for w in row] for row in weights]
        scores = hamming_scores(rng, points)
        if i % 4 == 0:
            gamma = Fraction(int(rng.integers(1, 10)), 10)
            laws = [[Fraction(0)] * k, [Fraction(0)] * k]
            laws[0][0], laws[1][0], laws[1][1] = Fraction(1), 1 - gamma, gamma
            scores = [x.count(1) for x in points]
        distance = sum((abs(a - b) for a, b in zip(*laws, strict=True)), Fraction(0)) / 2
        means = [sum(math.prod(law[v] for v in x) * s**score for x, score in zip(points, scores, strict=True))
                 for law in laws]  # fmt: skip
        ratio, limit = Fraction(means[1]) / means[0], bound(n, distance, s)
        failed += ratio > limit
        attained += ratio == limit
    return Evidence(
        not failed and attained >= 100, "400 mechanisms, n ≤ 3", f"{failed} cases fail, {attained} attain it"
    )


@check(
    "floating",
    mutants={
        "8.5 for 8.8": {"factor": 8.5},
        "q = 1/(7.7α) for 1/(8α)": {"order": 7.7},
        "without the moment of the likelihood ratio": {"moment": 0.0},
    },
)
def factor_for_every_epsilon(factor: float = 8.8, order: float = 8.0, moment: float = 1.0) -> Evidence:
    """Claim 6.14 for every ε: P(Z > t) ≤ e^{8.8 εαn} P(Z′ > t), for α ≤ ½ and the laws N(0, I + A), A_ij = ±α/d.

    For one row let h = P(M(x) ∈ S), so that max h ≤ e^ε min h, let r = dP/dQ and q ≥ 1. By Hölder's inequality
    E_P h ≤ e^{ε/q} (E_Q r^q)^{1/q} E_Q h. With q = 1/(8α), α ≤ 1/8: Σ_P^{−1/2}(Σ_Q − Σ_P)Σ_P^{−1/2} has eigenvalues ν,
    ‖ν‖ ≤ 4α, and |qν| ≤ ½. So ln E_Q r^q = ½Σ(q ln(1 + ν) − ln(1 + qν)) ≤ ½ · 4(ln 2 − ½) q²‖ν‖², and the factor is at
    most e^{8αε + 4(ln 2 − ½)α}. For α > 1/8 it is at most e^ε. For ε ≥ 1 the exponent is at most 8.8 αε. For ε ≤ 1,
    0.88α(e^ε − 1) is. n rows are replaced one at a time.
    """
    rng = np.random.default_rng(9)
    failed, largest, curve = 0, 0.0, 4 * (math.log(2) - 0.5)
    for i in range(400):
        k, epsilon, q = int(rng.integers(2, 6)), 10 ** rng.uniform(-1, 1.5), 10 ** rng.uniform(0, 1)
        p, other = rng.dirichlet(np.ones(k)), rng.dirichlet(np.ones(k))
        h = np.exp(epsilon * (rng.random(k) if i % 2 else rng.integers(0, 2, k)))
        ratio = float(np.sum(other * (p / other) ** q)) ** (moment / q)
        failed += float(p @ h) > math.exp(epsilon / q) * ratio * float(other @ h) * (1 + ROUNDING)
        d, alpha = int(rng.integers(2, 12)), 10 ** rng.uniform(-3, math.log10(0.125))
        signs = [
            np.triu(np.where(rng.random((d, d)) < share, 1.0, -1.0), 1) for share in rng.choice([0.0, 0.5, 1.0], 2)
        ]
        first, second = (np.eye(d) + (a + a.T) * alpha / d for a in signs)
        nu, q = np.linalg.eigvals(np.linalg.solve(first, second)).real - 1, 1 / (order * alpha)
        exponent = float((q * np.log1p(nu) - np.log1p(q * nu)).sum()) / 2
        failed += bool(np.linalg.norm(nu) > 4 * alpha or exponent > curve / 2 * q**2 * float(nu @ nu) + ROUNDING)
        largest = max(largest, exponent / q / alpha)
    small = 4 / order <= 0.5  # |qν|
    slopes = order + 8 * curve / order <= factor and 0.88 * (math.e - 1) <= factor and factor >= 8
    return Evidence(
        not failed and small and slopes,
        "400 random laws, 400 pairs of sign matrices, d < 12",
        f"{failed} cases fail; largest moment {largest:.4g} α, limit {8 * curve / order:.4g} α",
    )


@check(
    "enclosed",
    covers="case",
    mutants={
        "ε = 2": {"epsilon": Fraction(2)},
        "the sharp exponent γ(e^ε − 1)": {"printed": lambda e, gamma: gamma * (exponential(e)[1] - 1)},
        "a figure larger by 3 %": {"quoted": ("1.2266", "1.1275")},
    },
)
def printed_hybrid(
    epsilon: Fraction = Fraction(3),
    printed: Callable[[Fraction, Fraction], Fraction] = lambda e, gamma: 4 * e * gamma,
    quoted: tuple[str, str] = ("1.1909", "1.1275"),
) -> Evidence:
    """Lemma 6.15 with e^{4εγn} fails for large ε: at n = 1, γ = 1/100, ε = 3 the ratio is 1.1909 > e^{0.12} = 1.1275.

    X₀ is always 0, X₁ is 1 with probability γ, and M is randomised response with odds e^ε. The ratio is 1 + γ(e^ε − 1).
    """
    gamma = Fraction(1, 100)
    ratio = 1 + gamma * (exponential(epsilon)[0] - 1)
    bound = exponential(printed(epsilon, gamma))[1]
    holds = ratio > bound and all_round_to((ratio, bound), quoted)
    return Evidence(holds, "a counterexample", f"ratio {float(ratio):.6f}, bound {float(bound):.6f}")


@check(
    "enclosed",
    covers="all",
    mutants={"a limit of 2.4": {"limit": Fraction(24, 10)}, "a limit of 2.3": {"limit": Fraction(23, 10)}},
)
def printed_hybrid_range(limit: Fraction = Fraction(23366, 10000)) -> Evidence:
    """(1 + γ(e^ε − 1))^n ≤ e^{4εγn} holds for all γ exactly if e^ε − 1 ≤ 4ε, that is for ε ≤ 2.3366….

    The condition is necessary as γ → 0, and it is sufficient because 1 + x ≤ e^x. e^ε − 1 − 4ε is convex and 0 at 0, so
    it changes sign once. In the same way e^ε − 1 ≤ 2ε holds for ε ≤ 1.2564….
    """
    step = Fraction(1, 10**4)
    below = exponential(limit)[1] - 1 <= 4 * limit
    above = exponential(limit + step)[0] - 1 > 4 * (limit + step)
    half = Fraction(12564, 10000)
    two = exponential(half)[1] - 1 <= 2 * half and exponential(half + step)[0] - 1 > 2 * (half + step)
    return Evidence(
        below and above and two,
        "all ε; the root is between 2.3366 and 2.3367",
        f"holds below: {below}; fails above: {above}",
    )


@check(
    "enclosed",
    covers="all",
    mutants={
        "ln 8 for ln 16": {"mass": Fraction(1, 8)},
        "0.44α for 0.88α": {"distance": Fraction(44, 100)},
        "14 for 14.1": {"coupled": Fraction(14)},
        "ln 31 for ln 32": {"left": Fraction(1, 31)},
    },
)
def covariance_bound(
    mass: Fraction = Fraction(1, 16),
    distance: Fraction = Fraction(88, 100),
    coupled: Fraction = Fraction(141, 10),
    left: Fraction = Fraction(1, 32),
) -> Evidence:
    """Lemma 6.11 with constants: n ≥ (d²/1024 − ln 16)/(0.88α(e^ε − 1)) if E‖M(X) − Σ‖_F² ≤ α²/4, α ≤ ½.

    And n ≥ (d²/1024 − ln 32)/(14.1αε).

    M(X) may be projected onto the convex hull of the construction's matrices. Then Z ≤ α²(d − 1)/(2d) ≤ α²/2, so E Z ≥
    α²/16 gives P(Z > α²/32) ≥ (1/16 − 1/32)/(1/2) = 1/16. Given A and A′, Z and Z′ come from samples whose laws are at
    most 2 · 0.44α apart. So 1/16 ≤ (1 + 0.88α(e^ε − 1))^n e^{−d²/1024}, and ln(1 + x) ≤ x.
    Rows of N(0, Σ) and of N(0, I), coupled one by one, differ in K of n places, E K ≤ 0.44αn. By Markov's inequality
    P(K > 32 · 0.44αn) ≤ 1/32. So 1/16 ≤ 1/32 + e^{14.1αnε − d²/1024}.
    """
    share = (Fraction(1, 16) - Fraction(1, 32)) / Fraction(1, 2)
    root = square_root(Fraction(6931472, 10**7) - Fraction(1, 2))[1]  # √(ln 2 − ½)
    logarithm = exponential(Fraction(6931472, 10**7))[0] >= 2
    held = share == mass and logarithm and 2 * root <= distance
    held = held and 32 * root <= coupled and share - Fraction(1, 32) == left
    return Evidence(
        held, "all n, d, α ≤ ½, ε", f"probability {share}; the two laws are at most {float(2 * root):.5f} α apart"
    )


@check(
    "exact",
    covers="all",
    mutants={"boosting without its factor 3": {"choice": 1}, "the covariance for an accuracy of α": {"scale": 60}},
)
def theorems_of_section_6(choice: int = 3, scale: int = 120) -> Evidence:
    """Theorems 6.1, 6.5 and 6.9 follow from the lemmas with the stated constants, by rational arithmetic.

    Let the estimate be the law of the class that is nearest to the output; it is within TV 2α of the truth.
    6.1: ‖p̂ − p‖ ≤ 2α/(2/5) = 5α, and 15α after boosting with k runs. The squared diameter is d/9 and β = 2025α²/d, so
    the mean square error is at most 450α², which is 1800α² on {±1}. √1800 < 42.5 gives n ≥ d/(12 · 42.5 · 2αεk).
    6.5: the radii are 5.23α and 16α, the squared diameter is 4dR², β = 64α²/(dR²), the mean square error is at most
    512α², and √512 < 22.7.
    6.9: 2α · 15 = 30α = α′/4 for α′ = 120α. With probability 24/25 the mean square error is at most
    α′²/16 + 4α′²/25 ≤ α′²/4, 0.88α′ < 106α and 14.1α′ = 1692α.
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
    failed = [name for name, held in tests.items() if not held]
    return Evidence(not failed, "all n, d, α, ε in the stated ranges", ", ".join(failed))
