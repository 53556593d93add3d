"""Test the mechanisms of the reference as targets: `draw_many` of a target gives the same outputs as single draws."""

import numpy as np
import pytest

from covassay.reference.mechanisms.registry import mechanism
from covassay.verification.audit.adapters.covassay_mechanisms import TARGETS
from covassay.verification.audit.engine.contract import example_rows
from covassay.verification.audit.knowledge.known import known
from covassay.verification.declared import default_claim

IN_TURN = [name for name in TARGETS if not known(TARGETS[name]().mechanism or "").many]


def require_same(name: str) -> None:
    """Require that the outputs of `draw_many` equal those of single draws from an equal generator, bit by bit."""
    target = TARGETS[name]()
    budget = default_claim(target.mechanism or "").keywords()
    x = example_rows(7, max(3, mechanism(target.mechanism or "").smallest_dimension))
    one, many = np.random.default_rng(3), np.random.default_rng(3)
    assert target.draw_many is not None
    drawn = [target.draw(x.copy(), rng=one, **budget) for _ in range(3)]
    assert np.array_equal(drawn, target.draw_many(x.copy(), 3, rng=many, **budget))


@pytest.mark.parametrize("name", ["gauss-cov", "separate-cov", "em-cov", "ppc", "box-gauss"])
def test_draws_in_turn_are_draws_to_the_bit(name: str) -> None:
    """This test catches draws in bulk that differ from single draws with the same seed."""
    require_same(name)


@pytest.mark.thorough
@pytest.mark.parametrize("name", IN_TURN)
def test_so_are_those_of_every_mechanism(name: str) -> None:
    """This test catches draws in bulk that differ from single draws with the same seed."""
    require_same(name)
