"""Test the tails of laws and rarely executed branches of code, to which tests of a whole distribution are hardly
sensitive.

On every data set, the audit counts the values beyond exact quantiles for all statistics whose law is known. Over all
data sets of a run, the most extreme value of a statistic must be plausible for the number of values. A single draw at
thirty standard deviations refutes the law.

A branch that is taken with probability p is taken in N draws with probability 1 − (1 − p)^N. No test can detect a
branch that was never taken.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace

from covassay.verification.audit.engine.facts import LawTest
from covassay.verification.audit.engine.finding import Finding, Look, Status
from covassay.verification.statistics.pooling import Places
from covassay.verification.statistics.tails import furthest, rarest_seen, tail_counts
from covassay.verification.statistics.tests import TestResult

TAILS = "tails"
RARE_BRANCHES = "rare branches"
ALL = "all data sets of the law"  # reports print this text in place of the name of a data set


def tail_findings(scenario: str, results: Mapping[str, TestResult], draws: int, look: Look) -> list[Finding]:
    """Return a finding with the p-value of the tails on one data set; the run decides later whether it refutes. If no
    statistic has a known law, there is no finding.
    """
    samples = [(name, result.placed) for name, result in results.items() if result.placed is not None]
    if not samples:
        return []
    result = tail_counts(samples, "the share of values beyond every quantile is the share that the law predicts")
    far_known = [sample for _, sample in samples if sample.extreme < 1]
    furthest_seen = min((sample.extreme for sample in far_known), default=1.0)
    return [_finding(scenario, result, (furthest_seen, sum(len(sample.below) for sample in far_known)), draws, look)]


def tail_findings_of_counts(scenario: str, counted: Mapping[str, Places], draws: int, look: Look) -> list[Finding]:
    """Test the tails from the counts of many draws; the p-value is the smallest over all statistics, after Bonferroni's
    correction.
    """
    if not counted:
        return []
    tails = {name: places.tails() for name, places in counted.items()}
    worst = min(tails, key=lambda name: tails[name].p_value)
    result = replace(
        tails[worst],
        null=f"{tails[worst].null} ({worst})",
        p_value=min(1.0, len(tails) * tails[worst].p_value),
        detectable=lambda alpha: tails[worst].detectable(alpha / len(tails)),
    )
    far_known = [places for places in counted.values() if places.extreme < 1]
    furthest_seen = min((places.extreme for places in far_known), default=1.0)
    return [_finding(scenario, result, (furthest_seen, sum(places.n for places in far_known)), draws, look)]


def _finding(scenario: str, result: TestResult, reached: tuple[float, int], draws: int, look: Look) -> Finding:
    facts = LawTest(
        result.statistic, result.effect, result.detectable(look.step), furthest=reached[0], values=reached[1]
    )
    return Finding(
        "law", TAILS, Status.NOT_REFUTED, f"null: {result.null}", scenario, p_value=result.p_value, n=draws, facts=facts
    )


def _down(probability: float) -> str:
    """Round a probability down to one digit."""
    exponent = math.floor(math.log10(probability))
    return f"{math.floor(probability / 10.0**exponent)}e{exponent}"


def rare_branches(findings: Iterable[Finding], look: Look) -> list[Finding]:
    """Return a finding with the p-value of the most extreme value over all data sets; the run decides later whether it
    refutes. If no tail law is known, there is no finding.
    """
    tails = [(f.scenario, f.n, f.facts) for f in findings if isinstance(f.facts, LawTest) and f.facts.values]
    if not tails:
        return []
    values, draws = sum(facts.values or 0 for _, _, facts in tails), sum(n for _, n, _ in tails)
    extreme, worst = min((1.0 if facts.furthest is None else facts.furthest, name) for name, _, facts in tails)
    result = furthest(extreme, values, draws, "the law makes even the most extreme value plausible")
    reach = (
        "a branch of the code is detected the first time it is taken if it makes a tested statistic so extreme that "
        f"the law gives such values a probability below {_down(look.step / values)}. A branch that is taken in one of "
        f"{int(1 / rarest_seen(draws))} draws, or more often, was taken in these {draws} draws with a probability of "
        "at least 99 %. Nothing is known about rarer branches"
    )

    return [
        Finding(
            "law",
            RARE_BRANCHES,
            Status.NOT_REFUTED,
            f"null: {result.null}; {values} values of statistics were computed from {draws} draws; the most extreme of "
            f"them is on “{worst}”, and under the law, one value is as extreme with probability {extreme:.2g}",
            ALL,
            p_value=result.p_value,
            n=draws,
            facts=LawTest(extreme, result.effect, result.detectable(look.step), reach=reach),
        )
    ]
