"""Test `covassay release` on real tables: selected columns, several files, streams, projections, earlier releases, and
the lock file.
"""

import io
import json
import os
import signal
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from filelock import FileLock

from covassay.reference.mechanisms.registry import MECHANISMS
from covassay.reference.privacy import PureDP
from covassay.reference.projections import psd_trace_ball
from covassay.reference.release import account_file, table_release
from covassay.reference.release.account_file import open_account
from covassay.verification.cli.main import run
from tests.conventions import framed

X = np.random.default_rng(0).uniform(0, 0.5, (40, 2))
GAUSS = ["--mechanism", "gauss-cov", "--rho", "0.5", "--float"]
NEEDS_KILL = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork, to start a process and kill it")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Change to a folder that has the table people.csv, and the same table in several files."""
    monkeypatch.chdir(tmp_path)
    lines = [f"ann,{a!r},{b!r}\n" for a, b in X.tolist()]
    Path("people.csv").write_text("name,a,b\n" + "".join(lines))
    Path("parts").mkdir()
    for k in (1, 0):
        Path(f"parts/{k}.csv").write_text("name,a,b\n" + "".join(lines[20 * k : 20 * k + 20]))
    return tmp_path


def released(*arguments: str, out: str = "out.json") -> dict[str, Any]:
    assert run(framed("release", *arguments, "--out", out, "--force")) == 0
    return json.loads(Path(out).read_text(encoding="utf-8"))


def files() -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in Path().rglob("*") if path.is_file() and path.suffix != ".lock"}


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Run a command that must fail, and return its only line of output. The command must not change or add a file."""
    before = files()
    assert run(framed("release", *arguments)) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert files() == before
    return captured.err


# What is read


def test_the_same_table_in_every_guise_gives_the_same_release(monkeypatch: pytest.MonkeyPatch) -> None:
    options = ["--columns", "b,a", *GAUSS, "--seed", "1"]
    expected = released("people.csv", *options)
    assert expected["columns"] == ["b", "a"]
    assert expected["provenance"]["selected"] == "2 of 3 columns, by name, which is a public choice"
    for data in (["parts"], ["parts/1.csv", "parts/0.csv"], ["parts/0.csv", "parts/1.csv"], ["parts/[0-9].csv"]):
        assert released(*data, *options) == expected
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(Path("people.csv").read_bytes())))
    assert released("-", *options) == expected
    dropped = released("people.csv", "--drop", "name", *GAUSS, "--seed", "1")
    assert dropped["columns"] == ["a", "b"]
    assert dropped["provenance"] == expected["provenance"]


def test_that_the_choice_of_columns_is_public_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    released("people.csv", "--drop", "name", *GAUSS)
    assert "2 of 3 columns were selected: the choice is public and costs no budget" in capsys.readouterr().err
    np.save("x.npy", X)
    assert "selected" not in released("x.npy", *GAUSS)["provenance"]
    assert "selected" not in capsys.readouterr().err


def test_a_first_line_of_numbers_that_is_taken_for_names_is_pointed_at(capsys: pytest.CaptureFixture[str]) -> None:
    Path("x.csv").write_text("2019,2020\n0.1,0.2\n")
    assert released("x.csv", "--header", *GAUSS)["columns"] == ["2019", "2020"]
    assert "if this line is a record, the release reveals it (use --no-header)" in capsys.readouterr().err
    assert released("x.csv", "--no-header", *GAUSS)["provenance"]["n"] == 2
    assert "reveals" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["people.csv", "--columns", "a", "--drop", "b"], "not allowed with"),
        (["people.csv", "--header", "--no-header"], "not allowed with"),
        (["parts", "--columns", "a", "--out", "parts/out.csv"], "must be outside parts"),
        (["parts", "--budget-file", "parts/a.json", "--total", "rho=1"], "--budget-file parts/a.json: must be outside"),
        (["parts/0.csv", "parts/1.csv", "--out", "parts/1.csv", "--force"], "must be another file, not parts/1.csv"),
        (["absent-*.csv"], "'absent-*.csv': must match at least one file"),
        (["parts/*.csv", "parts/1.csv"], "parts/1.csv is given twice"),
    ],
)
def test_wrong_tables_and_columns_are_refused_in_one_line(
    arguments: list[str], named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert named in refused(capsys, *arguments, *GAUSS)


@pytest.mark.parametrize(
    ("given", "named"), [(b"", "standard input is empty"), (b"a,b\n", "standard input has a header and no rows")]
)
def test_an_empty_standard_input_is_refused(
    given: bytes, named: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given)))
    assert named in refused(capsys, "-", *GAUSS)


def test_columns_that_differ_between_files_cost_no_budget(capsys: pytest.CaptureFixture[str]) -> None:
    Path("parts/1.csv").write_text("name,b,a\nann,1,2\n")
    account = ["--budget-file", "account.json", "--total", "rho=1"]
    error = refused(capsys, "parts", "--columns", "a", *GAUSS, *account)
    assert "parts/1.csv, column 2 has the name 'b': must be 'a', as in parts/0.csv" in error


def test_one_account_adds_up_the_releases_of_several_files(capsys: pytest.CaptureFixture[str]) -> None:
    for data, name in ((["parts"], "parts"), (["parts/0.csv", "parts/1.csv"], "0.csv … 1.csv (2 files)")):
        account = ["--budget-file", f"{len(data)}.json", "--total", "rho=0.5"]
        assert run(framed("release", *data, "--columns", "a", *GAUSS, *account)) == 0
        size = sum(path.stat().st_size for path in Path("parts").iterdir())
        assert json.loads(Path(f"{len(data)}.json").read_text())["data"] == {"name": name, "bytes": size}
        assert f"spent on {name};" in capsys.readouterr().err
        # a release of another column of the same files is charged to the same account
        assert "must stay within" in refused(capsys, *data, "--columns", "b", *GAUSS, *account)
    account = ["--budget-file", "new.json", "--total", "rho=0.5"]
    assert "have no name by which an account could identify them" in refused(capsys, "-", *GAUSS, *account)


# Projections


@pytest.mark.parametrize("suffix", [".json", ".npz", ".csv", ".npy"])
def test_the_projected_matrix_is_given_beside_the_released_one(suffix: str, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["people.csv", "--columns", "a,b", "--row-bound", "2", *GAUSS, "--rho", "1e-6", "--seed", "3"]
    plain = np.array(released(*options)["second_moment"])
    expected = psd_trace_ball(plain, 4.0)
    assert not np.allclose(plain, expected)
    capsys.readouterr()
    assert run(framed("release", *options, "--project", "trace", "--out", f"out{suffix}", "--force")) == 0
    said = capsys.readouterr().err
    assert "post-processing, which costs no budget" in said
    assert ("beside the released one" in said) == (suffix in (".json", ".npz"))
    if suffix == ".csv":
        found = np.loadtxt("out.csv", delimiter=",", skiprows=1)
    elif suffix == ".npy":
        found = np.load("out.npy")
    elif suffix == ".npz":
        with np.load("out.npz") as archive:
            np.testing.assert_array_equal(archive["second_moment"], plain)
            found = archive["projected"]
            assert "trace is at most" in json.loads(str(archive["provenance"]))["projected"]
    else:
        document = json.loads(Path("out.json").read_text())
        np.testing.assert_array_equal(document["second_moment"], plain)
        found = document["projected"]
    np.testing.assert_allclose(found, expected, atol=1e-12)
    np.testing.assert_array_equal(found, np.transpose(found))


def test_the_integers_of_a_rounded_release_stay_exact_beside_its_projection() -> None:
    options = ["people.csv", "--columns", "a,b", "--mechanism", "gauss-cov", "--rho", "1e-6", "--seed", "3"]
    document, plain = released(*options, "--project", "psd"), released(*options)
    assert document["provenance"]["rounded"] == plain["provenance"]["rounded"]
    assert document["second_moment"] == plain["second_moment"]
    assert "in floating point" in document["provenance"]["projected"]
    assert np.linalg.eigvalsh(document["projected"])[0] >= -1e-12 > np.linalg.eigvalsh(plain["second_moment"])[0]


def test_under_bounds_the_projection_is_made_in_the_unit_of_the_noise() -> None:
    Path("bounds.toml").write_text("a = [-1, 1]\nb = [-10, 10]\n")
    options = ["people.csv", "--columns", "a,b", "--bounds", "bounds.toml", *GAUSS, "--rho", "1e-6", "--seed", "3"]
    document = released(*options, "--project", "trace")
    scale = np.array(document["provenance"]["scale"])
    raw = np.array(document["second_moment"]) / np.outer(scale, scale)
    np.testing.assert_allclose(document["projected"], psd_trace_ball(raw, 1.0) * np.outer(scale, scale), atol=1e-9)


@pytest.mark.parametrize(
    ("mechanism", "project", "named"),
    [
        ("gauss-cov", "nuclear", "must be one of psd, trace"),
        ("em-cov", "psd ", "must be one of psd, trace"),
        ("gaussian", "psd", "gaussian releases no second moment and no covariance"),
        ("weak-ppc", "psd", "weak-ppc releases no second moment"),
        ("gaussian-learner", "psd", "gaussian-learner releases no second moment"),
        (
            "coinpress-covariance",
            "trace",
            "takes rows of any real numbers, so no row bound limits the trace of the exact matrix: give psd",
        ),
    ],
)
def test_what_cannot_be_projected_is_refused_before_the_data_are_read(
    mechanism: str, project: str, named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["absent.csv", "--mechanism", mechanism, "--rho", "0.5", "--float", "--project", project]
    assert named in refused(capsys, *arguments)


# Errors and warnings


def test_the_expected_error_and_the_warnings_are_said_and_stored(capsys: pytest.CaptureFixture[str]) -> None:
    options = ["people.csv", "--columns", "a,b", *GAUSS, "--seed", "3"]
    good = released(*options, "--rho", "1e6")["provenance"]
    said = capsys.readouterr().err
    assert good["expected_error"]["frobenius"] == pytest.approx(2 / (40 * 1e3))  # the mean of ‖W‖_F² is d² = 4
    assert "expected error 5e-05 (root mean square" in said
    assert "warning" not in said
    assert "warnings" not in good
    bad = released(*options, "--rho", "1e-6")["provenance"]
    said = capsys.readouterr().err
    assert len(bad["warnings"]) == said.count("covassay: warning: ") == 2
    assert "40 rows of d = 2 columns are too few" in bad["warnings"][0]
    assert "not positive semidefinite" in bad["warnings"][1]
    assert len(released(*options, "--rho", "1e-6", "--project", "psd")["provenance"]["warnings"]) == 1
    capsys.readouterr()
    assert run(framed("release", *options, "--rho", "1e-6", "--quiet")) == 0
    assert "warning" not in capsys.readouterr().err


# Earlier releases


def test_an_earlier_release_is_not_replaced_and_costs_nothing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    options = ["people.csv", "--columns", "a", *GAUSS, "--out", "out.json"]
    account = ["--budget-file", "account.json", "--total", "rho=1"]
    assert run(framed("release", *options)) == 0
    capsys.readouterr()
    with monkeypatch.context() as patched:
        patched.setattr(table_release, "open_table", lambda *_: pytest.fail("the data were read"))
        assert "out.json exists: must be a new file" in refused(capsys, *options, *account)
    before = Path("out.json").read_bytes()
    assert run(framed("release", *options, *account, "--force")) == 0
    assert Path("out.json").read_bytes() != before


def test_a_release_that_appears_while_another_is_made_is_not_replaced(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The test fails if a release overwrites a file that appears while the release is made. If the file appears before
    the release is charged to the account, the account must not be charged. If the file appears after the charge, the
    charge must remain in the account.
    """
    arguments = ["people.csv", "--columns", "a", *GAUSS, "--out", "out.json"]
    account = ["--budget-file", "account.json", "--total", "rho=1"]
    for module, name in ((table_release, "accuracy"), (table_release, "write_release")):
        original = getattr(module, name)

        def late(*given: Any, original: Any = original, **named: Any) -> Any:
            Path("out.json").write_text("the other release")
            return original(*given, **named)

        with monkeypatch.context() as patched:
            patched.setattr(module, name, late)
            assert run(framed("release", *arguments, *account)) == 2
        assert "out.json exists" in capsys.readouterr().err
        assert Path("out.json").read_text() == "the other release"
        assert Path("account.json").exists() == (name == "write_release")
        Path("out.json").unlink()


@pytest.mark.parametrize("links", [True, False])
def test_a_name_that_is_taken_at_the_last_moment_is_not_replaced(links: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A release is written under a temporary name, and gets its final name at the end. The test fails if the release
    overwrites a file that appears under its final name just before. The test covers file systems with and without hard
    links.
    """
    link = os.link

    def late(source: Any, target: Any) -> None:
        Path(target).write_text("the other release")
        if not links:
            raise OSError(95, "Operation not supported")
        link(source, target)

    monkeypatch.setattr(os, "link", late)
    assert run(framed("release", "people.csv", "--columns", "a", *GAUSS, "--out", "out.csv")) == 2
    assert Path("out.csv").read_text() == "the other release"
    assert not list(Path().glob(".covassay-*"))


def test_without_links_a_new_release_is_written_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    def unsupported(*_: object) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(os, "link", unsupported)
    assert run(framed("release", "people.csv", "--columns", "a", *GAUSS, "--out", "out.csv")) == 0
    assert Path("out.csv").read_text().startswith("a\n")


# The lock


def test_a_release_waits_for_another_and_says_so(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The test fails if a command fails or waits silently while another release is made. The other release is simulated
    by a lock, which the test opens as soon as the command says that it waits.
    """
    lock = FileLock(".account.json.lock")
    arguments = framed("release", "people.csv", "--columns", "a", *GAUSS, "--budget-file", "account.json")
    assert run([*arguments, "--total", "rho=2"]) == 0
    capsys.readouterr()
    lock.acquire()
    Path(".account.json.holder").write_text("process 7 on somewhere since noon")
    held = account_file._held
    monkeypatch.setattr(account_file, "_held", lambda *places: lock.release() or held(*places))
    assert run([*arguments, "--wait", "30"]) == 0
    said = capsys.readouterr().err
    assert "is being written to the account by process 7 on somewhere since noon: waiting for up to 30 s" in said
    assert len(json.loads(Path("account.json").read_text())["releases"]) == 2


def test_a_lock_that_stays_held_is_named_with_its_holder(capsys: pytest.CaptureFixture[str]) -> None:
    with FileLock(".account.json.lock"):
        Path(".account.json.holder").write_text("process 7 on somewhere since noon")
        arguments = ["people.csv", "--columns", "a", *GAUSS, "--budget-file", "account.json", "--total", "rho=2"]
        error = refused(capsys, *arguments, "--wait", "0.01", "--quiet")
    assert "to the account by process 7 on somewhere since noon: must become free within 0.01 s (--wait)" in error


def test_the_holder_of_the_lock_is_named_while_it_is_held_and_no_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    signature, seen, write = Path(".account.json.holder"), [], account_file._write
    signature.write_text("process 7, which was killed")
    monkeypatch.setattr(account_file, "_write", lambda account: seen.append(signature.read_text()) or write(account))
    account = ["--budget-file", "account.json", "--total", "rho=2"]
    assert run(framed("release", "people.csv", "--columns", "a", *GAUSS, *account)) == 0
    assert seen[0].startswith(f"process {os.getpid()} on ")
    assert not signature.exists()


def killed(where: tuple[Any, str], arguments: list[str]) -> None:
    """Run the command in a child process that is killed when it calls the given function."""

    def kill(*_: object, **__: object) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    with warnings.catch_warnings():
        # a process with threads warns if it forks
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        try:
            setattr(*where, kill)
            run(arguments)
        finally:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    assert os.WTERMSIG(status) == signal.SIGKILL


@NEEDS_KILL
@pytest.mark.parametrize(
    ("where", "spent"),
    [
        pytest.param((table_release, "accuracy"), 1.0, id="while it reads"),
        pytest.param((os, "replace"), 1.0, id="while it writes the account, and holds its lock"),
        pytest.param((os, "link"), 2.0, id="while it writes the release"),
    ],
)
def test_a_release_that_is_killed_leaves_nothing_half_written_and_holds_nobody_up(
    where: tuple[Any, str], spent: float
) -> None:
    data = account_file.fingerprint("people.csv")
    open_account(Path("account.json"), data, PureDP(9.0)).enter({"claimed": {"epsilon": 1.0}})
    arguments = framed("release", "people.csv", "--columns", "a", "--mechanism", "laplace", "--epsilon", "1", "--float")
    arguments += ["--budget-file", "account.json", "--out", "out.json"]
    killed(where, arguments)
    assert not Path("out.json").exists()
    assert open_account(Path("account.json"), data, None).account().spent() == PureDP(spent)
    assert run([*arguments, "--wait", "0"]) == 0
    assert not list(Path().glob(".covassay-*"))  # the unfinished file of the killed process is removed
    assert json.loads(Path("out.json").read_text())["columns"] == ["a"]
    assert open_account(Path("account.json"), data, None).account().spent() == PureDP(spent + 1)


def test_every_mechanism_that_can_be_projected_releases_a_matrix() -> None:
    able = [name for name, about in MECHANISMS.items() if about.output.kind == "matrix" and about.output.restorable]
    assert {"gauss-cov", "em-cov", "nuclear-laplace", "coinpress-covariance"} < set(able)
