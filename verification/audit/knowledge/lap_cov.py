"""LapCov adds independent Laplace noise to the entries of the second moment on and above the diagonal."""

from covassay.reference.mechanisms.counted import laplace_count_scale
from covassay.reference.mechanisms.pure.entrywise_laplace import count_share, scale_of_sum
from covassay.reference.mechanisms.pure.lap_cov import COUNTED, draw_noise, noise_scale, release
from covassay.verification.audit.knowledge.known import Known
from covassay.verification.audit.knowledge.shared import entrywise_noise
from covassay.verification.audit.knowledge.shared.counted_noise import IndependentNoise
from covassay.verification.audit.knowledge.shared.data_paths import QueryPlusNoise
from covassay.verification.audit.knowledge.shared.many_draws import InOneBatch
from covassay.verification.audit.knowledge.shared.profile import ClaimUnderAudit, KnownLaw


def scale(claim: ClaimUnderAudit, n: int, d: int) -> float:
    """Return the scale of the noise."""
    return float(noise_scale(n, d, claim.budget["epsilon"], claim.options["calibration"]))


_OF_MEANS = entrywise_noise.law(scale)


def law(claim: ClaimUnderAudit) -> KnownLaw:
    """Return the law of the output under the adjacency of the claim."""
    if claim.options.get("adjacency") != "add-remove":
        return _OF_MEANS(claim)
    epsilon, calibration = claim.budget["epsilon"], claim.options["calibration"]

    def scales(d: int) -> tuple[float, float]:
        share = count_share(d, "triangle", calibration)
        return laplace_count_scale(epsilon, share), scale_of_sum(d, (1 - share) * epsilon, "triangle", calibration)

    return IndependentNoise(COUNTED, scales, gaussian=False).known


KNOWN = Known(law, QueryPlusNoise(independent=True), many=InOneBatch(draw_noise, release))
