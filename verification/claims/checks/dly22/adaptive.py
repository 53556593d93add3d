"""Check DLY22 §5 and Theorems 3, 4: clipping, the search for a threshold, and the budget and error of AdaptiveCov."""

import dataclasses
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
import sympy as sp

from covassay.reference import tails
from covassay.reference.domain import Matrix, Number, Vector, row_norms, second_moment, unit_rows
from covassay.reference.mechanisms.building_blocks import above_threshold, private_radius, private_trace
from covassay.reference.mechanisms.concentrated import adaptive_cov, clipped_cov, separate_cov
from covassay.reference.mechanisms.pure import adaptive_cov_pure
from covassay.reference.privacy import zcdp_of_gaussian
from covassay.reference.sensitivity import SENSITIVITIES
from covassay.verification.claims.checks.dly22 import zipf_data as dly22_data
from covassay.verification.claims.checks.dly22.basics import rows_in_ball
from covassay.verification.claims.evidence import ROUNDING, Evidence, Formula, Found, check, mutant

CASES = 2000


def tail(squares: Sequence[Number], tau_squared: Number) -> Number:
    """Return the tail γ(τ) = (1/n) Σ (‖x_i‖² − τ²)₊, computed from the squared norms."""
    return sum(max(s - tau_squared, 0) for s in squares) / len(squares)


def random_squares(rng: np.random.Generator, n: int) -> list[Fraction]:
    """Return random squared norms: each is zero, one, a power of 4 or a value in between."""
    picks: list[Fraction] = []
    for _ in range(n):
        kind, level = int(rng.integers(0, 4)), int(rng.integers(0, 7))
        if kind == 0:
            picks.append(Fraction(int(rng.integers(0, 2))))
        elif kind == 1:
            picks.append(Fraction(1, 4**level))
        else:
            picks.append(Fraction(int(rng.integers(1, 1000)), 999 * 4**level))
    return [min(p, Fraction(1)) for p in picks]


# CLIPPING


@check("exact", scope="500 random data sets, with two formulas for the lost equation (1)")
@mutant("the share of long rows", forms=(lambda s, t: sum(v > t for v in s) * Fraction(1, len(s)),))
@mutant("without the positive part", forms=(lambda s, t: sum(v - t for v in s) / len(s),))
def tail_function(
    forms: Sequence[Callable[[Sequence[Fraction], Fraction], Fraction]] = (
        tail,
        lambda s, t: sum((v for v in s if v > t), Fraction(0)) / len(s),
    ),
) -> Found:
    """The clipping bias γ(X, τ) does not increase with τ; γ(X, 0) = tr Σ and γ(X, 1) = 0 hold in rational arithmetic.

    Our copy of the paper has lost equation (1), so the check tries two formulas for it: (1/n) Σ (‖x_i‖² − τ²)₊ and the
    larger (1/n) Σ ‖x_i‖² 1{‖x_i‖ > τ}.
    """
    rng = np.random.default_rng(1)
    for _ in range(500):
        squares = random_squares(rng, int(rng.integers(1, 9)))
        taus = sorted({*random_squares(rng, 5), Fraction(0), Fraction(1)})
        for form in forms:
            values = [form(squares, t) for t in taus]
            yield values == sorted(values, reverse=True) and values[-1] == 0
            yield values[0] == sum(squares) / len(squares)


@check("exact", scope="20 pairs")
@mutant("‖x‖ − τ for ‖x‖² − τ²", bias=lambda s, t: max(s - t, 0))
@mutant("twice the change", bias=lambda s, t: 2 * max(s * s - t * t, 0))
def claim_1(bias: Formula = lambda norm, tau: max(norm**2 - tau**2, Fraction(0))) -> Found:
    """Clipping x to x̃ = x min(1, τ/‖x‖) gives ‖xxᵀ − x̃x̃ᵀ‖_F = (‖x‖² − τ²)₊.

    The check adds the squares of the entries in rational arithmetic.
    """
    for x in ((3, 4), (1, 2, 2), (2, 3, 6), (1, 1, 1, 1), (5, 12, 0)):
        norm = Fraction(math.isqrt(sum(v * v for v in x)))
        for tau in (Fraction(1, 3), Fraction(2), norm, 2 * norm):
            kept = min(Fraction(1), tau / norm)
            change = sum(((u * v) * (1 - kept**2)) ** 2 for u in x for v in x)
            yield {f"x={x}, τ={tau}": change == bias(norm, tau) ** 2}


def clip(x: Matrix, tau: float) -> Matrix:
    """Return the rows after the reference has clipped them to length τ, in the unit of the given rows."""
    clipped: Matrix = unit_rows(x, tau) * tau
    return clipped


@check("floating", scope=f"{CASES} random data sets", attained=1 - ROUNDING)
@mutant("half the bias", share=0.5)
@mutant("clipping at τ/2", clipping=lambda x, t: clip(x, t / 2))
def clipping_bias(share: float = 1.0, clipping: Formula = clip) -> Found:
    """Clipping rows to length τ moves Σ by at most γ(X, τ) in Frobenius norm (Lemma 9).

    Data whose clipped rows are all parallel attain this bound.
    """
    rng = np.random.default_rng(2)
    parallel = 1.0
    for i in range(CASES):
        x = rows_in_ball(rng, int(rng.integers(1, 9)), int(rng.integers(2, 5)))
        if i % 3 == 0:
            x = np.outer(rng.uniform(-1, 1, len(x)), x[0] / np.linalg.norm(x[0]))
        tau = float(10 ** rng.uniform(-2, 0))
        bound = share * float(tail(list(row_norms(x) ** 2), tau**2))
        if bound > 0:
            moved = float(np.linalg.norm(second_moment(x) - second_moment(clipping(x, tau)))) / bound
            yield moved
            parallel = min(parallel, moved if i % 3 == 0 else 1.0)
    yield parallel >= 1 - ROUNDING


@check("floating", scope="600 random releases", attained=0.9)
@mutant("without the bias", bias=lambda s, t: 0.0)
@mutant("τ² in place of τ in SeparateCov's first term", exponent=2)
def noise_and_bias(bias: Formula = tail, exponent: int = 1) -> Found:
    """The error of a clipped mechanism is at most Noise(τ) + γ(τ) for any noise, and some data come close to it.

    Let W be the noise matrix, N the noise of the eigenvalues, and σ and s the noise scales of GaussCov and SeparateCov.
    The noise level Noise(τ) is τ²σ‖W‖_F for GaussCov, and τ · 2√(s tr Σ ‖W‖) + τ² s‖N‖ for SeparateCov. The check runs
    the reference's clipped mechanism on random rows, thresholds and noises.
    """
    rng = np.random.default_rng(3)
    for i in range(600):
        n, d = int(rng.integers(1, 9)), int(rng.integers(2, 5))
        x, tau, rho = rows_in_ball(rng, n, d), float(10 ** rng.uniform(-1.5, 0)), float(10 ** rng.uniform(-1, 4))
        base: clipped_cov.Base = "gauss" if i % 2 else "separate"
        noise = separate_cov.draw_noise(d, rng)
        sigma = second_moment(x)
        error = float(np.linalg.norm(clipped_cov.clipped(x, noise, rho, tau, base, "wigner") - sigma))
        if base == "gauss":
            level = tau**2 * float(np.linalg.norm(noise.matrix)) / (n * math.sqrt(rho))
        else:
            spectral = float(np.linalg.norm(noise.matrix, 2))
            first = float(separate_cov.direction_error(n, rho, np.trace(sigma), spectral))
            second = float(separate_cov.eigenvalue_error(n, rho, np.linalg.norm(noise.eigenvalues)))
            level = tau**exponent * first + tau**2 * second
        yield error / (level + float(bias(list(row_norms(x) ** 2), tau**2)))


@check("floating", scope="k ≤ 39, two parameter sets")
@mutant("τ² for τ", separate=lambda k, a, e: 4.0**-k * (a + e))
@mutant("2^{−k} g for 4^{−k} g", gauss=lambda k, g: 2.0**-k * g)
def clipped_noise(separate: Formula = adaptive_cov.separate_noise, gauss: Formula = adaptive_cov.gauss_noise) -> Found:
    """Clipping rows to τ = 2^{−k} changes GaussCov's error bound g to τ²g and SeparateCov's a + e to τa + τ²e.

    On rows divided by τ the trace is tr/τ², and the errors are then multiplied by τ². The trace term a = √(4 s υ tr) is
    homogeneous of degree 1/2 in the trace, so it scales by τ alone. The check evaluates the reference's bounds for both
    noise ensembles.
    """
    for k in range(0, 40, 3):
        for n, d, rho, trace, ensemble in ((1e3, 5, 0.3, 0.2, "wigner"), (1e6, 200, 2.0, 1e-4, "goe")):
            whole = adaptive_cov.errors(n, d, rho, trace, 0.1, ensemble, "theorem")
            scaled = adaptive_cov.errors(n, d, rho, trace * 4.0**k, 0.1, ensemble, "theorem")
            direct = 4.0**-k * (scaled.directions + scaled.eigenvalues)
            yield abs(float(separate(k, whole.directions, whole.eigenvalues) / direct) - 1) / 1e-12
            yield abs(float(gauss(k, whole.gauss) / (4.0**-k * scaled.gauss)) - 1) / 1e-12


@check("floating", scope="d = 1, 2, 50, both ensembles")
@mutant("divided by 6.18", errors=lambda *given: _other_directions(6 / 6.18, *given))
@mutant("divided by 5.82", errors=lambda *given: _other_directions(6 / 5.82, *given))
@mutant("not divided", errors=lambda *given: _other_directions(6, *given))
@mutant(
    "g larger by 3 %",
    errors=lambda *given: dataclasses.replace(
        adaptive_cov.errors(*given), gauss=1.03 * adaptive_cov.errors(*given).gauss
    ),
)
def released_noise_levels(errors: Formula = adaptive_cov.errors) -> Evidence:
    """With bounds="code" SeparateCov's trace term is 2^{5/4}√(υ tr)/(6 ρ^{1/4}√n), and GaussCov's bound is ω/(n√ρ).

    The factors ω, η and υ are those that `coded_bounds` computes. At d = 1, where the υ of the code is 0/0, υ* takes
    its place.
    """
    worst = 0.0
    for d, n, rho, trace, beta in ((1, 10, 0.5, 1.0, 0.1), (2, 7, 0.3, 0.2, 0.05), (50, 1000, 2.0, 1e-3, 0.1)):
        upsilon = tails.upsilon(d, beta / 2) if d > 1 else tails.upsilon_star(d, beta / 2)
        wanted = (
            tails.omega(d, beta) / (n * math.sqrt(rho)),
            2**1.25 * math.sqrt(upsilon * trace) / (rho**0.25 * math.sqrt(n)) / 6,
            math.sqrt(2) * tails.eta(d, beta / 2) / (math.sqrt(rho) * n),
        )
        for ensemble in ("wigner", "goe"):
            found = dataclasses.astuple(errors(n, d, rho, trace, beta, ensemble, "code"))
            worst = max(worst, *(abs(float(a) / float(b) - 1) for a, b in zip(found, wanted, strict=True)))
    return Evidence(worst < 1e-12, f"largest relative error {worst:.2g}")


def _other_directions(factor: float, *given: Number) -> adaptive_cov.Errors:
    """Make a mutant of the reference's bounds, in which the trace term is multiplied by a factor."""
    found = adaptive_cov.errors(*given)
    return dataclasses.replace(found, directions=factor * found.directions)


# EXAMPLES (we chose the numbers, because our copy of the paper has lost the numbers of its examples)


def least(n: float, trace: float, tau_squared: float, rho: float = 1.0) -> float:
    """Return the smallest noise level Noise(τ) of DLY22's equation (7), at d = n and β = 0.1."""
    found = adaptive_cov.errors(n, n, rho, trace, 0.1, "wigner", "theorem")  # type: ignore[arg-type]
    tau = math.sqrt(tau_squared)
    return float(min(tau_squared * found.gauss, tau * found.directions + tau_squared * found.eigenvalues))


@check("floating", more="limits", scope="ρ = 1/4, 1, 9; n = 1e8, 1e16, 1e32")
@mutant("all rows short", long=0)
@mutant("clipping at 1/4", clip_squared=lambda n: 1 / 16)
@mutant("3 % less with clipping", limits=(math.sqrt(2), 0.97))
def skewed_example(
    long: int = 1, clip_squared: Formula = lambda n: 1 / n, limits: tuple[float, float] = (math.sqrt(2), 1.0)
) -> Found:
    """Let d = n, one row have norm 1 and the others n^{−1/2}: clipping lowers the error bound from √(2/(ρn)) to 1/n.

    The compared bounds are the leading terms of the error as n → ∞. Without clipping the leading term is SeparateCov's
    second term √2 η/(√ρ n), where η ≈ √d. At τ = n^{−1/2} the noise of SeparateCov is of order n^{−5/4}, and the bias
    is 1/n.
    """
    for rho in (0.25, 1.0, 9.0):
        before = math.inf
        for n in (1e8, 1e16, 1e32):
            trace = (long + (n - long) / n) / n
            unclipped = least(n, trace, 1.0 if long else 1 / n, rho) * math.sqrt(rho * n)
            tau = clip_squared(n)
            clipped = (least(n, trace, tau, rho) + long * max(0.0, 1 - tau) / n) * n
            gap = max(abs(unclipped / limits[0] - 1), abs(clipped / limits[1] - 1))
            yield {
                f"the relative distance of the bounds from their limits falls tenfold, to {gap:.2g}": gap < before / 10
            }
            before = gap
        yield gap < 1e-6


@check("floating", scope="n = 1e64, 1e128")
@mutant("all rows of the second data set have one norm", level=Fraction(3, 8))
def no_quantile(level: Fraction = Fraction(1, 4)) -> Evidence:
    """Clipping at a fixed quantile multiplies the error by n^{1/16} on one of two data sets with equal n, d and trace.

    To clip at a quantile is to take as τ the norm of the row that has a fixed rank in descending order. The two data
    sets of the example have d = n, tr = n^{−3/8} and m = n tr. One data set has m rows of squared norm 1, and its other
    rows are zero. On this data set a rank above m gives τ = 0 and the error tr = n^{−6/16}, and a rank up to m gives τ
    = 1 and the error n^{−7/16}. The second data set has m rows of squared norm n^{−1/4}, and its remaining rows all
    have one norm. On the second data set a rank up to m gives the error n^{−9/16}, and a rank above m gives the error
    n^{−10/16}. The logarithms in the error bounds depend on β, but not on n.
    """
    gains = []
    for n in (1e64, 1e128):
        trace = n ** (-3 / 8)
        high = n ** -float(level)
        share = trace  # m/n
        low = (trace - share * high) / (1 - share)
        first = trace / least(n, trace, 1.0)
        short = least(n, trace, low) + share * max(high - low, 0.0)
        second = least(n, trace, high) / short
        gains.append((first, second))
    (a, b), (c, d) = gains
    growth = [math.log(c / a) / math.log(1e64), math.log(d / b) / math.log(1e64)]
    holds = min(c, d) > 100 and all(abs(g - 1 / 16) < 0.005 for g in growth)
    return Evidence(holds, f"growth exponents {growth[0]:.4f}, {growth[1]:.4f}; 1/16 = 0.0625")


# THE SEARCH


def counts_of(squares: Sequence[Fraction], last: int) -> list[int]:
    """Return the counts c_1, …, c_last, where c_j is the number of rows with 4^{−j} < ‖x‖² ≤ 4^{1−j}."""
    return [sum(Fraction(1, 4**j) < s <= Fraction(1, 4 ** (j - 1)) for s in squares) for j in range(1, last + 1)]


def exact_bias_bound(counts: Sequence[int], k: int, n: int) -> Fraction:
    """Return the reference's B_k as an exact number: nB_k is a sum of a few powers of 2, which float64 does not
    round.
    """
    return Fraction(clipped_cov.bias_bound(counts, k, 1)) / n


@check("floating", scope="800 random data sets, k ≤ 7")
@mutant("only the bins up to k − 1", bound=lambda c, k, n: exact_bias_bound(c, max(k - 1, 0), n))
@mutant("twice the edges", bound=lambda c, k, n: 4 * exact_bias_bound(c, k, n))
def bias_bins(bound: Formula = exact_bias_bound) -> Found:
    """The bias γ of clipping and its bound B_k satisfy γ(2^{−k}) ≤ B_k ≤ 4γ(2^{−k−1}).

    The check uses rational arithmetic. Rows at the two ends of a bin of squared norms approach the two bounds on B_k. A
    row of bin j ≤ k contributes 4^{1−j} − 4^{−k}, which lies between ‖x‖² − 4^{−k} and 4‖x‖² − 4^{−k} = 4(‖x‖² −
    4^{−k−1}).
    """
    rng = np.random.default_rng(4)
    equal = 0
    for _ in range(800):
        squares = random_squares(rng, int(rng.integers(1, 9)))
        for k in range(8):
            middle = bound(counts_of(squares, 8), k, len(squares))
            low, high = tail(squares, Fraction(1, 4**k)), 4 * tail(squares, Fraction(1, 4 ** (k + 1)))
            yield low <= middle <= high
            equal += low == middle != 0
    yield equal > 0


@check("floating", scope="800 random neighbours, k ≤ 8")
@mutant("a sensitivity of 1/2", limit=Fraction(1, 2))
@mutant("± c_k in place of nB_k", bound=lambda c, k, n: Fraction(c[k - 1], n) * (-1) ** k if k else Fraction(0))
def bias_sensitivity(bound: Formula = exact_bias_bound, limit: Fraction = Fraction(1)) -> Found:
    """Replacing a row moves all nB_k by less than 1 and in one direction; the change does not shrink as k grows.

    The supremum is 1: replacing a row of zeros by a row of bin 1 moves nB_k by 1 − 4^{−k}.
    """
    rng = np.random.default_rng(5)
    largest = Fraction(0)
    for _ in range(800):
        squares = random_squares(rng, int(rng.integers(1, 7)))
        other = [*squares[:-1], random_squares(rng, 1)[0]]
        n = len(squares)
        first, second = counts_of(squares, 8), counts_of(other, 8)
        moves = [n * (bound(second, k, n) - bound(first, k, n)) for k in range(9)]
        sizes = [abs(m) for m in moves]
        yield (min(moves) >= 0 or max(moves) <= 0) and max(sizes) < limit and sizes == sorted(sizes)
        largest = max(largest, *sizes)
    yield largest == 1 - Fraction(1, 4**8)


@check("symbolic", covers="all", scope="all n, ρ, ε, β")
@mutant("half the margin", margin=lambda f, log: private_trace.gaussian_margin(f, log) / 2)
@mutant("all of ρ", budget=lambda rho: rho)
@mutant("ln(1/failure)/2 for the Laplace margin", laplace=lambda f, log: log(1 / f) / 2)
@mutant("3 % more than β", margin=lambda f, log: private_trace.gaussian_margin(sp.Rational(103, 100) * f, log))
def trace_step(
    margin: Formula = private_trace.gaussian_margin,
    laplace: Formula = private_trace.laplace_margin,
    budget: Formula = adaptive_cov.trace_budget,
) -> Evidence:
    """Replacing a row moves the trace by at most 1/n. The noisy bound t̃ on the trace costs ρ/8 (or ε/8), and t̃ ≥ tr Σ
    with probability at least 1 − β/8.

    For f = β/8, P(N < −t) ≤ e^{−t²/2} = f at t = √(2 ln(1/f)) = √(2 ln(8/β)), and P(Laplace < −t) = e^{−t}/2 = f at t =
    ln(1/(2f)) = ln(4/β). The upper tails P(N > t) and P(Laplace > t) have the same bounds. The replacement moves the
    trace by |‖x‖² − ‖y‖²|/n ≤ 1/n. Replacing a unit row by a row of zeros moves the trace by exactly 1/n.
    """
    n, r, w, beta = sp.symbols("n r w beta", positive=True)
    rho, u = 4 * r**2, 2 * w**2
    sigma = sp.nsimplify(private_trace.gaussian_scale(n, budget(rho)))
    gaussian = sp.simplify(zcdp_of_gaussian(1 / n, sigma**2) - rho / 8)
    seen: list[Number] = []

    def log(argument: Number) -> Number:
        seen.append(argument)
        return u

    # e^{−t²/2} = e^{−u} with u = ln(1/failure)
    gaussian_tail = sp.simplify(sp.nsimplify(sp.powdenest(margin(beta / 8, log), force=True)) ** 2 / 2 - u)
    laplace_tail = sp.simplify(laplace(beta / 8, log) - u)
    epsilon = sp.symbols("epsilon", positive=True)
    share = adaptive_cov_pure.step_epsilon(epsilon)
    pure = sp.simplify(private_trace.privacy_loss(1, n, private_trace.laplace_scale(n, share)) - epsilon / 8)
    residuals = [gaussian, gaussian_tail, laplace_tail, pure]
    trace = SENSITIVITIES["trace"]
    attained = trace.change(*trace.pair(3)) == trace.supremum(3) == 1
    holds = all(v == 0 for v in residuals) and seen == [8 / beta, 4 / beta] and attained
    return Evidence(holds, f"residuals {residuals}")


@check("symbolic", scope="all ρ, ε")
@mutant("the last step spends all of ρ", final=lambda rho, radius, c: rho)
@mutant("a search with ε₀ = √ρ", search=lambda rho: rho**0.5)
def budgets(final: Formula = adaptive_cov.final_budget, search: Formula = adaptive_cov.search_epsilon) -> Evidence:
    """The budgets of the paper add up to ρ (or ε), and the proven cost is 29ρ/32.

    The sums are ρ/8 + ε₀²/2 + 3ρ/4 = ρ with ε₀ = √ρ/2 and ε/8 + ε/8 + 3ε/4 = ε. If the radius is private too, the last
    step has 5/8 of the budget in place of 3/4. A search has bounded range, so its proven cost is ε₀²/8 = ρ/32 in place
    of ε₀²/2 = ρ/8. The total is then 29ρ/32, or 26ρ/32 with a private radius. Every step of AdaptiveCov is a function
    of the data and of what was released before, so the costs of the steps add up.
    """
    r = sp.symbols("r", positive=True)
    rho = r**2
    counted, proven = {}, {}
    for radius, searches in (("none", 1), ("private", 2)):
        epsilon_0 = sp.nsimplify(search(rho))
        last = sp.nsimplify(final(rho, radius, "paper"))
        total = adaptive_cov.trace_budget(rho) + searches * epsilon_0**2 / 2 + last
        counted[radius] = sp.simplify(total / rho)
        refined = adaptive_cov.trace_budget(rho) + searches * sp.nsimplify(clipped_cov.search_loss(epsilon_0)) + last
        same = sp.nsimplify(adaptive_cov.privacy_loss(rho, 2, radius, "paper"))
        proven[radius] = sp.simplify(refined / rho) if sp.simplify(same - refined) == 0 else sp.nan
    epsilon = Fraction(1)
    pure = [
        (2 + (radius == "private")) * adaptive_cov_pure.step_epsilon(epsilon)
        + adaptive_cov_pure.final_epsilon(epsilon, radius)
        for radius in ("none", "private")
    ]
    holds = (
        set(counted.values()) == {sp.Integer(1)}
        and list(proven.values()) == [sp.Rational(29, 32), sp.Rational(26, 32)]
        and pure == [1, 1]
    )
    return Evidence(holds, f"counted {list(counted.values())}, proven {list(proven.values())}, pure {pure}")


@check("floating", scope=f"{CASES} random runs")
@mutant("a threshold of n", threshold=lambda n, slack: n)
@mutant("a threshold of n − 3α", threshold=lambda n, slack: n - 3 * slack)
def radius_promise(threshold: Formula = private_radius.search_threshold) -> Found:
    """If no noise exceeds α/2, the private radius r̃ is at most max(b, 2 max ‖x_i‖), and at most 2α rows exceed r̃.

    The bound α on the noise is (8/ε) ln(2(J + 1)/β) for the J + 1 radii b, 2b, …, 1. By the accuracy of AboveThreshold
    no noise exceeds α/2 with probability at least 1 − β.
    """
    rng = np.random.default_rng(7)
    epsilon, beta = 2.0, 0.2
    b1, b2 = above_threshold.threshold_scale(epsilon), above_threshold.query_scale(epsilon, "paper")
    for _ in range(CASES):
        levels = private_radius.public_radii(float(2.0 ** -rng.integers(1, 12)))
        alpha = above_threshold.accuracy(len(levels), beta, epsilon, "paper")
        n = int(rng.integers(1, 400))
        norms = float(10 ** rng.uniform(-4, 0)) * rng.random(n) ** rng.integers(1, 8)
        alpha *= 1 + ROUNDING  # the value is raised a little, because rounding errors may break ties
        ends = rng.choice([-1.0, 1.0], len(levels) + 1) if rng.random() < 0.5 else rng.uniform(-1, 1, len(levels) + 1)
        half = alpha / (1 + ROUNDING) / 2
        noise = above_threshold.AboveThresholdNoise(float(ends[0] * half / b1), ends[1:] * half / b2)
        within = np.array([float((norms <= r).sum()) for r in levels])
        stop = above_threshold.first_above(within, threshold(n, alpha), noise, epsilon=epsilon, calibration="paper")
        radius = float(np.append(levels, 1.0)[stop])
        yield radius <= max(float(levels[0]), 2 * float(norms.max())) * (1 + ROUNDING)
        yield (norms > radius).sum() <= 2 * alpha


def explicit_bound(noise: float, bias: float, slack: float, rest: float, factor: float) -> float:
    """Return the bound C (Noise(τ) + γ(τ)) + 9α/n + 8N_{K+1} on the error of AdaptiveCov, with C = `factor`."""
    return factor * (noise + bias) + 9 * slack + 8 * rest


@check("floating", scope=f"{CASES} random searches, all τ on a grid")
@mutant("2 for 32", factor=2.0)
@mutant("clipping at 16 times the level found", clipping=lambda k: min(1.0, 2.0 ** (4 - k)))
@mutant("without the term in α", slack_share=0.0)
def adaptive_error(factor: float = 32.0, clipping: Formula = clipped_cov.clip_level, slack_share: float = 1.0) -> Found:
    """If no noise exceeds its bound, AdaptiveCov's error is at most 32 (Noise(τ) + γ(τ)) + 9α/n + 8N_{K+1} for every τ.

    In the bound on the error, α is the accuracy of the search for the threshold. At level k, N_k is the smaller bound
    on the noise, and B_k the bound on the bias; K is the last level. If the search stops at k ≥ 1, then B_j ≤ N_j + α/n
    for j < k, N_k ≤ B_k + α/n, and N_{j−1} ≤ 4N_j. If the search stops at k, the rows are clipped at 2^{1−k}. For rows
    clipped at 2^{1−k}, the mechanism with the smaller bound at level k has noise at most 4N_k. The bias is at most
    B_{k−1} ≤ 4N_k + α/n, so the error is at most 8N_k + α/n. For τ > 2^{−k−1}, N_k ≤ 4 Noise(τ); for τ ≤ 2^{−k−1}, N_k
    ≤ B_k + α/n ≤ 4γ(τ) + α/n. If the search does not stop, the same inequalities hold with k = K + 1, and the last term
    of the bound is N_{K+1}.
    """
    rng = np.random.default_rng(8)
    for _ in range(CASES):
        n, last = int(rng.integers(1, 2000)), int(rng.choice([3, 8, 20]))
        levels = rng.integers(0, 12, 4)
        norms = np.minimum(1.0, 2.0**-levels * rng.choice([1.0, 0.5 * (1 + 1e-9), 0.7], 4))
        sizes = rng.multinomial(n, rng.dirichlet(np.full(4, 0.3)))
        x = np.repeat(norms, sizes)[:, None]
        g, a, e = (float(v) for v in 10 ** rng.uniform(-6, 1, 3))
        epsilon = float(10 ** rng.uniform(-1, 3))
        alpha = float(above_threshold.accuracy(last + 1, 0.1, epsilon, "paper"))
        b1, b2 = above_threshold.threshold_scale(epsilon), above_threshold.query_scale(epsilon, "paper")
        ends = rng.choice([-1.0, 1.0], last + 2) if rng.random() < 0.5 else rng.uniform(-1, 1, last + 2)
        search = above_threshold.AboveThresholdNoise(float(ends[0] * alpha / 2 / b1), ends[1:] * alpha / 2 / b2)
        bounds = [float(adaptive_cov_pure.noise_level(k, g, a, e)) for k in range(last + 2)]
        k = clipped_cov.first_level(clipped_cov.bin_counts(x, last), bounds[:-1], n, search, epsilon)
        clip_at = float(clipping(k))
        gauss = adaptive_cov.gauss_noise(k, g) <= adaptive_cov.separate_noise(k, a, e)
        squares, weights = norms**2, sizes / n

        def gamma(tau: float, squares: Vector = squares, weights: Vector = weights) -> float:
            return float(np.maximum(squares - tau**2, 0.0) @ weights)

        error = (clip_at**2 * g if gauss else clip_at * a + clip_at**2 * e) + gamma(clip_at)
        for tau in np.concatenate([[0.0], 2.0 ** -np.arange(0, last + 3, 0.5)]):
            t = float(tau)
            level = min(t**2 * g, t * a + t**2 * e)
            limit = explicit_bound(level, gamma(t), slack_share * alpha / n, bounds[-1], factor)
            yield error <= limit * (1 + ROUNDING)


@check(
    "symbolic",
    covers="all",
    exhausts="the search stops and τ ≥ 2^{−k−1}, the search stops and τ < 2^{−k−1}, or the search does not stop",
    less="factor last",
    more="factor slack",
    scope="all g, a, e, τ",
)
@mutant("clipping at 4 times the level found", clipping=lambda k: 2 ** (2 - k))
@mutant("a bias of 3γ", bins=3)
def adaptive_error_proof(
    factor: Number = 32,
    slack: Number = 9,
    last: Number = 8,
    bins: Number = 4,
    clipping: Formula = lambda k: 2 ** (1 - k),
) -> Evidence:
    """The proof of AdaptiveCov's error bound gives the constants 32, 9 and 8 for all g, a and e in the noise levels.

    The docstring of `adaptive_error` has the proof of the bound. The bounds on both noises, and so the smaller bound
    N_k, satisfy bound(k − 1) ≤ 4 bound(k). The two sides are equal for GaussCov, and differ by 2 · 2^{−k} a for
    SeparateCov. Suppose that the search for the threshold stops at level k. The clipping norm is then 2^{1−k}, that of
    level k − 1. At this norm the noise is at most 4N_k. With s = α/n, the bias is at most B_{k−1} ≤ N_{k−1} + s ≤ 4N_k
    + s. If τ ≥ 2^{−k−1}, then N_k ≤ 4N_{k+1} ≤ 4 Noise(τ); if τ is smaller, then N_k ≤ B_k + s ≤ 4γ(τ) + s. If the
    search does not stop, the last level N_{K+1} is kept. In the three cases the error is therefore at most 32 Noise(τ)
    + s, 32γ(τ) + 9s or 8N_{K+1} + s. The check requires that the constants are the largest coefficients in these three
    bounds. If the search stops at level 0, the error is at most the first noise level N_0.
    """
    k, g, a, e = sp.symbols("k g a e", positive=True)
    gauss = sp.expand(4 * adaptive_cov.gauss_noise(k, g) - adaptive_cov.gauss_noise(k - 1, g))
    separate = sp.expand(4 * adaptive_cov.separate_noise(k, a, e) - adaptive_cov.separate_noise(k - 1, a, e))
    level = sp.expand(clipping(k) - 2 * 2 ** (-k))
    steps = [gauss, sp.simplify(separate - 2 * 2 ** (-k) * a), level]
    at_level, s, noise, tail_at, kept = sp.symbols("N s noise gamma last", positive=True)
    error = 4 * at_level + (4 * at_level + s)
    cases = [sp.expand(error.subs(at_level, v)) for v in (4 * noise, bins * tail_at + s, kept)]
    largest = [max(case.coeff(v) for case in cases) for v in (noise, tail_at, s, kept)]
    bound = sp.expand(factor * (noise + tail_at) + slack * s + last * kept)
    stated = [bound.coeff(v) for v in (noise, tail_at, s, kept)]
    holds = all(v == 0 for v in steps) and largest == stated
    return Evidence(holds, f"residuals {steps}; constants {largest}")


AdaptiveNoise = TypeVar("AdaptiveNoise", adaptive_cov.AdaptiveCovNoise, adaptive_cov_pure.AdaptiveCovPureNoise)


def largest_search_noise(search: above_threshold.AboveThresholdNoise, epsilon: float) -> float:
    """Return the largest absolute value of the noises on the threshold and on the queries."""
    b1, b2 = above_threshold.threshold_scale(epsilon), above_threshold.query_scale(epsilon, "paper")
    return float(max(b1 * abs(search.threshold), b2 * float(np.abs(search.queries).max())))


def zcdp_terms(
    x: Matrix, noise: adaptive_cov.AdaptiveCovNoise, rho: float, beta: float, radius: str = "none"
) -> tuple[float, ...] | None:
    """Return the terms g, a, e and α of AdaptiveCov's bound on the given rows, or None if a noise exceeds its bound."""
    n, d = x.shape
    final, share = adaptive_cov.final_budget(rho, radius, "paper"), 3 * beta / 4
    search = adaptive_cov.search_epsilon(rho)
    alpha = above_threshold.accuracy(clipped_cov.last_level(n, d) + 1, beta / 8, search, "paper")
    within = (
        float(np.linalg.norm(noise.base.matrix)) <= tails.omega_sharp(d, share)
        and float(np.linalg.norm(noise.base.matrix, 2)) <= tails.upsilon_star(d, share / 2)
        and float(np.linalg.norm(noise.base.eigenvalues)) <= tails.eta(d, share / 2)
        and noise.trace >= -private_trace.gaussian_margin(beta / 8)
        and largest_search_noise(noise.search, search) <= alpha / 2
    )
    scale = private_trace.gaussian_scale(n, adaptive_cov.trace_budget(rho))
    upper = private_trace.upper_bound(
        float((x**2).sum()) / n, noise.trace, scale, private_trace.gaussian_margin(beta / 8)
    )
    found = adaptive_cov.errors(n, d, final, upper, share, "wigner", "theorem")
    terms = (found.gauss, found.directions, found.eigenvalues, alpha)
    return tuple(float(v) for v in terms) if within else None


def pure_terms(
    x: Matrix, noise: adaptive_cov_pure.AdaptiveCovPureNoise, epsilon: float, beta: float
) -> tuple[float, ...] | None:
    """Return the terms g, a, e and α of AdaptiveLapCov's bound on given rows, or None if a noise exceeds its bound."""
    n, d = x.shape
    step, final, share = (
        adaptive_cov_pure.step_epsilon(epsilon),
        adaptive_cov_pure.final_epsilon(epsilon, "none"),
        3 * beta / 4,
    )
    search = adaptive_cov_pure.search_epsilon(epsilon, "paper")
    alpha = above_threshold.accuracy(clipped_cov.last_level(n, d) + 1, beta / 8, search, "paper")
    margin = private_trace.laplace_margin(beta / 8)
    within = (
        float(np.linalg.norm(noise.matrix)) <= tails.omega_laplace(d, share)
        and float(np.linalg.norm(noise.matrix, 2)) <= tails.upsilon_laplace(d, share / 2)
        and float(np.linalg.norm(noise.eigenvalues)) <= tails.eta_laplace(d, share / 2)
        and noise.trace >= -margin
        and largest_search_noise(noise.search, search) <= alpha / 2
    )
    upper = private_trace.upper_bound(
        float((x**2).sum()) / n, noise.trace, private_trace.laplace_scale(n, step), margin
    )
    g = adaptive_cov_pure.lap_bound(n, d, final, share, "paper")
    a, e = adaptive_cov_pure.separate_bounds(n, d, final, upper, share, "paper")
    return tuple(float(v) for v in (g, a, e, alpha)) if within else None


def clipped_first(x: Matrix) -> Matrix:
    """Return the rows as a mutant clips them: to length 1/50."""
    return clip(x, 0.02)


def without_search_noise(noise: AdaptiveNoise) -> AdaptiveNoise:
    """Return the given noise with zeros for the search of the threshold, so that the bound holds with α = 0."""
    silent = above_threshold.AboveThresholdNoise(0.0, np.zeros_like(noise.search.queries))
    return dataclasses.replace(noise, search=silent)


@check("floating", less="unit before", more="unit", scope="120 of 160 draws or more, d ≤ 4")
@mutant("rows clipped to 1/50 first", before=clipped_first)
@mutant("a release multiplied by 4", unit=4.0)
def adaptive_release(before: Formula = lambda x: x, unit: float = 1.0) -> Found:
    """The matrices that AdaptiveCov and AdaptiveLapCov release are within the bound of `adaptive_error`.

    The check draws from the reference's mechanisms on skewed rows, with budgets from small to very large. A draw in
    which a noise exceeds its bound, which has probability at most β, is left out. The check repeats every release with
    a search that has no noise. Without noise in the search the bound holds with α = 0, so the term 9α/n cannot hide an
    error.
    """
    rng = np.random.default_rng(11)
    seen, beta = 0, 0.1
    for i in range(160):
        n, d = int(rng.integers(50, 400)), int(rng.integers(2, 5))
        lengths = np.where(rng.random(n) < 0.1, 1.0, float(10 ** rng.uniform(-2, 0)))
        x = rows_in_ball(rng, n, d)
        x *= (lengths / np.linalg.norm(x, axis=1))[:, None]
        drawn: Any
        release: Formula
        if i % 2:
            rho = float(10 ** rng.uniform(0, 12))
            drawn = adaptive_cov.draw_noise(d, rng, rows=n)
            terms, release = zcdp_terms(x, drawn, rho, beta), partial(adaptive_cov.release, rho=rho, beta=beta)
        else:
            epsilon = float(10 ** rng.uniform(1, 7))
            drawn = adaptive_cov_pure.draw_noise(d, rng, n)
            terms = pure_terms(x, drawn, epsilon, beta)
            release = partial(adaptive_cov_pure.release, epsilon=epsilon, beta=beta)
        if terms is not None:
            seen += 1
            g, a, e, alpha = terms
            yield largest_share(unit * release(before(x), drawn), x, g, a, e, alpha)
            yield largest_share(unit * release(before(x), without_search_noise(drawn)), x, g, a, e, 0.0)
    yield seen >= 120


@check("floating", less="unit", more="unit", scope="90 of 120 draws or more, d ≤ 4")
@mutant("rows clipped to 1/50 first", before=clipped_first)
def radius_release(before: Formula = lambda x: x, unit: float = 1.0) -> Found:
    """With a private radius r̃, AdaptiveCov's error is at most 32 (Noise(τ) + γ(τ)) + r̃² (9α/n + 8N_{K+1}) + 2α′R²/n.

    Let X′ be the rows of X, clipped to length r̃ and then divided by r̃. `adaptive_error` holds for X′, and r̃² times
    its bound is a bound on the error about the covariance of the rows clipped to r̃. Clipping the rows to the private
    radius r̃ adds the bias γ(X, r̃). For τ ≤ r̃, r̃²γ(X′, τ/r̃) + γ(X, r̃) = γ(X, τ). The noise level at τ/r̃ and trace
    t̃, multiplied by r̃², is the noise level at τ and trace r̃²t̃. For τ > r̃ the bound at r̃ is enough, because γ(X′,
    1) = 0 and the noise level rises with τ. At most 2α′ rows are longer than r̃, and none is longer than R, so that
    γ(X, r̃) ≤ 2α′R²/n. The check draws from the reference's mechanism, and leaves the term in N_{K+1} out. The check
    also leaves out a draw in which a noise exceeds its bound.
    """
    rng = np.random.default_rng(12)
    seen, small, beta = 0, 0, 0.1
    precision = private_radius.PRECISION
    levels = len(private_radius.public_radii(precision))
    for _ in range(120):
        n, d, rho = int(rng.integers(50, 400)), int(rng.integers(1, 5)), float(10 ** rng.uniform(2, 12))
        x = rows_in_ball(rng, n, d)
        longer = float(10 ** rng.uniform(-3, 0))
        lengths = np.where(rng.random(n) < 0.1, longer, longer * float(10 ** rng.uniform(-2, 0)))
        x *= (lengths / np.linalg.norm(x, axis=1))[:, None]
        noise = adaptive_cov.draw_noise(d, rng, rows=n, radius="private", precision=precision)
        search = adaptive_cov.search_epsilon(rho)
        slack = above_threshold.accuracy(levels, beta / 8, search, "paper")
        rows, radius = adaptive_cov.within_radius(x, noise.radius, rho, precision, beta)
        terms = zcdp_terms(np.asarray(rows), noise, rho, beta, "private")
        assert noise.radius is not None
        if terms is None or largest_search_noise(noise.radius, search) > slack / 2:
            continue
        seen += 1
        small += radius < 1
        g, a, e, alpha = terms
        released = unit * adaptive_cov.release(before(x), noise, rho=rho, radius="private", beta=beta)
        error, squares = float(np.linalg.norm(released - second_moment(x))), list(row_norms(x) ** 2)
        rest = 9 * radius**2 * alpha / n + 2 * slack * max(squares) / n
        for t in map(float, 2.0 ** -np.arange(0, 20, 0.5)):
            level = min(t**2 * g, t * radius * a + t**2 * e)
            yield error / (32 * (level + float(tail(squares, t**2))) + rest)
    yield seen >= 90 and small >= 60


def largest_share(released: Matrix, x: Matrix, g: float, a: float, e: float, alpha: float) -> float:
    """Return the largest ratio of a release's error to its bound, over τ = 1, 2^{−1/2}, …"""
    error, squares = float(np.linalg.norm(released - second_moment(x))), list(row_norms(x) ** 2)
    shares = []
    for tau in 2.0 ** -np.arange(0, 12, 0.5):
        t = float(tau)
        level = min(t**2 * g, t * a + t**2 * e)
        shares.append(error / explicit_bound(level, float(tail(squares, t**2)), alpha / len(x), 0.0, 32.0))
    return max(shares)


# THE SYNTHETIC DATA


@check("floating", scope="N ≤ 32, s = 3")
@mutant("norms 2^{−k}", norm=lambda k, buckets: Fraction(1, 2**k))
@mutant("shares ∝ k^s", shares=lambda s, b: dly22_data.shares(-s, b))
def synthetic_data(
    shares: Formula = dly22_data.shares, norm: Formula = lambda k, buckets: Fraction(1, 2 ** (buckets - k))
) -> Found:
    """For Zipf exponent s = 3, tr Σ is 1 with one bucket of rows, and it falls as the number N of buckets grows.

    The rows of bucket k have norm 2^{k−N}, and their share of all rows is ∝ k^{−3}, so tr Σ = Σ_k k^{−3} 4^{k−N}/Σ_k
    k^{−3}. The check tries N = 1, …, 32 and compares every norm with the list in `zipf_data`. Let A = Σ_{k<N} k^{−3}
    4^{k−N+1}. The check confirms 3A/4 ≥ (N − 1)^{−3}(1 − 4^{1−N}) > N^{−3} in rational arithmetic. Therefore tr Σ is
    smaller for N buckets than for N − 1.
    """
    for buckets in range(2, 33):
        a = sum((Fraction(4) ** (k - buckets + 1) / k**3 for k in range(1, buckets)), Fraction(0))
        between = (1 - Fraction(4) ** (1 - buckets)) / (buckets - 1) ** 3
        yield {f"no fall at N = {buckets}": 3 * a / 4 >= between > Fraction(1, buckets**3)}
    traces: list[float] = []
    for buckets in range(1, 33):
        weights = [float(v) for v in shares(3, buckets)]
        norms = [float(norm(k, buckets)) for k in range(1, buckets + 1)]
        drawn = sorted({float(v) for v in dly22_data.zipf_norms(200_000, 3.0, buckets)})
        zipf = max(abs(w / weights[0] - k**-3) for k, w in enumerate(weights, start=1))
        yield {f"norms, N = {buckets}": drawn == sorted(norms)}
        yield {f"shares, N = {buckets}": max(zipf, abs(sum(weights) - 1)) <= ROUNDING}
        traces.append(sum(w * v**2 for w, v in zip(weights, norms, strict=True)))
    yield {"the traces fall from 1": abs(traces[0] - 1) < ROUNDING and all(a > b > 0 for a, b in pairwise(traces))}
