"""The mechanism adds Gaussian noise to sums of bounded columns. The output of the mechanism determines the noisy sums
of the columns.
"""

from covassay.reference.box_moments import gauss_weights
from covassay.reference.domain import Adjacency
from covassay.reference.mechanisms.building_blocks.gaussian_approximate import multiplier
from covassay.reference.mechanisms.concentrated.box_gauss import sensitivity
from covassay.verification.audit.knowledge.known import Known
from covassay.verification.audit.knowledge.shared.box_sums import SumsLaw, view
from covassay.verification.audit.knowledge.shared.data_paths import QueryPlusNoise
from covassay.verification.audit.knowledge.shared.profile import ClaimUnderAudit, KnownLaw


def law(claim: ClaimUnderAudit) -> KnownLaw:
    """Return the law of the noisy sums under the adjacency of the claim."""

    def scale(d: int, adjacency: Adjacency) -> float:
        budget = claim.budget
        standard = multiplier(budget["epsilon"], budget["delta"], claim.options["calibration"])
        return float(sensitivity(d, adjacency)) * standard

    return SumsLaw(claim.options["adjacency"], scale, gauss_weights, gaussian=True).known


KNOWN = Known(law, QueryPlusNoise(independent=True), view=view)
