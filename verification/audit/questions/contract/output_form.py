"""On plain data in several dimensions an output consists of finite real numbers and has the right shape."""

from covassay.verification.audit.engine.contract import (
    DIMENSIONS,
    ROWS,
    Form,
    dimensions_of,
    kept,
    one_draw,
    plain_rows,
)
from covassay.verification.audit.engine.finding import Finding, Status
from covassay.verification.audit.engine.sampling import Setting
from covassay.verification.audit.question import Question
from covassay.verification.audit.targets.target import Failure

AGAIN = 20  # draws on data on which a draw gave no output


def output_form(setting: Setting, form: Form) -> Finding:
    """On plain data in several dimensions an output consists of finite real numbers and has the right shape.

    Where a draw gives no such output, others follow: a target may fail at random. A claim of privacy alone promises no
    output, so that failures there are noted, or leave the audit without an answer if no draw has one.
    """
    dimensions, random = dimensions_of(setting, DIMENSIONS), list[str]()
    for d in dimensions:
        outcome = one_draw(setting, plain_rows(setting, ROWS, d), "form", d)
        if isinstance(outcome, Failure) and outcome.kind != "time-out":
            again = [one_draw(setting, plain_rows(setting, ROWS, d), "form", d, i) for i in range(AGAIN)]
            failed = sum(isinstance(one, Failure) for one in again)
            if failed < AGAIN:
                random.append(f"{failed + 1} of {AGAIN + 1} draws at d = {d} gave no output: {outcome}")
                continue
        if isinstance(outcome, Failure):
            promised = form.names_a_law and outcome.kind != "time-out"
            status = Status.REFUTED if promised else Status.INCONCLUSIVE
            return Finding("contract", "output form", status, f"on plain ({ROWS}, {d}) data: {outcome}")
    if random:
        worst = Status.REFUTED if form.names_a_law else Status.NOTED
        return Finding("contract", "output form", worst, f"on plain data {'; '.join(random)}")
    return kept("output form", f"finite real numbers of the right shape at d = {', '.join(map(str, dimensions))}")


QUESTION = Question(
    name="output form",
    kind="contract",
    asks="Is every output finite numbers of the right shape?",
    blind_to="outputs on other data, and in rare draws",
    ask=lambda subject, look: [output_form(subject.setting, subject.known.form)],
)
