"""Ask an implementation the questions of the tests, and compare its answers."""

import json
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any

import numpy as np

from covassay.verification.audit.targets.process_target import ERROR, NoReply, Process, words_of
from covassay.verification.audit.targets.target import TIME_LIMIT, InsistentTimeLimitError, TimeLimitError, within
from covassay.verification.vectors.answer import read

PREFIX = "exec:"
QUESTION = ("kind", "mechanism", "formula", "projection", "parameters", "x", "noise", "point")
LONGEST = 2**24  # characters of a reply
DIGITS = 1e-12  # relative error of a scale that is answered as a number in floating point


@dataclass(frozen=True)
class Outcome:
    """One test: `wrong` says what is wrong with the answer; it is "" if nothing is."""

    test: Mapping[str, Any]
    wrong: str


def tests_file() -> dict[str, Any]:
    """The tests as they are shipped."""
    text = (resources.files("covassay.verification.vectors") / "tests.json").read_text(encoding="utf-8")
    content: dict[str, Any] = json.loads(text)
    return content


def question_of(test: Mapping[str, Any]) -> dict[str, Any]:
    """What an implementation is told of a test."""
    return {key: test[key] for key in QUESTION if key in test}


def asker(command: str, directory: str) -> tuple[Callable[[dict[str, Any]], Any], Callable[[], None]]:
    """How a process is asked, by lines of JSON as in an audit, and how it is ended."""
    process = Process(words_of(command), directory)

    def ask(question: dict[str, Any]) -> Any:
        reply = process.ask(question, LONGEST)
        return reply.get("output")

    return ask, process.finish


def run(tests: Iterable[Mapping[str, Any]], ask: Callable[[dict[str, Any]], Any], tolerance: float) -> list[Outcome]:
    """The outcome of every test. An exception of `ask` refuses a question."""
    return [Outcome(test, _wrong(test, ask, tolerance)) for test in tests]


def _wrong(test: Mapping[str, Any], ask: Callable[[dict[str, Any]], Any], tolerance: float) -> str:
    try:
        answered = within(TIME_LIMIT, lambda: ask(question_of(test)))
    except (TimeLimitError, InsistentTimeLimitError) as error:
        return str(error)
    except NoReply as error:  # a crash is no refusal
        return "" if error.message == ERROR and test["result"] == "invalid" else str(error)
    except Exception as error:
        return "" if test["result"] == "invalid" else f"refused: {type(error).__name__}: {error}"
    if test["result"] == "invalid":
        return "answered, and must be refused"
    return compared(test["output"], answered, DIGITS if test["kind"] == "scale" else tolerance)


def compared(expected: Any, answered: Any, tolerance: float) -> str:
    """What is wrong with an answer, or ""; an error is measured against the largest number that is expected."""
    if isinstance(expected, dict):
        if not isinstance(answered, Mapping) or set(answered) != set(expected):
            return f"must be an object with {', '.join(expected)}"
        found = {key: compared(expected[key], answered[key], tolerance) for key in expected}
        return "; ".join(f"{key}: {wrong}" for key, wrong in found.items() if wrong)
    try:
        first, second = (np.asarray(read(value), dtype=float) for value in (expected, answered))
    except (TypeError, ValueError):
        return "is not made of numbers"
    if first.shape != second.shape:
        return f"shape {second.shape} in place of {first.shape}"
    if not np.isfinite(second).all():
        return "a number that is not finite"
    error = float(np.abs(first - second).max(initial=0.0))
    size = float(np.abs(first).max(initial=0.0))
    allowed = tolerance * max(size, 0.0 if tolerance == DIGITS else 1.0)
    if error <= allowed:
        return ""
    return f"off by {error:.3g}, where {allowed:.1g} is allowed" if math.isfinite(error) else "not comparable"
