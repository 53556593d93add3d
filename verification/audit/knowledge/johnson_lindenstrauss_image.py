"""The law of the Johnson–Lindenstrauss mechanism with image noise has no closed form, so draws are compared with the
reference.
"""

from covassay.verification.audit.knowledge.known import Known
from covassay.verification.audit.knowledge.shared.data_paths import SAME_SQUARES, NotAdditive

KNOWN = Known(
    path=NotAdditive("noise is added to an image of the second moment, and a matrix is fitted to it", SAME_SQUARES),
    no_choices="the noisy image alone decides the fit; a row's own length decides whether its image is shortened",
)
