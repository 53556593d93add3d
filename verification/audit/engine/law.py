"""The law: is the noise distributed as the reference says?

A scenario is one data set with the tests that run on draws from it. When a test refutes the law, the scenario's
suspects, laws of known mistakes, are tried on the same draws, and those that fit are named: a diagnosis, not a verdict.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from covassay.reference.domain import Matrix
from covassay.verification.audit.engine.checks import CheckResult, Status
from covassay.verification.audit.engine.sampling import Draws, Setting, draw
from covassay.verification.statistics.tests import TestResult

FITS = 1e-3  # a suspect whose p-value is above this is named

Test = Callable[[Matrix], TestResult]


@dataclass(frozen=True)
class Suspect:
    """The law of a known mistake: `name` is stable, `explanation` a sentence, `test` of the law on draws."""

    name: str
    explanation: str
    test: Test


@dataclass(frozen=True)
class Scenario:
    """A data set, the tests of draws from it, and what to try when one fails.

    `size` scales with the run's number of samples. `estimates` are sentences with figures (a confidence interval).
    """

    name: str
    x: Matrix
    tests: Mapping[str, Test]
    suspects: tuple[Suspect, ...] = ()
    estimates: tuple[Callable[[Matrix], str], ...] = ()
    weight: float = 1.0


def run_scenario(setting: Setting, scenario: Scenario, samples: int, look: str) -> tuple[list[CheckResult], Draws]:
    """Draw once and run every test; the checks carry p-values, not yet a status."""
    size = max(50, round(samples * scenario.weight))
    draws = draw(setting, scenario.x, size, f"law/{scenario.name}/{look}")
    checks = []
    if len(draws.outputs) < max(20, size // 10):
        reason = ", ".join(f"{count} × {what}" for what, count in draws.failures.items())
        return [
            CheckResult(
                "law", "draws", Status.INCONCLUSIVE, f"too few outputs: {reason}", scenario.name, n=len(draws.outputs)
            )
        ], draws
    estimates = "; ".join(estimate(draws.outputs) for estimate in scenario.estimates)
    for name, test in scenario.tests.items():
        result = test(draws.outputs)
        detail = f"null: {result.null}; statistic {result.statistic:.4g}"
        checks.append(
            CheckResult(
                "law",
                name,
                Status.NOT_REFUTED,
                detail,
                scenario.name,
                p_value=result.p_value,
                n=result.n,
                facts={
                    "statistic": result.statistic,
                    "effect": result.effect,
                    "detectable": result.detectable,
                    "estimates": estimates,
                    "failures": dict(draws.failures),
                },
            )
        )
    return checks, draws


def diagnose(scenario: Scenario, outputs: Matrix) -> list[tuple[Suspect, float]]:
    """The suspects whose law fits the draws, with their p-values."""
    tried = [(suspect, suspect.test(outputs).p_value) for suspect in scenario.suspects]
    return [(suspect, p_value) for suspect, p_value in tried if p_value > FITS]
