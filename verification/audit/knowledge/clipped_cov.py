"""If its clipping norm is public, ClippedCov has the exact law of GaussCov or SeparateCov on clipped rows.

If ClippedCov uses GaussCov, its output is the second moment of the clipped rows plus noise. Draws of the target are
also compared with draws of the reference for every option.
"""

import math

from covassay.reference.domain import second_moment, unit_rows
from covassay.reference.mechanisms.building_blocks.above_threshold import query_scale
from covassay.reference.mechanisms.concentrated.clipped_cov import base_error, final_budget, noise_bound, search_epsilon
from covassay.reference.mechanisms.concentrated.gauss_cov import noise_scale
from covassay.reference.mechanisms.output import OUTPUTS
from covassay.verification.audit.engine.contract import example_rows
from covassay.verification.audit.engine.law import Scenario
from covassay.verification.audit.knowledge.known import Known
from covassay.verification.audit.knowledge.shared import (
    gaussian_noise,
    near_choices,
    reference_draws,
    separated_gaussian,
)
from covassay.verification.audit.knowledge.shared.data_paths import SAME_SQUARES, NotAdditive, QueryPlusNoise
from covassay.verification.audit.knowledge.shared.profile import ClaimUnderAudit, KnownLaw, common_pairs

ROWS = 500.0  # this is the value of n√ρ on data whose clipping bias is far above the bound on the noise


def law(claim: ClaimUnderAudit) -> KnownLaw:
    """Return the exact law if the clipping norm is public, and the tests that compare draws with the reference."""
    rho, options = claim.budget["rho"], claim.options
    separate, public = options["base"] == "separate", options["threshold"] == "public"
    tau = claim.parameter("clip_norm")
    pairs, scenarios = reference_draws.pairs(claim), reference_draws.scenarios(claim)
    if separate:  # the eigenvalues of these neighbours are far apart, so that the noise of the eigenvalues is tested
        pairs = (separated_gaussian.pair(rho), *common_pairs(OUTPUTS["matrix"]))
    if not public:
        return KnownLaw(scenarios, pairs)
    if separate:
        exact = separated_gaussian.scenario(rho, tau)
        return KnownLaw((exact, *scenarios), pairs, separated_gaussian.shapes(rho, tau))

    def scenario(n: int, d: int) -> Scenario:
        x = example_rows(n, d)
        moment, scale = second_moment(unit_rows(x, tau)), noise_scale(n, rho)
        return gaussian_noise.noise_scenario(f"d={d}", x, moment * tau**2, scale * tau**2, options["ensemble"])

    return KnownLaw((scenario(gaussian_noise.N, 4), *scenarios), pairs, gaussian_noise.shapes(scenario))


def path(claim: ClaimUnderAudit) -> QueryPlusNoise | NotAdditive:
    """Return how the output depends on the data. The output is the second moment of the clipped rows plus noise if the
    clipping norm is public and ClippedCov uses GaussCov.
    """
    if claim.options["base"] == "gauss" and claim.options["threshold"] == "public":
        return QueryPlusNoise(independent=True)
    because = "the clipping norm is random, or eigenvalues and eigenvectors get separate noises"
    return NotAdditive(because, SAME_SQUARES)


def near_the_first_level(claim: ClaimUnderAudit) -> near_choices.Choices:
    """Return rows on which the private search for a clipping norm is likely to end at its first level, or likely to
    go on.
    """
    rho, options = claim.budget["rho"], claim.options
    if options["threshold"] == "public":
        return ()
    n = math.ceil(ROWS / math.sqrt(rho))
    final = final_budget(rho, "private", options["calibration"])
    bound = noise_bound(1, base_error(n, 2, final, claim.parameter("beta"), options["base"], options["ensemble"]))
    return near_choices.first_clip_level(n, lambda trace: bound, query_scale(search_epsilon(rho), "paper"))


KNOWN = Known(law, path, choices=near_the_first_level)
