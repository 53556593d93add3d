"""Run the target with its draws forced to the quantiles 10⁻³, 10⁻⁶ and 10⁻¹² and their mirror images.

If a draw is forced to an extreme quantile, the target may raise an exception, cut the noise off, or draw it again. Each
of these is allowed. Random draws hardly ever reach extreme quantiles, and the proof of a mechanism may fail for code
that only such draws reach. The check therefore notes branches of the code that only extreme draws reach.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from covassay.reference.domain import Matrix
from covassay.verification.audit.engine.contract import plain_rows
from covassay.verification.audit.engine.facts import Facts, says
from covassay.verification.audit.engine.finding import Finding, Look, Status
from covassay.verification.audit.question import Question, Subject
from covassay.verification.audit.questions.privacy.recorded_draws import recorder_of, reference_of, why_no_reference
from covassay.verification.audit.recorded.forced import ForcedDraw, NotForced, forced

NAME = "forced draws"
SHAPE = 6, 3  # the numbers of rows and columns of the data set
SHOWN = 3
MEANING = {"fails": "the target fails", "other draws": "it draws again", "stays": "the noise is cut off"}


@dataclass(frozen=True)
class RareBranch:
    """How the target behaves if one draw, or every draw, is replaced by an extreme quantile."""

    draw: str = field(metadata=says("The name of the forced draw; “all draws together” if all draws were forced."))
    quantile: float = field(
        metadata=says("The probability that a random draw is at least as extreme as the forced one.")
    )
    tail: Literal["lower", "upper"] = field(
        metadata=says("Says whether the forced value is in the lower or the upper tail.")
    )
    kind: Literal["fails", "other draws", "stays"] = field(
        metadata=says(
            "“fails”: the target fails. “other draws”: it makes other draws, or its output has another shape. “stays”: "
            "an entry of the output is the same at the two most extreme quantiles."
        )
    )
    message: str = field(metadata=says("What happened."))


@dataclass(frozen=True)
class RareBranches(Facts):
    """The branches of the target that were reached by draws at extreme quantiles."""

    branches: tuple[RareBranch, ...] = field(metadata=says("The rare branches of the code that forced draws reached."))


def _kept(found: Sequence[ForcedDraw], usual: Sequence[ForcedDraw]) -> list[ForcedDraw]:
    """Return the rare branches to report. Branches that the reference has as well are left out. A forced uniform draw
    after which other draws are made is also left out, because loops that reject uniform numbers are common.
    """
    known = {(one.kind, one.family) for one in usual}
    return [
        one
        for one in found
        if (one.kind, one.family) not in known and (one.kind, one.family) != ("other draws", "uniform")
    ]


def _of_reference(subject: Subject, x: Matrix) -> Sequence[ForcedDraw]:
    try:
        return () if why_no_reference(subject) else forced(reference_of(subject), x, subject.setting.seed)
    except NotForced:
        return ()


def ask(subject: Subject, look: Look) -> list[Finding]:
    """Force the draws of the target into rare branches on one data set, and note the results."""
    x = plain_rows(subject.setting, SHAPE[0], max(SHAPE[1], subject.known.form.smallest_dimension))
    try:
        seen = forced(recorder_of(subject.setting), x, subject.setting.seed)
    except NotForced as error:
        return [Finding("contract", NAME, Status.SKIPPED, str(error))]
    found = _kept(seen, _of_reference(subject, x) if seen else ())
    if not found:
        text = "if its draws are forced to the quantiles 1e-3, 1e-6 and 1e-12, the target behaves as at usual draws"
        text += ", or behaves like the reference, or makes other draws after an extreme uniform number" if seen else ""
        return [Finding("contract", NAME, Status.NOT_REFUTED, text)]
    text = "; ".join(f"{MEANING[one.kind]}: {one}" for one in found[:SHOWN])
    more = f"; and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
    return [Finding("contract", NAME, Status.NOTED, text + more, facts=_facts(found))]


def _facts(found: Sequence[ForcedDraw]) -> RareBranches:
    return RareBranches(
        tuple(
            RareBranch(one.draw, one.quantile, "upper" if one.upper else "lower", one.kind, one.message)
            for one in found
        )
    )


QUESTION = Question(
    name=NAME,
    kind="contract",
    asks="What happens where draws are far out in their tails?",
    blind_to=(
        "branches that only an untried combination of several extreme draws reaches, and branches that depend on draws "
        "that are not recorded"
    ),
    ask=ask,
    gives=(RareBranches,),
)
