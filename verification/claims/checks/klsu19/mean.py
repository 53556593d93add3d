"""Check KLSU19 §4 on a Gaussian mean: KVMean estimates one column, NaivePME every column, PME preconditions first."""

import math
from fractions import Fraction
from itertools import product

import mpmath
import numpy as np
import sympy as sp

from covassay.reference.domain import Matrix, Number, Rows, Vector
from covassay.reference.mechanisms.gaussian_estimation import gaussian_learner, kv_mean, naive_pme, pme
from covassay.reference.mechanisms.gaussian_estimation.weak_ppc import SMALLEST_KAPPA
from covassay.reference.privacy import zcdp_composition, zcdp_of_gaussian
from covassay.verification.claims.evidence import ROUNDING, Evidence, Formula, Found, check, mutant
from covassay.verification.exact.series import Bounds, chi_square_tail

CASES = 3000


def gaussian_tail(t: Fraction) -> Bounds:
    """Return rational lower and upper bounds on P(N(0, 1) > t) for t ≥ 0."""
    low, high = chi_square_tail(t * t)
    return low / 2, high / 2


# PRIVACY


@check("symbolic", covers="all", scope="all n, d, w, ρ")
@mutant("counts with half the variance", counts=lambda rho: kv_mean.count_variance(rho) / 2)
@mutant("noise for a window of w", mean=lambda n, w, rho: kv_mean.mean_variance(n, w / 2, rho))
def kv_budget(counts: Formula = kv_mean.count_variance, mean: Formula = kv_mean.mean_variance) -> Evidence:
    """KVMean's counts, whose sensitivity is √2, and its clipped mean, whose sensitivity is 2w/n, cost ρ/2 each.

    For d columns, each at a budget of ρ/d, KVMean costs ρ in all. The composition is adaptive, because the window of
    the mean depends on the released counts.
    """
    rho, n, w, d = sp.symbols("rho n w d", positive=True)
    parts = [zcdp_of_gaussian(sp.sqrt(2), counts(rho / d)), zcdp_of_gaussian(2 * w / n, mean(n, w, rho / d))]
    total = sp.simplify(d * zcdp_composition(*parts))
    return Evidence(sp.simplify(total - rho) == 0, f"spends {total}")


def cumulative(block: Matrix, sigma: float, last: int) -> Matrix:
    """Return the histogram with a deliberate error: each count also contains all values below the bin."""
    counts: Matrix = kv_mean.histogram(block, sigma, last).cumsum(axis=1)
    return counts


@check("floating", scope=f"{CASES} columns and neighbours")
@mutant("cumulative counts", histogram=cumulative)
@mutant("bins wider by 3 %", histogram=lambda block, sigma, last: kv_mean.histogram(block, 1.03 * sigma, last))
@mutant("a sensitivity of w/n", width=1.0)
def kv_changes(histogram: Formula = kv_mean.histogram, width: float = 2.0) -> Found:
    """Replacing a value moves the counts by at most √2 and the clipped mean by at most 2w/n; both are attained.

    The bin j holds the values in ((j − ½)σ, (j + ½)σ]. The check counts values just inside and just outside the ends of
    the bins.
    """
    # for σ = 5 the first four values lie in the bins 0, 0, 1, 1, and the last value in no bin
    ends = np.array([[-0.999], [1.0], [1.001], [2.999], [3.001]]) * 2.5
    edges = histogram(ends, 5.0, 1).tolist() == [[0.0, 2.0, 2.0]]
    rng = np.random.default_rng(1)
    counts, means = 0.0, 0.0
    for i in range(CASES):
        n, last = int(rng.integers(1, 6)), int(rng.integers(1, 5))
        x = rng.standard_normal((n, 1)) * 10 ** rng.uniform(-1, 2)
        y = x.copy()
        y[0] = rng.standard_normal() * 10 ** rng.uniform(-1, 2)
        centre, w = rng.standard_normal(), rng.exponential() + 0.1
        if i % 10 == 0:  # the pair of rows that moves the mean the most
            x[0], y[0] = centre - 2 * w, centre + 2 * w
        change = float(np.linalg.norm(histogram(x, 1.0, last) - histogram(y, 1.0, last)))
        moved = abs(float(np.clip(x, centre - w, centre + w).mean() - np.clip(y, centre - w, centre + w).mean()))
        counts, means = max(counts, change), max(means, moved * n / w)
        yield change <= math.sqrt(2) + ROUNDING and moved * n <= width * w + ROUNDING
    attained = abs(counts - math.sqrt(2)) < ROUNDING and abs(means - width) < 1e-6
    yield attained
    yield edges


# ACCURACY OF ONE COLUMN


@check("floating", scope="an enclosure of the gap; the equation for `enough_rows` at 12 points, to 30 digits")
@mutant("a gap of 0.28", gap=Fraction(28, 100))
@mutant(
    "as many rows as for ρ = 10⁶",
    rows=lambda bins, rho, beta, gap, log: kv_mean.enough_rows(bins, 10**6, beta, gap, log),
)
@mutant("half the rows", rows=lambda *inputs: kv_mean.enough_rows(*inputs) / 2)
def kv_location(gap: Fraction = Fraction(str(kv_mean.GAP)), rows: Formula = kv_mean.enough_rows) -> Found:
    """KVMean's noisy histogram finds μ up to 2σ with probability at least 1 − β/2, if n ≥ `enough_rows`.

    For N(μ, s²) with s ≤ σ the bin of μ has probability at least Φ(1) − Φ(0). The probability is concave in μ within
    the bin, so it is smallest if μ is an end of the bin, and it is smallest for s = σ. A bin whose centre is more than
    2σ from μ has probability at most 1 − Φ(3/2). The check encloses both probabilities, and confirms that their
    difference is at least the gap that the reference uses. The difference of two noisy counts is a sum of n terms in
    [−1, 1] of mean at least the gap, plus noise of variance 4/ρ. Hoeffding's inequality bounds the sum, and the
    Gaussian tail bounds the noise. With ℓ = ln(4 bins/β) both tails are at most e^{−ℓ} if gap · n ≥ √(2nℓ) + √(8ℓ/ρ),
    and `enough_rows` solves the condition with equality. The failure probabilities, at most 2 e^{−ℓ} for every bin, add
    up to at most β/2.
    """
    low = (Fraction(1, 2) - gaussian_tail(Fraction(1))[1]) - gaussian_tail(Fraction(3, 2))[1]
    yield "Φ(1) + Φ(3/2) − 3/2 at least", f"{float(low):.6f}"
    yield low >= gap
    with mpmath.workdps(40):
        for bins, rho, beta in product((3, 21, 2001), (mpmath.mpf(1) / 100, mpmath.mpf(30)), (mpmath.mpf(1) / 3, 1e-3)):
            length, exact_gap = mpmath.log(4 * bins / mpmath.mpf(beta)), mpmath.mpf(gap.numerator) / gap.denominator
            n = rows(bins, rho, mpmath.mpf(beta), exact_gap, mpmath.log)
            equation = exact_gap * n - mpmath.sqrt(2 * n * length) - mpmath.sqrt(8 * length / rho)
            yield {f"bins={bins}, ρ={rho}, β={beta}": abs(equation) <= mpmath.mpf(10) ** -30 * n}


@check("symbolic", covers="all", scope="all n, σ, ρ, β")
@mutant("the window for n = 1", width=lambda n, sigma, beta, log: kv_mean.half_width(1, sigma, beta, log))
@mutant("ln(1/β) for ln(8/β)", bound=lambda n, s, rho, beta, log: kv_mean.error_bound(n, s, rho, 8 * beta, log))
def kv_error(width: Formula = kv_mean.half_width, bound: Formula = kv_mean.error_bound) -> Evidence:
    """If |c − μ| ≤ 2σ, KVMean's error bound fails with probability at most 3β/8, of which β/8 is for clipping.

    The check uses the Gaussian tail bound P(|N(0, 1)| > t) ≤ e^{−t²/2}. A value is clipped only if it is at least w −
    2σ = tσ away from μ, and the union bound n e^{−t²/2} over n values is β/8. If no value is clipped, the error is the
    error of the mean of n values plus the noise. Each of these two terms exceeds √(2 ln(8/β)) times its standard
    deviation with probability at most β/8. The condition |c − μ| ≤ 2σ fails with probability at most β/2, so all
    failure probabilities add up to 7β/8. The check replaces every logarithm ln y by t²/2, with a new symbol t for each
    y, so that e^{−t²/2} = 1/y.
    """
    n, sigma, beta, rho = sp.symbols("n sigma beta rho", positive=True)
    deviates: dict[sp.Expr, sp.Symbol] = {}

    def log(y: Number) -> Number:
        return deviates.setdefault(sp.cancel(y), sp.Symbol(f"t{len(deviates)}", positive=True)) ** 2 / 2

    def zero(expression: Number) -> bool:
        return bool(sp.simplify(sp.nsimplify(expression, rational=True)) == 0)

    w = width(n, sigma, beta, log)
    argument, t = next(iter(deviates.items()))
    clipping = zero(w - sigma * (2 + t)) and zero(n / argument - beta / 8)
    error = bound(n, sigma, rho, beta, log)
    log(8 / beta)
    reach = deviates[sp.cancel(8 / beta)]
    deviation = sp.sqrt(kv_mean.mean_variance(n, kv_mean.half_width(n, sigma, beta, log), rho))
    tails = zero(error - (sigma / sp.sqrt(n) + deviation) * reach)
    return Evidence(clipping and tails, f"clipping {clipping}, tails {tails}")


# SEVERAL COLUMNS


def random_covariance(rng: np.random.Generator, d: int) -> Matrix:
    """Return a random Σ ⪰ I whose eigenvalues span several orders of magnitude; often one is 1."""
    basis = np.linalg.qr(rng.standard_normal((d, d)))[0]
    values = np.where(rng.random(d) < 0.3, 1.0, 10 ** rng.uniform(0, 4, d))
    sigma: Matrix = (basis * values) @ basis.T
    return sigma


def mahalanobis(v: Vector, sigma: Matrix) -> float:
    """Return the Mahalanobis norm ‖Σ^{−1/2} v‖."""
    return math.sqrt(max(0.0, float(v @ np.linalg.solve(sigma, v))))


@check("floating", scope=f"{CASES} random Σ, d ≤ 5")
@mutant("½I ⪯ Σ for I ⪯ Σ", smallest=0.5)
@mutant("κ for √κ", deviation=lambda k: k)
def coordinate_errors(smallest: float = 1.0, deviation: Formula = naive_pme.deviation_bound) -> Found:
    """For I ⪯ Σ ⪯ κI, ‖Σ^{−1/2}v‖ ≤ ‖v‖ ≤ √d max |v_j|, and every column has standard deviation at most √κ.

    The first bound holds with equality for Σ = I and v = (1, …, 1), and the second for Σ = κI.
    """
    rng = np.random.default_rng(3)
    largest, spread = 0.0, 0.0
    for i in range(CASES):
        d = int(rng.integers(1, 6))
        sigma = smallest * (np.eye(d) if i % 3 == 0 else random_covariance(rng, d))
        v = np.ones(d) if i % 2 == 0 else rng.standard_normal(d)
        kappa = float(np.linalg.eigvalsh(sigma)[-1])
        ratio = mahalanobis(v, sigma) / (math.sqrt(d) * float(np.abs(v).max()))
        share = math.sqrt(float(sigma.diagonal().max())) / float(deviation(kappa))
        yield ratio <= 1 + ROUNDING and mahalanobis(v, sigma) <= np.linalg.norm(v) * (1 + ROUNDING)
        yield share <= 1 + ROUNDING
        largest, spread = max(largest, ratio), max(spread, share if kappa > 2 else 0.0)
    tight = abs(largest - 1) < ROUNDING and spread > 0.9
    yield tight


def neighbours_subtracted(rows: Rows) -> Matrix:
    """Return (x_{i+1} − x_i)/√2 for all i, which is a deliberate error, because a record enters two differences."""
    x = np.asarray(rows)
    change: Matrix = (x[1:] - x[:-1]) / math.sqrt(2)
    return change


@check("floating", scope="2 ≤ n < 12")
@mutant("overlapping pairs", differences=neighbours_subtracted)
@mutant("twice the differences", scale=2.0)
def pair_differences(differences: Formula = pme.differences, scale: float = 1.0) -> Found:
    """PME's differences are independent N(0, Σ) rows, and are independent of the sample mean. Each record is in at most
    one difference.

    The differences are Dx for a matrix D. The check computes D by applying the reference's `differences` to the
    identity matrix, and confirms three properties: DDᵀ = I, D(1, …, 1)ᵀ = 0, and each column of D has at most one entry
    that is not 0.
    """
    most = 0
    for n in range(2, 12):
        coefficients = scale * np.asarray(differences(np.eye(n)))
        gram = coefficients @ coefficients.T
        yield float(np.abs(gram - np.eye(len(gram))).max()) / ROUNDING
        yield float(np.abs(coefficients.sum(axis=1)).max()) / ROUNDING
        most = max(most, int((coefficients != 0).sum(axis=0).max()))
    yield most == 1


def inverse(a: Matrix) -> Matrix:
    """The inverse A⁻¹."""
    return np.asarray(np.linalg.inv(a), dtype=np.float64)


@check("floating", scope=f"{CASES} random A, Σ, d ≤ 4")
@mutant("the transpose for the inverse", back=lambda a: a.T)
@mutant("R for R′", bound=lambda mean_bound: mean_bound)
def preconditioned_mean(back: Formula = inverse, bound: Formula = pme.image_bound) -> Found:
    """If H = AΣAᵀ ⪰ I, ‖Σ^{−1/2}(A⁻¹m − μ)‖ = ‖H^{−1/2}(m − Aμ)‖ ≤ ‖m − Aμ‖; if H ⪯ 1000 I, ‖Aμ‖ ≤ √1000 R.

    The matrix A need not be symmetric. The bound on ‖Aμ‖ holds because ‖A‖² ≤ ‖AΣAᵀ‖ for Σ ⪰ I. The matrices A =
    √1000 I and Σ = I attain the bound on ‖Aμ‖.
    """
    rng = np.random.default_rng(4)
    gap, largest = 0.0, 0.0
    for i in range(CASES):
        d = int(rng.integers(1, 5))
        sigma = np.eye(d) if i % 4 == 0 else random_covariance(rng, d)
        target = 10 ** rng.uniform(0, 3, d) if i % 4 else np.full(d, float(SMALLEST_KAPPA))
        root = np.linalg.cholesky(sigma)
        turn = np.linalg.qr(rng.standard_normal((d, d)))[0]
        a = (turn * np.sqrt(target)) @ np.linalg.inv(root)  # AΣAᵀ has the eigenvalues of the target
        mu, m = rng.standard_normal((2, d)) * 10 ** rng.uniform(-2, 1)
        h = a @ sigma @ a.T
        error, image = mahalanobis(back(a) @ m - mu, sigma), mahalanobis(m - a @ mu, h)
        gap = max(gap, abs(error - image) / (1 + image))
        radius = float(bound(float(np.linalg.norm(mu))))
        yield image <= np.linalg.norm(m - a @ mu) * (1 + ROUNDING)
        yield np.linalg.norm(a @ mu) <= radius * (1 + ROUNDING)
        largest = max(largest, float(np.linalg.norm(a @ mu)) / radius)
    yield gap < 1e-6
    yield abs(largest - 1) < ROUNDING


@check("floating", scope="all ρ")
@mutant("ρ for each step", share=lambda budget: budget)
def pme_budget(share: Formula = pme.half) -> Evidence:
    """PME spends at most ρ, because the preconditioner and the mean have ρ/2 each and a record is in one pair only.

    The Gaussian learner of Theorem 1.1 also spends at most ρ. The budgets proven for the two parts of PME may be
    smaller than their shares ρ/2.
    """
    rho = Fraction(7, 3)
    claimed = zcdp_composition(share(rho), share(rho))
    proven = [m.spend(rho=1.0, dimension=5).proven for m in (pme, gaussian_learner)]
    spent = [getattr(guarantee, "rho", math.inf) for guarantee in proven]
    return Evidence(claimed == rho and max(spent) <= 1, f"parts {claimed}, proven {spent} at ρ = 1")
