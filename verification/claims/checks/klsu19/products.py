"""Check KLSU19 §5: truncated means, divergences of product distributions, and the rounds and the error of PPDE."""

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import product

import numpy as np
import sympy as sp
from scipy import stats

from covassay.reference.domain import Matrix, Number, Vector
from covassay.reference.mechanisms.gaussian_estimation import ppde
from covassay.reference.privacy import zcdp_of_gaussian
from covassay.verification.claims.evidence import ROUNDING, Evidence, Formula, Found, check, mutant
from covassay.verification.exact.series import exponential, square_root

CASES = 3000

Law = Sequence[Fraction]


# TRUNCATED MEANS AND PRIVACY


@check("exact", covers="case", scope="a counterexample, B² = 3")
@mutant("a row of zeros for the new one", pair=((1, 1, 1, 0, 0, 0), (0,) * 6))
@mutant("√2 B/m for B/m", claimed=lambda b2: ppde.change_squared(b2, 6, "reconstructed"))
def truncated_counterexample(
    pair: tuple[Sequence[int], Sequence[int]] = ((1, 1, 1, 0, 0, 0), (0, 0, 0, 1, 1, 1)),
    claimed: Formula = lambda b2: b2,
) -> Evidence:
    """Replacing a row may move the sum of the rows by more than B: two rows of length B = √3 are √2 B apart.

    The two rows have no common coordinate. So the sensitivity B/m of the mean of m rows is too small.
    """
    b2 = 3
    lengths = [sum(v * v for v in row) for row in pair]
    change = sum((v - w) ** 2 for v, w in zip(*pair, strict=True))
    return Evidence(max(lengths) <= b2 and change > claimed(b2), f"(mΔ)² = {change}, claimed {claimed(b2)}")


def shortened(row: Vector, bound: float) -> Vector:
    """Return the row as the mechanism shortens it, computed as the mean of a block with this row alone."""
    return ppde.block_mean(row[None, :], 1, 1, np.arange(len(row)), bound)


@check("floating", scope=f"{CASES} pairs of rows, d ≤ 6")
@mutant("B for √2 B", limit=lambda b2, size: min(b2, size))
@mutant("√(|S|/2) for √|S|", limit=lambda b2, size: min(2 * b2, size / 2))
def truncated_sensitivity(limit: Formula = lambda b2, size: ppde.change_squared(b2, size, "tight")) -> Found:
    """Rows of [0, 1]^S shortened to length B are at most √min(2B², |S|) apart, and both terms are attained.

    In the proof, subtracting min(u_j, v_j) from both rows u and v makes their supports disjoint, and then ‖u − v‖² =
    ‖u‖² + ‖v‖². A row of length at most B and a row of zeros are at most B apart. With negative entries two shortened
    rows can be 2B apart.
    """
    rng = np.random.default_rng(1)
    largest, signed = 0.0, 0.0
    for i in range(CASES):
        d = int(rng.integers(2, 7))
        u, v = rng.random((2, d)) * (rng.random((2, d)) < 0.7)
        b2 = float(rng.uniform(0.3, d))
        if i % 3 == 0:  # the two rows are complementary bits
            u = (np.arange(d) < d // 2).astype(float)
            v = 1 - u
            # the cases are a whole B², a B² that is not whole, and a B² above the squared length of the rows
            b2 = float([d // 2, d // 2 - rng.random() / 2, d][i % 9 // 3])
        one, two = shortened(u, math.sqrt(b2)), shortened(v, math.sqrt(b2))
        ratio = float(((one - two) ** 2).sum()) / float(limit(b2, d))
        yield ratio <= 1 + ROUNDING and float((one**2).sum()) <= b2 * (1 + ROUNDING)
        largest = max(largest, ratio)
        opposite = shortened(u, math.sqrt(b2)) - shortened(-u, math.sqrt(b2))
        signed = max(signed, float((opposite**2).sum()) / (4 * b2))
    yield abs(largest - 1) < ROUNDING
    yield abs(signed - 1) < ROUNDING


@check("symbolic", covers="all", scope="all d, m")
@mutant("rows of [0, 1]", row=lambda t: t / (1 + t))
def untruncated_on_the_line(row: Formula = lambda t: t) -> Evidence:
    """On R^d the plain mean of m rows has infinite ℓ2 sensitivity: replacing a row 0 by t e₁ moves it by t/m."""
    t, m = sp.symbols("t m", positive=True)
    limit = sp.limit(row(t) / m, t, sp.oo)
    return Evidence(limit == sp.oo, f"the change tends to {limit}")


@check("symbolic", covers="all", scope="all B, m, ρ")
@mutant("twice the variance", variance=lambda b2, m, rho: b2 / (rho * m**2))
def printed_noise(variance: Formula = lambda b2, m, rho: b2 / (2 * rho * m**2)) -> Evidence:
    """Gaussian noise of variance B²/(2ρm²) on the truncated mean of a block spends 2ρ when a row is replaced.

    The rows of `truncated_counterexample` move the mean by √2 B/m. The check uses the exact Rényi divergence D_α of the
    two Gaussian laws, so 2ρ is the budget spent and not only a bound on it.
    """
    b, m, rho = sp.symbols("B m rho", positive=True)
    spent = sp.simplify(zcdp_of_gaussian(sp.sqrt(2) * b / m, variance(b**2, m, rho)))
    return Evidence(spent == 2 * rho, f"spends {spent}")


@check("symbolic", covers="all", scope="all B, m, ρ")
@mutant("B² for 2B²", change=lambda b2, size, calibration: b2)
@mutant("m for m²", variance=lambda change, m, rho: ppde.noise_variance(change, m, rho) / m)
def ppde_budget(change: Formula = ppde.change_squared, variance: Formula = ppde.noise_variance) -> Evidence:
    """Gaussian noise of variance 2B²/(2ρm²) on the truncated mean of a block spends ρ when a row is replaced."""
    b, m, rho, size = sp.symbols("B m rho size", positive=True)
    spent = sp.simplify(zcdp_of_gaussian(sp.sqrt(2) * b / m, variance(change(b**2, size, "reconstructed"), m, rho)))
    return Evidence(sp.simplify(spent - rho) == 0, f"spends {spent}")


def sliding_mean(rows: Matrix, r: int, m: int, kept: Vector, bound: float) -> Vector:
    """Return the mean of block r with a deliberate error: neighbouring blocks overlap in half of their rows."""
    return ppde.block_mean(rows[(r - 1) * (m // 2) :], 1, m, kept, bound)


@check("floating", scope="300 data sets")
@mutant("overlapping blocks", mean=sliding_mean)
def disjoint_blocks(mean: Formula = ppde.block_mean) -> Found:
    """A record enters one block only: replacing it leaves the means of all other blocks unchanged to the last bit.

    Given the answers of the earlier rounds, a record influences the answer of one round only. All rounds together
    therefore spend the budget of one round, and not the sum of the budgets (Theorem 5.1).
    """
    rng = np.random.default_rng(2)
    for _ in range(300):
        d, m, blocks = int(rng.integers(1, 6)), int(rng.integers(2, 6)), int(rng.integers(2, 5))
        rows = rng.random((m * blocks, d))
        changed = rows.copy()
        place = int(rng.integers(0, len(rows)))
        changed[place] = rng.random(d)
        kept = np.flatnonzero(rng.random(d) < 0.8)
        moved = [r for r in range(1, blocks + 1)
                 if not np.array_equal(mean(rows, r, m, kept, 0.7), mean(changed, r, m, kept, 0.7))]  # fmt: skip
        yield set(moved) <= {place // m + 1}


# DIVERGENCES


def random_law(rng: np.random.Generator, size: int) -> list[Fraction]:
    """Return a random law whose probabilities are positive and rational."""
    weights = [int(w) for w in rng.integers(1, 20, size)]
    return [Fraction(w, sum(weights)) for w in weights]


def joint(laws: Sequence[Law]) -> list[Fraction]:
    """Return the probabilities of the product law, ordered as by `itertools.product`."""
    return [math.prod(values, start=Fraction(1)) for values in product(*laws)]


def total_variation(p: Law, q: Law) -> Fraction:
    """Return the total variation distance ½ Σ |P − Q|."""
    return sum((abs(a - b) for a, b in zip(p, q, strict=True)), Fraction(0)) / 2


def chi_square(p: Sequence[Number], q: Sequence[Number]) -> Number:
    """Return the χ² divergence Σ (P − Q)²/Q of two laws."""
    return sum((a - b) ** 2 / b for a, b in zip(p, q, strict=True))


@check("exact", scope="600 products of 2 or 3 laws")
@mutant("the largest term", combined=max)
@mutant("half the sum", combined=lambda t: sum(t) / 2)
def tv_subadditive(combined: Formula = sum) -> Found:
    """Product laws have TV(∏P_j, ∏Q_j) ≤ Σ TV(P_j, Q_j), with equality if all factors but one agree.

    For two factors the inequality follows by summing |p₁p₂ − q₁q₂| ≤ p₁|p₂ − q₂| + q₂|p₁ − q₁|; further factors are
    added one at a time.
    """
    rng = np.random.default_rng(3)
    equal = 0
    for i in range(600):
        sizes = rng.integers(2, 4, int(rng.integers(2, 4)))
        p = [random_law(rng, int(k)) for k in sizes]
        q = [
            list(law) if i % 5 == 0 and j else random_law(rng, int(k))
            for j, (law, k) in enumerate(zip(p, sizes, strict=True))
        ]
        whole = total_variation(joint(p), joint(q))
        bound = combined([total_variation(a, b) for a, b in zip(p, q, strict=True)])
        yield whole <= bound
        equal += whole == bound
    yield equal >= 120


@check("symbolic", scope="two laws, on 2 and 3 points, and three laws on 2 points; the proof covers all laws")
@mutant("the sum", rule=sum)
def chi_square_product(rule: Formula = lambda parts: math.prod(1 + s for s in parts) - 1) -> Found:
    """Product laws have 1 + χ²(∏P_j ‖ ∏Q_j) = ∏ (1 + χ²(P_j‖Q_j)), because 1 + χ² = Σ P²/Q and this sum factors.

    The check is symbolic in all probabilities, for two laws on 2 and 3 points and for three laws on 2 points.
    """
    for sizes in ((2, 3), (2, 2, 2)):
        laws = []
        for name in "pq":
            free = [sp.symbols(f"{name}{j}_1:{k}") for j, k in enumerate(sizes)]
            laws.append([[*values, 1 - sum(values)] for values in free])
        p, q = laws
        whole = chi_square(joint(p), joint(q))
        claimed = rule([chi_square(a, b) for a, b in zip(p, q, strict=True)])
        yield {f"fails on {sizes} points": sp.cancel(sp.together(whole - claimed)) == 0}


@check("exact", covers="case", more="quoted", scope="a counterexample")
@mutant("the product rule", claimed=lambda parts: math.prod(1 + s for s in parts) - 1)
def chi_square_not_additive(
    claimed: Formula = sum, quoted: tuple[Fraction, Fraction] = (Fraction(7, 9), Fraction(2, 3))
) -> Evidence:
    """The χ² divergence is not additive: two bits of mean ½ against mean ¼ have 1/3 each and 7/9 together, not 2/3."""
    p, q = [Fraction(1, 2)] * 2, [Fraction(3, 4), Fraction(1, 4)]
    whole = chi_square(joint([p, p]), joint([q, q]))
    part = chi_square(p, q)
    holds = whole != claimed([part, part]) and (whole, 2 * part) == quoted
    detail = f"the χ² divergence of the pairs of bits is {whole}, and the claimed value is {claimed([part, part])}"
    return Evidence(holds, detail)


@check("symbolic", scope="two laws, on 2 and 3 points, and three laws on 2 points; the proof covers all laws")
@mutant("laws that do not sum to 1", normalised=False)
def kl_additive(normalised: bool = True) -> Found:
    """The KL divergence of product laws is Σ KL(P_j‖Q_j), because logs of products are sums, and each P_j has total
    mass 1.
    """
    for sizes in ((2, 3), (2, 2, 2)):
        p = []
        for j, k in enumerate(sizes):
            values = list(sp.symbols(f"p{j}_1:{k + 1}"))
            p.append([*values[:-1], 1 - sum(values[:-1])] if normalised else values)
        logs = [sp.symbols(f"l{j}_1:{k + 1}") for j, k in enumerate(sizes)]  # ln(P_j/Q_j) at each point
        whole = sum(math.prod(a) * sum(b) for a, b in zip(product(*p), product(*logs), strict=True))
        parts = sum(a * b for law, terms in zip(p, logs, strict=True) for a, b in zip(law, terms, strict=True))
        yield {f"fails on {sizes} points": sp.expand(whole - parts) == 0}


@check("symbolic", covers="all", scope="all p, q")
@mutant("4 TV² ≤ KL", factor=4)
def pinsker(factor: int = 2) -> Evidence:
    """2(p − q)² ≤ KL for two bits of means p and q, because ∂/∂q (KL − 2(p − q)²) = (q − p)(1 − 2q)²/(q(1 − q)).

    The derivative of KL − 2(p − q)² with respect to q has the sign of q − p. For any two laws TV = P(A) − Q(A) with A =
    {P > Q}, and by the log sum inequality KL is at least the divergence KL(P(A)‖Q(A)) of two bits with means P(A) and
    Q(A). Hence 2 TV² ≤ KL.
    """
    p, q = sp.symbols("p q", positive=True)
    kl = p * sp.log(p / q) + (1 - p) * sp.log((1 - p) / (1 - q))
    slope = sp.simplify(sp.diff(kl - factor * (p - q) ** 2, q))
    expected = (q - p) * (1 - 2 * q) ** 2 / (q * (1 - q))
    return Evidence(sp.simplify(slope - expected) == 0, f"slope {sp.factor(slope)}")


@check("floating", scope=f"{CASES} pairs of laws")
@mutant("3 TV² ≤ KL", lower=3.0)
@mutant("KL ≤ χ²/2", upper=0.5)
def divergence_order(lower: float = 2.0, upper: float = 1.0) -> Found:
    """2 TV² ≤ KL ≤ ln(1 + χ²) ≤ χ² in nats, and neither the first nor the last bound can be improved by a constant
    factor.

    The middle inequality KL ≤ ln(1 + χ²) is Jensen's inequality, KL = E_P ln(P/Q) ≤ ln E_P(P/Q). As t → 0, two bits of
    means ½ − t and ½ + t approach equality in 2 TV² ≤ KL. If P is Q conditioned on an event, KL/χ² tends to 1 as the
    probability of the event tends to 1.
    """
    rng = np.random.default_rng(4)
    low, high = math.inf, 0.0
    for i in range(CASES):
        k = int(rng.integers(2, 6))
        p, q = rng.dirichlet(np.full(k, 0.7)) + 1e-6, rng.dirichlet(np.full(k, 0.7)) + 1e-6
        if i % 4 == 0:
            t = 10 ** rng.uniform(-3, -0.5)
            p, q = np.array([0.5 - t, 0.5 + t]), np.array([0.5 + t, 0.5 - t])
        elif i % 4 == 1:
            t = 10 ** rng.uniform(-4, -0.5)
            p, q = np.array([1.0, 1e-300]), np.array([1 - t, t])
        p, q = p / p.sum(), q / q.sum()
        tv, kl = float(np.abs(p - q).sum()) / 2, float((p * np.log(p / q)).sum())
        square = float(((p - q) ** 2 / q).sum())
        middle = math.log1p(square)
        yield kl >= lower * tv**2 * (1 - 1e-6) and kl <= middle * (1 + 1e-6) and middle <= upper * square * (1 + 1e-6)
        low, high = min(low, kl / (lower * tv**2)), max(high, kl / (upper * square))
    tight = abs(low - 1) < 1e-3 and abs(high - 1) < 1e-3
    yield tight


# TAILS


def binomial_tails(n: int, p: Fraction) -> list[Fraction]:
    """Return the tails P(Bin(n, p) ≥ k) for k = 0, …, n + 1."""
    tails = [Fraction(0)]
    for k in range(n, -1, -1):
        tails.append(tails[-1] + math.comb(n, k) * p**k * (1 - p) ** (n - k))
    return tails[::-1]


@check("exact", scope="m ≤ 25, p = 1/12, …, 11/12, all k; all m, p by Markov's inequality")
@mutant("twice the exponent", power=2)
@mutant("1 and 0 exchanged", exchanged=True)
def kl_chernoff(power: int = 1, exchanged: bool = False) -> Found:
    """The mean X̄ of m bits of mean p has P(X̄ ≥ a) ≤ e^{−m KL(a‖p)} for a ≥ p, and the same bound for the lower tail.

    At a = k/m, e^{−m KL(a‖p)} = (p/a)^k ((1 − p)/(1 − a))^{m−k} is the minimum over t ≥ 1 of t^{−k} E t^X, by Markov's
    inequality for t^X at t = a(1 − p)/((1 − a)p). Between the points k/m the tail probability is constant in a. The
    lower tail of the bits is the upper tail of the bits 1 − X. The check compares the exponential bounds on the tails
    with rational binomial tails.
    """
    largest = Fraction(0)
    for m, p in product((1, 2, 3, 5, 9, 16, 25), (Fraction(j, 12) for j in range(1, 12))):
        tails = binomial_tails(m, p)
        for k in range(math.ceil(m * p), m + 1):
            a, base = Fraction(k, m), (1 - p if exchanged else p)
            bound = ((base / a) ** k * ((1 - base) / (1 - a) if k < m else 1) ** (m - k)) ** power
            yield {f"m={m}, p={p}, k={k}": tails[k] <= bound}
            largest = max(largest, tails[k] / bound)
    yield "largest ratio", f"{float(largest):.6g}"


@check("exact", scope="d ≤ 40; the proof covers all d")
@mutant("1/4 for 3", first=Fraction(1, 4))
@mutant("1 for 6", second=1)
def squared_length_tails(first: Fraction = Fraction(3), second: int = 6) -> Found:
    """For bits of means at most p ≤ ½, P(‖X‖² ≥ pd(1 + 3L)) ≤ e^{−L} if pd > 1, and P(‖X‖² ≥ 6L) ≤ e^{−L} if pd ≤ 1.

    The squared length ‖X‖² of a row of d bits of means at most p is stochastically at most Bin(d, p). Bin(d, p) has
    whole values, so it is enough to prove the claims at whole numbers k: P(Bin ≥ k) ≤ e^{−(k/(pd) − 1)/3} for k > pd,
    and P(Bin ≥ k) ≤ e^{−k/6} for k ≥ 1. The second claim holds for all d. Markov's inequality for the binomial
    coefficient C(X, k) gives P ≤ 1/k!, which is at most e^{−k/6} from k = 2 on. For k = 1, P = 1 − (1 − p)^d ≤ 3/4. For
    the claim on pd > 1 let x = k/(pd). The exponent x ln x − x + 1 of the Chernoff bound is at least (x − 1)/3 for x ≥
    11/6. For smaller x, P(Bin > pd) < 3/4 (Greenberg and Mohri 2014), and e^{−5/18} > 3/4. For one bit of mean 1 the
    claim on pd ≤ 1 would fail at L ≤ 1/6.
    """
    largest = Fraction(0)
    for d in (1, 2, 3, 4, 5, 7, 10, 15, 24, 40):
        for p in {Fraction(j, 2 * d) for j in (1, 2, 3, 4, 5, 8, d - 1, d) if 0 < 2 * j <= 2 * d}:
            tails = binomial_tails(d, p)
            for k in range(math.floor(p * d) + 1, d + 1):
                exponent = (k / (p * d) - 1) / first if p * d > 1 else Fraction(k, second)
                bound = exponential(-exponent)[0]
                yield {f"d={d}, p={p}, k={k}": tails[k] <= bound}
                largest = max(largest, tails[k] / bound)
    for k in range(2, 60):
        yield {f"1/{k}!": exponential(Fraction(-k, second))[0] * math.factorial(k) >= 1}
    crossing = Fraction(11, 6)
    log_below = Fraction(6061, 10000)  # a rational number just below ln(11/6)
    if exponential(log_below)[1] > crossing or crossing * log_below - crossing + 1 < (crossing - 1) / first:
        yield "the crossing at 11/6"
    yield {"3/4": exponential(-(crossing - 1) / first)[0] > Fraction(3, 4)}
    yield {"p = 1": binomial_tails(1, Fraction(1))[1] > exponential(Fraction(-1, second))[1]}
    yield "largest ratio", f"{float(largest):.6g}"


# THE ROUNDS


@check("floating", scope="|S| ≤ 32, u ≥ 1/32; the proof covers all |S|")
@mutant("a quarter of B²", share=Fraction(1, 4))
def rows_unshortened(share: Fraction = Fraction(1)) -> Found:
    """With the reference's B² few rows are shortened, as P(‖x[S]‖² ≥ B²) ≤ β/(mR) in a round, and ≤ β/m in the last
    step.

    The squared length ‖x[S]‖² of the bits of a row in S is stochastically at most Bin(|S|, u), if all means are at most
    u. In a round of PPDE B² is 6u|S|L with L = ln(mR/β) ≥ ln 2. As Bin(|S|, u) has whole values, it is enough that
    P(Bin ≥ k) ≤ e^{−k/(6u|S|)} for whole numbers k ≥ 6 ln 2 · u|S|. This inequality holds for all |S| by Markov's
    inequality, because a sum X of |S| bits with means at most u has E e^X ≤ e^{(e − 1)u|S|}, and because 5L ≥ e − 1. In
    the last step B² = 6 ln(m/β) and u|S| < 1, so P(Bin ≥ k) ≤ e^{−k/6} for k ≥ 6 ln 2.
    """
    one = Fraction(1)
    for size, r in product((1, 2, 3, 4, 8, 12, 20, 32), range(1, 6)):
        u = Fraction(ppde.mean_limit(r))
        tails = binomial_tails(size, u)
        if u * size >= 1:
            unit = Fraction(ppde.truncation_squared(u, size, 2, 1, one, lambda v: one)) * share  # B² at L = 1
        else:
            unit = Fraction(ppde.last_truncation_squared(2, one, lambda v: one)) * share
        for k in range(math.ceil(unit * Fraction(69, 100)), size + 1):
            yield {f"|S|={size}, u={u}, k={k}": tails[k] <= exponential(-k / unit)[0]}
    slope = exponential(one)[1] - 1
    yield {"5 ln 2 > e − 1": 5 * Fraction(69, 100) > slope}


def records(d: int, rho: float, beta: float, factor: float = 1.0) -> int:
    """Return a number m of records with m ≥ factor · `enough_records`, within 1 % of the smallest."""
    m, rounds = 2.0, ppde.most_rounds(d)
    while m < factor * float(ppde.enough_records(m, d, rounds, rho, beta)):
        m *= 1.01
    return math.ceil(m)


@check("floating", scope="d = 2, 3, 4, 16, 100, all rounds, β = 0.3, 0.001")
@mutant("half the records", factor=0.5)
@mutant("1/32 for 1/16", share=32)
def rounds_sampling(factor: float = 1.0, share: int = 16) -> Found:
    """With m = `enough_records`, P(|plain mean − p_j| > u/16) ≤ β/(2dR) if p_j ≤ u, by exact binomial tails.

    For all m the bound follows from Bernstein's inequality. With t = u/16 the exponent of Bernstein's bound mt²/(2(u +
    t/3)) = mu/522.7 is at least ln(4dR/β), because u ≥ 1/|S| ≥ 1/d.
    """
    exponent = Fraction(1, 16) ** 2 / (2 * (1 + Fraction(1, 48)))
    for d, beta in product((2, 3, 4, 16, 100), (0.3, 1e-3)):
        rounds = ppde.most_rounds(d)
        m = records(d, 1e6, beta, factor)  # ρ is so large that the sampling error dominates
        for r in range(1, rounds + 1):
            u = float(ppde.mean_limit(r))
            for p in (u, u / 2, u / 8, u / 64):
                law = stats.binom(m, p)
                tail = law.sf(math.ceil(m * (p + u / share)) - 1) + law.cdf(math.floor(m * (p - u / share)))
                yield float(tail) * 2 * d * rounds / beta
    yield 1 / exponent < 523


@check("floating", scope="500 random d, ρ, β, rounds", attained=0.95)
@mutant("records for sampling only", rho_for=1e9)
@mutant("1/32 for 1/16", share=32.0)
def rounds_noise(rho_for: float | None = None, share: float = 16.0) -> Found:
    """With m = `enough_records`, the noise bound s√(2 ln(4dR/β)) is at most u/16, and close to it at u = 1/d."""
    rng = np.random.default_rng(5)
    for i in range(500):
        d = int(rng.choice([2, 3, 4, 8, 30, 64]))
        rho, beta, rounds = 10 ** rng.uniform(-9, -5), 10 ** rng.uniform(-6, -0.3), ppde.most_rounds(d)
        m = records(d, rho_for or rho, beta)
        r = rounds if i % 2 else int(rng.integers(1, rounds + 1))
        u = float(ppde.mean_limit(r))
        size = d if i % 2 else int(rng.integers(math.ceil(1 / u), d + 1))
        b2 = ppde.truncation_squared(u, size, m, rounds, beta)
        for calibration in ("reconstructed", "tight"):
            variance = float(ppde.noise_variance(ppde.change_squared(b2, size, calibration), m, rho))
            yield math.sqrt(2 * variance * math.log(4 * d * rounds / beta)) * share / u


@check("floating", scope="r < 40; both sides scale with u")
@mutant("errors of u/4", error=Fraction(1, 4))
@mutant("τ = u/4", cut=lambda r: 2.0**-r / 4)
def rounds_induction(error: Fraction = Fraction(1, 8), cut: Formula = ppde.threshold) -> Found:
    """If |q − p| ≤ u/8, a coordinate that goes on to the next round has p < u_{r+1}; a finished one has |q − p| ≤ p/2.

    This statement is the induction step in the proof of KLSU19 Lemma 5.8, for every round r. In round r, p is the mean
    of a coordinate, q is its noisy mean, u is the bound on the means, and τ = 3u/8 is the threshold. A coordinate goes
    on to the next round if q < τ, and then p < τ + u/8 = u/2 = u_{r+1}. A coordinate is finished if q ≥ τ, and then p ≥
    τ − u/8 = u/4.
    """
    for r in range(1, 40):
        u, tau, after = (Fraction(f(r)) for f in (ppde.mean_limit, cut, lambda r: ppde.mean_limit(r + 1)))
        smallest = tau - error * u
        if tau + error * u > after or 4 * smallest < u or 2 * error * u > smallest:
            yield f"r={r}"


@check("enclosed", covers="all", less="tau", more="tau", scope="all d ≥ 2, α ≤ 1, β, ρ")
@mutant("means up to 7/8", mean=Fraction(7, 8))
@mutant("16 for 21", noise=16)
@mutant("30 for 100", sampling=30)
@mutant("u = ¼ in the first round", u=Fraction(1, 4))
def means_above_half(
    mean: Fraction = Fraction(5, 8),
    sampling: int = 100,
    noise: int = 21,
    u: Fraction = Fraction(1, 2),
    tau: Fraction = Fraction(3, 16),
) -> Found:
    """If all means are at most 5/8, and not only if they are at most ½, PPDE has TV ≤ α with the m of Theorem 5.2.

    Let d ≥ 2. Only in the first round, r = 1, is the bound u on the means ½. In the first round P(|plain mean − p| >
    1/32) ≤ 2e^{−l} by Bernstein's inequality, because m ≥ 523 dl, d ≥ 2, and a bit has variance at most ¼. No row is
    shortened, because B² = 3dL and L ≥ 1. The noise is that of Theorem 5.2. In the first round the estimate q of each
    mean p has |q − p| ≤ u/8. So p < ¼ for a coordinate that is estimated again in the next round, and p ≥ u/4 for a
    coordinate whose estimate is final. In the bound on TV, Σ e²/(2p(1 − p)) ≤ (4/3) Σ e²/p replaces Σ e²/p. Let a =
    dl/m ≤ 1/523 and b = d√(lL/ρ)/m. Then TV ≤ √(4/3) (√(2a) + 4a/3 + √48 b) + √(2a) + 2a/3 + √12 b, which is at most α
    for a ≤ α²/100, b ≤ α/21 and α ≤ 1. The test that decides which bits to flip has m records of its own, and m is
    large enough for `flip_test`: 523 dl ≥ 128 ln(2d/β), and 16√12 d√(lL/ρ) ≥ 16√(d ln(2d/β)/ρ).
    """
    records_per_length = 523
    d = sp.Symbol("d", positive=True)
    error = u / 16
    needed = 2 * (Fraction(1, 4) + error / 3) / error**2  # Bernstein's inequality needs m ≥ needed · l
    length = ppde.truncation_squared(sp.Rational(1, 2), d, 1, 1, 1, lambda v: 1)  # the value of B² at L = 1

    def root(value: Fraction) -> Fraction:
        return square_root(value)[1]

    factor, a = root(1 / (2 * (1 - mean))), root(Fraction(1, records_per_length))
    plain = factor * (root(Fraction(2)) + Fraction(4, 3) * a) + root(Fraction(2)) + Fraction(2, 3) * a
    noisy = factor * root(Fraction(48)) + root(Fraction(12))
    total = plain / square_root(Fraction(sampling))[0] + noisy / noise
    tests = {
        "sampling": needed <= 2 * records_per_length,
        "length": sp.simplify(length - 3 * d) == 0,
        "goes on": tau + u / 8 <= Fraction(1, 4),
        "finished": tau - u / 8 >= u / 4,
        "distance": total <= 1,
    }
    yield tests
    yield "TV/α", f"{float(total):.4f}"


@check("floating", scope="m ≤ 10⁵, p ≥ 10⁻⁶, l ≤ 30 on a grid; all m, p, l by the algebra")
@mutant("half the deviation", factor=0.5)
def final_sampling(factor: float = 1.0) -> Found:
    """The mean X̄ of m bits of mean p has P(|X̄ − p| > √(2pl/m) + 2l/(3m)) ≤ 2e^{−l}, by Bernstein's inequality.

    With v = mp, which is at least the variance, (√(2vl) + 2l/3)² ≥ 2(v + (√(2vl) + 2l/3)/3)l; the difference of the two
    sides is (2l/3)√(2vl).
    """
    v, level = sp.symbols("v l", positive=True)
    t = sp.sqrt(2 * v * level) + 2 * level / 3
    slack = sp.simplify(t**2 - 2 * (v + t / 3) * level - 2 * level / 3 * sp.sqrt(2 * v * level))
    for m, p, deviate in product((1, 5, 30, 1000, 10**5), (1e-6, 1e-3, 0.05, 0.5), (0.5, 1.0, 3.0, 10.0, 30.0)):
        reach = factor * (math.sqrt(2 * p * deviate / m) + 2 * deviate / (3 * m))
        law = stats.binom(m, p)
        tail = law.sf(math.floor(m * (p + reach))) + law.cdf(math.ceil(m * (p - reach)) - 1)
        yield float(tail) * math.exp(deviate) / 2
    yield slack == 0


@check("symbolic", scope="all m, ρ, β")
@mutant("3 for 6", factor=3)
def final_noise(factor: int = 6) -> Evidence:
    """PPDE's last noise has variance 6 ln(m/β)/(ρm²) with "reconstructed", and at most this with "tight"."""
    m, rho, beta, size, t = sp.symbols("m rho beta size t", positive=True)
    b2 = ppde.last_truncation_squared(m, beta, lambda v: t)
    variance = ppde.noise_variance(ppde.change_squared(b2, size, "reconstructed"), m, rho)
    less = all(ppde.change_squared(a, b, "tight") <= ppde.change_squared(a, b, "reconstructed")
               for a, b in product((Fraction(1, 3), 1, 7), (1, 2, 20)))  # fmt: skip
    return Evidence(sp.simplify(variance - factor * t / (rho * m**2)) == 0 and less, f"s² = {variance}")


# THE DISTANCE


def noise_reach(b2: float, size: int, m: float, rho: float, level: float) -> float:
    """Return the bound s√(2l) on the noise with the calibration "reconstructed"."""
    return math.sqrt(2 * level * ppde.noise_variance(ppde.change_squared(b2, size, "reconstructed"), m, rho))


def explicit_records(
    d: int, rho: float, beta: float, alpha: float, sampling: float = 100.0, noise: float = 21.0
) -> float:
    """Return a number m of records that is at least `enough_records`, 100 dl/α² and 21 d√(lL/ρ)/α, and within 1 % of
    the smallest such number.

    The logarithms are l = ln(4dR/β) and L = ln(mR/β), and the arguments `sampling` and `noise` are the constants 100
    and 21.
    """
    rounds = ppde.most_rounds(d)
    level = math.log(4 * d * rounds / beta)
    m = float(records(d, rho, beta))
    while m < max(
        sampling * d * level / alpha**2, noise * d * math.sqrt(level * math.log(m * rounds / beta) / rho) / alpha
    ):
        m *= 1.01
    return m


@check("floating", scope="400 random problems, d ≤ 500", attained=0.3)
@mutant("3 for 100", sampling=3.0)
@mutant("2 for 21", noise=2.0)
def ppde_distance(sampling: float = 100.0, noise: float = 21.0) -> Found:
    """PPDE has TV ≤ α if the number m of records is large enough.

    Let d ≥ 2, l = ln(4dR/β) and L = ln(mR/β), where R is the number of rounds. The condition is m ≥ 100 dl/α², m ≥ 21
    d√(lL/ρ)/α and m ≥ `enough_records`. With probability at least 1 − 4β all bounds on the sampling errors and on the
    noise hold, and then the error of q_j is at most e_j = √(2p_jl/m) + 2l/(3m) + s_j√(2l). A coordinate that is
    finished in a round has p ≥ u/4 ≥ 1/(4d) and s² ≤ 24 pdL/(ρm²). A coordinate with p ≥ 1/d that is left to the last
    step has a smaller s². For these two kinds of coordinates TV² ≤ ½KL ≤ ½Σ e²/(p(1 − p)) ≤ Σ e²/p, because p ≤ ½; for
    the others TV ≤ Σ e. With a = dl/m and b = d√(lL/ρ)/m, TV ≤ (√(2a) + 4a/3 + 7b) + (√(2a) + 2a/3 + 3.5b) ≤ 4.83√a +
    10.5b. The check computes the bound on TV from the reference's noise, for random means and the worst round of each
    coordinate.
    """
    rng = np.random.default_rng(6)
    for i in range(400):
        d = int(rng.choice([2, 4, 10, 64, 500]))
        rounds, beta, alpha = ppde.most_rounds(d), 10 ** rng.uniform(-6, -1), 10 ** rng.uniform(-2.5, 0)
        rho = 10 ** rng.uniform(-8, 2)
        level = math.log(4 * d * rounds / beta)
        m = explicit_records(d, rho, beta, alpha, sampling, noise)
        p = 2 ** -rng.uniform(1, 3 * math.log2(d) + 1, d)
        if i % 2 == 0:  # all means are equal, at or near an end of the ranges of the proof
            p[:] = float(rng.choice([1 / d, 1 / (4 * d), 1 / d * 0.999]))
        squares = plain = 0.0
        for value in p:
            plain_error = math.sqrt(2 * value * level / m) + 2 * level / (3 * m)

            limits = {r: ppde.mean_limit(r) for r in range(1, rounds + 1)}
            inside = [r for r, u in limits.items() if u / 4 <= value <= u]
            bounds = [ppde.truncation_squared(ppde.mean_limit(r), d, m, rounds, beta) for r in inside]
            options = [(plain_error + noise_reach(b2, d, m, rho, level)) ** 2 for b2 in bounds]
            last = plain_error + noise_reach(ppde.last_truncation_squared(m, beta), d, m, rho, level)
            if value >= 1 / d:
                squares += max([*options, last**2]) / value
            elif options and i % 4:
                squares += max(options) / value
            else:
                plain += last
        yield (math.sqrt(squares) + plain) / alpha


@check("floating", scope="d ≤ 100, ρ from 10⁻⁴ to 10⁴")
@mutant("a quarter of the records", factor=0.25)
@mutant("17/32 for 5/8", mean=17 / 32)
def flip_test(factor: float = 1.0, mean: float = 5 / 8) -> Found:
    """Flip every bit whose noisy mean over m further records exceeds ½. Then all means are at most 5/8, except with
    probability β.

    The check `means_above_half` shows that the error bound of PPDE holds for means of at most 5/8. The noisy mean is
    ρ-zCDP. With m ≥ 128 ln(2d/β), m ≥ 16√(d ln(2d/β)/ρ) and noise of variance d/(2ρm²), P(no flip at p ≥ 5/8) ≤ β/d, by
    the exact binomial law. For all m the bound follows from Hoeffding's inequality and the Gaussian tail, each at 1/16:
    both e^{−m/128} and e^{−ρm²/(256d)} are at most β/(2d). Flipping bits is a bijection of the rows, so it changes
    neither the distance TV nor the privacy. If p ≤ 5/8 in place of ½ in the first round, `enough_records` still makes
    the sampling error of this round small, and no row is shortened.
    """
    for d, rho, beta in product((1, 4, 100), (1e-4, 1.0, 1e4), (0.3, 1e-4)):
        level = math.log(2 * d / beta)
        m = math.ceil(factor * max(128 * level, 16 * math.sqrt(d * level / rho)))
        deviation = math.sqrt(ppde.noise_variance(ppde.change_squared(math.inf, d, "tight"), m, rho))
        k = np.arange(m + 1)
        missed = float((stats.binom.pmf(k, m, mean) * stats.norm.sf((k / m - 0.5) / deviation)).sum())
        yield missed * d / beta
    for d, beta in product((2, 4, 16), (0.3, 1e-3)):
        m, rounds = records(d, 1e6, beta), ppde.most_rounds(d)
        law = stats.binom(m, mean)
        tail = law.sf(math.ceil(m * (mean + 1 / 32)) - 1) + law.cdf(math.floor(m * (mean - 1 / 32)))
        bound = ppde.truncation_squared(ppde.mean_limit(1), d, m, rounds, beta)
        shorten = float(stats.binom.sf(math.ceil(bound) - 1, d, mean))
        if tail > beta / (2 * d * rounds) or shorten > beta / (m * rounds):
            yield f"first round, d={d}, β={beta}"
