"""Test whether a floating-point sum depends on the order of the rows, by one long row before or after many short rows.

The squares of the short rows are just above half a unit in the last place of 1. If the squares of the short rows are
added to 1 one by one, each addition is rounded up to a whole unit in the last place, which is nearly twice the square.
If the squares of the short rows are summed first, the sum keeps its size. A sum in the order of the rows therefore
depends on this order, and the query changes by more than the sensitivity of the exact query (Casacuberta et al. 2022).
Sums in blocks, pairwise sums, and sums of integers hardly depend on the order. One data set tests the order of sums in
float64, and another tests it in float32.

The result of the test of summation is interpreted as follows. Under one seed the noise is constant, so the outputs for
the same rows in two orders should agree up to the rounding of a few operations. If the two outputs do not agree, the
computed query depends on the order of the rows. Two neighbours may have their rows in different orders. Between such
neighbours, the computed query can change by more than the sensitivity of the exact query. Noise that is calibrated to
the sensitivity of the exact query is too small for such neighbours. The report prints the difference between the two
outputs as a share s of the long row's effect on the output. The share s grows with the number of rows. If the claim is
for data sets without an order, the privacy loss can be 1 + s times the claimed loss. The privacy loss does not exceed
the claim if the noise scale is at least 1 + s times as large as necessary. A claim for data sets in a fixed order is
not broken by a difference between two orders. The audit does not know whether the claim is for rows in a fixed order,
so even a large difference is only noted. The report prints the share even if it is tiny, as for a plain sum in float64.
"""

import numpy as np

from covassay.reference.domain import Matrix
from covassay.verification.audit.engine.contract import UNSEEDED, Form, one_draw
from covassay.verification.audit.engine.finding import Finding, Status
from covassay.verification.audit.engine.sampling import Setting
from covassay.verification.audit.question import Question, Subject
from covassay.verification.audit.questions.contract.same_seed_same_output import IgnoresRng, where_seeds_decide_nothing
from covassay.verification.audit.targets.target import Failure

NAME = "summation order"
ROWS = 1024  # the number of rows is a power of two, so that dividing by it causes no rounding
ABOVE_HALF = 1.01  # the square of a short row, divided by half a unit in the last place of 1
UNITS = 2.0**-52, 2.0**-23  # this is the unit in the last place of 1, in float64 and in float32
# a bound on the relative rounding error of some tens of operations; sums of many rows in float32 have larger errors
ROUNDING = 2.0**-46
# the check notes a change of the output if the change is at least this share of the effect that the long row has on the
# output; plain sums in float32 reach this share, and plain sums in float64 do not
WORTH_A_NOTE = 1e-9


def _rows(d: int, unit: float, first: bool, long_row: bool = True) -> Matrix:
    """Return short rows along the first axis, with a long row or a zero row at the beginning or at the end."""
    rows = np.zeros((ROWS, d))
    rows[:, 0] = (ABOVE_HALF * unit / 2) ** 0.5
    rows[0 if first else -1, 0] = float(long_row)
    return rows


def summation_order(setting: Setting, form: Form) -> list[Finding]:
    """Check the order of summation if the target draws from `rng`, for rows in the unit ball in any order."""
    if form.ordered or setting.box is not None or not setting.target.seeded:
        return []
    d = max(2, form.smallest_dimension)
    found = []
    for unit in UNITS:
        data = _rows(d, unit, True), _rows(d, unit, False), _rows(d, unit, False, long_row=False)
        outputs = [one_draw(setting, x, NAME) for x in data]
        if any(isinstance(output, Failure) for output in outputs):
            failures = ", ".join(dict.fromkeys(str(output) for output in outputs if isinstance(output, Failure)))
            return [Finding("contract", NAME, Status.SKIPPED, failures)]
        before, after, without = (np.asarray(output) for output in outputs)
        moved, change = float(np.abs(before - after).max()), float(np.abs(after - without).max())
        if moved > ROUNDING * max(float(np.abs(before).max()), change) and change > 0:
            found.append(moved / change)
    if not found:
        text = "one long row before or after many short ones gives the same output up to rounding"
        return [Finding("contract", NAME, Status.NOT_REFUTED, text)]
    text = (
        f"if one long row is put after {ROWS - 1} short rows instead of before them, the output under one seed changes "
        f"by {max(found):.1g} of the long row's effect"
    )
    if max(found) < WORTH_A_NOTE:
        return [Finding("contract", NAME, Status.NOT_REFUTED, text)]
    text += (
        ". If the claim is for data sets without an order, the privacy loss can exceed the claim by this share of the "
        "claim, and by more if there are more rows"
    )
    return [Finding("contract", NAME, Status.NOTED, text)]


def _applies(subject: Subject) -> str:
    if subject.known.form.ordered or subject.setting.box is not None:
        return "only for rows in the unit ball whose order has no meaning"
    return "" if subject.setting.target.seeded else UNSEEDED


QUESTION = Question(
    name=NAME,
    kind="contract",
    asks="How far does the order in which rows are summed move the output?",
    blind_to="orders other than one long row first or last; even an effect that it finds is only noted",
    ask=lambda subject, look: summation_order(subject.setting, subject.known.form),
    applies=_applies,
    spared=where_seeds_decide_nothing,
    reads=(IgnoresRng,),
    cost=9,
)
