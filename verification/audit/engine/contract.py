"""The contract: what any caller may rely on, whatever the law of the noise.

Each check states a fact about a handful of draws. Only where reversed rows change a draw is there a statistical test. A
broken promise refutes the target. What a target does with input outside its domain is only noted, because
implementations differ and the claim is silent there.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from covassay.reference.domain import Box, Matrix
from covassay.reference.mechanisms.output import SECOND_MOMENT, Output
from covassay.verification.audit.engine.checks import CheckResult, Status
from covassay.verification.audit.engine.difference import difference_in_law
from covassay.verification.audit.engine.sampling import Setting
from covassay.verification.audit.engine.symmetry import symmetry
from covassay.verification.audit.targets.process_state import put_back
from covassay.verification.audit.targets.process_target import NoReply
from covassay.verification.audit.targets.target import (
    NOT_FINITE,
    CannotRun,
    Failure,
    InsistentTimeLimitError,
    TimeLimitError,
    call,
    observed_call,
    text_of,
    well_formed,
    within,
)
from covassay.verification.statistics.streams import stream

ROWS = 20  # of the plain data sets, enough for a second moment of full rank
DIMENSIONS = (2, 3, 5)  # of the plain data sets on which a target must answer
ORDERS, ORDER_DRAWS = 2, 4000  # data sets whose rows are reversed, and draws on each, if one draw has changed
SUMMATION = 1e-8  # relative difference that summing the rows in another order can make
SINGLE = 1e-5  # the same in single precision, where it is noted
USUAL_BUDGET = 1e-10  # of false alarms, where none is given; only reversed rows are tested by chance
FRESH_ROWS = 2000  # so much data that no mechanism gives one output with a probability near 1
FRESH_DRAWS = 6
LADDER = (2, 5, 10, 20)  # dimensions in which a draw is timed
SAME_SIZE = 24  # data sets of one size that a target must all refuse before its refusal counts as one of the size
FEW_SECONDS, MANY_TIMES = 1.0, 100.0  # the limit of a timed draw, if the one before took less than that share of it
STRONG_ROWS = (500, 300)  # rows along the first and the second axis of the timed data
UNSEEDED = "the target draws from the operating system"
IGNORES_RNG = "the target ignores rng, so that its output changes anyway"

Outcome = Matrix | Failure


@dataclass(frozen=True)
class Form:
    """The form of what a target releases, in the words of `Mechanism`. The defaults promise least.

    `symmetric` says that the matrix in an output is symmetric with the options at hand, if the kind of output leaves
    this open. `names_a_law` is False if the claim is one of privacy alone.
    """

    output: Output = SECOND_MOMENT
    ordered: bool = False
    repeats: bool = False
    smallest_dimension: int = 1
    symmetric: bool = False
    names_a_law: bool = True


def example_rows(n: int, d: int) -> Matrix:
    """Rows in the unit ball without any symmetry, the same on every machine; their eigenvalues are distinct."""
    i, j = np.arange(1, n + 1)[:, None], np.arange(1, d + 1)
    rows = np.sin(i * j + j**2) / j
    scaled: Matrix = rows / max(1.0, float(np.linalg.norm(rows, axis=1).max()))
    return scaled


def in_box(box: Box, rows: Matrix) -> Matrix:
    """Rows with entries in [−1, 1], moved into the box column by column."""
    return box.place((rows + 1) / 2)


def plain_rows(setting: Setting, n: int, d: int = 3) -> Matrix:
    """Rows without any symmetry in the domain of the target; a box has its own number of columns, whatever d is."""
    return example_rows(n, d) if setting.box is None else in_box(setting.box, example_rows(n, setting.box.dimension))


def _dimensions(setting: Setting, dimensions: tuple[int, ...]) -> tuple[int, ...]:
    return dimensions if setting.box is None else (setting.box.dimension,)


def one_draw(setting: Setting, x: Matrix, *seed_labels: str | int) -> Outcome:
    """One draw on `x` itself with a fresh generator for these labels."""
    rng, shape = np.random.default_rng(stream(setting.seed, "contract", *seed_labels)), setting.shape(x)
    output, _ = call(setting.target, x, setting.budget, rng, setting.seconds)
    return well_formed(output, shape)


def _decided(name: str, broken: str, kept: str, worst: Status = Status.REFUTED) -> CheckResult:
    """A check that gives the `worst` status if `broken` says what went wrong, and is kept if `broken` is empty."""
    return CheckResult("contract", name, worst, broken) if broken else _kept(name, kept)


def _kept(name: str, detail: str) -> CheckResult:
    return CheckResult("contract", name, Status.NOT_REFUTED, detail)


def _skipped(name: str, *outcomes: Outcome | str) -> CheckResult:
    return CheckResult("contract", name, Status.SKIPPED, ", ".join(str(outcome) for outcome in outcomes))


def _close(first: Matrix, second: Matrix, tolerance: float) -> bool:
    return bool(np.abs(first - second).max() <= tolerance * max(1.0, float(np.abs(first).max())))


def require_answer(setting: Setting) -> None:
    """Raise `CannotRun` if the target raises on plain data in every dimension: then it is called in the wrong way.

    The data are the audit's own, so the text of the exception may be shown.
    """
    error: BaseException | None = None
    for d in _dimensions(setting, DIMENSIONS):
        rng = np.random.default_rng(stream(setting.seed, "contract", "answer", d))
        x = plain_rows(setting, ROWS, d)
        try:
            with put_back():
                within(setting.seconds, partial(setting.target.draw, x, rng=rng, **setting.budget))
        except (TimeLimitError, InsistentTimeLimitError):
            return
        except KeyboardInterrupt:
            raise
        except BaseException as raised:
            error = raised
        else:
            return
    if isinstance(error, NoReply):
        raise CannotRun(f"{setting.target.name}: {error}") from error
    keywords = ", ".join((*setting.budget, "rng"))
    call = getattr(setting.target.draw, "call", None) or f"f(x, *, {keywords})"
    raise CannotRun(
        f"{setting.target.name}: called as {call} it raised {type(error).__name__}: {text_of(error)}"
    ) from error


def output_form(setting: Setting) -> CheckResult:
    """On plain data in several dimensions an output consists of finite real numbers and has the right shape."""
    dimensions = _dimensions(setting, DIMENSIONS)
    for d in dimensions:
        outcome = one_draw(setting, plain_rows(setting, ROWS, d), "form", d)
        if isinstance(outcome, Failure):
            status = Status.INCONCLUSIVE if outcome.kind == "time-out" else Status.REFUTED
            return CheckResult("contract", "output form", status, f"on plain ({ROWS}, {d}) data: {outcome}")
    return _kept("output form", f"finite real numbers of the right shape at d = {', '.join(map(str, dimensions))}")


def input_unchanged(setting: Setting) -> CheckResult:
    """The target does not write to the caller's array."""
    x = plain_rows(setting, ROWS)
    before = x.copy()
    outcome = one_draw(setting, x, "input")
    changed = not np.array_equal(x, before)
    if isinstance(outcome, Failure) and not changed:
        return _skipped("input unchanged", outcome)
    broken = "the target overwrote the caller's data set" if changed else ""
    return _decided("input unchanged", broken, "the caller's data set is as it was")


def same_seed(setting: Setting) -> CheckResult:
    """Two equal generators give equal outputs."""
    name = "same seed, same output"
    if not setting.target.seeded:
        return _skipped(name, UNSEEDED)
    x = plain_rows(setting, ROWS)
    first, second = one_draw(setting, x.copy(), "seed", 1), one_draw(setting, x.copy(), "seed", 1)
    if isinstance(first, Failure) or isinstance(second, Failure):
        return _skipped(name, first, second)
    broken = "two equal generators gave different outputs: the randomness does not come from rng"
    return _decided(name, "" if np.array_equal(first, second) else broken, "equal generators give equal outputs")


def new_seed(setting: Setting) -> CheckResult:
    """Different generators give different outputs.

    Some mechanisms give one output with positive probability, as a projection gives zero. So the promise is broken only
    if several draws agree, on so many rows that such an output is out of reach.
    """
    name = "new seed, new output"
    x = plain_rows(setting, FRESH_ROWS)
    outcomes = [one_draw(setting, x.copy(), "fresh", i) for i in range(FRESH_DRAWS)]
    good = [o for o in outcomes if not isinstance(o, Failure)]
    if len(good) < 2:
        return _skipped(name, outcomes[0])
    repeated = all(np.array_equal(good[0], other) for other in good[1:])
    broken = "different generators gave the same output: the target fixes its seed or adds no noise"
    return _decided(name, broken if repeated else "", "different generators give different outputs")


def row_order(setting: Setting, form: Form, alpha: float) -> CheckResult:
    """The order of the records does not change the law of the output.

    If it does not change the output under one seed either, but for the sign of a vector, no draws are needed. If it
    does, draws decide: an implementation may, for example, turn its noise into a basis that depends on the order.
    """
    if not setting.target.seeded:
        return _skipped("row order", UNSEEDED)
    x = plain_rows(setting, ROWS)
    first, second = one_draw(setting, x.copy(), "order"), one_draw(setting, x[::-1].copy(), "order")
    if isinstance(first, Failure) or isinstance(second, Failure):
        return _skipped("row order", first, second)

    def same(tolerance: float) -> bool:
        return _close(first, second, tolerance) or (first.ndim == 1 and _close(first, -second, tolerance))

    broken = "" if same(SUMMATION) else "reversing the rows changed the output"
    if broken and same(SINGLE):
        return _decided("row order", f"{broken} by as little as rounding in single precision does", "", Status.NOTED)
    if broken and not form.names_a_law:
        return _decided("row order", f"{broken}, which a claim of privacy alone does not forbid", "", Status.NOTED)
    if broken:
        proven = _order_matters(setting, alpha)
        status = Status.REFUTED if proven else Status.NOTED
        said = proven or "no difference in law was proven: noise may be turned into a basis that depends on the order"
        return _decided("row order", f"{broken} under one seed; {said}", "", status)
    return _decided("row order", "", "reversing the rows changes nothing")


def _order_matters(setting: Setting, alpha: float) -> str:
    """How the law differs if the rows are reversed, on plain rows and on rows of which the first stands out."""
    plain = plain_rows(setting, ROWS)
    first = plain_rows(setting, 1)
    for kind, x in {"plain rows": plain, "one row before zeros": np.vstack([first, np.zeros_like(plain[1:])])}.items():
        label = f"contract/row order/{kind}"
        found = difference_in_law(setting, x, x[::-1].copy(), label, alpha / ORDERS, ORDER_DRAWS)
        if found.what:
            return f"on {kind} {found.what}"
    return ""


def process_state(setting: Setting) -> CheckResult:
    """A draw leaves the state of the process as it was. A change is put back after every draw, so it is noted only."""
    name = "process state"
    rng = np.random.default_rng(stream(setting.seed, "contract", "state"))
    _, _, changed = observed_call(setting.target, plain_rows(setting, ROWS), setting.budget, rng, setting.seconds)
    broken = f"a draw changed {', '.join(sorted(changed))}; the audit puts it back after every draw" if changed else ""
    return _decided(name, broken, "a draw leaves the state of the process as it was", worst=Status.NOTED)


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


def edge_cases(setting: Setting, smallest_dimension: int = 1) -> CheckResult:
    """Every data set in the domain gets an output. A time-out is noted under "running time" and is no failure here.

    The number of rows and of columns is public. So a target may refuse a size, but then it must refuse every data set
    of that size alike. That is noted only.
    """
    failures, refused = [], []
    valid = _valid(setting.box, smallest_dimension)
    for name, x in valid.items():
        n, d = x.shape
        outcome = one_draw(setting, x, "edge", name)
        if not isinstance(outcome, Failure) or outcome.kind == "time-out":
            continue
        if _is_refusal(outcome) and _refuses_size(setting, n, d):
            refused.append(f"{name}: {outcome} on each of {SAME_SIZE} other data sets with n = {n}, d = {d} too")
        else:
            failures.append(f"{name}: {outcome}")
    if failures:
        return _decided("edge cases", "data-dependent failure on valid data: " + "; ".join(failures), "")
    if refused:
        text = f"refused because of its public size: {'; '.join(refused)}"
        return CheckResult("contract", "edge cases", Status.NOTED, text)
    return _kept("edge cases", f"an output on every valid data set: {', '.join(valid)}")


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


def bad_input(setting: Setting) -> CheckResult:
    """Input outside the domain raises. A target that accepts it breaks no promise, so this is noted only."""
    accepted = []
    for name, (x, budget) in _bad_cases(setting).items():
        rng = np.random.default_rng(stream(setting.seed, "contract", "bad", name))
        with np.errstate(all="ignore"):
            output, _ = call(setting.target, x, budget, rng, setting.seconds)
        if not isinstance(output, Failure):
            accepted.append(name)
    broken = f"accepted without an error: {', '.join(accepted)}" if accepted else ""
    return _decided("bad input", broken, "all bad input raises", worst=Status.NOTED)


def running_time(setting: Setting) -> CheckResult:
    """The time of one draw as the dimension grows, on data with two strong directions. A slow target is noted only."""
    times: dict[str, float | str] = {}
    limit = setting.seconds
    for d in _dimensions(setting, LADDER):
        corners = np.eye(d)[:2] if setting.box is None else np.array([setting.box.low, setting.box.high])
        x = np.repeat(corners, STRONG_ROWS[: len(corners)], axis=0)
        rng = np.random.default_rng(stream(setting.seed, "contract", "time", d))
        output, elapsed = call(setting.target, x, setting.budget, rng, limit)
        limit = min(setting.seconds, FEW_SECONDS) if MANY_TIMES * elapsed < FEW_SECONDS else setting.seconds
        times[f"d={d}"] = str(output) if isinstance(output, Failure) else round(elapsed, 6)
        if isinstance(output, Failure) and output.kind == "time-out":
            break
    failed = any(isinstance(time, str) for time in times.values())
    text = ", ".join(
        f"{d}: {time}" if isinstance(time, str) else f"{d}: {1000 * time:.1f} ms" for d, time in times.items()
    )
    status = Status.NOTED if failed else Status.NOT_REFUTED
    return CheckResult(
        "contract", "running time", status, f"one draw, n = {sum(STRONG_ROWS)}: {text}", facts=dict(times)
    )


def contract(setting: Setting, form: Form, alpha: float = USUAL_BUDGET) -> list[CheckResult]:
    """The checks of the contract to which an output of this form can be held, in order."""
    checks = [output_form(setting)]
    if form.symmetric or form.output.symmetric:
        checks.append(symmetry(setting, form.smallest_dimension))
    seeds = same_seed(setting)
    checks += [input_unchanged(setting), seeds]
    if not form.repeats:
        checks.append(new_seed(setting))
    if not form.ordered:
        unseeded = seeds.status is Status.REFUTED  # then other rows and other randomness cannot be told apart
        checks.append(_skipped("row order", IGNORES_RNG) if unseeded else row_order(setting, form, alpha))
    checks += [edge_cases(setting, form.smallest_dimension), bad_input(setting), process_state(setting)]
    return [*checks, running_time(setting)]
