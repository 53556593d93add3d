"""Check that the law does not depend on whether the target is called with other forms of the numbers, after other
calls, or in a new process.
"""

from fractions import Fraction

from covassay.verification.audit.engine.contract import UNSEEDED
from covassay.verification.audit.engine.finding import Finding, Look
from covassay.verification.audit.engine.ways import ways_of_asking
from covassay.verification.audit.question import Question, Subject
from covassay.verification.audit.questions.contract.same_seed_same_output import IgnoresRng, where_seeds_decide_nothing


def ask(subject: Subject, look: Look) -> list[Finding]:
    """Call the target with the same data in several ways, and compare the outputs."""
    known = subject.known
    data = [scenario.x for scenario in known.scenarios]
    return ways_of_asking(subject.setting, known.data_path, known.form, look.level, data)


QUESTION = Question(
    name="one law, however it is asked",
    kind="contract",
    asks="Does the law change with the form of the same numbers, with other calls before, or in a fresh process?",
    blind_to=(
        "a change of the law that comes only with a form of the data that the target refused in this audit, or only "
        "with a rare state of the process; or a small change of the law, if the audit does not know the query"
    ),
    ask=ask,
    applies=lambda subject: "" if subject.setting.target.seeded else UNSEEDED,
    spared=where_seeds_decide_nothing,
    share=Fraction(1, 200),
    valid_if=(
        "If one shift or factor explains the change of all residuals (output − query), no statistical test is needed. "
        "Any other change of the residuals is tested by exact tests. Their levels add up to at most the false-alarm "
        "probability of the question."
    ),
    reads=(IgnoresRng,),
    cost=1,
)
