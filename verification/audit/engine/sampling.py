"""Make many seeded draws from a target in parallel, with the same outputs for any number of workers.

Draws are made in chunks of fixed size. Every chunk has its own random stream, which follows from the seed of the run
and the label of the check. The draws of one check can therefore be repeated without the other checks. The package
joblib runs the chunks, in this process or in workers (`workers`).

`draw` keeps every draw. The function `reduced` keeps the first `KEPT` draws, and sums a function over blocks of all
draws. The worker that makes a block of draws reduces it to sums, so that memory does not grow with the number of draws.
The functions `draw` and `reduced` make the same draws.

If the run has a store (`engine.store`), stored draws are not made again.

A block of `draw_many` may fail as a whole because one of its draws fails. The tests of a run assume that draws fail
independently of each other, so a failed block is not counted as failures. If a block of a call of `draw` fails, all
draws of this call, and of all later calls, are made again one by one, and from another random stream. The effect on
the probabilities is bounded if a block fails whenever one of its draws would fail: any outcome of k calls is then at
most k + 1 times as probable as with independent draws. The reason is that there are k + 1 cases: a failed block comes
first in one of the k calls, or in none. For each of these cases, the probability that the case and the outcome both
occur is at most the probability of the outcome with independent draws.
"""

import hashlib
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, NamedTuple, Protocol, Self, TypeVar

import numpy as np

from covassay.reference.domain import Box, Matrix
from covassay.reference.mechanisms.output import Output
from covassay.verification.audit.engine import workers
from covassay.verification.audit.engine.store import Store, storable
from covassay.verification.audit.targets.bounds import BOUNDS
from covassay.verification.audit.targets.target import (
    TIME_LIMIT,
    Failure,
    Target,
    TargetSource,
    call,
    load,
    well_formed,
)
from covassay.verification.statistics.streams import Watch, stream

CHUNK = 50
BLOCK = 500  # a worker makes and reduces this many chunks of draws at once
WHOLE = 2 * BLOCK  # if draws are reduced to sums, the draws of this many first chunks are kept
KEPT = WHOLE * CHUNK  # the number of draws that are kept is 50 000
SECONDS = 1.0  # draws are stored after about this many seconds, so that an interrupted run loses no more work
# a chunk of draws stops after this many time-outs, because an audit of a target that hangs would never end
TIME_OUTS_PER_CHUNK = 3


@storable
@dataclass(frozen=True)
class Draws:
    """The outputs of repeated draws on one data set.

    `outputs` has the outputs, (successes, …), in the order of the draws. `failures` counts the draws that gave no
    output, by their kind of failure. `skipped` counts the draws that were not made because the target kept running into
    the time limit. `again` says whether the draws were made one by one, because a block of draws failed in this call or
    an earlier one. `seconds` is the time from the first draw to the last.
    """

    outputs: Matrix
    failures: Counter[str] = field(default_factory=Counter)
    skipped: int = 0
    again: bool = False
    seconds: float = 0.0

    @property
    def failed(self) -> int:
        """Return how many draws failed."""
        return sum(self.failures.values())

    @property
    def size(self) -> int:
        """Return how many draws were made, including failed ones."""
        return len(self.outputs) + self.failed


def timed_out(draws: "Draws | Summary[Any]") -> int:
    """Return how many draws ran into the time limit."""
    return draws.skipped + sum(count for what, count in draws.failures.items() if what.startswith("time-out"))


class Sums(Protocol):
    """A block of draws in reduced form, whose size does not depend on the number of draws."""

    def plus(self, other: Self, /) -> Self:
        """Add the sums over two blocks."""


S = TypeVar("S", bound=Sums)


@storable
@dataclass(frozen=True)
class Summary(Generic[S]):
    """What is kept of the draws on one data set, namely the first `KEPT` draws, how all draws ended, and sums over all
    of them.
    """

    kept: Draws
    size: int
    failures: Counter[str]
    skipped: int
    sums: S

    @classmethod
    def of(cls, draws: Draws, sums: S) -> "Summary[S]":
        """Return the summary of draws that are all kept."""
        return Summary(draws, draws.size, draws.failures, draws.skipped, sums)

    @property
    def failed(self) -> int:
        """Return how many draws failed."""
        return sum(self.failures.values())

    @property
    def seconds(self) -> float:
        """Return how many seconds the kept draws took."""
        return self.kept.seconds

    @property
    def outputs(self) -> int:
        """Return how many draws have an output."""
        return self.size - self.failed

    def plus(self, other: "Summary[S]") -> "Summary[S]":
        """Return the summary of two successive parts of the draws."""
        return Summary(
            joined([self.kept, other.kept]) if self.kept.size < KEPT else self.kept,
            self.size + other.size,
            self.failures + other.failures,
            self.skipped + other.skipped,
            self.sums.plus(other.sums),
        )


@dataclass
class Tally:
    """The number of draws of an audit, and the reasons why some of the draws gave no output.

    `one_by_one` says whether a block of `draw_many` has failed, so that no more draws are made in blocks.
    """

    draws: int = 0
    failures: Counter[str] = field(default_factory=Counter)
    one_by_one: bool = False


@dataclass(frozen=True)
class Setting:
    """The settings of all draws of a run, which are the target, its budget, the kind of output, the seed and the
    limits.

    `budget` has every keyword argument of a draw but `rng`: the claim, and the bounds of the `box` if the target takes
    bounds. If the setting has no box, rows lie in the unit ball. `tally` counts the draws. `jobs` is the number of
    workers; None means that joblib's configuration gives the number. `store` has the draws of an earlier run with the
    same options; `store` is None if draws are not stored.
    """

    source: TargetSource
    budget: dict[str, Any]
    output: Output
    seed: int
    jobs: int | None = 1
    seconds: float = TIME_LIMIT
    progress: Watch = field(default_factory=Watch, compare=False, repr=False)
    tally: Tally = field(default_factory=Tally, compare=False, repr=False)
    box: Box | None = None
    store: Store | None = field(default=None, compare=False, repr=False)

    def within(self, box: Box | None) -> "Setting":
        """Return the setting with rows in another box; a target that takes bounds gets the bounds of this box."""
        if box is None or box == self.box:
            return self
        told = {BOUNDS: box.bounds} if BOUNDS in self.budget else {}
        return replace(self, box=box, budget=self.budget | told)

    @property
    def claim(self) -> dict[str, float]:
        """Return the keyword arguments that state the claim of the target."""
        return {key: value for key, value in self.budget.items() if key != BOUNDS}

    @property
    def target(self) -> Target:
        """Load and return the target of this setting."""
        return load(self.source)

    def shape(self, x: Matrix) -> tuple[int, ...]:
        """Return the shape of an output on the rows `x`."""
        return self.output.shape(x.shape[1])

    def one(
        self, x: Matrix, rng: np.random.Generator, target: Target | None = None, budget: dict[str, Any] | None = None
    ) -> Matrix | Failure:
        """Make one draw on a copy of `x`, from another target or at another budget if one is given."""
        given = self.budget if budget is None else budget
        output, _ = call(self.target if target is None else target, x.copy(), given, rng, self.seconds)
        return well_formed(output, self.shape(x))


class Repeated(NamedTuple):
    """A draw to repeat, given by the target, its data, its budget, the shape of an output and the time limit.

    `in_blocks` says whether `draw_many` may be used, if the target has it.
    """

    source: TargetSource
    x: Matrix
    budget: dict[str, Any]
    shape: tuple[int, ...]
    seconds: float
    in_blocks: bool = True


Outcomes = Sequence[Matrix | Failure] | Matrix


def _chunk(repeated: Repeated, size: int, seed: np.random.SeedSequence) -> Outcomes | None:
    """Return the outcomes of a chunk of draws, or None if a block of `draw_many` failed."""
    source, x, budget, shape, seconds, in_blocks = repeated
    target, rng = load(source), np.random.default_rng(seed)
    if in_blocks and target.draw_many is not None:
        return _many(target, repeated, size, rng)
    outcomes: list[Matrix | Failure] = []
    time_outs = 0
    while len(outcomes) < size and time_outs < TIME_OUTS_PER_CHUNK:
        output, _ = call(target, x.copy(), budget, rng, seconds)
        outcome = well_formed(output, shape)
        outcomes.append(outcome)
        time_outs += isinstance(outcome, Failure) and outcome.kind == "time-out"
    return outcomes


def _many(target: Target, repeated: Repeated, size: int, rng: np.random.Generator) -> Outcomes | None:
    """Return a chunk of draws by `draw_many`, with one time limit for all of them.

    `_many` returns None if `draw_many` fails or returns a wrong number of outputs.
    """
    _, x, budget, shape, seconds, _ = repeated

    def draws(x: Matrix, **given: Any) -> Any:
        made = target.draw_many(x, size, **given) if target.draw_many else []
        return made if type(made) is np.ndarray else list(made)

    outputs, _ = call(replace(target, draw=draws), x.copy(), budget, rng, seconds * size)
    if isinstance(outputs, Failure) or len(outputs) != size:
        return None
    plain = type(outputs) is np.ndarray and outputs.shape == (size, *shape) and outputs.dtype == np.float64
    if plain and np.isfinite(outputs).all():
        stacked: Matrix = outputs
        return stacked
    return [well_formed(output, shape) for output in outputs]


def _as_draws(outcomes: Outcomes, size: int, shape: tuple[int, ...]) -> Draws:
    if isinstance(outcomes, np.ndarray):
        return Draws(outcomes)
    outputs = [outcome for outcome in outcomes if not isinstance(outcome, Failure)]
    failures = Counter(str(outcome) for outcome in outcomes if isinstance(outcome, Failure))
    return Draws(np.array(outputs) if outputs else np.empty((0, *shape)), failures, size - len(outcomes))


def joined(parts: Sequence[Draws]) -> Draws:
    """Return the draws of several parts as one."""
    return Draws(
        np.concatenate([part.outputs for part in parts]),
        sum((part.failures for part in parts), Counter[str]()),
        sum(part.skipped for part in parts),
        any(part.again for part in parts),
        sum(part.seconds for part in parts),
    )


def draw(setting: Setting, x: Matrix, size: int, label: str, chunks: slice = slice(None)) -> Draws:
    """Draw `size` times on the rows `x`; the label names the random stream. `chunks` says which chunks of the draws to
    make.
    """
    order = _Order(setting, x, size, label, _chunks(size)[chunks])
    drawn: Draws | None = _in_blocks(order)
    if drawn is None:
        drawn = replace(_answered(order.one_by_one()), again=True)
    return _tallied(setting, drawn)


def reduced(
    setting: Setting, x: Matrix, size: int, label: str, sums: Callable[[Draws, int], S], chunks: slice = slice(None),
    enough: Callable[[Summary[S]], bool] = lambda summary: False, first: Draws | None = None,
) -> Summary[S]:  # fmt: skip
    """Make the draws that `draw` would make, and reduce them by `sums`, which takes a block of draws and the number of
    the block.

    If there are more than `KEPT` draws, the function `enough` says after 2, 4, 8, … blocks whether the draws suffice.
    The function also stops the draws once the target has run into the time limit repeatedly. If the first `KEPT` draws
    have already been made, the caller passes them as `first`, and they are not made again.
    """
    which = _chunks(size)[chunks]
    whole = which[:WHOLE]
    kept = draw(setting, x, size, label, slice(whole.start, whole.stop)) if first is None else first
    start = Summary.of(kept, sums(kept, 0))
    if len(which) <= WHOLE or kept.skipped or enough(start):
        return start
    order = _Order(setting, x, size, label, which[WHOLE:], _Reduced(sums), lambda made: enough(start.plus(made)))
    made: Summary[S] | None = _in_blocks(order)
    return start.plus(_tallied(setting, _answered(order.one_by_one()) if made is None else made))


def _chunks(size: int) -> range:
    return range(-(-size // CHUNK))


T = TypeVar("T", Draws, Summary[Any])


def _tallied(setting: Setting, made: T) -> T:
    setting.tally.draws += made.size
    setting.tally.failures.update(made.failures)
    return made


@dataclass(frozen=True)
class _Reduced(Generic[S]):
    """A function by which a worker reduces a block of draws to sums, so that it need not return the outputs."""

    sums: Callable[[Draws, int], S]

    def __call__(self, draws: Draws, block: int) -> Summary[S]:
        none = Draws(draws.outputs[:0], seconds=draws.seconds)
        return replace(Summary.of(draws, self.sums(draws, block)), kept=none)


def _as_they_are(draws: Draws, block: int) -> Draws:
    return draws


@dataclass(frozen=True)
class _Order:
    """A request for chunks of draws. `make` is the function that reduces each block of chunks to what is returned.
    `enough` says whether the draws made so far suffice.
    """

    setting: Setting
    x: Matrix
    size: int
    label: str
    chunks: range
    make: Callable[[Draws, int], Any] = _as_they_are
    enough: Callable[[Any], bool] = lambda made: False
    way: tuple[str, ...] = ()

    def one_by_one(self) -> "_Order":
        """Return this request without `draw_many`, so that its draws come from another random stream."""
        return replace(self, way=("one by one",))

    @property
    def step(self) -> int:
        """Return the number of chunks that a worker makes at once."""
        return 1 if self.make is _as_they_are else BLOCK

    @property
    def key(self) -> str:
        """Return the key of these draws in the store, which is unique in a run."""
        said = (self.label, self.way, self.size, self.chunks, self.step, self.x.shape, str(sorted(self.budget)))
        return hashlib.sha256(repr(said).encode() + np.ascontiguousarray(self.x).tobytes()).hexdigest()

    @property
    def budget(self) -> list[tuple[str, Any]]:
        """Return the keyword arguments of every draw."""
        return list(self.setting.budget.items())

    def tasks(self, done: int) -> Iterator[tuple[Any, ...]]:
        """Yield the tasks for workers, without the chunks that are done; `done` is their number."""
        given = self.setting
        repeated = Repeated(given.source, self.x, given.budget, given.shape(self.x), given.seconds, not self.way)
        root = stream(given.seed, self.label, *self.way)
        for start in range(done, len(self.chunks), self.step):
            which = self.chunks[start : start + self.step]
            yield repeated, root, self.size, which, self.make, which.start // self.step

    def ends(self, done: int, made: Any) -> bool:
        """Return whether the first blocks of draws suffice, or no more blocks can be made."""
        blocks = (WHOLE + done) // self.step
        if self.step == 1 or done >= len(self.chunks):
            return False
        return bool(made.skipped) or (blocks & (blocks - 1) == 0 and self.enough(made))


class _Tasks:
    """Yield tasks until no more draws are needed; tasks that workers have already taken are still completed."""

    def __init__(self, tasks: Iterator[tuple[Any, ...]], over: bool) -> None:
        self._tasks, self.over = tasks, over

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        while not self.over and (task := next(self._tasks, None)) is not None:
            yield task


def _in_blocks(order: _Order) -> Any:
    """Make the draws of a request, or return None if a block of `draw_many` fails or has failed earlier in this run."""
    tally = order.setting.tally
    made = None if tally.one_by_one else _answered(order)
    tally.one_by_one = made is None
    return made


def _answered(order: _Order) -> Any:
    """Make those draws of a request that are not in the store, or return None if a block of `draw_many` failed."""
    setting, store = order.setting, order.setting.store
    done, parts = store.get(order.key) if store else (0, [])
    if parts:
        setting.progress(order.label, parts[0].size)
    tasks, saved = _Tasks(order.tasks(done), bool(parts) and order.ends(done, parts[0])), time.monotonic()
    failed = False
    for part in workers.run(setting.jobs, _block, tasks):
        failed = failed or (part is None and not tasks.over)
        if failed or tasks.over:
            tasks.over = True
            continue
        done = min(done + order.step, len(order.chunks))
        parts = [*parts, part] if order.step == 1 else [parts[0].plus(part) if parts else part]
        setting.progress(order.label, part.size)
        setting.progress.timed(part.size, part.seconds)
        tasks.over = order.ends(done, parts[0])
        if store and (tasks.over or done == len(order.chunks) or time.monotonic() - saved >= SECONDS):
            parts = [joined(parts)] if order.step == 1 else parts
            store.put(order.key, (done, parts))
            saved = time.monotonic()
    if failed:
        return None
    return parts[0] if order.step > 1 else joined([Draws(np.empty((0, *setting.shape(order.x)))), *parts])


def _block(
    repeated: Repeated, root: np.random.SeedSequence, size: int, chunks: range, make: Callable[[Draws, int], Any],
    block: int,
) -> Any:  # fmt: skip
    """Make the draws of the given chunks in this process, or return None if a block of `draw_many` failed."""
    parts = [Draws(np.empty((0, *repeated.shape)))]
    start = time.perf_counter()
    for i in chunks:
        count = min(CHUNK, size - i * CHUNK)
        if parts[-1].skipped:
            parts.append(replace(parts[0], skipped=count))
            continue
        outcomes = _chunk(repeated, count, np.random.SeedSequence(root.entropy, spawn_key=(i,)))
        if outcomes is None:
            return None
        parts.append(_as_draws(outcomes, count, repeated.shape))
    return make(replace(joined(parts), seconds=time.perf_counter() - start), block)
