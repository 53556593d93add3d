"""Test the options --bounds and --adjacency of `covassay audit`."""

import json
from pathlib import Path

import pytest
from jsonschema import validate

from covassay.reference.domain import Box
from covassay.reference.errors import InvalidInput
from covassay.verification.audit.reports.json_report import schema
from covassay.verification.audit.targets.bounds import as_box
from covassay.verification.cli.main import run

MODULE = """\
import numpy as np

def covariance(x, *, epsilon, rng, bounds):
    low, high = np.array(bounds).T
    n, d = x.shape
    rows = np.clip(x, low, high)
    c = rows - rows.mean(axis=0)
    scale = np.outer(high - low, high - low) / n * d * (d + 1) / 2 / epsilon
    noise = np.triu(scale * rng.laplace(size=(d, d)))
    return c.T @ c / n + noise + np.triu(noise, 1).T
"""
PROCESS = """\
import json, random, sys

for line in sys.stdin:
    request = json.loads(line)
    rng = random.Random(request["seed"])
    (low, high), = request["bounds"]
    values = [min(max(row[0], low), high) for row in request["x"]]
    n, noise = len(values), rng.expovariate(1) - rng.expovariate(1)
    print(json.dumps({"output": [sum(values) / n + (high - low) / n / request["epsilon"] * noise]}), flush=True)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Change to an empty folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_syntax_of_bounds(tmp_path: Path) -> None:
    """The test fails if the order of the bounds differs from that in the file, or if an invalid text is accepted as
    bounds.
    """
    box = Box(((-1.0, 1.0), (0.0, 100.0)))
    assert as_box("-1:1,0:1e2") == box
    toml, as_json = tmp_path / "bounds.toml", tmp_path / "bounds.json"
    toml.write_text("b = [-1, 1]\na = [0, 100]\n")
    as_json.write_text('{"b": [-1, 1], "a": [0, 100]}')
    assert as_box(str(toml)) == as_box(str(as_json)) == box  # the bounds keep the order of the file
    for wrong in ("0:1,2", "0:x", "0-1", "1:0", "", "0:1:2", "none.toml", "0:nan"):
        with pytest.raises(InvalidInput):
            as_box(wrong)


@pytest.mark.thorough
def test_a_function_in_a_box(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The test fails if the bounds are missing in the call of the function or in the replay command."""
    (folder / "in_a_box.py").write_text(MODULE)
    status = run(["audit", "in_a_box:covariance", "--bounds=-1:1,0:100", "--samples", "100", "--jobs", "1", "--json"])
    report = json.loads(capsys.readouterr().out)
    validate(report, schema())
    assert (status, report["verdict"], report["adjacency"]) == (0, "NOT REFUTED", "replace-one")
    assert "--bounds=-1.0:1.0,0.0:100.0" in report["replay"]
    assert {check["name"] for check in report["checks"] if check["kind"] == "law"} >= {"entries"}
    assert run(["audit", "in_a_box:covariance"]) == 2
    assert "takes the bounds of its columns: give bounds (--bounds)" in capsys.readouterr().err


@pytest.mark.slow
def test_a_process_gets_the_bounds(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The test fails if a program that is audited does not get the bounds."""
    (folder / "release.py").write_text(PROCESS)
    target = ["audit", "exec:python3 release.py", "--released", "vector", "--samples", "200", "--jobs", "1", "--quiet"]
    status = run([*target, "--bounds", "0:10"])
    assert (status, capsys.readouterr().out) == (0, "NOT REFUTED\n")


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["covassay:nuclear-laplace", "--bounds", "0:1"], "lie in the unit ball"),
        (["mutant:box-own-range", "--bounds", "0:1", "--mechanism", "lap-cov"], "lie in the unit ball"),
        (["mutant:box-own-range", "--bounds", "0:1", "--data", "data.csv"], "data and bounds"),
        (["covassay:k-norm", "--adjacency", "add-remove"], "known for replace-one"),
        (["covassay:nuclear-laplace", "--adjacency", "add-remove"], "declares adjacency = replace-one"),
        (["covassay:nuclear-laplace", "--equivariant"], "equivariant"),
    ],
)
def test_options_that_do_not_apply(
    arguments: list[str], named: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The test fails if an option that does not apply to the target is silently ignored."""
    (folder / "data.csv").write_text("a,b\n1,2\n3,4\n")
    assert run(["audit", *arguments]) == 2
    assert named in capsys.readouterr().err


@pytest.mark.thorough
def test_the_verdict_names_the_adjacency(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["mutant:box-own-range", "--bounds", "0:1,0:1", "--adjacency", "add-remove", "--samples", "300"]
    assert run(["audit", *arguments, "--jobs", "1"]) == 1
    printed = capsys.readouterr().out
    assert printed.startswith("REFUTED (privacy): mutant:box-own-range, ε = 1 (pure DP), add-remove\n")
    assert "neighbouring data sets are equal except for one additional row in one of them" in " ".join(printed.split())
    assert "What explains it" in printed


def test_too_few_columns_for_the_output(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["audit", "mutant:box-own-range", "--bounds", "0:1", "--released", "coefficients"]) == 2
    assert "bounds of 1 column: too few" in capsys.readouterr().err
