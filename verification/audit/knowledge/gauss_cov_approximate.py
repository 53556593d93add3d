"""GaussCov under (ε, δ)-DP adds Gaussian noise with the scale for this claim."""

import math

from covassay.reference.mechanisms.approximate.gauss_cov_approximate import sensitivity
from covassay.reference.mechanisms.building_blocks.gaussian_approximate import multiplier
from covassay.verification.audit.knowledge.known import Known
from covassay.verification.audit.knowledge.shared import gaussian_noise
from covassay.verification.audit.knowledge.shared.data_paths import QueryPlusNoise
from covassay.verification.audit.knowledge.shared.profile import ClaimUnderAudit


def scale(claim: ClaimUnderAudit, n: int) -> float:
    """Return the scale of the noise."""
    return float(sensitivity(n) * multiplier(**claim.budget, calibration=claim.options["calibration"]))


KNOWN = Known(
    gaussian_noise.law(scale),
    QueryPlusNoise(independent=True),
    # adding a row x changes the moment by xxᵀ/n of norm 1/n, and replacing a row changes the moment by at most √2/n
    add_remove=math.sqrt(0.5),
)
