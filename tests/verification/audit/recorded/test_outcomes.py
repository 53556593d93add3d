"""Test which random choices are ignored when an exact loss is computed. A random choice must be ignored if and only if
it cannot affect the output of the target.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from covassay.reference.privacy import PureDP
from covassay.verification.audit.recorded.exact_loss import exact_loss, steady
from covassay.verification.audit.recorded.outcomes import FEW, outcomes, without_effect
from covassay.verification.audit.recorded.recorder import recorder
from covassay.verification.audit.recorded.tape import Draw, Tape

ROWS = np.array([[0.1], [0.5], [1.0]]), np.array([[0.1], [0.5], [0.0]])
DRAWS: dict[str, tuple[Callable[[Any], Any], int]] = {
    "whole numbers": (lambda rng: rng.integers(2, 5), 3),
    "whole numbers with their end": (lambda rng: rng.integers(2, 5, endpoint=True), 4),
    "two whole numbers": (lambda rng: rng.integers(2, size=2), 4),
    "an old whole number": (lambda rng: np.random.randint(3), 3),  # noqa: NPY002
    "an order": (lambda rng: rng.permutation(3), 6),
    "a shuffle": (lambda rng: rng.shuffle(np.arange(2)), 2),
    "places": (lambda rng: rng.choice(3, 2, replace=False), 6),
    "places with repeats": (lambda rng: rng.choice(2, (1, 2)), 4),
    "one place": (lambda rng: rng.choice([-1.0, 1.0]), 2),
    "one row": (lambda rng: rng.choice(1, 1, replace=False), 1),
    "no row": (lambda rng: rng.choice(9, 0, replace=False), 1),
    "many places": (lambda rng: rng.choice(9, 4, replace=False), 0),
    "a long order": (lambda rng: rng.permutation(9), 0),
    "a large number": (lambda rng: rng.integers(2**62), 0),
    "a number of all bits": (lambda rng: rng.integers(2**64, dtype=np.uint64), 0),
    "numbers of several laws": (lambda rng: rng.integers([2, 3]), 0),
    "an order of a table": (lambda rng: rng.permuted(np.eye(2), axis=0), 0),
    "a sign by a binomial number": (lambda rng: rng.binomial(1, 0.5), 0),
}


def _draw(make: Callable[[Any], Any]) -> Draw:
    """Call `make` with a recording generator, and return the draw that was recorded."""

    def target(x: Any, *, epsilon: float, rng: Any) -> Any:
        make(rng)
        return 0.0

    made, tape = recorder(target, {"epsilon": 1.0}), Tape(0)
    with made.standing():
        made.run(ROWS[0], tape)
    return tape.draws[0]


@pytest.mark.parametrize("name", DRAWS)
def test_the_outcomes_are_all_values_of_the_draw(name: str) -> None:
    make, count = DRAWS[name]
    draw = _draw(make)
    found = outcomes(draw)
    assert len(found) == count <= FEW
    rng = np.random.default_rng(0)
    drawn = {np.asarray(draw.make(rng)).tobytes() for _ in range(200)}
    if found:
        assert {np.asarray(value).tobytes() for value in found} == drawn
        assert {np.shape(value) for value in found} == {np.shape(draw.value)}


def _settled(target: Callable[..., Any]) -> list[int]:
    """Return for several seeds the number of random choices that cannot affect the output."""
    made, found = recorder(target, {"epsilon": 1.0}), []
    with made.standing():
        for seed in range(12):
            first, second = steady(made, *ROWS, seed)
            others = range(len(first.base.tape.draws))
            found.append(len(without_effect(first, second, others, np.random.default_rng(seed))))
    return found


def test_choices_that_matter_only_together_matter() -> None:
    """The test fails if a random choice is ignored because changing it alone has no effect. If both of two coins show
    1, changing one of them does not change their maximum.
    """

    def either(x: Any, *, epsilon: float, rng: Any) -> Any:
        return x.sum() * max(rng.integers(2), rng.integers(2)) + rng.laplace()

    assert set(_settled(either)) == {0}


def test_a_choice_that_matters_for_far_noise_alone_matters() -> None:
    def far_out(x: Any, *, epsilon: float, rng: Any) -> Any:
        z = rng.laplace()
        return x.sum() + z * (1 + rng.integers(2) * (z > 20))

    assert set(_settled(far_out)) == {0}


def test_a_choice_that_matters_on_the_neighbour_alone_matters() -> None:
    def of_the_last(x: Any, *, epsilon: float, rng: Any) -> Any:
        return x.sum() + rng.laplace() + rng.integers(2) * (x[-1, 0] == 0)

    assert set(_settled(of_the_last)) == {0}


def test_a_shuffle_of_rows_that_are_summed_is_ignored() -> None:
    def shuffled(x: Any, *, epsilon: float, rng: Any) -> Any:
        return x[rng.permutation(len(x))].sum() + 0.97 * rng.laplace(scale=1 / epsilon)

    assert set(_settled(shuffled)) == {1}
    found = exact_loss(shuffled, *ROWS, PureDP(1.0))
    assert found.refuted
    assert found.loss == pytest.approx(1 / 0.97)


@pytest.mark.parametrize("factor", [1.0, 0.97])
def test_a_sample_of_the_only_row_is_this_row(factor: float) -> None:
    """The test fails if the exact loss is undecided because a sample is drawn from a data set of one row."""

    def half(x: Any, *, epsilon: float, rng: Any) -> Any:
        many = max(1, len(x) // 2)
        stronger = math.log1p(len(x) / many * math.expm1(epsilon))
        return x[rng.choice(len(x), many, replace=False)].sum() + factor * rng.laplace(scale=1 / stronger)

    found = exact_loss(half, np.ones((1, 1)), np.zeros((1, 1)), PureDP(1.0))
    assert found.decided
    assert found.refuted == (factor < 1)
    assert found.loss == pytest.approx(1 / factor)
    assert not exact_loss(half, *ROWS, PureDP(1.0)).decided
