"""Test the scripts that reproduce faults of other packages. A script is short, runs without covassay, and exits with
status 1 if the other package has the fault. If a test fails, the package may have been corrected, and the page of
findings is out of date.
"""

import ast
import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "proofs" / "upstream"
SCRIPTS = sorted(FOLDER.glob("*.py"))
IN_R = sorted(FOLDER.glob("*.R"))
ALLOWED = {"math", "random", "sys", "warnings", "numpy", "scipy"}
PACKAGES = (
    "diffpriv_laplace",
    "diffpriv_pure",
    "diffprivlib",
    "eeprivacy",
    "morie",
    "opendp",
    "pipeline_dp",
    "privjail",
)


def package_of(script: Path) -> str:
    return next(name for name in PACKAGES if script.stem.startswith(f"{name}_"))


def imported(script: Path) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(script.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add(str(node.module).partition(".")[0])
    return names


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_a_reproduction_is_short_and_needs_the_package_alone(script: Path) -> None:
    assert len(script.read_text(encoding="utf-8").splitlines()) <= 60
    assert imported(script) - ALLOWED == {package_of(script)}


def test_the_page_lists_every_reproduction_once() -> None:
    """The test fails if README.md does not link every script exactly once."""
    page = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert len(SCRIPTS) >= 15
    assert all(page.count(f"]({script.name})") == 1 for script in (*SCRIPTS, *IN_R))


@pytest.mark.thorough
@pytest.mark.peers
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_a_reproduction_shows_its_fault(script: Path) -> None:
    """The test fails if the script no longer shows the fault that we report."""
    if importlib.util.find_spec(package_of(script)) is None:
        pytest.skip(f"{package_of(script)} is not installed")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=300)
    assert done.returncode == 1, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1].startswith("FAULT: ")


def r_has(package: str) -> bool:
    """Return whether R and the given R package are installed."""
    if shutil.which("Rscript") is None:
        return False
    return subprocess.run(["Rscript", "-e", f"library({package})"], capture_output=True, timeout=60).returncode == 0


def ways_in_r() -> list[str] | None:
    """Return the arguments of the R script: none if the R package DPpack is installed, or the path of a copy of
    DPpack. Return None if DPpack is not available.
    """
    copy = os.environ.get("COVASSAY_DPPACK")
    if copy and r_has("rmutil"):
        return [copy]
    return [] if r_has("DPpack") else None


@pytest.mark.thorough
@pytest.mark.parametrize("script", IN_R, ids=lambda script: script.stem)
def test_a_reproduction_in_r_shows_its_fault(script: Path) -> None:
    """The test fails if the R script no longer shows the fault that we report."""
    given = ways_in_r()
    if given is None:
        pytest.skip("needs R with DPpack, or with rmutil and a copy of DPpack that COVASSAY_DPPACK names")
    assert len(script.read_text(encoding="utf-8").splitlines()) <= 60
    done = subprocess.run(["Rscript", script, *given], capture_output=True, text=True, timeout=300)
    assert done.returncode == 1, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1].startswith("FAULT: ")
