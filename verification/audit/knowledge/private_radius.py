"""The private radius is one of a few public numbers. The probabilities of the possible radii follow from the law of
AboveThreshold, whose queries are numbers of rows.

The probabilities of the possible radii are integrals over the noise of the threshold, which are known for rows of any
norms.
"""

import math

import numpy as np

from covassay.reference.domain import Vector
from covassay.reference.mechanisms.building_blocks import above_threshold, private_radius
from covassay.reference.mechanisms.output import OUTPUTS
from covassay.reference.sensitivity import neighbours
from covassay.verification.audit.engine.events import Pair
from covassay.verification.audit.engine.law import Scenario
from covassay.verification.audit.engine.shapes import Shapes, grid
from covassay.verification.audit.knowledge.known import Known
from covassay.verification.audit.knowledge.shared import near_choices
from covassay.verification.audit.knowledge.shared.data_paths import SAME_SQUARES, NotAdditive
from covassay.verification.audit.knowledge.shared.levels import FAR, FEW_NUMBERS, FINITE, NEAR, levels_test, outputs_of
from covassay.verification.audit.knowledge.shared.profile import ClaimUnderAudit, KnownLaw, common_pairs
from covassay.verification.exact.above_threshold import probabilities


def law(claim: ClaimUnderAudit) -> KnownLaw:
    """Return the law of the private radius for rows of the norms 0.1, 0.4 and 1, and for rows of norm 1 alone.

    A row counts for every radius that is at least its norm. A row of norm 1 therefore counts only for the largest
    possible radius, which is 1. If all rows have norm 1, the counts for all smaller radii are equally far below the
    threshold.
    """
    epsilon, calibration = claim.budget["epsilon"], claim.options["calibration"]
    radii = private_radius.public_radii(float(claim.options.get("precision", private_radius.PRECISION)))
    beta = float(claim.options.get("beta", private_radius.BETA))
    b1, b2 = above_threshold.threshold_scale(epsilon), above_threshold.query_scale(epsilon, calibration)
    slack = above_threshold.accuracy(len(radii), beta, epsilon, calibration)

    def of_norms(name: str, norms: Vector, d: int) -> Scenario:
        within = (norms[:, None] <= radii).sum(axis=0).astype(np.float64)
        law = probabilities(within, private_radius.search_threshold(len(norms), slack), b1, b2)
        # the output is 1 if the search ends at the largest radius, and also if the search ends at no radius
        merged = np.append(law[:-2], law[-2] + law[-1])
        axis = np.eye(d)[0] if d == 1 else np.array([0.6, 0.8, *np.zeros(d - 2)])
        return Scenario(name, norms[:, None] * axis, {"output": levels_test(radii, merged)})

    def shaped(n: int, d: int) -> Scenario:
        return of_norms(f"n={n}, d={d}", np.resize([0.1, 0.4, 0.7], n), d)

    def no_count(name: str, threshold: float) -> Scenario:
        return of_norms(name, np.ones(math.ceil(threshold + slack)), 1)

    scenarios = (
        of_norms("norms 0.1, 0.4, 1", np.repeat([0.1, 0.4, 1.0], [50, 20, 10]), 2),
        no_count("just below the threshold", NEAR * b2),
        no_count("far below the threshold", FAR * b2),
    )

    first, second = neighbours(np.zeros((60, 2)), np.zeros(2), np.array([0.5, 0.0]))
    longer = Pair("rows of norm 0, one longer", first, second, outputs_of(radii[[0, -2, -1]]))
    pairs = (*common_pairs(OUTPUTS["level"], dimensions=(2,)), longer)
    return KnownLaw(scenarios, pairs, Shapes(shaped, ("output",), lambda d: 1, grid()))


def near_the_threshold(claim: ClaimUnderAudit) -> near_choices.Choices:
    """Return rows of norm 0 and 1, among which the number of rows of norm 0 lies near the threshold."""
    epsilon, calibration = claim.budget["epsilon"], claim.options["calibration"]
    radii = private_radius.public_radii(float(claim.options.get("precision", private_radius.PRECISION)))
    beta = float(claim.options.get("beta", private_radius.BETA))
    scale = above_threshold.query_scale(epsilon, calibration)
    slack = above_threshold.accuracy(len(radii), beta, epsilon, calibration)
    n = math.ceil(slack + 16 * scale)
    return near_choices.at_scales("the threshold", lambda k: near_choices.unit_rows_among(n, slack - k * scale))


KNOWN = Known(law, NotAdditive(FINITE, SAME_SQUARES), bits_unseen=FEW_NUMBERS, choices=near_the_threshold)
