"""Check DN25 Theorems 1 and 6: the spectral norm of nuclear-Laplace noise is about πρd, not 1.1ρd."""

from fractions import Fraction

import mpmath
import sympy as sp

from covassay.verification.claims.evidence import Evidence, Formula, check, mutant

# The divergence of the field s_i² ∂_i, integrated against the density, gives E Σ s² = 2 E R + E Q.
# The term Q is Σ_i s_i² ∂_i log ∏|s_i² − s_j²|.
# The boundary terms vanish, because the field has a double zero at s_i = 0.
# The density vanishes on every wall s_i = s_j and decays exponentially.


@check("exact", covers="all", scope="exact")
@mutant("a weaker moment bound", first=Fraction(1))
@mutant("the smaller root", sign=-1)
def sharper_constant(first: Fraction = Fraction(3, 2), sign: int = 1) -> Evidence:
    """The moments of Z refute ‖Z‖ ≤ ad for every a < (7 + √33)/8 = 1.593. Theorem 1 has a = 3/2 at p = ∞, so its
    constant 3 is refuted.

    Let s and t be singular values of Z, for ρ = 1. The proof uses the identity st/(s + t) = (s + t)/4 − (s − t)²/(4(s +
    t)) and s + t ≤ 2ad, which holds if ‖Z‖ ≤ ad. The limit m = lim E Σ s²/d³ therefore satisfies m ≥ 3/2 + (m − 1)/(4a)
    and m ≤ a. For a ≥ 1/4 the first of the two inequalities for m gives m ≥ (6a − 1)/(4a − 1), whence 4a² − 7a + 1 ≥ 0.
    """
    a, m = sp.symbols("a m")
    bound = sp.solve(sp.Eq(m, sp.Rational(first.numerator, first.denominator) + (m - 1) / (4 * a)), m)[0]
    polynomial = sp.numer(sp.together(a - bound))
    root = (7 + sign * sp.sqrt(33)) / 8
    exact = sp.simplify(polynomial.subs(a, root)) == 0 and root > sp.Rational(3, 2)
    s, t = sp.symbols("s t", positive=True)
    identity = sp.cancel(s * t / (s + t) - (s + t) / 4 + (s - t) ** 2 / (4 * (s + t)))
    value = sp.simplify(polynomial.subs(a, root))
    figures = {"(7 + √33)/8": str(sp.N(root, 12))}
    return Evidence(bool(exact) and identity == 0, f"4a² − 7a + 1 is {value} at {root}", figures)


@check("exact", scope="computed at d = 300; every larger d follows")
@mutant("a slope of 60", slope=Fraction(60))
@mutant("c₁ = 1/50", level=Fraction(1, 50))
def largest_share(
    slope: Fraction = Fraction(236, 100), first: int = 300, level: Fraction = Fraction(1, 60)
) -> Evidence:
    """If d ≥ 2 and L = ln(d/β) < d/60, the largest weight is at most 5/d, as step 0 of DN25 §4 needs for c₁ = 1/60.

    ‖Z‖ ≤ ρ(4d + 2.36 L) and R ≥ ρ(d² − d√(2L)) give max w ≤ (4 + 2.36/60)/(d(1 − √(2/(60d)))). This bound times d
    decreases in d, so it is enough that the bound is at most 5/d at d = 300. Step 0 needs the inequality (5/d)² ≤
    L/(c₁d), which holds because L ≥ ln d ≥ 1. For whole numbers d from 2 to 299 the condition L < d/60 is never met,
    because ln d ≥ d/60.
    """
    room = 1 - (4 + slope * level) / 5
    small = room > 0 and 2 * level / first <= room**2
    below = 25 * level <= first  # (5/d)² ≤ 60 L/d for L ≥ 1
    others = all(mpmath.iv.log(d).a >= mpmath.mpf(d) * level.numerator / level.denominator for d in range(2, first))
    return Evidence(bool(small and below and others), f"room {room}")


@check("enclosed", scope="computed at d = 9; every larger d follows")
@mutant("C = 3", constant=3)
@mutant("a slope of 25", slope=Fraction(25))
@mutant("ln d ≥ d/4 for all d < 12", first=12)
def logarithmic_share(constant: int = 4, slope: Fraction = Fraction(236, 100), first: int = 9) -> Evidence:
    """If d ≥ 2 and L = ln(d/β) < d/4, the largest weight is at most 4 L/d, which is (4.3) of DN25 with C = 4.

    With ‖Z‖ ≤ ρ(4d + 2.36 L) and R ≥ ρ(d² − d√(2L)), d max w ≤ (4 + 2.36/4)/(1 − √(1/(2d))), which falls with d. At d =
    9 the bound on d max w is at most 4 ln 9, and L ≥ ln d for every d. For whole numbers d from 2 to 8 the condition L
    < d/4 is never met, because ln d ≥ d/4.
    """
    log, level = mpmath.iv.log, Fraction(1, constant)
    deviation = mpmath.iv.sqrt(mpmath.iv.mpf(2) / (constant * first))
    norm = 4 + slope * level
    share = mpmath.iv.mpf(norm.numerator) / norm.denominator / (1 - deviation)
    below = (share <= constant * log(first)) is True
    others = all((constant * log(d) >= d) is True for d in range(2, first))
    shown = mpmath.nstr(mpmath.mpf(share.b), 5)
    return Evidence(below and others, f"d max w ≤ {shown}")


@check("symbolic", covers="all", exhausts="the two sides of the interval", scope="every k and L")
@mutant("3 % less above", above=lambda u: 1 + sp.Rational(97, 100) * u + u**2 / 2)
@mutant("the term u²/2 above smaller by 3 %", above=lambda u: 1 + u + sp.Rational(97, 200) * u**2)
@mutant("3 % less below", below=lambda u: 1 - sp.Rational(97, 100) * u)
def radius_chernoff(above: Formula = lambda u: 1 + u + u**2 / 2, below: Formula = lambda u: 1 - u) -> Evidence:
    """A Gamma(k) variable leaves [k − √(2kL), k + √(2kL) + L] with probability at most e^{−L} on each side.

    With u = √(2L/k) the upper end of the interval is k(1 + u + u²/2), its lower end is k(1 − u), and L = ku²/2. Let R
    be the Gamma(k) variable. As E e^{sR} = (1 − s)^{−k}, Markov's inequality for e^{sR} bounds each of the two
    probabilities by an exponential. Let s = u/(1 + u) at the upper end and s = −u at the lower end. The exponent is at
    most −L, because the exponent plus L, divided by k, is a function of u that is 0 at u = 0 and does not increase.
    """
    u = sp.Symbol("u", positive=True)
    holds, slopes = True, []
    for s, point in ((u / (1 + u), above(u)), (-u, below(u))):
        exponent = -sp.log(1 - s) - s * point + u**2 / 2
        slope = sp.factor(sp.simplify(sp.diff(exponent, u)))
        slopes.append(str(slope))
        holds = holds and exponent.subs(u, 0) == 0 and bool(slope.is_nonpositive)
    return Evidence(holds, f"slopes {slopes}")


@check("enclosed", covers="all", scope="every d and β < 1/e")
@mutant("1.84 for 1.85", constant=Fraction(184, 100))
def bernstein_constant(constant: Fraction = Fraction(185, 100)) -> Evidence:
    """For β < 1/e and L = ln(2/β): √(2L) ≤ C₄ √ln(1/β) and L ≤ C₄ ln(1/β) with C₄ = 1.85.

    L = ln(1/β) + ln 2 ≤ (1 + ln 2) ln(1/β), so 2(1 + ln 2) ≤ C₄² and 1 + ln 2 ≤ C₄ are enough.
    """
    c = mpmath.iv.mpf(constant.numerator) / constant.denominator
    factor = 1 + mpmath.iv.log(2)
    holds = (2 * factor <= c**2) is True and (factor <= c) is True
    return Evidence(holds, f"2(1 + ln 2) ≤ {mpmath.nstr(mpmath.mpf((2 * factor).b), 6)}")
