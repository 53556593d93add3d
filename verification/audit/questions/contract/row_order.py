"""Check that the order of the records does not change the law of the output."""

from fractions import Fraction

import numpy as np

from covassay.verification.audit.engine.contract import (
    ROWS,
    UNSEEDED,
    Form,
    close,
    decided,
    one_draw,
    plain_rows,
    skipped,
)
from covassay.verification.audit.engine.difference import difference_in_law
from covassay.verification.audit.engine.finding import Finding, Status
from covassay.verification.audit.engine.sampling import Setting
from covassay.verification.audit.question import Question
from covassay.verification.audit.questions.contract.same_seed_same_output import IgnoresRng, where_seeds_decide_nothing
from covassay.verification.audit.targets.target import Failure

DATA_SETS = 2  # the number of data sets for which many draws compare the laws, if reversing the rows changed an output
DRAWS = 4000  # if a few draws suggest a difference, this many draws are made on each data set in each order
SUMMATION = 1e-8  # another order of summation can change a number by this relative amount
SINGLE = 1e-5  # single precision can change a number by this relative amount; a change up to this amount is noted


def row_order(setting: Setting, form: Form, alpha: float) -> Finding:
    """Check that the order of the records does not change the law of the output.

    If the output under one seed stays the same, up to the sign of a vector, no further draws are needed. If the output
    under one seed changes, many draws show whether the law of the output changes. A target with equal laws is refuted
    with probability at most `alpha`. The output may change although the law is the same, for example if the noise is
    rotated into a basis that depends on the order.
    """
    if not setting.target.seeded:
        return skipped("row order", UNSEEDED)
    x = plain_rows(setting, ROWS)
    first, second = one_draw(setting, x.copy(), "order"), one_draw(setting, x[::-1].copy(), "order")
    if isinstance(first, Failure) or isinstance(second, Failure):
        return skipped("row order", first, second)

    def same(tolerance: float) -> bool:
        return close(first, second, tolerance) or (first.ndim == 1 and close(first, -second, tolerance))

    broken = "" if same(SUMMATION) else "reversing the rows changed the output"
    if broken and same(SINGLE):
        return decided(
            "row order", broken=f"{broken}, but by no more than rounding errors in single precision", worst=Status.NOTED
        )
    if broken and not form.names_a_law:
        return decided(
            "row order", broken=f"{broken}, which a claim of privacy alone does not forbid", worst=Status.NOTED
        )
    if broken:
        proven = _difference_proven(setting, alpha)
        status = Status.REFUTED if proven else Status.NOTED
        said = proven or (
            "no difference in law was proven: correct code may rotate its noise into a basis that depends on the order "
            "of the rows"
        )
        return decided("row order", broken=f"{broken} under one seed; {said}", worst=status)
    return decided("row order", whole="reversing the rows changes nothing")


def _difference_proven(setting: Setting, alpha: float) -> str:
    """Describe how the laws on rows and on reversed rows differ, for ordinary rows and for rows with an outlier first.

    The description is empty if the draws prove no difference.
    """
    plain = plain_rows(setting, ROWS)
    first = plain_rows(setting, 1)
    for kind, x in {"plain rows": plain, "one row before zeros": np.vstack([first, np.zeros_like(plain[1:])])}.items():
        label = f"contract/row order/{kind}"
        found = difference_in_law(setting, x, x[::-1].copy(), label, alpha / DATA_SETS, DRAWS)
        if found.what:
            return f"on {kind} {found.what}"
    return ""


QUESTION = Question(
    name="row order",
    kind="contract",
    asks="Does the law of the output depend on the order of the rows?",
    blind_to="changes of the law that other orders of the rows cause, but the reversed order does not",
    ask=lambda subject, look: [row_order(subject.setting, subject.known.form, look.level)],
    applies=lambda subject: "the mechanism uses its records in their order" if subject.known.form.ordered else "",
    spared=where_seeds_decide_nothing,
    reads=(IgnoresRng,),
    share=Fraction(1, 200),
    valid_if=(
        "Pilot draws choose three statistics. Exact two-sample tests compare these statistics in new draws, and the "
        "level of the question is divided among the tests."
    ),
)
