"""Test, for rows in a box, the value and the noise of every entry, and whether all columns are treated alike."""

from dataclasses import dataclass, field, replace
from fractions import Fraction

from covassay.verification.audit.engine.columns import columns
from covassay.verification.audit.engine.facts import Facts, says
from covassay.verification.audit.engine.finding import Finding, Look
from covassay.verification.audit.question import MOST_KEPT, Question, Subject


@dataclass(frozen=True)
class Entries(Facts):
    """The query on which the outputs are centred, and the misplaced entries of the output.

    A misplaced entry has the value that another entry should have, or a noise scale that does not fit.
    """

    query: str = field(metadata=says("The query on which the outputs are centred; empty if the query is not known."))
    misplaced: tuple[str, ...] = field(
        metadata=says(
            "Sentences about entries with the value of another entry, or with a noise scale that does not fit."
        )
    )


def ask(subject: Subject, look: Look) -> list[Finding]:
    """Test the value and the noise of every entry of the output. The first finding stores the result as facts for other
    questions.
    """
    found = columns(subject.setting, round(look.samples), look.level, subject.options.equivariant)
    listed = list(found.checks)
    return [replace(listed[0], facts=Entries(found.query, found.explanations)), *listed[1:]] if listed else []


QUESTION = Question(
    name="columns",
    kind="law",
    asks="Has every entry its own value and noise, and are columns treated alike?",
    blind_to="dependence between entries",
    ask=ask,
    applies=lambda subject: "" if subject.setting.box is not None else "only for rows in a box (--bounds)",
    share=Fraction(1, 200),
    valid_if=(
        "Exact two-sample tests on independent draws compare the law of each entry before and after a change of the "
        "columns; the levels add up."
    ),
    gives=(Entries,),
    most_samples=MOST_KEPT,
    draws=lambda subject, look: 5 * look.samples,
    cost=6,
)
