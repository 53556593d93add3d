"""What refutes each negative control, and after how many draws: one row for every control.

The rows come from whole audits, at the default number of samples and false-alarm probability. A draw is one output that
the target was asked for, by whatever check. The draws to the first refutation are all those that the audit had made
when the first check that refutes had all of its own.
"""

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from covassay.verification.audit.engine import coincidences
from covassay.verification.audit.engine.checks import CheckResult
from covassay.verification.audit.engine.other_budgets import NAME as NAME_OF_BUDGETS
from covassay.verification.audit.engine.same_noise import NAME, NAME_OF_ROWS
from covassay.verification.audit.negative_controls import every
from covassay.verification.audit.negative_controls.negative_control import NegativeControl
from covassay.verification.audit.negative_controls.standing import STANDING
from covassay.verification.audit.negative_controls.trial import claim_of
from covassay.verification.audit.run import audit
from covassay.verification.audit.targets.target import Target, TargetReference, load

SECONDS = 5.0  # the time limit of a draw; far above what one takes, so that a busy machine changes no figure
LAW, PRIVACY = "law/", "privacy/"  # how the labels of the streams of draws begin


@dataclass(frozen=True)
class Row:
    """One control: the verdict, the family and the name of the check that refuted it first, draws and seconds."""

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
        """The row without the seconds, which vary from machine to machine."""
        return {key: value for key, value in asdict(self).items() if key != "seconds"}


@dataclass
class Tally:
    """Counts the draws of a target, and remembers how many had been made at every report of progress."""

    draws: int = 0
    start: float = field(default_factory=time.monotonic)
    events: list[tuple[str, int, int, float]] = field(default_factory=list)  # label, draws before, after, seconds

    def counted(self, target: Target) -> Target:
        """The target, each of whose draws is counted."""

        def draw(x: Any, **given: Any) -> Any:
            self.draws += 1
            return target.draw(x, **given)

        def draw_many(x: Any, size: int, **given: Any) -> Any:
            self.draws += size
            return target.draw_many(x, size, **given) if target.draw_many else []

        return replace(target, draw=draw, draw_many=draw_many if target.draw_many else None)

    def progress(self, label: str, made: int) -> None:
        """Told by the audit when draws with this label were made."""
        self.events.append((label, self.draws - made, self.draws, time.monotonic() - self.start))

    def at_the_end_of(self, belongs: Callable[[str], bool]) -> tuple[int, float]:
        """Draws and seconds when the last draw with such a label had been made; of all if there is none."""
        places = [i for i, (label, *_) in enumerate(self.events) if belongs(label)]
        if not places:
            return self.draws, time.monotonic() - self.start
        _, _, draws, seconds = self.events[places[-1]]
        return draws, seconds

    def before(self, belongs: Callable[[str], bool]) -> tuple[int, float]:
        """Draws and seconds before the first draw with such a label; of all if there is none."""
        for i, (label, draws, _, seconds) in enumerate(self.events):
            if belongs(label):
                return draws, self.events[i - 1][3] if i else seconds
        return self.draws, time.monotonic() - self.start

    def until(self, check: CheckResult) -> tuple[int, float]:
        """The draws and the seconds after which the check had all of its own draws."""
        if check.kind in ("law", "privacy"):
            return self.at_the_end_of(lambda label: label.startswith(f"{check.kind}/{check.scenario}/"))
        if check.name == coincidences.NAME_SEEN:
            return self.at_the_end_of(lambda label: label.startswith(LAW))
        if check.name in (NAME, NAME_OF_ROWS):  # its confirmations are reported with nothing
            return self.before(lambda label: label != NAME)
        if check.name == NAME_OF_BUDGETS:
            return self.at_the_end_of(lambda label: label == NAME_OF_BUDGETS)
        return self.before(lambda label: label.startswith((LAW, PRIVACY)))


def row(control: NegativeControl, seed: int = 0) -> Row:
    """The row of one control, from an audit."""
    tally = Tally()
    target = tally.counted(load(TargetReference(f"mutant:{control.name}", ".")))
    report = audit(target, claim_of(control), seed=seed, seconds=SECONDS, stop_early=True, progress=tally.progress)
    found = [(*tally.until(check), check) for check in report.refuted]
    draws, seconds, first = min(found, key=lambda one: one[:2]) if found else (*_all(tally), None)
    return Row(
        control.name,
        control.mechanism,
        control.mistake,
        report.verdict.value,
        first.kind if first else "",
        _named(first) if first else "",
        draws,
        round(seconds, 1),
        STANDING.get(control.name, ""),
    )


def _all(tally: Tally) -> tuple[int, float]:
    return tally.draws, time.monotonic() - tally.start


def _named(check: CheckResult) -> str:
    return f"{check.scenario}: {check.name}" if check.scenario else check.name


def row_of(name: str) -> Row:
    """The row of the control of that name."""
    return row(every.NEGATIVE_CONTROLS[name])
