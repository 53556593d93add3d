"""Make data near the threshold of the last round of PPC, for mechanisms that precondition their rows.

A round of PPC shrinks the directions in which a noisy matrix has an eigenvalue of at least κ_t/2. A direction that one
round does not shrink is shrunk by the next round. The output therefore shows only the choice of the last round. All
rows of the data of this module are multiples of one direction. If the rounds use differences of rows, the next step
looks for the mean of the rows in finitely many bins. The mean of the rows is so far from 0 that it lies in one of the
bins only if the last round shrinks the direction of the rows, which halves the mean.
"""

import math

import numpy as np

from covassay.reference.domain import Matrix
from covassay.reference.mechanisms.gaussian_estimation import naive_pce, pme, ppc, weak_ppc
from covassay.verification.audit.knowledge.shared import near_choices
from covassay.verification.audit.knowledge.shared.pairs_of_rows import COLUMNS, rows_for_quiet_rounds
from covassay.verification.audit.knowledge.shared.profile import ClaimUnderAudit

DIRECTION = np.array([math.cos(near_choices.ANGLE), math.sin(near_choices.ANGLE)])
MOST_ROWS = 20_000
FEW_SCALES = (0.5, -0.5)  # a draw with differences is slow, so fewer data sets are used, with more draws on each
# If the last round does not shrink the rows, their mean is this multiple of the largest number in the bins.
BEYOND = 1.9


def at_the_last_threshold(
    claim: ClaimUnderAudit, share: float = 1.0, *, rounds: int | None = None, differences: bool = False
) -> near_choices.Choices:
    """Return data sets of rows along one direction, near the threshold of the last round.

    The last round shrinks the direction if its noisy second moment along the direction is at least the threshold. In
    the data sets, this second moment without noise lies a few noise scales below or above the threshold.

    `share` is the share of the budget ρ and of the failure probability β that is spent on all rounds together. `rounds`
    is the number of rounds, by default as many as PPC has. `differences` says whether the rounds get differences of two
    rows each.
    """
    kappa = claim.parameter("kappa")
    count = ppc.rounds(kappa) if rounds is None else rounds
    if not count:
        return ()
    rho, beta = share * claim.budget["rho"] / count, share * claim.parameter("beta") / count
    n = rows_for_quiet_rounds(claim, share * claim.budget["rho"], share * claim.parameter("beta"))
    last = ppc.kappa_of_round(kappa, count)
    squared = naive_pce.radius_squared(n, COLUMNS, last, beta)
    scale = math.sqrt(naive_pce.noise_variance(n, rho, squared, claim.options["calibration"]))

    def at(k: float) -> Matrix | None:
        value = (last / 2 + k * scale) * weak_ppc.FLOOR ** (count - 1)
        if value <= 0:
            return None
        row = math.sqrt(value) * DIRECTION
        if not differences:
            return np.tile(row, (n, 1))
        far = BEYOND * pme.image_bound(claim.parameter("mean_bound")) * weak_ppc.FLOOR ** (count / 2)
        return np.tile(far * DIRECTION + np.array([-row, row]) / math.sqrt(2), (n, 1))

    scales, times = (FEW_SCALES, 4) if differences else (near_choices.BOTH_SIDES, 1)
    return near_choices.at_scales("the last threshold", at, scales, times * near_choices.TIMES, MOST_ROWS)
