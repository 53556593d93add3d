"""Test that outputs which differ only by rounding are treated as equal, and that a difference of 3 % is still
detected.
"""

from collections.abc import Callable

import numpy as np
import pytest

from covassay.reference.domain import Matrix
from covassay.reference.mechanisms.output import SECOND_MOMENT
from covassay.verification.audit.engine.difference import difference_in_law
from covassay.verification.audit.engine.features import features
from covassay.verification.audit.engine.finding import Look, Status
from covassay.verification.audit.engine.kinds_of_data import Beside, run_kinds
from covassay.verification.audit.engine.paired import paired_difference
from covassay.verification.audit.engine.same_noise import least_p
from covassay.verification.audit.engine.sampling import Setting
from covassay.verification.audit.knowledge.shared.reference_draws import against
from covassay.verification.audit.questions.contract.draw_many import draw_many_is_draw
from covassay.verification.audit.targets.target import Target
from covassay.verification.statistics.last_digits import rounded_to, unit_of, without_last_digits

ALPHA = 1e-9
SIZE = 400
ROUNDING = 1e-17
Draws = Callable[[int, np.random.Generator], Matrix]


def exact(size: int, rng: np.random.Generator, factor: float = 1.0) -> Matrix:
    """Draw the identity with probability 0.6, and otherwise a projection onto a random line. The identity is diagonal,
    so that most of the drawn matrices are diagonal.
    """
    u = rng.standard_normal((size, 2))
    lines = u[:, :, None] * u[:, None, :] / (u**2).sum(axis=1)[:, None, None]
    return factor * np.where((rng.random(size) < 0.6)[:, None, None], np.eye(2), lines)


def rounded_up(size: int, rng: np.random.Generator) -> Matrix:
    """Return draws of `exact`, with the positive rounding error `ROUNDING` added to every entry."""
    return exact(size, rng) + ROUNDING


def smaller(size: int, rng: np.random.Generator) -> Matrix:
    """Return draws that are 3 % smaller than those of `exact`."""
    return exact(size, rng, 0.97) + ROUNDING


def of(draws: Draws) -> Target:
    return Target("projections", lambda x, *, rng: draws(1, rng)[0])


def setting(target: Target) -> Setting:
    return Setting(target, {}, SECOND_MOMENT, seed=1)


def beside_the_reference(draws: Draws) -> bool:
    test = against(lambda y: y[:, 0, 1], lambda size: exact(size, np.random.default_rng(size)), "")
    other = against(lambda y: y[:, 0, 0], lambda size: exact(size, np.random.default_rng(size)), "")
    outputs = draws(SIZE, np.random.default_rng(1))
    return min(test(outputs).p_value, other(outputs).p_value) <= ALPHA


def on_many_kinds_of_data(draws: Draws) -> bool:
    reference = Beside(lambda x, size, rng: exact(size, rng), lambda x: features(SECOND_MOMENT, 2), 2)
    found = run_kinds(setting(of(draws)), reference, Look(samples=1000))
    return any(one.p_value is not None and one.p_value <= ALPHA for one in found)


def by_pairs(draws: Draws) -> bool:
    samplers = [lambda rng, law=law: law(1, rng)[0] for law in (exact, draws)]
    return paired_difference(*samplers, 1, "", ALPHA) != ""


def by_residuals(draws: Draws) -> bool:
    first, second = (law(SIZE, np.random.default_rng(i)) for i, law in enumerate((exact, draws)))
    return least_p(first, second, np.array([[0.0, 1.0], [0.0, 0.0]])) <= ALPHA


def on_two_data_sets(draws: Draws) -> bool:
    """Return whether two laws of outputs are found to differ. The target draws its outputs with the sampler `draws` on
    one data set, and with the sampler `exact` on the other.
    """
    target = Target("two laws", lambda x, *, rng: (draws if x[0, 0] else exact)(1, rng)[0])
    return difference_in_law(setting(target), np.zeros((2, 2)), np.ones((2, 2)), "", ALPHA).what != ""


def in_bulk(draws: Draws) -> bool:
    bulk = Target("bulk", of(exact).draw, draw_many=lambda x, size, *, rng: draws(size, rng))
    found = draw_many_is_draw(setting(bulk), ALPHA, smallest_dimension=2)
    return [one.status for one in found] == [Status.REFUTED]


COMPARISONS = beside_the_reference, on_many_kinds_of_data, by_pairs, by_residuals, on_two_data_sets, in_bulk


@pytest.mark.parametrize("differ", COMPARISONS)
def test_outputs_that_differ_by_rounding_have_one_law(differ: Callable[[Draws], bool]) -> None:
    """The test fails if a comparison of draws treats 1e-17 and 0 as different values."""
    assert not differ(exact)
    assert not differ(rounded_up)


@pytest.mark.parametrize("differ", COMPARISONS)
def test_three_per_cent_are_seen(differ: Callable[[Draws], bool]) -> None:
    """The test fails if rounding hides that draws are 3 % too small."""
    assert differ(smaller)


def test_integers_and_binary_fractions_stay_as_they_are() -> None:
    """The test fails if integers or binary fractions change, as they do if the unit of
    rounding is not a power of two.
    """
    rng = np.random.default_rng(0)
    for lattice in (rng.integers(-1000, 1000, (50, 3)), rng.integers(-(2**25), 2**25, (50, 2, 2)) / 2.0**20):
        assert all(
            np.array_equal(a, b) for a, b in zip(without_last_digits(lattice, lattice), (lattice,) * 2, strict=True)
        )


def test_a_lattice_is_rounded_alike_on_both_sides() -> None:
    """The test fails if equal values on a grid are rounded to different numbers because of their rounding errors."""
    k = np.random.default_rng(0).integers(-3000, 3000, (2000, 2))
    for n in (3, 20, 1000, 2**10):
        one, other = without_last_digits(k / n, k * (1 + 2.0**-51) / n)
        assert np.array_equal(one, other)


def test_the_usual_size_is_that_of_whole_outputs_in_all_samples() -> None:
    """The test fails if the unit of rounding is computed from the median size of the outputs, which is nearly zero
    here. The test also fails if the unit depends on the order of the samples.
    """
    rng = np.random.default_rng(0)
    mostly_zero = np.where(rng.random((200, 1)) < 0.8, ROUNDING, rng.standard_normal((200, 3)))
    assert 2.0**-33 < unit_of(mostly_zero) < 2.0**-28
    assert unit_of(mostly_zero, np.zeros((200, 3))) == unit_of(np.zeros((200, 3)), mostly_zero)
    assert set(np.abs(without_last_digits(mostly_zero)[0][:, 0]) < 1e-15) == {True, False}
    assert not without_last_digits(mostly_zero)[0][mostly_zero == ROUNDING].any()


def test_failed_and_extreme_outputs_are_kept() -> None:
    """The test fails if rounding makes an output NaN or infinite, or if one NaN prevents the rounding of the others."""
    outputs = np.array([[np.nan], [1.0], [2.0], [1e-17], [1.5]])
    (kept,) = without_last_digits(outputs)
    assert np.array_equal(kept, [[np.nan], [1.0], [2.0], [0.0], [1.5]], equal_nan=True)
    tiny = np.append(np.full(20, 1e-300), [1e308, np.inf])[:, None]
    assert np.array_equal(without_last_digits(tiny)[0][-2:], tiny[-2:])
    for nothing in (np.zeros((5, 2)), np.zeros((0, 2)), np.full((5, 2), np.inf)):
        assert unit_of(nothing) == 0
        assert np.array_equal(rounded_to(0.0, nothing), nothing)
