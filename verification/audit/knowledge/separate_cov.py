"""If the eigenvalues are far apart, the output of SeparateCov shows the eigenvalue noise. If two features are equal,
the output of SeparateCov shows the eigenvectors of the matrix noise.

The laws of both noises are exact, because the eigenvalue noises are independent Gaussians, and the tangent of the
doubled angle of an eigenvector is a ratio of Gaussians. On other data, draws of the target are compared with draws of
the reference.
"""

import math
from typing import Any

import numpy as np

from covassay.reference.domain import Matrix, Vector
from covassay.reference.laws.wigner import deviations
from covassay.reference.mechanisms.concentrated import separate_cov as mechanism
from covassay.reference.mechanisms.concentrated.separate_cov import SeparateCovNoise, noise_scale
from covassay.verification.audit.engine.law import Scenario
from covassay.verification.audit.knowledge.known import Known
from covassay.verification.audit.knowledge.shared import near_choices, reference_draws, separated_gaussian
from covassay.verification.audit.knowledge.shared.data_paths import SAME_MOMENT, NotAdditive
from covassay.verification.audit.knowledge.shared.profile import ClaimUnderAudit, KnownLaw
from covassay.verification.statistics.tests import TestResult, cosines, kolmogorov_smirnov


def angle_scenario(ensemble: str) -> Scenario:
    """Return the test of the angle of an eigenvector on two features of equal weight, where the noise matrix W
    determines the angle.

    The angle φ of an eigenvector of W satisfies tan 2φ = 2W₁₂/(W₁₁ − W₂₂), a ratio of independent Gaussians. Whatever
    eigenvalues are released, the output shows the angle φ of an eigenvector.
    """
    x = np.eye(2)
    spread = deviations(2, ensemble)[0, 1] / math.sqrt(0.5)

    def ratio(outputs: Matrix) -> Vector:
        """Return the doubled angle of an eigenvector of each output in [−π/2, π/2], and 0 if the angle is undefined."""
        across, along = 2 * outputs[:, 0, 1], outputs[:, 0, 0] - outputs[:, 1, 1]
        return np.asarray(np.arctan2(across * np.where(along < 0, -1, 1), np.abs(along)))

    def place(t: Vector) -> Vector:
        """Return the distribution function of the doubled angle of an eigenvector at t."""
        return np.asarray(0.5 + np.arctan2(np.sin(t), spread * np.cos(t)) / math.pi)

    def angle(outputs: Matrix) -> TestResult:
        return kolmogorov_smirnov(ratio(outputs), place, "tan 2φ is a ratio of Gaussians")

    def ratio_of_scales(outputs: Matrix) -> TestResult:
        null = "2π F(2φ) is uniform on the circle, where F is the distribution function of 2φ"
        return cosines(2 * math.pi * (place(ratio(outputs)) - 0.5), null)

    tests = {"angle": angle, "ratio of scales": ratio_of_scales}
    return Scenario("two equal features", x, tests, weight=2.0)


def law(claim: ClaimUnderAudit) -> KnownLaw:
    """Return the laws of both noises, comparisons with the reference, and neighbours with separated eigenvalues."""
    rho = claim.budget["rho"]
    exact = (separated_gaussian.scenario(rho), angle_scenario(claim.options["ensemble"]))
    return KnownLaw(
        (*exact, reference_draws.close_eigenvalues(claim, noise_scale(1, rho)), *reference_draws.scenarios(claim)),
        (separated_gaussian.pair(rho), *reference_draws.pairs(claim)),
        separated_gaussian.shapes(rho),
    )


def many(x: Matrix, size: int, *, rng: np.random.Generator, **given: Any) -> Matrix:
    """Draw the noise of one output after the other, and compute all outputs at once."""
    option = {name: given[name] for name in ("ensemble",) if name in given}
    noises = [mechanism.draw_noise(x.shape[1], rng, **option) for _ in range(size)]
    stacked = SeparateCovNoise(np.array([z.matrix for z in noises]), np.array([z.eigenvalues for z in noises]))
    return mechanism.release(x, stacked, **given)


KNOWN = Known(
    law,
    NotAdditive(
        "eigenvalues and eigenvectors get noise of their own and are then put together", SAME_MOMENT, continuous=True
    ),
    many=many,
    choices=lambda claim: near_choices.eigenvalue_gaps(noise_scale(1, claim.budget["rho"])),
)
