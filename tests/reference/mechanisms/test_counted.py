"""Test the additive mechanisms for data sets that are neighbours if a row is added or removed. These mechanisms release
a noisy number of rows and a noisy sum.
"""

from typing import Any

import numpy as np
import pytest

from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.counted import (
    CountedDraws,
    CountedNoise,
    RowsAndSumOutput,
    gaussian_share,
    pure_share,
)
from covassay.reference.mechanisms.mechanism import Mechanism
from covassay.reference.mechanisms.registry import MECHANISMS

COUNTED = [about for about in MECHANISMS.values() if about.counted is not None and not about.lattice]
LATTICE = [about for about in MECHANISMS.values() if about.counted is not None and about.lattice]
EVERY = pytest.mark.parametrize("about", COUNTED, ids=lambda about: about.name)
X = np.array([[0.5, -0.25], [0.0, 0.75], [3.0, 4.0]])
CLIPPED = np.array([[0.5, -0.25], [0.0, 0.75], [0.6, 0.8]])
OPTIONS = {"adjacency": "add-remove"}


def released(about: Mechanism[Any, ..., Any], x: Any, count: float, entry: float, **options: Any) -> dict[str, Any]:
    kind = about.output_of(OPTIONS)
    assert isinstance(kind, RowsAndSumOutput)
    shape = (x.shape[1],) * (1 if kind.entries == "vector" else 2)
    noise = CountedNoise(count, np.full(shape, entry))
    return kind.parts(about.release(x, noise, **about.notion.default.keywords(), **OPTIONS, **options))


def test_the_mechanisms_that_have_the_choice() -> None:
    assert {about.name for about in COUNTED} == {
        "nuclear-laplace", "nuclear-laplace-symmetric", "gauss-cov", "entrywise-laplace", "lap-cov", "laplace",
        "gaussian",
    }  # fmt: skip
    assert {about.name for about in LATTICE} == {"discrete-laplace-covariance", "discrete-gaussian-covariance"}


@EVERY
def test_without_noise_the_number_of_rows_and_the_sum_come_out(about: Mechanism[Any, ..., Any]) -> None:
    parts = released(about, X, 0.0, 0.0)
    total = CLIPPED.T @ CLIPPED
    assert parts["rows"] == 3
    np.testing.assert_allclose(parts["sum"], total if parts["sum"].ndim == 2 else np.diag(total), rtol=1e-12)
    wider = released(about, 2 * X, 0.0, 0.0, row_bound=2.0)
    np.testing.assert_allclose(wider["sum"], 4 * parts["sum"], rtol=1e-12)


@EVERY
def test_the_noise_does_not_depend_on_the_number_of_rows(about: Mechanism[Any, ..., Any]) -> None:
    first, second = (released(about, x, 1.0, 1.0) for x in (X, X[:1]))
    bare = [released(about, x, 0.0, 0.0) for x in (X, X[:1])]
    for name in ("rows", "sum"):
        noise = [np.asarray(one[name] - none[name]) for one, none in zip((first, second), bare, strict=True)]
        np.testing.assert_allclose(noise[0], noise[1], rtol=1e-12, atol=1e-12)
        assert (noise[0] > 0).all()


@pytest.mark.parametrize("about", COUNTED + LATTICE, ids=lambda about: about.name)
def test_no_rows_and_one_row_are_data_sets(about: Mechanism[Any, ..., Any]) -> None:
    for x in (np.zeros((0, 2)), X[:1]):
        out = about.sample(x, np.random.default_rng(0), **about.notion.default.keywords(), **OPTIONS)
        assert np.isfinite(out).all()
        assert out.shape == about.output_of(OPTIONS).shape(2)


@EVERY
def test_a_row_that_comes_spends_the_whole_budget_and_no_more(about: Mechanism[Any, ..., Any]) -> None:
    """Test that the addition of one row spends at most the budget, and exactly the budget for some row. The noise
    scales are measured on releases.
    """
    gaussian = about.notion.name == "zcdp"
    for row in np.array([[1.0, 0.0], [0.6, 0.8], [0.5, 0.5]]) / 1.0:
        after, before = (released(about, x, 0.0, 0.0) for x in (np.vstack([CLIPPED, row]), CLIPPED))
        scale = released(about, CLIPPED, 1.0, 1.0)
        moved = {name: np.asarray(after[name] - before[name]) for name in ("rows", "sum")}
        unit = {name: np.asarray(scale[name] - before[name]).max() for name in ("rows", "sum")}
        change = np.triu(moved["sum"]) if gaussian and moved["sum"].ndim == 2 else moved["sum"]
        if gaussian:
            spent = ((moved["rows"] / unit["rows"]) ** 2 + ((change / unit["sum"]) ** 2).sum()) / 2
            budget = 0.5
        elif about.name.startswith("nuclear"):
            spent = moved["rows"] / unit["rows"] + np.linalg.norm(change, "nuc") / unit["sum"]
            budget = 1.0
        else:
            change = np.triu(change) if about.name == "lap-cov" else change
            spent = moved["rows"] / unit["rows"] + np.abs(change).sum() / unit["sum"]
            budget = 1.0
        assert spent <= budget * (1 + 1e-12)
    # For entrywise noise, the addition of a unit row with equal entries spends the whole budget. For any other noise,
    # the addition of the row e₁ spends the whole budget.
    entrywise = about.name in ("entrywise-laplace", "lap-cov")
    row = np.full((1, 2), 0.5**0.5) if entrywise else np.array([[1.0, 0.0]])
    none = np.zeros((0, 2))
    options = {"calibration": "tight"} if entrywise else {}
    parts, scale = released(about, row, 0.0, 0.0, **options), released(about, none, 1.0, 1.0, **options)
    if gaussian:
        total = np.triu(parts["sum"]) if parts["sum"].ndim == 2 else parts["sum"]
        attained = ((1 / scale["rows"]) ** 2 + ((total / scale["sum"].max()) ** 2).sum()) / 2
        assert attained == pytest.approx(0.5, rel=1e-12)
    else:
        total = np.triu(parts["sum"]) if about.name == "lap-cov" else parts["sum"]
        size = np.linalg.norm(parts["sum"], "nuc") if about.name.startswith("nuclear") else np.abs(total).sum()
        assert 1 / scale["rows"] + size / scale["sum"].max() == pytest.approx(1.0, rel=1e-12)


@EVERY
def test_noise_of_the_other_form_is_refused(about: Mechanism[Any, ..., Any]) -> None:
    with pytest.raises(InvalidInput, match="noise"):
        about.release(X, np.zeros((2, 2)), **about.notion.default.keywords(), **OPTIONS)


@pytest.mark.parametrize("noise", [0.5, 2.0, 40.0])
def test_the_shares_are_best(noise: float) -> None:
    """Test that the budget is divided between the number of rows and the sum such that the error is smallest."""

    def pure(share: float) -> float:
        return noise / (1 - share) ** 2 + 2 / share**2

    def gaussian(share: float) -> float:
        return noise / (1 - share) + 1 / share

    for error, share in ((pure, float(pure_share(noise))), (gaussian, float(gaussian_share(noise)))):
        assert error(share) < min(error(0.99 * share), error(1.01 * share))


@pytest.mark.parametrize("about", LATTICE, ids=lambda about: about.name)
def test_whole_numbers_come_out_as_they_are(about: Mechanism[Any, ..., Any]) -> None:
    """Test that the release adds integer noise to the number of rows and to the sum."""
    noise = CountedDraws(lambda parameter: -5, lambda parameter: np.full((2, 2), 3 * 4**20, dtype=object))
    kind = about.output_of(OPTIONS)
    for x, n in ((X, 3), (X[:0], 0)):
        out = about.release(x, noise, **about.notion.default.keywords(), **OPTIONS, row_bound=2.0)
        parts = kind.parts(out)
        assert parts["rows"] == n - 5
        clipped = CLIPPED * np.array([[1.0], [1.0], [2.0]])  # rows are clipped to length 2
        total = clipped.T @ clipped if n else np.zeros((2, 2))
        np.testing.assert_allclose(parts["sum"], total + 4 * 3, atol=1e-5)
        # a noisy number of rows below 1 is replaced by 1
        np.testing.assert_array_equal(parts["second_moment"], parts["sum"])
    for bad in (CountedNoise(1.0, np.zeros((2, 2))), CountedDraws(lambda parameter: 0.5, noise.sum)):
        with pytest.raises(InvalidInput, match="noise"):
            about.release(X, bad, **about.notion.default.keywords(), **OPTIONS)


@pytest.mark.parametrize("about", COUNTED + LATTICE, ids=lambda about: about.name)
def test_a_row_on_the_boundary_is_not_shortened(about: Mechanism[Any, ..., Any]) -> None:
    """Test that a row whose length is exactly the bound is not shortened."""
    x = np.array([[0.0, 4.0]])
    kind, keywords = about.output_of(OPTIONS), about.notion.default.keywords()
    zero = CountedNoise(0.0, np.zeros(2 if kind.entries == "vector" else (2, 2)))
    whole = CountedDraws(lambda parameter: 0, lambda parameter: np.zeros((2, 2), dtype=object) + 0)
    out = about.release(x, whole if about.lattice else zero, **keywords, **OPTIONS, row_bound=4.0)
    assert float(np.max(out)) == 16.0


@pytest.mark.parametrize("name", ["lap-cov", "nuclear-laplace", "nuclear-laplace-symmetric", "gauss-cov"])
def test_noise_of_many_draws_is_refused_under_add_remove(name: str) -> None:
    """The test fails if a stack of draws, which has no number of rows for each draw, gives one meaningless vector."""
    about = MECHANISMS[name]
    budget = {"rho": 1.0} if name == "gauss-cov" else {"epsilon": 1.0}
    noise = CountedNoise(0.0, np.zeros((2, 3, 3)))
    with pytest.raises(InvalidInput, match="noise"):
        about.release(np.eye(3), noise, adjacency="add-remove", **budget)
