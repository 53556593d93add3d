"""Find noise that is rounded before it is added. Some output on one data set may then be impossible on the neighbour.

Suppose that an entry of the output depends on one noise number alone, is monotone in this number, and is exactly
constant on an interval of values. The noise number lies in this interval with some probability, and the entry has its
constant value with at least this probability. On the neighbour the entry is also a monotone function of the noise
number. Bisection shows whether the function on the neighbour also takes the constant value, or jumps over it. If the
target rounds its output after the noise is added, the entry can have the same value on both data sets, and nothing is
reported. Intervals as short as the spacing of float32 numbers are left to the test of low-order bits.
"""

import numpy as np

from covassay.reference.domain import Vector
from covassay.reference.privacy import Guarantee
from covassay.verification.audit.recorded.affine import (
    CONTINUOUS,
    ROUNDING,
    UNIT,
    Variable,
    coordinates,
    tape_at,
    variables_of,
)
from covassay.verification.audit.recorded.half_lines import LEVELS, Side
from covassay.verification.audit.recorded.losses import event_loss

MOST = 12  # at most this many noise numbers are examined
USUAL = 0.4  # the search for an interval on which the output is constant starts at this quantile of the noise
SHORTEST = 1e-5  # an interval of noise numbers is ignored if its probability is smaller than this
HALVINGS = 60
FRESH = 8  # the number of runs that check that other noise numbers do not matter
INSIDE = 9  # the number of points of the interval at which the output is checked


class _Entry:
    """The entry `row` of the output as a function of noise number i, while all other noise numbers stay as in the first
    run.
    """

    def __init__(self, side: Side, variables: tuple[Variable, ...], i: int, row: int) -> None:
        self.side, self.variables, self.i, self.row = side, variables, i, row
        self.z0 = coordinates(side.base.tape, variables)

    def at(self, z: float, others: Vector | None = None) -> float:
        """Return the value of the entry if the noise number is z.

        Return NaN if the target fails, makes other draws or returns an output of another shape.
        """
        values = np.array(self.z0 if others is None else others)
        values[self.i] = z
        done = self.side.run(tape_at(self.side.base.tape, self.variables, values))
        usual = not done.failure and not done.tape.differs() and done.shape == self.side.base.shape
        return float(done.output[self.row]) if usual else float("nan")

    def alone(self, z: float, rng: np.random.Generator) -> bool:
        """Return whether this noise number alone changes the entry."""
        value = self.at(z)
        fresh = ([v.drawn(rng) for v in self.variables] for _ in range(FRESH))
        return all(self.at(z, np.array(one)) == value for one in fresh)

    def sign(self) -> int:
        """Return 1 if the entry increases with the noise number, −1 if it decreases, and 0 otherwise."""
        variable = self.variables[self.i]
        levels = [variable.at(p) for p in LEVELS] + [variable.above(p) for p in LEVELS[-2::-1]]
        change = np.diff([self.at(z) for z in levels])
        return int((change >= 0).all()) - int((change <= 0).all())


def by_steps(first: Side, second: Side, claim: Guarantee, rng: np.random.Generator) -> tuple[float, str]:
    """Return the loss that is proven by an output which only one data set can have, with a description of this output.
    Return 0 if no such output is found.
    """
    variables, _ = variables_of(first.base.tape)
    z0 = coordinates(first.base.tape, variables)
    moved = [first.run(tape_at(first.base.tape, variables, z0 * (1 + s * SHORTEST))) for s in (0, 1)]
    if moved[0].shape != moved[1].shape or not (moved[0].output == moved[1].output).any():
        return 0.0, "every entry changes with a small change of the noise"
    for i, variable in list(enumerate(variables))[:MOST]:
        z = variable.at(USUAL)
        row = _row(first, variables, i) if variable.family in CONTINUOUS else None
        if row is None:
            continue
        one, other = (_Entry(side, variables, i, row) for side in (first, second))
        value = one.at(z)
        p = _interval(one, variable, z, value)
        if p < SHORTEST or not one.sign() or one.sign() != other.sign():
            continue
        if one.alone(z, rng) and other.alone(z, rng) and _jumped(other, variable, value):
            drawn = first.base.tape.draws[variable.draw]
            told = (
                f"{drawn}: entry {row + 1} has the value {value:.6g} with probability {p:.3g} on one data set, and "
                "never on the other"
            )
            return event_loss(claim, p, LEVELS[0]), told
    return 0.0, "no entry was found to take a value with positive probability that the neighbour never takes"


def _row(side: Side, variables: tuple[Variable, ...], i: int) -> int | None:
    """Return an entry of the output that is constant under small changes of the noise number but changes under large
    changes.
    """
    z = variables[i].at(USUAL)
    outputs = []
    for number in (z, z * (1 + SHORTEST), z * (1 - SHORTEST), variables[i].at(LEVELS[4])):
        values = coordinates(side.base.tape, variables)
        values[i] = number
        done = side.run(tape_at(side.base.tape, variables, values))
        if done.failure or done.tape.differs() or done.shape != side.base.shape:
            return None
        outputs.append(done.output)
    stays = (outputs[0] == outputs[1]) & (outputs[0] == outputs[2]) & (outputs[0] != outputs[3])
    return int(np.argmax(stays)) if stays.any() else None


def _interval(entry: _Entry, variable: Variable, z: float, value: float) -> float:
    """Return a lower bound on the probability of an interval around z on which the entry has the value `value`."""
    ends = []
    for far in (variable.at(LEVELS[2]), variable.above(LEVELS[2])):
        inside, outside = z, far
        for _ in range(HALVINGS):
            middle = (inside + outside) / 2
            inside, outside = (middle, outside) if entry.at(middle) == value else (inside, middle)
        ends.append(inside)
    whole = all(entry.at(float(place)) == value for place in np.linspace(ends[0], ends[1], INSIDE))
    return variable.lower(ends[1]) - variable.lower(ends[0]) if whole else 0.0


def _jumped(entry: _Entry, variable: Variable, value: float) -> bool:
    """Return whether the entry jumps over this value by more than rounding explains."""
    sign = entry.sign()
    low, high = variable.at(LEVELS[0]), variable.above(LEVELS[0])
    if not sign * entry.at(low) < sign * value < sign * entry.at(high):
        return False
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if sign * entry.at(middle) < sign * value else (low, middle)
    rounding = ROUNDING * UNIT * max(abs(value), abs(entry.at(low)), abs(entry.at(high)))
    return bool(entry.at(high) != value and min(abs(entry.at(side) - value) for side in (low, high)) > rounding)
