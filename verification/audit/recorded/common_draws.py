"""Compare the outputs of a target and of the reference for equal random draws, if both make the same kinds of draws in
the same order.

Let y be an entry of the target's output and r the same entry of the reference's output, and let c and m be numbers. If
y = c·r + m for all draws, and either |c| ≠ 1, or c = 1 and m ≠ 0, then y and r have different laws. This holds for
every random number r that is not constant: if |c| ≠ 1, the laws of c·r + m and of r differ for every m, and if m ≠ 0,
the laws of r + m and of r differ. If y and r are equal in all entries for all draws, the outputs have the same law.

A linear map y = A r + m may also relate the whole output vectors y and r. Let V be the linear space that the
differences of values of r span, and let r′ be an independent copy of r. If y and r have the same law, then A maps V
onto itself, and A^k (r − r′) has the law of r − r′ for every k. The powers of A on V, and the powers of its inverse,
are then bounded, so all eigenvalues of A on V have modulus 1.

Every relation is checked on fresh draws, and on draws that are set to extreme quantiles, one by one and all together.
Other relations between the outputs of target and reference do not change the verdict.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from covassay.reference.domain import Matrix, Vector
from covassay.verification.audit.recorded.affine import FORCED, ROUNDING, UNIT, coordinates, tape_at, variables_of
from covassay.verification.audit.recorded.exact_loss import NotDecided, OutOfTime, fresh_copy, steady
from covassay.verification.audit.recorded.half_lines import Side
from covassay.verification.audit.recorded.recorder import Recorder
from covassay.verification.audit.recorded.same_law import TELLING, Compared, of_single_precision
from covassay.verification.audit.recorded.tape import Tape

FRESH = 12  # the number of runs with fresh draws
MOST_FORCED = 12  # at most this many variables are set to extreme quantiles one by one
# a linear map is fitted only if the number of outputs is at least the rank of the reference's outputs plus this number
OVERDETERMINED = 6
# the powers of a linear map are taken to grow without bound if the power with the exponent POWER has a norm above GROWN
POWER, GROWN = 2**12, 100.0
LINEAR = 1e-7  # a linear map counts as a relation if its error is smaller than this share of the spread of the outputs
SAME = 1e-11  # outputs count as equal up to rounding if they differ by less than this share of the largest number
EXACT = 1e-9  # a relation counts as holding if its error is smaller than this share of the spread of an entry
DECIDING = (1e-12, 1e-9, 1e-6, 1e-4, 1e-3, *np.linspace(0.005, 0.995, 34), 1 - 1e-3, 1 - 1e-6, 1 - 1e-12)
FEW = 3  # each value of the target's additional draw is tried with this many values of the other draws
SECONDS = 2.0


def on_common_draws(target: Recorder, reference: Recorder, x: Matrix, seed: int, seconds: float = SECONDS) -> Compared:
    """Compare the outputs of a target and of the reference for equal random draws, on one data set.

    A difference is confirmed on a changed copy of the data that the target has not seen.
    """
    found = Compared()
    for data, number in ((x, seed), (fresh_copy(x, None, seed), seed + 1)):
        try:
            with target.standing(), reference.standing():
                one, _ = steady(target, data, data, number, seconds)
                two, _ = steady(reference, data, data, number, seconds)
                outputs = list(_outputs(one, two, number, single=number == seed))
        except NotDecided as error:
            return Compared(reason=str(error), left_out=isinstance(error, OutOfTime))
        ys, rs = (np.array(side) for side in zip(*outputs, strict=True))
        found = _relation(ys, rs, of_single_precision(x))
        if not found.difference:
            return found
    return found


def same_outputs(target: Recorder, reference: Recorder, x: Matrix, seed: int) -> bool | None:
    """Return whether two targets give equal outputs for the same draws, or None if the targets make different draws."""
    with target.standing(), reference.standing():
        y, r = (made.run(x, Tape(seed)) for made in (target, reference))
    if y.failure or r.failure or y.tape.compared(r.tape) or y.shape != r.shape:
        return None
    return bool((np.abs(y.output - r.output) <= SAME * np.abs(r.output).max(initial=0.0)).all())


def at_times(target: Recorder, reference: Recorder, x: Matrix, seed: int, seconds: float = SECONDS) -> Compared:
    """Compare the outputs of a target that makes one draw more than the reference, where the additional draw may change
    the scale of the noise.

    Suppose that the noise of the target is the noise of the reference times a factor that depends on the additional
    draw alone. If some factors are below 1 and none is above 1, or some are above 1 and none is below 1, the laws of
    target and reference have different spreads. A difference is confirmed on a changed copy of the data that the target
    has not seen.
    """
    found = Compared()
    for data, number in ((x, seed), (fresh_copy(x, None, seed), seed + 1)):
        try:
            with target.standing(), reference.standing():
                side, _ = steady(target, data, data, number, seconds)
                found = _by_decider(side, reference, data, number)
        except NotDecided as error:
            return Compared(reason=str(error), left_out=isinstance(error, OutOfTime))
        if not found.difference:
            return found
    return found


def _by_decider(side: Side, reference: Recorder, x: Matrix, seed: int) -> Compared:
    theirs = side.base.tape.draws
    ours = [draw.signature for draw in reference.run(x, Tape(seed)).tape.draws]
    single = [k for k, draw in enumerate(theirs) if draw.family == "uniform" and np.size(draw.value) == 1]
    extra = [k for k in single if [d.signature for j, d in enumerate(theirs) if j != k] == ours]
    if not extra:
        return Compared(reason="the target makes other draws")
    usual = []  # each element has the values of all draws, and the run of the reference with these values
    for j in range(FEW):
        generator = np.random.default_rng([seed, j])
        drawn = [replace(draw, value=draw.make(generator)) for draw in theirs]
        r = reference.run(x, Tape(seed + 1, [draw for k, draw in enumerate(drawn) if k != extra[0]]))
        usual.append((drawn, r))
    factors = []
    for u in DECIDING:
        outputs = []
        for drawn, r in usual:
            value = np.full_like(np.asarray(drawn[extra[0]].value), u)
            drawn[extra[0]] = replace(drawn[extra[0]], value=value if drawn[extra[0]].shape else float(u))
            y = side.run(Tape(seed + 1, drawn))
            if y.failure or r.failure or y.tape.trouble or r.tape.trouble or y.shape != r.shape:
                return Compared(reason="if the draws get other values, a run fails or makes different draws")
            outputs.append((y.output, r.output))
        factor = _factor(np.array([y for y, _ in outputs]), np.array([r for _, r in outputs]))
        if factor is None:
            return Compared(reason="the output is not the reference's output with rescaled noise")
        factors.append(factor)
    less, more = (np.array(factors) < 1 - TELLING).any(), (np.array(factors) > 1 + TELLING).any()
    if less == more:
        return Compared(reason="" if not less else "more noise for some draws, and less for others")
    k = int(np.argmax(np.abs(np.array(factors) - 1)))
    return Compared(
        f"the target makes an additional draw, {theirs[extra[0]]}. If the additional draw has the value "
        f"{DECIDING[k]:.3g}, the noise of the target is {factors[k]:.6g} times the noise of the reference"
    )


def _factor(ys: Matrix, rs: Matrix) -> float | None:
    """Return the ratio of the spreads of two samples of outputs if all entries have the same ratio, otherwise None."""
    changes, usual = np.diff(ys, axis=0), np.diff(rs, axis=0)
    factor = abs(float((changes * usual).sum() / max(float((usual**2).sum()), 1e-300)))
    size = float(np.abs(ys).max() + np.abs(rs).max())
    off = np.minimum(np.abs(changes - factor * usual), np.abs(changes + factor * usual)).max()
    moved = np.abs(np.abs(ys - rs)).max() if abs(factor - 1) <= TELLING else 0.0
    exact = EXACT * float(np.abs(usual).max()) + ROUNDING * UNIT * size
    return factor if off <= exact and moved <= exact else None


def _tapes(side: Side, seed: int, single: bool) -> Iterator[Tape]:
    """Yield recorded draws: those of the usual run, fresh draws, and draws at extreme quantiles."""
    yield side.base.tape.again()
    for k in range(FRESH):
        yield Tape(seed + 104_729 * (k + 1))
    variables, _ = variables_of(side.base.tape)
    z0 = coordinates(side.base.tape, variables)
    few = single and len(variables) <= MOST_FORCED
    for p in FORCED:
        for upper in (False, True):
            far = np.array([v.above(p) if upper else v.at(p) for v in variables])
            for i in (*(range(len(variables)) if few and p != FORCED[1] else ()), None):
                z = far if i is None else np.where(np.arange(len(far)) == i, far, z0)
                yield tape_at(side.base.tape, variables, z)


def _outputs(one: Side, two: Side, seed: int, single: bool) -> Iterator[tuple[Vector, Vector]]:
    """Yield pairs of outputs of two targets for equal draws."""
    for tape, same in zip(_tapes(one, seed, single), _tapes(one, seed, single), strict=True):
        y, r = one.run(tape), two.run(same)
        different = y.tape.compared(r.tape)
        if different:
            raise NotDecided(f"the reference makes different draws: {different}")
        if y.failure and r.failure:
            continue  # a sampler may fail on an extreme value that it would never draw
        if y.failure or r.failure:
            raise NotDecided(f"no output on some draws ({y.failure or r.failure})")
        if len(y.output) != len(r.output):
            raise NotDecided("the outputs have different sizes")
        yield y.output, r.output


def _relation(ys: Matrix, rs: Matrix, single: float = 0.0) -> Compared:
    """Find the relation between the entries of two samples of outputs, in which each entry is a column.

    `single` is a tolerance for shifts and changes of scale that sums in float32 may cause, relative to the largest
    number.
    """
    usual = slice(0, FRESH + 1)
    single *= float(max(np.abs(rs[usual]).max(initial=0.0), np.abs(ys[usual]).max(initial=0.0)))
    told = ""
    for k, (y, r) in enumerate(zip(ys.T, rs.T, strict=True)):
        spread = float(np.ptp(r[usual]))
        size = float(np.abs(r).max() + np.abs(y).max())
        rounding = ROUNDING * UNIT * size
        if spread <= 100 * rounding or len(np.unique(r[usual])) <= FRESH // 2:
            if np.abs(y - r).max() > rounding:
                return Compared(
                    reason=f"entry {k + 1} of the reference has few values, and the target gives other values"
                )
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
            told = told or f"entry {k + 1} is no affine function of the reference's entry"
        elif abs(abs(c) - 1) > max(TELLING, single / spread):
            return Compared(f"entry {k + 1} varies {c:.6g} times as much", factor=abs(c))
        elif abs(c - 1) <= TELLING and abs(float(np.median(y - r))) > max(TELLING * spread, single):
            return Compared(
                f"for the same draws, entry {k + 1} equals the reference's entry plus {float(np.median(y - r)):.6g}"
            )
        else:
            told = told or f"entry {k + 1} is nearly the reference's entry, or a constant minus this entry"
    far = np.abs(ys - rs)[usual].max() > single
    return (_linear(ys, rs) if far else None) or Compared(reason=told, related=True) if told else Compared()


def _linear(ys: Matrix, rs: Matrix) -> Compared | None:
    """Describe how two laws differ if one sample of outputs is a linear image of the other; return None if no
    difference is proven.
    """
    y, r = ys - ys.mean(axis=0), rs - rs.mean(axis=0)
    size = max(float(np.abs(ys).max()), float(np.abs(rs).max()))
    u, s, vt = np.linalg.svd(r, full_matrices=False)
    count = int((s > max(LINEAR * s[0], ROUNDING * UNIT * size * len(s))).sum())
    if y.shape != r.shape or not count or len(r) < count + OVERDETERMINED or (s[count:] > EXACT * s[0]).any():
        return None
    image = (u[:, :count] * s[:count]).T
    matrix = np.linalg.lstsq(image.T, y, rcond=None)[0]  # each row of `y` is a row of `r` times this matrix
    if np.abs(image.T @ matrix - y).max() > LINEAR * s[count - 1]:
        return None
    kept = vt[:count]
    beside = np.linalg.norm(matrix - matrix @ kept.T @ kept)
    if beside > TELLING:
        return Compared(
            "the noise is a linear image of the reference's noise, and has components in directions in which the "
            f"reference has no noise; this part of the linear map has norm {beside:.3g}"
        )
    # this is the linear map in coordinates in which r has spread 1 in every direction
    own = u[:, :count].T @ y @ kept.T / s[:count]
    values = np.abs(np.linalg.eigvals(own))
    worst = float(values[int(np.argmax(np.abs(values - 1)))])
    if abs(worst - 1) <= TELLING:
        powers = np.linalg.matrix_power(own, POWER)
        if np.abs(values - 1).max() > LINEAR or np.linalg.norm(powers) <= GROWN:
            return None
        return Compared(
            "the noise is a linear image of the reference's noise, and the powers of the linear map grow, which is "
            "impossible if both noises have the same law"
        )
    return Compared(
        "the noise is a linear image of the reference's noise, and the linear map has an eigenvalue of modulus "
        f"{worst:.3g}"
    )
