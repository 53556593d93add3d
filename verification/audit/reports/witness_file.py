"""Write the witness of a refutation as a file: the data sets of the refuted check, and its result on them.

The file is a `.npz` archive with x and, for a pair of neighbours, y. The array `about` of the file is a text in JSON.
`covassay audit TARGET --pair FILE` tests the pair again, on draws of its own.
"""

import io
import json
from collections.abc import Iterable

import numpy as np

from covassay.verification.audit.engine.finding import Finding, Kind
from covassay.verification.audit.report import AuditReport
from covassay.verification.audit.reports.json_report import what_was_audited

SIDES = ("x", "y")
# kinds of checks, the most telling first: the first kind has pairs of neighbours
MOST_TELLING: tuple[Kind, ...] = ("privacy", "law", "data path", "contract")


def witness_check(checks: Iterable[Finding]) -> Finding | None:
    """Return the refuted check whose data sets are the best witness: a pair if there is one, then the smallest
    p-value.
    """
    seen = [check for check in checks if check.data]
    return min(seen, key=lambda c: (MOST_TELLING.index(c.kind), c.p_value or 0.0), default=None)


def witness_file(report: AuditReport) -> bytes | None:
    """Make the archive; None if nothing was refuted on data sets that can be written."""
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
