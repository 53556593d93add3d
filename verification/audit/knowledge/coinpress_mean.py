"""The mean that CoinPress releases is Gaussian if all rows are equal and lie either at the origin or far away from it.

If all rows are at the origin, no step clips the rows, so the output has only the noise of the last step. If all rows
are far from the origin, every step clips all of them to one point, whose direction from the centre hardly depends on
the noise. Each step of CoinPress starts from the noisy centre of the step before, so the noises of all steps add up in
the output. To find the mean of the Gaussian law, the audit runs the reference without noise. The variance is the sum of
the squared changes of the output if one noise value at a time is 1 and all others are 0.
"""

import math
from dataclasses import replace

import numpy as np

from covassay.reference.domain import Matrix
from covassay.reference.mechanisms.gaussian_estimation import coinpress_mean as mechanism
from covassay.reference.mechanisms.gaussian_estimation.coinpress_covariance import budgets
from covassay.verification.audit.engine.law import Scenario
from covassay.verification.audit.engine.shapes import COLUMNS, Shapes
from covassay.verification.audit.knowledge.known import Known
from covassay.verification.audit.knowledge.shared import near_choices, reference_draws
from covassay.verification.audit.knowledge.shared.coordinate_noise import vector_noise
from covassay.verification.audit.knowledge.shared.data_paths import NotAdditive, released, zero_noise
from covassay.verification.audit.knowledge.shared.far_rows import far_out
from covassay.verification.audit.knowledge.shared.noise_entries import with_entries
from covassay.verification.audit.knowledge.shared.profile import ClaimUnderAudit, KnownLaw, common_pairs
from covassay.verification.statistics.laws import NORMAL

VERY_FAR = 1e8  # at this distance from the origin, the direction of a row hardly depends on the centre
DIMENSION = 3
# with this value of n√ρ, a step clips rows at the origin only if its noise exceeds 30 standard deviations
RECORDS = 1000.0
MOST = 20_000  # rows
# these are the value of n√ρ and the number of columns of the data sets that `opposite_rows` returns
FEW_RECORDS, PLANE = 100.0, 2
WEIGHT = 3.0  # this factor of the number of draws is large enough to detect an error of 5 % in the noise scale


def equal_rows(claim: ClaimUnderAudit, name: str, place: float, n: int, d: int, weight: float) -> Scenario:
    """Return n equal rows on the first axis, with the law of the output on them."""
    x = np.tile(place * np.eye(d)[:1], (n, 1))
    zero = zero_noise(claim, d)
    centre = released(claim, x, zero)
    responses = np.array([released(claim, x, unit.reshape(zero.shape)) - centre for unit in np.eye(zero.size)])
    scale = np.sqrt((responses**2).sum(axis=0))
    seen = replace(vector_noise(f"{name}, d={d}", x, centre, scale, NORMAL, 2), weight=weight)
    return with_entries(seen, centre, symmetric=False, independent=True)


def law(claim: ClaimUnderAudit) -> KnownLaw:
    """Return the tests that compare draws with the reference. If at most `MOST` equal rows suffice for an exact law of
    the output, also return tests of this law on equal rows.
    """
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


def opposite_rows(claim: ClaimUnderAudit) -> near_choices.Choices:
    """Return data sets with rows on two opposite sides of the ball to which the last round of CoinPress clips rows. The
    centre of the ball in the last round is the noisy result of the round before.

    If no row is clipped, the mean of the clipped rows is 0; if all rows are clipped, their mean is the centre of the
    ball.
    """
    rho, constants, steps = claim.budget["rho"], claim.options["constants"], int(claim.parameter("steps"))
    beta, r = claim.parameter("beta") / steps, claim.parameter("radius")
    n = 2 * math.ceil(FEW_RECORDS / math.sqrt(rho) / 2)
    if steps == 1:
        return ()
    gamma = mechanism.row_bound(n, PLANE, beta, constants)
    for budget in budgets(rho, steps)[:-1]:
        sigma = mechanism.noise_scale(mechanism.clip_radius(r, gamma, constants), n, budget)
        r = mechanism.next_radius(n, PLANE, sigma, beta, constants)
    tau = mechanism.clip_radius(r, gamma, constants)
    ends = np.array([[1.0], [-1.0]]) * np.array([math.cos(near_choices.ANGLE), math.sin(near_choices.ANGLE)])

    def at(k: float) -> Matrix:
        return np.tile((tau + k * sigma) * ends, (n // 2, 1))

    return near_choices.at_scales("opposite ends of the last ball", at, times=2 * near_choices.TIMES)


KNOWN = Known(
    law,
    NotAdditive("every round clips the rows to a ball that the round before has drawn", continuous=True),
    choices=opposite_rows,
)
