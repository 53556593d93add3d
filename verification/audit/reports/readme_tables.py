"""The README's generated tables: what the audit found in other packages, from real runs, and all mechanisms.

    # run the audits and rewrite the table
    python -m covassay.verification.audit.reports.readme_tables README.md --write
    # run them and compare; exit 1 on a difference
    python -m covassay.verification.audit.reports.readme_tables README.md --check

The table of findings states what is the same on every machine: verdicts, the kinds of check that failed, laws that fit,
exact losses. Counts and times are in the reports.
"""

import argparse
import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from covassay.reference.mechanisms.mechanism import Mechanism
from covassay.verification.audit.api import audit
from covassay.verification.audit.engine.finding import Finding, Status
from covassay.verification.audit.report import AuditReport
from covassay.verification.audit.targets.target import TargetReference
from covassay.verification.declared import by_origin

BEGIN, END = "<!-- {0}: begin (generated) -->\n", "<!-- {0}: end -->\n"
REPORTED = "not yet"  # whether the maintainers were told; edited by hand
AUDITED = {  # target: number of samples, fewer for the decompositions, whose law is not known
    "diffprivlib:bingham": 2000,
    "diffprivlib:covariance-eig": 500,
    "opendp:private-eigenvector": 2000,
    "opendp:eigendecomposition": 500,
}


@dataclass(frozen=True)
class PeerFinding:
    """One row of the table."""

    target: str
    version: str
    verdict: str
    found: str


def _sentence(check: Finding) -> str:
    if check.kind == "privacy" and check.name == "failures":
        return "it fails on one of two neighbouring data sets and answers on the other"
    if check.kind == "privacy":
        exact = next((part.strip() for part in check.detail.split(";") if "exactly" in part), "")
        return f"privacy loss above the claim at 99.9 % on {check.scenario}" + (f" ({exact})" if exact else "")
    if check.name == "edge cases":
        return "data-dependent exceptions on valid data"
    return check.detail


def finding(report: AuditReport) -> PeerFinding:
    """The row of the table for one report."""
    sentences: list[str] = []
    law = [check for check in report.checks if check.kind == "law" and check.status is Status.REFUTED]
    if law:
        worst = max(check.p_value or 0.0 for check in law)
        bound = "p < 1e-100" if worst < 1e-100 else "p < 1e-9"  # a refuted law is always below the second
        sentences.append(f"not the law it claims ({bound}, {len(law)} tests)")
    sentences += [f"law that fits: {text}" for text in report.diagnoses]
    others = [c for c in report.checks if c.kind != "law" and c.status in (Status.REFUTED, Status.SUSPICIOUS)]
    aimed = [c for c in others if c.kind == "privacy" and c.name == "event"]
    sentences += [_sentence(c) for c in (*aimed, *(c for c in others if c not in aimed))]
    found = "<br>".join(dict.fromkeys(sentences)) or "nothing"
    return PeerFinding(report.target, report.version, report.verdict.value, found)


def findings(jobs: int) -> list[PeerFinding]:
    """Audit every peer at ε = 1."""
    return [
        finding(audit(TargetReference(name, os.getcwd()), epsilon=1.0, samples=samples, jobs=jobs))
        for name, samples in AUDITED.items()
    ]


def findings_table(rows: Iterable[PeerFinding]) -> str:
    """The rows as Markdown."""
    lines = ["| target | version | verdict at ε = 1 | found | reported |", "|---|---|---|---|---|"]
    lines += [f"| `{r.target}` | {r.version} | {r.verdict} | {r.found} | {REPORTED} |" for r in rows]
    return "\n".join(lines) + "\n"


def _proven(declared: Mechanism[Any, ..., Any]) -> str:
    """The proven spend as a share of the budget: a range over the choices, for each calibration."""
    budget = declared.notion.default.keywords()
    (key, unit), symbol = next(iter(budget.items())), declared.notion.symbol
    shares: dict[str, set[float]] = {}
    for values in product(*declared.choices.values()):
        chosen = dict(zip(declared.choices, values, strict=True))
        spend = declared.spend(**budget, dimension=max(2, declared.smallest_dimension), **chosen).proven
        shares.setdefault(chosen.get("calibration", ""), set()).add(round(spend.keywords()[key] / unit, 3))
    texts = {name: f"{min(s):.3g}" + (f"–{max(s):.3g}" if max(s) > min(s) else "") for name, s in shares.items()}
    return ", ".join(f"{text} {symbol}" + (f" ({name})" if name else "") for name, text in texts.items())


def mechanisms_table() -> str:
    """Every mechanism of the reference, as Markdown, under headings that say where its steps and constants are from."""
    lines = ["| mechanism | source | claimed | proven (d = 2) |", "|---|---|---|---|"]
    for heading, group in by_origin().items():
        lines.append(f"| **{heading}** | | | |")
        for declared in group:
            path = declared.release.__module__.removeprefix("covassay.").replace(".", "/") + ".py"
            neighbours = " or ".join(declared.choices.get("adjacency", (declared.adjacency,)))
            claimed = f"{declared.notion.label}, {neighbours}"
            cells = f"[{declared.name}]({path})", declared.source, claimed, _proven(declared)
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def replace_section(text: str, name: str, table: str) -> str:
    """`text` with the generated section of that name replaced."""
    begin, end = BEGIN.format(name), END.format(name)
    head, found, rest = text.partition(begin)
    _, closed, tail = rest.partition(end)
    if not (found and closed):
        raise ValueError(f"no section {name!r}")
    return head + begin + table + end + tail


def main() -> int:
    """Write or check the tables of a README."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("readme", type=Path)
    group = parser.add_mutually_exclusive_group(required=True)
    group.add_argument("--write", action="store_true")
    group.add_argument("--check", action="store_true")
    options = parser.parse_args()
    before = options.readme.read_text(encoding="utf-8")
    after = replace_section(before, "mechanisms", mechanisms_table())
    after = replace_section(after, "findings", findings_table(findings(os.cpu_count() or 1)))
    if options.write:
        options.readme.write_text(after, encoding="utf-8")
        return 0
    if after != before:
        print("README tables differ from a fresh run:", file=sys.stderr)
        print(*(line for line in after.splitlines() if line not in before.splitlines()), sep="\n", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
