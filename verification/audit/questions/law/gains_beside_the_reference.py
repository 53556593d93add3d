"""Compare the law of the target's output with that of the reference, by the effect of each random draw on the output.

If the target and the reference make the same draws, the outputs for the same draws are compared. If target and
reference make different draws, and each output is an affine function of the draws, the laws of the outputs are computed
and compared. Comparisons of outputs and of laws are exact arithmetic. The comparisons use data of many shapes and
kinds, other budgets, and the same numbers in other forms. If neither outputs nor laws can be compared, draws of the
target are matched with draws of the reference. If a draw of the target has a larger or smaller effect on the output
than the matched draw, the check notes where the codes differ. This refutes nothing, because another correct
implementation may use other draws.

At another budget the target must give another output than at the claimed budget; if the output is the same, the author
of the target may have fixed the budget. More noise than that of the reference refutes nothing at another budget,
because a careful function may cap its budget.
"""

import math
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import zip_longest

import numpy as np

from covassay.reference.domain import Matrix
from covassay.verification.audit.engine.contract import example_rows
from covassay.verification.audit.engine.facts import COUNT, Facts, says
from covassay.verification.audit.engine.finding import Finding, Look, Status
from covassay.verification.audit.engine.other_budgets import FEW_LOSSES, LOSSES, SLACK, other_guarantees, words
from covassay.verification.audit.engine.sizes import COLUMNS, ROWS, WIDE_AND_LONG
from covassay.verification.audit.engine.ways import AS_FRAME, FORMS, INSIDE
from covassay.verification.audit.engine.zoo import zoo
from covassay.verification.audit.question import Question, Subject
from covassay.verification.audit.questions.privacy.recorded_draws import recorder_of, reference_of, why_no_reference
from covassay.verification.audit.recorded.allowance import Allowance
from covassay.verification.audit.recorded.common_draws import at_times, on_common_draws, same_outputs
from covassay.verification.audit.recorded.gains import Gains, gains
from covassay.verification.audit.recorded.recorder import Recorder
from covassay.verification.audit.recorded.same_law import Compared, compared

NAME = "gains beside the reference"
# the shapes (n, d) of data in the order of their use; code may work in blocks of 8, 12, 32 or 64
SHAPES = (
    (6, 3), (7, 2), (1000, 2), (1, 2), (3, 1), (64, 2), (2, 5), (11, 4), (5, 9), (32, 3), (8, 12), (130, 2), (10, 10),
    (5, 7), (500, 2), (9, 6), (65, 3), (16, 8), (4, 16), (3, 33), (2, 64),
)  # fmt: skip
# all other shapes (n, d) of data, the smallest first
SIZES = sorted(
    {*((n, 2) for n in ROWS), *((round(share * d) or 1, d) for d in COLUMNS for share in WIDE_AND_LONG[::2])}
    - {*SHAPES},
    key=lambda size: size[0] * size[1] + size[1] ** 2,
)
SHAPES_OF_KINDS = (6, 2), (200, 3), (65, 2), (1, 2)  # the shapes of data of many kinds
LONG = "rows all longer than 1"  # long rows show whether some blocks of rows are left unclipped
BLOCKS = [(n, 2) for n in (10_001, 4097, 1025, 257, 129, 513, 2049, 8193)]  # the shapes (n, d) of data with long rows
OF_GAINS = SHAPES[:2]
OF_FORMS = 20, 3  # the target gets rows of this shape (n, d) in several forms, such as float32
SEED = 0  # the seed for the rows
SECONDS = 1.0  # the time limit for all data sets, in seconds
SCREENED = 0.4  # comparing single outputs on every data set may take this share of the time limit
# the laws are compared on this many data sets; if the laws are equal, a further data set passes if target and reference
# give equal outputs on it in one run
WHOLE = 1
SHOWN = 3  # a report shows at most this many matched draws


@dataclass(frozen=True)
class MatchedDraw:
    """Two draws that correspond to each other, one of the target and one of the reference. Both have the same law, and
    both change the output in the same direction, up to the sign.
    """

    family: str = field(metadata=says("The law of both."))
    draw: str = field(metadata=says("The draw of the target."))
    reference: str = field(metadata=says("The draw of the reference."))
    factor: float = field(
        metadata=says("The effect of the target's draw on the output, divided by the effect of the reference's draw.")
    )
    numbers: int = field(
        metadata=says("How many random numbers in the target's draw have this ratio of effects.", **COUNT)
    )


@dataclass(frozen=True)
class GainsBesideReference(Facts):
    """The result of comparing the draws of the target with those of the reference."""

    same_law: int = field(
        metadata=says(
            "The number of data sets on which arithmetic shows that target and reference have the same law.", **COUNT
        )
    )
    matched: tuple[MatchedDraw, ...] = field(
        metadata=says("The draws of the target that have a counterpart in the reference.")
    )
    unmatched: dict[str, tuple[int, int]] = field(
        metadata=says(
            "For each law, such as normal: how many draws of the target, and of the reference, have no counterpart."
        )
    )


@dataclass(frozen=True)
class _Case:
    """One comparison of the target with the reference on the data set `x`, which `where` describes.

    If the comparison is at another budget than the claimed one, `usual` is the target at the claimed budget. If
    `beside` is true, a comparison that decides nothing is ignored. `beside` is true at other budgets, for other forms
    of the numbers, and for long rows.
    """

    where: str
    x: Matrix
    target: Recorder
    reference: Recorder
    usual: Recorder | None = None
    beside: bool = False

    def alike(self, seed: int) -> bool | None:
        """Return whether target and reference give the same output, or None if the outputs cannot be compared."""
        found = same_outputs(self.target, self.reference, self.x, seed)
        return None if found is False and self.ignored(seed) else found

    def ignored(self, seed: int) -> bool:
        """Return whether the target gives the same output as at the claimed budget, which means that it ignores the
        budget."""
        return self.usual is not None and bool(same_outputs(self.target, self.usual, self.x, seed))

    def refuted_by(self, found: Compared, seed: int) -> bool:
        """Return whether a difference of laws refutes the claim; at another budget, only noise that is smaller than the
        reference's refutes the claim.
        """
        less = self.usual is None or 0 < found.factor < 1 - SLACK
        return bool(found.difference) and less and not self.ignored(seed)


def _cases(subject: Subject, target: Recorder, reference: Recorder) -> Iterator[_Case]:
    """Yield the cases in turns, with data of several shapes and kinds, other budgets, and other forms of the same
    numbers.
    """
    least = subject.known.form.smallest_dimension

    def plain(sizes: Iterable[tuple[int, int]]) -> Iterator[_Case]:
        return (_Case(f"n = {n}, d = {d}", example_rows(n, d), target, reference) for n, d in sizes if d >= least)

    def kinds(n: int, d: int) -> Iterator[_Case]:
        for one in zoo(n, max(d, least), SEED):
            yield _Case(f"{one.category}, n = {n}, d = {one.x.shape[1]}", one.x, target, reference)

    def unclipped() -> Iterator[_Case]:
        for n, d in BLOCKS:
            if d >= least:
                (long,) = zoo(n, d, SEED, [LONG])
                yield _Case(f"{LONG}, n = {n}, d = {d}", long.x, target, reference, beside=True)

    def budgets() -> Iterator[_Case]:
        x = example_rows(OF_GAINS[0][0], max(OF_GAINS[0][1], least))
        budget = subject.claim.keywords()
        claimed = budget["rho"] if "rho" in budget else budget["epsilon"]
        few = sorted(FEW_LOSSES, key=lambda loss: -abs(math.log(loss / claimed)))
        for others in other_guarantees(subject.claim, tuple(dict.fromkeys((*few, *LOSSES)))).values():
            for other in others:
                mine, theirs = (replace(one, budget={**one.budget, **other.keywords()}) for one in (target, reference))
                yield _Case(f"rows in the ball, at {words(other)},", x, mine, theirs, usual=target, beside=True)

    def forms() -> Iterator[_Case]:
        d = max(OF_FORMS[1], least)
        rows = (INSIDE * example_rows(OF_FORMS[0], d)).astype(np.float32).astype(np.float64)
        for way in FORMS:
            if way is AS_FRAME and "pandas" not in sys.modules:
                continue  # importing pandas takes longer than all runs together
            x = np.eye(d)[np.arange(len(rows)) ** 2 % d] if way.whole else rows
            asked = replace(target, target=way.target(target.target))
            yield _Case(f"rows {way.words}", x, asked, reference, beside=True)

    of_kinds = (kinds(*shape) for shape in SHAPES_OF_KINDS)
    sources = plain(SHAPES), *of_kinds, budgets(), forms(), unclipped(), plain(SIZES)
    yield from (one for turn in zip_longest(*sources) for one in turn if one is not None)


@dataclass
class _Seen:
    """The numbers of cases with equal laws and with equal outputs, and the reasons why other cases are undecided."""

    same: int = 0
    alike: int = 0
    reasons: dict[str, None] = field(default_factory=dict)


def _screened(cases: list[_Case], seed: int) -> tuple[list[_Case], int]:
    """Search for the first case in which target and reference give different outputs, and move it and the cases after
    it to the front.

    Return the cases in the new order, and an index. The search has already examined the cases from this index on, and
    found no different outputs in them; in cases with `beside`, the outputs may not be comparable. If the search finds
    no case with different outputs, the order of the cases stays the same. The search also ends if its time is up, or if
    the outputs of a case cannot be compared and the case does not have `beside`.
    """
    allowed = Allowance(SCREENED * SECONDS)
    for k, case in enumerate(cases):
        # every case uses new random numbers, because a target may reuse its noise in a later call
        alike = case.alike(seed + k)
        if alike is False:
            return [*cases[k:], *cases[:k]], len(cases) - k
        if (alike is None and not case.beside) or allowed.over:
            return cases, len(cases)
    return cases, 0


def ask(subject: Subject, look: Look) -> list[Finding]:
    """Compare laws by exact arithmetic if possible, and otherwise compare the effects of single draws."""
    target, reference = recorder_of(subject.setting), reference_of(subject)
    with target.standing():
        seen = _compared(list(_cases(subject, target, reference)), subject.setting.seed)
        if isinstance(seen, Finding):
            return [seen]
        if seen.same:
            return [_one_law(seen, gains(target, reference, example_rows(*OF_GAINS[0]), subject.setting.seed))]
        return _by_gains(subject, target, reference, next(iter(seen.reasons), "there is no such shape"))


def _compared(cases: list[_Case], seed: int) -> _Seen | Finding:
    """Compare laws by exact arithmetic until the time is up or two laws differ, and return the finding."""
    compare, seen, allowed = on_common_draws, _Seen(), Allowance(SECONDS)
    ordered, alike = _screened(cases, seed)
    for k, case in enumerate(ordered):
        left = allowed.left
        if allowed.over:
            break
        if seen.same >= WHOLE and compare is on_common_draws:
            same = k >= alike or case.alike(seed + k)
            if same or (same is None and case.beside):
                seen.alike += bool(same)
                continue
        found = compare(case.target, case.reference, case.x, seed, left)
        if found.reason and compare is on_common_draws and not case.beside and not (seen.same and found.left_out):
            apart = found
            found = compared(case.target, case.reference, case.x, seed, left)
            if found.reason and apart.related:
                seen.reasons[apart.reason] = None
                continue  # on other data, outputs for the same draws may show a difference
            compare = compared
            found = replace(found, reason=f"{apart.reason}; {found.reason}" if found.reason else "")
            if found.reason and not seen.same:
                now_and_then = at_times(case.target, case.reference, case.x, seed, allowed.left)
                found = now_and_then if now_and_then.difference else found
        if case.refuted_by(found, seed):
            matched = gains(case.target, case.reference, case.x, seed)
            text = f"on {case.where} the law is not that of the reference: {found.difference}{_named(matched)}"
            return Finding("law", NAME, Status.REFUTED, text, facts=_facts(matched, seen.same), data=(case.x,))
        if case.beside and (found.reason or found.difference):
            continue
        seen.same += not found.reason
        if found.reason and not (seen.same and found.left_out):
            seen.reasons[found.reason] = None
            if not seen.same:
                break  # on other data the comparison would fail for the same reason, such as a draw of unknown law
    return seen


def _one_law(seen: _Seen, matched: Gains) -> Finding:
    text = f"by arithmetic, target and reference have the same law on {seen.same} data sets"
    text += f", and give the same output for the same draws in {seen.alike} other cases" if seen.alike else ""
    text += f". The laws on other data sets could not be compared: {'; '.join(seen.reasons)}" if seen.reasons else ""
    facts = _facts(matched, seen.same)
    return Finding("law", NAME, Status.NOT_REFUTED, text, facts=facts, exact=not seen.reasons)


def _by_gains(subject: Subject, target: Recorder, reference: Recorder, reason: str) -> list[Finding]:
    """Compare only the effects of single draws, and note the differences."""
    found = Gains((), {}, reason)
    for n, d in OF_GAINS:
        if d < subject.known.form.smallest_dimension:
            continue
        found = gains(target, reference, example_rows(n, d), subject.setting.seed)
        if found.changed or found.reason:
            break
    if found.reason or not found.matched:
        why = (
            found.reason or "no draw of the target changes the output in the same direction as a draw of the reference"
        )
        return [Finding("law", NAME, Status.SKIPPED, f"{why}; {reason}")]
    if found.changed:
        text = (
            f"some draws affect the output more or less than in the reference{_named(found)}. Correct code may use "
            "other draws, so this is only noted"
        )
        return [Finding("law", NAME, Status.NOTED, text, facts=_facts(found, 0))]
    text = f"{sum(g.numbers for g in found.matched)} draws change the output as strongly as the draws of the reference"
    text += "".join(
        f"; {family}: {a} draws of the target and {b} of the reference have no counterpart"
        for family, (a, b) in found.unmatched.items()
    )
    return [Finding("law", NAME, Status.NOT_REFUTED, text, facts=_facts(found, 0))]


def _named(found: Gains) -> str:
    text = "; ".join(map(str, found.changed[:SHOWN]))
    return f": {text}" if text else ""


def _facts(found: Gains, same: int) -> GainsBesideReference:
    matched = tuple(MatchedDraw(g.family, g.draw, g.reference, g.factor, g.numbers) for g in found.matched)
    return GainsBesideReference(same, matched, dict(found.unmatched))


QUESTION = Question(
    name=NAME,
    kind="law",
    asks="Does each random draw have the same effect on the output as in the reference?",
    blind_to=(
        "effects of draws that are not recorded, differences on other data and at other budgets, and differences below "
        "a thousandth of the noise"
    ),
    ask=ask,
    applies=why_no_reference,
    gives=(GainsBesideReference,),
    cost=2,
)
