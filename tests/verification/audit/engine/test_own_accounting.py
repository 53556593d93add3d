"""Test the comparison of an implementation's claim with the privacy cost that it computes itself."""

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from covassay.reference.domain import Box, Matrix
from covassay.reference.mechanisms.output import SECOND_MOMENT
from covassay.reference.mechanisms.pure.nuclear_laplace import sample
from covassay.reference.privacy import ZCDP, ApproximateDP, Guarantee, PureDP
from covassay.verification.audit.api import audit
from covassay.verification.audit.engine.finding import Finding, Status
from covassay.verification.audit.engine.sampling import Setting
from covassay.verification.audit.questions.contract.own_accounting import SIZES, own_accounting
from covassay.verification.audit.targets.target import Target, TargetReference, as_called, load
from tests.conventions import needs


def result(accounting: Callable[..., Any], guarantee: Guarantee, seconds: float = 3.0) -> Finding:
    target = Target("own", lambda x, **given: x, accounting=accounting)
    (check,) = own_accounting(Setting(target, dict(guarantee.keywords()), SECOND_MOMENT, 0, seconds=seconds), guarantee)
    return check


def test_a_target_without_accounting_has_no_such_check() -> None:
    assert not own_accounting(Setting(Target("own", lambda x: x), {"epsilon": 1.0}, SECOND_MOMENT, 0), PureDP(1.0))


@pytest.mark.parametrize("share", [0.5, 1.0, 1 + 1e-9])
@pytest.mark.parametrize("claim", [PureDP(0.7), ZCDP(0.7)])
def test_what_keeps_to_the_claim_is_not_refuted(claim: Guarantee, share: float) -> None:
    assert result(lambda x, **budget: 0.7 * share, claim).status is Status.NOT_REFUTED


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        (PureDP(1.0), "ε = 1.03; ε = 1 is claimed"),
        (ZCDP(1.0), "ρ = 1.03; ρ = 1 is claimed"),
        (ApproximateDP(1.0, 1e-5), "ε = 1.03 at δ = 1e-05; ε = 1 is claimed"),
    ],
)
def test_three_per_cent_more_than_the_claim_is_refuted_and_both_figures_are_named(claim: Guarantee, said: str) -> None:
    check = result(lambda x, **budget: 1.03, claim)
    assert check.status is Status.REFUTED
    assert said in check.detail


def test_it_is_asked_for_every_size_and_told_the_budget() -> None:
    asked: list[tuple[tuple[int, ...], dict[str, float]]] = []
    result(lambda x, **budget: asked.append((x.shape, budget)) or 1.0, PureDP(1.0))
    assert asked == [(size, {"epsilon": 1.0}) for size in SIZES]
    assert result(lambda x, epsilon: epsilon * len(x) / 999, PureDP(1.0)).status is Status.REFUTED


def test_no_finite_bound_is_above_every_claim() -> None:
    assert result(lambda x, **budget: math.inf, PureDP(1.0)).status is Status.REFUTED


def _raises(x: Matrix, **budget: float) -> float:
    raise ValueError("no accountant")


@pytest.mark.parametrize("accounting", [_raises, lambda x, **budget: math.nan, lambda x, **budget: "much"])
def test_no_figure_decides_nothing(accounting: Callable[..., Any]) -> None:
    """The test fails if an implementation that reports no privacy cost gets another verdict than "inconclusive"."""
    assert result(accounting, PureDP(1.0)).status is Status.INCONCLUSIVE


def test_accounting_that_does_not_end_is_interrupted() -> None:
    check = result(lambda x, **budget: time.sleep(60), PureDP(1.0), seconds=0.2)
    assert check.status is Status.INCONCLUSIVE
    assert "time-out" in check.detail


def test_in_a_box_it_is_asked_at_the_width_of_the_box() -> None:
    widths: list[int] = []
    target = Target("own", lambda x: x, accounting=lambda x, **budget: widths.append(x.shape[1]) or 1.0)
    box = Box.of(((0.0, 1.0),) * 4)
    own_accounting(Setting(target, {"epsilon": 1.0}, SECOND_MOMENT, 0, box=box), PureDP(1.0))
    assert widths == [4]


@pytest.mark.thorough
def test_a_function_carries_its_accounting_as_an_attribute_into_the_report() -> None:
    def released(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
        return sample(x, rng, epsilon=epsilon)

    assert as_called("own", released).accounting is None
    released.accounting = lambda x, *, epsilon: 2 * epsilon  # type: ignore[attr-defined]
    report = audit(as_called("own", released), epsilon=1.0, samples=100, stop_early=True)
    assert [check.name for check in report.refuted] == ["own accounting"]


@needs("opendp")
def test_what_opendp_counts_for_its_pca_is_twice_what_it_is_asked_for() -> None:
    target = load(TargetReference("opendp:pca", "."))
    (check,) = own_accounting(Setting(target, {"epsilon": 1.0}, SECOND_MOMENT, 0), PureDP(1.0))
    assert check.status is Status.REFUTED
    assert "ε = 2; ε = 1 is claimed" in check.detail


@needs("opendp")
@pytest.mark.parametrize("name", ["eigenvalues", "eigendecomposition", "private-eigenvector"])
def test_what_opendp_counts_elsewhere_is_what_it_is_asked_for(name: str) -> None:
    target = load(TargetReference(f"opendp:{name}", "."))
    (check,) = own_accounting(Setting(target, {"epsilon": 1.0}, SECOND_MOMENT, 0), PureDP(1.0))
    assert check.status is Status.NOT_REFUTED
