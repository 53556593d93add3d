"""The mechanism adds symmetric nuclear-Laplace noise to the centred covariance, which is the second moment of the
centred rows.

The rows of the tested neighbours are corners of an equilateral triangle, where replacing a row changes the covariance
most.
"""

import numpy as np

from covassay.reference.domain import Matrix
from covassay.reference.mechanisms.output import OUTPUTS
from covassay.reference.mechanisms.pure.centred_covariance import noise_scale
from covassay.reference.sensitivity import centred_pair
from covassay.verification.audit.engine.contract import example_rows
from covassay.verification.audit.engine.events import Pair, generic_statistics
from covassay.verification.audit.engine.law import Scenario
from covassay.verification.audit.knowledge.known import Known
from covassay.verification.audit.knowledge.shared import nuclear_noise
from covassay.verification.audit.knowledge.shared.data_paths import QueryPlusNoise
from covassay.verification.audit.knowledge.shared.profile import ClaimUnderAudit, KnownLaw, common_pairs

PAIRS = ((30, 1), (30, 2), (6, 3))  # (n, d)


def centred(x: Matrix) -> Matrix:
    """Subtract the mean of the rows."""
    return np.asarray(x - x.mean(axis=0))


def triangle(n: int, d: int, epsilon: float) -> Pair:
    """Return neighbours whose rows are corners of an equilateral triangle."""
    first, second = centred_pair(n, d)
    rows, others = centred(first), centred(second)
    statistics = (
        nuclear_noise.likelihood_ratio(rows, others, noise_scale(n, d, epsilon), 0.0),
        *generic_statistics(rows, others, OUTPUTS["matrix"])[:1],
    )
    return Pair(f"corners of a triangle, n={n}, d={d}", first, second, statistics)


def law(claim: ClaimUnderAudit) -> KnownLaw:
    """Return the law of the noise that is added to the centred covariance."""
    epsilon = claim.budget["epsilon"]

    def scenario(n: int, d: int) -> Scenario:
        x = example_rows(n, d)
        return nuclear_noise.noise_scenario(f"d={d}", x, centred(x), noise_scale(n, d, epsilon), symmetric=True)

    return KnownLaw(
        tuple(scenario(nuclear_noise.N, d) for d in nuclear_noise.DIMENSIONS),
        (*(triangle(n, d, epsilon) for n, d in PAIRS), *common_pairs(OUTPUTS["matrix"])),
        nuclear_noise.shapes(scenario, symmetric=True, fewest_rows=2),
    )


KNOWN = Known(law, QueryPlusNoise())
