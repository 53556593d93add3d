"""The nuclear norm of nuclear-Laplace noise is Gamma(d²), and its singular vectors have the Haar law.

The distribution function of the spectral norm of nuclear-Laplace noise is a Pfaffian. The laws of the noise hold on
data with any numbers of rows and columns.
"""

from covassay.reference.mechanisms.counted import laplace_count_scale
from covassay.reference.mechanisms.pure import nuclear_laplace
from covassay.reference.mechanisms.pure.nuclear_laplace import count_share, scale_of_sum
from covassay.verification.audit.knowledge.known import Known
from covassay.verification.audit.knowledge.shared.data_paths import QueryPlusNoise
from covassay.verification.audit.knowledge.shared.many_draws import InOneBatch
from covassay.verification.audit.knowledge.shared.nuclear_noise import law_of_counted, law_of_perturbation
from covassay.verification.audit.knowledge.shared.profile import ClaimUnderAudit, KnownLaw


def law(claim: ClaimUnderAudit) -> KnownLaw:
    """Return the law of the output under the adjacency of the claim."""
    if claim.options.get("adjacency") != "add-remove":
        return law_of_perturbation(claim)
    epsilon = claim.budget["epsilon"]

    def scales(d: int) -> tuple[float, float]:
        share = count_share(d, d**2)
        return laplace_count_scale(epsilon, share), scale_of_sum(epsilon, share)

    return law_of_counted(claim, scales)


KNOWN = Known(
    law,
    QueryPlusNoise(),
    many=InOneBatch(nuclear_laplace.draw_noise, nuclear_laplace.release),
    # adding a row x changes the moment by xxᵀ/n of nuclear norm 1/n, and replacing a row changes it by at most 2/n
    add_remove=0.5,
    nuclear=True,
)
