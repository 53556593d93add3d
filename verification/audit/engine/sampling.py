"""Many draws from a target: seeded and in parallel, with the same outputs for any number of workers.

Draws are made in chunks of fixed size. Every chunk has its own random stream, which follows from the seed of the run
and the label of the check, so one check can be replayed alone. Chunks run through joblib, wherever it is configured to
run them (`workers`).

A block of `draw_many` may fail as a whole because one draw in it fails. Tests take failures for independent draws, so a
failed block is not counted: all draws of that call of `draw` are made again, one by one and from another stream. If a
block fails whenever one of its draws would fail, an outcome of the call is at most twice as likely as under independent
draws: it was made in blocks, none of which failed, or one by one.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from covassay.reference.domain import Box, Matrix
from covassay.reference.mechanisms.output import Output
from covassay.verification.audit.engine import workers
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
PART = 500  # draws of a block that are made in one go
TIME_OUTS_PER_CHUNK = 3  # then the chunk gives up, because an audit of a target that hangs would never end


@dataclass(frozen=True)
class Draws:
    """Outputs of repeated draws on one data set.

    outputs : (successes, …), in the order of the draws. failures : how the other draws ended, counted. skipped : the
        number of draws that were not made because the target kept running into the time limit. again : whether they
        were made one by one because a block of `draw_many` had failed.
    """

    outputs: Matrix
    failures: Counter[str] = field(default_factory=Counter)
    skipped: int = 0
    again: bool = False

    @property
    def failed(self) -> int:
        """How many draws failed."""
        return sum(self.failures.values())

    @property
    def size(self) -> int:
        """How many draws were made."""
        return len(self.outputs) + self.failed


@dataclass
class Tally:
    """How many draws a run has made, and how those ended that gave no output."""

    draws: int = 0
    failures: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True)
class Setting:
    """What is the same in all draws of a run: the target, its budget, the kind of output, the seed and the limits.

    `budget` has every keyword argument of a draw but `rng`: the claim and, where the target takes them, the bounds of
    the `box`. Without a box, rows lie in the unit ball.
    `tally` counts the draws of `draw`. `jobs` is the number of workers, None for what joblib's configuration says.
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

    def within(self, box: Box | None) -> "Setting":
        """The same setting with rows in another box; a target that takes bounds gets those of that box."""
        if box is None or box == self.box:
            return self
        told = {BOUNDS: box.bounds} if BOUNDS in self.budget else {}
        return replace(self, box=box, budget=self.budget | told)

    @property
    def claim(self) -> dict[str, float]:
        """The keyword arguments that carry the claim."""
        return {key: value for key, value in self.budget.items() if key != BOUNDS}

    @property
    def target(self) -> Target:
        """The target, loaded."""
        return load(self.source)

    def shape(self, x: Matrix) -> tuple[int, ...]:
        """The shape of an output on `x`."""
        return self.output.shape(x.shape[1])


class Repeated(NamedTuple):
    """A draw that is repeated: the target, its data, its budget, the shape of an output and the time limit.

    `in_blocks` says whether `draw_many` may be used, if there is one.
    """

    source: TargetSource
    x: Matrix
    budget: dict[str, Any]
    shape: tuple[int, ...]
    seconds: float
    in_blocks: bool = True


Outcomes = Sequence[Matrix | Failure] | Matrix


def _chunk(repeated: Repeated, size: int, seed: np.random.SeedSequence) -> Outcomes | None:
    """The outcomes of a chunk; None if it was a block of `draw_many` that failed."""
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
    """A chunk by `draw_many`, which has the time of all its draws; None if it fails or miscounts."""
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


def draw_block(repeated: Repeated, size: int, seed: np.random.SeedSequence) -> Draws:
    """That many draws in this process, in parts that have random streams and time limits of their own."""
    parts: list[Draws] = []
    for start, stream_of_part in zip(range(0, size, PART), seed.spawn(-(-size // PART)), strict=True):
        count = min(PART, size - start)
        outcomes = _chunk(repeated, count, stream_of_part)
        if outcomes is None:
            return replace(draw_block(repeated._replace(in_blocks=False), size, seed), again=True)
        parts.append(_as_draws(outcomes, count, repeated.shape))
        if parts[-1].skipped:
            return joined([*parts, Draws(np.empty((0, *repeated.shape)), skipped=size - start - count)])
    return joined(parts)


def _as_draws(outcomes: Outcomes, size: int, shape: tuple[int, ...]) -> Draws:
    if isinstance(outcomes, np.ndarray):
        return Draws(outcomes)
    outputs = [outcome for outcome in outcomes if not isinstance(outcome, Failure)]
    failures = Counter(str(outcome) for outcome in outcomes if isinstance(outcome, Failure))
    return Draws(np.array(outputs) if outputs else np.empty((0, *shape)), failures, size - len(outcomes))


def joined(parts: Sequence[Draws]) -> Draws:
    """The draws of several parts as one."""
    failures = sum((part.failures for part in parts), Counter[str]())
    again = any(part.again for part in parts)
    return Draws(np.concatenate([part.outputs for part in parts]), failures, sum(part.skipped for part in parts), again)


def draw(setting: Setting, x: Matrix, size: int, label: str, chunks: slice = slice(None)) -> Draws:
    """Draw `size` times on `x`; the label names the random stream. `chunks` says which of the chunks to draw."""
    sizes = [CHUNK] * (size // CHUNK) + ([size % CHUNK] if size % CHUNK else [])
    repeated = Repeated(setting.source, x, setting.budget, setting.shape(x), setting.seconds)
    drawn = _drawn(setting, repeated, sizes, label, chunks)
    if drawn is None:
        alone = _drawn(setting, repeated._replace(in_blocks=False), sizes, label, chunks, "one by one")
        assert alone is not None
        drawn = replace(alone, again=True)
    setting.tally.draws += drawn.size
    setting.tally.failures.update(drawn.failures)
    return drawn


def _drawn(
    setting: Setting, repeated: Repeated, sizes: Sequence[int], label: str, chunks: slice, *way: str
) -> Draws | None:
    """The draws of the given chunks; None if a block of `draw_many` failed."""
    seeds = stream(setting.seed, label, *way).spawn(len(sizes))
    calls = ((repeated, count, seed) for count, seed in zip(sizes[chunks], seeds[chunks], strict=True))
    parts, failed = [Draws(np.empty((0, *repeated.shape)))], False
    for count, outcomes in zip(sizes[chunks], workers.run(setting.jobs, _chunk, calls), strict=True):
        if outcomes is None:
            failed = True
        else:
            parts.append(_as_draws(outcomes, count, repeated.shape))
            setting.progress(label, len(outcomes))
    return None if failed else joined(parts)
