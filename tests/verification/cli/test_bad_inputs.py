"""Test that `covassay release` rejects two hundred bad inputs and thirty damaged account files. A rejected command
prints one line, ends with exit status 2, and spends nothing. Every case is one change to a release that works. The
tests check that there is no other output, no new or changed file, and no entry in the account. The last test shows that
the release without a change succeeds, writes its file, and adds an entry to the account.
"""

import gzip
import io
import json
import os
import struct
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from covassay.verification.cli.main import run

DATA = b"age,height\n" + b"".join(b"%d,%d\n" % (20 + k, 150 + k) for k in range(20))
BOUNDS = b"age = [0, 120]\nheight = [100, 220]\n"
ACCOUNT: dict[str, Any] = {
    "schema": "covassay-account-1",
    "data": {"name": "data.csv", "bytes": len(DATA)},
    "adjacency": "replace-one",
    "total": {"rho": 1.0},
    "releases": [{"mechanism": "box-gauss", "claimed": {"rho": 0.25}, "out": None}],
}
OPTIONS = {"--rho": "0.1", "--bounds": "bounds.toml", "--budget-file": "account.json", "--out": "out.json"}

# A test case consists of its name, the files that it needs, the names of the data files, and the options of the
# command. The value None stands for an option that is left out.
Case = tuple[str, dict[str, bytes], list[str], dict[str, str | None]]


def npy(array: Any) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def case(name: str, data: list[str] | None = None, files: dict[str, bytes] | None = None, **options: Any) -> Case:
    named = {f"--{key.replace('_', '-')}": value for key, value in options.items()}
    return name, files or {}, ["data.csv"] if data is None else data, named


def contents(suffix: str, cells: dict[str, bytes]) -> list[Case]:
    """Return test cases in which a data file has the given contents."""
    bounds = BOUNDS if suffix == ".csv" else b"x1 = [0, 3]\nx2 = [0, 3]\n"
    return [
        case(f"{suffix} {name}", [f"bad{suffix}"], {f"bad{suffix}": text, "b.toml": bounds}, bounds="b.toml")
        for name, text in cells.items()
    ]


def row(cell: bytes) -> bytes:
    return b"age,height\n30,160\n" + cell + b",170\n40,180\n"


CELLS = {
    "empty": b"", "blank": b"  ", "text": b"old", "NA": b"NA", "nan": b"nan", "null": b"null", "inf": b"inf",
    "minus infinity": b"-Infinity", "too large": b"1e999", "too small": b"-1e400", "underscore": b"1_0", "hex": b"0x1f",
    "full-width": "３０".encode(), "arabic": "٣٠".encode(), "superscript": "3²".encode(), "minus sign": "−3".encode(),
    "two points": b"3.1.4", "two signs": b"+-3", "comma inside quotes": b'"3,1"', "unit": b"30kg", "percent": b"30%",
    "date": b"2020-01-01", "time": b"12:30", "complex": b"1+2j", "fraction": b"1/2", "exponent alone": b"e5",
    "point alone": b".", "sign alone": b"-", "true": b"true", "formula": b"=1+1", "open quote": b'"30',
    "null byte": b"3\x00", "no UTF-8": b"\xff",
    "replacement": "�".encode(), "zero width": "3\u200b0".encode(), "Fortran": b"1d3",
}  # fmt: skip
TEXTS = {
    "nothing": b"",
    "a blank line inside": b"age,height\n30,160\n\n40,170\n",
    "a short record": b"age,height\n30\n",
    "a long record": b"age,height\n30,160,1\n",
    "a name twice": b"age,age\n30,160\n",
    "a name without letters": b"age,\n30,160\n",
    "another name": b"age,size\n30,160\n",
    "no header": b"30,160\n40,170\n",
    "a quote that is never closed": b'age,height\n"30,160\n40,170\n',
    "a record over two lines": b'age,height\n"30\n",x\n',
    "parquet without its suffix": b"PAR1" + b"\x00" * 40,
}
OF_NUMPY = {
    "nothing": b"",
    "text": b"age,height\n",
    "one dimension": npy(np.ones(3)),
    "complex": npy(np.ones((2, 2), dtype=complex)),
    "dates": npy(np.array([["2020-01-01"]], dtype="datetime64[D]")),
    "no numbers": npy(np.array([[1.0, np.nan]])),
    "objects": b"\x93NUMPY\x01\x00"
    + struct.pack("<H", 60)
    + b"{'descr': '|O', 'fortran_order': False, 'shape': (1, 1)}    \n",
    "a damaged header": b"\x93NUMPY\x01\x00" + struct.pack("<H", 12) + b"{'descr': 3}\n",
}
BAD_BOUNDS = {
    "nothing": b"",
    "no TOML": b"age = [0, 120\n",
    "a column missing": b"age = [0, 120]\n",
    "a column too many": BOUNDS + b"weight = [0, 1]\n",
    "another column": b"age = [0, 120]\nsize = [100, 220]\n",
    "a column twice": BOUNDS + b"age = [0, 99]\n",
    "a column twice, once with a blank": BOUNDS + b'" age" = [0, 99]\n',
    "in the wrong order": b"age = [120, 0]\nheight = [100, 220]\n",
    "equal": b"age = [5, 5]\nheight = [100, 220]\n",
    "one number": b"age = [0]\nheight = [100, 220]\n",
    "three numbers": b"age = [0, 1, 2]\nheight = [100, 220]\n",
    "a number": b"age = 3\nheight = [100, 220]\n",
    "words": b'age = ["0", "120"]\nheight = [100, 220]\n',
    "truth values": b"age = [false, true]\nheight = [100, 220]\n",
    "infinite": b"age = [0, inf]\nheight = [100, 220]\n",
    "no number": b"age = [nan, 1]\nheight = [100, 220]\n",
    "too large": b"age = [0, 1e300]\nheight = [100, 220]\n",
    "too close": b"age = [0, 1e-300]\nheight = [100, 220]\n",
    "dates": b"age = [2020-01-01, 2021-01-01]\nheight = [100, 220]\n",
    "a table": b"[age]\nlow = 0\nhigh = 120\n",
    "no UTF-8": b"age = [0, 120]\n\xff\n",
    "full-width digits": "age = [０, 120]\nheight = [100, 220]\n".encode(),
}
BAD_JSON = {
    "a list": b"[[0, 120], [100, 220]]",
    "a name twice": b'{"age": [0, 120], "height": [100, 220], "age": [0, 99]}',
    "a large integer": b'{"age": [0, 1' + b"0" * 400 + b'], "height": [100, 220]}',
    "deep": b"[" * 100_000,
    "a null": b'{"age": null, "height": [100, 220]}',
}
BUDGET: list[Case] = [
    case("no budget", rho=None),
    case("a budget of nothing", rho="0"),
    case("a negative budget", rho="-1"),
    case("a budget that is no number", rho="nan"),
    case("an infinite budget", rho="inf"),
    case("a budget with a unit", rho="0.1rho"),
    case("a full-width budget", rho="１"),
    case("a budget with an underscore", rho="0_1"),
    case("a budget with a comma", rho="0,1"),
    case("an empty budget", rho=""),
    case("a tiny budget", rho="1e-40"),
    case("a huge budget", rho="1e40"),
    case("two budgets", epsilon="1"),
    case("a delta with rho", delta="1e-6"),
    case("a delta alone", rho=None, delta="1e-6"),
    case("a delta of one", rho=None, epsilon="1", delta="1"),
    case("a delta of nothing", rho=None, epsilon="1", delta="0"),
    case("another notion", mechanism="nuclear-laplace"),
    case("more than is left", rho="0.8"),
    case("another total", total="rho=2"),
    case("a total of another notion", total="epsilon=1"),
    case("a total that is none", total="rho"),
    case("a total of a word", total="rho=much"),
    case("a full-width total", total="rho=１"),
    case("a total twice", total="rho=1,rho=1"),
    case("a total without an account", total="rho=1", budget_file=None),
    case("a wait without an account", wait="1", budget_file=None),
    case("a negative wait", wait="-1"),
    case("an endless wait", wait="inf"),
]
MECHANISM: list[Case] = [
    case("no such mechanism", mechanism="gauss-covariance"),
    case("an empty mechanism", mechanism=""),
    case("no frame", bounds=None),
    case("no frame for a ball", bounds=None, mechanism="gauss-cov"),
    case("no frame for a box", bounds=None, mechanism="box-gauss"),
    case("no frame for a cube", bounds=None, mechanism="ppde"),
    case("a row bound for a mechanism on a box", bounds=None, row_bound="1", mechanism="box-gauss"),
    case("a row bound for a mechanism without one", bounds=None, row_bound="1", mechanism="coinpress-covariance"),
    case("two frames", row_bound="300"),
    case("a row bound of nothing", bounds=None, row_bound="0", mechanism="gauss-cov"),
    case("a negative row bound", bounds=None, row_bound="-3", mechanism="gauss-cov"),
    case("an infinite row bound", bounds=None, row_bound="inf", mechanism="gauss-cov"),
    case("a huge row bound", bounds=None, row_bound="1e200", mechanism="gauss-cov"),
    case("a full-width row bound", bounds=None, row_bound="３", mechanism="gauss-cov"),
    case("unknown neighbours", adjacency="add"),
    case("neighbours of another account", adjacency="add-remove"),
    case("neighbours that a mechanism lacks", mechanism="em-cov", adjacency="add-remove"),
    case("an option that is none", set="rounds=3"),
    case("an option without a value", set="rounds"),
    case("an option without a name", set="=3"),
    case("an unknown value of a choice", mechanism="gauss-cov", set="ensemble=gue"),
    case("a fraction for a whole number", mechanism="discrete-gaussian-covariance", set="input_bits=9.5"),
    case("too many input bits", mechanism="discrete-gaussian-covariance", set="input_bits=25"),
    case("full-width input bits", mechanism="discrete-gaussian-covariance", set="input_bits=２"),
    case("a calibration that is none", mechanism="em-cov", calibration="loose"),
    case("a grid that is no power of 2", grid="0.3"),
    case("a grid that is too fine", grid="2^-9999"),
    case("an empty grid", grid=""),
    case("a grid on a lattice", mechanism="discrete-gaussian-covariance", grid="2^-9"),
    case("a projection that is none", project="nuclear"),
    case("a trace for a box", project="trace"),
    case("a seed with an account", seed="1"),
    case("a negative seed", seed="-1", budget_file=None),
    case("a seed that is a fraction", seed="1.5", budget_file=None),
    case("a full-width seed", seed="１", budget_file=None),
]
SELECTION: list[Case] = [
    case("an unknown column", columns="age,size"),
    case("a column twice", columns="age,age"),
    case("no column", columns=""),
    case("an empty name", columns="age,,height"),
    case("a quote in names", columns='"age'),
    case("an unknown column left out", drop="size"),
    case("every column left out", drop="age,height"),
    case("columns and drop", columns="age", drop="height"),
    case("a delimiter of two", delimiter="::"),
    case("an empty delimiter", delimiter=""),
    case("a digit as delimiter", delimiter="1"),
    case("a quote as delimiter", delimiter='"'),
    case("a limit of nothing", stream_limit="0"),
    case("a limit that is no number", stream_limit="much"),
]
PATHS: list[Case] = [
    case("no such file", ["absent.csv"]),
    case("an empty path", [""]),
    case("a null in a path", ["a\0.csv"]),
    case("a path that is too long", ["a" * 5000 + ".csv"]),
    case("another suffix", ["data.txt"], {"data.txt": DATA}),
    case("no suffix", ["data"], {"data": DATA}),
    case("an empty directory", ["empty"]),
    case("a directory of directories", ["nested"]),
    case("a pattern without a match", ["absent-*.csv"]),
    case("a loop of links", ["loop.csv"]),
    case("a link to nothing", ["dangling.csv"]),
    case("a pipe", ["pipe.csv"]),
    case("a device", ["/dev/null"]),
    case("a file twice", ["data.csv", "data.csv"]),
    case("a file twice, spelt otherwise", ["data.csv", "./data.csv"]),
    case("a file and its absolute path", ["data.csv", "ABSOLUTE"]),
    case("a file and a link to it", ["data.csv", "link.csv"]),
    case("a file and a hard link to it", ["data.csv", "hard.csv"]),
    case("two links to one file", ["link.csv", "hard.csv"]),
    case("a directory with two links to one file", ["linked"]),
    case("a file and a directory", ["data.csv", "linked"]),
    case("a copy", ["data.csv", "copy.csv"], {"copy.csv": DATA}),
    case("a directory with a copy", ["copies"]),
    case("copies, compressed twice", ["a.csv.gz", "b.csv.gz"],
         {"a.csv.gz": gzip.compress(DATA, 1, mtime=1), "b.csv.gz": gzip.compress(DATA, 9, mtime=2)}),
    case("files of two formats", ["data.csv", "x.npy"], {"x.npy": npy(np.ones((2, 2)))}),
    case("files of other columns", ["data.csv", "other.csv"], {"other.csv": b"age,size\n1,2\n"}),
    case("standard input and a file", ["-", "data.csv"]),
    case("a damaged gzip file", ["z.csv.gz"], {"z.csv.gz": gzip.compress(DATA)[:-9]}),
    case("a file named .gz without compression", ["z.csv.gz"], {"z.csv.gz": DATA}),
    case("a damaged Parquet file", ["x.parquet"], {"x.parquet": b"PAR1" + b"\0" * 60 + b"PAR1"}),
    case("the data of another account", ["other.csv"], {"other.csv": DATA + b"50,160\n"}),
]  # fmt: skip
OUT: list[Case] = [
    case("an empty output", out=""),
    case("an output without a suffix", out="out"),
    case("an output of another suffix", out="out.xlsx"),
    case("an output that exists", out="old.json"),
    case("an output in no directory", out="absent/out.json"),
    case("an output that is a directory", out="empty.json"),
    case("an output in a loop of links", out="loop.json"),
    case("an output that is a pipe", out="pipe.json"),
    case("an output over the data", out="data.csv", force=""),
    case("an output over a link to the data", out="link.csv", force=""),
    case("an output over the bounds", out="bounds.json", bounds="bounds.json", force=""),
    case("an output over the account", out="account.json", force=""),
    case("an output among the data", ["many"], out="many/out.csv", budget_file=None),
    case("a null in an output", out="a\0.json"),
    case("empty bounds", bounds=""),
    case("no such bounds", bounds="absent.toml"),
    case("bounds of another suffix", bounds="data.csv"),
    case("bounds in a loop of links", bounds="loop.toml"),
    case("bounds that are a directory", bounds="empty.toml"),
    case("an empty account", budget_file=""),
    case("an account of another suffix", budget_file="account.txt"),
    case("a new account without a total", budget_file="new.json"),
    case("an account in no directory", budget_file="absent/a.json", total="rho=1"),
    case("an account in a loop of links", budget_file="loop.json", total="rho=1"),
    case("an account that is a directory", budget_file="empty.json"),
    case("an account with a hard link", budget_file="linked-account.json"),
    case("a new account that is the output", budget_file="out.json", total="rho=1"),
    case("an account among the data", ["many"], budget_file="many/a.json", total="rho=1"),
]
CASES = [
    *contents(".csv", {**{f"cell: {name}": row(cell) for name, cell in CELLS.items()}, **TEXTS}),
    *contents(".npy", OF_NUMPY),
    *(case(f"bounds: {name}", files={"bounds.toml": text}) for name, text in BAD_BOUNDS.items()),
    *(case(f"bounds in JSON: {name}", files={"b.json": text}, bounds="b.json") for name, text in BAD_JSON.items()),
    *BUDGET, *MECHANISM, *SELECTION, *PATHS, *OUT,
]  # fmt: skip


def changed(change: Callable[[dict[str, Any]], object]) -> str:
    document: dict[str, Any] = json.loads(json.dumps(ACCOUNT))
    change(document)
    return json.dumps(document)


WHOLE = changed(lambda d: None)
ENTRY = ACCOUNT["releases"][0]
DAMAGED = {
    "empty": "",
    "a null": "null",
    "a number": "1",
    "a list": "[]",
    "text": '"account"',
    "cut short": WHOLE[:-2],
    "twice": WHOLE + WHOLE,
    "deep": "[" * 100_000,
    "no number": WHOLE.replace("0.25", "NaN"),
    "an infinite total": WHOLE.replace("1.0", "Infinity"),
    "no schema": changed(lambda d: d.pop("schema")),
    "a later schema": changed(lambda d: d.update(schema="covassay-account-2")),
    "no data": changed(lambda d: d.pop("data")),
    "data without a name": changed(lambda d: d["data"].pop("name")),
    "a size of a fraction": changed(lambda d: d["data"].update(bytes=1.5)),
    "a size in words": changed(lambda d: d["data"].update(bytes=str(len(DATA)))),
    "a true size": changed(lambda d: d["data"].update(bytes=True)),
    "a name of a number": changed(lambda d: d["data"].update(name=7)),
    "data in a list": changed(lambda d: d.update(data=[*d["data"].items()])),
    "neighbours in a list": changed(lambda d: d.update(adjacency=["replace-one"])),
    "a negative size": changed(lambda d: d["data"].update(bytes=-1)),
    "more of the data": changed(lambda d: d["data"].update(owner="me")),
    "no neighbours": changed(lambda d: d.pop("adjacency")),
    "unknown neighbours": changed(lambda d: d.update(adjacency="swap")),
    "no total": changed(lambda d: d.pop("total")),
    "a total of two notions": changed(lambda d: d["total"].update(epsilon=1.0)),
    "a total of a word": changed(lambda d: d["total"].update(rho="1")),
    "a true total": changed(lambda d: d["total"].update(rho=True)),
    "a negative total": changed(lambda d: d["total"].update(rho=-1.0)),
    "a total that occurs twice": WHOLE.replace('"total":', '"total": {"rho": 9.0}, "total":'),
    "no releases": changed(lambda d: d.pop("releases")),
    "releases by name": changed(lambda d: d.update(releases={"1": ENTRY})),
    "a release that is a number": changed(lambda d: d.update(releases=[1])),
    "a release without a budget": changed(lambda d: d.update(releases=[{"mechanism": "box-gauss"}])),
    "a release whose budget occurs twice": WHOLE.replace('{"rho": 0.25}', '{"rho": 0.25, "rho": 0.01}'),
    "a release with a negative budget": changed(lambda d: d.update(releases=[{"claimed": {"rho": -0.2}}])),
    "a release of another notion": changed(lambda d: d.update(releases=[{"claimed": {"epsilon": 1.0, "delta": 0.1}}])),
    "a release whose time is a number": changed(lambda d: d.update(releases=[{**ENTRY, "time": 1}])),
    "a release whose output is a number": changed(lambda d: d.update(releases=[{**ENTRY, "out": 5}])),
    "a release of pairs": changed(lambda d: d.update(releases=[[*ENTRY.items()]])),
    "an infinite release": WHOLE.replace("0.25", "Infinity"),
    "a release of nothing": changed(lambda d: d.update(releases=[{**ENTRY, "claimed": {}}])),
    "a total in a list": changed(lambda d: d.update(total=[1])),
    "releases that occur twice": WHOLE.replace('"releases":', '"releases": [], "releases":'),
    "another entry": changed(lambda d: d.update(spent=0.0)),
    "another size": changed(lambda d: d["data"].update(bytes=1)),
    "another name": changed(lambda d: d["data"].update(name="other.csv")),
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a folder with a release that works, and with links, pipes and folders that cause errors."""
    monkeypatch.chdir(tmp_path)
    Path("data.csv").write_bytes(DATA)
    Path("bounds.toml").write_bytes(BOUNDS)
    Path("bounds.json").write_text('{"age": [0, 120], "height": [100, 220]}')
    Path("account.json").write_text(WHOLE)
    Path("linked-account.json").write_text(WHOLE)
    os.link("linked-account.json", "second-name.json")
    Path("old.json").write_text("{}")
    for name in ("empty", "empty.json", "empty.toml", "nested", "nested/more", "linked", "copies", "many"):
        Path(name).mkdir()
    for suffix in (".csv", ".json", ".toml"):
        Path(f"loop{suffix}").symlink_to(f"pool{suffix}")
        Path(f"pool{suffix}").symlink_to(f"loop{suffix}")
    Path("dangling.csv").symlink_to("absent.csv")
    Path("link.csv").symlink_to("data.csv")
    os.link("data.csv", "hard.csv")
    for suffix in (".csv", ".json"):
        os.mkfifo(f"pipe{suffix}")
    for k in (1, 2):
        Path(f"linked/{k}.csv").symlink_to("../data.csv")
        Path(f"copies/{k}.csv").write_bytes(DATA)
        Path(f"many/{k}.csv").write_bytes(DATA + b"%d,%d\n" % (k, k))
    return tmp_path


def state() -> dict[str, tuple[bytes, int]]:
    """Return the content and permissions of every file, except for lock files, which are left on purpose."""
    return {
        str(path): (path.read_bytes(), path.stat().st_mode)
        for path in Path().rglob("*")
        if path.is_file() and path.suffix != ".lock"
    }


def command(data: list[str], options: dict[str, str | None]) -> list[str]:
    arguments = ["release", *(str(Path("data.csv").resolve()) if path == "ABSOLUTE" else path for path in data)]
    for option, value in {**OPTIONS, **options}.items():
        arguments += [] if value is None else [option] if option == "--force" else [f"{option}={value}"]
    return arguments


def require_one_line(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    before = state()
    assert run(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert captured.err.startswith("covassay: ")
    assert captured.err[:-1].isprintable()
    assert state() == before
    return captured.err


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform == "win32", reason="makes links and pipes")
@pytest.mark.parametrize(("files", "data", "options"), [one[1:] for one in CASES], ids=[one[0] for one in CASES])
def test_a_bad_input(
    files: dict[str, bytes], data: list[str], options: dict[str, str | None], capsys: pytest.CaptureFixture[str]
) -> None:
    for name, content in files.items():
        Path(name).write_bytes(content)
    for name in data:
        if name.startswith("bad."):
            of_it = {"name": name, "bytes": len(files[name])}
            Path("account.json").write_text(json.dumps({**ACCOUNT, "data": of_it}))
    said = require_one_line(command(data, options), capsys)
    culprit = next((name for name in files if name.startswith(("bad.", "bounds.", "b.json"))), "")
    # The message must name the damaged file, because otherwise the command failed for another reason.
    assert culprit in said or "b.toml has no bounds for column" in said


@pytest.mark.skipif(sys.platform == "win32", reason="makes links and pipes")
@pytest.mark.parametrize("text", DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_account(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("account.json").write_text(text)
    require_one_line(command(["data.csv"], {}), capsys)


@pytest.mark.skipif(sys.platform == "win32", reason="makes links and pipes")
def test_the_release_without_a_change_is_made_and_entered() -> None:
    assert len({one[0] for one in CASES}) == len(CASES) >= 200
    assert len(DAMAGED) >= 30
    Path("account.json").chmod(0o640)
    assert run(command(["data.csv"], {})) == 0
    assert {"rows", "mean", "covariance"} < set(json.loads(Path("out.json").read_text()))
    assert len(json.loads(Path("account.json").read_text())["releases"]) == 2
    assert Path("account.json").stat().st_mode & 0o777 == 0o640
