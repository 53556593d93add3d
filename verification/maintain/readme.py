"""Write the generated parts of the READMEs and of the site's home page, or compare them.

    python -P -m covassay.verification.maintain readme --write
    python -P -m covassay.verification.maintain readme --check

The pages in COUNTED have counts between `<!-- count: NAME -->` and `<!-- end -->`; reference/README.md has the table of
mechanisms.
"""

import argparse
import json
import re
import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.mechanism import Mechanism
from covassay.reference.mechanisms.registry import MECHANISMS
from covassay.verification.audit.engine.finding import Verdict
from covassay.verification.claims.kernel import lock
from covassay.verification.claims.ledger import claims
from covassay.verification.declared import by_origin
from covassay.verification.maintain.findings import FIRST

PARSER = {"description": "Write the generated parts of the READMEs and of the home page of the site, or compare them."}
BEGIN, END = "<!-- mechanisms: begin (generated) -->\n", "<!-- mechanisms: end -->\n"
COUNTED = ("README.md", "proofs/README.md", "verification/site/pages/index.md")
COUNT = re.compile(r"<!-- count: ([a-z]+) -->.*?<!-- end -->", re.DOTALL)


def counts(proofs: Path) -> dict[str, str]:
    """Return every number that the pages in COUNTED state, as text keyed by the name of the number."""
    rows = [json.loads(line) for line in (proofs / "findings.jsonl").read_text(encoding="utf-8").splitlines()]
    rows = [row for row in rows if row.get("seed", FIRST) == FIRST]
    run = [row for row in rows if not row["missing"]]
    projects = {row["target"].partition(":")[0] for row in run}
    entries, theorems = claims().values(), lock.read(proofs).theorems.values()
    return {
        "mechanisms": f"{len(MECHANISMS)} mechanisms",
        "functions": f"{len(run)} functions of {len(projects)} projects",
        "refuted": str(sum(row["verdict"] == Verdict.REFUTED.value for row in run)),
        "claims": f"{len(entries)} entries",
        "theorems": f"{sum(not t.axioms for t in theorems)} of the {len(theorems)} theorems",
        "wholes": f"{sum(any(leg.whole for leg in claim.legs) for claim in entries)} mechanisms",
    }


def with_counts(text: str, known: dict[str, str]) -> str:
    """Return `text` with every count replaced by its present value.

    Raises
    ------
    InvalidInput : the text has a count of an unknown name.
    """

    def now(match: re.Match[str]) -> str:
        if match[1] not in known:
            raise InvalidInput(f"count: {match[1]!r} must be one of {', '.join(known)}")
        return f"<!-- count: {match[1]} -->{known[match[1]]}<!-- end -->"

    return COUNT.sub(now, text)


def _proven(declared: Mechanism[Any, ..., Any]) -> str:
    """Return a text with the budget that each calibration is proven to spend, as a multiple of the given budget. If the
    multiple for a calibration depends on other options, the text states the smallest and the largest multiple.
    """
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
    """Return the Markdown table of all mechanisms of the reference. Its headings say where the steps and constants of
    the mechanisms come from.
    """
    lines = ["| mechanism | source | claimed | proven (d = 2) |", "|---|---|---|---|"]
    for heading, group in by_origin().items():
        lines.append(f"| **{heading}** | | | |")
        for declared in group:
            path = declared.release.__module__.removeprefix("covassay.reference.").replace(".", "/") + ".py"
            neighbours = " or ".join(declared.choices.get("adjacency", (declared.adjacency,)))
            claimed = f"{declared.notion.label}, {neighbours}"
            cells = f"[{declared.name}]({path})", declared.source, claimed, _proven(declared)
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def with_table(text: str, table: str) -> str:
    """Return `text` with the table of mechanisms replaced.

    Raises
    ------
    InvalidInput : the text has no place for the table.
    """
    head, found, rest = text.partition(BEGIN)
    _, closed, tail = rest.partition(END)
    if not (found and closed):
        raise InvalidInput("reference/README.md: the lines between which the table of mechanisms stands are missing")
    return head + BEGIN + table + END + tail


def pages(root: Path) -> Iterator[tuple[Path, str]]:
    """Yield the pages of a clone, each with the text that it should have now."""
    known, reference = counts(root / "proofs"), root / "reference" / "README.md"
    for path in (root / name for name in COUNTED):
        yield path, with_counts(path.read_text(encoding="utf-8"), known)
    yield reference, with_table(reference.read_text(encoding="utf-8"), mechanisms_table())


def run(options: argparse.Namespace) -> int:
    """Write the pages, or compare them and return 1 if one differs."""
    different = [(path, text) for path, text in pages(Path.cwd()) if path.read_text(encoding="utf-8") != text]
    for path, text in different:
        if options.write:
            path.write_text(text, encoding="utf-8")
        else:
            print(f"{path.name} of {path.parent.name} is out of date; run `maintain readme --write`", file=sys.stderr)
    return 0 if options.write or not different else 1


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command to the parser."""
    group = parser.add_mutually_exclusive_group(required=True)
    group.add_argument("--write", action="store_true", help="write the pages")
    group.add_argument("--check", action="store_true", help="compare them; exit status 1 if one differs")
    parser.set_defaults(run=run)
