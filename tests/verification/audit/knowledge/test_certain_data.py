"""Test data on which the output of a mechanism with several steps has a simple law. The reference must pass, and less
noise must be refuted. The seed is fixed, and the reference fails a test with probability below 1e-9.
"""

import numpy as np
import pytest

from covassay.reference.mechanisms.registry import mechanism
from covassay.verification.audit.engine.law import Scenario
from covassay.verification.audit.knowledge.known import profile
from covassay.verification.declared import default_claim
from tests.negative_controls.broken import other_noise, times

CERTAIN = [
    ("adaptive-cov", {}, "rows that are not clipped"),
    ("adaptive-cov-pure", {}, "rows that are not clipped"),
    ("adaptive-cov-pure", {"calibration": "tight"}, "rows that are not clipped"),
    ("coinpress-mean", {}, "rows at the origin"),
    ("coinpress-mean", {"constants": "code"}, "rows far out"),
    ("ppde", {}, "the last round"),
]


def scenario(name: str, options: dict[str, str], begins: str) -> Scenario:
    known = profile(name, default_claim(name), mechanism(name).resolve(options), 2000, 0)
    return next(one for one in known.scenarios if one.name.startswith(begins))


def p_values(name: str, options: dict[str, str], begins: str, factor: float) -> list[float]:
    seen, rng = scenario(name, options, begins), np.random.default_rng(0)
    target = other_noise("", name, "", times(factor), options=tuple(options.items()))
    outputs = np.array([target.draw(seen.x, rng=rng, **default_claim(name).keywords()) for _ in range(100)])
    return [test(outputs).p_value for test in seen.tests.values()]


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "options", "begins"), CERTAIN)
def test_the_reference_has_the_law_and_half_of_its_noise_has_not(
    name: str, options: dict[str, str], begins: str
) -> None:
    assert min(p_values(name, options, begins, 1.0)) > 1e-9
    assert min(p_values(name, options, begins, 0.5)) < 1e-9
