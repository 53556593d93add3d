"""Check the number of rows and a sum under add-remove: how far one row moves them, their joint cost, and the shares."""

from fractions import Fraction
from itertools import product

import numpy as np
import sympy as sp

from covassay.reference.domain import IntegerMatrix, Matrix, Vector, unit_rows
from covassay.reference.domain.exact_data import INPUT_BITS
from covassay.reference.mechanisms import counted
from covassay.reference.mechanisms.building_blocks import gaussian, laplace
from covassay.reference.mechanisms.concentrated import discrete_gaussian_covariance, gauss_cov
from covassay.reference.mechanisms.counted import CountedDraws, CountedNoise, RowsAndSumOutput
from covassay.reference.mechanisms.mechanism import Mechanism
from covassay.reference.mechanisms.pure import (
    discrete_laplace_covariance,
    entrywise_laplace,
    lap_cov,
    nuclear_laplace,
    nuclear_laplace_symmetric,
)
from covassay.verification.claims.evidence import Formula, Found, check, mutant

BUDGET = 0.75
FILES = (gauss_cov, gaussian, laplace, entrywise_laplace, lap_cov, nuclear_laplace, nuclear_laplace_symmetric)
LATTICE = (discrete_gaussian_covariance, discrete_laplace_covariance)


def choices(declared: Mechanism) -> list[dict[str, str]]:  # type: ignore[type-arg]
    """Return all combinations of the mechanism's options except the adjacency."""
    others = {name: words for name, words in declared.choices.items() if name != "adjacency"}
    return [dict(zip(others, words, strict=True)) for words in product(*others.values())]


def seen(file: object, x: Matrix, noise: float, options: dict[str, str]) -> tuple[float, Matrix]:
    """Return the number of rows and the sum that are released if every noise variable of scale 1 equals `noise`."""
    declared = file.MECHANISM  # type: ignore[attr-defined]
    kind = declared.output_of({**options, "adjacency": "add-remove"})
    assert isinstance(kind, RowsAndSumOutput)
    d = x.shape[1]
    given = CountedNoise(noise, np.full((d,) if kind.entries == "vector" else (d, d), noise))
    budget = dict.fromkeys(declared.notion.default.keywords(), BUDGET)
    parts = kind.parts(declared.release(x, given, **budget, **options, adjacency="add-remove"))
    return float(parts["rows"]), np.asarray(parts["sum"])


def spent(file: object, row: Vector, options: dict[str, str], rows: float, entries: float) -> float:
    """Return the share of the budget that adding one row spends. The noise of the number of rows is multiplied by
    `rows`, and the noise of the sum by `entries`.
    """
    none = np.zeros((0, len(row)))
    (_, change), (count, noise) = seen(file, row[None], 0.0, options), seen(file, none, 1.0, options)
    count, scale = rows * count, entries * float(noise.max())
    if file in (gauss_cov, gaussian):
        variances = np.full(change.shape, scale**2)
        if change.ndim == 2:
            above = np.triu(np.ones_like(change, dtype=bool), 1)
            variances[above] *= 0.5 if options["ensemble"] == "goe" else 1.0
            change = np.triu(change)
        return float((1 / count**2 + (change**2 / variances).sum()) / 2 / BUDGET)
    if file is lap_cov or (file is entrywise_laplace and options["entries"] == "triangle"):
        change = np.triu(change)
    size = (
        np.linalg.norm(change, "nuc") if file in (nuclear_laplace, nuclear_laplace_symmetric) else np.abs(change).sum()
    )
    return float((1 / count + size / scale) / BUDGET)


@check(
    "floating",
    scope="seven mechanisms, all options, d = 1, 2, 3; 8 random rows each",
    less="rows entries",
    more="rows entries",
)
@mutant("the whole budget for the sum", rows=1e6)
@mutant("the noise for replacing a row", entries=2.0)
def budget(rows: float = 1.0, entries: float = 1.0) -> Found:
    """For each of seven mechanisms and every option, adding one row can spend the proven budget, and no random row
    spends more.
    """
    rng = np.random.default_rng(6)
    for file, d in product(FILES, (1, 2, 3)):
        declared = file.MECHANISM
        for options in choices(declared):
            own = dict.fromkeys(declared.notion.default.keywords(), BUDGET)
            proven = declared.spend(**own, dimension=d, **options, adjacency="add-remove").proven
            share = next(iter(proven.keywords().values())) / BUDGET
            worst = [np.eye(d)[0], np.full(d, d**-0.5)]
            attained = max(spent(file, row, options, rows, entries) for row in worst)
            others = unit_rows(rng.standard_normal((8, d)) * rng.choice([0.3, 1.0, 5.0], (8, 1)))
            largest = max(spent(file, row, options, rows, entries) for row in others)
            if abs(attained / share - 1) > 1e-9 or largest > share * (1 + 1e-9):
                yield f"{declared.name} {options} d = {d}: {attained:.5f} of {share:.5f}"


def spent_on_lattice(file: object, row: Vector, rows: float, entries: float) -> float:
    """Return the share of the budget that adding one row spends in a mechanism that rounds rows to integers. The noise
    of the number of rows is multiplied by `rows`, and the noise of the sum by `entries`.
    """
    declared = file.MECHANISM  # type: ignore[attr-defined]
    kind, d = declared.output_of({"adjacency": "add-remove"}), len(row)
    asked: dict[str, float] = {}

    def count(parameter: Fraction) -> int:
        asked["rows"] = float(parameter)
        return 0

    def sums(parameter: Fraction) -> IntegerMatrix:
        asked["sum"] = float(parameter)
        none: IntegerMatrix = np.full((d, d), 0, dtype=object)
        return none

    budget = dict.fromkeys(declared.notion.default.keywords(), BUDGET)
    parts = kind.parts(declared.release(row[None], CountedDraws(count, sums), **budget, adjacency="add-remove"))
    change = np.triu(np.asarray(parts["sum"])) * 4.0**INPUT_BITS
    if file is discrete_gaussian_covariance:
        loss = (1 / (asked["rows"] * rows**2) + (change**2).sum() / (asked["sum"] * entries**2)) / 2
    else:
        loss = 1 / (asked["rows"] * rows) + np.abs(change).sum() / (asked["sum"] * entries)
    return float(loss / BUDGET)


@check(
    "floating",
    scope="both mechanisms on a lattice, d = 1, 2, 3, 4; 8 random rows each",
    less="rows entries",
    more="rows entries",
)
@mutant("the whole budget for the sum", rows=1e6)
def lattice_budget(rows: float = 1.0, entries: float = 1.0) -> Found:
    """Adding one row, rounded to integers, can spend the proven budget up to the rounding, and no random row spends
    more.
    """
    rng = np.random.default_rng(7)
    for file, d in product(LATTICE, (1, 2, 3, 4)):
        declared = file.MECHANISM
        own = dict.fromkeys(declared.notion.default.keywords(), BUDGET)
        spend = declared.spend(**own, dimension=d, adjacency="add-remove")
        share = next(iter(spend.proven.keywords().values())) / BUDGET
        attained = max(spent_on_lattice(file, row, rows, entries) for row in (np.eye(d)[0], np.full(d, d**-0.5)))
        others = unit_rows(rng.standard_normal((8, d)) * rng.choice([0.3, 1.0, 5.0], (8, 1)))
        largest = max(spent_on_lattice(file, row, rows, entries) for row in others)
        # the mechanism rounds entries toward zero, by up to 2^{−b}
        short = 1e-9 if spend.attained else 4 * d / 2**INPUT_BITS
        if not share * (1 - short) <= attained <= share * (1 + 1e-9) or largest > share * (1 + 1e-9):
            yield f"{declared.name} d = {d}: {attained:.9f} of {share:.9f}"


@check("symbolic", covers="all", exhausts="pure and Gaussian noise", scope="all V > 0", less="gauss")
@mutant("V in place of V/2", pure=lambda v, cbrt: 1 / (1 + cbrt(v)))
@mutant("a square root for Laplace noise", pure=lambda v, cbrt: 1 / (1 + sp.sqrt(v / 2)))
@mutant("a cube root for Gaussian noise", gauss=lambda v, sqrt: 1 / (1 + sp.cbrt(v)))
def shares(pure: Formula = counted.pure_share, gauss: Formula = counted.gaussian_share) -> Found:
    """The reference's share s of the budget for the number of rows minimises the error, given the noise V of the sum.

    The error is V/(1 − s)² + 2/s² for pure noise and V/(1 − s) + 1/s for Gaussian noise. Both functions are convex, and
    the check confirms that their derivatives at the reference's shares are 0.
    """
    s, root = sp.symbols("s r", positive=True)
    cube, square = 2 * root**3, root**2
    for name, error, share in (
        ("pure", cube / (1 - s) ** 2 + 2 / s**2, pure(cube, sp.cbrt)),
        ("Gaussian", square / (1 - s) + 1 / s, gauss(square, sp.sqrt)),
    ):
        slope = sp.diff(error, s)
        if sp.simplify(slope.subs(s, share)) != 0:
            yield name
