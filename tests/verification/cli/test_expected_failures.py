"""Test expected failures on the command line. Expected failures must not affect the exit status, and an expected
failure that does not occur must be reported.
"""

from pathlib import Path

import numpy as np
import pytest

from covassay.reference.errors import InvalidInput
from covassay.verification.audit.api import audit
from covassay.verification.audit.check import group_of
from covassay.verification.audit.report import AuditReport
from covassay.verification.cli.audit import _expected_failures, beside_expected


@pytest.fixture(scope="module")
def report() -> AuditReport:
    """Return the report of a function that overwrites the data of its caller, and is otherwise correct."""

    def overwrites(x: np.ndarray, *, epsilon: float, rng: np.random.Generator) -> np.ndarray:
        x /= np.maximum(1, np.linalg.norm(x, axis=1, keepdims=True))
        x *= 1 - 1e-9
        return x.T @ x / len(x) + 2 * x.shape[1] / (len(x) * epsilon) * rng.laplace(size=(x.shape[1],) * 2)

    return audit(overwrites, epsilon=1.0, quick=True)


@pytest.mark.thorough
def test_the_status_is_that_of_all_else(report: AuditReport) -> None:
    """The test fails if an expected failure hides another failure, or if nobody is told that an expected failure no
    longer occurs.
    """
    (failed,) = {group_of(check) for check in report.refuted}
    assert failed == "contract: input unchanged"
    assert report.verdict.exit_status == 1
    status, told = beside_expected(report, {failed: "issue 7"})
    assert (status, told) == (0, "covassay: contract: input unchanged: refuted, as expected (issue 7)\n")
    assert beside_expected(report, {"data path": "issue 8"})[0] == 1  # the refuted check was not expected to fail
    status, told = beside_expected(report, {failed: "issue 7", "data path": "issue 8"})
    assert status == 1
    assert "data path: NOT refuted, which was expected (issue 8)" in told


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "names nothing"),
        ("not toml", "cannot be read as TOML"),
        ('"row ordre" = "issue 7"', "row order"),
        ('"row order" = ""', "must say why"),
        (None, "cannot be read"),
    ],
)
def test_a_wrong_file_is_one_clear_error(text: str | None, told: str, tmp_path: Path) -> None:
    file = tmp_path / "known.toml"
    if text is not None:
        file.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidInput, match=told) as error:
        _expected_failures(str(file))
    assert "\n" not in str(error.value)
