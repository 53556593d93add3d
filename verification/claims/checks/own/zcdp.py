"""Check what mechanisms cost in zCDP: any ε-DP mechanism, any loss in an interval, AboveThreshold, and CoinPress."""

from fractions import Fraction

import numpy as np
import sympy as sp

from covassay.reference.domain import Vector
from covassay.reference.laws import wigner
from covassay.reference.mechanisms.concentrated import clipped_cov
from covassay.reference.mechanisms.gaussian_estimation import coinpress_covariance, coinpress_mean
from covassay.reference.privacy import zcdp_of_bounded_range, zcdp_of_pure
from covassay.verification.claims.checks.divergences import renyi
from covassay.verification.claims.checks.own.budgets import scales
from covassay.verification.claims.checks.own.spends import proven_of
from covassay.verification.claims.evidence import Evidence, Formula, Found, check, mutant
from covassay.verification.exact.above_threshold import log_probabilities

ORDERS = (1.001, 1.1, 2.0, 5.0, 30.0)  # the orders α of the Rényi divergences that are tried


# CONVERSIONS


@check("symbolic", covers="all", more="rho", scope="all ε > 0 and α > 1")
@mutant("ε²/2, which is not the smallest", rho=lambda epsilon, tanh: epsilon**2 / 2)
@mutant("odds e^{2ε}", odds=lambda epsilon: sp.exp(2 * epsilon))
def randomised_response_divergence(rho: Formula = zcdp_of_pure, odds: Formula = sp.exp) -> Found:
    """For randomised response with odds e^ε, D_α/α falls in α, and at α = 1 it is ε tanh(ε/2) ≤ ε²/2.

    No pair of ε-DP laws P, Q has a larger D_α. There are laws A, B with P = (e^ε A + B)/(1 + e^ε) and Q = (A + e^ε
    B)/(1 + e^ε), so that P and Q come from randomised response by post-processing. Let f(v) = ln cosh √v. Since
    e^{(α−1) D_α} = cosh((α − ½)ε)/cosh(ε/2), the ratio D_α/α is ε² times the slope of the line through the points of
    the graph of f at v = ε²/4 and v = (α − ½)²ε². This slope falls in α, because f is concave. In detail, f′(v) is
    tanh(w)/(2w) at w = √v, and the derivative of tanh(w)/(2w) has the sign of w − sinh w cosh w, which is 0 at 0 and
    falls.
    """
    epsilon, alpha, w = sp.symbols("epsilon alpha w", positive=True)
    p = odds(epsilon) / (1 + odds(epsilon))
    moment = p**alpha * (1 - p) ** (1 - alpha) + (1 - p) ** alpha * p ** (1 - alpha)
    closed = sp.cosh((alpha - sp.Rational(1, 2)) * epsilon) / sp.cosh(epsilon / 2)
    slope = sp.tanh(w) / (2 * w)
    sign = w - sp.sinh(w) * sp.cosh(w)
    p_, q_, r = sp.symbols("P Q r", positive=True)  # r stands for e^ε
    # `first` and `second` are A and B; they are ≥ 0, because pure DP bounds the ratio P/Q below by 1/r and above by r
    first, second = ((r * p_ - q_) / (r - 1), (r * q_ - p_) / (r - 1))
    residuals = {
        "e^{(α−1) D_α}": moment - closed,
        "the secant": (alpha - sp.Rational(1, 2)) ** 2 * epsilon**2 - epsilon**2 / 4 - alpha * (alpha - 1) * epsilon**2,
        "f′": sp.diff(sp.log(sp.cosh(w)), w) - 2 * w * slope,
        "f″": sp.diff(slope, w) - sign / (2 * w**2 * sp.cosh(w) ** 2),
        "its sign": sp.diff(sign, w) + 2 * sp.sinh(w) ** 2,
        "P is a mixture": (r * first + second) / (1 + r) - p_,
        "Q is a mixture": (first + r * second) / (1 + r) - q_,
        "ε tanh(ε/2) ≤ ε²/2": sp.diff(w - sp.tanh(w), w) - sp.tanh(w) ** 2,
        "α = 1": epsilon**2 * slope.subs(w, epsilon / 2) - rho(epsilon, sp.tanh),
    }
    yield from (
        k for k, v in residuals.items() if sp.simplify(sp.powsimp(sp.expand(v.rewrite(sp.exp)), force=True)) != 0
    )
    yield sign.subs(w, 0) == 0


@check("symbolic", covers="case", less="rho", more="rho", scope="one family of pairs of laws, in the limit γ → 0")
def bounded_range_is_least(rho: Formula = zcdp_of_bounded_range) -> Evidence:
    """No smaller multiple of γ² than γ²/8 bounds the cost of every loss in an interval of length γ.

    For two laws on two points D₂/2 tends to γ²/8 as γ → 0. The law P gives both points probability ½, and Q is ∝
    (e^{−γ}, 1), so that the losses are γ apart and e^{D₂} is (1 + e^{−γ})(1 + e^γ)/4 = cosh²(γ/2).
    """
    gamma = sp.Symbol("gamma", positive=True)
    p, q = (sp.Rational(1, 2),) * 2, (sp.exp(-gamma) / (1 + sp.exp(-gamma)), 1 / (1 + sp.exp(-gamma)))
    apart = sp.simplify(sp.log(q[1] / q[0]) - gamma)
    moment = p[0] ** 2 / q[0] + p[1] ** 2 / q[1]
    closed = (1 + sp.exp(-gamma)) * (1 + sp.exp(gamma)) / 4
    limit = sp.limit(sp.log(closed) / (2 * rho(gamma)), gamma, 0)
    holds = apart == 0 and sp.simplify(moment - closed) == 0 and limit == 1
    return Evidence(holds, f"limit {limit}")


@check("floating", scope="165 pairs of query vectors, ε = 1")
@mutant("the interval [−ε/2, ε/2]", range_up=0.5, range_down=0.5)
@mutant("the interval [−3ε/4, 0]", range_down=0.0)
@mutant("[−ε/4, ε/4] for moves that do not decrease", ordered_up=0.25)
def threshold_range(
    range_up: float = 0.75, range_down: float = 0.25, ordered_up: float = 0.5, cost: Formula = clipped_cov.search_loss
) -> Evidence:
    """On monotone queries AboveThreshold's loss lies in [−3ε/4, ε/4], so it is ε²/8-zCDP and not only ε²/2-zCDP.

    If every query moves at least as far as the one before it, the loss lies in [−ε/2, ε/4], so the cost is 9ε²/128.
    This is 9ρ/512 for the search of AdaptiveCov, where ε = √ρ/2, and 9ρ/256 for the search of ClippedCov, where ε =
    √(ρ/2). The check computes the loss from the exact law of the output. For no tried pair of query vectors does the
    loss leave its interval, and some pairs come within 2 % of each end. At every α tried, D_α/α is at most the cost.
    """
    rng = np.random.default_rng(52)
    b1, b2 = scales("paper")
    ends = {"any": [0.0, 0.0], "ordered": [0.0, 0.0]}
    share = {"any": 0.0, "ordered": 0.0}
    allowed = {"any": float(cost(1.0)), "ordered": float(zcdp_of_bounded_range(Fraction(3, 4)))}
    cases: list[tuple[str, Vector, Vector]] = []
    for _ in range(80):
        f = np.cumsum(rng.normal(scale=3, size=int(rng.integers(1, 7))))
        moves = rng.uniform(0, 1, len(f)) ** rng.choice([0.1, 1.0])
        cases += [("any", f, f + moves), ("ordered", f, f + np.sort(moves))]
    far, high = np.array([25.0] * 20 + [-40.0]), np.full(60, 20.0)
    cases.append(("any", far, far + np.array([1.0] * 20 + [0.0])))
    cases += [(kind, high, high + 1) for kind in ends]
    low = np.array([-60.0])
    cases += [(kind, low, low + 1) for kind in ends]
    for kind, first, second in cases:
        log_p, log_q = (log_probabilities(v, 0.0, b1, b2) for v in (first, second))
        loss = log_q - log_p  # the loss of the data set with the larger query values
        ends[kind][0], ends[kind][1] = min(ends[kind][0], float(loss.min())), max(ends[kind][1], float(loss.max()))
        for a in ORDERS:
            for divergence in (renyi(log_p, log_q, a), renyi(log_q, log_p, a)):
                share[kind] = max(share[kind], divergence / (a * allowed[kind]))
    limits = {"any": (range_up, range_down), "ordered": (ordered_up, range_down)}
    failed = []
    for kind, (up, down) in limits.items():
        lowest, highest = -ends[kind][0], ends[kind][1]
        if not (0.98 * up <= lowest <= up + 1e-9 and 0.98 * down <= highest <= down + 1e-9):
            failed.append(f"{kind}: [{-lowest:.4f}, {highest:.4f}]")
    figures = {kind: f"[{v[0]:.4f}, {v[1]:.4f}], {share[kind]:.3f} of the bound" for kind, v in ends.items()}
    holds = not failed and max(share.values()) <= 1
    return Evidence(holds, "; ".join(failed), figures)


# COINPRESS


@check("floating", scope="the budgets of 1 to 8 steps; covariance steps at d = 1 and d = 2, and a mean step at d = 2")
@mutant("all of ρ for the last step", split=lambda rho, t: [rho / (4 * (t - 1))] * (t - 1) + [rho] if t > 1 else [rho])
@mutant("sensitivity γ²/n", covariance=lambda g2, n, rho: coinpress_covariance.noise_scale(g2, n, rho) / 2)
@mutant("a sensitivity of τ/n for a mean step", mean=lambda tau, n, rho: coinpress_mean.noise_scale(tau, n, rho) / 2)
@mutant("a length larger by 3 %", pressed=lambda rows, a, size: coinpress_covariance.pressed(rows, a, 1.03 * size))
@mutant("ρ at d = 1", spend=lambda rho, dimension: coinpress_covariance.spend(rho=rho, dimension=2))
@mutant(
    "shortened before A",
    pressed=lambda rows, a, size: coinpress_covariance.pressed(rows, np.eye(a.shape[0]), size) @ a.T,
)
def coinpress_budgets(
    split: Formula = coinpress_covariance.budgets,
    covariance: Formula = coinpress_covariance.noise_scale,
    mean: Formula = coinpress_mean.noise_scale,
    pressed: Formula = coinpress_covariance.pressed,
    spend: Formula = coinpress_covariance.spend,
) -> Evidence:
    """CoinPress's budgets add up to ρ, which steps of both kinds attain; for d = 1 a covariance step spends ρ/2.

    A covariance step has the sensitivity √2γ²/n, or γ²/n for d = 1, where the rows γ and 0 attain it. A mean step has
    the sensitivity 2τ/n. Two long rows on different axes, which the reference shortens to length γ, attain the
    sensitivity of a covariance step. Two long opposite rows, shortened to length τ, attain the sensitivity of a mean
    step. The check computes the spent budgets at γ = 2, τ = 2 and n = 4, for a covariance step with the budget 1 and a
    mean step with the budget 2. For 50 random matrices A the check confirms that the reference maps every row x to A x,
    and shortens A x to length γ if it is longer.
    """
    sums = [sum(split(Fraction(3, 7), t), Fraction(0)) == Fraction(3, 7) for t in range(1, 9)]
    n, size, rho = 4, 2.0, 2.0
    far = np.array([[1e9, 0.0], [0.0, 1e9], [-1e9, 0.0]])
    x, y, opposite = np.asarray(pressed(far, np.eye(2), size))
    rng = np.random.default_rng(52)
    wrong = 0
    for _ in range(50):
        rows, a = rng.standard_normal((8, 3)) * rng.exponential(3.0, (8, 1)), rng.standard_normal((3, 3))
        lengths = np.linalg.norm(rows @ a.T, axis=1)
        expected = rows @ a.T * np.minimum(1, size / lengths)[:, None]
        wrong += not np.allclose(np.asarray(pressed(rows, a, size)), expected, rtol=1e-12, atol=1e-12)
    changes = (np.outer(x, x) - np.outer(y, y)) / n, np.array([[size**2]]) / n
    steep = float(covariance(size**2, n, 4.0)) * 2 == float(covariance(size**2, n, 1.0))  # σ decreases like 1/√ρ
    first, line = (
        Fraction(float(wigner.separation_squared(change, "wigner")))
        / 2
        / Fraction(float(covariance(size**2, n, 1.0))) ** 2
        for change in changes
    )
    line_holds = line == Fraction(proven_of(spend(rho=1.0, dimension=1))) == Fraction(1, 2)
    moved = (x - opposite) / n
    second = Fraction(float(moved @ moved)) / 2 / Fraction(float(mean(size, n, rho))) ** 2
    holds = (
        all(sums)
        and first == proven_of(spend(rho=1.0, dimension=2))
        and line_holds
        and second == rho
        and steep
        and not wrong
    )
    detail = (
        f"a covariance step with the budget 1 spends {first}, and a mean step with the budget 2 spends {second}; "
        f"the reference maps rows wrongly for {wrong} of 50 matrices A"
    )
    return Evidence(holds, detail)
