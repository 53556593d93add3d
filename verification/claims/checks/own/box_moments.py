"""Check the moments of rows in a box: how far one row moves them, the best weights, the budget, and the error."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product

import numpy as np
import sympy as sp

from covassay.reference import box_moments
from covassay.reference.box_moments import Norm, Weights
from covassay.reference.domain import ADJACENCIES, Adjacency, Matrix, Number, Vector
from covassay.reference.mechanisms.concentrated import box_gauss
from covassay.reference.mechanisms.pure import box_laplace
from covassay.verification.claims.evidence import Evidence, Formula, Found, check, mutant

Sensitivity = Callable[[int, Weights, Adjacency], Number]
WeightsOf = Callable[[int, Adjacency], Weights]
Row = tuple[Fraction, ...]
MORE, LESS = Fraction(103, 100), Fraction(97, 100)
GRID = tuple(Fraction(value, 2) for value in (-2, -1, 0, 1, 2))
# five choices of the weights (count, mean, square, product); `covered` says for which of them the formulas hold
FRACTIONS = tuple(
    Weights(Fraction(k), Fraction(a), Fraction(b), Fraction(c))
    for k, a, b, c in ((2, 1, 1, 1), (1, 2, 1, "1/3"), (3, 3, "5/2", 2), (1, 1, "2/3", "4/5"), (1, 4, 2, 3))
)


def moved(u: Row, v: Row | None, w: Weights) -> list[Fraction]:
    """Return the change of the weighted sums, computed by definition, if u is replaced by v, or if u is added (`v` is
    None).
    """
    one = _moments(u)
    other = [Fraction(0)] * len(one) if v is None else _moments(v)
    return [weight * (a - b) for weight, a, b in zip(_listed(w, len(u)), one, other, strict=True)]


def _moments(u: Row) -> list[Fraction]:
    pairs = [u[i] * u[j] for i in range(len(u)) for j in range(i)]
    return [Fraction(1), *u, *(value**2 - 1 for value in u), *pairs]


def _listed(w: Weights, d: int) -> list[Number]:
    return [w.count, *[w.mean] * d, *[w.square] * d, *[w.product] * (d * (d - 1) // 2)]


def size(change: list[Fraction], norm: Norm) -> Fraction:
    """Return the ℓ1 norm of a change, or the square of its ℓ2 norm."""
    total: Fraction = sum((abs(value) if norm == "l1" else value**2 for value in change), Fraction(0))
    return total


def covered(w: Weights, d: int, norm: Norm, adjacency: Adjacency) -> bool:
    """Return whether the weights satisfy the condition under which the formula for the sensitivity holds."""
    if adjacency == "replace-one":
        return bool(w.square <= w.mean if norm == "l2" else w.square >= w.product / 2)
    if norm == "l2":
        return bool(w.square**2 <= w.mean**2 + w.product**2 * (d - 1) / 2)
    return bool(w.square <= (w.mean + w.product * (d - 1)) / 2)


def _rows(d: int, w: Weights, norm: Norm) -> Iterator[Row]:
    """Yield all rows with entries from a list of values. For the ℓ1 norm the list includes an entry of the rows that
    move the weighted sums the most.
    """
    q = w.product * (d - 1) + 2 * w.square
    more = (-min(w.mean / q, Fraction(1)),) if norm == "l1" else ()
    yield from product((*GRID, *more), repeat=d)


def _largest(sensitivity: Sensitivity, norm: Norm) -> Found:
    tried = 0
    for d, w, adjacency in product((1, 2, 3), FRACTIONS, ADJACENCIES):
        if not covered(w, d, norm, adjacency):
            continue
        tried += 1
        rows = list(_rows(d, w, norm))
        others = rows if adjacency == "replace-one" else [None]
        found = max(size(moved(u, v, w), norm) for u in _corner_or_all(rows, d) for v in others)
        yield {f"d = {d}, {adjacency}, {w}: {found}": found == sensitivity(d, w, adjacency)}
    yield tried >= 20


def _corner_or_all(rows: list[Row], d: int) -> list[Row]:
    """Return all rows if d < 3. For d = 3 return the rows whose entries are all ½ or 1, and the row of zeros."""
    return rows if d < 3 else [row for row in rows if min(row) >= Fraction(1, 2)] + [(Fraction(0),) * d]


def _mutants(norm: Norm, right: Sensitivity) -> dict[str, dict[str, Sensitivity]]:
    off = 2 if norm == "l2" else 1

    def swapped(d: int, w: Weights, adjacency: Adjacency) -> Number:
        return right(d, w, "add-remove" if adjacency == "replace-one" else "replace-one")

    return {
        "smaller by 3 %": {"sensitivity": lambda d, w, a: right(d, w, a) * LESS**off},
        "larger by 3 %": {"sensitivity": lambda d, w, a: right(d, w, a) * MORE**off},
        "for the other neighbours": {"sensitivity": swapped},
        "the mean alone": {"sensitivity": lambda d, w, a: (4 if off == 2 else 2) * d * w.mean**off},
        "without the count": {
            "sensitivity": lambda d, w, a: right(d, w, a) - (w.count**off if a == "add-remove" else 0)
        },
        "products counted twice": {
            "sensitivity": lambda d, w, a: right(d, Weights(w.count, w.mean, w.square, 2 * w.product), a)
        },
    }


SCOPE = "d ≤ 3, five choices of the weights, rows on a grid"


@check("exact", mutants=_mutants("l2", box_moments.l2_squared), scope=SCOPE)
def l2_sensitivity(sensitivity: Formula = box_moments.l2_squared) -> Found:
    """No two rows of a grid move the weighted sums further in ℓ2 than `l2_squared` allows, and some pairs move them as
    far.
    """
    return _largest(sensitivity, "l2")


@check("exact", mutants=_mutants("l1", box_moments.l1), scope=SCOPE)
def l1_sensitivity(sensitivity: Formula = box_moments.l1) -> Found:
    """For rows of a grid, a change of one row changes the weighted sums by at most `l1` in ℓ1 norm, and by
    `l1` for some rows.
    """
    return _largest(sensitivity, "l1")


# THE BUDGET


def _noise(d: int, adjacency: Adjacency, gaussian: bool) -> Matrix:
    mechanism = box_gauss if gaussian else box_laplace
    weights: WeightsOf = box_moments.gauss_weights if gaussian else box_moments.laplace_weights
    return box_moments.spreads(float(mechanism.noise_scale(d, 0.75, adjacency)), weights(d, adjacency), d)


def _spent(first: Vector, second: Vector | None, spread: Matrix, gaussian: bool) -> float:
    """Return D_α/α, or the largest privacy loss, for one row replaced or added, computed from the sums."""
    n, d = 1, len(first)
    change = box_moments.moment_sums(first[None], n, d)
    change = change - (0 if second is None else box_moments.moment_sums(second[None], n, d))
    i, j = np.triu_indices(d + 1)
    ratios = np.abs(change[i, j][spread[i, j] > 0]) / spread[i, j][spread[i, j] > 0]
    return float((ratios**2).sum() / 2 if gaussian else ratios.sum())


@check("floating", scope="d = 1, 2, 3, 6; both adjacencies", less="factor", more="factor")
@mutant("noise for the other neighbours", swap=True)
@mutant("noise divided by the square of the weight", power=2)
@mutant("noise of one scale", power=0)
def budget(factor: float = 1.0, swap: bool = False, power: int = 1) -> Found:
    """For both adjacencies, both box mechanisms spend exactly their budget on some rows."""
    for d, adjacency, gaussian in product((1, 2, 3, 6), ADJACENCIES, (True, False)):
        weights: WeightsOf = box_moments.gauss_weights if gaussian else box_moments.laplace_weights
        usual = ADJACENCIES[1 - ADJACENCIES.index(adjacency)] if swap else adjacency
        base = _noise(d, usual, gaussian)
        unit = box_moments.spreads(1.0, weights(d, usual), d)
        spread, noisy = factor * base, base > 0
        spread[noisy] *= unit[noisy] ** (power - 1)
        x, y = box_moments.worst_rows(d, weights(d, adjacency), "l2" if gaussian else "l1")
        attained = _spent(x, y if adjacency == "replace-one" else None, spread, gaussian) / 0.75
        if not abs(attained - 1) <= 1e-12:
            yield f"d = {d}, {adjacency}, {'Gaussian' if gaussian else 'Laplace'}: {attained:.6f}"


# THE WEIGHTS


def objective(d: int, w: Weights, adjacency: Adjacency, gaussian: bool) -> float:
    """Return the quantity that the weights minimise; under add-remove it has no term for the squares."""
    s = box_moments.l2_squared(d, w, adjacency) if gaussian else box_moments.l1(d, w, adjacency) ** 2
    shares = 2 * d * (d + 1) / w.mean**2 + d * (d - 1) / w.product**2
    shares += d / w.square**2 if adjacency == "replace-one" else d * (d + 3) / w.count**2
    return float(s * shares)


def _varied(w: Weights, name: str, factor: float, d: int, adjacency: Adjacency, gaussian: bool) -> Weights:
    """Return the weights with the free weight multiplied by `factor`.

    For Gaussian noise under replace-one the squares have the same weight as the means, so both weights change together.
    """
    values = {key: getattr(w, key) for key in ("count", "mean", "square", "product")}
    values[name] *= factor
    if gaussian and adjacency == "replace-one":
        values["square"] = values["mean"]
    return Weights(**values)


@check("floating", scope="d = 1, 2, 3, 4, 5, 8, 13; both adjacencies and noises")
@mutant(
    "products weigh 3 % more", gauss=lambda d, a: _varied(box_moments.gauss_weights(d, a), "product", 1.03, d, a, True)
)
@mutant(
    "products weigh 3 % less",
    laplace=lambda d, a: _varied(box_moments.laplace_weights(d, a), "product", 0.97, d, a, False),
)
@mutant(
    "means weigh 3 % more", laplace=lambda d, a: _varied(box_moments.laplace_weights(d, a), "mean", 1.03, d, a, False)
)
@mutant(
    "squares weigh as products",
    laplace=lambda d, a: Weights(
        *(getattr(box_moments.laplace_weights(d, a), key) for key in ("count", "mean", "product", "product"))
    ),
)
@mutant(
    "the count weighs 3 % less", gauss=lambda d, a: _varied(box_moments.gauss_weights(d, a), "count", 0.97, d, a, True)
)
def best_weights(gauss: Formula = box_moments.gauss_weights, laplace: Formula = box_moments.laplace_weights) -> Found:
    """The weights satisfy `covered`, and changing a free weight by ½ % never lowers `objective`."""
    for d, adjacency, gaussian in product((1, 2, 3, 4, 5, 8, 13), ADJACENCIES, (True, False)):
        w = (gauss if gaussian else laplace)(d, adjacency)
        here = objective(d, w, adjacency, gaussian)
        free = ["mean", "product"] if d > 1 else ["mean"]
        free += ["count"] if adjacency == "add-remove" else [] if gaussian else ["square"]
        near = [
            objective(d, _varied(w, name, factor, d, adjacency, gaussian), adjacency, gaussian)
            for name in free
            for factor in (0.995, 1.005)
        ]
        slack = 1 + 1e-12
        lighter = Weights(w.count, w.mean, w.square / slack, w.product)
        heavier = Weights(w.count, w.mean, w.square * slack, w.product)
        heavy_enough = adjacency == "replace-one" and not gaussian
        allowed = covered(heavier if heavy_enough else lighter, d, "l2" if gaussian else "l1", adjacency)
        if min(near) < here * (1 - 1e-12) or not allowed:
            yield f"d = {d}, {adjacency}, {'Gaussian' if gaussian else 'Laplace'}"


# THE ERROR


@check("symbolic", covers="all", more="error", scope="all d, all data, all noises with these moments")
@mutant("without the noise of the mean", error=lambda d, m, s, p, o, k: d * s + d * (d - 1) * p)
@mutant("off-centre counted once", error=lambda d, m, s, p, o, k: box_moments.squared_error(d, m, s, p, o / 2, k))
@mutant("the kurtosis of Gaussian noise", error=lambda d, m, s, p, o, k: box_moments.squared_error(d, m, s, p, o, 3))
def covariance_error(error: Formula = box_moments.squared_error) -> Evidence:
    """Under replace-one E Σ_ij (Ĉ_ij − C_ij)² of the scaled covariance is `squared_error`, for every mean of the rows.

    Ĉ_ij − C_ij = N_ij − m_iN_j − m_jN_i − N_iN_j with independent centred N, so that odd moments vanish. The diagonal
    has variance s, N_ij variance p, N_i variance v and fourth moment κv².
    """
    d, s, p, v, kappa, first, second = sp.symbols("d s p v kappa m_i m_j", real=True)
    square, one, other = sp.symbols("N_ij N_i N_j")
    moments = {one: {1: 0, 2: v, 3: 0, 4: kappa * v**2}, other: {1: 0, 2: v}, square: {1: 0}}

    def expectation(value: sp.Expr, of_square: sp.Expr) -> sp.Expr:
        total = sp.Integer(0)
        for powers, coefficient in sp.Poly(sp.expand(value), square, one, other).terms():
            factors = [
                sp.Integer(1)
                if power == 0
                else {**moments[symbol], **({2: of_square} if symbol == square else {})}[power]
                for symbol, power in zip((square, one, other), powers, strict=True)
            ]
            total += coefficient * sp.prod(factors)
        return sp.expand(total)

    diagonal = expectation((square - 2 * first * one - one**2) ** 2, s)
    off = expectation((square - first * other - second * one - one * other) ** 2, p)
    total = sp.Symbol("M", real=True)
    # summed over i, and over i ≠ j: Σ m_i² = M, and Σ_{i≠j} (m_i² + m_j²) = 2(d − 1)M
    summed = d * diagonal.subs(first, 0) + diagonal.coeff(first, 2) * total
    summed += d * (d - 1) * off.subs({first: 0, second: 0}) + 2 * (d - 1) * total * off.coeff(first, 2)
    even = diagonal.coeff(first, 1) == 0 and off.coeff(first, 1) == 0 and off.coeff(first, 2) == off.coeff(second, 2)
    gap = sp.simplify(summed - error(d, v, s, p, total, kappa))
    return Evidence(bool(gap == 0 and even))


@check("exact", scope="one column, n = 5 and 12, 8 ranges of noise", less="bound", more="bound")
@mutant("without the noise of the count", bound=lambda n, largest, count: box_moments.error_bound(n, largest, 0))
@mutant("to first order", bound=lambda n, largest, count: 3 * (largest + count) / (n - count))
def entry_error(bound: Formula = box_moments.error_bound) -> Found:
    """No entry of the error exceeds `error_bound`, for noise at the ends of its range.

    If the number of rows n is known, some data attain the bound `error_bound`. The check uses sums of one column of n
    rows, of which some are 1, some −1 and some 0, with every noise at an end of its range or 0.
    """
    ends = (-1, 0, 1)
    attained = False
    for n, largest, count in product((5, 12), (Fraction(1, 2), Fraction(3)), (Fraction(0), Fraction(2))):
        most = Fraction(0)
        for ones, minus in ((n, 0), (0, n), (n // 2, n - n // 2), (0, 0), (2, 1)):
            first, squares = Fraction(ones - minus), Fraction(ones + minus - n)
            exact = squares / n + 1 - (first / n) ** 2
            for zero, one, two in product(ends, repeat=3):
                divisor = max(n + zero * count, Fraction(1))
                mean = (first + one * largest) / divisor
                noisy = (squares + two * largest) / divisor + 1 - mean**2
                most = max(most, abs(noisy - exact))
        yield {f"n = {n}, {largest}, {count}: {float(most):.4g}": most <= bound(n, largest, count)}
        attained |= count == 0 and most == bound(n, largest, count)
    yield attained
