"""What each draw does to the output, beside the reference: which law that gives, and which step has another factor.

Where the output of both is affine in their draws, their laws are compared by arithmetic, on data of several shapes.
Elsewhere draws are matched with those of the reference; a factor that is not 1 names a step, and refutes nothing,
because another correct implementation may draw otherwise.
"""

import time
from dataclasses import dataclass, field

from covassay.verification.audit.engine.contract import example_rows
from covassay.verification.audit.engine.facts import COUNT, Facts, says
from covassay.verification.audit.engine.finding import Finding, Look, Status
from covassay.verification.audit.question import Question, Subject
from covassay.verification.audit.questions.privacy.recorded_draws import recorder_of, reference_of, why_no_reference
from covassay.verification.audit.recorded.gains import Gains, gains
from covassay.verification.audit.recorded.recorder import Recorder
from covassay.verification.audit.recorded.same_law import compared

NAME = "gains beside the reference"
SHAPES = (6, 3), (7, 2), (1, 2), (3, 1), (64, 2), (2, 5), (11, 4), (5, 9)  # (n, d)
OF_GAINS = SHAPES[:2]
SECONDS = 1.0  # for all shapes
SHOWN = 3  # draws that are named


@dataclass(frozen=True)
class MatchedDraw:
    """A draw of the target and a draw of the reference that move the output alike."""

    family: str = field(metadata=says("The law of both."))
    draw: str = field(metadata=says("The draw of the target."))
    reference: str = field(metadata=says("The draw of the reference."))
    factor: float = field(metadata=says("How many times as strongly the draw of the target moves the output."))
    numbers: int = field(metadata=says("Of how many numbers this holds.", **COUNT))


@dataclass(frozen=True)
class GainsBesideReference(Facts):
    """The draws of the target beside those of the reference."""

    same_law: int = field(metadata=says("On how many data sets both have one law, by arithmetic.", **COUNT))
    matched: tuple[MatchedDraw, ...] = field(metadata=says("The draws that have a counterpart."))
    unmatched: dict[str, tuple[int, int]] = field(
        metadata=says("For each law, how many numbers of the target and of the reference have no counterpart.")
    )


def ask(subject: Subject, look: Look) -> list[Finding]:
    """Compare laws where arithmetic can, and gains where it cannot."""
    target, reference = recorder_of(subject.setting), reference_of(subject)
    smallest, until = subject.known.form.smallest_dimension, time.monotonic() + SECONDS
    same, reasons = 0, dict[str, None]()
    for n, d in SHAPES:
        left = until - time.monotonic()
        if d < smallest or left <= 0:
            continue
        x = example_rows(n, d)
        found = compared(target, reference, x, subject.setting.seed, left)
        if found.difference:
            matched = gains(target, reference, x, subject.setting.seed)
            told = f"at n = {n}, d = {d} the law is not that of the reference: {found.difference}{_named(matched)}"
            return [Finding("law", NAME, Status.REFUTED, told, facts=_facts(matched, same), data=(x,))]
        same += not found.reason
        if found.reason and not found.left_out:
            reasons[found.reason] = None
            if not same:
                break  # a mechanism that is not affine is so in every shape
    if same:
        told = f"by arithmetic, target and reference have one law on {same} data sets"
        told += f"; not decided on others: {'; '.join(reasons)}" if reasons else ""
        facts = _facts(gains(target, reference, example_rows(*OF_GAINS[0]), subject.setting.seed), same)
        return [Finding("law", NAME, Status.NOT_REFUTED, told, facts=facts, exact=not reasons)]
    return _by_gains(subject, target, reference, next(iter(reasons), "there is no such shape"))


def _by_gains(subject: Subject, target: Recorder, reference: Recorder, reason: str) -> list[Finding]:
    """Gains alone, which note what differs."""
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
        told = f"other gains than in the reference{_named(found)}. This is no verdict: draws may be made otherwise"
        return [Finding("law", NAME, Status.NOTED, told, facts=_facts(found, 0))]
    told = f"{sum(g.numbers for g in found.matched)} draws reach the output as strongly as those of the reference"
    told += "".join(f"; {family}: {a} and {b} have no counterpart" for family, (a, b) in found.unmatched.items())
    return [Finding("law", NAME, Status.NOT_REFUTED, told, facts=_facts(found, 0))]


def _named(found: Gains) -> str:
    told = "; ".join(map(str, found.changed[:SHOWN]))
    return f": {told}" if told else ""


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
)
