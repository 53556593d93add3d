"""The mechanism adds independent normal noise to the second moment of every column, calibrated to zCDP."""

import math

from covassay.reference.mechanisms.building_blocks.gaussian import COUNTED, noise_scale, second_moments_sensitivity
from covassay.reference.mechanisms.counted import gaussian_count_scale, gaussian_share
from covassay.verification.audit.knowledge.known import Known
from covassay.verification.audit.knowledge.shared.coordinate_noise import law
from covassay.verification.audit.knowledge.shared.counted_noise import IndependentNoise
from covassay.verification.audit.knowledge.shared.data_paths import QueryPlusNoise
from covassay.verification.audit.knowledge.shared.profile import ClaimUnderAudit, KnownLaw
from covassay.verification.statistics.laws import NORMAL


def scale(claim: ClaimUnderAudit, n: int, d: int) -> float:
    """Return the scale of the noise."""
    return float(noise_scale(second_moments_sensitivity(n, d), claim.budget["rho"]))


_OF_MEANS = law(scale, NORMAL, power=2)


def law_of(claim: ClaimUnderAudit) -> KnownLaw:
    """Return the law of the output under the adjacency of the claim."""
    if claim.options.get("adjacency") != "add-remove":
        return _OF_MEANS(claim)

    def scales(d: int) -> tuple[float, float]:
        share = gaussian_share(d)
        return gaussian_count_scale(claim.budget["rho"], share), gaussian_count_scale(claim.budget["rho"], 1 - share)

    return IndependentNoise(COUNTED, scales, gaussian=True).known


KNOWN = Known(
    law_of,
    QueryPlusNoise(independent=True),
    add_remove=math.sqrt(0.5),  # adding a row changes the moments by at most 1/n, and replacing a row by at most √2/n
)
