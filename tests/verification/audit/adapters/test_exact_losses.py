"""Test the exact privacy losses of functions of other packages, on one pair of data sets each."""

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from covassay.reference.privacy import ZCDP, Guarantee, PureDP
from covassay.verification.audit.adapters.seeding import numpy_seeded, python_seeded
from covassay.verification.audit.recorded.exact_loss import ExactLoss, exact_loss
from covassay.verification.audit.targets.target import Target, TargetReference
from tests.conventions import needs

LOW, HIGH = np.zeros((3, 2)), np.vstack([np.zeros((2, 2)), [[100.0, 1.0]]])
UNIT = HIGH / [100, 1] * [1, 0]


def loss_of(name: str) -> ExactLoss:
    target = TargetReference(name, ".").load()
    x, other = (HIGH, LOW) if target.bounds else (UNIT, LOW)
    if target.adjacency == "add-remove":
        other = other[:-1]
    return exact_loss(target, x, other, PureDP(1.0), bounds=target.bounds, primitives=target.primitives)


@pytest.mark.parametrize(
    ("seeded", "noise", "claim", "power"),
    [
        (numpy_seeded, lambda: np.random.laplace(), PureDP(1.0), 1),  # noqa: NPY002
        (python_seeded, lambda: random.gauss(0.0, 1.0), ZCDP(0.5), 2),
    ],
    ids=["numpy", "python"],
)
def test_noise_of_a_generator_that_an_adapter_seeds_and_puts_back_has_an_exact_loss(
    seeded: Any, noise: Callable[[], float], claim: Guarantee, power: int
) -> None:
    """The test fails if the audit computes no exact loss for noise from a global random generator. An adapter seeds
    this generator before a draw and restores it afterwards. The test also fails if noise that is 3 % too small is not
    refuted.
    """

    def found(share: float) -> ExactLoss:
        def draw(x: Any, *, rng: Any, **budget: float) -> float:
            with seeded(rng):
                return float(np.clip(x[:, 0], 0, 1).sum() + share * noise())

        return exact_loss(Target("a:sum", draw, released="number"), UNIT, LOW, claim)

    (unit,) = claim.keywords().values()
    assert found(1.0).loss == pytest.approx(unit)
    assert not found(1.0).refuted
    assert found(0.97).loss == pytest.approx(unit / 0.97**power)
    assert found(0.97).refuted


@pytest.mark.thorough
@pytest.mark.peers
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("name", "loss"),
    [
        pytest.param("diffprivlib:mean", 1.0, marks=needs("diffprivlib")),
        pytest.param("diffprivlib:histogram", 1.0, marks=needs("diffprivlib")),
        pytest.param("diffprivlib:laplace-bounded-domain", 1.0, marks=needs("diffprivlib")),
        pytest.param("opendp:eigenvalues", 0.5, marks=needs("opendp")),
        pytest.param("eeprivacy:sum", 1.0, marks=needs("eeprivacy")),
        pytest.param("diff-priv-laplace:sum-of-bounds", 1.0, marks=needs("diffpriv_laplace")),
    ],
)
def test_the_loss_of_a_function_of_a_package_is_known(name: str, loss: float) -> None:
    found = loss_of(name)
    assert found.decided
    assert not found.refuted
    assert found.loss == pytest.approx(loss, rel=1e-9)


@pytest.mark.thorough
@pytest.mark.peers
@needs("diffprivlib")
@pytest.mark.filterwarnings("ignore")
def test_a_package_whose_noise_is_three_percent_too_small_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    from diffprivlib.tools import utils

    real = utils.LaplaceTruncated

    def smaller(*, sensitivity: float, **more: Any) -> Any:
        return real(sensitivity=0.97 * sensitivity, **more)

    monkeypatch.setattr(utils, "LaplaceTruncated", smaller)
    found = loss_of("diffprivlib:mean")
    assert found.refuted
    assert found.loss == pytest.approx(1 / 0.97)
