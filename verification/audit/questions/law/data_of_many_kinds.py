"""Test whether the outputs have the law of the reference, on data of many kinds."""

from dataclasses import replace
from fractions import Fraction

from covassay.verification.audit.engine.facts import LawTest
from covassay.verification.audit.engine.finding import Finding, Look
from covassay.verification.audit.engine.kinds_of_data import DRAWS, FEWEST, KINDS, NAMES, Beside, run_kinds
from covassay.verification.audit.engine.other_budgets import at_other_budgets
from covassay.verification.audit.engine.shapes import DEFAULT
from covassay.verification.audit.question import MOST_KEPT, Question, Subject
from covassay.verification.audit.questions.data_path.same_noise_other_data import Residuals

# the approximate number of data sets of all kinds; a data set on which more draws are made counts as several
DATA_SETS = 350


def on_lattice(subject: Subject) -> bool:
    """Return whether the noise lies on a lattice. If the noise lies on a lattice, residuals under one seed at two
    budgets cannot be compared.
    """
    path = subject.known.data_path
    return path is not None and path.atom > 0


def beside(subject: Subject) -> Beside | None:
    """Return the reference for the comparison, or None if there is none. The reference is also drawn at other budgets,
    unless another question compares the residuals at these budgets.
    """
    known = subject.known
    if known.beside is None or known.at_budget is None:
        return None
    own = replace(known.beside, own=subject.options.own_rows)
    additive = known.data_path is not None and known.data_path.query is not None
    if additive and not on_lattice(subject):
        return own
    return at_other_budgets(subject.setting, subject.claim, known.at_budget, own)


def ask(subject: Subject, look: Look) -> list[Finding]:
    """Compare draws of the target with draws of the reference on every kind of data."""
    reference = beside(subject)
    if reference is None:
        return []
    return run_kinds(subject.setting, reference, look)


def _spared(subject: Subject) -> str:
    if subject.refuted("law"):
        return "the law is already refuted"
    same = any(facts.same for _, facts in subject.facts(Residuals))
    return "under one seed, the noise was the same on all kinds of data" if same and not on_lattice(subject) else ""


def draws(subject: Subject, look: Look) -> float:
    """Return the approximate number of draws of the target."""
    near = sum(member.times for member in subject.known.beside.choices) if subject.known.beside else 0
    return (DATA_SETS + near) * max(FEWEST, DRAWS * look.samples / DEFAULT)


QUESTION = Question(
    name=KINDS,
    kind="law",
    asks="Do the outputs have the law of the reference on data of many kinds?",
    blind_to="a law that is only slightly wrong on one kind of data, or is wrong on a kind of data that is not tried",
    ask=ask,
    applies=lambda subject: "" if subject.known.beside and subject.known.at_budget else "there is no reference",
    spared=_spared,
    share=Fraction(1, 10),
    tests=len(NAMES),
    valid_if=(
        "If the laws are equal, the ranks of the target's draws among the reference's draws are uniform and "
        "independent. The level of the question is divided among exact tests of the ranks."
    ),
    reads=(Residuals,),
    gives=(LawTest,),
    second_look=10,
    second_look_below=0.02,  # a few draws on a data set have little power
    most_samples=MOST_KEPT,
    draws=draws,
    cost=5,
)
