"""How to audit the learner of product distributions.

One coordinate has no rounds: the output is a Gaussian about the mean, clipped to [0, 1]. Two coordinates of mean 1/2
are done in the first round but with probability below 1e-9, and the output is the noisy mean of the first half of the
records.
"""

import math

import numpy as np
from scipy import stats

from covassay.reference.domain import Matrix, Vector
from covassay.reference.mechanisms import ppde as mechanism
from covassay.reference.sensitivity import neighbours
from covassay.verification.audit.law import Scenario, Suspect, Test
from covassay.verification.audit.privacy import Pair, generic_statistics
from covassay.verification.audit.profiles.naive_pce import FACTORS
from covassay.verification.audit.profiles.profile import Claim, Profile, common_pairs
from covassay.verification.statistics.tests import TestResult, independence, kolmogorov_smirnov

RECORDS = 250.0  # m√ρ of the first round: its noise is below (1/2 − 3/16)/6.4


def profile(claim: Claim) -> Profile:
    """Scenarios and pairs."""
    rho, calibration = claim.budget["rho"], claim.options["calibration"]
    beta = float(claim.options.get("beta", claim.about.parameters["beta"]))

    def deviation(bound_squared: float, size: int, m: int) -> float:
        change = mechanism.change_squared(bound_squared, size, calibration)
        return math.sqrt(mechanism.noise_variance(change, m, rho))

    def component(j: int, s: float, factor: float = 1.0) -> Test:
        def cdf(t: Vector) -> Vector:
            return np.where(t < 0, 0.0, np.where(t >= 1, 1.0, stats.norm.cdf(t, 0.5, factor * s)))

        def test(outputs: Matrix) -> TestResult:
            return kolmogorov_smirnov(outputs[:, j], cdf, f"component {j + 1} is clip(N(1/2, s²), 0, 1)")

        return test

    def apart(outputs: Matrix) -> TestResult:
        return independence(outputs[:, 0], outputs[:, 1], "the components are independent")

    def suspects(s: float) -> tuple[Suspect, ...]:
        return tuple(Suspect(name, text, component(0, s, factor)) for name, factor, text in FACTORS)

    n = math.ceil(20 / math.sqrt(rho))
    last = deviation(mechanism.last_truncation_squared(n, beta), 1, n)
    m = math.ceil(RECORDS / math.sqrt(rho))
    round_one = deviation(mechanism.truncation_squared(0.5, 2, m, 1, beta), 2, m)
    scenarios = (
        Scenario("one coordinate, d=1", np.full((n, 1), 0.5), {"component 1": component(0, last)}, suspects(last)),
        Scenario(
            "done in the first round, d=2",
            np.full((2 * m, 2), 0.5),
            {"component 1": component(0, round_one), "component 2": component(1, round_one), "independence": apart},
            suspects(round_one),
        ),
    )
    first, second = neighbours(np.full((n - 1, 1), 0.5), np.ones(1), np.zeros(1))
    worst = Pair("a one against a zero, d=1", first, second, generic_statistics(first, second, "vector"))
    return Profile(claim.form, scenarios, lambda _: (worst, *common_pairs("vector", weight=0.5)))
