"""Compute the exact privacy loss of a release that determines the outputs of the primitives which the target calls.

A primitive is a callable that adds noise. Let the vector o have the outputs of the primitives, and let y = g(o) be the
release. If g is the same function on both data sets and o can be computed from y, the privacy loss of the release y is
the loss of the outputs o. The code checks by runs of the target that g is the same on both data sets, and that o can be
computed from y. With fixed outputs of the primitives, the release must be the same on the neighbour, and the release
must be an affine function of these outputs. The affine function is checked at outputs near the values to which noise is
added, and at outputs far above and far below these values. A primitive may add noise to different values, or add noise
of different scales, on the two data sets. The outputs of such primitives must be computable from the release. The
outputs of other primitives need not be computable from the release. The values to which noise is added must not depend
on earlier outputs, because only one sequence of outputs is examined.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import mode

import numpy as np

from covassay.reference.domain import Matrix, Vector
from covassay.reference.privacy import Guarantee
from covassay.verification.audit.recorded.affine import UNIT
from covassay.verification.audit.recorded.allowance import Allowance
from covassay.verification.audit.recorded.losses import Undecided
from covassay.verification.audit.recorded.primitives import PrimitiveCall, Transcript, transcribing
from covassay.verification.audit.recorded.recorder import Recorded, Recorder
from covassay.verification.audit.recorded.tape import Draw, Tape
from covassay.verification.audit.recorded.transcripts import TranscriptLoss, loss_of_calls

# the number of runs on each data set in which noise must be added to the same values, and also the number of random
# points at which the affine function is checked
PATHS = 4
FAR = 40.0  # outputs of primitives are moved by this distance, in noise scales, in both directions
# two numbers count as equal if they differ by less than this share of their size; for a value to which noise is added,
# the noise scale is added to the size
CLOSE = 1e-9
# this is the largest accepted error of the affine function, as a share of the change of the release if an output moves
# by one noise scale
AFFINE = 1e-6
SEEDING = ("integers", "bytes")  # draws of these kinds may seed generators, but must not be used in another way


@dataclass(frozen=True)
class Determined:
    """The privacy loss of a release in the unit of the claim, the loss if the noise were slightly larger, and the
    numerical error.
    """

    transcript: TranscriptLoss
    loss: float
    with_slack: float
    rounding: float
    numbers: int

    @property
    def reason(self) -> str:
        """State in words how the loss of the release was computed."""
        names = ", ".join(dict.fromkeys(s.primitive for s in self.transcript.spent))
        return f"the release determines the outputs of its primitives ({names})"


def determined(
    made: Recorder, x: Matrix, other: Matrix, claim: Guarantee, seed: int, slack: float, seconds: float
) -> Determined:
    """Compute the exact privacy loss of a release on two neighbouring data sets.

    Raises
    ------
    Undecided : the release does not determine its primitives' outputs, the loss of these outputs is not known, or the
    time is up.
    """
    allowed = Allowance(seconds)
    with made.standing():
        first = _Walk(made, allowed, x, seed)
        second = _Walk(made, allowed, other, seed, first.calls)
        _same_values(first, second, seed)
        found = loss_of_calls(first.calls, second.calls)
        _recoverable(first, second)
    loss = found.loss_in(claim)
    rounding = 64 * UNIT * sum(_size(call) for call in (*first.calls, *second.calls))
    return Determined(found, loss, found.loss_in(claim, slack), rounding, sum(len(c.output) for c in first.calls))


def _size(call: PrimitiveCall) -> float:
    """Return the largest of the values to which noise is added, in noise scales."""
    safe = np.where(call.scale > 0, call.scale, 1.0)
    return float((np.abs(call.value) / safe).sum()) + len(call.value)


class _Walk:
    """A run of the target on one data set. The run can be repeated so that the primitives return given outputs."""

    def __init__(
        self, made: Recorder, allowed: Allowance, x: Matrix, seed: int, held: Sequence[PrimitiveCall] | None = None
    ) -> None:
        self.made, self.allowed, self.x, self.tape = made, allowed, x, Tape(seed)
        with transcribing(Transcript([], held)) as transcript:
            self.base = self._run(self.tape)
        self.calls = transcript.calls
        if not self.calls:
            raise Undecided("no primitive was called")
        if transcript.trouble or (held is not None and len(held) != len(self.calls)):
            raise Undecided("the target calls different primitives on the two data sets")
        own = {call.primitive.name for call in self.calls}
        for draw in self.tape.draws:
            if draw.family not in SEEDING and not _of_primitive(draw, own, self.calls):
                raise Undecided(f"{draw} is not drawn by a primitive")

    def _run(self, tape: Tape) -> Recorded:
        if self.allowed.over:
            raise Undecided("the time is up")
        done = self.made.run(self.x, tape)
        if done.failure:
            raise Undecided(f"the target fails on some draws ({done.failure})")
        return done

    def at(self, outputs: Vector, tape: Tape | None = None) -> Vector:
        """Return the release if the primitives return these outputs."""
        with transcribing(Transcript([], _with(self.calls, outputs))) as transcript:
            done = self._run(tape or self.tape.again())
        if transcript.trouble or len(transcript.calls) != len(self.calls):
            raise Undecided("which primitives are called depends on their outputs")
        _require_same_values(self.calls, transcript.calls)
        if done.shape != self.base.shape:
            raise Undecided("the shape of the output depends on the draws")
        return done.output


def _of_primitive(draw: Draw, names: set[str], calls: Sequence[PrimitiveCall]) -> bool:
    """Return whether one of these primitives made the draw.

    For a geometric draw, return whether some call adds geometric noise, which is computed as the difference of two
    geometric draws.
    """
    if draw.family == "geometric":
        return any(call.primitive.family == "geometric" for call in calls)
    return bool(draw.parameters) and draw.parameters[0] in names


def _with(calls: Sequence[PrimitiveCall], outputs: Vector) -> list[PrimitiveCall]:
    ends = np.cumsum([len(call.output) for call in calls])[:-1]
    return [replace(call, output=part) for call, part in zip(calls, np.split(outputs, ends), strict=True)]


def _near(one: Vector, two: Vector, scale: Vector) -> bool:
    return one.shape == two.shape and bool((np.abs(one - two) <= CLOSE * (np.abs(one) + np.abs(scale))).all())


def _require_same_values(calls: Sequence[PrimitiveCall], others: Sequence[PrimitiveCall]) -> None:
    for was, now in zip(calls, others, strict=True):
        if not (_near(was.value, now.value, was.scale) and _near(was.scale, now.scale, was.scale)):
            raise Undecided("a value to which noise is added, or its noise scale, depends on earlier outputs")


def _same_values(first: _Walk, second: _Walk, seed: int) -> None:
    """Check that, for other outputs of the primitives, the same calls add noise to the same values. Check also that no
    generator gets the same seed in two runs.
    """
    seeds = [first.tape.seeds]
    for k in range(1, PATHS):
        for walk in (first, second):
            other = _Walk(walk.made, walk.allowed, walk.x, seed + 7919 * k)
            seeds += [other.tape.seeds] * (walk is first)
            if [c.primitive for c in other.calls] != [c.primitive for c in walk.calls]:
                raise Undecided("which primitives are called depends on their outputs")
            _require_same_values(walk.calls, other.calls)
    for each in zip(*seeds, strict=False):
        if len(set(each)) < len(each):
            raise Undecided(f"a generator gets the same seed in several runs, so its draws are no secret: {mode(each)}")


def _forced(calls: Sequence[PrimitiveCall], scales: Vector) -> Vector:
    """Return outputs that lie a given number of noise scales from the values to which noise is added, limited to their
    ranges."""
    step = np.concatenate([call.scale for call in calls]) * scales
    value = np.concatenate([call.value for call in calls])
    low, high = (np.concatenate([np.full(len(c.output), c.range[k]) for c in calls]) for k in (0, 1))
    whole = np.concatenate([np.full(len(c.output), c.primitive.family == "geometric") for c in calls])
    step = np.where(whole, np.sign(step) * np.ceil(np.abs(step)), step)
    return np.clip(value + step, low, high)


def _recoverable(first: _Walk, second: _Walk) -> None:
    """Check that every output that changes on the neighbour can be computed from the release by one map on both data
    sets.
    """
    calls = first.calls
    count = sum(len(call.output) for call in calls)
    scale = np.concatenate([np.maximum(call.scale, 1e-300) for call in calls])
    rng = np.random.default_rng([27, count])
    base = _forced(calls, np.zeros(count))
    columns = []
    for i in range(count):
        near = _forced(calls, np.eye(count)[i])
        if near[i] == base[i]:
            near = _forced(calls, -np.eye(count)[i])
        if near[i] == base[i]:
            raise Undecided("a primitive's output cannot change within its range by up to one noise scale")
        columns.append((near[i] - base[i], near))
    y0 = _on_both(first, second, base)
    gains = np.array([(_on_both(first, second, near) - y0) / (step / s)
                      for (step, near), s in zip(columns, scale, strict=True)]).T  # fmt: skip
    strength = np.abs(gains).max(axis=1, initial=0.0)
    points = [_forced(calls, rng.normal(size=count)) for _ in range(PATHS)]
    points += [_forced(calls, np.full(count, side * FAR)) for side in (-1, 1)]
    for outputs in points:
        y = _on_both(first, second, outputs)
        off = np.abs(y - y0 - gains @ ((outputs - base) / scale))
        if (off > AFFINE * strength + 1e3 * UNIT * (np.abs(y) + np.abs(y0))).any():
            raise Undecided("the release is no affine function of its primitives' outputs")
    rows = gains[strength > 0] / strength[strength > 0][:, None]
    pairs = list(zip(calls, second.calls, strict=True))
    moved = np.concatenate([(a.value != b.value) | (a.scale != b.scale) for a, b in pairs])
    inverse = np.linalg.pinv(rows, rcond=1e-9) if rows.size else np.zeros((count, 0))
    identity = inverse @ rows if rows.size else np.zeros((count, count))
    if moved.any() and np.abs(identity - np.eye(count))[moved].max() > AFFINE:
        raise Undecided("the release does not show all outputs of its primitives")


def _on_both(first: _Walk, second: _Walk, outputs: Vector) -> Vector:
    """Return the release for these outputs of the primitives; check that the release is the same on the neighbour and
    for other seeds.
    """
    y = first.at(outputs)
    fresh = Tape(first.tape.seed + 104_729)
    for other in (second.at(outputs), first.at(outputs, fresh)):
        if other.shape != y.shape or (np.abs(other - y) > CLOSE * (np.abs(y) + np.abs(other)) + 1e-300).any():
            raise Undecided("the release depends on more than its primitives' outputs")
    return y
