"""The account of a data file: every release is entered in it, and a release that exceeds the total budget is refused.

The data file is known by its name and its size, not by its content. So the account cannot know of releases made without
it, of copies and extracts of the data elsewhere, or of other data about the same people. It is up to the user to keep
one budget for one group of people.

A release is entered before it is written, so that nothing is released that is not accounted for. If writing it then
fails, it counts all the same. Two commands that run at once cannot both spend what is left of a budget, because they
enter their releases under a lock.
"""

import contextlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from covassay.reference.accounting import Account, OverBudget
from covassay.reference.errors import InvalidInput
from covassay.reference.privacy import ZCDP, ApproximateDP, Guarantee, PureDP
from covassay.reference.release.messages import named, reason, require_suffix
from covassay.reference.release.writing import json_text, replace_file, require_writable, target_file

SCHEMA = "covassay-account-1"
ADJACENCY = "replace-one"
PATIENCE = 5.0  # seconds to wait while another command enters its release


@dataclass(frozen=True)
class AccountFile:
    """An account as it was when it was last read.

    data : name and size in bytes of the data file.
    releases : one entry per release, "claimed" being its budget.
    """

    path: Path
    total: Guarantee
    data: dict[str, Any]
    releases: tuple[dict[str, Any], ...]

    def account(self) -> Account:
        """The total budget and what has been spent of it."""
        return Account(self.total, spent=[_guarantee(entry["claimed"]) for entry in self.releases])

    def after(self, guarantee: Guarantee) -> Guarantee:
        """What is spent if `guarantee` is spent as well; raise `OverBudget` if that is more than the total."""
        try:
            return self.account().after(guarantee)
        except OverBudget as error:
            raise OverBudget(f"{named(self.path)}: {error}") from None

    def enter(self, entry: dict[str, Any]) -> Guarantee:
        """Read the file again, add a release, and return what is spent; raise `OverBudget` if that is too much."""
        with _locked(self.path):
            now = open_account(self.path, self.data, self.total) if self.path.exists() else self
            total = now.after(_guarantee(entry["claimed"]))
            _write(replace(now, releases=(*now.releases, entry)))
        return total


def open_account(path: Path, data: dict[str, Any], total: Guarantee | None) -> AccountFile:
    """Read the account, or begin one with that total. Nothing is written yet.

    Raises
    ------
    InvalidInput : there is neither an account nor a total, or the account is damaged, has another total, or belongs to
        another data file.
    """
    require_suffix(path, (".json",))
    try:
        text = path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        if total is None:
            raise InvalidInput(f"{named(path)} does not exist: --total must say what may ever be spent") from None
        require_writable(path)
        return AccountFile(path, total, data, ())
    except (OSError, ValueError) as error:
        raise InvalidInput(f"{named(path)} cannot be read ({reason(error)}): must be an account file") from None
    require_writable(path)
    found = _parsed(path, text)
    if total is not None and total != found.total:
        raise InvalidInput(f"--total {total}: {named(path)} has the total {found.total}, which must stay")
    if found.data != data:
        raise InvalidInput(
            f"{named(path)} is the account of {_described(found.data)}, not of {_described(data)}: "
            "must be the account of this data file"
        )
    return found


def fingerprint(path: Path) -> dict[str, Any]:
    """Name and size of a data file; its content is not read."""
    try:
        target = path.resolve(strict=True)
        return {"name": target.name, "bytes": target.stat().st_size}
    except FileNotFoundError:
        raise InvalidInput(f"{named(path)} does not exist: must be a file") from None
    except (OSError, ValueError, RuntimeError) as error:
        raise InvalidInput(f"{named(path)} cannot be read ({reason(error)}): must be a readable file") from None


def parse_total(text: str) -> Guarantee:
    """A total budget such as "epsilon=1", "rho=0.5" or "epsilon=1,delta=1e-6"."""
    pairs = [part.partition("=") for part in text.split(",")]
    try:
        budget = {name.strip(): float(value) for name, _, value in pairs}
        if len(budget) < len(pairs):
            raise KeyError("one of them twice")
        return _guarantee(budget)
    except (ValueError, KeyError) as error:
        detail = f" ({error})" if isinstance(error, InvalidInput) else ""
        raise InvalidInput(f"--total {text}{detail}: must be epsilon=…, rho=… or epsilon=…,delta=…") from None


def _guarantee(budget: dict[str, Any]) -> Guarantee:
    keys = set(budget)
    if keys == {"epsilon"}:
        return PureDP(budget["epsilon"])
    if keys == {"rho"}:
        return ZCDP(budget["rho"])
    if keys == {"epsilon", "delta"}:
        return ApproximateDP(budget["epsilon"], budget["delta"])
    raise KeyError("budget")


def _parsed(path: Path, text: str) -> AccountFile:
    try:
        document = json.loads(text)
        if document["schema"] != SCHEMA or document["adjacency"] != ADJACENCY:
            raise KeyError("schema")
        data = {"name": str(document["data"]["name"]), "bytes": int(document["data"]["bytes"])}
        releases = [dict(entry) for entry in document["releases"]]
        account = AccountFile(path, _guarantee(document["total"]), data, tuple(releases))
        account.account().spent()
        return account
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        what = "it has no such entry: " if isinstance(error, KeyError) else ""
        raise InvalidInput(
            f"{named(path)} cannot be read ({what}{reason(error)}): must be an account that covassay wrote"
        ) from None


def _write(account: AccountFile) -> None:
    document = {
        "schema": SCHEMA,
        "data": account.data,
        "adjacency": ADJACENCY,
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
def _locked(path: Path) -> Iterator[None]:
    """Keep other commands from changing the account.

    The operating system keeps the lock, on an empty file next to the account, which is never removed. The lock ends
    with the process that holds it, so it is never stale.
    """
    from filelock import FileLock, Timeout

    target = target_file(path)
    lock = target.with_name(f".{target.name}.lock")
    try:
        with FileLock(lock, timeout=PATIENCE):
            yield
    except Timeout:
        raise InvalidInput(
            f"{named(lock)} is held, another release is being entered: must become free within {PATIENCE:g} s"
        ) from None
    except OSError as error:
        raise InvalidInput(
            f"{named(lock)} cannot be created ({reason(error)}): must exist to enter a release"
        ) from None


def _described(data: dict[str, Any]) -> str:
    return f"{named(Path(str(data['name'])))} ({data['bytes']} bytes)"
