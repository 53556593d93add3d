"""Test that equivalent data sets must give the same law of outputs. The seeds are fixed, and a correct target is
refuted with probability below 1e-9.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from covassay.reference.domain import Matrix, row_norms, second_moment, unit_rows
from covassay.reference.mechanisms.concentrated import separate_cov
from covassay.reference.mechanisms.registry import MECHANISMS, mechanism
from covassay.verification.audit.engine.contract import example_rows
from covassay.verification.audit.engine.finding import Finding, Status
from covassay.verification.audit.engine.same_noise import DataPath
from covassay.verification.audit.engine.sampling import Setting
from covassay.verification.audit.engine.zoo import zoo
from covassay.verification.audit.knowledge.known import known, profile
from covassay.verification.audit.knowledge.shared.data_paths import QueryPlusNoise
from covassay.verification.audit.questions.data_path.one_law_on_equivalent_data import CHANGES, equal_laws
from covassay.verification.audit.targets.target import Target
from covassay.verification.declared import default_claim

ALPHA = 5e-10
NOT_ADDITIVE = sorted(name for name in MECHANISMS if not isinstance(known(name).path, QueryPlusNoise))
QUICK = ("separate-cov", "private-radius", "naive-pce", "kv-mean")


def path_of(name: str) -> DataPath:
    path = profile(name, default_claim(name), mechanism(name).resolve({}), 200, 0).data_path
    assert path is not None
    return path


def run(draw: Callable[..., Any], name: str, seed: int = 0) -> list[Finding]:
    setting = Setting(Target("t", draw), default_claim(name).keywords(), mechanism(name).output, seed=seed)
    return equal_laws(setting, path_of(name), ALPHA)


def test_mixed_rows_have_the_second_moment_and_stay_in_the_ball() -> None:
    for member in zoo(30, 4, 0):
        y = CHANGES["mixed"](member.x, np.random.default_rng(0))
        assert np.abs(second_moment(y) - second_moment(unit_rows(member.x))).max() < 1e-14
        assert row_norms(y).max() <= 1 + 1e-12
    plain = zoo(30, 4, 0)[11]  # this data set has zero rows
    assert not plain.x[0].any()
    assert row_norms(CHANGES["mixed"](plain.x, np.random.default_rng(0))).min() > 0.1


@pytest.mark.parametrize("name", NOT_ADDITIVE)
def test_the_reference_gives_one_output_on_equivalent_plain_data(name: str) -> None:
    long = 3 * example_rows(24, 3) if mechanism(name).domain != "cube" else np.abs(example_rows(24, 3)) * 1.5
    for kind in path_of(name).equivalent:
        other = CHANGES[kind](long, np.random.default_rng(1))
        for seed in range(2):
            outputs = [
                np.asarray(mechanism(name).sample(x, np.random.default_rng(seed), **default_claim(name).keywords()))
                for x in (long, other)
            ]
            assert np.abs(outputs[0] - outputs[1]).max() < 1e-7 * max(1.0, np.abs(outputs[0]).max()), kind


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in NOT_ADDITIVE]
)
def test_the_reference_is_not_refuted(name: str) -> None:
    """The test fails if an audit refutes a correct mechanism."""
    (check,) = run(mechanism(name).sample, name)
    assert check.status is Status.NOT_REFUTED, check.detail


@pytest.mark.slow
def test_a_target_that_ignores_the_seed_is_not_refuted() -> None:
    def unseeded(x: Matrix, *, rho: float, rng: np.random.Generator) -> Matrix:
        return separate_cov.sample(x, np.random.default_rng(), rho=rho)

    (check,) = run(unseeded, "separate-cov")
    assert check.status is Status.NOT_REFUTED
    assert "no difference in law was proven" in check.detail


def test_a_mechanism_without_noise_in_one_dimension_is_seen() -> None:
    def bare(x: Matrix, *, rho: float, rng: np.random.Generator) -> Matrix:
        return second_moment(unit_rows(x)) if x.shape[1] == 1 else separate_cov.sample(x, rng, rho=rho)

    (check,) = run(bare, "separate-cov")
    assert check.status is Status.REFUTED
    assert "there is no noise" in check.detail
