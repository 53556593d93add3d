"""Make data of paired rows for mechanisms that take differences of records and precondition them, as PME does.

In the first data set of this module, the two rows of each pair are equal. The differences of equal rows are 0, so every
round multiplies the rows by the same public factor. Rows of different pairs that follow each other lie far apart. If a
mechanism wrongly uses a record in two differences, some differences are therefore large, and the mechanism shrinks
rows. In the second data set of this module, the two rows of each pair lie far apart, so that rows are shrunk unless the
mechanism sorts them first.
"""

import math

import numpy as np

from covassay.reference.domain import Matrix
from covassay.reference.mechanisms.gaussian_estimation import kv_mean, naive_pce, pme, ppc, weak_ppc
from covassay.verification.audit.engine.law import Scenario
from covassay.verification.audit.knowledge.shared import reference_draws
from covassay.verification.audit.knowledge.shared.constant_columns import INSIDE
from covassay.verification.audit.knowledge.shared.profile import ClaimUnderAudit

COLUMNS = 2
FAR = 4.0  # the largest eigenvalue of a noise matrix hardly exceeds 2√d by more than this many noise scales
MOST_ROWS = 50_000  # a data set with more rows than this is left out
WEIGHT = 0.05  # with this many rows or more, a draw is slow


def rows_for_quiet_rounds(claim: ClaimUnderAudit, rho: float, beta: float) -> int:
    """Return the number of differences of rows with which the noise alone hardly ever exceeds a threshold. In round t,
    the largest eigenvalue of the noise must hardly ever reach the threshold κ_t/2.

    `rho` and `beta` are the budget and the failure probability of PPC.
    """
    rounds, rows = max(1, ppc.rounds(claim.parameter("kappa"))), 2
    while rows <= MOST_ROWS:
        squared = naive_pce.radius_squared(rows, COLUMNS, 1.0, beta / rounds)
        variance = naive_pce.noise_variance(rows, rho / rounds, squared, claim.options["calibration"])
        if (2 * math.sqrt(COLUMNS) + FAR) * math.sqrt(variance) < 0.5:
            break
        rows += 1 + rows // 8
    return rows


def pairs_of_rows(claim: ClaimUnderAudit, rho: float, beta: float) -> Matrix | None:
    """Return pairs of equal rows, equally many in every bin, in an order that alternates between the two sides of 0.
    Return None if the pairs are too many.

    `rho` and `beta` are the budget and the failure probability of PME.
    """
    sigma = math.sqrt(weak_ppc.SMALLEST_KAPPA)
    last = kv_mean.last_bin(pme.image_bound(claim.parameter("mean_bound")), sigma)
    each = math.ceil(rows_for_quiet_rounds(claim, pme.half(rho), pme.half(beta)) / (2 * last + 1))
    if 2 * (2 * last + 1) * each > MOST_ROWS:
        return None
    bins = np.tile((1 + np.arange(2 * last + 1)) // 2 * (-1.0) ** np.arange(2 * last + 1), each) + INSIDE
    every_round = math.sqrt(weak_ppc.FLOOR)  # a round of the preconditioner divides the rows by this number
    column = np.repeat(bins * sigma * every_round ** ppc.rounds(claim.parameter("kappa")), 2)
    return np.tile(column[:, None], (1, COLUMNS))


def of_pairs(claim: ClaimUnderAudit, rho: float, beta: float) -> tuple[Scenario, ...]:
    """Return pairs of equal rows, and the same rows in an order in which the two rows of each pair are at opposite
    ends.
    """
    x = pairs_of_rows(claim, rho, beta)
    if x is None:
        return ()
    orders = {"equal": x, "distant": np.roll(x, 1, axis=0)}
    return tuple(
        reference_draws.scenario_on(claim, f"pairs of {words} rows, d={COLUMNS}", rows, WEIGHT)
        for words, rows in orders.items()
    )
