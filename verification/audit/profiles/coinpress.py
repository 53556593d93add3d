"""How to audit CoinPress, for the mean and for the covariance.

Its domain is the whole space, so the worst rows lie far out. After the first step its law has no closed form, and draws
are compared with draws of the reference.
"""

import numpy as np

from covassay.reference.domain import Matrix
from covassay.reference.mechanisms.output import Output
from covassay.reference.sensitivity import neighbours
from covassay.verification.audit.engine.privacy import Pair, generic_statistics
from covassay.verification.audit.profiles import reference_draws
from covassay.verification.audit.profiles.profile import ClaimUnderAudit, Profile, common_pairs

FAR = 1e4  # beyond any radius that rows are shortened to


def far_out(output: Output) -> Pair:
    """Two rows far out among small ones: opposite rows for the mean, rows along two axes for the covariance."""
    base: Matrix = np.array([[0.5, 0.0], [0.0, 0.5], [-0.5, 0.0], [0.0, -0.5]])
    x = np.array([FAR, 0.0])
    y = -x if output.kind == "vector" else np.array([0.0, FAR])
    first, second = neighbours(base, x, y)
    return Pair(f"rows of norm {FAR:g}, d=2", first, second, generic_statistics(first, second, output))


def profile(claim: ClaimUnderAudit) -> Profile:
    """Comparisons with draws of the reference, and the pair far out in addition to the common pairs."""
    output = claim.mechanism.output
    known = reference_draws.profile(claim)
    pairs = (far_out(output), *common_pairs(output))
    return Profile(known.form, known.scenarios, lambda _: pairs)
