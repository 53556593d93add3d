"""Test whether noise with a continuous law shows zeros, repeats or exact relations, which such noise almost surely
never does.
"""

from fractions import Fraction

from covassay.verification.audit.engine.coincidences import NAME, coincidences
from covassay.verification.audit.question import Question, Subject


def _applies(subject: Subject) -> str:
    path = subject.known.data_path
    return "" if path is not None and path.query is not None else "only for mechanisms that add noise to a query"


QUESTION = Question(
    name=NAME,
    kind="data path",
    asks="Does the noise show coincidences that a continuous law never shows?",
    blind_to="nonlinear relations between three or more entries of the noise",
    ask=lambda subject, look: coincidences(subject.setting, subject.known.data_path, look.level),
    applies=_applies,
    draws=400,
    share=Fraction(1, 100),
    valid_if=(
        "Binomial laws bound the numbers of coincidences among independent draws; the bounds on the tail probabilities "
        "are added up."
    ),
    cost=2,
)
