"""Run one cell of every stored experiment again, and compare its results with those in proofs/experiments."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from covassay.reference.errors import InvalidInput
from covassay.verification.experiments import page, results, running
from covassay.verification.experiments.data.files import SCIKIT_LEARN, missing
from covassay.verification.experiments.experiment import Cell

pytest.importorskip("pyarrow")
FOLDER = Path(__file__).resolve().parents[2] / "proofs" / "experiments"
PAGE = (FOLDER / "README.md").read_text()
STORED = sorted(path.name for path in FOLDER.glob("*.parquet"))
ROUNDING = 1e-6  # a relative tolerance, because versions of linear algebra libraries round differently
# A rounding error can change a sampled direction completely, so only additive noise is compared on every machine.
ADDITIVE = {"entrywise-laplace", "gauss-cov", "gauss-cov-approximate", "nuclear-laplace-symmetric"}


def test_every_result_is_on_the_page() -> None:
    assert STORED
    assert all(f"({name})" in PAGE for name in STORED)


@pytest.mark.parametrize("name", STORED)
def test_the_facts_are_those_of_the_code_now(name: str) -> None:
    if missing(SCIKIT_LEARN, {}):
        pytest.skip("needs scikit-learn")
    kept = results.read(FOLDER / name)
    found = results.differences(kept, running.finished(running.replan(kept.facts, {}), kept.rows))
    assert [told for told in found if not told.startswith("versions")] == []


@pytest.mark.parametrize("name", STORED)
def test_a_cell_gives_the_same_errors_of_additive_noise_again(name: str) -> None:
    if missing(SCIKIT_LEARN, {}):
        pytest.skip("needs scikit-learn")
    kept = results.read(FOLDER / name)
    plan = running.replan(kept.facts, {})

    def dimension(cell: Cell) -> float:
        panel = plan.experiment.panel(cell.panel)
        return {**panel.fixed[plan.scale], panel.varied: cell.value}.get("d", 0.0)

    quickest = min(plan.cells, key=dimension)
    again = plan.experiment.run(quickest, plan.scale, plan.seed, {})
    there = {(row.panel, row.value, row.method, row.measure, row.repetition): row.error for row in kept.rows}
    additive = {
        method["label"]
        for panel in kept.facts["panels"]
        for method in panel["methods"]
        if method["mechanism"] in ADDITIVE
    }
    assert additive
    for row in (row for row in again if row.method in additive):
        stored = there[row.panel, row.value, row.method, row.measure, row.repetition]
        assert np.isclose(row.error, stored, rtol=ROUNDING, atol=0.0)


def test_the_page_has_the_means_and_verdicts_of_the_files_and_another_mean_is_seen() -> None:
    assert page.rendered(FOLDER) == PAGE
    assert {found[1] for found in page.BLOCK.finditer(PAGE)} == {name.removesuffix(".parquet") for name in STORED}

    def changed(name: str) -> results.Result:
        kept = results.read(FOLDER / f"{name}.parquet")
        return replace(kept, rows=tuple(replace(row, error=1.03 * row.error) for row in kept.rows))

    for own, other in zip(page.BLOCK.finditer(PAGE), page.BLOCK.finditer(page.page(PAGE, changed)), strict=True):
        assert own[0] != other[0]


def test_a_page_that_is_not_there_or_has_an_unknown_result_is_refused(tmp_path: Path) -> None:
    assert page.main([]) == 2
    assert page.main([str(tmp_path)]) == 2
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(InvalidInput, match="results of figure-9: no table is declared"):
        page.page("<!-- results of figure-9 -->\n<!-- end -->", lambda name: results.read(tmp_path / name))
