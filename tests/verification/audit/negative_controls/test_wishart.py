"""Test that the Wishart mechanism violates its claim. The test computes the exact probability of an event that only
one data set allows, and the draws needed to see it.
"""

import math

import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray

from covassay.reference.domain import second_moment
from covassay.reference.mechanisms.output import SECOND_MOMENT
from covassay.reference.privacy import ApproximateDP, Guarantee, PureDP
from covassay.verification.audit.budget import decide
from covassay.verification.audit.engine.finding import Look, Status
from covassay.verification.audit.engine.privacy import run_pair
from covassay.verification.audit.engine.sampling import Setting
from covassay.verification.audit.knowledge.shared.profile import black_box
from covassay.verification.audit.targets.target import TargetReference
from covassay.verification.statistics.tests import binomial
from tests.negative_controls.of_wishart import distinguishing_probability, draw_wishart

FALSE_ALARM = 1e-9
Matrix = NDArray[np.float64]


def test_the_probability_by_hand() -> None:
    assert distinguishing_probability(1.0) == pytest.approx(0.2834686894, abs=1e-10)
    assert distinguishing_probability(mpmath.mpf(3), mpmath.exp) == 1 - 1 / mpmath.e
    assert distinguishing_probability(3 * math.log(2)) == pytest.approx(0.5, rel=1e-15)


def below(outputs: Matrix, x: Matrix) -> int:
    """Return the number of outputs that are smaller than the second moment in some direction."""
    return int((np.linalg.eigvalsh(outputs - second_moment(x))[:, 0] < -1e-12).sum())


@pytest.mark.parametrize("d", [1, 2, 5])
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 4.0])
def test_an_event_that_is_impossible_on_one_side_has_that_probability_on_the_other(d: int, epsilon: float) -> None:
    # The two data sets have four rows, of which the last differs, and 20000 draws are made on each.
    rng = np.random.default_rng(d)
    first = np.vstack([0.3 * np.ones((3, d)) / math.sqrt(d), np.ones((1, d)) / math.sqrt(d)])
    second = first.copy()
    second[-1] = 0
    assert below(draw_wishart(first, 20000, rng=rng, epsilon=epsilon), first) == 0
    seen = below(draw_wishart(second, 20000, rng=rng, epsilon=epsilon), first)
    assert binomial(seen, 20000, distinguishing_probability(epsilon), "").p_value > FALSE_ALARM
    # The probability is 1 − e^{−ε/3}. The test must reject two wrong formulas: the first has one degree of freedom in
    # place of two, and the second lacks the factor 3 in the scale.
    for wrong in (math.erf(math.sqrt(epsilon / 3)), 1 - math.exp(-epsilon)):
        assert binomial(seen, 20000, wrong, "").p_value < FALSE_ALARM


def refuted(claim: Guarantee, samples: int) -> bool:
    """Return whether the audit refutes the claim at level 1e-9 if it does not know the mechanism."""
    setting = Setting(TargetReference("mutant:wishart", "."), {"epsilon": 1.0}, SECOND_MOMENT, seed=0, seconds=1.0)
    checks = []
    for pair in black_box(SECOND_MOMENT).pairs(frozenset()):
        checks += run_pair(setting, pair, claim, Look(samples=samples))
    return any(check.status is Status.REFUTED for check in decide(checks, Look(level=FALSE_ALARM, tests=len(checks))))


@pytest.mark.parametrize(("samples", "seen"), [(100, False), (400, True)])
def test_a_black_box_audit_sees_it(samples: int, seen: bool) -> None:
    """The test fails if an audit without a named mechanism misses the violation of the
    Wishart mechanism at 400 draws.
    """
    assert refuted(PureDP(1.0), samples) is seen


@pytest.mark.thorough
def test_no_epsilon_is_large_enough_for_a_small_delta() -> None:
    assert refuted(ApproximateDP(3.0, 0.01), 4000)
