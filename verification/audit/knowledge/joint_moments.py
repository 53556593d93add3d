"""Joint moments are a mean and a second moment, each with Gaussian noise of its own scale. Some tests examine the noise
of the mean, and others that of the second moment.

Let m be the mean, Σ the second moment, m̃ and Σ̃ their noisy versions, and σ₁ and σ₂ the noise scales. The audit knows
the data and observes N = (m̃ − m)/σ₁ and G = (Σ̃ − Σ)/σ₂, whose laws are known exactly. Separate tests detect wrong
noise in the mean or in the second moment, and joint tests detect wrong noise in both. In some of the neighbours the
differing rows are opposite, which changes only the mean. In other neighbours the differing rows attain the joint
sensitivity of mean and second moment for the chosen weight.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from covassay.reference.domain import Matrix, Vector, second_moment
from covassay.reference.mechanisms.concentrated import joint_moments as mechanism
from covassay.reference.mechanisms.output import OUTPUTS
from covassay.reference.sensitivity import neighbours
from covassay.verification.audit.engine.contract import example_rows
from covassay.verification.audit.engine.events import Pair, Statistic, generic_statistics
from covassay.verification.audit.engine.law import Scenario, Suspect, Test
from covassay.verification.audit.engine.shapes import Shapes, grid
from covassay.verification.audit.knowledge.known import Known
from covassay.verification.audit.knowledge.shared.data_paths import QueryPlusNoise
from covassay.verification.audit.knowledge.shared.gaussian_noise import GaussianNoise, tests_of
from covassay.verification.audit.knowledge.shared.nuclear_noise import interval_meaning
from covassay.verification.audit.knowledge.shared.profile import ClaimUnderAudit, KnownLaw, common_pairs
from covassay.verification.statistics.laws import NORMAL, chi_square
from covassay.verification.statistics.tests import TestResult, gamma_scale, gamma_total, kolmogorov_smirnov

N = 12
DIMENSIONS = (1, 2, 4)
CONFIDENCE = 0.999
OF_THE_MOMENT = "squared norm", "total scale", "turned entry", "all entries"
SHAPE_TESTS = "all numbers", "total scale", "total scale of the mean", "total scale of the second moment"
# for this weight the squared joint sensitivity is 1 + weight = 3/2, while it is 4 for opposite rows
ADD_REMOVE = math.sqrt(0.375)


@dataclass(frozen=True)
class JointNoise:
    """The noise on data with a given mean and second moment; `first` and `second` are the two noise scales."""

    mean: Vector
    moment: Matrix
    first: float
    second: float

    @property
    def of_the_moment(self) -> GaussianNoise:
        """Return the law of the noise of the second moment, with its tests."""
        return GaussianNoise(self.moment, self.second, "goe")

    def normals(self, outputs: Matrix) -> Matrix:
        """Return the standardised noise of the mean for every output, as an array (n, d)."""
        values: Matrix = (outputs[:, 0] - self.mean) / self.first
        return values

    def coordinates(self, outputs: Matrix) -> Matrix:
        """Return the standardised noise of every output, which has independent N(0, 1) entries, as an array (n, d + d(d
        + 1)/2)."""
        i, j = np.triu_indices(len(self.mean))
        noise = self.of_the_moment
        entries = noise.residuals(outputs[:, 1:])[:, i, j] / noise.spread[i, j]
        return np.hstack([self.normals(outputs), entries])

    def component(self, outputs: Matrix) -> TestResult:
        """Test that the noise of the first entry of the mean is Gaussian."""
        null = "the noise of the first entry of the mean is Gaussian"
        return kolmogorov_smirnov(self.normals(outputs)[:, 0], NORMAL, null)

    def total(self, numbers: Callable[[Matrix], Matrix], what: str) -> Test:
        """Return the test that the sum of the squares of standardised noise over all draws is χ²."""

        def test(outputs: Matrix) -> TestResult:
            values = numbers(outputs)
            null = f"the sum of the squares of {what} over n draws ~ χ²({values.shape[1]} n)"
            return gamma_total((values**2).sum(axis=1) / 2, values.shape[1] / 2, null, power=2)

        return test

    def all_numbers(self, outputs: Matrix) -> TestResult:
        """Test that the standardised noise of all entries of the mean and of the second moment is Gaussian."""
        return kolmogorov_smirnov(self.coordinates(outputs).ravel(), NORMAL, "all numbers of both noises are Gaussian")

    def squared_norm(self, outputs: Matrix) -> TestResult:
        """Test that the sum of the squared standardised noise of one output is χ²."""
        squares = (self.coordinates(outputs) ** 2).sum(axis=1)
        count = len(self.mean) * (len(self.mean) + 3) // 2
        return kolmogorov_smirnov(squares, chi_square(count), f"the squares of both noises together ~ χ²({count})")

    def tests(self) -> dict[str, Test]:
        """Return the tests of the noise by their names."""

        def below(test: Test) -> Test:
            return lambda outputs: test(outputs[:, 1:])

        of_moment = {name: test for name, test in tests_of(self.of_the_moment).items() if name in OF_THE_MOMENT}
        return {
            "mean 1": self.component,
            "total scale of the mean": self.total(self.normals, "the noise of the mean"),
            "total scale": self.total(self.coordinates, "both noises"),
            **{f"{name} of the second moment": below(test) for name, test in of_moment.items()},
            "both squared norms": self.squared_norm,
            "all numbers": self.all_numbers,
        }

    def scales(self, outputs: Matrix) -> str:
        """Return a sentence that states confidence intervals of both noise scales as multiples of the claimed
        scales.
        """
        coordinates, d = self.coordinates(outputs), len(self.mean)
        said = []
        for name, values in (("mean", coordinates[:, :d]), ("second moment", coordinates[:, d:])):
            interval = gamma_scale((values**2).sum(axis=1) / 2, values.shape[1] / 2, CONFIDENCE)
            lower, upper = math.sqrt(interval.lower), math.sqrt(interval.upper)
            said.append(f"{name} {lower:.3f} to {upper:.3f}{interval_meaning(lower, upper)}")
        return f"noise scales as multiples of the calibrated ones at {CONFIDENCE:.1%}: {'; '.join(said)}"


@dataclass(frozen=True)
class Claimed:
    """The claimed budget ρ and the claimed parameter `weight` of the mechanism, and the laws that follow from them."""

    rho: float
    weight: float

    def scales(self, n: int, d: int) -> tuple[float, float]:
        """Return the noise scale σ₁ of the mean and the noise scale σ₂ of the second moment."""
        made = (scale(n, d, self.rho, self.weight) for scale in (mechanism.mean_scale, mechanism.moment_scale))
        first, second = map(float, made)
        return first, second

    def noise(self, x: Matrix, first: float = 1.0, second: float = 1.0) -> JointNoise:
        """Return the law of the noise on these rows; `first` and `second` multiply the two claimed scales."""
        one, other = self.scales(*x.shape)
        return JointNoise(x.mean(axis=0), second_moment(x), first * one, second * other)

    def scenario(self, n: int, d: int) -> Scenario:
        """Return the tests on example rows with the shape (n, d)."""
        x = example_rows(n, d)
        right = self.noise(x)
        suspects = tuple(
            Suspect(name, text, self.noise(x, *factors).squared_norm, partial(self._times, x, factors))
            for name, text, factors in self.mistakes(d)
        )
        return Scenario(f"d={d}", x, right.tests(), suspects, (right.scales,))

    def _times(self, x: Matrix, factors: tuple[float, float], factor: float) -> Test:
        return self.noise(x, *(factor * one for one in factors)).squared_norm

    def mistakes(self, d: int) -> list[tuple[str, str, tuple[float, float]]]:
        """Return, for each plausible mistake, its name, its explanation and the factors of the two noise scales."""
        lam = float(mechanism.moment_weight(d, self.weight))
        squared = float(mechanism.change_squared(d, self.weight))
        alone = math.sqrt(2 * 4 / squared), math.sqrt(2 * lam * (2 if d > 1 else 1) / squared)
        made = [
            ("half-mean", "the noise of the mean has half the calibrated scale", (0.5, 1.0)),
            ("half-moment", "the noise of the second moment has half the calibrated scale", (1.0, 0.5)),
            ("joint-add-remove", "both noises have the scale that adding or removing one row needs, for d ≥ 2",
             (ADD_REMOVE, ADD_REMOVE)),
            ("half-scale", "both noises have half the calibrated scale: too little noise", (0.5, 0.5)),
            ("double-scale", "both noises have twice the calibrated scale: private but wasteful", (2.0, 2.0)),
            ("two-halves", "the noise is that of two separate releases with ρ/2 each: private, but not this mechanism",
             alone),
            ("own-sensitivities", "each moment has the noise that it would need alone: the budget is spent twice",
             (alone[0] / math.sqrt(2), alone[1] / math.sqrt(2))),
        ]  # fmt: skip
        if d > 1:
            other = math.sqrt(lam / float(mechanism.moment_weight(1, self.weight)))
            text = "the noise of the second moment follows from the weight for one column"
            made.append(("weight-of-one", text, (1.0, other)))
        return made

    def likelihood_ratio(self, first: Matrix, second: Matrix) -> tuple[Statistic, ...]:
        """Return the log likelihood ratio of an output up to a factor and a constant, and the generic statistics."""
        one, other = self.scales(*first.shape)
        direction = first.mean(axis=0) - second.mean(axis=0)
        change = second_moment(first) - second_moment(second)
        top = max(float(np.abs(direction).max()) / one**2, float(np.abs(change).max()) / other**2)

        def ratio(outputs: Matrix) -> Vector:
            of_moment = np.einsum("nij,ij->n", outputs[:, 1:], change / other**2 / top)
            return np.asarray(outputs[:, 0] @ (direction / one**2 / top) + of_moment)

        named = Statistic("log likelihood ratio, up to a factor", ratio)
        return (named, *generic_statistics(first, second, OUTPUTS["moments"]))


def pairs(claimed: Claimed) -> tuple[Pair, ...]:
    """Return neighbours that attain the joint sensitivity, neighbours with opposite rows, and pairs that serve any
    mechanism.
    """
    made: list[Pair] = []
    kinds: list[tuple[str, Callable[[int], tuple[Vector, Vector]]]] = [
        ("opposite rows", lambda d: (np.eye(d)[0], -np.eye(d)[0]))
    ]
    if claimed.weight > 1:
        kinds.append(("rows that attain the joint sensitivity", lambda d: mechanism.worst_rows(d, claimed.weight)))
    for name, rows in kinds:
        for d in (1, 2, 3):
            first, second = neighbours(np.zeros((1, d)), *rows(d))
            made.append(Pair(f"{name}, d={d}", first, second, claimed.likelihood_ratio(first, second)))
    return (*made, *common_pairs(OUTPUTS["moments"], claimed.likelihood_ratio, (1, 2)))


def law(claim: ClaimUnderAudit) -> KnownLaw:
    """Return the law of the noise on both moments, for data with any numbers of rows and columns."""
    claimed = Claimed(claim.budget["rho"], claim.parameter("weight"))
    shapes = Shapes(claimed.scenario, SHAPE_TESTS, lambda d: d * (d + 3) / 2, grid())
    return KnownLaw(tuple(claimed.scenario(N, d) for d in DIMENSIONS), pairs(claimed), shapes)


KNOWN = Known(law, QueryPlusNoise(independent=True), add_remove=ADD_REMOVE)
