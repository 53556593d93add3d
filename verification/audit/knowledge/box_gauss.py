"""The mechanism adds Gaussian noise to sums of bounded columns. The output of the mechanism determines the noisy sums
of the columns.
"""

from covassay.reference.box_moments import gauss_weights
from covassay.reference.domain import Adjacency
from covassay.reference.mechanisms.concentrated.box_gauss import noise_scale
from covassay.verification.audit.knowledge.known import Known
from covassay.verification.audit.knowledge.shared.box_sums import SumsLaw, view
from covassay.verification.audit.knowledge.shared.data_paths import QueryPlusNoise
from covassay.verification.audit.knowledge.shared.profile import ClaimUnderAudit, KnownLaw


def law(claim: ClaimUnderAudit) -> KnownLaw:
    """Return the law of the noisy sums under the adjacency of the claim."""

    def scale(d: int, adjacency: Adjacency) -> float:
        return float(noise_scale(d, claim.budget["rho"], adjacency))

    return SumsLaw(claim.options["adjacency"], scale, gauss_weights, gaussian=True).known


KNOWN = Known(law, QueryPlusNoise(independent=True), view=view)
