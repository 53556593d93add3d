"""Test draws that are made in blocks. One failed draw makes its whole block fail, but must count as one failure."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from covassay.reference.domain import Matrix
from covassay.reference.mechanisms.output import OUTPUTS, SECOND_MOMENT
from covassay.verification.audit.api import audit
from covassay.verification.audit.engine import sampling
from covassay.verification.audit.engine.pair_draws import Counts
from covassay.verification.audit.engine.sampling import CHUNK, Draws, Setting, draw, reduced
from covassay.verification.audit.engine.store import opened
from covassay.verification.audit.targets.target import Target, TargetReference, TimeLimitError
from covassay.verification.statistics.streams import Watch

X = np.eye(3)


def in_blocks(rare: float) -> Target:
    """Return a target whose noise does not depend on the data. Each draw fails with probability `rare`, and a block
    fails if one of its draws fails.
    """

    def draw_many(x: Matrix, size: int, *, rng: np.random.Generator, **budget: float) -> Matrix:
        if (rng.random(size) < rare).any():
            raise ValueError("no convergence")
        half = rng.laplace(scale=100.0, size=(size, x.shape[1], x.shape[1]))
        return half + half.transpose(0, 2, 1)

    def one(x: Matrix, **given: Any) -> Matrix:
        return draw_many(x, 1, **given)[0]

    return Target("in blocks", one, draw_many=draw_many)


def setting(target: Target, kind: str = "matrix") -> Setting:
    return Setting(target, {"epsilon": 1.0}, OUTPUTS[kind] if kind != "matrix" else SECOND_MOMENT, seed=0)


@pytest.mark.parametrize("failing", ["raises", "exits", "one output too few", "no list"])
def test_where_a_block_fails_every_draw_of_the_call_is_made_alone(failing: str) -> None:
    def draw_many(x: Matrix, size: int, *, rng: np.random.Generator, **budget: float) -> Any:
        if rng.random() < 0.5:
            return np.zeros(size)
        return {"raises": lambda: 1 / 0, "exits": lambda: exit(0), "one output too few": lambda: [0.0] * (size - 1),
                "no list": lambda: 7}[failing]()  # fmt: skip

    target = Target("numbers", lambda x, *, rng, **budget: rng.random(), draw_many=draw_many)
    draws = draw(setting(target, "number"), X, 20 * CHUNK, "some blocks fail")
    assert (len(draws.outputs), draws.failed, draws.skipped, draws.again) == (20 * CHUNK, 0, 0, True)
    assert len(set(draws.outputs)) == 20 * CHUNK  # no output equals 0, which is what failed blocks return


def test_after_a_failed_block_later_calls_make_no_blocks() -> None:
    """The test fails if the audit requests another block of draws after one block has failed. If the audit requested
    another block, failures would seem rarer than they are.
    """
    blocks = 0

    def draw_many(x: Matrix, size: int, *, rng: np.random.Generator, **budget: float) -> Any:
        nonlocal blocks
        blocks += 1
        return np.zeros(size) if blocks != 2 else None

    target = Target("numbers", lambda x, *, rng, **budget: rng.random(), draw_many=draw_many)
    asked = setting(target, "number")
    drawn = [draw(asked, X, CHUNK, f"call {i}") for i in range(4)]
    assert [draws.again for draws in drawn] == [False, True, True, True]
    assert blocks == 2


def test_blocks_that_do_not_fail_are_kept() -> None:
    draws = draw(setting(in_blocks(0.0)), X, 3 * CHUNK + 1, "no block fails")
    assert (len(draws.outputs), draws.failed, draws.again) == (3 * CHUNK + 1, 0, False)


def test_a_draw_that_fails_in_a_block_without_failing_it_is_a_failure_of_its_own() -> None:
    def draw_many(x: Matrix, size: int, *, rng: np.random.Generator, **budget: float) -> list[Any]:
        return [None if i == 3 else 1.0 for i in range(size)]

    draws = draw(setting(Target("one of them", print, draw_many=draw_many), "number"), X, 2 * CHUNK, "one of them")
    assert (len(draws.outputs), draws.failed, draws.again) == (2 * CHUNK - 2, 2, False)


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Set the size of a block to two chunks, and the number of stored draws to four chunks."""
    for name, value in (("BLOCK", 2), ("WHOLE", 4), ("KEPT", 4 * CHUNK), ("SECONDS", 0.0)):
        monkeypatch.setattr(sampling, name, value)


def counted(draws: Draws, block: int) -> Counts:
    """Count the draws whose first entry is positive, and store the number of the block of draws."""
    positive = draws.outputs[:, 0, 0] > 0
    return Counts(int(positive.sum()), np.array([float(block)]), np.zeros(0))


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("made", [draw, reduced])
def test_failures_are_as_frequent_as_in_single_draws(made: Callable[..., Any]) -> None:
    """The test fails if a failed block counts as more than one failed draw, so that nearly all draws seem to fail."""
    rate, asked = 0.02, setting(in_blocks(0.02))
    draws = draw(asked, X, 2000, "rate") if made is draw else reduced(asked, X, 2000, "rate", counted)
    # By Bernstein's inequality, 149 of 2000 draws fail with probability below exp(-62) if the mean is 40.
    assert draws.size == 2000
    assert 0 < draws.failed < 2000 * rate + 109


def by_value() -> Callable[[Draws, int], Counts]:
    return lambda draws, block: Counts(int((draws.outputs[:, 0, 0] > 0).sum()), np.array([float(block)]), np.zeros(0))


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
@pytest.mark.parametrize("chunks", [slice(None), slice(3, 17), slice(3, 5)])
def test_what_is_reduced_are_the_draws_that_would_be_made(chunks: slice, jobs: int) -> None:
    asked = Setting(TargetReference("covassay:gauss-cov", "."), {"rho": 0.5}, SECOND_MOMENT, seed=1, jobs=jobs)
    whole, summary = (
        draw(asked, X, 19 * CHUNK + 7, "same", chunks),
        # Workers cannot import test modules, so the class is defined in a function and sent as code.
        reduced(asked, X, 19 * CHUNK + 7, "same", by_value(), chunks),
    )
    assert summary.size == len(whole.outputs)
    assert summary.sums.inside == counted(whole, 0).inside
    assert np.array_equal(summary.kept.outputs, whole.outputs[: sampling.KEPT])
    blocks = [start // sampling.BLOCK for start in range(20)[chunks][sampling.WHOLE :: sampling.BLOCK]]
    assert summary.sums.bet[0] == sum(blocks)


@pytest.mark.usefixtures("small_blocks")
def test_draws_end_when_they_will_do() -> None:
    """The test fails if draws continue after the function `enough` has returned True."""
    asked: list[int] = []

    def enough(summary: Any) -> bool:
        asked.append(summary.size)
        return bool(summary.size >= 8 * CHUNK)

    assert reduced(setting(in_blocks(0.0)), X, 100 * CHUNK, "enough", counted, enough=enough).size == 8 * CHUNK
    assert asked == [4 * CHUNK, 8 * CHUNK]  # the function is called after two and after four blocks


@pytest.mark.usefixtures("small_blocks")
def test_draws_end_where_the_time_limit_stops_them_again_and_again() -> None:
    made = []

    def one(x: Matrix, *, rng: np.random.Generator, **budget: float) -> Matrix:
        made.append(1)
        if len(made) > 5 * CHUNK:
            raise TimeLimitError
        return np.eye(3)

    summary = reduced(setting(Target("slow", one)), X, 100 * CHUNK, "slow", counted)
    assert (summary.size, summary.outputs) == (5 * CHUNK + sampling.TIME_OUTS_PER_CHUNK, 5 * CHUNK)
    assert summary.skipped == CHUNK - sampling.TIME_OUTS_PER_CHUNK


class Ended(BaseException):
    """An exception that interrupts the run."""


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("rare", [0.0, 1e-3], ids=["whole", "with a block that fails"])
def test_what_the_store_has_is_not_drawn_again(tmp_path: Path, rare: float) -> None:
    """The test fails if stored draws are made again. The run is interrupted at every fifth report of progress, and
    continued until it is complete.
    """
    whole = reduced(setting(in_blocks(rare)), X, 20 * CHUNK, "stored", counted)
    asked, ends = setting(in_blocks(rare)), 0
    plain = asked.source

    def run() -> Any:
        made = 0

        def progress(label: str, count: int) -> None:
            nonlocal made
            made += 1
            if made > 4:
                raise Ended

        with opened(tmp_path / "run.db", {}) as kept:
            given = Setting(plain, asked.budget, asked.output, 0, progress=Watch(progress), store=kept)
            summary = reduced(given, X, 20 * CHUNK, "stored", counted)
            return summary, given.tally.draws

    while True:
        try:
            again, tallied = run()
            break
        except Ended:
            ends += 1
            assert ends < 200
    assert ends > 3
    assert tallied == whole.size
    assert np.array_equal(again.sums.bet, whole.sums.bet)
    assert (again.size, again.failures, again.sums.inside) == (whole.size, whole.failures, whole.sums.inside)
    assert again.kept.outputs.tobytes() == whole.kept.outputs.tobytes()
    assert whole.kept.again == (rare > 0)


def test_the_draws_are_the_same_again() -> None:
    """The test fails if two runs with the same seed make different draws, or if different draws fail."""
    one, two = (draw(setting(in_blocks(1e-2)), X, 20 * CHUNK, "again") for _ in range(2))
    assert one.again
    assert np.array_equal(one.outputs, two.outputs)
    assert one.failures == two.failures


def refuted(seed: int) -> bool:
    """Return whether a statistical test refutes a target that ignores the data. A draw fails with probability 1/2500.
    Checks without a p-value are not counted, because one draw may fail on an edge case by chance.
    """
    report = audit(in_blocks(1 / 2500), epsilon=1.0, samples=1000, seed=seed, jobs=1)
    return any(check.p_value is not None for check in report.refuted)


@pytest.mark.thorough
@pytest.mark.parametrize("seed", [2, 3, 4])
def test_a_law_that_ignores_the_data_is_not_refuted_because_blocks_fail(seed: int) -> None:
    """The test fails if the audit counts a failed block as 50 failures, and therefore refutes a target that ignores the
    data. A false alarm has probability at most 1e-9.
    """
    assert not refuted(seed)


@pytest.mark.slow
def test_a_law_that_ignores_the_data_stands_over_200_seeds() -> None:
    assert [seed for seed in range(200) if refuted(seed)] == []
