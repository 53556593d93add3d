"""The tables of mutants: wrong formulas and implementations, and the checks that must reject them.

There are two tables. A check of the ledger takes formulas as arguments, and names wrong formulas that it must reject. A
mutant of a mechanism is an implementation with one named mistake, and names the checks of the audit that must catch it.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import cast

from joblib import Parallel, delayed

from covassay.verification.audit.engine.finding import Kind
from covassay.verification.audit.negative_controls.every import NEGATIVE_CONTROLS
from covassay.verification.audit.negative_controls.trial import SAMPLES, caught
from covassay.verification.claims.checks import checks
from covassay.verification.claims.markdown import GENERATED, cell


@dataclass(frozen=True)
class Row:
    """One mutant and one check that must reject it. `place` is "ledger" or "audit"."""

    place: str
    check: str
    mutant: str
    told: str  # the mistake, or the arguments of the check that the mutant replaces


def ledger_rows() -> list[Row]:
    """Every mutant of every check of the ledger."""
    return [
        Row("ledger", c.name, mutant, ", ".join(slots))
        for c in checks().values()
        for mutant, slots in c.mutants.items()
    ]


def audit_rows() -> list[Row]:
    """Every mutant of a mechanism with every check that must catch it."""
    return [
        Row("audit", f"{kind}: {name}", mutant.name, mutant.mistake)
        for mutant in NEGATIVE_CONTROLS.values()
        for kind, name in mutant.caught_by
    ]


def rejected(row: Row) -> bool:
    """Whether the check rejects the mutant. A check of the ledger that crashes has not rejected anything."""
    if row.place == "audit":
        kind, _, name = row.check.partition(": ")
        return caught(NEGATIVE_CONTROLS[row.mutant], cast(Kind, kind), name)
    found = checks()[row.check]
    try:
        return not found(**found.mutants[row.mutant]).holds
    except Exception:
        return False


def run(rows: Iterable[Row], jobs: int = 1) -> Iterator[tuple[Row, bool]]:
    """Every row with whether the mutant was rejected, in the order in which the runs end."""

    def one(row: Row) -> tuple[Row, bool]:
        return row, rejected(row)

    yield from Parallel(n_jobs=jobs, return_as="generator_unordered")(delayed(one)(row) for row in rows)


def data() -> str:
    """The text of proofs/mutants.jsonl: every mutant with every check that must reject it, one row a line."""
    return "".join(json.dumps(asdict(row), ensure_ascii=False) + "\n" for row in (*ledger_rows(), *audit_rows()))


def render() -> str:
    """The text of proofs/MUTANTS.md."""
    ledger, named = ledger_rows(), [mutant for mutant in NEGATIVE_CONTROLS.values() if mutant.caught_by]
    lines = [
        GENERATED,
        "# What every check rejects\n",
        "A check that cannot fail shows nothing. The tests put in every mutant, and so does `covassay claims mutants`;",
        "the check must reject it by its evidence, and a crash does not count. All of them are in",
        "[mutants.jsonl](mutants.jsonl). `covassay claims mutants --only TEXT` runs those with a text in their name.",
        "The mutants of the kernel proofs are in [rocq/MUTANTS.md](rocq/MUTANTS.md).\n",
        f"## Checks of the ledger: {len({row.check for row in ledger})} checks, {len(ledger)} mutants\n",
        "| checks of | checks | mutants | for example |",
        "|---|---|---|---|",
    ]
    for module in dict.fromkeys(row.check.partition(":")[0] for row in ledger):
        rows = [row for row in ledger if row.check.startswith(f"{module}:")]
        checked = len({row.check for row in rows})
        lines.append(f"| `{module}` | {checked} | {len(rows)} | `{rows[0].check}`: {cell(rows[0].mutant)} |")
    lines += [
        "",
        f"## Checks of the audit: {len({row.check for row in audit_rows()})} checks, {len(named)} mutants\n",
        f"With {SAMPLES} draws per data set, at a false-alarm probability of 1e-9. Whole audits of these and of",
        f"{len(NEGATIVE_CONTROLS) - len(named)} more negative controls are in [CONTROLS.md](CONTROLS.md).\n",
        "| mechanism | mutants | rejected by |",
        "|---|---|---|",
    ]
    for mechanism in sorted({mutant.mechanism for mutant in named}):
        mutants = [mutant for mutant in named if mutant.mechanism == mechanism]
        kinds = sorted({kind for mutant in mutants for kind, _ in mutant.caught_by})
        lines.append(f"| {cell(mechanism)} | {len(mutants)} | {', '.join(kinds)} |")
    return "\n".join(lines) + "\n"
