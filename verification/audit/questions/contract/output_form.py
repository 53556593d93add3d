"""Check that, on ordinary data in several dimensions, an output has finite real numbers and the right shape."""

import math
from fractions import Fraction

from covassay.verification.audit.engine.contract import (
    DIMENSIONS,
    ROWS,
    SAME_SIZE,
    Form,
    dimensions_of,
    kept,
    one_draw,
    plain_rows,
    refuses_size,
)
from covassay.verification.audit.engine.finding import Finding, Status
from covassay.verification.audit.engine.sampling import Setting
from covassay.verification.audit.question import Question
from covassay.verification.audit.targets.target import Failure

# Python raises these exceptions if the code has a mistake. A target may raise any other exception on purpose, to reject
# a number of columns.
CRASHES = {
    "AttributeError", "IndexError", "KeyError", "NameError", "RecursionError", "TypeError", "UnboundLocalError",
    "ZeroDivisionError",
}  # fmt: skip


def output_form(setting: Setting, form: Form, alpha: float) -> Finding:
    """Check that, on ordinary data in several dimensions, an output has finite real numbers and the right shape.

    If a draw gives no valid output, a number k of further draws is made, because a target may fail at random. A target
    that claims privacy but no law of its output is allowed to fail at random. Such a target is refuted if all of k
    draws in one dimension fail and none of k draws in another dimension fails. If every draw fails with the same
    probability p, the probability of these 2k results is (p(1 − p))^k ≤ 4^(−k). The number k is so large that the sum
    of these bounds over all pairs of dimensions is at most `alpha`.

    The number of columns is public, so a target may reject it, by an exception that is no crash, on every data set of
    this size. If the target rejects a number of columns in this way, the report only notes it.
    """
    dimensions = dimensions_of(setting, DIMENSIONS)
    draws = math.ceil(math.log(len(dimensions) ** 2 / alpha, 4))
    random, never = list[str](), dict[int, Failure]()
    for d in dimensions:
        outcome = one_draw(setting, plain_rows(setting, ROWS, d), "form", d)
        if not isinstance(outcome, Failure):
            continue
        if outcome.kind == "time-out":
            return Finding("contract", "output form", Status.INCONCLUSIVE, f"on plain ({ROWS}, {d}) data: {outcome}")
        failed = _failed(setting, d, draws)
        if failed == draws:
            never[d] = outcome
        else:
            random.append(f"{failed + 1} of {draws + 1} draws at d = {d} gave no output: {outcome}")
    steady = bool(never) and any(_failed(setting, d, draws) == 0 for d in dimensions if d not in never)
    refused = {d: outcome for d, outcome in never.items() if steady and _rejects_columns(setting, d, outcome)}
    if len(never) > len(refused):
        text = "; ".join(f"on plain ({ROWS}, {d}) data: {outcome}" for d, outcome in never.items() if d not in refused)
        told = form.names_a_law or steady
        return Finding("contract", "output form", Status.REFUTED if told else Status.INCONCLUSIVE, text)
    if random:
        worst = Status.REFUTED if form.names_a_law else Status.NOTED
        return Finding("contract", "output form", worst, f"on plain data {'; '.join(random)}")
    if refused:
        text = "; ".join(f"{outcome} on each of {SAME_SIZE} data sets, d = {d}" for d, outcome in refused.items())
        return Finding("contract", "output form", Status.NOTED, f"the target rejects the size, which is public: {text}")
    return kept("output form", f"finite real numbers of the right shape at d = {', '.join(map(str, dimensions))}")


def _rejects_columns(setting: Setting, d: int, outcome: Failure) -> bool:
    return outcome.kind == "exception" and outcome.message not in CRASHES and refuses_size(setting, ROWS, d)


def _failed(setting: Setting, d: int, draws: int) -> int:
    """Return how many draws on ordinary data in this dimension give no valid output."""
    x = plain_rows(setting, ROWS, d)
    return sum(isinstance(one_draw(setting, x.copy(), "form", d, i), Failure) for i in range(draws))


QUESTION = Question(
    name="output form",
    kind="contract",
    asks="Does every output have the right shape, and only finite numbers?",
    blind_to="outputs on other data, and in rare draws",
    ask=lambda subject, look: [output_form(subject.setting, subject.known.form, look.level)],
    share=Fraction(1, 400),
    valid_if=(
        "Suppose that all draws fail with the same probability. Then the probability that all of k draws in one "
        "dimension fail, while none of k draws in another dimension fails, is at most 4^(-k)."
    ),
    few_draws=True,
)
