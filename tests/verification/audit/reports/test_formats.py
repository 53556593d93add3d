"""Test that every format of a report states how many checks were made and skipped, and that a badge shows only the
verdict.
"""

import json
from dataclasses import replace

import pytest

from covassay.verification.audit.engine.finding import Status
from covassay.verification.audit.reports.formats import own
from covassay.verification.audit.reports.json_report import as_json
from covassay.verification.audit.reports.words import questions_asked
from tests.verification.audit.reports.kinds_of_reports import KINDS, report_of


@pytest.mark.thorough
@pytest.mark.parametrize("kind", KINDS)
def test_a_report_says_how_many_questions_were_asked(kind: str) -> None:
    """The test fails if the number of skipped checks is missing in a report."""
    report = report_of(kind)
    counts = as_json(report)["questions"]
    said = questions_asked(report)
    assert said == f"{counts['asked']} question{'' if counts['asked'] == 1 else 's'} asked, {counts['skipped']} skipped"
    written = {format.name: format.text(report, 0) for format in own() if format.name != "badge"}
    assert set(written) == {"html", "junit", "sarif"}
    assert all(said in text for text in written.values())
    silent = replace(report, checks=tuple(check for check in report.checks if check.status is not Status.SKIPPED))
    if counts["skipped"]:
        assert not any(said in format.text(silent, 0) for format in own())
        assert as_json(silent)["questions"] != json.loads(json.dumps(counts))
