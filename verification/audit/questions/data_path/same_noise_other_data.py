"""Test whether the noise depends on the data, by comparing output − query under one seed over data sets of one shape.

If one shift or one factor explains the difference of all residuals, it refutes the claim. If the residuals differ in
any other way, they refute the claim only if new draws show that the laws differ.
"""

from dataclasses import dataclass, field, replace
from fractions import Fraction

from covassay.verification.audit.engine.events import Pair
from covassay.verification.audit.engine.facts import NOT_IN_JSON, Facts, says
from covassay.verification.audit.engine.finding import Finding, Look, Status
from covassay.verification.audit.engine.same_noise import NAME, same_noise
from covassay.verification.audit.question import Question, Subject


@dataclass(frozen=True)
class Residuals(Facts):
    """The result of the comparison of residuals (output − query). If residuals differ, `neighbours` has pairs of
    neighbours on which this difference may cause a large privacy loss.
    """

    same: bool = field(
        metadata=says("Says whether all residuals for one shape of the data and one seed were the same.")
    )
    neighbours: tuple[Pair, ...] = field(default=(), metadata={NOT_IN_JSON: True})


def ask(subject: Subject, look: Look) -> list[Finding]:
    """Compare the residuals output − query. The first finding stores the result as facts for other questions."""
    found, neighbours = same_noise(subject.setting, subject.known.data_path, look.level, subject.options.own_rows)
    if not found:
        return []
    facts = Residuals(found[0].status is Status.NOT_REFUTED and found[0].name == NAME, tuple(neighbours))
    return [replace(found[0], facts=facts), *found[1:]]


QUESTION = Question(
    name=NAME,
    kind="data path",
    asks="Does the noise depend on the data, or on the number of rows?",
    blind_to="data outside the kinds that are tried, and rare draws",
    ask=ask,
    applies=lambda subject: (
        "" if subject.known.data_path else "the audit does not know how the output depends on the data"
    ),
    share=Fraction(1, 200),
    valid_if=(
        "If one shift or factor explains the change of all residuals (output − query), no statistical test is needed. "
        "Any other change of the residuals is tested by exact tests. Their levels add up to at most the false-alarm "
        "probability of the question."
    ),
    gives=(Residuals,),
    draws=lambda subject, look: 900 if subject.known.data_path and subject.known.data_path.query else 0,
    cost=1,
    few_draws=True,
)
