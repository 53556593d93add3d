"""Compare the effect of each draw on the output with the reference: the resulting law, and steps with wrong factors.

If the target and the reference make the same draws, their outputs are compared draw by draw; if both outputs are affine
in different draws, their laws are compared. Both comparisons are exact arithmetic, on data of several shapes and kinds.
If neither is possible, draws are matched with those of the reference; a factor that is not 1 points to a step, and
refutes nothing, because another correct implementation may use other draws.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import zip_longest

from covassay.reference.domain import Matrix
from covassay.verification.audit.engine.contract import example_rows
from covassay.verification.audit.engine.facts import COUNT, Facts, says
from covassay.verification.audit.engine.finding import Finding, Look, Status
from covassay.verification.audit.engine.zoo import zoo
from covassay.verification.audit.question import Question, Subject
from covassay.verification.audit.questions.privacy.recorded_draws import recorder_of, reference_of, why_no_reference
from covassay.verification.audit.recorded.allowance import Allowance
from covassay.verification.audit.recorded.common_draws import at_times, on_common_draws, same_outputs
from covassay.verification.audit.recorded.gains import Gains, gains
from covassay.verification.audit.recorded.recorder import Recorder
from covassay.verification.audit.recorded.same_law import compared

NAME = "gains beside the reference"
# numbers (n, d) of rows and columns in the order of their use, because a slow target is not tried on all; blocks end at
# 64, 32, 12 and 8
SHAPES = (
    (6, 3), (7, 2), (1, 2), (3, 1), (64, 2), (2, 5), (11, 4), (5, 9), (32, 3), (8, 12), (130, 2), (10, 10), (5, 7),
    (500, 2), (1000, 1), (9, 6), (65, 3), (16, 8), (4, 16), (3, 33), (2, 64),
)  # fmt: skip
SHAPES_OF_KINDS = (6, 2), (12, 3)  # numbers of rows and columns for rows of many kinds
OF_GAINS = SHAPES[:2]
SEED = 0  # the seed for the rows of the data sets
SECONDS = 1.0  # the time limit for all data sets, in seconds
SCREENED = 0.4  # this share of the time limit is for comparing two outputs on every data set
# on so many data sets the whole laws are compared at once; on the other data sets, two outputs are compared first
WHOLE = 1
SHOWN = 3  # the most draws in the report


@dataclass(frozen=True)
class MatchedDraw:
    """A draw of the target, and a draw of the reference that changes the output in the same direction."""

    family: str = field(metadata=says("The law of both."))
    draw: str = field(metadata=says("The draw of the target."))
    reference: str = field(metadata=says("The draw of the reference."))
    factor: float = field(metadata=says("How many times as strongly the draw of the target moves the output."))
    numbers: int = field(metadata=says("Of how many numbers this holds.", **COUNT))


@dataclass(frozen=True)
class GainsBesideReference(Facts):
    """The comparison of the target's draws with those of the reference."""

    same_law: int = field(metadata=says("On how many data sets both have one law, by arithmetic.", **COUNT))
    matched: tuple[MatchedDraw, ...] = field(metadata=says("The draws that have a counterpart."))
    unmatched: dict[str, tuple[int, int]] = field(
        metadata=says("For each law, how many numbers of the target and of the reference have no counterpart.")
    )


def data_sets(subject: Subject) -> Iterator[tuple[str, Matrix]]:
    """Yield data sets of several shapes and kinds, with descriptions.

    Some of the data sets have rows that the reference clips.
    """
    smallest = subject.known.form.smallest_dimension
    plain = [(f"n = {n}, d = {d}", example_rows(n, d)) for n, d in SHAPES if d >= smallest]
    shapes = [shape for shape in SHAPES_OF_KINDS if shape[1] >= smallest]
    kinds = [(f"{one.category}, n = {n}, d = {d}", one.x) for n, d in shapes for one in zoo(n, d, SEED)]
    yield from (one for both in zip_longest(plain, kinds) for one in both if one is not None)


@dataclass
class _Seen:
    """The results so far: the number of data sets with equal laws, or equal outputs, and the reasons why other data
    sets were not decided.
    """

    same: int = 0
    alike: int = 0
    reasons: dict[str, None] = field(default_factory=dict)


def _screened(
    listed: list[tuple[str, Matrix]], target: Recorder, reference: Recorder, seed: int
) -> tuple[list[tuple[str, Matrix]], int]:
    """Return the data sets, one on which two outputs differ first, and the number of the first that is known to agree.

    The order is unchanged if target and reference make different draws on the first data set.
    """
    allowed = Allowance(SCREENED * SECONDS)
    for k, (_, x) in enumerate(listed):
        alike = same_outputs(target, reference, x, seed)
        if alike is False:
            return [*listed[k:], *listed[:k]], len(listed) - k
        if alike is None or allowed.over:
            return listed, len(listed)
    return listed, 0


def ask(subject: Subject, look: Look) -> list[Finding]:
    """Compare laws by arithmetic where possible, and gains otherwise."""
    target, reference = recorder_of(subject.setting), reference_of(subject)
    seed, allowed = subject.setting.seed, Allowance(SECONDS)
    compare, seen = on_common_draws, _Seen()
    ordered, alike = _screened(list(data_sets(subject)), target, reference, seed)
    for k, (where, x) in enumerate(ordered):
        left = allowed.left
        if allowed.over:
            break
        known = seen.same >= WHOLE and compare is on_common_draws
        if known and (k >= alike or same_outputs(target, reference, x, seed)):
            seen.alike += 1
            continue
        found = compare(target, reference, x, seed, left)
        if found.reason and compare is on_common_draws and not (seen.same and found.left_out):
            apart = found
            found = compared(target, reference, x, seed, left)
            if found.reason and apart.related:
                seen.reasons[apart.reason] = None
                continue  # outputs from the same draws may decide more on other data
            compare = compared
            found = replace(found, reason=f"{apart.reason}; {found.reason}" if found.reason else "")
            if found.reason and not seen.same:
                now_and_then = at_times(target, reference, x, seed, allowed.left)
                found = now_and_then if now_and_then.difference else found
        if found.difference:
            matched = gains(target, reference, x, seed)
            text = f"on {where} the law is not that of the reference: {found.difference}{_named(matched)}"
            return [Finding("law", NAME, Status.REFUTED, text, facts=_facts(matched, seen.same), data=(x,))]
        seen.same += not found.reason
        if found.reason and not (seen.same and found.left_out):
            seen.reasons[found.reason] = None
            if not seen.same:
                break  # draws without a known law have none on data of another shape either
    if seen.same:
        return [_one_law(seen, gains(target, reference, example_rows(*OF_GAINS[0]), seed))]
    return _by_gains(subject, target, reference, next(iter(seen.reasons), "there is no such shape"))


def _one_law(seen: _Seen, matched: Gains) -> Finding:
    text = f"by arithmetic, target and reference have one law on {seen.same} data sets"
    text += f", and on {seen.alike} others they give one output for each of two sets of draws" if seen.alike else ""
    text += f"; not decided on others: {'; '.join(seen.reasons)}" if seen.reasons else ""
    facts = _facts(matched, seen.same)
    return Finding("law", NAME, Status.NOT_REFUTED, text, facts=facts, exact=not seen.reasons)


def _by_gains(subject: Subject, target: Recorder, reference: Recorder, reason: str) -> list[Finding]:
    """Compare gains alone, and note the differences."""
    found = Gains((), {}, reason)
    for n, d in OF_GAINS:
        if d < subject.known.form.smallest_dimension:
            continue
        found = gains(target, reference, example_rows(n, d), subject.setting.seed)
        if found.changed or found.reason:
            break
    if found.reason or not found.matched:
        why = found.reason or "no draw of the target moves the output as one of the reference does"
        return [Finding("law", NAME, Status.SKIPPED, f"{why}; {reason}")]
    if found.changed:
        text = f"other gains than in the reference{_named(found)}. This is no verdict: draws may be made otherwise"
        return [Finding("law", NAME, Status.NOTED, text, facts=_facts(found, 0))]
    text = f"{sum(g.numbers for g in found.matched)} draws reach the output as strongly as those of the reference"
    text += "".join(f"; {family}: {a} and {b} have no counterpart" for family, (a, b) in found.unmatched.items())
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
    asks="Does each draw do to the output what it does in the reference?",
    blind_to="draws that are not recorded, other data, and differences below a thousandth of the noise",
    ask=ask,
    applies=why_no_reference,
    gives=(GainsBesideReference,),
    cost=2,
)
