"""Check that a draw leaves the state of the process unchanged.

If a draw changes the state, the audit restores the state and notes the change.
"""

import numpy as np

from covassay.verification.audit.engine.contract import ROWS, decided, plain_rows
from covassay.verification.audit.engine.finding import Finding, Status
from covassay.verification.audit.engine.sampling import Setting
from covassay.verification.audit.question import Question
from covassay.verification.audit.targets.target import observed_call
from covassay.verification.statistics.streams import stream


def process_state(setting: Setting) -> Finding:
    """Check that a draw leaves the state of the process unchanged.

    If a draw changes the state, the audit restores the state and notes the change.
    """
    name = "process state"
    rng = np.random.default_rng(stream(setting.seed, "contract", "state"))
    _, _, changed = observed_call(setting.target, plain_rows(setting, ROWS), setting.budget, rng, setting.seconds)
    broken = f"a draw changed {', '.join(sorted(changed))}; the audit puts it back after every draw" if changed else ""
    return decided(name, broken=broken, whole="a draw leaves the state of the process as it was", worst=Status.NOTED)


QUESTION = Question(
    name="process state",
    kind="contract",
    asks="Does a draw leave the state of the process as it was?",
    blind_to=(
        "changes of any state of the process that is not in the following list: the working directory, numpy's "
        "handling of floating-point errors, the filters for warnings, the standard streams, the recursion limit, and "
        "the names in a few modules"
    ),
    ask=lambda subject, look: [process_state(subject.setting)],
)
