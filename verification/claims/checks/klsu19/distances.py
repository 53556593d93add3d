"""Check KLSU19 §1–3: the norms ‖·‖_Σ, and what closeness of parameters implies for distributions."""

import math
import random
from fractions import Fraction
from itertools import product

import sympy as sp

from covassay.reference.domain import Number
from covassay.reference.mechanisms.gaussian_estimation import ppde
from covassay.verification.claims.evidence import Evidence, Formula, Found, check, mutant
from covassay.verification.exact import series

# NORMS IN THE SHAPE OF Σ


def rational_matrix(rng: random.Random, d: int) -> sp.Matrix:
    """Return a random invertible rational matrix."""
    while True:
        matrix = sp.Matrix(d, d, lambda i, j: sp.Rational(rng.randint(-4, 4), rng.randint(1, 3)))
        if matrix.det() != 0:
            return matrix


def rational_symmetric(rng: random.Random, d: int) -> sp.Matrix:
    """Return a random symmetric rational matrix."""
    matrix = rational_matrix(rng, d)
    return matrix + matrix.T


def frobenius_squared(matrix: sp.Matrix) -> sp.Expr:
    """Return the squared Frobenius norm ‖M‖_F²."""
    return (matrix.T * matrix).trace()


def norm_squared(matrix: sp.Matrix, sigma: sp.Matrix) -> sp.Expr:
    """Return the squared norm ‖M‖_Σ² = tr((Σ⁻¹M)²) of a symmetric matrix M."""
    whitened = sigma.inv() * matrix
    return (whitened * whitened).trace()


@check("exact", scope="30 random rational cases, d = 2, 3")
@mutant("‖Σ⁻¹M‖_F for ‖M‖_Σ", norm=lambda m, s: frobenius_squared(s.inv() * m))
@mutant("A⁻¹MA⁻¹ for A⁻¹MA⁻ᵀ", whiten=lambda a, m: a.inv() * m * a.inv())
def any_factor(norm: Formula = norm_squared, whiten: Formula = lambda a, m: a.inv() * m * a.inv().T) -> Found:
    """The norms ‖A⁻¹MA⁻ᵀ‖_F² = tr((Σ⁻¹M)²) and |A⁻¹v|² = vᵀΣ⁻¹v are the same for every A with AAᵀ = Σ.

    The norm ‖·‖_Σ therefore depends on Σ alone, and ‖BMBᵀ‖_{BΣBᵀ} = ‖M‖_Σ for every invertible B, because BA is a
    factor of BΣBᵀ if A is a factor of Σ. The check tries random rational matrices A, B and M.
    """
    rng = random.Random(1)
    for i in range(30):
        d = 2 + i % 2
        a, b, m = rational_matrix(rng, d), rational_matrix(rng, d), rational_symmetric(rng, d)
        sigma, v = a * a.T, sp.Matrix(d, 1, lambda i, j: rng.randint(-5, 5))
        yield frobenius_squared(whiten(a, m)) == norm(m, sigma)
        yield frobenius_squared(a.inv() * v) == (v.T * sigma.inv() * v)[0]
        yield norm(b * m * b.T, b * sigma * b.T) == norm(m, sigma)


@check("exact", covers="case", scope="a counterexample")
@mutant("a symmetric root", root=sp.Matrix([[0, 1], [1, 0]]))
def square_roots_differ(root: sp.Matrix = sp.Matrix([[0, 2], [sp.Rational(1, 2), 0]])) -> Evidence:  # noqa: B008
    """The norm ‖B⁻¹MB⁻¹‖_F may differ from ‖M‖_Σ although B² = Σ.

    An example is Σ = I, B = [[0, 2], [1/2, 0]], M = [[0, 1], [1, 0]]. For Σ, B and M of the example ‖B⁻¹MB⁻¹‖_F² =
    257/16 but ‖M‖_F² = 2, and |B⁻¹v|² = 1/4 at v = (1, 0).
    """
    m, v = sp.Matrix([[0, 1], [1, 0]]), sp.Matrix([1, 0])
    inverse = root.inv()
    values = frobenius_squared(inverse * m * inverse), frobenius_squared(inverse * v)
    holds = root**2 == sp.eye(2) and values[0] != frobenius_squared(m) and values[1] != 1
    return Evidence(holds, f"squares {values[0]} and {values[1]}")


@check("exact", scope="25 random rational cases, d = 2, 3")
@mutant("AᵀSA for ASAᵀ", image=lambda a, s: a.T * s * a)
def consequences_of_regularity(image: Formula = lambda a, s: a * s * a.T) -> Found:
    """If x_i = A y_i with AAᵀ = Σ, the regularity of the second moment S of the y_i carries over to Σ̂ = ASAᵀ.

    ‖Σ̂ − Σ‖_Σ = ‖S − I‖_F; (1 − s)I ⪯ S ⪯ (1 + s)I is equivalent to (1 − s)Σ ⪯ Σ̂ ⪯ (1 + s)Σ; and |x|² ≤ κ|y|² if Σ ⪯
    κI, with equality in the widest direction. The check tries random rational matrices, and decides definiteness in
    rational arithmetic.
    """
    rng = random.Random(2)
    for i in range(25):
        d = 2 + i % 2
        a, y = rational_matrix(rng, d), sp.Matrix(d + 1, d, lambda i, j: rng.randint(-3, 3))
        s, sigma, x = y.T * y / (d + 1), a * a.T, y * a.T
        moment = x.T * x / (d + 1)
        yield moment == image(a, s) and norm_squared(moment - sigma, sigma) == frobenius_squared(s - sp.eye(d))
        for error in (sp.Rational(1, 2), 2, 9):
            above = (1 + error) * sp.eye(d) - s, (1 + error) * sigma - moment
            below = s - (1 - error) * sp.eye(d), moment - (1 - error) * sigma
            for inner, outer in (above, below):  # the matrices are congruent, so both are definite or neither is
                yield outer == a * inner * a.T and inner.is_positive_definite == outer.is_positive_definite
        # with A = HD, H a reflection and D diagonal, Σ = HD²H and κ = max D²
        h = sp.eye(d) - 2 * y[0, :].T * y[0, :] / max((y[0, :] * y[0, :].T)[0], 1)
        spread = sp.diag(*[rng.randint(1, 5) for _ in range(d)])
        kappa = max(spread) ** 2
        lengths = [(frobenius_squared(h * spread * y[k, :].T), frobenius_squared(y[k, :])) for k in range(d + 1)]
        yield not (any(long > kappa * short for long, short in lengths) or h * h != sp.eye(d))
        yield max(frobenius_squared(h * spread[:, k]) for k in range(d)) == kappa


@check("symbolic", covers="all", scope="all d, α")
@mutant("α/∛d in every coordinate", entry=lambda alpha, d: alpha / sp.root(d, 3))
@mutant("1.03 α/√d", entry=lambda alpha, d: sp.Rational(103, 100) * alpha / sp.sqrt(d))
def sup_norm(entry: Formula = lambda alpha, d: alpha / sp.sqrt(d)) -> Evidence:
    """An error of at most α/√d in every coordinate is an error of at most α in ℓ2.

    Errors that all equal α/√d have exactly the ℓ2 error α. The proof: the square of the ℓ2 error is a sum of d squares,
    each at most α²/d.
    """
    alpha, d = sp.symbols("alpha d", positive=True)
    residual = sp.simplify(d * entry(alpha, d) ** 2 - alpha**2)
    return Evidence(residual == 0, f"residual {residual}")


@check("exact", scope="n = 1, 3; d ≤ 6")
@mutant("2d, as for {−1, 1}^d", squared=lambda d: 4 * d)
@mutant("an infinite sensitivity", squared=lambda d: math.inf)
@mutant("a sensitivity of 1/n", squared=lambda d: 1)
def mean_of_bits(squared: Formula = lambda d: ppde.change_squared(math.inf, d, "tight")) -> Found:
    """The mean of n rows of {0, 1}^d has ℓ2 sensitivity √d/n if no row is shortened.

    The check tries all pairs of rows.
    """
    for n, d in product((1, 3), range(1, 7)):
        cube = list(product((0, 1), repeat=d))
        largest = max(sum(Fraction(a - b, n) ** 2 for a, b in zip(x, y, strict=True)) for x in cube for y in cube)
        yield {f"n={n}, d={d}": largest * n**2 == squared(d)}


# DISTANCES


def bits_probability(means: list[Fraction], bits: tuple[int, ...]) -> Fraction:
    """Return the probability of the given bits, if they are independent and have the given means."""
    factors = [mean if bit else 1 - mean for mean, bit in zip(means, bits, strict=True)]
    return math.prod(factors, start=Fraction(1))


@check("exact", scope="400 random pairs, d ≤ 4", attained=0.6)
@mutant("1/5 for 1/2", factor=Fraction(1, 5))
def product_distance(factor: Fraction = Fraction(1, 2)) -> Found:
    """Product distributions of bits have TV² ≤ ½ Σ (p_j − q_j)²/(p_j(1 − p_j)), where p_j and q_j are the means.

    The check adds up the probabilities of all points, for random rational means. The bound on TV² follows from
    Pinsker's inequality and KL ≤ χ² in every coordinate. For a factor of 0.3 in place of ½ the bound on TV² fails for
    some pair of product distributions.
    """
    rng = random.Random(3)
    for i in range(400):
        d = 1 + i % 4
        p = [Fraction(rng.randint(1, 39), 40) if i > 20 else Fraction(1, 2) for _ in range(d)]
        q = [min(max(v + Fraction(rng.randint(-9, 9), rng.choice((20, 200))), Fraction(0)), Fraction(1)) for v in p]
        distance = Fraction(0)
        for bits in product((0, 1), repeat=d):
            first, second = (bits_probability(means, bits) for means in (p, q))
            distance += abs(first - second) / 2
        chi_squared = sum(((a - b) ** 2 / (a * (1 - a)) for a, b in zip(p, q, strict=True)), Fraction(0))
        if chi_squared:
            yield distance**2 / (factor * chi_squared)


LARGEST_ERROR = sp.Rational(1, 2)


def divergence_constant(log2: Number) -> Number:
    """Return the constant 2 ln 2 − 1/2 = 0.8863, which bounds the divergence of Gaussians."""
    return 2 * log2 - Fraction(1, 2)


@check("symbolic", covers="all", scope="all d, α ≤ 1/2")
@mutant("α ≤ 3/4 for α ≤ 1/2", largest=sp.Rational(3, 4))
@mutant("a constant of 7/8", constant=lambda log2: Fraction(7, 8))
def gaussian_divergence(constant: Formula = divergence_constant, largest: sp.Expr = LARGEST_ERROR) -> Evidence:
    """Gaussians with ‖Σ̂ − Σ‖_Σ ≤ α ≤ 1/2 and ‖μ̂ − μ‖_Σ ≤ α have KL ≤ (2 ln 2 − 1/2)α² and TV ≤ 0.666 α.

    The divergence is 2 KL = Σ (x_i − ln(1 + x_i)) + ‖μ̂ − μ‖_Σ² for the eigenvalues 1 + x_i of Σ^{−1/2}Σ̂Σ^{−1/2}.
    Since x − ln(1 + x) = x² ∫₀¹ s/(1 + sx) ds and the integral decreases in x, x − ln(1 + x) is at most (4 ln 2 − 2)x²
    for x ≥ −1/2. The bound on TV follows from that on KL by Pinsker's inequality.
    """
    x, s = sp.symbols("x s", positive=True)
    integral = sp.simplify(x**2 * sp.integrate(s / (1 + s * x), (s, 0, 1)) - x + sp.log(1 + x))
    worst = (-largest - sp.log(1 - largest)) / largest**2
    needed = sp.simplify((worst + 1) / 2)
    log2 = series.log2()
    figure = (divergence_constant(log2[1]) / 2, Fraction(666, 1000) ** 2)
    holds = (
        integral == 0 and bool(sp.simplify(needed - sp.nsimplify(constant(sp.log(2)))) == 0) and figure[0] <= figure[1]
    )
    return Evidence(holds, f"constant {needed}", {"constant": f"{float(needed):.4f}"})
