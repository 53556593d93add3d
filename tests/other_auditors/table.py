"""Run every auditor on every case with several seeds, and store the results as CSV.

A line of the CSV has the result of one auditor on one case at one level. If several settings of an auditor were tried,
the line has the setting with the largest median bound, which favours the auditor.
"""

import csv
import io
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, fields
from statistics import median

from covassay.verification.statistics.streams import Progress, no_progress
from tests.other_auditors.cases import CASES, Case
from tests.other_auditors.tool import LEVELS, Findings, Tool
from tests.other_auditors.tools import TOOLS

DRAWS = 10_000  # the number of draws on each of the two inputs, for training and testing together
SEEDS = 10


@dataclass(frozen=True)
class Line:
    """The result of one auditor on one case at one level.

    bound : the median lower bound on ε over the seeds without an error; empty if the auditor gives no bound.
    refuted : the number of seeds for which the auditor refuted the claim.
    failed : the number of seeds for which it raised an error.
    """

    case: str
    tool: str
    version: str
    setting: str
    level: str
    draws: int
    seeds: int
    bound: str
    refuted: int
    failed: int

    @property
    def proven(self) -> float:
        """Return the bound as a number. If there is no bound, or a negative bound, return 0, because no privacy loss is
        negative.
        """
        return max(0.0, float(self.bound or 0))


def _line(case: Case, tool: Tool, setting: str, draws: int, findings: list[Findings | None], index: int) -> Line:
    ended = [found[index] for found in findings if found is not None]
    bounds = [found.bound for found in ended if found.bound is not None]
    return Line(
        case=case.name,
        tool=tool.name,
        version=tool.version,
        setting=setting,
        level=f"{LEVELS[index]:g}",
        draws=draws,
        seeds=len(findings),
        bound=f"{median(bounds):.3f}" if bounds else "",
        refuted=sum(found.refuted for found in ended),
        failed=len(findings) - len(ended),
    )


def _tried(attempt: Callable[[Case, int, int], Findings], case: Case, draws: int, seed: int) -> Findings | None:
    """Run the auditor once. Return None if the auditor raises an error."""
    try:
        return attempt(case, draws, seed)
    except Exception:
        return None


def measure(
    case: Case, tool: Tool, draws: int = DRAWS, seeds: int = SEEDS, progress: Progress = no_progress
) -> list[Line]:
    """Run one auditor on one case. Return a line for each level. If the auditor does not apply to the case, return no
    lines.
    """
    if tool.absent(case):
        return []
    tried: list[list[Line]] = [[] for _ in LEVELS]
    for setting, attempt in tool.settings.items():
        findings = []
        for seed in range(seeds):
            findings.append(_tried(attempt, case, draws, seed))
            progress(f"{tool.name}: {case.name}", 1)
        for index in range(len(LEVELS)):
            tried[index].append(_line(case, tool, setting, draws, findings, index))
    return [max(lines, key=lambda line: (line.proven, line.refuted, -line.failed)) for lines in tried]


def merged(kept: Iterable[Line], new: Iterable[Line]) -> list[Line]:
    """Replace stored lines by new lines of the same case, auditor and level, and sort the lines."""
    lines = {(line.case, line.tool, line.level): line for line in (*kept, *new)}
    return [
        lines[key]
        for case in CASES
        for tool in TOOLS
        for level in LEVELS
        if (key := (case, tool, f"{level:g}")) in lines
    ]


def as_csv(lines: Iterable[Line]) -> str:
    """Return the lines as CSV text."""
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=[field.name for field in fields(Line)], lineterminator="\n")
    writer.writeheader()
    writer.writerows(asdict(line) for line in lines)
    return text.getvalue()


def from_csv(text: str) -> list[Line]:
    """Return the lines that are stored in a CSV text of `as_csv`."""
    numbers = {field.name for field in fields(Line) if field.type is int}
    return [
        Line(**{name: int(value) if name in numbers else value for name, value in row.items()})  # type: ignore[arg-type]
        for row in csv.DictReader(io.StringIO(text))
    ]
