"""The law of the pure variant of SeparateCov is exact on two features whose eigenvalues are far apart.

If the eigenvalues are far apart, the output shows the noisy eigenvalues and the eigenvectors of G = Σ + bW, where Σ is
the second moment and bW a noise matrix. Let `gap` be the difference of the two eigenvalues. The angle φ of the leading
eigenvector satisfies tan 2φ = 2bW₁₂/(gap + b(W₁₁ − W₂₂)), whose law is an integral.
"""

import math
from collections.abc import Callable
from functools import partial

import numpy as np

from covassay.reference.domain import Matrix, Vector
from covassay.reference.mechanisms.output import OUTPUTS
from covassay.reference.mechanisms.pure import separate_cov_pure as mechanism
from covassay.verification.audit.engine.law import Scenario, Suspect, Test
from covassay.verification.audit.knowledge.known import Known
from covassay.verification.audit.knowledge.shared import near_choices, reference_draws
from covassay.verification.audit.knowledge.shared.data_paths import SAME_MOMENT, NotAdditive
from covassay.verification.audit.knowledge.shared.noise_entries import of_steps
from covassay.verification.audit.knowledge.shared.profile import ClaimUnderAudit, KnownLaw, common_pairs
from covassay.verification.statistics.laws import LAPLACE
from covassay.verification.statistics.tests import TestResult, kolmogorov_smirnov

# for this gap of the eigenvalues in noise scales, noise exchanges their order with probability below 1e-15
DISTANCE = 40.0
NODES = 200  # the number of Gauss–Legendre nodes on each half of the integral
NO_ANGLE = 1e9  # the tangent of the angle gets this value if the noise exchanges the two eigenvectors


def tangent_cdf(distance: float) -> Callable[[Vector], Vector]:
    """Return the distribution function of 2W/(distance + V), where W is Laplace(1) and V has the density (1 +
    |v|)e^{−|v|}/4.
    """
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    v = distance * np.concatenate([(nodes - 1) / 2, (nodes + 1) / 2])
    mass = distance / 2 * np.tile(weights, 2) * (1 + np.abs(v)) * np.exp(-np.abs(v)) / 4
    return lambda t: np.clip(LAPLACE(np.multiply.outer(t, distance + v) / 2) @ mass, 0.0, 1.0)


def separated(epsilon: float, calibration: str) -> Scenario:
    """Return rows along two axes, with twice as many rows along the first axis as along the second."""
    matrix, values = mechanism.matrix_scale(1, 2, epsilon, calibration), mechanism.eigenvalue_scale(1, epsilon)
    gap = math.ceil(DISTANCE * max(matrix, values))
    n = 3 * gap
    x = np.repeat(np.eye(2), [2 * gap, gap], axis=0)

    def eigen(outputs: Matrix) -> tuple[Matrix, Matrix]:
        found: tuple[Matrix, Matrix] = np.linalg.eigh((outputs + np.swapaxes(outputs, 1, 2)) / 2)
        return found

    def eigenvalue(i: int, factor: float = 1.0) -> Test:
        null = f"λ̃{i + 1} − λ{i + 1} ~ Laplace(4/(nε))"
        centre = (2 - i) / 3
        return lambda y: kolmogorov_smirnov(n * (eigen(y)[0][:, 1 - i] - centre) / (values * factor), LAPLACE, null)

    def angle(factor: float = 1.0) -> Test:
        cdf = tangent_cdf(gap / (matrix * factor))

        def test(outputs: Matrix) -> TestResult:
            v = eigen(outputs)[1][:, :, 1]
            turned = v[:, 0] ** 2 - v[:, 1] ** 2  # this is positive unless the noise exchanges the two eigenvectors
            tangent = np.where(turned > 0, 2 * v[:, 0] * v[:, 1] / np.where(turned > 0, turned, 1.0), NO_ANGLE)
            return kolmogorov_smirnov(tangent, cdf, "the leading eigenvector is the leading one of Σ + bW")

        return test

    tests: dict[str, Test] = {"eigenvalue 1": eigenvalue(0), "eigenvalue 2": eigenvalue(1), "angle": angle()}
    centres = np.array([2.0, 1.0]) / 3
    tests |= of_steps(2, lambda y: eigen(y)[0][:, ::-1] - centres, lambda y: eigen(y)[1][:, :, ::-1])
    suspects = (
        Suspect.times(
            "half-eigenvalue-noise", "the eigenvalue noise has half the calibrated scale", 0.5, partial(eigenvalue, 0)
        ),
        Suspect.times("half-matrix-noise", "the matrix noise has half the calibrated scale", 0.5, angle),
        Suspect.times("double-matrix-noise", "the matrix noise has twice the calibrated scale", 2.0, angle),
    )
    return Scenario("separated eigenvalues, d=2", x, tests, suspects)


def law(claim: ClaimUnderAudit) -> KnownLaw:
    """Return the laws on separated eigenvalues, and comparisons with the reference on small data."""
    scenarios = (
        separated(claim.budget["epsilon"], claim.options["calibration"]),
        reference_draws.close_eigenvalues(claim, mechanism.eigenvalue_scale(1, claim.budget["epsilon"])),
        reference_draws.scenario(claim, 6, 3, 1.0),
    )
    return KnownLaw(scenarios, common_pairs(OUTPUTS["matrix"]))


KNOWN = Known(
    law,
    NotAdditive("eigenvalues and eigenvectors get noise of their own and are then put together", SAME_MOMENT),
    choices=lambda claim: near_choices.eigenvalue_gaps(mechanism.eigenvalue_scale(1, claim.budget["epsilon"])),
)
