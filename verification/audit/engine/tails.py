"""Tails and rare branches: what tests of a whole distribution hardly see.

In every scenario the values of all statistics whose law is known are counted beyond exact quantiles. Over all scenarios
of a run, the value that lies furthest out in its law is held against the number of values. One draw at thirty standard
deviations refutes.

A branch that is taken with probability p is taken in N draws with probability 1 − (1 − p)^N. What is rarer than that
allows cannot be seen in draws, whatever the test.
"""

import math
from collections.abc import Iterable, Mapping

from covassay.verification.audit.engine.checks import CheckResult, Status
from covassay.verification.statistics.tails import furthest, rarest_seen, tail_counts
from covassay.verification.statistics.tests import TestResult

TAILS = "tails"
RARE_BRANCHES = "rare branches"
ALL = "all data sets of the law"  # takes the place of a scenario's name


def tail_checks(scenario: str, results: Mapping[str, TestResult], draws: int) -> list[CheckResult]:
    """The check of the tails of one scenario, not yet decided; none if no statistic has a known law."""
    samples = [(name, result.placed) for name, result in results.items() if result.placed is not None]
    if not samples:
        return []
    result = tail_counts(samples, "beyond every quantile lies the share of values that the law predicts")
    known = [sample for _, sample in samples if sample.extreme < 1]
    return [
        CheckResult(
            "law",
            TAILS,
            Status.NOT_REFUTED,
            f"null: {result.null}",
            scenario,
            p_value=result.p_value,
            n=draws,
            facts={
                "statistic": result.statistic,
                "effect": result.effect,
                "detectable": result.detectable,
                "estimates": "",
                "failures": {},
                "furthest": min((sample.extreme for sample in known), default=1.0),
                "values": sum(len(sample.below) for sample in known),
            },
        )
    ]


def _down(probability: float) -> str:
    """A probability in one digit, rounded down."""
    exponent = math.floor(math.log10(probability))
    return f"{math.floor(probability / 10.0**exponent)}e{exponent}"


def rare_branches(checks: Iterable[CheckResult]) -> list[CheckResult]:
    """The check of the furthest value over all scenarios, not yet decided; none if no law is known far out."""
    known = [check for check in checks if check.facts.get("values")]
    if not known:
        return []
    values, draws = sum(check.facts["values"] for check in known), sum(check.n for check in known)
    extreme = min(check.facts["furthest"] for check in known)
    result = furthest(extreme, values, draws, "no value lies further out than its law reaches")
    worst = min(known, key=lambda check: float(check.facts["furthest"])).scenario

    def in_reach(alpha: float) -> str:
        return (
            f"a branch that moves what is tested to where the law has a probability below {_down(alpha / values)} is "
            f"seen the first time it is taken. Taken once in {int(1 / rarest_seen(draws))} draws or more often, it "
            f"would have been taken in these {draws} draws with 99 % probability; of rarer branches nothing is known"
        )

    return [
        CheckResult(
            "law",
            RARE_BRANCHES,
            Status.NOT_REFUTED,
            f"null: {result.null}; of {values} values in {draws} draws, the law reaches as far out as the furthest "
            f"with probability {extreme:.2g} ({worst})",
            ALL,
            p_value=result.p_value,
            n=draws,
            facts={
                "statistic": extreme,
                "effect": result.effect,
                "detectable": result.detectable,
                "estimates": "",
                "failures": {},
                "reach": in_reach,
            },
        )
    ]
