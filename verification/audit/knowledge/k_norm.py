"""The mechanism adds K-norm noise to the second moment, with a scale for ε-DP."""

from typing import cast

from covassay.reference.laws.k_norm import Body
from covassay.reference.mechanisms.pure import k_norm
from covassay.verification.audit.knowledge.known import Known
from covassay.verification.audit.knowledge.shared import k_norm_noise
from covassay.verification.audit.knowledge.shared.data_paths import QueryPlusNoise
from covassay.verification.audit.knowledge.shared.many_draws import InOneBatch
from covassay.verification.audit.knowledge.shared.profile import ClaimUnderAudit


def body(claim: ClaimUnderAudit) -> Body:
    """Return the convex body whose norm the claimed mechanism uses."""
    return cast(Body, claim.options["body"])


def scale(claim: ClaimUnderAudit, n: int, d: int) -> float:
    """Return the noise scale Δ_K/ε, where Δ_K is the sensitivity in the norm of the body."""
    return float(k_norm.noise_scale(k_norm.sensitivity(body(claim), n, d), claim.budget["epsilon"]))


KNOWN = Known(k_norm_noise.law(body, scale), QueryPlusNoise(), many=InOneBatch(k_norm.draw_noise, k_norm.release))
