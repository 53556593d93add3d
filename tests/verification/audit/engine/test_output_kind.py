"""Test how the audit detects the kind of output, and what the report says about it."""

import numpy as np
import pytest

from covassay.reference.domain import Matrix
from covassay.verification.audit.api import audit
from covassay.verification.audit.engine.features import contrasts, features
from covassay.verification.audit.engine.output_kind import OUTPUTS, found_kind
from covassay.verification.audit.engine.sampling import Setting
from covassay.verification.audit.targets.target import CannotRun, Target


def noisy_matrix(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    return np.asarray(x.T @ x + rng.laplace(size=(x.shape[1], x.shape[1])))


def noisy_mean(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    rows = x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1)
    scale = 2 * np.sqrt(x.shape[1]) / (len(x) * epsilon)  # two means differ by at most 2√d/n in ℓ1 norm
    return np.asarray(rows.mean(axis=0) + rng.laplace(scale=scale, size=x.shape[1]))


def noisy_trace(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> float:
    return float((x**2).sum() + rng.laplace())


def joint(x: Matrix, rho: float, rng: np.random.Generator) -> Matrix:
    """Return a matrix whose first row is a noisy mean and whose other rows are a noisy second moment. The mean
    multiplied by √2 and the second moment together have squared sensitivity at most 4.5/n².
    """
    n, d = x.shape
    rows = x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1)
    scale = np.sqrt(4.5 / (2 * rho)) / n
    noise = rng.normal(size=(d, d))
    moment = rows.T @ rows / n + scale * (noise + noise.T) / 2
    return np.vstack([rows.mean(axis=0) + scale * rng.normal(size=d), moment])


def noisy_moments(x: Matrix, *, rho: float, rng: np.random.Generator) -> Matrix:
    return joint(x, rho, rng)


def noisy_moments_over_claim(x: Matrix, *, rho: float, rng: np.random.Generator) -> Matrix:
    return joint(x, 1.125 * rho, rng)


def noisy_products(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    """Append a 1 to every row of x, and return the noisy sum of the outer products of these rows."""
    rows = np.column_stack([x, np.ones(len(x))])
    return rows.T @ rows + rng.laplace(size=(x.shape[1] + 1, x.shape[1] + 1))


def of_three_numbers(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    """Return a vector of length 3 for data of any dimension, so that no kind of output fits."""
    return rng.laplace(size=3)


def flat_triangle(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> list[float]:
    return [*(x.T @ x)[np.tril_indices(x.shape[1])] + rng.laplace()]


def fails(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    raise RuntimeError("no answer")


@pytest.mark.parametrize(
    ("function", "kind"),
    [
        (noisy_matrix, None),
        (noisy_mean, "vector"),
        (noisy_trace, "number"),
        (flat_triangle, "triangle"),
        (noisy_moments, "moments"),
        (noisy_products, "rows-mean-covariance"),
        (of_three_numbers, None),
        (fails, None),
    ],
)
def test_the_kind_is_found_from_shapes(function: object, kind: str | None) -> None:
    budget = {"rho" if function is noisy_moments else "epsilon": 1.0}
    setting = Setting(Target("one", function), budget, OUTPUTS["matrix"], 0)  # type: ignore[arg-type]
    assert found_kind(setting) == kind


@pytest.mark.thorough
def test_a_correct_mean_is_not_accused_of_being_no_matrix() -> None:
    report = audit(noisy_mean, epsilon=1.0, samples=200)
    assert report.verdict.value == "NOT REFUTED"
    assert any("audited as a vector" in note for note in report.notes)
    assert "released='vector'" in report.replay or "--released vector" in report.replay


def test_a_kind_that_is_stated_is_kept() -> None:
    """The test fails if the audit changes the kind of output that the user stated. If a target never returns the
    stated kind of output, the audit raises an error instead of refuting the target.
    """
    with pytest.raises(CannotRun, match=r"returned ndarray of shape \(5,\), but an output has the shape \(5, 5\)"):
        audit(noisy_mean, epsilon=1.0, samples=100, released="matrix")


@pytest.mark.thorough
@pytest.mark.parametrize("share", [1.0, pytest.param(0.1, marks=pytest.mark.thorough)])
def test_a_flat_triangle_is_audited_as_what_it_is(share: float) -> None:
    """The test fails if the audit does not recognise a vector as the upper triangle of a matrix. A tenth of the
    required noise must be refuted.
    """

    def triangle(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
        n, d = x.shape
        rows = x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1)
        moment = (rows.T @ rows / n)[np.triu_indices(d)]
        return moment + rng.laplace(scale=share * (d + 1) / (n * epsilon), size=len(moment))

    report = audit(triangle, epsilon=1.0, samples=300)
    assert any("audited as a triangle" in note for note in report.notes)
    assert report.verdict.value == ("NOT REFUTED" if share == 1.0 else "REFUTED")
    if share < 1:
        assert any("Δ⟩" in check.detail for check in report.refuted)


def test_the_products_of_a_triangle_are_those_of_its_matrix() -> None:
    first, second = np.random.default_rng(0).standard_normal((2, 5, 3))
    change = first.T @ first - second.T @ second
    upper, lower = np.triu_indices(3), np.tril_indices(3)
    products = list(contrasts(OUTPUTS["triangle"], first, second).values())
    y = np.stack([change[upper], change[lower]])
    assert products[0](y)[0] == pytest.approx((change[upper] ** 2).sum())
    assert products[1](y)[1] == pytest.approx((change[lower] ** 2).sum())
    for d in (1, 2, 3):
        entries = np.ones((4, *OUTPUTS["triangle"].shape(d)))
        assert all(feature(entries).shape == (4,) for feature in features(OUTPUTS["triangle"], d).values())


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("function", "verdict"), [(noisy_moments, "NOT REFUTED"), (noisy_moments_over_claim, "REFUTED")]
)
def test_a_mean_over_a_second_moment_is_audited_without_a_mechanism(function: object, verdict: str) -> None:
    report = audit(function, rho=0.5)  # type: ignore[arg-type]
    assert report.verdict.value == verdict
    assert "was moments (gaussian: the same shape), so it is audited as moments" in " ".join(report.notes)
