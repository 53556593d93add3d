"""Check the exact laws of the noise: full and symmetric nuclear-Laplace noise, its spectrum, and Bingham draws."""

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import combinations

import mpmath
import numpy as np
import sympy as sp

from covassay.reference.domain import Matrix, Vector
from covassay.reference.laws import bingham, nuclear_laplace
from covassay.verification.claims.checks.dn25.noise import repulsion, vandermonde
from covassay.verification.claims.checks.own.theorems import normaliser
from covassay.verification.claims.evidence import Evidence, Formula, Found, check, mutant
from covassay.verification.exact import gamma_mixture
from covassay.verification.exact.series import PI
from covassay.verification.exact.spectral_cdf import enclose_spectral_cdf, rational

KINDS = {False: "full", True: "symmetric"}

# SYMMETRIC NOISE


@check("symbolic", scope="d ≤ 4")
@mutant("the Jacobian of full matrices", jacobian=repulsion)
@mutant("without the √2 of the coordinates", weight_squared=1)
def symmetric_volume(jacobian: Formula = vandermonde, weight_squared: int = 2) -> Found:
    """For symmetric Z = QΛQᵀ the volume element at Q = I is dZ = ± 2^{d(d−1)/4} ∏_{i<j} (λ_i − λ_j) dλ dA.

    Near Q = I, Q is I + A to first order, with A antisymmetric, and Z changes by dZ = AΛ − ΛA + dΛ. In the isometric
    coordinates (Z_ii, √2 Z_ij) the determinant is computed entry by entry. Conjugation by rotations is an isometry, so
    the formula holds at every Q.
    """
    for d in range(2, 5):
        values = sp.symbols(f"l1:{d + 1}", real=True)
        pairs = list(combinations(range(d), 2))
        columns = [sp.Matrix(d, d, lambda i, j, k=k: int(i == j == k)) for k in range(d)]
        for i, j in pairs:
            basis = sp.zeros(d)
            basis[i, j], basis[j, i] = 1, -1
            columns.append(basis * sp.diag(*values) - sp.diag(*values) * basis)
        rows = [[c[k, k] for k in range(d)] + [sp.sqrt(2) * c[i, j] for i, j in pairs] for c in columns]
        exact = sp.Matrix(rows).det()
        yield {f"d={d}": sp.expand(exact**2 - weight_squared ** len(pairs) * jacobian(values) ** 2) == 0}


@check("exact", scope="d ≤ 5; the degree for all d")
@mutant("d², as for full matrices", shape=lambda d, symmetric: nuclear_laplace.radius_shape(d))
@mutant("d(d − 1)/2", shape=lambda d, symmetric: Fraction(d * (d - 1), 2) if symmetric else d**2)
def radius(shape: Formula = nuclear_laplace.radius_shape) -> Found:
    """The nuclear norm ‖Z‖_* follows Gamma(d(d + 1)/2, ρ) for symmetric noise and Gamma(d², ρ) for full noise.

    The polynomial part of the density is homogeneous, of degree d(d − 1)/2 for symmetric noise and d(d − 1) for full
    noise. With R = ‖Z‖_*, the volume element dλ contributes R^{d−1} dR. The shape is therefore the degree plus d. The
    shape, which is the mean of the Gamma law at ρ = 1, is also compared with the exact E Σ|λ_i| of the mixture of
    Gammas.
    """
    t = sp.Symbol("t", positive=True)
    for symmetric, product in ((True, vandermonde), (False, repulsion)):
        for d in range(1, 6):
            values = sp.symbols(f"x1:{d + 1}", positive=True)
            point = dict(zip(values, (2, 3, 5, 7, 11), strict=False))
            scaled = sp.sympify(product([t * v for v in values])).subs(point)
            degree = int(sp.degree(sp.expand(scaled), t))
            mean = gamma_mixture.mean_power_sum(d, 1, symmetric=symmetric)
            yield {f"{KINDS[symmetric]}, d={d}": degree + d == shape(d, symmetric) == mean}


# NORMALISERS


@check("exact", scope="d ≤ 5, both kinds")
@mutant("without d!", pfaffian=lambda d, symmetric: normaliser(d, symmetric) / math.factorial(d))
@mutant("the other kind", pfaffian=lambda d, symmetric: normaliser(d, not symmetric))
def normalisers(pfaffian: Formula = normaliser) -> Found:
    """De Bruijn's Pfaffian and an expansion in the gaps between the values give the same integral of the joint density.

    The integrals of the joint density are rational; at d = 2, 3, … they are 3, 207/2, … for full noise and 6, 42, … for
    symmetric noise.
    """
    for symmetric in (False, True):
        for d in range(1, 6):
            expanded = math.factorial(d) * gamma_mixture.normalizer(d, symmetric=symmetric)
            yield {f"{KINDS[symmetric]}, d={d}": expanded == pfaffian(d, symmetric)}
            if d in (2, 3):
                yield f"{KINDS[symmetric]}, d = {d}", str(expanded)


@check("floating", scope="d ≤ 40, both kinds")
@mutant("half the points", log_value=lambda d, s: nuclear_laplace.ensemble(max(1, d // 2), s).log_normalizer)
@mutant("without d!", log_value=lambda d, s: nuclear_laplace.ensemble(d, s).log_normalizer - math.lgamma(d + 1))
def float_normaliser(log_value: Formula = lambda d, s: nuclear_laplace.ensemble(d, s).log_normalizer) -> Found:
    """The reference's log normaliser, computed by quadrature in float64, agrees with the exact value to 1e-11."""
    for symmetric in (False, True):
        for d in (1, 2, 5, 10, 20, 40):
            exact = normaliser(d, symmetric)
            log = math.log(exact.numerator) - math.log(exact.denominator)
            yield (abs(log_value(d, symmetric) - log) / max(1.0, abs(log))) / 1e-11


# E‖Z‖_F² as a multiple of ρ² at d = 1, …, 5
FULL_SQUARES = tuple(map(Fraction, ("2", "15", "1125/23", "2386/21", "1533600/7003")))
SYMMETRIC_SQUARES = tuple(map(Fraction, ("2", "25/3", "150/7", "744/17", "22640/291")))


@check("floating", scope="d ≤ 5 and p ≤ 6, for full and for symmetric noise")
@mutant("the other kind", moment=lambda d, p, s: nuclear_laplace.mean_power_sum(d, p, not s))
@mutant("one power less", moment=lambda d, p, s: nuclear_laplace.mean_power_sum(d, p - 1, s))
@mutant(
    "one of the ten values is 3 % larger",
    symmetric_squares=(*SYMMETRIC_SQUARES[:4], SYMMETRIC_SQUARES[4] * Fraction(103, 100)),
)
def float_moments(
    moment: Formula = nuclear_laplace.mean_power_sum,
    full_squares: tuple[Fraction, ...] = FULL_SQUARES,
    symmetric_squares: tuple[Fraction, ...] = SYMMETRIC_SQUARES,
) -> Found:
    """The reference's E‖Z‖_{S_p}^p, by quadrature of the one-point density, agrees with the exact rational value.

    For d = 1 to 5 the check also compares the exact values of E‖Z‖_F²/ρ² with those that the claim states: 2, 15, … for
    full noise and 2, 25/3, … for symmetric noise.
    """
    squares = {False: full_squares, True: symmetric_squares}
    for symmetric in (False, True):
        for d in range(1, 6):
            for p in range(1, 7):
                exact = gamma_mixture.mean_power_sum(d, p, symmetric=symmetric)
                yield abs(moment(d, p, symmetric) / float(exact) - 1) / 1e-11
                if p == 2:
                    yield f"{KINDS[symmetric]}, d = {d}", str(exact)
                    yield {f"{KINDS[symmetric]}, d = {d}": exact == squares[symmetric][d - 1]}


# THE SPECTRAL NORM


@check("floating", scope="40 values with d ≤ 20, for full and for symmetric noise")
@mutant("the other kind", cdf=lambda d, t, symmetric: nuclear_laplace.spectral_norm_cdf(d, t, not symmetric))
@mutant("an error of 1e-9", cdf=lambda d, t, symmetric: nuclear_laplace.spectral_norm_cdf(d, t, symmetric) + 1e-9)
def float_cdf(cdf: Formula = nuclear_laplace.spectral_norm_cdf) -> Found:
    """The reference's P(‖Z‖ ≤ t), a Pfaffian in float64, is within 1e-13 of the enclosed value for both kinds."""
    for symmetric in (False, True):
        for d in (1, 2, 3, 7, 20):
            for c in (Fraction(1, 2), Fraction(3, 2), Fraction(5, 2), Fraction(7, 2)):
                exact = float(enclose_spectral_cdf(d, c * d, symmetric=symmetric, digits=16).midpoint)
                yield abs(float(cdf(d, float(c * d), symmetric)) - exact) / 1e-13


def ullman_potential(x: mpmath.mpf, edge: mpmath.mpf) -> mpmath.mpf:
    """Return ∫ ln|x − t| dμ(t) for the density arccosh(a/|t|)/(πa) on [−a, a].

    The measure μ is the law of aUC with U uniform on (0, 1) and C arcsine on [−1, 1]. E ln|x − rC| is ln(r/2) for r ≥
    |x| and ln((|x| + √(x² − r²))/2) for r < |x|.
    """
    v = abs(x)
    inner = min(v, edge)
    below = mpmath.quad(lambda r: mpmath.log((v + mpmath.sqrt(v**2 - r**2)) / 2), [0, inner]) if v else mpmath.mpf(0)
    above = mpmath.quad(lambda r: mpmath.log(r / 2), [inner, edge]) if inner < edge else mpmath.mpf(0)
    return (below + above) / edge


@check("floating", scope="nine points of the support and three points beyond its edge")
@mutant("an edge at 1.1ρd", full=0.35)
@mutant("the edge of full noise for symmetric noise", symmetric=1.0)
@mutant("an edge at 3.14ρd", full=0.9995)
def equilibrium(full: float = 1.0, symmetric: float = 0.5) -> Found:
    """The equilibrium measure of the spectrum of Z/(ρd) is Ullman's law: on [0, π] for the singular values of full
    noise, and on [−π/2, π/2] for the eigenvalues of symmetric noise.

    The law satisfies the Euler–Lagrange conditions to 18 digits. The Euler–Lagrange conditions say that a function is
    constant on the support and larger beyond its edge: |x| − ∫ ln|x − y| dμ(y) for symmetric noise, and s − ∫ ln|s² −
    t²| dμ(t) for full noise. The Euler–Lagrange conditions characterise the equilibrium measure, because the energy is
    strictly convex. The claim's statement that the largest value tends to the edge of the support is cited, not
    checked.
    """
    with mpmath.workdps(25):
        for kind, edge, factor in (("full", full * mpmath.pi, 2), ("symmetric", symmetric * mpmath.pi, 1)):
            values = [x - factor * ullman_potential(x, edge) for x in (edge * mpmath.mpf(k) / 8 for k in range(0, 9))]
            if max(abs(v - values[0]) for v in values) > mpmath.mpf(10) ** -18:
                yield f"{kind}: {mpmath.nstr(max(values) - min(values), 5)}"
            beyond = [edge * mpmath.mpf(k) / 8 for k in (9, 12, 24)]
            if any(x - factor * ullman_potential(x, edge) <= values[0] for x in beyond):
                yield f"{kind}: beyond the edge"
            yield f"edge, {kind}", mpmath.nstr(edge, 12)


WITHIN = {  # the probability that ‖Z‖/(ρd) is within 10 % of its limit, for full and for symmetric noise
    False: {5: "0.145", 10: "0.265", 20: "0.472", 40: "0.772"},
    True: {5: "0.208", 10: "0.332", 20: "0.518", 40: "0.759"},
}


@check("enclosed", more="apart", scope="d = 5 to 40")
@mutant("around 1.1 and 0.55", edges={False: Fraction(11, 10), True: Fraction(11, 20)})
@mutant("around π for symmetric noise", edges={False: PI[0], True: PI[0]})
def concentration(edges: Mapping[bool, Fraction] | None = None, apart: Fraction = Fraction(1, 10)) -> Found:
    """‖Z‖/(ρd) concentrates around π for full noise, and around π/2 for symmetric noise. At d = 40 it is within 10 % of
    these values with the probabilities 0.77 and 0.76.

    The probabilities at d = 5, 10, 20, 40 are those of the table `WITHIN`, to three decimals. The check encloses the
    probabilities for rational intervals around rational bounds on π.
    """
    for symmetric, edge in (edges or {False: PI[0], True: PI[0] / 2}).items():
        for d, text in WITHIN[symmetric].items():
            low, high = (
                enclose_spectral_cdf(d, edge * c * d, symmetric=symmetric, digits=6) for c in (1 - apart, 1 + apart)
            )
            least, most = (rational(high.lower) - rational(low.upper), rational(high.upper) - rational(low.lower))
            name, half = f"{KINDS[symmetric]}, d = {d}", Fraction(1, 2000)
            yield {name: Fraction(text) - half <= least and most <= Fraction(text) + half}
            yield name, f"{float(least):.3f}"


# THE SIMPLEX


@check("symbolic", scope="d = 2, 3")
@mutant("the density of symmetric noise", density=vandermonde, degree=lambda d: d * (d - 1) // 2)
@mutant("E R² = d⁴", second=lambda k: k**2)
def simplex(
    density: Formula = repulsion, degree: Formula = lambda d: d * (d - 1), second: Formula = lambda k: k * (k + 1)
) -> Found:
    """w = σ/‖Z‖_* has density ∝ ∏|w_i² − w_j²| and is independent of ‖Z‖_*; at d = 2, w = (1 ± √U)/2 with U uniform.

    The mean of w₁² + … + w_d² is integrated over the simplex. At ρ = 1, the product of this mean and E‖Z‖_*² = d²(d² +
    1) is the exact E‖Z‖_F², which a mixture of Gammas gives. The check compares the product with the exact E‖Z‖_F² for
    d = 2 and 3; at d = 2 each of them is 15.
    """
    u, v = sp.symbols("u v", positive=True)
    difference = sp.factor(sp.sympify(density([(1 + v) / 2, (1 - v) / 2])))  # the difference w_1 − w_2 is v ≥ 0
    distribution = sp.integrate(difference, (v, 0, u)) / sp.integrate(difference, (v, 0, 1))
    law = sp.simplify(distribution - u**2) == 0
    yield {"the law at d = 2": law}
    for d in (2, 3):
        gaps = sp.symbols(f"g1:{d + 1}", positive=True)
        # w_i = Σ_{k ≥ i} g_k/k maps the simplex of the g linearly, so with a constant Jacobian, onto the ordered w
        w = [sum(gaps[k] / sp.Integer(k + 1) for k in range(i, d)) for i in range(d)]

        def integral(polynomial: sp.Expr, gaps: tuple[sp.Symbol, ...] = gaps, d: int = d) -> sp.Expr:
            """Return the integral over the simplex by Dirichlet's formula, ∫ ∏ g^{a} = ∏ a!/(Σ a + d − 1)!."""
            total = sp.Integer(0)
            for powers, coefficient in sp.Poly(sp.expand(polynomial), *gaps).terms():
                total += coefficient * sp.prod([sp.factorial(a) for a in powers]) / sp.factorial(sum(powers) + d - 1)
            return total

        weight = density(w)
        mean = integral(weight * sum(x**2 for x in w)) / integral(weight)
        shape = degree(d) + d
        yield {f"d={d}": mean * second(shape) == sp.Rational(gamma_mixture.mean_square(d))}


# BINGHAM


def five_dimensional(log_weight: Callable[[Matrix], Vector]) -> tuple[float, Vector]:
    """Return the mean of a weight over uniform u on the sphere of R⁵, and the weighted mean of (u_1², u_2²), by
    quadrature. The weight is a function of u_1² and u_2².

    For uniform u, u_1² + u_2² = 1 − t² where t has density 3t² on (0, 1), and the angle of (u_1, u_2) is uniform.
    """
    x, w = np.polynomial.legendre.leggauss(80)
    t, angle = np.meshgrid((x + 1) / 2, (x + 1) * math.pi / 4, indexing="ij")
    weights = np.outer(w, w) / 4 * 3 * t**2
    squares = np.stack([(1 - t**2) * np.cos(angle) ** 2, (1 - t**2) * np.sin(angle) ** 2])
    values = weights * np.exp(log_weight(squares))
    whole = float(values.sum())
    return whole, (squares * values).sum(axis=(1, 2)) / whole


@check("floating", scope="q = 5, one spectrum")
@mutant(
    "division by (1 + 2y/b)^{q/2}",
    log_rate=lambda y, b, q: -y - q / 2 * np.log(1 + 2 * y / b) - bingham.log_envelope_bound(b, q),
)
@mutant(
    "M(b) without its exponential",
    log_rate=lambda y, b, q: -y + q / 2 * np.log(1 + 2 * y / b) - q / 2 * math.log(q / b),
)
def bingham_acceptance(log_rate: Formula = bingham.log_acceptance) -> Evidence:
    """Proposals accepted with probability e^{−y}(1 + 2y/b)^{q/2}/M(b) follow the Bingham law, at the computed rate.

    For M = diag(6, 3, 0, 0, 0) and b = 1.547812, the acceptance rate is 0.68610, E u_1² = 0.54104 and E u_2² = 0.18107.
    Two quadratures, of the Bingham law and of the angular Gaussian density of the proposals times the acceptance
    probability, agree with the reference's inverse Laplace transforms. If the acceptance
    probability divides by the power (1 + 2y/b)^{q/2} in place of multiplying, accepted proposals have E u_1² = 0.904.
    """
    m = np.diag([6.0, 3.0, 0.0, 0.0, 0.0])
    a, _ = bingham.decompose(m)
    b, q = bingham.envelope_parameter(a), 5

    def y(squares: Matrix) -> Vector:
        quadratic: Vector = 6 - 6 * squares[0] - 3 * squares[1]
        return quadratic

    log_det = float(np.log1p(2 * a / b).sum())
    proposals, _ = five_dimensional(lambda s: log_det / 2 - q / 2 * np.log(1 + 2 * y(s) / b))
    rate, accepted = five_dimensional(lambda s: log_det / 2 - q / 2 * np.log(1 + 2 * y(s) / b) + log_rate(y(s), b, q))
    _, law = five_dimensional(lambda s: -y(s))
    _, divided = five_dimensional(lambda s: -y(s) - q * np.log(1 + 2 * y(s) / b))
    known = bingham.second_moments(m)[:2]
    grid = np.linspace(0, 6, 601)
    never_above = float(np.max(log_rate(grid, b, q)))
    errors = [
        abs(proposals - 1),
        abs(rate - bingham.acceptance_rate(m)),
        float(np.abs(accepted - law).max()),
        float(np.abs(law - known).max()),
        abs(bingham.envelope_equation(b, list(a))),
    ]
    figures = {"b": f"{b:.6f}", "rate": f"{rate:.5f}", "E u_1²": f"{law[0]:.5f}", "E u_2²": f"{law[1]:.5f}",
               "E u_1², dividing": f"{divided[0]:.4f}"}  # fmt: skip

    another = divided[0] - law[0] > 0.35  # division in place of multiplication gives E u_1² = 0.904, not 0.541
    holds = max(errors) < 1e-10 and never_above <= 1e-12 and bool(another)
    return Evidence(holds, f"largest error {max(errors):.2g}; accepted {accepted}", figures)
