"""Test the reference mechanisms as targets of an audit. The outputs of `draw_many` must be the same as those of single
draws.
"""

import numpy as np
import pytest

from covassay.reference.mechanisms.registry import mechanism
from covassay.verification.audit.adapters.covassay_mechanisms import TARGETS
from covassay.verification.audit.engine.contract import example_rows
from covassay.verification.audit.knowledge.known import known
from covassay.verification.declared import default_claim

IN_TURN = [name for name in TARGETS if not known(TARGETS[name]().mechanism or "").many]


def require_same(name: str) -> None:
    """Assert that `draw_many` and single draws give the same bits if their generators have the same state."""
    target = TARGETS[name]()
    budget = default_claim(target.mechanism or "").keywords()
    x = example_rows(7, max(3, mechanism(target.mechanism or "").smallest_dimension))
    one, many = np.random.default_rng(3), np.random.default_rng(3)
    assert target.draw_many is not None
    drawn = [target.draw(x.copy(), rng=one, **budget) for _ in range(3)]
    assert np.array_equal(drawn, target.draw_many(x.copy(), 3, rng=many, **budget))


@pytest.mark.parametrize("name", ["gauss-cov", "separate-cov", "em-cov", "ppc", "box-gauss"])
def test_draws_in_turn_are_draws_to_the_bit(name: str) -> None:
    """The test fails if `draw_many` and single draws with the same seed give different outputs."""
    require_same(name)


@pytest.mark.thorough
@pytest.mark.parametrize("name", IN_TURN)
def test_so_are_those_of_every_mechanism(name: str) -> None:
    """The test fails if `draw_many` and single draws with the same seed differ for some mechanism."""
    require_same(name)
