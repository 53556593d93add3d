"""Test whether the outputs have the distribution that the reference gives them.

A scenario is one data set with the tests that run on draws from it. If a test refutes the law, the laws of plausible
mistakes, which are called suspects, are tried on the same draws. The report names the suspects that fit the draws as a
diagnosis, which does not change the verdict.

Up to `KEPT` draws are kept and tested directly. If there are more draws, the workers reduce them to sums
(`statistics.pooling`). Many test statistics can be computed from the sums. Among them are distances between
distribution functions, numbers of draws beyond exact quantiles, total scales, counts of signs, and measures of
dependence. The other tests, the estimates, and the search for plausible mistakes use only the draws that are kept.
Whenever the number of blocks of draws is a power of two, the sums so far are tested. If the sums refute the law, no
more draws are made. All tests before the last block of draws together use the fraction `EARLY_SHARE` of the error
level. The function `left_for_the_end` returns the fraction that is left for the tests after the last block.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

from covassay.reference.domain import Matrix
from covassay.verification.audit.engine.facts import LawTest
from covassay.verification.audit.engine.finding import Finding, Look, Status
from covassay.verification.audit.engine.non_finite import finite_estimate, finite_test, not_finite
from covassay.verification.audit.engine.sampling import KEPT, WHOLE, Draws, Setting, Summary, draw, reduced, timed_out
from covassay.verification.audit.engine.store import storable
from covassay.verification.audit.engine.tails import tail_findings, tail_findings_of_counts
from covassay.verification.statistics.pooling import Places, has_sums, pooled
from covassay.verification.statistics.tails import levels
from covassay.verification.statistics.tests import Pooled, TestResult

FITS = 1e-3  # a law fits the draws if the p-values of its tests are larger than this
FACTORS = (0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.5**0.5, 0.8, 0.9, 1.0, 1.1, 1.25, 2**0.5,
           1.6, 2.0, 2.5, 3.0, 3.5, 4.0, 5.0, 6.0, 8.0, 10.0, 12.0, 16.0, 20.0)  # fmt: skip
# a law with another factor fits better if its p-value is this many times larger; a smaller ratio may be chance
BETTER = 5.0
SAME = 0.04  # two factors are not distinguished if their ratio differs from 1 by less than this
ANSWERS = "an output in every draw"
FEWEST_DRAWS = 50  # every data set gets at least this many draws, whatever its weight is
FEWEST_OUTPUTS = 20  # nothing is tested if there are fewer outputs than this
SMALLEST_SHARE = 10  # nothing is tested if the number of outputs is less than the number of draws divided by this
EARLY_SHARE = 1e-3  # tests before the last block of draws get this share of the error level
# the sums are tested at most this often before the last block, because the number of blocks doubles between two tests
MOST_EARLY = 60

Test = Callable[[Matrix], TestResult]


@dataclass(frozen=True)
class Suspect:
    """The law of a plausible mistake, with a fixed name, an explanation, and a test whether draws follow this law.

    If the mistake multiplies a quantity by a factor, `factor` is this factor. The function `rivals` then takes any
    other factor, and returns the test whether draws follow the law with that factor. The report names such a mistake
    only if no other factor fits the draws better. For other mistakes, `rivals` is None.
    """

    name: str
    explanation: str
    test: Test
    rivals: Callable[[float], Test] | None = None
    factor: float = 1.0

    @classmethod
    def times(cls, name: str, explanation: str, factor: float, test: Callable[[float], Test]) -> Self:
        """Return the suspect whose mistake multiplies a quantity by `factor`. For every factor, `test` returns the test
        whether draws follow the law with this factor.
        """
        return cls(name, explanation, test(factor), test, factor)

    def p_value(self, outputs: Matrix) -> float:
        """Return the p-value of these outputs under the law of the mistake."""
        return finite_test(self.test, outputs).p_value

    def others(self, outputs: Matrix) -> Mapping[float, float]:
        """For every factor in `FACTORS` other than the factor of this mistake, return the p-value of the draws under
        the law with that factor.
        """
        if self.rivals is None:
            return {}
        factors = (factor for factor in FACTORS if abs(factor - self.factor) > SAME * self.factor)
        return {factor: finite_test(self.rivals(factor), outputs).p_value for factor in factors}


@dataclass(frozen=True)
class Scenario:
    """A data set with the tests of draws on it, and the laws of plausible mistakes to try if a test fails.

    `estimates` turn draws into sentences with numbers, such as a confidence interval. `weight` multiplies the number of
    draws.
    """

    name: str
    x: Matrix
    tests: Mapping[str, Test]
    suspects: tuple[Suspect, ...] = ()
    estimates: tuple[Callable[[Matrix], str], ...] = ()
    weight: float = 1.0


@storable
@dataclass(frozen=True)
class LawSums:
    """The sums of each test over blocks of draws, and the number of blocks in which a statistic was not finite."""

    parts: dict[str, Pooled] = field(default_factory=dict)
    impossible: Counter[str] = field(default_factory=Counter)

    def plus(self, other: "LawSums") -> "LawSums":
        """Add the sums over two groups of blocks."""
        both = {name: self.parts[name].plus(part) if name in self.parts else part for name, part in other.parts.items()}
        return LawSums(self.parts | both, self.impossible + other.impossible)

    def places(self) -> dict[str, Places]:
        """Return the sums of those tests that count values beyond quantiles. The sums of such a test have the type
        `Places`.
        """
        return {name: part for name, part in self.parts.items() if isinstance(part, Places)}

    def results(self) -> dict[str, TestResult]:
        """Return the results of the tests that can be computed from sums. If the statistic of a test was not finite in
        some block, the result of this test says so.
        """
        found = {name: part.result() for name, part in self.parts.items()}
        return found | {name: not_finite(blocks) for name, blocks in self.impossible.items()}


@dataclass(frozen=True)
class LawOf:
    """Reduce a block of draws to the sums of every test. Some sums count the values beyond quantiles of the law. The
    quantiles are so chosen that at least ten of `size` draws are expected beyond each of them.
    """

    tests: Mapping[str, Test]
    size: int

    def __call__(self, draws: Draws, block: int) -> LawSums:
        """Return the sums over a block of draws."""
        if len(draws.outputs) < FEWEST_OUTPUTS:
            return LawSums()
        results = {name: finite_test(test, draws.outputs) for name, test in self.tests.items()}
        finite = {name: result for name, result in results.items() if not math.isnan(result.statistic)}
        parts: dict[str, Any] = {name: pooled(result, levels(self.size), block) for name, result in finite.items()}
        return LawSums(
            {name: part for name, part in parts.items() if part is not None},
            Counter(name for name in results if name not in finite),
        )


def number_of_tests(scenario: Scenario) -> int:
    """Return the largest number of p-values that a scenario can give: one for each test, one for failures, and one for
    the tails.
    """
    return len(scenario.tests) + 2


def run_scenario(setting: Setting, scenario: Scenario, look: Look) -> tuple[list[Finding], Draws]:
    """Make draws on a data set, run every test, and return the findings and the draws. Whether a p-value refutes the
    target is decided later.
    """
    size, label = max(FEWEST_DRAWS, round(look.samples * scenario.weight)), f"law/{scenario.name}/{look.name}"
    draws = draw(setting, scenario.x, size, label, slice(0, WHOLE))
    if len(draws.outputs) < max(FEWEST_OUTPUTS, min(size, KEPT) // SMALLEST_SHARE):
        return [_too_few(scenario, draws)], draws
    results = {name: finite_test(test, draws.outputs) for name, test in scenario.tests.items()}
    summed = {name: test for name, test in scenario.tests.items() if has_sums(results[name])}
    if size > KEPT and summed and not draws.skipped:
        law = LawOf(summed, size)
        return _run_many(setting, scenario, look, (law, label), draws, results), draws
    tails = tail_findings(scenario.name, results, len(draws.outputs), look)
    return _in_time([*_all_tested(scenario, results, draws, draws, look), *tails], draws, look), draws


def _in_time(found: Sequence[Finding], draws: Draws | Summary[LawSums], look: Look) -> list[Finding]:
    """If draws ran into the time limit, make those findings inconclusive that could otherwise refute. The missing draws
    may be slow because their noise is large.

    A finding whose p-value is above the error level of the round stays as it is. Such a p-value never refutes in Holm's
    procedure.
    """
    late = timed_out(draws)
    why = f"; {late} draws ran into the time limit, and the law of the other draws may differ from the law of all draws"
    return [
        replace(f, p_value=None, status=Status.INCONCLUSIVE, detail=f.detail + why)
        if late and f.name != ANSWERS and f.p_value is not None and f.p_value <= look.level
        else f
        for f in found
    ]


def _run_many(
    setting: Setting, scenario: Scenario, look: Look, named: tuple[LawOf, str], first: Draws,
    results: Mapping[str, TestResult],
) -> list[Finding]:  # fmt: skip
    """Return the findings of a test with more than `KEPT` draws, which are reduced to sums. `results` has the results
    of all tests on the draws that are kept. If a test has sums over all draws, its result is computed from the sums,
    and replaces its result in `results`.
    """
    law, label = named
    shown = {
        name: result if name in law.tests else replace(result, null=f"{result.null} (the first {first.size} draws)")
        for name, result in results.items()
    }

    def findings(seen: Summary[LawSums]) -> list[Finding]:
        tails = tail_findings_of_counts(scenario.name, seen.sums.places(), seen.outputs, look)
        return [*_all_tested(scenario, {**shown, **seen.sums.results()}, seen, first, look), *tails]

    def overwhelming(seen: Summary[LawSums]) -> bool:
        p_values = [f.p_value for f in findings(seen) if f.p_value is not None]
        return min(p_values, default=1.0) * MOST_EARLY / EARLY_SHARE <= look.step

    seen = reduced(setting, scenario.x, law.size, label, law, enough=overwhelming, first=first)
    if seen.size < law.size and not seen.skipped:
        early = f"the test ended after {seen.size} of {law.size} draws"
        found = [replace(f, detail=f"{f.detail}; {early}") for f in findings(seen)]
        return _in_time(weighted(found, MOST_EARLY / EARLY_SHARE), seen, look)
    return _in_time(findings(seen), seen, look)


def left_for_the_end(scenarios: Iterable[Scenario], look: Look) -> float:
    """Return the share of the error level that is left for the end, after the tests before the last block of draws."""
    return 1 - EARLY_SHARE if any(look.samples * one.weight > KEPT for one in scenarios) else 1.0


def weighted(findings: Iterable[Finding], factor: float) -> list[Finding]:
    """Return the findings with their p-values multiplied by a factor."""
    return [f if f.p_value is None else replace(f, p_value=min(1.0, f.p_value * factor)) for f in findings]


def _all_tested(
    scenario: Scenario, results: Mapping[str, TestResult], draws: Draws | Summary[LawSums], kept: Draws, look: Look
) -> list[Finding]:
    """Return the findings of all tests, and the finding on failures."""
    estimates = "; ".join(finite_estimate(estimate, kept.outputs) for estimate in scenario.estimates)
    if estimates and kept.size < draws.size:
        estimates += f" (from the first {kept.size} draws)"
    found = [_tested(scenario, name, result, draws, estimates, look) for name, result in results.items()]
    return [*found, *_failures(scenario, draws)]


def _too_few(scenario: Scenario, draws: Draws | Summary[LawSums]) -> Finding:
    reason = ", ".join(f"{count} × {what}" for what, count in draws.failures.items())
    return Finding(
        "law", "draws", Status.INCONCLUSIVE, f"too few outputs: {reason}", scenario.name, n=draws.size - draws.failed
    )


def _failures(scenario: Scenario, draws: Draws | Summary[LawSums]) -> list[Finding]:
    """Return a check with p-value 0 if some draws failed, because under the law every draw has an output.

    A draw that ran out of time does not count as failed.
    """
    failed = {what: count for what, count in draws.failures.items() if not what.startswith("time-out")}
    if not failed:
        return []
    listed = ", ".join(f"{count} × {what}" for what, count in failed.items())
    detail = (
        f"under the law every draw has an output, but {sum(failed.values())} of {draws.size} draws have none: {listed}"
    )
    return [Finding("law", ANSWERS, Status.NOT_REFUTED, detail, scenario.name, p_value=0.0, n=draws.size)]


def _tested(
    scenario: Scenario, name: str, result: TestResult, draws: Draws | Summary[LawSums], estimates: str, look: Look
) -> Finding:
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
    """Return whether no test of the scenario has a suspicious p-value."""
    return all(finite_test(test, outputs).p_value > FITS for test in scenario.tests.values())


def diagnose(drawn: Sequence[tuple[Scenario, Matrix]]) -> list[Suspect]:
    """Return the suspects whose law fits the draws of every scenario, the best fit first. A suspect is the law of a
    plausible mistake.

    The fit of a law is measured by the product of its p-values. A suspect that multiplies a quantity by a wrong factor
    is left out if the law with another factor fits better.
    """
    found: list[tuple[float, Suspect]] = []
    for name in {suspect.name: None for scenario, _ in drawn for suspect in scenario.suspects}:
        seen = [(s, outputs) for scenario, outputs in drawn for s in scenario.suspects if s.name == name]
        p_values = [suspect.p_value(outputs) for suspect, outputs in seen]
        if len(seen) < len(drawn) or min(p_values) <= FITS:
            continue
        others = [suspect.others(outputs) for suspect, outputs in seen]
        factors = set.intersection(*map(set, others))
        fit = math.prod(p_values)
        if all(math.prod(other[factor] for other in others) < BETTER * fit for factor in factors):
            found.append((fit, seen[0][0]))
    return [suspect for _, suspect in sorted(found, key=lambda pair: -pair[0])]
