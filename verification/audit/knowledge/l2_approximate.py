"""The mechanism adds K-norm noise for the Frobenius norm to the second moment, with a scale for (ε, δ)-DP."""

import math

from covassay.reference.laws.k_norm import Body
from covassay.reference.mechanisms.approximate import l2_approximate
from covassay.verification.audit.knowledge.known import Known
from covassay.verification.audit.knowledge.shared import k_norm_noise
from covassay.verification.audit.knowledge.shared.data_paths import QueryPlusNoise
from covassay.verification.audit.knowledge.shared.many_draws import InOneBatch
from covassay.verification.audit.knowledge.shared.profile import ClaimUnderAudit


def body(claim: ClaimUnderAudit) -> Body:
    """Return the ball of the Frobenius norm."""
    return "l2"


def scale(claim: ClaimUnderAudit, n: int, d: int) -> float:
    """Return the noise scale Δ/q, where Δ is the sensitivity. The number q is the largest change of the query, in noise
    scales, that (ε, δ)-DP allows.
    """
    q = l2_approximate.largest_move(claim.budget["epsilon"], claim.budget["delta"], d)
    return float(l2_approximate.noise_scale(l2_approximate.sensitivity(n, d), q))


KNOWN = Known(
    k_norm_noise.law(body, scale),
    QueryPlusNoise(),
    many=InOneBatch(l2_approximate.draw_noise, l2_approximate.release),
    # adding a row x changes the moment by xxᵀ/n of norm 1/n, and replacing a row changes the moment by at most √2/n
    add_remove=math.sqrt(0.5),
)
