"""Test which implementations depend on the order in which rows are summed, and by how much."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from covassay.reference.domain import Matrix
from covassay.reference.mechanisms.output import OUTPUTS
from covassay.verification.audit.engine.contract import Form
from covassay.verification.audit.engine.finding import Status
from covassay.verification.audit.engine.sampling import Setting
from covassay.verification.audit.questions.contract.summation_order import summation_order
from covassay.verification.audit.targets.target import Target, load
from covassay.verification.audit.targets.target import TargetReference as Reference

NUMBER = OUTPUTS["number"]


def summed(number: Callable[[Any], Any]) -> Callable[..., float]:
    """Return a target that adds the squared norms of the rows one by one in the given number type, and adds noise to
    the mean.
    """

    def release(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> float:
        total = number(0)
        for row in x:
            total = number(total + number(row @ row))
        return float(total) / len(x) + float(rng.laplace(scale=1 / (len(x) * epsilon)))

    return release


def status(target: Target) -> tuple[Status, str]:
    (check,) = summation_order(Setting(target, {"epsilon": 1.0}, NUMBER, seed=0), Form(NUMBER))
    return check.status, check.detail


def test_a_sum_in_the_order_of_the_rows_is_seen_with_its_size() -> None:
    found, detail = status(Target("float64", summed(float)))
    assert found is Status.NOT_REFUTED
    assert "changes by 1e-13 of the long row's effect" in detail
    found, detail = status(Target("float32", summed(np.float32)))
    assert found is Status.NOTED
    # the rounding error is 1023 times half a unit in the last place of float32
    assert "6e-05 of the long row's effect" in detail


@pytest.mark.parametrize("name", ["covassay:private-trace", "rounded:private-trace"])
def test_other_sums_are_not(name: str) -> None:
    """The test fails if a sum is refuted although it does not depend on the order of the rows."""
    found, detail = status(load(Reference(name, ".")))
    assert found is Status.NOT_REFUTED
    assert "same output up to rounding" in detail


def test_nothing_is_said_of_targets_that_it_does_not_fit() -> None:
    setting = Setting(Target("x", summed(float), seeded=False), {"epsilon": 1.0}, NUMBER, seed=0)
    assert summation_order(setting, Form(NUMBER)) == []
