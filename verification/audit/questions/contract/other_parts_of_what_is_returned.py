"""Check whether the target returns, besides its output, other parts that show the data without noise.

The audit tests one part of the returned value, such as an attribute of a fitted object. A user who gets the whole
returned value also gets the parts that the audit does not test. A part of the returned value that is the same for every
seed and changes with the data has no noise. A part without noise is only noted, because the claim concerns the output,
and only the author knows which parts are published. The option --public declares parts that are documented as public. A
noisy choice among a few values may be the same for several seeds by chance. The check therefore runs the target with
many more seeds if a part of the returned value changes with the data, but is the same for the first few seeds. The data
sets have few rows, so that the noise is large.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from covassay.reference.domain import Matrix
from covassay.verification.audit.engine.adjacency import REPLACE_ONE
from covassay.verification.audit.engine.contract import example_rows, in_box, kept
from covassay.verification.audit.engine.facts import Facts, says
from covassay.verification.audit.engine.finding import Finding, Look, Status
from covassay.verification.audit.engine.sampling import Setting
from covassay.verification.audit.question import Question, Subject
from covassay.verification.audit.targets.calling import Wrapped, whole_call
from covassay.verification.audit.targets.returned import leaves
from covassay.verification.audit.targets.target import Failure, call
from covassay.verification.statistics.streams import stream

NAME = "other parts of what is returned"
ROWS = 5, 20  # small numbers of rows come first, because the noise of a release is large for few rows
DIMENSION = 3
# the function is called with SEEDS seeds, and with MORE further seeds if some part did not change with the seed
SEEDS, MORE = 3, 30
COPY, COUNT, MOVED = "a copy of the data", "the number of rows", "computed from the data"
SHOWN = 6
Parts = Mapping[str, bytes]


@dataclass(frozen=True)
class PartInTheClear:
    """A part of the returned value that has no noise."""

    part: str = field(metadata=says("Where this part is in the returned value."))
    holds: str = field(
        metadata=says("What this part shows: a copy of the data, the number of rows, or something computed from them.")
    )


@dataclass(frozen=True)
class PartsInTheClear(Facts):
    """The parts of the returned value that depend on the data and not on the seed."""

    parts: tuple[PartInTheClear, ...] = field(metadata=says("One entry for each part that has no noise."))


def _token(value: object) -> bytes:
    if isinstance(value, str | bytes):
        return value.encode("utf-8", "replace") if isinstance(value, str) else value
    array = np.ascontiguousarray(value)
    return repr((array.shape, array.dtype.kind)).encode() + array.tobytes()


def _rows(setting: Setting, n: int) -> list[Matrix]:
    """Return data sets of one shape, and after them a data set with one row less."""
    box = setting.box
    d = DIMENSION if box is None else box.dimension
    all_rows = example_rows(2 * n, d)
    rows = [all_rows[:n], all_rows[n:], 0.3 * all_rows[:n], all_rows[: n - 1]]
    return rows if box is None else [in_box(box, one) for one in rows]


class _Asked:
    """Call a target, and keep all parts of the value that its function returns, not only the output that is audited."""

    def __init__(self, setting: Setting, function: Wrapped) -> None:
        assert function.call is not None
        self.setting = setting
        self.target = setting.target
        self.whole = Wrapped(function.function, whole_call(function.call))
        self.of_method = str(self.whole.call).startswith("[(made :=")

    def parts(self, x: Matrix, seed: int) -> Parts | Failure:
        """Return all parts, encoded as bytes that are equal exactly if the parts are equal."""
        rng = np.random.default_rng(stream(self.setting.seed, NAME, seed))
        given = x.copy()

        def tokens(x: Matrix, **options: Any) -> Parts:
            whole = self.whole(x, **options)
            if not self.of_method:
                return {name: _token(value) for name, value in leaves(whole)}
            made, *returned = whole
            more = [(f"returned{name}", value) for one in returned if one is not made for name, value in leaves(one)]
            return {name: _token(value) for name, value in (*leaves(made), *more)}

        target = type(self.target)(self.target.name, tokens)
        found, seconds = call(target, given, self.setting.budget, rng, self.setting.seconds)
        self.setting.progress.timed(1, seconds)
        return found if isinstance(found, Failure) else dict(found)

    def still(self, x: Matrix, seeds: range) -> Parts:
        """Return the parts that are the same for all given seeds, or an empty dictionary if a call fails."""
        same: Parts | None = None
        for seed in seeds:
            found = self.parts(x, seed)
            if isinstance(found, Failure):
                return {}
            same = found if same is None else {name: token for name, token in same.items() if found.get(name) == token}
        return same or {}


def in_the_clear(subject: Subject, asked: _Asked) -> dict[str, str] | None:
    """Return the parts that depend on the data and not on the seed, with descriptions; return None if the target gives
    no output.
    """
    for n in ROWS:
        x, other, smaller, fewer = _rows(subject.setting, n)
        first = range(SEEDS)
        kept_on = [asked.still(data, first) for data in (x, other, smaller)]
        if not kept_on[0] or not kept_on[1]:
            continue
        same = [name for name in kept_on[0] if name in kept_on[1]]
        moved = [name for name in same if len({on[name] for on in kept_on if name in on}) > 1]
        counted: list[str] = []
        if subject.adjacency != REPLACE_ONE:
            on_fewer = asked.still(fewer, first)
            counted = [n for n in same if n in on_fewer and n not in moved and on_fewer[n] != kept_on[0][n]]
        certain = moved + counted
        for data, usual in zip((x, other), kept_on, strict=False):
            if certain:
                again = asked.still(data, range(SEEDS, SEEDS + MORE))
                certain = [name for name in certain if again.get(name) == usual[name]]
        return {name: COUNT if name in counted else _what(kept_on[0][name], x) for name in certain}
    return None


def _what(token: bytes, x: Matrix) -> str:
    return COPY if token in (_token(x), _token(x.T), _token(np.asfortranarray(x))) else MOVED


def _declared(name: str, public: Sequence[str]) -> bool:
    """Return whether the user declared as public this part, or a part that contains it. The user may write mean_ for
    .mean_, and 1 for [1].
    """
    steps = [step for step in name.replace("[", ".").replace("]", "").replace("'", "").split(".") if step]
    return any(word in steps or word == name for word in public)


def ask(subject: Subject, look: Look) -> list[Finding]:
    """Find the parts of the returned value that reveal the data without noise."""
    function = subject.setting.target.draw
    assert isinstance(function, Wrapped)
    asked = _Asked(subject.setting, function)
    found = in_the_clear(subject, asked)
    if found is None:
        return [Finding("contract", NAME, Status.SKIPPED, "the target gives no output on a few rows")]
    public = subject.options.public_parts
    seen = {name: what for name, what in found.items() if not _declared(name, public)}
    declared = f"; declared as public: {', '.join(public)}" if public else ""
    if not seen:
        told = (
            f"in the value of {asked.whole.call}, no undeclared part is the same for every seed and changes with the "
            f"data{declared}"
        )
        return [kept(NAME, told)]
    parts = tuple(PartInTheClear(name.removeprefix("."), what) for name, what in seen.items())
    listed = ", ".join(f"{one.part} ({one.holds})" for one in parts[:SHOWN])
    more = f", and {len(parts) - SHOWN} more" if len(parts) > SHOWN else ""
    told = (
        f"{listed}{more}: {asked.whole.call} returns these parts without noise. Each of these parts is the same for "
        f"all seeds, but differs between data sets. The audit tests only {function.call}. Whoever gets the returned "
        f"object, or a file with it, also gets these parts. Leave them out, or use --public to declare the parts that "
        f"are documented as public{declared}"
    )
    return [Finding("contract", NAME, Status.NOTED, told, facts=PartsInTheClear(parts))]


def _applies(subject: Subject) -> str:
    function = subject.setting.target.draw
    if not isinstance(function, Wrapped) or function.call is None:
        return "the output is all that the function returns, as far as the audit sees"
    if whole_call(function.call) == function.call.strip():
        return "the output is all that the function returns"
    return ""


QUESTION = Question(
    name=NAME,
    kind="contract",
    asks="Do parts of what the function returns, other than its output, show the data?",
    blind_to=(
        "data that the function stores outside the returned value, parts that are nested more than four levels deep, "
        "and parts that are equal for all data sets of this check but not for all others"
    ),
    ask=ask,
    applies=_applies,
    draws=3 * SEEDS,
    gives=(PartsInTheClear,),
)
