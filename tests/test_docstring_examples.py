"""Run the examples in the docstrings of all modules."""

import doctest
import importlib
import pkgutil
from pathlib import Path
from types import ModuleType

import pytest

import covassay.reference
import covassay.verification


def with_examples(package: ModuleType) -> list[str]:
    """Return the names of the modules of a package whose source has an example."""
    modules = [package.__name__, *(m.name for m in pkgutil.walk_packages(package.__path__, f"{package.__name__}."))]
    sources = {name: importlib.util.find_spec(name) for name in modules if not name.endswith("__main__")}
    return [
        name
        for name, spec in sources.items()
        if spec and spec.origin and ">>> " in Path(spec.origin).read_text("utf-8")
    ]


@pytest.mark.parametrize("name", [*with_examples(covassay.reference), *with_examples(covassay.verification)])
def test_the_examples_of_the_docstrings_run(name: str) -> None:
    """The test fails if the documentation shows a call that raises an error or returns something else."""
    tested = doctest.testmod(importlib.import_module(name))
    assert tested.attempted >= 1
    assert tested.failed == 0
