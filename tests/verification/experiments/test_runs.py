"""Test runs of experiments. A run that was killed must be continued without losing results. The results must not depend
on the order of the tasks or on the number of workers. Damaged files must be reported.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from filelock import FileLock
from jsonschema import Draft202012Validator

from covassay.reference.errors import InvalidInput
from covassay.verification.cli.main import run
from covassay.verification.cli.schema import schemas
from covassay.verification.experiments import plots, results, running
from covassay.verification.experiments.running import Plan

pytest.importorskip("pyarrow")
NAME = "bdku20-covariance"  # the fastest experiment


class Here(Executor):
    """An executor that runs tasks in this process, in the order of submission."""

    def __init__(self) -> None:
        self.count = 0

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self.count += 1
        future.set_result(fn(*args, **kwargs))
        return future


class Backwards(Here):
    """An executor that runs the last task first."""

    def __init__(self) -> None:
        super().__init__()
        self.waiting: list[Callable[[], None]] = []

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self.waiting.append(lambda: future.set_result(fn(*args, **kwargs)))
        if len(self.waiting) == 8:
            for go in reversed(self.waiting):
                go()
        return future


@pytest.fixture
def in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def workers(jobs: int) -> Iterator[Here]:
        yield Here()

    monkeypatch.setattr(running, "workers", workers)


def advance(name: str, steps: int = 1) -> None:
    pass


def plan(repetitions: int = 1, seed: int = 0) -> Plan:
    return Plan.of(NAME, "small", seed, repetitions)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a finished run with two repetitions."""
    return running.run(plan(2), tmp_path_factory.mktemp("whole"), Here(), advance)


def test_the_result_depends_on_no_order_and_is_written_as_a_whole(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    first = running.run(plan(), tmp_path / "a", Here(), advance)
    second = running.run(plan(), tmp_path / "b", Backwards(), advance)
    assert first.read_bytes() == second.read_bytes()
    assert sorted(path.name for path in (tmp_path / "a").iterdir()) == [".lock", f"{NAME}.parquet"]


@pytest.mark.thorough
def test_a_run_that_is_killed_goes_on_and_a_cut_line_is_dropped(whole: Path, tmp_path: Path) -> None:
    steps: list[int] = []

    def killed(name: str, count: int = 1) -> None:
        steps.append(count)
        if len(steps) == 6:  # the first step reports the results that an earlier run has stored
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        running.run(plan(2), tmp_path, Here(), killed)
    partial = tmp_path / f"{NAME}.partial.jsonl"
    text = partial.read_text()
    assert len(text.splitlines()) == 1 + 5
    partial.write_text(text[:-20])
    rest = Here()
    file = running.run(plan(2), tmp_path, rest, advance)
    assert rest.count == 16 - 4
    assert file.read_bytes() == whole.read_bytes()
    assert not partial.exists()


@pytest.mark.thorough
def test_more_repetitions_leave_the_first_ones_as_they_are(whole: Path, tmp_path: Path) -> None:
    one = results.read(running.run(plan(), tmp_path, Here(), advance))
    two = results.read(whole)
    assert set(one.rows) == {row for row in two.rows if row.repetition == 0}
    assert [claim["compared"] > 0 for result in (one, two) for claim in result.facts["claims"]] == [False, True]
    assert len({row.error for row in two.rows}) == len(two.rows)  # no random number is used twice


@pytest.mark.parametrize(
    ("other", "told"), [(plan(2, seed=1), "seed 0 instead of 1"), (plan(1), "repetitions 2 instead of 1")]
)
def test_another_run_is_not_overwritten(other: Plan, told: str, whole: Path, tmp_path: Path) -> None:
    """The test fails if a run silently overwrites the results of a run with another seed or another number of
    repetitions.
    """
    file = tmp_path / whole.name
    file.write_bytes(whole.read_bytes())
    again = Here()
    assert running.run(plan(2), tmp_path, again, advance) == file
    with pytest.raises(InvalidInput, match=told):
        running.run(other, tmp_path, again, advance)
    assert again.count == 0
    assert file.read_bytes() == whole.read_bytes()


def test_a_stored_result_is_gone_on_from_with_more_repetitions(whole: Path, tmp_path: Path) -> None:
    running.run(plan(), tmp_path, Here(), advance)
    rest = Here()
    file = running.run(plan(2), tmp_path, rest, advance)
    assert rest.count == 8
    assert file.read_bytes() == whole.read_bytes()


def test_a_partial_run_of_other_versions_or_damaged_is_refused(tmp_path: Path) -> None:
    partial = tmp_path / f"{NAME}.partial.jsonl"
    header = running.header(plan())
    partial.write_text(json.dumps({**header, "versions": {"numpy": "0"}}) + "\n")
    with pytest.raises(InvalidInput, match="differs in: versions"):
        running.run(plan(), tmp_path, Here(), advance)
    for damage in ("no JSON\n", json.dumps(header) + "\n{}\n", json.dumps(header) + '\n{"cell": [1]}\n'):
        partial.write_text(damage)
        with pytest.raises(InvalidInput, match="is damaged"):
            running.run(plan(), tmp_path, Here(), advance)
    partial.unlink()
    with FileLock(tmp_path / ".lock"), pytest.raises(InvalidInput, match="another process"):
        running.run(plan(), tmp_path, Here(), advance)


@pytest.mark.thorough
def test_a_stored_result_is_regenerated_and_one_bit_is_seen(
    whole: Path, tmp_path: Path, in_process: None, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["experiments", "regenerate", str(whole)]) == 0
    assert "the same, bit by bit" in capsys.readouterr().out
    kept = results.read(whole)
    changed = replace(kept.rows[3], error=float(np.nextafter(kept.rows[3].error, 1)))
    other = replace(
        kept,
        facts={**kept.facts, "notes": ["old"], "versions": {**kept.facts["versions"], "numpy": "1.0"}},
        rows=(*kept.rows[1:3], changed, *kept.rows[4:]),
    )
    results.write(tmp_path / "other.parquet", other)
    assert run(["experiments", "regenerate", str(tmp_path / "other.parquet"), "--out", str(tmp_path / "new")]) == 1
    printed = capsys.readouterr().out
    assert f"1 of {len(kept.rows) - 1} errors differ" in printed
    assert "versions, numpy: '1.0' in the stored result" in printed
    assert "notes: the stored list differs from the declared one" in printed
    assert "1 rows are in only one of the two results" in printed
    assert (tmp_path / "new" / f"{NAME}.parquet").read_bytes() == whole.read_bytes()


def test_a_result_made_from_another_file_of_the_user_is_refused(whole: Path, tmp_path: Path) -> None:
    kept = results.read(whole)
    with pytest.raises(InvalidInput, match="adult: the path must lead to the data of the stored result"):
        running.replan({**kept.facts, "data": {"adult": "0" * 64}}, {"adult": whole})


def test_what_is_shown_obeys_its_schema(whole: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["experiments", "show", str(whole), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    validator = Draft202012Validator(schemas()["experiments-show"])
    assert [error.message for error in validator.iter_errors(document)] == []
    for part in (document, document["facts"], document["means"][0], document["facts"]["panels"][0]):
        part["surplus"] = None
        assert list(validator.iter_errors(document))
        del part["surplus"]
    assert run(["experiments", "show", str(whole)]) == 0
    assert "CoinPress, t = 5" in capsys.readouterr().out


@pytest.mark.thorough
@pytest.mark.parametrize("folders", ["a", pytest.param("ab", marks=pytest.mark.slow)])
def test_plots_are_drawn_from_the_file_alone_and_twice_alike(
    folders: str, whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(running, "released", None)
    for folder in folders:
        (tmp_path / folder).mkdir()
        (tmp_path / folder / whole.name).write_bytes(whole.read_bytes())
        assert run(["experiments", "plot", str(tmp_path / folder)]) == 0
    assert "bdku20-covariance.svg" in capsys.readouterr().out
    for name in (f"{NAME}.svg", f"{NAME}.png"):
        assert len({(tmp_path / folder / name).read_bytes() for folder in folders}) == 1


def test_contradictions_are_told_with_their_entry(whole: Path) -> None:
    facts = results.read(whole).facts
    claim = {
        "statement": "S.",
        "ledger": "X.Y",
        "compared": 4,
        "contradicted": [["u", "Mahalanobis error", "not private", 31.6]],
    }
    held = {**claim, "ledger": "", "contradicted": []}
    told = plots.verdicts({**facts, "claims": [claim, held, {**held, "compared": 0}]})
    assert told == [
        f"{plots.FAILED} (panel u, u, the bound on Σ = 31.6): “S.” [X.Y]",
        f"{plots.HELD}: “S.”",
        f"{plots.UNTRIED}: “S.”",
    ]


@pytest.mark.parametrize("action", ["show", "plot", "regenerate"])
def test_a_file_that_is_no_result_is_one_clear_error(
    action: str, whole: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import pyarrow.parquet

    (tmp_path / "cut.parquet").write_bytes(whole.read_bytes()[:-50])
    (tmp_path / "text.parquet").write_text("no Parquet")
    pyarrow.parquet.write_table(pyarrow.table({"a": [1.0]}), tmp_path / "other.parquet")
    for name, told in (
        ("cut", "cannot be read"), ("text", "cannot be read"), ("other", "not a result of"), ("no", "no such file")
    ):  # fmt: skip
        assert run(["experiments", action, str(tmp_path / f"{name}.parquet")]) == 2
        message = capsys.readouterr().err
        assert told in message
        assert message.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["run"], "give the names of experiments"),
        (["run", NAME, "--all"], "give the names of experiments"),
        (["run", "dn25-constant"], "did you mean dn25-constants?"),
        (["run", NAME, "--jobs", "0"], "jobs = 0"),
        (["run", NAME, "--repetitions", "0"], "repetitions = 0"),
        (["run", NAME, "--seed", "-1"], "seed = -1"),
        (["run", NAME, "--scale", "large"], "invalid choice"),
        (["run", NAME, "--out", "nowhere/deep"], "nowhere/deep: must be a folder"),
        (["run", NAME, "--data", "iris=x"], "--data iris=x: must be NAME=PATH"),
        (["run", "dly22-figure-5"], "needs --data news=PATH"),
        (["plot", "."], "holds no results"),
    ],
)
def test_wrong_input_is_one_clear_error_and_writes_nothing(
    arguments: list[str], told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["experiments", *arguments]) == 2
    message = capsys.readouterr().err
    assert told in message
    assert message.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("missing", "action"), [("pyarrow.parquet", "run"), ("matplotlib", "plot")])
def test_a_missing_library_is_one_clear_error(
    missing: str, action: str, whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_process: None,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.setitem(sys.modules, missing, None)
    arguments = [NAME, "--out", str(tmp_path)] if action == "run" else [str(whole)]
    assert run(["experiments", action, *arguments]) == 2
    assert "install the extra covassay[" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_killed_processes_leave_no_workers_and_the_run_goes_on(tmp_path: Path) -> None:
    """The test fails if worker processes survive their run after `kill -9`, or if the run cannot be continued. The
    continued run with two workers must give the same bytes as a run with one worker.
    """
    command = [sys.executable, "-P", "-c", "from covassay.verification.cli.main import main; main()", "experiments"]

    def arguments(folder: str, jobs: int) -> list[str]:
        return [*command, "run", NAME, "--repetitions", "30", "--jobs", str(jobs), "--out", str(tmp_path / folder)]

    process = subprocess.Popen(arguments("killed", 1), stdout=subprocess.DEVNULL)
    partial = tmp_path / "killed" / f"{NAME}.partial.jsonl"
    while not partial.exists() or partial.read_bytes().count(b"\n") < 3:
        assert process.poll() is None
        time.sleep(0.01)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    for child in children:
        while Path(f"/proc/{child}/cmdline").exists() and Path(f"/proc/{child}/cmdline").read_bytes():
            time.sleep(0.01)
    subprocess.run(arguments("killed", 2), check=True, stdout=subprocess.DEVNULL)
    subprocess.run(arguments("whole", 1), check=True, stdout=subprocess.DEVNULL)
    assert (tmp_path / "killed" / f"{NAME}.parquet").read_bytes() == (
        tmp_path / "whole" / f"{NAME}.parquet"
    ).read_bytes()
