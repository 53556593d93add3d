"""Check that an input outside of the domain raises an exception.

The claim says nothing about such inputs, so the audit only notes if the target accepts one.
"""

import math
from typing import Any

import numpy as np

from covassay.reference.domain import Matrix
from covassay.verification.audit.engine.contract import decided, plain_rows
from covassay.verification.audit.engine.finding import Finding, Status
from covassay.verification.audit.engine.sampling import Setting
from covassay.verification.audit.question import Question
from covassay.verification.audit.targets.target import Failure, call
from covassay.verification.statistics.streams import stream


def _bad_cases(setting: Setting) -> dict[str, tuple[Matrix, dict[str, Any]]]:
    good = plain_rows(setting, 6)
    d = good.shape[1]
    nan, infinite = good.copy(), good.copy()
    nan[2, -1], infinite[2, -1] = math.nan, math.inf
    cases = {
        "NaN entry": (nan, setting.budget),
        "infinite entry": (infinite, setting.budget),
        "no rows": (np.empty((0, d)), setting.budget),
        "no columns": (np.empty((3, 0)), setting.budget),
        "one-dimensional x": (np.ones(3), setting.budget),
    }
    for value in (0.0, -1.0, math.nan):
        cases[f"budget {value:g}"] = (good, setting.budget | dict.fromkeys(setting.claim, value))
    return cases


def bad_input(setting: Setting) -> Finding:
    """Check that an input outside of the domain raises an exception.

    A target that accepts such an input breaks no promise, so the check only notes this.
    """
    accepted = []
    for name, (x, budget) in _bad_cases(setting).items():
        rng = np.random.default_rng(stream(setting.seed, "contract", "bad", name))
        with np.errstate(all="ignore"):
            output, _ = call(setting.target, x, budget, rng, setting.seconds)
        if not isinstance(output, Failure):
            accepted.append(name)
    broken = f"accepted without an error: {', '.join(accepted)}" if accepted else ""
    return decided("bad input", broken=broken, whole="all bad inputs raise an exception", worst=Status.NOTED)


QUESTION = Question(
    name="bad input",
    kind="contract",
    asks="Does an input outside of the domain raise an exception?",
    blind_to=(
        "errors on bad inputs that are not tried; a target that accepts a bad input is not refuted, because the "
        "claim says nothing about bad inputs"
    ),
    ask=lambda subject, look: [bad_input(subject.setting)],
)
