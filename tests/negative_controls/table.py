"""Audit each negative control, and find the check that refutes it first and the number of draws until then.

An audit has the default number of samples and the default false-alarm probability. A draw is one output that any
question of the audit requests. The draws are counted until the first question that refutes is answered.
"""

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from covassay.verification.audit.budget import ErrorBudget
from covassay.verification.audit.engine.contract import require_answer
from covassay.verification.audit.engine.finding import Finding, Status, Verdict
from covassay.verification.audit.options import FALSE_ALARM
from covassay.verification.audit.question import Question
from covassay.verification.audit.questions import questions
from covassay.verification.audit.run import ask, verdict
from covassay.verification.audit.targets.calling import CannotRun
from covassay.verification.audit.targets.process_state import random_states_put_back
from covassay.verification.audit.targets.target import Target
from tests.negative_controls import every
from tests.negative_controls.negative_control import NegativeControl
from tests.negative_controls.standing import STANDING
from tests.negative_controls.trial import subject_of

SECONDS = 5.0  # the time limit of a draw; it is long, so that a slow machine gives the same result


@dataclass(frozen=True)
class Row:
    """The result for one negative control: the verdict, the family and name of the check that refuted it first, the
    number of draws and the seconds.
    """

    control: str
    mechanism: str
    mistake: str
    verdict: str
    family: str
    check: str
    draws: int
    seconds: float
    stands: str = ""

    @property
    def same_everywhere(self) -> dict[str, Any]:
        """Return the row without the seconds, which vary from machine to machine."""
        return {key: value for key, value in asdict(self).items() if key != "seconds"}


class Counter:
    """A counter of the outputs that are requested of a target."""

    def __init__(self) -> None:
        self.draws = 0

    def counted(self, target: Target) -> Target:
        """Return the target with its draws counted."""

        def draw(x: Any, **given: Any) -> Any:
            self.draws += 1
            return target.draw(x, **given)

        def draw_many(x: Any, size: int, **given: Any) -> Any:
            self.draws += size
            return target.draw_many(x, size, **given) if target.draw_many else []

        return replace(target, draw=draw, draw_many=draw_many if target.draw_many else None)


def row(control: NegativeControl, seed: int = 0) -> Row:
    """Audit one negative control, and return the result."""
    counter, start = Counter(), time.monotonic()
    subject = subject_of(control, seed)
    target = counter.counted(subject.setting.target)
    subject.setting = replace(subject.setting, source=target, seconds=SECONDS)
    first: list[tuple[Finding, int, float]] = []

    def told(question: Question, found: Sequence[Finding]) -> None:
        refuted = [f for f in found if f.status is Status.REFUTED]
        if refuted and not first:
            worst = min(refuted, key=lambda f: f.p_value or 0.0)
            first.append((worst, counter.draws, time.monotonic() - start))

    try:
        with random_states_put_back():
            require_answer(subject.setting)
            ask(questions(), subject, ErrorBudget(FALSE_ALARM), told)
        ended = verdict(subject.findings)
    except CannotRun:
        ended = Verdict.INCONCLUSIVE
    finding, draws, seconds = first[0] if first else (None, counter.draws, time.monotonic() - start)
    return Row(
        control.name,
        control.mechanism,
        control.mistake,
        ended.value,
        finding.kind if finding else "",
        _named(finding) if finding else "",
        draws,
        round(seconds, 1),
        STANDING.get(control.name, ""),
    )


def _named(finding: Finding) -> str:
    return f"{finding.scenario}: {finding.name}" if finding.scenario else finding.name


def row_of(name: str) -> Row:
    """Audit the negative control of that name, and return the result."""
    return row(every.NEGATIVE_CONTROLS[name])
