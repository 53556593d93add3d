"""Test which p-values of an audit count as exact in a test of uniformity."""

import pytest
from scipy import stats

from covassay.verification.audit.engine.facts import LawTest
from covassay.verification.audit.engine.finding import Finding, Status
from covassay.verification.audit.questions.bits import low_order_bits
from covassay.verification.audit.questions.law import distribution, other_shapes
from covassay.verification.maintain.null_audits import DISTANCE, TOTAL, exact_p_value
from covassay.verification.statistics.laws import ERROR
from covassay.verification.statistics.tests import TWO_CDFS, p_value_of_distance

P = p_value_of_distance(0.1, 100)  # the p-value of a Kolmogorov–Smirnov test for the distance 0.1


def check(
    p_value: float | None, effect: str = "", statistic: float = 0.1, question: str = distribution.QUESTION.id
) -> Finding:
    facts = LawTest(statistic, effect, detectable=0.2) if effect else None
    return Finding("law", "name", Status.NOT_REFUTED, "", p_value=p_value, n=100, facts=facts, question=question)


def test_kolmogorovs_test_and_the_test_of_a_total_are_exact() -> None:
    exact = float(stats.kstwo.sf(0.1, 100))
    assert exact_p_value(check(P, DISTANCE)) == exact_p_value(check(p_value_of_distance(0.1, 100, ERROR), DISTANCE))
    assert exact_p_value(check(P, DISTANCE)) == exact
    assert exact_p_value(check(0.3, TOTAL)) == 0.3


@pytest.mark.parametrize(
    "bound",
    [
        check(1.0, "rank correlation", statistic=0.0),  # Kolmogorov's test also has p-value 1 for the distance 0
        check(1.03 * P, DISTANCE),
        check(1.0, TWO_CDFS, statistic=0.0),  # for the distance 0, the tests of one and of two samples have p-value 1
        check(P, question=low_order_bits.QUESTION.id),
        check(0.3, TOTAL, question=other_shapes.QUESTION.id),
        check(None, DISTANCE),
        check(0.5),
    ],
)
def test_all_others_are_bounds(bound: Finding) -> None:
    assert exact_p_value(bound) is None
