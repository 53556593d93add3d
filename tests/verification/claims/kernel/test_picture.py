"""Test the picture of the dependencies between the folders of proofs/rocq."""

import re
from pathlib import Path

import pytest

from covassay.verification.claims.kernel import picture

PROOFS = Path(__file__).parents[4] / "proofs"


def project(folder: Path, requires: dict[str, str]) -> Path:
    """Write Rocq files with one command `Require` each, and return their folder."""
    for name, required in requires.items():
        path = folder / f"{name}.v"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            f"(* From covassay Require Z. *)\nFrom covassay Require Import {required}.\n" if required else ""
        )
    return folder


def test_the_picture_is_of_the_proofs_of_today() -> None:
    """The test fails if the picture is out of date because a file was moved, or because a tag or `Require` is new. To
    update the picture, run covassay claims render.
    """
    assert (PROOFS / picture.NAME).read_text(encoding="utf-8") == picture.draw(PROOFS / "rocq")


def test_the_page_says_what_is_in_each_folder() -> None:
    """The test fails if the table in proofs/README.md leaves out a folder, or lists one that does not exist."""
    text = (PROOFS / "README.md").read_text(encoding="utf-8").partition("| folder of `rocq/` |")[2].partition("\n\n")[0]
    assert sorted(re.findall(r"^\| `(\S+)` \|", text, re.MULTILINE)) == list(picture.rests_on(PROOFS / "rocq"))


def test_a_folder_rests_on_what_its_files_require(tmp_path: Path) -> None:
    """The test fails if the picture has a line for an indirect dependency, for a comment, or for two files in one
    folder.
    """
    graph = picture.rests_on(project(tmp_path, {"a/X": "Y W", "a/W": "Y V", "b/Y": "V", "c/d/V": "", "e/Z": "V"}))
    assert graph == {"a": {"b", "c/d"}, "b": {"c/d"}, "c/d": set(), "e": {"c/d"}}
    assert picture.direct(graph) == {"a": {"b"}, "b": {"c/d"}, "c/d": set(), "e": {"c/d"}}
    assert picture.levels(graph) == {"a": 2, "b": 1, "c/d": 0, "e": 1}


def test_folders_that_rest_on_each_other_are_an_error(tmp_path: Path) -> None:
    """The test fails if two folders may depend on each other."""
    with pytest.raises(ValueError, match=r"rest on each other: a, b$"):
        picture.rests_on(project(tmp_path, {"a/X": "Y", "b/Y": "V", "a/V": "", "c/Z": ""}))
