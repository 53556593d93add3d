"""AboveThreshold releases one of finitely many answers. The probability of each answer of AboveThreshold is an integral
over the noise of the threshold.

The probabilities of the answers of AboveThreshold are known on data of every shape.
"""

import math

import numpy as np
from scipy import stats

from covassay.reference.domain import Matrix, Vector
from covassay.reference.mechanisms.building_blocks import above_threshold
from covassay.reference.mechanisms.output import OUTPUTS
from covassay.reference.sensitivity import neighbours
from covassay.verification.audit.engine.events import Pair
from covassay.verification.audit.engine.law import Scenario, Suspect, Test
from covassay.verification.audit.engine.shapes import Shapes, grid
from covassay.verification.audit.knowledge.known import Known
from covassay.verification.audit.knowledge.shared import near_choices
from covassay.verification.audit.knowledge.shared.data_paths import SAME_MOMENT, NotAdditive
from covassay.verification.audit.knowledge.shared.levels import (
    FAR,
    FEW_NUMBERS,
    FINITE,
    NEAR,
    axes_in_turn,
    choices,
    levels_test,
)
from covassay.verification.audit.knowledge.shared.profile import ClaimUnderAudit, KnownLaw, common_pairs
from covassay.verification.exact.above_threshold import probabilities

MANY = 32  # features


def _fresh_threshold(values: Vector, threshold: float, b1: float, b2: float) -> Vector:
    """Return the probabilities of the answers of AboveThreshold if fresh noise is added to the threshold for every
    query.
    """
    reaches = np.array([probabilities(values[i : i + 1], threshold, b1, b2)[0] for i in range(len(values))])
    return np.append(reaches, 1.0) * np.cumprod(np.append(1.0, 1 - reaches))


def _exact_queries(values: Vector, threshold: float, b1: float) -> Vector:
    """Return the probabilities of the answers of AboveThreshold if only the threshold has noise.

    A query is the first to reach the noisy threshold if the noisy threshold lies between the largest earlier query and
    this query.
    """
    reached = stats.laplace.cdf(np.maximum.accumulate(values) - threshold, scale=b1)
    return np.diff(reached, prepend=0.0, append=1.0)


def law(claim: ClaimUnderAudit) -> KnownLaw:
    """Return the law of AboveThreshold on three data sets. The energy of a feature is the sum of its squared values. In
    the first data set, three features have the energies 1, 2 and 4. In the other two data sets, every feature has
    energy 0.

    An output is the number of the first feature whose noisy energy reaches the noisy threshold, or one more than the
    number of features if there is none. On the first data set, the probabilities of the outputs hardly depend on the
    noise scales. If the features of energy 0 are just below the threshold, the outputs depend on the scale of the
    threshold's noise. If the features of energy 0 are far below the threshold, only the tails of the noise reach the
    threshold, and the outputs depend on the scale of the queries' noise.
    """
    epsilon, share = claim.budget["epsilon"], float(claim.options.get("share", 1.0))
    b1 = above_threshold.threshold_scale(epsilon)
    b2 = above_threshold.query_scale(epsilon, claim.options["calibration"])
    tiny = b1 / 40

    def scenario(name: str, x: Matrix) -> Scenario:
        energies = (x**2).sum(axis=0)
        d, threshold = len(energies), len(x) / len(energies) * share

        def test(exact: Vector) -> Test:
            return levels_test(np.arange(1.0, d + 2), exact)

        def law(one: float, two: float) -> Test:
            return test(probabilities(energies, threshold, one, two))

        suspects = (
            Suspect("fresh-threshold", "the threshold has fresh noise for every query",
                    test(_fresh_threshold(energies, threshold, b1, b2))),
            Suspect("exact-threshold", "the threshold has no noise", law(tiny, b2)),
            Suspect("exact-queries", "the queries have no noise: the loss is infinite",
                    test(_exact_queries(energies, threshold, b1))),
            Suspect.times("quarter-noise", "the noise has a quarter of the calibrated scale", 0.25,
                          lambda factor: law(b1 * factor, b2 * factor)),
        )  # fmt: skip
        return Scenario(name, x, {"output": law(b1, b2)}, suspects)

    def no_energy(name: str, d: int, threshold: float) -> Scenario:
        return scenario(f"{name}, d={d}", np.zeros((math.ceil(threshold * d / share), d)))

    scenarios = (
        scenario("energies 1, 2, 4", np.repeat(np.eye(3), [1, 2, 4], axis=0)),
        no_energy("just below the threshold", 12, NEAR * b2),
        no_energy("far below the threshold", MANY, FAR * b2),
    )

    def in_turn(n: int, d: int) -> Scenario:
        x, counts = axes_in_turn(n, d)
        exact = probabilities(counts, n / d * share, b1, b2)
        return Scenario(f"n={n}, d={d}", x, {"output": levels_test(np.arange(1.0, d + 2), exact)})

    first, second = neighbours(np.eye(2)[:1], *np.eye(2))
    ahead = Pair("first feature ahead, d=2", first, second, choices(first, second))
    pairs = (*common_pairs(OUTPUTS["level"], choices, dimensions=(2,)), ahead)
    return KnownLaw(scenarios, pairs, Shapes(in_turn, ("output",), lambda d: 1, grid()))


def near_the_threshold(claim: ClaimUnderAudit) -> near_choices.Choices:
    """Return data of two features, of which the first has an energy near the threshold, and the second has energy 0."""
    scale = above_threshold.query_scale(claim.budget["epsilon"], claim.options["calibration"])
    share = float(claim.options.get("share", 1.0)) / 2
    n = math.ceil(16 * scale / share)
    return near_choices.at_scales(
        "the threshold", lambda k: near_choices.unit_rows_among(n, n * share + k * scale, 0.0)
    )


KNOWN = Known(law, NotAdditive(FINITE, SAME_MOMENT), bits_unseen=FEW_NUMBERS, choices=near_the_threshold)
