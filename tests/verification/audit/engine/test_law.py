"""Test the comparison with a law when draws are missing because the target took too long."""

import time

import numpy as np
import pytest

from covassay.reference.domain import Matrix
from covassay.reference.mechanisms.output import OUTPUTS
from covassay.verification.audit.engine.finding import Look, Status
from covassay.verification.audit.engine.law import Scenario, run_scenario
from covassay.verification.audit.engine.sampling import Setting
from covassay.verification.audit.targets.target import Target
from covassay.verification.statistics.laws import NORMAL
from covassay.verification.statistics.tests import kolmogorov_smirnov

SCENARIO = Scenario("zero", np.zeros((1, 1)), {"value": lambda outputs: kolmogorov_smirnov(outputs, NORMAL, "normal")})


def normal(slow_from: float, scale: float = 1.0) -> Target:
    def draw(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> float:
        z = float(rng.standard_normal())
        if z > slow_from:
            time.sleep(0.2)
        return scale * z

    return Target("normal", draw)


@pytest.mark.thorough
def test_draws_that_took_too_long_are_no_missing_tail() -> None:
    look = Look("first look", samples=2000, level=1e-9, tests=3)
    setting = Setting(normal(2.0), {"epsilon": 1.0}, OUTPUTS["number"], 0, seconds=0.02)
    found, draws = run_scenario(setting, SCENARIO, look)
    assert draws.failed > 10
    assert not [f for f in found if f.p_value is not None and f.p_value <= look.level]
    assert [f.name for f in found if f.status is Status.INCONCLUSIVE] == ["tails"]


def test_a_wrong_law_in_time_is_refuted() -> None:
    look = Look("first look", samples=20_000, level=1e-9, tests=3)
    found, _ = run_scenario(Setting(normal(9.0, 1.1), {"epsilon": 1.0}, OUTPUTS["number"], 0), SCENARIO, look)
    assert any(f.p_value is not None and f.p_value <= look.step for f in found)
