"""Check whether the target gives outputs on the user's own data set."""

from covassay.verification.audit.engine.facts import OwnData
from covassay.verification.audit.engine.finding import Finding, Look
from covassay.verification.audit.engine.user_data import user_checks
from covassay.verification.audit.question import Question, Subject


def ask(subject: Subject, look: Look) -> list[Finding]:
    """Make a few draws on the user's data."""
    return [] if subject.options.data is None else user_checks(subject.setting, subject.options.data)


QUESTION = Question(
    name="own data",
    kind="contract",
    asks="Does the target answer on the data set that the user gave?",
    blind_to="whether the outputs on this data set are right",
    ask=ask,
    applies=lambda subject: "" if subject.options.data else "no data set was given (data)",
    gives=(OwnData,),
    cost=8,
)
