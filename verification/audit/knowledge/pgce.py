"""The law of the preconditioned covariance has no closed form, so draws are compared with draws of the reference."""

from covassay.reference.mechanisms.gaussian_estimation import pgce
from covassay.verification.audit.knowledge.known import Known
from covassay.verification.audit.knowledge.shared.data_paths import SAME_SQUARES_OF_ANY_ROWS, NotAdditive
from covassay.verification.audit.knowledge.shared.hidden_bits import POWERS
from covassay.verification.audit.knowledge.shared.last_threshold import at_the_last_threshold
from covassay.verification.audit.knowledge.shared.long_rows import in_the_first_round

KNOWN = Known(
    path=NotAdditive("the rows are preconditioned by a matrix that is itself drawn", SAME_SQUARES_OF_ANY_ROWS),
    choices=lambda claim: (*in_the_first_round(claim, pgce.half(1.0)), *at_the_last_threshold(claim, pgce.half(1.0))),
    bits_unseen=POWERS,
)
