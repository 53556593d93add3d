"""Check that a target has the same law if it is called with the numbers in another form, after other calls, or in a new
process.

A function of the data and the generator gives one output for one data set and one seed. An implementation may take
another branch for float32 or for a data frame, or reuse a value of one call in the next call, such as a scale, a bound
or a mean. If another branch changes the output, a few draws under the same seeds show this.

The module `same_noise` explains how changed outputs are judged. If noise is added to a known query, a shift or factor
that is the same for the residuals (output − query) under every seed shows that the law is different. Other changes of
the outputs may come from another algorithm with the same law, or from a cached random number. Such changes refute the
claim only if many draws prove a difference in law. If the target fails when it is called in some way, this way of
calling is skipped, because the target promises nothing for it.
"""

import contextlib
import importlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np

from covassay.reference.domain import Matrix
from covassay.verification.audit.engine.contract import Form, Outcome, example_rows, in_box
from covassay.verification.audit.engine.finding import Finding, Status
from covassay.verification.audit.engine.own_process import OwnProcess
from covassay.verification.audit.engine.paired import Sampler, paired_difference
from covassay.verification.audit.engine.same_noise import TOLERANCE_FLOAT32, DataPath, moved
from covassay.verification.audit.engine.sampling import Setting
from covassay.verification.audit.targets.bounds import BOUNDS
from covassay.verification.audit.targets.target import Failure, Target, TargetReference, call, load
from covassay.verification.statistics.streams import stream

NAME_OF_FORMS, NAME_OF_STATE, NAME_OF_PROCESS = "same numbers, other form", "same call, after others", "fresh process"
SHAPES = (20, 3), (3, 5), (300, 2)  # these shapes of data are nearly square, wide and long
# The target is called under this many seeds. Even if each output is a single number, one factor or shift is unlikely to
# explain the changes under all these seeds by chance.
SEEDS = 4
INSIDE = 0.9  # the rows are multiplied by this factor, so that rounding to float32 leaves them in the domain
SLOW = 0.02  # if a draw takes longer than this many seconds, only one data set is tried
CLOSE = 1e-4  # float32 changes an output by less than this share of the largest entry
# Each of the three checks makes many draws for at most this many ways of calling the target.
DECIDED = 3
TESTS = 3 * DECIDED  # this many tests share the error level of the question

Draw = Callable[..., Any]


@dataclass(frozen=True)
class Way:
    """A way to call a target, with a description and the function that makes a target called in this way.

    If `whole` is true, the target is called in this way only on data of whole numbers. If `ball` is true, the target is
    not called in this way if the domain of its rows is a box. If `bounds` is true, the way is only for targets that
    take bounds of the data as an argument.
    """

    words: str
    made: Callable[[Draw], Draw]
    whole: bool = False
    ball: bool = False
    bounds: bool = False

    def target(self, target: Target) -> Target:
        """Return a `Target` whose draws are made by calling the given target in the way that this object describes."""
        return replace(target, draw=self.made(target.draw), draw_many=None)


def _in_single(x: Matrix) -> Matrix:
    """Return the numbers rounded to float32."""
    return np.asarray(x.astype(np.float32), dtype=np.float64)


# OTHER FORMS


def _given(form: Callable[[Matrix], Any]) -> Callable[[Draw], Draw]:
    return lambda draw: lambda x, **given: draw(form(x), **given)


def _every_second(x: Matrix) -> Matrix:
    """Return a view of every second row and column of a larger array, whose other entries do not belong to the data."""
    larger = np.full((2 * len(x), 2 * x.shape[1]), 0.25)
    larger[::2, ::2] = x
    return larger[::2, ::2]


def _backwards(x: Matrix) -> Matrix:
    """Return a view of the rows that runs backwards through memory."""
    return np.ascontiguousarray(x[::-1, ::-1])[::-1, ::-1]


def _read_only(x: Matrix) -> Matrix:
    frozen = x.copy()
    frozen.flags.writeable = False
    return frozen


def _frame(x: Matrix) -> Any:
    return _pandas().DataFrame(x, columns=[f"column {j}" for j in range(x.shape[1])])


@cache
def _pandas() -> Any:
    """Import and return the pandas package.

    Importing pandas may take longer than the time limit of a draw, so `Asked.start` imports it first.
    """
    return importlib.import_module("pandas")


def _swapped(x: Matrix) -> Matrix:
    """Return the numbers as an array of the opposite byte order."""
    return x.astype(x.dtype.newbyteorder())


def _of_numpy(draw: Draw) -> Draw:
    def drawn(x: Matrix, *, rng: Any, **budget: Any) -> Any:
        return draw(x, rng=rng, **{k: np.float64(v) if isinstance(v, float) else v for k, v in budget.items()})

    return drawn


def _whole_budget(draw: Draw) -> Draw:
    def drawn(x: Matrix, *, rng: Any, **budget: Any) -> Any:
        whole = {k: int(v) if isinstance(v, float) and v == int(v) and v >= 1 else v for k, v in budget.items()}
        return draw(x, rng=rng, **whole)

    return drawn


AS_FRAME = Way("as a data frame", _given(_frame))
FORMS = (
    Way("as float32", _given(lambda x: x.astype(np.float32))),
    Way("in Fortran order", _given(np.asfortranarray)),
    Way("as a view with strides", _given(_every_second)),
    Way("as a view that runs backwards", _given(_backwards)),
    Way("read-only", _given(_read_only)),
    Way("as a list of lists", _given(lambda x: x.tolist())),
    AS_FRAME,
    Way("with swapped bytes", _given(_swapped)),
    Way("as whole numbers of numpy", _given(lambda x: x.astype(np.int64)), whole=True),
    Way("with a budget of the type numpy.float64", _of_numpy),
    Way("with a budget of the type int", _whole_budget),
)  # fmt: skip


# AFTER OTHER CALLS


def _after(*others: Callable[[Matrix], Matrix], budget: float = 1.0) -> Callable[[Draw], Draw]:
    """Before each call, make calls on other data, which are computed from the data of the call."""

    def made(draw: Draw) -> Draw:
        def drawn(x: Matrix, *, rng: Any, **given: Any) -> Any:
            spent = {k: v * budget if k in ("epsilon", "rho") else v for k, v in given.items()}
            for i, other in enumerate(others):
                draw(other(x), rng=np.random.default_rng(i), **spent)
            return draw(x, rng=rng, **given)

        return drawn

    return made


def _after_other_bounds(draw: Draw) -> Draw:
    """Before each call, make a call on the same rows with wider bounds."""

    def drawn(x: Matrix, *, rng: Any, **given: Any) -> Any:
        wider = tuple((low - 3 * (high - low), high + 3 * (high - low)) for low, high in given[BOUNDS])
        draw(x, rng=np.random.default_rng(0), **given | {BOUNDS: wider})
        return draw(x, rng=rng, **given)

    return drawn


def _more_rows(x: Matrix) -> Matrix:
    return np.tile(x, (8, 1))


def _same(x: Matrix) -> Matrix:
    return x.copy()


# only targets that count their calls are detected in this way
COUNTED = Way("after calls on the same data", _after(_same, _same, _same))
CALLS_BEFORE = (
    Way("after rows of zeros", _after(np.zeros_like), ball=True),
    Way("after shorter rows", _after(lambda x: 1e-3 * x), ball=True),
    Way("after the opposite rows in another order", _after(lambda x: -x[::-1]), ball=True),
    Way("after equal rows", _after(lambda x: np.tile(x[:1], (len(x), 1)))),
    Way("after a long row", _after(lambda x: np.vstack([50 * x[:1], x[1:]])), ball=True),
    Way("after more rows", _after(_more_rows)),
    Way("after one row", _after(lambda x: x[:1])),
    Way("after fewer columns", _after(lambda x: x[:, :-1]), ball=True),
    Way("after more columns", _after(lambda x: np.hstack([x, 0.1 * x])), ball=True),
    Way("after another budget", _after(_same, budget=4.0)),
    Way("after other bounds", _after_other_bounds, bounds=True),
)


# IN A FRESH PROCESS


def make_ready(source: TargetReference) -> None:
    """Import the target first, because an import may take longer than the time limit of a draw."""
    load(source)


def one_call(source: TargetReference, x: Matrix, seconds: float, rng: np.random.Generator, budget: Any) -> Any:
    """Make one draw from the target in a process of its own."""
    return call(load(source), x, budget, rng, seconds)[0]


def _in(process: OwnProcess, source: TargetReference, seconds: float) -> Callable[[Draw], Draw]:
    def draw(x: Matrix, *, rng: Any, **budget: Any) -> Any:
        raised, output = process.call(one_call, (source, x, seconds, rng, budget))
        if raised:
            raise output
        if isinstance(output, Failure):
            raise RuntimeError(str(output))
        return output

    return lambda _: draw


# WHICH OUTPUTS CHANGED


@dataclass
class Asked:
    """A target that is called in the usual way on a few data sets, and then in other ways."""

    setting: Setting
    path: DataPath | None
    form: Form
    level: float
    known: tuple[Matrix, ...] = ()
    usual: list[tuple[Matrix, list[Outcome], bool]] = field(default_factory=list)
    compared: list[str] = field(default_factory=list)
    failing: list[str] = field(default_factory=list)
    unproven: list[str] = field(default_factory=list)
    decided: int = 0
    slow: bool = False

    def start(self) -> str:
        """Call the target repeatedly in the usual way, and store its outputs. Return the reason if these outputs cannot
        be compared with outputs of other calls, and otherwise an empty text.
        """
        with contextlib.suppress(ImportError):
            _pandas()
        for x, whole in self._data():
            start = time.perf_counter()
            if self.usual and self.slow:
                break
            # the first calls show whether anything can be compared
            _, outputs, again = (self._outputs(self.setting.target, x) for _ in range(3))
            if any(isinstance(o, Failure) for o in (*outputs, *again)):
                continue
            if not _all_equal(outputs, again):
                return "equal generators give different outputs"
            self.slow = time.perf_counter() - start > 3 * SEEDS * SLOW
            self.usual.append((x, outputs, whole))
        return "" if self.usual else "the target fails on plain rows"

    def _data(self) -> list[tuple[Matrix, bool]]:
        box = self.setting.box
        shapes = SHAPES if box is None else tuple((n, box.dimension) for n, _ in SHAPES)
        found = []
        for n, d in dict.fromkeys((n, max(d, self.form.smallest_dimension)) for n, d in shapes):
            rows = INSIDE * example_rows(n, d)
            x = rows if box is None else in_box(box, rows)
            found.append((_in_single(x), False))
        if self.known:  # on the data for tests of the law, the noise and the query have similar sizes
            found.append((max(self.known, key=len), False))
        if box is None:
            d = max(2, self.form.smallest_dimension)
            found.append((np.eye(d)[np.arange(12) ** 2 % d], True))
        return found

    def _outputs(self, target: Target, x: Matrix, seeds: int = SEEDS) -> list[Outcome]:
        found = []
        for seed in range(seeds):
            rng = np.random.default_rng(stream(self.setting.seed, "ways", *x.shape, seed))
            found.append(self.setting.one(x, rng, target))
            if isinstance(found[-1], Failure):
                break
        self.setting.progress("ways", len(found))
        return found

    def again(self) -> str:
        """Return, in words, the shift or the factor by which the usual outputs have changed since the start. The text
        is empty if no output has changed, or if neither a shift nor a factor explains the change.
        """
        for x, first, _ in self.usual:
            now = self._outputs(self.setting.target, x)
            if not any(isinstance(o, Failure) for o in now) and not _all_equal(first, now):
                what = self._fact(x, first, now)
                if what:
                    return f"on rows of shape {x.shape}, after all the earlier calls, {what}"
        return ""

    def renew(self) -> None:
        """Call the target again in the usual way, after all the earlier calls, and store these outputs in place of the
        first ones.
        """
        renewed = [(x, self._outputs(self.setting.target, x), whole) for x, _, whole in self.usual]
        self.usual = [one for one in renewed if not any(isinstance(o, Failure) for o in one[1])]

    def differs(self, way: Way) -> str:
        """Return how the law of the output changes if the target is called in the given way and not in the usual way.
        The text is empty if no difference is proven.
        """
        target, asked, changes = way.target(self.setting.target), False, list[tuple[float, Matrix]]()
        for x, first, whole in self.usual:
            if way.whole and not whole:
                continue
            asked = True
            if _all_equal(first[:1], self._outputs(target, x, 1)):
                continue
            others = self._outputs(target, x)
            if any(isinstance(other, Failure) for other in others):
                self.failing.append(way.words)
                return ""
            what = self._fact(x, first, others)
            if what:
                return f"on rows of shape {x.shape}, {way.words}, {what}"
            # All these outputs may equal the usual ones. The first call in this way then failed or gave another output,
            # but the repeated call did not. This data set is then not listed as one on which the output changes.
            if not _all_equal(first, others):
                changes.append((_change(first, others), x))
        if changes:
            _, x = max(changes, key=lambda change: change[0])
            what = self._drawn(way, x)
            if what:
                return f"on rows of shape {x.shape}, {way.words}, {what}"
            self.unproven.append(way.words)
        elif asked:
            self.compared.append(way.words)
        return ""

    def _fact(self, x: Matrix, first: Sequence[Outcome], others: Sequence[Outcome]) -> str:
        """Return the shift or factor of all residuals in words, or an empty text if there is none or the query is
        unknown.
        """
        if self.path is None or self.path.query is None:
            return ""
        query = self.path.query(x)
        one, other = (np.array([np.asarray(o) - query for o in sides]) for sides in (first, others))
        size = 1 + float(np.linalg.norm(query)) + float(np.linalg.norm(one))
        tolerance = TOLERANCE_FLOAT32 * (1 + len(x) ** 0.5 / 8) * size
        return moved(other, one, tolerance) if np.abs(one - other).max() > tolerance else ""

    def _drawn(self, way: Way, x: Matrix) -> str:
        """Make many draws by calling the target in the usual way and in the way `way`, and return how the laws of the
        outputs differ. The text is empty if the draws prove no difference, or if `DECIDED` ways have already been
        compared.
        """
        if self.decided >= DECIDED:
            return ""
        self.decided += 1
        usual, other = (self._sampler(t, x) for t in (self.setting.target, way.target(self.setting.target)))
        return paired_difference(usual, other, self.setting.seed, f"ways/{way.words}", self.level / TESTS)

    def _sampler(self, target: Target, x: Matrix) -> Sampler:
        """Return a function that maps a generator to the target's output on x."""

        def sampler(rng: np.random.Generator) -> Matrix | Failure:
            self.setting.tally.draws += 1
            return self.setting.one(x, rng, target)

        return sampler

    def finding(self, name: str, found: list[str], same: str, worst: Status) -> Finding:
        """Return the finding with this name, and clear the lists of comparisons before the next check."""
        text = same
        if self.unproven:
            text += f"; the output changed, but its law was not proven to differ: {', '.join(self.unproven)}"
        if self.failing:
            text += f"; not compared, because the target fails: {', '.join(self.failing)}"
        nothing = not (self.compared or self.unproven)
        self.compared, self.failing, self.unproven, self.decided = [], [], [], 0
        if found:
            return Finding("contract", name, worst, f"under one seed {'; '.join(found)}")
        return Finding("contract", name, Status.SKIPPED if nothing else Status.NOT_REFUTED, text)


def _equal(first: Outcome, second: Outcome) -> bool:
    if isinstance(first, Failure) or isinstance(second, Failure):
        return False
    close = CLOSE * max(1e-3, float(np.abs(first).max()))
    return bool(np.abs(first - second).max() <= close or (first.ndim == 1 and np.abs(first + second).max() <= close))


def _change(first: Sequence[Outcome], second: Sequence[Outcome]) -> float:
    """Return the mean change of the outputs, divided by the mean distance between outputs for different seeds."""
    one, other = np.array(first), np.array(second)
    return float(np.abs(one - other).mean() / (1e-300 + np.abs(np.diff(one, axis=0)).mean()))


def _all_equal(first: Sequence[Outcome], second: Sequence[Outcome]) -> bool:
    return all(_equal(a, b) for a, b in zip(first, second, strict=True))


def ways_of_asking(
    setting: Setting, path: DataPath | None, form: Form, level: float, known: Sequence[Matrix] = ()
) -> list[Finding]:
    """Check three ways of calling a target: with other forms of the numbers, after other calls, and in a new process.

    The data sets `known` are those for which the audit knows the law of the output.
    """
    asked = Asked(setting, path, form, level, tuple(map(_in_single, known)))
    why = asked.start()
    if why:
        return [Finding("contract", NAME_OF_FORMS, Status.SKIPPED, why)]
    findings = [_forms(asked), _state(asked)]
    if isinstance(setting.source, TargetReference) and not setting.source.command:
        findings.append(_fresh(asked, setting.source))
    return findings


def _forms(asked: Asked) -> Finding:
    """Check that a target has the same law if the numbers of a data set are passed in another form, such as float32 or
    a data frame.
    """
    found = [what for way in FORMS if (what := asked.differs(way))]
    same = f"the output was the same for {len(asked.compared)} other forms of the same numbers"
    return asked.finding(NAME_OF_FORMS, found, same, Status.REFUTED if asked.form.names_a_law else Status.NOTED)


def _state(asked: Asked) -> Finding:
    """Check that the law of a call does not depend on the data of earlier calls."""
    counts = bool(asked.differs(COUNTED) or asked.unproven)
    ball, bounds = asked.setting.box is None, BOUNDS in asked.setting.budget
    ways = [way for way in CALLS_BEFORE if (ball or not way.ball) and (bounds or not way.bounds)]
    found = [what for way in ways if (what := asked.differs(way))]
    found = found or [what for what in [asked.again()] if what]
    same = f"the output was the same after each of {len(asked.compared)} kinds of earlier calls"
    return asked.finding(NAME_OF_STATE, found, same, Status.NOTED if counts else Status.REFUTED)


def _fresh(asked: Asked, source: TargetReference) -> Finding:
    """Check that a new process gives outputs with the same law as this process, which has made earlier calls."""
    asked.renew()
    process = OwnProcess()
    try:
        process.call(make_ready, (source,))
        way = Way("in a fresh process", _in(process, source, asked.setting.seconds))
        found = [what for what in [asked.differs(way)] if what]
    except (EOFError, OSError):
        return Finding("contract", NAME_OF_PROCESS, Status.SKIPPED, "the process ended")
    finally:
        process.end()
    return asked.finding(
        NAME_OF_PROCESS,
        found,
        "the output was the same in a fresh process and in one with earlier calls",
        Status.REFUTED,
    )
