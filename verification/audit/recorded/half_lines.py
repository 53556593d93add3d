"""Compute the probabilities of events for outputs that are no affine function of the random draws.

If an entry of the output depends on one draw z alone and increases with it, then {entry ≥ t} is {z ≥ z_t} for some z_t,
and the probability of this event is known. The probabilities of this event on two neighbouring data sets prove a lower
bound on the privacy loss. Thresholds prove lower bounds only, so they can refute a claim but not confirm it. Thresholds
are of use if the target applies a quantile function to a uniform number, if noise is clipped or compressed in its tail,
or if the noise has another scale on the neighbour.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from covassay.reference.domain import Matrix, Vector
from covassay.reference.privacy import Guarantee, PureDP
from covassay.verification.audit.recorded.affine import (
    ROUNDING,
    UNIT,
    AffineNoise,
    NotAffine,
    Run,
    Variable,
    checked_run,
    coordinates,
    distribution,
    quantile,
    tape_at,
)
from covassay.verification.audit.recorded.losses import Law, event_loss, loss_in
from covassay.verification.audit.recorded.recorder import Recorded

LEVELS = (1e-12, 1e-9, 1e-6, 1e-4, 1e-3, 1e-2, 0.05, 0.2, 0.35, 0.5)
FRESH = 8
HALVINGS = 40
MOST = 100  # the largest number of variables
TELLING = 1e6  # noise is not lost in rounding if it is larger than this many rounding errors of an entry
# for at most this many thresholds, bisection finds the probability on the neighbouring data set to full precision
BISECTED = 6


@dataclass(frozen=True)
class Side:
    """A data set, given by the function that runs the target on it, and one run on this data set."""

    run: Run
    base: Recorded


@dataclass(frozen=True)
class _Map:
    """An entry of the output as a function of z, the only variable on which the entry depends.

    `first` and `second` have the values of the entry on the two data sets, for the values of the variable in `z`.
    """

    row: int
    variable: int
    z: Vector
    first: Vector
    second: Vector
    sign: int  # the sign is 1 if the entry of the output increases with z


def by_thresholds(
    first: Side, second: Side, variables: tuple[Variable, ...], claim: Guarantee, rng: np.random.Generator
) -> tuple[float, str]:
    """Return the largest lower bound on the privacy loss that events {entry ≥ t} or {entry ≤ t} prove, with a
    description. Return 0 if no entry of the output is a monotone function of one draw alone.
    """
    maps = _maps(first, second, variables, rng)
    if not maps:
        return 0.0, "no entry of the output is a monotone function of one draw alone"
    best = 0.0
    for turned in (False, True):
        one, two = (second, first) if turned else (first, second)
        losses: dict[int, float] = {}
        for m in maps:
            seen = _best(m, turned, two, variables, claim, one)
            losses[m.variable] = max(losses.get(m.variable, 0.0), seen)
        joined = sum(losses.values()) if isinstance(claim, PureDP) else max(losses.values())
        best = max(best, joined)
    return best, f"a lower bound by thresholds, which use {len({m.variable for m in maps})} of the drawn numbers"


def _maps(first: Side, second: Side, variables: tuple[Variable, ...], rng: np.random.Generator) -> list[_Map]:
    z0 = coordinates(first.base.tape, variables)
    count = len(first.base.output)
    if len(variables) > MOST or not _single(first, second, variables, z0):
        return []
    values = []
    levels = []
    for i, variable in enumerate(variables):
        z = np.array([variable.at(p) for p in LEVELS] + [variable.above(p) for p in LEVELS[-2::-1]])
        levels.append(z)
        both = []
        for side in (first, second):
            outputs = []
            for number in z:
                moved = z0.copy()
                moved[i] = number
                done = checked_run(side.run, tape_at(side.base.tape, variables, moved), side.base.shape)
                if isinstance(done, NotAffine):
                    return []
                outputs.append(done.output)
            both.append(np.array(outputs))
        values.append(both)
    spread = np.array([[np.ptp(outputs, axis=0) for outputs in both] for both in values])
    touched = np.asarray(np.any(spread > 0, axis=1))
    found = []
    for row in range(count):
        movers = np.flatnonzero(touched[:, row])
        if len(movers) != 1:
            continue
        i = int(movers[0])
        a, b = values[i][0][:, row], values[i][1][:, row]
        for sign in (1, -1):
            if (np.diff(sign * a) >= 0).all() and (np.diff(sign * b) >= 0).all():
                found.append(_Map(row, i, levels[i], a, b, sign))
                break
    return found if found and _independent(first, second, variables, found, rng) else []


def _single(first: Side, second: Side, variables: tuple[Variable, ...], z0: Vector) -> bool:
    """Return whether some entry of the output depends on one variable alone, judged by two values of each variable."""
    movers = np.zeros(len(first.base.output), dtype=int)
    for i, variable in enumerate(variables):
        moves = np.zeros(len(movers), dtype=bool)
        for side in (first, second):
            for p in (0.35, 1e-3):
                moved = z0.copy()
                moved[i] = variable.at(p)
                done = checked_run(side.run, tape_at(side.base.tape, variables, moved), side.base.shape)
                if isinstance(done, NotAffine):
                    return False
                moves |= np.not_equal(done.output, side.base.output)
        movers += moves
        if (movers > 1).all():
            return False
    return bool((movers == 1).any())


def _independent(
    first: Side, second: Side, variables: tuple[Variable, ...], maps: Sequence[_Map], rng: np.random.Generator
) -> bool:
    """Return whether, on fresh draws, each entry lies between its values at the two nearest tabulated levels of its
    variable.
    """
    for _ in range(FRESH):
        z = np.array([v.at(float(np.clip(rng.random(), 1e-11, 1 - 1e-11))) for v in variables])
        for side, name in ((first, "first"), (second, "second")):
            done = checked_run(side.run, tape_at(side.base.tape, variables, z), side.base.shape)
            if isinstance(done, NotAffine):
                return False
            for m in maps:
                k = int(np.searchsorted(m.z, z[m.variable]))
                at = getattr(m, name)
                low, high = sorted((at[max(k - 1, 0)], at[min(k, len(at) - 1)]))
                slack = ROUNDING * UNIT * max(abs(low), abs(high), 1.0)
                if not low - slack <= done.output[m.row] <= high + slack:
                    return False
    return True


def _best(m: _Map, turned: bool, other: Side, variables: tuple[Variable, ...], claim: Guarantee, own: Side) -> float:
    """Return the largest lower bound on the privacy loss that events {entry ≥ t} or {entry ≤ t} prove for one entry.

    The thresholds are the values of the entry on one data set, at the tabulated levels of its variable. The
    probabilities of the events are known on this data set, and are bounded on the other data set.
    """
    variable = variables[m.variable]
    a, b = (m.second, m.first) if turned else (m.first, m.second)
    a, b = m.sign * a, m.sign * b
    found: list[tuple[float, int, bool]] = []
    for k, t in enumerate(a):
        slack = ROUNDING * UNIT * max(abs(t), 1.0)
        below = np.flatnonzero(b < t - slack)  # for all z up to this level, the output is below the threshold
        q = variable.upper(float(m.z[below[-1]])) if len(below) else 1.0
        found.append((event_loss(claim, variable.upper(float(m.z[k])), max(q, LEVELS[0])), k, True))
        above = np.flatnonzero(b > t + slack)
        q = variable.lower(float(m.z[above[0]])) if len(above) else 1.0
        found.append((event_loss(claim, variable.lower(float(m.z[k])), max(q, LEVELS[0])), k, False))
    found.sort(reverse=True)
    best = found[0][0]
    inner = [f for f in found if 0 < f[1] < len(a) - 1][:BISECTED]
    for _, k, up in inner:
        best = max(best, _bisected(m, k, up, a, b, other, variables, claim))
    return best


def _bisected(
    m: _Map, k: int, up: bool, a: Vector, b: Vector, other: Side, variables: tuple[Variable, ...], claim: Guarantee
) -> float:
    variable, t = variables[m.variable], float(a[k])
    slack = ROUNDING * UNIT * max(abs(t), 1.0)
    z0 = coordinates(other.base.tape, variables)
    inside = np.flatnonzero(b < t - slack) if up else np.flatnonzero(b > t + slack)
    if not len(inside):
        return 0.0
    near = int(inside[-1] if up else inside[0])
    far = near + (1 if up else -1)
    if not 0 <= far < len(b):
        # no tabulated z gives an output in the event, so the tail beyond the last z already bounds its probability
        return 0.0
    safe, unsafe = float(m.z[near]), float(m.z[far])
    for _ in range(HALVINGS):
        middle = (safe + unsafe) / 2
        moved = z0.copy()
        moved[m.variable] = middle
        done = checked_run(other.run, tape_at(other.base.tape, variables, moved), other.base.shape)
        if isinstance(done, NotAffine):
            return 0.0
        y = m.sign * done.output[m.row]
        if y < t - slack if up else y > t + slack:
            safe = middle
        else:
            unsafe = middle
    z = float(m.z[k])
    p, q = (variable.upper(z), variable.upper(safe)) if up else (variable.lower(z), variable.lower(safe))
    return event_loss(claim, p, max(q, LEVELS[0]))


def by_projections(first: AffineNoise, second: AffineNoise, claim: Guarantee) -> float:
    """Return the largest lower bound on the privacy loss that thresholds on linear functions of the output prove, for
    two affine models with different laws of the noise.

    If an entry has noise on one data set and no noise on the other, the loss is infinite.
    """
    a, b = first.gains, second.gains
    strengths = np.sqrt([(a**2).sum(axis=1), (b**2).sum(axis=1)])
    telling = strengths.max(axis=0) > TELLING * (first.rounding + second.rounding)
    if (telling & (strengths.min(axis=0) == 0)).any():
        return loss_in(claim, Law(math.inf, (math.inf,), 0.0))[0]
    families = {v.family for v, u, w in zip(first.variables, first.used, second.used, strict=True) if u or w}
    if families == {"normal"}:
        return max((_of_law("normal", *law, claim) for law in _normal_laws(first, second)), default=0.0)
    if families != {"laplace"}:
        return 0.0
    losses: dict[tuple[int, bool], float] = {}
    for row in range(len(a)):
        one, two = np.flatnonzero(a[row]), np.flatnonzero(b[row])
        if len(one) == len(two) == 1 and one[0] == two[0]:
            law = first.centre[row], abs(a[row, one[0]]), second.centre[row], abs(b[row, two[0]])
            for turned in (False, True):
                given = (*law[2:], *law[:2]) if turned else law
                key = int(one[0]), turned
                losses[key] = max(losses.get(key, 0.0), _of_law("laplace", *given, claim, both=False))
    by_side = [[loss for (_, turned), loss in losses.items() if turned is side] for side in (False, True)]
    if isinstance(claim, PureDP):
        return max(sum(side) for side in by_side)
    return max((max(side, default=0.0) for side in by_side), default=0.0)


def _normal_laws(first: AffineNoise, second: AffineNoise) -> list[tuple[float, float, float, float]]:
    """Return means and standard deviations on both data sets, for single entries and for the directions in which the
    two laws differ most.
    """
    a, b = first.gains, second.gains
    strength = np.sqrt((a**2).sum(axis=1) + (b**2).sum(axis=1))
    scale = np.where(strength > 0, strength, 1.0)
    a, b = a / scale[:, None], b / scale[:, None]
    directions: list[Matrix] = [np.eye(len(a))]
    _, vectors = np.linalg.eigh(a @ a.T - b @ b.T)
    directions.append(vectors.T[[0, -1]])
    found = []
    error = (first.rounding + second.rounding) / scale
    for w in np.vstack(directions):
        m, n = float(w @ (first.centre / scale)), float(w @ (second.centre / scale))
        s, r = float(np.linalg.norm(w @ a)), float(np.linalg.norm(w @ b))
        if min(s, r) > 1e3 * float(np.abs(w) @ error):
            found.append((m, s, n, r))
    return found


def _of_law(family: str, m: float, s: float, n: float, r: float, claim: Guarantee, both: bool = True) -> float:
    """Return the largest lower bound on the privacy loss that events {y ≤ t} or {y ≥ t} prove, for two laws of one
    family. The first law has location m and scale s, and the second law has location n and scale r.
    """
    best = 0.0
    probabilities = np.concatenate([np.geomspace(LEVELS[0], 0.5, 200), 1 - np.geomspace(LEVELS[0], 0.5, 100)])
    sides = ((m, s, n, r), (n, r, m, s)) if both else ((m, s, n, r),)
    for one, scale, two, other in sides:
        for p in probabilities:
            z = quantile(family, float(p))
            for sign in (1, -1):  # the tested event is {sign · y ≤ threshold}
                q = distribution(family, (sign * (one - two) + scale * z) / other)
                best = max(best, event_loss(claim, float(p), max(q, LEVELS[0] ** 2)))
    return best if math.isfinite(best) else 0.0
