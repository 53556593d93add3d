"""How to audit NaivePCE.

Two regimes have exact laws. On zero data in one dimension the output is max(0, σN). On data far inside the positive
semidefinite cone the projection does nothing, and the output is the noisy second moment of the short rows; long rows
among them show whether they are dropped. The worst neighbours are orthogonal rows as long as a row can be.
"""

import math

import numpy as np
from scipy import stats

from covassay.reference.domain import Matrix, Vector, second_moment
from covassay.reference.mechanisms.gaussian_estimation import naive_pce as mechanism
from covassay.reference.mechanisms.output import OUTPUTS
from covassay.reference.sensitivity import neighbours
from covassay.verification.audit.engine.law import Scenario, Suspect, Test
from covassay.verification.audit.engine.privacy import Pair, generic_statistics
from covassay.verification.audit.profiles.profile import ClaimUnderAudit, Profile, common_pairs
from covassay.verification.statistics.tests import TestResult, independence, kolmogorov_smirnov

MARGIN = 150.0  # n√ρ/6 for the data inside the cone: its eigenvalues are then above 60 deviations of the noise

FACTORS = (
    ("half-scale", 0.5, "the noise has half the calibrated scale: too little noise"),
    ("add-remove", math.sqrt(0.5), "the noise is √2 too small: the sensitivity of adding or removing a row"),
    ("root-two", math.sqrt(2), "the noise is √2 too large: private but wasteful"),
    ("double-scale", 2.0, "the noise has twice the calibrated scale: private but wasteful"),
)


def inside_the_cone(n: int, d: int, r: float) -> Matrix:
    """Rows along the axes, 0.9 r long, and every third row far too long."""
    rows = 0.9 * r * np.eye(d)[np.arange(n) % d]
    rows[2::3] = 3 * r / math.sqrt(d)
    return rows


def profile(claim: ClaimUnderAudit) -> Profile:
    """Scenarios and pairs."""
    rho, calibration = claim.budget["rho"], claim.options["calibration"]
    kappa, beta = (claim.options.get(name, claim.mechanism.parameters[name]) for name in ("kappa", "beta"))

    def radius(n: int, d: int) -> float:
        return math.sqrt(mechanism.radius_squared(n, d, kappa, beta))

    def deviation(n: int, d: int) -> float:
        return math.sqrt(mechanism.noise_variance(n, rho, radius(n, d) ** 2, calibration))

    zero = np.zeros((10, 1))

    def positive_part(factor: float) -> Test:
        def test(outputs: Matrix) -> TestResult:
            def cdf(t: Vector) -> Vector:
                return np.where(t < 0, 0.0, stats.norm.cdf(t, scale=factor * deviation(10, 1)))

            return kolmogorov_smirnov(outputs[:, 0, 0], cdf, "Y follows max(0, σN)")

        return test

    n, d = 6 * math.ceil(MARGIN / math.sqrt(rho)), 4
    x = inside_the_cone(n, d, radius(n, d))
    moment = second_moment(mechanism.drop_long(x, radius(n, d)))

    def entry(outputs: Matrix) -> TestResult:
        standard = (outputs[:, 0, 1] - moment[0, 1]) / deviation(n, d)
        return kolmogorov_smirnov(standard, stats.norm.cdf, "Y_12 − M_12 ~ N(0, σ²)")

    def radius_squared(factor: float) -> Test:
        def test(outputs: Matrix) -> TestResult:
            i, j = np.triu_indices(d)
            standard = (outputs - moment)[:, i, j] / (factor * deviation(n, d))
            null = f"Σ_(i≤j) (Y_ij − M_ij)²/σ² ~ χ² with {len(i)} degrees"
            return kolmogorov_smirnov((standard**2).sum(axis=1), stats.chi2(len(i)).cdf, null)

        return test

    def trace(outputs: Matrix) -> TestResult:
        standard = (np.trace(outputs, axis1=1, axis2=2) - np.trace(moment)) / (math.sqrt(d) * deviation(n, d))
        return kolmogorov_smirnov(standard, stats.norm.cdf, "tr Y − tr M ~ N(0, dσ²)")

    def apart(outputs: Matrix) -> TestResult:
        return independence(outputs[:, 0, 0], outputs[:, 0, 1], "Y_11 and Y_12 are independent")

    scenarios = (
        Scenario(
            "all rows zero, d=1",
            zero,
            {"trace": positive_part(1.0)},
            tuple(Suspect(name, text, positive_part(factor)) for name, factor, text in FACTORS),
        ),
        Scenario(
            f"inside the cone, d={d}",
            x,
            {"radius": radius_squared(1.0), "trace": trace, "entry (1, 2)": entry, "independence": apart},
            tuple(Suspect(name, text, radius_squared(factor)) for name, factor, text in FACTORS),
        ),
    )

    base = 0.9 * radius(n + 1, 2) * np.eye(2)[np.arange(n) % 2]
    first, second = neighbours(base, *(0.999 * radius(n + 1, 2) * np.eye(2)))
    worst = Pair(
        "orthogonal rows of length r, d=2", first, second, generic_statistics(first, second, OUTPUTS["matrix"])
    )
    return Profile(claim.form, scenarios, lambda _: (worst, *common_pairs(OUTPUTS["matrix"], weight=0.5)))
