"""Check whether every matrix among the draws of the law test is symmetric, if the target promises symmetry."""

from covassay.verification.audit.engine.facts import LawTest
from covassay.verification.audit.engine.finding import Finding, Look
from covassay.verification.audit.engine.symmetry import NAME_SEEN, symmetry_seen
from covassay.verification.audit.question import Question, Subject


def ask(subject: Subject, look: Look) -> list[Finding]:
    """Compare every drawn matrix with its transpose."""
    scenarios = {scenario.name: scenario.x for scenario in subject.known.scenarios}
    drawn = [(name, scenarios[name], outputs) for name, outputs in subject.outputs.items()]
    return symmetry_seen(subject.known.form.output, drawn)


QUESTION = Question(
    name=NAME_SEEN,
    kind="data path",
    asks="Is every matrix among many draws symmetric?",
    blind_to="other data",
    ask=ask,
    applies=lambda subject: (
        "" if subject.known.form.symmetric and subject.known.scenarios else "no symmetric matrix is promised"
    ),
    reads=(LawTest,),
    cost=6,
)
