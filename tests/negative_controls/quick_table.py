"""Find the question of a quick audit that refutes each negative control, and measure its running time.

Every question is asked in an audit of its own. All questions with recorded draws are asked first, and then the other
questions of a quick audit until one refutes. The seconds are the time of the question that refutes. If several
questions with recorded draws refute, the fastest of them counts.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from covassay.verification.audit.budget import decide
from covassay.verification.audit.engine.finding import Finding, Look, Status
from covassay.verification.audit.options import FALSE_ALARM
from covassay.verification.audit.question import Question
from covassay.verification.audit.questions import questions
from covassay.verification.audit.run import in_order
from covassay.verification.audit.targets.process_state import random_states_put_back
from tests.negative_controls import every
from tests.negative_controls.trial import subject_of

ROUTES = {"privacy: recorded draws": "exact", "law: gains beside the reference": "gains", "contract: forced draws": "forced"}  # fmt: skip  # noqa: E501
OTHER, NONE = "other", "statistics"
SECONDS = 1.0  # most negative controls should be refuted within this number of seconds


@dataclass(frozen=True)
class QuickRow:
    """The result for one negative control: whether its mechanism adds noise to a query, the question that refutes, and
    its time.

    route : "exact", "gains" or "forced" for a question with recorded draws, "other" for another question of a quick
    audit, and "statistics" if no question refutes.
    said : the message of the question on the exact loss, if no question refutes.
    """

    control: str
    mechanism: str
    mistake: str
    additive: bool
    route: str
    question: str
    seconds: float
    said: str = ""


def asked() -> list[Question]:
    """Return the questions of a quick audit, with recorded draws first."""
    quick = [question for question in in_order(questions()) if question.quick]
    first = [question for name in ROUTES for question in quick if question.id == name]
    return first + [question for question in quick if question not in first]


def quick_row(name: str, seed: int = 0) -> QuickRow:
    """Audit the negative control of that name, and return the result."""
    control = every.NEGATIVE_CONTROLS[name]
    path = subject_of(control, seed).known.data_path
    said, found = "", []  # the refuting questions, with their seconds
    for question in asked():
        if found and question.id not in ROUTES:
            break
        start = time.process_time()
        findings = _found(question, name, seed)
        seconds = round(time.process_time() - start, 2)
        if any(finding.status is Status.REFUTED for finding in findings):
            found.append((seconds, question.id))
        said = said or "; ".join(finding.detail for finding in findings)
    seconds, which = min(found, default=(0.0, ""))
    route = ROUTES.get(which, OTHER if which else NONE)
    additive = path is not None and path.query is not None
    return QuickRow(name, control.mechanism, control.mistake, additive, route, which, seconds, "" if which else said)


def _found(question: Question, name: str, seed: int) -> Sequence[Finding]:
    subject = subject_of(every.NEGATIVE_CONTROLS[name], seed)
    subject.options = replace(subject.options, quick=True)
    if question.applies(subject):
        return []
    level = float(question.share) * FALSE_ALARM
    look = Look(level=level, tests=question.most_tests(subject), samples=subject.options.samples, stop_early=True)
    with random_states_put_back():
        return decide(question.asked(subject, look), look)
