"""Check whether a matrix is symmetric if the target promises a symmetric one."""

from covassay.verification.audit.engine.symmetry import NAME, symmetry
from covassay.verification.audit.question import Question, Subject


def promised(subject: Subject) -> str:
    """Return why the target does not promise symmetry, or an empty string if the output is a symmetric matrix."""
    form = subject.known.form
    return "" if form.symmetric or form.output.symmetric else "no symmetric matrix is promised"


QUESTION = Question(
    name=NAME,
    kind="contract",
    asks="Is the matrix that is released symmetric?",
    blind_to="data of other shapes",
    ask=lambda subject, look: [symmetry(subject.setting, subject.known.form.smallest_dimension)],
    applies=promised,
)
