"""How to audit the nuclear-ball projection.

Three regimes of one mechanism: data for which the ball never binds shows the matrix noise; all-zero data shows the
noisy radius, because the output then has nuclear norm min(‖ρZ‖_*, max(0, bL)); small data has both and is compared
with the reference's own sampler.
"""

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from covassay.reference.domain import Matrix, Vector
from covassay.reference.laws import nuclear_laplace as law
from covassay.reference.mechanisms.output import OUTPUTS
from covassay.reference.mechanisms.pure import nuclear_ball_projection as mechanism
from covassay.verification.audit.engine.contract import example_rows
from covassay.verification.audit.engine.law import Scenario, Suspect, Test
from covassay.verification.audit.profiles.noise import noise_suspects, noise_tests, scale_estimate
from covassay.verification.audit.profiles.profile import ClaimUnderAudit, Profile, common_pairs
from covassay.verification.statistics.streams import stream
from covassay.verification.statistics.tests import TestResult, kolmogorov_smirnov, two_sample

STATISTICS: dict[str, Callable[[Matrix], Vector]] = {
    "nuclear norm": law.nuclear_norm,
    "spectral norm": lambda y: np.linalg.norm(y, 2, axis=(1, 2)),
    "trace": lambda y: np.trace(y, axis1=1, axis2=2),
    "entry (1, 2)": lambda y: y[:, 0, 1],
}


def _radius_cdf(t: Vector, d: int, rho: float, b: float) -> Vector:
    """P(min(‖ρZ‖_*, max(0, bL)) ≤ t): an atom of mass ½ at 0."""
    survival = (1 - law.nuclear_norm_cdf(d, t / rho)) * np.exp(-np.maximum(t, 0) / b) / 2
    return np.where(t < 0, 0.0, 1 - survival)


def profile(claim: ClaimUnderAudit) -> Profile:
    """Scenarios and pairs."""
    epsilon, calibration = claim.budget["epsilon"], claim.options["calibration"]

    d, n = 2, int(np.ceil(2000 / epsilon))
    loose = np.tile(np.eye(d), (n // 2 + 1, 1))
    rho = mechanism.matrix_scale(len(loose), epsilon, calibration)
    matrix_noise = Scenario(
        "ball does not bind, d=2",
        loose,
        noise_tests(loose, rho, symmetric=False),
        noise_suspects(loose, rho, symmetric=False),
        (scale_estimate(loose, rho, symmetric=False),),
    )

    zero = np.zeros((4, 2))
    rho0 = mechanism.matrix_scale(4, epsilon, calibration)
    b0 = mechanism.trace_scale(4, epsilon, calibration)

    def radius(factor: float) -> Test:
        def test(outputs: Matrix) -> TestResult:
            values = law.nuclear_norm(outputs)
            # a nuclear norm of exactly 0 can come back as rounding
            values = np.where(values < 1e-12, 0.0, values)
            return kolmogorov_smirnov(
                values, lambda t: _radius_cdf(t, 2, rho0, b0 * factor), "‖Y‖_* follows min(‖ρZ‖_*, max(0, bL))"
            )

        return test

    noisy_radius = Scenario(
        "all rows zero, d=2",
        zero,
        {"radius": radius(1.0)},
        (
            Suspect("half-radius-noise", "the noise of the radius has half the calibrated scale", radius(0.5)),
            Suspect("double-radius-noise", "the noise of the radius has twice the calibrated scale", radius(2.0)),
        ),
    )

    small = example_rows(6, 3)

    @lru_cache(maxsize=4)
    def reference(size: int) -> Matrix:
        rng = np.random.default_rng(stream(claim.seed, "reference", size))
        noise = map(mechanism.NuclearBallProjectionNoise, law.sample(3, rng, size), rng.laplace(size=size))
        return np.array([mechanism.release(small, z, epsilon=epsilon, calibration=calibration) for z in noise])

    def against_reference(name: str) -> Test:
        statistic = STATISTICS[name]
        return lambda outputs: two_sample(
            statistic(outputs), statistic(reference(len(outputs))), f"{name} as in the reference's draws"
        )

    both = Scenario(
        "small data, d=3",
        small,
        {name: against_reference(name) for name in STATISTICS},
    )

    scenarios = (matrix_noise, noisy_radius, both)
    return Profile(claim.form, scenarios, lambda _: common_pairs(OUTPUTS["matrix"], dimensions=(1, 2)))
