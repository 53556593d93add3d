"""Test that the page of findings is rendered from the stored results and remarks, and that each finding states how it
could be corrected.
"""

import json
from dataclasses import asdict, replace
from datetime import date
from pathlib import Path

import numpy as np
import pytest

from covassay.reference.errors import InvalidInput
from covassay.verification.audit.api import audit
from covassay.verification.audit.targets.target import Target
from covassay.verification.maintain import findings
from covassay.verification.maintain.__main__ import PROGRAM
from covassay.verification.maintain.arguments import chosen
from covassay.verification.maintain.findings import TARGETS, FindingRow, Found, Remarks, Upstream

PROOFS = Path(__file__).resolve().parents[3] / "proofs"
REMARKS = Remarks.read(PROOFS / "findings.toml")


def kept() -> list[FindingRow]:
    lines = (PROOFS / "findings.jsonl").read_text(encoding="utf-8").splitlines()
    return [FindingRow.of(json.loads(line)) for line in lines]


def test_the_page_is_rendered_from_the_kept_rows() -> None:
    assert (PROOFS / "FINDINGS.md").read_text(encoding="utf-8") == findings.render(kept(), REMARKS)


def first() -> list[FindingRow]:
    """Return the stored results for the first seed, which are those that the page shows."""
    return [row for row in kept() if row.seed == findings.FIRST]


def test_every_target_of_the_page_has_one_row_of_a_real_run() -> None:
    rows = first()
    assert len({(row.target, row.seed) for row in kept()}) == len(kept())
    assert {(row.target, row.samples) for row in kept()} == {(row.target, row.samples) for row in rows}
    assert {(row.target, row.samples) for row in rows} <= set(TARGETS.items())
    # for these targets the page says why there is no result
    assert set(TARGETS) - {row.target for row in rows} <= set(REMARKS.remark)
    run_rows = [row for row in rows if not row.missing]
    assert len(run_rows) >= 25
    assert len({row.target.partition(":")[0] for row in run_rows}) >= 9
    assert all(row.version and row.claim and row.verdict for row in run_rows)


def test_every_finding_says_what_a_change_would_be_and_no_remark_is_left_over() -> None:
    names = {findings.key(row, found) for row in first() for found in row.found}
    assert names == set(REMARKS.change)
    assert set(REMARKS.reported) | set(REMARKS.remark) <= set(TARGETS)
    assert all(set(one) == {"defect", "target", "found", "why"} for one in REMARKS.defects)
    assert {one["defect"].partition(" ")[0] for one in REMARKS.defects} >= {f"E{i}" for i in range(1, 16)}


def is_searched(one: Upstream | None) -> bool:
    """Return whether a finding states the date on which earlier reports of the fault were searched for, and the result
    of the search.
    """
    if one is None or not one.known or not isinstance(one.searched, date):
        return False
    return "#" in one.thread or "no thread found" in one.known


def test_every_refuted_target_says_what_is_known_upstream_and_when_it_was_searched() -> None:
    refuted = {row.target for row in kept() if row.verdict == "REFUTED"}
    assert set(REMARKS.upstream) == refuted
    assert all(is_searched(REMARKS.upstream.get(name)) for name in refuted)
    scripts = [one.script for one in REMARKS.upstream.values() if one.script]
    assert all((PROOFS / "upstream" / script).is_file() for script in scripts)


def test_a_refuted_target_without_a_search_is_seen() -> None:
    reported = Upstream("reported", date(2026, 1, 1), "a/b#1")
    assert is_searched(reported)
    assert not is_searched(None)
    assert not is_searched(replace(reported, thread=""))
    assert not is_searched(replace(reported, searched=None))  # type: ignore[arg-type]
    assert is_searched(replace(reported, thread="", known="no thread found"))


def test_a_defect_that_is_said_to_be_found_was_found() -> None:
    shown = {row.target: row.verdict == "REFUTED" or bool(row.bits) for row in first()}
    for one in REMARKS.defects:
        targets = [name for name in one["target"].split(", ") if name in shown]
        assert one["found"] in ("yes", "no")
        if targets and one["found"] == "yes":
            assert any(shown[name] for name in targets), one["defect"]


def test_a_changed_row_changes_the_page() -> None:
    rows = kept()
    rows[0] = replace(rows[0], version="0.0.1")
    assert findings.render(rows, REMARKS) != findings.render(kept(), REMARKS)


def test_a_run_with_another_seed_is_told_and_so_is_another_verdict() -> None:
    rows = first()
    page = findings.render([*rows, replace(rows[0], seed=7)], REMARKS)
    assert "1 of the functions were audited again with seed 7, and\nevery verdict is the same." in page
    assert f"an audit with seed 7 ended with the verdict refuted (by “law”) after {rows[0].draws} draws." in page
    other = replace(rows[0], seed=7, verdict="NOT REFUTED", found=())
    assert f"differs for `{rows[0].target}` (not refuted with seed 7)" in findings.render([*rows, other], REMARKS)
    assert "audited again" not in findings.render(rows, REMARKS)


def test_a_row_of_a_report_has_the_evidence() -> None:
    def exact(x: np.ndarray, *, epsilon: float, rng: np.random.Generator) -> np.ndarray:
        return x.T @ x

    row = findings.as_row(audit(Target("a:exact", exact), epsilon=1.0, samples=100, stop_early=True))
    assert row.verdict == "REFUTED"
    evidence = {found.check: found.evidence for found in row.found}
    assert evidence
    assert any("first data set" in text for text in evidence.values()), evidence
    assert row.command == "covassay audit a:exact --samples 100"
    assert FindingRow.of(json.loads(json.dumps(asdict(row)))) == row


def test_rows_that_are_there_are_not_measured_again(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    row = FindingRow("bhs23:mean", TARGETS["bhs23:mean"], verdict="REFUTED", found=(Found("law", "seen before"),))
    file.write_text(json.dumps(asdict(row)) + "\n", encoding="utf-8")
    assert list(findings.measured(["bhs23:mean"], kept=file)) == [row]


def test_wrong_use(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="no target has this text"):
        chosen(TARGETS, "nothing-like-it")
    assert PROGRAM.run(["findings", "--only", "bhs23", "--write", str(tmp_path / "F.md")]) == 2
    assert PROGRAM.run(["findings", "--jobs", "0"]) == 2
    assert "--only is not allowed" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
