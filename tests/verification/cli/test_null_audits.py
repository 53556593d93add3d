"""Which p-values of an audit count as exact when their uniformity is tested."""

import pytest
from scipy import stats

from covassay.verification.audit.engine.finding import Finding, Status
from covassay.verification.cli.null_audits import DISTANCE, TOTAL, is_exact
from covassay.verification.statistics.tests import DISCRETE_SLACK

P = float(stats.kstwo.sf(0.1 - DISCRETE_SLACK, 100))  # of Kolmogorov's test for a distance of 0.1


def check(p_value: float | None, kind: str = "law", **facts: object) -> Finding:
    return Finding(kind, "name", Status.NOT_REFUTED, "", p_value=p_value, n=100, facts=facts)  # type: ignore[arg-type]


def test_kolmogorovs_test_and_the_test_of_a_total_are_exact() -> None:
    assert is_exact(check(P, effect=DISTANCE, statistic=0.1))
    assert is_exact(check(0.3, effect=TOTAL))


@pytest.mark.parametrize(
    "bound",
    [
        check(1.0, effect="rank correlation", statistic=0.0),  # the p-value that Kolmogorov's test would have too
        check(1.03 * P, effect=DISTANCE, statistic=0.1),
        check(P, kind="bits", effect=DISTANCE, statistic=0.1),
        check(None, effect=DISTANCE, statistic=0.1),
        check(0.5),
    ],
)
def test_all_others_are_bounds(bound: Finding) -> None:
    assert not is_exact(bound)
