"""Check KLSU19 §3.4–3.5 and Theorems 1.1, 1.2: private preconditioning, round by round, and learning with it."""

import math
from fractions import Fraction

import numpy as np

from covassay.reference import tails
from covassay.reference.domain import Matrix
from covassay.reference.mechanisms.gaussian_estimation import gaussian_learner, naive_pce, pgce, ppc, weak_ppc
from covassay.reference.privacy import ZCDP, Spend
from covassay.reference.projections import psd_cone
from covassay.verification.claims.checks.klsu19.covariance import symmetric_noise
from covassay.verification.claims.evidence import ROUNDING, Formula, Found, check, mutant


def random_covariance(rng: np.random.Generator, d: int, kappa: float) -> Matrix:
    """Return a random Σ with I ⪯ Σ ⪯ κI and random eigenvectors; often 1 and κ are eigenvalues."""
    values = np.where(rng.random(d) < 0.5, rng.choice([1.0, kappa], d), kappa ** rng.random(d))
    frame = np.linalg.qr(rng.standard_normal((d, d)))[0]
    sigma: Matrix = (frame * values) @ frame.T
    return sigma


def unscaled(z: Matrix, kappa: float) -> Matrix:
    """Return the matrix B = Π/2 + (I − Π), the reference's preconditioner A without its factor 1/√c."""
    a, _ = weak_ppc.preconditioner(z, kappa)
    return np.asarray(a * math.sqrt(weak_ppc.FLOOR))


# THE LEMMA ON ONE ROUND, WHICH IS THEOREM 3.8 WITH EXPLICIT CONSTANTS


@check("exact", covers="all", scope="all κ ≥ 1000", less="upper", more="mixed")
@mutant("noise of κ/10", nu=Fraction(1, 10))
@mutant("κ ≥ 1 for κ ≥ 1000", kappa=Fraction(1))
@mutant("2/3 for 0.69", progress=Fraction(2, 3))
@mutant("without 1 + s", mixed=lambda p, q, kappa, s, nu: weak_ppc.lower_bound_mixed(p, q, kappa, s, nu) * (1 + s))
@mutant("3 % of p² more for small p", small=lambda p: weak_ppc.lower_bound_small(p) + Fraction(3, 100) * p**2)
def constants_of_a_round(
    nu: Fraction = Fraction(str(weak_ppc.NOISE_SHARE)),
    kappa: Fraction = Fraction(weak_ppc.SMALLEST_KAPPA),
    progress: Fraction = Fraction(str(weak_ppc.PROGRESS)),
    mixed: Formula = weak_ppc.lower_bound_mixed,
    upper: Formula = weak_ppc.upper_bound,
    small: Formula = weak_ppc.lower_bound_small,
) -> Found:
    """The constants of the reference's lemma, I ⪯ AΣA ⪯ 0.69 κI for κ ≥ 1000, s = ν = 1/20 and c = 0.84, are right.

    The arithmetic is rational. The upper bound on the eigenvalues of AΣA/κ is (1/2 + ν)/((1 − s)c) ≤ 0.69. A unit
    vector has a part of length p in the range of Π, and a part of length q orthogonal to it. BΣB is at least 1 − 3p²/4
    along this vector, which is above c for p ≤ 9/20. For p ≥ 9/20, where q ≤ 9/10, BΣB is at least κp((1/2 − ν)p/4 −
    νq)/(1 + s), which grows with p and is above c too. To see this, let v be the unit vector and u = (p/2, q), the
    lengths of the two parts of Bv. For every noise of norm at most νκ, Σ̂ is at least uᵀMu along Bv, where M = κ[[1/2 −
    ν, −ν], [−ν, 0]]. Because Σ ⪰ Σ̂/(1 + s), BΣB is at least uᵀMu/(1 + s) along v. The upper bound on the eigenvalues
    of BΣB is κ(1/2 + ν)/(1 − s). The bound 1 − 3p²/4 is ‖u‖² = p²/4 + q² with p² + q² = 1, and it holds because Σ ⪰ I.
    """
    s, floor, p, q = (
        Fraction(str(weak_ppc.SAMPLING_ERROR)),
        Fraction(str(weak_ppc.FLOOR)),
        Fraction(9, 20),
        Fraction(9, 10),
    )
    values = {
        "upper": progress - upper(s, nu) / floor,
        "small p": small(p) - floor,
        "large p": mixed(p, q, kappa, s, nu) - floor,
        "form above": -abs(upper(s, nu) * (1 - s) - Fraction(1, 2) - nu),
        "form for small p": -abs(small(p) - (p / 2) ** 2 - (1 - p**2)),
        "form for large p": -abs(
            mixed(p, q, kappa, s, nu) * (1 + s) - kappa * (p / 2 * (1 - 2 * nu) * p / 4 - nu * p * q)
        ),
        "q at 9/20": q**2 - (1 - p**2),
        "on V": Fraction(2) - (1 + s + nu),
    }
    yield {name: margin >= 0 for name, margin in values.items()}
    yield from ((name, f"{float(margin):.4g}") for name, margin in values.items())


@check("floating", scope="4000 random cases, d ≤ 4, and extreme ones")
@mutant("without the factor 1/√c", precondition=lambda z, k: (unscaled(z, k), z))
@mutant("0.6 for 0.69", progress=0.6)
@mutant("0.67 for 0.69", progress=0.67)
@mutant("a threshold 3 % higher", precondition=lambda z, k: weak_ppc.preconditioner(z, 1.03 * k))
@mutant("a threshold 3 % lower", precondition=lambda z, k: weak_ppc.preconditioner(z, 0.97 * k))
def a_round_makes_progress(
    precondition: Formula = weak_ppc.preconditioner, progress: float = weak_ppc.PROGRESS
) -> Found:
    """Theorem 3.8 with constants: I ⪯ AΣA ⪯ 0.69 κI if I ⪯ Σ ⪯ κI, κ ≥ 1000, (1 − s)Σ ⪯ Σ̂ ⪯ (1 + s)Σ, ‖N‖ ≤ νκ.

    A is the reference's preconditioner for the projection of Σ̂ + N onto the cone, and s = ν = 1/20. The check tries
    random and extreme matrices for the covariance Σ, the sample covariance Σ̂ and the noise N. In some of the extreme
    cases the errors move all eigenvalues of Σ to one value between 0.4 κ and 0.6 κ. The check also requires
    that A halves the directions of eigenvalue κ/2 or more, and no others.
    """
    rng = np.random.default_rng(3)
    for i in range(4000):
        d, kappa = int(rng.integers(1, 5)), 10 ** rng.uniform(3, 6)
        sigma = random_covariance(rng, d, kappa)
        noise = symmetric_noise(rng, d) * 0.05 * kappa
        relative = symmetric_noise(rng, d) * weak_ppc.SAMPLING_ERROR
        if i % 20 == 0:
            # Here Σ is a multiple of I. The errors of sampling and noise move its eigenvalue to a number from 0.4 κ to
            # 0.6 κ, which is once just below κ/2.
            level = 0.4 + 0.2 * (i // 20) / 200
            sigma = np.diag([(level + 0.05) / 0.95 * kappa] * d)
            relative, noise = (
                -weak_ppc.SAMPLING_ERROR * np.eye(d),
                -weak_ppc.NOISE_SHARE * (1 + 1e-12) * kappa * np.eye(d),
            )
        root = np.linalg.cholesky(sigma)
        a, _ = precondition(psd_cone(root @ (np.eye(d) + relative) @ root.T + noise), kappa)
        values = np.linalg.eigvalsh(a @ sigma @ a)
        yield values[0] >= 1 - ROUNDING * kappa and values[-1] <= progress * kappa
        halves, _ = precondition(np.diag([kappa * (0.5 - ROUNDING), kappa * (0.5 + ROUNDING)]), kappa)
        yield math.isclose(halves[0, 0], 2 * halves[1, 1])


# ALL ROUNDS


@check("floating", scope="κ from 10³ to 10³⁰")
@mutant("one round less", rounds=lambda kappa: ppc.rounds(kappa) - 1)
@mutant("one round more", rounds=lambda kappa: ppc.rounds(kappa) + 1)
def number_of_rounds(rounds: Formula = ppc.rounds) -> Found:
    """In T = ⌈ln(κ/1000)/ln(1/0.69)⌉ rounds κ falls to at most 1000; each round has κ_t > 1000, as the lemma needs."""
    for exponent in np.linspace(3.01, 30, 500):
        kappa = 10**exponent
        t = rounds(kappa)
        if not ppc.kappa_of_round(kappa, t + 1) <= 1000 * (1 + ROUNDING) < ppc.kappa_of_round(kappa, t) * (1 + 1e-6):
            yield f"κ={kappa:.4g}"


def rows_for_noise(n: float, d: int, rho: float, beta: float, t: int) -> float:
    """Return the number of rows 570 d^{3/2} ln(nT/β)^{3/2} √(T/ρ) with which the noise is small enough."""
    return float(570 * d**1.5 * math.log(n * t / beta) ** 1.5 * math.sqrt(t / rho))


def rows_for_regularity(d: int, beta: float) -> float:
    """Return the number of rows 3300 (d + 2 ln(2/β)) with which the data are regular enough."""
    return 3300 * (d + 2 * math.log(2 / beta))


@check("floating", less="noise regular", scope="4000 random parameters")
@mutant("√d for d^{3/2}", noise=lambda n, d, *a: rows_for_noise(n, d, *a) / d)
@mutant("ln^{1/2} for ln^{3/2}", noise=lambda n, d, r, b, t: rows_for_noise(n, d, r, b, t) / math.log(n * t / b))
@mutant("d + ln(2/β) for d + 2 ln(2/β)", regular=lambda d, beta: 3300 * (d + math.log(2 / beta)))
def rows_of_a_preconditioner(noise: Formula = rows_for_noise, regular: Formula = rows_for_regularity) -> Found:
    """n ≥ 570 d^{3/2} ln(nT/β)^{3/2} √(T/ρ) and n ≥ 3300 (d + 2 ln(2/β)) rows are enough for PPC with T rounds.

    With ρ = ε²/2 both numbers of rows are Õ(d^{3/2}√log κ/ε + d). The number of rows for the noise follows from r² ≤ 5d
    ln(nT/β), υ* ≤ 4√(d ln(2T/β)), σ = √(2T/ρ) r²/n and ν = 1/20, with 20 · √2 · 5 · 4 = 566. The number of rows for the
    sampling error is at least (√d + √(2 ln(2/β)))²/(√1.05 − 1)², because (a + b)² ≤ 2(a² + b²) and 2/(√1.05 − 1)² =
    3280. At random parameters, the check confirms that neither of the two numbers of rows is smaller than the number
    that the reference requires. It also confirms that 570 and 3300 are at least the unrounded constants, which are
    about 566 and 3280.
    """
    # at ln(nT/β) = 1 and ln(2/β) = 0 the numbers of rows are 570 and 3300
    constants = noise(math.e, 1, 1.0, 1.0, 1), regular(1, 2.0)
    yield {"570": constants[0] >= 20 * math.sqrt(2) * 5 * 4, "3300": constants[1] >= 2 / (math.sqrt(1.05) - 1) ** 2}
    rng = np.random.default_rng(5)
    for _ in range(4000):
        d, rho, beta = int(10 ** rng.uniform(0, 5)), 10 ** rng.uniform(-6, 1), 10 ** rng.uniform(-20, -1e-3)
        n, t = 10 ** rng.uniform(1, 12), int(10 ** rng.uniform(0, 3))
        asked = weak_ppc.noise_rows(n, d, rho / t, beta / t, "reconstructed")
        yield asked / noise(n, d, rho, beta, t)
        yield weak_ppc.regularity_rows(d, beta) / regular(d, beta)
        radius = naive_pce.radius_squared(n, d, 1, beta / t)
        exact = naive_pce.noise_variance(n, rho / t, radius, "reconstructed") ** 0.5
        # the value nσυ*/ν does not depend on n
        yield math.isclose(exact * n * tails.upsilon_star(d, beta / t) / weak_ppc.NOISE_SHARE, asked)


# LEARNING


@check("floating", scope="d = 1, 2, 7; all ρ by scaling")
@mutant("both steps at ρ", part=lambda rho: rho)
def budget(part: Formula = pgce.half) -> Found:
    """PGCE and the Gaussian learner are ρ-zCDP: each has two steps, and a step spends at most ρ/2.

    The check evaluates the reference's `spend` with both calibrations, for d = 1, 2 and 7.
    """
    rho = Fraction(3, 5)
    yield {"halves": 2 * part(rho) == rho and gaussian_learner.half(rho) == pgce.half(rho) == part(rho)}

    def proven(spent: Spend) -> float:
        return spent.proven.rho if isinstance(spent.proven, ZCDP) else math.inf

    for d in (1, 2, 7):
        for mechanism in (pgce, gaussian_learner):
            for used in (
                mechanism.spend(rho=0.6, dimension=d, calibration="reconstructed"),
                mechanism.spend(rho=0.6, dimension=d, calibration="tight"),
            ):
                yield {f"{mechanism.__name__}, d={d}": proven(used) <= 0.6 * (1 + ROUNDING)}


@check("floating", scope="20 random data sets, d ≤ 3")
@mutant(
    "the rows themselves",
    covariance=lambda x, noise, **k: pgce.release(x, noise.covariance, **{**k, "rho": k["rho"] / 2}),
)
def unknown_mean(covariance: Formula = lambda x, noise, **k: gaussian_learner.release(x, noise, **k)[1:]) -> Found:
    """The covariance that the learner of Theorem 1.1 releases depends on differences only, and so not on the mean μ.

    (x₂ᵢ − x₂ᵢ₋₁)/√2 has mean 0 and covariance (Σ + Σ)/2 = Σ, and every row is in one difference.
    """
    rng = np.random.default_rng(8)
    for _ in range(20):
        d, kappa = int(rng.integers(1, 4)), 2000.0
        x = rng.standard_normal((400, d)) @ np.linalg.cholesky(random_covariance(rng, d, kappa)).T
        noise = gaussian_learner.draw_noise(d, rng, kappa=kappa, mean_bound=10.0)
        first, second = (
            covariance(x + shift, noise, rho=2.0, kappa=kappa, beta=0.1) for shift in (0.0, 5 * rng.standard_normal(d))
        )
        yield np.abs(first - second).max() <= 1e-6 * np.abs(first).max()
