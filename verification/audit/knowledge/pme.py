"""The law of the preconditioned mean has no closed form, so draws are compared with draws of the reference."""

from covassay.reference.mechanisms.gaussian_estimation import pme
from covassay.verification.audit.knowledge.known import Known
from covassay.verification.audit.knowledge.shared import reference_draws
from covassay.verification.audit.knowledge.shared.data_paths import NotAdditive
from covassay.verification.audit.knowledge.shared.hidden_bits import POWERS
from covassay.verification.audit.knowledge.shared.last_threshold import at_the_last_threshold
from covassay.verification.audit.knowledge.shared.pairs_of_rows import of_pairs
from covassay.verification.audit.knowledge.shared.profile import ClaimUnderAudit, KnownLaw


def law(claim: ClaimUnderAudit) -> KnownLaw:
    """Return the tests and neighbours used for any mechanism, and data sets in which the rows come in pairs."""
    pairs = of_pairs(claim, claim.budget["rho"], claim.parameter("beta"))
    return KnownLaw((*reference_draws.scenarios(claim), *pairs), reference_draws.pairs(claim))


KNOWN = Known(
    law,
    NotAdditive("the rows are preconditioned by a matrix that is itself drawn"),
    choices=lambda claim: at_the_last_threshold(claim, pme.half(1.0), differences=True),
    bits_unseen=POWERS,
)
