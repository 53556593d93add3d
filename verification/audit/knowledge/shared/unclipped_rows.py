"""Rows on which AdaptiveCov and its pure variant choose no clipping, and noise on the entries.

Many rows of norm 1 along the axes are not clipped, because the search stops at its first or second level, which both
clip to 1, and the noise is added to the entries, because this has a far smaller error. The last step, which projects to
matrices between 0 and I, changes nothing on these rows. So the output is the second moment plus noise of a known law.
"""

import math
from dataclasses import replace

import numpy as np

from covassay.reference.domain import Matrix, second_moment
from covassay.verification.audit.engine.law import Scenario
from covassay.verification.audit.knowledge.shared import reference_draws
from covassay.verification.audit.knowledge.shared.noise_entries import with_entries
from covassay.verification.audit.knowledge.shared.profile import ClaimUnderAudit, KnownLaw

DIMENSION = 4  # a symmetric matrix has ten independent entries in this dimension
MOST = 20_000  # rows


def certain(rows: float) -> Matrix:
    """Return the rows for which no clipping is certain; they lie along the axes in turn."""
    return np.tile(np.eye(DIMENSION), (math.ceil(rows / DIMENSION), 1))


def law(claim: ClaimUnderAudit, exact: Scenario, weight: float) -> KnownLaw:
    """Return the comparison with draws of the reference.

    The data with a known law are added if the claim searches no radius and few rows are needed."""
    scenarios, pairs = reference_draws.scenarios(claim), reference_draws.pairs(claim)
    if claim.options["radius"] != "none" or len(exact.x) > MOST:
        return KnownLaw(scenarios, pairs)
    named = replace(exact, name=f"rows that are not clipped, d={DIMENSION}", weight=weight)
    named = with_entries(named, second_moment(exact.x), symmetric=True, independent=True)
    return KnownLaw((named, *scenarios), pairs)
