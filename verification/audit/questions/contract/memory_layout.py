"""Check that the output does not depend on how the data lie in memory, whether by columns, with a stride, or read-only.

If code passes the memory of an array to C, the code may read other numbers than those of the rows. The output is then
the output for another data set, which results from reading the memory row by row. In this other data set, the numbers
of one row of the caller's data may be in many rows. The privacy claim is for changes of a single row, so the target is
refuted. If memory layouts change the output in any other way, the check only notes the change. The module
`one_law_however_it_is_asked` gives the rows in more forms, with other types of numbers. It compares laws by many draws,
while the module `memory_layout` compares outputs under equal seeds, even in a quick audit.
"""

from collections.abc import Callable

import numpy as np

from covassay.reference.domain import Matrix
from covassay.verification.audit.engine.contract import ROWS, UNSEEDED, close, decided, one_draw, plain_rows, skipped
from covassay.verification.audit.engine.finding import Finding, Status
from covassay.verification.audit.engine.sampling import Setting
from covassay.verification.audit.question import Question
from covassay.verification.audit.questions.contract.same_seed_same_output import IgnoresRng, where_seeds_decide_nothing
from covassay.verification.audit.targets.process_target import is_process
from covassay.verification.audit.targets.target import Failure

NAME = "memory layout"
SEEDS = (0, 1)
ROUNDING = 1e-5  # sums in different orders may differ by this relative amount, even in single precision


def every_second_row(x: Matrix) -> Matrix:
    """Return the rows as every second row of a larger array."""
    return np.repeat(x, 2, axis=0)[::2]


def read_only(x: Matrix) -> Matrix:
    """Return a copy of the rows as an array that cannot be written."""
    copy = x.copy()
    copy.setflags(write=False)
    return copy


LAYOUTS: dict[str, Callable[[Matrix], Matrix]] = {
    "column by column": lambda x: np.asfortranarray(x),
    "as every second row of an array": every_second_row,
    "in a read-only array": read_only,
}


def as_it_lies(layout: Matrix) -> Matrix:
    """Return the data set of this shape that results from reading the memory row by row, starting at its first
    number."""
    whole = layout if layout.base is None else layout.base
    rows: Matrix = np.ravel(whole, order="K")[: layout.size].reshape(layout.shape).copy()
    return rows


def memory_layout(setting: Setting) -> Finding:
    """Check that the same rows in other memory layouts give the same output under one seed."""
    if not setting.target.seeded:
        return skipped(NAME, UNSEEDED)
    x = plain_rows(setting, ROWS)
    plain = [one_draw(setting, x.copy(), NAME, seed) for seed in SEEDS]
    if any(isinstance(output, Failure) for output in plain):
        return skipped(NAME, *plain)
    noted = []
    for said, change in LAYOUTS.items():
        found = [one_draw(setting, change(x), NAME, seed) for seed in SEEDS]
        if _equal(plain, found, ROUNDING):
            continue
        other = [one_draw(setting, as_it_lies(change(x)), NAME, seed) for seed in SEEDS]
        if _equal(found, other, 0.0):
            broken = "the target gives the output of another data set, which results from reading the memory row by row"
            return decided(NAME, broken=f"with the rows {said} {broken}")
        failed = next((str(output) for output in found if isinstance(output, Failure)), "")
        noted.append(f"with the rows {said} " + (f"there is no output: {failed}" if failed else "it is another output"))
    return decided(
        NAME, broken="; ".join(noted), whole=f"the same output with the rows {', '.join(LAYOUTS)}", worst=Status.NOTED
    )


def _equal(first: list[Matrix | Failure], second: list[Matrix | Failure], tolerance: float) -> bool:
    """Return whether all outputs are equal up to a relative error; the result is false if a draw failed."""
    pairs = zip(first, second, strict=True)
    return all(
        not isinstance(a, Failure) and not isinstance(b, Failure) and (np.array_equal(a, b) or close(a, b, tolerance))
        for a, b in pairs
    )


QUESTION = Question(
    name=NAME,
    kind="contract",
    asks="Is the output the same, however the rows lie in memory?",
    blind_to=(
        "errors with other memory layouts or other types of numbers, and errors that are hidden because a wrapper "
        "copies the rows before it calls the target"
    ),
    ask=lambda subject, look: [memory_layout(subject.setting)],
    applies=lambda subject: "a process is sent the rows as text" if is_process(subject.setting.target.name) else "",
    spared=where_seeds_decide_nothing,
    reads=(IgnoresRng,),
)
