"""AdaptiveCov adds the noise of GaussCov on data on which its choices are certain.

On other data, draws of the target are compared with draws of the reference.
"""

import math

from covassay.reference.domain import second_moment
from covassay.reference.mechanisms.building_blocks.above_threshold import query_scale
from covassay.reference.mechanisms.building_blocks.private_trace import gaussian_margin, gaussian_scale
from covassay.reference.mechanisms.concentrated import adaptive_cov as mechanism
from covassay.reference.mechanisms.concentrated.gauss_cov import noise_scale
from covassay.verification.audit.knowledge.known import Known
from covassay.verification.audit.knowledge.shared import gaussian_noise, near_choices, unclipped_rows
from covassay.verification.audit.knowledge.shared.data_paths import SAME_SQUARES, NotAdditive
from covassay.verification.audit.knowledge.shared.profile import ClaimUnderAudit, KnownLaw

ROWS = 1000.0  # the value of n√ρ on the data: the search passes its second level with probability below e^−70


def law(claim: ClaimUnderAudit) -> KnownLaw:
    """Return the law of AdaptiveCov on rows that are not clipped, and tests that compare draws with the reference."""
    rho, options = claim.budget["rho"], claim.options
    x = unclipped_rows.certain(ROWS / rho**0.5)
    scale = noise_scale(len(x), mechanism.final_budget(rho, options["radius"], options["calibration"]))
    exact = gaussian_noise.noise_scenario("", x, second_moment(x), scale, options["ensemble"])
    return unclipped_rows.law(claim, exact, weight=0.3)


def near_the_first_level(claim: ClaimUnderAudit) -> near_choices.Choices:
    """Return rows on which the search for a clipping norm is likely to end at its first level, or likely to go on."""
    rho, options = claim.budget["rho"], claim.options
    if options["radius"] != "none":
        return ()
    n, beta = math.ceil(ROWS / math.sqrt(rho)), claim.parameter("beta")
    final = mechanism.final_budget(rho, "none", options["calibration"])
    margin = gaussian_scale(n, mechanism.trace_budget(rho)) * gaussian_margin(beta / 8)

    def noise_bound(trace: float) -> float:
        upper = min(1.0, trace + margin)
        found = mechanism.errors(n, 2, final, upper, 3 * beta / 4, options["ensemble"], options["bounds"])
        return min(mechanism.error_bounds(found, 1).values())

    return near_choices.first_clip_level(n, noise_bound, query_scale(mechanism.search_epsilon(rho), "paper"))


KNOWN = Known(
    law,
    NotAdditive("the data decide, through noise, which of several mechanisms answers", SAME_SQUARES),
    choices=near_the_first_level,
)
