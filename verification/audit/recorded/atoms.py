"""Find outputs without noise, in mechanisms that add noise only for some values of a random draw.

Let u be a uniform number or a whole number that the target draws. Suppose that for some values of u the output does not
depend on the other draws, and that for all other values of u the output depends on them. Let p be the probability of
the values of u for which the output does not depend on the other draws. The output without noise then occurs with
probability at least p. Suppose also that the outputs without noise differ between two neighbours, and that outputs with
noise never repeat. The output without noise of one data set then has probability 0 on the other data set.

The code runs the target on fresh draws, and on draws in the tails, to check that they do not change the output without
noise. A random choice among a few outputs without noise is not reported.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from covassay.reference.domain import Vector
from covassay.reference.privacy import Guarantee
from covassay.verification.audit.recorded.affine import FORCED, tape_at, variables_of
from covassay.verification.audit.recorded.half_lines import LEVELS, Side
from covassay.verification.audit.recorded.losses import event_loss
from covassay.verification.audit.recorded.tape import Draw, Tape

MOST = 6  # the largest number of draws that are examined
FRESH = 24  # this many runs check that no other draw changes the output, and that usual outputs differ
HALVINGS = 40
INSIDE = 0.9, 0.5, 0.1, 1e-2  # an interval of values is checked at these positions, given as shares of its length


@dataclass(frozen=True)
class _Decider:
    """A draw that may decide whether noise is added; k is its index among the recorded draws.

    `ends` has the smallest and the largest value that are tried, and `usual` is a value between them. If the draw is a
    whole number, `least` is the probability of each single value; otherwise `least` is 0.
    """

    k: int
    ends: tuple[Any, Any]
    usual: Any
    least: float


def by_atoms(first: Side, second: Side, claim: Guarantee, rng: np.random.Generator) -> tuple[float, str]:
    """Return the privacy loss that outputs without noise prove, with a description of these outputs; return 0 if there
    are no such outputs.
    """
    deciders = list(_deciders(first.base.tape))
    for which in (0, 1):
        together = {one.k: _with(first.base.tape.draws[one.k], one.ends[which]) for one in deciders}
        if not deciders or _held(first, together, rng, 1) is None:
            continue  # if one of these draws removed the noise, setting all of them would also remove it
        for decider in deciders:
            end = decider.ends[which]
            bare = [_still(side, decider.k, end, rng, 1) for side in (first, second)]
            if bare[0] is None or bare[1] is None or _close(bare[0], bare[1]):
                continue
            bare = [_still(side, decider.k, end, rng, FRESH) for side in (first, second)]
            if bare[0] is None or bare[1] is None:
                continue
            if any(_still(side, decider.k, decider.usual, rng, 1) is not None for side in (first, second)):
                continue  # no other draw changes any output, so this draw is the noise itself
            p = decider.least or min(_probability(side, decider.k, end, rng) for side in (first, second))
            reach = 0.0 if decider.least else p
            if not p or not all(_never(side, bare, decider.k, (end, reach), rng) for side in (first, second)):
                continue
            drawn = first.base.tape.draws[decider.k]
            told = f"with probability {p:.3g}, where {drawn} is near {end:g}, the output has no noise"
            return event_loss(claim, p, LEVELS[0]), told
    return 0.0, "no draw was found that decides whether noise is added"


def _deciders(tape: Tape) -> Iterator[_Decider]:
    """Yield the recorded draws, each a uniform or a whole number, that may decide whether noise is added."""
    single = [(k, draw) for k, draw in enumerate(tape.draws) if np.size(draw.value) == 1 and len(tape.draws) > 1]
    for k, draw in [one for one in single if one[1].family in ("uniform", "integers")][:MOST]:
        if draw.family == "uniform":
            yield _Decider(k, (FORCED[-1], 1 - FORCED[-1]), 0.5, 0.0)
            continue
        try:
            low, high, _, endpoint = (str(parameter) for parameter in draw.parameters)
            ends = (0, int(low)) if high == "None" else (int(low), int(high))
        except ValueError:
            continue
        count = ends[1] - ends[0] + (endpoint == "True")
        if count > 2:
            yield _Decider(k, (ends[0], ends[0] + count - 1), ends[0] + count // 2, 1 / count)


def _with(draw: Draw, value: Any) -> Any:
    return np.full_like(np.asarray(draw.value), value) if draw.shape else value


def _still(side: Side, k: int, value: Any, rng: np.random.Generator, fresh: int) -> Vector | None:
    """Return the output on one data set if draw k has the given value, or None if the run fails or other draws change
    the output.
    """
    return _held(side, {k: _with(side.base.tape.draws[k], value)}, rng, fresh)


def _held(side: Side, held: dict[int, Any], rng: np.random.Generator, fresh: int) -> Vector | None:
    """Return the output on one data set if the draws in `held` have the given values, or None if the run fails or other
    draws change the output.
    """
    tape = side.base.tape
    done = side.run(tape.again(held))
    if done.failure or done.tape.trouble:  # the run may stop drawing earlier, but must not make different draws
        return None
    for other in _others(tape, held, rng, fresh):
        again = side.run(other)
        if again.tape.trouble or (again.failure and fresh == 1):
            return None
        if not again.failure and (again.shape != done.shape or not _close(again.output, done.output)):
            return None
    return done.output


def _others(tape: Tape, held: dict[int, Any], rng: np.random.Generator, fresh: int) -> Iterator[Tape]:
    """Yield `fresh` tapes, which are recorded draws: the draws in `held` have the given values, and all other draws are
    new. If `fresh` is above 1, also yield tapes on which all other draws of a known law have values in the tails.
    """
    for _ in range(fresh):
        yield tape.again({j: draw.make(rng) for j, draw in enumerate(tape.draws) if j not in held} | held)
    variables = [v for v in variables_of(tape)[0] if v.draw not in held]
    for p in FORCED if fresh > 1 else ():
        for upper in (False, True):
            yield tape_at(tape, variables, np.array([v.above(p) if upper else v.at(p) for v in variables]), held)


def _never(
    side: Side, bare: list[Vector | None], k: int, branch: tuple[float, float], rng: np.random.Generator
) -> bool:
    """Run the target on fresh draws for which draw k lies outside of an interval. Return whether all outputs differ
    from each other, and from the outputs without noise.

    `branch` has the smallest or largest tried value of draw k, at which the interval ends, and the length of the
    interval.
    """
    tape, seen = side.base.tape, [one for one in bare if one is not None]
    for _ in range(FRESH):
        fresh = {j: draw.make(rng) for j, draw in enumerate(tape.draws)}
        if abs(float(np.ravel(fresh[k])[0]) - branch[0]) <= branch[1]:
            continue
        done = side.run(tape.again(fresh))
        if done.failure or done.tape.trouble or any(_close(done.output, other) for other in seen):
            return False
        seen.append(done.output)
    return len(seen) > FRESH // 2


def _probability(side: Side, k: int, end: float, rng: np.random.Generator) -> float:
    """Return a lower bound on the probability that the uniform draw k lies so near `end` that the output is constant.
    Return 0 if no interval of such values is found.
    """
    bare = _still(side, k, end, rng, 1)
    assert bare is not None

    def alike(p: float) -> bool:
        found = _still(side, k, 1 - p if end > 0.5 else p, rng, 1)
        return found is not None and _close(found, bare)

    inside, outside = FORCED[-1], 0.5
    for _ in range(HALVINGS):
        middle = float(np.sqrt(inside * outside))
        inside, outside = (middle, outside) if alike(middle) else (inside, middle)
    return inside if inside > FORCED[-1] and all(alike(share * inside) for share in INSIDE) else 0.0


def _close(one: Vector, other: Vector) -> bool:
    return one.shape == other.shape and bool((np.abs(one - other) <= 1e-12 * (np.abs(one) + np.abs(other))).all())
