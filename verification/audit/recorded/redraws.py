"""Find noise that is drawn again if it is too large.

If noise is drawn again when it is too large, its law has no tail, so some outputs are possible on one data set only.

Suppose that an entry of the output depends on one noise number alone, and that the target draws this number again if
the number lies beyond an edge. If large noise is drawn again, the output at the edge is the most extreme possible
output. The most extreme possible output is different on the neighbour. The outputs between the extremes of the two data
sets have a known probability on one data set, and probability 0 on the other. The code checks that the entry does not
depend on other noise numbers, and that the new number replaces the old one. The code also checks that the new number is
drawn again if this number is beyond the edge as well.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from covassay.reference.domain import Vector
from covassay.reference.privacy import Guarantee
from covassay.verification.audit.recorded.affine import FORCED, Variable, coordinates, tape_at, variables_of
from covassay.verification.audit.recorded.half_lines import LEVELS, Side
from covassay.verification.audit.recorded.losses import event_loss
from covassay.verification.audit.recorded.recorder import Recorded

MOST = 30  # at most this many noise numbers are examined
USUAL = 0.4, 0.3  # the target must not redraw a noise number at these quantiles
FRESH = 16  # in this many runs, the code checks that the entry does not depend on other noise numbers
HALVINGS = 45
EXACT = 1e-9  # a value counts as on the straight line if its relative error is at most this
NEAR = 1e-6  # the target is run with noise numbers that are smaller and larger than the edge by this share of the edge


@dataclass(frozen=True)
class _Line:
    """An entry of the output on one data set as a function of a noise number z. The entry equals centre + gain · z
    until z reaches `edge`; beyond the edge, z is drawn again.
    """

    centre: float
    gain: float
    edge: float

    @property
    def limit(self) -> float:
        """Return the value of the entry at the edge, which is the most extreme possible value."""
        return self.centre + self.gain * self.edge


class _Number:
    """One random number that the target uses as noise, and the upper or lower tail of its law, which is examined."""

    def __init__(self, variables: tuple[Variable, ...], i: int, upper: bool) -> None:
        self.variables, self.i, self.upper = variables, i, upper
        self.variable = variables[i]
        self.far = self.at(FORCED[-1])

    def at(self, p: float) -> float:
        """Return the value that the noise number exceeds with probability p."""
        return self.variable.above(p) if self.upper else self.variable.at(p)

    def beyond(self, z: float) -> float:
        """Return the probability that the noise number lies further out in the examined tail than z."""
        return self.variable.upper(z) if self.upper else self.variable.lower(z)

    def run(self, side: Side, z: float, others: Vector | None = None) -> Recorded:
        """Run the target with the value z of the noise number. All other numbers are as in `others` if it is given, and
        otherwise as in the first run.
        """
        values = np.array(coordinates(side.base.tape, self.variables) if others is None else others)
        values[self.i] = z
        return side.run(tape_at(side.base.tape, self.variables, values))


def by_redraws(first: Side, second: Side, claim: Guarantee, rng: np.random.Generator) -> tuple[float, str]:
    """Return a lower bound on the privacy loss from noise that is drawn again if it is too large, with a description of
    this noise. Return 0 if no such noise is found.
    """
    variables, _ = variables_of(first.base.tape)
    if not variables or not any(_all_again(first, variables, upper) for upper in (False, True)):
        return 0.0, "no noise is drawn again: a run in which all noise numbers are large makes no further draws"
    for i in [i for i, v in enumerate(variables) if v.family in ("normal", "laplace")][:MOST]:
        for upper in (False, True):
            number = _Number(variables, i, upper)
            if not all(_again(side, number.run(side, number.far)) for side in (first, second)):
                continue
            for row in _rows(first, number):
                lines = [_line(side, number, row) for side in (first, second)]
                if lines[0] is None or lines[1] is None:
                    continue
                p = max(_apart(number, lines[0], lines[1]), _apart(number, lines[1], lines[0]))
                sides = zip((first, second), lines, strict=True)
                if p and all(line is not None and _alone(side, number, row, line, rng) for side, line in sides):
                    drawn = first.base.tape.draws[variables[i].draw]
                    told = (
                        f"{drawn}: the target draws number {variables[i].entry + 1} again if this number lies beyond "
                        f"{lines[0].edge:.6g}"
                    )
                    return event_loss(claim, p, LEVELS[0]), told
    return 0.0, "no single noise number was found that the target draws again if the number is large"


def _again(side: Side, done: Recorded) -> bool:
    """Return whether a run makes the draws of the first run, and after them further draws."""
    base, made = side.base.tape.draws, done.tape.draws
    alike = len(made) > len(base) and all(b.signature == m.signature for b, m in zip(base, made, strict=False))
    return alike and not done.failure and done.shape == side.base.shape


def _all_again(side: Side, variables: tuple[Variable, ...], upper: bool) -> bool:
    """Return whether the target makes new draws if all noise numbers are large."""
    far = np.array([v.above(FORCED[-1]) if upper else v.at(FORCED[-1]) for v in variables])
    return _again(side, side.run(tape_at(side.base.tape, variables, far)))


def _kept(done: Recorded) -> bool:
    return not done.failure and not done.tape.differs()


def _rows(side: Side, number: _Number) -> Iterator[int]:
    """Yield up to two entries of the output that depend on the noise number."""
    one, two = (number.run(side, number.at(p)) for p in USUAL)
    if _kept(one) and _kept(two) and one.shape == two.shape:
        yield from (int(row) for row in np.flatnonzero(one.output != two.output)[:2])


def _line(side: Side, number: _Number, row: int) -> _Line | None:
    """Return the entry `row` of the output as a linear function of the noise number up to an edge. If the noise number
    lies beyond the edge, the target draws it again. Return None if there is no edge, or the function is not linear up
    to the edge.
    """
    usual = [number.at(p) for p in USUAL]
    runs = [number.run(side, z) for z in usual]
    if not all(map(_kept, runs)):
        return None
    gain = (runs[1].output[row] - runs[0].output[row]) / (usual[1] - usual[0])
    inside, outside = usual[1], number.far
    for _ in range(HALVINGS):
        middle = (inside + outside) / 2
        done = number.run(side, middle)
        if _kept(done):
            inside = middle
        elif _again(side, done):
            outside = middle
        else:
            return None
    line = _Line(float(runs[0].output[row] - gain * usual[0]), float(gain), inside)
    found = number.run(side, inside).output[row]
    return line if gain and abs(found - line.limit) <= EXACT * (abs(found) + abs(line.gain)) else None


def _apart(number: _Number, one: _Line, other: _Line) -> float:
    """Return the probability of the outputs on one data set that are more extreme than every output on the other data
    set.

    The probability is 0 if no output on one data set is more extreme than every output on the other.
    """
    outward = np.sign(one.gain) * (1 if number.upper else -1)
    if outward * (one.limit - other.limit) <= NEAR * abs(one.gain):
        return 0.0
    start = (other.limit - one.centre) / one.gain
    usual = number.at(USUAL[1])
    start = max(start, usual) if number.upper else min(start, usual)
    return max(0.0, number.beyond(start) - number.beyond(one.edge))


def _alone(side: Side, number: _Number, row: int, line: _Line, rng: np.random.Generator) -> bool:
    """Return whether two conditions hold in all tried runs: the entry depends on no other noise number, and the target
    draws the examined number again if this number is beyond the edge.
    """
    just, between = line.edge * (1 - NEAR), number.at(FORCED[1])
    beyond = [line.edge * (1 + NEAR), between if abs(between) > abs(line.edge) else number.far, number.far]
    for _ in range(FRESH):
        others = np.array([v.drawn(rng) for v in number.variables])
        usual, near = (number.run(side, z, others) for z in (number.at(USUAL[0]), just))
        if _kept(usual) != _kept(near):
            return False
        off = abs(near.output[row] - line.centre - line.gain * just) if _kept(near) else 0.0
        if off > EXACT * (abs(line.limit) + abs(line.gain)):
            return False
        if not all(_again(side, number.run(side, z, others)) for z in beyond):
            return False
    return all(_renewed(side, number, row, line, z) for z in (number.far, line.edge * (1 + NEAR)))


def _renewed(side: Side, number: _Number, row: int, line: _Line, z: float) -> bool:
    """Return whether the newly drawn number replaces the old one, and is drawn again if it is also beyond the edge."""
    done = number.run(side, z)
    tape = done.tape
    place = len(side.base.tape.draws)
    old, new = side.base.tape.draws[number.variable.draw], done.tape.draws[place]
    entry = number.variable.entry if new.shape == old.shape else 0
    if new.family != number.variable.family or (new.shape != old.shape and np.size(new.value) != 1):
        return False
    usual = np.array(new.value, dtype=float)
    usual.reshape(-1)[entry] = number.at(USUAL[0])
    large = usual.copy()
    large.reshape(-1)[entry] = number.far
    shaped = [value if new.shape else value[()] for value in (usual, large)]
    kept, again = (side.run(tape.again({place: value})) for value in shaped)
    expected = line.centre + line.gain * number.at(USUAL[0])
    if kept.failure or abs(kept.output[row] - expected) > EXACT * (abs(expected) + abs(line.gain)):
        return False
    return not again.failure and len(again.tape.draws) > len(tape.draws)
