"""Check that the target does not write to the caller's array."""

import numpy as np

from covassay.verification.audit.engine.contract import ROWS, decided, one_draw, plain_rows, skipped
from covassay.verification.audit.engine.finding import Finding
from covassay.verification.audit.engine.sampling import Setting
from covassay.verification.audit.question import Question
from covassay.verification.audit.targets.target import Failure


def input_unchanged(setting: Setting) -> Finding:
    """Check that the target does not write to the caller's array."""
    x = plain_rows(setting, ROWS)
    before = x.copy()
    outcome = one_draw(setting, x, "input")
    changed = not np.array_equal(x, before)
    if isinstance(outcome, Failure) and not changed:
        return skipped("input unchanged", outcome)
    broken = "the target overwrote the caller's data set" if changed else ""
    return decided("input unchanged", broken=broken, whole="the caller's data set is as it was")


QUESTION = Question(
    name="input unchanged",
    kind="contract",
    asks="Is the data set of the caller left as it was?",
    blind_to="data sets that are not writable, and other shapes",
    ask=lambda subject, look: [input_unchanged(subject.setting)],
)
