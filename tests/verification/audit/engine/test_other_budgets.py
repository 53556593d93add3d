"""Test audits at budgets other than the claimed one. Wrong noise is refuted, a smaller or fixed budget is noted, and
correct noise passes.
"""

import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from covassay.reference.domain import Matrix
from covassay.reference.mechanisms.building_blocks.gaussian import second_moments_sensitivity
from covassay.reference.mechanisms.building_blocks.gaussian_approximate import classical_multiplier
from covassay.reference.mechanisms.registry import mechanism
from covassay.reference.privacy import ZCDP, ApproximateDP, Guarantee, PureDP
from covassay.verification.audit.api import audit
from covassay.verification.audit.engine.finding import Finding, Status, Verdict
from covassay.verification.audit.engine.other_budgets import (
    DELTAS,
    FEW_LOSSES,
    LOSSES,
    at_other_budgets,
    other_budgets,
    other_guarantees,
    words,
)
from covassay.verification.audit.engine.sampling import Setting
from covassay.verification.audit.knowledge.known import profile
from covassay.verification.audit.targets.target import Target
from covassay.verification.declared import default_claim

ALPHA = 1e-9 / 2
Budget = dict[str, float]


def checked(name: str, draw: Callable[..., Any], seconds: float = 3.0, seeded: bool = True) -> list[Finding]:
    """Return the findings at budgets other than the claimed one, for a target that claims
    to be the mechanism `name`.
    """
    declared, claim = mechanism(name), default_claim(name)
    known = profile(name, claim, declared.resolve({}), 2000, 0)
    target = Target("own", draw, seeded=seeded)
    setting = Setting(target, dict(claim.keywords()), declared.output, 0, seconds=seconds)
    return other_budgets(setting, claim, known.at_budget, known.data_path, ALPHA)


def of(name: str, used: Callable[[Budget], Budget] = dict) -> Callable[..., Matrix]:
    """Return a target that calls the reference with the budget `used(budget)`."""
    return lambda x, *, rng, **budget: np.asarray(mechanism(name).sample(x, rng, **used(budget)))


def only(name: str, draw: Callable[..., Any], **more: Any) -> Finding:
    (check,) = checked(name, draw, **more)
    return check


@pytest.mark.parametrize("name", ["laplace", "lap-cov", "gauss-cov", "gaussian-approximate", "k-norm"])
def test_the_reference_is_not_refuted(name: str) -> None:
    """The test fails if an audit refutes a correct mechanism."""
    assert only(name, of(name)).status is Status.NOT_REFUTED


def test_budgets_that_the_target_rejects_are_named() -> None:
    detail = only("gaussian-approximate", of("gaussian-approximate")).detail
    assert "the same at 26 other budgets" in detail  # these budgets are ε = 0.01 to 0.8, and four values of δ
    assert "at 26 budgets from ε = 1.1, δ = 1e-06 to ε = 20, δ = 1e-06 the mechanism refuses it" in detail


def without_a_guard(name: str, factor: float = 1.0) -> Callable[..., Matrix]:
    """Return a target that uses the classical Gaussian formula also for ε above 1, where it does not hold. If δ <
    1e-6, the noise is multiplied by `factor`.
    """

    def draw(x: Matrix, *, rng: np.random.Generator, epsilon: float, delta: float) -> Matrix:
        sigma = classical_multiplier(epsilon, delta) * (factor if delta < 1e-6 else 1)
        noise = np.asarray(mechanism(name).draw_noise(x.shape[1], rng))
        x = x / np.maximum(1.0, np.linalg.norm(x, axis=1, keepdims=True))
        if name == "gaussian-approximate":
            change = second_moments_sensitivity(*x.shape)
            return np.asarray((x**2).mean(axis=0) + change * sigma * noise)
        return np.asarray(x.T @ x / len(x) + 2**0.5 / len(x) * sigma * noise)

    return draw


APPROXIMATE = ["gauss-cov-approximate", "gaussian-approximate"]


@pytest.mark.parametrize("name", APPROXIMATE)
def test_budgets_that_the_mechanism_refuses_are_not_asked_for(name: str) -> None:
    asked = []

    def draw(x: Matrix, **given: Any) -> Matrix:
        asked.append(given["epsilon"])
        return without_a_guard(name)(x, **given)

    found = only(name, draw)
    assert found.status is Status.NOT_REFUTED
    assert "the same at 26 other budgets" in found.detail
    assert "from ε = 1.1, δ = 1e-06 to ε = 20, δ = 1e-06 the mechanism refuses it" in found.detail
    assert max(asked) == 1.0


@pytest.mark.parametrize("name", APPROXIMATE)
def test_a_change_at_a_budget_that_the_mechanism_accepts_is_still_refuted(name: str) -> None:
    found = only(name, without_a_guard(name, 0.97))
    assert found.status is Status.REFUTED
    assert "at ε = 1, δ = 1e-08, ε = 1, δ = 1e-12 the noise is 0.97 times" in found.detail


@pytest.mark.thorough
@pytest.mark.parametrize("name", APPROXIMATE)
def test_a_correct_implementation_without_a_guard_is_not_refuted_at_the_default_claim(name: str) -> None:
    report = audit(Target("own", without_a_guard(name)), **default_claim(name).keywords(), mechanism=name, samples=150)
    assert report.verdict is Verdict.NOT_REFUTED


@pytest.mark.parametrize(("least", "factor"), [(1.0, "0.9709"), (10.0, "0.9709")])
def test_three_per_cent_less_noise_is_refuted_with_the_budgets_where_it_is_less(least: float, factor: str) -> None:
    check = only("lap-cov", of("lap-cov", lambda b: {"epsilon": b["epsilon"] * (1.03 if b["epsilon"] > least else 1)}))
    assert check.status is Status.REFUTED
    changed = [e for e in LOSSES if e > least]
    assert f"at {len(changed)} budgets from ε = {changed[0]:g} to ε = 20 the noise is {factor} times" in check.detail


def test_a_difference_of_one_per_cent_may_be_a_numerical_calibration() -> None:
    assert only("lap-cov", of("lap-cov", lambda b: {"epsilon": b["epsilon"] ** 1.001})).status is Status.NOT_REFUTED


@pytest.mark.parametrize("name", ["lap-cov", "bingham"])
def test_a_budget_that_is_not_read_is_noted(name: str) -> None:
    check = only(name, of(name, lambda b: {"epsilon": 1.0}))
    assert check.status is Status.NOTED
    assert "does not depend on epsilon, so no other budget was tried" in check.detail


def test_a_delta_that_is_not_read_is_noted() -> None:
    check = only("gaussian-approximate", of("gaussian-approximate", lambda b: b | {"delta": 1e-6}))
    assert check.status is Status.NOTED
    assert "does not depend on delta" in check.detail


def test_more_noise_than_needed_is_noted() -> None:
    check = only("laplace", of("laplace", lambda b: {"epsilon": min(b["epsilon"], 10.0)}))
    assert check.status is Status.NOTED
    assert "More noise than the mechanism needs: at ε = 11 the noise is 1.1 times as large" in check.detail
    assert "at ε = 20 the noise is 2 times as large" in check.detail


def otherwise(factor: float) -> Callable[..., Matrix]:
    """Return a target that draws extra numbers at small budgets, and then multiplies the noise by `factor`."""

    def draw(x: Matrix, *, rng: np.random.Generator, epsilon: float) -> Matrix:
        used = epsilon
        if epsilon < 0.1:
            rng.standard_normal(17)
            used = epsilon / factor
        return np.asarray(mechanism("lap-cov").sample(x, rng, epsilon=used))

    return draw


def test_other_numbers_from_the_generator_are_no_other_law() -> None:
    check = only("lap-cov", otherwise(1.0))
    assert check.status is Status.NOTED
    assert "At 7 budgets from ε = 0.01 to ε = 0.07, the target uses its random numbers in another way" in check.detail


def test_half_the_noise_from_other_numbers_is_refuted_by_its_law() -> None:
    check = only("lap-cov", otherwise(0.5))
    assert check.status is Status.REFUTED
    assert "at ε = 0.01 the noise has another law than the reference's (200 draws each" in check.detail


def test_single_precision_is_not_refuted() -> None:
    """The test fails if an audit refutes a correct mechanism that computes in single precision."""
    assert only("lap-cov", lambda x, **given: of("lap-cov")(x, **given).astype(np.float32)).status is Status.NOT_REFUTED


def test_without_seeds_nothing_is_compared() -> None:
    """The test fails if the audit compares two draws of a target that ignores its seed. Two draws of such a target have
    different noise, so that a difference between them proves nothing.
    """
    assert only("laplace", of("laplace"), seeded=False).status is Status.SKIPPED
    unseeded = np.random.default_rng(0)
    moving = lambda x, *, rng, epsilon: mechanism("laplace").sample(x, unseeded, epsilon=epsilon)  # noqa: E731
    assert only("laplace", moving).status is Status.SKIPPED


def test_a_target_that_hangs_at_another_budget_is_given_up_after_one_draw() -> None:
    asked = []

    def draw(x: Matrix, *, rng: np.random.Generator, epsilon: float) -> Matrix:
        if epsilon != 1:
            asked.append(epsilon)
            time.sleep(60)
        return of("laplace")(x, rng=rng, epsilon=epsilon)

    assert only("laplace", draw, seconds=0.05).status is Status.SKIPPED
    assert len(asked) == 1


@pytest.mark.parametrize("guarantee", [PureDP(1.0), ZCDP(0.2), ApproximateDP(0.7, 1e-5)])
def test_other_guarantees_change_one_keyword_and_are_not_near_the_claim(guarantee: Guarantee) -> None:
    claim = guarantee.keywords()
    for name, others in other_guarantees(guarantee).items():
        assert len(others) >= len(DELTAS if name == "delta" else LOSSES) - 3
        for other in others:
            changed = {key for key, value in other.keywords().items() if value != claim[key]}
            assert changed == {name}
            assert words(other) != words(guarantee)


def test_the_grid_of_budgets_has_no_gap_and_the_round_numbers() -> None:
    assert (LOSSES[0], LOSSES[-1]) == (0.01, 20.0)
    assert max(later / one for one, later in pairwise(LOSSES)) <= 1.5
    assert {0.5, 1.0, 2.0} <= set(LOSSES)


def test_where_noise_is_not_added_the_reference_is_drawn_at_other_budgets() -> None:
    declared, claim = mechanism("bingham"), default_claim("bingham")
    known = profile("bingham", claim, declared.resolve({}), 2000, 0)
    setting = Setting(Target("own", of("bingham")), dict(claim.keywords()), declared.output, 0)
    assert known.at_budget is not None
    assert known.beside is not None
    found = at_other_budgets(setting, claim, known.at_budget, known.beside).budgets
    assert {at.budget["epsilon"] for at in found} == set(FEW_LOSSES)
    assert {len(at.x) for at in found if at.budget["epsilon"] == 0.05} == {120, 800}
    fixed = Setting(Target("own", of("bingham", lambda b: {"epsilon": 1.0})), setting.budget, declared.output, 0)
    assert not at_other_budgets(fixed, claim, known.at_budget, known.beside).budgets
