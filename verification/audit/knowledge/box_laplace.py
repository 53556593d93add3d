"""The mechanism adds Laplace noise to sums of bounded columns. The output of the mechanism determines the noisy sums of
the columns.
"""

from covassay.reference.box_moments import laplace_weights
from covassay.reference.domain import Adjacency
from covassay.reference.mechanisms.pure.box_laplace import noise_scale
from covassay.verification.audit.knowledge.known import Known
from covassay.verification.audit.knowledge.shared.box_sums import SumsLaw, view
from covassay.verification.audit.knowledge.shared.data_paths import QueryPlusNoise
from covassay.verification.audit.knowledge.shared.profile import ClaimUnderAudit, KnownLaw


def law(claim: ClaimUnderAudit) -> KnownLaw:
    """Return the law of the noisy sums under the adjacency of the claim."""

    def scale(d: int, adjacency: Adjacency) -> float:
        return float(noise_scale(d, claim.budget["epsilon"], adjacency))

    return SumsLaw(claim.options["adjacency"], scale, laplace_weights, gaussian=False).known


KNOWN = Known(law, QueryPlusNoise(independent=True), view=view)
