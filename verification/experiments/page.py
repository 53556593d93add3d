"""Write the tables of proofs/experiments/README.md from the stored results, so that the page and the files agree.

    python -P -m covassay.verification.experiments.page FOLDER

The argument FOLDER holds the page and the results. Between the lines `<!-- results of NAME -->` and `<!-- end -->`, the
page has the number of runs, the mean errors, and whether the results contradict each statement of the paper. A person
writes the rest of the page.
"""

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from covassay.reference.errors import InvalidInput
from covassay.verification.experiments import plots, results
from covassay.verification.experiments.experiment import REPETITIONS
from covassay.verification.experiments.findings import Lines
from covassay.verification.experiments.results import Result

BLOCK = re.compile(r"<!-- results of (\S+) -->\n.*?<!-- end -->", re.DOTALL)
METHODS = ("GaussCov", "EMCov", "SeparateCov", "AdaptiveCov", "zero matrix")


@dataclass(frozen=True)
class Table:
    """One table of means, for a panel, some or all of its methods, and some or all values of the varied quantity."""

    panel: str
    methods: Sequence[str] = ()
    values: Sequence[float] = ()


TABLES: Mapping[str, Sequence[Table]] = {
    "adk19-figure-1": [Table("wine")],
    "dly22-figure-2": [Table(f"n{n}", METHODS, (10, 50, 100, 200, 400, 800)) for n in (1000, 4000, 16_000)],
    "dly22-figure-3": [Table(panel, METHODS) for panel in "abcd"],
}


def table(result: Result, wanted: Table, lines: Lines) -> list[str]:
    """Return the lines of a table in Markdown, with a dash where a method was not run at a point."""
    panel = next(one for one in result.facts["panels"] if one["name"] == wanted.panel)
    values = wanted.values or panel["grid"]
    rows = []
    for (name, _, method), line in lines.items():
        if name == wanted.panel and (not wanted.methods or method in wanted.methods):
            means = (f"{line[value].mean:.3g}" if value in line else "–" for value in values)
            rows.append(f"| {method} | {' | '.join(means)} |")
    first, *others = (f"{value:g}" for value in values)
    heading = f"| {plots.title(panel)} | {panel['axis']} = {first} | {' | '.join(others)} |"
    return [heading, f"|{'---|' * (len(values) + 1)}", *rows, ""]


def block(name: str, result: Result) -> str:
    """Return the text about one stored result. The text states the number of runs, the mean errors, and whether the
    result contradicts the statements of the paper.
    """
    runs, whole = result.facts["repetitions"], REPETITIONS[result.facts["scale"]]
    few = f" instead of the default {whole}" if runs != whole else ""
    lines = results.lines(result.rows)
    tables = [text for wanted in TABLES[name] for text in table(result, wanted, lines)]
    verdicts = [f"- {text}" for text in plots.verdicts(result.facts)]
    return "\n".join([f"Means over {runs} run{'s' * (runs > 1)}{few}.", "", *tables, *verdicts])


def page(text: str, read: Callable[[str], Result]) -> str:
    """Return the page with its generated blocks rewritten; `read` returns the stored result of a given name."""

    def again(found: re.Match[str]) -> str:
        name = found[1]
        if name not in TABLES:
            raise InvalidInput(f"results of {name}: no table is declared, must be one of {', '.join(TABLES)}")
        return f"<!-- results of {name} -->\n{block(name, read(name))}\n<!-- end -->"

    return BLOCK.sub(again, text)


def rendered(folder: Path) -> str:
    """Return the page of a folder with its generated blocks brought up to date."""
    text = (folder / "README.md").read_text(encoding="utf-8")
    return page(text, lambda name: results.read(folder / f"{name}.parquet"))


def main(arguments: Sequence[str]) -> int:
    """Write the page of the folder named on the command line."""
    if len(arguments) != 1 or not (Path(arguments[0]) / "README.md").is_file():
        print("usage: python -P -m covassay.verification.experiments.page FOLDER (with a README.md)", file=sys.stderr)
        return 2
    folder = Path(arguments[0])
    (folder / "README.md").write_text(rendered(folder), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
