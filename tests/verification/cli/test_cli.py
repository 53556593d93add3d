"""Test the command line of covassay from the viewpoint of a user."""

import json
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from covassay.verification.cli.main import run
from tests.conventions import framed

HEADER = "alcohol,ash,colour\n"
GOOD = HEADER + "0.1,0.5,0.2\n0.3,0.5,0.1\n0.2,0.5,0.6\n"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "wine.csv"
    path.write_text(GOOD)
    return path


def test_release_reads_a_header_and_a_constant_column(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = table.with_name("cov.npz")
    arguments = framed("release", str(table), "--mechanism", "nuclear-laplace", "--epsilon", "1", "--out", str(out))
    assert run(arguments) == 0
    released = np.load(out)
    assert released["second_moment"].shape == (3, 3)
    assert list(released["columns"]) == ["alcohol", "ash", "colour"]
    provenance = json.loads(str(released["provenance"]))
    assert provenance["claimed"] == {"epsilon": 1.0}
    assert provenance["n"] == 3
    told = capsys.readouterr().err
    assert "rows are clipped" in told
    assert "correctly rounded" in told


def test_release_is_random_without_a_seed_and_says_so_with_one(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = framed("release", str(table), "--mechanism", "nuclear-laplace-symmetric", "--epsilon", "1")
    drawn = []
    for extra in ([], [], ["--seed", "1"], ["--seed", "1"]):
        assert run([*arguments, *extra]) == 0
        captured = capsys.readouterr()
        drawn.append(captured.out)
        assert ("not private" in captured.err) == bool(extra)
    assert drawn[0] != drawn[1]
    assert drawn[2] == drawn[3]


def test_one_row_is_released(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The test fails if a file with one row is rejected or leads to a division by zero."""
    path = tmp_path / "one.csv"
    path.write_text(HEADER + "0.1,0.2,0.3\n")
    assert run(framed("release", str(path), "--mechanism", "iterative-eigenvectors", "--epsilon", "1")) == 0
    assert capsys.readouterr().out.startswith("alcohol,ash,colour\n")


@pytest.mark.parametrize(
    ("dimension", "printed"),
    [("1", "6.67128916"), ("2", "2.87168"), ("10", "4.4204060172"), ("40", "2.34324317517e-136")],
)
def test_law_prints_the_exact_probability(dimension: str, printed: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The test fails if `covassay law` prints a wrong probability of ‖Z‖ ≤ 1.1 ρd. Theorem 6 of DN25 says that this
    probability tends to 1.
    """
    assert run(["law", "nuclear-laplace", "--dimension", dimension, "--spectral-cdf", "1.1"]) == 0
    assert printed in capsys.readouterr().out


def test_law_knows_the_bingham_oracle(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["law", "bingham", "--eigenvalues", "6,3,0,0,0", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["acceptance rate of the sampler"] == pytest.approx(0.68610, abs=5e-6)


@pytest.mark.parametrize(
    "arguments",
    [
        ["law", "nuclear-laplace"],
        ["law", "nuclear-laplace", "--dimension", "0"],
        ["law", "nuclear-laplace", "--dimension", "3", "--spectral-cdf", "x"],
        ["law", "nuclear-laplace", "--dimension", "3", "--spectral-cdf", "-1"],
        ["law", "nuclear-laplace", "--dimension", "3", "--quantile", "1"],
        ["law", "bingham", "--eigenvalues", "1,a"],
        ["audit", "nosuch"],
        ["audit", "covassay:bingham", "--epsilon", "0"],
        ["audit", "covassay:bingham", "--rho", "1"],
        ["audit", "covassay:bingham", "--samples", "1"],
        ["audit", "covassay:bingham", "--data", "nosuch.csv"],
        ["audit", "covassay:bingham", "--options", "calibration=best"],
        ["audit", "covassay:bingham", "--options", "calibration=tight"],
        ["audit", "covassay:matrix-bingham", "--options", "rank=1"],
        ["audit", "covassay:bingham", "--mechanism", "nosuch"],
        [],
    ],
    ids=" ".join,
)
def test_wrong_use_is_status_2_and_one_line(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1


def test_mechanisms_lists_where_it_is_from_and_what_it_spends(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["mechanisms", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    row = next(r for r in rows if r["name"] == "iterative-eigenvectors" and r["choices"]["budget"] == "adaptive")
    assert row["paper"] == "ADK19"
    assert row["algorithm"] == "Algorithm 1"
    assert row["notion"] == "pure"
    assert row["adjacency"] == "replace-one"
    assert row["choices"]["calibration"] == "paper"
    assert row["claimed"] == {"epsilon": 1.0}
    assert row["proven"] == {"epsilon": 0.75}
    assert row["scales"]["eigenvalue_scale"] == "The noise scale 2/ε₀ with ε₀ = ε/2, in the unit of C."
    assert row["laws"]["covassay.reference.laws.bingham"].startswith("The Bingham law")
    assert all(len(r["steps"]) >= 2 and r["steps"][0].startswith(("0. ", "1. ")) for r in rows)


def test_a_mechanism_is_shown_with_law_scale_unit_domain_options_source_and_page(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["mechanisms", "nuclear-laplace"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    for words in (
        "scale noise_scale: The noise scale ρ = 2/(nε)",
        "law Nuclear-Laplace noise: matrices Z with density ∝ exp(−‖Z‖_*/ρ)",
        "in the unit of x squared",
        "data rows in the ball of radius `row_bound`",
        "options epsilon: ε in [1e-30, 1e30], the budget",
        "source DN25 Algorithm 1",
        "proof proofs/paper/nuclear-laplace.md",
        "steps 1. Compute Σ = (1/n) Σ_i x_i x_iᵀ. 2. Draw a full d × d matrix Z",
    ):
        assert words in printed, words
    assert run(["mechanisms", "gauscov"]) == 2
    assert "did you mean gauss-cov?" in capsys.readouterr().err


@pytest.mark.thorough
def test_audit_as_json_and_quiet(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["audit", "covassay:bingham", "--samples", "200", "--jobs", "1"]
    assert run([*arguments, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["schema"] == "covassay-audit-1"
    assert run([*arguments, "--quiet"]) == 0
    assert capsys.readouterr().out == "NOT REFUTED\n"


def test_audit_lists_its_targets(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["audit", "--list"]) == 0
    listed = capsys.readouterr().out.split()
    assert {"covassay:bingham", "diffprivlib:bingham", "opendp:private-eigenvector", "mutant:half-scale"} <= set(listed)


@pytest.mark.slow
def test_an_audit_as_junit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The test fails if a refuted check is not recorded as a failure in the JUnit file, or if the failure does not
    contain the command that replays the check. A correct target must have no failures.
    """
    found = {}
    for target, status in (("covassay:bingham", 0), ("mutant:half-scale", 1)):
        out = tmp_path / "out.xml"
        assert run(["audit", target, "--samples", "200", "--quiet", "--junit", str(out)]) == status
        suite = ElementTree.fromstring(out.read_text(encoding="utf-8"))
        assert int(suite.attrib["tests"]) == len(suite.findall("testcase"))
        found[target] = suite.findall("testcase/failure")
        assert int(suite.attrib["failures"]) == len(found[target])
    assert found["covassay:bingham"] == []
    assert all("covassay audit mutant:half-scale" in (f.text or "") for f in found["mutant:half-scale"])
    assert found["mutant:half-scale"]
    assert run(["audit", "covassay:nuclear-laplace", "--junit", str(tmp_path / "no" / "out.xml")]) == 2
    assert "must be in a directory that exists" in capsys.readouterr().err
