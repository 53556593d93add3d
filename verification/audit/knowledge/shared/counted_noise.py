"""Under add-remove adjacency, additive mechanisms release a noisy number of rows and a noisy sum over rows.

The audit knows the data, so it observes the noise of both the number of rows and the sum.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from covassay.reference.domain import Array, Matrix, Vector, unit_rows
from covassay.reference.mechanisms.counted import RowsAndSumOutput
from covassay.verification.audit.engine.contract import example_rows
from covassay.verification.audit.engine.events import Pair, Statistic, generic_statistics
from covassay.verification.audit.engine.features import Feature, contrasts, features
from covassay.verification.audit.engine.law import Scenario, Test
from covassay.verification.audit.engine.shapes import Shapes, grid
from covassay.verification.audit.knowledge.shared.coordinate_noise import vector_noise
from covassay.verification.audit.knowledge.shared.profile import KnownLaw, Pairs
from covassay.verification.statistics.laws import LAPLACE, NORMAL
from covassay.verification.statistics.tests import kolmogorov_smirnov

N = 12
DIMENSIONS = (1, 2, 4)
FAR = 50.0  # the norm of rows that the mechanism must clip


@features.register
def _(output: RowsAndSumOutput, dimension: int) -> Mapping[str, Feature]:
    """Return features of an output: the number of rows, an entry of the sum, and the norm of the sum."""
    return {
        "rows": lambda y: y[:, 0],
        "entry 1 of the sum": lambda y: y[:, 1],
        "norm of the sum": lambda y: np.linalg.norm(y[:, 1:], axis=1),
    }


@contrasts.register
def _(output: RowsAndSumOutput, first: Matrix, second: Matrix) -> Mapping[str, Feature]:
    """Return three features of an output that separate two data sets.

    The features are the noisy number of rows, the scalar product of the noisy sum with the change of the sum between
    the data sets, and the scalar product of the whole output with its change.
    """
    change = query(output, first) - query(output, second)
    return {
        "rows": lambda y: y[:, 0],
        "⟨sum, its change⟩": lambda y: y[:, 1:] @ change[1:],
        "⟨output, its change⟩": lambda y: y @ change,
    }


def query(output: RowsAndSumOutput, x: Matrix) -> Vector:
    """Return the number of rows and the sum of the data without noise."""
    rows = unit_rows(x, fewest=0)
    total: Array = (rows**2).sum(axis=0) if output.entries == "vector" else rows.T @ rows
    return output.packed(float(len(rows)), total)


def pairs(output: RowsAndSumOutput, ratio: Callable[[Matrix, Matrix], Statistic]) -> Pairs:
    """Return neighbours with and without one row, which lies along an axis, in a dense direction, or far outside the
    unit ball.
    """

    def pair(name: str, others: Matrix, row: Vector, weight: float) -> Pair:
        first = np.vstack([others, row])
        statistics = (ratio(first, others), *generic_statistics(first, others, output))
        return Pair(f"{name} comes and goes, d={len(row)}", first, others, statistics, weight)

    made = []
    for d in (1, 2, 3):
        made.append(pair("a row along an axis", np.zeros((2, d)), np.eye(d)[0], 1.0))
        if d > 1:
            made.append(pair("a row of equal entries", np.zeros((2, d)), np.full(d, d**-0.5), 1.0))
    made.append(pair("a row among ordinary ones", example_rows(N, 2), np.eye(2)[1], 0.5))
    made.append(pair(f"a row of norm {FAR:g}", np.zeros((2, 2)), FAR * np.eye(2)[0], 0.25))
    return tuple(made)


@dataclass(frozen=True)
class IndependentNoise:
    """The law of independent noise, Gaussian or Laplace, on the number of rows and on every entry of the sum.

    `scales` takes d and returns the noise scales of the number of rows and of an entry. `halved` says whether the noise
    above the diagonal has half the variance of the noise of diagonal entries.
    """

    output: RowsAndSumOutput
    scales: Callable[[int], tuple[float, float]]
    gaussian: bool
    halved: bool = False

    def spread(self, d: int) -> Vector:
        """Return the noise scale of every entry of an output."""
        count, entry = self.scales(d)
        entries = np.full(self.output.shape(d)[0] - 1, entry)
        if self.halved:
            i, j = np.triu_indices(d)
            entries[i != j] *= 0.5**0.5
        return np.append(count, entries)

    def scenario(self, n: int, d: int) -> Scenario:
        """Return the tests on example rows with the shape (n, d)."""
        x = example_rows(n, d)
        law, power = (NORMAL, 2) if self.gaussian else (LAPLACE, 1)
        return vector_noise(f"n={n}, d={d}", x, query(self.output, x), self.spread(d), law, power)

    def likelihood_ratio(self, first: Matrix, second: Matrix) -> Statistic:
        """Return the log likelihood ratio of the output between two data sets."""
        a, b, spread = query(self.output, first), query(self.output, second), self.spread(first.shape[1])

        def ratio(y: Matrix) -> Vector:
            to_a, to_b = (y - a) / spread, (y - b) / spread
            if self.gaussian:
                return np.asarray(((to_b**2 - to_a**2) / 2).sum(axis=1))
            return np.asarray((np.abs(to_b) - np.abs(to_a)).sum(axis=1))

        return Statistic("log likelihood ratio", ratio)

    @property
    def known(self) -> KnownLaw:
        """Return all that the audit knows of the law of this noise."""
        shapes = Shapes(
            self.scenario, ("all coordinates", "total scale"), lambda d: self.output.shape(d)[0], grid(most_columns=12)
        )
        scenarios = tuple(replace(self.scenario(N, d), weight=1.5) for d in DIMENSIONS)
        return KnownLaw(scenarios, pairs(self.output, self.likelihood_ratio), shapes)


@dataclass(frozen=True)
class MatrixNoise:
    """The law of Laplace noise on the number of rows and of matrix noise on the sum over rows.

    `tests` takes (x, scale) and returns the tests of outputs Σ + noise, where the noise has this scale. `norm` takes
    matrices (size, d, d) and returns their norms. The density of the matrix noise depends on this norm alone.
    """

    output: RowsAndSumOutput
    scales: Callable[[int], tuple[float, float]]
    tests: Callable[[Matrix, float], Scenario]
    norm: Callable[[Matrix], Vector]
    shape_tests: tuple[str, ...]
    units: Callable[[int], float]

    def scenario(self, n: int, d: int) -> Scenario:
        """Return the tests on example rows with the shape (n, d)."""
        x = example_rows(n, d)
        count, scale = self.scales(d)
        known = self.tests(x, scale / n)

        def of_sum(test: Test) -> Test:
            return lambda y: test(self.output.unpacked(y[:, 1:]) / n)

        def rows(factor: float) -> Test:
            null = "the noise of the number of rows is Laplace with the calibrated scale"
            return lambda y: kolmogorov_smirnov((y[:, 0] - n) / (factor * count), LAPLACE, null)

        tests = {**{name: of_sum(test) for name, test in known.tests.items()}, "rows": rows(1.0)}
        suspects = tuple(replace(one, test=of_sum(one.test)) for one in known.suspects)
        estimates = tuple(
            lambda y, estimate=estimate: estimate(self.output.unpacked(y[:, 1:]) / n) for estimate in known.estimates
        )
        return Scenario(f"n={n}, d={d}", x, tests, suspects, estimates)

    def likelihood_ratio(self, first: Matrix, second: Matrix) -> Statistic:
        """Return the log likelihood ratio of the output between two data sets."""
        a, b = query(self.output, first), query(self.output, second)
        count, scale = self.scales(first.shape[1])

        def ratio(y: Matrix) -> Vector:
            near, far = (self.norm(self.output.unpacked(y[:, 1:] - at[1:])) / scale for at in (a, b))
            return np.asarray((np.abs(y[:, 0] - b[0]) - np.abs(y[:, 0] - a[0])) / count + far - near)

        return Statistic("log likelihood ratio", ratio)

    @property
    def known(self) -> KnownLaw:
        """Return all that the audit knows of the law of this noise."""
        shapes = Shapes(self.scenario, (*self.shape_tests, "rows"), self.units, grid(most_columns=12))
        scenarios = tuple(self.scenario(N, d) for d in DIMENSIONS)
        return KnownLaw(scenarios, pairs(self.output, self.likelihood_ratio), shapes)
