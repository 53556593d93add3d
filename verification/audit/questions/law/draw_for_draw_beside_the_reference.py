"""Find the data and budgets for which target and reference give different outputs under equal seeds, and test there
whether the laws differ. Targets most of whose outputs differ are left out.
"""

from fractions import Fraction

from covassay.verification.audit.engine.beside import NAME, draw_for_draw
from covassay.verification.audit.engine.contract import UNSEEDED
from covassay.verification.audit.engine.finding import Finding, Look
from covassay.verification.audit.question import Question, Subject
from covassay.verification.audit.questions.contract.same_seed_same_output import IgnoresRng, where_seeds_decide_nothing


def ask(subject: Subject, look: Look) -> list[Finding]:
    """Draw the target and the reference with equal generators."""
    known = subject.known
    if known.beside is None:
        return []
    at_budget, path = known.at_budget, known.data_path
    return draw_for_draw(subject.setting, known.beside, path, at_budget, subject.claim, look.level)


def _applies(subject: Subject) -> str:
    if subject.known.beside is None:
        return "no reference is known"
    return "" if subject.setting.target.seeded else UNSEEDED


QUESTION = Question(
    name=NAME,
    kind="law",
    asks="If the target mostly gives the reference's outputs, is its law the same for all sizes, budgets and data?",
    blind_to="targets that draw in another way than the reference, and data sets and budgets that are not tried",
    ask=ask,
    applies=_applies,
    spared=where_seeds_decide_nothing,
    share=Fraction(1, 100),
    valid_if=(
        "Pilot pairs choose an event, and new pairs test it (McNemar's exact test). All data sets and budgets share "
        "the level."
    ),
    reads=(IgnoresRng,),
    cost=2,
)
