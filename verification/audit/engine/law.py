"""The law: whether the outputs have the distribution that the reference gives them.

A scenario is one data set with the tests that run on draws from it. If a test refutes the law, the suspects of the
scenario, which are the laws of plausible mistakes, are tried on the same draws. Those that fit are named: that is a
diagnosis, not a verdict.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from covassay.reference.domain import Matrix
from covassay.verification.audit.engine.facts import LawTest
from covassay.verification.audit.engine.finding import Finding, Look, Status
from covassay.verification.audit.engine.non_finite import finite_estimate, finite_test
from covassay.verification.audit.engine.sampling import Draws, Setting, draw
from covassay.verification.audit.engine.tails import tail_findings
from covassay.verification.statistics.tests import TestResult

FITS = 1e-3  # a suspect with a larger p-value is named
ANSWERS = "an output in every draw"
FEWEST_DRAWS = 50  # drawn in a scenario, whatever its weight
FEWEST_OUTPUTS = 20  # with fewer outputs nothing is tested
SMALLEST_SHARE = 10  # nor if fewer than one draw in this many gives an output

Test = Callable[[Matrix], TestResult]


@dataclass(frozen=True)
class Suspect:
    """The law of a mistake: a stable name, a sentence that explains it, and a test whether draws follow this law."""

    name: str
    explanation: str
    test: Test


@dataclass(frozen=True)
class Scenario:
    """A data set, the tests of draws on it, and the suspects to try when a test fails.

    `estimates` turn draws into sentences with figures, such as a confidence interval. `weight` multiplies the number of
    draws.
    """

    name: str
    x: Matrix
    tests: Mapping[str, Test]
    suspects: tuple[Suspect, ...] = ()
    estimates: tuple[Callable[[Matrix], str], ...] = ()
    weight: float = 1.0


def number_of_tests(scenario: Scenario) -> int:
    """The most p-values that a scenario gives: its tests, its failures and its tails."""
    return len(scenario.tests) + 2


def run_scenario(setting: Setting, scenario: Scenario, look: Look) -> tuple[list[Finding], Draws]:
    """Draw once and run every test; the findings carry p-values and are not decided yet."""
    size = max(FEWEST_DRAWS, round(look.samples * scenario.weight))
    draws = draw(setting, scenario.x, size, f"law/{scenario.name}/{look.name}")
    if len(draws.outputs) < max(FEWEST_OUTPUTS, size // SMALLEST_SHARE):
        return [_too_few(scenario, draws)], draws
    estimates = "; ".join(finite_estimate(estimate, draws.outputs) for estimate in scenario.estimates)
    results = {name: finite_test(test, draws.outputs) for name, test in scenario.tests.items()}
    found = [_tested(scenario, name, result, draws, estimates, look) for name, result in results.items()]
    tails = tail_findings(scenario.name, results, len(draws.outputs), look)
    return [*found, *_failures(scenario, draws), *tails], draws


def _too_few(scenario: Scenario, draws: Draws) -> Finding:
    reason = ", ".join(f"{count} × {what}" for what, count in draws.failures.items())
    detail = f"too few outputs: {reason}"
    return Finding("law", "draws", Status.INCONCLUSIVE, detail, scenario.name, n=len(draws.outputs))


def _failures(scenario: Scenario, draws: Draws) -> list[Finding]:
    """A refuted check if some draws failed: the law gives every draw an output. A time-out says nothing of the law."""
    failed = {what: count for what, count in draws.failures.items() if not what.startswith("time-out")}
    if not failed:
        return []
    listed = ", ".join(f"{count} × {what}" for what, count in failed.items())
    detail = f"the law gives every draw an output, and {sum(failed.values())} of {draws.size} draws have none: {listed}"
    return [Finding("law", ANSWERS, Status.NOT_REFUTED, detail, scenario.name, p_value=0.0, n=draws.size)]


def _tested(scenario: Scenario, name: str, result: TestResult, draws: Draws, estimates: str, look: Look) -> Finding:
    return Finding(
        "law",
        name,
        Status.NOT_REFUTED,
        f"null: {result.null}; statistic {result.statistic:.4g}",
        scenario.name,
        p_value=result.p_value,
        n=result.n,
        facts=LawTest(
            result.statistic,
            result.effect,
            result.detectable(look.step),
            estimates=estimates,
            failures=dict(draws.failures),
        ),
        data=(scenario.x,),
        curve=result.curve,
    )


def fits(scenario: Scenario, outputs: Matrix) -> bool:
    """Whether no test of the scenario finds the outputs suspicious."""
    return all(finite_test(test, outputs).p_value > FITS for test in scenario.tests.values())


def diagnose(scenario: Scenario, outputs: Matrix) -> list[tuple[Suspect, float]]:
    """The suspects whose law fits the draws, with their p-values."""
    tried = [(suspect, finite_test(suspect.test, outputs).p_value) for suspect in scenario.suspects]
    return [(suspect, p_value) for suspect, p_value in tried if p_value > FITS]
