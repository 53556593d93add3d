"""Provide code that several checks of a target's contract share. The code makes ordinary data, makes single draws,
describes the form of an output, and makes findings.

A broken promise refutes the target. The behaviour on input outside of the domain is only noted, because the claim does
not cover it and implementations differ.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np

from covassay.reference.domain import Box, Matrix
from covassay.reference.mechanisms.output import SECOND_MOMENT, Output
from covassay.verification.audit.engine.finding import Finding, Status
from covassay.verification.audit.engine.sampling import Setting
from covassay.verification.audit.targets.fitting import plain_call
from covassay.verification.audit.targets.process_state import put_back
from covassay.verification.audit.targets.process_target import NoReply, is_process
from covassay.verification.audit.targets.returned import shape_of, told
from covassay.verification.audit.targets.target import (
    NOT_FINITE,
    CannotRun,
    Failure,
    InsistentTimeLimitError,
    TimeLimitError,
    call,
    text_of,
    well_formed,
    within,
)
from covassay.verification.statistics.streams import stream

ROWS = 20  # the number of rows of the ordinary data sets, which is enough for a second moment of full rank
DIMENSIONS = (2, 3, 5)  # a target must give an output on ordinary data with each of these numbers of columns
SAME_SIZE = 24  # if a target rejects this many data sets of a size, it counts as rejecting the size
UNSEEDED = "the target draws from the operating system"

Outcome = Matrix | Failure


@dataclass(frozen=True)
class Form:
    """The form of a target's output, in the terms of the class `Mechanism`. The defaults promise least.

    `symmetric` says whether the matrix in an output is symmetric. For some kinds of output, this depends on the options
    of the target. `names_a_law` is False if the target claims only privacy, and not a distribution of its output.
    """

    output: Output = SECOND_MOMENT
    ordered: bool = False
    repeats: bool = False
    smallest_dimension: int = 1
    symmetric: bool = False
    names_a_law: bool = True


def example_rows(n: int, d: int) -> Matrix:
    """Return rows in the unit ball whose second moment has distinct eigenvalues, with the same values on every
    machine.
    """
    i, j = np.arange(1, n + 1)[:, None], np.arange(1, d + 1)
    rows = np.sin(i * j + j**2) / j
    scaled: Matrix = rows / max(1.0, float(np.linalg.norm(rows, axis=1).max()))
    return scaled


def in_box(box: Box, rows: Matrix) -> Matrix:
    """Map rows with entries in [−1, 1] linearly onto the bounds of the columns."""
    return box.place((rows + 1) / 2)


def plain_rows(setting: Setting, n: int, d: int = 3) -> Matrix:
    """Return rows without any symmetry in the domain of the target; if a box fixes the number of columns, d is
    ignored.
    """
    return example_rows(n, d) if setting.box is None else in_box(setting.box, example_rows(n, setting.box.dimension))


def dimensions_of(setting: Setting, dimensions: tuple[int, ...]) -> tuple[int, ...]:
    """Return the numbers of columns to try: the given numbers, or the number of columns of the box."""
    return dimensions if setting.box is None else (setting.box.dimension,)


def one_draw(setting: Setting, x: Matrix, *seed_labels: str | int) -> Outcome:
    """Make one draw on the array `x` itself, without a copy, from a new generator that the labels determine."""
    rng, shape = np.random.default_rng(stream(setting.seed, "contract", *seed_labels)), setting.shape(x)
    output, seconds = call(setting.target, x, setting.budget, rng, setting.seconds)
    setting.progress.timed(1, seconds)
    return well_formed(output, shape)


def is_refusal(outcome: Outcome) -> bool:
    """Return whether the target raised an exception or gave a number that is not finite. For the covariance of one
    record, for instance, numpy gives NaN.
    """
    return isinstance(outcome, Failure) and (outcome.kind == "exception" or outcome.message == NOT_FINITE)


def refuses_size(setting: Setting, n: int, d: int) -> bool:
    """Return whether the target rejects all data sets of this size that are tried."""
    return all(is_refusal(one_draw(setting, x, "size", i)) for i, x in enumerate(of_size(setting, n, d)))


def of_size(setting: Setting, n: int, d: int) -> list[Matrix]:
    """Return data sets of one size: ordinary rows, zero rows, tiny rows, rows on an axis, and random rows."""
    rng = np.random.default_rng(stream(setting.seed, "contract", "size", n, d))
    unit = np.eye(d)[np.zeros(n, dtype=int)]
    cases = [example_rows(n, d), -example_rows(n, d), np.zeros((n, d)), unit, -unit, np.eye(d)[np.arange(n) % d],
             1e-9 * unit, np.full((n, d), d**-0.5)]  # fmt: skip
    while len(cases) < SAME_SIZE:
        rows = rng.standard_normal((n, d))
        cases.append(rng.random((n, 1)) * rows / np.linalg.norm(rows, axis=1, keepdims=True))
    return cases if setting.box is None else [in_box(setting.box, x) for x in cases]


def decided(name: str, *, broken: str = "", whole: str = "", worst: Status = Status.REFUTED) -> Finding:
    """Return the finding on a property of the target. The text `broken` says how the target violates the property. If
    `broken` is not empty, the finding has this text and the status `worst`. If `broken` is empty, the finding has the
    text `whole` and the status NOT REFUTED.
    """
    return Finding("contract", name, worst, broken) if broken else kept(name, whole)


def kept(name: str, detail: str) -> Finding:
    """Return the finding that a promise was kept in every trial."""
    return Finding("contract", name, Status.NOT_REFUTED, detail)


def skipped(name: str, *outcomes: Outcome | str) -> Finding:
    """Return the finding that nothing could be compared, with the reason."""
    return Finding("contract", name, Status.SKIPPED, ", ".join(str(outcome) for outcome in outcomes))


def close(first: Matrix, second: Matrix, tolerance: float) -> bool:
    """Return whether two outputs differ by at most the share `tolerance` of the size of the first."""
    return bool(np.abs(first - second).max() <= tolerance * max(1.0, float(np.abs(first).max())))


def require_answer(setting: Setting) -> None:
    """Raise `CannotRun` if the target fails, or gives no output of the right shape, on ordinary data in every
    dimension.

    A failure on ordinary data means that the target is called in the wrong way. Ordinary data are made by the audit, so
    the text of the exception reveals no data of the user and may be shown.
    """
    target, budget = setting.target, setting.budget
    own = getattr(target.draw, "call", None)
    words = f"called as {own or 'f(x, *, ' + ', '.join((*budget, 'rng')) + ')'}"
    expression = own or ("" if is_process(target.name) else plain_call(target.draw, budget)) or ""
    ended: str = ""
    cause: BaseException | None = None
    for d in dimensions_of(setting, DIMENSIONS):
        rng = np.random.default_rng(stream(setting.seed, "contract", "answer", d))
        x = plain_rows(setting, ROWS, d)
        try:
            with put_back():
                output = within(setting.seconds, partial(target.draw, x, rng=rng, **budget))
                if shape_of(output) == setting.shape(x):
                    return
                ended, cause = f"{words} it returned {told(output, setting.shape(x), expression, x.shape[1])}", None
        except (TimeLimitError, InsistentTimeLimitError):
            return
        except KeyboardInterrupt:
            raise
        except NoReply as error:
            ended, cause = str(error), error
        except BaseException as raised:
            ended, cause = f"{words} it raised {type(raised).__name__}: {text_of(raised)}", raised
    raise CannotRun(f"{target.name}: {ended}") from cause
