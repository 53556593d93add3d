"""Test three checks that record random draws. The first compares the noise of a target with that of the reference. The
second replaces random draws by extreme values. The third computes the loss from a record of the noise primitives that a
target calls.
"""

import math
from typing import Any

import numpy as np
import pytest

from covassay.reference.domain import unit_rows
from covassay.reference.laws import wigner
from covassay.reference.mechanisms.registry import mechanism
from covassay.verification.audit.adapters.diffprivlib_package import PRIMITIVES
from covassay.verification.audit.recorded.forced import forced
from covassay.verification.audit.recorded.gains import Gains, gains
from covassay.verification.audit.recorded.recorder import recorder
from covassay.verification.audit.recorded.transcripts import transcript_loss

X = np.array([[0.9, 0.1, 0.0], [0.0, 0.6, 0.2], [0.1, 0.0, 0.3], [0.2, 0.2, 0.2]])
RHO = {"rho": 0.5}


def beside(draw: Any, name: str) -> Gains:
    reference = mechanism(name)
    return gains(recorder(draw, RHO), recorder(reference.sample, {**RHO, **reference.resolve({})}), X)


def _separate(factor_of_values: float) -> Any:
    """Return a version of the mechanism separate-cov that draws the noise in another order and multiplies the noise of
    the eigenvalues by a factor.
    """

    def draw(x: Any, *, rho: float, rng: Any) -> Any:
        rows = unit_rows(x)
        n, d = rows.shape
        s = rows.T @ rows / n
        values_noise = rng.normal(scale=math.sqrt(2) / (n * math.sqrt(rho)), size=d)
        w = wigner.sample_wigner(d, rng) * math.sqrt(2) / (n * math.sqrt(rho))
        values = np.sort(np.linalg.eigvalsh(s))[::-1] + factor_of_values * values_noise
        vectors = np.linalg.eigh(s + w)[1][:, ::-1]
        return (vectors * values) @ vectors.T

    return draw


def test_gains_of_additive_noise_name_the_factor() -> None:
    """The test fails if the report does not say which noise is too small and by which factor."""

    def small(x: Any, *, rho: float, rng: Any) -> Any:
        s = unit_rows(x).T @ unit_rows(x) / len(x)
        w = np.zeros((3, 3))
        for i in reversed(range(3)):
            for j in range(i, 3):
                w[i, j] = w[j, i] = rng.normal(scale=(0.8 if i == j else 1.0) / (len(x) * math.sqrt(rho)))
        return s + w

    found = beside(small, "gauss-cov")
    assert not found.reason
    assert not found.unmatched
    assert sum(g.numbers for g in found.matched) == 6
    assert sum(g.numbers for g in found.changed) == 3
    assert {g.factor for g in found.changed} == {0.8}
    assert "small" in found.changed[0].draw
    assert "sample_wigner" in found.changed[0].reference


def test_gains_of_a_composite_name_the_step() -> None:
    """The test fails if the report does not say in which step of the mechanism the noise is too small."""
    right, wrong = (beside(_separate(f), "separate-cov") for f in (1.0, 0.5))
    assert not right.reason
    assert sum(g.numbers for g in right.matched) == 9
    assert not right.changed
    (step,) = wrong.changed
    assert step.numbers == 3
    assert step.factor == pytest.approx(0.5, rel=1e-4)
    assert "normal (3) in draw" in step.draw
    assert "separate_cov.py" in step.reference


def test_a_draw_too_few_is_told() -> None:
    """The test fails if the audit does not notice that one random number is used for several entries."""

    def shared(x: Any, *, rho: float, rng: Any) -> Any:
        s = unit_rows(x).T @ unit_rows(x) / len(x)
        w = wigner.sample_wigner(3, rng)
        np.fill_diagonal(w, w[0, 0])
        return s + w / (len(x) * math.sqrt(rho))

    assert beside(shared, "gauss-cov").unmatched == {"normal": (1, 3)}


def test_forced_draws_walk_into_rare_branches() -> None:
    """The test fails if the audit does not reach a branch that only extreme draws of the noise enter."""

    def rare(x: Any, *, epsilon: float, rng: Any) -> Any:
        a, b, c = rng.laplace(size=3)
        while abs(c) > 20:
            c = rng.laplace()
        if b > 25:
            raise OverflowError
        return x.sum() + np.array([np.clip(a, -10, 10), b, c])

    found = forced(recorder(rare, {"epsilon": 1.0}), X)
    kinds = {(f.number, f.kind, f.upper) for f in found if f.draw.startswith("laplace (3)")}
    clipped = {(0, "stays", False), (0, "stays", True)}
    assert kinds == clipped | {(1, "fails", True), (2, "other draws", False), (2, "other draws", True)}
    assert forced(recorder("covassay:gauss-cov", RHO), X) == ()


@pytest.mark.peers
@pytest.mark.filterwarnings("ignore")
def test_a_transcript_tells_the_budget_by_primitive() -> None:
    """The test fails if the report does not say how much of the budget each primitive spends."""
    from diffprivlib import tools

    def mean(x: Any, *, epsilon: float, rng: Any) -> Any:
        return tools.mean(x, epsilon, (0.0, 1.0), axis=0)

    x, other = np.zeros((4, 3)), np.vstack([np.zeros((3, 3)), np.ones((1, 3))])
    found = transcript_loss(recorder(mean, {"epsilon": 1.0}, PRIMITIVES), x, other)
    assert [s.loss for s in found.spent] == pytest.approx([1 / 3] * 3)
    assert found.epsilon == pytest.approx(1.0)
    assert str(found).count("ε = 0.333333") == 3


@pytest.mark.peers
@pytest.mark.filterwarnings("ignore")
def test_a_transcript_shows_the_overspending_of_a_regression() -> None:
    """The test fails if a budget that is spent twice is counted once. LinearRegression of diffprivlib 0.6.6 spends
    ε/(d + 1) on the mean of X and again on the mean of y.
    """
    name, bounds = "diffprivlib:linear-regression", ((-1.0, 0.0), (0.0, 1.0))
    x, other = np.array([[-1.0, 1.0]]), np.array([[0.0, 0.0]])
    found = transcript_loss(recorder(name, {"epsilon": 1.0, "bounds": bounds}, PRIMITIVES), x, other)
    assert not found.reason
    assert found.spent[0].loss == pytest.approx(0.5)
    assert found.spent[1].loss == pytest.approx(0.5)
