"""The README's generated tables: a row from a report, and a table that no longer holds."""

from pathlib import Path

import pytest

from covassay.verification.audit.api import audit
from covassay.verification.audit.targets.target import TargetReference
from covassay.verification.maintain import readme_tables as findings
from covassay.verification.maintain.__main__ import PROGRAM

OURS = Path(__file__).resolve().parents[3] / "README.md"
README = """# A package

<!-- mechanisms: begin (generated) -->
stale
<!-- mechanisms: end -->
<!-- findings: begin (generated) -->
<!-- findings: end -->
"""


@pytest.fixture
def readme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A README whose tables are made from one small audit."""
    monkeypatch.setattr(findings, "AUDITED", {"mutant:gamma-shape": 300})
    path = tmp_path / "README.md"
    path.write_text(README, encoding="utf-8")
    return path


def run(*arguments: str) -> int:
    return PROGRAM.run(["readme-tables", *arguments])


@pytest.mark.slow
def test_a_changed_table_is_seen(readme: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(str(readme), "--check") == 1
    assert readme.read_text(encoding="utf-8") == README  # checking writes nothing
    assert run(str(readme), "--write") == 0
    assert run(str(readme), "--check") == 0
    written = readme.read_text(encoding="utf-8")
    assert "stale" not in written
    readme.write_text(written.replace("REFUTED", "NOT REFUTED"), encoding="utf-8")
    capsys.readouterr()
    assert run(str(readme), "--check") == 1
    assert "| `mutant:gamma-shape` |" in capsys.readouterr().err


@pytest.mark.slow
def test_a_finding_states_verdict_and_the_law_that_fits() -> None:
    report = audit(TargetReference("mutant:gamma-shape", "."), epsilon=1.0, samples=300)
    row = findings.finding(report)
    assert row.verdict == "REFUTED"
    assert row.found.startswith("not the law it claims (p < 1e-9")
    assert "d(d+1)/2 in place of d²" in row.found


@pytest.mark.thorough
def test_a_target_without_a_finding_says_nothing_was_found() -> None:
    report = audit(TargetReference("covassay:entrywise-laplace", "."), epsilon=1.0, samples=100)
    assert findings.finding(report).found == "nothing"


def test_a_readme_without_the_section_is_an_error() -> None:
    with pytest.raises(ValueError, match="no section 'findings'"):
        findings.replace_section("# A package\n", "findings", "")


def is_current(text: str) -> bool:
    return findings.replace_section(text, "mechanisms", findings.mechanisms_table()) == text


def test_the_mechanism_table_of_the_readme_is_up_to_date() -> None:
    """After a change: python -P -m covassay.verification.maintain readme-tables README.md --write."""
    text = OURS.read_text(encoding="utf-8")
    assert is_current(text)
    assert not is_current(text.replace("| **our reconstructions of KLSU19** | | | |\n", ""))
