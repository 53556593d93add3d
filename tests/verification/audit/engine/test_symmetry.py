"""Test the check of symmetry. An output that is declared symmetric may be asymmetric only by rounding, and larger
differences must be found even if they are rare.
"""

import numpy as np
import pytest

from covassay.reference.domain import Matrix
from covassay.reference.mechanisms.output import OUTPUTS, SECOND_MOMENT
from covassay.reference.mechanisms.pure import entrywise_laplace
from covassay.reference.mechanisms.registry import mechanism
from covassay.verification.audit.engine.finding import Status
from covassay.verification.audit.engine.sampling import Setting
from covassay.verification.audit.engine.symmetry import asymmetry, square_part, symmetry, symmetry_seen
from covassay.verification.audit.knowledge.known import profile
from covassay.verification.audit.targets.target import Target
from covassay.verification.declared import default_claim

Y = np.array([[2.0, 0.3, 0.1], [0.3, 1.0, 0.2], [0.1, 0.2, 0.5]])


def promised(name: str, **options: str) -> bool:
    return profile(name, default_claim(name), mechanism(name).resolve(options), 200, 0).form.symmetric


def test_what_is_promised_follows_the_options() -> None:
    assert promised("entrywise-laplace", entries="triangle")
    assert not promised("entrywise-laplace", entries="full")
    assert promised("gaussian-learner")
    assert not promised("nuclear-laplace")
    assert not promised("coinpress-mean")


def test_rounding_to_float32_is_no_asymmetry_and_a_little_noise_is() -> None:
    q, _ = np.linalg.qr(np.random.default_rng(0).standard_normal((3, 3)).astype(np.float32))
    product = ((q * np.float32([3, 2, 1])) @ q.T).astype(np.float64)
    assert asymmetry(product) == 0
    other = Y.copy()
    other[2, 0] += 1e-3
    assert asymmetry(other) == pytest.approx(1e-3)


def test_the_matrix_in_an_output_is_found() -> None:
    assert square_part(SECOND_MOMENT, Y) is Y
    assert np.array_equal(square_part(OUTPUTS["gaussian"], np.vstack([Y[:1], Y])), Y)
    assert square_part(OUTPUTS["vector"], Y[0]) is None


def test_one_matrix_among_many_breaks_the_promise() -> None:
    outputs = np.tile(Y, (500, 1, 1))
    assert symmetry_seen(SECOND_MOMENT, [("d=3", Y, outputs)])[0].status is Status.NOT_REFUTED
    outputs[317, 2, 1] += 0.01
    (check,) = symmetry_seen(SECOND_MOMENT, [("d=3", Y, outputs)])
    assert check.status is Status.REFUTED
    assert "1 of 500" in check.detail
    assert symmetry_seen(SECOND_MOMENT, []) == []


def half_below(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    return np.triu(entrywise_laplace.sample(x, rng, epsilon=epsilon, entries="triangle"))


def test_a_triangle_that_is_left_at_zero_is_called_that() -> None:
    check = symmetry(Setting(Target("mine", half_below), {"epsilon": 1.0}, SECOND_MOMENT, seed=0))
    assert check.status is Status.REFUTED
    assert "below the diagonal there are zeros" in check.detail
    assert len(check.data) == 1
