"""Test the time limit of a draw. The limit must interrupt the draw and nothing else, whenever the alarm arrives."""

import gc
import signal
import time

import numpy as np
import pytest

from covassay.verification.audit.targets.target import (
    Failure,
    InsistentTimeLimitError,
    Target,
    TimeLimitError,
    call,
    within,
)

SECONDS = 0.0005


@pytest.mark.thorough
def test_a_draw_that_ends_when_its_time_is_up_leaves_no_timer_behind() -> None:
    """The test fails if a timer is still set after a draw has ended. Without interruption, the draws would take between
    0.9 and 1.1 times their time limit.
    """
    before = signal.getsignal(signal.SIGALRM)
    seen = set()
    for i in range(3000):
        end = time.perf_counter() + SECONDS * (0.9 + 0.2 * (i % 100) / 100)

        def busy(x, *, rng, end=end):  # type: ignore[no-untyped-def]
            while time.perf_counter() < end:
                pass
            return x

        output, _ = call(Target("busy", busy), np.eye(2), {}, np.random.default_rng(0), SECONDS)
        seen.add(isinstance(output, Failure))
        assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
        assert signal.getsignal(signal.SIGALRM) is before
    assert seen == {True, False}


def test_a_function_is_interrupted_again_and_again() -> None:
    """The test fails if a function can outlive its time limit by catching the interruption."""
    caught = []

    def stubborn() -> str:
        for _ in range(3):
            try:
                time.sleep(10)
            except BaseException as error:
                caught.append(type(error).__name__)
        return "an answer"

    assert within(0.01, stubborn) == "an answer"
    assert caught == ["TimeLimitError", "InsistentTimeLimitError", "InsistentTimeLimitError"]


class SlowToGo:
    """An object with a finaliser that takes longer than the time limit."""

    def __del__(self) -> None:
        time.sleep(0.25)


@pytest.mark.parametrize("ends", ["callback", "finaliser"])
def test_code_whose_exceptions_are_ignored_is_interrupted_after_it(ends: str) -> None:
    """The test fails if the interruption is lost because Python ignores the exception."""

    def slow(phase: str, info: dict[str, int]) -> None:
        time.sleep(0.25)

    def draw() -> None:
        if ends == "callback":
            gc.collect(0)
        else:
            SlowToGo()
        time.sleep(10)

    gc.callbacks.append(slow)
    try:
        with pytest.raises(TimeLimitError):
            within(0.2, draw)
    finally:
        gc.callbacks.remove(slow)


class StaysForLong:
    """An object with a finaliser that takes longer than ten times the time limit."""

    def __del__(self) -> None:
        time.sleep(10)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_finaliser_is_interrupted_after_ten_times_the_limit() -> None:
    """An object of the draw has a finaliser that runs for much longer than the time limit. The test fails if this
    finaliser is not interrupted.
    """

    def draw() -> None:
        StaysForLong()
        time.sleep(10)

    start = time.monotonic()
    with pytest.raises(InsistentTimeLimitError):
        within(0.02, draw)
    assert time.monotonic() - start < 5


def test_the_timer_of_somebody_else_is_set_again() -> None:
    def never() -> None:
        raise AssertionError

    previous = signal.signal(signal.SIGALRM, lambda *_: never())
    try:
        signal.setitimer(signal.ITIMER_REAL, 100)
        with pytest.raises(TimeLimitError, match=r"no output after 0\.01 s"):
            within(0.01, lambda: time.sleep(10))
        assert 90 < signal.getitimer(signal.ITIMER_REAL)[0] <= 100
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
