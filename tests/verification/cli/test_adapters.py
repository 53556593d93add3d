"""Test `covassay adapters`: the list, the template, and rejected arguments."""

import json
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from covassay.verification.audit.targets import environment, target
from covassay.verification.audit.targets.target import TargetReference, call
from covassay.verification.cli.main import run


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert run(["adapters", *arguments]) == 0
    return capsys.readouterr().out


def test_the_list_says_what_can_be_audited_where_and_why_not(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COVASSAY_BHS23", raising=False)
    rows = json.loads(printed(capsys, "list", "--json", "--directory", str(tmp_path)))
    by_name = {row["name"]: row for row in rows}
    assert by_name["numpy"] == {
        "name": "numpy", "targets": ["laplace", "normal"], "package": "", "requirements": [], "source": "",
        "usable": "here", "reason": "",
    }  # fmt: skip
    assert by_name["bhs23"]["usable"] == "no"
    assert "set the environment variable COVASSAY_BHS23" in by_name["bhs23"]["reason"]
    assert {name: by_name[name]["package"] for name in ("tmlt", "smartnoise", "diffprivlib", "bhs23")} == {
        "tmlt": "tmlt.core==0.20.0", "smartnoise": "smartnoise-synth==1.0.8", "diffprivlib": "diffprivlib==0.6.6",
        "bhs23": "gavinrbrown1/private-estimation-BHS23",
    }  # fmt: skip
    pinned = [row for row in rows if row["requirements"]]
    assert len({row["name"] for row in rows if row["requirements"] or row["source"]}) >= 9
    assert sum(len(row["targets"]) for row in pinned) >= 25
    assert all("==" in requirement for row in pinned for requirement in row["requirements"])


def test_the_table_names_the_package_and_not_what_it_needs(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    rows = [line for line in printed(capsys, "list", "--directory", str(tmp_path)).splitlines() if line.startswith("│")]
    lines = {row.split("│")[1].strip(): row for row in rows}
    assert "tmlt.core==0.20.0" in lines["tmlt"]
    assert "typeguard" not in lines["tmlt"]
    assert "smartnoise-synth==1.0.8" in lines["smartnoise"]
    assert "pandas" not in lines["smartnoise"]


def test_every_pinned_adapter_has_an_extra_or_is_installed_in_parts() -> None:
    import tomllib

    text = (Path(__file__).resolve().parents[3] / "pyproject.toml").read_text(encoding="utf-8")
    extras = {name for group in tomllib.loads(text)["project"]["optional-dependencies"].values() for name in group}
    for name, point in target.adapters().items():
        package = getattr(point.load(), "PACKAGE", None)
        if package is None or package.source or package.without_dependencies:
            # The adapter is for covassay itself, for a project that is no package, or for a package that is installed
            # without its dependencies.
            continue
        assert set(package.requirements) <= extras, name


def test_the_template_is_an_adapter(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = ModuleType("my_package_adapter")
    exec(compile(printed(capsys, "template"), "template", "exec"), vars(module))
    package = ModuleType("my_package")
    vars(package)["private_covariance"] = lambda x, eps, seed: x.T @ x / len(x) + seed * 0.0
    record = tmp_path / "my_package-1.2.3.dist-info"
    record.mkdir()
    (record / "METADATA").write_text("Metadata-Version: 2.1\nName: my-package\nVersion: 1.2.3\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setitem(sys.modules, "my_package", package)
    monkeypatch.setattr(target, "adapters", lambda: {"my-package": SimpleNamespace(load=lambda: module)})
    target._load.cache_clear()
    made = TargetReference("my-package:covariance", ".").load()
    output, _ = call(made, np.eye(2), {"epsilon": 1.0}, np.random.default_rng(0), 3.0)
    np.testing.assert_array_equal(output, np.eye(2) / 2)
    assert made.version == "my-package 1.2.3, private_covariance"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["install"], "name an adapter"),
        (["install", "diffprivlip"], "did you mean diffprivlib?"),
        (["install", "numpy"], "needs no environment"),
        (["list", "numpy"], "takes no name"),
        (["template", "--json"], "only for list"),
        (["make"], "invalid choice"),
    ],
)
def test_wrong_use_is_one_line_and_writes_nothing(
    arguments: list[str], told: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert run(["adapters", *arguments, "--directory", str(tmp_path / "new")]) == 2
    error = capsys.readouterr().err
    assert told in error
    assert error.count("\n") == 1
    assert not (tmp_path / "new").exists()


def test_an_install_that_fails_says_so_in_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def install(name: str, module: Any, where: Path) -> Path:
        raise environment.CannotRun("pip ended with exit status 1")

    monkeypatch.setattr(environment, "install", install)
    assert run(["adapters", "install", "python-dp"]) == 3
    assert capsys.readouterr().err == "covassay: python-dp: pip ended with exit status 1\n"


def test_where_environments_are_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(environment.DIRECTORY, raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", "/cache")
    assert environment.directory() == Path("/cache/covassay/adapters")
    monkeypatch.setattr(sys, "platform", "darwin")
    assert environment.directory() == Path.home() / "Library/Caches/covassay/adapters"
