"""Define the report of an audit, which has everything that the audit found."""

from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any

from covassay.reference.privacy import Guarantee
from covassay.verification.audit.budget import Share
from covassay.verification.audit.engine.facts import Bits
from covassay.verification.audit.engine.finding import Finding, Status, Verdict
from covassay.verification.audit.options import AuditOptions
from covassay.verification.audit.recorded.facts import ExactLosses, ExactPair
from covassay.verification.audit.run import verdict
from covassay.verification.audit.targets.whereabouts import Whereabouts


@dataclass(frozen=True)
class AuditReport:
    """Everything that an audit of a target found. The verdict of an audit is never a certificate.

    `options` are all options of the audited mechanism. `diagnoses` explain the laws that fit the draws although the
    claimed law was refuted. `replay` is the command that runs the audit again, draw for draw. `draws` is the number of
    draws that test a distribution or compare two data sets; `failures` counts, for each reason, how many of these draws
    gave no output. `covassay` is the version of the package covassay. `settings` are the options of the audit, as plain
    data. `budget` says how much of `false_alarm` every question could spend. `found_at` is the place of the target's
    source, or None if the place is not known.
    """

    target: str
    version: str
    mechanism: str | None
    options: dict[str, Any]
    claim: Guarantee
    adjacency: str
    verdict: Verdict
    checks: tuple[Finding, ...]
    diagnoses: tuple[str, ...]
    seed: int
    samples: int
    false_alarm: float
    seconds: float
    replay: str
    notes: tuple[str, ...] = ()
    draws: int = 0
    failures: dict[str, int] = field(default_factory=dict)
    covassay: str = field(default_factory=lambda: version("covassay"))
    scope: str = "real"
    settings: dict[str, Any] = field(default_factory=lambda: AuditOptions().plain())
    budget: tuple[Share, ...] = ()
    found_at: Whereabouts | None = None

    @property
    def in_real_arithmetic(self) -> Verdict:
        """Return the verdict of all checks except the check of low-order bits."""
        return verdict(self.checks)

    @property
    def bits(self) -> Bits | None:
        """Return the findings on low-order bits, or None if these were not tested; the findings count for the verdict
        if `scope` is "bits".
        """
        return next((check.facts for check in self.checks if isinstance(check.facts, Bits)), None)

    @property
    def exact(self) -> tuple[ExactPair, ...]:
        """Return the privacy losses that were computed and not estimated, the largest first, and the undecided
        pairs.
        """
        return tuple(
            loss for check in self.checks if isinstance(check.facts, ExactLosses) for loss in check.facts.losses
        )

    @property
    def asked(self) -> tuple[str, ...]:
        """Return the ids of the questions that the audit asked."""
        return tuple(dict.fromkeys(check.question for check in self.checks if check.question not in self.not_asked))

    @property
    def not_asked(self) -> tuple[str, ...]:
        """Return the ids of the questions that were skipped; the findings of these questions say why."""
        names = dict.fromkeys(check.question for check in self.checks)
        return tuple(
            name
            for name in names
            if all(check.status is Status.SKIPPED for check in self.checks if check.question == name)
        )

    @property
    def refuted(self) -> tuple[Finding, ...]:
        """Return the checks in which the target was refuted."""
        return tuple(check for check in self.checks if check.status is Status.REFUTED)
