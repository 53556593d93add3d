"""Compare the share of the privacy loss that covassay proves with no draws, a thousand draws and a million draws.

With no draws, covassay computes the privacy loss from the recorded random numbers of single runs. With a thousand or a
million draws, covassay computes a lower bound on the loss from the drawn outputs, as in the main table.
"""

from collections.abc import Iterable, Sequence

from covassay.reference.domain import Matrix
from covassay.verification.audit.recorded.exact_loss import exact_loss
from tests.other_auditors.cases import CASES, SNIPER, Case
from tests.other_auditors.table import Line, measure
from tests.other_auditors.tool import LEVELS
from tests.other_auditors.tools import COVASSAY, TOOLS

SHARED = "laplace", "laplace-parallel"  # these functions add noise to one number and to twenty numbers
DRAWS = {1_000: 10, 1_000_000: 1}  # the number of seeds for each number of draws
RECORDED = "recorded draws"


def computed(case: Case) -> list[Line]:
    """Compute the privacy loss of a case from recorded random numbers, and return it in a line for each level."""

    def one(x: Matrix, *, rng: object, **budget: float) -> object:
        return case.sample(x, 1, rng)[0]  # type: ignore[arg-type]

    found = exact_loss(one, case.first, case.second, case.claim)
    bound = f"{found.loss:.3f}" if found.decided and found.loss is not None else ""
    version = TOOLS[COVASSAY].version
    refuted = int(found.refuted)
    return [Line(case.name, COVASSAY, version, RECORDED, f"{level:g}", 0, 1, bound, refuted, 0) for level in LEVELS]


def measured() -> list[Line]:
    """Compute the privacy loss of each case, and measure covassay's lower bound on it for each number of draws."""
    cases = [CASES[name] for name in SHARED]
    return [
        line
        for case in cases
        for lines in (computed(case), *(measure(case, TOOLS[COVASSAY], *of) for of in DRAWS.items()))
        for line in lines
    ]


def section(lines: Sequence[Line], table: Iterable[Line]) -> list[str]:
    """Return the comparison in Markdown, with the results of covassay and of DP-Sniper from the main table."""
    others = [line for line in table if line.case in SHARED and line.tool in (COVASSAY, SNIPER)]
    lines = [line for line in lines if line.setting in ("", RECORDED)]
    columns = sorted({(line.tool, line.draws) for line in (*lines, *others)}, key=lambda c: (c[0] != COVASSAY, c[1]))
    head = [f"{tool}, {_words(draws)}" for tool, draws in columns]
    text = [
        "## The share of the loss that is proven, by draws\n",
        "In the column “no draws”, covassay computes the loss from the recorded random numbers of single runs",
        "(`exact_loss`). The computed loss does not depend on chance.",
        "A share is the median bound divided by the exact loss. If a cell has two numbers, the first is for",
        f"the level {LEVELS[0]:g}, and the second is for the level {LEVELS[1]:g}.",
        "The figures of DP-Sniper are those of the tables above. DP-Sniper was not run with its default of ten million",
        "draws or more.\n",
        f"| case | loss | {' | '.join(head)} |",
        f"|{'---|' * (2 + len(columns))}",
    ]
    for name in SHARED:
        loss = CASES[name].loss or 0.0
        cells = []
        for column in columns:
            found = [line for line in (*lines, *others) if line.case == name and (line.tool, line.draws) == column]
            shares = dict.fromkeys(f"{line.proven / loss:.3f}" for line in found)
            cells.append("<br>".join(shares) or "–")
        text.append(f"| {name} | {loss:.2f} | {' | '.join(cells)} |")
    return [*text, ""]


def _words(draws: int) -> str:
    return f"{draws:,} draws".replace(",", " ") if draws else "no draws"
