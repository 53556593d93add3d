"""The covariance of CoinPress has no law in closed form: draws are compared with draws of the reference.

Its domain is the whole space, so the worst rows are far from the origin.
"""

from covassay.verification.audit.knowledge.known import Known
from covassay.verification.audit.knowledge.shared import reference_draws
from covassay.verification.audit.knowledge.shared.data_paths import SAME_SQUARES_OF_ANY_ROWS, NotAdditive
from covassay.verification.audit.knowledge.shared.far_rows import far_out
from covassay.verification.audit.knowledge.shared.profile import ClaimUnderAudit, KnownLaw, common_pairs


def law(claim: ClaimUnderAudit) -> KnownLaw:
    """Return the comparison with draws of the reference, and neighbours with rows far from the origin."""
    output = claim.mechanism.output
    return KnownLaw(reference_draws.scenarios(claim), (far_out(output), *common_pairs(output)))


KNOWN = Known(
    law,
    NotAdditive(
        "every round rescales and clips the rows by a matrix that the round before has drawn", SAME_SQUARES_OF_ANY_ROWS
    ),
    bits_unseen="the last noisy matrix is multiplied by matrices of earlier steps with 53 random bits",
)
