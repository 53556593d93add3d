"""Test `covassay release`: the input of a mechanism, its output, and rejections before and after the data are read."""

import io
import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pytest
from filelock import FileLock
from numpy.typing import NDArray
from rich.console import Console

from covassay.reference.domain import Chunks, DataSet, as_rows, second_moment
from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.mechanism import About, Mechanism
from covassay.reference.mechanisms.output import OUTPUTS
from covassay.reference.mechanisms.parameters import Epsilon, Rule
from covassay.reference.mechanisms.registry import MECHANISMS, mechanism
from covassay.reference.privacy import PURE, PureDP, Spend
from covassay.reference.release import account_file, table_release
from covassay.verification.cli import release as command
from covassay.verification.cli.main import run
from tests.conventions import framed

Matrix = NDArray[np.float64]

X = np.random.default_rng(0).uniform([20, 140], [80, 200], (40, 2))
BOUNDS = "age = [0, 120]\nheight = [100, 220]\n"
SHIFT = np.array([60.0, 160.0])


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Change to a folder with data.csv, data.npy and bounds.toml."""
    monkeypatch.chdir(tmp_path)
    Path("data.csv").write_text("age,height\n" + "".join(f"{a!r},{b!r}\n" for a, b in X.tolist()))
    np.save("data.npy", X)
    Path("bounds.toml").write_text(BOUNDS)
    return tmp_path


def command_line(data: str, *options: str, name: str = "nuclear-laplace") -> list[str]:
    return framed("release", data, "--mechanism", name, "--epsilon", "1", *options)


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Run a command that must fail, and return its only line of output. The command must not change or add a file."""
    before = {path: path.read_bytes() for path in Path().iterdir()}
    assert run(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert captured.err.startswith("covassay: ")
    assert {path: path.read_bytes() for path in Path().iterdir()} == before
    return captured.err


def in_file(path: str) -> dict[str, Any]:
    return json.loads(Path(path).read_text(encoding="utf-8"))


def pretended(
    monkeypatch: pytest.MonkeyPatch,
    kind: str,
    domain: Any,
    seen: list[Any] | None = None,
    power: int | None = None,
    **facts: Any,
) -> Mechanism[Any, ..., Any]:
    """Register a mechanism without noise that releases the numbers 1, 2, 3, … in the given form, and records its
    input.
    """
    output = OUTPUTS[kind] if power is None else replace(OUTPUTS[kind], power=power)

    def release(x: DataSet, noise: None, *, epsilon: Epsilon) -> Any:
        rows = as_rows(x)
        assert isinstance(rows, Chunks)
        if seen is not None:
            seen.append(np.concatenate(list(rows.start())))
        shape = output.shape(rows.shape[1])
        return np.arange(1.0, 1.0 + np.prod(shape, dtype=int)).reshape(shape)

    def sample(x: DataSet, rng: np.random.Generator, *, epsilon: Epsilon) -> Any:
        return release(x, None, epsilon=epsilon)

    def spend(*, epsilon: float, dimension: int) -> Spend:
        return Spend(PureDP(epsilon), PureDP(epsilon), True)

    about = About("pretended", "a pretended mechanism", "none", "none")
    found = Mechanism(about, PURE, output, release, lambda dimension, rng: None, sample, spend, domain=domain, **facts)
    monkeypatch.setitem(MECHANISMS, "pretended", found)
    return found


# What comes out


@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.parametrize("suffix", [".csv", ".npy"])
def test_every_mechanism_of_the_registry_releases_a_file(name: str, suffix: str, tmp_path: Path) -> None:
    about = mechanism(name)
    d = max(3, about.smallest_dimension)
    x = np.random.default_rng(0).uniform(0, 1 / d, (30, d))
    if suffix == ".csv":
        Path("x.csv").write_text("".join(",".join(map(repr, row)) + "\n" for row in x.tolist()))
    else:
        np.save("x.npy", x)
    budget = {"pure": {"epsilon": 1.0}, "zcdp": {"rho": 0.5}, "approximate": {"epsilon": 1.0, "delta": 1e-6}}
    options = [f"--{key}={value}" for key, value in budget[about.notion.name].items()]
    options += [] if about.lattice else ["--float"]
    options += ["--bounds", "cube.toml"] if about.domain in ("cube", "box") else []
    Path("cube.toml").write_text("".join(f"x{j} = [0, 1]\n" for j in range(1, d + 1)))
    command = framed("release", f"x{suffix}", "--mechanism", name, *options, "--seed", "7", "--out", "out.npy")
    assert run(command) == 0
    frame: dict[str, Any] = {"bounds": [(0, 1)] * d} if about.domain == "box" else {}
    expected = about.sample(x, np.random.default_rng(7), **budget[about.notion.name], **frame)
    np.testing.assert_allclose(np.load("out.npy"), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("released", OUTPUTS)
@pytest.mark.parametrize("domain", ["ball", "space", "cube"])
def test_every_form_from_every_domain_is_written(released: str, domain: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test fails if a file format cannot hold one of the kinds of output."""
    # this mechanism takes no row_bound
    pretended(monkeypatch, released, "space" if domain == "ball" else domain)
    for out in ("out.csv", "out.json", "out.npy", "out.npz"):
        assert run(command_line("data.csv", "--bounds", "bounds.toml", "--out", out, name="pretended")) == 0
    assert np.load("out.npy").shape == OUTPUTS[released].shape(2)
    document = in_file("out.json")
    output = OUTPUTS[released]
    raw = np.arange(1.0, 1.0 + np.prod(output.shape(2), dtype=int)).reshape(output.shape(2))
    if not output.restorable:
        for name, part in output.parts(raw).items():
            np.testing.assert_array_equal(document[name], part)
    assert set(document) - {"columns", "target", "provenance"} == set(document["provenance"]["holds"])
    assert document["columns"] == (["age"] if released == "coefficients" else ["age", "height"])
    assert document["provenance"]["released"] == released


def test_only_a_mechanism_on_a_ball_is_given_a_row_bound(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pretended(monkeypatch, "matrix", "cube")
    assert "entries in [0, 1], so it has no row bound" in refused(
        capsys, *command_line("data.csv", "--row-bound", "3", name="pretended")
    )
    pretended(monkeypatch, "matrix", "ball")
    # the command passes row_bound to every mechanism for rows in a ball, and this mechanism has no such parameter
    with pytest.raises(TypeError, match="row_bound"):
        run(command_line("data.csv", "--row-bound", "1", name="pretended"))


def test_too_few_columns_are_refused(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    pretended(monkeypatch, "coefficients", "space", smallest_dimension=3)
    assert "has 2 column(s): pretended needs at least 3" in refused(capsys, *command_line("data.csv", name="pretended"))


def test_an_option_of_the_mechanism_that_is_called_seed_is_not_the_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    about = pretended(monkeypatch, "matrix", "space")
    seed = Annotated[int, Rule("any whole number", lambda name, value: value)]

    def sample(x: DataSet, rng: np.random.Generator, *, epsilon: Epsilon, seed: seed = 0) -> Any:  # type: ignore[valid-type]
        return about.sample(x, rng, epsilon=epsilon)

    monkeypatch.setitem(MECHANISMS, "pretended", replace(about, sample=sample))
    assert run(command_line("data.csv", "--set", "seed=5", "--out", "out.json", name="pretended")) == 0
    provenance = in_file("out.json")["provenance"]
    assert (provenance["options"], provenance["seed"]) == ({"seed": 5}, None)
    assert "not private" not in provenance


def test_an_approximate_sampler_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The test fails if the user is not warned that a sampler is approximate."""
    pretended(monkeypatch, "matrix", "space", sampler="approximate")
    assert run(command_line("data.csv", name="pretended")) == 0
    assert "the guarantee is approximate too" in capsys.readouterr().err


def test_parameters_that_only_release_takes_do_not_reach_the_spend() -> None:
    options = ["--set", "beta=0.05", "--set", "budget=adaptive", "--row-bound", "300", "--out", "out.json"]
    assert run(command_line("data.csv", *options, name="iterative-eigenvectors")) == 0
    assert in_file("out.json")["provenance"]["options"]["beta"] == 0.05


# Bounds


def test_bounds_bring_the_rows_into_the_unit_ball_and_the_output_back() -> None:
    """The test fails if the rows are not scaled to the unit ball, or if the output is not scaled back. At ε = 10⁹ the
    noise is negligible.
    """
    arguments = ["release", "data.csv", "--mechanism", "nuclear-laplace-symmetric", "--epsilon", "1e9"]
    assert run([*arguments, "--bounds", "bounds.toml", "--float", "--out", "out.json"]) == 0
    document = in_file("out.json")
    expected = second_moment(X - SHIFT)
    np.testing.assert_allclose(document["second_moment"], expected, atol=1e-4)
    assert "covariance" not in document
    provenance = document["provenance"]
    assert provenance["bounds"] == {"age": [0, 120], "height": [100, 220]}
    assert provenance["bounds_from"] == "public"
    assert provenance["shift"] == [60, 160]
    assert provenance["scale"] == pytest.approx([60 * 2**0.5] * 2)
    assert provenance["holds"]["second_moment"]["about"] == "the point that the provenance records as `shift`"
    assert provenance["options"] == {"row_bound": 1.0, "adjacency": "replace-one"}
    assert "not private" not in provenance
    # The released matrix M is the second moment about `shift`. With the mean m of the rows, a user can compute the
    # second moment about 0: E xxᵀ = M + shift mᵀ + m shiftᵀ − shift shiftᵀ.
    m = X.mean(axis=0)
    uncentred = np.array(document["second_moment"]) + np.outer(SHIFT, m) + np.outer(m, SHIFT) - np.outer(SHIFT, SHIFT)
    np.testing.assert_allclose(uncentred, second_moment(X), atol=1e-3)


@pytest.mark.parametrize(("domain", "low", "high"), [("cube", 0, 1), ("space", -1, 1)])
def test_bounds_fit_the_domain(domain: str, low: int, high: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test fails if the bounds do not map the data into the domain of the mechanism, or if the release does not
    state its unit.
    """
    seen: list[Matrix] = []
    pretended(monkeypatch, "direction", domain, seen)
    Path("bounds.toml").write_text("age = [20, 80]\nheight = [170, 171]\n")
    assert run(command_line("data.csv", "--bounds", "bounds.toml", "--out", "out.json", name="pretended")) == 0
    expected = low + (high - low) * np.clip((X - [20, 170]) / [60, 1], 0, 1)
    np.testing.assert_allclose(seen[0], expected, atol=1e-12)
    unit = in_file("out.json")["provenance"]["holds"]["direction"]["unit"]
    assert unit == "no unit, with (x - shift)/scale in place of x"
    assert in_file("out.json")["direction"] == [1, 2]


def test_scaling_by_the_data_is_said_to_be_not_private(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(command_line("data.csv", "--scale-by-data-not-private", "--out", "out.json")) == 0
    assert "not private" in capsys.readouterr().err
    provenance = in_file("out.json")["provenance"]
    assert provenance["bounds_from"] == "the data: not private"
    assert "extremes" in provenance["not private"][0]
    assert provenance["bounds"]["age"] == [X[:, 0].min(), X[:, 0].max()]


@pytest.mark.parametrize(
    ("options", "lines"), [([], 0), (["--seed", "1"], 1), (["--seed", "1", "--scale-by-data-not-private"], 2)]
)
def test_quiet_is_silent_but_for_what_is_not_private(
    options: list[str], lines: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(command_line("data.csv", "--quiet", *options)) == 0
    told = capsys.readouterr().err
    assert told.count("\n") == told.count("this release is not private") == lines


@pytest.mark.parametrize("shortened", ["--scale-by-data", "--scale"])
def test_scaling_by_the_data_must_be_said_in_full(shortened: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert shortened in refused(capsys, *command_line("data.csv", shortened, "--out", "out.csv"))


# The account


def account(*options: str) -> list[str]:
    return command_line("data.csv", "--row-bound", "300", "--budget-file", "account.json", "--quiet", *options)


def test_a_second_release_adds_up_and_a_third_is_refused_before_the_data_are_read(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run([*account("--total", "epsilon=2", "--out", "a.csv")]) == 0
    assert run([*account("--out", "b.csv")]) == 0
    releases = in_file("account.json")["releases"]
    assert [(r["mechanism"], r["claimed"], r["out"]) for r in releases] == [
        ("nuclear-laplace", {"epsilon": 1.0}, "a.csv"),
        ("nuclear-laplace", {"epsilon": 1.0}, "b.csv"),
    ]
    read: list[int] = []
    monkeypatch.setattr(table_release, "open_table", lambda *_: read.append(1))
    error = refused(capsys, *account("--out", "c.csv"))
    assert "raise the spent budget to ε = 3 (pure DP): must stay within ε = 2 (pure DP)" in error
    assert not read


def test_what_is_spent_and_what_an_account_cannot_know_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [a for a in account("--total", "rho=2", "--out", "a.csv") if a != "--quiet"]
    assert run(arguments) == 0
    said = capsys.readouterr().err
    assert "ρ = 0.462117 (zCDP) of ρ = 2 (zCDP) spent on data.csv" in said
    assert "the account cannot know of copies of the data" in said


@pytest.mark.parametrize("option", [["--seed", "1"], ["--scale-by-data-not-private"]])
def test_a_release_that_is_not_private_cannot_be_accounted_for(
    option: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = command_line("data.csv", "--budget-file", "account.json", "--total", "epsilon=9", *option)
    assert "no budget can account for this release" in refused(capsys, *arguments)


def test_a_release_that_fails_is_not_entered(capsys: pytest.CaptureFixture[str]) -> None:
    """The test fails if the account is charged for a release that failed."""
    Path("data.csv").write_text("age,height\n1,2\n1,x\n")
    assert "line 3, column 'height' = 'x'" in refused(capsys, *account("--total", "epsilon=2", "--out", "a.csv"))


def test_nothing_is_released_that_cannot_be_entered(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The test fails if something is released although the account could not be charged."""
    monkeypatch.setattr(account_file, "PATIENCE", 0.01)
    with FileLock(".account.json.lock"):
        for out in (["--out", "a.csv"], []):
            assert "is being written to the account" in refused(capsys, *account("--total", "epsilon=2", *out))


def test_a_release_that_cannot_be_written_counts(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The test fails if the account is not charged for a computed release whose file could not be written."""

    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(table_release, "write_release", fail)
    assert run(account("--total", "epsilon=2", "--out", "a.csv")) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert len(in_file("account.json")["releases"]) == 1
    assert not Path("a.csv").exists()


# Refusals


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (["--row-bound", "1", "--bounds", "bounds.toml"], "not allowed with"),
        (["--bounds", "absent.toml"], "absent.toml does not exist"),
        (["--bounds", "data.csv"], "must be one of .toml, .json"),
        (["--out", "data.csv"], "must be another file, not data.csv"),
        (["--out", "./data.npy"], "data.npy exists: must be a new file"),
        (["--out", "./data.npy", "--force"], None),
        (["--budget-file", "account.json"], "--total must give"),
        (["--budget-file", "account.txt", "--total", "epsilon=1"], "must be one of .json"),
        (["--budget-file", "absent/account.json", "--total", "epsilon=1"], "directory that does not exist"),
        (["--budget-file", "account.json", "--total", "epsilon=0.5"], "must stay within ε = 0.5"),
        (["--budget-file", "account.json", "--total", "epsilon"], "must be epsilon=…, rho=… or"),
        (["--total", "epsilon=1"], "give --budget-file as well"),
        (["--seed", "-1"], "--seed -1"),
        (["--delta", "1e-6"], "nuclear-laplace is ε-DP: give --epsilon instead of --epsilon and --delta"),
        (["--rho", "1"], "--rho excludes --epsilon"),
        (["--row-bound", "1e200"], "row_bound"),
        (["--set", "rounds=nan"], "nuclear-laplace has no such option; it takes adjacency"),
    ],
)
def test_bad_options_are_refused_before_the_data_are_read(
    options: list[str], named: str | None, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def unread(*_: object) -> Any:
        raise InvalidInput("the data were read")

    monkeypatch.setattr(table_release, "open_table", unread)
    error = refused(capsys, *command_line("data.csv", *options))
    assert (named or "the data were read") in error


@pytest.mark.parametrize("value", ["nan", "inf", "2.5", "x"])
def test_a_whole_number_must_be_one(
    value: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    about = pretended(monkeypatch, "matrix", "space")
    rounds = Annotated[int, Rule("any whole number", lambda name, value: value)]

    def sample(x: DataSet, rng: np.random.Generator, *, epsilon: Epsilon, rounds: rounds = 3) -> Any:  # type: ignore[valid-type]
        return about.sample(x, rng, epsilon=epsilon)

    monkeypatch.setitem(MECHANISMS, "pretended", replace(about, sample=sample))
    named = "must be a number" if value == "x" else "must be a whole number"
    assert named in refused(capsys, *command_line("data.csv", "--set", f"rounds={value}", name="pretended"))


def test_a_table_that_needs_too_much_memory_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def enormous(*_: object, **__: object) -> Any:
        raise MemoryError

    about = pretended(monkeypatch, "matrix", "space")
    monkeypatch.setitem(MECHANISMS, "pretended", replace(about, sample=enormous))
    assert "not enough memory" in refused(capsys, *command_line("data.csv", name="pretended"))


# Progress


def shown_on(console: Callable[..., Console], monkeypatch: pytest.MonkeyPatch, *options: str) -> None:
    monkeypatch.setattr(command, "Console", console)
    assert run(command_line("data.csv", "--out", "out.csv", *options)) == 0


@pytest.mark.parametrize(("terminal", "quiet"), [(True, False), (True, True), (False, False)])
def test_a_progress_bar_is_for_terminals(terminal: bool, quiet: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test fails if a progress bar is written into a file, or in spite of `--quiet`."""
    screen = io.StringIO()
    shown_on(
        lambda **_: Console(file=screen, force_terminal=terminal, width=100),
        monkeypatch,
        *(["--quiet"] if quiet else []),
    )
    assert ("pass over 40 rows" in screen.getvalue()) == (terminal and not quiet)
    assert np.loadtxt("out.csv", delimiter=",", skiprows=1).shape == (2, 2)


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform != "linux", reason="opens a terminal")
def test_a_real_terminal_shows_the_passes() -> None:
    """The test fails if a real terminal does not show the progress bar."""
    code = f"from covassay.verification.cli.main import run; run({command_line('data.csv', '--out', 'out.csv')!r})"
    outer, inner = pty.openpty()
    environment = {**os.environ, "TERM": "xterm"}
    subprocess.run([sys.executable, "-c", code], stderr=inner, check=True, env=environment)
    os.close(inner)
    screen = b""
    while True:
        try:
            part = os.read(outer, 65536)
        except OSError:  # the other end of the terminal is closed
            break
        if not part:
            break
        screen += part
    os.close(outer)
    assert b"pass over 40 rows" in screen


def test_nothing_is_told_of_the_number_of_rows_where_it_is_private(capsys: pytest.CaptureFixture[str]) -> None:
    x = np.random.default_rng(3).uniform(0, 1, (1237, 2))
    np.save("people.npy", x)
    Path("bounds.json").write_text('{"x1": [0, 1], "x2": [0, 1]}')
    words = ["release", "people.npy", "--mechanism", "box-gauss", "--rho", "0.5", "--float", "--seed", "4"]
    words += ["--bounds", "bounds.json", "--set", "adjacency=add-remove", "--out", "out.json"]
    assert run(words) == 0
    assert "1237" not in Path("out.json").read_text() + capsys.readouterr().err
    document = in_file("out.json")
    assert document["provenance"]["adjacency"] == "add-remove"
    assert abs(document["rows"] - 1237) < 100
    ball = ["release", "people.npy", "--mechanism", "gauss-cov", "--rho", "0.5", "--float", "--seed", "4"]
    assert run([*ball, "--row-bound", "2", "--adjacency", "add-remove", "--out", "ball.json"]) == 0
    assert "1237" not in Path("ball.json").read_text() + capsys.readouterr().err
    np.testing.assert_allclose(document["covariance"], np.cov(x.T, bias=True), atol=0.05)
    np.testing.assert_allclose(document["mean"], x.mean(axis=0), atol=0.05)


COUNTED = [name for name, about in MECHANISMS.items() if about.counted is not None]
TOTAL = X.T @ X


@pytest.mark.parametrize("name", COUNTED)
@pytest.mark.parametrize("noise", ["exact", "float"])
def test_a_ball_under_add_remove_holds_a_number_of_rows_and_a_sum(name: str, noise: str) -> None:
    """The test fails if a release under add-remove adjacency does not consist of a number of rows and a sum. Both are
    noisy, but at a budget of 10⁹ the noise is negligible.
    """
    about = mechanism(name)
    if noise == "exact":
        pytest.importorskip("flint")
    elif about.lattice:
        return
    budget = f"--{next(iter(about.notion.default.keywords()))}=1e9"
    command = ["release", "data.npy", "--mechanism", name, budget, "--adjacency", "add-remove"]
    command += ["--float"] if noise == "float" else []
    for frame, wanted in ((["--bounds", "cube.toml"], (X - SHIFT).T @ (X - SHIFT)), (["--row-bound", "250"], TOTAL)):
        Path("cube.toml").write_text("x1 = [0, 120]\nx2 = [100, 220]\n")
        assert run([*command, *frame, "--out", "out.json", "--force"]) == 0
        document = in_file("out.json")
        of_vector = name in ("laplace", "gaussian")
        np.testing.assert_allclose(document["rows"], 40, atol=1e-3)
        np.testing.assert_allclose(document["sum"], np.diag(wanted) if of_vector else wanted, rtol=1e-3, atol=0.5)
        np.testing.assert_allclose(np.array(document["second_moment"]) * 40, document["sum"], rtol=1e-3)
        facts = document["provenance"]
        assert (facts["released"], facts["adjacency"], "n" in facts) == ("rows-and-sum", "add-remove", False)
        assert facts["expected_error"]["of"] == "sum"
        about_shift = facts["holds"]["sum"]["about"] == "the point that the provenance records as `shift`"
        assert about_shift == ("shift" in facts) == ("--bounds" in frame)
        kept = facts.get("rounded") or facts.get("lattice")
        if kept is not None:
            unit = {part: kept["unit"][part] * float(Fraction(kept["grid"])) if "/" in kept["grid"] else
                    kept["unit"][part] * 2.0 ** int(kept["grid"][2:]) for part in ("rows", "sum")}  # fmt: skip
            assert kept["integers"]["rows"][0] * unit["rows"] == pytest.approx(document["rows"])


def test_a_table_without_people_is_a_table_under_add_remove(capsys: pytest.CaptureFixture[str]) -> None:
    Path("data.csv").write_text("age,height\n")
    for name in ("discrete-gaussian-covariance", "gauss-cov"):
        command = ["release", "data.csv", "--mechanism", name, "--rho", "1", "--row-bound", "9", "--header"]
        command += [] if name.startswith("discrete") else ["--float"]
        assert "row" in refused(capsys, *command, "--out", "none.json")
        assert run([*command, "--adjacency", "add-remove", "--out", f"{name}.json"]) == 0
        assert abs(in_file(f"{name}.json")["rows"]) < 40
        capsys.readouterr()


def test_a_sum_in_text_names_the_columns_of_every_entry() -> None:
    command = ["release", "data.csv", "--mechanism", "gauss-cov", "--rho", "1", "--row-bound", "250", "--float"]
    assert run([*command, "--adjacency", "add-remove", "--out", "out.csv"]) == 0
    header, values = Path("out.csv").read_text().splitlines()
    assert header == "rows,age*age,age*height,height*height"
    assert len(values.split(",")) == 4


def test_a_sum_is_projected_on_positive_matrices_alone(capsys: pytest.CaptureFixture[str]) -> None:
    Path("data.csv").write_text("age,height\n0,0\n")
    command = ["release", "data.csv", "--mechanism", "gauss-cov", "--rho", "1", "--row-bound", "1", "--float"]
    command += ["--adjacency", "add-remove", "--seed", "3"]
    assert run([*command, "--project", "psd", "--out", "out.json"]) == 0
    document = in_file("out.json")
    assert np.linalg.eigvalsh(document["second_moment"])[0] < -1e-3
    assert np.linalg.eigvalsh(document["projected"])[0] > -1e-9
    capsys.readouterr()
    assert "the sum must be a matrix" in refused(capsys, *command, "--project", "trace", "--out", "none.json")
