"""Check whether any tested event could have refuted the claim.

If no tested event could have refuted the claim, and no law was tested, the audit is inconclusive.
"""

from covassay.verification.audit.engine.facts import TestedEvent
from covassay.verification.audit.engine.finding import Finding, Look, Status
from covassay.verification.audit.engine.violation import claimed_loss, loss_letter
from covassay.verification.audit.question import Question, Subject


def ask(subject: Subject, look: Look) -> list[Finding]:
    """Compare the claim with the largest privacy loss that the draws of the audit could have refuted."""
    shown = [facts.largest_loss for _, facts in subject.facts(TestedEvent) if facts.largest_loss is not None]
    claimed, letter = claimed_loss(subject.claim), loss_letter(subject.claim)
    if not shown:
        return []
    if max(shown) > claimed:
        detail = f"the largest {letter} that this run could have refuted is {max(shown):.2f}, above the claim"
        return [Finding("privacy", "reach", Status.NOT_REFUTED, detail)]
    detail = (
        f"no law was tested, and the largest {letter} that this run could have refuted is {max(shown):.2f}, below the "
        f"claim {letter} = {claimed:g}. Name the mechanism with --mechanism, or raise --samples (the number of draws "
        f"that is needed grows like e^{letter})"
    )
    return [Finding("privacy", "reach", Status.INCONCLUSIVE, detail)]


QUESTION = Question(
    name="reach",
    kind="privacy",
    asks="Could this run have refuted the claim at all?",
    blind_to="nothing: it compares two numbers",
    ask=ask,
    applies=lambda subject: "only if no law of the output is tested" if subject.known.scenarios else "",
    reads=(TestedEvent,),
    cost=8,
)
