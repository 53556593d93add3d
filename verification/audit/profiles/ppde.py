"""How to audit the learner of product distributions.

One coordinate has no rounds: the output is a Gaussian about the mean, clipped to [0, 1]. Eight coordinates of mean 1/2
are done in the first round but with probability below 1e-9, and the output is the noisy mean of the first quarter of
the records.
"""

import math
from collections.abc import Callable

import numpy as np
from scipy import stats

from covassay.reference.domain import Matrix, Vector
from covassay.reference.mechanisms.gaussian_estimation import ppde as mechanism
from covassay.reference.mechanisms.output import OUTPUTS
from covassay.reference.sensitivity import neighbours
from covassay.verification.audit.engine.law import Scenario, Suspect, Test
from covassay.verification.audit.engine.privacy import Pair, generic_statistics
from covassay.verification.audit.profiles.naive_pce import FACTORS
from covassay.verification.audit.profiles.profile import ClaimUnderAudit, Profile, common_pairs
from covassay.verification.statistics.tests import TestResult, independence, kolmogorov_smirnov

DIMENSION = 8
RECORDS = 500.0  # m√ρ of the first round: its noise is below (1/2 − 3/16)/9


def profile(claim: ClaimUnderAudit) -> Profile:
    """Scenarios and pairs."""
    rho, calibration = claim.budget["rho"], claim.options["calibration"]
    beta = float(claim.options.get("beta", claim.mechanism.parameters["beta"]))

    def deviation(bound_squared: float, size: int, m: int) -> float:
        change = mechanism.change_squared(bound_squared, size, calibration)
        return math.sqrt(mechanism.noise_variance(change, m, rho))

    def component(j: int, s: float, factor: float = 1.0) -> Test:
        def cdf(t: Vector) -> Vector:
            return np.where(t < 0, 0.0, np.where(t >= 1, 1.0, stats.norm.cdf(t, 0.5, factor * s)))

        def test(outputs: Matrix) -> TestResult:
            return kolmogorov_smirnov(outputs[:, j], cdf, f"component {j + 1} is clip(N(1/2, s²), 0, 1)")

        return test

    def radius_squared(s: float, factor: float) -> Test:
        def test(outputs: Matrix) -> TestResult:
            squares = ((outputs - 0.5) ** 2).sum(axis=1) / (factor * s) ** 2
            null = f"the squared distance from the mean is χ² with {DIMENSION} degrees"
            return kolmogorov_smirnov(squares, stats.chi2(DIMENSION).cdf, null)

        return test

    def apart(outputs: Matrix) -> TestResult:
        return independence(outputs[:, 0], outputs[:, 1], "the components are independent")

    def suspects(test: Callable[[float], Test]) -> tuple[Suspect, ...]:
        return tuple(Suspect(name, text, test(factor)) for name, factor, text in FACTORS)

    n = math.ceil(20 / math.sqrt(rho))
    last = deviation(mechanism.last_truncation_squared(n, beta), 1, n)
    m = math.ceil(RECORDS / math.sqrt(rho))
    rounds = mechanism.most_rounds(DIMENSION)
    first_round = deviation(mechanism.truncation_squared(0.5, DIMENSION, m, rounds, beta), DIMENSION, m)
    scenarios = (
        Scenario(
            "one coordinate, d=1",
            np.full((n, 1), 0.5),
            {"component 1": component(0, last)},
            suspects(lambda factor: component(0, last, factor)),
        ),
        Scenario(
            f"done in the first round, d={DIMENSION}",
            np.full(((rounds + 1) * m, DIMENSION), 0.5),
            {
                "radius": radius_squared(first_round, 1.0),
                "component 1": component(0, first_round),
                "component 2": component(1, first_round),
                "independence": apart,
            },
            suspects(lambda factor: radius_squared(first_round, factor)),
        ),
    )
    first, second = neighbours(np.full((n - 1, 1), 0.5), np.ones(1), np.zeros(1))
    worst = Pair("a one against a zero, d=1", first, second, generic_statistics(first, second, OUTPUTS["vector"]))
    return Profile(claim.form, scenarios, lambda _: (worst, *common_pairs(OUTPUTS["vector"], weight=0.5)))
