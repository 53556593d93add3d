"""Test that the report of a violation names the data set on which the target failed."""

import numpy as np
import pytest

from covassay.reference.domain import Matrix
from covassay.reference.mechanisms.output import SECOND_MOMENT
from covassay.reference.privacy import PureDP
from covassay.verification.audit.engine.events import Pair, Statistic
from covassay.verification.audit.engine.finding import Look
from covassay.verification.audit.engine.privacy import run_pair
from covassay.verification.audit.engine.sampling import Setting
from covassay.verification.audit.targets.target import Target

LARGE, SMALL = np.eye(2), np.zeros((2, 2))


def sometimes_fails_on_large(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    """Raise an error in half of the draws if the data are not all zero, so that an error reveals the data set."""
    if x.any() and rng.random() < 0.5:
        raise ArithmeticError
    return x.T @ x


@pytest.mark.parametrize(("first", "second", "failing"), [(LARGE, SMALL, "first"), (SMALL, LARGE, "second")])
@pytest.mark.parametrize("sign", [1.0, -1.0], ids=["trace", "minus trace"])
def test_a_failure_is_laid_to_the_side_that_failed(first: Matrix, second: Matrix, failing: str, sign: float) -> None:
    """The test fails if the report names the wrong data set for either order of the pair."""
    statistic = Statistic("t", lambda y: sign * np.trace(y, axis1=1, axis2=2))
    setting = Setting(Target("mine", sometimes_fails_on_large), {"epsilon": 1.0}, SECOND_MOMENT, seed=0)
    checks = run_pair(setting, Pair("pair", first, second, (statistic,)), PureDP(1.0), Look(samples=400))
    found = {check.name: check for check in checks}
    assert f"on the {failing} data set, 0 of" in found["failures"].detail
    assert found["failures"].facts.sides[0] == failing
    assert found["failures"].facts.counts[1] == 0
