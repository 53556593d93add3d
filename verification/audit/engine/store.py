"""Store the draws of a run in a file, from which the same command continues after any interruption.

A run that is continued asks its questions again. The label of a question determines the seeds of its draws. The stored
draws for a label, data and size are therefore those that would be made again. The findings of most questions are stored
too, if their types can be stored. A question with stored findings is not asked again. Two kinds of questions have no
stored findings: those that a run may ask twice, and those that only evaluate the findings of other questions.

The file is an SQLite database. After a kill or a power cut, the database has the state after the last write or before
it. The table `identity` of the database says to which run the database belongs. Every value is stored as JSON with a
SHA-256 digest. Floats are stored exactly.
"""

import base64
import hashlib
import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from covassay.reference.errors import InvalidInput
from covassay.verification.statistics.dependence import PairSums, Sums
from covassay.verification.statistics.pooling import Places, Total
from covassay.verification.statistics.tests import Quadrants, Successes

APPLICATION = 0x434F5641  # the application id of the file is "COVA"
FORM = 3  # the version of the format of the file
K = TypeVar("K", bound=type)
KINDS: dict[str, type] = {kind.__name__: kind for kind in (PairSums, Places, Quadrants, Successes, Sums, Total)}


def storable(kind: K) -> K:
    """Mark a dataclass or an enumeration as a type whose values can be stored."""
    KINDS[kind.__name__] = kind
    return kind


def encoded(value: Any) -> Any:
    """Return a value as plain data for JSON, from which `decoded` makes the value again.

    Raises
    ------
    TypeError : the value contains a dataclass or an enumeration that is not `storable`.
    """
    if isinstance(value, Enum):
        return {"class": type(value).__name__, "value": value.value}
    if is_dataclass(value) and not isinstance(value, type):
        if KINDS.get(type(value).__name__) is not type(value):
            raise TypeError(f"{type(value).__name__} is not storable")
        return {"class": type(value).__name__, **{f.name: encoded(getattr(value, f.name)) for f in fields(value)}}
    if isinstance(value, np.ndarray):
        data = base64.b64encode(np.ascontiguousarray(value).tobytes()).decode("ascii")
        return {"array": data, "type": value.dtype.str, "shape": list(value.shape)}
    if isinstance(value, tuple):
        return {"tuple": [encoded(item) for item in value]}
    if isinstance(value, list):
        return [encoded(item) for item in value]
    if isinstance(value, dict):
        name = "counts" if isinstance(value, Counter) else "table"
        return {name: [[encoded(key), encoded(item)] for key, item in value.items()]}
    return value.item() if isinstance(value, np.generic) else value


def decoded(value: Any) -> Any:
    """Return the original value from the plain data that `encoded` made of it."""
    if isinstance(value, list):
        return [decoded(item) for item in value]
    if not isinstance(value, dict):
        return value
    if "array" in value:
        flat = np.frombuffer(base64.b64decode(value["array"]), dtype=value["type"])
        return flat.reshape(value["shape"]).copy()
    if "tuple" in value:
        return tuple(decoded(item) for item in value["tuple"])
    if "table" in value:
        return {decoded(key): decoded(item) for key, item in value["table"]}
    if "counts" in value:
        return Counter({decoded(key): decoded(item) for key, item in value["counts"]})
    return KINDS[value["class"]](**{name: decoded(item) for name, item in value.items() if name != "class"})


class Store:
    """The stored draws. Each key has two entries: the number of chunks of draws that were made, and a list. The list
    holds the result, or is empty if there is no result yet.
    """

    def __init__(self, file: Path, connection: sqlite3.Connection) -> None:
        self._file, self._connection = file, connection

    def get(self, key: str) -> tuple[int, list[Any]]:
        """Return the number of chunks and the result that are stored under this key, or (0, []) if there are none."""
        row = self._connection.execute("SELECT value, digest FROM drawn WHERE key = ?", (key,)).fetchone()
        if row is None:
            return 0, []
        if _digest(row[0]) != row[1]:
            raise _damaged(self._file)
        done, made = decoded(json.loads(row[0]))
        return done, made

    def put(self, key: str, value: tuple[int, list[Any]]) -> None:
        """Store the value under this key in place of an earlier value."""
        text = json.dumps(encoded(value))
        with self._connection:
            self._connection.execute("INSERT OR REPLACE INTO drawn VALUES (?, ?, ?)", (key, text, _digest(text)))

    def once(self, key: str, make: Callable[[], Any]) -> Any:
        """Return `make()`, or the result of an earlier `make()` that was stored before an interruption."""
        _, made = self.get(key)
        if made:
            return made[0]
        value = make()
        with suppress(TypeError):
            self.put(key, (0, [value]))
        return value


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _damaged(file: Path) -> InvalidInput:
    return InvalidInput(
        f"checkpoint = {file}: it is damaged, or it is not a checkpoint of covassay; move it away to begin anew"
    )


@contextmanager
def opened(file: Path, identity: dict[str, Any]) -> Iterator[Store]:
    """Open the store in this file, locked against other processes while the block runs; a new file begins empty.

    Raises
    ------
    InvalidInput : the file cannot be created, another process uses it, the file is damaged, or the file belongs to
    another run.
    """
    if file.is_dir() or not file.absolute().parent.is_dir():
        raise InvalidInput(f"checkpoint = {file}: must be a file in a directory that exists")
    try:
        with closing(sqlite3.connect(file, timeout=0)) as connection:
            connection.execute("PRAGMA locking_mode = EXCLUSIVE")
            connection.execute("BEGIN EXCLUSIVE")
            with connection:
                _begin(file, connection, json.loads(json.dumps(identity)))
            yield Store(file, connection)
    except sqlite3.OperationalError as error:
        if "locked" in str(error):
            raise InvalidInput(f"checkpoint = {file}: another process is using it") from None
        raise InvalidInput(f"checkpoint = {file}: {error}") from None
    except sqlite3.DatabaseError:
        raise _damaged(file) from None


def _begin(file: Path, connection: sqlite3.Connection, identity: dict[str, Any]) -> None:
    """Make the tables of a new file, or raise `InvalidInput` if the file belongs to another run."""
    of, form = (connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version"))
    new = not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if new:
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute(f"PRAGMA user_version = {FORM}")
        connection.execute("CREATE TABLE run (identity TEXT)")
        connection.execute("CREATE TABLE drawn (key TEXT PRIMARY KEY, value TEXT, digest TEXT)")
        connection.execute("INSERT INTO run VALUES (?)", (json.dumps(identity),))
        return
    if of != APPLICATION:
        raise _damaged(file)
    if form != FORM:
        raise InvalidInput(
            f"checkpoint = {file}: it has format {form}, and this version of covassay reads format {FORM}"
        )
    found = json.loads(connection.execute("SELECT identity FROM run").fetchone()[0])
    for key in (*identity, *found):
        if found.get(key) != identity.get(key):
            raise InvalidInput(
                f"checkpoint = {file}: it belongs to another run, whose {key} is {found.get(key)!r} in place of "
                f"{identity.get(key)!r}; name another file"
            )
