"""Test what the audit expects of simple mechanisms. The reference must pass. For each broken version, the audit must
name the actual mistake and no other. The seeds are fixed, and the reference fails a check with probability at most
1e-9.
"""

import math

import numpy as np
import pytest

from covassay.reference.domain import Matrix, second_moment, unit_rows
from covassay.reference.mechanisms.building_blocks import laplace
from covassay.reference.mechanisms.registry import mechanism
from covassay.reference.privacy import ApproximateDP, Guarantee, PureDP
from covassay.verification.audit.adapters.covassay_mechanisms import TARGETS
from covassay.verification.audit.api import audit
from covassay.verification.audit.budget import decide
from covassay.verification.audit.engine.finding import Look, Status
from covassay.verification.audit.engine.law import diagnose, number_of_tests, run_scenario
from covassay.verification.audit.engine.sampling import Setting
from covassay.verification.audit.knowledge import above_threshold
from covassay.verification.audit.knowledge.known import profile
from covassay.verification.audit.targets.target import Target, TargetReference
from covassay.verification.declared import default_claim
from tests.negative_controls.every import NEGATIVE_CONTROLS
from tests.negative_controls.negative_control import one

BLOCKS = ("k-norm", "laplace", "gaussian", "gaussian-approximate", "exponential", "above-threshold", "private-radius",
          "private-trace")  # fmt: skip
OWN = [name for name in TARGETS if TARGETS[name]().mechanism in BLOCKS]
ALPHA = 1e-9


@pytest.mark.thorough
@pytest.mark.parametrize("name", OWN)
def test_the_reference_has_the_law_of_its_profile(name: str) -> None:
    target = TARGETS[name]()
    about = mechanism(target.mechanism or "")
    claim = default_claim(about.name)
    options = about.resolve(dict(target.options))
    knowledge = profile(about.name, claim, options, 400, 0)
    setting = Setting(TargetReference(f"covassay:{name}", "."), claim.keywords(), about.output_of(options), seed=0)
    for scenario in knowledge.scenarios:
        checks = decide(
            run_scenario(setting, scenario, Look(samples=400))[0], Look(level=ALPHA, tests=number_of_tests(scenario))
        )
        assert checks
        assert all(check.status is Status.NOT_REFUTED for check in checks), [(c.label, c.p_value) for c in checks]


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("mutant", "suspect"),
    [
        ("sparse-vector-no-threshold-noise", "exact-threshold"),
        ("sparse-vector-quarter-noise", "quarter-noise"),
        ("gaussian-sensitivity-one", "sensitivity-one"),
        ("half-trace-noise", "half-scale"),
    ],
)
def test_the_suspect_fits_its_mistake_and_no_other_does(mutant: str, suspect: str) -> None:
    found = NEGATIVE_CONTROLS[mutant]
    claim, about = default_claim(found.mechanism), mechanism(found.mechanism)
    scenario = profile(about.name, claim, about.resolve(dict(found.options)), 2000, 0).scenarios[0]
    setting = Setting(TargetReference(f"mutant:{mutant}", "."), claim.keywords(), about.output, seed=0)
    _, draws = run_scenario(setting, scenario, Look(samples=2000))
    assert [s.name for s in diagnose([(scenario, draws.outputs)])] == [suspect]


@pytest.mark.thorough
@pytest.mark.parametrize("guarantee", [PureDP(0.3), PureDP(7.0)])
@pytest.mark.parametrize("name", ["above-threshold", "private-radius", "exponential"])
def test_a_discrete_profile_follows_the_claim(name: str, guarantee: Guarantee) -> None:
    about = mechanism(name)
    options = about.resolve({"share": 0.8} if name == "above-threshold" else {})
    scenario = profile(name, guarantee, options, 1000, 0).scenarios[0]
    rng = np.random.default_rng(1)
    draws = np.array([about.sample(scenario.x, rng, **guarantee.keywords(), **options) for _ in range(1000)])
    assert scenario.tests["output"](draws).p_value > ALPHA
    swapped = np.where(draws == draws[0], 5.5, draws)  # this output has probability 0
    assert scenario.tests["output"](swapped).p_value < ALPHA


def test_the_approximate_profile_takes_an_epsilon_above_one_with_the_exact_scale() -> None:
    options = {"calibration": "tight"}
    assert profile("gaussian-approximate", ApproximateDP(4.0, 1e-6), options, 1000, 0).scenarios


def nine_tenths(x: Matrix, size: int, *, rng: np.random.Generator, epsilon: float) -> Matrix:
    """Return noisy second moments with nine tenths of the required Laplace noise."""
    rows = unit_rows(x)
    scale = laplace.noise_scale(laplace.second_moments_sensitivity(*rows.shape), epsilon)
    return np.diag(second_moment(rows)) + 0.9 * scale * rng.laplace(size=(size, rows.shape[1]))


@pytest.mark.slow
def test_nine_tenths_of_the_laplace_noise_are_refuted_at_the_default_number_of_draws() -> None:
    """The test fails if the audit no longer compares the total noise with its exact law. Only this comparison refutes
    nine tenths of the required noise, because a Kolmogorov–Smirnov test would need 10 000 draws.
    """
    report = audit(Target("mine", one(nine_tenths), draw_many=nine_tenths), epsilon=1.0, mechanism="laplace")
    assert {"total scale", "all shapes"} & {check.name for check in report.refuted}


def test_without_noise_of_the_queries_the_noisy_threshold_decides_alone() -> None:
    """A known mistake adds noise to the threshold, but none to the queries. The test fails if the law that the audit
    computes for this mistake is only approximately correct.
    """
    found = above_threshold._exact_queries(np.array([1.0, 3.0, 2.0]), 2.0, 1.0)
    below = math.exp(-1) / 2  # the probability that Laplace(1) noise is below −1
    np.testing.assert_allclose(found, [below, 1 - 2 * below, 0.0, below], rtol=1e-12, atol=1e-15)
