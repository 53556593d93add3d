"""The contract: what any caller may rely on, whatever the law of the noise.

Each check is a fact about a handful of draws, not a statistical test. A broken promise refutes; what a
mechanism does with input outside its domain is noted, because implementations differ and the claim is silent.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from covassay.reference.domain import Matrix
from covassay.reference.mechanisms.output import SECOND_MOMENT, Output
from covassay.verification.audit.engine.checks import CheckResult, Status
from covassay.verification.audit.engine.sampling import Setting
from covassay.verification.audit.targets.process_target import NoReply
from covassay.verification.audit.targets.target import CannotRun, Failure, TimeLimitError, call, time_limit, well_formed
from covassay.verification.statistics.streams import stream

SAME = 1e-8  # relative difference that summing the rows in another order can make

Outcome = Matrix | Failure


@dataclass(frozen=True)
class Form:
    """What a target releases, as `Mechanism` says of a mechanism. The defaults promise least."""

    output: Output = SECOND_MOMENT
    ordered: bool = False
    repeats: bool = False
    smallest_dimension: int = 1


def example_rows(n: int, d: int) -> Matrix:
    """Rows in the unit ball with distinct eigenvalues and no symmetry, the same on every machine."""
    i, j = np.arange(1, n + 1)[:, None], np.arange(1, d + 1)
    rows = np.sin(i * j + j**2) / j
    scaled: Matrix = rows / max(1.0, float(np.linalg.norm(rows, axis=1).max()))
    return scaled


def _run(setting: Setting, x: Matrix, *seed_labels: str | int) -> Outcome:
    """One draw on `x` itself with a fresh generator for these labels."""
    rng = np.random.default_rng(stream(setting.seed, "contract", *seed_labels))
    output, _ = call(setting.target, x, setting.budget, rng, setting.seconds)
    return well_formed(output, setting.shape(x))


def _check(name: str, broken: str | None, kept: str, noted: bool = False) -> CheckResult:
    if broken is None:
        return CheckResult("contract", name, Status.NOT_REFUTED, kept)
    return CheckResult("contract", name, Status.NOTED if noted else Status.REFUTED, broken)


def _close(first: Matrix, second: Matrix, tolerance: float) -> bool:
    return bool(np.abs(first - second).max() <= tolerance * max(1.0, float(np.abs(first).max())))


def require_answer(setting: Setting) -> None:
    """Raise `CannotRun` if the target raises on plain data whatever the dimension: it is not called the way it expects.

    The data are the audit's own, so the text of the exception may be shown.
    """
    error: Exception | None = None
    for d in (2, 3, 5):
        rng = np.random.default_rng(stream(setting.seed, "contract", "answer", d))
        try:
            with time_limit(setting.seconds):
                setting.target.draw(example_rows(20, d), rng=rng, **setting.budget)
        except TimeLimitError:
            return
        except Exception as raised:
            error = raised
        else:
            return
    if isinstance(error, NoReply):
        raise CannotRun(f"{setting.target.name}: {error}") from error
    keywords = ", ".join((*setting.budget, "rng"))
    raise CannotRun(
        f"{setting.target.name}: called as f(x, *, {keywords}) it raised {type(error).__name__}: {error}"
    ) from error


def output_form(setting: Setting) -> CheckResult:
    """Finite real numbers of the right shape, on plain data, in several dimensions."""
    for d in (2, 3, 5):
        outcome = _run(setting, example_rows(20, d), "form", d)
        if isinstance(outcome, Failure):
            status = Status.INCONCLUSIVE if outcome.kind == "time-out" else Status.REFUTED
            return CheckResult("contract", "output form", status, f"on plain (20, {d}) data: {outcome}")
    return _check("output form", None, "finite real numbers of the right shape at d = 2, 3, 5")


def symmetry(setting: Setting) -> CheckResult:
    """A matrix that is promised to be symmetric is."""
    outcome = _run(setting, example_rows(20, 3), "symmetry")
    if isinstance(outcome, Failure):
        return CheckResult("contract", "symmetry", Status.SKIPPED, str(outcome))
    gap = float(np.abs(outcome - outcome.T).max())
    broken = f"|Y - Yᵀ| reaches {gap:.3g}" if gap > 1e-9 * max(1.0, float(np.abs(outcome).max())) else None
    return _check("symmetry", broken, "Y equals its transpose")


def input_unchanged(setting: Setting) -> CheckResult:
    """The caller's array is not written to."""
    x = example_rows(20, 3)
    before = x.copy()
    outcome = _run(setting, x, "input")
    changed = not np.array_equal(x, before)
    broken = "the caller's data set was overwritten" if changed else None
    if isinstance(outcome, Failure) and not changed:
        return CheckResult("contract", "input unchanged", Status.SKIPPED, str(outcome))
    return _check("input unchanged", broken, "the data set passed in is as it was")


def same_seed(setting: Setting) -> CheckResult:
    """Equal generators give equal outputs."""
    if not setting.target.seeded:
        return CheckResult(
            "contract", "same seed, same output", Status.SKIPPED, "the target draws from the operating system"
        )
    x = example_rows(20, 3)
    first, second = _run(setting, x.copy(), "seed", 1), _run(setting, x.copy(), "seed", 1)
    if isinstance(first, Failure) or isinstance(second, Failure):
        return CheckResult("contract", "same seed, same output", Status.SKIPPED, f"{first}, {second}")
    broken = (
        None
        if np.array_equal(first, second)
        else "two equal generators gave different outputs: randomness does not come from rng"
    )
    return _check("same seed, same output", broken, "equal generators give equal outputs")


def new_seed(setting: Setting) -> CheckResult:
    """Different generators give different outputs.

    A mechanism may give one output with positive probability (a projection to zero does), so all must agree before the
    promise is broken, on data of a size at which such an output is out of reach.
    """
    x = example_rows(2000, 3)
    outcomes = [_run(setting, x.copy(), "fresh", i) for i in range(6)]
    good = [o for o in outcomes if not isinstance(o, Failure)]
    if len(good) < 2:
        return CheckResult("contract", "new seed, new output", Status.SKIPPED, str(outcomes[0]))
    repeated = all(np.array_equal(good[0], other) for other in good[1:])
    broken = (
        "different generators gave one and the same output: a seed fixed inside, or no noise at all"
        if repeated
        else None
    )
    return _check("new seed, new output", broken, "different generators give different outputs")


def row_order(setting: Setting) -> CheckResult:
    """The order of the records does not matter."""
    if not setting.target.seeded:
        return CheckResult("contract", "row order", Status.SKIPPED, "the target draws from the operating system")
    x = example_rows(20, 3)
    first, second = _run(setting, x.copy(), "order"), _run(setting, x[::-1].copy(), "order")
    if isinstance(first, Failure) or isinstance(second, Failure):
        return CheckResult("contract", "row order", Status.SKIPPED, f"{first}, {second}")
    same = _close(first, second, SAME) or (first.ndim == 1 and _close(first, -second, SAME))
    return _check(
        "row order", None if same else "reversing the rows changed the output", "reversing the rows changes nothing"
    )


VALID: dict[str, Callable[[], Matrix]] = {
    "one record": lambda: example_rows(1, 3),
    "one feature": lambda: example_rows(5, 1),
    "all rows zero": lambda: np.zeros((4, 3)),
    "equal eigenvalues": lambda: np.eye(3),
    "repeated rows": lambda: np.tile(example_rows(1, 3), (6, 1)),
    "rows of norm 1": lambda: np.repeat(np.eye(3), [4, 2, 1], axis=0),
    "n smaller than d": lambda: example_rows(2, 5),
}


def edge_cases(setting: Setting, smallest_dimension: int = 1) -> CheckResult:
    """Every data set in the domain gets an output. (Time-outs are noted under "running time".)"""
    failures = []
    valid = {name: make for name, make in VALID.items() if make().shape[1] >= smallest_dimension}
    for name, make in valid.items():
        outcome = _run(setting, make(), "edge", name)
        if isinstance(outcome, Failure) and outcome.kind != "time-out":
            failures.append(f"{name}: {outcome}")
    broken = "data-dependent failure on valid data: " + "; ".join(failures) if failures else None
    return _check("edge cases", broken, ", ".join(valid))


def _bad_cases(setting: Setting) -> dict[str, tuple[Matrix, dict[str, float]]]:
    good = example_rows(6, 3)
    nan, infinite = good.copy(), good.copy()
    nan[2, 1], infinite[2, 1] = math.nan, math.inf
    cases = {
        "NaN entry": (nan, setting.budget),
        "infinite entry": (infinite, setting.budget),
        "no rows": (np.empty((0, 3)), setting.budget),
        "no columns": (np.empty((3, 0)), setting.budget),
        "one-dimensional x": (np.ones(3), setting.budget),
    }
    for value in (0.0, -1.0, math.nan):
        cases[f"budget {value:g}"] = (good, dict.fromkeys(setting.budget, value))
    return cases


def bad_input(setting: Setting) -> CheckResult:
    """Input outside the domain raises. Noted only."""
    accepted = []
    for name, (x, budget) in _bad_cases(setting).items():
        rng = np.random.default_rng(stream(setting.seed, "contract", "bad", name))
        with np.errstate(all="ignore"):
            output, _ = call(setting.target, x, budget, rng, setting.seconds)
        if not isinstance(output, Failure):
            accepted.append(name)
    return _check(
        "bad input", "accepted without an error: " + ", ".join(accepted) if accepted else None, "raises", noted=True
    )


LADDER = (2, 5, 10, 20)


def running_time(setting: Setting) -> CheckResult:
    """How long a draw takes as the dimension grows, on data with two strong directions. Noted only."""
    times: dict[str, Any] = {}
    for d in LADDER:
        x = np.repeat(np.eye(d)[:2], [500, 300], axis=0)
        rng = np.random.default_rng(stream(setting.seed, "contract", "time", d))
        output, elapsed = call(setting.target, x, setting.budget, rng, setting.seconds)
        if isinstance(output, Failure):
            times[f"d={d}"] = str(output)
            if output.kind == "time-out":
                break
        else:
            times[f"d={d}"] = round(elapsed, 6)
    failed = {key: value for key, value in times.items() if isinstance(value, str)}
    status = Status.NOTED if failed else Status.NOT_REFUTED
    text = ", ".join(f"{k}: {v}" if isinstance(v, str) else f"{k}: {1000 * v:.1f} ms" for k, v in times.items())
    return CheckResult("contract", "running time", status, f"one draw, n = 800: {text}", facts=times)


def contract(setting: Setting, form: Form) -> list[CheckResult]:
    """The checks of the contract that such an output can be held to, in order."""
    checks = [output_form(setting)]
    if form.output.symmetric:
        checks.append(symmetry(setting))
    checks += [input_unchanged(setting), same_seed(setting)]
    if not form.repeats:
        checks.append(new_seed(setting))
    if not form.ordered:
        checks.append(row_order(setting))
    return [*checks, edge_cases(setting, form.smallest_dimension), bad_input(setting), running_time(setting)]
