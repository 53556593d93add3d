"""Test the pytest fixture of covassay in temporary projects."""

import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

PROJECT = """
import time

import pytest


def no_noise(x, *, epsilon, rng):
    return x.T @ x / len(x) + 1e-3 * rng.standard_normal((x.shape[1],) * 2)


def hangs(x, *, epsilon, rng):
    time.sleep(60)


def raises(x, *, epsilon, rng):
    raise KeyError("row 17")


def test_kept(covassay_audit):
    report = covassay_audit("covassay:private-trace", epsilon=0.5, samples=100, seed=3)
    assert (report.verdict.value, report.samples, report.seed) == ("NOT REFUTED", 100, 3)
    assert report.false_alarm == 1e-9


def test_process(covassay_audit):
    covassay_audit("exec:python3 release.py", rho=0.5, samples=100)


def test_broken_function(covassay_audit):
    covassay_audit(no_noise, epsilon=1.0, samples=200)


def test_broken_target(covassay_audit):
    covassay_audit("mutant:half-noise-entrywise-laplace", samples=100)


def test_slow(covassay_audit):
    covassay_audit(hangs, mechanism="nuclear-laplace", epsilon=1.0, samples=100, time_limit=0.02)


def test_cannot_run(covassay_audit):
    covassay_audit(raises, epsilon=1.0)


def test_another_notion(covassay_audit):
    covassay_audit(no_noise, mechanism="nuclear-laplace", rho=1.0)
"""
PROCESS = """
import json, random, sys

for line in sys.stdin:
    request = json.loads(line)
    x, rng = request["x"], random.Random(request["seed"])
    try:
        n, d = len(x), len(x[0])
        print(json.dumps({"output": [[rng.gauss() / n / request["rho"] ** 0.5 for _ in range(d)] for _ in range(d)]}))
    except (LookupError, TypeError, ZeroDivisionError) as error:
        print(json.dumps({"error": str(error)}))
    sys.stdout.flush()
"""
LAZY = """
import sys

def test_nothing_is_imported():
    assert "covassay.verification.pytest_plugin" in sys.modules
    assert not {"numpy", "scipy", "covassay.reference", "covassay.verification.audit"} & set(sys.modules)
"""


def run_pytest(folder: Path, source: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    (folder / "test_project.py").write_text(source)
    command = [sys.executable, "-W", "error", "-m", "pytest", "-p", "no:cacheprovider", "--color=no", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.thorough
def test_a_project_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "release.py").write_text(PROCESS)
    done = run_pytest(tmp_path, PROJECT, "-rA", "--import-mode=importlib")
    outcomes = dict(
        reversed(line.split(" - ")[0].split(" test_project.py::"))
        for line in done.stdout.splitlines()
        if line.startswith(("PASSED", "FAILED"))
    )
    assert outcomes == {
        "test_kept": "PASSED",
        "test_process": "PASSED",
        "test_broken_function": "FAILED",
        "test_broken_target": "FAILED",
        "test_slow": "FAILED",
        "test_cannot_run": "FAILED",
        "test_another_notion": "FAILED",
    }, done.stdout + done.stderr
    for message in (
        "Failed: no_noise, ε = 1 (pure DP), replace-one: REFUTED. At least one promise is broken.",
        "replay: pytest test_project.py::test_broken_function",
        "law that fits instead: ",
        "replay: covassay audit mutant:half-noise-entrywise-laplace --epsilon 1 --samples 100 --seed 0",
        "INCONCLUSIVE. The run could not decide. The checks that are marked inconclusive or skipped say why.",
        "contract / output form: on plain (20, 2) data: time-out: no output after 0.02 s",
        "CannotRun: raises: called as f(x, *, epsilon, rng) it raised KeyError: 'row 17'",
        "InvalidInput: nuclear-laplace is ε-DP: give --epsilon instead of --rho",
    ):
        assert message in done.stdout, message
    refuted = [
        line
        for line in done.stdout.splitlines()
        if line.startswith("E ") and ("event {" in line or "exact loss" in line)
    ]
    assert refuted


def test_nothing_is_imported_before_it_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test fails if the pytest plugin imports covassay in a test run that does not use it. Other plugins are
    disabled, so that their imports are not counted.
    """
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    done = run_pytest(tmp_path, LAZY, "-p", "covassay")
    assert done.returncode == 0, done.stdout + done.stderr


def test_it_is_registered_once() -> None:
    """The test fails if pytest loads the plugin of covassay twice or not at all."""
    found = [point.value for point in entry_points(group="pytest11") if point.name == "covassay"]
    assert found == ["covassay.verification.pytest_plugin"]
