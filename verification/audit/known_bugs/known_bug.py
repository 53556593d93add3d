"""Declare the form of a known bug."""

from collections.abc import Callable
from dataclasses import dataclass

from covassay.reference.domain import Vector
from covassay.verification.audit.engine.events import Pair

# a log density takes (values y = uᵀAu, envelope parameter b, dimension q) and returns ln g(y), up to a constant
LogDensity = Callable[[Vector, float, float], Vector]
# takes (exponent η, claimed ε, mean number of draws on each data set); returns a pair with an event fixed in advance
AimedPair = Callable[[float, float, float], Pair]


@dataclass(frozen=True)
class KnownBug:
    """A mistake in a sampler of the Bingham law exp(−uᵀAu), A = η(λ_max I − C), and the wrong law ∝ g(uᵀAu) that the
    sampler follows.

    name : a stable name. The negative control that repeats the bug has the same name.
    explanation : the sentence of the report if this law fits the draws.
    seen_in : the software and versions in which the bug was found.
    log_density : the function ln g.
    exact_loss : the privacy loss of this law as n → ∞, as a function of (η, q); None if it has not been computed.
    aimed_pair : neighbouring data sets with a large loss, and the event that reveals it; None for a bug that needs no
        special pair.
    """

    name: str
    explanation: str
    seen_in: str
    log_density: LogDensity
    exact_loss: Callable[[float, int], float] | None = None
    aimed_pair: AimedPair | None = None
