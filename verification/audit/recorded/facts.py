"""Define the facts that a report states about exact privacy losses."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from covassay.reference.domain import Matrix
from covassay.reference.privacy import Guarantee
from covassay.verification.audit.engine.events import Pair
from covassay.verification.audit.engine.facts import COUNT, NOT_IN_JSON, NULLABLE, Facts, Neighbours, says
from covassay.verification.audit.recorded.exact_loss import MARGIN, ExactLoss, relation
from covassay.verification.audit.recorded.losses import Letter, letter_of
from covassay.verification.audit.recorded.transcripts import TranscriptLoss

Rows = tuple[tuple[float, ...], ...]
LETTERS = {"epsilon": "ε", "rho": "ρ", "delta": "δ"}
MOST_OF_PATH = 6  # a sentence lists at most this many draws
MOST_ROWS = 100  # a report holds data sets of at most this many rows


@dataclass(frozen=True)
class CountedDraws:
    """The number of random numbers that a target drew, and the number of those that change its output."""

    recorded: int = field(metadata=says("The number of random numbers that the target drew in one run.", **COUNT))
    used: int = field(metadata=says("The number of random numbers that change the output.", **COUNT))
    unused: int = field(metadata=says("The number of random numbers that do not change the output.", **COUNT))


@dataclass(frozen=True)
class Spending:
    """The privacy loss of one call of a declared primitive on a pair of neighbours."""

    primitive: str = field(metadata=says("The callable of the package that adds noise."))
    loss: float = field(metadata=says("The privacy loss of the output, as ε of Laplace noise or μ of normal noise."))
    family: Literal["laplace", "normal", "geometric"] = field(metadata=says("The law of its noise."))


@dataclass(frozen=True)
class ExactPair:
    """The exact privacy loss of one pair of neighbouring data sets, or the reason why it is not known."""

    name: str = field(metadata=says("Where the pair comes from."))
    pair: tuple[Rows, ...] = field(
        metadata=says(f"The two data sets, row by row; empty if they have more than {MOST_ROWS} rows.")
    )
    adjacency: Literal["replace-one", "add-remove"] = field(metadata=says("Which neighbours they are."))
    claimed: float = field(metadata=says("The claimed number."))
    loss: float | None = field(
        metadata=says(
            "The loss, named by the letter of the claim; null if nothing is known of the loss.", **{NULLABLE: True}
        )
    )
    letter: Letter = field(metadata=says("The name of the loss: epsilon, rho, or delta, which is δ at the claimed ε."))
    decided: bool = field(metadata=says("Says whether the loss of the pair is known, or known to be above the claim."))
    reason: str = field(metadata=says("Says how the loss of the pair was computed, or why it is not known."))
    lower_bound: bool = field(metadata=says("Whether the stated loss is only a lower bound."))
    rounding: float = field(metadata=says("The possible rounding error of the loss.", **COUNT))
    draws: CountedDraws = field(metadata=says("The draws that were recorded."))
    seeds: tuple[int, ...] = field(metadata=says("The seeds of the recorded draws."))
    path: tuple[str, ...] = field(
        metadata=says("The draws in their order, each with its law, its shape, and the function that made the draw.")
    )
    primitives: tuple[str, ...] = field(metadata=says("The functions of a package whose calls were recorded as draws."))
    spent: tuple[Spending, ...] = field(
        metadata=says(
            "The privacy loss of each recorded call of a primitive. The losses of the calls add up to the loss of the "
            "release if the release shows all calls."
        )
    )


@dataclass(frozen=True)
class ExactLosses(Facts):
    """The exact privacy losses that were computed in one audit, the largest first."""

    pairs: int = field(metadata=says("The number of pairs for which the loss was to be computed.", **COUNT))
    decided: int = field(metadata=says("The number of pairs whose loss is decided.", **COUNT))
    evaluations: int = field(metadata=says("How many pairs the search tried.", **COUNT))
    data_sets: Neighbours = field(metadata=says("A short description of the pair with the largest loss."))
    # a JSON report has the losses of all pairs in its field `exact`, and therefore not among these facts
    losses: tuple[ExactPair, ...] = field(metadata={NOT_IN_JSON: True})
    # statistical tests of events use these pairs
    neighbours: tuple[Pair, ...] = field(default=(), metadata={NOT_IN_JSON: True})

    def allowed_by(self, guarantee: Guarantee) -> bool:
        """Return whether the loss of at least one pair is decided, and every decided loss is at most the loss that this
        guarantee allows.

        A known δ is the loss at the claimed ε, and the loss at a larger ε would be smaller. For a claim with a larger
        ε, `allowed_by` may therefore return False although the claim allows the loss.
        """
        letter, most = letter_of(guarantee)
        known = [one for one in self.losses if one.decided and one.loss is not None]
        return bool(known) and all(
            one.letter == letter and one.loss is not None and one.loss - one.rounding <= most * (1 + MARGIN)
            for one in known
        )


def reported(name: str, found: ExactLoss, transcript: TranscriptLoss | None = None) -> ExactPair:
    """Return the exact loss in the form in which a report holds it."""
    return ExactPair(
        name, _plain(found.pair), "replace-one" if found.adjacency == "replace-one" else "add-remove", found.claimed,
        found.loss, found.letter, found.decided, found.reason, found.lower_bound, found.rounding,
        CountedDraws(found.recorded, found.used, found.unused), found.seeds, found.path, found.primitives,
        () if transcript is None else tuple(Spending(s.primitive, s.loss, s.family) for s in transcript.spent),
    )  # fmt: skip


def loss_words(found: ExactLoss | ExactPair) -> str:
    """Write the loss and the claim in words, such as "ρ = 0.5 where 0.5 is claimed"."""
    if found.loss is None:
        return "no loss"
    loss = "∞" if math.isinf(found.loss) else f"{found.loss:.10g}"
    sign = relation(found.loss, found.lower_bound)
    return f"{LETTERS[found.letter]} {sign} {loss} where {found.claimed:g} is claimed"


def told(found: ExactLoss) -> str:
    """Return a sentence that states how a loss was computed, with the draws, the rounding error and the seeds."""
    path = "; ".join(found.path[:MOST_OF_PATH]) + ("; …" if len(found.path) > MOST_OF_PATH else "")
    return (
        f"{found.adjacency}, {found.reason}; numbers drawn: {found.recorded}, used: {found.used}; rounding error "
        f"at most {found.rounding:.1g}; seeds {', '.join(map(str, found.seeds))}; draws: {path}"
    )


def _plain(pair: Sequence[Matrix]) -> tuple[Rows, ...]:
    if max(map(len, pair)) > MOST_ROWS:
        return ()
    return tuple(tuple(tuple(map(float, row)) for row in data) for data in pair)
