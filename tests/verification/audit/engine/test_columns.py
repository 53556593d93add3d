"""Test data whose columns have different bounds. Misplaced entries must be named, and columns that are treated
differently must be detected.
"""

import numpy as np
import pytest

from covassay.reference.domain import Box, Matrix
from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.output import SECOND_MOMENT
from covassay.verification.audit.api import audit
from covassay.verification.audit.engine.columns import _data, columns, entry_findings
from covassay.verification.audit.engine.finding import Finding, Status, Verdict
from covassay.verification.audit.engine.sampling import Setting
from covassay.verification.audit.targets.target import Target
from tests.negative_controls.of_box import (
    CORRECT,
    UNEQUAL,
    Bounds,
    _lower_at_upper,
    covariance,
    exact,
    in_the_other_order,
    mirrored,
)

ALPHA = 5e-10
BOX = Box(UNEQUAL)
DRAWS = 1000


def outputs(values: Matrix, scales: Matrix, seed: int = 1) -> Matrix:
    return values + mirrored(scales, np.random.default_rng(seed), DRAWS)


def test_entries_in_their_places_are_no_finding() -> None:
    x = _data(BOX, 0)
    for values in (covariance(x), covariance(x) * len(x) / (len(x) - 1)):
        query, found = entry_findings(BOX, x, outputs(values, exact(BOX, len(x), 1.0)))
        assert query.startswith("covariance")
        assert found == []
    assert entry_findings(BOX, x, outputs(x.T @ x / len(x), exact(BOX, len(x), 1.0))) == ("second moment", [])
    # noise calibrated to the ℓ1 or ℓ2 norm has the same scale for all entries
    one_scale = np.full((3, 3), exact(BOX, len(x), 1.0).max())
    assert entry_findings(BOX, x, outputs(covariance(x), one_scale))[1] == []


def test_the_scale_of_another_entry_is_named() -> None:
    x = _data(BOX, 0)
    _, (text,) = entry_findings(BOX, x, outputs(covariance(x), in_the_other_order(BOX, len(x), 1.0)))
    assert "entry (2, 2) of the output has noise that is" in text
    assert "times too small for its bounds, in comparison with the noise of the other entries" in text
    assert ": the noise has the scale of entry (1, 3)" in text
    assert "np.tril_indices" in text


def test_the_value_of_another_entry_is_named() -> None:
    x = _data(BOX, 0)
    _, (text,) = entry_findings(BOX, x, outputs(_lower_at_upper(covariance(x)), exact(BOX, len(x), 1.0)))
    assert "entry (1, 3) of the output, which is entry (2, 2) of the covariance, has noise that is" in text
    assert "np.tril_indices" in text


@pytest.mark.parametrize(("factor", "named"), [(1.03, False), (2.0, True), (0.5, True)])
def test_one_entry_with_noise_of_its_own(factor: float, named: bool) -> None:
    """The test fails if the report names an entry because its noise is 3 % too large. With 1000 draws, only a
    difference of 0.22 in the logarithm of the scale can be detected.
    """
    x, scales = _data(BOX, 0), exact(BOX, 500, 1.0)
    scales[0, 1] *= factor
    _, found = entry_findings(BOX, x, outputs(covariance(x), scales))
    assert bool(found) is named
    assert not named or "entry (1, 2) of the output has noise that is" in found[0]


# Columns alike


def noisier_first_column(x: Matrix, *, epsilon: float, rng: np.random.Generator, bounds: Bounds) -> Matrix:
    """Return a correct release with additional noise on the first column."""
    noisy = CORRECT[0].draw(x, epsilon=epsilon, rng=rng, bounds=bounds)
    more = np.zeros_like(noisy)
    more[0, 0] = 300 * (bounds[0][1] - bounds[0][0]) ** 2 / len(x) / epsilon * rng.laplace()
    return noisy + more


def fixed_unit(x: Matrix, *, epsilon: float, rng: np.random.Generator, bounds: Bounds) -> Matrix:
    """Ignore the given bounds, and add noise that is correct for the bounds `UNEQUAL`."""
    return CORRECT[0].draw(x, epsilon=epsilon, rng=rng, bounds=UNEQUAL)


def absolute(x: Matrix, *, epsilon: float, rng: np.random.Generator, bounds: Bounds) -> Matrix:
    """Return the absolute values of the noisy covariances."""
    noisy: Matrix = CORRECT[0].draw(np.asarray(x), epsilon=epsilon, rng=rng, bounds=bounds)
    return np.abs(noisy)


def found(function, promised: bool = False) -> dict[str, Finding]:  # type: ignore[no-untyped-def]
    target = Target("f", function)  # with ε = 100, the noise is small compared with the covariances
    setting = Setting(target, {"epsilon": 100.0, "bounds": UNEQUAL}, SECOND_MOMENT, 0, box=BOX)
    return {check.name: check for check in columns(setting, 1000, ALPHA, promised).checks}


ORDER, UNITS, REFLECTED = "other order of the columns", "other units of the columns", "column 1 reflected"


def test_columns_that_are_treated_alike() -> None:
    """The test fails if an audit refutes a mechanism that treats all columns alike."""
    checks = found(CORRECT[0].draw, promised=True)
    assert set(checks) == {"entries", ORDER, UNITS, REFLECTED}
    assert {check.status for check in checks.values()} == {Status.NOT_REFUTED}


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("function", "name"), [(noisier_first_column, ORDER), (fixed_unit, UNITS), (absolute, REFLECTED)]
)
def test_a_difference_is_noted_and_refutes_only_what_was_promised(function, name: str) -> None:  # type: ignore[no-untyped-def]
    noted, refuted = found(function)[name], found(function, promised=True)[name]
    assert noted.status is Status.NOTED
    assert "breaks a promise only if" in noted.detail
    assert refuted.status is Status.REFUTED


def test_a_target_with_bounds_of_its_own_sees_only_equal_columns_change_places() -> None:
    def own(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
        return CORRECT[0].draw(x, epsilon=epsilon, rng=rng, bounds=UNEQUAL)

    target = Target("f", own)
    setting = Setting(target, {"epsilon": 1.0}, SECOND_MOMENT, 0, box=BOX)
    checks = {check.name: check.status for check in columns(setting, 600, ALPHA, promised=True).checks}
    assert checks == dict.fromkeys(["entries", ORDER, REFLECTED], Status.NOT_REFUTED)


@pytest.mark.thorough
def test_the_promise_is_part_of_the_audit_and_of_its_replay() -> None:
    target = Target("mod:f", noisier_first_column)
    report = audit(target, epsilon=1.0, bounds=UNEQUAL, samples=500, equivariant=True)
    assert report.verdict is Verdict.REFUTED
    assert {check.name for check in report.refuted} == {ORDER}
    assert "--bounds 0.0:1.0,0.0:100.0,0.0:1.0 --equivariant --samples 500" in report.replay
    with pytest.raises(InvalidInput, match="equivariant"):
        audit(target, epsilon=1.0, equivariant=True)


def test_outputs_that_have_nothing_to_do_with_the_data_are_no_entries_of_a_query() -> None:
    x, rng = _data(BOX, 0), np.random.default_rng(2)
    for drawn in (rng.standard_cauchy((DRAWS, 3, 3)), rng.integers(-3, 4, (DRAWS, 3, 3)) * 1.0):
        assert not any("is entry" in text for text in entry_findings(BOX, x, drawn)[1])
