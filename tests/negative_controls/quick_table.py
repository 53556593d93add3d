"""Find the question of a quick audit that refutes each negative control, and its seconds of work.

Every question is asked alone, with a subject of its own: first all questions with recorded draws, then the other
questions of a quick audit until one refutes. The seconds are the time of the refuting question; if several questions
with recorded draws refute, the fastest of them counts.
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
SECONDS = 1.0  # the number of seconds within which most controls should be refuted


@dataclass(frozen=True)
class QuickRow:
    """A row for one control: whether its mechanism adds noise to a query, the refuting question, and its seconds.

    route : "exact", "gains", "forced", "other" for another question of a quick audit, and "statistics" if none refutes.
    said : the message of the question on the exact loss, if the control is not refuted.
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
    """Audit the control of the given name, and return its row."""
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
