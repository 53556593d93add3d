"""Find the wrong laws that fit the draws if the law of the mechanism is refuted."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from covassay.reference.domain import Matrix
from covassay.verification.audit.engine.facts import Explanation, LawTest, says
from covassay.verification.audit.engine.finding import Finding, Look, Status
from covassay.verification.audit.engine.law import Suspect, diagnose
from covassay.verification.audit.question import Question, Subject


@dataclass(frozen=True)
class FittingLaw(Explanation):
    """A law of a plausible mistake that fits the outputs on all data sets on which the claimed law is refuted. `name`
    is the name of this wrong law.
    """

    name: str = field(metadata=says("The name of the suspect."))


def suspects_that_fit(subject: Subject, outputs: Mapping[str, Matrix]) -> list[Suspect]:
    """Return the wrong laws that fit the outputs on every data set whose claimed law was refuted, the best fit first.

    A data set is left out if it has no outputs, or if no wrong law is known for it.
    """
    scenarios = {scenario.name: scenario for scenario in subject.known.scenarios}
    failed = dict.fromkeys(f.scenario for f in subject.findings if f.status is Status.REFUTED and f.kind == "law")
    drawn = [
        (scenarios[name], outputs[name])
        for name in failed
        if name in scenarios and scenarios[name].suspects and name in outputs
    ]
    return diagnose(drawn) if drawn else []


def ask(subject: Subject, look: Look) -> list[Finding]:
    """Name the wrong laws that fit the draws of the target."""
    return [
        Finding("law", s.name, Status.NOTED, s.explanation, facts=FittingLaw(s.explanation, s.name))
        for s in suspects_that_fit(subject, subject.outputs)
    ]


QUESTION = Question(
    name="law that fits instead",
    kind="law",
    asks="Which wrong law fits the draws?",
    blind_to="mistakes that are not among the suspects",
    ask=ask,
    spared=lambda subject: "" if subject.refuted("law") else "the law is not refuted",
    reads=(LawTest,),
    gives=(FittingLaw,),
    cost=6,
)
