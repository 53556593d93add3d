"""Define a question, which is one check of an audit, and its subject, which is the audited target with its claim."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from covassay.reference.domain import Matrix
from covassay.reference.mechanisms.registry import mechanism
from covassay.reference.privacy import Guarantee
from covassay.verification.audit.budget import SUSPICIOUS
from covassay.verification.audit.engine.events import Pair
from covassay.verification.audit.engine.facts import Facts
from covassay.verification.audit.engine.finding import F, Finding, Kind, Look, Status
from covassay.verification.audit.engine.sampling import Setting
from covassay.verification.audit.knowledge.shared.profile import Profile
from covassay.verification.audit.options import SCOPES, AuditOptions


@dataclass
class Subject:
    """The subject of an audit, which is a target and its call, its claim, its profile, and the findings so far.

    known : the profile of the claimed mechanism, or a profile for any target if `mechanism` is None.
    choices : all options of the claimed mechanism.
    findings : the findings of earlier questions, with their status.
    outputs : the most recent draws on each data set on which the law is known.
    pairs : the neighbours on which events were tested.
    """

    setting: Setting
    claim: Guarantee
    known: Profile
    mechanism: str | None
    adjacency: str
    options: AuditOptions
    choices: Mapping[str, Any] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    outputs: dict[str, Matrix] = field(default_factory=dict)
    pairs: dict[str, Pair] = field(default_factory=dict)

    @property
    def scope(self) -> str:
        """Return the scope of the verdict, which is real arithmetic alone, or low-order bits as well."""
        integers = self.mechanism is not None and mechanism(self.mechanism).lattice
        return self.options.scope or SCOPES[integers and not self.options.quick]

    def facts(self, kind: type[F]) -> list[tuple[Finding, F]]:
        """Return all facts of the class `kind` that earlier questions found, each with the finding that contains the
        fact.
        """
        return [(f, f.facts) for f in self.findings if isinstance(f.facts, kind)]

    def refuted(self, *kinds: Kind) -> bool:
        """Return whether a finding of one of the given kinds is refuted.

        Without arguments, return whether any finding is refuted; findings on low-order bits then do not count.
        """
        return any(
            f.status is Status.REFUTED and (f.kind in kinds if kinds else f.kind != "bits") for f in self.findings
        )


NOT_QUICK = "it needs statistics, which a quick audit leaves out"
# a question that keeps all draws in memory sets `most_samples` to this number; by default, its second round of draws
# has this size
MOST_KEPT = 20_000


def always(subject: Subject) -> str:
    """Return an empty text, which means that the audit can ask the question about this target."""
    return ""


@dataclass(frozen=True)
class Question:
    """One check of a target. The other fields say when and with which error probability the audit makes the check.

    A look is one round of draws; a question may have a first and a second look.

    name : stable; it names rows of reports, rules, test cases and expected failures.
    kind : the kind of its findings, such as "law" or "privacy".
    asks : the question in a sentence.
    blind_to : the mistakes that it cannot detect, for the rules of a SARIF report.
    ask : (subject, look) -> findings. Findings that have a p-value are decided by the error budget.
    applies : the reason why the question does not apply, or "" if it does; known before any draw.
    spared : the reason why the question is unnecessary after the findings so far, or "".
    share : its share of the false-alarm budget, for all looks together; 0 if chance cannot make it refute.
    tests : the largest number of p-values of a look, fixed before any draw. The number is 0 if the findings have no
        p-value; `ask` itself then decides the findings at the level of the look.
    valid_if : the reason why its p-values, or its own decisions, err with at most the stated probability.
    reads : the classes of facts that it uses; questions that give such facts are asked earlier.
    gives : the classes of facts in its findings.
    second_look : the factor on the number of draws in a second look; 0 if there is no second look.
    second_look_below : a smaller p-value in the first look leads to a second look.
    most_samples : the largest number of samples that it uses, as it keeps all draws in memory; 0 if there is no limit.
    draws : the approximate number of draws of a look, for an estimate of its time.
    cost : the order among questions that do not use facts of one another; a smaller number comes first.
    few_draws : whether a few draws suffice, so that a quick audit (`--quick`) asks it although it has a share.
    """

    name: str
    kind: Kind
    asks: str
    blind_to: str
    ask: Callable[[Subject, Look], Iterable[Finding]]
    applies: Callable[[Subject], str] = always
    spared: Callable[[Subject], str] = always
    share: Fraction = Fraction(0)
    tests: Callable[[Subject], int] | int = 0
    valid_if: str = ""
    reads: tuple[type[Facts], ...] = ()
    gives: tuple[type[Facts], ...] = ()
    second_look: int = 0
    second_look_below: float = SUSPICIOUS
    most_samples: int = 0
    draws: Callable[[Subject, Look], float] | float = 10
    cost: int = 0
    few_draws: bool = False

    def __post_init__(self) -> None:
        if bool(self.share) != bool(self.valid_if):
            raise ValueError(f"{self.name}: `share` and `valid_if` must be given together, or both left out")

    @property
    def id(self) -> str:
        """Return the name of the question in reports and tests, such as "contract: row order"."""
        return f"{self.kind}: {self.name}"

    @property
    def quick(self) -> bool:
        """Return whether a quick audit asks the question, because arithmetic on a few draws answers it."""
        return self.few_draws or not self.share

    def most_tests(self, subject: Subject) -> int:
        """Return the largest number of p-values that the question computes when it is asked once about this subject."""
        return self.tests(subject) if callable(self.tests) else self.tests

    def expected_draws(self, subject: Subject, look: Look) -> float:
        """Return the approximate number of draws of a look."""
        return self.draws(subject, self.limited(look)) if callable(self.draws) else self.draws

    def limited(self, look: Look) -> Look:
        """Return this round of draws with its number of samples reduced to at most `most_samples`."""
        return replace(look, samples=min(look.samples, self.most_samples or look.samples))

    def skipped(self, reason: str) -> Finding:
        """Return a finding with the reason why the question was not asked."""
        return Finding(self.kind, self.name, Status.SKIPPED, reason, question=self.id)

    def asked(self, subject: Subject, look: Look) -> list[Finding]:
        """Ask the question with the draws of one look, and return its findings; findings with a p-value are not decided
        yet. If there are no findings, return one finding which says that the question was skipped.

        Raises
        ------
        ValueError : a finding has facts of another kind than `gives`.
        """
        few = self.limited(look)
        found = [replace(f, question=self.id) for f in self._found(subject, few)]
        if few != look:
            limit = f"made with {few.samples} samples, because this check uses no more"
            found = [replace(f, detail=f"{f.detail}; {limit}") if f.status is not Status.SKIPPED else f for f in found]
        unnamed = {type(f.facts).__name__ for f in found if f.facts is not None and type(f.facts) not in self.gives}
        if unnamed:
            raise ValueError(f"{self.id}: its findings have facts whose class is not in `gives`: {', '.join(unnamed)}")
        return found or [self.skipped("there was nothing to ask")]

    def _found(self, subject: Subject, look: Look) -> Iterable[Finding]:
        """Ask the question, or read its findings from the store if an earlier run stored them.

        Findings are not stored if the question may have a second look, or if it uses facts of other questions and has
        no share of the false-alarm budget.
        """
        store, tally = subject.setting.store, subject.setting.tally
        if store is None or self.second_look or (self.reads and not self.share):
            return self.ask(subject, look)
        before, failures = tally.draws, Counter(tally.failures)

        def make() -> tuple[list[Finding], int, Counter[str]]:
            return list(self.ask(subject, look)), tally.draws - before, tally.failures - failures

        found, made, failed = store.once(f"found/{self.id}", make)
        tally.draws, tally.failures = before + made, failures + failed
        return list(found)
