"""Make the table of mutants, which are wrong formulas that the checks of the ledger of claims must reject.

A check takes formulas as arguments. A check also has a list of wrong formulas, which it must reject if they are passed
in place of right ones.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass

from joblib import Parallel, delayed

from covassay.verification.claims.checks import checks
from covassay.verification.claims.markdown import GENERATED, cell


@dataclass(frozen=True)
class Row:
    """A row of the table: the name of a check, and the name of a mutant that the check must reject.

    `replaced` names the arguments of the check that the mutant replaces.
    """

    check: str
    mutant: str
    replaced: str


def rows() -> list[Row]:
    """Return every mutant of every check of the ledger."""
    return [Row(c.name, mutant, ", ".join(slots)) for c in checks().values() for mutant, slots in c.mutants.items()]


def rejected(row: Row) -> bool:
    """Return whether the check rejects the mutant. A crash of the check does not count as a rejection of the mutant."""
    found = checks()[row.check]
    try:
        return not found(**found.mutants[row.mutant]).holds
    except Exception:
        return False


def run(chosen: Iterable[Row], jobs: int = 1) -> Iterator[tuple[Row, bool]]:
    """Run the chosen rows, and yield each with a flag that says whether the mutant was rejected, in the order in which
    the runs end."""

    def one(row: Row) -> tuple[Row, bool]:
        return row, rejected(row)

    yield from Parallel(n_jobs=jobs, return_as="generator_unordered")(delayed(one)(row) for row in chosen)


def data() -> str:
    """Return the text of proofs/mutants.jsonl: every mutant with the check that must reject it, one JSON object per
    line.
    """
    return "".join(json.dumps(asdict(row), ensure_ascii=False) + "\n" for row in rows())


def render() -> str:
    """Return the text of proofs/MUTANTS.md."""
    ledger = rows()
    lines = [
        GENERATED,
        "# What every check rejects\n",
        "A mutant is a wrong formula that a check of the ledger must reject, because a check that cannot fail shows",
        "nothing. The tests and the command `covassay claims mutants` run the checks with every mutant; a crash of the",
        "check does not count as a rejection. The file [mutants.jsonl](mutants.jsonl) has all mutants, and",
        "`covassay claims mutants --only TEXT` runs the mutants with TEXT in their name. The page",
        "[rocq/MUTANTS.md](rocq/MUTANTS.md) has the mutants of the proofs in Rocq, and [CONTROLS.md](CONTROLS.md) has",
        "the broken implementations that the audit must refute.\n",
        f"There are {len({row.check for row in ledger})} checks with {len(ledger)} mutants.\n",
        "| checks of | checks | mutants | for example |",
        "|---|---|---|---|",
    ]
    for module in dict.fromkeys(row.check.partition(":")[0] for row in ledger):
        those = [row for row in ledger if row.check.startswith(f"{module}:")]
        checked = len({row.check for row in those})
        lines.append(f"| `{module}` | {checked} | {len(those)} | `{those[0].check}`: {cell(those[0].mutant)} |")
    return "\n".join(lines) + "\n"
