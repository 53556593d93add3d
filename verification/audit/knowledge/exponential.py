"""The exponential mechanism releases the index of a feature. The probabilities of the indices are a softmax of the
energies of the features.
"""

import math

import numpy as np
from scipy.special import log_softmax

from covassay.reference.domain import Matrix
from covassay.reference.mechanisms.building_blocks import exponential
from covassay.reference.mechanisms.output import OUTPUTS
from covassay.reference.sensitivity import neighbours
from covassay.verification.audit.engine.events import Pair, Statistic
from covassay.verification.audit.engine.law import Scenario, Suspect, Test
from covassay.verification.audit.engine.shapes import Shapes, grid
from covassay.verification.audit.knowledge.known import Known
from covassay.verification.audit.knowledge.shared.data_paths import SAME_MOMENT, NotAdditive
from covassay.verification.audit.knowledge.shared.levels import FEW_NUMBERS, FINITE, axes_in_turn, choices, levels_test
from covassay.verification.audit.knowledge.shared.profile import ClaimUnderAudit, KnownLaw, common_pairs

MOST = 128  # features
# each of many rare features has about one of these probabilities; if a target rounds such a probability to 0, its
# privacy loss is infinite
RARE, MANY = (3e-4, 2e-5), 512


def law(claim: ClaimUnderAudit) -> KnownLaw:
    """Return the law on several data sets, where the energy of a feature is the sum of its squared values. One data set
    has three features with the energies 4, 2 and 1. In each other data set, one feature has more energy than many
    others.

    In one data set the feature with the most energy is as likely as all other features together, so that its
    probability depends strongly on the exponent. In the last two data sets every feature but the strongest one has a
    small probability.
    """
    eta = exponential.exponent(claim.budget["epsilon"], exponential.ENERGY_RANGE)

    def scenario(name: str, x: Matrix) -> Scenario:
        energies = (x**2).sum(axis=0)

        def softmax(factor: float) -> Test:
            return levels_test(np.arange(1.0, len(energies) + 1), np.exp(log_softmax(factor * eta * energies)))

        suspects = (
            Suspect.times(
                "double-exponent", "the exponent is twice the calibrated one, as for half the sensitivity", 2.0, softmax
            ),
            Suspect.times(
                "half-exponent", "the exponent is half the calibrated one: private but wasteful", 0.5, softmax
            ),
        )
        return Scenario(name, x, {"output": softmax(1.0)}, suspects)

    def ahead(name: str, d: int, logarithm: float) -> Scenario:
        return scenario(f"one feature {name} of {d - 1}", np.tile(np.eye(d)[:1], (math.ceil(logarithm / eta), 1)))

    scenarios = (
        scenario("energies 4, 2, 1", np.repeat(np.eye(3), [4, 2, 1], axis=0)),
        ahead("ahead", MOST, math.log(MOST - 1)),
        *(ahead(f"far ahead ({p:g})", MANY, -math.log(p)) for p in RARE),
    )

    def in_turn(n: int, d: int) -> Scenario:
        x, counts = axes_in_turn(n, d)
        exact = np.exp(log_softmax(eta * counts))
        return Scenario(f"n={n}, d={d}", x, {"output": levels_test(np.arange(1.0, d + 1), exact)})

    def statistics(first: Matrix, second: Matrix) -> tuple[Statistic, ...]:
        one, two = (log_softmax(eta * (y**2).sum(axis=0)) for y in (first, second))
        ratio = Statistic(
            "log likelihood ratio", lambda y: (one - two)[np.clip(np.rint(y), 1, len(one)).astype(int) - 1]
        )
        return (ratio, *choices(first, second))

    first, second = neighbours(np.repeat(np.eye(2), [0, 2], axis=0), *np.eye(2))
    second_ahead = Pair("second feature ahead, d=2", first, second, statistics(first, second), weight=2.0)
    pairs = (*common_pairs(OUTPUTS["level"], statistics, dimensions=(2,)), second_ahead)
    return KnownLaw(scenarios, pairs, Shapes(in_turn, ("output",), lambda d: 1, grid(fewest_columns=2)))


KNOWN = Known(
    law,
    NotAdditive(FINITE, SAME_MOMENT),
    bits_unseen=FEW_NUMBERS,
    no_choices="the law is known on all data, and on one data set the best feature has a probability of about 1/2",
)
