"""The spend of the preconditioned estimators of KLSU19, as a share of the claimed budget."""

from typing import Any

import pytest

from covassay.reference.mechanisms.registry import mechanism
from covassay.reference.privacy import ZCDP


@pytest.mark.parametrize(
    ("name", "dimension", "calibration", "proven"),
    [
        ("naive-pce", 1, "reconstructed", 0.25),
        ("naive-pce", 2, "reconstructed", 0.5),
        ("naive-pce", 9, "reconstructed", 0.5),
        ("naive-pce", 1, "tight", 0.5),
        ("naive-pce", 2, "tight", 1.0),
        ("naive-pce", 9, "tight", 1.0),
        ("pgce", 1, "reconstructed", 0.25),
        ("pgce", 2, "reconstructed", 0.5),
        ("pgce", 1, "tight", 0.5),
        ("pgce", 7, "tight", 1.0),
        # PPC spends 1/4, 1/2, 1/2, 1 of its half, NaivePME all of its own
        ("pme", 1, "reconstructed", 0.625),
        ("pme", 2, "reconstructed", 0.75),
        ("pme", 1, "tight", 0.75),
        ("pme", 7, "tight", 1.0),
        # the mean of what PGCE and PME spend: (1/4 + 5/8)/2, (1/2 + 3/4)/2, (1/2 + 3/4)/2, 1
        ("gaussian-learner", 1, "reconstructed", 0.4375),
        ("gaussian-learner", 2, "reconstructed", 0.625),
        ("gaussian-learner", 1, "tight", 0.625),
        ("gaussian-learner", 7, "tight", 1.0),
    ],
)
def test_the_spend_is_that_of_the_table(name: str, dimension: int, calibration: Any, proven: float) -> None:
    result = mechanism(name).spend(rho=0.6, dimension=dimension, calibration=calibration)
    assert result.claimed == ZCDP(0.6)
    assert result.proven.rho == pytest.approx(0.6 * proven, rel=1e-15)  # type: ignore[union-attr]
    assert name != "naive-pce" or result.attained
