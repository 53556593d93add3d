"""Check the budget that the `spend` of every mechanism returns, against a privacy loss that is found from `release`, or
against the sum over the steps of the proof.

If noise is added to a query, the check runs `release` with and without noise to learn the scale of the noise, and looks
for the pair of rows that moves the query most. If an outcome is drawn, the check records the matrix from which the law
of the draw is made. The check of the spent budgets does not use the formulas of `spend`. The mechanism's entry in the
ledger may state a share of the budget, to which the steps of the proof add up. The check compares this share with
`spend` too.
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
from covassay.verification.claims.evidence import Found, check

Options = Mapping[str, Any]
DIMENSIONS = (1, 2, 4)  # at an odd d > 1 only a bound on the ℓ1 change of all entries is known
ROWS = 2
DELTA = 1e-3
BUDGETS = (0.375, 0.8)


def budget_of(name: str, size: float) -> dict[str, float]:
    """Return the keyword arguments of a budget with the given size."""
    keys = MECHANISMS[name].notion.default.keywords()
    return {key: DELTA if key == "delta" else size for key in keys}


def first_rows(d: int) -> list[tuple[Matrix, Matrix]]:
    """Return two pairs of neighbouring data sets. The first data set of each pair has the rows e₁ and 0. In the second
    data set e₁ is replaced by e₂, or by 0.
    """
    x = np.zeros((ROWS, d))
    x[0, 0] = 1
    other = np.zeros((ROWS, d))
    other[0, 1:2] = 1  # for d = 1 the slice is empty, and the row stays 0
    return [(x, other), (x, np.zeros((ROWS, d)))]


# ADDED NOISE


def noise_and_none(name: str, d: int, budget: float, options: Options) -> tuple[Array, Array]:
    """Return what one draw of the noise adds to the output, and the draw itself."""
    mechanism = MECHANISMS[name]
    drawn = {key: value for key, value in options.items() if key in ("ensemble", "entries", "body")}
    noise = mechanism.draw_noise(d, np.random.default_rng(11), **drawn)
    keywords = {**budget_of(name, budget), **options}
    x = np.zeros((ROWS, d))
    added = mechanism.release(x, noise, **keywords) - mechanism.release(x, 0 * noise, **keywords)
    return np.asarray(added), np.asarray(noise)


def scale(name: str, d: int, budget: float, options: Options) -> float:
    """Return the factor by which the output multiplies the noise."""
    added, noise = noise_and_none(name, d, budget, options)
    ratios = (added / noise)[np.abs(noise) > 0]
    assert np.allclose(ratios, ratios.flat[0], rtol=1e-9)
    return float(ratios.flat[0])


def move(name: str, d: int, budget: float, options: Options, pair: tuple[Matrix, Matrix]) -> Array:
    """Return the difference of the outputs without noise between two data sets."""
    mechanism = MECHANISMS[name]
    nothing = 0 * mechanism.draw_noise(d, np.random.default_rng(0))
    keywords = {**budget_of(name, budget), **options}
    first, second = (mechanism.release(x, nothing, **keywords) for x in pair)
    return np.asarray(first - second)


def added(size: Callable[[Array], float]) -> Callable[[str, float, int, Options], float]:
    """Return the privacy loss of noise with density ∝ exp(−size/scale): the largest size of a change, divided by the
    scale.
    """

    def account(name: str, budget: float, d: int, options: Options) -> float:
        moves = [move(name, d, budget, options, pair) for pair in first_rows(d)]
        return max(map(size, moves)) / scale(name, d, budget, options)

    return account


def nuclear(m: Array) -> float:
    """Return the nuclear norm of a matrix: the sum of its singular values."""
    return float(np.linalg.norm(m, "nuc"))


def total(m: Array) -> float:
    """Return the sum of the absolute values of the entries of a matrix."""
    return float(np.abs(m).sum())


def entrywise(name: str, budget: float, d: int, options: Options) -> float:
    """Return the privacy loss of Laplace noise on entries: the largest ℓ1 change over all sign patterns, divided by the
    scale.
    """
    triangle = options.get("entries", "triangle") == "triangle"
    return enumerated_l1(d, triangle) / ROWS / scale(name, d, budget, options)


BODIES: dict[str, Callable[[Matrix], float]] = {
    "schatten1": nuclear,
    "covariance": lambda m: max(
        -np.minimum(np.linalg.eigvalsh(m), 0).sum(), np.maximum(np.linalg.eigvalsh(m), 0).sum()
    ),
    "l1": lambda m: 0.0,  # found by sign patterns
    "l2": lambda m: float(np.linalg.norm(m)),
    "linf": lambda m: float(np.abs(np.linalg.eigvalsh(m)).max()),
}


def k_norm(name: str, budget: float, d: int, options: Options) -> float:
    """Return the privacy loss of K-norm noise: the largest change in the norm of the body, divided by the scale."""
    body = options["body"]
    if body == "l1":
        return enumerated_l1(d, triangle=True) / ROWS / scale(name, d, budget, options)
    return added(BODIES[body])(name, budget, d, options)


def gaussian(name: str, budget: float, d: int, options: Options) -> float:
    """Return the cost of Gaussian noise: half the largest squared change, divided by the variance.

    The sum of squares counts the two equal entries Δ_ij and Δ_ji off the diagonal once. For the ensemble "goe" the
    square is counted twice, because the noise off the diagonal has half the variance.
    """
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
    """Return the privacy loss for the centred covariance: its largest change in nuclear norm, divided by the scale."""
    angles = np.arange(12) * np.pi / 6
    points = np.array([[np.cos(a), np.sin(a)] for a in angles]) if d > 1 else np.array([[1.0], [-1.0], [0.0]])
    points = np.pad(points, ((0, 0), (0, max(d - 2, 0))))
    beside = [(np.stack([points[0], points[0]]), np.stack([p, points[0]])) for p in points]
    outputs = [move(name, d, budget, options, pair) for pair in beside]
    return max(nuclear(a - b) for a, b in product(outputs, outputs)) / scale(name, d, budget, options)


def least_delta(apart: float, epsilon: float) -> float:
    """Return the least δ at ε of two unit normal laws whose means differ by `apart`, by quadrature of (p − e^ε q)₊."""
    start = epsilon / apart + apart / 2  # the point at which ln p − ln q = ε, for the means `apart` and 0

    def excess(t: float) -> float:
        return (math.exp(-((t - apart) ** 2) / 2) - math.exp(epsilon - t**2 / 2)) / math.sqrt(2 * math.pi)

    return sum(float(quad(excess, start + low, start + high, epsabs=0)[0]) for low, high in ((0, 2), (2, 6), (6, 20)))


def approximate(name: str, budget: float, d: int, options: Options) -> float:
    """Return the least δ at ε for the largest change of the query, given the noise that `release` adds."""
    return least_delta((2 * gaussian(name, budget, d, options)) ** 0.5, budget)


def calibrated(name: str, budget: float, d: int, options: Options) -> float:
    """Return the least δ at ε for noise of the classical scale. For the tight scale, which is the root of an equation,
    return the δ that `spend` of gaussian-approximate proves.
    """
    if tight(options):
        return proven_of(MECHANISMS["gaussian-approximate"].spend(**budget_of(name, budget), dimension=d, **options))
    return least_delta(budget / math.sqrt(2 * math.log(1.25 / DELTA)), budget)


# DRAWN OUTCOMES


def drawn(name: str, budget: float, d: int, options: Options) -> float:
    """Return the privacy loss of drawing u with density ∝ exp(uᵀMu): the range of uᵀ(M − M′)u.

    The matrices M and M′ are those that `release` passes to the sampler for two neighbours.
    """
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
    """Return whether the calibration is the tight one."""
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
    """Compile an expression of numbers, words and names for evaluation."""
    tree = ast.parse(expression, mode="eval")
    strange = [type(node).__name__ for node in ast.walk(tree) if not isinstance(node, ARITHMETIC)]
    if strange:
        raise ValueError(f"{expression!r}: {strange[0]} is no arithmetic")
    return compile(tree, expression, "eval")


@dataclass(frozen=True)
class Account:
    """The field `spends` of a mechanism's entry in the ledger, which states the budget that the mechanism spends.

    found : the key in FOUND of the function that computes the spent budget from `release`; "" if there is none.
    share : the ratio of the spent budget to the claimed budget, as an expression; "" if the ledger states none.
    attained : an expression that is true if some neighbours come arbitrarily close to the proven budget.
    options : the values that the check tries for each option; by default all values of every choice except `adjacency`.

    The expressions may contain the dimension d, the options, the functions min and max, and four other names. The name
    `tight` is true if the option `calibration` has the value "tight", and otherwise false. The name `full` is the
    largest ℓ1 change of all entries, and `triangle` is that of the entries on and above the diagonal. The call of(name)
    gives the share of another mechanism.
    """

    found: str
    share: str
    attained: str
    options: dict[str, Sequence[Any]]

    def value(self, expression: str, d: int, options: Options) -> Any:
        """Evaluate an expression from the field `spends` of the ledger at given parameters."""
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
        """Return the share of the budget that the mechanism spends, according to the ledger."""
        return float(self.value(self.share, d, options))

    def expected(self, name: str, budget: float, d: int, options: Options) -> list[float]:
        """Return all values of the spent budget that the ledger gives: the value found from `release`, and the stated
        share of the claimed budget.
        """
        ways = [FOUND[self.found](name, budget, d, options)] if self.found else []
        unit = DELTA if "delta" in budget_of(name, budget) else budget
        return [*ways, *([self.share_of(d, options) * unit] if self.share else [])]

    def tolerance(self, name: str) -> float:
        """Return the relative error that the check allows for the result of `spend`.

        The allowed error is larger if the budget is a δ and no function computes it from `release`, because the least
        scale of the noise is rounded up.
        """
        return 1e-9 if self.found or "delta" not in budget_of(name, 1.0) else 1e-6


@cache
def account_of(name: str) -> Account:
    """Return the field `spends` of a mechanism's entry in the ledger, with defaults for what the field leaves out.

    An entry without the field says that the mechanism spends the whole budget, in every dimension.
    """
    declared = MECHANISMS[name]
    told = next(c for c in entries.read("mechanisms")["claim"] if c["id"] == declared.claim).get("spends", {})
    words = {choice: words for choice, words in declared.choices.items() if choice != "adjacency"}
    plain = {"found": "", "share": "" if "found" in told else "1", "attained": "1", "options": words}
    return Account(**{**plain, **told})


def proven_of(spent: Spend) -> float:
    """Return the budget that `spend` proves, as a number: ε for pure DP, ρ for zCDP, or δ at the claimed ε."""
    if isinstance(spent.proven, ApproximateDP):
        return spent.proven.delta
    return spent.proven.epsilon if isinstance(spent.proven, PureDP) else spent.proven.rho


def reference_spend(name: str) -> Callable[..., Spend]:
    """Return the result of the `spend` of a mechanism."""
    return MECHANISMS[name].spend


def off_by(factor: float, changed: str) -> Callable[[str], Callable[..., Spend]]:
    """Return a deliberately wrong `spend`: it multiplies the proven budget of the mechanism `changed` by a factor."""

    def spend_of(name: str) -> Callable[..., Spend]:
        def spend(**given: Any) -> Spend:
            spent = reference_spend(name)(**given)
            keywords = {key: value * factor for key, value in spent.proven.keywords().items()}
            return replace(spent, proven=guarantee_of(keywords)) if name == changed else spent

        return spend

    return spend_of


def not_attained(name: str) -> Callable[..., Spend]:
    """Return a deliberately wrong `spend`: it says that no neighbours attain the proven budget."""
    return lambda **given: replace(reference_spend(name)(**given), attained=False)


@check(
    "floating",
    mutants={
        **{f"{name} spends 3 % less": {"spends": off_by(0.97, name), "names": (name,)} for name in MECHANISMS},
        "gauss-cov is said to be an upper bound only": {"spends": not_attained, "names": ("gauss-cov",)},
        "nuclear-laplace spends 3 % more": {"spends": off_by(1.03, "nuclear-laplace"), "names": ("nuclear-laplace",)},
    },
    scope=f"{len(MECHANISMS)} mechanisms, all choices, d = 1, 2, 4",
)
def every_spend(
    spends: Callable[[str], Callable[..., Spend]] = reference_spend, names: Sequence[str] = tuple(MECHANISMS)
) -> Found:
    """For every mechanism, every choice and two budgets, `spend` proves the expected budget. The expected budget is
    computed from `release`, or the ledger states it as a share of the claimed budget, or both.

    The check tries the dimensions d = 1, 2 and 4. For (ε, δ)-DP the check compares the least δ at ε.
    """
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
                yield {f"{told}attained: {spent.attained}": spent.attained == attained}
                for expected in account.expected(name, budget, d, options):
                    # `spend` never returns 0; if 0 is expected, a budget is right unless `spend` calls it attained
                    none = expected == 0 and not spent.attained
                    right = none or abs(proven_of(spent) - expected) <= account.tolerance(name) * expected
                    yield {f"{told}{proven_of(spent):.6g}, found {expected:.6g}": right}
