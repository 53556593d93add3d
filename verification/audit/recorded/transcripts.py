"""The loss of all calls of primitives together: what a release spends, primitive by primitive.

On the neighbour the outputs of the primitives are held as they were, and what noise is added to is written down again.
The losses of the calls add up. This is the loss of the transcript along one path. It is the loss of the release only
where the release determines the transcript; otherwise it is an upper bound on this path, and refutes nothing.
"""

import math
from dataclasses import dataclass

from covassay.reference.domain import Matrix
from covassay.reference.privacy import Guarantee
from covassay.verification.audit.recorded.losses import Law, loss_in
from covassay.verification.audit.recorded.primitives import Family, Transcript, transcribing
from covassay.verification.audit.recorded.recorder import Recorder
from covassay.verification.audit.recorded.tape import Tape

SAME_SCALE = 1e-9  # relative: scales that differ by less differ by rounding


@dataclass(frozen=True)
class Spent:
    """One call of a primitive on both data sets. loss : ε of Laplace noise, μ of normal noise."""

    primitive: str
    family: Family
    values: tuple[float, float]
    scales: tuple[float, float]
    loss: float

    def __str__(self) -> str:
        return f"{self.primitive}: {'ε' if self.family == 'laplace' else 'μ'} = {self.loss:.6g}"


@dataclass(frozen=True)
class TranscriptLoss:
    """epsilon : the sum over Laplace primitives. mu : √Σμ² over normal ones. reason : why there is no figure."""

    spent: tuple[Spent, ...]
    epsilon: float = 0.0
    mu: float = 0.0
    reason: str = ""

    def loss_in(self, claim: Guarantee) -> float:
        """The loss in the letter of the claim.

        Raises
        ------
        Undecided : it is not known in closed form.
        """
        law = Law(self.mu, tuple(s.loss for s in self.spent if s.family == "laplace"), 0.0)
        return loss_in(claim, law)[0]

    def __str__(self) -> str:
        return self.reason or " + ".join(map(str, self.spent))


def transcript_loss(made: Recorder, x: Matrix, other: Matrix, seed: int = 0) -> TranscriptLoss:
    """The loss of the transcript of a target on two neighbours, along the path of one tape."""
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
        return TranscriptLoss((), reason="other primitives, or other draws, on the neighbour")
    spent = []
    for a, b in zip(first.calls, second.calls, strict=True):
        moved = abs(a.value - b.value)
        same = math.isclose(a.scale, b.scale, rel_tol=SAME_SCALE)
        loss = (moved / a.scale if a.scale else (math.inf if moved else 0.0)) if same else math.inf
        name, family = a.primitive.name, a.primitive.family
        spent.append(Spent(name, family, (a.value, b.value), (a.scale, b.scale), loss))
    epsilon = sum(s.loss for s in spent if s.family == "laplace")
    return TranscriptLoss(tuple(spent), epsilon, math.sqrt(sum(s.loss**2 for s in spent if s.family == "normal")))
