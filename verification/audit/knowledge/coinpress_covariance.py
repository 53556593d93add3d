"""The law of CoinPress's covariance has no closed form, so draws are compared with draws of the reference.

The mechanism accepts all rows of R^d, so the worst neighbours have rows far from the origin.
"""

from covassay.reference.mechanisms.gaussian_estimation import coinpress_covariance as mechanism
from covassay.verification.audit.knowledge.known import Known
from covassay.verification.audit.knowledge.shared import near_choices, reference_draws
from covassay.verification.audit.knowledge.shared.data_paths import SAME_SQUARES_OF_ANY_ROWS, NotAdditive
from covassay.verification.audit.knowledge.shared.far_rows import far_out
from covassay.verification.audit.knowledge.shared.profile import ClaimUnderAudit, KnownLaw, common_pairs


def law(claim: ClaimUnderAudit) -> KnownLaw:
    """Return tests that compare draws with draws of the reference, and neighbours with rows far from the origin."""
    output = claim.mechanism.output
    return KnownLaw(reference_draws.scenarios(claim), (far_out(output), *common_pairs(output)))


def long_rows(claim: ClaimUnderAudit) -> near_choices.Choices:
    """Return data whose longest rows are nearly long enough to be shortened in the first round."""
    u, constants = claim.parameter("u"), claim.options["constants"]
    share = claim.parameter("beta") / claim.parameter("steps")

    def radius(n: int, d: int) -> float:
        return float((u * mechanism.squared_radius(n, d, share, constants)) ** 0.5)

    return near_choices.long_rows(claim.seed, radius)


KNOWN = Known(
    law,
    NotAdditive(
        "every round rescales and clips the rows by a matrix that the round before has drawn", SAME_SQUARES_OF_ANY_ROWS
    ),
    choices=long_rows,
    bits_unseen="the last noisy matrix is multiplied by matrices of earlier steps, whose entries have 53 random bits",
)
