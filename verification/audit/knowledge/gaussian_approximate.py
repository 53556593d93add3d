"""The mechanism adds independent normal noise to the second moment of every column, calibrated to (ε, δ)-DP."""

import math

from covassay.reference.mechanisms.building_blocks.gaussian import second_moments_sensitivity
from covassay.reference.mechanisms.building_blocks.gaussian_approximate import multiplier
from covassay.verification.audit.knowledge.known import Known
from covassay.verification.audit.knowledge.shared.coordinate_noise import law
from covassay.verification.audit.knowledge.shared.data_paths import QueryPlusNoise
from covassay.verification.audit.knowledge.shared.profile import ClaimUnderAudit
from covassay.verification.statistics.laws import NORMAL


def scale(claim: ClaimUnderAudit, n: int, d: int) -> float:
    """Return the scale of the noise."""
    return float(
        multiplier(**claim.budget, calibration=claim.options["calibration"]) * second_moments_sensitivity(n, d)
    )


KNOWN = Known(
    law(scale, NORMAL, power=2),
    QueryPlusNoise(independent=True),
    add_remove=math.sqrt(0.5),  # adding a row changes the moments by at most 1/n, and replacing a row by at most √2/n
)
