"""AdaptiveCov has the noise of GaussCov where its choices are certain.

Elsewhere draws are compared with draws of the reference.
"""

from covassay.reference.domain import second_moment
from covassay.reference.mechanisms.concentrated.adaptive_cov import final_budget
from covassay.reference.mechanisms.concentrated.gauss_cov import noise_scale
from covassay.verification.audit.knowledge.known import Known
from covassay.verification.audit.knowledge.shared import gaussian_noise, unclipped_rows
from covassay.verification.audit.knowledge.shared.data_paths import SAME_SQUARES, NotAdditive
from covassay.verification.audit.knowledge.shared.profile import ClaimUnderAudit, KnownLaw

ROWS = 1000.0  # n√ρ: the search goes beyond its second level with a probability below e^−70


def law(claim: ClaimUnderAudit) -> KnownLaw:
    """The noise of GaussCov on rows that are not clipped, and draws of the reference."""
    rho, options = claim.budget["rho"], claim.options
    x = unclipped_rows.certain(ROWS / rho**0.5)
    scale = noise_scale(len(x), final_budget(rho, options["radius"], options["calibration"]))
    exact = gaussian_noise.noise_scenario("", x, second_moment(x), scale, options["ensemble"])
    return unclipped_rows.law(claim, exact, weight=0.3)


KNOWN = Known(law, NotAdditive("the data decide, through noise, which of several mechanisms answers", SAME_SQUARES))
