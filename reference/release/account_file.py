"""Keep the account of a data file: every release is entered in it, and a release that exceeds the total budget is
rejected.

The data file is identified by its name and its size, not by its content; several files are identified by their names
and their total size. The account file therefore does not cover releases made without the file, copies and extracts of
the data elsewhere, or other data about the same people. The user is responsible for keeping one budget for one group of
people. Every release from the data file counts, whichever columns it reads.

A release is entered before it is written, so that nothing is released without being accounted for. If the file of the
release then cannot be written, the budget of the release counts as spent nevertheless. Two concurrent commands cannot
both spend the rest of a budget, because they enter their releases under a lock. The second command waits.

The operating system keeps the lock, on an empty file next to the account, which is never removed. The lock ends with
the process that holds it, also if that process is killed, so a lock file of a dead process blocks no other process. On
a file system without locks, `filelock` uses the existence of the file, and its newer versions recognise a dead holder
by process number and host. A second small file names the holder of the lock, for messages only.
"""

import contextlib
import json
import math
import os
import platform
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from covassay.reference.accounting import Account, OverBudget
from covassay.reference.domain import ADJACENCIES, Adjacency
from covassay.reference.errors import InvalidInput
from covassay.reference.privacy import Guarantee, guarantee_of
from covassay.reference.release.messages import clipped, named, reason, require_suffix, shown, unique_keys
from covassay.reference.release.tables.files import data_files
from covassay.reference.release.writing import json_text, replace_file, require_writable, target_file

SCHEMA = "covassay-account-1"
REPLACE_ONE: Adjacency = "replace-one"
PATIENCE = 60.0  # the number of seconds for which a command waits while another command writes to the account

Tell = Callable[[str], None]  # a function that shows a message to the user while the command waits


@dataclass(frozen=True)
class AccountFile:
    """The account of a data file, as it was when the file of the account was last read.

    data : the name and the size in bytes of the data file, or only the name of data that are not a file.
    releases : one entry per release. The item "claimed" of an entry is the budget that the release claims to spend.
    adjacency : the neighbour relation, for the total and for all releases.
    """

    path: Path
    total: Guarantee
    data: dict[str, Any]
    releases: tuple[dict[str, Any], ...]
    adjacency: Adjacency = REPLACE_ONE

    def account(self) -> Account:
        """Return the total budget and the part of it that is spent."""
        spent = [guarantee_of(entry["claimed"]) for entry in self.releases]
        return Account(self.total, spent=spent, adjacency=self.adjacency)

    def after(self, guarantee: Guarantee) -> Guarantee:
        """Return the spent budget after `guarantee` is added, or raise `OverBudget` if it exceeds the total."""
        try:
            return self.account().after(guarantee)
        except OverBudget as error:
            raise OverBudget(f"{named(self.path)}: {error}") from None

    def enter(self, entry: dict[str, Any], patience: float | None = None, tell: Tell = lambda said: None) -> Guarantee:
        """Read the file again, add a release, and return the spent budget; raise `OverBudget` if it exceeds the total.

        patience : the longest wait in seconds while another command holds the lock of the file.
        tell : a function that is called with a message before the wait.
        """
        with _locked(self.path, PATIENCE if patience is None else patience, tell):
            now = open_account(self.path, self.data, self.total, self.adjacency) if self.path.exists() else self
            total = now.after(guarantee_of(entry["claimed"]))
            _write(replace(now, releases=(*now.releases, entry)))
        return total


def open_account(
    path: Path, data: dict[str, Any], total: Guarantee | None, adjacency: Adjacency = REPLACE_ONE
) -> AccountFile:
    """Read the account, or begin a new one with the given total. The method writes nothing.

    Raises
    ------
    InvalidInput : neither an account nor a total exists, or the account is damaged, has another total or another
        adjacency, has a second name (a hard link), or belongs to another data file.
    """
    require_suffix(path, (".json",))
    try:
        text = path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        if total is None:
            raise InvalidInput(f"{named(path)} does not exist: --total must give the total budget") from None
        require_writable(path)
        return AccountFile(path, total, data, (), adjacency)
    except (OSError, ValueError) as error:
        raise InvalidInput(f"{named(path)} cannot be read ({reason(error)}): must be an account file") from None
    require_writable(path)
    if target_file(path).stat().st_nlink > 1:
        raise InvalidInput(
            f"{named(path)} has a second name (a hard link): must have one name only, since a release is entered "
            "by replacing the file, and the other name would keep the old account"
        )
    found = _parsed(path, text)
    if total is not None and total != found.total:
        raise InvalidInput(f"--total {total}: {named(path)} has the total {found.total}, which must stay the same")
    if found.adjacency != adjacency:
        raise InvalidInput(
            f"{named(path)} is the account of releases for {found.adjacency}, but this release is for {adjacency}: all "
            "releases of an account must have the same notion of neighbours"
        )
    if found.data != data:
        raise InvalidInput(
            f"{named(path)} is the account of {_described(found.data)}, not of {_described(data)}: "
            "must be the account of this data file"
        )
    return found


def fingerprint(data: Any, name: str | None = None) -> dict[str, Any]:
    """Return name and size of a data file, of the files of a directory, or of several files; their content is not read.

    The argument `name` is the caller's name for data that are not files. Files are identified by their file names.
    """
    if isinstance(data, str | Path):
        data = [Path(data)]
    of_files = isinstance(data, list | tuple) and all(isinstance(path, str | Path) for path in data)
    if name is not None:
        if of_files:
            raise InvalidInput(f"name = {name!r}: must be None for files, which are identified by their own names")
        if not name.strip():
            raise InvalidInput(f"name = {name!r}: must name the data")
        return {"name": " ".join(name.split())}
    if not of_files:
        raise InvalidInput(
            "--budget-file: the data have no name by which an account could identify them: must be files, or the "
            "caller must name them (name=)"
        )
    files = [_resolved(path) for path in data_files(data)]
    given = _resolved(Path(data[0]))
    names = [path.name for path in files]
    name = given.name if len(data) == 1 else f"{names[0]} … {names[-1]} ({len(names)} files)"
    return {"name": name, "bytes": sum(path.stat().st_size for path in files)}


def _resolved(path: Path) -> Path:
    try:
        return path.resolve(strict=True)
    except FileNotFoundError:
        raise InvalidInput(f"{named(path)} does not exist: must be a file") from None
    except (OSError, ValueError, RuntimeError) as error:
        raise InvalidInput(f"{named(path)} cannot be read ({reason(error)}): must be a readable file") from None


def require_patience(value: float) -> float:
    """Return the number of seconds to wait, or raise `InvalidInput` unless it is finite and at least 0."""
    if not (math.isfinite(value) and value >= 0):
        raise InvalidInput(f"--wait {value:g}: must be a number of seconds, at least 0")
    return value


def _parsed(path: Path, text: str) -> AccountFile:
    try:
        document = json.loads(text, object_pairs_hook=unique_keys, parse_constant=_no_number)
        _require_types(document)
        account = AccountFile(
            path, guarantee_of(document["total"]), document["data"], tuple(document["releases"]), document["adjacency"]
        )
        account.account().spent()
        return account
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        what = "that is no budget: " if isinstance(error, KeyError) else ""
        raise InvalidInput(
            f"{named(path)} cannot be read ({what}{clipped(reason(error), 200)}): must be an account that covassay "
            "wrote"
        ) from None


Types = Mapping[str, tuple[type, ...]]
ENTRIES: Types = {"schema": (str,), "data": (dict,), "adjacency": (str,), "total": (dict,), "releases": (list,)}
OF_DATA: Types = {"name": (str,), "bytes": (int,)}
OF_A_RELEASE: Types = {
    "time": (str,), "mechanism": (str,), "options": (dict,), "claimed": (dict,), "out": (str, type(None)),
}  # fmt: skip


def _require_types(document: Any) -> None:
    """Raise `ValueError` unless an account has exactly the right entries, each of them once and of the right type."""
    _require_entries("it", document, ENTRIES, tuple(ENTRIES))
    if document["schema"] != SCHEMA:
        raise ValueError(f"its schema is {shown(document['schema'])}, not {SCHEMA}")
    if document["adjacency"] not in ADJACENCIES:
        raise ValueError(f"its adjacency is {shown(document['adjacency'])}")
    _require_entries("data", document["data"], OF_DATA, ("name",))
    if document["data"].get("bytes", 0) < 0:
        raise ValueError("data has a negative number of bytes")
    for entry in document["releases"]:
        _require_entries("a release", entry, OF_A_RELEASE, ("claimed",), closed=False)


def _require_entries(where: str, found: Any, types: Types, needed: tuple[str, ...], closed: bool = True) -> None:
    if type(found) is not dict:
        raise ValueError(f"{where} is not a JSON object")
    for key in needed:
        if key not in found:
            raise ValueError(f"{where} has no entry {shown(key)}")
    for key, value in found.items():
        if key not in types and closed:
            raise ValueError(f"{where} has the unknown entry {shown(key)}")
        if key in types and type(value) not in types[key]:
            raise ValueError(f"{where} has {shown(key)} of the type {type(value).__name__}")


def _no_number(constant: str) -> None:
    raise ValueError(f"{constant} is no number")


def _write(account: AccountFile) -> None:
    document = {
        "schema": SCHEMA,
        "data": account.data,
        "adjacency": account.adjacency,
        "total": account.total.keywords(),
        "releases": list(account.releases),
    }
    try:
        replace_file(target_file(account.path), (json_text(document) + "\n").encode())
    except OSError as error:
        raise InvalidInput(
            f"{named(account.path)} cannot be written ({reason(error)}): must be writable; nothing is released"
        ) from None


@contextlib.contextmanager
def _locked(path: Path, patience: float, tell: Tell) -> Iterator[None]:
    """Keep other commands from changing the account while the block runs."""
    from filelock import FileLock, Timeout

    target = target_file(path)
    place, signature = (target.with_name(f".{target.name}.{suffix}") for suffix in ("lock", "holder"))
    lock = FileLock(place)
    try:
        try:
            lock.acquire(timeout=0)
        except Timeout:
            tell(f"{_held(place, signature)}: waiting for up to {patience:g} s")
            lock.acquire(timeout=patience)
    except Timeout:
        raise InvalidInput(f"{_held(place, signature)}: must become free within {patience:g} s (--wait)") from None
    except OSError as error:
        raise InvalidInput(
            f"{named(place)} cannot be created ({reason(error)}): must be created before a release can be entered"
        ) from None
    try:
        now = datetime.now(UTC).isoformat(timespec="seconds")
        with contextlib.suppress(OSError):
            signature.write_text(f"process {os.getpid()} on {platform.node()} since {now}")
        yield
    finally:
        with contextlib.suppress(OSError):
            signature.unlink(missing_ok=True)
        lock.release()


def _held(place: Path, signature: Path) -> str:
    """Return a message that another process holds the lock, and which process, according to the holder's note."""
    try:
        holder = clipped(" ".join(signature.read_text().split()), 120)
    except (OSError, ValueError):
        holder = ""
    return f"{named(place)} is locked, because another release is being written to the account" + (
        f" by {holder}" if holder else ""
    )


def _described(data: dict[str, Any]) -> str:
    size = f" ({data['bytes']} bytes)" if "bytes" in data else ""
    return f"{named(Path(str(data['name'])))}{size}"
