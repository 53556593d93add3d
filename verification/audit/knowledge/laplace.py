"""The mechanism adds independent Laplace noise to the second moment of every column."""

from covassay.reference.mechanisms.building_blocks.laplace import COUNTED, noise_scale, second_moments_sensitivity
from covassay.reference.mechanisms.counted import laplace_count_scale, pure_share
from covassay.verification.audit.knowledge.known import Known
from covassay.verification.audit.knowledge.shared.coordinate_noise import law
from covassay.verification.audit.knowledge.shared.counted_noise import IndependentNoise
from covassay.verification.audit.knowledge.shared.data_paths import QueryPlusNoise
from covassay.verification.audit.knowledge.shared.profile import ClaimUnderAudit, KnownLaw
from covassay.verification.statistics.laws import LAPLACE


def scale(claim: ClaimUnderAudit, n: int, d: int) -> float:
    """Return the scale of the noise."""
    return float(noise_scale(second_moments_sensitivity(n, d), claim.budget["epsilon"]))


_OF_MEANS = law(scale, LAPLACE, power=1)


def law_of(claim: ClaimUnderAudit) -> KnownLaw:
    """Return the law of the output under the adjacency of the claim."""
    if claim.options.get("adjacency") != "add-remove":
        return _OF_MEANS(claim)

    def scales(d: int) -> tuple[float, float]:
        share = pure_share(2 * d)
        return laplace_count_scale(claim.budget["epsilon"], share), 1 / ((1 - share) * claim.budget["epsilon"])

    return IndependentNoise(COUNTED, scales, gaussian=False).known


KNOWN = Known(
    law_of,
    QueryPlusNoise(independent=True),
    add_remove=0.5,  # adding a row changes the moments by at most 1/n, and replacing a row by at most 2/n
)
