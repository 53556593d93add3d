"""Test that every check of the audit refutes some broken implementation, and that every broken implementation is
refuted by the intended check. The seed is fixed, and one run of a check refutes a correct target with probability at
most 1e-9.
"""

import importlib
import pkgutil
from pathlib import Path

import pytest

from covassay.reference.mechanisms.output import MatrixOutput
from covassay.reference.mechanisms.registry import mechanism
from covassay.verification.audit.api import audit
from covassay.verification.audit.engine.beside import NAME as DRAW_FOR_DRAW
from covassay.verification.audit.engine.coincidences import NAME as COINCIDENCES
from covassay.verification.audit.engine.coincidences import NAME_SEEN
from covassay.verification.audit.engine.kinds_of_data import NAMES as KINDS_OF_DATA
from covassay.verification.audit.engine.law import ANSWERS
from covassay.verification.audit.engine.other_budgets import NAME as NAME_OF_BUDGETS
from covassay.verification.audit.engine.same_noise import NAME, NAME_OF_ROWS
from covassay.verification.audit.engine.shapes import NAMES
from covassay.verification.audit.engine.symmetry import NAME_SEEN as SYMMETRY_SEEN
from covassay.verification.audit.engine.tails import RARE_BRANCHES, TAILS
from covassay.verification.audit.engine.ways import NAME_OF_FORMS, NAME_OF_PROCESS, NAME_OF_STATE
from covassay.verification.audit.knowledge.known import profile
from covassay.verification.audit.questions import own
from covassay.verification.audit.questions.data_path.one_law_on_equivalent_data import NAME as EQUAL_LAWS
from covassay.verification.audit.questions.law import gains_beside_the_reference
from covassay.verification.audit.questions.privacy import recorded_draws
from covassay.verification.audit.targets.target import TargetReference
from covassay.verification.declared import default_claim
from covassay.verification.maintain.__main__ import PROGRAM
from tests import negative_controls as mutants
from tests.negative_controls import (
    of_branches,
    of_families,
    of_joint_laws,
    of_repeats,
    of_rows,
    of_scales,
    of_steps,
    of_the_list,
)
from tests.negative_controls import program as controls
from tests.negative_controls.every import NEGATIVE_CONTROLS
from tests.negative_controls.negative_control import NegativeControl
from tests.negative_controls.of_the_list import CONTROL_OF
from tests.negative_controls.standing import NOTED, STANDING, WRONG_CALL
from tests.negative_controls.table import row_of
from tests.negative_controls.trial import SAMPLES, caught, claim_of

SYMMETRIC = MatrixOutput(power=2, symmetric=True)
QUICK_DATA_PATHS = ("zero-rows-dropped-trace", "integers-as-bytes", "diagonal-repeated", "opposite-at-seven",
                    "doubled-small-rho", "few-seeds", "skewed-at-times", "radius-runs-dropped")  # fmt: skip
QUICK_MECHANISMS = ("laplace", "gaussian", "gauss-cov", "bingham")
CAUGHT = [(name, kind, check) for name, mutant in NEGATIVE_CONTROLS.items() for kind, check in mutant.caught_by]


def is_slow(i: int) -> bool:
    """Return whether the test of a broken implementation is slow. A test of the data path is slow unless
    `QUICK_DATA_PATHS` contains its implementation. Any other test is slow if an earlier test in the list `CAUGHT` is of
    the same check. A test that is neither of the data path nor of the contract is also slow if `QUICK_MECHANISMS` does
    not contain the mechanism.
    """
    name, *check = CAUGHT[i]
    if check[0] == "data path":
        return name not in QUICK_DATA_PATHS
    if check[0] != "contract" and NEGATIVE_CONTROLS[name].mechanism not in QUICK_MECHANISMS:
        return True
    return check in [list(pair[1:]) for pair in CAUGHT[:i]]


PAIRS = [
    pytest.param(*named, id=f"{named[0]}-{named[2].replace(' ', '-')}", marks=[pytest.mark.slow] if is_slow(i) else [])
    for i, named in enumerate(CAUGHT)
]


@pytest.mark.thorough
@pytest.mark.parametrize(("mutant", "kind", "check"), PAIRS)
def test_the_check_meant_for_it_rejects_the_mutant(mutant: str, kind: str, check: str) -> None:
    assert caught(NEGATIVE_CONTROLS[mutant], kind, check)


def test_every_mutant_is_registered_under_a_name_of_its_own() -> None:
    modules = (importlib.import_module(f"{mutants.__name__}.{m.name}") for m in pkgutil.iter_modules(mutants.__path__))
    names = [mutant.name for module in modules if ".of_" in module.__name__
             for mutant in getattr(module, "NEGATIVE_CONTROLS", ())]  # fmt: skip
    assert sorted(names) == sorted(NEGATIVE_CONTROLS)


def test_a_mistake_that_is_a_wrapped_docstring_is_one_line_of_the_table() -> None:
    assert (
        NegativeControl("wrapped", "Add half\n    of the noise.", "laplace", (), abs).mistake
        == "Add half of the noise."
    )


def every_check() -> set[tuple[str, str]]:
    """Return all checks that must refute at least one broken implementation."""
    names = {("privacy", "event"), ("privacy", "failures"), ("privacy", "divergence")}
    for mechanism_name in {mutant.mechanism for mutant in NEGATIVE_CONTROLS.values() if mutant.caught_by}:
        about = mechanism(mechanism_name)
        for scenario in profile(mechanism_name, default_claim(mechanism_name), about.resolve({}), SAMPLES, 0).scenarios:
            names |= {("law", test) for test in scenario.tests}
    names |= {("privacy", recorded_draws.CHECK), ("law", gains_beside_the_reference.NAME)}
    names |= {("law", check) for check in (ANSWERS, TAILS, RARE_BRANCHES, *NAMES.values(), *KINDS_OF_DATA.values())}
    names |= {
        ("data path", check)
        for check in (NAME, NAME_OF_ROWS, NAME_OF_BUDGETS, COINCIDENCES, NAME_SEEN, SYMMETRY_SEEN, EQUAL_LAWS)
    }
    names |= {("contract", check) for check in (NAME_OF_FORMS, NAME_OF_STATE, NAME_OF_PROCESS)}
    names |= {("law", DRAW_FOR_DRAW)}
    handful = {"one law, however it is asked", "batch, same output", "draw_many", "own accounting", "own data"}
    handful |= {"summation order"}
    return names | {("contract", q.name) for q in own() if q.kind == "contract" and q.name not in handful}


@pytest.mark.thorough
def test_no_check_is_without_a_mutant() -> None:
    assert every_check() == {named for mutant in NEGATIVE_CONTROLS.values() for named in mutant.caught_by}


def test_the_published_list_has_a_control_for_every_number() -> None:
    assert sorted(CONTROL_OF) == list(range(1, 49))
    assert set(CONTROL_OF.values()) <= set(NEGATIVE_CONTROLS)


def test_what_stands_names_no_check_but_one_that_only_notes() -> None:
    assert set(STANDING) <= set(NEGATIVE_CONTROLS)
    rejected = {name for name in STANDING if NEGATIVE_CONTROLS[name].caught_by}
    assert rejected == {name for name, why in STANDING.items() if NOTED in why or WRONG_CALL in why}
    assert {kind for name in rejected for kind, _ in NEGATIVE_CONTROLS[name].caught_by} == {"contract"}


def test_there_are_enough_controls_of_every_class() -> None:
    """The test fails if broken implementations are lost because their module is no longer imported."""
    of_classes = [of_rows, of_branches, of_repeats, of_families, of_scales, of_joint_laws, of_steps, of_the_list]
    new = [mutant for group in of_classes for mutant in group.NEGATIVE_CONTROLS]
    assert len(new) >= 150
    assert len({mutant.mechanism for mutant in new}) >= 15


ROWS = controls.read(Path(__file__).parents[4] / "proofs" / "controls.jsonl")
SHARE = ("clip-l1", "two-rows", "box-muller-twice", "alternating-signs", "trace-of-65")
WRITTEN = {row.control: row for row in ROWS}
NOT_MEASURED = set(NEGATIVE_CONTROLS) - set(WRITTEN)
MEASURED = [name for name in NEGATIVE_CONTROLS if name not in NOT_MEASURED]
# An audit of this negative control takes a minute, so the test of the audit is marked `sweep`. Another test,
# `test_the_check_meant_for_it_rejects_the_mutant`, runs only the check that finds the mistake.
WAITING = ("slow-in-high-dimension",)


def _mark(name: str) -> pytest.MarkDecorator:
    return pytest.mark.thorough if name in SHARE else pytest.mark.sweep if name in WAITING else pytest.mark.slow


@pytest.mark.parametrize("name", [pytest.param(name, marks=_mark(name)) for name in MEASURED])
def test_the_table_of_controls_is_what_an_audit_finds(name: str) -> None:
    """The test fails if the audit no longer refutes a broken implementation that the stored table lists as refuted, or
    refutes one that the table lists as not refuted. The test does not compare the number of draws, nor which check
    refutes the implementation.
    """
    row = row_of(name)
    assert (row.verdict == "REFUTED") == (name not in STANDING)
    written = WRITTEN[name]
    assert (written.mechanism, written.mistake, written.stands) == (row.mechanism, row.mistake, row.stands)
    assert (written.verdict == "REFUTED") == (row.verdict == "REFUTED")


def test_the_rows_have_no_control_twice_lack_few_and_know_those_that_stand() -> None:
    """The test fails if stored results are repeated or outdated, or if more than a tenth of them are missing. The
    maintainers measure a new broken implementation later, so that a few rows may be missing.
    """
    assert len(WRITTEN) == len(ROWS)
    assert set(WRITTEN) <= set(NEGATIVE_CONTROLS)
    assert len(NOT_MEASURED) <= len(NEGATIVE_CONTROLS) / 10
    assert {name for name, row in WRITTEN.items() if row.verdict != "REFUTED"} == set(STANDING) - NOT_MEASURED


def test_the_page_of_controls_is_what_the_rows_make() -> None:
    """The test fails if proofs/CONTROLS.md was edited by hand, or was not rendered again after a row was added."""
    page = Path(__file__).parents[4] / "proofs" / "CONTROLS.md"
    assert page.read_text(encoding="utf-8") == controls.render(ROWS)


def test_a_page_that_is_written_after_a_few_controls_has_all_rows(tmp_path: Path) -> None:
    """The option `--only` selects some controls, and `--write` writes the page. The test fails if this page lacks the
    controls that were not selected.
    """
    rows, page = Path(__file__).parents[4] / "proofs" / "controls.jsonl", tmp_path / "page.md"
    assert PROGRAM.run(["controls", "--only", ROWS[0].control, "--rows", str(rows), "--write", str(page)]) == 0
    assert page.read_text(encoding="utf-8") == controls.render(ROWS)


DIAGNOSED = [name for name, mutant in NEGATIVE_CONTROLS.items() if mutant.diagnosis and name != "acg-sign"]
# for other broken implementations, `test_the_audit_names_the_mistake` is marked as slow, because it runs a whole audit
QUICK = ("quadruple-exponent",)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in DIAGNOSED]
)
def test_the_audit_names_the_mistake(name: str) -> None:
    claim = claim_of(NEGATIVE_CONTROLS[name])
    report = audit(TargetReference(f"mutant:{name}", "."), **claim.keywords(), samples=1000, seed=1, time_limit=1.0)
    assert report.verdict.exit_status == 1
    assert NEGATIVE_CONTROLS[name].diagnosis in report.diagnoses[0]


@pytest.mark.slow
def test_the_audit_names_the_sign_mistake() -> None:
    report = audit(TargetReference("mutant:acg-sign", "."), epsilon=1.0, seed=1, time_limit=1.0)
    assert NEGATIVE_CONTROLS["acg-sign"].diagnosis in report.diagnoses[0]
    aimed = [check for check in report.checks if "d=6" in check.scenario]
    assert "1.706" in aimed[0].detail  # the loss is ε/4 + 6 ln(1 + ε/(2b)) with b = 1.8205
