"""Test that a claim includes its notion of neighbouring data sets. If a claim under another notion of neighbours would
explain the privacy loss, the report says so.
"""

import numpy as np
import pytest

from covassay.reference.domain import Matrix, unit_rows
from covassay.reference.errors import InvalidInput
from covassay.reference.privacy import ZCDP, ApproximateDP, Guarantee, PureDP
from covassay.verification.audit.api import audit
from covassay.verification.audit.engine.adjacency import explained, two_steps
from covassay.verification.audit.engine.finding import Verdict
from covassay.verification.audit.knowledge.adjacency import explained_by_adjacency
from covassay.verification.audit.reports.json_report import as_json
from covassay.verification.audit.reports.words import summary
from covassay.verification.audit.targets.target import Target, TargetReference

CLAIM = PureDP(1.0)


def summed(factor: float) -> Target:
    """Return a target that adds Laplace noise of scale factor/ε to the sum of the first column. A factor of 1 suffices
    if a row is added or removed, and a factor of 2 if a row is replaced.
    """

    def draw_many(x: Matrix, size: int, *, epsilon: float, rng: np.random.Generator) -> Matrix:
        return unit_rows(x)[:, 0].sum() + factor / epsilon * rng.laplace(size=size)

    def draw(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> float:
        return float(draw_many(x, 1, epsilon=epsilon, rng=rng)[0])

    return Target("mod:summed", draw, draw_many=draw_many)


def counting(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> float:
    """Release the number of rows with tiny noise, which is private only if n is public."""
    return float(len(x) + 1e-3 * rng.laplace())


@pytest.mark.thorough
def test_a_sum_with_noise_for_the_other_adjacency() -> None:
    replaced = audit(summed(1), epsilon=1.0, released="number", samples=1000)
    assert replaced.verdict is Verdict.REFUTED
    (text,) = replaced.diagnoses
    assert "within ε = 2 (pure DP)" in text
    assert "add-remove adjacency could explain it. The claim audited here is replace-one" in text
    added = audit(summed(1), epsilon=1.0, released="number", adjacency="add-remove", samples=200)
    assert added.verdict is Verdict.NOT_REFUTED
    assert added.adjacency == as_json(added)["adjacency"] == "add-remove"
    assert "--adjacency add-remove" in added.replay
    assert audit(summed(2), epsilon=1.0, released="number", samples=200).verdict is Verdict.NOT_REFUTED


@pytest.mark.thorough
def test_less_noise_than_either_needs_is_explained_by_neither() -> None:
    report = audit(summed(0.2), epsilon=1.0, released="number", samples=1000)
    assert report.verdict is Verdict.REFUTED
    assert report.diagnoses == ()
    added = audit(summed(0.2), epsilon=1.0, released="number", adjacency="add-remove", samples=1000)
    assert added.verdict is Verdict.REFUTED


@pytest.mark.thorough
def test_a_public_number_of_rows_is_named_under_add_remove() -> None:
    assert audit(counting, epsilon=1.0, released="number", samples=150).verdict is Verdict.NOT_REFUTED
    report = audit(counting, epsilon=1.0, released="number", adjacency="add-remove", samples=150)
    assert report.verdict is Verdict.REFUTED
    assert "depends on n as a public number" in report.diagnoses[0]
    assert "missing in the second" in summary(report)


def normal(x: Matrix, *, rho: float, rng: np.random.Generator) -> float:
    """Add Gaussian noise of variance 1/(2ρ) to a sum. This noise is ρ-zCDP if a row is added or removed, and 4ρ-zCDP
    if a row is replaced.
    """
    return float(unit_rows(x)[:, 0].sum() + rng.standard_normal() / np.sqrt(2 * rho))


def nine_times(x: Matrix, *, rho: float, rng: np.random.Generator) -> float:
    return normal(x, rho=9 * rho, rng=rng)


@pytest.mark.slow
def test_the_same_for_zcdp() -> None:
    """The test fails if the report does not explain a large privacy loss under zCDP by another notion of neighbours."""
    report = audit(normal, rho=0.5, released="number")
    assert report.verdict is Verdict.REFUTED
    assert "add-remove adjacency could explain it" in report.diagnoses[0]
    assert audit(nine_times, rho=0.5, released="number").diagnoses == ()


OTHERS = [pytest.param(name, marks=pytest.mark.slow) for name in ("half-scale", "gaussian-sensitivity-one")]


@pytest.mark.thorough
@pytest.mark.parametrize("control", ["laplace-sensitivity-one", *OTHERS])
def test_a_law_with_the_scale_of_the_other_adjacency_is_said_to_be_that(control: str) -> None:
    source = TargetReference(f"mutant:{control}", ".")
    guarantee: Guarantee = ZCDP(0.5) if "gaussian" in control else CLAIM
    report = audit(source, **guarantee.keywords(), samples=600)
    assert report.verdict is Verdict.REFUTED
    assert "This other adjacency would explain the small noise scale. The claim" in report.diagnoses[-1]


def test_what_explains_and_what_does_not() -> None:
    assert explained_by_adjacency("nuclear-laplace", ["half-scale"])
    assert not explained_by_adjacency("nuclear-laplace", ["add-remove"])
    assert not explained_by_adjacency("gauss-cov", ["half-scale"])
    assert explained_by_adjacency("gauss-cov", ["sensitivity-one"])
    assert not explained_by_adjacency("centred-covariance", ["half-scale"])
    assert explained([], CLAIM, "replace-one") == ""
    assert two_steps(ApproximateDP(1.0, 1e-6)) == ApproximateDP(2.0, (1 + np.e) * 1e-6)
    assert two_steps(ZCDP(0.5)) == ZCDP(2.0)


def test_a_law_is_known_for_one_adjacency() -> None:
    source = TargetReference("covassay:nuclear-laplace", ".")
    with pytest.raises(InvalidInput, match="to audit the target against another claim, name the mechanism too"):
        audit(source, epsilon=1.0, adjacency="add-remove")
    with pytest.raises(InvalidInput, match="adjacency = 'both'"):
        audit(summed(1), epsilon=1.0, adjacency="both")
