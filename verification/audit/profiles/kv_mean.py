"""How to audit the mean of Gaussian columns: KVMean, and NaivePME, which is KVMean with σ = √κ.

On data that are constant but for a few outliers, the fullest bin is certain, and the output is Gaussian about the mean
of the clipped values. The worst neighbours differ in a row that is far out on one side or on the other.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy import stats

from covassay.reference.domain import Matrix, Vector
from covassay.reference.mechanisms.gaussian_estimation import kv_mean as mechanism
from covassay.reference.mechanisms.output import OUTPUTS
from covassay.reference.sensitivity import neighbours
from covassay.verification.audit.engine.law import Scenario, Test
from covassay.verification.audit.engine.privacy import Pair, generic_statistics
from covassay.verification.audit.profiles.noise_entries import with_entries
from covassay.verification.audit.profiles.profile import ClaimUnderAudit, Profile, common_pairs
from covassay.verification.audit.profiles.wrong_scales import scale_suspects
from covassay.verification.statistics.tests import TestResult, gamma_total, independence, kolmogorov_smirnov

DIMENSION = 4
CERTAINTY = 100.0  # n√ρ for each column: the fullest bin leads by 40 deviations
OUTLIERS = 10
FAR = 1e6  # in units of σ
INSIDE = 0.2  # the constant lies this far from the middle of its bin, in units of σ


@dataclass(frozen=True)
class ConstantColumns:
    """The data set, and the Gaussian law of the output on it."""

    x: Matrix
    mean: Vector
    deviation: float

    def component(self, j: int) -> Test:
        """The test that one component is Gaussian about its clipped mean."""
        null = f"component {j + 1} is N(clipped mean, (2w/n)²/ρ)"
        return lambda outputs: kolmogorov_smirnov((outputs[:, j] - self.mean[j]) / self.deviation, stats.norm.cdf, null)

    def radius_squared(self, factor: float) -> Test:
        """The test that the squared distance from the mean is χ², if the noise has that multiple of its scale."""
        null = f"the squared distance from the clipped mean is χ² with {DIMENSION} degrees"

        def test(outputs: Matrix) -> TestResult:
            standard = (outputs - self.mean) / (factor * self.deviation)
            return kolmogorov_smirnov((standard**2).sum(axis=1), stats.chi2(DIMENSION).cdf, null)

        return test

    def total(self, outputs: Matrix) -> TestResult:
        """The sum of the squared distances over all draws is χ²."""
        squares = (((outputs - self.mean) / self.deviation) ** 2).sum(axis=1)
        null = f"the sum of the squared distances over n draws is χ² with {DIMENSION} n degrees"
        return gamma_total(squares / 2, DIMENSION / 2, null, power=2)

    def independence(self, outputs: Matrix) -> TestResult:
        """Two components are independent."""
        return independence(outputs[:, 0], outputs[:, 1], "the components are independent")

    def scenario(self) -> Scenario:
        """The tests and suspects."""
        tests: dict[str, Test] = {
            "radius": self.radius_squared(1.0),
            "total scale": self.total,
            "component 1": self.component(0),
            "component 2": self.component(1),
            "independence": self.independence,
        }
        name = f"constant columns with outliers, d={DIMENSION}"
        seen = Scenario(name, self.x, tests, scale_suspects(self.radius_squared))
        return with_entries(seen, self.mean, symmetric=False, independent=True)


def constant_columns(n: int, bins: Vector, sigma: float, beta: float, rho: float) -> ConstantColumns:
    """n rows inside the given bins, some of them moved far out; ρ is the budget of one column."""
    x = np.tile((bins + INSIDE) * sigma, (n, 1))
    x[:OUTLIERS] = FAR * sigma
    w = mechanism.half_width(n, sigma, beta / DIMENSION)
    mean = np.clip(x, bins * sigma - w, bins * sigma + w).mean(axis=0)
    return ConstantColumns(x, mean, math.sqrt(mechanism.mean_variance(n, w, rho)))


def worst_pair(n: int, bins: Vector, sigma: float) -> Pair:
    """Neighbours that differ in one row, which lies far out on one side or on the other."""
    base = np.tile(bins * sigma, (n, 1)).astype(np.float64)
    first, second = neighbours(base, np.full(DIMENSION, FAR * sigma), np.full(DIMENSION, -FAR * sigma))
    name = f"a row far out on either side, d={DIMENSION}"
    return Pair(name, first, second, generic_statistics(first, second, OUTPUTS["vector"]))


def profile(claim: ClaimUnderAudit) -> Profile:
    """Scenarios and pairs of either mechanism."""
    sigma = claim.parameter("sigma") if "sigma" in claim.mechanism.parameters else math.sqrt(claim.parameter("kappa"))
    last = mechanism.last_bin(claim.parameter("mean_bound"), sigma)
    bins = np.array([last, -(last // 2), 0, -last])  # the bins that hold the constant
    rho = claim.budget["rho"] / DIMENSION
    n = math.ceil(CERTAINTY / math.sqrt(rho)) + OUTLIERS
    scenario = constant_columns(n, bins, sigma, claim.parameter("beta"), rho).scenario()
    pairs = (worst_pair(n, bins, sigma), *common_pairs(OUTPUTS["vector"], weight=0.5))
    return Profile(claim.form, (scenario,), lambda _: pairs)
