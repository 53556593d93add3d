"""Write the page proofs/PEERS.md from the stored results of the comparison."""

import math
from collections.abc import Iterable, Sequence

from tests.other_auditors import further
from tests.other_auditors.by_draws import section
from tests.other_auditors.cases import AUDITORIUM, CASES, RECORDER, SNIPER, Case
from tests.other_auditors.delta_siege import SHARES, SIEGE
from tests.other_auditors.f_dp import GENERAL
from tests.other_auditors.sequential_f_dp import BURN_IN, SEQUENTIAL
from tests.other_auditors.statdp import MOST_ENTRIES, STATDP
from tests.other_auditors.table import Line
from tests.other_auditors.tool import LEVELS
from tests.other_auditors.tools import COVASSAY, EPOCHS, TOOLS, TRAINING

ROUNDING = 1e-9  # allowance for rounding errors if two shares of refuting seeds are compared

# In some cases, another tool shows more than covassay. This table gives the reason for each pair (case, tool) of this
# kind. A test requires that the table has all of these pairs and no others.
REASONS: dict[tuple[str, str], str] = {
    ("private-size", RECORDER): "From two runs, dp-recorder observes that the function treats the exact number of "
    "records as public; the outputs alone reveal this number only in rare draws with large noise",
    ("inferred-domain", SNIPER): "On one input, every output has a wrong length, so that covassay stops after about "
    "110 draws on each input, with p < 1e-14; the other tool uses all draws, and so its bound is larger",
    ("truncated-geometric", RECORDER): "At the level 0.05 the bound of dp-recorder is larger by 0.003, which is less "
    "than the difference between two seeds; at the level 1e-9 covassay shows more",
    ("svt-3", SNIPER): "At the level 0.05 the bound of DP-Sniper is larger, because covassay chooses a worse event; "
    "DP-Sniper always chooses an event of probability 0.01; at the level 1e-9 covassay shows more",
    ("svt-34-parallel", SNIPER): "The reason is the same as for svt-3",
    ("inferred-domain", STATDP): "The reason is the same as for DP-Sniper",
    ("inferred-domain", SIEGE): "The reason is the same as for DP-Sniper",
    ("inferred-domain", GENERAL): "The reason is the same as for DP-Sniper",
    (
        "clip-forgotten",
        SEQUENTIAL,
    ): "If the classifier never made an error of one kind, sequential f-DP bounds the probability of this error by a "
    "normal approximation; the bound is smaller than 10 000 draws can prove at this level; covassay's bound is exact",
    (
        "noisy-histogram-2",
        SIEGE,
    ): "At the level 0.05 the bound of Delta-Siege is larger by 0.03, because it chooses its "
    "event less cautiously than covassay; at the level 1e-9 covassay shows more",
    ("prefix-sum", SIEGE): "At the level 0.05 the bound of Delta-Siege is larger by 0.002, which is less than the "
    "difference between two seeds; at the level 1e-9 covassay shows more",
    ("numerical-svt", SIEGE): "At the level 0.05 the bound of Delta-Siege is larger by 0.01, for the same reason "
    "as for noisy-histogram-2; at the level 1e-9 covassay shows more",
}

HEAD = f"""\
# covassay beside other auditors

The command `python -P -m covassay.verification.maintain peers --write proofs` writes this page from the figures in
[peers.csv](peers.csv). The command measures the installed tools again, and keeps the stored figures of the other tools.
It also prints where to get the tools that are not installed.

**The task.** Every tool gets the same function, the same two neighbouring inputs, and the same number of draws on each
input. A tool uses these draws for training, for choosing an event and for testing it. The level of a test is its
probability of a false alarm on this one task, and all tools have the same level. We wrote the functions ourselves from
published definitions.

**How to read a cell.** The number is the lower bound on ε that the tool proves at the level, as the median over seeds.
The fraction says in how many of the seeds the tool refuted the claim; slow tools were run with fewer seeds. A dash
means that the tool proves no bound on ε. The column "loss" has the exact privacy loss of the two inputs, if it is
known. If a tool respects its level, the probability that its bound exceeds the loss is at most the level. A function
violates its claim if its loss is larger than the claim. If the loss is not larger than the claim, a refutation is a
false alarm.
**Bold** marks a row in which another tool shows more than covassay, and the last cell of the row gives the reason.

**Settings.**

- covassay runs `run_pair`, the part of the audit that tests one pair of inputs. The function `run_pair` does not know
  the law of the output.
- DP-Sniper trains a classifier on {TRAINING:.0%} of the draws and chooses a threshold on the same number of other
  draws. The bound comes from the remaining draws. We tried three settings for every function. The table has the
  setting with the best median, which favours DP-Sniper. DP-Sniper trains for {EPOCHS} epochs on one batch. Its default
  settings are made for ten million draws or more, and were not run. DP-Sniper bounds the ε of pure DP.
- dp_auditorium runs its hockey-stick tester with the model of its example. The tester runs on the two inputs in both
  orders, each time with half of the level. dp_auditorium bounds δ at the claimed ε, so that only its refutations can be
  compared.
- dp-recorder observes the calls inside a function. For the functions from the tests of dp-recorder, it records the
  calls of one run on one input, and replays them in one run on the other input. This comparison of two runs is not a
  statistical test, so that it has no level. If a function passes the comparison, dp-recorder audits the noise calls of
  the function by sampling. For every other function, dp-recorder audits the output of the whole function by sampling.
- StatDP uses half of the draws to choose an event, and the other half to test the event. Each p-value of StatDP is a
  mean over random thinnings, and tests only the direction in which the counts differ. We make no correction for this,
  which favours StatDP. The number of events of StatDP grows fast with the length of an output, so that StatDP gets only
  outputs of at most {MOST_ENTRIES} numbers. StatDP bounds the ε of pure DP.
- Delta-Siege trains a classifier on {SHARES["n_train"]:.0%} of the draws, chooses a threshold on the same number of
  other draws, and chooses a direction on {SHARES["n_check"]:.0%} of the draws. The remaining draws give the verdict.
  Two classifiers were tried, and the table has the better result. These classifiers learn from the output numbers as
  real numbers. The table of low-order bits has the results of a classifier that learns from the bits of the output
  numbers. A claim of (ε, δ)-DP is given to Delta-Siege as the claim of a Gaussian mechanism with the classical scale.
  Delta-Siege may refute this claim at any pair (ε, δ) to which the classical formula gives the same scale.
- The kernel e-process is the sequential kernel test of González and others (arXiv 2509.07055). It tests a list of
  values of ε. The lower bound is the largest tested ε for which this ε and all smaller tested values are refuted. The
  e-process is designed for claims with a small ε. The e-process estimates the maximum mean discrepancy of the two
  output laws. At ε = 1, the estimate is rarely above the largest discrepancy that the claim allows, however large the
  loss is.
- General f-DP is the auditor of Askin and others (arXiv 2502.07066). It uses half of the draws to choose a threshold
  and to train a classifier, and the other half to test. Two thresholds were tried, and the table has the better result.
  The classifier uses 10√n neighbours of n training draws, as in the authors' code.
- Sequential f-DP is the black-box auditor of Kutta and others (arXiv 2602.06518), with a burn-in of {BURN_IN} pairs. It
  respects its level only in the limit of many draws. The level 1e-9 is too small for a simulated quantile, so that the
  quantile comes from a union bound. Sequential f-DP needs outputs that are single numbers.

**Tools that we wrote ourselves.** We wrote the last three tools from their published definitions. The code of their
authors is not in this repository, but we compared our results with it.

- We could read only the beginning of the article on the kernel e-process. The rest of our program follows reviews of
  the article and the authors' notebook (github.com/google-research/google-research, dp_sequential_test, at cacca8e).
  With the constants of the notebook, the wealth (the product of the factors of the bets) on 600 pairs agrees with the
  notebook to nine digits. For the table we used the threshold of the article, which is smaller than that of the
  notebook. The e-process learns a function of one output, and bets that the function has different means on the two
  inputs. We allowed this function a larger norm than the notebook does. We limited the stake of a bet so that no bet
  multiplies the wealth by less than 1/2. We do not know how large a stake the article allows, because
  we could not read that part of it. The choices of the threshold, the norm and the stakes favour the kernel e-process.
- We could read only the abstract and the first page of the article on general f-DP. The rest of our program follows the
  authors' code (github.com/stoneboat/fdp-estimation at 8da5d50). On 3000 draws of one number and of five numbers, the
  two errors of the classifier are equal to those of the authors' code.
- We read the article on sequential f-DP and its code (github.com/martindunsche/sequential_fdp_auditing at 4be62e4). On
  five streams of 1000 pairs, the verdicts and the stopping times agree with the authors' code. The bounds differ by at
  most 0.0011, because the authors' code sets the kernel of its density estimate to 0 beyond four bandwidths.
"""

VERSIONS = """\
**Versions.** The word "unstated" means that the package states no version. The figures of such a package were measured
with the commit that its line names. The words "written anew" mean that we wrote the program ourselves.
"""


def share(line: Line) -> float:
    """Return the share of the seeds in which the claim was refuted."""
    return line.refuted / line.seeds


def shows_more(case: Case, other: Line, ours: Line) -> bool:
    """Return whether the other tool proves a larger bound, or refutes a false claim for a larger share of the seeds."""
    refutes_more = case.broken and share(other) > share(ours) + ROUNDING
    return refutes_more or other.proven > ours.proven


def behind(lines: Iterable[Line]) -> list[tuple[str, str]]:
    """Return the pairs (case, tool) for which the tool shows more than covassay in the case, at one or more levels."""
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
    """Return the text of proofs/PEERS.md. The argument `by_draws` has the results of the further comparisons."""
    ahead = dict.fromkeys(behind(lines))
    versions = {line.tool: line.version for line in lines}
    text = [HEAD, VERSIONS]
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
        (RECORDER, "The seven functions of dp-recorder's tests: one correct count and six functions with a mistake"),
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

- DP-Sniper searches for pairs of inputs for any mechanism that answers a list of numerical queries. covassay chooses
  only pairs of data sets with rows in the unit ball or in a box. For other inputs, the user of covassay must choose
  the pair.
- dp_auditorium gives a lower bound on δ at the claimed ε, and its other testers bound a Rényi divergence. dp_auditorium
  searches for inputs of any kind with an optimizer.
- dp-recorder names the call inside a function that violates the claim. dp-recorder also detects that a function
  treats a value as public although the value depends on the data. covassay cannot see which values a function treats as
  public, because it records only the random numbers of the noise.
- StatDP searches over the arguments of an algorithm as well as over its inputs.
- Delta-Siege tests a claim about Gaussian noise at every pair (ε, δ) to which its formula gives the same scale of the
  noise. covassay tests only the claimed pair. Delta-Siege also learns from all bits of a floating-point number, of
  which covassay tests only the position of the lowest set bit.
- The kernel e-process may test after every pair of draws, and needs no planned number of draws. covassay plans the
  number of draws. The kernel e-process needs only a kernel for the outputs, so that it works on texts and images.
- General f-DP audits a claim that is a whole trade-off curve, such as the curve of a Gaussian mechanism, and estimates
  the whole curve. covassay tests claims of ε-DP, zCDP and (ε, δ)-DP, and draws a curve of bounds for one pair of
  inputs.
- Sequential f-DP also audits a claim that is a trade-off curve, and stops early.

No tool, covassay included, can detect an event from draws if its probability is far below 1 divided by the number of
draws. A curator who knows how many draws an auditor makes can hide a violation in such an event (the curator attack,
arXiv 2411.16516). If covassay computes the loss from recorded random numbers, no event is too rare. This needs a
function whose output covassay can derive from draws with known laws, such as additive noise.
"""

NOT_COMPARED = """\
## What is not compared

- The sparse vector techniques that dp_auditorium lists are those of DP-Sniper with all scales doubled. These doubled
  versions were not run.
- DP-Sniper's own attack on low-order bits was not run. Its successor Delta-Siege is in the table of low-order bits.
- Mechanisms that train a model, and mechanisms of data pipelines, were not run.
- The search for inputs is not compared, because every tool gets the two inputs.
- The sampling audit of dp-recorder combines its results for single calls. For a whole function, we compute
  the bound of dp-recorder as the tests of dp-recorder do. This bound is not a confidence bound.
"""
