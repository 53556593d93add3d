"""Test the estimators: the conventions of scikit-learn, privacy accounting, bounds of columns, and estimates."""

import copy
import doctest
import importlib
import math
import pickle
import re
import subprocess
import sys
import threading
import warnings
from typing import Any

import numpy as np
import pytest

from covassay.reference import PrivacyWarning, PrivateCovariance, PrivateMean, PrivatePCA, PrivateRidge
from covassay.reference.accounting import Account, OverBudget
from covassay.reference.domain import Box
from covassay.reference.errors import InvalidInput
from covassay.reference.estimators.base import box_of
from covassay.reference.estimators.moments import SHARE, Map, mean_unit, release_moments, second_moment_unit
from covassay.reference.laws.wigner import separation_squared
from covassay.reference.mechanisms.registry import mechanism
from covassay.reference.privacy import ZCDP, PureDP, Spend
from covassay.reference.recommendation import CANDIDATES, Setting, recommend

RNG = np.random.default_rng(3)
X = RNG.uniform(-1, 1, (3000, 3)) @ np.array([[1.0, 0.5, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.2]])
Y = X @ [1.0, -1.0, 0.0] + 0.5
EVERY: list[Any] = [
    PrivateCovariance(epsilon=1, row_bound=3, random_state=0),
    PrivateMean(rho=1, bounds=(-2, 2), random_state=0),
    PrivatePCA(2, epsilon=1, row_bound=3, random_state=0),
    PrivateRidge(epsilon=1, bounds=(-2, 2), target_bounds=(-3, 4), random_state=0),
]


def fitted(estimator: Any, x: Any = X) -> Any:
    return estimator.fit(x, Y) if isinstance(estimator, PrivateRidge) else estimator.fit(x)


@pytest.mark.parametrize(
    "estimator",
    [PrivateCovariance(rho=1, bounds=(-10, 10)), PrivateMean(rho=1, row_bound=10.0),
     PrivatePCA(1, rho=1, bounds=(-10, 10)), PrivateRidge(rho=1, row_bound=10.0),
     *(pytest.param(estimator, marks=pytest.mark.slow) for estimator in (
         PrivateCovariance(epsilon=1, row_bound=10.0), PrivateCovariance(rho=1, row_bound=10.0, assume_centered=True),
         PrivatePCA(epsilon=1, row_bound=10.0), PrivateRidge(epsilon=1, bounds=(-9, 9), target_bounds=(-9, 9)),
     ))],
    ids=repr,
)  # fmt: skip
@pytest.mark.filterwarnings("ignore")
def test_the_conventions_of_scikit_learn_are_kept_without_an_exception(estimator: Any) -> None:
    checks = pytest.importorskip("sklearn.utils.estimator_checks")
    # No check is expected to fail. The tag `poor_score` declares that scores on small data are poor.
    expected: dict[str, str] = {}
    results = checks.check_estimator(estimator, expected_failed_checks=expected, on_fail=None, on_skip=None)
    assert len(results) > 35
    assert [(r["check_name"], r["exception"]) for r in results if r["status"] != "passed"] == []


@pytest.mark.filterwarnings("ignore")
def test_the_check_of_the_conventions_can_fail() -> None:
    checks = pytest.importorskip("sklearn.utils.estimator_checks")

    class Forgetful(PrivateCovariance):
        def fit(self, X: Any, y: Any = None) -> "Forgetful":
            super().fit(X)
            self.random_state = 5  # `fit` must not change a parameter
            return self

    results = checks.check_estimator(Forgetful(epsilon=1, row_bound=10.0), on_fail=None, on_skip=None)
    assert any(r["status"] == "failed" for r in results)


@pytest.mark.parametrize("estimator", EVERY, ids=repr)
def test_the_spend_is_that_of_the_mechanism_and_within_the_budget(estimator: Any) -> None:
    done = fitted(estimator)
    # The estimator adds a constant column. The products of this column with the other columns give the mean. Ridge
    # regression also adds the target.
    columns = X.shape[1] + 1 + isinstance(estimator, PrivateRidge)
    candidate = next(c for c in CANDIDATES if c.name == done.mechanism_)
    budget = {"epsilon": 1} if estimator.epsilon else {"rho": 1}
    choices = {name: value for name, value in candidate.options.items() if name in candidate.declared.choices}
    assert done.spend_ == candidate.declared.spend(**budget, dimension=columns, **choices)
    (claimed,) = done.spend_.claimed.keywords().values()
    (proven,) = done.spend_.proven.keywords().values()
    assert proven <= claimed * (1 + 1e-12)
    assert claimed == 1


def test_the_mechanism_is_chosen_from_public_facts_alone() -> None:
    first, second = PrivateCovariance(epsilon=1, row_bound=1), PrivateCovariance(epsilon=1, row_bound=1)
    assert first.fit(X).mechanism_ == second.fit(np.zeros_like(X)).mechanism_
    kept = [c for c in CANDIDATES if not c.searches]
    assert first.mechanism_ == recommend(Setting(len(X), 4, PureDP(1.0)), candidates=kept).best.candidate.name
    for rows in (2, 20, 200):
        chosen = PrivateCovariance(epsilon=1, row_bound=1).fit(X[:rows]).mechanism_
        assert not next(c for c in CANDIDATES if c.name == chosen).searches
    named = PrivateCovariance(epsilon=1, row_bound=1, mechanism="lap-cov").fit(X)
    assert named.mechanism_ == "lap-cov calibration=tight"


@pytest.mark.parametrize("budget", [PureDP(1e7), ZCDP(1e13)], ids=str)
def test_with_a_vast_budget_the_estimates_are_those_of_the_data(budget: Any) -> None:
    given: dict[str, Any] = {**budget.keywords(), "bounds": (-2, 2), "random_state": 0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        covariance = PrivateCovariance(**given).fit(X)
        np.testing.assert_allclose(covariance.covariance_, np.cov(X.T, bias=True), atol=1e-4)
        np.testing.assert_allclose(covariance.location_, X.mean(axis=0), atol=1e-4)
        np.testing.assert_allclose(PrivateMean(**given).fit(X).location_, X.mean(axis=0), atol=1e-4)
        pca = PrivatePCA(**given).fit(X)
        values = np.linalg.eigvalsh(np.cov(X.T, bias=True))[::-1]
        np.testing.assert_allclose(pca.explained_variance_, values, atol=1e-4)
        np.testing.assert_allclose(pca.inverse_transform(pca.transform(X)), X, atol=1e-12)
        ridge = PrivateRidge(1e-6, target_bounds=(-4, 4), **given).fit(X, Y)
        np.testing.assert_allclose(ridge.coef_, [1, -1, 0], atol=2e-2)
        assert ridge.intercept_ == pytest.approx(0.5, abs=1e-2)
        assert ridge.score(X, Y) > 0.999
        assumed = PrivateCovariance(row_bound=3, assume_centered=True, **budget.keywords()).fit(X)
        np.testing.assert_allclose(assumed.covariance_, X.T @ X / len(X), atol=1e-4)
        assert (assumed.location_ == 0).all()


def test_the_ridge_is_that_of_scikit_learn_without_noise() -> None:
    linear = pytest.importorskip("sklearn.linear_model")
    given: dict[str, Any] = {"rho": 1e14, "random_state": 0, "noise_penalty": False}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        ridge = PrivateRidge(500.0, bounds=(-2, 2), target_bounds=(-4, 4), **given).fit(X, Y)
        origin = PrivateRidge(500.0, row_bound=5, fit_intercept=False, **given).fit(X, Y)
    theirs = linear.Ridge(500.0).fit(X, Y)
    np.testing.assert_allclose([*ridge.coef_, ridge.intercept_], [*theirs.coef_, theirs.intercept_], atol=1e-4)
    np.testing.assert_allclose(origin.coef_, linear.Ridge(500.0, fit_intercept=False).fit(X, Y).coef_, atol=1e-4)
    assert origin.intercept_ == 0


def test_the_blocks_of_one_release_have_the_noise_that_is_stated() -> None:
    """Test the noise scales of the second moment and of the mean, and that scales which are wrong by 3 % are rejected.
    The tolerance is 6.2 standard errors, so that a false alarm has probability below 1e-9.
    """
    n, d, rho, draws = 4, 3, 0.5, 60_000
    candidate = next(c for c in CANDIDATES if c.law == "goe")
    u, rng = np.zeros((n, d)), np.random.default_rng(11)
    noise = candidate.declared.draw_noise(d + 1, rng, ensemble="goe", size=draws) / (n * math.sqrt(rho))
    for a in (SHARE, 0.5):
        released = [release_moments(u, candidate, ZCDP(rho), a, np.random.default_rng(k), False) for k in range(3)]
        assert all(m.mean is not None and m.second.shape == (d, d) for m in released)
        off_diagonal = second_moment_unit(a) * noise[:, 0, 1]
        mean = mean_unit(a) * noise[:, 0, -1]
        sigma = 1 / (n * math.sqrt(2 * rho))
        for values, expected in ((off_diagonal, sigma / a), (mean, sigma / math.sqrt(a * (1 - a)))):
            room = 6.2 / math.sqrt(2 * draws)
            ratio = float(np.std(values)) / expected
            assert [abs(math.log(ratio * f)) < room for f in (1.0, 1.03, 1 / 1.03)] == [True, False, False]
    # With a = 1/2 the mean has the noise √2/(n√ρ) of the Gaussian mechanism for the sensitivity 2/n.
    gaussian = 2 / n / math.sqrt(2 * rho)
    assert 1 / (n * math.sqrt(2 * rho)) * mean_unit(0.5) == pytest.approx(gaussian)


@pytest.mark.parametrize("mapping", [Map.of(3, 0.5, None), Map.of(3, None, Box.of([(-0.5, 0.5), (0, 1), (-1, 0)]))])
def test_every_row_that_reaches_the_mechanism_is_in_the_unit_ball(mapping: Map) -> None:
    u = mapping.unit(100 * X)
    assert np.linalg.norm(u, axis=1).max() <= 1 + 1e-12
    z = np.hstack([SHARE**0.5 * u, np.full((len(u), 1), (1 - SHARE) ** 0.5)])
    assert np.linalg.norm(z, axis=1).max() <= 1 + 1e-12
    one = X.copy()
    one[7] = 1e6
    changed = (mapping.unit(one) != mapping.unit(X)).any(axis=1)
    assert changed.sum() == 1  # only the changed row has changed values


@pytest.mark.parametrize("a", [SHARE, 0.5])
def test_one_row_moves_both_moments_by_no_more_than_the_budget_allows(a: float) -> None:
    """Test that the exact privacy loss on the worst pairs of rows is at most ρ. If the rows and the constant column are
    not multiplied by their factors, the loss is above ρ.
    """
    n, rho = 5, 0.7

    def loss(first: Any, second: Any, factors: tuple[float, float]) -> float:
        z = np.array([[*(factors[0] * u), factors[1]] for u in (first, second)])
        change = (np.outer(z[0], z[0]) - np.outer(z[1], z[1])) / n
        return float(separation_squared(change, "goe") / 2 * rho * n**2)  # σ = 1/(n√ρ)

    pairs = [(np.eye(3)[0], v) for v in (np.eye(3)[1], -np.eye(3)[0], np.zeros(3), -np.ones(3) / 3**0.5)]
    assert max(loss(u, v, (a**0.5, (1 - a) ** 0.5)) for u, v in pairs) <= rho * (1 + 1e-12)
    assert max(loss(u, v, (1.0, 1.0)) for u, v in pairs) > 1.5 * rho


@pytest.mark.parametrize(
    ("estimator", "words"),
    [
        (PrivateCovariance(epsilon=1), "give one of them, chosen without looking"),
        (PrivateCovariance(epsilon=1, row_bound=1, bounds=(0, 1)), "give one of them, chosen without looking"),
        (PrivateCovariance(row_bound=1), "the budget"),
        (PrivateCovariance(epsilon=1, rho=1, row_bound=1), "the budget"),
        (PrivateCovariance(epsilon=0, row_bound=1), "epsilon"),
        (PrivateCovariance(epsilon="1", row_bound=1), "epsilon"),  # type: ignore[arg-type]
        (PrivateCovariance(rho=math.inf, row_bound=1), "rho"),
        (PrivateCovariance(epsilon=1, row_bound=-1), "row_bound"),
        (PrivateCovariance(epsilon=1, bounds=(1, 0)), "low < high"),
        (PrivateCovariance(epsilon=1, bounds=[(0, 1)] * 2), "bounds for 2 columns"),
        (PrivateCovariance(epsilon=1, bounds="wide"), "bounds"),
        (PrivateCovariance(epsilon=1, bounds={"a": (0, 1)}), "data frame"),
        (PrivateCovariance(epsilon=1, row_bound=1, mechanism="gauss-cov"), "give --epsilon|zCDP"),
        (PrivateCovariance(epsilon=1, row_bound=1, mechanism="bingham"), "must be one of"),
        (PrivateCovariance(epsilon=1, row_bound=1, mechanism="lap"), "must be one of"),
        (PrivateCovariance(epsilon=1, row_bound=1, random_state="x"), "random_state"),
        (PrivateCovariance(epsilon=1, row_bound=1, rounded=True, mechanism="kapralov-talwar"), "must be one of"),
        (PrivateCovariance(epsilon=1, row_bound=1, rounded=True, random_state=np.random.default_rng()), "random_state"),
        (PrivateMean(epsilon=1, row_bound=1, mechanism="nuclear-ball-projection"), "must be one of"),
        (PrivatePCA(4, epsilon=1, row_bound=1), "n_components"),
        (PrivatePCA(0, epsilon=1, row_bound=1), "n_components"),
        (PrivateRidge(0.0, epsilon=1, row_bound=1), "alpha"),
        (PrivateRidge(epsilon=1, bounds=(0, 1)), "target_bounds"),
        (PrivateRidge(epsilon=1, row_bound=1, target_bounds=(0, 1)), "target_bounds"),
        (PrivateRidge(epsilon=1, bounds=(0, 1), target_bounds=(0, 1), fit_intercept=False), "fit_intercept"),
    ],
    ids=lambda value: re.sub(" at 0x[0-9A-F]+", "", repr(value)),  # the address of an object differs between processes
)  # fmt: skip
def test_what_breaks_a_rule_is_refused_and_nothing_is_fitted(estimator: Any, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        fitted(estimator)
    assert not hasattr(estimator, "spend_")


@pytest.mark.parametrize(
    ("x", "words"),
    [
        (np.ma.masked_array(X, mask=X > 1), "masked"),
        (np.array([["2020-01-01"]], dtype="datetime64[D]"), "must be real numbers"),
        ([[10**400, 1]], "too large"),
        ([["a", "b"]], "no number"),
        ([[1, 2], [3]], "cannot be read"),
        (None, "Reshape your data"),
        ([1.0, 2.0], "Reshape your data"),
        ([[1.0, math.nan]], "NaN or inf"),
        (np.zeros((0, 2)), "minimum of 1"),
    ],
    ids=str,
)
def test_data_that_are_no_matrix_of_numbers_are_refused(x: Any, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        PrivateCovariance(epsilon=1, row_bound=1).fit(x)


def test_what_was_not_fitted_and_what_does_not_fit_is_refused() -> None:
    pca = PrivatePCA(1, epsilon=1, row_bound=1)
    with pytest.raises(ValueError, match="not fitted"):
        pca.transform(X)
    with pytest.raises(InvalidInput, match="must have one for each of 1"):
        pca.fit(X).inverse_transform(X)
    with pytest.raises(InvalidInput, match="library"):
        PrivateCovariance(epsilon=1, row_bound=1).fit(X).covariance_frame("excel")
    with pytest.raises(InvalidInput, match="epsilom"):
        pca.set_params(epsilom=2)


def test_a_large_budget_is_warned_of() -> None:
    """Test that a budget that hardly protects anyone gives a warning."""
    with pytest.warns(PrivacyWarning, match="hardly protected"):
        PrivateCovariance(epsilon=10.5, row_bound=1).fit(X)
    with pytest.warns(PrivacyWarning):
        PrivateRidge(rho=11, row_bound=1).fit(X, Y)
    PrivateCovariance(epsilon=10, row_bound=1).fit(X)  # a warning would be an error in the tests


@pytest.mark.parametrize("estimator", EVERY, ids=repr)
def test_seeds_repeat_and_no_seed_does_not(estimator: Any) -> None:
    """Test that a seed gives the same release again, and that releases without a seed differ."""

    def state(done: Any) -> bytes:
        return pickle.dumps({k: v for k, v in vars(done).items() if k.endswith("_") and k != "random_state"})

    again = type(estimator)(**estimator.get_params())
    assert state(fitted(estimator)) == state(fitted(again))
    fresh = type(estimator)(**{**estimator.get_params(), "random_state": None})
    first = state(fitted(fresh))
    assert first != state(fitted(fresh))
    generator = estimator.set_params(random_state=np.random.RandomState(4))
    fitted(generator)
    estimator.set_params(random_state=0)


def test_data_frames_go_in_and_come_out_with_names() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=["a", "b", "c"], index=np.arange(len(X)) + 10)
    bounds = {"c": (-1, 1), "a": (-2, 2), "b": (-3, 3)}
    private = PrivateCovariance(epsilon=1, bounds=bounds).fit(frame)
    assert list(private.feature_names_in_) == ["a", "b", "c"]
    shown = private.covariance_frame()
    assert list(shown.columns) == list(shown.index) == ["a", "b", "c"]
    pca = PrivatePCA(2, epsilon=1, bounds=bounds).set_output(transform="pandas").fit(frame)
    out = pca.transform(frame)
    assert list(out.columns) == ["privatepca0", "privatepca1"]
    assert list(out.index) == list(frame.index)
    with pytest.warns(UserWarning, match="valid feature names"):
        pca.transform(X)
    with pytest.raises(InvalidInput, match="unseen at fit time"):
        pca.transform(frame.rename(columns={"a": "z"}))
    with pytest.raises(InvalidInput, match="same order"):
        pca.transform(frame[["b", "a", "c"]])
    with pytest.raises(InvalidInput, match="missing \\['c'\\], unknown \\['d'\\]"):
        PrivateCovariance(epsilon=1, bounds={"a": (0, 1), "b": (0, 1), "d": (0, 1)}).fit(frame)
    with pytest.raises(InvalidInput, match="transform"):
        pca.set_output(transform="excel")


@pytest.mark.parametrize("budget", [{"epsilon": 1.0}, {"rho": 0.5}])
def test_a_rounded_release_is_on_its_grid(budget: dict[str, float]) -> None:
    """Test that releases with `rounded=True` depend on the seed alone, and keep the notion of privacy."""
    pytest.importorskip("flint")
    given: dict[str, Any] = {**budget, "row_bound": 1, "rounded": True, "random_state": 1, "assume_centered": True}
    x = X[:50] / 3
    first, second = (PrivateCovariance(**given).fit(x) for _ in range(2))
    np.testing.assert_array_equal(first.covariance_, second.covariance_)
    unseeded = PrivateCovariance(**{**given, "random_state": None}).fit(x)
    assert (unseeded.covariance_ != first.covariance_).any()
    assert mechanism(first.mechanism_.split()[0].rstrip(",")).notion.name == ("pure" if "epsilon" in budget else "zcdp")


@pytest.mark.slow
def test_the_reference_imports_neither_scikit_learn_nor_data_frames() -> None:
    code = (
        "import sys; from covassay.reference import PrivateCovariance, PrivatePCA; import numpy as np; "
        "PrivatePCA(1, epsilon=1, row_bound=1).fit(np.eye(3)).transform(np.eye(3)); "
        "print([m for m in ('sklearn', 'pandas', 'polars', 'matplotlib') if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


@pytest.mark.parametrize(
    "name", ["estimators", *(f"estimators.{n}" for n in ("covariance", "mean", "pca", "ridge")), "recommendation",
             "recommendation.ranking"],
)  # fmt: skip
def test_the_examples_in_docstrings_run(name: str) -> None:
    found = doctest.testmod(importlib.import_module(f"covassay.reference.{name}"))
    assert found.attempted > 0
    assert found.failed == 0


# One account for several estimators


def test_estimators_share_an_account_that_refuses() -> None:
    """Test that copies of an estimator charge the same account, and that a pickled copy is refused."""
    x = np.random.default_rng(0).uniform(0, 1, (200, 3))
    account = Account(ZCDP(1.0))
    common = {"rho": 0.4, "bounds": (0, 1), "accountant": account}
    first = PrivateCovariance(**common).fit(x)
    copied = copy.deepcopy(PrivateMean(**common))
    copied.fit(x)
    assert account.spent() == ZCDP(0.8)
    with pytest.raises(OverBudget, match="must stay within"):
        PrivatePCA(**common).fit(x)
    with pytest.raises(OverBudget, match="this account is a pickled copy"):
        pickle.loads(pickle.dumps(first)).set_params(rho=0.01).fit(x)
    spend = Spend(ZCDP(0.1), ZCDP(0.1), True)
    with pytest.raises(InvalidInput), account.charging(spend):
        raise InvalidInput("nothing was released, so the charge is taken back")
    assert account.spent() == ZCDP(0.8)
    with pytest.raises(RuntimeError), account.charging(spend):
        raise RuntimeError("something may have been released, so the charge stands")
    assert account.spent() == ZCDP(0.9)
    with pytest.raises(InvalidInput, match="must be an Account"):
        PrivateCovariance(rho=0.1, bounds=(0, 1), accountant=1.0).fit(x)  # type: ignore[arg-type]
    other = Account(ZCDP(1.0), adjacency="add-remove")
    with pytest.raises(InvalidInput, match="accountant for add-remove: must be for replace-one"):
        PrivateCovariance(rho=0.1, bounds=(0, 1), accountant=other).fit(x)
    assert other.spent() is None


def test_many_threads_never_exceed_the_total_of_an_account() -> None:
    account = Account(ZCDP(1.0))
    x = np.random.default_rng(0).uniform(0, 1, (50, 2))
    refused: list[int] = []

    def fit() -> None:
        try:
            PrivateMean(rho=0.3, bounds=(0, 1), accountant=account).fit(x)
        except OverBudget:
            refused.append(1)

    threads = [threading.Thread(target=fit) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(refused) == 5
    spent = account.spent()
    assert isinstance(spent, ZCDP)
    assert spent.rho == pytest.approx(0.9)


# Bounds that are given as minima and maxima


@pytest.mark.parametrize(
    ("bounds", "expected"),
    [
        ((0, 1), ((0, 1), (0, 1), (0, 1))),
        ([(0, 1), (2, 3), (4, 5)], ((0, 1), (2, 3), (4, 5))),
        (([0, 2, 4], [1, 3, 5]), ((0, 1), (2, 3), (4, 5))),
        ((np.array([0, 2, 4]), np.array([1, 3, 5])), ((0, 1), (2, 3), (4, 5))),
        ((0, np.array([1, 3, 5])), ((0, 1), (0, 3), (0, 5))),
        (((0, 2), (5, 6), (7, 8)), ((0, 2), (5, 6), (7, 8))),
    ],
)
def test_bounds_are_pairs_or_minima_and_maxima(bounds: Any, expected: Any) -> None:
    assert box_of(bounds, 3, None).bounds == expected


def test_bounds_of_two_columns_that_can_be_read_in_two_ways_are_refused() -> None:
    assert box_of([(0, 1), (2, 3)], 2, None).bounds == ((0, 1), (2, 3))
    assert box_of((np.array([0, 1]), np.array([2, 3])), 2, None).bounds == ((0, 2), (1, 3))
    # read as minima and maxima, the second column would have the minimum 10 and the maximum 5
    assert box_of(((0, 10), (0, 5)), 2, None).bounds == ((0, 10), (0, 5))
    assert box_of(((0, 0), (1, 1)), 2, None).bounds == ((0, 1), (0, 1))
    with pytest.raises(InvalidInput, match="can be two pairs or"):
        box_of(((0, 1), (2, 3)), 2, None)
    for bounds in ((1, 0), "ab", ((0, 1),), (np.zeros(2), np.zeros(3)), ([0, 0], [1, np.nan])):
        with pytest.raises(InvalidInput):
            box_of(bounds, 2, None)


# Bounded columns


BOUNDS = [(-3, 5), (-2, 2), (0, 1)]


def test_bounded_columns_are_released_by_a_mechanism_of_theirs_under_zcdp() -> None:
    """Test that a mechanism for bounded columns releases the covariance of the clipped columns in their units. At ρ =
    10⁸ the noise is below 10⁻³.
    """
    clipped = np.clip(X, *np.array(BOUNDS, dtype=float).T)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        model = PrivateCovariance(rho=1e8, bounds=BOUNDS, random_state=0).fit(X)
        named = PrivateCovariance(epsilon=1e8, bounds=BOUNDS, mechanism="box-laplace", random_state=0).fit(X)
        about_the_middle = PrivateCovariance(
            rho=1e8, bounds=BOUNDS, mechanism="box-gauss", assume_centered=True, random_state=0
        ).fit(X)
    assert (model.mechanism_, named.mechanism_) == ("box-gauss", "box-laplace")
    assert model.spend_ == mechanism("box-gauss").spend(rho=1e8, dimension=3)
    for one in (model, named):
        np.testing.assert_allclose(one.covariance_, np.cov(clipped.T, bias=True), atol=1e-3)
        np.testing.assert_allclose(one.location_, clipped.mean(axis=0), atol=1e-3)
    middle = np.array([1.0, 0.0, 0.5])
    np.testing.assert_array_equal(about_the_middle.location_, middle)
    moment = (clipped - middle).T @ (clipped - middle) / len(X)
    np.testing.assert_allclose(about_the_middle.covariance_, moment, atol=1e-3)


def test_which_mechanism_bounds_take() -> None:
    """Test which mechanism an estimator with bounds chooses, and that it keeps a mechanism that the user names."""
    for estimator, name in (
        (PrivateCovariance(rho=1, bounds=(-2, 2)), "box-gauss"),
        (PrivatePCA(1, rho=1, bounds=(-2, 2)), "box-gauss"),
        (PrivateRidge(rho=1, bounds=(-2, 2), target_bounds=(-3, 3)), "box-gauss"),
        (PrivateMean(rho=1, bounds=(-2, 2)), "gauss-cov ensemble=goe"),
        (PrivateCovariance(rho=1, bounds=(-2, 2), mechanism="gauss-cov"), "gauss-cov ensemble=goe"),
    ):
        assert fitted(estimator).mechanism_ == name
    assert not fitted(PrivateCovariance(epsilon=1, bounds=(-2, 2))).mechanism_.startswith("box")
    assert not fitted(PrivateCovariance(rho=1, bounds=(-2, 2), assume_centered=True)).mechanism_.startswith("box")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"rho": 1, "row_bound": 1}, "it takes bounded columns: give bounds"),
        ({"epsilon": 1, "bounds": (0, 1)}, "ρ-zCDP"),
    ],
)
def test_a_mechanism_for_bounded_columns_needs_bounds_and_its_budget(arguments: dict[str, Any], message: str) -> None:
    account = Account(ZCDP(5))
    with pytest.raises(InvalidInput, match=message):
        PrivateCovariance(**arguments, mechanism="box-gauss", accountant=account).fit(X)
    assert account.spent() is None


def test_bounded_columns_are_charged_and_refused_by_an_account() -> None:
    account = Account(ZCDP(1.5))
    model = PrivateCovariance(rho=1, bounds=(-2, 2), accountant=account)
    model.fit(X)
    assert account.spent() == ZCDP(1)
    with pytest.raises(OverBudget):
        model.fit(X)


def test_a_rounded_release_of_bounded_columns_is_the_same_for_a_seed() -> None:
    pytest.importorskip("flint")
    one, two = (
        PrivateCovariance(rho=1, bounds=BOUNDS, rounded=True, random_state=5).fit(X).covariance_ for _ in range(2)
    )
    np.testing.assert_array_equal(one, two)
    assert np.abs(one - np.cov(np.clip(X, *np.array(BOUNDS, dtype=float).T).T, bias=True)).max() < 0.5
