"""Compare the privacy cost of one call, by the target's own accounting, with the claim.

Many libraries compute the privacy cost of a call themselves, for instance by the privacy map of an OpenDP measurement,
a ledger, or a budget object. If a target has a function `accounting`, the function takes the arguments of a draw
without rng, and returns the cost of one call. The privacy cost is ε, or ρ for zCDP, or ε at the claimed δ. The question
about the accounting makes no draws and no statistical test. If the cost is above the claim, the claim contradicts the
package's own accounting. The comparison does not show whether the claim or the accounting is wrong, because an
accountant may overestimate.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from covassay.reference.domain import Matrix
from covassay.reference.privacy import ApproximateDP, Guarantee
from covassay.verification.audit.engine.contract import ROWS, plain_rows
from covassay.verification.audit.engine.finding import Finding, Status
from covassay.verification.audit.engine.sampling import Setting
from covassay.verification.audit.engine.violation import claimed_loss, loss_letter
from covassay.verification.audit.question import Question
from covassay.verification.audit.targets.target import Failure, call

NAME = "own accounting"
SLACK = 1e-6  # the cost may exceed the claim by this relative amount, because accountants find scales by bisection
SIZES = (ROWS, 2), (ROWS, 3), (1000, 5)  # the accounting is evaluated for these numbers of rows and columns


def own_accounting(setting: Setting, guarantee: Guarantee) -> list[Finding]:
    """Compare the cost by the target's own accounting with the claim, if the target has an accounting."""
    accounting = setting.target.accounting
    if accounting is None:
        return []
    claimed, letter = claimed_loss(guarantee), loss_letter(guarantee)
    at = f" at δ = {guarantee.delta:g}" if isinstance(guarantee, ApproximateDP) else ""
    for n, d in SIZES if setting.box is None else [(ROWS, setting.box.dimension)]:
        said = _said(setting, accounting, plain_rows(setting, n, d))
        if isinstance(said, Failure):
            detail = f"for {n} rows of {d} numbers the target's own accounting gave no number: {said}"
            return [Finding("contract", NAME, Status.INCONCLUSIVE, detail)]
        if said > claimed * (1 + SLACK):
            detail = (
                f"for {n} rows of {d} numbers the target's own accounting says that one call costs {letter} = "
                f"{said:g}{at}; {letter} = {claimed:g} is claimed. Either the claim or the target's accounting is wrong"
            )
            return [Finding("contract", NAME, Status.REFUTED, detail)]
    detail = f"the target's own accounting says that one call costs at most the claimed {letter} = {claimed:g}"
    return [Finding("contract", NAME, Status.NOT_REFUTED, detail)]


def _said(setting: Setting, accounting: Callable[..., Any], x: Matrix) -> float | Failure:
    """Return the cost of one call on x by the target's own accounting."""
    asked = replace(setting.target, draw=lambda x, rng, **budget: accounting(x, **budget))
    answer, _ = call(asked, x, setting.budget, np.random.default_rng(0), setting.seconds)
    if isinstance(answer, Failure):
        return answer
    try:
        said = float(answer)
    except (TypeError, ValueError):
        return Failure("malformed", f"{type(answer).__name__} in place of a number")
    return Failure("malformed", "not a number") if math.isnan(said) else said


QUESTION = Question(
    name=NAME,
    kind="contract",
    asks="Does the target's own accounting stay within the claim?",
    blind_to="whether that accounting is right",
    ask=lambda subject, look: own_accounting(subject.setting, subject.claim),
    applies=lambda subject: "" if subject.setting.target.accounting else "the target has no accounting of its own",
)
