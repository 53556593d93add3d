"""Test that the draws of every mechanism have the law that the audit expects, and that draws with half of the budget do
not.

With a random seed, each comparison would raise a false alarm with probability at most 1e-9.
"""

import inspect

import pytest

from covassay.reference.mechanisms.registry import mechanism
from covassay.verification.audit.adapters.covassay_mechanisms import TARGETS
from covassay.verification.audit.engine.finding import Look
from covassay.verification.audit.engine.law import Scenario, run_scenario
from covassay.verification.audit.engine.sampling import Setting
from covassay.verification.audit.knowledge.known import profile
from covassay.verification.audit.knowledge.shared import reference_draws
from covassay.verification.declared import default_claim
from tests.conventions import FALSE_ALARM

DRAWS = 1000


def with_other_noise() -> list[str]:
    """Return the name of one audit target for every mechanism and every choice of options that changes its noise.
    Mechanisms for rows in a box are left out.
    """
    found: dict[object, str] = {}
    for name, make in TARGETS.items():
        target = make()
        declared = mechanism(str(target.mechanism))
        taken = inspect.signature(declared.draw_noise).parameters
        if declared.domain != "box":
            found.setdefault((target.mechanism, *(o for o in target.options if o[0] in taken)), name)
    return list(found.values())


def known(name: str) -> Scenario | None:
    """Return the data set on which the audit makes the most tests of the output against a known law, or None if there
    is no such test. A comparison with reference draws does not count.
    """
    target = TARGETS[name]()
    declared = mechanism(str(target.mechanism))
    found = profile(declared.name, default_claim(declared.name), declared.resolve(dict(target.options)), DRAWS, 0)
    of_a_law = [s for s in found.scenarios if all(f.__module__ != reference_draws.__name__ for f in s.tests.values())]
    return max(of_a_law, key=lambda scenario: len(scenario.tests), default=None)


def least(name: str, share: float) -> float:
    """Return the smallest p-value of the tests, if the target draws with `share` times the claimed budget."""
    target, scenario = TARGETS[name](), known(name)
    assert scenario is not None
    declared, claim = mechanism(str(target.mechanism)), default_claim(str(target.mechanism))
    budget = {key: value if key == "delta" else share * value for key, value in claim.keywords().items()}
    setting = Setting(target, budget, declared.output_of(dict(target.options)), 0)
    found, _ = run_scenario(setting, scenario, Look(samples=DRAWS))
    return min(finding.p_value for finding in found if finding.p_value is not None)


UNMOVED = "above-threshold"  # on these data, half of the budget gives nearly the same law


@pytest.mark.thorough
@pytest.mark.parametrize("name", [name for name in with_other_noise() if name != UNMOVED and known(name)])
def test_draws_have_the_known_law(name: str) -> None:
    """Test that draws pass the tests of the law, and that draws with half of the budget fail."""
    assert least(name, 1.0) > FALSE_ALARM > least(name, 0.5)
