"""A target beside the reference on the same draws, where both make the same kinds of draws in the same order.

Let y and r be an entry of their outputs from the same draws. If y = c·r + m for every draw, with |c| ≠ 1, or with c = 1
and m ≠ 0, then y and r have different laws, whatever the mechanism is: no law of a number that varies is the law of
itself, moved or rescaled. If y = r in all entries, the laws are the same. Both are checked on fresh draws and where
each draw, and all of them, are forced into their tails. Any other relation says nothing.
"""

from collections.abc import Iterator

import numpy as np

from covassay.reference.domain import Matrix, Vector
from covassay.verification.audit.recorded.affine import FORCED, ROUNDING, UNIT, coordinates, tape_at, variables_of
from covassay.verification.audit.recorded.exact_loss import NotDecided, OutOfTime, fresh_copy, steady
from covassay.verification.audit.recorded.half_lines import Side
from covassay.verification.audit.recorded.recorder import Recorder
from covassay.verification.audit.recorded.same_law import TELLING, Compared
from covassay.verification.audit.recorded.tape import Tape

FRESH = 20  # tapes of fresh draws
MOST_FORCED = 12  # variables that are forced one by one
EXACT = 1e-9  # relative to the spread of an entry: a relation that is off by less holds
SECONDS = 2.0


def on_common_draws(target: Recorder, reference: Recorder, x: Matrix, seed: int, seconds: float = SECONDS) -> Compared:
    """Compare the outputs on a data set. A difference is confirmed on a copy that the target has not seen."""
    found = Compared()
    for data, number in ((x, seed), (fresh_copy(x, None, seed), seed + 1)):
        try:
            with target.standing(), reference.standing():
                one, _ = steady(target, data, data, number, seconds)
                two, _ = steady(reference, data, data, number, seconds)
                outputs = list(_outputs(one, two, number))
        except NotDecided as error:
            return Compared(reason=str(error), left_out=isinstance(error, OutOfTime))
        found = _relation(np.array([y for y, _ in outputs]), np.array([r for _, r in outputs]))
        if not found.difference:
            return found
    return found


def same_outputs(target: Recorder, reference: Recorder, x: Matrix, seed: int) -> bool:
    """Whether both make the same draws on two tapes, and give the same outputs from them."""
    outputs = []
    with target.standing(), reference.standing():
        for number in (seed, seed + 1):
            y, r = target.run(x, Tape(number)), reference.run(x, Tape(number))
            if y.failure or r.failure or y.tape.compared(r.tape) or y.shape != r.shape:
                return False
            outputs.append((y.output, r.output))
    ys, rs = np.array([y for y, _ in outputs]), np.array([r for _, r in outputs])
    allowed = EXACT * np.ptp(rs, axis=0) + ROUNDING * UNIT * np.abs(rs).max(initial=0.0)
    return bool((np.abs(ys - rs) <= allowed).all())


def _tapes(side: Side, seed: int) -> Iterator[Tape]:
    """The draws of the usual run, fresh ones, and forced ones."""
    yield side.base.tape.again()
    for k in range(FRESH):
        yield Tape(seed + 104_729 * (k + 1))
    variables, _ = variables_of(side.base.tape)
    z0 = coordinates(side.base.tape, variables)
    few = len(variables) <= MOST_FORCED
    for p in FORCED:
        for upper in (False, True):
            far = np.array([v.above(p) if upper else v.at(p) for v in variables])
            for i in (*(range(len(variables)) if few and p != FORCED[1] else ()), None):
                z = far if i is None else np.where(np.arange(len(far)) == i, far, z0)
                yield tape_at(side.base.tape, variables, z)


def _outputs(one: Side, two: Side, seed: int) -> Iterator[tuple[Vector, Vector]]:
    """The outputs of both on the same draws."""
    for tape, same in zip(_tapes(one, seed), _tapes(one, seed), strict=True):
        y, r = one.run(tape), two.run(same)
        different = y.tape.compared(r.tape)
        if different:
            raise NotDecided(f"the reference makes other draws: {different}")
        if y.failure and r.failure:
            continue  # as the draws of a sampler may be forced into what it never draws
        if y.failure or r.failure:
            raise NotDecided(f"no output on some draws ({y.failure or r.failure})")
        if len(y.output) != len(r.output):
            raise NotDecided("the outputs have different sizes")
        yield y.output, r.output


def _relation(ys: Matrix, rs: Matrix) -> Compared:
    """What relates the entries, one column each."""
    usual = slice(0, FRESH + 1)
    told = ""
    for k, (y, r) in enumerate(zip(ys.T, rs.T, strict=True)):
        spread = float(np.ptp(r[usual]))
        size = float(np.abs(r).max() + np.abs(y).max())
        rounding = ROUNDING * UNIT * size
        if spread <= 100 * rounding or len(np.unique(r[usual])) <= FRESH // 2:
            if np.abs(y - r).max() > rounding:
                return Compared(reason=f"entry {k + 1} hardly varies in the reference, and is another here")
            continue
        if np.ptp(y) <= rounding:
            return Compared(f"entry {k + 1} has no noise, and has some in the reference")
        if np.abs(y - r).max() <= EXACT * spread + rounding:
            continue
        low, high = int(np.argmin(r[usual])), int(np.argmax(r[usual]))
        c = float((y[high] - y[low]) / (r[high] - r[low]))
        m = float(y[low] - c * r[low])
        off = np.abs(y - c * r - m)
        if (off > EXACT * (spread + np.abs(r)) + 4 * rounding).any():
            told = told or f"entry {k + 1} does not follow the reference's"
        elif abs(abs(c) - 1) > TELLING:
            return Compared(f"entry {k + 1} varies {c:.6g} times as much")
        elif abs(c - 1) <= TELLING and abs(float(np.median(y - r))) > TELLING * spread:
            return Compared(f"entry {k + 1} is moved by {float(np.median(y - r)):.6g} on the same draws")
        else:
            told = told or f"entry {k + 1} differs a little, or in its sign"
    return Compared(reason=told)
