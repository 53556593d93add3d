"""If the data make all choices of the pure variant of AdaptiveCov almost certain, it adds the noise of LapCov.

If the choices of AdaptiveCov are not certain, draws of the target are compared with draws of the reference.
"""

import math

from covassay.reference.mechanisms.building_blocks.above_threshold import query_scale
from covassay.reference.mechanisms.building_blocks.private_trace import laplace_margin, laplace_scale
from covassay.reference.mechanisms.pure import adaptive_cov_pure as mechanism
from covassay.reference.mechanisms.pure.lap_cov import noise_scale
from covassay.verification.audit.knowledge.known import Known
from covassay.verification.audit.knowledge.shared import near_choices, unclipped_rows
from covassay.verification.audit.knowledge.shared.data_paths import SAME_SQUARES, NotAdditive
from covassay.verification.audit.knowledge.shared.entrywise_noise import EntrywiseNoise, noise_scenario
from covassay.verification.audit.knowledge.shared.profile import ClaimUnderAudit, KnownLaw

# on these data, with this value of nε, the search passes its second level with probability below e^−70
ROWS = 3000.0


def law(claim: ClaimUnderAudit) -> KnownLaw:
    """Return the law of the pure variant of AdaptiveCov on rows that are not clipped, and tests that compare draws with
    the reference.
    """
    x = unclipped_rows.certain(ROWS / claim.budget["epsilon"])
    final = mechanism.final_epsilon(claim.budget["epsilon"], claim.options["radius"])
    scale = float(noise_scale(len(x), x.shape[1], final, claim.options["calibration"]))
    exact = noise_scenario(EntrywiseNoise(x, scale, full=False), 2**0.5 / (len(x) * final) / scale)
    # a wrong scale of Laplace noise needs twice as many draws as a wrong scale of Gaussian noise to be detected
    return unclipped_rows.law(claim, exact, weight=0.7)


def near_the_first_level(claim: ClaimUnderAudit) -> near_choices.Choices:
    """Return rows on which the search for a clipping norm is likely to end at its first level, or likely to go on."""
    epsilon, calibration = claim.budget["epsilon"], claim.options["calibration"]
    if claim.options["radius"] != "none":
        return ()
    n, beta = math.ceil(ROWS / epsilon), claim.parameter("beta")
    final = mechanism.final_epsilon(epsilon, "none")
    margin = laplace_scale(n, mechanism.step_epsilon(epsilon)) * laplace_margin(beta / 8)
    g = mechanism.lap_bound(n, 2, final, 3 * beta / 4, calibration)

    def noise_bound(trace: float) -> float:
        a, e = mechanism.separate_bounds(n, 2, final, min(1.0, trace + margin), 3 * beta / 4, calibration)
        return float(mechanism.noise_level(1, g, a, e))

    scale = query_scale(mechanism.search_epsilon(epsilon, calibration), calibration)
    return near_choices.first_clip_level(n, noise_bound, scale)


KNOWN = Known(
    law,
    NotAdditive("the data decide, through noise, which of several mechanisms answers", SAME_SQUARES),
    choices=near_the_first_level,
)
