"""What `spend` of every mechanism says is what its output gives away: found from `release`, or from the sum of steps.

Where noise is added to a query, the check runs `release` with noise and without, and learns the scale; it then looks
for the pair of rows that moves the query most. Where an outcome is drawn, it watches which matrix the draw is given.
Where a mechanism has several steps, it adds up what its page says of each. None of this uses the formulas that `spend`
uses. Where the page says what share of the budget is spent, that is compared as well.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
from scipy.integrate import quad

from covassay.reference.domain import Array, Matrix
from covassay.reference.mechanisms.registry import MECHANISMS
from covassay.reference.privacy import ApproximateDP, PureDP, Spend, guarantee_of
from covassay.verification.claims.checks.sign_patterns import enumerated_l1
from covassay.verification.claims.evidence import Evidence, check

Options = Mapping[str, Any]
DIMENSIONS = (1, 2, 4)  # at an odd d > 1 the ℓ1 change of all entries has a bound only
ROWS = 2
DELTA = 1e-3
BUDGETS = (0.375, 0.8)


def budget_of(name: str, size: float) -> dict[str, float]:
    """The keywords of a budget of that size."""
    keys = MECHANISMS[name].notion.default.keywords()
    return {key: DELTA if key == "delta" else size for key in keys}


def first_rows(d: int) -> list[tuple[Matrix, Matrix]]:
    """Neighbouring data sets: e₁ becomes e₂, or a row of zeros, beside another row of zeros."""
    x = np.zeros((ROWS, d))
    x[0, 0] = 1
    other = np.zeros((ROWS, d))
    other[0, 1:2] = 1  # for d = 1 these are zeros
    return [(x, other), (x, np.zeros((ROWS, d)))]


# ADDED NOISE


def noise_and_none(name: str, d: int, budget: float, options: Options) -> tuple[Array, Array]:
    """What some noise becomes in the output, and the noise itself."""
    mechanism = MECHANISMS[name]
    drawn = {key: value for key, value in options.items() if key in ("ensemble", "entries", "body")}
    noise = mechanism.draw_noise(d, np.random.default_rng(11), **drawn)
    keywords = {**budget_of(name, budget), **options}
    x = np.zeros((ROWS, d))
    added = mechanism.release(x, noise, **keywords) - mechanism.release(x, 0 * noise, **keywords)
    return np.asarray(added), np.asarray(noise)


def scale(name: str, d: int, budget: float, options: Options) -> float:
    """The factor of the noise in the output."""
    added, noise = noise_and_none(name, d, budget, options)
    ratios = (added / noise)[np.abs(noise) > 0]
    assert np.allclose(ratios, ratios.flat[0], rtol=1e-9)
    return float(ratios.flat[0])


def move(name: str, d: int, budget: float, options: Options, pair: tuple[Matrix, Matrix]) -> Array:
    """How much the output without noise moves from one data set to the other."""
    mechanism = MECHANISMS[name]
    nothing = 0 * mechanism.draw_noise(d, np.random.default_rng(0))
    keywords = {**budget_of(name, budget), **options}
    first, second = (mechanism.release(x, nothing, **keywords) for x in pair)
    return np.asarray(first - second)


def added(size: Callable[[Array], float]) -> Callable[[str, float, int, Options], float]:
    """Noise with density ∝ exp(−size/scale): the largest size of a move, in units of the scale."""

    def account(name: str, budget: float, d: int, options: Options) -> float:
        moves = [move(name, d, budget, options, pair) for pair in first_rows(d)]
        return max(map(size, moves)) / scale(name, d, budget, options)

    return account


def nuclear(m: Array) -> float:
    """The nuclear norm."""
    return float(np.linalg.norm(m, "nuc"))


def total(m: Array) -> float:
    """The sum of the absolute values."""
    return float(np.abs(m).sum())


def entrywise(triangle: Callable[[Options], bool]) -> Callable[[str, float, int, Options], float]:
    """Laplace noise on entries: the largest ℓ1 move over all sign patterns, in units of the scale."""

    def account(name: str, budget: float, d: int, options: Options) -> float:
        return enumerated_l1(d, triangle(options)) / ROWS / scale(name, d, budget, options)

    return account


BODIES: dict[str, Callable[[Matrix], float]] = {
    "schatten1": nuclear,
    "covariance": lambda m: max(
        -np.minimum(np.linalg.eigvalsh(m), 0).sum(), np.maximum(np.linalg.eigvalsh(m), 0).sum()
    ),
    "l1": lambda m: 0.0,  # by sign patterns
    "l2": lambda m: float(np.linalg.norm(m)),
    "linf": lambda m: float(np.abs(np.linalg.eigvalsh(m)).max()),
}


def k_norm(name: str, budget: float, d: int, options: Options) -> float:
    """Noise of a K-norm: as `added`, with the norm of the body."""
    body = options["body"]
    if body == "l1":
        return enumerated_l1(d, triangle=True) / ROWS / scale(name, d, budget, options)
    return added(BODIES[body])(name, budget, d, options)


def gaussian(name: str, budget: float, d: int, options: Options) -> float:
    """Gaussian noise: half the squared move in units of the standard deviations, where symmetric entries count once."""
    halved = options.get("ensemble") == "goe"
    unit, losses = scale(name, d, budget, options), []
    for pair in first_rows(d):
        change = move(name, d, budget, options, pair) / unit
        square = change**2
        if square.ndim == 2:
            square = np.diag(square).sum() + np.triu(square, 1).sum() * (2 if halved else 1)
        losses.append(float(np.sum(square)) / 2)
    return max(losses)


def centred(name: str, budget: float, d: int, options: Options) -> float:
    """The nuclear move of the centred covariance of two rows, over twelve points of a circle (±1 and 0 if d = 1)."""
    angles = np.arange(12) * np.pi / 6
    points = np.array([[np.cos(a), np.sin(a)] for a in angles]) if d > 1 else np.array([[1.0], [-1.0], [0.0]])
    points = np.pad(points, ((0, 0), (0, max(d - 2, 0))))
    beside = [(np.stack([points[0], points[0]]), np.stack([p, points[0]])) for p in points]
    outputs = [move(name, d, budget, options, pair) for pair in beside]
    return max(nuclear(a - b) for a, b in product(outputs, outputs)) / scale(name, d, budget, options)


def least_delta(apart: float, epsilon: float) -> float:
    """The least δ at ε of two unit normal laws whose means are that far apart, by quadrature of (p − e^ε q)₊."""
    start = epsilon / apart + apart / 2  # there ln p − ln q = ε, for the means `apart` and 0

    def excess(t: float) -> float:
        return (math.exp(-((t - apart) ** 2) / 2) - math.exp(epsilon - t**2 / 2)) / math.sqrt(2 * math.pi)

    return sum(float(quad(excess, start + low, start + high, epsabs=0)[0]) for low, high in ((0, 2), (2, 6), (6, 20)))


def approximate(name: str, budget: float, d: int, options: Options) -> float:
    """The least δ at ε for the largest move, in units of the noise that `release` adds."""
    return least_delta((2 * gaussian(name, budget, d, options)) ** 0.5, budget)


def calibrated(name: str, budget: float, d: int, options: Options) -> float:
    """The least δ at ε for noise of the classical scale. The tight scale is found by a root, and has the claimed δ."""
    if tight(options):
        return proven_of(MECHANISMS["gaussian-approximate"].spend(**budget_of(name, budget), dimension=d, **options))
    return least_delta(budget / math.sqrt(2 * math.log(1.25 / DELTA)), budget)


# DRAWN OUTCOMES


def drawn(name: str, budget: float, d: int, options: Options) -> float:
    """A unit vector of density ∝ exp(uᵀMu): the range of uᵀ(M − M′)u, where M is what `release` asks to draw from."""
    mechanism, asked = MECHANISMS[name], []

    def noise(m: Matrix, *rank: int) -> Array:
        asked.append(m)
        return np.eye(d)[:, : rank[0]] @ np.eye(d)[:, : rank[0]].T if rank else np.eye(d)[0]

    losses = []
    for pair in first_rows(d):
        for x in pair:
            mechanism.release(x, noise, **budget_of(name, budget), **options)
        values = np.linalg.eigvalsh(asked[-2] - asked[-1])
        losses.append(float(values[-1] - values[0]))
    return max(losses)


# SUMS OF STEPS


def share(of: Callable[[int, Options], Fraction | float]) -> Callable[[str, float, int, Options], float]:
    """A share of the budget, which the page of the mechanism derives step by step."""
    return lambda name, budget, d, options: float(of(d, options)) * budget


def f(*numbers: int) -> Fraction:
    """A fraction."""
    return Fraction(*numbers)


def tight(options: Options) -> bool:
    """Whether the constants are ours."""
    return options.get("calibration") == "tight"


def triangle_share(d: int, options: Options) -> float:
    """What entrywise noise of scale √2 d/(nε) spends of ε on the entries on and above the diagonal."""
    return 1.0 if tight(options) else enumerated_l1(d, triangle=True) / (2**0.5 * d)


def entries_share(d: int, options: Options) -> float:
    """What entrywise noise of scale 2d/(nε) spends of ε."""
    moved = enumerated_l1(d, triangle=options["entries"] == "triangle")
    return 1.0 if tight(options) else moved / (2 * d)


def exponent_share(d: int, options: Options) -> Fraction:
    """What one direction spends of ε: the paper takes the sensitivity of its score to be 2, and it is 1."""
    return f(0) if d == 1 else f(1) if tight(options) else f(1, 2)


def separate_share(d: int, options: Options) -> float:
    """Half of ε on the eigenvalues, and half of what LapCov spends on the matrix."""
    return 0.25 if d == 1 else 0.5 + triangle_share(d, options) / 2


def adaptive_pure(d: int, options: Options) -> float:
    """Trace, search, radius, and the dearer of the two final steps."""
    private = options["radius"] == "private"
    steps = (f(1, 4) if tight(options) else f(3, 16)) + private * (f(1, 8) if tight(options) else f(3, 32))
    final = f(5, 8) if private else f(3, 4)
    return float(steps) + float(final) * max(triangle_share(d, options), separate_share(d, options))


def iterative(d: int, options: Options) -> Fraction:
    """The eigenvalues, ε/2 of more than one, and the directions with the last for nothing."""
    kept = min(options["rank"] or d, d)
    values = f(1, 2) if kept > 1 else f(1, 4)
    if d == 1:
        return values
    if options["budget"] == "adaptive" or tight(options):
        return values + (f(1, 2) if tight(options) else f(1, 4))
    drawn_ones = kept if kept < d else d - 1
    return values + f(drawn_ones + 1, 8 * kept)


def em_cov(d: int, options: Options) -> Fraction:
    """Laplace noise on eigenvalues that move by √2 in ℓ2, and d − 1 draws of bounded range."""
    if tight(options):
        return f(1) if d > 1 else f(1, 4)
    return (f(1, 4) if d > 1 else f(1, 8)) + f(1, 32) * (d - 1) / d


def adaptive(d: int, options: Options) -> Fraction:
    """The final step, half of it in dimension 1, trace and searches."""
    private = options["radius"] == "private"
    final = (f(5, 8) if private else f(3, 4)) if not tight(options) else (f(13, 16) if private else f(27, 32))
    return final * (1 if d > 1 else f(1, 2)) + f(1, 8) + f(2 if private else 1, 32)


def clipped(d: int, options: Options) -> Fraction:
    """The mechanism on the clipped rows, and the search."""
    line = f(1, 2) if options["base"] == "gauss" else f(1, 4)
    private = options["threshold"] == "private"
    final = (f(15, 16) if tight(options) else f(3, 4)) if private else f(1)
    return final * (1 if d > 1 else line) + (f(1, 16) if private else 0)


def halved_if_reconstructed(d: int, options: Options) -> Fraction:
    """Noise for the bound 2B/n, where √2 B/n is enough."""
    return (f(1) if tight(options) else f(1, 2)) * (1 if d > 1 else f(1, 2))


def adassp(d: int, options: Options) -> Fraction:
    """Three thirds of the budget, of which no pair spends all with the paper's noise."""
    one_feature = d == 2
    return {(False, False): f(2, 3), (False, True): f(1), (True, False): f(1, 2), (True, True): f(2, 3)}[
        one_feature, tight(options)
    ]


Account = Callable[[str, float, int, Options], float]
WHOLE = share(lambda d, options: f(1))
HALF_ON_THE_LINE = share(lambda d, options: f(1) if d > 1 else f(1, 2))
ACCOUNTS: dict[str, tuple[tuple[Account, ...], dict[str, tuple[Any, ...]]]] = {
    "laplace": ((added(total), WHOLE), {}),
    "private-trace": ((added(lambda m: float(np.abs(m))), WHOLE), {}),
    "nuclear-laplace": ((added(nuclear), HALF_ON_THE_LINE), {}),
    "nuclear-laplace-symmetric": ((added(nuclear), HALF_ON_THE_LINE), {}),
    "centred-covariance": ((centred, WHOLE), {}),
    "k-norm": ((k_norm, WHOLE), {"body": tuple(BODIES)}),
    "entrywise-laplace": (
        (entrywise(lambda options: options["entries"] == "triangle"), share(entries_share)),
        {"entries": ("full", "triangle"), "calibration": ("paper", "tight")},
    ),
    "lap-cov": ((entrywise(lambda options: True), share(triangle_share)), {"calibration": ("paper", "tight")}),
    "gaussian": ((gaussian, WHOLE), {}),
    "gauss-cov": ((gaussian, HALF_ON_THE_LINE), {"ensemble": ("wigner", "goe")}),
    "gaussian-approximate": ((approximate,), {"calibration": ("paper", "tight")}),
    "gauss-cov-approximate": ((approximate,), {"calibration": ("paper", "tight"), "ensemble": ("wigner", "goe")}),
    "bingham": ((drawn, share(exponent_share)), {"calibration": ("paper", "tight")}),
    "matrix-bingham": ((drawn, WHOLE), {}),
    "projection-mechanism": ((share(lambda d, o: f(1) if d > 1 else f(1, 2)),), {"ensemble": ("wigner", "goe")}),
    "exponential": ((share(lambda d, o: f(1) if d > 1 else f(0)),), {}),
    "kapralov-talwar": ((share(lambda d, o: f(1) if d > 1 else f(1, 2)),), {}),
    "discrete-laplace-covariance": ((WHOLE,), {}),
    "discrete-gaussian-covariance": ((WHOLE,), {}),
    "nuclear-ball-projection": (
        (share(lambda d, o: f(1) if tight(o) else f(1, 2) if d > 1 else f(9, 20)),),
        {"calibration": ("paper", "tight")},
    ),
    "iterative-eigenvectors": (
        (share(iterative),),
        {"calibration": ("paper", "tight"), "budget": ("uniform", "adaptive"), "rank": (0, 1, 2, 3)},
    ),
    "separate-cov-pure": ((share(separate_share),), {"calibration": ("paper", "tight")}),
    "adaptive-cov-pure": ((share(adaptive_pure),), {"radius": ("none", "private"), "calibration": ("paper", "tight")}),
    "above-threshold": (
        (share(lambda d, o: f(1) if tight(o) and d > 1 else f(1, 2) if tight(o) or d > 1 else f(1, 4)),),
        {"calibration": ("paper", "tight")},
    ),
    "private-radius": ((share(lambda d, o: f(1) if tight(o) else f(3, 4)),), {"calibration": ("paper", "tight")}),
    "johnson-lindenstrauss": ((share(lambda d, o: 1 if d > 1 else 0.5**0.5),), {}),
    "johnson-lindenstrauss-image": ((share(lambda d, o: f(1) if d > 1 else f(1, 2)),), {}),
    "output-perturbation": ((WHOLE,), {"calibration": ("paper", "tight")}),
    "separate-cov": ((share(lambda d, o: f(1) if d > 1 else f(1, 4)),), {"ensemble": ("wigner", "goe")}),
    "em-cov": ((share(em_cov),), {"calibration": ("reconstructed", "tight")}),
    "clipped-cov": (
        (share(clipped),),
        {"base": ("separate", "gauss"), "threshold": ("public", "private"), "calibration": ("paper", "tight")},
    ),
    "adaptive-cov": ((share(adaptive),), {"radius": ("none", "private"), "calibration": ("paper", "tight")}),
    "adassp": ((share(adassp),), {"calibration": ("paper", "tight")}),
    "joint-moments": ((WHOLE,), {"weight": (0.25, 1.0, 3.0)}),
    "recursive-moment": (
        (share(lambda d, o: (f(1) if tight(o) else f(1, 8)) * (1 if d > 1 else f(1, 2))),),
        {"calibration": ("reconstructed", "tight")},
    ),
    "coinpress-mean": ((WHOLE,), {"constants": ("paper", "code")}),
    "coinpress-covariance": ((share(lambda d, o: f(1) if d > 1 else f(1, 2)),), {"constants": ("paper", "code")}),
    "naive-pce": ((share(halved_if_reconstructed),), {"calibration": ("reconstructed", "tight")}),
    "weak-ppc": ((share(halved_if_reconstructed),), {"calibration": ("reconstructed", "tight")}),
    "ppc": ((share(halved_if_reconstructed),), {"calibration": ("reconstructed", "tight")}),
    "pgce": ((share(halved_if_reconstructed),), {"calibration": ("reconstructed", "tight")}),
    "kv-mean": ((WHOLE,), {}),
    "naive-pme": ((WHOLE,), {}),
    "pme": (
        (share(lambda d, o: halved_if_reconstructed(d, o) / 2 + f(1, 2)),),
        {"calibration": ("reconstructed", "tight")},
    ),
    "gaussian-learner": (
        (share(lambda d, o: halved_if_reconstructed(d, o) * f(3, 4) + f(1, 4)),),
        {"calibration": ("reconstructed", "tight")},
    ),
    "box-laplace": ((WHOLE,), {"adjacency": ("replace-one", "add-remove")}),
    "box-gauss": ((WHOLE,), {"adjacency": ("replace-one", "add-remove")}),
    "box-gauss-approximate": ((calibrated,), {"calibration": ("paper", "tight")}),
    "ppde": ((WHOLE,), {"calibration": ("reconstructed", "tight")}),
}


def always(d: int, options: Options) -> bool:
    """In every dimension, whatever is chosen."""
    return True


OPEN = (
    "adaptive-cov",
    "weak-ppc",
    "ppc",
    "pgce",
    "pme",
    "kv-mean",
    "naive-pme",
    "gaussian-learner",
)  # upper bounds only
ATTAINED: dict[str, Callable[[int, Options], bool]] = {  # where some neighbours approach what is proven, if not always
    **dict.fromkeys(OPEN, lambda d, options: False),
    "bingham": lambda d, options: d > 1,
    "exponential": lambda d, options: d > 1,
    "discrete-laplace-covariance": lambda d, options: d == 1,
    "johnson-lindenstrauss": lambda d, options: d == 1,
    "johnson-lindenstrauss-image": lambda d, options: d == 1,
    "clipped-cov": lambda d, options: options["threshold"] == "public",
    "em-cov": lambda d, options: d == 1 and tight(options),
    "adaptive-cov-pure": lambda d, options: tight(options) and options["radius"] == "none",
    "output-perturbation": lambda d, options: tight(options) and d > 2,
    "ppde": lambda d, options: tight(options),
}


def proven_of(spent: Spend) -> float:
    """The number that is proven: ε, ρ, or δ at the claimed ε."""
    if isinstance(spent.proven, ApproximateDP):
        return spent.proven.delta
    return spent.proven.epsilon if isinstance(spent.proven, PureDP) else spent.proven.rho


def reference_spend(name: str) -> Callable[..., Spend]:
    """The `spend` of a mechanism."""
    return MECHANISMS[name].spend


def off_by(factor: float, changed: str) -> Callable[[str], Callable[..., Spend]]:
    """`spend` of the reference, with what is proven of one mechanism changed: for mutants."""

    def spend_of(name: str) -> Callable[..., Spend]:
        def spend(**given: Any) -> Spend:
            spent = reference_spend(name)(**given)
            keywords = {key: value * factor for key, value in spent.proven.keywords().items()}
            return replace(spent, proven=guarantee_of(keywords)) if name == changed else spent

        return spend

    return spend_of


def not_attained(name: str) -> Callable[..., Spend]:
    """`spend` of the reference as an upper bound only: for mutants."""
    return lambda **given: replace(reference_spend(name)(**given), attained=False)


@check(
    "floating",
    mutants={
        **{
            f"{name} spends 3 % less": {"spends": off_by(0.97, name), "accounts": {name: ACCOUNTS[name]}}
            for name in ACCOUNTS
        },
        "gauss-cov is said to be an upper bound only": {
            "spends": not_attained,
            "accounts": {"gauss-cov": ACCOUNTS["gauss-cov"]},
        },
        "nuclear-laplace spends 3 % more": {
            "spends": off_by(1.03, "nuclear-laplace"),
            "accounts": {"nuclear-laplace": ACCOUNTS["nuclear-laplace"]},
        },
    },
)
def every_spend(
    spends: Callable[[str], Callable[..., Spend]] = reference_spend,
    accounts: Mapping[str, tuple[tuple[Account, ...], dict[str, tuple[Any, ...]]]] = ACCOUNTS,
) -> Evidence:
    """What `spend` says is proven is what the output gives away, for every mechanism, choice and two budgets.

    At d = 1, 2 and 4; for the notions with δ, what is compared is the least δ at ε.
    """
    failed: list[str] = []
    for name, (sources, choices) in accounts.items():
        for values in product(*choices.values()):
            options = dict(zip(choices, values, strict=True))
            for budget, d in product(BUDGETS, DIMENSIONS):
                if d < MECHANISMS[name].smallest_dimension or options.get("rank", 0) > d:
                    continue
                spent = spends(name)(**budget_of(name, budget), dimension=d, **options)
                told = f"{name} {options}, d={d}: "
                attained = ATTAINED.get(name, always)(d, options)
                failed += [] if spent.attained == attained else [f"{told}attained: {spent.attained}"]
                for expected in (account(name, budget, d, options) for account in sources):
                    none = expected == 0 and not spent.attained  # a budget is above 0: `spend` has one, not attained
                    right = none or abs(proven_of(spent) - expected) <= 1e-9 * expected
                    failed += [] if right else [f"{told}{proven_of(spent):.6g}, found {expected:.6g}"]
    return Evidence(not failed, f"{len(accounts)} mechanisms, all choices, d = 1, 2, 4", "; ".join(failed[:5]))
