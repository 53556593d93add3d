"""The result of one check, and the verdict over all of them."""

from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Literal

Kind = Literal["contract", "law", "privacy"]


class Status(Enum):
    """What one check says. It never says that the target is right."""

    NOT_REFUTED = "not refuted"
    REFUTED = "REFUTED"
    SUSPICIOUS = "suspicious"  # p < 1e-3, but not at the false-alarm level of the run
    NOTED = "noted"  # a finding that breaks no promise
    INCONCLUSIVE = "inconclusive"
    SKIPPED = "skipped"


class Verdict(Enum):
    """What the run says."""

    REFUTED = "REFUTED"
    NOT_REFUTED = "NOT REFUTED"
    INCONCLUSIVE = "INCONCLUSIVE"

    @property
    def exit_status(self) -> int:
        """0 not refuted, 1 refuted, 3 inconclusive (2 is invalid use)."""
        return {Verdict.NOT_REFUTED: 0, Verdict.REFUTED: 1, Verdict.INCONCLUSIVE: 3}[self]


@dataclass(frozen=True)
class CheckResult:
    """One check. `p_value` is None where the check is no statistical test.

    `scenario` groups checks that share their draws; `facts` are figures for the JSON report.
    """

    kind: Kind
    name: str
    status: Status
    detail: str
    scenario: str = ""
    p_value: float | None = None
    n: int = 0
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """A name that is unique in the run."""
        return " / ".join(part for part in (self.kind, self.scenario, self.name) if part)
