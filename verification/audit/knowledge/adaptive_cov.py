"""If the data make all choices of AdaptiveCov almost certain, AdaptiveCov adds the noise of GaussCov to the output.

If the choices of AdaptiveCov are not certain, draws of the target are compared with draws of the reference.
"""

import math

import numpy as np

from covassay.reference.domain import Matrix, second_moment
from covassay.reference.mechanisms.building_blocks.above_threshold import query_scale
from covassay.reference.mechanisms.building_blocks.private_trace import gaussian_margin, gaussian_scale
from covassay.reference.mechanisms.concentrated import adaptive_cov as mechanism
from covassay.reference.mechanisms.concentrated.gauss_cov import noise_scale
from covassay.verification.audit.knowledge.known import Known
from covassay.verification.audit.knowledge.shared import gaussian_noise, near_choices, unclipped_rows
from covassay.verification.audit.knowledge.shared.data_paths import SAME_SQUARES, NotAdditive
from covassay.verification.audit.knowledge.shared.profile import ClaimUnderAudit, KnownLaw

FEW_ROWS = 300.0  # this is the value of n√ρ on data for which noise decides between GaussCov and SeparateCov
MOST_COLUMNS, LONGER = 128, 0.5 + 1e-9
# on these data, with this value of n√ρ, the search passes its second level with probability below e^−70
ROWS = 1000.0


def law(claim: ClaimUnderAudit) -> KnownLaw:
    """Return the law of AdaptiveCov on rows that are not clipped, and tests that compare draws with the reference."""
    rho, options = claim.budget["rho"], claim.options
    x = unclipped_rows.certain(ROWS / rho**0.5)
    scale = noise_scale(len(x), mechanism.final_budget(rho, options["radius"], options["calibration"]))
    exact = gaussian_noise.noise_scenario("", x, second_moment(x), scale, options["ensemble"])
    return unclipped_rows.law(claim, exact, weight=0.3)


def near_the_first_level(claim: ClaimUnderAudit) -> near_choices.Choices:
    """Return rows on which the search for a clipping norm is likely to end at its first level, or likely to go on."""
    rho, options = claim.budget["rho"], claim.options
    if options["radius"] != "none":
        return ()
    n, beta = math.ceil(ROWS / math.sqrt(rho)), claim.parameter("beta")
    final = mechanism.final_budget(rho, "none", options["calibration"])
    margin = gaussian_scale(n, mechanism.trace_budget(rho)) * gaussian_margin(beta / 8)

    def noise_bound(trace: float) -> float:
        upper = min(1.0, trace + margin)
        found = mechanism.errors(n, 2, final, upper, 3 * beta / 4, options["ensemble"], options["bounds"])
        return min(mechanism.error_bounds(found, 1).values())

    return near_choices.first_clip_level(n, noise_bound, query_scale(mechanism.search_epsilon(rho), "paper"))


def near_the_better_mechanism(claim: ClaimUnderAudit) -> near_choices.Choices:
    """Return rows on which the noise of the trace decides whether GaussCov or SeparateCov makes the output.

    AdaptiveCov uses the mechanism whose error bound is smaller at the level where its search for a clipping norm ends.
    Noise decides between the mechanisms under two conditions on the rows. First, their trace makes the error bounds of
    the two mechanisms nearly equal at one level. Second, their clipping bias is so large that the search ends at this
    level. With few columns, no rows satisfy both of these conditions. The function uses the smallest multiple of 8
    columns for which some rows satisfy both conditions. The rows are just longer than 1/2, because the search sees a
    large clipping bias for rows of this length.
    """
    rho, options = claim.budget["rho"], claim.options
    n, beta = math.ceil(FEW_ROWS / math.sqrt(rho)), claim.parameter("beta")
    scale = gaussian_scale(n, mechanism.trace_budget(rho))
    final = mechanism.final_budget(rho, options["radius"], options["calibration"])
    for d in range(8, MOST_COLUMNS + 1, 8) if options["radius"] == "none" else ():
        found = mechanism.errors(n, d, final, 1.0, 3 * beta / 4, options["ensemble"], options["bounds"])
        at_one = found.gauss - found.eigenvalues
        # the error of the directions is proportional to the square root of the trace
        equal = (max(0.0, float(at_one)) / (2 * float(found.directions))) ** 2
        trace = equal - scale * gaussian_margin(beta / 8)
        if trace < scale or 0.75 * n * trace / LONGER**2 < n * float(found.gauss) / 4:
            continue

        def at(k: float, trace: float = trace, d: int = d) -> Matrix:
            total = n * (trace + k * scale)
            lengths = np.append(np.full(int(total / LONGER**2), LONGER), math.sqrt(total % LONGER**2))
            directions = np.eye(d) - 2 / d
            x = np.zeros((n, d))
            x[: len(lengths)] = lengths[:, None] * directions[np.arange(len(lengths)) % d]
            return x

        return near_choices.at_scales("the better of two mechanisms", at, (0.5, -0.5), near_choices.TIMES_IF_FAST)
    return ()


KNOWN = Known(
    law,
    NotAdditive("the data decide, through noise, which of several mechanisms answers", SAME_SQUARES),
    choices=lambda claim: (*near_the_first_level(claim), *near_the_better_mechanism(claim)),
)
