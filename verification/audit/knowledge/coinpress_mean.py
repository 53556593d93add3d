"""The mean of CoinPress is Gaussian on equal rows, at or far from the origin; other data use the reference's draws.

At the origin no step clips the rows, so that the output has only the noise of the last step. Far away every step clips
them in one direction, so that each step continues from the centre of the previous step, and the noises of all steps add
up. The centre and the variance are computed by the reference: it is run without noise, and with a single unit of noise.
"""

import math
from dataclasses import replace

import numpy as np

from covassay.verification.audit.engine.law import Scenario
from covassay.verification.audit.engine.shapes import COLUMNS, Shapes
from covassay.verification.audit.knowledge.known import Known
from covassay.verification.audit.knowledge.shared import reference_draws
from covassay.verification.audit.knowledge.shared.coordinate_noise import vector_noise
from covassay.verification.audit.knowledge.shared.data_paths import NotAdditive, released, zero_noise
from covassay.verification.audit.knowledge.shared.far_rows import far_out
from covassay.verification.audit.knowledge.shared.noise_entries import with_entries
from covassay.verification.audit.knowledge.shared.profile import ClaimUnderAudit, KnownLaw, common_pairs
from covassay.verification.statistics.laws import NORMAL

VERY_FAR = 1e8  # the distance of rows so far away that their direction does not depend on the centre
DIMENSION = 3
# n√ρ of the data; noise of more than 30 deviations would be needed to clip rows at the origin, also in 32 dimensions
RECORDS = 1000.0
MOST = 20_000  # rows
WEIGHT = 3.0  # the weight of the rows at the origin: with so many draws an error of 5 % of the scale is detected


def equal_rows(claim: ClaimUnderAudit, name: str, place: float, n: int, d: int, weight: float) -> Scenario:
    """Return the data set of n equal rows on the first axis, with its law."""
    x = np.tile(place * np.eye(d)[:1], (n, 1))
    zero = zero_noise(claim, d)
    centre = released(claim, x, zero)
    responses = np.array([released(claim, x, unit.reshape(zero.shape)) - centre for unit in np.eye(zero.size)])
    scale = np.sqrt((responses**2).sum(axis=0))
    seen = replace(vector_noise(f"{name}, d={d}", x, centre, scale, NORMAL, 2), weight=weight)
    return with_entries(seen, centre, symmetric=False, independent=True)


def law(claim: ClaimUnderAudit) -> KnownLaw:
    """Return the law on equal rows, if few rows are needed, and the comparison with draws of the reference."""
    scenarios = reference_draws.scenarios(claim)
    pairs = (far_out(claim.mechanism.output), *common_pairs(claim.mechanism.output))
    n = math.ceil(RECORDS / math.sqrt(claim.budget["rho"]))
    if n > MOST:
        return KnownLaw(scenarios, pairs)

    def near(n: int, d: int) -> Scenario:
        return equal_rows(claim, "rows at the origin", 0.0, n, d, WEIGHT)

    exact = (near(n, DIMENSION), equal_rows(claim, "rows far out", VERY_FAR, n, DIMENSION, 1.0))
    shapes = Shapes(near, ("all coordinates", "total scale"), lambda d: d, tuple((n, d) for d in COLUMNS))
    return KnownLaw((*exact, *scenarios), pairs, shapes)


KNOWN = Known(law, NotAdditive("every round clips the rows to a ball that the round before has drawn", continuous=True))
