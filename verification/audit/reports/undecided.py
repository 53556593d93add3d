"""Report on an audit that was not completed, with the verdict INCONCLUSIVE and a sentence that says how the audit
ended."""

from collections.abc import Sequence

from covassay.reference.privacy import Guarantee
from covassay.verification.audit.engine.finding import Finding, Status, Verdict
from covassay.verification.audit.options import SCOPES, AuditOptions, replay_command
from covassay.verification.audit.report import AuditReport
from covassay.verification.audit.targets.target import TargetReference
from covassay.verification.audit.targets.whereabouts import whereabouts


def undecided(
    source: TargetReference,
    guarantee: Guarantee,
    options: AuditOptions,
    mechanism: str | None,
    ending: str,
    found: Sequence[Finding] = (),
) -> AuditReport:
    """Return the report of an audit that ended before it had a result.

    `ending` is a sentence that says how the audit ended, and `found` has the findings so far. A refutation among the
    findings so far remains valid, and the report mentions it. The verdict concerns the whole audit, and the audit was
    not completed.
    """
    refuted = [check.label for check in found if check.status is Status.REFUTED]
    if refuted:
        ending += f"; until then it had refuted {', '.join(refuted)}"
    return AuditReport(
        target=source.spec,
        version="",
        mechanism=mechanism,
        options=dict(options.options),
        claim=guarantee,
        adjacency=options.adjacency or "replace-one",
        verdict=Verdict.INCONCLUSIVE,
        checks=(Finding("contract", "completed audit", Status.INCONCLUSIVE, ending), *found),
        diagnoses=(),
        seed=options.seed,
        samples=options.samples,
        false_alarm=options.false_alarm,
        seconds=0.0,
        replay=replay_command(source, guarantee, options),
        scope=options.scope or SCOPES[0],
        settings=options.stated(source, guarantee).plain(),
        found_at=whereabouts(source),
    )
