"""Test that no table in the source code has names of mechanisms as keys. Facts about a mechanism belong in its
declaration or its own file, so that a new mechanism needs no entry elsewhere. A collection counts as a table of
mechanisms if it names two or more of them. The exceptions are listed with their reasons.
"""

import ast
import re
from collections.abc import Iterator
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

import pytest

from covassay.reference.mechanisms.registry import MECHANISMS

ROOT = Path(__file__).resolve().parents[1]
NAMES = frozenset(MECHANISMS) | {name.replace("-", "_") for name in MECHANISMS}
EXCEPTIONS = {  # maps each file to the reason for its exception
    "reference/recommendation/candidates.py": "candidates are variants of mechanisms",
    "reference/release/accuracy.py": "the variances of a noise; without an entry, no expected error is stated",
    "reference/rounded/*.py": "mechanisms with a rounded form; only a rounded form imports python-flint",
    "verification/audit/adapters/[!c]*.py": "targets of other packages, which may have names such as laplace",
    "verification/audit/recorded/*.py": "here laplace and exponential are laws that numpy draws from",
    "verification/claims/checks/own/lattice.py": "here laplace and gaussian are laws of noise",
    "verification/cli/law.py": "the laws that the command computes",
    "verification/vectors/*.py": "groups of mechanisms about which the same questions are asked",
}


def named(node: ast.expr | None) -> set[str]:
    """Return the mechanism that a node names, or no name. The node of a tuple or a list names a mechanism if its first
    element does.
    """
    if isinstance(node, ast.Tuple | ast.List) and node.elts:
        return named(node.elts[0])
    return {node.value} & NAMES if isinstance(node, ast.Constant) and isinstance(node.value, str) else set()


def entries(node: ast.AST) -> list[ast.expr | None]:
    """Return the keys of a dict, or the elements of another collection."""
    if isinstance(node, ast.Dict):
        return list(node.keys)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "dict":
        return [ast.Constant(keyword.arg) for keyword in node.keywords]
    return list(node.elts) if isinstance(node, ast.Set | ast.List | ast.Tuple) else []


def tables(source: str) -> Iterator[tuple[int, set[str]]]:
    """Yield the line of every collection that names two or more mechanisms, together with the names. The names in a
    `Literal` count as a collection.
    """
    for node in ast.walk(ast.parse(source)):
        found = set().union(*map(named, entries(node)))
        if len(found) > 1:
            yield getattr(node, "lineno", 0), found


@cache
def found_in_the_source() -> dict[str, list[int]]:
    files = [*(ROOT / "verification").rglob("*.py"), *(ROOT / "reference").rglob("*.py")]
    paths = {path.relative_to(ROOT).as_posix(): path for path in sorted(files)}
    sources = {name: path.read_text() for name, path in paths.items() if not name.startswith("reference/mechanisms/")}
    read = {
        name: [line for line, _ in tables(source)]
        for name, source in sources.items()
        if len(NAMES.intersection(re.findall(r"\w+", source.replace("-", "_")))) > 1
    }
    return {name: lines for name, lines in read.items() if lines}


@pytest.mark.thorough
def test_no_table_is_keyed_by_names_of_mechanisms() -> None:
    found = found_in_the_source()
    unexpected = {name: at for name, at in found.items() if not any(fnmatch(name, known) for known in EXCEPTIONS)}
    assert not unexpected, "tables with names of mechanisms: " + ", ".join(
        f"{name}:{line}" for name, at in unexpected.items() for line in at
    )


@pytest.mark.thorough
def test_every_exception_is_needed() -> None:
    """The test fails if a listed exception is no longer needed, because its table no longer exists."""
    found = found_in_the_source()
    assert [known for known in EXCEPTIONS if not any(fnmatch(name, known) for name in found)] == []


@pytest.mark.parametrize(
    "planted",
    [
        'SCALES = {"gauss-cov": 1.0, "lap-cov": 2.0}',
        'ADDITIVE = frozenset({"gauss-cov", "lap-cov", "ppc"})',
        'def f(name):\n    return name in ("bingham", "matrix-bingham")',
        'NAMES = ["gauss_cov", "lap_cov"]',
        'Name = Literal["em-cov", "ppde"]',
        'ROWS = [("em-cov", 1.0), ("ppde", 2.0)]',
        "WEIGHTS = dict(bingham=1, ppc=2)",
    ],
)
def test_a_planted_table_is_seen(planted: str) -> None:
    assert [len(found) for _, found in tables(planted)] in ([2], [3])


@pytest.mark.parametrize(
    "planted", ['CONTROLS = (broken("a", "gauss-cov"), broken("b", "lap-cov"))', 'X = {"gauss-cov": 1, "other": 2}']
)
def test_records_that_name_their_own_mechanism_are_no_table(planted: str) -> None:
    assert list(tables(planted)) == []
