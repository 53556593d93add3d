"""Check the sensitivities of DN25 Algorithms 1 and 2 and the budgets that they spend."""

import sympy as sp

from covassay.reference import sensitivity as sensitivities
from covassay.reference.sensitivity import centred_sensitivity
from covassay.verification.claims.evidence import Evidence, Formula, check, mutant


@check("symbolic", covers="all", scope="all n and rows, d = 1")
@mutant("2/n, as without centring", sensitivity=lambda n, d, sqrt: 2 / n)
@mutant("the mean stays the same when a row is replaced", change=lambda n, apart, beyond: apart * beyond / n)
def centred_on_the_line(
    sensitivity: Formula = centred_sensitivity, change: Formula = sensitivities.centred_change
) -> Evidence:
    """At d = 1 replacing a row x by y moves the variance by at most 4(n − 1)/n², for every n.

    The variance of n − 1 rows of mean m and one row x is a constant plus (n − 1)/n² (x − m)². If y replaces x, the
    variance therefore changes by (n − 1)/n² |x − y| |x + y − 2m|. Let a = |x − y| ≤ 2. Then |x + y − 2m| ≤ 4 − a on
    [−1, 1], and a(4 − a) ≤ 4 because 4 − a(4 − a) = (a − 2)².
    """
    n, x, y, m, v, a = sp.symbols("n x y m v a", real=True)
    squares = (n - 1) * v + (n - 1) * m**2  # the sum of squares of the rows that stay, whose variance is v

    def variance(new: sp.Expr) -> sp.Expr:
        return (squares + new**2) / n - (((n - 1) * m + new) / n) ** 2

    formula = sp.simplify(variance(x) - variance(y) - change(n, x - y, x + y - 2 * m))
    largest = sp.expand(4 - a * (4 - a) - (a - 2) ** 2)
    bound = sp.simplify(sensitivity(n, 1, sp.sqrt) - 4 * (n - 1) / n**2)
    residuals = [formula, largest, bound]
    return Evidence(residuals == [0, 0, 0], f"residuals {residuals}")


@check(
    "symbolic",
    covers="all",
    exhausts="the proof needs three inequalities, 1 ≤ f, g ≤ f and f ≤ 3√3/2",
    scope="all n ≥ 2 and ε",
)
@mutant("2/n, as without centring", sensitivity=lambda n, d, sqrt: 2 / n)
@mutant("3 % less noise on the matrix", matrix=lambda n, e: sp.Rational(97, 50) * 3 * sp.sqrt(3) * (n - 1) / (e * n**2))
@mutant("3 % less noise on the trace", trace=lambda n, e: sp.Rational(97, 100) * 16 * (n - 1) / (e * n**2))
@mutant("a factor smaller by 3 %", factor=lambda: sp.Rational(97, 100) * 3 * sp.sqrt(3) / 2)
def centred_algorithm_2(
    sensitivity: Formula = centred_sensitivity,
    matrix: Formula = lambda n, e: 6 * sp.sqrt(3) * (n - 1) / (e * n**2),
    trace: Formula = lambda n, e: 16 * (n - 1) / (e * n**2),
    factor: Formula = lambda: 3 * sp.sqrt(3) / 2,
) -> Evidence:
    """For the centred covariance Algorithm 2 spends at most ε with ρ = 6√3(n − 1)/(εn²) and b = 16(n − 1)/(εn²).

    Twice the trace moves by at most 8(n − 1)/n², because |x − m|² lies in [0, 4]. Let f and g be the ratios of the
    scales ρ and b to the printed ones, 4/(εn) and 10/(εn). Every part of the error bound of Theorem 2 is proportional
    to f, g, √f or √(fg). For n ≥ 2, 1 ≤ f and g ≤ f ≤ 3√3/2, so every part grows by at most 3√3/2. With the printed
    scales the two privacy losses add up to (3√3/4 + 4/5)(1 − 1/n)ε.
    """
    more, epsilon = sp.symbols("k epsilon", positive=True)
    n = 2 + more
    changes = sp.nsimplify(sensitivity(n, 2, sp.sqrt)), 8 * (n - 1) / n**2
    scales, printed = (matrix(n, epsilon), trace(n, epsilon)), (4 / (epsilon * n), 10 / (epsilon * n))
    losses = [sp.simplify(c / s / epsilon) for c, s in zip(changes, scales, strict=True)]
    f, g = (sp.simplify(s / p) for s, p in zip(scales, printed, strict=True))
    ordered = [sp.together(sp.simplify(v)) for v in (f - 1, f - g, factor() - f)]
    two = [sp.simplify(v.subs(more, 0)) for v in ordered[:2]]  # n = 2
    small = all(bool(v.is_nonnegative) for v in two)
    rest = [sp.simplify(sp.diff(ordered[0], more) * n**2), sp.simplify(ordered[1] / (1 - 1 / n)), ordered[2] * n]
    grows = all(bool(sp.simplify(v).is_positive) for v in rest)
    plain = sp.simplify(sum(c / p for c, p in zip(changes, printed, strict=True)) / epsilon / (1 - 1 / n))
    holds = losses == [sp.Rational(1, 2)] * 2 and small and grows
    figure = sp.simplify(plain - (3 * sp.sqrt(3) / 4 + sp.Rational(4, 5))) == 0
    return Evidence(holds and figure, f"losses {losses}, printed scales {plain}")
