"""Read a pair of neighbouring data sets of the user's own, from a file or from two arrays.

A file may be a `.npz` archive with the arrays x and y, which `--witness` also writes. A file may also be a `.json` file
with an object such as {"x": [[0.6, 0.8], [1.0, 0.0]], "y": [[0.6, 0.8], [0.0, 1.0]]}. The two data sets have n rows and
differ in one row, or one data set has one row more. The order of the rows is ignored when two data sets are compared.
The adjacency of the claim decides whether one row is replaced or added.
"""

import json
import zipfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from covassay.reference.domain import Matrix
from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.mechanism import Domain
from covassay.reference.mechanisms.output import Output
from covassay.verification.audit.engine.adjacency import ADD_REMOVE, REPLACE_ONE
from covassay.verification.audit.engine.events import Pair, generic_statistics
from covassay.verification.audit.engine.zoo import IN_BALL

NAME = "your pair"
SIDES = ("x", "y")
SUFFIXES = (".npz", ".json")
OUTSIDE: dict[Domain, str] = {
    "ball": "some rows have a norm above 1, which a target must clip or reject",
    "cube": "some entries lie outside [0, 1], which a target must clip or reject",
}
NEIGHBOURS = {
    REPLACE_ONE: "neighbours have the same number of rows and differ in one row",
    ADD_REMOVE: "one of two neighbours has one row more, and they share all others",
}


@dataclass(frozen=True)
class UserPair:
    """Two neighbouring data sets, (n, d) each, with the equal rows in the same places.

    `source` is the file with the data sets, and is empty for arrays. `moved` says whether the rows of y were reordered
    to match those of x.
    """

    first: Matrix
    second: Matrix
    source: str = ""
    moved: bool = False

    @property
    def adjacency(self) -> str:
        """Return the adjacency under which the two data sets are neighbours."""
        return REPLACE_ONE if len(self.first) == len(self.second) else ADD_REMOVE


def as_pair(x: Any, y: Any, source: str = "") -> UserPair:
    """Return two data sets as a pair of neighbours.

    Raises
    ------
    InvalidInput : a data set is not a table of finite numbers, or the two data sets are not neighbours.
    """
    first, second = (_table(values, name, source) for values, name in ((x, "x"), (y, "y")))
    if first.shape[1] != second.shape[1]:
        raise _invalid(source, f"x has {first.shape[1]} columns and y has {second.shape[1]}: must have the same")
    if len(first) != len(second):
        small, large = sorted((first, second), key=len)
        if len(large) > len(small) + 1:
            raise _invalid(source, _sizes(first, second, REPLACE_ONE))
        if Counter(map(bytes, small)) - Counter(map(bytes, large)):
            raise _invalid(source, _sizes(first, second, ADD_REMOVE))
        return UserPair(first, second, source)
    differing = int((first != second).any(axis=1).sum())
    moved = differing > 1
    if moved:
        second, differing = _in_the_order_of(first, second)
    if differing == 0:
        raise _invalid(source, "x and y have the same rows: neighbours differ in one row")
    if differing > 1:
        raise _invalid(source, f"x and y differ in {differing} rows: {NEIGHBOURS[REPLACE_ONE]}")
    return UserPair(first, second, source, moved)


def _sizes(first: Matrix, second: Matrix, adjacency: str) -> str:
    return f"x has {len(first)} and y has {len(second)} rows: {NEIGHBOURS[adjacency]}"


def given_pair(pair: Any) -> UserPair:
    """Return the pair of data sets of an argument that is a `UserPair` or (x, y)."""
    if isinstance(pair, UserPair):
        return pair
    if not isinstance(pair, tuple | list) or len(pair) != len(SIDES):
        raise _invalid("", f"must be two tables (x, y), is {type(pair).__name__}")
    return as_pair(*pair)


def _invalid(source: str, rule: str) -> InvalidInput:
    return InvalidInput(f"pair{f' = {source}' if source else ''}: {rule}")


def _table(values: Any, name: str, source: str) -> Matrix:
    wanted = "must be a table of finite numbers with at least one row and one column"
    try:
        array = np.asarray(values)
    except (ValueError, TypeError, OverflowError) as error:
        raise _invalid(source, f"{name} {wanted}") from error
    if array.dtype.kind not in "biuf" or array.ndim != 2 or min(array.shape) < 1:
        raise _invalid(source, f"{name} {wanted}, has the shape {array.shape} and the type {array.dtype}")
    rows = array.astype(np.float64)
    if not np.isfinite(rows).all():
        raise _invalid(source, f"{name} {wanted}, has an entry that is not finite")
    return rows + 0.0  # adding 0 turns −0 into 0, so that equal rows have equal bytes


def _in_the_order_of(first: Matrix, second: Matrix) -> tuple[Matrix, int]:
    """Return the rows of `second` in a new order, and the number of rows that are not in `first`. A row that is also in
    `first` has the same place there.
    """
    places: dict[bytes, list[int]] = {}
    for i, row in enumerate(first):
        places.setdefault(row.tobytes(), []).append(i)
    ordered, taken, left = np.empty_like(second), Counter[bytes](), []
    free = set(range(len(first)))
    for row in second:
        key = row.tobytes()
        if taken[key] < len(places.get(key, ())):
            place = places[key][taken[key]]
            taken[key] += 1
            ordered[place] = row
            free.remove(place)
        else:
            left.append(row)
    for place, row in zip(sorted(free), left, strict=True):
        ordered[place] = row
    return ordered, len(left)


# FILES


def load_pair(name: str) -> UserPair:
    """Load a pair of neighbouring data sets from a file.

    Raises
    ------
    InvalidInput : there is no such file, or the file holds no pair of neighbours.
    """
    path = Path(name)
    if not path.is_file():
        raise _invalid(name, "must be a file that exists")
    if path.suffix not in SUFFIXES:
        raise _invalid(name, f"must end in {' or '.join(SUFFIXES)}")
    found = _archive(path) if path.suffix == ".npz" else _json(path)
    if "x" in found and "y" not in found:
        raise _invalid(
            name,
            "must hold two tables x and y, but holds only x, which may be a data set that an audit saved as evidence "
            "of a wrong law",
        )
    if not all(side in found for side in SIDES):
        raise _invalid(name, "must hold two tables with the names x and y")
    return as_pair(found["x"], found["y"], name)


def _archive(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            return {side: archive[side] for side in SIDES if side in archive}
    except (OSError, ValueError, TypeError, EOFError, AttributeError, zipfile.BadZipFile, MemoryError) as error:
        raise _invalid(str(path), "must be a .npz archive of arrays of numbers") from error


def _json(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise _invalid(str(path), "must be a JSON file") from error
    return dict(found) if isinstance(found, Mapping) else {}


# THE TEST


def pair_to_test(
    pair: UserPair, output: Output, domain: Domain, smallest_dimension: int, adjacency: str = REPLACE_ONE
) -> Pair:
    """Return the pair of data sets in the form that the audit tests, with remarks on its rows for the reader of the
    report.

    Raises
    ------
    InvalidInput : the data sets have too few columns for this output, or the data sets are no neighbours under this
    adjacency.
    """
    if pair.adjacency != adjacency:
        raise _invalid(pair.source, f"{_sizes(pair.first, pair.second, adjacency)} ({adjacency})")
    d = pair.first.shape[1]
    if d < smallest_dimension or min(output.shape(d), default=1) < 1:
        needed = max(smallest_dimension, 2)
        raise _invalid(pair.source, f"x has {d} column{'s' * (d > 1)}: this output needs at least {needed}")
    statistics = generic_statistics(pair.first, pair.second, output)
    outside = [_outside(x, domain) for x in (pair.first, pair.second)]
    remarks = ["rows of y were put in the order of x"] if pair.moved else []
    if any(outside):
        remarks.append(OUTSIDE[domain])
    return Pair(
        NAME, pair.first, pair.second, statistics, remarks=tuple(remarks), failures_tell=outside[0] == outside[1]
    )


def _outside(x: Matrix, domain: Domain) -> bool:
    if domain == "ball":
        return bool((np.linalg.norm(x, axis=1) > IN_BALL).any())
    return domain == "cube" and bool(((x < 0) | (x > 1)).any())
