"""Audit correct mechanisms, of which none may be refuted and whose exact p-values must be uniform.

The targets are the reference's own mechanisms, with every choice of their options in turn. Every audit has its own
seed, because related mechanisms draw the same noise under the same seed. The tests of one scenario (a data set on which
outputs are compared with the law) share their draws, so their p-values are dependent. Only the first exact p-value of
each scenario is kept, and these p-values are independent. The p-values of tests that are not exact are bounds, which
may be larger than exact p-values. If a mechanism can return the same output twice, this program treats all p-values
of its audits as bounds. The p-values of the tests of low-order bits are left out, because low-order bits of noise in
floating point can violate the claim even if the mechanism is correct.
"""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.registry import mechanism
from covassay.verification.audit.adapters.covassay_mechanisms import TARGETS
from covassay.verification.audit.api import audit
from covassay.verification.audit.engine.facts import LawTest
from covassay.verification.audit.engine.finding import Finding
from covassay.verification.audit.options import FALSE_ALARM, FEWEST_SAMPLES
from covassay.verification.audit.questions.law import distribution
from covassay.verification.cli.screen import print_json, progress
from covassay.verification.maintain import kept_rows
from covassay.verification.maintain.arguments import add_choice, add_kept, chosen, file_to_write
from covassay.verification.statistics.laws import ERROR
from covassay.verification.statistics.tests import p_value_of_distance

PARSER = {
    "description": "Audit correct mechanisms: how many are refuted, and whether exact p-values are uniform.",
    "epilog": "example: python -P -m covassay.verification.maintain null-audits --audits 4 --only gauss-cov",
}
LEVELS = 0.001, 0.01, 0.1  # the shares of small p-values are reported at these levels
TOTAL = "relative error of the noise scale"  # the field `effect` in results of the test `gamma_total`
DISTANCE = "CDF distance"  # the field `effect` in results of Kolmogorov's test of one sample


@dataclass(frozen=True)
class Audited:
    """The p-values of one audit. The field `exact` has at most one exact p-value for every scenario (a data set on
    which outputs are compared with the law). The field `bounds` has the p-values that are only bounds.
    """

    target: str
    seed: int
    samples: int
    verdict: str
    refuted: tuple[str, ...]
    exact: tuple[float, ...]
    bounds: tuple[float, ...]


def exact_p_value(check: Finding) -> float | None:
    """Return the exact p-value of a check, or None if the check has no exact p-value. Two tests have an exact p-value:
    the test of a sum against its Gamma law (`gamma_total`), and Kolmogorov's test of one sample.

    The audit itself reports a bound on the p-value of Kolmogorov's test, which is close to the exact p-value if it is
    small. On data of many shapes (numbers of rows and columns), the audit combines the p-values of several sums into
    one p-value. The combined p-value is not exact but a bound.
    """
    facts = check.fact(LawTest)
    if facts is None or check.p_value is None or facts.effect not in (TOTAL, DISTANCE):
        return None
    if check.question != distribution.QUESTION.id:
        return None
    if facts.effect == TOTAL:
        return float(check.p_value)
    for error in (0.0, ERROR):
        if check.p_value == p_value_of_distance(facts.statistic, check.n, error):
            return float(stats.kstwo.sf(facts.statistic, check.n))
    return None


def audited(target: str, seed: int, samples: int) -> Audited:
    """Return the p-values from one audit of the target with the given name."""
    made = TARGETS[target]()
    name = str(made.mechanism)
    report = audit(made, samples=samples, seed=seed)
    tested = [check for check in report.checks if check.p_value is not None and check.kind != "bits"]
    exact: dict[str, float] = {}
    bounds: list[float] = []
    for check in tested:
        found = None if mechanism(name).repeats else exact_p_value(check)
        if found is not None:
            exact.setdefault(check.scenario, found)
        else:
            bounds.append(float(check.p_value or 0.0))
    refuted = tuple(check.label for check in report.refuted)
    return Audited(target, seed, samples, report.verdict.value, refuted, tuple(exact.values()), tuple(bounds))


def audits(count: int, samples: int, only: str = "", jobs: int = 1, kept: Path | None = None) -> Iterator[Audited]:
    """Run a number of audits and yield their p-values. Stored audits are read from the file `kept`, to which new audits
    are added.
    """
    names = chosen(TARGETS, only)
    wanted = [(names[i % len(names)], i, samples) for i in range(count)]
    known = {(row["target"], row["seed"], row["samples"]): Audited(**row) for row in kept_rows.read(kept)}
    yield from kept_rows.measured(audited, wanted, known, jobs, kept, asdict)


def summary(rows: Sequence[Audited]) -> dict[str, Any]:
    """Return a summary with the number of refuted audits and the distribution of the p-values."""
    exact = np.array([p for row in rows for p in row.exact])
    bounds = np.array([p for row in rows for p in row.bounds])
    return {
        "audits": len(rows),
        "targets": len({row.target for row in rows}),
        "refuted": [f"{row.target}, seed {row.seed}: {', '.join(row.refuted)}" for row in rows if row.refuted],
        "exact": _described(exact) | {"uniform": float(stats.kstest(exact, "uniform").pvalue) if len(exact) else None},
        "bounds": _described(bounds),
    }


def _described(p_values: Any) -> dict[str, Any]:
    shares = {f"{level:g}": float((p_values <= level).mean()) if len(p_values) else None for level in LEVELS}
    return {"p_values": len(p_values), "least": float(p_values.min()) if len(p_values) else None, "share_below": shares}


def run(options: argparse.Namespace) -> int:
    """Audit correct mechanisms and print the results. The exit status is 1 if a mechanism was refuted or the p-values
    are not uniform.
    """
    if min(options.audits, options.jobs) < 1:
        raise InvalidInput("audits and jobs: both must be at least 1")
    if options.samples < FEWEST_SAMPLES:
        raise InvalidInput(f"samples = {options.samples}: must be at least {FEWEST_SAMPLES}")
    rows = []
    with progress("", options.audits) as advance:
        for row in audits(
            options.audits, options.samples, options.only or "", options.jobs, file_to_write(options.rows)
        ):
            advance(row.target)
            rows.append(row)
    found = summary(rows)
    if options.json:
        print_json(found)
    else:
        exact, bounds = found["exact"], found["bounds"]
        print(f"{found['audits']} audits of {found['targets']} correct targets: {len(found['refuted'])} refuted")
        print(*found["refuted"], sep="\n", end="")
        print(f"{exact['p_values']} exact p-values, one per scenario; a test of uniformity has p = {exact['uniform']}")
        print(f"  least {exact['least']}; share below each level: {exact['share_below']}")
        print(f"{bounds['p_values']} upper bounds on p-values; share below each level: {bounds['share_below']}")
    uniform = found["exact"]["uniform"]
    return 1 if found["refuted"] or (uniform is not None and uniform < FALSE_ALARM) else 0


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command to the parser."""
    add_choice(parser, "targets whose name", "maintain-null-audits")
    add_kept(parser, "audits")
    parser.add_argument("--audits", type=int, default=20, help="number of audits (default %(default)s)")
    parser.add_argument(
        "--samples", type=int, default=FEWEST_SAMPLES, help="draws on each data set (default %(default)s)"
    )
    parser.set_defaults(run=run)
