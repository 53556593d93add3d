"""Test the names of targets: files, modules in the same folder, and suggestions for unknown names."""

import pickle
from pathlib import Path

import numpy as np
import pytest

from covassay.reference.errors import InvalidInput
from covassay.reference.privacy import PureDP
from covassay.verification.audit.options import AuditOptions, replay_command
from covassay.verification.audit.targets.calling import CannotRun
from covassay.verification.audit.targets.target import TargetReference, parts_of_name
from covassay.verification.audit.targets.whereabouts import whereabouts

CODE = "def f(x, *, epsilon, rng): return {value}\n\nclass A:\n    g = staticmethod(f)\n"


def answer(spec: str, folder: Path) -> float:
    """Pickle the target as for a worker process, load it again, and return one of its outputs."""
    target = pickle.loads(pickle.dumps(TargetReference(spec, str(folder)))).load()
    return float(target.draw(np.eye(2), epsilon=1.0, rng=np.random.default_rng(0)))


def test_a_file_is_a_target_with_what_lies_beside_it(tmp_path: Path) -> None:
    (tmp_path / "dir").mkdir()
    (tmp_path / "dir" / "beside_it.py").write_text("VALUE = 3\n")
    (tmp_path / "dir" / "lies_here.py").write_text("from beside_it import VALUE\n" + CODE.format(value="VALUE"))
    (tmp_path / "it's a script-2.py").write_text(CODE.format(value=4))
    assert answer("dir/lies_here.py:f", tmp_path) == 3
    assert answer("./dir/lies_here.py:A.g", tmp_path) == 3
    assert answer(f"{tmp_path / 'dir' / 'lies_here.py'}:f", Path("/")) == 3
    assert answer("lies_here.py:f", tmp_path / "dir") == 3
    assert answer("it's a script-2.py:f", tmp_path) == 4


def test_files_of_one_name_in_two_directories_are_two_targets(tmp_path: Path) -> None:
    for value, name in enumerate(("one", "two")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "same_name.py").write_text(CODE.format(value=value))
    assert [answer(f"{name}/same_name.py:f", tmp_path) for name in ("one", "two", "one")] == [0, 1, 0]
    (tmp_path / "random.py").write_text(CODE.format(value=5))
    assert answer("random.py:f", tmp_path) == 5
    import random

    assert hasattr(random, "Random")


def test_a_file_of_a_package_imports_from_its_package(tmp_path: Path) -> None:
    inner = tmp_path / "my_outer" / "inner"
    inner.mkdir(parents=True)
    for folder in (inner.parent, inner):
        (folder / "__init__.py").write_text("")
    (inner.parent / "value.py").write_text("VALUE = 6\n")
    (inner / "module.py").write_text("from ..value import VALUE\n" + CODE.format(value="VALUE"))
    assert answer("my_outer/inner/module.py:f", tmp_path) == 6


def test_a_file_with_the_line_ends_of_windows(tmp_path: Path) -> None:
    (tmp_path / "of_windows.py").write_bytes(b"\xef\xbb\xbf" + CODE.format(value=7).replace("\n", "\r\n").encode())
    assert answer("of_windows.py:f", tmp_path) == 7
    source = TargetReference("of_windows.py:A", str(tmp_path))
    found = whereabouts(source)
    assert found is not None
    assert (found.file.name, found.line) == ("of_windows.py", 3)


@pytest.mark.parametrize(
    ("spec", "parts"),
    [
        ("mine.py:f", ("mine.py", "f")),
        ("C:\\work\\mine.py:A.f", ("C:\\work\\mine.py", "A.f")),
        ("module:f", ("module", "f")),
        ("exec:python3 -c 'import mine.py:f'", ("exec", "python3 -c 'import mine.py:f'")),
        ("mine.py", ("mine.py", "")),
        ("mine.py:", ("mine.py", "")),
    ],
)
def test_the_parts_of_a_name(spec: str, parts: tuple[str, str]) -> None:
    assert parts_of_name(spec) == parts


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ("nowhere/mine.py:f", "there is no file nowhere/mine.py in"),
        ("mine.py", "must be module:function, file.py:function"),
        ("dir/mine:f", "such as dir/mine.py:f"),
        ("diffprivlib:LinearRegression", "did you mean linear-regression? diffprivlib has "),
        ("diffprivlib:linear_regression", "did you mean linear-regression?"),
        ("diffprivlib:BINGHAM", "did you mean bingham?"),
        ("diffprivlib:linearregresion", "did you mean linear-regression?"),
        ("difprivlib:bingham", "did you mean diffprivlib? No module named 'difprivlib'"),
    ],
)
def test_a_name_that_is_wrong_is_told_what_may_be_meant(spec: str, told: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput) as raised:
        TargetReference(spec, str(tmp_path)).load()
    assert told in str(raised.value)


def test_a_name_that_is_like_no_other_is_not_guessed_at(tmp_path: Path) -> None:
    for spec in ("diffprivlib:qqqq", "qqqq:f"):
        with pytest.raises(InvalidInput) as raised:
            TargetReference(spec, str(tmp_path)).load()
        assert "did you mean" not in str(raised.value)


def test_a_file_that_does_not_run_is_told_and_may_be_mended(tmp_path: Path) -> None:
    file = tmp_path / "to_be_mended.py"
    file.write_text("1 / 0\n")
    with pytest.raises(CannotRun, match=r"importing to_be_mended.py raised ZeroDivisionError"):
        TargetReference("to_be_mended.py:f", str(tmp_path)).load()
    file.write_text(CODE.format(value=10_000))
    assert answer("to_be_mended.py:f", tmp_path) == 10_000
    with pytest.raises(InvalidInput, match="has no attribute 'g'"):
        TargetReference("to_be_mended.py:g", str(tmp_path)).load()


def test_the_replay_of_a_file_names_the_file() -> None:
    source = TargetReference("dir/mine.py:f", "/")
    assert replay_command(source, PureDP(1.0), AuditOptions()).startswith("covassay audit dir/mine.py:f --epsilon 1")
