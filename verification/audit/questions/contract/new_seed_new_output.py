"""Check that different generators give different outputs."""

import numpy as np

from covassay.verification.audit.engine.contract import Form, decided, one_draw, plain_rows, skipped
from covassay.verification.audit.engine.finding import Finding, Status
from covassay.verification.audit.engine.sampling import Setting
from covassay.verification.audit.question import Question
from covassay.verification.audit.targets.target import Failure

FRESH_ROWS = 2000  # if a data set has this many rows, no mechanism gives the same output in nearly all draws
FRESH_DRAWS = 6


def new_seed(setting: Setting, form: Form) -> Finding:
    """Check that different generators give different outputs.

    Some mechanisms give one value with positive probability, such as zero after a projection. The check therefore uses
    so many rows that no mechanism gives one output with a probability near 1. The promise is broken only if all of
    several draws on these rows are equal. A target that claims privacy alone may give a constant output if the constant
    is the same for neighbours. The questions about privacy test whether neighbours have the same constant.
    """
    name = "new seed, new output"
    x = plain_rows(setting, FRESH_ROWS)
    outcomes = [one_draw(setting, x.copy(), "fresh", i) for i in range(FRESH_DRAWS)]
    good = [o for o in outcomes if not isinstance(o, Failure)]
    if len(good) < 2:
        return skipped(name, outcomes[0])
    repeated = all(np.array_equal(good[0], other) for other in good[1:])
    broken = "different generators gave the same output: the target fixes its seed or adds no noise"
    worst = Status.REFUTED if form.names_a_law else Status.NOTED
    return decided(
        name, broken=broken if repeated else "", whole="different generators give different outputs", worst=worst
    )


QUESTION = Question(
    name="new seed, new output",
    kind="contract",
    asks="Do different generators give different outputs?",
    blind_to="a target that adds no noise on some data, but adds noise on the data of this check",
    ask=lambda subject, look: [new_seed(subject.setting, subject.known.form)],
    applies=lambda subject: (
        "under this law, several draws may give the same output" if subject.known.form.repeats else ""
    ),
)
