"""Entrywise Laplace noise: every entry of the second moment, or of its triangle, has Laplace noise of its own.

The noise is seen entry by entry on data of every shape, and its sum of absolute values has a Gamma law.
"""

from covassay.reference.mechanisms.pure.entrywise_laplace import noise_scale
from covassay.verification.audit.knowledge.known import Known
from covassay.verification.audit.knowledge.shared import entrywise_noise
from covassay.verification.audit.knowledge.shared.data_paths import QueryPlusNoise
from covassay.verification.audit.knowledge.shared.profile import ClaimUnderAudit


def scale(claim: ClaimUnderAudit, n: int, d: int) -> float:
    """The scale of the noise."""
    return float(noise_scale(n, d, claim.budget["epsilon"], claim.options["entries"], claim.options["calibration"]))


KNOWN = Known(entrywise_noise.law(scale), QueryPlusNoise(independent=True))
