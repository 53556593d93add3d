"""Record the random draws of a run of a target, and repeat the run with some of the draws replaced.

A tape stores a draw in units of its own law. For the call `normal(loc, scale)`, which returns loc + scale · z, the tape
stores the number z. If the scale depends on the data, the returned number changes with the data, but the stored number
z does not. Generators with equal seeds get the same draws.
"""

import os
import sys
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np

from covassay.reference.domain import Vector

Make = Callable[[np.random.Generator], Any]
HERE = str(Path(__file__).parent)
# the function is imported under this name, because its usual name is replaced while a target runs
REAL_GENERATOR = np.random.Generator


@dataclass(frozen=True)
class Draw:
    """One random draw of a target, which may consist of many numbers.

    `family` is the law, such as "normal", and `parameters` are its parameters apart from location and scale. `value` is
    the drawn value before it is shifted and scaled. `place` is the function in the target's code that made the draw.
    `make` draws another value. `seeded` says whether the draw comes from a generator that was given a seed.
    """

    family: str
    parameters: tuple[Hashable, ...]
    shape: tuple[int, ...]
    value: Any
    place: str
    make: Make
    seeded: bool = False

    @property
    def signature(self) -> tuple[Hashable, ...]:
        """Return the properties of the draw that must be equal on both data sets."""
        return self.family, self.parameters, self.shape

    def __str__(self) -> str:
        shape = (len(self.value),) if isinstance(self.value, bytes) else np.shape(self.value)
        size = " × ".join(map(str, shape)) or "one number"
        return f"{self.family} ({size}) in {self.place}"


@dataclass(eq=False)
class Stream:
    """The position of one generator in the recorded draws.

    `key` is the seed of the generator, or None if the generator has no seed. `drawn` has the draws of the generator in
    the run of `tape`. Generators with the same seed share this list, and a generator that is set back to an earlier
    state repeats the draws from there.
    """

    key: Hashable | None = None
    position: int = 0
    drawn: list[Draw] = field(default_factory=list)
    tape: "Tape | None" = None

    def twin(self) -> "Stream":
        """Return a copy of the stream, which continues from the same position with the same draws."""
        return replace(self)

    def set_back(self, other: "Stream", position: int) -> None:
        """Continue from a position in the draws of `other`, which may be this stream."""
        self.key, self.drawn, self.tape, self.position = other.key, other.drawn, other.tape, position


@dataclass
class Tape:
    """All random draws of one run of a target.

    `seed` is the seed of new draws. `before` has the draws of an earlier run, which are repeated in their order.
    `seeds` are the seeds of the generators of the run. `trouble` says why the draws differ from the draws of the
    earlier run, and is empty if they do not differ. `shared` maps the identities of bit generators to their streams.
    """

    seed: int
    before: Sequence[Draw] | None = None
    draws: list[Draw] = field(default_factory=list)
    seeds: list[str] = field(default_factory=list)
    trouble: str = ""
    shared: dict[int, tuple[Any, Stream]] = field(default_factory=dict)
    _seeded: dict[Hashable, list[Draw]] = field(default_factory=dict)

    _generator: np.random.Generator | None = None

    def again(self, values: dict[int, Any] | None = None) -> "Tape":
        """Return a tape that repeats these draws; `values` maps the indices of some draws to new values."""
        draws = list(self.draws)
        for k, value in (values or {}).items():
            draws[k] = replace(draws[k], value=value)
        return Tape(self.seed + 1, draws)

    def draw(self, stream: Stream, family: str, parameters: tuple[Hashable, ...], shape: Any, make: Make) -> Any:
        """Return the next draw of a generator; a returned array is a copy, which the caller may change."""
        shape = as_shape(shape)
        self.enter(stream)
        seeded = stream.key is not None
        if stream.position == len(stream.drawn):
            stream.drawn.append(self._next(family, parameters, shape, make, seeded))
        found = stream.drawn[stream.position]
        stream.position += 1
        if found.signature != (family, parameters, shape):
            self.trouble = self.trouble or "a generator repeats a seed or a state, but makes different draws from it"
            found = self._new(family, parameters, shape, make)
        value = found.value
        return value.copy() if isinstance(value, np.ndarray) else value

    def enter(self, stream: Stream) -> None:
        """Set the generator's position to its first draw if the generator has not yet drawn in the run of this tape."""
        if stream.tape is not self:
            drawn = [] if stream.key is None else self._seeded.setdefault(stream.key, [])
            stream.tape, stream.position, stream.drawn = self, 0, drawn

    def _next(
        self, family: str, parameters: tuple[Hashable, ...], shape: tuple[int, ...], make: Make, seeded: bool = False
    ) -> Draw:
        k = len(self.draws)
        drawn = None
        if self.before is not None:
            drawn = self.before[k] if k < len(self.before) else None
            if drawn is None or drawn.signature != (family, parameters, shape):
                self.trouble = self.trouble or (
                    f"draw {k + 1} is {family} {shape or '(one number)'} in this run, but not in the earlier run"
                )
                drawn = None
        drawn = replace(drawn or self._new(family, parameters, shape, make), seeded=seeded)
        self.draws.append(drawn)
        return drawn

    def _new(self, family: str, parameters: tuple[Hashable, ...], shape: tuple[int, ...], make: Make) -> Draw:
        if self._generator is None:
            self._generator = REAL_GENERATOR(np.random.PCG64(self.seed))
        return Draw(family, parameters, shape, make(self._generator), "" if self.before else _place(), make)

    def differs(self) -> str:
        """Return why the draws differ from the draws of the earlier run, or an empty string if they do not."""
        if not self.trouble and self.before is not None and len(self.before) != len(self.draws):
            return f"{len(self.before)} draws in the earlier run, {len(self.draws)} in this run"
        return self.trouble

    def compared(self, other: "Tape") -> str:
        """Return why two runs make different kinds of draws, or an empty string if both make equal kinds."""
        for k, (one, two) in enumerate(zip_longest(self.draws, other.draws)):
            if one is None or two is None or one.signature != two.signature:
                here = f"{two} with other parameters" if str(one) == str(two) else str(two or "none")
                return f"draw {k + 1} is {one or 'none'} in one run, and {here} in the other"
        return ""


def as_shape(size: Any) -> tuple[int, ...]:
    """Return the shape of the array that a numpy sampler returns for this `size` argument."""
    if size is None:
        return ()
    return (int(size),) if np.ndim(size) == 0 else tuple(int(s) for s in size)


def flat(values: Any) -> Vector:
    """Return all numbers of a draw as a vector."""
    return np.asarray(values, dtype=np.float64).reshape(-1)


def _place() -> str:
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(HERE):
        frame = frame.f_back
    place = f"{frame.f_code.co_name} ({os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno})"
    # reports show functions of the target by these names
    return "".join(letter if letter.isprintable() else "�" for letter in place)
