"""The law of the learner of a Gaussian has no closed form, so draws are compared with draws of the reference."""

from covassay.reference.mechanisms.gaussian_estimation import gaussian_learner, pgce
from covassay.verification.audit.knowledge.known import Known
from covassay.verification.audit.knowledge.shared import reference_draws
from covassay.verification.audit.knowledge.shared.data_paths import NotAdditive
from covassay.verification.audit.knowledge.shared.hidden_bits import POWERS
from covassay.verification.audit.knowledge.shared.last_threshold import at_the_last_threshold
from covassay.verification.audit.knowledge.shared.pairs_of_rows import of_pairs
from covassay.verification.audit.knowledge.shared.profile import ClaimUnderAudit, KnownLaw


def law(claim: ClaimUnderAudit) -> KnownLaw:
    """Return the tests and neighbours that the audit uses for any mechanism, and the data sets of PME. In the data sets
    of PME the rows come in pairs, and the two rows of a pair are equal or far apart.
    """
    share = gaussian_learner.half
    pairs = of_pairs(claim, share(claim.budget["rho"]), share(claim.parameter("beta")))
    return KnownLaw((*reference_draws.scenarios(claim), *pairs), reference_draws.pairs(claim))


KNOWN = Known(
    law,
    NotAdditive("the rows are preconditioned by a matrix that is itself drawn"),
    choices=lambda claim: at_the_last_threshold(claim, gaussian_learner.half(pgce.half(1.0)), differences=True),
    bits_unseen=POWERS,
)
