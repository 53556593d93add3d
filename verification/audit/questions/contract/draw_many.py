"""Check that `draw_many` has the same law as `draw`, for a target that has both."""

from dataclasses import replace
from fractions import Fraction

from covassay.verification.audit.engine.contract import ROWS, example_rows
from covassay.verification.audit.engine.finding import Finding, Status
from covassay.verification.audit.engine.sampling import Setting, draw
from covassay.verification.audit.question import Question
from covassay.verification.statistics.last_digits import without_last_digits
from covassay.verification.statistics.tests import TestResult, two_sample

NAME = "draw_many"
NO_DRAW_MANY = "only for a target that has the function draw_many, and whose rows do not lie in a box"
DIMENSIONS = 1, 3
SIZE = 400  # each of the two functions makes this many draws
FEWEST = 50  # the two functions are compared only if each gives at least this many outputs


def draw_many_is_draw(setting: Setting, alpha: float, smallest_dimension: int = 1) -> list[Finding]:
    """Compare the law of every entry of an output between `draw` and `draw_many`, if the target has `draw_many`."""
    target = setting.target
    if target.draw_many is None or setting.box is not None:  # adapters for rows in a box make their draws one by one
        return []
    tests: dict[tuple[int, int], TestResult] = {}
    for d in sorted({max(d, smallest_dimension) for d in DIMENSIONS}):
        x = example_rows(ROWS, d)
        sources = {"draw": replace(target, draw_many=None), NAME: target}
        drawn = [draw(replace(setting, source=t, jobs=1), x, SIZE, f"bulk/{d}/{name}") for name, t in sources.items()]
        if drawn[1].again:
            return [Finding("contract", NAME, Status.SKIPPED, "draw_many failed, so the audit called draw instead")]
        size = min(len(draws.outputs) for draws in drawn)
        if size < FEWEST:
            continue
        one, many = without_last_digits(*(draws.outputs[:size].reshape(size, -1) for draws in drawn))
        tests |= {(d, i): two_sample(one[:, i], many[:, i], "one law") for i in range(one.shape[1])}
    if not tests:
        return [Finding("contract", NAME, Status.SKIPPED, "too few outputs to compare draw_many with draw")]
    level = alpha / len(tests)
    (d, i), worst = min(tests.items(), key=lambda item: item[1].p_value)
    if worst.p_value < level:
        detail = f"its outputs do not have the law of draw: entry {i + 1} at d = {d}, p = {worst.p_value:.2g}"
        return [Finding("contract", NAME, Status.REFUTED, detail)]
    seen = max(test.detectable(level) for test in tests.values())
    detail = (
        f"compared with {SIZE} outputs of draw; a distance of {seen:.2g} between the CDFs of an entry would have been "
        "detected"
    )
    return [Finding("contract", NAME, Status.NOT_REFUTED, detail)]


QUESTION = Question(
    name=NAME,
    kind="contract",
    asks="Has draw_many the law of draw?",
    blind_to="dependence between entries of an output or between draws, and differences on data that are not tried",
    ask=lambda subject, look: draw_many_is_draw(subject.setting, look.level, subject.known.form.smallest_dimension),
    applies=lambda subject: "" if subject.setting.target.draw_many and subject.setting.box is None else NO_DRAW_MANY,
    draws=2400,
    share=Fraction(1, 400),
    valid_if="Exact two-sample tests of the entries on independent draws; the levels add up.",
)
