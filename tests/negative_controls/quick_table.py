"""For each negative control, find the check of a quick audit that refutes the control, and measure the time of this
check.

Every check runs in an audit of its own. The checks in `ROUTES`, which use recorded draws, run first. If none of them
refutes the control, the other checks of a quick audit run, until one of them refutes it. The seconds are the processor
time of the check that refutes the control. If several checks in `ROUTES` refute the control, the fastest of them is
reported.
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
    """The result for one negative control: whether its mechanism adds noise to a query, the check that refutes the
    control, and the time of this check.

    route : the kind of the check. For a check in `ROUTES` the kind is "exact" (exact loss), "gains" (comparison of the
        noise with that of the reference) or "forced" (extreme draws). For any other check of a quick audit, the kind is
        "other". If no check of a quick audit refutes the control, the field `route` is "statistics".
    said : the message of the first check with a finding, if no check refutes the control.
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
    """Return the checks of a quick audit; those in `ROUTES`, which use recorded draws, come first."""
    quick = [question for question in in_order(questions()) if question.quick]
    first = [question for name in ROUTES for question in quick if question.id == name]
    return first + [question for question in quick if question not in first]


def quick_row(name: str, seed: int = 0) -> QuickRow:
    """Audit the negative control of that name, and return the result."""
    control = every.NEGATIVE_CONTROLS[name]
    path = subject_of(control, seed).known.data_path
    said, found = "", []  # `found` lists the time and the name of every check that refutes the control
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
