"""Check the recursive moment: what it spends, and what one round does to the rows and to the second moment."""

from fractions import Fraction
from itertools import product

import numpy as np
import sympy as sp

from covassay.reference.domain import Matrix, Rows, unit_rows
from covassay.reference.laws import wigner
from covassay.reference.mechanisms.concentrated import recursive_moment as mechanism
from covassay.verification.claims.evidence import Evidence, Formula, Found, check, mutant

RHO = 0.75
MORE, LESS = Fraction(103, 100), Fraction(97, 100)
ENSEMBLES = {"reconstructed": "wigner", "tight": "goe"}
NOISE = Fraction(1, 80)  # the product mc, where cκ is a bound on the operator norm of the noise
STOP = 640  # the lemma on one round has κ ≥ 640m
NEXT = Fraction(3, 7)  # the factor by which κ and R² shrink from round to round


# THE BUDGET


@check("floating", scope="d ≤ 6, K ≤ 5, ρ = 0.75", less="scale", more="scale")
@mutant("T for K rounds", scale=lambda n, rho, k, c: mechanism.noise_scale(n, rho, max(1, k - 1), c))
@mutant("every round spends all", scale=lambda n, rho, k, c: mechanism.noise_scale(n, rho, 1, c))
@mutant("the other ensemble", ensembles={"reconstructed": "goe", "tight": "wigner"})
@mutant("one column as two", loss=lambda rho, d, c: mechanism.privacy_loss(rho, 2, c))
def budget(
    scale: Formula = mechanism.noise_scale,
    loss: Formula = mechanism.privacy_loss,
    ensembles: dict[str, str] = ENSEMBLES,
) -> Found:
    """K rounds of the recursive moment spend `privacy_loss` on rows along two axes.

    Let s be the `separation_squared` of x xᵀ − y yᵀ. Given the earlier rounds, replacing x by y costs the Rényi
    divergence D_α = (α/2) s/(nσ)² in a round. Rows along two axes have the same divergence with variance 1/2 above the
    diagonal as with variance 1, and rows turned by 45° do not. The check therefore compares both laws of the noise.
    """
    for (calibration, ensemble), d, rounds in product(ensembles.items(), (1, 2, 3, 6), (1, 2, 5)):
        x, y = np.eye(d)[0], np.eye(d)[1] if d > 1 else np.zeros(1)
        given = float(loss(RHO, d, calibration))

        def spent(x: Matrix, y: Matrix, law: str = ensemble, k: int = rounds, words: str = calibration) -> float:
            change: Matrix = np.outer(x, x) - np.outer(y, y)
            return k * float(wigner.separation_squared(change, law)) / float(scale(1, RHO, k, words)) ** 2 / 2

        names = {"goe": 1.0, "wigner": 0.5} if d > 1 else {}
        turned = (np.eye(d)[0] + np.eye(d)[1]) / 2**0.5 if d > 1 else x
        other = (np.eye(d)[0] - np.eye(d)[1]) / 2**0.5 if d > 1 else y
        expected = names.get("goe" if calibration == "tight" else "wigner", 1.0)
        if abs(spent(x, y) / given - 1) > 1e-12 or abs(spent(turned, other) / given - expected) > 1e-12:
            yield f"{calibration}, d = {d}, K = {rounds}: {spent(x, y) / given:.6f} of the proven budget"


@check("floating", scope="400 random matrices, d ≤ 5")
@mutant("rows are not shortened", following=lambda rows, z, m: following(rows, z, m, longest=np.inf))
@mutant("rows are shortened to 1.03", following=lambda rows, z, m: following(rows, z, m, longest=1.03))
@mutant("the inverse is smaller by 3 %", following=lambda rows, z, m: following(rows, z, m, undone=0.97))
def next_rows(following: Formula = mechanism.evened_out) -> Found:
    """For any noisy matrix the next rows lie in the unit ball, and the inverse map recovers every unshortened row."""
    rng = np.random.default_rng(75)
    for _ in range(400):
        d, m = int(rng.integers(1, 6)), int(rng.integers(1, 30))
        rows = unit_rows(rng.standard_normal((9, d)))
        rows[0] *= 1e-3  # no map makes the row longer than 1
        z = np.asarray(wigner.sample_goe(d, rng)) * 10.0 ** rng.uniform(-4, 1)
        mapped, back = following(rows, z, m)
        yield float(np.linalg.norm(np.asarray(mapped), axis=1).max())
        yield bool(np.abs(back @ np.asarray(mapped)[0] - rows[0]).max() <= 1e-15)


def following(rows: Rows, z: Matrix, m: int, longest: float = 1.0, undone: float = 1.0) -> tuple[Matrix, Matrix]:
    """Compute the rows and the inverse map of the next round with a deliberate error: the rows are shortened to the
    length `longest`, or the inverse map is multiplied by `undone`.
    """
    values, vectors = np.linalg.eigh(z)
    stretch = np.where(values >= 1 / (10 * m), 0.5, 1.0) * (8 / 3) ** 0.5
    mapped = np.asarray(rows) @ (vectors * stretch) @ vectors.T
    shortened = mapped / np.maximum(1.0, np.linalg.norm(mapped, axis=1) / longest)[:, None]
    return shortened, undone * (vectors / stretch) @ vectors.T


# ONE ROUND: IN UNITS IN WHICH I ⪯ Σ ⪯ κI, WITH ‖N‖ ≤ κ/(80m) AND κ ≥ 640m


@check("symbolic", covers="all", more="stretch threshold", scope="all m ≥ 1, all κ ≥ 640m, all d")
@mutant("half of the threshold", threshold=lambda m: mechanism.threshold(m) / 2)
@mutant("the noise larger by 3 %", noise=MORE * NOISE)
@mutant("factors smaller by 13 %", stretch=lambda s: Fraction(87, 100) * mechanism.stretch_squared(s))
@mutant("rounds while κ exceeds 40m", stop=40)
def one_round(
    threshold: Formula = mechanism.threshold,
    stretch: Formula = mechanism.stretch_squared,
    noise: Fraction = NOISE,
    stop: int = STOP,
) -> Found:
    """One round keeps I ⪯ (8/7) ΠΣΠ ⪯ (3/7) κI, for every m ≥ 1 and κ ≥ 640m.

    The upper bound is s (h² + ψ + 2c) ≤ 3/7 with s = 8/7, h = 1/2, ψ = 1/(10m) and c = 1/(80m). For the lower bound let
    f = 1/s, a = (ψ − c)κ − 1 and x = cκ. By a Schur complement of Σ − f Π⁻², which the page explains, it is enough that
    (1 − f) a²/((1 − f) a + x²) + 1 − f ≥ (1/h² − 1) f.
    """
    u, v = sp.symbols("u v", nonnegative=True)
    m, k = 1 + u, stop + v  # κ = km
    factor, halved = NEXT * sp.nsimplify(stretch(sp.Integer(1))), NEXT * sp.nsimplify(stretch(sp.Rational(1, 2)))
    psi, c, f = sp.nsimplify(threshold(m)), sp.Rational(noise.numerator, noise.denominator) / m, 1 / factor
    upper = sp.together(NEXT - halved - factor * (psi + 2 * c))
    a, x = sp.simplify((psi - c) * k * m) - 1, sp.simplify(c * k * m)
    lower = sp.together((1 - f) * a**2 + (1 - f - (factor / halved - 1) * f) * ((1 - f) * a + x**2))
    yield from (
        name
        for name, value in {"upper": upper, "lower": lower, "a": sp.together(a)}.items()
        if not all(
            sp.Poly(part, u, v).coeffs() and min(sp.Poly(part, u, v).coeffs()) >= 0 for part in value.as_numer_denom()
        )
    )
    yield {"a round makes progress": f < 1}


@check("exact", covers="case", more="product", scope="d = 2, m = 1, κ = 80000")
@mutant("the bound 19/20", bound=lambda kappa: Fraction(19, 20))
@mutant("a smallest eigenvalue below 1", small=Fraction(12601, 100))
def not_almost_one(
    bound: Formula = lambda kappa: 1 - Fraction(80, kappa), product: int = 1000, small: Fraction = Fraction(12602, 100)
) -> Evidence:
    """The inequality ΠΣΠ ⪰ (1 − 80m/κ) I fails for some Σ at m = 1, κ = 80000: the least eigenvalue of ΠΣΠ is below
    0.96, where the inequality says 0.999.

    The counterexample is Σ = (8000, 1000; 1000, 126.02) with the noise N = (0, −1000; −1000, 0). The matrix Σ + N is
    diagonal, and only its first eigenvalue is above the threshold.
    """
    kappa, large = 80000, Fraction(8000)
    above_one = (large - 1) * (small - 1) - product**2 >= 0 and small >= 1
    below_kappa = (kappa - large) * (kappa - small) - product**2 >= 0
    allowed = product <= kappa * NOISE and large >= kappa * mechanism.threshold(Fraction(1)) > small
    claimed = bound(kappa)
    least = (large / 4 - claimed) * (small - claimed) - Fraction(product, 2) ** 2
    fails = least < 0 and (large / 4 - Fraction(96, 100)) * (small - Fraction(96, 100)) < Fraction(product, 2) ** 2
    return Evidence(above_one and below_kappa and allowed and fails, f"determinant {least}")
