"""Simulate audits to test the statistical power that reports state. At the stated effect, at least 97 of 100 runs must
refute. If the true power is 99 %, the frequency in 2000 runs is below 97 % with probability below 1e-13.
"""

import math
from functools import partial

import numpy as np
import pytest

from covassay.reference.privacy import ZCDP, ApproximateDP, Guarantee, PureDP
from covassay.verification.audit.api import audit
from covassay.verification.audit.engine import facts
from covassay.verification.audit.engine.event_choice import rho_of_coins
from covassay.verification.audit.engine.finding import Look
from covassay.verification.audit.engine.power import EventTest
from covassay.verification.audit.engine.privacy import in_reach
from covassay.verification.audit.engine.violation import p_value, refutes
from covassay.verification.audit.report import AuditReport
from covassay.verification.audit.reports.words import could_have_seen, power_sentences
from covassay.verification.audit.targets.target import TargetReference
from covassay.verification.statistics.ratio import EventCounts
from covassay.verification.statistics.tests import TestResult, binomial, independence, kolmogorov_smirnov, two_sample

LEVEL = 1e-11
RUNS = 2000
CLAIMS = (PureDP(1.0), PureDP(0.1), ApproximateDP(1.0, 1e-6), ZCDP(0.5))


def other_probability(p: float, loss: float, guarantee: Guarantee) -> float:
    """Return the probability of the event on the second data set if it has probability p on the first and shows the
    given loss.
    """
    if isinstance(guarantee, PureDP):
        return p * math.exp(-loss)
    if isinstance(guarantee, ApproximateDP):
        return (p - guarantee.delta) * math.exp(-loss)
    low, high = p * math.exp(-40.0), p
    for _ in range(60):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if rho_of_coins(p, middle) >= loss else (low, middle)
    return low


def refuted(p: float, q: float, mean: float, guarantee: Guarantee, runs: int) -> float:
    """Return the share of simulated runs that refute, if the numbers of draws have a Poisson law."""
    rng = np.random.default_rng(17)
    found = 0
    for _ in range(runs):
        n, m = (int(size) for size in rng.poisson(mean, 2))
        counts = EventCounts(int(rng.binomial(n, p)), int(rng.binomial(m, q)), n, m, mean)
        found += refutes(guarantee, counts, LEVEL)
    return found / runs


@pytest.mark.parametrize("guarantee", CLAIMS, ids=str)
@pytest.mark.parametrize(
    ("p", "runs"), [(0.6, 200), *(pytest.param(p, RUNS, marks=pytest.mark.slow) for p in (0.15, 0.6, 0.95))]
)
def test_a_loss_of_the_stated_size_is_seen(guarantee: Guarantee, p: float, runs: int) -> None:
    test = EventTest(p, guarantee, partial(refutes, guarantee), LEVEL)
    loss = test.smallest_loss(4000.0)
    q = other_probability(p, loss, guarantee)
    assert refuted(p, q, 4000.0, guarantee, runs) >= 0.97
    # a loss slightly below the stated one must be detected less often
    assert refuted(p, q + 0.25 * (p - q), 4000.0, guarantee, 100) < 0.97


@pytest.mark.slow
@pytest.mark.parametrize("guarantee", CLAIMS, ids=str)
def test_with_the_samples_that_the_report_asks_for_a_loss_near_the_claim_is_seen(guarantee: Guarantee) -> None:
    counts = EventCounts(840, 400, 1400, 1400, 1400.0)
    reach = in_reach(counts, guarantee, 1, LEVEL)
    assert reach is not None
    q = other_probability(reach.probability, reach.small_loss, guarantee)
    mean = 1400.0 * reach.times_the_samples
    assert refuted(reach.probability, q, mean, guarantee, RUNS) >= 0.97
    # The report uses two bounds in place of one test, so its number of draws is up to four times too large.
    assert refuted(reach.probability, q, mean / 4, guarantee, 300) < 0.5


def test_the_decision_is_that_of_the_p_value() -> None:
    for guarantee in CLAIMS:
        for second in range(0, 700, 35):
            counts = EventCounts(800, second, 1400, 1400, 1400.0)
            assert refutes(guarantee, counts, LEVEL) == (p_value(counts, guarantee) <= LEVEL)


def test_with_too_few_draws_no_loss_is_promised() -> None:
    test = EventTest(0.5, PureDP(1.0), partial(refutes, PureDP(1.0)), LEVEL)
    assert test.smallest_loss(20.0) == math.inf
    assert in_reach(EventCounts(3, 0, 1000, 1000, 1000.0), PureDP(1.0), 1, LEVEL) is None


# TESTS OF THE LAW


def moved(rng: np.random.Generator, n: int, distance: float) -> TestResult:
    """Test numbers that are not quite uniform, because the top part of the interval is replaced by its bottom part."""
    u = rng.random(n)
    return kolmogorov_smirnov(np.where(u > 1 - distance, distance * rng.random(n), u), lambda t: np.clip(t, 0, 1), "")


def two_moved(rng: np.random.Generator, n: int, distance: float) -> TestResult:
    u = rng.random(n)
    return two_sample(np.where(u > 1 - distance, u - 1, u), rng.random(n), "")


def coin(rng: np.random.Generator, n: int, off: float) -> TestResult:
    return binomial(int(rng.binomial(n, 0.5 + off)), n, 0.5, "")


def quadrants(rng: np.random.Generator, n: int, off: float) -> TestResult:
    """Test two numbers for independence. The two numbers are on the same side of their medians with probability 1/2 +
    `off`.
    """
    above = rng.random(n) < 0.5
    same = rng.random(n) < 0.5 + off
    other = np.where(same, above, ~above)
    return independence(above + rng.random(n), other + rng.random(n), "")


@pytest.mark.slow
@pytest.mark.parametrize("test", [moved, two_moved, coin, quadrants])
@pytest.mark.parametrize("n", [600, 2000])
def test_what_a_row_of_the_law_states_is_seen(test, n: int) -> None:  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(23)
    size = test(rng, n, 0.0).detectable(LEVEL)
    found = [test(rng, n, size).p_value <= LEVEL for _ in range(1000)]
    assert np.mean(found) >= 0.97


# WORDS


@pytest.fixture(scope="module")
def report() -> AuditReport:
    return audit(TargetReference("covassay:private-trace", "."), epsilon=1.0, samples=300)


@pytest.mark.thorough
def test_the_report_says_what_it_would_have_seen_and_what_more_draws_would_show(report: AuditReport) -> None:
    rare, _, privacy = power_sentences(report)
    assert (
        "a branch of the code is detected the first time it is taken if it makes a tested statistic so extreme that"
        in rare
    )
    assert "a loss of ε = " in privacy
    assert "to detect ε = 1.1 on such an event, raise --samples to " in privacy
    assert "at the pace of this run). A loss that shows only in rarer events needs more draws." in privacy
    tested = ((check, check.fact(facts.TestedEvent)) for check in report.checks if check.kind == "privacy")
    events = [check for check, event in tested if event is not None and event.in_reach]
    assert could_have_seen(events[0]).startswith("loss ≥ ")


@pytest.mark.thorough
def test_the_level_of_the_stated_loss_is_that_of_the_run(report: AuditReport) -> None:
    """The test fails if the stated loss ignores the number of checks. With more checks, each has a lower error level,
    so only larger losses can be detected.
    """
    counts = EventCounts(500, 400, 1000, 1000, 1000.0)
    alone, among = (in_reach(counts, PureDP(1.0), 1, Look(level=1e-9, tests=tests).step) for tests in (1, 61))
    assert alone is not None
    assert among is not None
    assert alone.loss < among.loss
