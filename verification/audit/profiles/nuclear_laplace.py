"""How to audit nuclear-Laplace perturbation, full and symmetric."""

import numpy as np

from covassay.reference.domain import Matrix, Vector, second_moment
from covassay.reference.laws import nuclear_laplace as law
from covassay.reference.mechanisms.output import OUTPUTS
from covassay.reference.mechanisms.pure.nuclear_laplace import noise_scale
from covassay.verification.audit.engine.contract import example_rows
from covassay.verification.audit.engine.events import Pair, Statistic, generic_statistics
from covassay.verification.audit.engine.law import Scenario
from covassay.verification.audit.engine.shapes import Shapes, grid
from covassay.verification.audit.profiles.noise import SHAPE_TESTS, noise_suspects, noise_tests, scale_estimate
from covassay.verification.audit.profiles.profile import ClaimUnderAudit, Profile, common_pairs

N = 12
DIMENSIONS = (1, 2, 3, 6)


def likelihood_ratio(first: Matrix, second: Matrix, scale: float, shape_gap: float) -> Statistic:
    """The exact log likelihood ratio. `shape_gap` is k − D for noise whose Gamma shape is k in place of D."""
    a, b = second_moment(first), second_moment(second)

    def values(y: Matrix) -> Vector:
        near, far = law.nuclear_norm(y - a), law.nuclear_norm(y - b)
        with np.errstate(divide="ignore"):
            radial = shape_gap * (np.log(near) - np.log(far)) if shape_gap else 0.0
        ratio: Vector = radial + (far - near) / scale
        return ratio

    return Statistic("log likelihood ratio", values)


def profile(claim: ClaimUnderAudit) -> Profile:
    """Scenarios and pairs of either mechanism."""
    symmetric, epsilon = claim.mechanism.output.symmetric, claim.budget["epsilon"]
    scenarios = tuple(_scenario(N, d, epsilon, symmetric) for d in DIMENSIONS)
    shapes = Shapes(
        lambda n, d: _scenario(n, d, epsilon, symmetric),
        SHAPE_TESTS,
        lambda d: float(law.radius_shape(d, symmetric)),
        grid(),
    )

    def pairs(fitted: frozenset[str]) -> tuple[Pair, ...]:
        def statistics(first: Matrix, second: Matrix) -> tuple[Statistic, ...]:
            d = first.shape[1]
            gap = float(law.radius_shape(d, not symmetric) - law.radius_shape(d, symmetric))
            ratio = likelihood_ratio(
                first, second, noise_scale(len(first), epsilon), gap if "gamma-shape" in fitted else 0.0
            )
            return (ratio, *generic_statistics(first, second, OUTPUTS["matrix"])[:1])

        return common_pairs(OUTPUTS["matrix"], statistics, (1, 2, 3))

    return Profile(claim.form, scenarios, pairs, shapes=shapes)


def _scenario(n: int, d: int, epsilon: float, symmetric: bool) -> Scenario:
    x, scale = example_rows(n, d), noise_scale(n, epsilon)
    tests, suspects = noise_tests(x, scale, symmetric), noise_suspects(x, scale, symmetric)
    return Scenario(f"d={d}", x, tests, suspects, (scale_estimate(x, scale, symmetric),))
