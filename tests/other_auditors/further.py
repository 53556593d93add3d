"""Make two further comparisons: how many draws an auditor needs to refute a claim, and what it detects in low-order
bits."""

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
from tests.other_auditors import kernel, sequential_f_dp
from tests.other_auditors.cases import CASES, Case, mean_benchmark
from tests.other_auditors.delta_siege import SIEGE, by_siege
from tests.other_auditors.table import DRAWS, Line, measure
from tests.other_auditors.tool import LEVELS, Finding, Findings, Tool
from tests.other_auditors.tools import COVASSAY, TOOLS, FixedLength, audited, refutes

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
FIRST = 0.3  # covassay uses 30 % of its draws to choose an event of low-order bits, and tests the event on the others


def waits_of_covassay(case: Case, draws: int, seed: int) -> tuple[float, ...]:
    """Return, for every level, the number of draws on each input after which covassay refuted the claim, or infinity if
    it did not.
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
    """Run covassay's check of low-order bits on the two inputs of a case."""
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
    """Make both comparisons with the auditors that are installed."""
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
    """Return a table in Markdown with a row for every case. For each line, the function `told` returns a number and the
    text of the cell. Of two results, the one with the larger number is better.
    """
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
    """Return both tables in Markdown, with covassay in the first column."""
    waits, bits = ([line for line in lines if line.setting == setting] for setting in (UNTIL, BITS))
    return [
        WAITING_TOLD,
        *_table(waits, EARLY.values(), list(WAITING), _wait),
        BITS_TOLD,
        *_table(bits, [CASES[name] for name in SINGLE], [tool.name for tool in BIT_TOOLS], _proof),
    ]


WAITING_TOLD = f"""\
## Draws until a claim is refuted

A cell has the number of draws on each input that a tool needs to refute the claim. This number is a median over {SEEDS}
seeds, and each of the two levels has a number of its own. No tool gets more than 10 000 draws. A dash means that a tool
refuted the claim in at most half of the seeds. covassay plans 10 000 draws, and makes them in stages; each stage
doubles the number of draws. After each stage but the first, a sequential test may refute the claim and end the draws.
This test has less than a thousandth of the level. The other tools test after every pair of draws or after every ten
pairs. The level bounds the probability that any of these tests gives a false alarm. The last two cases are a benchmark
of arXiv 2509.07055. They release the mean of {{0}} and of {{0, 1}} with Laplace noise of scale 2/(nε), where n is the
exact number of records. **Bold** marks a row in which another tool needs fewer draws. covassay needs more draws in
these rows because it reserves nearly all of its level for the test after the last planned draw. The kernel e-process
and sequential f-DP reserve no part of their level for a last test. The level of sequential f-DP is guaranteed only in
the limit of a large burn-in.
"""
BITS_TOLD = f"""\
## Low-order bits

This table compares the tools on functions whose output is one number, with 10 000 draws and {SEEDS} seeds, at the two
levels. Delta-Siege learns from the 64 bits of a floating-point number, as in its examples. covassay tests the position
of the lowest set bit. Some of these functions would satisfy their claim if they computed with real numbers. They
compute with floating-point numbers and violate the claim, so that a refutation is not a false alarm. The function
truncated-geometric returns integers and satisfies its claim. The tables above do not use the low-order bits. **Bold**
marks a row in which Delta-Siege proves more. Delta-Siege also proves bounds that are smaller than the claimed ε.
covassay tests an event only if the event may refute the claim; otherwise its bound is 0.
"""
