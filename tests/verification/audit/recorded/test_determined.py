"""Test the closed formulas for the privacy losses of the noise primitives. Test also releases whose output determines
the outputs of all noise primitives that were called.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from covassay.reference.privacy import ZCDP, ApproximateDP, PureDP
from covassay.verification.audit.recorded.determined import determined
from covassay.verification.audit.recorded.exact_loss import exact_loss
from covassay.verification.audit.recorded.losses import Undecided, gaussian_delta
from covassay.verification.audit.recorded.primitive_losses import losses
from covassay.verification.audit.recorded.primitives import Family, Into, Primitive, PrimitiveCall, folded
from covassay.verification.audit.recorded.recorder import recorder

X, OTHER = np.array([[1.0], [0.0], [0.5]]), np.array([[0.0], [0.0], [0.5]])
GRID = np.arange(-8, 8, 1e-4) + 5e-5  # no point of this grid is on the border of a cell


def drawn(value: Any, scale: float) -> Any:
    """Add Laplace noise that the audit cannot record. This function stands for the sampler of a package."""
    return value + np.random.Generator(np.random.PCG64()).laplace(scale=scale, size=np.shape(value))


def _value(value: Any, scale: float) -> Any:
    return value


def _scale(value: Any, scale: float) -> float:
    return scale


def primitive(family: Family = "laplace", into: Into = "", bounds: tuple[float, float] = (0.0, 1.0)) -> Primitive:
    more = {"range": lambda *_: bounds} if into else {}
    return Primitive(__name__, "drawn", family, _value, _scale, into, **more)


def call(v: float, scale: float, family: Family, into: Into, bounds: tuple[float, float]) -> PrimitiveCall:
    return PrimitiveCall(primitive(family, into, bounds), np.array([v]), np.array([scale]), bounds, np.array([v]))


def by_grid(v: float, scale: float, into: Into, bounds: tuple[float, float]) -> np.ndarray:
    """Return the probabilities of small cells of a bounded range under Laplace noise. The mass beyond the range is
    clipped, folded back or drawn again.
    """
    p = np.exp(-np.abs(GRID - v) / scale)
    low, high = bounds
    if into == "redrawn":
        p = np.where((low <= GRID) & (high >= GRID), p, 0.0)
        where = GRID
    else:
        where = np.clip(GRID, low, high) if into == "clipped" else folded(GRID, low, high)
    cells = np.round((where - low) * 1000).astype(int)
    total = np.bincount(cells - cells.min(), weights=p)
    return np.asarray(total / total.sum())


@pytest.mark.parametrize("into", ["clipped", "folded", "redrawn"])
@pytest.mark.parametrize(("v", "w"), [(0.2, 0.7), (0.0, 1.0), (1.0, 0.9), (0.4, 0.4)])
def test_the_loss_in_a_range_is_that_of_the_laws_of_the_outputs(into: Into, v: float, w: float) -> None:
    bounds, scale = (0.0, 1.0), 0.6
    p, q = (by_grid(value, scale, into, bounds) for value in (v, w))
    kept = (p > 0) & (q > 0)
    ratio = np.log(p[kept] / q[kept])
    ((up, down),) = losses(call(v, scale, "laplace", into, bounds), call(w, scale, "laplace", into, bounds))
    assert (up, down) == pytest.approx((ratio.max(), -ratio.min()), abs=4e-3)


def test_noise_in_a_range_may_have_other_scales_and_noise_without_one_may_not() -> None:
    bounds = (0.0, 1.0)
    p, q = by_grid(0.3, 0.5, "redrawn", bounds), by_grid(0.3, 0.8, "redrawn", bounds)
    ratio = np.log(p[p > 0] / q[p > 0])
    one, two = call(0.3, 0.5, "laplace", "redrawn", bounds), call(0.3, 0.8, "laplace", "redrawn", bounds)
    assert losses(one, two)[0] == pytest.approx((ratio.max(), -ratio.min()), abs=4e-3)
    assert losses(call(0, 1, "laplace", "", bounds), call(0, 1.03, "laplace", "", bounds)) == [(math.inf, math.inf)]


@pytest.mark.parametrize(("v", "w"), [(3, 4), (0, 1), (5, 2), (0, 0)])
def test_whole_numbers_that_are_clipped(v: int, w: int) -> None:
    """The test fails if the loss of a clipped output ignores the probability that is collected at its two ends."""
    scale, (low, high) = 1.5, (0, 5)
    k = np.arange(-300, 301)

    def law(value: int) -> np.ndarray:
        p = np.exp(-np.abs(k - value) / scale)
        return np.asarray(np.bincount(np.clip(k, low, high), weights=p / p.sum()))

    ratio = np.log(law(v) / law(w))
    bounds = (float(low), float(high))
    ((up, down),) = losses(
        call(v, scale, "geometric", "clipped", bounds), call(w, scale, "geometric", "clipped", bounds)
    )
    assert (up, down) == pytest.approx((ratio.max(), -ratio.min()), abs=1e-9)


# RELEASES


Target = Callable[..., Any]


def decided(target: Target, laws: tuple[Primitive, ...] = (primitive(),)) -> float:
    made = recorder(target, {"epsilon": 1.0}, laws)
    return determined(made, X, OTHER, PureDP(1.0), 0, 1e-3, 10.0).loss


def reason(target: Target) -> str:
    with pytest.raises(Undecided) as told:
        decided(target)
    return str(told.value)


def total(x: Any, *, epsilon: float, rng: Any) -> Any:
    return 2 - 3 * drawn(x.sum(), 1 / epsilon)


def smaller(x: Any, *, epsilon: float, rng: Any) -> Any:
    return drawn(x.sum(), 0.97 / epsilon)


def twice(x: Any, *, epsilon: float, rng: Any) -> Any:
    noisy = np.array([drawn(x.sum(), 1 / epsilon), drawn((x**2).sum(), 1 / epsilon)])
    return np.array([noisy[0] + noisy[1], noisy[1]])


def hidden(x: Any, *, epsilon: float, rng: Any) -> Any:
    return drawn(x.sum(), 1 / epsilon) + drawn((x**2).sum(), 1 / epsilon)


def not_moved(x: Any, *, epsilon: float, rng: Any) -> Any:
    return np.array([drawn(x.sum(), 1 / epsilon), drawn(1.0, 1.0) + drawn(2.0, 1.0)])


def beside(x: Any, *, epsilon: float, rng: Any) -> Any:
    return drawn(x.sum(), 1 / epsilon) + x.max()


def adaptive(x: Any, *, epsilon: float, rng: Any) -> Any:
    first = drawn(x.sum(), 2 / epsilon)
    return np.array([first, drawn((x**2).sum() + first, 2 / epsilon)])


def from_the_data(x: Any, *, epsilon: float, rng: Any) -> Any:
    return drawn(x.sum(), (1 + x.max()) / epsilon)


def cut(x: Any, *, epsilon: float, rng: Any) -> Any:
    return np.clip(drawn(x.sum(), 1 / epsilon), 0.4, 0.6)


def coin(x: Any, *, epsilon: float, rng: Any) -> Any:
    return drawn(x.sum(), 1 / epsilon) + rng.normal()


def by_the_output(x: Any, *, epsilon: float, rng: Any) -> Any:
    first = drawn(x.sum(), 1 / epsilon)
    return first if first > 0 else drawn(x.sum(), 1 / epsilon)


def test_the_loss_of_a_release_that_determines_its_primitives() -> None:
    assert decided(total) == pytest.approx(1.0)
    assert decided(twice) == pytest.approx(2.0)
    assert decided(not_moved) == pytest.approx(1.0)
    assert decided(from_the_data) == math.inf


def test_a_noise_that_is_three_percent_too_small_is_refuted_and_the_right_one_is_not() -> None:
    for target, loss in ((total, 1.0), (smaller, 1 / 0.97)):
        found = exact_loss(target, X, OTHER, PureDP(1.0), primitives=[primitive()])
        assert found.loss == pytest.approx(loss)
        assert found.refuted == (target is smaller)
        assert found.primitives == (f"{__name__.rpartition('.')[2]}.drawn",)


@pytest.mark.parametrize(
    ("target", "why"),
    [
        (hidden, "does not show all outputs"),
        (beside, "depends on more than"),
        (adaptive, "depends on earlier outputs"),
        (cut, "no affine function"),
        (coin, "is not drawn by a primitive"),
        (by_the_output, "primitives are called"),
    ],
)
def test_what_a_release_does_not_determine_is_not_decided(target: Target, why: str) -> None:
    assert why in reason(target)


def test_normal_noise_and_other_claims() -> None:
    """The test fails if the loss of normal noise is computed for another notion of privacy than that of the claim."""
    made = recorder(lambda x, *, rng, **_: drawn(x.sum(), 2.0), {}, (primitive("normal"),))
    for claim, loss in ((ZCDP(0.5), 1 / 8), (ApproximateDP(1.0, 1e-3), gaussian_delta(0.5, 1.0))):
        assert determined(made, X, OTHER, claim, 0, 1e-3, 10.0).loss == pytest.approx(loss)
    with pytest.raises(Undecided, match="the claim is not pure"):
        determined(
            recorder(lambda x, *, rng, **_: drawn(x.sum(), 1.0), {}, (primitive(into="clipped"),)),
            X, OTHER, ZCDP(0.5), 0, 1e-3, 10.0,
        )  # fmt: skip


def test_a_generator_of_the_package_with_one_seed_for_all_decides_nothing() -> None:
    fixed = Primitive(__name__, "drawn", "laplace", _value, _scale, seed=lambda *_: 7)
    with pytest.raises(Undecided, match="the same seed in several runs, so its draws are no secret: 7"):
        decided(total, (fixed,))
