"""The law of the learner of product distributions is known exactly if the first round alone, or the last round alone,
estimates the whole mean.

On data with one coordinate the mechanism skips all rounds but the last, and the output is a Gaussian about the mean,
clipped to [0, 1]. If eight coordinates have the mean 1/2, the first round estimates all of them, except with
probability below 1e-9. If the first round estimates all coordinates, the output is the noisy mean of the records that
the first round uses.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from covassay.reference.domain import Matrix, Vector
from covassay.reference.mechanisms.gaussian_estimation import ppde as mechanism
from covassay.reference.mechanisms.output import OUTPUTS
from covassay.reference.sensitivity import neighbours
from covassay.verification.audit.engine.events import Pair, generic_statistics
from covassay.verification.audit.engine.law import Scenario, Test
from covassay.verification.audit.knowledge.known import Known
from covassay.verification.audit.knowledge.shared import near_choices
from covassay.verification.audit.knowledge.shared.coordinate_noise import vector_noise
from covassay.verification.audit.knowledge.shared.data_paths import SAME_IN_THE_CUBE, NotAdditive
from covassay.verification.audit.knowledge.shared.noise_entries import with_entries
from covassay.verification.audit.knowledge.shared.profile import ClaimUnderAudit, KnownLaw, common_pairs
from covassay.verification.audit.knowledge.shared.wrong_scales import scale_suspects
from covassay.verification.statistics.laws import NORMAL, chi_square
from covassay.verification.statistics.tests import TestResult, independence, kolmogorov_smirnov

DIMENSION, FEW_COLUMNS = 8, 4
# with this value of m√ρ for m records in the first round, the noise of this round has a standard deviation below
# (1/2 − 3/16)/9
RECORDS = 500.0
RECORDS_OF_ONE = 20.0  # with this value of n√ρ and one coordinate, some outputs are clipped to [0, 1]


@dataclass(frozen=True)
class TruncatedMeanNoise:
    """The parameters that determine the noise scale of a mean of truncated records."""

    rho: float
    beta: float
    calibration: str

    def deviation(self, bound_squared: float, size: int, m: int) -> float:
        """Return the standard deviation of the noise on the mean of m records that are truncated to a given norm."""
        change = mechanism.change_squared(bound_squared, size, self.calibration)
        return math.sqrt(mechanism.noise_variance(change, m, self.rho))


def component(j: int, deviation: float, factor: float = 1.0) -> Test:
    """Return the test of one component of the output. The tested law is N(1/2, s²) clipped to [0, 1], where s is the
    number `deviation` multiplied by `factor`.
    """

    def cdf(t: Vector) -> Vector:
        return np.where(t < 0, 0.0, np.where(t >= 1, 1.0, ndtr((t - 0.5) / (factor * deviation))))

    null = f"component {j + 1} is clip(N(1/2, s²), 0, 1)"
    return lambda outputs: kolmogorov_smirnov(outputs[:, j], cdf, null)


def radius_squared(deviation: float, factor: float) -> Test:
    """Return the test that the squared distance of an output from the mean, in noise scales, is χ², if the noise scale
    is multiplied by `factor`.
    """
    null = f"the squared distance from the mean is χ² with {DIMENSION} degrees"

    def test(outputs: Matrix) -> TestResult:
        squares = ((outputs - 0.5) ** 2).sum(axis=1) / (factor * deviation) ** 2
        return kolmogorov_smirnov(squares, chi_square(DIMENSION), null)

    return test


def apart(outputs: Matrix) -> TestResult:
    """Test that two components are independent."""
    return independence(outputs[:, 0], outputs[:, 1], "the components are independent")


def one_coordinate(about: TruncatedMeanNoise, n: int) -> Scenario:
    """Return n records whose only coordinate is 1/2."""
    last = about.deviation(mechanism.last_truncation_squared(n, about.beta), 1, n)
    return Scenario(
        "one coordinate, d=1",
        np.full((n, 1), 0.5),
        {"component 1": component(0, last)},
        scale_suspects(lambda factor: component(0, last, factor)),
    )


def first_round(about: TruncatedMeanNoise) -> Scenario:
    """Return records whose eight coordinates are all 1/2."""
    m = math.ceil(RECORDS / math.sqrt(about.rho))
    rounds = mechanism.most_rounds(DIMENSION)
    deviation = about.deviation(mechanism.truncation_squared(0.5, DIMENSION, m, rounds, about.beta), DIMENSION, m)
    tests: dict[str, Test] = {
        "radius": radius_squared(deviation, 1.0),
        "component 1": component(0, deviation),
        "component 2": component(1, deviation),
        "independence": apart,
    }
    seen = Scenario(
        f"done in the first round, d={DIMENSION}",
        np.full(((rounds + 1) * m, DIMENSION), 0.5),
        tests,
        scale_suspects(lambda factor: radius_squared(deviation, factor)),
    )
    return with_entries(seen, np.full(DIMENSION, 0.5), symmetric=False, independent=True)


def last_round(about: TruncatedMeanNoise) -> Scenario:
    """Return records whose only coordinate is 1/2, so many that clipping to [0, 1] changes nothing."""
    n = math.ceil(RECORDS / math.sqrt(about.rho))
    deviation = about.deviation(mechanism.last_truncation_squared(n, about.beta), 1, n)
    return vector_noise("the last round, d=1", np.full((n, 1), 0.5), np.full(1, 0.5), np.full(1, deviation), NORMAL, 2)


def worst_pair(n: int) -> Pair:
    """Return neighbours that differ in one coordinate, which is 1 in one record and 0 in the other."""
    first, second = neighbours(np.full((n - 1, 1), 0.5), np.ones(1), np.zeros(1))
    return Pair("a one against a zero, d=1", first, second, generic_statistics(first, second, OUTPUTS["vector"]))


def law(claim: ClaimUnderAudit) -> KnownLaw:
    """Return the laws for one coordinate, with and without clipping, and the law for eight coordinates."""
    about = TruncatedMeanNoise(claim.budget["rho"], claim.parameter("beta"), claim.options["calibration"])
    n = math.ceil(RECORDS_OF_ONE / math.sqrt(about.rho))
    scenarios = (one_coordinate(about, n), last_round(about), first_round(about))
    return KnownLaw(scenarios, (worst_pair(n), *common_pairs(OUTPUTS["vector"], weight=0.5)))


def near_the_first_threshold(claim: ClaimUnderAudit) -> near_choices.Choices:
    """Return data sets of equal records. Every coordinate lies near the threshold of the first round."""
    about = TruncatedMeanNoise(claim.budget["rho"], claim.parameter("beta"), claim.options["calibration"])
    m, rounds = math.ceil(RECORDS / math.sqrt(about.rho)), mechanism.most_rounds(FEW_COLUMNS)
    squared = mechanism.truncation_squared(0.5, FEW_COLUMNS, m, rounds, about.beta)
    deviation = about.deviation(squared, FEW_COLUMNS, m)

    def at(k: float) -> Matrix:
        return np.full(((rounds + 1) * m, FEW_COLUMNS), mechanism.threshold(1) + k * deviation)

    return near_choices.at_scales("the threshold of the first round", at)


KNOWN = Known(
    law,
    NotAdditive("noisy answers of one round decide which coordinates are estimated in the next", SAME_IN_THE_CUBE),
    choices=near_the_first_threshold,
)
