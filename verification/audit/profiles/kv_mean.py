"""How to audit the mean of Gaussian columns: KVMean, and NaivePME, which is KVMean with σ = √κ.

On data that are constant but for a few outliers, the fullest bin is certain, and the output is Gaussian about the mean
of the clipped values. The worst neighbours differ in a row far out on one side or on the other.
"""

import math

import numpy as np
from scipy import stats

from covassay.reference.domain import Matrix
from covassay.reference.mechanisms.gaussian_estimation import kv_mean as mechanism
from covassay.reference.mechanisms.output import OUTPUTS
from covassay.reference.sensitivity import neighbours
from covassay.verification.audit.engine.law import Scenario, Suspect, Test
from covassay.verification.audit.engine.privacy import Pair, generic_statistics
from covassay.verification.audit.profiles.naive_pce import FACTORS
from covassay.verification.audit.profiles.profile import ClaimUnderAudit, Profile, common_pairs
from covassay.verification.statistics.tests import TestResult, independence, kolmogorov_smirnov

CERTAINTY = 100.0  # n√ρ per column: the fullest bin leads by 40 deviations
OUTLIERS = 10
FAR = 1e6  # in units of σ


def profile(claim: ClaimUnderAudit) -> Profile:
    """Scenarios and pairs."""

    def parameter(name: str) -> float:
        return float(claim.options.get(name, claim.mechanism.parameters[name]))

    sigma = parameter("sigma") if "sigma" in claim.mechanism.parameters else math.sqrt(parameter("kappa"))
    last, beta = mechanism.last_bin(parameter("mean_bound"), sigma), parameter("beta")
    d = 4
    rho = claim.budget["rho"] / d
    n = math.ceil(CERTAINTY / math.sqrt(rho)) + OUTLIERS
    bins = np.array([last, -(last // 2), 0, -last])  # the bins that hold the constant
    x = np.tile((bins + 0.2) * sigma, (n, 1))
    x[:OUTLIERS] = FAR * sigma
    w = mechanism.half_width(n, sigma, beta / d)
    mean = np.clip(x, bins * sigma - w, bins * sigma + w).mean(axis=0)
    deviation = math.sqrt(mechanism.mean_variance(n, w, rho))

    def component(j: int) -> Test:
        def test(outputs: Matrix) -> TestResult:
            standard = (outputs[:, j] - mean[j]) / deviation
            return kolmogorov_smirnov(standard, stats.norm.cdf, f"component {j + 1} is N(clipped mean, (2w/n)²/ρ)")

        return test

    def radius_squared(factor: float) -> Test:
        def test(outputs: Matrix) -> TestResult:
            standard = (outputs - mean) / (factor * deviation)
            null = f"the squared distance from the clipped mean is χ² with {d} degrees"
            return kolmogorov_smirnov((standard**2).sum(axis=1), stats.chi2(d).cdf, null)

        return test

    def apart(outputs: Matrix) -> TestResult:
        return independence(outputs[:, 0], outputs[:, 1], "the components are independent")

    scenario = Scenario(
        f"constant columns with outliers, d={d}",
        x,
        {
            "radius": radius_squared(1.0),
            "component 1": component(0),
            "component 2": component(1),
            "independence": apart,
        },
        tuple(Suspect(name, text, radius_squared(factor)) for name, factor, text in FACTORS),
    )

    base = np.tile(bins * sigma, (n, 1)).astype(np.float64)
    first, second = neighbours(base, np.full(d, FAR * sigma), np.full(d, -FAR * sigma))
    worst = Pair(
        f"a row far out on either side, d={d}", first, second, generic_statistics(first, second, OUTPUTS["vector"])
    )
    return Profile(claim.form, (scenario,), lambda _: (worst, *common_pairs(OUTPUTS["vector"], weight=0.5)))
