"""Test that the implementation written from the proof pages passes all test vectors, and that each deliberate mistake
in it fails the intended ones.
"""

import math
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import mpmath
import pytest

from covassay.verification.cli.main import run
from covassay.verification.vectors.numbers import DIGITS
from covassay.verification.vectors.run import Outcome
from covassay.verification.vectors.run import run as outcomes_of
from covassay.verification.vectors.run import tests_file as shipped
from tests.verification.vectors.page_mutants import OF_THE_PAGES, SOURCE, THREE_PERCENT

CONTENT = shipped()
# For each flag in OF_THE_REFERENCE, test_vectors.py makes a deliberate mistake in the input or the answer of the
# reference implementation and tests that the test vectors detect the mistake.
OF_THE_REFERENCE = (
    "Scale", "Release", "Choice", "LongRow", "RowBound", "OneRecord", "NotFinite", "BadBudget", "BadOption", "NoRecord",
    "NoiseShape", "AsymmetricNoise", "Projection",
)  # fmt: skip
FILE = Path(__file__).with_name("from_the_pages.py")


def module_with(source: str) -> ModuleType:
    module = ModuleType("from_the_pages")
    exec(compile(source, str(FILE), "exec"), vars(module))
    return module


def asker(source: str) -> Callable[[dict[str, Any]], Any]:
    return module_with(source).answer


def outcomes(source: str, flag: str | None = None) -> list[Outcome]:
    tests = [test for test in CONTENT["tests"] if flag is None or flag in test["flags"]]
    return outcomes_of(tests, asker(source), CONTENT["tolerances"])


def failed(found: list[Outcome]) -> set[str]:
    return {flag for outcome in found if outcome.wrong for flag in outcome.test["flags"]}


def wrong_scales(written: Callable[[str], Any]) -> list[Any]:
    """Compute every noise scale with many digits. Return the tests whose stored noise scale, after the function
    `written` was applied to it, differs from this number.
    """
    pages, own = module_with(SOURCE), {**vars(math), **vars(mpmath)}
    vars(pages).update(
        math=SimpleNamespace(**own), root=mpmath.sqrt, float=mpmath.mpf, Fraction=lambda p, q=1: mpmath.mpf(p) / q
    )
    wrong = []
    with mpmath.workdps(2 * DIGITS):
        for test in (test for test in CONTENT["tests"] if test["kind"] == "scale"):
            known = {k: mpmath.mpf(v) if isinstance(v, float) else v for k, v in test["parameters"].items()}
            ratio = mpmath.mpf(written(test["output"])) / vars(pages)["scale"]({**test, "parameters": known})
            if abs(ratio - 1) > mpmath.mpf(10) ** (1 - DIGITS):
                wrong.append(test)
    return wrong


def test_the_digits_of_every_scale_are_right_to_the_last() -> None:
    """The test fails if a stored noise scale was computed in floats, because its 17th digit would be wrong."""
    assert wrong_scales(str) == []
    assert len(wrong_scales(float)) > 50


def test_it_imports_the_standard_library_alone() -> None:
    """The test fails if the second implementation imports code of this project, because both implementations could
    share a mistake.
    """
    imported = {line.split()[1] for line in SOURCE.splitlines() if line.startswith(("import ", "from "))}
    assert imported <= sys.stdlib_module_names


@pytest.mark.thorough
def test_it_passes_every_test_as_a_process(capsys: pytest.CaptureFixture[str]) -> None:
    command = f"exec:{shlex.quote(sys.executable)} -I {shlex.quote(str(FILE))}"
    assert run(["vectors", "run", command]) == 0, capsys.readouterr().out
    count = len(CONTENT["tests"])
    assert capsys.readouterr().out == f"{count} of {count} tests passed\n"


def test_every_flag_has_a_mutant() -> None:
    """A flag of a test vector names a mistake that the test vector detects. The test fails if there is no deliberate
    mistake for a flag.
    """
    assert set(OF_THE_PAGES) == set(CONTENT["flags"])


def test_every_mutant_changes_one_place() -> None:
    """The test fails if a deliberate mistake changes nothing, because its text does not occur exactly once in the
    program.
    """
    assert {SOURCE.count(text) for text, *_ in (*OF_THE_PAGES.values(), *THREE_PERCENT.values())} == {1}


@pytest.mark.parametrize("flag", [flag for flag in OF_THE_PAGES if flag not in OF_THE_REFERENCE])
def test_a_mutant_fails_on_the_tests_of_its_flag(flag: str) -> None:
    text, mutant, _ = OF_THE_PAGES[flag]
    assert failed(outcomes(SOURCE.replace(text, mutant), flag)) == {flag}


@pytest.mark.slow
@pytest.mark.parametrize("flag", THREE_PERCENT)
def test_a_mutant_that_is_wrong_by_3_percent_fails(flag: str) -> None:
    text, mutant = THREE_PERCENT[flag]
    assert flag in failed(outcomes(SOURCE.replace(text, mutant), flag))


@pytest.mark.slow
@pytest.mark.parametrize("flag", OF_THE_PAGES)
def test_a_mutant_fails_on_nothing_else(flag: str) -> None:
    """The test fails if a deliberate mistake fails tests with other flags than intended."""
    text, mutant, others = OF_THE_PAGES[flag]
    assert failed(outcomes(SOURCE.replace(text, mutant))) == {flag, *others}
