"""Make data on which a mechanism that drops long rows, as NaivePCE does, is near the choice to drop a row."""

from covassay.reference.mechanisms.gaussian_estimation import naive_pce, ppc
from covassay.verification.audit.knowledge.shared import near_choices
from covassay.verification.audit.knowledge.shared.profile import ClaimUnderAudit


def in_one_round(claim: ClaimUnderAudit, share: float = 1.0) -> near_choices.Choices:
    """Return data whose longest rows are barely kept or barely dropped by a mechanism with one round.

    `share` is the share of the failure probability β that the round gets.
    """
    kappa, beta = claim.parameter("kappa"), share * claim.parameter("beta")
    return near_choices.long_rows(claim.seed, lambda n, d: naive_pce.radius_squared(n, d, kappa, beta) ** 0.5)


def in_the_first_round(claim: ClaimUnderAudit, share: float = 1.0) -> near_choices.Choices:
    """Return data whose longest rows are barely kept or barely dropped in the first round of PPC.

    `share` is the share of the failure probability β that all rounds get.
    """
    return in_one_round(claim, share / max(1, ppc.rounds(claim.parameter("kappa"))))
