"""The law of one round of preconditioning has no closed form, so draws are compared with draws of the reference."""

from covassay.verification.audit.knowledge.known import Known
from covassay.verification.audit.knowledge.shared.data_paths import SAME_SQUARES_OF_ANY_ROWS, NotAdditive
from covassay.verification.audit.knowledge.shared.hidden_bits import EIGENVECTORS
from covassay.verification.audit.knowledge.shared.last_threshold import at_the_last_threshold
from covassay.verification.audit.knowledge.shared.long_rows import in_one_round

KNOWN = Known(
    path=NotAdditive(
        "the output is a preconditioner made from the eigenvectors of a noisy matrix", SAME_SQUARES_OF_ANY_ROWS
    ),
    choices=lambda claim: (*in_one_round(claim), *at_the_last_threshold(claim, rounds=1)),
    bits_unseen=EIGENVECTORS,
)
