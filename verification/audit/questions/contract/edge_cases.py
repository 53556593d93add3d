"""Every data set in the domain gets an output. A time-out is noted under "running time" and is no failure here."""

import math
from collections.abc import Callable, Iterator
from fractions import Fraction

import numpy as np

from covassay.reference.domain import Box, Matrix
from covassay.verification.audit.engine.contract import (
    ROWS,
    Form,
    Outcome,
    decided,
    example_rows,
    in_box,
    kept,
    one_draw,
    plain_rows,
)
from covassay.verification.audit.engine.finding import Finding, Status
from covassay.verification.audit.engine.sampling import Setting
from covassay.verification.audit.question import Question
from covassay.verification.audit.targets.target import NOT_FINITE, Failure
from covassay.verification.statistics.streams import stream

SAME_SIZE = 24  # data sets of one size that a target must all refuse before its refusal counts as one of the size


VALID: dict[str, Callable[[], Matrix]] = {
    "one record": lambda: example_rows(1, 3),
    "one feature": lambda: example_rows(5, 1),
    "all rows zero": lambda: np.zeros((4, 3)),
    "equal eigenvalues": lambda: np.eye(3),
    "repeated rows": lambda: np.tile(example_rows(1, 3), (6, 1)),
    "rows of norm 1": lambda: np.repeat(np.eye(3), [4, 2, 1], axis=0),
    "n smaller than d": lambda: example_rows(2, 5),
}


def _valid(box: Box | None, smallest_dimension: int) -> dict[str, Matrix]:
    """Data sets in the domain that are special in some way."""
    if box is None:
        made = {name: make() for name, make in VALID.items()}
        return {name: x for name, x in made.items() if x.shape[1] >= smallest_dimension}
    d = box.dimension
    corners = np.where(np.arange(2 * d)[:, None] // 2 % d == np.arange(d), box.high, box.low)
    return {
        "one record": in_box(box, example_rows(1, d)),
        "two records": in_box(box, example_rows(2, d)),
        "all rows at the lower bounds": np.tile(box.low, (5, 1)),
        "rows on corners": np.vstack([corners, box.low, box.high]),
        "repeated rows": np.tile(in_box(box, example_rows(1, d)), (6, 1)),
        "one row apart from the others": np.vstack([np.tile(box.low, (5, 1)), box.high]),
    }


def edge_cases(setting: Setting, form: Form, alpha: float) -> Finding:
    """Every data set in the domain gets an output. A time-out is noted under "running time" and is no failure here.

    The number of rows and of columns is public. So a target may refuse a size, but then it must refuse every data set
    of that size alike. That is noted only.

    A claim of privacy alone allows failures that do not depend on the data. There a failure refutes only if it comes in
    every one of k draws on that data set and in none of k draws on plain data. If a draw fails with probability p
    whatever the data are, this has probability (p(1 − p))^k ≤ 4^(−k), and k is so large that this is `alpha` at most
    for all data sets together.
    """
    failures, refused, unproven = [], [], []
    valid = _valid(setting.box, form.smallest_dimension)
    draws = math.ceil(math.log(len(valid) / alpha, 4))
    steady: list[bool] = []  # whether plain data got an output in every draw, once that is asked
    for name, x in valid.items():
        n, d = x.shape
        outcome = one_draw(setting, x, "edge", name)
        if not isinstance(outcome, Failure) or outcome.kind == "time-out":
            continue
        if _is_refusal(outcome) and _refuses_size(setting, n, d):
            refused.append(f"{name}: {outcome} on each of {SAME_SIZE} other data sets with n = {n}, d = {d} too")
            continue
        steady = steady or [not any(_failures(setting, plain_rows(setting, ROWS), "plain", draws))]
        if steady[0] and all(_failures(setting, x, name, draws)):
            failures.append(f"{name}: {outcome}")
        else:
            unproven.append(f"{name}: {outcome}")
    if failures:
        return decided("edge cases", "data-dependent failure on valid data: " + "; ".join(failures), "")
    if unproven:
        text = f"a draw gave no output on valid data: {'; '.join(unproven)}; that it depends on the data is not proven"
        return Finding("contract", "edge cases", Status.REFUTED if form.names_a_law else Status.NOTED, text)
    if refused:
        text = f"refused because of its public size: {'; '.join(refused)}"
        return Finding("contract", "edge cases", Status.NOTED, text)
    return kept("edge cases", f"an output on every valid data set: {', '.join(valid)}")


def _failures(setting: Setting, x: Matrix, name: str, draws: int) -> Iterator[bool]:
    """Whether each of so many draws on a data set fails."""
    return (isinstance(one_draw(setting, x, "edge", name, i), Failure) for i in range(draws))


def _is_refusal(outcome: Outcome) -> bool:
    """Whether the target raised, or gave NaN, as numpy does for the covariance of one record."""
    return isinstance(outcome, Failure) and (outcome.kind == "exception" or outcome.message == NOT_FINITE)


def _refuses_size(setting: Setting, n: int, d: int) -> bool:
    """Whether the target refuses many data sets of this size: plain, zero, tiny, on an axis, random."""
    rng = np.random.default_rng(stream(setting.seed, "contract", "size", n, d))
    unit = np.eye(d)[np.zeros(n, dtype=int)]
    cases = [example_rows(n, d), -example_rows(n, d), np.zeros((n, d)), unit, -unit, np.eye(d)[np.arange(n) % d],
             1e-9 * unit, np.full((n, d), d**-0.5)]  # fmt: skip
    while len(cases) < SAME_SIZE:
        rows = rng.standard_normal((n, d))
        cases.append(rng.random((n, 1)) * rows / np.linalg.norm(rows, axis=1, keepdims=True))
    if setting.box is not None:
        cases = [in_box(setting.box, x) for x in cases]
    outcomes = (one_draw(setting, x, "size", i) for i, x in enumerate(cases))
    return all(_is_refusal(outcome) for outcome in outcomes)


QUESTION = Question(
    name="edge cases",
    kind="contract",
    asks="Does every data set in the domain get an output?",
    blind_to="data sets that are special in other ways",
    ask=lambda subject, look: [edge_cases(subject.setting, subject.known.form, look.level)],
    share=Fraction(1, 200),
    valid_if="k failures in k draws, and none in k on plain data, have probability at most 4^(-k) under one law.",
    few_draws=True,
)
