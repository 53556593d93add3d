"""Test that the generated parts of the README files are up to date, and that a manual change is detected."""

import shutil
from pathlib import Path

import pytest

from covassay.reference.errors import InvalidInput
from covassay.verification.maintain import readme
from covassay.verification.maintain.__main__ import PROGRAM

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Copy the README files and the files from which they are generated to a folder that a test may change."""
    for name in (*readme.COUNTED, "reference/README.md", "proofs/findings.jsonl", "proofs/rocq.lock.json"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_pages_are_those_of_today() -> None:
    """The test fails if a generated part of a README file is out of date. To update the README files, run python -P -m
    covassay.verification.maintain readme --write.
    """
    for path, text in readme.pages(ROOT):
        assert path.read_text(encoding="utf-8") == text


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("README.md", f"{len(readme.MECHANISMS)} mechanisms", "7 mechanisms"),
        ("verification/site/pages/index.md", f"{len(readme.MECHANISMS)} mechanisms", "forty-six mechanisms"),
        ("reference/README.md", "| **our reconstructions of KLSU19** | | | |\n", ""),
    ],
)
def test_a_changed_page_is_seen_and_written_anew(clone: Path, name: str, old: str, new: str) -> None:
    good = (clone / name).read_text(encoding="utf-8")
    assert old in good
    (clone / name).write_text(good.replace(old, new, 1), encoding="utf-8")
    assert PROGRAM.run(["readme", "--check"]) == 1
    assert PROGRAM.run(["readme", "--write"]) == 0
    assert PROGRAM.run(["readme", "--check"]) == 0
    assert (clone / name).read_text(encoding="utf-8") == good


def test_a_count_of_nothing_and_a_page_without_the_table_are_errors() -> None:
    with pytest.raises(InvalidInput, match="count: 'stars'"):
        readme.with_counts("<!-- count: stars -->5<!-- end -->", {"claims": "3"})
    with pytest.raises(InvalidInput, match="table of mechanisms"):
        readme.with_table("# A page\n", "")


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 150
