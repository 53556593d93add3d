"""Divide the false-alarm budget of a run into a share for every question, and apply Holm's procedure inside a question.

Let α be the false-alarm probability of a run. If a target keeps its claim, the run refutes it with probability at most
α times the sum of the shares of all questions. The bound on the probability of a refutation is the union bound over the
questions. The bound holds although questions depend on one another and results decide which questions are asked,
because all levels were fixed before the first draw. The bound needs valid p-values. A p-value is valid if, under the
claim, it is at most t with probability at most t, for every t. This must also hold conditionally on the earlier results
that decided which test is made. For each question, `Question.valid_if` says why its p-values are valid.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from covassay.verification.audit.engine.finding import Finding, Look, Status
from covassay.verification.statistics.multiplicity import holm, require_false_alarm

# a smaller p-value is reported as suspicious, and leads to a second look unless the question declares another bound;
# this is rare for a correct target, so second looks cost little
SUSPICIOUS = 1e-3


class Overspent(ValueError):
    """Raised if the shares of questions exceed the whole budget, or a question made more tests than it declared."""


@dataclass(frozen=True)
class Share:
    """The share of the false-alarm probability α that a question may spend when it is asked once.

    The field `tests` is the largest number of p-values that the question then computes.
    """

    question: str
    look: str
    share: Fraction
    tests: int


@dataclass
class ErrorBudget:
    """A false-alarm probability `alpha` that is divided into exact shares, which add up to at most 1."""

    alpha: float
    spent: list[Share] = field(default_factory=list)

    def __post_init__(self) -> None:
        require_false_alarm(self.alpha)

    @property
    def left(self) -> Fraction:
        """Return the share that is not yet reserved."""
        return 1 - sum((one.share for one in self.spent), Fraction(0))

    def spend(self, question: str, look: str, share: Fraction, tests: int) -> float:
        """Reserve a share of α for one look (a round of draws) of a question. Return the level of the look, which is
        the share times α.
        """
        if share < 0 or share > self.left:
            raise Overspent(f"{question} asks for {share} of the false-alarm budget, and {self.left} is left")
        self.spent.append(Share(question, look, share, tests))
        return self.alpha * float(share)


def decide(findings: Iterable[Finding], look: Look) -> list[Finding]:
    """Set the status of the findings of one look (a round of draws), by Holm's procedure at its level `look.level`.

    Holm's procedure uses the declared number of tests: if fewer p-values were computed, each missing p-value counts as
    1.
    """
    listed = list(findings)
    if not look.tests:
        # if a question declares no number of tests, it has compared its p-values with the error level itself
        return listed
    p_values = [f.p_value for f in listed if f.p_value is not None]
    if len(p_values) > look.tests:
        raise Overspent(f"{look.tests} tests were declared, and {len(p_values)} were made")
    rejected = iter(_holm(p_values, look))
    return [f if f.p_value is None else replace(f, status=_status(f.p_value, next(rejected))) for f in listed]


def _holm(p_values: Sequence[float], look: Look) -> list[bool]:
    if not p_values:
        return []
    return holm([*p_values, *[1.0] * (look.tests - len(p_values))], look.level)


def _status(p_value: float, rejected: bool) -> Status:
    if rejected:
        return Status.REFUTED
    return Status.SUSPICIOUS if p_value < SUSPICIOUS else Status.NOT_REFUTED
