"""The pure AdaptiveCov has the noise of LapCov where its choices are certain.

Elsewhere draws are compared with draws of the reference.
"""

from covassay.reference.mechanisms.pure.adaptive_cov_pure import final_epsilon
from covassay.reference.mechanisms.pure.lap_cov import noise_scale
from covassay.verification.audit.knowledge.known import Known
from covassay.verification.audit.knowledge.shared import unclipped_rows
from covassay.verification.audit.knowledge.shared.data_paths import SAME_SQUARES, NotAdditive
from covassay.verification.audit.knowledge.shared.entrywise_noise import EntrywiseNoise, noise_scenario
from covassay.verification.audit.knowledge.shared.profile import ClaimUnderAudit, KnownLaw

ROWS = 3000.0  # nε: the search goes beyond its second level with a probability below e^−70


def law(claim: ClaimUnderAudit) -> KnownLaw:
    """The noise of LapCov on rows that are not clipped, and draws of the reference."""
    x = unclipped_rows.certain(ROWS / claim.budget["epsilon"])
    final = final_epsilon(claim.budget["epsilon"], claim.options["radius"])
    scale = float(noise_scale(len(x), x.shape[1], final, claim.options["calibration"]))
    exact = noise_scenario(EntrywiseNoise(x, scale, full=False), 2**0.5 / (len(x) * final) / scale)
    # a wrong scale of Laplace noise needs twice the draws to be detected
    return unclipped_rows.law(claim, exact, weight=0.7)


KNOWN = Known(law, NotAdditive("the data decide, through noise, which of several mechanisms answers", SAME_SQUARES))
