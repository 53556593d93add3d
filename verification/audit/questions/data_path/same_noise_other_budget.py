"""Test whether the noise scale depends on the budget as claimed, by comparing the noise under one seed at other
budgets.
"""

from fractions import Fraction

from covassay.verification.audit.engine.finding import Finding, Look
from covassay.verification.audit.engine.other_budgets import NAME, other_budgets
from covassay.verification.audit.question import Question, Subject


def ask(subject: Subject, look: Look) -> list[Finding]:
    """Compare the noise of the target under one seed at other budgets."""
    known = subject.known
    return other_budgets(subject.setting, subject.claim, known.at_budget, known.data_path, look.level)


QUESTION = Question(
    name=NAME,
    kind="data path",
    asks="Is the noise right at other budgets?",
    blind_to="wrong noise at budgets that are not tried",
    ask=ask,
    applies=lambda subject: (
        "" if subject.known.at_budget and subject.known.data_path else "no reference at other budgets"
    ),
    draws=150,
    share=Fraction(1, 200),
    valid_if=(
        "If one factor explains the change of all residuals (output − query), no statistical test is needed. Any "
        "other change of the residuals is tested by exact tests. Their levels add up to at most the false-alarm "
        "probability of the question."
    ),
    cost=2,
    few_draws=True,
)
