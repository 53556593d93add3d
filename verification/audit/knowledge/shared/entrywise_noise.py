"""Test independent Laplace noise on all entries of a second moment, or on the entries on and above the diagonal.

Let Y be the output, Σ the second moment and b the noise scale. The audit knows the data, so it observes the
standardised noise E = (Y − Σ)/b. If the noise E has k independent Laplace(1) entries, its ℓ₁ norm has the law Gamma(k,
1).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from covassay.reference.domain import Matrix, Vector, second_moment
from covassay.reference.mechanisms.output import OUTPUTS
from covassay.reference.sensitivity import block_pair, hadamard_pair, neighbours
from covassay.verification.audit.engine.contract import example_rows
from covassay.verification.audit.engine.events import Pair, Statistic, generic_statistics
from covassay.verification.audit.engine.law import Scenario, Suspect, Test
from covassay.verification.audit.engine.shapes import Shapes, grid
from covassay.verification.audit.knowledge.shared.profile import (
    ClaimUnderAudit,
    KnownLaw,
    Pairs,
    Statistics,
    common_pairs,
)
from covassay.verification.audit.knowledge.shared.wrong_scales import HALF_AND_DOUBLE, scale_suspects
from covassay.verification.statistics.laws import LAPLACE, gamma
from covassay.verification.statistics.tests import (
    TestResult,
    gamma_scale,
    gamma_total,
    gamma_totals,
    independence,
    kolmogorov_smirnov,
)

N = 12
DIMENSIONS = {1: 1.0, 2: 1.0, 4: 2.0}  # the tests use data with these numbers of columns, with these weights
CONFIDENCE = 0.999
SHAPE_TESTS = "entrywise norm", "all entries", "total scale"


def own_entries(d: int, full: bool) -> tuple[NDArray[np.intp], ...]:
    """Return the indices of the entries that have independent noise."""
    return tuple(np.indices((d, d)).reshape(2, -1)) if full else np.triu_indices(d)


@dataclass(frozen=True)
class EntrywiseNoise:
    """The law of the noise on one data set; the noise is symmetric unless `full` is set."""

    x: Matrix
    scale: float
    full: bool

    @property
    def own(self) -> tuple[NDArray[np.intp], ...]:
        """Return the indices of the entries that have independent noise."""
        return own_entries(self.x.shape[1], self.full)

    def residuals(self, outputs: Matrix) -> Matrix:
        """Return the standardised noise E = (Y − Σ)/b for every output Y."""
        noise: Matrix = (outputs - second_moment(self.x)) / self.scale
        return noise

    def l1(self, outputs: Matrix) -> Vector:
        """Return the ℓ₁ norm of those entries of the noise E that are independent."""
        rows, columns = self.own
        total: Vector = np.abs(self.residuals(outputs)[:, rows, columns]).sum(axis=1)
        return total

    def norm(self, factor: float) -> Test:
        """Return the test that the ℓ₁ norm of the noise has its Gamma law, if the noise scale is multiplied by
        `factor`.
        """
        k = len(self.own[0])
        null = f"‖E‖₁ ~ Gamma({k})"
        return lambda y: kolmogorov_smirnov(self.l1(y) / factor, gamma(k), null)

    def total(self, outputs: Matrix) -> TestResult:
        """Test that the sum of the ℓ₁ norms of the noise over all draws has its Gamma law."""
        k = len(self.own[0])
        return gamma_total(self.l1(outputs), k, f"the sum of ‖E‖₁ over n draws ~ Gamma({k} n)")

    def every_scale(self, outputs: Matrix) -> TestResult:
        """Test that, for each entry, the sum of the absolute noise over all draws has its Gamma law."""
        rows, columns = self.own
        sizes = np.abs(self.residuals(outputs)[:, rows, columns])
        return gamma_totals(sizes, 1.0, "for each entry of E, the sum of the absolute values over n draws ~ Gamma(n)")

    def entry(self, i: int, j: int) -> Test:
        """Return the test that the noise of one entry is Laplace."""
        null = f"entry ({i + 1}, {j + 1}) of E ~ Laplace(1)"
        return lambda outputs: kolmogorov_smirnov(self.residuals(outputs)[:, i, j], LAPLACE, null)

    def entries(self, outputs: Matrix) -> TestResult:
        """Test that the noise of all independent entries is Laplace."""
        rows, columns = self.own
        values = self.residuals(outputs)[:, rows, columns].ravel()
        return kolmogorov_smirnov(values, LAPLACE, "all entries of E with noise of their own ~ Laplace(1)")

    def independence(self, outputs: Matrix) -> TestResult:
        """Test that the noise of an entry above the diagonal is independent of the noise of its mirror image.

        If the noise is symmetric, test that the entry is independent of the noise of a diagonal entry.
        """
        e = self.residuals(outputs)
        other, name = (e[:, 1, 0], "(2, 1)") if self.full else (e[:, 0, 0], "(1, 1)")
        return independence(e[:, 0, 1], other, f"entries (1, 2) and {name} are independent")

    def estimate(self, outputs: Matrix) -> str:
        """Return a sentence that states a confidence interval of the noise scale as a multiple of the claimed scale."""
        interval = gamma_scale(self.l1(outputs), len(self.own[0]), CONFIDENCE)
        return f"noise scale: {interval.lower:.3f} to {interval.upper:.3f} times the calibrated one at {CONFIDENCE:.1%}"


def scenario(n: int, d: int, scale: float, epsilon: float, full: bool) -> Scenario:
    """Return example rows of shape (n, d), with the tests of the noise."""
    return noise_scenario(EntrywiseNoise(example_rows(n, d), scale, full), np.sqrt(2) / (n * epsilon) / scale)


def noise_scenario(noise: EntrywiseNoise, frobenius: float) -> Scenario:
    """Return the data set `noise.x` with tests of the noise that a mechanism adds to its second moment.

    `frobenius` is the factor of the noise scale in an implementation that uses the Frobenius sensitivity by mistake.
    """
    d, full = noise.x.shape[1], noise.full
    tests: dict[str, Test] = {"entrywise norm": noise.norm(1.0), "entry (1, 1)": noise.entry(0, 0)}
    tests["total scale"] = noise.total
    if d > 1:
        tests |= {"entry (1, 2)": noise.entry(0, 1), "independence": noise.independence}
        tests |= {"all entries": noise.entries, "scale of every entry": noise.every_scale}
    if d > 1 and full:
        tests["entry (2, 1)"] = noise.entry(1, 0)
    suspects = (
        *scale_suspects(noise.norm, HALF_AND_DOUBLE),
        Suspect.times(
            "frobenius-sensitivity",
            "the scale is √2/(nε), from the Frobenius sensitivity √2/n, but the noise needs the ℓ1 sensitivity",
            frobenius,
            noise.norm,
        ),
    )
    return Scenario(f"d={d}", noise.x, tests, suspects, (noise.estimate,))


Scale = Callable[[ClaimUnderAudit, int, int], float]  # the noise scale takes (claim, n, d) and returns a number b


def law(scale: Scale) -> Callable[[ClaimUnderAudit], KnownLaw]:
    """Return the law of Σ + bE, where E has noise on all entries or on and above the diagonal, according to the claim's
    option `entries`.

    If the claim has no option `entries`, the noise is on and above the diagonal.
    """

    def of(claim: ClaimUnderAudit) -> KnownLaw:
        epsilon, full = claim.budget["epsilon"], claim.options.get("entries") == "full"

        def at(n: int, d: int) -> Scenario:
            return scenario(n, d, scale(claim, n, d), epsilon, full)

        def statistics(first: Matrix, second: Matrix) -> tuple[Statistic, ...]:
            ratio = likelihood_ratio(second_moment(first), second_moment(second), scale(claim, *first.shape), full)
            return (ratio, *generic_statistics(first, second, OUTPUTS["matrix"])[:1])

        scenarios = tuple(replace(at(N, d), weight=weight) for d, weight in DIMENSIONS.items())
        shapes = Shapes(at, SHAPE_TESTS, lambda d: len(own_entries(d, full)[0]), grid())
        return KnownLaw(scenarios, worst_pairs(statistics, full), shapes)

    return of


def likelihood_ratio(a: Matrix, b: Matrix, scale: float, full: bool) -> Statistic:
    """Return the exact log likelihood ratio of the output between two data sets with second moments a and b."""
    own = own_entries(len(a), full)

    def ratio(y: Matrix) -> Vector:
        gap: Vector = (np.abs(y - b) - np.abs(y - a))[:, own[0], own[1]].sum(axis=1) / scale
        return gap

    return Statistic("log likelihood ratio", ratio)


def worst_pairs(statistics: Statistics, full: bool) -> Pairs:
    """Return neighbours that change the entries most in ℓ₁ norm, and pairs that serve any mechanism."""
    worst = []
    for d, weight in ((2, 2.0), (4, 1.0)):  # events with the largest privacy loss are not rare if there are few entries
        first, second = neighbours(np.zeros((1, d)), *(hadamard_pair if full else block_pair)(d))
        worst.append(Pair(f"the worst rows, d={d}", first, second, statistics(first, second), weight))
    return (*worst, *common_pairs(OUTPUTS["matrix"], statistics, (1, 2)))
