"""Declare the kinds of values of audit options, and how a value of each kind is read from a word, checked, and
written.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import UnionType
from typing import Any

import numpy as np

from covassay.reference.domain import Box
from covassay.reference.domain.requirements import is_real
from covassay.reference.errors import InvalidInput
from covassay.verification.audit.engine.user_data import UserData, load_user_data
from covassay.verification.audit.engine.user_pair import UserPair, given_pair, load_pair
from covassay.verification.audit.targets.bounds import as_box
from covassay.verification.statistics.streams import Progress


def _same(value: Any) -> Any:
    return value


@dataclass(frozen=True)
class Kind:
    """The type of an option's value, with functions that read, check and write such a value.

    type, rule : the type of a value in Python, and its rule in words.
    read : makes a value from a word of the command line.
    take : makes a value from an argument in Python. `read` and `take` raise ValueError or TypeError for a value that
        breaks the rule, or `InvalidInput` with their own message.
    named : takes the name of a file or data set, and returns a value that has only this name. The file is not read.
    words : writes a value as words of a command line.
    plain : writes a value as plain data.
    code : writes a value as an expression in Python.
    """

    type: Any
    rule: str
    schema: Mapping[str, Any]
    metavar: str = ""
    read: Callable[[Any], Any] = _same
    take: Callable[[Any], Any] = _same
    named: Callable[[Any], Any] | None = None
    words: Callable[[Any], list[str]] = field(default=lambda value: [str(value)])
    plain: Callable[[Any], Any] = _same
    code: Callable[[Any], str] = repr


def digits(value: float) -> str:
    """Write a number as a short text from which exactly this number can be read again."""
    short = f"{value:g}"
    return short if float(short) == value else repr(value)


def _a(kind: type | UnionType) -> Callable[[Any], Any]:
    """Make a function that returns a value of this type, and raises TypeError for a value of another type."""

    def take(value: Any) -> Any:
        if not isinstance(value, kind):
            raise TypeError
        return value

    return take


def _number(value: Any) -> float:
    if not is_real(value):
        raise TypeError
    return float(value)


def _whole(value: Any) -> int:
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer):
        raise TypeError
    return int(value)


def choice(*names: str) -> Kind:
    """Return the kind of an option whose value must be one of the given names."""

    def take(value: Any) -> str:
        if value not in names:
            raise ValueError
        return str(value)

    rule = " or ".join(names) if len(names) == 2 else f"one of {', '.join(names)}"
    return Kind(str, rule, {"enum": list(names)}, f"{{{','.join(names)}}}", take=take)


def _choices(given: Any) -> dict[str, Any]:
    if given is None:
        return {}
    if not (isinstance(given, Mapping) and all(isinstance(name, str) for name in given)):
        raise TypeError
    return dict(given)


def _read_choices(items: Iterable[str]) -> dict[str, str]:
    found = {}
    for item in items:
        name, equals, value = item.partition("=")
        if not (name and equals):
            raise InvalidInput(f"options = {item}: must be NAME=VALUE")
        found[name.replace("-", "_")] = value
    return found


def _file(given: Any) -> str:
    return str(_a(str | Path)(given))


def _data(given: Any) -> UserData:
    return given if isinstance(given, UserData) else load_user_data(_file(given))


def _pair(given: Any) -> UserPair:
    return load_pair(str(given)) if isinstance(given, str | Path) else given_pair(given)


def _code_of_pair(pair: UserPair) -> str:
    return repr(pair.source) if pair.source else "(x, y)"


_NOTHING = np.zeros((0, 0))
TEXT = Kind(str, "a text", {"type": "string"}, "TEXT", take=_a(str))
FILE = Kind(str, "the name of a file", {"type": "string"}, "FILE", take=_file)
NUMBER = Kind(
    float, "a number", {"type": "number"}, "NUMBER", read=float, take=_number,
    words=lambda value: [digits(value)],
)  # fmt: skip
WHOLE = Kind(int, "a whole number", {"type": "integer"}, "N", read=int, take=_whole)
FLAG = Kind(bool, "True or False", {"type": "boolean"}, take=_a(bool), words=lambda value: [])
CHOICES = Kind(
    Mapping[str, Any], "a dictionary of names and values", {"type": "object"}, "NAME=VALUE", read=_read_choices,
    take=_choices, words=lambda given: [f"{name}={value}" for name, value in given.items()],
)  # fmt: skip
BOUNDS = Kind(
    Iterable[Any] | Box | str, "a pair (low, high) for every column, or (minima, maxima)", {"type": "array"}, "BOUNDS",
    take=as_box, plain=lambda box: [list(pair) for pair in box.bounds], code=lambda box: repr(box.bounds),
)  # fmt: skip
DATA = Kind(
    UserData | str, "the name of a data set or of a file", {"type": "string"}, "DATA", take=_data,
    named=lambda name: UserData(name, _NOTHING), words=lambda data: [data.name], plain=lambda data: data.name,
    code=lambda data: repr(data.name),
)  # fmt: skip
PAIR = Kind(
    UserPair | tuple[Any, Any] | str, "two tables (x, y), or the name of a file", {"type": "string"}, "FILE",
    take=_pair, named=lambda name: UserPair(_NOTHING, _NOTHING, name), words=lambda pair: [pair.source],
    plain=_code_of_pair, code=_code_of_pair,
)  # fmt: skip
WATCH = Kind(Progress, "a function of a label and a number", {})
