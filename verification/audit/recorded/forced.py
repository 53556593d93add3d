"""Force each random draw to its quantiles 10⁻³, 10⁻⁶ and 10⁻¹² and their mirror images, and record how the target
behaves.

Forced draws find truncation, redrawing, clipped noise, overflow and exceptions, which random draws would show only once
in 10³ to 10¹² draws.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from covassay.reference.domain import Matrix
from covassay.verification.audit.recorded.affine import FORCED, Variable, coordinates, tape_at, variables_of
from covassay.verification.audit.recorded.recorder import Recorded, Recorder
from covassay.verification.audit.recorded.tape import Tape

Branch = Literal["fails", "other draws", "stays"]
ALL = "all draws together"
# an entry of the output counts as depending on a draw if the entry differs between these quantiles of the draw
USUAL = (0.4, 0.3)
MOST = 60  # at most this many variables are set to extreme quantiles one by one


class NotForced(Exception):
    """Raised if no draw can be set to an extreme quantile; the message says why."""


@dataclass(frozen=True)
class ForcedDraw:
    """The behaviour of a target in a run in which one random number, or every random number, equals a quantile of its
    law.

    `family` is the law of the changed draw, and is empty if all draws are changed. `kind` is "fails" if the target
    fails, and "other draws" if it makes other draws or its output has another shape. `kind` is "stays" if an entry of
    the output has different values at the two quantiles `USUAL`, but equal values at the two most extreme quantiles.
    """

    draw: str
    family: str
    number: int
    quantile: float
    upper: bool
    kind: Branch
    message: str

    def __str__(self) -> str:
        side = "upper" if self.upper else "lower"
        return f"{self.draw}, number {self.number + 1}, {side} quantile {self.quantile:g}: {self.kind} ({self.message})"


def forced(made: Recorder, x: Matrix, seed: int = 0) -> tuple[ForcedDraw, ...]:
    """Replace all random numbers by extreme quantiles of their laws, and return how the target then behaves. If at most
    `MOST` numbers are drawn, each number is also replaced alone.

    Raises
    ------
    NotForced : the target fails on the usual draws, or has no draw that can be set to a quantile.
    """
    found: list[ForcedDraw] = []
    with made.standing():
        base = made.run(x, Tape(seed))
        if base.failure:
            raise NotForced(f"the target fails while its draws are recorded ({base.failure})")
        variables, _ = variables_of(base.tape)
        if not variables:
            raise NotForced("no draw of a known law was recorded")
        single = range(len(variables)) if len(variables) <= MOST else ()
        for i in (*single, None):
            for upper in (False, True):
                found += _at_quantiles(made, x, base, variables, i, upper)
    return tuple(found)


def _at_quantiles(
    made: Recorder, x: Matrix, base: Recorded, variables: Sequence[Variable], i: int | None, upper: bool
) -> list[ForcedDraw]:
    """Find how the target behaves in one tail of one draw, or of all draws together."""
    name = ALL if i is None else str(base.tape.draws[variables[i].draw])
    family = "" if i is None else variables[i].family
    number = 0 if i is None else variables[i].entry
    z0 = coordinates(base.tape, variables)
    outputs = []
    for p in (*USUAL, *FORCED):
        far = np.array([v.above(p) if upper else v.at(p) for v in variables])
        z = far if i is None else np.where(np.arange(len(z0)) == i, far, z0)
        done = made.run(x, tape_at(base.tape, variables, z))
        other = done.tape.differs()
        if done.failure or other:
            kind: Branch = "fails" if done.failure else "other draws"
            return [ForcedDraw(name, family, number, p, upper, kind, done.failure or other)]
        if done.shape != base.shape:
            return [ForcedDraw(name, family, number, p, upper, "other draws", "the output has another shape")]
        outputs.append(done.output)
    stays = np.not_equal(outputs[1], outputs[0]) & (outputs[-1] == outputs[-2])
    if not stays.any():
        return []
    row = int(np.argmax(stays))
    told = f"entry {row + 1} is {outputs[-1][row]:.6g}, as at {FORCED[1]:g}"
    return [ForcedDraw(name, family, number, FORCED[2], upper, "stays", told)]
