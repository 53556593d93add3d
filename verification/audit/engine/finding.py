"""Define the findings of an audit, and the class `Look`, which describes one round of draws and its error level."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Literal, Self, TypeVar, get_args

from covassay.reference.domain import Matrix
from covassay.verification.audit.engine.facts import Facts
from covassay.verification.audit.engine.store import storable
from covassay.verification.statistics.curves import Curve

Kind = Literal["contract", "data path", "law", "privacy", "bits"]
KINDS: tuple[Kind, ...] = get_args(Kind)
F = TypeVar("F", bound=Facts)


@storable
class Status(Enum):
    """The outcome of one check. No outcome proves that the target is correct."""

    NOT_REFUTED = "not refuted"
    REFUTED = "REFUTED"
    SUSPICIOUS = "suspicious"  # the p-value is below 1e-3, but too large to refute the target
    NOTED = "noted"  # the report mentions the observation, which breaks no promise of the target
    INCONCLUSIVE = "inconclusive"
    SKIPPED = "skipped"


class Verdict(Enum):
    """The outcome of a run."""

    REFUTED = "REFUTED"
    NOT_REFUTED = "NOT REFUTED"
    INCONCLUSIVE = "INCONCLUSIVE"

    @property
    def exit_status(self) -> int:
        """Return the exit status of the command, which is 0 for not refuted, 1 for refuted and 3 for inconclusive; the
        others are in verification/README.md.
        """
        return {Verdict.NOT_REFUTED: 0, Verdict.REFUTED: 1, Verdict.INCONCLUSIVE: 3}[self]


@dataclass(frozen=True)
class Look:
    """One round of draws from a target. A second round has more draws than the first, and all of them are new.

    `samples` is the number of draws on each data set, which a question may scale. `level` is the false-alarm
    probability of the question in this round, for all its tests together. `tests` is the largest number of p-values
    that the question may give in this round. In a second round, `again` has the names of the data sets whose findings
    in the first round call for more draws, and only these data sets are tested. If `again` is None, all data sets are
    tested. `stop_early` says whether a question may end once it is refuted. `bets` says whether a betting test may end
    the draws on a pair of data sets before all planned draws are made.
    """

    name: str = "first look"
    samples: float = 2000
    level: float = 1e-10
    tests: int = 1
    again: frozenset[str] | None = None
    stop_early: bool = False
    bets: bool = True

    @property
    def step(self) -> float:
        """Return the level of a single test; a p-value below this level refutes, whatever the other p-values are."""
        return self.level / max(1, self.tests)

    def asks(self, scenario: str) -> bool:
        """Return whether this round of draws includes the data set with this name."""
        return self.again is None or scenario in self.again


@storable
@dataclass(frozen=True)
class Finding:
    """One result of a question, such as that of a test on one data set.

    If a finding has a p-value, its status is provisional until it is compared with the error budget. `scenario` names
    the data set or the pair; findings with the same scenario share their draws. `facts` are its figures. `data` are the
    two neighbouring data sets, or the one data set, with which the finding can be reproduced. `curve` plots the tested
    quantity beside its law. If `promising` is true, the finding calls for a second round of draws even if its p-value
    is large. If `exact` is true, a part of the claim was decided by arithmetic, and the finding counts as a test of the
    claim. The field `question` is set by the loop that asks the questions.
    """

    kind: Kind
    name: str
    status: Status
    detail: str
    scenario: str = ""
    p_value: float | None = None
    n: int = 0
    facts: Facts | None = None
    data: tuple[Matrix, ...] = field(default=(), repr=False, compare=False)
    curve: Curve | None = field(default=None, repr=False, compare=False)
    promising: bool = False
    exact: bool = False
    question: str = ""

    @property
    def label(self) -> str:
        """Return the full name of the check, which is unique in a run."""
        return " / ".join(part for part in (self.kind, self.scenario, self.name) if part)

    def plain(self) -> dict[str, Any]:
        """Return the finding as plain data, without its facts and its data sets."""
        named = {"kind", "name", "detail", "scenario", "p_value", "n", "question"}
        return {**{name: getattr(self, name) for name in named}, "status": self.status.value}

    @classmethod
    def of_plain(cls, plain: Mapping[str, Any]) -> Self:
        """Return a finding from the plain data that `plain` returned, without facts and data sets."""
        return cls(**{**plain, "status": Status(plain["status"])})

    def fact(self, kind: type[F]) -> F | None:
        """Return the facts if they are of the given kind, and otherwise None."""
        return self.facts if isinstance(self.facts, kind) else None


def settled(findings: list[Finding], look: Look) -> bool:
    """Return whether a round may end because a p-value is so small that no further test can change the verdict."""
    return look.stop_early and any(f.p_value is not None and f.p_value <= look.step for f in findings)
