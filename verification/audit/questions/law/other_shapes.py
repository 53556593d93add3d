"""Test whether the outputs have the law of the mechanism for many numbers of rows and columns."""

from dataclasses import replace
from fractions import Fraction

from covassay.verification.audit.engine.facts import LawTest
from covassay.verification.audit.engine.finding import Finding, Look
from covassay.verification.audit.engine.shapes import NAMES, OTHER_SHAPES, run_shapes
from covassay.verification.audit.engine.tails import rare_branches
from covassay.verification.audit.question import MOST_KEPT, Question, Subject


def ask(subject: Subject, look: Look) -> list[Finding]:
    """Test the law of the draws on data of all shapes, and test whether the most extreme value among all draws is
    plausible.
    """
    if subject.known.shapes is None:
        return []
    found = run_shapes(subject.setting, subject.known.shapes, look)
    return [*found, *(replace(rare, scenario=OTHER_SHAPES) for rare in rare_branches(found, look))]


QUESTION = Question(
    name=OTHER_SHAPES,
    kind="law",
    asks="Do the outputs have the law of the mechanism on data of many shapes?",
    blind_to="wrong laws for numbers of rows and columns that are not tried",
    ask=ask,
    applies=lambda subject: "" if subject.known.shapes else "the law is known on some data sets only",
    spared=lambda subject: "the law is already refuted" if subject.refuted("law") else "",
    share=Fraction(1, 10),
    tests=len(NAMES) + 1,
    valid_if="Exact or conservative tests of independent draws for groups of shapes; the levels add up.",
    gives=(LawTest,),
    second_look=10,
    most_samples=MOST_KEPT,
    draws=lambda subject, look: subject.known.shapes.every_draw(look.samples) if subject.known.shapes else 0,
    cost=4,
)
