"""Test audits of hostile targets. Whatever the target does, the audit must end with a verdict, exit status 1 or 3, and
valid JSON.
"""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

from covassay.verification.audit.reports.json_report import schema
from covassay.verification.cli.main import run

HERE = Path(__file__).parent
COMMAND = Path(sys.executable).with_name("covassay")
OPTIONS = ["--epsilon", "1", "--samples", "100", "--jobs", "1", "--json"]
VERDICTS = {("REFUTED", 1), ("INCONCLUSIVE", 3)}

_spec = importlib.util.spec_from_file_location("hostile_targets", HERE / "hostile_targets.py")
assert _spec is not None
assert _spec.loader is not None
targets = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(targets)
EXPENSIVE = {
    "is_late", "is_late_now_and_then", "swallows_the_interruption", "swallows_three_interruptions",
    "answers_from_finally", "recurses_for_ever", "handles_the_alarm", "prints_much", "returns_a_large_array",
}  # fmt: skip
QUICK = [name for i, name in enumerate(targets.HOSTILE) if i % 12 == 0 and name not in EXPENSIVE]
QUICK_DEADLY = ("swallows_every_interruption", "waits_for_ever_in_c")


def some(names: Any, quick: Any) -> list[Any]:
    return [pytest.param(name, marks=() if name in quick else pytest.mark.slow) for name in names]


def checked(printed: str) -> tuple[str, int]:
    """Return the verdict and the exit status of a JSON report, and check that the report conforms to its schema."""
    report = json.loads(printed, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))
    jsonschema.validate(report, schema())
    return report["verdict"], report["exit_status"]


@pytest.mark.thorough
@pytest.mark.parametrize("name", some(targets.HOSTILE, QUICK))
@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_hostile_target_ends_in_a_verdict(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The test fails if a hostile target crashes the audit or changes the state of its process."""
    monkeypatch.chdir(HERE)
    before = np.geterr(), os.getcwd(), sys.stdout
    status = run(["audit", f"hostile_targets:{name}", *OPTIONS, "--time-limit", "0.05"])
    assert (np.geterr(), os.getcwd(), sys.stdout) == before
    captured = capsys.readouterr()
    assert (*checked(captured.out), status) in {(*found, found[1]) for found in VERDICTS}
    assert "Traceback" not in captured.err


@pytest.mark.thorough
@pytest.mark.parametrize("name", some(targets.DEADLY, QUICK_DEADLY))
def test_a_deadly_target_ends_in_a_verdict(name: str) -> None:
    """The test fails if a target that ends its process leaves the audit without a verdict."""
    done = subprocess.run(
        [COMMAND, "audit", f"hostile_targets:{name}", *OPTIONS, "--time-limit", "0.1"],
        cwd=HERE, capture_output=True, encoding="utf-8", errors="replace", check=False, timeout=120,
    )  # fmt: skip
    verdict = checked(done.stdout)
    assert verdict in VERDICTS
    assert done.returncode == verdict[1]


def test_there_are_enough_of_them() -> None:
    assert len(targets.HOSTILE) + len(targets.DEADLY) >= 150
