"""Test the file with the privacy account of a data set: the sum of the releases, the refusal of a release that costs
too much, and the writing of the file.
"""

import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from covassay.reference.accounting import OverBudget
from covassay.reference.errors import InvalidInput
from covassay.reference.privacy import ZCDP, ApproximateDP, Guarantee, PureDP
from covassay.reference.release import account_file
from covassay.reference.release.account_file import fingerprint, open_account

DATA = {"name": "wine.csv", "bytes": 11161}


def entry(**budget: float) -> dict[str, Any]:
    return {"mechanism": "nuclear-laplace", "claimed": budget}


def test_releases_add_up_across_openings(tmp_path: Path) -> None:
    """Test that an account that is opened again contains the earlier releases."""
    path = tmp_path / "account.json"
    assert open_account(path, DATA, PureDP(1.0)).enter(entry(epsilon=0.25)) == PureDP(0.25)
    assert open_account(path, DATA, None).enter(entry(epsilon=0.5)) == PureDP(0.75)
    assert open_account(path, DATA, PureDP(1.0)).account().spent() == PureDP(0.75)
    before = path.read_bytes()
    with pytest.raises(OverBudget, match=r"account\.json: .* must stay within ε = 1 "):
        open_account(path, DATA, None).enter(entry(epsilon=0.5))
    assert path.read_bytes() == before
    assert sorted(os.listdir(tmp_path)) == [".account.json.lock", "account.json"]
    assert json.loads(before) == {
        "schema": "covassay-account-1",
        "data": DATA,
        "adjacency": "replace-one",
        "total": {"epsilon": 1.0},
        "releases": [entry(epsilon=0.25), entry(epsilon=0.5)],
    }


def test_the_account_of_a_file_is_for_the_neighbours_of_the_file(tmp_path: Path) -> None:
    """The test fails if a file for adding or removing a row gives an account for replacing a row."""
    opened = open_account(tmp_path / "account.json", DATA, PureDP(1.0), "add-remove")
    assert opened.account().adjacency == "add-remove"


def test_opening_writes_nothing(tmp_path: Path) -> None:
    """Test that opening an account writes no file."""
    open_account(tmp_path / "account.json", DATA, ZCDP(1.0)).account()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("total", "budgets"),
    [
        (ZCDP(0.5), [{"rho": 0.1}, {"epsilon": 0.5}]),
        (ApproximateDP(3.0, 1e-6), [{"epsilon": 0.5, "delta": 1e-7}, {"rho": 0.01}, {"epsilon": 0.5}]),
    ],
)
def test_every_notion_is_kept(tmp_path: Path, total: Guarantee, budgets: list[dict[str, float]]) -> None:
    """Test that the total budget and the releases of every notion of privacy are read as they were written."""
    path = tmp_path / "account.json"
    for budget in budgets:
        spent = open_account(path, DATA, total).enter(entry(**budget))
    again = open_account(path, DATA, None)
    assert again.total == total
    assert again.account().spent() == spent


def test_what_was_entered_in_the_meantime_counts(tmp_path: Path) -> None:
    """Test that the spent budget includes releases that another command entered after the account was opened."""
    path = tmp_path / "account.json"
    first, second = (open_account(path, DATA, PureDP(1.0)) for _ in range(2))
    first.enter(entry(epsilon=0.75))
    second.after(PureDP(0.75))  # no error, because `second` read the file before `first` wrote its release to the file
    with pytest.raises(OverBudget):
        second.enter(entry(epsilon=0.75))
    third = open_account(path, DATA, None)
    second.enter(entry(epsilon=0.125))
    assert third.enter(entry(epsilon=0.125)) == PureDP(1.0)


def test_many_at_once_never_exceed_the_total(tmp_path: Path) -> None:
    """Test that releases of several threads at the same time never exceed the total budget."""
    path = tmp_path / "account.json"
    account = open_account(path, DATA, PureDP(1.0))
    entered = []

    def work() -> None:
        while True:
            try:
                account.enter(entry(epsilon=0.125))
            except OverBudget:
                return
            entered.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(entered) == 8
    assert open_account(path, DATA, None).account().spent() == PureDP(1.0)
    assert sorted(os.listdir(tmp_path)) == [".account.json.lock", "account.json"]


def test_a_lock_that_is_held_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(account_file, "PATIENCE", 0.01)
    account = open_account(tmp_path / "account.json", DATA, PureDP(1.0))
    lock = tmp_path / ".account.json.lock"
    with (
        FileLock(lock),
        pytest.raises(InvalidInput, match=r"\.account\.json\.lock is locked, because another release is being written"),
    ):
        account.enter(entry(epsilon=0.5))
    assert os.listdir(tmp_path) == [lock.name]


def test_a_lock_that_a_dead_command_left_behind_does_not_count(tmp_path: Path) -> None:
    (tmp_path / ".account.json.lock").touch()
    account = open_account(tmp_path / "account.json", DATA, PureDP(1.0))
    assert account.enter(entry(epsilon=0.5)) == PureDP(0.5)


@pytest.mark.parametrize("failing", ["replace", "fsync"])
def test_a_failure_while_writing_leaves_the_old_account(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    path = tmp_path / "account.json"
    open_account(path, DATA, PureDP(1.0)).enter(entry(epsilon=0.25))
    before = path.read_bytes()

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, failing, fail)
    with pytest.raises(InvalidInput, match=r"No space left on device.*nothing is released"):
        open_account(path, DATA, None).enter(entry(epsilon=0.25))
    assert path.read_bytes() == before
    assert sorted(os.listdir(tmp_path)) == [".account.json.lock", "account.json"]


def test_the_account_of_other_data_or_of_another_total_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "account.json"
    open_account(path, DATA, PureDP(1.0)).enter(entry(epsilon=0.25))
    for other in ({"name": "beer.csv", "bytes": 11161}, {"name": "wine.csv", "bytes": 11162}):
        with pytest.raises(InvalidInput, match=r"is the account of wine\.csv \(11161 bytes\), not of"):
            open_account(path, other, None)
    with pytest.raises(InvalidInput, match="which must stay"):
        open_account(path, DATA, PureDP(2.0))
    with pytest.raises(InvalidInput, match="--total must give the total budget"):
        open_account(tmp_path / "other.json", DATA, None)
    with pytest.raises(InvalidInput, match=r"must be one of \.json"):
        open_account(tmp_path / "account.csv", DATA, PureDP(1.0))


def test_the_fingerprint_is_the_name_and_the_size_behind_links(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_bytes(b"12345")
    (tmp_path / "link.csv").symlink_to(tmp_path / "data.csv")
    assert fingerprint(tmp_path / "link.csv") == {"name": "data.csv", "bytes": 5}
    with pytest.raises(InvalidInput, match="does not exist"):
        fingerprint(tmp_path / "absent.csv")
    with pytest.raises(InvalidInput, match="must be a readable file"):
        fingerprint(tmp_path / "a\0b")
