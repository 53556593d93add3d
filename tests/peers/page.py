"""Write the page on the stored comparison, proofs/PEERS.md."""

import math
from collections.abc import Iterable, Sequence

from tests.peers import further
from tests.peers.by_draws import section
from tests.peers.cases import AUDITORIUM, CASES, RECORDER, SNIPER, Case
from tests.peers.delta_siege import SHARES, SIEGE
from tests.peers.f_dp import GENERAL
from tests.peers.sequential_f_dp import BURN_IN, SEQUENTIAL
from tests.peers.statdp import MOST_ENTRIES, STATDP
from tests.peers.table import Line
from tests.peers.tool import LEVELS
from tests.peers.tools import COVASSAY, EPOCHS, TOOLS, TRAINING

ROUNDING = 1e-9  # allowance for rounding in shares of seeds

# The reasons why another tool proves more in a row; a test requires a reason in every such row, and only there.
REASONS: dict[tuple[str, str], str] = {
    ("private-size", RECORDER): "Dp-recorder sees in the function that a size is used as public, which two runs show; "
    "from outputs alone the size is visible only in rare draws with large noise",
    ("inferred-domain", SNIPER): "Covassay's target fails in every draw on one data set, so it stops after "
    "about 110 draws per data set, with p < 1e-14; the other bound has all draws",
    ("truncated-geometric", RECORDER): "Dp-recorder is ahead by 0.003 at the level 0.05, and two seeds differ by "
    "more; at 1e-9 covassay shows more",
    ("svt-3", SNIPER): "At the level 0.05 its fixed event of probability 0.01 is better than the event that covassay's "
    "cautious choice takes; neither refutes, and at 1e-9 covassay shows more",
    ("svt-34-parallel", SNIPER): "The reason is that of svt-3",
    ("inferred-domain", STATDP): "The reason is that for DP-Sniper",
    ("inferred-domain", SIEGE): "The reason is that for DP-Sniper",
    ("inferred-domain", GENERAL): "The reason is that for DP-Sniper",
    ("clip-forgotten", SEQUENTIAL): "The normal approximation of sequential f-DP takes an error that never occurred "
    "for rarer than 10 000 draws can show, with less confidence than the level asks for; covassay's bound is exact",
    ("noisy-histogram-2", SIEGE): "Delta-Siege is ahead by 0.03 at the level 0.05, where its threshold for a learned "
    "score is chosen with less caution than covassay's event; at 1e-9 covassay shows more",
    ("prefix-sum", SIEGE): "Delta-Siege is ahead by 0.002 at the level 0.05, and two seeds differ by more; at "
    "1e-9 covassay shows more",
    ("numerical-svt", SIEGE): "Delta-Siege is ahead by 0.01 at the level 0.05, as for noisy-histogram-2; at "
    "1e-9 covassay shows more",
}

HEAD = f"""\
# covassay beside other auditors

This page is written by `python -P -m covassay.verification.maintain peers --write proofs`, from the figures in
[peers.csv](peers.csv). The command measures the installed tools again, keeps the stored figures of the other tools,
and says how to install those.

**The task.** Every tool gets the same function, the same two neighbouring inputs, and the same number of draws on
each input, for training, choosing and testing together. Every tool decides at the same level, which is the
probability of a false alarm on one task. We wrote the functions anew from their published definitions.

**How to read a cell.** A number is the median over seeds of the lower bound on ε that the tool proves at that level.
A fraction says in how many of the seeds the tool refuted the claim; slow tools have fewer seeds. A dash means that
the tool proves no bound on ε. "loss" is the exact privacy loss of the two inputs, where it is known: no bound should
be larger, except with the probability of the level. A function breaks its claim if its loss is larger than the claim.
If a function keeps its claim, a refutation is a false alarm. **Bold** marks a row in which another tool shows more
than covassay, and the last cell of the row says why.

**Settings.**

- covassay is represented by the part of the audit that tests one pair, `run_pair`, without any knowledge of the law.
- DP-Sniper uses a classifier trained on {TRAINING:.0%} of the draws, a threshold chosen on the same number of draws,
  and the bound from the rest. We tried three settings of DP-Sniper in every row and took the best median, which
  favours DP-Sniper. DP-Sniper trains for {EPOCHS} epochs on one batch. The defaults of DP-Sniper are made for ten
  million draws and more, with which DP-Sniper shows more than in this table. DP-Sniper bounds ε of pure DP.
- dp_auditorium runs its hockey-stick tester with the model of its example, in both directions at half the level each.
  dp_auditorium bounds δ at the claimed ε, so only its refutations can be compared.
- dp-recorder is a grey-box tool and sees the calls inside a function. A function that is written for dp-recorder is
  recorded and replayed, which takes one run on each input and has no level. All other functions are audited by
  sampling, as if they were one call.
- StatDP uses one half of the draws to choose an event, and the other half to test it. We use the p-values of StatDP
  unchanged; they are means over random thinnings of the counts, in the direction that the counts show, which favours
  StatDP. The events of StatDP are products over the entries of an output, so we gave StatDP only outputs of at most
  {MOST_ENTRIES} entries. StatDP bounds ε of pure DP.
- Delta-Siege uses a classifier trained on {SHARES["n_train"]:.0%} of the draws, a threshold chosen on the same
  number, a direction chosen on {SHARES["n_check"]:.0%}, and the verdict from the rest. We tried two classifiers and
  took the better one. The classifiers see the output as numbers, except in the table on low-order bits, where they
  see the bits. A claim of (ε, δ)-DP is given to Delta-Siege as the claim of a Gaussian mechanism with the classical
  scale, which Delta-Siege may attack at every other δ.
- The kernel e-process is the sequential kernel test of González and others, arXiv 2509.07055. The bound of the
  e-process is the largest ε such that the e-process refutes every smaller ε. The e-process is made for small ε: at ε
  = 1 the discrepancy that the e-process estimates is rarely above what the claim allows, however large the loss is.
- General f-DP is the auditor of Askin and others, arXiv 2502.07066. This auditor uses half of the draws for choosing
  and training, and the other half for testing. We tried two thresholds and took the better one. The number of nearest
  neighbours is 10√n, as in the authors' code.
- Sequential f-DP is the black-box auditor of Kutta and others, arXiv 2602.06518, with a burn-in of {BURN_IN} pairs.
  The level of sequential f-DP holds only asymptotically. For the level 1e-9, which is too small for simulation, we
  gave the auditor the quantile of a union bound. Sequential f-DP needs outputs that are one number.

**Tools that are written anew.** We wrote the last three tools anew from their published definitions, because the code
of their authors is not in this repository. We compared each of the three programs with the code of its authors.

- Of the article on the kernel e-process we could read only the beginning. The rest of our program of the e-process
  follows reviews of the article and the authors' notebook (github.com/google-research/google-research,
  dp_sequential_test, at cacca8e). With the constants of the notebook, the wealth (the product of the factors of the
  bets) on 600 pairs agrees with the notebook to nine digits. For the table we used the smaller threshold of the
  article, a larger ball for the witness function, and stakes for which every factor is above 1/2, because we could
  not read the range of stakes in the article. All three choices favour the e-process.
- Of the article on general f-DP we could read only the abstract and the first page. The rest of our program of
  general f-DP follows the authors' code (github.com/stoneboat/fdp-estimation at 8da5d50). On 3000 draws of 1 and of 5
  numbers, the two errors of the classifier are equal to those of the authors' code.
- We read the article on sequential f-DP and the authors' code (github.com/martindunsche/sequential_fdp_auditing at
  4be62e4). On five streams of 1000 pairs, the verdicts and the stopping times agree with the authors' code. The
  bounds of sequential f-DP differ by at most 0.0011, because the authors' code cuts the kernel off at four widths.
"""


def share(line: Line) -> float:
    """Return the share of the seeds in which the claim was refuted."""
    return line.refuted / line.seeds


def shows_more(case: Case, other: Line, ours: Line) -> bool:
    """Return whether another tool proves a larger bound, or refutes a broken claim for a larger share of the seeds."""
    refutes_more = case.broken and share(other) > share(ours) + ROUNDING
    return refutes_more or other.proven > ours.proven


def behind(lines: Iterable[Line]) -> list[tuple[str, str]]:
    """Return the cases, each with a tool that shows more than covassay at some level."""
    by_key = {(line.case, line.tool, line.level): line for line in lines}
    found = {
        (name, tool): None
        for (name, tool, level), line in by_key.items()
        if tool != COVASSAY
        and (ours := by_key.get((name, COVASSAY, level))) is not None
        and shows_more(CASES[name], line, ours)
    }
    return list(found)


def _cell(lines: Sequence[Line], case: Case, tool: str) -> str:
    if not lines:
        return TOOLS[tool].absent(case)
    if all(line.failed == line.seeds for line in lines):
        return "ends with an error"
    shown = []
    for line in lines:
        bound = f"{line.proven:.2f}" if line.bound else "–"
        shown.append(f"{bound} ({line.refuted}/{line.seeds})")
    return "<br>".join(shown)


def _loss(case: Case) -> str:
    if case.loss is None:
        return ""
    return "∞" if math.isinf(case.loss) else f"{case.loss:.2f}"


def _row(case: Case, lines: Sequence[Line], ahead: dict[tuple[str, str], None]) -> str:
    of_tool = {tool: [line for line in lines if line.case == case.name and line.tool == tool] for tool in TOOLS}
    why = [
        f"{tool}: {REASONS.get((case.name, tool), 'no reason is known')}" for name, tool in ahead if name == case.name
    ]
    name = f"**{case.name}**" if why else case.name
    claim = f"{case.claim.keywords()['epsilon']:.3g}"
    cells = [name, case.told, claim, _loss(case), *(_cell(of_tool[tool], case, tool) for tool in TOOLS), "; ".join(why)]
    return f"| {' | '.join(cells)} |"


def page(lines: Sequence[Line], by_draws: Sequence[Line]) -> str:
    """Write the text of proofs/PEERS.md; `by_draws` are the lines of the comparison by numbers of draws."""
    ahead = dict.fromkeys(behind(lines))
    versions = {line.tool: line.version for line in lines}
    text = [HEAD, "**Versions.** If a tool states no version, the stored figures are of the commit that is named.\n"]
    for tool in TOOLS.values():
        stated = versions.get(tool.name)
        where = "" if tool.name == COVASSAY else f", {tool.home}"
        text.append(f"- {tool.name}: {'not measured' if stated is None else f'version {stated}'}{where}")
    levels = " and ".join(f"{level:g}" for level in LEVELS)
    draws = " or ".join(f"{n:,}".replace(",", " ") for n in sorted({line.draws for line in lines}))
    text.append(
        f"\nEvery tool gets {draws} draws on each input. The two lines of a cell are for the levels {levels}.\n"
    )
    for source, title in (
        (RECORDER, "The seven functions of dp-recorder's tests: six mistakes and one correct count"),
        (SNIPER, "The mechanisms that DP-Sniper lists"),
        (AUDITORIUM, "Further mechanisms that dp_auditorium lists"),
    ):
        text += [f"## {title}\n", f"| case | what it is | claim | loss | {' | '.join(TOOLS)} | why |"]
        text.append(f"|{'---|' * (5 + len(TOOLS))}")
        text += [_row(case, lines, ahead) for case in CASES.values() if case.source == source]
        text.append("")
    return "\n".join([*text, *section(by_draws, lines), *further.sections(by_draws), CANNOT, NOT_COMPARED])


CANNOT = """\
## What the other tools can do and covassay cannot

- DP-Sniper searches for pairs of inputs to any list of numerical queries. covassay brings pairs for rows in the unit
  ball or in a box; for other inputs the user of covassay must give the pair.
- dp_auditorium gives a lower bound on δ at the claimed ε, and its other testers bound a Rényi divergence.
  dp_auditorium searches for inputs of any kind with an optimizer.
- dp-recorder names the call inside a function that breaks the claim, and detects that a value which the function
  treats as public depends on the data. The recorded draws of covassay only show the noise.
- StatDP searches over the arguments of an algorithm as well as over its inputs.
- Delta-Siege tests a claim at
  every (ε, δ) on the curve that the same noise must satisfy. covassay tests only the stated claim. Delta-Siege also
  learns from all bits of a float; covassay counts lowest set bits.
- The kernel e-process may test after every pair, without an end, and needs no planned number of draws. covassay plans
  the number of draws. The kernel e-process needs only a kernel for the outputs, so that it works on texts and images.
- General f-DP audits a claim that is a whole trade-off curve, such as the curve of a Gaussian mechanism, and
  estimates the whole curve. covassay takes claims of ε-DP, zCDP and (ε, δ)-DP, and draws a curve of bounds for one
  pair.
- Sequential f-DP also audits a claim that is a trade-off curve, and stops early if it finds a violation.

No tool, covassay included, can detect from draws an event whose probability is far below 1 divided by the number of
draws. A curator who knows how many draws an auditor makes can hide a violation in such an event (the curator attack,
arXiv 2411.16516). The loss that covassay computes from recorded draws does not depend on how rare an event is, but
the computation needs additive noise of a known law.
"""

NOT_COMPARED = """\
## What is not compared

- The sparse vector techniques of dp_auditorium are left out, because they are those of DP-Sniper's list with all
  scales doubled.
- DP-Sniper's own attack on low-order bits is left out; its successor Delta-Siege is in the table on low-order bits.
- Mechanisms that train a model and mechanisms of data pipelines are left out, because they would need these libraries
  as targets and not as auditors.
- The search for inputs is left out: every tool was given the two inputs. A full audit of covassay chooses pairs of
  data sets with rows in the unit ball, and DP-Sniper and dp_auditorium search for inputs.
- The sampling audit of dp-recorder adds up its bounds on single calls, as in the test of that tool, so its bound on a
  composition is not a confidence bound.
"""
