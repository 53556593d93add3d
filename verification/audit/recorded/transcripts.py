"""Compute the privacy losses of the calls of primitives, which are functions that add noise to a value, and the loss of
all calls together.

To run the target on the neighbour, the outputs of the primitives are held fixed, and the values to which noise is added
are recorded again. For a given sequence of outputs, the losses of the calls add up to the loss of all outputs together.
If the release determines the outputs of the primitives (`determined`), the sum of their losses is the loss of the
release. If the release does not determine the outputs of the primitives, the sum of the losses is only an upper bound
for the recorded outputs, and refutes nothing.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from covassay.reference.domain import Matrix, Vector
from covassay.reference.privacy import Guarantee, PureDP
from covassay.verification.audit.recorded.losses import Law, Undecided, loss_in
from covassay.verification.audit.recorded.primitive_losses import losses, shifts
from covassay.verification.audit.recorded.primitives import Family, PrimitiveCall, Transcript, transcribing
from covassay.verification.audit.recorded.recorder import Recorder
from covassay.verification.audit.recorded.tape import Tape


@dataclass(frozen=True)
class Spent:
    """One call of a primitive on both data sets, with the privacy loss of its output.

    `loss` is ε of Laplace or geometric noise, or μ of normal noise. `signed` has the loss in each of the two
    directions. `plain` says whether the output is not mapped into a range. `shifts` are the shifts of the values of
    plain noise, divided by its scale.
    """

    primitive: str
    family: Family
    values: tuple[Vector, Vector]
    scales: tuple[Vector, Vector]
    loss: float
    signed: tuple[float, float]
    plain: bool
    shifts: tuple[float, ...] = ()

    def __str__(self) -> str:
        return f"{self.primitive}: {'μ' if self.family == 'normal' else 'ε'} = {self.loss:.6g}"


@dataclass(frozen=True)
class TranscriptLoss:
    """The total privacy loss of all calls of primitives in one run.

    `epsilon` is the sum of ε over the calls with Laplace or geometric noise. `mu` is √Σμ² over the calls with normal
    noise. `reason` says why a sum is missing.
    """

    spent: tuple[Spent, ...]
    epsilon: float = 0.0
    mu: float = 0.0
    reason: str = ""

    @property
    def plain(self) -> bool:
        """Return whether all noise is Laplace or normal, and no output is mapped into a range."""
        return all(s.plain and s.family != "geometric" for s in self.spent)

    def law(self) -> Law:
        """Return how the law of all outputs differs between the two data sets; `plain` must be true."""
        return Law(self.mu, tuple(t for s in self.spent if s.family == "laplace" for t in s.shifts), 0.0)

    def loss_in(self, claim: Guarantee, slack: float = 0.0) -> float:
        """Return the loss in the unit of the claim, for noise that is larger by the share `slack`.

        Raises
        ------
        Undecided : the loss is not known in closed form.
        """
        if self.plain:
            return loss_in(claim, self.law().with_more_noise(slack) if slack else self.law())[0]
        if not isinstance(claim, PureDP):
            raise Undecided("an output is mapped into a range or has geometric noise, and the claim is not pure DP")
        return math.inf if self.mu else self.epsilon / (1 + slack)

    def __str__(self) -> str:
        return self.reason or " + ".join(map(str, self.spent))


def transcript_loss(made: Recorder, x: Matrix, other: Matrix, seed: int = 0) -> TranscriptLoss:
    """Return the loss of all primitives of a target on two neighbours, for the outputs of one run."""
    with made.standing():
        with transcribing(Transcript([])) as first:
            one = made.run(x, Tape(seed))
        if one.failure:
            return TranscriptLoss((), reason=f"the target fails ({one.failure})")
        with transcribing(Transcript([], first.calls)) as second:
            two = made.run(other, one.tape.again())
    if two.failure:
        return TranscriptLoss((), reason=f"the target fails on the neighbour ({two.failure})")
    if not first.calls:
        return TranscriptLoss((), reason="no primitive was called")
    if second.trouble or len(first.calls) != len(second.calls) or two.tape.differs():
        return TranscriptLoss((), reason="the target calls other primitives, or makes other draws, on the neighbour")
    try:
        return loss_of_calls(first.calls, second.calls)
    except Undecided as error:
        return TranscriptLoss((), reason=str(error))


def loss_of_calls(first: Sequence[PrimitiveCall], second: Sequence[PrimitiveCall]) -> TranscriptLoss:
    """Return the total loss of calls that are made in the same order on both data sets.

    Raises
    ------
    Undecided : the loss is not known in closed form.
    """
    spent = []
    for a, b in zip(first, second, strict=True):
        moved: tuple[float, ...] = ()
        if a.primitive.family == "normal":
            if a.primitive.into:
                raise Undecided("normal noise whose output is mapped into a range")
            moved = tuple(shifts(a, b))
            signed = (math.sqrt(sum(t * t for t in moved)),) * 2
        else:
            each = losses(a, b)
            signed = sum(up for up, _ in each), sum(down for _, down in each)
            moved = tuple(up for up, _ in each)
        name, family, plain = a.primitive.name, a.primitive.family, not a.primitive.into
        values, scales = (a.value, b.value), (a.scale, b.scale)
        spent.append(Spent(name, family, values, scales, max(signed), signed, plain, moved))
    others = [s for s in spent if s.family != "normal"]
    epsilon = max(sum(s.signed[k] for s in others) for k in (0, 1))
    return TranscriptLoss(tuple(spent), epsilon, math.sqrt(sum(s.loss**2 for s in spent if s.family == "normal")))
