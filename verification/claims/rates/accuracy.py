"""Measure the error as a function of n, d and the budget on log–log grids, and compare it with the exponents of the
theory.

A rate is an upper bound over all data, so it is visible only on data that are hard for the mechanism. The error of
additive noise is the same on all data. If the error depends on the data, the hardest data have all eigenvalues at the
level of the noise (`at_the_noise_level`). Larger eigenvalues are easy to estimate, and losing smaller ones costs
little.

A row of the table is one grid. It gives the mean error at every point, and the slope of the least-squares line through
the logarithms. The standard error of the slope follows from the scatter of the draws.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from covassay.reference.domain import Matrix, second_moment
from covassay.reference.mechanisms.registry import mechanism
from covassay.verification.statistics.streams import Progress, no_progress, stream

# the largest accepted difference between the measured slope and that of the theory. If the theory gives different
# slopes for two rates, these slopes differ by at least 1/4, which is more than twice the tolerance.
TOLERANCE = 0.1
DATA_SEED = 17  # `normal_rows` and `normal_parameters` use the same seed, and therefore have the same parameters

NORMS: dict[str, Callable[[Matrix], float]] = {
    "Frobenius": lambda m: float(np.linalg.norm(m)),
    "operator": lambda m: float(np.linalg.norm(m, 2)),
    "nuclear": lambda m: float(np.linalg.norm(m, "nuc")),
}


@dataclass(frozen=True)
class Point:
    """One point of a grid, with the shape of the data, the budget, and the parameter of the mechanism if one is
    varied.
    """

    n: int
    d: int
    budget: float
    parameter: float = 0.0


def true_second_moment(point: Point, x: Matrix) -> Matrix:
    """Return the second moment of the data themselves, which most mechanisms estimate."""
    return second_moment(x)


@dataclass(frozen=True)
class Rate:
    """A statement of the theory that the error of `mechanism` is proportional to a power of the varied quantity.

    varied : the varied quantity: "n", "d", "budget", or the name of a parameter of the mechanism.
    slope : the power of the varied quantity.
    data : a function that makes the data set at a point of the grid.
    truth : the quantity that the mechanism estimates.
    error : the error of an output, given the truth; by default the norm of their difference.
    constant : the error at a point according to the theory, if it also gives the constant.
    at_most : whether the theory gives this power only as an upper bound on the growth of the error.
    """

    claim: str
    mechanism: str
    varied: str
    grid: tuple[float, ...]
    fixed: Point
    data: Callable[[Point], Matrix]
    slope: float
    norm: str = "Frobenius"
    repeats: int = 20
    options: Mapping[str, Any] = field(default_factory=dict)
    constant: Callable[[Point], float] | None = None
    truth: Callable[[Point, Matrix], Matrix] = true_second_moment
    error: Callable[[Matrix, Matrix], float] | None = None
    at_most: bool = False

    @property
    def name(self) -> str:
        """Return the name of the rate, which is unique among the rates of its mechanism."""
        return f"{self.claim}, {self.norm} error in {self.varied}"

    def error_of(self, output: Matrix, truth: Matrix) -> float:
        """Return the error of one output of the mechanism."""
        return self.error(output, truth) if self.error else NORMS[self.norm](output - truth)

    def points(self) -> list[Point]:
        """Return the points at which the error is measured."""
        if self.varied == "n":
            return [replace(self.fixed, n=round(value)) for value in self.grid]
        if self.varied == "d":
            return [replace(self.fixed, d=round(value)) for value in self.grid]
        if self.varied == "budget":
            return [replace(self.fixed, budget=value) for value in self.grid]
        return [replace(self.fixed, parameter=value) for value in self.grid]


@dataclass(frozen=True)
class Measurement:
    """The mean error at every point and the slope of the line, each with its standard error.

    ratio : the measured error at the last point divided by the theoretical one, if the theory gives a constant.
    """

    rate: Rate
    errors: tuple[float, ...]
    standard_errors: tuple[float, ...]
    slope: float
    slope_error: float
    ratio: float | None

    @property
    def agrees(self) -> bool:
        """Return whether the measured slope equals that of the theory within the tolerance, or is smaller if the theory
        gives only an upper bound.
        """
        excess = self.slope - self.rate.slope
        return excess <= TOLERANCE and (self.rate.at_most or excess >= -TOLERANCE)


def fit(grid: Iterable[float], errors: Iterable[float], standard_errors: Iterable[float]) -> tuple[float, float]:
    """Return the slope of the least-squares line through the points (ln grid, ln error), and its standard error."""
    t, e, s = np.log(list(grid)), np.array(list(errors)), np.array(list(standard_errors))
    centred = t - t.mean()
    weights = centred / (centred @ centred)
    return float(weights @ np.log(e)), float(np.linalg.norm(weights * s / e))


def measure(rate: Rate, seed: int = 0, progress: Progress = no_progress) -> Measurement:
    """Measure the errors on one grid; the draws at a point depend only on the seed, the name of the rate and the
    point.
    """
    about = mechanism(rate.mechanism)
    keyword = "epsilon" if about.notion.name == "pure" else "rho"
    means, scatters = [], []
    for point in rate.points():
        x = rate.data(point)
        truth = rate.truth(point, x)
        rng = np.random.default_rng(stream(seed, rate.name, repr(point)))
        arguments: dict[str, Any] = {keyword: point.budget, **rate.options}
        if rate.varied in about.parameters:
            arguments[rate.varied] = point.parameter
        errors = [rate.error_of(about.sample(x, rng, **arguments), truth) for _ in range(rate.repeats)]
        means.append(float(np.mean(errors)))
        scatters.append(float(np.std(errors, ddof=1) / math.sqrt(rate.repeats)))
        progress(rate.name, rate.repeats)
    slope, slope_error = fit(rate.grid, means, scatters)
    ratio = means[-1] / rate.constant(rate.points()[-1]) if rate.constant else None
    return Measurement(rate, tuple(means), tuple(scatters), slope, slope_error, ratio)


# DATA


def rows_of(spectrum: np.ndarray[Any, np.dtype[np.float64]], n: int, d: int) -> Matrix:
    """Return n rows along the coordinate axes with second moment close to diag(spectrum), of trace at most 1."""
    counts = np.floor(n * spectrum).astype(int)
    x = np.zeros((n, d))
    x[np.arange(counts.sum()), np.repeat(np.arange(len(counts)), counts)] = 1.0
    return x


def no_signal(point: Point) -> Matrix:
    """Return rows of zeros, for which the output is the noise alone."""
    return np.zeros((point.n, point.d))


def at_the_noise_level(level: Callable[[Point], float]) -> Callable[[Point], Matrix]:
    """Return a function that makes data with equal nonzero eigenvalues, which sum to about 1 and are near the noise
    `level`.
    """

    def data(point: Point) -> Matrix:
        k = min(point.d, max(1, round(1 / level(point))))
        return rows_of(np.full(k, 1 / k), point.n, point.d)

    return data


def spectrum(kappa: float, d: int) -> Matrix:
    """Return the diagonal matrix with eigenvalues from 1 to κ in a geometric series."""
    return np.diag(np.geomspace(1.0, kappa, d))


def _rotation(rng: np.random.Generator, d: int) -> Matrix:
    rotation: Matrix = np.linalg.qr(rng.standard_normal((d, d)))[0]
    return rotation


def normal_rows(point: Point, kappa: float, mean: float) -> Matrix:
    """Return rows drawn from N(μ, Σ), where Σ has eigenvalues from 1 to κ in random directions and ‖μ‖ is `mean`."""
    rng = np.random.default_rng(DATA_SEED)
    rotation = _rotation(rng, point.d)
    rows: Matrix = rng.standard_normal((point.n, point.d)) * np.sqrt(np.diag(spectrum(kappa, point.d))) @ rotation.T
    return rows + mean * rotation[:, 0]


def normal_parameters(point: Point, kappa: float, mean: float) -> Matrix:
    """Return the parameters of `normal_rows`: the mean μ stacked on the covariance Σ, of shape (d + 1, d)."""
    rotation = _rotation(np.random.default_rng(DATA_SEED), point.d)
    covariance = rotation @ spectrum(kappa, point.d) @ rotation.T
    return np.vstack([mean * rotation[:, 0], covariance])


def relative_to_covariance(output: Matrix, truth: Matrix) -> float:
    """Return ‖Σ^{−1/2}(Σ̂ − Σ)Σ^{−1/2}‖_F for a matrix Σ̂, and ‖Σ^{−1/2}(μ̂ − μ)‖ for a vector μ̂; `truth` is μ on top
    of Σ.
    """
    mean, covariance = truth[0], truth[1:]
    values, vectors = np.linalg.eigh(covariance)
    whitener = (vectors / np.sqrt(values)).T
    if output.ndim == 1:
        return float(np.linalg.norm(whitener @ (output - mean)))
    return float(np.linalg.norm(whitener @ (output - covariance) @ whitener.T))
