"""Draws in blocks: failures stay independent from draw to draw, whatever a failed block takes with it."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from covassay.reference.domain import Matrix
from covassay.reference.mechanisms.output import OUTPUTS, SECOND_MOMENT
from covassay.verification.audit.api import audit
from covassay.verification.audit.engine.sampling import CHUNK, PART, Repeated, Setting, draw, draw_block
from covassay.verification.audit.targets.target import Target

X = np.eye(3)


def in_blocks(rare: float) -> Target:
    """Noise that ignores the data. A draw fails with probability `rare`, and a block if a draw of it does."""

    def draw_many(x: Matrix, size: int, *, rng: np.random.Generator, **budget: float) -> Matrix:
        if (rng.random(size) < rare).any():
            raise ValueError("no convergence")
        half = rng.laplace(scale=100.0, size=(size, x.shape[1], x.shape[1]))
        return half + half.transpose(0, 2, 1)

    def one(x: Matrix, **given: Any) -> Matrix:
        drawn: Matrix = draw_many(x, 1, **given)[0]
        return drawn

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
    assert len(set(draws.outputs)) == 20 * CHUNK  # none of them is the 0 of a block


def test_blocks_that_do_not_fail_are_kept() -> None:
    draws = draw(setting(in_blocks(0.0)), X, 3 * CHUNK + 1, "no block fails")
    assert (len(draws.outputs), draws.failed, draws.again) == (3 * CHUNK + 1, 0, False)


def test_a_draw_that_fails_in_a_block_without_failing_it_is_a_failure_of_its_own() -> None:
    def draw_many(x: Matrix, size: int, *, rng: np.random.Generator, **budget: float) -> list[Any]:
        return [None if i == 3 else 1.0 for i in range(size)]

    draws = draw(setting(Target("one of them", print, draw_many=draw_many), "number"), X, 2 * CHUNK, "one of them")
    assert (len(draws.outputs), draws.failed, draws.again) == (2 * CHUNK - 2, 2, False)


@pytest.mark.parametrize("made", [draw, draw_block], ids=["draw", "draw_block"])
def test_failures_are_as_frequent_as_in_single_draws(made: Callable[..., Any]) -> None:
    """A block of 50 or 500 that counts as so many failures would make nearly all of them fail."""
    rate, asked = 0.02, setting(in_blocks(0.02))
    if made is draw:
        draws = draw(asked, X, 2000, "rate")
    else:
        repeated = Repeated(asked.source, X, asked.budget, (3, 3), 10.0)
        draws = draw_block(repeated, 4 * PART, np.random.SeedSequence(1))
    # Bernstein with 2000 draws: 109 more than the mean of 40 has probability below exp(-62)
    assert draws.size == 2000
    assert 0 < draws.failed < 2000 * rate + 109


def test_the_draws_are_the_same_again() -> None:
    one, two = (draw(setting(in_blocks(1e-2)), X, 20 * CHUNK, "again") for _ in range(2))
    assert one.again
    assert np.array_equal(one.outputs, two.outputs)
    assert one.failures == two.failures


def refuted(seed: int) -> bool:
    """Whether a test refutes a target whose law is the same on all data and of which one draw in 2 500 fails.

    Facts of the contract are left out: a single draw on an edge case may fail by chance, with blocks or without.
    """
    report = audit(in_blocks(1 / 2500), epsilon=1.0, samples=1000, seed=seed, jobs=1)
    return any(check.p_value is not None for check in report.refuted)


@pytest.mark.thorough
@pytest.mark.parametrize("seed", [2, 3, 4])
def test_a_law_that_ignores_the_data_is_not_refuted_because_blocks_fail(seed: int) -> None:
    """The stated probability of a false alarm is 1e-9. If a failed block counts as 50 failures, these are refuted."""
    assert not refuted(seed)


@pytest.mark.slow
def test_a_law_that_ignores_the_data_stands_over_200_seeds() -> None:
    assert [seed for seed in range(200) if refuted(seed)] == []
