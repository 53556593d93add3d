"""Test the file that stores draws. Stored draws must be found again even after the process was killed, and files of
other kinds must be rejected.
"""

import os
import signal
import sqlite3
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from covassay.reference.errors import InvalidInput
from covassay.verification.audit.engine import store
from covassay.verification.audit.engine.law import LawSums
from covassay.verification.audit.engine.sampling import Draws, Summary
from covassay.verification.statistics.pooling import Total
from covassay.verification.statistics.tests import Quadrants, Successes

IDENTITY = {"target": "module:f", "claim": {"epsilon": 0.1}}
OUTPUTS = np.array([[0.1 + 0.2, -0.0], [5e-324, 1.7e308]])
VALUE = (
    3,
    [
        Summary(
            Draws(OUTPUTS, Counter({"exception: ValueError": 2}), 1, True, 0.25), 9, Counter({"x": 4}), 5,
            LawSums(
                {"a": Total("null", 0.1, 1e300, 2.0, 7), "b": Successes("s", 3, 10, 0.5, at_most=True),
                 "c": Quadrants("q", 3, 4, 0.5, 10)},
                Counter(["d"]),
            ),
        )
    ],
)  # fmt: skip


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "run.db"
    with store.opened(path, IDENTITY) as kept:
        kept.put("key", VALUE)
    return path


def _read(file: Path, identity: dict[str, Any] = IDENTITY) -> Any:
    with store.opened(file, identity) as kept:
        return kept.get("key")


def test_what_was_put_is_got_to_the_bit(file: Path) -> None:
    done, (summary,) = _read(file)
    assert done == 3
    assert summary.kept.outputs.tobytes() == OUTPUTS.tobytes()
    for one, two in ((summary, VALUE[1][0]), (summary.kept, VALUE[1][0].kept)):  # type: ignore[index]
        plain = [{k: v for k, v in vars(s).items() if k not in ("kept", "outputs")} for s in (one, two)]
        assert plain[0] == plain[1]
    with store.opened(file, IDENTITY) as kept:
        assert kept.get("another key") == (0, [])


def _spoiled(spoil: str) -> bytes:
    return {"no database": b"\0" * 5000, "a list": b"[]" * 200, "a checkpoint of before": b'{"schema": 1}'}[spoil]


@pytest.mark.parametrize("spoil", ["no database", "a list", "a checkpoint of before"])
def test_a_file_of_another_kind_is_refused(file: Path, spoil: str) -> None:
    file.write_bytes(_spoiled(spoil))
    with pytest.raises(InvalidInput, match="damaged, or it is not a checkpoint"):
        _read(file)


def test_a_database_of_somebody_else_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "mine.db"
    with sqlite3.connect(file) as connection:
        connection.execute("CREATE TABLE mine (a TEXT)")
    connection.close()
    before = file.read_bytes()
    with pytest.raises(InvalidInput, match="damaged, or it is not a checkpoint"):
        _read(file)
    assert file.read_bytes() == before


def test_one_wrong_digit_is_seen(file: Path) -> None:
    content = file.read_bytes()
    assert content.count(b"1e+300") == 1
    file.write_bytes(content.replace(b"1e+300", b"1e+301"))
    with pytest.raises(InvalidInput, match="damaged, or it is not a checkpoint"):
        _read(file)


def test_a_cut_file_is_refused(file: Path) -> None:
    content = file.read_bytes()
    file.write_bytes(content[: len(content) // 2])
    with pytest.raises(InvalidInput, match="damaged, or it is not a checkpoint"):
        _read(file)


def test_the_store_of_another_run_is_refused_and_the_difference_is_named(file: Path) -> None:
    with pytest.raises(InvalidInput, match=r"another run, whose claim is \{'epsilon': 0\.1\} in place of"):
        _read(file, {**IDENTITY, "claim": {"epsilon": 0.2}})


def test_a_store_of_another_form_is_refused(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "FORM", 9)
    with pytest.raises(InvalidInput, match="it has format 3, and this version of covassay reads format 9"):
        _read(file)


def test_a_store_in_use_is_refused(file: Path) -> None:
    with (
        store.opened(file, IDENTITY),
        pytest.raises(InvalidInput, match="another process is using it"),
        store.opened(file, IDENTITY),
    ):
        pass


@pytest.mark.parametrize("name", ["missing/run.db", "."])
def test_a_place_for_no_file_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidInput, match="must be a file in a directory that exists"):
        _read(tmp_path / name)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a process that can be killed")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_after_a_kill_there_is_what_was_put_last(file: Path) -> None:
    child = os.fork()
    if not child:
        with store.opened(file, IDENTITY) as kept:
            kept.put("key", (4, []))
            kept._connection.execute("DELETE FROM drawn")  # the run began but did not end
            os.kill(os.getpid(), signal.SIGKILL)
    assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL
    assert _read(file) == (4, [])
