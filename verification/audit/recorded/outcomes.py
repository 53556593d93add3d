"""Enumerate the outcomes of draws that choose rows or orders, to find draws on which the output does not depend.

The output of a target is a function f(x, c, z) of the data x, of its random choices c, and of all other draws z. The
choices are draws of whole numbers, of permutations, and of positions in a list. If f(x, c, z) is equal for all outcomes
c, then the output has the law of f(x, c₀, z) for any fixed c₀, and the choices may be ignored. The code computes all
possible outcomes from the parameters of the draws, so that none is missed. Several choices are enumerated together,
because two of them may matter only together. If the data have a single row, a choice among the rows has one outcome,
and may therefore be ignored. The outputs are compared for the recorded values of the other draws, for fresh values, and
for values far in both tails. The code assumes that, if the output depends on a choice, one of these values of z shows
the dependence.
"""

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from covassay.reference.domain import Vector
from covassay.verification.audit.recorded.affine import (
    NotAffine,
    checked_run,
    coordinates,
    points,
    tape_at,
    variables_of,
)
from covassay.verification.audit.recorded.half_lines import Side
from covassay.verification.audit.recorded.tape import Draw

FEW = 6  # the choices are enumerated only if they have at most this many combinations of outcomes
FRESH = 2  # the outputs of all combinations are compared again this many times, with fresh values of all other draws


def equal(one: Vector, two: Vector) -> bool:
    """Return whether two outputs are equal up to the rounding of float64."""
    return bool((np.abs(one - two) <= 1e-13 * (np.abs(one) + np.abs(two)) + 1e-300).all())


def ends(draw: Draw) -> tuple[int, int]:
    """Return the smallest value of a draw of whole numbers, and the largest value plus 1.

    ValueError is raised if a bound of the draw is an array.
    """
    low, high, _, endpoint = (str(parameter) for parameter in draw.parameters)
    least, most = (0, int(low)) if high == "None" else (int(low), int(high))
    return least, most + (endpoint == "True")


def without_effect(first: Side, second: Side, others: Sequence[int], rng: np.random.Generator) -> tuple[int, ...]:
    """Return the indices of the random choices that have no effect on the output, on either data set. Only the draws
    with the indices `others` are examined.

    `first` and `second` are runs on the two data sets. The result is empty if the choices have more than `FEW`
    combinations of outcomes, or if an output is not the same for all combinations.
    """
    choices = {k: found for k in others if (found := outcomes(first.base.tape.draws[k]))}
    if math.prod(len(found) for found in choices.values()) > FEW:
        return ()
    every = [dict(zip(choices, values, strict=True)) for values in itertools.product(*choices.values())]
    if len(every) > 1 and not all(_alike(side, tuple(choices), every, rng) for side in (first, second)):
        return ()
    return tuple(choices)


def outcomes(draw: Draw) -> list[Any]:
    """Return all possible values of a draw of whole numbers, of a permutation, or of positions in a list.

    The list is empty for any other draw, and for a draw that has more than `FEW` outcomes. A position in a list is
    returned even if the draw gives this position the probability zero.
    """
    value = np.asarray(draw.value)
    try:
        if draw.family == "integers":
            places, repeats = range(*ends(draw)), True
        elif draw.family == "choice" or (draw.family == "permutation" and len(draw.parameters) == 1):
            places = range(int(str(draw.parameters[0])))
            repeats = draw.family == "choice" and draw.parameters[2] == "True"
        else:
            return []
    except ValueError:
        return []
    if places.stop - places.start > FEW and value.size:  # the length of this range may be too large for `len`
        return []
    orders = itertools.product(places, repeat=value.size) if repeats else itertools.permutations(places, value.size)
    few = list(itertools.islice(orders, FEW + 1))
    return [np.array(one, dtype=value.dtype).reshape(value.shape)[()] for one in few] if len(few) <= FEW else []


def _alike(side: Side, choices: Sequence[int], every: Sequence[dict[int, Any]], rng: np.random.Generator) -> bool:
    """Return whether all outcomes of the choices give the same output. The outcomes are compared for several values of
    the other draws.
    """
    tape = side.base.tape
    variables, others = variables_of(tape)
    z0 = coordinates(tape, variables)
    for z, values in [(z0, {}), *points(variables, z0, tape, rng, [k for k in others if k not in choices], FRESH)]:
        base = None
        for one in every:
            done = checked_run(side.run, tape_at(tape, variables, z, {**values, **one}), side.base.shape)
            if isinstance(done, NotAffine):
                return False
            base = base or done
            if done.tape.seeds != base.tape.seeds or not equal(done.output, base.output):
                return False
    return True
