"""Declare the class `KnownBug`, which describes a known mistake in a sampler."""

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
    """A known mistake in a sampler of the Bingham law, whose density is proportional to exp(−uᵀAu) with A = η(λ_max I −
    C). Because of the mistake, the density of the draws is proportional to g(uᵀAu) for another function g.

    name : a stable name, which is also the name of the negative control that repeats the bug.
    explanation : the sentence that a report prints if the draws of a target fit the wrong law.
    seen_in : the software and versions in which the bug was found.
    log_density : the function ln g.
    exact_loss : the privacy loss of the wrong law for n → ∞, as a function of (η, q); None if it is not computed.
    aimed_pair : neighbouring data sets with a large loss, and the event that reveals it; None for a bug that needs no
        special pair.
    """

    name: str
    explanation: str
    seen_in: str
    log_density: LogDensity
    exact_loss: Callable[[float, int], float] | None = None
    aimed_pair: AimedPair | None = None
