"""Test public parameters that a target shares with a mechanism. The audit must not report a mistake because the target
and the mechanism have different defaults.
"""

from typing import Any

import numpy as np
import pytest

from covassay.reference.domain import Matrix
from covassay.reference.mechanisms import clipped_cov, gauss_cov, naive_pce
from covassay.reference.mechanisms.registry import mechanism
from covassay.verification import wrap
from covassay.verification.audit.api import audit
from covassay.verification.audit.engine.finding import Verdict
from covassay.verification.audit.targets.public_parameters import own_values, to_pass

FEW: dict[str, Any] = {"samples": 200}


def other_ensemble(x: Matrix, *, rho: float, rng: np.random.Generator, ensemble: str = "goe") -> Matrix:
    return gauss_cov.sample(x, rng, rho=rho, ensemble=ensemble)  # type: ignore[arg-type]


def longer_rows(x: Matrix, *, rho: float, rng: np.random.Generator, max_norm: float = 2.0) -> Matrix:
    return gauss_cov.sample(x, rng, rho=rho, row_bound=max_norm)


def larger_kappa(x: Matrix, *, rho: float, rng: np.random.Generator, kappa: float = 100.0) -> Matrix:
    return naive_pce.sample(x, rng, rho=rho, kappa=kappa)


def other_clipping(x: Matrix, *, rho: float, rng: np.random.Generator, clip_norm: float = 0.8) -> Matrix:
    return clipped_cov.sample(x, rng, rho=rho, clip_norm=clip_norm)


class Estimator:
    """A class whose constructor takes public parameters."""

    def __init__(self, rho: float, clip_norm: float = 3.0, ensemble: str = "goe", random_state: int = 0) -> None:
        self.rho, self.clip_norm, self.ensemble, self.seed = rho, clip_norm, ensemble, random_state

    def release(self, x: Matrix) -> Matrix:
        rng = np.random.default_rng(self.seed)
        return gauss_cov.sample(x, rng, rho=self.rho, row_bound=self.clip_norm, ensemble=self.ensemble)  # type: ignore[arg-type]


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("target", "name", "note"),
    [
        (
            other_ensemble,
            "gauss-cov",
            "ensemble = goe: this is the target's own value; the expected law is that of gauss-cov for it",
        ),
        (longer_rows, "gauss-cov", "called as f(x, rho=rho, rng=rng, max_norm=1.0)"),
        (
            larger_kappa,
            "naive-pce",
            "kappa = 100.0: this is the target's own value; the expected law is that of naive-pce for it",
        ),
        (Estimator, "gauss-cov", "called as f(rho=rho, random_state=seed, clip_norm=1.0).release(x)"),
    ],
)
def test_another_default_is_not_refuted_and_is_noted(target: Any, name: str, note: str) -> None:
    """The test fails if a correct function is refuted because the default of its public parameter differs from that of
    the mechanism.
    """
    report = audit(target, name, **FEW)
    assert report.verdict is Verdict.NOT_REFUTED
    assert note in report.notes


@pytest.mark.thorough
def test_the_expected_law_is_that_of_the_target_s_own_value() -> None:
    """The test fails if the expected law ignores the value of a public parameter in the target."""
    assert audit(other_clipping, "clipped-cov", samples=1000).verdict is Verdict.NOT_REFUTED


@pytest.mark.thorough
def test_a_stated_value_is_passed_to_the_target() -> None:
    """The test fails if a value from `--options` changes the expected law but is not passed to the target."""
    report = audit(larger_kappa, "naive-pce", options={"kappa": "20"}, **FEW)
    assert report.verdict is Verdict.NOT_REFUTED
    assert "called as f(x, rho=rho, rng=rng, kappa=20.0)" in report.notes


@pytest.mark.thorough
def test_too_little_noise_for_its_own_value_is_refuted() -> None:
    """The test fails if noise that is too small for the target's own value of a parameter is not refuted."""

    def less(x: Matrix, *, rho: float, rng: np.random.Generator, kappa: float = 100.0) -> Matrix:
        return naive_pce.sample(x, rng, rho=rho / 0.97**2, kappa=kappa)

    assert audit(less, "naive-pce", **FEW).verdict is Verdict.REFUTED


def test_only_constants_that_the_mechanism_takes_are_its_values() -> None:
    """The audit takes a parameter of the target for an option of the mechanism if the mechanism has an option of this
    name. The test fails if the audit takes such a parameter for the option although the mechanism does not allow the
    value of the parameter, or although the value depends on the data.
    """
    declared = mechanism("gauss-cov")

    def other(x: Matrix, *, rho: float, rng: np.random.Generator, ensemble: int = 7) -> Matrix:
        return x

    assert own_values(other, declared) == {}
    assert own_values(other_ensemble, declared) == {"ensemble": "goe"}
    assert own_values(wrap(other_ensemble, "f(x, rho=rho, rng=rng, ensemble='wigner')"), declared) == {
        "ensemble": "wigner"
    }
    assert own_values(wrap(other_ensemble, "f(x, rho=rho, rng=rng, ensemble=str(x))"), declared) == {}


def test_what_the_call_sets_is_not_passed_again() -> None:
    """The test fails if a parameter in the user's call is overwritten or passed twice."""
    declared = mechanism("gauss-cov")
    assert to_pass(longer_rows, declared, {}) == {"max_norm": 1.0}
    assert to_pass(wrap(longer_rows, "f(x, rho=rho, rng=rng, max_norm=2.0)"), declared, {}) == {}
    assert to_pass(other_ensemble, declared, {"ensemble": "wigner"}) == {"ensemble": "wigner"}
    assert to_pass(other_ensemble, declared, {"ensemble": "goe"}) == {}
