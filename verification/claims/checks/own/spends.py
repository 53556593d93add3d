"""What `spend` of every mechanism says is what its output gives away: found from `release`, or from the sum of steps.

Where noise is added to a query, the check runs `release` with noise and without, and learns the scale; it then looks
for the pair of rows that moves the query most. Where an outcome is drawn, it watches which matrix the draw is given.
None of this uses the formulas that `spend` uses. The share of the budget that the steps of the page add up to stands in
the entry of the mechanism in the ledger, and is compared as well.
"""

import ast
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from types import CodeType
from typing import Any

import numpy as np
from scipy.integrate import quad

from covassay.reference.domain import Array, Matrix
from covassay.reference.mechanisms.registry import MECHANISMS
from covassay.reference.privacy import ApproximateDP, PureDP, Spend, guarantee_of
from covassay.verification.claims import entries
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


def entrywise(name: str, budget: float, d: int, options: Options) -> float:
    """Laplace noise on entries: the largest ℓ1 move over all sign patterns, in units of the scale."""
    triangle = options.get("entries", "triangle") == "triangle"
    return enumerated_l1(d, triangle) / ROWS / scale(name, d, budget, options)


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


# WHAT THE LEDGER SAYS


def tight(options: Options) -> bool:
    """Whether the constants are ours."""
    return options.get("calibration") == "tight"


FOUND: dict[str, Callable[[str, float, int, Options], float]] = {
    "total": added(total),
    "nuclear": added(nuclear),
    "norm of the body": k_norm,
    "centred": centred,
    "entrywise": entrywise,
    "normal": gaussian,
    "least delta of the move": approximate,
    "least delta of the scale": calibrated,
    "drawn": drawn,
}
ARITHMETIC = (
    ast.Expression, ast.Constant, ast.Name, ast.Load, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp,
    ast.Call, ast.operator, ast.unaryop, ast.boolop, ast.cmpop,
)  # fmt: skip


@cache
def arithmetic(expression: str) -> CodeType:
    """An expression of numbers, words and names, ready to be evaluated."""
    tree = ast.parse(expression, mode="eval")
    strange = [type(node).__name__ for node in ast.walk(tree) if not isinstance(node, ARITHMETIC)]
    if strange:
        raise ValueError(f"{expression!r}: {strange[0]} is no arithmetic")
    return compile(tree, expression, "eval")


@dataclass(frozen=True)
class Account:
    """What the entry of a mechanism in the ledger says that it spends: the field `spends` of the entry.

    found : the function of FOUND that finds it from `release`, or "".
    share : what is spent of the budget, as an expression in d, the options, `tight` (whether the calibration is that),
        `full` and `triangle` (the largest ℓ1 move of all entries, and of those on and above the diagonal) and of(name),
        the share of another mechanism; "" if it is only found.
    attained : where some neighbours come arbitrarily close to it, as an expression in the same names.
    options : the values that are tried; by default all words of every choice but the neighbours.
    """

    found: str
    share: str
    attained: str
    options: dict[str, Sequence[Any]]

    def value(self, expression: str, d: int, options: Options) -> Any:
        """The value of one of the two expressions."""
        names = {
            "d": d,
            "tight": tight(options),
            "full": enumerated_l1(d, triangle=False),
            "triangle": enumerated_l1(d, triangle=True),
            "of": lambda name: account_of(name).share_of(d, options),
            "min": min,
            "max": max,
        }
        return eval(arithmetic(expression), {"__builtins__": {}}, {**names, **options})

    def share_of(self, d: int, options: Options) -> float:
        """What is spent of the budget."""
        return float(self.value(self.share, d, options))

    def expected(self, name: str, budget: float, d: int, options: Options) -> list[float]:
        """The spent number in every way that is told: found, and from the share."""
        ways = [FOUND[self.found](name, budget, d, options)] if self.found else []
        unit = DELTA if "delta" in budget_of(name, budget) else budget
        return [*ways, *([self.share_of(d, options) * unit] if self.share else [])]

    def tolerance(self, name: str) -> float:
        """How far `spend` may be from it, relatively. A share of δ belongs to a least scale, which is rounded up."""
        return 1e-9 if self.found or "delta" not in budget_of(name, 1.0) else 1e-6


@cache
def account_of(name: str) -> Account:
    """What the ledger says of one mechanism. Where it says nothing, the whole budget is spent, in every dimension."""
    declared = MECHANISMS[name]
    told = next(c for c in entries.read("mechanisms")["claim"] if c["id"] == declared.claim).get("spends", {})
    words = {choice: words for choice, words in declared.choices.items() if choice != "adjacency"}
    plain = {"found": "", "share": "" if "found" in told else "1", "attained": "1", "options": words}
    return Account(**{**plain, **told})


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
        **{f"{name} spends 3 % less": {"spends": off_by(0.97, name), "names": (name,)} for name in MECHANISMS},
        "gauss-cov is said to be an upper bound only": {"spends": not_attained, "names": ("gauss-cov",)},
        "nuclear-laplace spends 3 % more": {"spends": off_by(1.03, "nuclear-laplace"), "names": ("nuclear-laplace",)},
    },
)
def every_spend(
    spends: Callable[[str], Callable[..., Spend]] = reference_spend, names: Sequence[str] = tuple(MECHANISMS)
) -> Evidence:
    """What `spend` says is proven is what the output gives away, for every mechanism, choice and two budgets.

    At d = 1, 2 and 4; for the notions with δ, what is compared is the least δ at ε.
    """
    failed: list[str] = []
    for name in names:
        account = account_of(name)
        for values in product(*account.options.values()):
            options = dict(zip(account.options, values, strict=True))
            for budget, d in product(BUDGETS, DIMENSIONS):
                if d < MECHANISMS[name].smallest_dimension or options.get("rank", 0) > d:
                    continue
                spent = spends(name)(**budget_of(name, budget), dimension=d, **options)
                told = f"{name} {options}, d={d}: "
                attained = bool(account.value(account.attained, d, options))
                failed += [] if spent.attained == attained else [f"{told}attained: {spent.attained}"]
                for expected in account.expected(name, budget, d, options):
                    none = expected == 0 and not spent.attained  # a budget is above 0: `spend` has one, not attained
                    right = none or abs(proven_of(spent) - expected) <= account.tolerance(name) * expected
                    failed += [] if right else [f"{told}{proven_of(spent):.6g}, found {expected:.6g}"]
    return Evidence(not failed, f"{len(names)} mechanisms, all choices, d = 1, 2, 4", "; ".join(failed[:5]))
