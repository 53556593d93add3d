"""Test the privacy account of a data set: the sum of its releases, and the refusal of a release before the data are
read."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from covassay.reference.accounting import Account, OverBudget, compose, exceeds
from covassay.reference.domain import Chunks
from covassay.reference.errors import InvalidInput
from covassay.reference.privacy import ZCDP, ApproximateDP, Guarantee, PureDP, epsilon_of_zcdp, smallest_epsilon_of_zcdp

PROPERTY = settings(max_examples=80)
X = np.array([[0.5, -0.25], [0.0, 0.75], [0.5, 0.5]])
TANH_HALF = 0.46211715726000973  # the zCDP of a release with pure ε = 1: tanh(1/2) = (e − 1)/(e + 1)


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


# Sums of the budgets of releases, computed by hand


def test_pure_releases_add_up() -> None:
    assert compose([PureDP(0.5), PureDP(0.25), PureDP(1.0)], PureDP(9.0)) == PureDP(1.75)


def test_zcdp_releases_add_up_and_a_pure_one_counts_as_epsilon_tanh() -> None:
    assert compose([ZCDP(0.5), ZCDP(0.25)], ZCDP(9.0)) == ZCDP(0.75)
    spent = compose([ZCDP(0.5), PureDP(1.0), PureDP(1.0)], ZCDP(9.0))
    assert isinstance(spent, ZCDP)
    assert spent.rho == pytest.approx(0.5 + 2 * TANH_HALF, rel=1e-15)


def test_approximate_releases_add_up_in_both_parameters() -> None:
    spent = compose([ApproximateDP(0.5, 2e-7), ApproximateDP(0.25, 3e-7)], ApproximateDP(9.0, 1e-6))
    assert spent == ApproximateDP(0.75, 5e-7)


def test_one_pure_release_of_an_approximate_total_costs_its_epsilon_and_many_cost_less_than_their_sum() -> None:
    total = ApproximateDP(9.0, 1e-6)
    assert compose([PureDP(1.0)], total) == ApproximateDP(1.0, 1e-6)
    # By hand, ρ = 400 · 0.01 tanh(0.005) = 0.02, and ε is at most 0.02 + 2 √0.27631 = 1.0713.
    spent = compose([PureDP(0.01)] * 400, total)
    assert isinstance(spent, ApproximateDP)
    assert 0.8 < spent.epsilon < 1.0713
    assert spent.delta == 1e-6


def test_zcdp_is_converted_at_what_remains_of_delta() -> None:
    total = ApproximateDP(9.0, 1e-6)
    spent = compose([ZCDP(0.1), ApproximateDP(0.5, 4e-7)], total)
    assert spent == ApproximateDP(0.5 + smallest_epsilon_of_zcdp(0.1, 1e-6 - 4e-7), 1e-6)


def test_a_large_pure_release_is_added_to_the_converted_zcdp() -> None:
    """Test that a large pure release is not converted to zCDP. A release with ε = 20 is 20-zCDP, which implies only an
    ε far above 20.

    The account must therefore convert only the zCDP release to (ε, δ)-DP, and then add ε = 20.
    """
    spent = compose([ZCDP(0.1), PureDP(20.0)], ApproximateDP(99.0, 1e-6))
    assert spent == ApproximateDP(20.0 + smallest_epsilon_of_zcdp(0.1, 1e-6), 1e-6)


def test_small_pure_releases_are_converted_with_the_zcdp() -> None:
    spent = compose([ZCDP(0.1), PureDP(0.1)], ApproximateDP(99.0, 1e-6))
    together = smallest_epsilon_of_zcdp(0.1 + 0.1 * math.tanh(0.05), 1e-6)
    assert together < 0.1 + smallest_epsilon_of_zcdp(0.1, 1e-6)
    assert spent == ApproximateDP(together, 1e-6)


def test_pure_releases_need_no_delta() -> None:
    total = ApproximateDP(9.0, 1e-6)
    assert compose([ApproximateDP(0.5, 1e-6), PureDP(0.25)], total) == ApproximateDP(0.75, 1e-6)


def test_what_delta_alone_covers_costs_next_to_nothing() -> None:
    # By Pinsker's inequality, the total variation distance is at most √(ρ/2) = 7.1e-4.
    # This is below δ = 0.01, so that the release satisfies (0, δ)-DP.
    spent = compose([ZCDP(1e-6)], ApproximateDP(1.0, 0.01))
    assert isinstance(spent, ApproximateDP)
    assert 0 < spent.epsilon < 1e-300


@pytest.mark.parametrize(
    ("spent", "total", "named"),
    [
        ([ZCDP(0.1)], PureDP(9.0), "a total in pure DP allows only pure DP releases"),
        ([ApproximateDP(0.1, 1e-9)], PureDP(9.0), "a total in pure DP allows only pure DP releases"),
        ([ApproximateDP(0.1, 1e-9)], ZCDP(9.0), "a total in zCDP allows only pure DP and zCDP releases"),
        ([], ZCDP(9.0), "at least one guarantee"),
    ],
)
def test_a_guarantee_that_implies_nothing_in_the_notion_of_the_total_is_refused(
    spent: list[Guarantee], total: Guarantee, named: str
) -> None:
    with pytest.raises(InvalidInput, match=named):
        compose(spent, total)


@pytest.mark.parametrize(
    "spent",
    [
        [ApproximateDP(0.1, 1.1e-6)],
        [ApproximateDP(0.1, 0.6), ApproximateDP(0.1, 0.6)],
        [ApproximateDP(0.1, 1e-6), ZCDP(1e-9)],
        [ApproximateDP(0.1, 1.1e-6), PureDP(0.1)],
    ],
    ids=["too much delta", "delta beyond 1", "no delta left for the zCDP", "too much delta beside pure"],
)
def test_overspent_delta_is_over_budget(spent: list[Guarantee]) -> None:
    with pytest.raises(OverBudget, match="δ"):
        compose(spent, ApproximateDP(9.0, 1e-6))


def test_thirds_of_a_budget_are_a_whole() -> None:
    """Test that three thirds of a total budget do not exceed it because of rounding errors in their sum."""
    thirds: list[Guarantee] = [ApproximateDP(0.1, 1e-6 / 3)] * 3
    for total in (ApproximateDP(0.3, 1e-6), ApproximateDP(0.3 - 1e-16, 1e-6 - 1e-22)):
        assert not exceeds(compose(thirds, total), total)
    assert exceeds(compose(thirds, ApproximateDP(0.299, 1e-6)), ApproximateDP(0.299, 1e-6))


# Properties that every correct account has

pure = st.floats(0.01, 3).map(PureDP)
zcdp = st.floats(0.001, 1).map(ZCDP)
approximate = st.tuples(st.floats(0.01, 3), st.floats(1e-9, 1e-7)).map(lambda pair: ApproximateDP(*pair))
EVERY_NOTION = pytest.mark.parametrize(
    ("total", "releases"),
    [
        pytest.param(PureDP(1e3), st.lists(pure, min_size=1, max_size=5), id="pure"),
        pytest.param(ZCDP(1e3), st.lists(pure | zcdp, min_size=1, max_size=5), id="zcdp"),
        pytest.param(
            ApproximateDP(1e3, 1e-6), st.lists(pure | zcdp | approximate, min_size=1, max_size=5), id="approximate"
        ),
    ],
)


@EVERY_NOTION
@PROPERTY
@given(data=st.data())
def test_the_order_of_releases_does_not_matter(total: Guarantee, releases: Any, data: st.DataObject) -> None:
    listed = data.draw(releases)
    other = data.draw(st.permutations(listed))
    expected = compose(listed, total).keywords()
    assert compose(other, total).keywords() == pytest.approx(expected, rel=1e-9)


@EVERY_NOTION
@PROPERTY
@given(data=st.data())
def test_another_release_never_makes_the_sum_smaller(total: Guarantee, releases: Any, data: st.DataObject) -> None:
    listed = data.draw(releases)
    assume(len(listed) > 1)
    before, after = compose(listed[:-1], total).keywords(), compose(listed, total).keywords()
    assert type(compose(listed, total)) is type(total)
    for parameter, value in before.items():
        assert after[parameter] >= value * (1 - 1e-9)


@PROPERTY
@given(st.lists(pure | zcdp | approximate, min_size=1, max_size=5))
def test_the_sum_is_never_more_than_every_release_converted_by_itself_and_added_up(listed: list[Guarantee]) -> None:
    total = ApproximateDP(1e3, 1e-6)
    spent = compose(listed, total)
    left = 1e-6 - sum(g.delta for g in listed if isinstance(g, ApproximateDP))
    zcdps = [g for g in listed if isinstance(g, ZCDP)]
    alone = sum(g.epsilon for g in listed if not isinstance(g, ZCDP)) + sum(
        float(epsilon_of_zcdp(g.rho, left / len(zcdps))) for g in zcdps
    )
    assert isinstance(spent, ApproximateDP)
    assert spent.epsilon <= alone * (1 + 1e-9)


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 0.5])
@pytest.mark.parametrize("folds", [1, 10, 60])
def test_the_sum_covers_repeated_randomised_response(epsilon: float, folds: int) -> None:
    """Test that repeated randomised response satisfies the (ε, δ) that the account states. Its exact δ is a sum over
    the number of true answers.
    """
    from scipy import stats

    total = ApproximateDP(1e3, 1e-4)
    spent = compose([PureDP(epsilon)] * folds, total)
    assert isinstance(spent, ApproximateDP)
    j = np.arange(folds + 1)
    truth = stats.binom.pmf(j, folds, 1 / (1 + math.exp(-epsilon)))
    delta = float(truth @ -np.expm1(np.minimum(spent.epsilon - (2 * j - folds) * epsilon, 0)))
    assert delta <= 1e-4 * (1 + 1e-9)
    # The stated ε must be at most twice the smallest ε that is possible for δ = 1e-4. In other words, the releases must
    # violate (stated ε/2, 1e-4)-DP. The test checks this condition only if the stated ε is more than 1 % below the sum
    # of the ε of the releases.
    if spent.epsilon < 0.99 * epsilon * folds:
        loose = float(truth @ -np.expm1(np.minimum(spent.epsilon / 2 - (2 * j - folds) * epsilon, 0)))
        assert loose > 1e-4


# The account


def test_releases_are_entered_with_what_they_spend_and_what_all_add_up_to() -> None:
    account = Account(PureDP(1.0))
    assert account.spent() is None
    first = account.release("nuclear-laplace", X, rng(), epsilon=0.25)
    second = account.release("nuclear-ball-projection", X, rng(), epsilon=0.75, calibration="tight", row_bound=2.0)
    assert first.values.shape == second.values.shape == (2, 2)
    assert (first.total, second.total) == (PureDP(0.25), PureDP(1.0))
    assert second.arguments == {"epsilon": 0.75, "calibration": "tight", "row_bound": 2.0}
    assert account.spent() == PureDP(1.0)
    assert [entry.mechanism for entry in account.releases] == ["nuclear-laplace", "nuclear-ball-projection"]


def test_what_is_proven_can_be_charged_instead_of_what_is_claimed() -> None:
    """Test that an account charges the claimed or the proven ε, as requested. With the paper's noise scales, the proven
    ε of the nuclear-ball projection is half of the claimed ε.
    """
    claimed, proven = Account(PureDP(1.0)), Account(PureDP(1.0), charge="proven")
    for account in (claimed, proven):
        account.release("nuclear-ball-projection", X, rng(), epsilon=1.0)
    assert claimed.spent() == PureDP(1.0)
    assert proven.spent() == PureDP(0.5)
    proven.release("nuclear-ball-projection", X, rng(), epsilon=1.0)
    with pytest.raises(OverBudget):
        claimed.release("nuclear-ball-projection", X, rng(), epsilon=0.01)
    with pytest.raises(InvalidInput, match="charge = 'printed'"):
        Account(PureDP(1.0), charge="printed")  # type: ignore[arg-type]


def test_an_account_can_go_on_from_what_was_spent_before() -> None:
    account = Account(PureDP(1.0), spent=[PureDP(0.5), PureDP(0.25)])
    assert account.spent() == PureDP(0.75)
    assert account.after(PureDP(0.25)) == PureDP(1.0)
    with pytest.raises(OverBudget, match=r"ε = 0.5 .*raise the spent budget to ε = 1.25 .*must stay within ε = 1 "):
        account.after(PureDP(0.5))
    assert account.spent() == PureDP(0.75)


class Unreadable:
    """Data with a shape, whose values must not be read: reading a value raises an error."""

    shape = (3, 2)

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"the data were read: {name}")

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise AssertionError("the data were read")

    def __iter__(self) -> Any:
        raise AssertionError("the data were read")

    def __len__(self) -> int:
        raise AssertionError("the data were read")


def unreadable_chunks() -> Any:
    raise AssertionError("the data were read")


UNREADABLE = [Unreadable(), Chunks((3, 2), unreadable_chunks)]


@pytest.mark.parametrize("x", UNREADABLE, ids=["array", "chunks"])
@pytest.mark.parametrize("charge", ["claimed", "proven"])
def test_overspending_is_refused_before_the_data_are_read(x: Any, charge: Any) -> None:
    account = Account(PureDP(1.0), charge, spent=[PureDP(0.9)])
    with pytest.raises(OverBudget):
        account.release("nuclear-laplace", x, rng(), epsilon=0.2)
    assert account.spent() == PureDP(0.9)
    assert not account.releases
    # The data of this test raise an error as soon as they are read. A release within the budget reads the data, so that
    # the error must occur.
    with pytest.raises(AssertionError, match="the data were read"):
        account.release("nuclear-laplace", x, rng(), epsilon=0.1)


def test_what_fails_is_not_charged() -> None:
    """Test that a release that raises an error is not charged."""
    account = Account(PureDP(1.0))
    for x, arguments in [
        ([[0.5, math.nan]], {"epsilon": 0.5}),
        (X, {"epsilon": -0.5}),
        (X, {"epsilon": 0.5, "row_bound": -1.0}),
    ]:
        with pytest.raises(InvalidInput):
            account.release("nuclear-laplace", x, rng(), **arguments)
    with pytest.raises(InvalidInput, match="mechanism = 'nosuch'"):
        account.release("nosuch", X, rng(), epsilon=0.5)
    assert account.spent() is None


@pytest.mark.parametrize("x", [X.tolist(), Chunks(X.shape, lambda: iter([X]))], ids=["lists", "chunks"])
def test_every_form_of_data_is_released(x: Any) -> None:
    values = Account(PureDP(1.0)).release("nuclear-laplace", x, rng(), epsilon=1.0).values
    np.testing.assert_allclose(values, Account(PureDP(1.0)).release("nuclear-laplace", X, rng(), epsilon=1.0).values)


def test_data_of_another_shape_are_refused() -> None:
    with pytest.raises(InvalidInput, match="x has 1 dimension"):
        Account(PureDP(1.0)).release("nuclear-laplace", X[0], rng(), epsilon=1.0)


@pytest.mark.parametrize(("total", "refused"), [(ZCDP(0.47), 2), (ZCDP(0.46), 1), (PureDP(1.9), 2)])
def test_the_first_release_that_does_not_fit_is_refused(total: Guarantee, refused: int) -> None:
    """Test that an account permits `refused` − 1 releases with ε = 1 and refuses the next release. Under zCDP, each
    release costs ρ = 0.4621.
    """
    account = Account(total)
    for _ in range(refused - 1):
        account.release("nuclear-laplace", X, rng(), epsilon=1.0)
    with pytest.raises(OverBudget):
        account.release("nuclear-laplace", X, rng(), epsilon=1.0)


def test_a_release_for_other_neighbours_than_those_of_the_account_is_refused() -> None:
    """The test fails if an account for replacing a row accepts a release whose budget is for adding or removing a row.
    Replacing e₁ by e₂ moves the sums of such a release by more than adding a row does.
    """
    account = Account(PureDP(1.0))
    with pytest.raises(InvalidInput, match="adjacency = add-remove: must be replace-one, as in the account"):
        account.release("laplace", X, rng(), epsilon=1.0, adjacency="add-remove")
    assert account.spent() is None
    other = Account(PureDP(1.0), adjacency="add-remove")
    with pytest.raises(InvalidInput, match="adjacency = replace-one: must be add-remove, as in the account"):
        other.release("laplace", X, rng(), epsilon=1.0)
    assert other.release("laplace", X, rng(), epsilon=1.0, adjacency="add-remove").total == PureDP(1.0)
