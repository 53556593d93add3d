"""Test the archive of the test vectors. The archive must be complete and reproducible, and its programs must accept
correct answers and reject wrong ones.
"""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import jsonschema
import pytest

from covassay.verification.cli.main import run
from covassay.verification.vectors import run as runner_of_tests
from covassay.verification.vectors.archive import split

LANGUAGES = {
    "py": ("vectors/gauss-cov.json", "1 / (len(rows) * math.sqrt(rho))", "1.03 / (len(rows) * math.sqrt(rho))"),
    "js": ("vectors/gauss-cov.json", "1 / (rows.length * Math.sqrt(rho))", "1.03 / (rows.length * Math.sqrt(rho))"),
    "c": ("flat/gauss-cov.txt", "noise.at[i] / (n * sqrt(rho))", "1.03 * noise.at[i] / (n * sqrt(rho))"),
    "R": ("flat/gauss-cov.txt", "noise / (nrow(x) * sqrt(rho))", "1.03 * noise / (nrow(x) * sqrt(rho))"),
}


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("archive")
    assert run(["vectors", "archive", "--out", str(folder / "a.zip")]) == 0
    assert run(["vectors", "archive", "--out", str(folder / "b.zip")]) == 0
    assert (folder / "a.zip").read_bytes() == (folder / "b.zip").read_bytes()
    zipfile.ZipFile(folder / "a.zip").extractall(folder)
    return folder / "covassay-vectors"


@pytest.mark.thorough
def test_every_test_is_in_one_file_which_fits_the_schema(unpacked: Path) -> None:
    schema = json.loads((unpacked / "schema.json").read_text(encoding="utf-8"))
    found = []
    for path in sorted((unpacked / "vectors").iterdir()):
        content = json.loads(path.read_text(encoding="utf-8"))
        jsonschema.validate(content, schema)
        found += content["tests"]
    whole = runner_of_tests.tests_file()
    assert sorted(found, key=lambda test: test["id"]) == whole["tests"]
    assert set(split(whole)) == {path.stem for path in (unpacked / "vectors").iterdir()}


def ran(runner: Path, questions: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    if runner.suffix == ".c":
        subprocess.run(["cc", "-Wall", "-Wextra", "-Werror", runner, "-lm", "-o", folder / "run"], check=True)
        words = [folder / "run"]
    else:
        words = [{".py": sys.executable, ".js": "node", ".R": "Rscript"}[runner.suffix], runner]
    return subprocess.run([*words, questions], capture_output=True, text=True, timeout=120)


@pytest.mark.thorough
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_runner_passes_a_right_function_and_fails_one_that_is_three_per_cent_off(
    language: str, unpacked: Path, tmp_path: Path
) -> None:
    needed = {"py": sys.executable, "js": "node", "c": "cc", "R": "Rscript"}[language]
    if shutil.which(needed) is None and not os.environ.get("COVASSAY_REQUIRE_LANGUAGES"):
        pytest.skip(f"{needed} is not installed")
    questions, right, wrong = LANGUAGES[language]
    runner = unpacked / "runners" / f"run.{language}"
    text = runner.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 60
    assert text.count(right) == 1
    assert "covassay" not in text
    passed = ran(runner, unpacked / questions, tmp_path)
    assert passed.returncode == 0, passed.stdout + passed.stderr
    assert " 0 wrong" in passed.stdout
    mutant = tmp_path / runner.name
    mutant.write_text(text.replace(right, wrong), encoding="utf-8")
    assert ran(mutant, unpacked / questions, tmp_path).returncode == 1


def test_wrong_use(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["vectors", "archive"]) == 2
    assert run(["vectors", "archive", "--out", str(tmp_path / "a.tar")]) == 2
    assert run(["vectors", "archive", "--out", str(tmp_path / "none" / "a.zip")]) == 2
    assert capsys.readouterr().err.count("out") >= 3
