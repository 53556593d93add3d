"""Test adapters for packages that are missing, have another version, cannot be imported, or are in another
environment.
"""

import json
import os
import sys
import textwrap
import venv
from collections.abc import Sequence
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from covassay.reference.domain import Box
from covassay.reference.errors import InvalidInput
from covassay.reference.privacy import PureDP
from covassay.verification.audit.api import audit
from covassay.verification.audit.expected import as_stated_by, claim_of
from covassay.verification.audit.options import AuditOptions
from covassay.verification.audit.targets import environment, target
from covassay.verification.audit.targets.package import ANY_VERSION
from covassay.verification.audit.targets.target import CannotRun, Failure, Target, TargetReference, call

ADAPTER = """
    import numpy as np
    from covassay.reference.privacy import PureDP
    from covassay.verification.audit.targets.package import Package, told_version
    from covassay.verification.audit.targets.target import Target

    PACKAGE = Package(requirements=("fake-dp==1.2.3",), modules=("fakedp",))

    def _moment(x, *, epsilon, rng):
        import fakedp
        print("a line that is no reply")
        return fakedp.moment(x, epsilon, rng)

    def _overwrites(x, *, epsilon, rng):
        x[:1] = 7.0
        return _moment(x, epsilon=epsilon, rng=rng)

    def _fails(x, *, epsilon, rng):
        raise LookupError("a value of the data")

    def _dies(x, *, epsilon, rng):
        import os
        os._exit(3)

    def _in_a_box(x, *, epsilon, rng, bounds):
        return np.full(x.shape[1], bounds[0][1])

    def _target(name, draw, **more):
        return lambda: Target(f"fake:{name}", draw, claim=PureDP(1.0), version=told_version(PACKAGE, name), **more)

    TARGETS = {
        "moment": _target("moment", _moment, notes=("a note",), adjacency="add-remove"),
        "overwrites": _target("overwrites", _overwrites),
        "fails": _target("fails", _fails),
        "dies": _target("dies", _dies),
        "in-a-box": _target("in-a-box", _in_a_box, released="vector", bounds=((0.0, 9.0), (0.0, 1.0))),
    }
"""
PACKAGE = """
    def moment(x, epsilon, rng):
        return x.T @ x / max(1, len(x)) + rng.laplace(size=(x.shape[1], x.shape[1])) / epsilon
"""
X = np.arange(6.0).reshape(3, 2) / 10


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Register an adapter `fake` for a package that is not installed."""
    file = tmp_path / "fake_adapter.py"
    file.write_text(textwrap.dedent(ADAPTER), encoding="utf-8")
    spec = spec_from_file_location("fake_adapter", file)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    points = {"fake": SimpleNamespace(load=lambda: module)}
    monkeypatch.setattr(target, "adapters", lambda: points)
    monkeypatch.setenv(environment.DIRECTORY, str(tmp_path / "environments"))
    target._load.cache_clear()
    return module


def put_package(folder: Path, version: str = "1.2.3", text: str = PACKAGE) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "fakedp.py").write_text(textwrap.dedent(text), encoding="utf-8")
    record = folder / f"fake_dp-{version}.dist-info"
    record.mkdir()
    (record / "METADATA").write_text(f"Metadata-Version: 2.1\nName: fake-dp\nVersion: {version}\n", encoding="utf-8")
    return folder


def put_here(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delitem(sys.modules, "fakedp", raising=False)


def installed(module: ModuleType, tmp_path: Path) -> Path:
    """Make the environment that `covassay adapters install` would make, but without pip, and return its folder."""
    site = put_package(tmp_path / "site")
    commands: list[Sequence[str]] = []

    def make(folder: Path) -> None:
        venv.EnvBuilder(with_pip=False).create(folder)

    def run(command: Sequence[str]) -> None:
        commands.append(command)
        packages = next((tmp_path / "environments" / "fake.part").glob("lib/python*/site-packages"))
        paths = [str(site), *(path for path in sys.path if path.endswith("site-packages"))]
        (packages / "all.pth").write_text("\n".join(paths), encoding="utf-8")

    place = environment.install("fake", module, environment.directory(), run, make)
    assert [c[-1] for c in commands] == ["fake-dp==1.2.3"]
    assert not (tmp_path / "environments" / "fake.part").exists()
    return place


def draw(name: str, x: np.ndarray[Any, Any], seed: int = 1, **more: Any) -> Any:
    made = TargetReference(f"fake:{name}", ".").load()
    output, _ = call(made, x, {"epsilon": 1.0, **more}, np.random.default_rng(seed), 3.0)
    return output


def message(name: str = "fake:moment") -> str:
    target._load.cache_clear()
    with pytest.raises(CannotRun) as error:
        TargetReference(name, ".").load()
    assert "\n" not in str(error.value)
    return str(error.value)


# THREE BROKEN ADAPTERS


def test_a_missing_package_is_named_with_the_command_that_installs_it(fake: ModuleType) -> None:
    assert message() == (
        "fake:moment: fake-dp 1.2.3 is not installed, and the adapter has no environment of its own: "
        "covassay adapters install fake"
    )


def test_another_version_is_named_beside_the_right_one(
    fake: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_here(monkeypatch, put_package(tmp_path / "here", "2.0"))
    told = message()
    assert "the adapter is for fake-dp 1.2.3, and 2.0 is installed" in told
    assert told.endswith("covassay adapters install fake")
    monkeypatch.setenv(ANY_VERSION, "1")
    assert TargetReference("fake:moment", ".").load().version == "fake-dp 2.0, moment"


def test_an_import_that_raises_is_shown_by_its_last_line(
    fake: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = 'raise RuntimeError("the first line\\nof another library")'
    put_here(monkeypatch, put_package(tmp_path / "here", text=text))
    assert "importing fakedp raised RuntimeError: of another library" in message()
    (tmp_path / "here" / "fakedp.py").write_text("import a_module_that_is_nowhere", encoding="utf-8")
    assert "importing fakedp raised ModuleNotFoundError: No module named 'a_module_that_is_nowhere'" in message()


def test_an_adapter_that_does_not_import_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def load() -> Any:
        raise SyntaxError("of its author")

    monkeypatch.setattr(target, "adapters", lambda: {"broken": SimpleNamespace(load=load)})
    assert message("broken:moment") == "the adapter broken does not import: SyntaxError: of its author"


def test_an_unknown_adapter_or_target_is_refused(fake: ModuleType) -> None:
    with pytest.raises(InvalidInput, match="did you mean fake"):
        target.adapter("fak")
    with pytest.raises(InvalidInput, match="fake has moment, overwrites"):
        TargetReference("fake:momentum", ".").load()


def test_a_project_without_a_package_asks_for_a_copy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("COVASSAY_COIN_PRESS", raising=False)
    told = message("coin-press:mean")
    assert (
        "set the environment variable COVASSAY_COIN_PRESS to the directory of a copy of twistedcubic/coin-pre" in told
    )
    monkeypatch.setenv("COVASSAY_COIN_PRESS", str(tmp_path))
    assert "no copy of twistedcubic/coin-press, algos.py is missing" in message("coin-press:mean")


# SEPARATE ENVIRONMENTS


@pytest.mark.thorough
def test_a_target_is_asked_in_its_environment(
    fake: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The test fails if a package is run in the wrong environment, or if the report leaves out its version."""
    place = installed(fake, tmp_path)
    target._load.cache_clear()
    made = TargetReference("fake:moment", ".").load()
    assert (made.name, made.version, made.adjacency) == ("fake:moment", "fake-dp 1.2.3, moment", "add-remove")
    assert made.claim == PureDP(1.0) == claim_of("fake:moment")
    assert made.notes == ("a note", environment.NOTE)

    there = draw("moment", X)
    np.testing.assert_array_equal(there, draw("moment", X))
    assert np.shape(draw("moment", np.zeros((0, 2)))) == (2, 2)
    before = X.copy()
    assert np.shape(draw("overwrites", before)) == (2, 2)
    # the audit must see that the target changed its data
    np.testing.assert_array_equal(before, np.vstack([[7.0, 7.0], X[1:]]))
    # the text of the error is left out, because it may contain data
    assert draw("fails", X) == Failure("exception", "LookupError")
    assert isinstance(draw("dies", X), Failure)
    np.testing.assert_array_equal(there, draw("moment", X))
    assert TargetReference("fake:in-a-box", ".").load().bounds == ((0.0, 9.0), (0.0, 1.0))
    np.testing.assert_array_equal(draw("in-a-box", X, bounds=((0.0, 9.0), (0.0, 1.0))), [9.0, 9.0])

    # A package that is installed in the environment of the audit must give the same draws.
    put_here(monkeypatch, put_package(tmp_path / "here"))
    target._load.cache_clear()
    here = TargetReference("fake:moment", ".").load()
    assert here.notes == ("a note",)
    seed = int(np.random.default_rng(1).integers(2**53))
    np.testing.assert_array_equal(there, here.draw(X, epsilon=1.0, rng=np.random.default_rng(seed)))

    (place / environment.RECORD).write_text(json.dumps({"requirements": ["fake-dp==1.0"]}), encoding="utf-8")
    monkeypatch.undo()
    monkeypatch.setenv(environment.DIRECTORY, str(place.parent))
    assert (
        environment.state("fake", fake.PACKAGE)
        == "the adapter's environment was made for fake-dp==1.0 and not for fake-dp==1.2.3"
    )


def test_an_install_that_fails_leaves_what_was_there(fake: ModuleType, tmp_path: Path) -> None:
    place = tmp_path / "environments" / "fake"
    place.mkdir(parents=True)
    (place / "kept").touch()

    def run(command: Sequence[str]) -> None:
        raise CannotRun("pip ended with exit status 1")

    with pytest.raises(CannotRun, match="pip ended"):
        environment.install("fake", fake, place.parent, run, lambda folder: folder.mkdir())
    assert os.listdir(place.parent) == ["fake"]
    assert os.listdir(place) == ["kept"]
    with pytest.raises(InvalidInput, match="needs no environment"):
        environment.install("numpy", SimpleNamespace(), place.parent)


def test_a_package_that_does_not_import_in_its_environment_is_told(fake: ModuleType) -> None:
    real = fake.PACKAGE
    assert "No module named 'fakedp'" in environment.imported(sys.executable, real)


# WHAT A TARGET STATES


def test_the_neighbours_and_the_box_that_a_target_states_are_those_of_the_audit() -> None:
    def constant(x: Any, *, epsilon: float, rng: np.random.Generator) -> Any:
        return np.zeros((x.shape[1],) * 2)

    stated = Target("a:b", constant, adjacency="add-remove", bounds=((0.0, 9.0), (0.0, 1.0)))
    found = audit(stated, epsilon=1.0, samples=100, stop_early=True)
    assert found.adjacency == "add-remove"
    assert "--bounds 0.0:9.0,0.0:1.0 --adjacency add-remove" in found.replay
    other = AuditOptions(adjacency="replace-one", bounds=Box.of([(0.0, 2.0)]))
    assert as_stated_by(stated, other) == other
    ball = AuditOptions(mechanism="nuclear-laplace")  # the rows of this mechanism are in the unit ball
    assert as_stated_by(stated, ball) == ball


@pytest.mark.thorough
def test_a_matrix_that_a_target_promises_to_be_symmetric_must_be() -> None:
    def triangular(x: Any, *, epsilon: float, rng: np.random.Generator) -> Any:
        return np.triu(x.T @ x + rng.laplace(scale=4 / epsilon, size=(x.shape[1],) * 2))

    for promised in (True, False):
        found = audit(Target("a:b", triangular, symmetric=promised), epsilon=1.0, samples=100, stop_early=True)
        assert any(check.name == "symmetry" for check in found.refuted) is promised
