"""Make data sets of many kinds and shapes, which an implementation could treat differently from ordinary rows.

A category says what is special about the rows. Some data sets have rows outside of the unit ball. On these data sets, a
reference mechanism has the same law as on the clipped rows, because it clips such rows.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from covassay.reference.domain import Matrix
from covassay.verification.statistics.streams import stream

# the shapes (n, d) of the data sets; code with blocks or special cases often changes at the sizes 1, 2, 64 and 65
SHAPES_OF_THE_ZOO = (
    (1, 1), (2, 1), (65, 1),
    (1, 2), (2, 2), (20, 2), (64, 2), (65, 2), (130, 2), (1000, 2),
    (1, 3), (12, 3), (65, 3), (300, 3),
    (30, 4), (12, 5), (5, 7), (65, 7), (10, 8), (8, 12),
)  # fmt: skip
# rows of the ball are multiplied by this factor, so that they lie in the ball in float32 too
ALMOST_ONE = 1 - 1e-6
IN_BALL = 1 + 1e-9  # a row whose norm exceeds this number is outside of the ball even if the norm has rounding errors


@dataclass(frozen=True)
class DataSetOfZoo:
    """A data set of the zoo, with a description of what is special about its rows.

    `distance` is a text that tells apart several data sets of the same category and shape. `times` is a factor by which
    the number of draws is multiplied.
    """

    category: str
    x: Matrix
    distance: str = ""
    times: int = 1

    @property
    def words(self) -> str:
        """Return the category of the data set, followed by the text `distance` if it is not empty."""
        return f"{self.category}, {self.distance}" if self.distance else self.category

    @property
    def inside(self) -> bool:
        """Return whether all rows of the data set lie in the unit ball."""
        return bool((np.linalg.norm(self.x, axis=1) <= IN_BALL).all())


# a function takes (unit rows, generator) and returns the data set
Recipe = Callable[[Matrix, np.random.Generator], Matrix]


def _axes(u: Matrix, *counts: int) -> Matrix:
    """Return unit rows along the first axes, in numbers proportional to `counts`."""
    d = u.shape[1]
    cycle = np.concatenate([np.full(count, i % d) for i, count in enumerate(counts)])
    rows: Matrix = np.eye(d)[np.resize(cycle, len(u))]
    return rows


def _first(u: Matrix, factor: float, rest: float) -> Matrix:
    """Return the rows with the first row multiplied by one factor, and all other rows by another."""
    return np.asarray(np.vstack([u[:1] * factor, u[1:] * rest]))


CATEGORIES: Mapping[str, Recipe] = {
    "rows inside the ball": lambda u, g: u * g.random((len(u), 1)),
    "rows of norm almost 1": lambda u, g: u,
    "all rows zero": lambda u, g: np.zeros_like(u),
    "short rows": lambda u, g: u * 1e-3,
    "tiny rows": lambda u, g: u * 1e-200,
    "rows all longer than 1": lambda u, g: u * 7,
    "huge rows": lambda u, g: u * 1e6,
    "one row longer than 1": lambda u, g: _first(u, 50, 0.5),
    "one row much longer than the others": lambda u, g: _first(u, 1, 0.1),
    "equal rows": lambda u, g: np.tile(u[:1], (len(u), 1)),
    "duplicated rows": lambda u, g: np.resize(u[: max(1, len(u) // 3)], u.shape),
    "some zero rows": lambda u, g: u * (np.arange(len(u)) % 2 == 1)[:, None],
    "rows on the corners of a cube": lambda u, g: np.where(u < 0, -0.9, 0.9),
    "rows along one axis": lambda u, g: _axes(u, 1),
    "rows along two axes": lambda u, g: _axes(u, 2, 1),
    "one column of zeros": lambda u, g: u * (np.arange(u.shape[1]) < u.shape[1] - 1),
    "negative entries": lambda u, g: -np.abs(u),
    "integers": lambda u, g: np.rint(2 * u),
    "sorted rows": lambda u, g: np.sort(u * g.random((len(u), 1)), axis=0),
    "norms of extreme ratios": lambda u, g: u * np.geomspace(1, 1e-12, len(u))[:, None],
    "columns of extreme ratios": lambda u, g: u * np.geomspace(1, 1e-6, u.shape[1]),
    "one row in 128 much longer than the others": lambda u, g: (
        u * np.where(np.arange(len(u)) % 128 == 0, 1, 0.1)[:, None]
    ),
    "large integers": lambda u, g: np.rint(1e5 * u),
}


def zoo(n: int, d: int, seed: int, categories: Iterable[str] = tuple(CATEGORIES)) -> list[DataSetOfZoo]:
    """Return one data set of shape (n, d) for every category."""
    rng = np.random.default_rng(stream(seed, "zoo", n, d))
    u = rng.standard_normal((n, d))
    u *= ALMOST_ONE / np.linalg.norm(u, axis=1, keepdims=True)
    return [DataSetOfZoo(category, np.asarray(CATEGORIES[category](u, rng), np.float64)) for category in categories]


MANY_ROWS = 20_000
# A float of 16 bits cannot represent 1447.49 · 2⁻¹¹, and rounds it to 1447 · 2⁻¹¹, which is 0.03 % smaller.
BETWEEN = 1447.49 * 2.0**-11, 1447 * 2.0**-11


def many_rows(seed: int) -> list[DataSetOfZoo]:
    """Return two columns of many rows, on which small errors of all rows add up to many times the effect of one row.

    The two columns have the same size, but rounding to 16 bits makes the first column smaller.
    """
    rng = np.random.default_rng(stream(seed, "zoo", "many rows"))
    signs = rng.choice([-1.0, 1.0], (MANY_ROWS, 2))
    return [DataSetOfZoo("rows that 16 bits shorten", signs * BETWEEN)]


GIVEN = "the given data"
# data sets of the same shape with which the given data are compared
BESIDE_GIVEN = "rows inside the ball", "all rows zero"


def given(x: Matrix, seed: int) -> list[DataSetOfZoo]:
    """Return the data of a user together with a few data sets of their shape."""
    n, d = x.shape
    return [DataSetOfZoo(GIVEN, x), *zoo(n, d, seed, BESIDE_GIVEN)]
