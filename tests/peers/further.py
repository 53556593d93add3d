"""Make two smaller comparisons: the number of draws that a tool needs to refute a claim, and what low-order bits
show."""

import math
from collections.abc import Callable, Iterable, Sequence
from statistics import median

from covassay.reference.privacy import PureDP
from covassay.verification.audit.engine.bit_statistics import statistics
from covassay.verification.audit.engine.events import Pair
from covassay.verification.audit.engine.facts import TestedEvent
from covassay.verification.audit.engine.finding import Look, Status, Verdict
from covassay.verification.audit.engine.low_order_bits import BitBudget, low_order_bits
from covassay.verification.audit.engine.pair_draws import PROBE
from covassay.verification.audit.engine.privacy import TESTS, run_pair
from tests.peers import kernel, sequential_f_dp
from tests.peers.cases import CASES, Case, mean_benchmark
from tests.peers.delta_siege import SIEGE, by_siege
from tests.peers.table import DRAWS, Line, measure
from tests.peers.tool import LEVELS, Finding, Findings, Tool
from tests.peers.tools import COVASSAY, TOOLS, FixedLength, audited, refutes

UNTIL, BITS = "until refuted", "low-order bits"
EARLY = {
    case.name: case
    for case in (
        *(
            CASES[name]
            for name in ("laplace-half", "gaussian-fifth", "report-noisy-max-3", "clip-forgotten", "laplace")
        ),
        mean_benchmark(0.1),
        mean_benchmark(0.01),
    )
}
SINGLE = "correct-count", "laplace", "truncated-geometric", "report-noisy-max-3", "laplace-half", "gaussian"
SEEDS = 3
FIRST = 0.3  # the share of the draws that chooses covassay's first event of low-order bits


def waits_of_covassay(case: Case, draws: int, seed: int) -> tuple[float, ...]:
    """Return, for every level, the number of draws on an input with which covassay refuted, by a bet that ended the
    draws early or by all draws.
    """
    waits = []
    for level in LEVELS:
        setting, pair, made = audited(case, seed)
        look = Look(samples=draws - PROBE, level=level, tests=TESTS)
        checks = run_pair(setting, pair, case.claim, look, look.step, level)
        waits.append(math.ceil(sum(made) / 2) if refutes(checks, level) else math.inf)
    return tuple(waits)


WAITING: dict[str, Callable[[Case, int, int], tuple[float, ...]]] = {
    COVASSAY: waits_of_covassay,
    kernel.KERNEL: kernel.waits,
    sequential_f_dp.SEQUENTIAL: sequential_f_dp.waits,
}


def bits_by_covassay(case: Case, draws: int, seed: int) -> Findings:
    """Run covassay's check of low-order bits on the pair, and return what it proves."""
    setting, pair, _ = audited(case, seed)
    of_bits = Pair(pair.name, pair.first, pair.second, statistics(FixedLength(length=case.length), 1))
    findings = []
    for level in LEVELS:
        budget = BitBudget(FIRST * draws, (1 - FIRST) * draws, level, thorough=True)
        found = low_order_bits(setting, [of_bits], case.claim, budget, Status.REFUTED)
        facts = found.checks[0].fact(TestedEvent)
        bound = 0.0 if facts is None else facts.loss_lower_bound
        findings.append(Finding(bound if isinstance(case.claim, PureDP) else None, found.verdict is Verdict.REFUTED))
    return tuple(findings)


BIT_TOOLS = (
    Tool(COVASSAY, "covassay", "", {BITS: bits_by_covassay}, lambda case: ""),
    Tool(SIEGE, "deltasiege", "", {BITS: by_siege("bits")}, lambda case: ""),
)


def _waited(case: Case, name: str) -> list[Line]:
    runs = [WAITING[name](case, DRAWS, seed) for seed in range(SEEDS)]
    lines = []
    for level, waits in zip(LEVELS, zip(*runs, strict=True), strict=True):
        drawn, refuted = median(waits), sum(map(math.isfinite, waits))
        shown = int(drawn) if math.isfinite(drawn) else 0
        lines.append(Line(case.name, name, TOOLS[name].version, UNTIL, f"{level:g}", shown, SEEDS, "", refuted, 0))
    return lines


def measured() -> list[Line]:
    """Measure both comparisons with the tools that are installed."""
    waited = [line for case in EARLY.values() for name in WAITING for line in _waited(case, name)]
    installed = [tool for tool in BIT_TOOLS if tool.installed]
    return waited + [line for name in SINGLE for tool in installed for line in measure(CASES[name], tool, seeds=SEEDS)]


def _wait(line: Line) -> tuple[float, str]:
    drawn = f"{line.draws:,}".replace(",", " ") if line.draws else "–"
    return -(line.draws or math.inf), f"{drawn} ({line.refuted}/{line.seeds})"


def _proof(line: Line) -> tuple[float, str]:
    return line.proven + line.refuted, f"{f'{line.proven:.2f}' if line.bound else '–'} ({line.refuted}/{line.seeds})"


def _table(
    lines: Sequence[Line], cases: Iterable[Case], tools: Sequence[str], told: Callable[[Line], tuple[float, str]]
) -> list[str]:
    """Write a table with a row for every case; `told` gives a number, which grows with what a tool shows, and the words
    of a cell."""
    text = [f"| case | claim | {' | '.join(tools)} |", f"|{'---|' * (2 + len(tools))}"]
    for case in cases:
        of_tool = {tool: [told(x) for x in lines if (x.case, x.tool) == (case.name, tool)] for tool in tools}
        ours = of_tool[tools[0]]
        more = any(a[0] > b[0] for tool in tools[1:] for a, b in zip(of_tool[tool], ours, strict=False))
        cells = ["<br>".join(words for _, words in of_tool[tool]) for tool in tools]
        name = f"**{case.name}**" if more else case.name
        text.append(f"| {name} | {case.claim.keywords()['epsilon']:g} | {' | '.join(cells)} |")
    return [*text, ""]


def sections(lines: Sequence[Line]) -> list[str]:
    """Write the two tables in Markdown; covassay stands first in each table."""
    waits, bits = ([line for line in lines if line.setting == setting] for setting in (UNTIL, BITS))
    return [
        WAITING_TOLD,
        *_table(waits, EARLY.values(), list(WAITING), _wait),
        BITS_TOLD,
        *_table(bits, [CASES[name] for name in SINGLE], [tool.name for tool in BIT_TOOLS], _proof),
    ]


WAITING_TOLD = f"""\
## Draws until a claim is refuted

The table has the number of draws on each input that a tool makes until it refutes the claim, as the median over
{SEEDS} seeds, with at most 10 000 draws, at the two levels. A dash means that half of the seeds or more did not
refute. covassay plans 10 000 draws. It makes them in stages that double, and a sequential test, with a thousandth of
the level, may end them early. The other tools test after every pair or after every ten pairs, and their level holds
for all tests together. The last two cases are a benchmark of arXiv 2509.07055: the mean of {{0}} and of {{0, 1}} with
Laplace noise of scale 2/(nε), where n is the true number of records. **Bold** marks a row in which another tool needs
fewer draws. The reason is that covassay keeps nearly all of its level for the test at the planned end. The kernel
e-process has no planned end. Sequential f-DP has none either, and it holds its level only in the limit of a large
burn-in.
"""
BITS_TOLD = f"""\
## Low-order bits

The table has the functions whose output is one number, with 10 000 draws and {SEEDS} seeds, at the two levels.
Delta-Siege learns from the 64 bits of a float, as in its examples. covassay counts the lowest set bit, which is its
question about low-order bits. In real arithmetic some of these functions keep their claim; the floats that they return
break it, so that a refutation is no false alarm. truncated-geometric returns whole numbers and keeps its claim. In the
tables above these bits are left out. **Bold** marks a row in which Delta-Siege shows more: it bounds a loss that is
within the claim, while covassay tests an event only if it may refute.
"""
