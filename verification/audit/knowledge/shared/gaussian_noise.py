"""Test symmetric Gaussian noise on a second moment, and state the law of mechanisms that add such noise.

Let Y be the output, Σ the second moment and σ the noise scale. The audit knows the data, so it observes the
standardised noise E = (Y − Σ)/σ, whose law is known exactly. The entries of the noise E on and above the diagonal are
independent and Gaussian, and the sum of their standardised squares is χ². A rotation of the noise matrix E again has
Gaussian entries of known variance.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from covassay.reference.domain import Matrix, Vector, second_moment
from covassay.reference.laws.wigner import deviations
from covassay.reference.mechanisms.output import OUTPUTS
from covassay.verification.audit.engine.contract import example_rows
from covassay.verification.audit.engine.events import Statistic, generic_statistics
from covassay.verification.audit.engine.law import Scenario, Suspect, Test
from covassay.verification.audit.engine.shapes import Shapes, grid
from covassay.verification.audit.knowledge.shared.nuclear_noise import interval_meaning
from covassay.verification.audit.knowledge.shared.profile import ClaimUnderAudit, KnownLaw, Statistics, common_pairs
from covassay.verification.audit.knowledge.shared.wrong_scales import ONE_FOR_ROOT_TWO, scale_suspects
from covassay.verification.statistics.laws import NORMAL, chi_square
from covassay.verification.statistics.tests import (
    TestResult,
    bare_draws,
    gamma_scale,
    gamma_total,
    gamma_totals,
    independence,
    kolmogorov_smirnov,
)

CONFIDENCE = 0.999
N = 12
DIMENSIONS = {1: 1.0, 2: 1.0, 4: 2.0}  # the tests use data with these numbers of columns, with these weights
SHAPE_TESTS = "squared norm", "all entries", "total scale"
SEPARATED_MOST = 12  # data with separated eigenvalues need too many rows in higher dimensions


@dataclass(frozen=True)
class GaussianNoise:
    """The noise on data with the second moment `moment`, and its tests."""

    moment: Matrix
    scale: float
    ensemble: str

    @property
    def spread(self) -> Matrix:
        """Return the standard deviation of every entry of the standardised noise."""
        return deviations(len(self.moment), self.ensemble)

    def residuals(self, outputs: Matrix) -> Matrix:
        """Return the noise (Y − Σ)/σ for every output Y, where Σ is the second moment."""
        noise: Matrix = (outputs - self.moment) / self.scale
        return noise

    def entry(self, row: int, column: int) -> Test:
        """Return the test that the noise of one entry is Gaussian with its variance."""
        null = f"entry ({row + 1}, {column + 1}) of the noise is Gaussian with the variance of {self.ensemble}"
        cdf = NORMAL.scaled(self.spread[row, column])
        return lambda outputs: kolmogorov_smirnov(self.residuals(outputs)[:, row, column], cdf, null)

    def entries(self, outputs: Matrix) -> TestResult:
        """Test that the standardised noise of all entries on and above the diagonal is Gaussian."""
        i, j = np.triu_indices(len(self.moment))
        values = (self.residuals(outputs)[:, i, j] / self.spread[i, j]).ravel()
        null = f"all entries of the noise are Gaussian with the variances of {self.ensemble}"
        return kolmogorov_smirnov(values, NORMAL, null)

    def squares(self, outputs: Matrix) -> Vector:
        """Return, for every output, the sum of the squared standardised noise on and above the diagonal."""
        i, j = np.triu_indices(len(self.moment))
        total: Vector = ((self.residuals(outputs)[:, i, j] / self.spread[i, j]) ** 2).sum(axis=1)
        return total

    def squared_norm(self, outputs: Matrix) -> TestResult:
        """Test that the sum of the squared standardised noise of one output is χ²."""
        entries = len(np.triu_indices(len(self.moment))[0])
        null = f"standardised squares ~ χ²({entries})"
        return kolmogorov_smirnov(self.squares(outputs), chi_square(entries), null)

    def total(self, outputs: Matrix) -> TestResult:
        """Test that the sum of the squared standardised noise over all draws is χ²."""
        entries = len(np.triu_indices(len(self.moment))[0])
        null = f"the sum of the standardised squares over n draws ~ χ²({entries} n)"
        return gamma_total(self.squares(outputs) / 2, entries / 2, null, power=2)

    def every_scale(self, outputs: Matrix) -> TestResult:
        """Test that, for each entry, the sum of the squared noise over all draws is χ²."""
        i, j = np.triu_indices(len(self.moment))
        squares = (self.residuals(outputs)[:, i, j] / self.spread[i, j]) ** 2
        null = "for each entry, the sum of the standardised squares over n draws ~ χ²(n)"
        return gamma_totals(squares / 2, 0.5, null, power=2)

    def noisy(self, outputs: Matrix) -> TestResult:
        """Test that no draw is without noise."""
        return bare_draws(self.residuals(outputs)[:, *np.triu_indices(len(self.moment))])

    def turned_entry(self, outputs: Matrix) -> TestResult:
        """Test that (E₁₁ − E_dd)/2 is Gaussian.

        A rotation of E by 45° in the plane of the first and the last axis moves this number to the entry (1, d).
        """
        e = self.residuals(outputs)
        return kolmogorov_smirnov(
            (e[:, 0, 0] - e[:, -1, -1]) / 2, NORMAL.scaled(math.sqrt(0.5)), "the noise turned by 45° is Gaussian"
        )

    def independence(self, outputs: Matrix) -> TestResult:
        """Test that the noises of a diagonal entry and of an entry off the diagonal are independent."""
        e = self.residuals(outputs)
        return independence(e[:, 0, 0], e[:, 0, -1], "entries (1, 1) and (1, d) are independent")


def noise_tests(moment: Matrix, scale: float, ensemble: str) -> dict[str, Test]:
    """Return the tests, by name, of the noise σW in outputs `moment` + σW."""
    return tests_of(GaussianNoise(moment, scale, ensemble))


def tests_of(noise: GaussianNoise) -> dict[str, Test]:
    """Return the tests of this noise by their names."""
    tests: dict[str, Test] = {"entry (1, 1)": noise.entry(0, 0), "squared norm": noise.squared_norm}
    tests |= {"total scale": noise.total, "noise in every draw": noise.noisy}
    if len(noise.moment) > 1:
        tests |= {
            "entry (1, 2)": noise.entry(0, 1),
            "turned entry": noise.turned_entry,
            "independence": noise.independence,
            "all entries": noise.entries,
            "scale of every entry": noise.every_scale,
        }
    return tests


def noise_suspects(moment: Matrix, scale: float, ensemble: str) -> tuple[Suspect, ...]:
    """Return laws of plausible mistakes, each with a test by the sum of the squared noise."""
    other = "goe" if ensemble == "wigner" else "wigner"

    def squares(factor: float, which: str = ensemble) -> Test:
        return GaussianNoise(moment, scale * factor, which).squared_norm

    suspects = [*scale_suspects(squares, ONE_FOR_ROOT_TWO)]
    if len(moment) > 1:
        text = f"the noise is {other} in place of {ensemble}, which is also private: --options ensemble={other}"
        suspects.append(Suspect("other-ensemble", text, squares(1.0, other), squares))
    return tuple(suspects)


def scale_estimate(moment: Matrix, scale: float, ensemble: str) -> Callable[[Matrix], str]:
    """Return a sentence that states a confidence interval of the noise scale as a multiple of the claimed scale.

    If the interval excludes 1 for the claimed noise ensemble and contains 1 for the other ensemble, the sentence is
    about the other ensemble.
    """
    i, j = np.triu_indices(len(moment))

    def bounds(outputs: Matrix, name: str) -> tuple[float, float]:
        spread = deviations(len(moment), name)[i, j]
        squares = (((outputs - moment)[:, i, j] / (scale * spread)) ** 2).sum(axis=1)
        interval = gamma_scale(squares / 2, len(i) / 2, CONFIDENCE)
        return math.sqrt(interval.lower), math.sqrt(interval.upper)

    def sentence(outputs: Matrix) -> str:
        other = "goe" if ensemble == "wigner" else "wigner"
        of = {name: bounds(outputs, name) for name in (ensemble, other)}
        fitting = [name for name, (lower, upper) in of.items() if lower <= 1 <= upper]
        said = (fitting or [ensemble])[0]
        lower, upper = of[said]
        span = f"{lower:.3f} to {upper:.3f} times the calibrated one at {CONFIDENCE:.1%}"
        return f"noise scale, if {said}: {span}{interval_meaning(lower, upper)}"

    return sentence


def noise_scenario(name: str, x: Matrix, moment: Matrix, scale: float, ensemble: str) -> Scenario:
    """Return the tests of the noise on one data set, laws of plausible mistakes, and an estimate of the noise scale."""
    return Scenario(
        name,
        x,
        noise_tests(moment, scale, ensemble),
        noise_suspects(moment, scale, ensemble),
        (scale_estimate(moment, scale, ensemble),),
    )


def likelihood_ratio(ensemble: str) -> Statistics:
    """Return two statistics: the log likelihood ratio up to a factor and a constant, and the product ⟨Y, Δ⟩ of an
    output Y with the change Δ of the second moment.
    """

    def statistics(first: Matrix, second: Matrix) -> tuple[Statistic, ...]:
        change = second_moment(first) - second_moment(second)
        weights = np.triu(change / deviations(len(change), ensemble) ** 2) * len(first)

        def ratio(y: Matrix) -> Vector:
            values: Vector = np.einsum("nij,ij->n", y, weights)
            return values

        return (
            Statistic("log likelihood ratio, up to a factor", ratio),
            *generic_statistics(first, second, OUTPUTS["matrix"])[:1],
        )

    return statistics


def shapes(scenario: Callable[[int, int], Scenario]) -> Shapes:
    """Return the law for all numbers of rows and columns, as tests on the data sets that `scenario` makes."""
    return Shapes(scenario, SHAPE_TESTS, lambda d: d * (d + 1) / 2 if d <= SEPARATED_MOST else 1, grid())


def law(scale: Callable[[ClaimUnderAudit, int], float]) -> Callable[[ClaimUnderAudit], KnownLaw]:
    """Return the law of Σ + σW, where the claim names the ensemble of W, and `scale` computes σ for n rows."""

    def of(claim: ClaimUnderAudit) -> KnownLaw:
        ensemble = claim.options["ensemble"]

        def scenario(n: int, d: int) -> Scenario:
            x = example_rows(n, d)
            return noise_scenario(f"d={d}", x, second_moment(x), scale(claim, n), ensemble)

        scenarios = tuple(replace(scenario(N, d), weight=weight) for d, weight in DIMENSIONS.items())
        pairs = common_pairs(OUTPUTS["matrix"], likelihood_ratio(ensemble), (1, 2, 3))
        return KnownLaw(scenarios, pairs, shapes(scenario))

    return of
