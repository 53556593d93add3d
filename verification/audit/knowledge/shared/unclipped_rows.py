"""Make rows that AdaptiveCov and its pure variant do not clip, and for which these mechanisms add noise to the entries.

The module makes many rows of norm 1 along the axes. The search for a clipping norm stops at its first or second
level, and both levels clip to norm 1. The mechanisms add the noise to the entries, because noise on the entries has a
far smaller error than noise on the eigenvalues. The last step, a projection to matrices between 0 and I, changes
nothing on rows of norm 1 along the axes. The output is therefore the second moment plus noise of a known law.
"""

import math
from dataclasses import replace

import numpy as np

from covassay.reference.domain import Matrix, second_moment
from covassay.verification.audit.engine.law import Scenario
from covassay.verification.audit.knowledge.shared import reference_draws
from covassay.verification.audit.knowledge.shared.noise_entries import with_entries
from covassay.verification.audit.knowledge.shared.profile import ClaimUnderAudit, KnownLaw

DIMENSION = 4  # in this dimension, a symmetric matrix has ten independent entries
MOST = 20_000  # rows


def certain(rows: float) -> Matrix:
    """Return rows along the axes in turn, which the mechanism almost surely does not clip."""
    return np.tile(np.eye(DIMENSION), (math.ceil(rows / DIMENSION), 1))


def law(claim: ClaimUnderAudit, exact: Scenario, weight: float) -> KnownLaw:
    """Return tests that compare draws of the target with draws of the reference, and neighbours on which any mechanism
    can be tested.

    The data with a known law are added if the mechanism does not search for a radius and at most `MOST` rows are
    needed.
    """
    scenarios, pairs = reference_draws.scenarios(claim), reference_draws.pairs(claim)
    if claim.options["radius"] != "none" or len(exact.x) > MOST:
        return KnownLaw(scenarios, pairs)
    named = replace(exact, name=f"rows that are not clipped, d={DIMENSION}", weight=weight)
    named = with_entries(named, second_moment(exact.x), symmetric=True, independent=True)
    return KnownLaw((named, *scenarios), pairs)
