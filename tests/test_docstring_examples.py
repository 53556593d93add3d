"""Run the examples in the docstrings of all modules."""

import doctest
import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
WITH_EXAMPLES = [
    ".".join(("covassay", *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__")
    for folder in ("reference", "verification")
    for path in sorted((ROOT / folder).rglob("*.py"))
    if ">>> " in path.read_text("utf-8")
]


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_the_examples_of_the_docstrings_run(name: str) -> None:
    """The test fails if the documentation shows a call that raises an error or returns something else."""
    tested = doctest.testmod(importlib.import_module(name))
    assert tested.attempted >= 1
    assert tested.failed == 0
