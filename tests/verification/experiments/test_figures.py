"""Test the figures in proofs/paper. The code must reproduce their numbers, and a changed number must be reported."""

import shutil
from pathlib import Path

import pytest

from covassay.verification.experiments import figures
from covassay.verification.maintain.__main__ import PROGRAM

FOLDER = Path(__file__).resolve().parents[3] / "proofs" / "paper" / "figures"


def test_the_numbers_behind_the_pictures_are_those_of_the_code() -> None:
    assert figures.problems(FOLDER) == []


@pytest.mark.parametrize("name", [f.name for f in figures.FIGURES])
def test_a_changed_number_and_a_missing_picture_are_seen(name: str, tmp_path: Path) -> None:
    shutil.copytree(FOLDER, tmp_path, dirs_exist_ok=True)
    table = figures.from_csv((tmp_path / f"{name}.csv").read_text())
    table[list(table)[1]][3] += 1e-5
    (tmp_path / f"{name}.csv").write_text(figures.as_csv(table))
    told = f"figure {name}: differs from what the code computes now; draw it again"
    assert figures.problems(tmp_path) == [told]
    (tmp_path / f"{name}.svg").unlink()
    assert figures.problems(tmp_path) == [f"figure {name}: missing"]


@pytest.mark.thorough
def test_pictures_are_drawn_twice_alike(tmp_path: Path) -> None:
    """The test fails if a figure differs between two runs, for example because it contains the time."""
    pytest.importorskip("matplotlib")
    first, second = tmp_path / "a", tmp_path / "b"
    for folder in (first, second):
        folder.mkdir()
        assert PROGRAM.run(["figures", "--folder", str(folder)]) == 0
    for path in sorted(first.iterdir()):
        assert path.read_bytes() == (second / path.name).read_bytes()
    assert figures.problems(first) == []


def test_a_missing_folder_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert PROGRAM.run(["figures", "--folder", "nowhere"]) == 2
    assert "folder = nowhere: there is no such folder" in capsys.readouterr().err
