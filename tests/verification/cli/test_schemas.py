"""Test that the JSON documents of commands and the files that they write conform to the published schemas, and that
the schemas reject invalid documents.
"""

import copy
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from jsonschema import Draft202012Validator

from covassay.reference.mechanisms.registry import MECHANISMS
from covassay.verification.cli.main import PROGRAM, run
from covassay.verification.cli.schema import schemas
from covassay.verification.maintain.__main__ import PROGRAM as MAINTAINERS
from tests.conventions import framed

ROOT = Path(__file__).resolve().parents[3]
PRINTED = {
    "mechanisms": ["mechanisms", "--json"],
    "law": ["law", "nuclear-laplace", "--dimension", "3", "--json"],
    "recommend": ["recommend", "--rows", "1000", "--dimension", "4", "--epsilon", "1", "--goal", "pca", "--json"],
    "claims-list": ["claims", "list", "--json"],
    "claims-show": ["claims", "show", "DN25.Thm6", "--json"],
    "claims-check": ["claims", "check", "OWN.Wishart", "--jobs", "1", "--json"],
    "claims-mutants": ["claims", "mutants", "--only", "centred_on_the_line", "--jobs", "1", "--json"],
    "claims-theorems": ["claims", "theorems", "--json"],
    "experiments-list": ["experiments", "list", "--json"],
    "experiments-accuracy": ["experiments", "accuracy", "--only", "GaussCov", "--json"],
    "maintain-controls": ["controls", "--only", "trace-of-65", "--json"],
    "maintain-null-audits": ["null-audits", "--audits", "1", "--only", "private-trace", "--json"],
    "maintain-findings": ["findings", "--only", "bhs23:mean", "--json"],
    "adapters": ["adapters", "list", "--json"],
    "maintain-bits": ["bits", "--only", "numpy:laplace", "--samples", "100", "--json"],
    "maintain-peers": [
        "peers",
        "--only",
        "noisy-max",
        "--tool",
        "covassay",
        "--draws",
        "1000",
        "--seeds",
        "1",
        "--json",
    ],
    "vectors": ["vectors"],
    "known-answers": ["vectors", "generate"],
    "vectors-run": ["vectors", "check", "--mechanism", "private-trace", "--json"],
}
SLOW = {"experiments-accuracy"}
WRITTEN = {"release", "account"}
# The tests in audit/reports, audit/targets/test_any_language.py and experiments/test_runs.py cover these schemas.
ELSEWHERE = {"audit", "audit-badge", "audit-sarif", "exec-request", "exec-reply", "experiments-show"}


def errors(name: str, document: Any) -> list[str]:
    return [error.message for error in Draft202012Validator(schemas()[name]).iter_errors(document)]


def test_every_schema_is_one_and_has_a_test() -> None:
    assert set(schemas()) == {*PRINTED, *WRITTEN} | (ELSEWHERE & set(schemas()))
    for schema in schemas().values():
        Draft202012Validator.check_schema(schema)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] if name in SLOW else []) for name in PRINTED]
)
def test_what_a_command_prints_obeys_its_schema(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.delenv("COVASSAY_REQUIRE_ROCQ", raising=False)
    # without Rocq the command answers at once
    monkeypatch.setenv("PATH", "/nonexistent" if name == "claims-theorems" else "/usr/bin")
    program = MAINTAINERS if name.startswith("maintain-") else PROGRAM
    assert program.run(PRINTED[name]) == 0
    document = json.loads(capsys.readouterr().out)
    assert errors(name, document) == []
    assert errors(name, spoiled(document)) != []


def spoiled(document: Any) -> Any:
    """Return the document with an additional property that the schema does not allow."""
    changed = copy.deepcopy(document)
    record = changed[0] if isinstance(changed, list) else changed
    record["surplus"] = None
    return changed


@pytest.mark.parametrize(
    ("mechanism", "budget"),
    [("nuclear-laplace", "--epsilon"), ("gaussian-learner", "--rho"), ("private-trace", "--epsilon"),
     ("output-perturbation", "--epsilon"), ("bingham", "--epsilon")],
)  # fmt: skip
@pytest.mark.parametrize("extra", [[], ["--bounds", "bounds.toml"], ["--seed", "1"]], ids=["plain", "bounds", "seed"])
def test_what_release_writes_obeys_its_schema(
    mechanism: str, budget: str, extra: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    np.save("x.npy", np.random.default_rng(0).uniform(-1, 1, (20, 3)))
    Path("bounds.toml").write_text("".join(f"x{i} = [-1, 1]\n" for i in (1, 2, 3)))
    account = [] if extra == ["--seed", "1"] else ["--budget-file", "a.json", "--total", f"{budget[2:]}=3"]
    command = framed("release", "x.npy", "--mechanism", mechanism, budget, "1", "--out", "out.json", *extra, *account)
    assert run(command) == 0
    document = json.loads(Path("out.json").read_text())
    assert errors("release", document) == []
    assert errors("release", spoiled(document)) != []
    if account:
        assert errors("account", json.loads(Path("a.json").read_text())) == []
        assert errors("account", spoiled(json.loads(Path("a.json").read_text()))) != []


@pytest.mark.parametrize("adjacency", ["replace-one", "add-remove"])
def test_a_release_of_bounded_columns_obeys_its_schema(
    adjacency: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The test fails if a released file violates its schema, or contains the true number of rows although this number
    is secret.
    """
    monkeypatch.chdir(tmp_path)
    np.save("x.npy", np.random.default_rng(0).uniform(-1, 1, (2000, 2)))
    Path("bounds.toml").write_text("x1 = [-1, 1]\nx2 = [-1, 1]\n")
    options = ["--rho", "1", "--adjacency", adjacency, "--budget-file", "a.json", "--total", "rho=3"]
    assert run(["release", "x.npy", "--bounds", "bounds.toml", *options, "--out", "out.json"]) == 0
    document, account = (json.loads(Path(name).read_text()) for name in ("out.json", "a.json"))
    assert errors("release", document) == errors("account", account) == []
    assert {"rows", "mean", "covariance"} <= set(document)
    assert (document["rows"] == 2000) == ("n" in document["provenance"]) == (adjacency == "replace-one")
    assert account["adjacency"] == document["provenance"]["adjacency"] == adjacency


@pytest.mark.parametrize("name", [name for name, about in MECHANISMS.items() if about.counted is not None])
def test_a_release_on_a_ball_under_add_remove_obeys_its_schema(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    np.save("x.npy", np.random.default_rng(0).uniform(-1, 1, (200, 2)))
    budget = f"--{next(iter(MECHANISMS[name].notion.default.keywords()))}=1"
    command = ["release", "x.npy", "--mechanism", name, "--row-bound", "2", budget, "--adjacency", "add-remove"]
    assert run([*command, "--out", "out.json"]) == 0
    document = json.loads(Path("out.json").read_text())
    assert {"rows", "sum", "second_moment"} <= set(document)
    assert errors("release", document) == []
    document["provenance"]["expected_error"]["of"] = 3
    assert errors("release", document) != []


def test_a_schema_is_printed_and_an_unknown_one_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["schema", "law"]) == 0
    assert json.loads(capsys.readouterr().out) == schemas()["law"]
    assert run(["schema"]) == 0
    printed = capsys.readouterr().out
    assert all(name in printed for name in ("release", "claims-list"))
    assert run(["schema", "loss"]) == 2
    assert "must be one of" in capsys.readouterr().err


@pytest.mark.parametrize("mechanism", ["gauss-cov", "discrete-gaussian-covariance"])
def test_a_projected_release_of_selected_columns_obeys_its_schema(
    mechanism: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The test fails if a released file with warnings violates its schema. The second mechanism releases integers."""
    monkeypatch.chdir(tmp_path)
    np.save("x.npy", np.random.default_rng(0).uniform(-1, 1, (20, 3)))
    options = ["--rho", "1e-4", "--project", "psd", "--drop", "x2", "--out", "out.json"]
    assert run(framed("release", "x.npy", "--mechanism", mechanism, *options)) == 0
    document = json.loads(Path("out.json").read_text())
    assert {"selected", "projected", "expected_error", "warnings"} < set(document["provenance"])
    assert errors("release", document) == []
    document["projected"][0][0] = "0.5"
    assert errors("release", document) != []
