"""Check DN25 §2 and Lemmas 4, 5: the law of nuclear-Laplace noise in singular values and vectors."""

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np
import sympy as sp

from covassay.reference.domain import Matrix, Number
from covassay.reference.laws import haar, nuclear_laplace
from covassay.verification.claims.checks.own.samplers import ALARM, decided
from covassay.verification.claims.evidence import Evidence, Formula, Found, check, mutant
from covassay.verification.statistics.tests import binomial, independence, kolmogorov_smirnov


def repulsion(s: Sequence[Number]) -> Number:
    """Return ∏_{i<j} (s_i² − s_j²), the Jacobian factor of the singular value decomposition."""
    product: Number = 1
    for a, b in combinations(s, 2):
        product = product * (a**2 - b**2)
    return product


def sum_of_squares(s: Sequence[Number]) -> Number:
    """Return the mutant ∏_{i<j} (s_i² + s_j²) of the Jacobian."""
    return math.prod(a**2 + b**2 for a, b in combinations(s, 2))


def vandermonde(s: Sequence[Number]) -> Number:
    """Return ∏_{i<j} (s_i − s_j), the Jacobian factor of the eigenvalue decomposition of symmetric matrices."""
    return math.prod(a - b for a, b in combinations(s, 2))


@check("symbolic", scope="d = 2, 3 as polynomials; d = 4, 5 at one point, whose coordinates are primes")
@mutant("the Jacobian of symmetric matrices", jacobian=vandermonde)
@mutant("a plus for a minus", jacobian=sum_of_squares)
def svd_volume(jacobian: Formula = repulsion, largest: int = 5) -> Found:
    """The volume element is dZ = ± ∏_{i<j} (σ_i² − σ_j²) dσ dA dB at Z = diag(σ), where U ≈ 1 + A and V ≈ 1 + B.

    To first order dZ = A diag(σ) + dσ − diag(σ) B with A and B antisymmetric; the determinant of the linear map
    (A, dσ, B) ↦ dZ is computed entry by entry. Left and right multiplication by rotations preserves the volume, so the
    formula holds at every (U, V).
    """
    for d in range(2, largest + 1):
        sigma = sp.symbols(f"s1:{d + 1}", positive=True)
        pairs = list(combinations(range(d), 2))
        columns = []
        for k in range(d):
            columns.append(sp.Matrix(d, d, lambda i, j, k=k: int(i == j == k)))
        for side in ("A", "B"):
            for i, j in pairs:
                basis = sp.zeros(d)
                basis[i, j], basis[j, i] = 1, -1
                columns.append(basis * sp.diag(*sigma) if side == "A" else -sp.diag(*sigma) * basis)
        linear = sp.Matrix.hstack(*(c.reshape(d * d, 1) for c in columns))
        point = {s: sp.Integer(p) for s, p in zip(sigma, (2, 3, 5, 7, 11), strict=False)}
        exact = linear.subs(point).det() if d > 3 else linear.det()
        expected = jacobian(sigma).subs(point) if d > 3 else jacobian(sigma)
        yield {f"d={d}": sp.expand(exact**2 - expected**2) == 0}


@check("floating", scope="d = 2")
@mutant("the Jacobian of symmetric matrices", jacobian=vandermonde)
def volume_constant(jacobian: Formula = repulsion) -> Evidence:
    """At d = 2 the Jacobian J and the Gaussian integral ∫ exp(−‖Z‖_F²/2) dZ = (2π)² give the reference's normaliser.

    The normaliser is (2π)² times the ratio of ∫ exp(−σ₁ − σ₂)|J| dσ and ∫ exp(−(σ₁² + σ₂²)/2)|J| dσ. The check computes
    the two integrals exactly, and compares the normaliser with the exponential of the reference's log normaliser.
    """
    a, b = sp.symbols("a b", positive=True)
    ordered = {a: a + b, b: b}  # a > b

    def integral(kernel: sp.Expr) -> sp.Expr:
        integrand = sp.expand(jacobian((a, b))) * kernel
        return sp.integrate(
            sp.integrate(sp.expand(integrand.subs(ordered, simultaneous=True)), (a, 0, sp.oo)), (b, 0, sp.oo)
        )

    laplace = integral(sp.exp(-a - b))
    u, v = sp.symbols("u v", positive=True)
    polynomial = sp.Poly(sp.expand(jacobian((u, v))), u, v)
    r, t = sp.symbols("r t", positive=True)
    polar = polynomial.as_expr().subs({u: r * sp.cos(t), v: r * sp.sin(t)}) * r
    gaussian = sp.integrate(sp.integrate(sp.expand(polar) * sp.exp(-(r**2) / 2), (r, 0, sp.oo)), (t, 0, sp.pi / 4))
    ours = float(sp.N(laplace / gaussian * (2 * sp.pi) ** 2))
    theirs = math.exp(nuclear_laplace.log_normalizer(2))
    return Evidence(abs(ours / theirs - 1) < 1e-12, f"{ours:.15g} against {theirs:.15g}")


@check("symbolic", scope="d ≤ 4")
@mutant("the Jacobian of symmetric matrices", jacobian=vandermonde)
@mutant("shape d(d + 1)/2", shape=lambda d: nuclear_laplace.radius_shape(d, symmetric=True))
def radial_factorisation(jacobian: Formula = repulsion, shape: Formula = nuclear_laplace.radius_shape) -> Found:
    """The density at σ = Rw is R^{d²−1} e^{−R} times a function of w.

    Hence the radius R follows Gamma(d²) and is independent of (w, U, V). The product ∏(σ_i² − σ_j²) is homogeneous of
    degree d(d − 1), and dσ contributes the factor R^{d−1}.
    """
    for d in range(2, 5):
        r, *w = sp.symbols(f"R w1:{d + 1}", positive=True)
        powers = sp.expand(jacobian([r * v for v in w]) * r ** (d - 1)) - r ** (shape(d) - 1) * sp.expand(jacobian(w))
        yield {f"d={d}": sp.expand(powers) == 0}


@check("floating", scope=f"400 draws, {ALARM}")
@mutant("unsigned QR", sampler=lambda d, rng, n: np.linalg.qr(rng.standard_normal((n, d, d)))[0])
def haar_signs(sampler: Formula = haar.sample, draws: int = 400) -> Evidence:
    """About half of the sampled Haar matrices have a positive first entry, and about half a positive determinant."""
    q = sampler(3, np.random.default_rng(6), draws)
    tests = [
        binomial(int((q[:, 0, 0] > 0).sum()), draws, 0.5, "Q₁₁ > 0 half of the time"),
        binomial(int((np.linalg.det(q) > 0).sum()), draws, 0.5, "det Q > 0 half of the time"),
    ]
    return decided(tests)


def _random_signs(rng: np.random.Generator, size: int, d: int) -> Matrix:
    signs: Matrix = rng.choice([-1.0, 1.0], (size, 1, d))
    return signs


@check("floating", scope=f"4000 draws at d = 3, {ALARM}")
@mutant("the signs of numpy", signs=lambda rng, size, d: np.ones((size, 1, d)))
@mutant("noise that is not rotation invariant", noise=lambda d, rng, size: rng.laplace(size=(size, d, d)))
def signed_factors(
    signs: Formula = _random_signs, noise: Formula = nuclear_laplace.sample, draws: int = 4000
) -> Evidence:
    """If their signs are random, the singular vectors of Z have the Haar law.

    The check tests the signs and the squares of U₁₁ and V₁₁, the signs of the determinants, and whether U₁₁ is
    independent of V₁₁ and of w₁.
    """
    d, rng = 3, np.random.default_rng(8)
    u, s, vt = np.linalg.svd(noise(d, rng, draws))
    common = signs(rng, draws, d)
    u, v = u * common, vt.swapaxes(1, 2) * common
    tests = [independence(u[:, 0, 0], v[:, 0, 0], "U₁₁ and V₁₁ are independent"),
             independence(u[:, 0, 0], s[:, 0] / s.sum(axis=1), "U₁₁ and w₁ are independent")]  # fmt: skip
    for q in (u, v):
        cdf = kolmogorov_smirnov(q[:, 0, 0] ** 2, lambda w: haar.squared_coordinate_cdf(w, d), "Q₁₁² is Beta(½, 1)")
        tests += [cdf, binomial(int((q[:, 0, 0] > 0).sum()), draws, 0.5, "Q₁₁ > 0 half of the time")]
        tests.append(binomial(int((np.linalg.det(q) > 0).sum()), draws, 0.5, "det Q > 0 half of the time"))
    return decided(tests)
