"""Test the GitHub workflow for other repositories. The test runs its commands unchanged, and the job may pass only if
the audit exits with status 0.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")

FILE = Path(__file__).resolve().parents[1] / ".github" / "workflows" / "audit.yml"
TEXT = FILE.read_text(encoding="utf-8")
# GitHub Actions uses these options for `shell: bash`.
BASH = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c"]
NEEDED = {"covassay": "covassay==0", "target": "mine:release"}
REPORTS = {"junit.xml", "report.sarif", "report.html", "badge.json"}


def workflow(text: str = TEXT) -> dict[str, Any]:
    loaded: dict[Any, Any] = yaml.safe_load(text)
    return {"on": loaded.get("on", loaded.get(True)), **{k: v for k, v in loaded.items() if isinstance(k, str)}}


def declared() -> dict[str, Any]:
    return workflow()["on"]["workflow_call"]["inputs"]


def passes(folder: Path, given: dict[str, str], text: str = TEXT) -> bool:
    """Return whether the job passes, which it does if every command in its steps succeeds."""
    assert set(given) <= set(declared())
    inputs = {name: str(one.get("default", "")) for name, one in declared().items()} | NEEDED | given

    def filled(value: Any) -> str:
        known = {f"inputs.{name}": value for name, value in inputs.items()} | {"github.workspace": str(folder)}
        return re.sub(r"\$\{\{ ([\w.]+) \}\}", lambda found: known[found.group(1)], str(value))

    steps = workflow(text)["jobs"]["audit"]["steps"]
    for step in (step for step in steps if "run" in step):
        if step.get("if") == "inputs.install != ''" and not inputs["install"]:
            continue
        own = {name: filled(value) for name, value in step.get("env", {}).items()}
        path = os.pathsep.join([str(folder / "bin"), os.environ["PATH"]])
        done = subprocess.run(
            [*BASH, step["run"]], env={**os.environ, **own, "PATH": path}, check=False, timeout=300,
            cwd=folder / filled(step.get("working-directory", ".")),
        )  # fmt: skip
        if done.returncode and not step.get("continue-on-error"):
            return False
    return True


def program(folder: Path, name: str, status: int = 0) -> Callable[[], list[str]]:
    """Make a program that ends with the given exit status, and return a function that reads the arguments of its last
    call.
    """
    (folder / "bin").mkdir(exist_ok=True)
    file, log = folder / "bin" / name, folder / f"{name}.log"
    file.write_text(f'#!/bin/sh\nfor a in "$@"; do printf "%s\\0" "$a"; done > "{log}"\nexit {status}\n')
    file.chmod(0o755)
    return lambda: log.read_text(encoding="utf-8").split("\0")[:-1]


@pytest.mark.parametrize("status", [0, 1, 2, 3, 4, 130])
def test_only_an_audit_that_refutes_nothing_passes(status: int, tmp_path: Path) -> None:
    """The test fails if the CI job passes although the audit refuted its target or failed."""
    program(tmp_path, "pip")
    program(tmp_path, "covassay", status)
    assert passes(tmp_path, {}) == (status == 0)


@pytest.mark.parametrize("broken", ["pip", "the target"])
def test_a_failed_installation_does_not_pass(broken: str, tmp_path: Path) -> None:
    program(tmp_path, "pip", int(broken == "pip"))
    ran = program(tmp_path, "covassay")
    assert not passes(tmp_path, {"install": "false; true" if broken == "the target" else ""})
    with pytest.raises(FileNotFoundError):
        ran()


def test_every_input_arrives_as_it_is(tmp_path: Path) -> None:
    """The test fails if the shell interprets an input of the workflow. One input contains shell commands, which must
    not run.
    """
    pip, ran = program(tmp_path, "pip"), program(tmp_path, "covassay")
    (tmp_path / "sub dir").mkdir()
    odd = "exec:sh -c '$(touch hacked); `touch hacked` * \"'"
    given = {
        "target": odd, "covassay": "a b; touch hacked", "mechanism": "k-norm", "epsilon": "1", "delta": "1e-6",
        "rho": "2", "samples": "100", "arguments": "--call=f(x, eps=epsilon)[0] * 2\n\n--options=a='b  c'\n",
        "directory": "sub dir", "install": "touch 'installed it'",
    }  # fmt: skip
    assert passes(tmp_path, given)
    assert pip() == ["install", "a b; touch hacked"]
    out = f"{tmp_path}/covassay-reports"
    assert ran() == [
        "audit", odd, f"--junit={out}/junit.xml", f"--sarif={out}/report.sarif", f"--html={out}/report.html",
        f"--badge={out}/badge.json", "--mechanism=k-norm", "--epsilon=1", "--delta=1e-6", "--rho=2", "--samples=100",
        "--call=f(x, eps=epsilon)[0] * 2", "--options=a='b  c'",
    ]  # fmt: skip
    assert (tmp_path / "installed it").exists()
    assert not list(tmp_path.rglob("hacked"))


def test_no_command_has_an_input_written_into_it() -> None:
    for step in workflow()["jobs"]["audit"]["steps"]:
        assert "${{" not in step.get("run", "")
        assert step.get("shell") == ("bash" if "run" in step else None)


def test_the_reports_are_kept_whatever_happens_and_the_job_may_only_read() -> None:
    (kept,) = [s for s in workflow()["jobs"]["audit"]["steps"] if "upload-artifact" in s.get("uses", "")]
    assert (kept["if"], kept["with"]["path"]) == ("always()", "covassay-reports")
    assert workflow()["permissions"] == {"contents": "read"}


def test_every_action_is_pinned_to_a_commit() -> None:
    """The test fails if a workflow names an action by a tag, because the owner of an action can move its tag to other
    code.
    """
    for file in FILE.parent.glob("*.yml"):
        used = [line for line in file.read_text(encoding="utf-8").splitlines() if re.match(r" +(- )?uses:", line)]
        assert used
        assert all(re.search(r"@[0-9a-f]{40} # v\d+\.\d+\.\d+$", line) for line in used), used


def test_the_example_in_its_head_is_one_that_it_accepts() -> None:
    lines = [line[2:] for line in TEXT.split("name: Audit")[0].splitlines() if line.startswith("#   ")]
    (job,) = yaml.safe_load("\n".join(lines))["jobs"].values()
    assert job["uses"].endswith(".github/workflows/audit.yml@COMMIT")
    given = job["with"]
    assert set(given) <= set(declared())
    assert {name for name, one in declared().items() if one.get("required")} <= set(given)
    assert all(isinstance(value, str) for value in given.values())
    for one in declared().values():
        assert one["description"]


AUDIT, STEP = 'covassay audit "${given[@]}"', "- name: Audit\n"
MUTANTS = {
    "a status that is swallowed": (AUDIT, f"{AUDIT} || true"),
    "a step that may fail": (STEP, f"{STEP}        continue-on-error: true\n"),
    "no audit at all": (AUDIT, ":"),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_a_workflow_that_fails_open_is_seen(name: str, tmp_path: Path) -> None:
    old, new = MUTANTS[name]
    assert TEXT.count(old) == 1
    program(tmp_path, "pip")
    program(tmp_path, "covassay", 1)
    assert not passes(tmp_path, {})
    assert passes(tmp_path, {}, TEXT.replace(old, new))


@pytest.mark.slow
def test_its_commands_audit_a_small_target(tmp_path: Path) -> None:
    """The test fails if the workflow passes a target that adds no noise, or if a report is missing."""
    program(tmp_path, "pip")
    (tmp_path / "bin" / "covassay").symlink_to(Path(sys.executable).with_name("covassay"))
    (tmp_path / "mine.py").write_text("def release(x, *, epsilon, rng):\n    return x.T @ x\n")
    given = {"epsilon": "1", "samples": "100", "arguments": "--jobs=1\n--quiet\n"}
    assert not passes(tmp_path, given)
    reports = tmp_path / "covassay-reports"
    assert {path.name for path in reports.iterdir()} == REPORTS
    assert json.loads((reports / "badge.json").read_text())["message"] == "refuted"
    assert json.loads((reports / "report.sarif").read_text())["runs"][0]["invocations"][0]["exitCode"] == 1
    assert int(ElementTree.parse(reports / "junit.xml").getroot().attrib["failures"]) >= 1
    assert "REFUTED" in (reports / "report.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_its_commands_pass_a_target_within_its_claim(tmp_path: Path) -> None:
    program(tmp_path, "pip")
    (tmp_path / "bin" / "covassay").symlink_to(Path(sys.executable).with_name("covassay"))
    given = {"target": "covassay:bingham", "epsilon": "1", "samples": "100"}
    assert passes(tmp_path, given)
    assert {path.name for path in (tmp_path / "covassay-reports").iterdir()} == REPORTS
