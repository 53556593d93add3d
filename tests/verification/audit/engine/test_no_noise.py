"""Test targets without noise. For every mechanism, the verdict of the audit must be REFUTED."""

import dataclasses
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from covassay.reference.domain import Array, Matrix, shape_of
from covassay.reference.mechanisms.mechanism import Mechanism
from covassay.reference.mechanisms.registry import MECHANISMS
from covassay.verification.audit.api import audit
from covassay.verification.audit.engine.facts import LawTest
from covassay.verification.audit.engine.finding import Verdict
from covassay.verification.audit.engine.non_finite import finite_estimate, finite_test
from covassay.verification.audit.targets.target import Target
from covassay.verification.declared import default_claim
from covassay.verification.statistics.tests import NotFinite, TestResult, independence

DIVIDES_BY_THE_NOISE = ("nuclear-laplace", "nuclear-laplace-symmetric", "centred-covariance",
                        "nuclear-ball-projection", "k-norm", "johnson-lindenstrauss",
                        "output-perturbation")  # fmt: skip
# for other mechanisms, `test_a_target_without_noise_is_refuted` is marked as slow, because it runs a whole audit
QUICK = ("laplace", "gauss-cov", "bingham", "output-perturbation")
NOT_SEEN = {"private-radius"}  # the audit cannot see a lack of noise in these mechanisms


def without_chance(sampler: Callable[..., Array]) -> Callable[..., Array]:
    """Return a function without randomness that replaces a sampler. The sampler is called with a noise scale or with a
    matrix. If the argument is a noise scale, the function returns zeros. If the argument is a matrix, the function
    returns the most likely direction, or the most likely projection of the same rank.
    """

    def most_likely(scale_or_matrix: Any, *more: Any, **named: Any) -> Array:
        drawn = np.asarray(sampler(scale_or_matrix, *more, **named))
        if np.ndim(scale_or_matrix) == 0:
            return np.zeros_like(drawn)
        vectors = np.linalg.eigh(scale_or_matrix)[1]
        if drawn.ndim == 1:
            return np.asarray(vectors[:, -1])
        top = vectors[:, -round(np.trace(drawn)) :]
        return np.asarray(top @ top.T)

    return most_likely


def silenced(noise: Any) -> Any:
    """Return a noise object in which all numbers are zero. If a part of the noise is a sampler, it is replaced by the
    function that `without_chance` returns.
    """
    if isinstance(noise, np.ndarray):
        return np.zeros_like(noise)
    if isinstance(noise, float):
        return 0.0
    if callable(noise):
        return without_chance(noise)
    if dataclasses.is_dataclass(noise):
        parts = {f.name: silenced(getattr(noise, f.name)) for f in dataclasses.fields(noise) if f.init}
        return dataclasses.replace(noise, **parts)
    if isinstance(noise, tuple):
        parts = map(silenced, noise)
        return type(noise)(*parts) if hasattr(noise, "_fields") else tuple(parts)
    return noise


def without_noise(mechanism: Mechanism[Any, ..., Any], share: float = 1.0) -> Callable[..., Any]:
    """Return a broken version of the mechanism that adds no noise in a given share of its draws."""
    release, draw_noise = inspect.unwrap(mechanism.release), inspect.unwrap(mechanism.draw_noise)
    taken = inspect.signature(mechanism.draw_noise).parameters
    defaults = {name: p.default for name, p in mechanism.declared.items()}

    def draw(x: Matrix, *, rng: np.random.Generator, **budget: float) -> Any:
        rows, dimension = shape_of(x)
        known = {**defaults, **budget, "rows": rows}
        noise = draw_noise(dimension, rng, **{name: known[name] for name in taken if name in known})
        return release(x, silenced(noise) if rng.random() < share else noise, **budget)

    return draw


@pytest.mark.thorough
@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=() if n in QUICK else pytest.mark.slow) for n in MECHANISMS if n not in NOT_SEEN]
)
def test_a_target_without_noise_is_refuted(name: str) -> None:
    report = audit(
        Target("bare", without_noise(MECHANISMS[name])), **default_claim(name).keywords(), mechanism=name, samples=100
    )
    assert report.verdict is Verdict.REFUTED


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=() if n in ("output-perturbation",) else pytest.mark.slow)
     # 2000 draws are too few for nuclear-ball-projection
     for n in DIVIDES_BY_THE_NOISE if n != "nuclear-ball-projection"],
)  # fmt: skip
def test_a_target_that_leaves_the_noise_out_once_in_a_hundred_draws_is_refuted_by_its_law(name: str) -> None:
    target = Target("mostly", without_noise(MECHANISMS[name], share=0.01))
    report = audit(target, **default_claim(name).keywords(), mechanism=name, samples=2000)
    assert report.verdict is Verdict.REFUTED
    laws = [(check.p_value, check.fact(LawTest)) for check in report.refuted]
    assert any(p_value == 0 and law is not None and law.effect.startswith("prob") for p_value, law in laws)


def ratio(outputs: Matrix) -> TestResult:
    return independence(outputs[:, 0], outputs[:, 1] / outputs[:, 0], "independent")


def test_a_statistic_that_is_not_finite_counts_as_p_0() -> None:
    outputs = np.random.default_rng(0).normal(size=(1000, 2))
    assert finite_test(ratio, outputs).p_value == ratio(outputs).p_value > 0
    outputs[17] = 0
    result = finite_test(ratio, outputs)
    assert (result.p_value, result.n) == (0.0, 1000)
    assert 1 - (1 - result.detectable(1e-9)) ** 1000 == pytest.approx(0.99)
    with pytest.raises(NotFinite), np.errstate(all="ignore"):
        ratio(outputs)


def test_an_estimate_that_is_not_finite_is_a_sentence() -> None:
    def estimate(outputs: Matrix) -> str:
        raise NotFinite("inf")

    assert "cannot be computed" in finite_estimate(estimate, np.ones((3, 2)))


def test_an_error_of_the_test_itself_is_no_refutation() -> None:
    def broken(outputs: Matrix) -> TestResult:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        finite_test(broken, np.ones((3, 2)))
