"""How to audit noise on the centred covariance.

S is the second moment of the centred rows, so the tests of nuclear-Laplace noise apply to it with this mechanism's
scale. The pairs are the corners of an equilateral triangle, where replacing one row moves S the most.
"""

import numpy as np

from covassay.reference.domain import Matrix
from covassay.reference.laws import nuclear_laplace as law
from covassay.reference.mechanisms.output import OUTPUTS
from covassay.reference.mechanisms.pure.centred_covariance import noise_scale
from covassay.reference.sensitivity import centred_pair
from covassay.verification.audit.engine.contract import example_rows
from covassay.verification.audit.engine.events import Pair, generic_statistics
from covassay.verification.audit.engine.law import Scenario
from covassay.verification.audit.engine.shapes import Shapes, grid
from covassay.verification.audit.profiles.noise import SHAPE_TESTS, noise_suspects, noise_tests, scale_estimate
from covassay.verification.audit.profiles.nuclear_laplace import likelihood_ratio
from covassay.verification.audit.profiles.profile import ClaimUnderAudit, Profile, common_pairs

N = 12
DIMENSIONS = (1, 2, 3, 6)
PAIRS = ((30, 1), (30, 2), (6, 3))  # (n, d)


def centred(x: Matrix) -> Matrix:
    """The rows minus their mean."""
    return np.asarray(x - x.mean(axis=0))


def profile(claim: ClaimUnderAudit) -> Profile:
    """Scenarios and pairs."""
    epsilon = claim.budget["epsilon"]
    scenarios = tuple(_scenario(N, d, epsilon) for d in DIMENSIONS)
    shapes = Shapes(
        lambda n, d: _scenario(n, d, epsilon),
        SHAPE_TESTS,
        lambda d: float(law.radius_shape(d, symmetric=True)),
        grid(fewest_rows=2),
    )
    pairs = []
    for n, d in PAIRS:
        first, second = centred_pair(n, d)
        rows, others = centred(first), centred(second)
        statistics = (
            likelihood_ratio(rows, others, noise_scale(n, d, epsilon), 0.0),
            *generic_statistics(rows, others, OUTPUTS["matrix"])[:1],
        )
        pairs.append(Pair(f"corners of a triangle, n={n}, d={d}", first, second, statistics))
    return Profile(claim.form, scenarios, lambda _: (*pairs, *common_pairs(OUTPUTS["matrix"])), shapes=shapes)


def _scenario(n: int, d: int, epsilon: float) -> Scenario:
    x, scale = example_rows(n, d), noise_scale(n, d, epsilon)
    rows = centred(x)
    return Scenario(
        f"d={d}",
        x,
        noise_tests(rows, scale, symmetric=True),
        noise_suspects(rows, scale, symmetric=True),
        (scale_estimate(rows, scale, symmetric=True),),
    )
