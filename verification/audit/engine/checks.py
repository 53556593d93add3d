"""The result of one check, and the verdict over all of them."""

from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Literal, get_args

from covassay.reference.domain import Matrix
from covassay.verification.statistics.curves import Curve

Kind = Literal["contract", "data path", "law", "privacy", "bits"]
KINDS: tuple[Kind, ...] = get_args(Kind)


class Status(Enum):
    """The outcome of one check. No outcome says that the target is right."""

    NOT_REFUTED = "not refuted"
    REFUTED = "REFUTED"
    SUSPICIOUS = "suspicious"  # p < 1e-3, but not at the false-alarm level of the run
    NOTED = "noted"  # a finding that breaks no promise
    INCONCLUSIVE = "inconclusive"
    SKIPPED = "skipped"


class Verdict(Enum):
    """The outcome of a run."""

    REFUTED = "REFUTED"
    NOT_REFUTED = "NOT REFUTED"
    INCONCLUSIVE = "INCONCLUSIVE"

    @property
    def exit_status(self) -> int:
        """The exit status of the command: 0 not refuted, 1 refuted, 3 inconclusive; 2 is invalid use."""
        return {Verdict.NOT_REFUTED: 0, Verdict.REFUTED: 1, Verdict.INCONCLUSIVE: 3}[self]


@dataclass(frozen=True)
class CheckResult:
    """One check. `p_value` is None for a check that is no statistical test.

    Checks with the same `scenario` share their draws. `facts` are figures for the reports. `data` are the data sets on
    which the check was made, where these can be a witness: two neighbours, or one data set. `curve` draws what was
    tested beside its law.
    """

    kind: Kind
    name: str
    status: Status
    detail: str
    scenario: str = ""
    p_value: float | None = None
    n: int = 0
    facts: dict[str, Any] = field(default_factory=dict)
    data: tuple[Matrix, ...] = field(default=(), repr=False, compare=False)
    curve: Curve | None = field(default=None, repr=False, compare=False)

    @property
    def label(self) -> str:
        """The full name of the check, unique in a run."""
        return " / ".join(part for part in (self.kind, self.scenario, self.name) if part)
