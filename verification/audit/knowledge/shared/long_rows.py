"""Make data near the choice to drop a row, for the mechanisms that drop rows as NaivePCE does."""

from covassay.reference.mechanisms.gaussian_estimation import naive_pce, ppc
from covassay.verification.audit.knowledge.shared import near_choices
from covassay.verification.audit.knowledge.shared.profile import ClaimUnderAudit


def in_one_round(claim: ClaimUnderAudit, share: float = 1.0) -> near_choices.Choices:
    """Return data whose longest rows are just kept or just dropped, by a mechanism of one round.

    share : the share of β for this round.
    """
    kappa, beta = claim.parameter("kappa"), share * claim.parameter("beta")
    return near_choices.long_rows(claim.seed, lambda n, d: naive_pce.radius_squared(n, d, kappa, beta) ** 0.5)


def in_the_first_round(claim: ClaimUnderAudit, share: float = 1.0) -> near_choices.Choices:
    """Return data whose longest rows are just kept or just dropped, by the first round of PPC.

    share : the share of β for all rounds.
    """
    return in_one_round(claim, share / max(1, ppc.rounds(claim.parameter("kappa"))))
