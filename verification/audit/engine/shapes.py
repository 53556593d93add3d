"""Test the law for many numbers of rows and columns, by testing a few draws on data of each shape together.

Implementations often change their behaviour where blocks, vector registers and special cases end, for instance at one
row, at 65 rows, or in seven dimensions. If the law is known on data of any shape, each draw can be transformed to the
same law. The distribution function of a statistic maps the statistic of a draw to a number that is uniform on [0, 1],
for every shape. The sum of independent Gamma variables of one scale is again a Gamma variable. Draws for different
shapes can therefore be tested together: all draws with the same number of rows, all with the same number of columns,
and all draws.

Each group of draws has Kolmogorov–Smirnov and tail tests of every statistic, and an exact test of the total scale. The
p-value of a group of draws is the smallest p-value of its tests after Bonferroni's correction.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from statistics import median

import numpy as np

from covassay.reference.domain import Vector
from covassay.verification.audit.engine.facts import LawTest
from covassay.verification.audit.engine.finding import Finding, Look, Status
from covassay.verification.audit.engine.law import Scenario
from covassay.verification.audit.engine.non_finite import finite_test
from covassay.verification.audit.engine.sampling import Setting, draw, timed_out
from covassay.verification.statistics.laws import Placed
from covassay.verification.statistics.tails import tail_counts
from covassay.verification.statistics.tests import SCALE, TestResult, gamma_sum, kolmogorov_smirnov

OTHER_SHAPES = "other shapes"  # reports print this text in place of the name of a data set
ROWS = 1, 2, 64, 65, 1000
COLUMNS = *range(1, 13), 32
LARGEST = 20_000  # a data set has at most this many entries
NAMES = {"n": "every number of rows", "d": "every number of columns", "": "all shapes"}
# For every shape, so many draws are made that they contain about this many noise values together. The number of draws
# is at least FEWEST and at most MOST.
UNITS = 240
FEWEST, MOST = 12, 120  # the smallest and the largest number of draws for every shape
# UNITS, FEWEST and MOST are for a run with this number of samples. For other runs, the number of draws is multiplied by
# samples/DEFAULT, but is at least FEWEST // 2.
DEFAULT = 2000
NAMED = 3  # the report names at most this many groups of draws
UNSEEN = 1e6  # if a group has no test of the noise scale, the smallest scale error that it detects counts as this large


@dataclass(frozen=True)
class Shapes:
    """The law of the outputs on data of other shapes.

    `scenario` takes (n, d) and returns a data set of this shape with its tests. `tests` names the tests that are made
    on each of these data sets. `units` takes d and returns the number of independent noise values in a draw. `sizes`
    are the shapes (n, d).
    """

    scenario: Callable[[int, int], Scenario]
    tests: tuple[str, ...]
    units: Callable[[int], float]
    sizes: tuple[tuple[int, int], ...]

    def draws(self, n: int, d: int) -> int:
        """Return the number of draws for a shape, which is smaller if a draw has more noise values."""
        return int(np.clip(np.ceil(UNITS / self.units(d)), FEWEST, MOST))

    def draws_at(self, n: int, d: int, samples: float) -> int:
        """Return the number of draws for a shape (n, d), in a run with the given number of samples."""
        return max(FEWEST // 2, round(self.draws(n, d) * samples / DEFAULT))

    def every_draw(self, samples: float) -> int:
        """Return the number of draws for all shapes together."""
        return sum(self.draws_at(n, d, samples) for n, d in self.sizes)


def grid(fewest_rows: int = 1, fewest_columns: int = 1, most_columns: int = 32) -> tuple[tuple[int, int], ...]:
    """Return all shapes with these numbers of rows and columns, without the largest data sets."""
    return tuple(
        (n, d) for n in ROWS for d in COLUMNS if n >= fewest_rows and fewest_columns <= d <= most_columns
        and n * d <= LARGEST
    )  # fmt: skip


@dataclass
class _Group:
    """Draws for several shapes that are tested together. For tests by a distribution function, `places` has the values
    of the distribution function at the draws. For tests by a sum of Gamma variables, `totals` has, for every shape, the
    sum and the parameters of its law.
    """

    draws: int = 0
    places: dict[str, list[Placed]] = field(default_factory=dict)
    totals: dict[str, list[tuple[float, float, float]]] = field(default_factory=dict)
    impossible: list[str] = field(default_factory=list)

    def add(self, results: Mapping[str, TestResult], draws: int) -> None:
        """Add the results of the tests for one shape."""
        self.draws += draws
        for name, result in results.items():
            if result.placed is not None:
                self.places.setdefault(name, []).append(result.placed)
            elif result.total is not None:
                self.totals.setdefault(name, []).append(result.total)
            elif math.isnan(result.statistic):
                self.impossible.append(name)

    def results(self) -> list[TestResult]:
        """Return the results of the tests of this group of draws."""
        found = []
        merged = {name: _merged(samples) for name, samples in self.places.items()}
        for name, sample in merged.items():
            found.append(kolmogorov_smirnov(sample.uniform, uniform, name))
        if merged:
            found.append(tail_counts(list(merged.items()), "tails"))
        for name, totals in self.totals.items():
            sums, shapes, powers = (np.array(column) for column in zip(*totals, strict=True))
            found.append(gamma_sum(float(sums.sum()), float(shapes.sum()), self.draws, name, float(powers[0])))
        return found

    def p_value(self) -> float:
        """Return the smallest p-value of the tests times the number of tests, or 0 if a statistic is not finite."""
        if self.impossible:
            return 0.0
        results = self.results()
        return min(1.0, len(results) * min((result.p_value for result in results), default=1.0))

    def scale_error(self, alpha: float) -> float:
        """Return the smallest relative error of the noise scale that the exact tests of a total detect at the level
        `alpha`.
        """
        results = self.results()
        return min((r.detectable(alpha / len(results)) for r in results if r.effect == SCALE), default=UNSEEN)

    def distance(self, alpha: float) -> float:
        """Return the smallest distance of distribution functions that a Kolmogorov–Smirnov test detects at level
        `alpha`.
        """
        results = self.results()
        return min((r.detectable(alpha / len(results)) for r in results if r.effect == "CDF distance"), default=1.0)


def uniform(t: Vector) -> Vector:
    """Return the distribution function of a uniform number on [0, 1] at t."""
    return np.clip(t, 0.0, 1.0)


def _merged(samples: Iterable[Placed]) -> Placed:
    """Join several samples of values of distribution functions to one sample."""
    listed = list(samples)
    return Placed(
        np.concatenate([sample.below for sample in listed]),
        np.concatenate([sample.above for sample in listed]),
        max(sample.error for sample in listed),
        all(sample.symmetric for sample in listed),
        min(sample.extreme for sample in listed),
    )


@dataclass
class _Seen:
    """The test results for all shapes, collected in groups of shapes. `silent` has the shapes with too few outputs, and
    `late` has the shapes on which draws ran into the time limit.
    """

    groups: dict[tuple[str, int], _Group] = field(default_factory=dict)
    silent: list[str] = field(default_factory=list)
    late: list[tuple[int, int]] = field(default_factory=list)
    seconds: dict[tuple[int, int], float] = field(default_factory=dict)
    failures: Counter[str] = field(default_factory=Counter)

    def add(self, n: int, d: int, results: Mapping[str, TestResult], draws: int) -> None:
        """Add the results of the tests for one shape to the three groups of this shape."""
        for key in (("n", n), ("d", d), ("", 0)):
            self.groups.setdefault(key, _Group()).add(results, draws)

    def is_hopeless(self, n: int, d: int) -> bool:
        """Return whether draws already ran out of time for a shape with at most n rows and at most d columns."""
        return any(m <= n and e <= d for m, e in self.late)

    def slow(self) -> list[str]:
        """Return the shapes for which a draw takes far longer than for some larger shape."""
        return [
            f"({n}, {d})"
            for (n, d), seconds in self.seconds.items()
            if (larger := [s for (m, e), s in self.seconds.items() if m >= n and e >= d and (m, e) != (n, d)])
            and seconds > SLOW * median(larger)
            and seconds > SECONDS
        ]


# a draw is slow if it takes more than `SLOW` times as long as for larger shapes, and more than `SECONDS` seconds
SLOW, SECONDS = 30, 0.02


def run_shapes(setting: Setting, shapes: Shapes, look: Look) -> list[Finding]:
    """Draw for every shape, and test the draws together. Return findings with p-values; the run decides later which of
    them refute.
    """
    seen = _Seen()
    for n, d in shapes.sizes:
        if seen.is_hopeless(n, d):
            continue
        size = shapes.draws_at(n, d, look.samples)
        scenario = shapes.scenario(n, d)
        draws = draw(setting, scenario.x, size, f"shapes/{n}/{d}/{look.name}")
        seen.failures.update(draws.failures)
        if timed_out(draws):
            seen.late.append((n, d))
            continue
        seen.seconds[n, d] = draws.seconds / size
        if len(draws.outputs) < size // 2:
            seen.silent.append(f"({n}, {d})")
            continue
        tests = {name: scenario.tests[name] for name in shapes.tests if name in scenario.tests}
        seen.add(n, d, {k: finite_test(test, draws.outputs) for k, test in tests.items()}, len(draws.outputs))
    if not seen.groups:
        why = "ran into the time limit or had too few outputs" if seen.late else "had too few outputs"
        return [Finding("law", NAMES[""], Status.SKIPPED, f"the target {why} for data of every shape", OTHER_SHAPES)]
    one_each = len({d for _, d in shapes.sizes}) == len(shapes.sizes)  # the number of rows is computed from d
    return [_check(axis, seen, look) for axis in NAMES if not (axis == "n" and one_each)]


def _check(axis: str, seen: _Seen, look: Look) -> Finding:
    """Test the groups with equal numbers of rows, the groups with equal numbers of columns, or all draws together."""
    groups = {value: group for (name, value), group in seen.groups.items() if name == axis}
    found = {value: group.p_value() for value, group in groups.items()}
    p_value = min(1.0, len(found) * min(found.values()))
    worst = sorted(found, key=lambda value: found[value])[:NAMED]
    named = ", ".join(f"{axis} = {value} (p = {found[value]:.2g})" for value in worst)
    every = seen.groups["", 0]
    text = f"null: the outputs have the claimed law at {NAMES[axis]}"
    text += f"; smallest p-values: {named}" if axis else f", {len(seen.seconds) - len(seen.silent)} of them"
    if not axis and seen.silent:
        text += f"; too few outputs at (n, d) = {', '.join(seen.silent)}"
    if not axis and seen.late:
        text += "; not tested, because the target ran into the time limit: "
        text += ", ".join(f"n ≥ {n} with d ≥ {d}" for n, d in seen.late)
    if not axis and seen.slow():
        text += f"; for these (n, d), a draw takes far longer than on larger data: {', '.join(seen.slow())}"
    smallest = min(groups.values(), key=lambda group: group.draws)
    scaled = bool(smallest.totals)

    def detectable(alpha: float) -> float:
        share = alpha / len(groups)
        return max(group.scale_error(share) if scaled else group.distance(share) for group in groups.values())

    facts = LawTest(
        min(found.values()), SCALE if scaled else "CDF distance", detectable(look.step), failures=dict(seen.failures)
    )
    if not axis:
        known = [sample for samples in every.places.values() for sample in samples if sample.extreme < 1]
        furthest = min((sample.extreme for sample in known), default=1.0)
        facts = replace(facts, furthest=furthest, values=sum(len(sample.below) for sample in known))
    draws = sum(group.draws for group in groups.values())
    return Finding("law", NAMES[axis], Status.NOT_REFUTED, text, OTHER_SHAPES, p_value=p_value, n=draws, facts=facts)
