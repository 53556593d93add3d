"""Test targets with both `draw_many` and `draw`. An audit uses `draw_many`, and checks that both methods have the same
law.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from covassay.reference.mechanisms.output import SECOND_MOMENT
from covassay.reference.privacy import PureDP
from covassay.verification.audit.engine.finding import Status
from covassay.verification.audit.engine.sampling import Setting
from covassay.verification.audit.options import FALSE_ALARM
from covassay.verification.audit.questions.contract.draw_many import draw_many_is_draw
from covassay.verification.audit.targets.target import Target


def many(scale: float, of_last: float = 1.0) -> Callable[..., Any]:
    """Return a function that draws many noisy second moments at once. The noise of the last entry is multiplied by
    `of_last`.
    """

    def draw_many(x: Any, size: int, *, epsilon: float, rng: np.random.Generator) -> Any:
        noise = rng.laplace(scale=scale / epsilon, size=(size, x.shape[1], x.shape[1]))
        noise[:, -1, -1] *= of_last
        return x.T @ x / len(x) + noise

    return draw_many


def status(draw_many: Callable[..., Any] | None) -> list[Status]:
    def one(x: Any, *, epsilon: float, rng: np.random.Generator) -> Any:
        return many(1.0)(x, 1, epsilon=epsilon, rng=rng)[0]

    setting = Setting(Target("mine", one, draw_many=draw_many), PureDP(1.0).keywords(), SECOND_MOMENT, seed=0)
    return [check.status for check in draw_many_is_draw(setting, FALSE_ALARM)]


def test_equal_laws_are_not_refuted_and_a_target_without_bulk_draws_is_not_asked() -> None:
    assert status(many(1.0)) == [Status.NOT_REFUTED]
    assert status(None) == []


@pytest.mark.parametrize("wrong", [many(4.0), many(1.0, of_last=0.2), lambda x, size, **given: [x.T @ x] * size])
def test_another_law_in_bulk_is_refuted(wrong: Callable[..., Any]) -> None:
    assert status(wrong) == [Status.REFUTED]


def test_bulk_draws_that_fail_are_said() -> None:
    assert status(lambda x, size, **given: 1 / 0) == [Status.SKIPPED]
