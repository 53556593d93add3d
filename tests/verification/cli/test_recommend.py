"""Test `covassay recommend`: the recommendation, the table, the plot, and rejected arguments."""

import json
from pathlib import Path

import pytest

from covassay.verification.cli.main import run

FACTS = ["recommend", "--rows", "2000", "--dimension", "5"]


def test_the_verdict_comes_first_and_says_why(capsys: pytest.CaptureFixture[str]) -> None:
    """The test fails if the recommendation does not come first or lacks its reason."""
    assert run([*FACTS, "--epsilon", "1"]) == 0
    printed = capsys.readouterr().out
    first, second = printed.splitlines()[:2]
    assert first.startswith("use ")
    assert second.startswith("regime: large, because n = 2000 against πd²/(εt) = 78.5")
    assert "only mechanisms that claim ε = 1 (pure DP) are compared" in printed


def test_data_that_drown_in_noise_are_warned_of(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["recommend", "--rows", "20", "--dimension", "20", "--rho", "0.01"]) == 0
    assert "warning: the zero matrix" in capsys.readouterr().out


@pytest.mark.parametrize("extra", [[], ["--norm", "spectral"], ["--goal", "regression"], ["--trace", "0.05"]])
def test_the_table_and_json_agree(extra: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """The test fails if the table and the JSON output list different mechanisms, or if they are not sorted by error."""
    assert run([*FACTS, "--rho", "0.5", *extra, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert run([*FACTS, "--rho", "0.5", *extra]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("│")]
    assert len(lines) >= len(document["ranked"])
    errors = [one["error"] for one in document["ranked"]]
    assert errors == sorted(errors)
    assert document["norm"] == ("spectral" if extra[1:] in (["spectral"], ["regression"]) else "frobenius")


@pytest.mark.parametrize("suffix", [".svg", pytest.param(".png", marks=pytest.mark.slow)])
def test_the_picture_is_written(suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    from covassay.verification.experiments import regime_map

    monkeypatch.setattr(regime_map, "COLUMNS", 9)
    monkeypatch.setattr(regime_map, "LINES", 5)
    path = tmp_path / f"map{suffix}"
    assert run([*FACTS, "--rho", "0.5", "--picture", str(path)]) == 0
    assert path.read_bytes()[:4] in (b"<?xm", bytes([0x89]) + b"PNG")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (FACTS, "give one budget"),
        ([*FACTS, "--epsilon", "1", "--rho", "1"], "give one budget"),
        ([*FACTS, "--epsilon", "-1"], "epsilon = -1.0"),
        ([*FACTS, "--epsilon", "nan"], "epsilon = nan"),
        ([*FACTS, "--epsilon", "1", "--trace", "2"], "trace = 2.0"),
        ([*FACTS, "--epsilon", "1", "--norm", "nuclear"], "invalid choice"),
        ([*FACTS, "--epsilon", "1", "--picture", "map.gif"], "must end in .svg or .png"),
        ([*FACTS, "--epsilon", "1", "--picture", "missing/map.svg"], "a directory that exists"),
        (["recommend", "--rows", "0", "--dimension", "5", "--epsilon", "1"], "rows = 0"),
        (["recommend", "--rows", "10", "--dimension", "-3", "--epsilon", "1"], "dimension = -3"),
        (["recommend", "--dimension", "3", "--epsilon", "1"], "--rows"),
    ],
)
def test_wrong_use_is_one_line_and_exit_status_2(
    arguments: list[str],
    words: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(arguments) == 2
    captured = capsys.readouterr()
    assert words in captured.err
    assert captured.err.count("\n") == 1
    assert captured.out == ""
    assert list(tmp_path.iterdir()) == []


def test_a_picture_without_matplotlib_is_refused(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    assert run([*FACTS, "--epsilon", "1", "--picture", str(tmp_path / "map.svg")]) == 2
    assert "pip install 'covassay[figures]'" in capsys.readouterr().err
