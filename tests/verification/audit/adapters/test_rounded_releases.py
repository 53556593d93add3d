"""Test audits of rounded releases."""

import importlib.util

import numpy as np
import pytest

from covassay.reference.rounded import WITH_ROUNDED_FORM
from covassay.verification.audit.adapters.rounded_releases import TARGETS
from covassay.verification.audit.api import audit
from covassay.verification.audit.engine.finding import Verdict
from covassay.verification.audit.targets.target import CannotRun
from covassay.verification.declared import default_claim


def test_every_rounded_mechanism_with_every_choice_is_a_target() -> None:
    assert {name for name in WITH_ROUNDED_FORM if name in TARGETS} == set(WITH_ROUNDED_FORM)
    assert {"k-norm-covariance", "gauss-cov-goe", "entrywise-laplace-triangle-tight"} <= TARGETS.keys()
    target = TARGETS["k-norm-linf"]()
    assert (target.name, target.mechanism, target.options) == ("rounded:k-norm-linf", "k-norm", (("body", "linf"),))


def test_the_generator_of_the_audit_determines_the_bits() -> None:
    draw = TARGETS["laplace"]().draw
    first, again, other = (draw(np.eye(2), rng=np.random.default_rng(k), epsilon=1.0) for k in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_without_python_flint_the_target_cannot_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(CannotRun, match="needs python-flint"):
        TARGETS["laplace"]()


@pytest.mark.slow
@pytest.mark.parametrize("name", TARGETS)
def test_the_audit_finds_no_violation(name: str) -> None:
    """The test fails if an audit refutes a rounded release with the default options."""
    target = TARGETS[name]()
    assert audit(target, **default_claim(target.mechanism).keywords()).verdict is Verdict.NOT_REFUTED
