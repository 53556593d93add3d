"""Check that the target gives an output on every data set in the domain.

The check of the running time notes a draw that runs out of time, which is no failure in this check.
"""

import math
from bisect import bisect_left
from collections.abc import Callable, Iterator
from fractions import Fraction

import numpy as np

from covassay.reference.domain import Box, Matrix
from covassay.reference.privacy import guarantee_of
from covassay.verification.audit.engine.adjacency import REPLACE_ONE
from covassay.verification.audit.engine.contract import (
    ROWS,
    SAME_SIZE,
    Form,
    Outcome,
    decided,
    example_rows,
    in_box,
    is_refusal,
    kept,
    of_size,
    one_draw,
    plain_rows,
    refuses_size,
)
from covassay.verification.audit.engine.finding import Finding, Status
from covassay.verification.audit.engine.pair_draws import failing_mean
from covassay.verification.audit.engine.sampling import Draws, Setting, draw
from covassay.verification.audit.engine.violation import refutes
from covassay.verification.audit.question import Question
from covassay.verification.audit.targets.target import Failure
from covassay.verification.statistics.ratio import EventCounts, poisson_size
from covassay.verification.statistics.streams import stream

# the target may fail in all draws on only one of two neighbours; on each data set, the search for such neighbours makes
# this many draws
FEW = 3
MOST = 2000  # the largest number of draws on each of two neighbours


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
    """Return data sets in the domain that are special in some way, such as rows of zeros."""
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


def edge_cases(setting: Setting, form: Form, alpha: float, adjacency: str = REPLACE_ONE) -> Finding:
    """Check that the target gives an output on every data set in the domain. The check of the running time notes a draw
    that runs out of time, which is no failure in this check.

    The numbers of rows and of columns are public. A target may therefore reject a size, but must reject every data set
    of this size. If a target rejects a size, the check only notes it.

    A failure counts as dependent on the data if all of k draws on one data set fail and none of k draws on ordinary
    data fails. If every draw fails with the same probability p on all data sets, these 2k results have the probability
    (p(1 − p))^k ≤ 4^(−k). The number k is so large that the sum of these bounds over all data sets is at most `alpha`.
    If a target claims privacy but no law of its output, its failures may depend on the data as far as the claimed
    privacy allows. A target without a claimed law is refuted only if its numbers of failures on two neighbours violate
    the claim (`_told_apart`).
    """
    failures, refused, unproven = [], [], []
    valid = _valid(setting.box, form.smallest_dimension)
    draws = math.ceil(math.log(len(valid) / alpha, 4))
    # says whether ordinary data gave an output in every draw, and is empty until the draws are made
    steady: list[bool] = []
    for name, x in valid.items():
        n, d = x.shape
        outcome = one_draw(setting, x, "edge", name)
        if not isinstance(outcome, Failure) or outcome.kind == "time-out":
            continue
        if is_refusal(outcome) and refuses_size(setting, n, d):
            refused.append(f"{name}: {outcome} on each of {SAME_SIZE} other data sets with n = {n}, d = {d} too")
            continue
        steady = steady or [not any(_failures(setting, plain_rows(setting, ROWS), "plain", draws))]
        depends = steady[0] and all(_failures(setting, x, name, draws))
        if depends and (form.names_a_law or _told_apart(setting, x, name, adjacency, alpha / len(valid))):
            failures.append(f"{name}: {outcome}")
        else:
            unproven.append(f"{name}: {outcome}")
    if failures:
        return decided("edge cases", broken="data-dependent failure on valid data: " + "; ".join(failures))
    if unproven:
        text = f"a draw gave no output on valid data: {'; '.join(unproven)}; that this breaks the claim is not proven"
        return Finding("contract", "edge cases", Status.REFUTED if form.names_a_law else Status.NOTED, text)
    if refused:
        text = f"the target rejects the size, which is public: {'; '.join(refused)}"
        return Finding("contract", "edge cases", Status.NOTED, text)
    return kept("edge cases", f"an output on every valid data set: {', '.join(valid)}")


def _fails(outcome: Outcome) -> bool:
    return isinstance(outcome, Failure) and outcome.kind != "time-out"


def _failures(setting: Setting, x: Matrix, name: str, draws: int) -> Iterator[bool]:
    """Return, for each of several draws on a data set, whether the draw fails."""
    return (_fails(one_draw(setting, x.copy(), "edge", name, i)) for i in range(draws))


# FAILURES OF PRIVATE TARGETS


def _told_apart(setting: Setting, x: Matrix, name: str, adjacency: str, level: float) -> bool:
    """Return whether the failures on two neighbours prove a violation of the claim. The two neighbours lie on a path
    from x, on which the target fails, to a data set on which it succeeds.

    A few draws on data sets of the path find two neighbours: all draws on the first data set fail, and at least one
    draw on the second succeeds. New draws are then made on both data sets. The numbers of these draws are Poisson
    variables. A test of the numbers of failures decides whether they violate the claim.
    """
    answered = (y for i, y in enumerate(of_size(setting, *x.shape)) if not _fails(one_draw(setting, y, "size", i)))
    path = _path(x, next(answered, x), adjacency)
    end = bisect_left(
        range(len(path)), True, lo=1, key=lambda i: not all(_failures(setting, path[i], f"{name}/{i}", FEW))
    )
    if end >= len(path):
        return False
    guarantee, label = guarantee_of(setting.claim), f"edge/{name}"
    mean = failing_mean(guarantee, level, MOST)
    rng = np.random.default_rng(stream(setting.seed, label, "sizes"))
    first, second = (draw(setting, path[i], poisson_size(mean, rng), f"{label}/{i}") for i in (end - 1, end))
    if first.skipped or second.skipped:
        return False  # if the time limit ends draws early, their number has no Poisson law
    counts = EventCounts(_failed(first), _failed(second), first.size, second.size, mean)
    return refutes(guarantee, counts, level)


def _failed(draws: Draws) -> int:
    return sum(count for what, count in draws.failures.items() if not what.startswith("time-out"))


def _path(x: Matrix, y: Matrix, adjacency: str) -> list[Matrix]:
    """Return a sequence of data sets from x to y, in which each data set is a neighbour of the one before.

    The sequence has only x if no path leads to y.
    """
    path = [x]
    for i in range(len(x)):
        after = np.vstack([y[: i + 1], x[i + 1 :]])
        if adjacency != REPLACE_ONE:
            if len(x) == 1:
                return [x]
            path.append(np.delete(after, i, axis=0))
        path.append(after)
    return path


QUESTION = Question(
    name="edge cases",
    kind="contract",
    asks="Does every data set in the domain get an output?",
    blind_to="data sets that are special in other ways",
    ask=lambda subject, look: [edge_cases(subject.setting, subject.known.form, look.level, subject.adjacency)],
    share=Fraction(1, 200),
    valid_if=(
        "A search finds two neighbours. On both, the number of new draws is a Poisson variable, and the numbers of "
        "failures are tested. The level of the question is divided by the number of data sets. If the claim names a "
        "law, any failure breaks it, and the draws only decide how the report describes the failure."
    ),
    few_draws=True,
)
