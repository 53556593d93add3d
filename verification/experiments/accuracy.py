"""Error against n, d and the budget, on log–log grids, beside the exponents that the theory gives.

A rate is an upper bound over all data, so it shows only on data that are hard for the mechanism. Additive noise has one
error on all data. For the mechanisms whose error adapts to the data, the hard case has all of its eigenvalues at the
level of the noise: larger ones are easy to find, smaller ones cheap to lose (`at_the_noise_level`).

Each row of the table is one grid: a mean error per point, and the slope of a least-squares line through the logarithms,
with the standard error that the scatter of the draws gives it.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from covassay.reference.domain import Matrix, second_moment
from covassay.reference.mechanisms.registry import mechanism
from covassay.verification.audit.sampling import Progress, no_progress, stream

TOLERANCE = 0.1  # between the slope of the theory and the slope measured

NORMS: dict[str, Callable[[Matrix], float]] = {
    "Frobenius": lambda m: float(np.linalg.norm(m)),
    "operator": lambda m: float(np.linalg.norm(m, 2)),
    "nuclear": lambda m: float(np.linalg.norm(m, "nuc")),
}


@dataclass(frozen=True)
class Point:
    """One point of a grid: a data set's shape and the budget."""

    n: int
    d: int
    budget: float


@dataclass(frozen=True)
class Rate:
    """A rate of the theory: the error of `mechanism` is proportional to `varied` to the power `slope`.

    data : the data set at a point. constant : the theory's error at a point, where it gives the constant as well.
    """

    claim: str
    mechanism: str
    varied: str  # "n", "d" or "budget"
    grid: tuple[float, ...]
    fixed: Point
    data: Callable[[Point], Matrix]
    slope: float
    norm: str = "Frobenius"
    repeats: int = 20
    options: Mapping[str, Any] = field(default_factory=dict)
    constant: Callable[[Point], float] | None = None

    @property
    def name(self) -> str:
        """A name that no other rate has."""
        return f"{self.claim}, {self.norm} error in {self.varied}"

    def points(self) -> list[Point]:
        """The points of the grid."""
        base = {"n": self.fixed.n, "d": self.fixed.d, "budget": self.fixed.budget}
        values = [value if self.varied == "budget" else round(value) for value in self.grid]
        return [Point(**{**base, self.varied: value}) for value in values]  # type: ignore[arg-type]


@dataclass(frozen=True)
class Measurement:
    """The mean error at every point with its standard error, and the slope with its own.

    ratio : measured over theoretical error at the last point, where the theory gives a constant.
    """

    rate: Rate
    errors: tuple[float, ...]
    standard_errors: tuple[float, ...]
    slope: float
    slope_error: float
    ratio: float | None

    @property
    def agrees(self) -> bool:
        """Is the measured slope within the tolerance of the theory's?"""
        return abs(self.slope - self.rate.slope) <= TOLERANCE


def fit(grid: Iterable[float], errors: Iterable[float], standard_errors: Iterable[float]) -> tuple[float, float]:
    """Slope of the least-squares line through (ln grid, ln error), and its standard error from those of the errors."""
    t, e, s = np.log(list(grid)), np.array(list(errors)), np.array(list(standard_errors))
    centred = t - t.mean()
    weights = centred / (centred @ centred)
    return float(weights @ np.log(e)), float(np.linalg.norm(weights * s / e))


def measure(rate: Rate, seed: int = 0, progress: Progress = no_progress) -> Measurement:
    """Run one grid. The draws at a point depend on the seed, the rate's name and the point alone."""
    about = mechanism(rate.mechanism)
    keyword = "epsilon" if about.notion == "pure" else "rho"
    means, scatters = [], []
    for point in rate.points():
        x = rate.data(point)
        truth = second_moment(x)
        rng = np.random.default_rng(stream(seed, rate.name, repr(point)))
        budget: dict[str, Any] = {keyword: point.budget}
        errors = [NORMS[rate.norm](about.sample(x, rng, **budget, **rate.options) - truth) for _ in range(rate.repeats)]
        means.append(float(np.mean(errors)))
        scatters.append(float(np.std(errors, ddof=1) / math.sqrt(rate.repeats)))
        progress(rate.name, rate.repeats)
    slope, slope_error = fit(rate.grid, means, scatters)
    ratio = means[-1] / rate.constant(rate.points()[-1]) if rate.constant else None
    return Measurement(rate, tuple(means), tuple(scatters), slope, slope_error, ratio)


# DATA


def rows_of(spectrum: np.ndarray[Any, np.dtype[np.float64]], n: int, d: int) -> Matrix:
    """n rows along the coordinate axes with second moment close to diag(spectrum), of trace at most 1."""
    counts = np.floor(n * spectrum).astype(int)
    x = np.zeros((n, d))
    x[np.arange(counts.sum()), np.repeat(np.arange(len(counts)), counts)] = 1.0
    return x


def no_signal(point: Point) -> Matrix:
    """All rows zero: what comes out is the noise."""
    return np.zeros((point.n, point.d))


def at_the_noise_level(level: Callable[[Point], float]) -> Callable[[Point], Matrix]:
    """Data of trace 1 with equal eigenvalues at the level of the noise, as many as fit."""

    def data(point: Point) -> Matrix:
        k = min(point.d, max(1, round(1 / level(point))))
        return rows_of(np.full(k, 1 / k), point.n, point.d)

    return data
