"""The law of the matrix A that PPC releases, the preconditioner, has no closed form. One test applies the
preconditioner A to data with two very unequal directions.

The eigenvalues of AMAᵀ, where M is the second moment of the data, are compared with those from draws of the reference.
The matrices of different rounds do not commute, so a product in the wrong order changes the smaller eigenvalue.
"""

import math
from functools import lru_cache

import numpy as np

from covassay.reference.domain import Matrix, Vector, second_moment
from covassay.reference.mechanisms.gaussian_estimation import ppc as mechanism
from covassay.verification.audit.engine.law import Scenario, Test
from covassay.verification.audit.knowledge.known import Known
from covassay.verification.audit.knowledge.shared import reference_draws
from covassay.verification.audit.knowledge.shared.data_paths import SAME_SQUARES_OF_ANY_ROWS, NotAdditive
from covassay.verification.audit.knowledge.shared.hidden_bits import EIGENVECTORS
from covassay.verification.audit.knowledge.shared.last_threshold import at_the_last_threshold
from covassay.verification.audit.knowledge.shared.long_rows import in_the_first_round
from covassay.verification.audit.knowledge.shared.many_draws import InOneBatch
from covassay.verification.audit.knowledge.shared.profile import ClaimUnderAudit, KnownLaw
from covassay.verification.statistics.streams import stream

RECORDS = 2000.0  # the value of n√ρ for which the noise of a round is a few percent of the bound κ on variances
AXES = np.array([[0.6, 0.8], [-0.8, 0.6]])


def unequal_directions(claim: ClaimUnderAudit) -> Scenario:
    """Return rows along two axes, with the variance 1 along one and the largest allowed variance κ along the other."""
    kappa = claim.parameter("kappa")
    n = 2 * math.ceil(RECORDS / math.sqrt(claim.budget["rho"]) / 2)
    x = np.tile(np.sqrt(2 * np.array([kappa, 1.0]))[:, None] * AXES, (n // 2, 1))
    moment = second_moment(x)

    @lru_cache(maxsize=4)
    def reference(size: int) -> Matrix:
        rng = np.random.default_rng(stream(claim.seed, "reference", "unequal directions", size))
        return claim.draws(x, size, rng)

    def eigenvalue(i: int) -> Test:
        def of(outputs: Matrix) -> Vector:
            changed = outputs @ moment @ np.swapaxes(outputs, 1, 2)
            return np.asarray(np.log(np.maximum(np.linalg.eigvalsh(changed)[:, -1 - i], 1e-300)))

        return reference_draws.against(of, reference, f"eigenvalue {i + 1} of AMAᵀ has the reference's law")

    tests = {"eigenvalue 1": eigenvalue(0), "eigenvalue 2": eigenvalue(1)}
    return Scenario("two unequal directions, d=2", x, tests, weight=0.15)


def law(claim: ClaimUnderAudit) -> KnownLaw:
    """Return the tests and neighbours used for any mechanism, and the data with two unequal directions."""
    scenarios = (*reference_draws.scenarios(claim), unequal_directions(claim))
    return KnownLaw(scenarios, reference_draws.pairs(claim))


KNOWN = Known(
    law,
    NotAdditive(
        "every round transforms the rows by the preconditioner that the rounds before have drawn",
        SAME_SQUARES_OF_ANY_ROWS,
    ),
    many=InOneBatch(mechanism.draw_noise, mechanism.release),
    choices=lambda claim: (*in_the_first_round(claim), *at_the_last_threshold(claim)),
    bits_unseen=EIGENVECTORS,
)
