"""Test whether the draws of the law test contain zeros or repeats, which have probability 0 under a continuous law."""

from fractions import Fraction

from covassay.verification.audit.engine.coincidences import NAME_SEEN, coincidences_seen
from covassay.verification.audit.engine.facts import LawTest
from covassay.verification.audit.engine.finding import Finding, Look
from covassay.verification.audit.question import Question, Subject


def ask(subject: Subject, look: Look) -> list[Finding]:
    """Count the zeros and repeats among the draws on every data set of the law test."""
    scenarios = {scenario.name: scenario.x for scenario in subject.known.scenarios}
    drawn = [(scenarios[name], outputs) for name, outputs in subject.outputs.items()]
    return coincidences_seen(subject.known.data_path, drawn, look.level)


QUESTION = Question(
    name=NAME_SEEN,
    kind="data path",
    asks="Do many draws show zeros or repeats that a continuous law never shows?",
    blind_to="a generator with few seeds, if no seed happens to occur twice among the draws",
    ask=ask,
    applies=lambda subject: "" if subject.known.data_path and subject.known.scenarios else "no law is known",
    share=Fraction(1, 100),
    valid_if="The number of coincidences of independent draws has binomial tails, whose bounds are added up.",
    reads=(LawTest,),
    cost=6,
)
