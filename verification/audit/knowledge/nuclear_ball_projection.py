"""The audit tests the nuclear-ball projection on three kinds of data, and knows an exact law on two of them.

Let Σ be the second moment, ρZ the matrix noise, and bL the Laplace noise that is added to the radius of the ball. If
the noisy second moment lies inside the ball, the output is Σ + ρZ, which shows the matrix noise. On zero rows the
output has the nuclear norm min(‖ρZ‖_*, max(0, bL)), which shows the noisy radius. On small data the output depends on
both noises, so draws of the target are compared with draws of the reference.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from covassay.reference.domain import Matrix, Vector, second_moment
from covassay.reference.laws import nuclear_laplace
from covassay.reference.mechanisms.output import OUTPUTS
from covassay.reference.mechanisms.pure import nuclear_ball_projection as mechanism
from covassay.verification.audit.engine.contract import example_rows
from covassay.verification.audit.engine.law import Scenario, Suspect, Test
from covassay.verification.audit.engine.shapes import COLUMNS, Shapes
from covassay.verification.audit.knowledge.known import Known
from covassay.verification.audit.knowledge.shared import nuclear_noise
from covassay.verification.audit.knowledge.shared.data_paths import SAME_MOMENT, NotAdditive
from covassay.verification.audit.knowledge.shared.noise_entries import with_entries
from covassay.verification.audit.knowledge.shared.profile import ClaimUnderAudit, KnownLaw, common_pairs
from covassay.verification.audit.knowledge.shared.reference_draws import against
from covassay.verification.statistics.streams import stream
from covassay.verification.statistics.tests import TestResult, kolmogorov_smirnov

# with this value of nε, the radius 2 tr Σ of the ball exceeds the nuclear norm of Σ by far more than both noises
LOOSE_ROWS = 2000
MOST_COLUMNS = 8  # for more columns than this, the matrix noise is nearly as large as the radius of the ball
ROUNDING = 1e-12  # a nuclear norm of 0 may be computed as a number up to this, because of rounding

STATISTICS: dict[str, Callable[[Matrix], Vector]] = {
    "nuclear norm": nuclear_laplace.nuclear_norm,
    "spectral norm": lambda y: np.linalg.norm(y, 2, axis=(1, 2)),
    "trace": lambda y: np.trace(y, axis1=1, axis2=2),
    "entry (1, 2)": lambda y: y[:, 0, 1],
}


def _radius_cdf(t: Vector, d: int, rho: float, b: float) -> Vector:
    """Return the distribution function of min(‖ρZ‖_*, max(0, bL)), which is 0 with probability ½."""
    survival = (1 - nuclear_laplace.nuclear_norm_cdf(d, t / rho)) * np.exp(-np.maximum(t, 0) / b) / 2
    return np.where(t < 0, 0.0, 1 - survival)


def loose_rows(d: int, epsilon: float) -> Matrix:
    """Return rows with so large a trace that the projection onto the nuclear ball changes nothing."""
    return np.tile(np.eye(d), (int(np.ceil(LOOSE_ROWS / epsilon)) // d + 1, 1))


def matrix_noise(d: int, epsilon: float, calibration: str) -> Scenario:
    """Return data on which the projection onto the nuclear ball changes nothing, and tests of the matrix noise in the
    outputs on these data.
    """
    x = loose_rows(d, epsilon)
    scale = mechanism.matrix_scale(len(x), epsilon, calibration)
    seen = nuclear_noise.noise_scenario(f"ball does not bind, d={d}", x, x, scale, symmetric=False)
    return with_entries(seen, second_moment(x), symmetric=False, independent=False)


def noisy_radius(epsilon: float, calibration: str) -> Scenario:
    """Return zero rows, with the test that the nuclear norm of the output is min(‖ρZ‖_*, max(0, bL))."""
    x = np.zeros((4, 2))
    rho = mechanism.matrix_scale(4, epsilon, calibration)
    b = mechanism.trace_scale(4, epsilon, calibration)

    def radius(factor: float) -> Test:
        def test(outputs: Matrix) -> TestResult:
            values = nuclear_laplace.nuclear_norm(outputs)
            values = np.where(values < ROUNDING, 0.0, values)
            return kolmogorov_smirnov(
                values, lambda t: _radius_cdf(t, 2, rho, b * factor), "‖Y‖_* follows min(‖ρZ‖_*, max(0, bL))"
            )

        return test

    suspects = (
        Suspect.times("half-radius-noise", "the noise of the radius has half the calibrated scale", 0.5, radius),
        Suspect.times("double-radius-noise", "the noise of the radius has twice the calibrated scale", 2.0, radius),
    )
    return Scenario("all rows zero, d=2", x, {"radius": radius(1.0)}, suspects)


def small_data(claim: ClaimUnderAudit) -> Scenario:
    """Return data on which the matrix noise and the noise of the radius matter, with the tests that compare draws with
    the reference."""
    x = example_rows(6, 3)
    epsilon, calibration = claim.budget["epsilon"], claim.options["calibration"]

    @lru_cache(maxsize=4)
    def reference(size: int) -> Matrix:
        rng = np.random.default_rng(stream(claim.seed, "reference", size))
        noise = map(mechanism.NuclearBallProjectionNoise, nuclear_laplace.sample(3, rng, size), rng.laplace(size=size))
        return np.array([mechanism.release(x, z, epsilon=epsilon, calibration=calibration) for z in noise])

    tests = {name: against(f, reference, f"{name} has the reference's law") for name, f in STATISTICS.items()}
    return Scenario("small data, d=3", x, tests)


def law(claim: ClaimUnderAudit) -> KnownLaw:
    """Return the laws on two kinds of data, and the comparison with the reference on the third kind."""
    epsilon, calibration = claim.budget["epsilon"], claim.options["calibration"]
    scenarios = (matrix_noise(2, epsilon, calibration), noisy_radius(epsilon, calibration), small_data(claim))
    shapes = Shapes(
        lambda n, d: matrix_noise(d, epsilon, calibration),
        nuclear_noise.SHAPE_TESTS,
        lambda d: d * d / 5,
        tuple((len(loose_rows(d, epsilon)), d) for d in COLUMNS if d <= MOST_COLUMNS),
    )
    return KnownLaw(scenarios, common_pairs(OUTPUTS["matrix"], dimensions=(1, 2)), shapes)


def many(x: Matrix, size: int, *, rng: np.random.Generator, epsilon: float, **options: Any) -> list[Matrix]:
    """Draw many outputs of the reference, whose noise is drawn in one batch."""
    noise = zip(nuclear_laplace.sample(x.shape[1], rng, size), rng.laplace(size=size), strict=True)
    made = (mechanism.NuclearBallProjectionNoise(z, float(t)) for z, t in noise)
    return [mechanism.release(x, one, epsilon=epsilon, **options) for one in made]


KNOWN = Known(
    law,
    NotAdditive("the noisy matrix is projected onto a ball whose radius is itself drawn", SAME_MOMENT),
    many=many,
    no_choices="the noisy matrix and the noisy radius alone decide what is projected",
)
