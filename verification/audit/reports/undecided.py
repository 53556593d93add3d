"""The report of an audit that was not completed: INCONCLUSIVE, with how the run ended."""

from covassay.reference.privacy import Guarantee
from covassay.verification.audit.engine.finding import Finding, Status, Verdict
from covassay.verification.audit.options import AuditSettings, replay_command
from covassay.verification.audit.report import AuditReport
from covassay.verification.audit.targets.target import TargetReference
from covassay.verification.audit.targets.whereabouts import whereabouts


def undecided(
    source: TargetReference, guarantee: Guarantee, settings: AuditSettings, mechanism: str | None, ending: str
) -> AuditReport:
    """The report of an audit that ended before it had a result; `ending` is a sentence that says how."""
    return AuditReport(
        target=source.spec,
        version="",
        mechanism=mechanism,
        options=dict(settings.options),
        claim=guarantee,
        adjacency=settings.adjacency or "replace-one",
        verdict=Verdict.INCONCLUSIVE,
        checks=(Finding("contract", "completed audit", Status.INCONCLUSIVE, ending),),
        diagnoses=(),
        seed=settings.seed,
        samples=settings.samples,
        false_alarm=settings.false_alarm,
        seconds=0.0,
        replay=replay_command(source, guarantee, settings),
        scope=settings.scope,
        found_at=whereabouts(source),
    )
