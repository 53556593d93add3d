"""Ask an implementation the questions of the tests, and compare its answers."""

import json
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from importlib import resources
from typing import Any

from covassay.reference.errors import InvalidInput
from covassay.verification.audit.targets.process_target import ERROR, NoReply, Process, words_of
from covassay.verification.audit.targets.target import TIME_LIMIT, InsistentTimeLimitError, TimeLimitError, within
from covassay.verification.vectors.numbers import number

PREFIX = "exec:"
QUESTION = (
    "kind", "mechanism", "formula", "projection", "step", "law", "parameters", "x", "noise", "point", "given", "at",
    "budgets", "to",
)  # fmt: skip
LONGEST = 2**24  # the largest number of characters of a reply


@dataclass(frozen=True)
class Tolerance:
    """The largest allowed error, as a multiple of the largest expected number or, if that is larger, of `floor`."""

    relative: float
    floor: float = 0.0


@dataclass(frozen=True)
class Outcome:
    """The outcome of one test.

    The field `wrong` describes an error in the answer, and `declined` the reason why there is no answer; otherwise they
    are empty.
    """

    test: Mapping[str, Any]
    wrong: str = ""
    declined: str = ""


class DeclinedError(Exception):
    """The implementation has no answer to a question; the message is the reason.

    The exception does not count as a rejection of bad input.
    """


def tests_file() -> dict[str, Any]:
    """Return the contents of the file of tests that is part of the package."""
    text = (resources.files("covassay.verification.vectors") / "tests.json").read_text(encoding="utf-8")
    content: dict[str, Any] = json.loads(text)
    return content


def question_of(test: Mapping[str, Any]) -> dict[str, Any]:
    """Return the part of a test that is sent to an implementation."""
    return {key: test[key] for key in QUESTION if key in test}


def asker(command: str, directory: str) -> tuple[Callable[[dict[str, Any]], Any], Callable[[], None]]:
    """Return a function that asks a process one question and returns the answer, and a function that ends the process.
    The process reads and writes lines of JSON, like a program that is audited.
    """
    words = words_of(command)
    if shutil.which(words[0]) is None:
        raise InvalidInput(f"target: {words[0]!r} is no program that can be started here")
    process = Process(words, directory)

    def ask(question: dict[str, Any]) -> Any:
        reply = process.ask(question, LONGEST)
        if reply.get("declined") is not None:
            raise DeclinedError(str(reply["declined"]))
        return reply.get("output")

    return ask, process.finish


def run(
    tests: Iterable[Mapping[str, Any]],
    ask: Callable[[dict[str, Any]], Any],
    tolerances: Mapping[str, Mapping[str, Any]],
) -> list[Outcome]:
    """Return the outcome of every test.

    If `ask` raises `DeclinedError` or `NotImplementedError`, the question is declined. If a process ends or exceeds the
    time limit, the answer is wrong. Every other exception rejects the question.
    """
    known = {name: Tolerance(entry["relative"], entry["floor"]) for name, entry in tolerances.items()}
    outcomes = []
    for test in tests:
        try:
            outcomes.append(Outcome(test, _wrong(test, ask, known)))
        except (DeclinedError, NotImplementedError) as error:
            outcomes.append(Outcome(test, declined=str(error) or "not implemented"))
    return outcomes


def _wrong(test: Mapping[str, Any], ask: Callable[[dict[str, Any]], Any], tolerances: Mapping[str, Tolerance]) -> str:
    try:
        answered = within(TIME_LIMIT, lambda: ask(question_of(test)))
    except (TimeLimitError, InsistentTimeLimitError) as error:
        return str(error)
    except NoReply as error:  # a process that crashes has not rejected the question
        return "" if error.message == ERROR and test["result"] == "invalid" else str(error)
    except (DeclinedError, NotImplementedError):  # `run` counts the question as declined, not as rejected
        raise
    except Exception as error:
        return "" if test["result"] == "invalid" else f"refused: {type(error).__name__}: {error}"
    if test["result"] == "invalid":
        return f"the question was answered, but must be refused: {test['trips']}"
    return compared(test["output"], answered, tolerances[test["tolerance"]])


def compared(expected: Any, answered: Any, tolerance: Tolerance) -> str:
    """Return a description of the error in an answer, or an empty text."""
    if isinstance(expected, dict):
        if not isinstance(answered, Mapping) or set(answered) != set(expected):
            return f"must be an object with {', '.join(expected)}"
        found = {key: compared(expected[key], answered[key], tolerance) for key in expected}
        return "; ".join(f"{key}: {wrong}" for key, wrong in found.items() if wrong)
    try:
        first, second = shape(expected), shape(answered)
        if first != second:
            return f"shape {second} in place of {first}"
        pairs = list(zip(map(number, leaves(expected)), map(number, leaves(answered)), strict=True))
    except RecursionError:
        return "is not made of numbers"
    except ValueError as error:
        return "a number that is not finite" if "finite" in str(error) else "is not made of numbers"
    largest = max((abs(a - b) for a, b in pairs), default=Fraction(0))
    size = max((abs(a) for a, _ in pairs), default=Fraction(0))
    allowed = Fraction(tolerance.relative) * max(size, Fraction(tolerance.floor))
    return "" if largest <= allowed else f"off by {_short(largest)}, where {_short(allowed)} is allowed"


def _short(value: Fraction) -> str:
    try:
        return f"{float(value):.3g}"
    except OverflowError:
        return "more than 1e308"


def shape(value: Any) -> tuple[int, ...]:
    """Return the shape of the numbers in nested lists. Raises ValueError if the lists do not form a rectangular
    block.
    """
    if hasattr(value, "tolist"):
        value = value.tolist()
    if not isinstance(value, list | tuple):
        return ()
    inner = {shape(item) for item in value}
    if len(inner) > 1:
        raise ValueError("not a block")
    return (len(value), *(inner.pop() if inner else ()))


def leaves(value: Any) -> Iterator[Any]:
    """Yield the numbers in nested lists, in their order."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, list | tuple):
        for item in value:
            yield from leaves(item)
    else:
        yield value
