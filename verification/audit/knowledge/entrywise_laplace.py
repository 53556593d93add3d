"""The mechanism adds independent Laplace noise to every entry of the second moment, or to every entry on and above the
diagonal.

The audit knows the data and observes the noise of every entry. The sum of the absolute values of the noise has a Gamma
law.
"""

from covassay.reference.mechanisms.counted import laplace_count_scale
from covassay.reference.mechanisms.pure.entrywise_laplace import count_share, counted, noise_scale, scale_of_sum
from covassay.verification.audit.knowledge.known import Known
from covassay.verification.audit.knowledge.shared import entrywise_noise
from covassay.verification.audit.knowledge.shared.counted_noise import IndependentNoise
from covassay.verification.audit.knowledge.shared.data_paths import QueryPlusNoise
from covassay.verification.audit.knowledge.shared.profile import ClaimUnderAudit, KnownLaw


def scale(claim: ClaimUnderAudit, n: int, d: int) -> float:
    """Return the scale of the noise."""
    return float(noise_scale(n, d, claim.budget["epsilon"], claim.options["entries"], claim.options["calibration"]))


_OF_MEANS = entrywise_noise.law(scale)


def law(claim: ClaimUnderAudit) -> KnownLaw:
    """Return the law of the output under the adjacency of the claim."""
    if claim.options.get("adjacency") != "add-remove":
        return _OF_MEANS(claim)
    epsilon, words = claim.budget["epsilon"], (claim.options["entries"], claim.options["calibration"])

    def scales(d: int) -> tuple[float, float]:
        share = count_share(d, *words)
        return laplace_count_scale(epsilon, share), scale_of_sum(d, (1 - share) * epsilon, *words)

    return IndependentNoise(counted(claim.options), scales, gaussian=False).known


KNOWN = Known(law, QueryPlusNoise(independent=True))
