"""Test `covassay release --rounded`: the contents of the file, the messages, and rejected arguments."""

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

from covassay.reference.rounded import rounded_release
from covassay.verification.cli.main import run
from tests.conventions import framed

# Releases are rounded by default.
COMMAND = ["--mechanism", "nuclear-laplace-symmetric", "--epsilon", "0.1"]
ROWS = np.random.default_rng(1).uniform(-0.5, 0.5, size=(40, 3))


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "data.npy"
    np.save(path, ROWS)
    return path


def test_the_file_holds_the_integers_and_their_grid(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = data.with_name("out.json")
    assert run(framed("release", str(data), *COMMAND, "--grid", "2^-25", "--out", str(out))) == 0
    document = json.loads(out.read_text())
    provenance = document["provenance"]["rounded"]
    assert provenance["grid"] == "2^-25"
    assert provenance["integers"].keys() == {"matrix"}
    assert provenance["bits"] == "of the operating system"
    assert any("fair" in assumption for assumption in provenance["assumptions"])
    triangle = np.array(document["second_moment"])[np.triu_indices(3)]
    assert [float(k) for k in provenance["integers"]["matrix"]] == list(triangle * 2**25)
    told = capsys.readouterr().err
    assert "rounded to the grid 2^-25" in told
    assert "not for production" not in told


def test_two_releases_differ_and_two_with_a_seed_do_not(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def released(*more: str) -> str:
        assert run(framed("release", str(data), *COMMAND, *more)) == 0
        return capsys.readouterr().out

    assert released() != released()
    assert released("--seed", "5") == released("--seed", "5")
    wanted = rounded_release("nuclear-laplace-symmetric", ROWS, epsilon="0.1", seed=5).values
    assert np.array_equal(np.loadtxt(released("--seed", "5").splitlines()[1:], delimiter=","), wanted)


def test_a_row_bound_and_bounds_bring_the_output_back_to_the_units_of_the_data(tmp_path: Path) -> None:
    plain = rounded_release("laplace", ROWS, epsilon=1, seed=2)
    scaled = rounded_release("laplace", 4 * ROWS, epsilon=1, seed=2, row_bound=4)
    assert plain.integers == scaled.integers
    assert np.array_equal(16 * plain.values, scaled.values)
    data, bounds, out = tmp_path / "data.npy", tmp_path / "bounds.json", tmp_path / "out.npz"
    np.save(data, ROWS)
    bounds.write_text(json.dumps({f"x{j}": [-0.5, 0.5] for j in (1, 2, 3)}))
    assert (
        run(framed("release", str(data), *COMMAND, "--bounds", str(bounds), "--out", str(out), "--epsilon", "1e6")) == 0
    )
    with np.load(out) as file:
        assert np.allclose(file["second_moment"], ROWS.T @ ROWS / 40, atol=1e-4)
        assert json.loads(str(file["provenance"]))["rounded"]["grid"] == "2^-30"


@pytest.mark.parametrize("arguments", [[*COMMAND, "--float"], ["--mechanism", "kv-mean", "--rho", "1"]])
def test_a_release_in_float64_says_that_it_is_not_for_production(
    arguments: list[str], data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(framed("release", str(data), *arguments, "--out", str(out := data.with_name("out.json")))) == 0
    assert "not for production: the noise is float64" in capsys.readouterr().err
    assert "rounded" not in json.loads(out.read_text())["provenance"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--mechanism", "kv-mean", "--rho", "1", "--rounded"], "it has no rounded form"),
        ([*COMMAND, "--grid", "0.3"], "grid = '0.3': must be a power of 2"),
        (["--mechanism", "laplace", "--epsilon", "1", "--grid", "2^-9", "--float"], "--grid applies only to a rounded"),
        (["--mechanism", "kv-mean", "--rho", "1", "--grid", "2^-9"], "--grid applies only to a rounded"),
    ],
)
def test_what_has_no_rounded_form_is_refused(
    options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(framed("release", "no-such-file.csv", *options)) == 2
    assert message in capsys.readouterr().err


def test_without_python_flint_the_command_says_what_to_install(
    data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert run(framed("release", str(data), *COMMAND)) == 2
    told = capsys.readouterr().err
    assert "needs python-flint" in told
    assert "--float" in told
    assert run(framed("release", str(data), *COMMAND, "--float")) == 0


def test_a_release_on_a_lattice_needs_no_option_and_holds_its_integers(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = data.with_name("out.json")
    command = framed("release", str(data), "--mechanism", "discrete-gaussian-covariance", "--rho", "0.5")
    assert run([*command, "--set", "input_bits=9", "--out", str(out)]) == 0
    document = json.loads(out.read_text())
    provenance = document["provenance"]["lattice"]
    assert "rounded" not in document["provenance"]
    assert provenance["grid"] == f"1/{40 * 4**9}"
    triangle = np.array(document["second_moment"])[np.triu_indices(3)]
    assert [k / (40 * 4**9) for k in provenance["integers"]["matrix"]] == list(triangle)
    told = capsys.readouterr().err
    assert f"whole numbers times 1/{40 * 4**9}" in told
    assert "not for production" not in told
    for option, message in ((["--float"], "no form in float64"), (["--grid", "2^-9"], "takes no grid")):
        assert run([*command, *option]) == 2
        assert message in capsys.readouterr().err
