"""LapCov adds independent Laplace noise to the triangle of the second moment; every noise entry is observed."""

from covassay.reference.mechanisms.pure.lap_cov import noise_scale
from covassay.verification.audit.knowledge.known import Known
from covassay.verification.audit.knowledge.shared import entrywise_noise
from covassay.verification.audit.knowledge.shared.data_paths import QueryPlusNoise
from covassay.verification.audit.knowledge.shared.profile import ClaimUnderAudit


def scale(claim: ClaimUnderAudit, n: int, d: int) -> float:
    """The scale of the noise."""
    return float(noise_scale(n, d, claim.budget["epsilon"], claim.options["calibration"]))


KNOWN = Known(entrywise_noise.law(scale), QueryPlusNoise(independent=True))
