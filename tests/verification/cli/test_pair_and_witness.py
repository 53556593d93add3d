"""Test the files that `covassay audit` reads with --pair and writes with --witness. The commands must not leave a
partial file.
"""

import json
import os
from pathlib import Path

import numpy as np
import pytest

from covassay.verification.cli.audit_process import Finished, write_whole
from covassay.verification.cli.main import run

SMALL = ["--samples", "100", "--jobs", "1"]


@pytest.mark.thorough
def test_a_witness_is_written_and_its_pair_is_tested_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "unclipped.py").write_text(
        "def f(x, *, epsilon, rng):\n    return x.T @ x / len(x) + rng.laplace(size=(x.shape[1],) * 2) / epsilon\n"
    )
    monkeypatch.chdir(tmp_path)
    assert run(["audit", "unclipped:f", *SMALL, "--witness", "w.npz"]) == 1
    assert [path.name for path in tmp_path.glob("w.*")] == ["w.npz"]
    with np.load("w.npz") as found:
        assert set(found) == {"about", "x", "y"}
    capsys.readouterr()
    assert run(["audit", "unclipped:f", *SMALL, "--pair", "w.npz", "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert any(c["scenario"] == "your pair" and c["name"] == "event" for c in report["checks"])
    assert [c["status"] for c in report["checks"] if c["name"] == "exact loss"] == ["REFUTED"]
    assert "--pair w.npz" in report["replay"]


@pytest.mark.thorough
def test_without_a_refutation_no_witness_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "w.npz"
    assert run(["audit", "covassay:private-trace", *SMALL, "--witness", str(file)]) == 0
    assert not file.exists()
    assert "was not written" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("option", "name", "words"),
    [
        ("--pair", "no.npz", "must be a file that exists"),
        ("--witness", "w.txt", "must end in .npz"),
        ("--witness", "nowhere/w.npz", "must be in a directory that exists"),
    ],
)
def test_invalid_use_is_one_line(
    option: str, name: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["audit", "covassay:private-trace", *SMALL, option, str(tmp_path / name)]) == 2
    shown = capsys.readouterr()
    assert words in shown.err
    assert shown.err.count("\n") == 1
    assert not shown.out


def test_a_witness_that_cannot_be_written_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "w.npz"
    file.write_bytes(b"before")

    def full(path: Path, content: bytes) -> int:
        with path.open("wb") as part:
            part.write(content[:1])
        raise OSError("no space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OSError, match="no space"):
        write_whole(file, b"after")
    with pytest.raises(OSError, match="no space"):
        Finished(1).with_file(str(file), b"after").deliver()
    assert [path.name for path in tmp_path.iterdir()] == ["w.npz"]
    assert file.read_bytes() == b"before"


def test_a_place_that_is_no_file_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    """The test fails if a report replaces a link or a pipe by a file."""
    (tmp_path / "link").symlink_to(tmp_path / "file")
    write_whole(tmp_path / "link", b"through the link")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_bytes() == b"through the link"
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_whole(tmp_path / "pipe", b"into the pipe")
        assert os.read(reader, 100) == b"into the pipe"
    finally:
        os.close(reader)
    assert (tmp_path / "pipe").is_fifo()
    assert len(list(tmp_path.iterdir())) == 3
