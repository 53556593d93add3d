"""GaussCov is the second moment plus Gaussian noise. Every entry of the noise on and above the diagonal has a test of
its own.

The noise entries on and above the diagonal are independent for all n and d, and the chosen ensemble gives their
variances. Under add-remove adjacency, Gaussian noise is added to the sum of xxᵀ and to the number of rows.
"""

import math

from covassay.reference.mechanisms.concentrated.gauss_cov import (
    COUNTED,
    count_share,
    draw_noise,
    noise_scale,
    release,
    scale_of_sum,
)
from covassay.reference.mechanisms.counted import gaussian_count_scale
from covassay.verification.audit.knowledge.known import Known
from covassay.verification.audit.knowledge.shared import gaussian_noise
from covassay.verification.audit.knowledge.shared.counted_noise import IndependentNoise
from covassay.verification.audit.knowledge.shared.data_paths import QueryPlusNoise
from covassay.verification.audit.knowledge.shared.many_draws import InOneBatch
from covassay.verification.audit.knowledge.shared.profile import ClaimUnderAudit, KnownLaw

_OF_MEANS = gaussian_noise.law(lambda claim, n: float(noise_scale(n, claim.budget["rho"])))


def law(claim: ClaimUnderAudit) -> KnownLaw:
    """Return the law of the output under the adjacency of the claim."""
    if claim.options.get("adjacency") != "add-remove":
        return _OF_MEANS(claim)
    rho, ensemble = claim.budget["rho"], claim.options["ensemble"]

    def scales(d: int) -> tuple[float, float]:
        return gaussian_count_scale(rho, count_share(d, ensemble)), scale_of_sum(d, rho, ensemble)

    return IndependentNoise(COUNTED, scales, gaussian=True, halved=ensemble == "goe").known


KNOWN = Known(
    law,
    QueryPlusNoise(independent=True),
    many=InOneBatch(draw_noise, release),
    # adding a row x changes the moment by xxᵀ/n of norm 1/n, and replacing a row changes the moment by at most √2/n
    add_remove=math.sqrt(0.5),
)
