"""Test independent noise on the coordinates of a vector, and state the law of mechanisms that add such noise."""

from collections.abc import Callable

import numpy as np

from covassay.reference.domain import Matrix, Vector, second_moment
from covassay.reference.mechanisms.output import OUTPUTS
from covassay.verification.audit.engine.contract import example_rows
from covassay.verification.audit.engine.events import Statistic, generic_statistics
from covassay.verification.audit.engine.law import Scenario, Test
from covassay.verification.audit.engine.shapes import Shapes, grid
from covassay.verification.audit.knowledge.shared.profile import ClaimUnderAudit, KnownLaw, common_pairs
from covassay.verification.audit.knowledge.shared.wrong_scales import ONE_FOR_ROOT_TWO, scale_suspects
from covassay.verification.statistics.laws import Law
from covassay.verification.statistics.tests import (
    TestResult,
    bare_draws,
    gamma_total,
    gamma_totals,
    independence,
    kolmogorov_smirnov,
)

WEIGHT = 3.0  # this factor of the number of draws is large enough to detect a correlation of 0.07 of two coordinates


def vector_noise(name: str, x: Matrix, query: Vector, scale: Vector, law: Law, power: int) -> Scenario:
    """Return the tests of independent noise around the query on x; the noise has the given law, and its own scale for
    each coordinate.

    `power` is 1 for Laplace noise and 2 for Gaussian noise, so that the sum of |noise|^power has a Gamma law.
    """
    d = len(query)

    def coordinate(i: int, factor: float = 1.0) -> Test:
        null = f"coordinate {i + 1} has its exact law"
        return lambda y: kolmogorov_smirnov((y[:, i] - query[i]) / (factor * scale[i]), law, null)

    def all_coordinates(y: Matrix) -> TestResult:
        return kolmogorov_smirnov(((y - query) / scale).ravel(), law, "all coordinates have their exact law")

    def apart(y: Matrix) -> TestResult:
        return independence(y[:, 0], y[:, 1], "the coordinates are independent")

    def total(y: Matrix) -> TestResult:
        sizes = (np.abs((y - query) / scale) ** power).sum(axis=1) / power
        null = f"the sum of |noise|{'²' if power == 2 else ''} over all draws and coordinates has its Gamma law"
        return gamma_total(sizes, d / power, null, power)

    def every_scale(y: Matrix) -> TestResult:
        sizes = np.abs((y - query) / scale) ** power / power
        null = f"for each coordinate, the sum of |noise|{'²' if power == 2 else ''} over n draws has its Gamma law"
        return gamma_totals(sizes, 1 / power, null, power)

    def noisy(y: Matrix) -> TestResult:
        return bare_draws((y - query) / scale)

    tests: dict[str, Test] = {"coordinate 1": coordinate(0), "total scale": total, "all coordinates": all_coordinates}
    tests["noise in every draw"] = noisy
    if d > 1:
        tests |= {"coordinate 2": coordinate(1), "independence": apart, "scale of every coordinate": every_scale}
    suspects = scale_suspects(lambda factor: coordinate(0, factor), ONE_FOR_ROOT_TWO)
    return Scenario(name, x, tests, suspects, weight=WEIGHT)


def statistics(first: Matrix, second: Matrix) -> tuple[Statistic, ...]:
    """Return statistics of an output: its distances from the queries on the two data sets, and the generic
    statistics.
    """
    a, b = np.diag(second_moment(first)), np.diag(second_moment(second))
    closer = Statistic("‖y − f'‖₁ − ‖y − f‖₁", lambda y: np.abs(y - b).sum(axis=1) - np.abs(y - a).sum(axis=1))
    return (*generic_statistics(first, second, OUTPUTS["vector"]), closer)


def law(
    scale: Callable[[ClaimUnderAudit, int, int], float], unit: Law, power: int
) -> Callable[[ClaimUnderAudit], KnownLaw]:
    """Return the law of the columns' second moments plus noise, whose scale the function `scale` computes from n and
    d."""

    def of(claim: ClaimUnderAudit) -> KnownLaw:
        def scenario(n: int, d: int) -> Scenario:
            x = example_rows(n, d)
            moments = np.diag(second_moment(x))
            return vector_noise(f"n={n}, d={d}", x, moments, np.full(d, scale(claim, n, d)), unit, power)

        shapes = Shapes(scenario, ("all coordinates", "total scale"), lambda d: d, grid())
        return KnownLaw((scenario(6, 2),), common_pairs(OUTPUTS["vector"], statistics, dimensions=(1, 2)), shapes)

    return of
