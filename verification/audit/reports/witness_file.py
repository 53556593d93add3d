"""Write a file with the data sets on which a claim was refuted, and the result of the refuted check.

The file is a `.npz` archive that has the data set x and, for a pair of neighbours, the data set y. The array `about` of
the archive is a JSON text. The command `covassay audit TARGET --pair FILE` tests the pair of such a file again, on new
draws.
"""

import io
import json
from collections.abc import Iterable

import numpy as np

from covassay.verification.audit.engine.finding import Finding, Kind
from covassay.verification.audit.report import AuditReport
from covassay.verification.audit.reports.json_report import what_was_audited

SIDES = ("x", "y")
# a witness comes from a check of the earliest possible kind in this order; only "privacy" checks compare neighbours
MOST_TELLING: tuple[Kind, ...] = ("privacy", "law", "data path", "contract")


def witness_check(checks: Iterable[Finding]) -> Finding | None:
    """Return the check whose data sets serve as a witness, or None if no check has data sets.

    The kind of the check is as early as possible in `MOST_TELLING`. Among several checks of the same kind, the check
    with the smallest p-value is returned.
    """
    seen = [check for check in checks if check.data]
    return min(seen, key=lambda c: (MOST_TELLING.index(c.kind), c.p_value or 0.0), default=None)


def witness_file(report: AuditReport) -> bytes | None:
    """Return the archive, or None if no check was refuted on data sets that can be written."""
    check = witness_check(report.refuted)
    if check is None:
        return None
    about = {
        **what_was_audited(report),
        "kind": check.kind,
        "scenario": check.scenario,
        "name": check.name,
        "detail": check.detail,
        "p_value": check.p_value,
        "neighbours": check.kind == "privacy",
        "replay": report.replay,
    }
    sets = {side: np.asarray(x) for side, x in zip(SIDES, check.data, strict=False)}
    written = io.BytesIO()
    np.savez_compressed(written, about=np.array(json.dumps(about)), **sets)  # type: ignore[arg-type]
    return written.getvalue()
