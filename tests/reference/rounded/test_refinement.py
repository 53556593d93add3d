"""Test releases that use the same random bits. On a coarser grid, the release must be the rounded release of the finer
grid. The initial precision of the computation must not change the release.

For each of these checks, the file ends with wrong versions of the code (mutants) that make it fail.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx
from scipy.stats import binom

from covassay.reference.mechanisms.registry import mechanism
from covassay.reference.rounded import balls, mechanisms, releasing
from covassay.reference.rounded.bits import Uniforms
from covassay.reference.rounded.mechanisms import ROUNDED
from tests.conventions import FALSE_ALARM, Matrix
from tests.reference.rounded.variants import CHOICES, NAMES, VARIANTS, draw, rows

FINER = 40  # a step of the coarse grid is 2^40 steps of the fine grid
COARSE, FINE = "2^-20", "2^-60"
DIMENSIONS = (1, 2, 3)
RACES: list[tuple[str, dict[str, str]]] = [("exponential", {}), ("above-threshold", {"share": "0.5"})]


def is_rounding_of(k: int, fine: int, bits: int = FINER) -> bool:
    """Return whether k is a nearest integer to fine/2^bits, where both neighbours of a tie are accepted."""
    return abs((k << bits) - fine) <= 1 << (bits - 1)


def disagreements(name: str, options: dict[str, str], x: Matrix, seed: int | str) -> int:
    """Make two releases with the same random bits, one on a coarse grid and one on a fine grid. Return how many
    integers of the coarse release differ from the integers of the fine release, after the latter are rounded to the
    coarse grid.
    """
    coarse, fine = (draw(name, options, x, seed, grid=grid) for grid in (COARSE, FINE))
    bits = 0 if mechanism(name).output.kind == "level" else FINER
    pairs = [(k, f) for part, ks in coarse.integers.items() for k, f in zip(ks, fine.integers[part], strict=True)]
    assert pairs
    return sum(k != f if bits == 0 else not is_rounding_of(k, f) for k, f in pairs)


def refinement(variants: Sequence[tuple[str, dict[str, str]]] = VARIANTS, seeds: Sequence[int] = (1,)) -> None:
    """Release with the same random bits on a coarse and on a fine grid. Check that the coarse release is the rounded
    fine release.
    """
    for name, options in variants:
        for d in DIMENSIONS:
            for seed in seeds:
                assert disagreements(name, options, rows(12, d, seed), seed) == 0, (name, options, d, seed)


def beginning(monkeypatch: pytest.MonkeyPatch, variants: Sequence[tuple[str, dict[str, str]]] = VARIANTS) -> None:
    """Check that a computation gives the same release if its initial precision is too low."""
    refined, levels = 0, [name for name, _ in variants if mechanism(name).output.kind == "level"]
    for name, options in variants:
        for d in DIMENSIONS:
            wanted = draw(name, options, rows(12, d), 3)
            with monkeypatch.context() as patch:
                patch.setattr(releasing, "first_precision", lambda *_: 24)
                found = draw(name, options, rows(12, d), 3)
            refined += len(found.precisions) > 1
            assert found.integers == wanted.integers, (name, options, d)
    assert refined >= len(variants) - len(levels)  # 24 bits are usually enough for a comparison


def races(monkeypatch: pytest.MonkeyPatch) -> None:
    """Check the two mechanisms whose output is decided by comparisons of numbers alone, so that no number is rounded.
    With an initial precision of 2 bits, the output must be the same as with 200 bits.
    """
    for seed in range(60):
        for name, options in RACES:
            with monkeypatch.context() as patch:
                patch.setattr(releasing, "first_precision", lambda *_: 200)
                wanted = draw(name, options, rows(4, 3), seed).integers
            with monkeypatch.context() as patch:
                patch.setattr(releasing, "first_precision", lambda *_: 2)
                assert draw(name, options, rows(4, 3), seed).integers == wanted


def low_order_bits(draw_one: Callable[[int], int], count: int = 200) -> None:
    """Check that integers on a grid finer than that of float64 numbers are odd with probability 1/2. A false alarm has
    probability at most 1e-9.
    """
    odd = sum(draw_one(seed) % 2 for seed in range(count))
    low, high = binom.ppf([FALSE_ALARM / 2, 1 - FALSE_ALARM / 2], count, 0.5)
    assert low <= odd <= high


def public_grid(draw_on: Callable[[Matrix], releasing.RoundedRelease]) -> None:
    """Check that the grid is the requested grid for several data sets."""
    for x in (np.zeros((12, 2)), np.eye(2)[np.zeros(12, int)], rows(12, 2)):
        assert draw_on(x).grid == Fraction(1, 2**30)


# THE CHECKS


@pytest.mark.parametrize(("name", "options"), VARIANTS, ids=NAMES)
def test_the_same_bits_on_a_finer_grid(name: str, options: dict[str, str]) -> None:
    """The test fails if the same random bits give a release on a coarse grid that is not the rounded release on a fine
    grid.
    """
    refinement([(name, options)])


@pytest.mark.parametrize(("name", "options"), VARIANTS, ids=NAMES)
def test_the_same_bits_at_a_lower_first_precision(
    name: str, options: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    beginning(monkeypatch, [(name, options)])


def test_races_that_begin_with_two_bits_end_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    races(monkeypatch)


@pytest.mark.slow
def test_ten_thousand_releases_on_two_grids_and_how_rarely_they_are_refined() -> None:
    seeds = range(-(-10_000 // (len(VARIANTS) * len(DIMENSIONS))))
    count = repeated = 0
    for name, options in VARIANTS:
        for d in DIMENSIONS:
            for seed in seeds:
                x = rows(12, d, seed)
                assert disagreements(name, options, x, seed) == 0, (name, options, d, seed)
                repeated += len(draw(name, options, x, seed, grid=COARSE).precisions) > 1
                count += 1
    print(f"{count} releases on two grids agree; {repeated} had to be repeated with a higher precision")
    assert count >= 10_000
    # The first precision has 64 spare bits, so that it is too low for an entry with probability of about 2^{-64}.
    # For 10 000 releases with at most 50 entries each, the sum of the probabilities is far below 1e-9.
    assert repeated <= count / 1000


@pytest.mark.parametrize("d", [5, 8])
@pytest.mark.parametrize("name", ["nuclear-laplace", "nuclear-laplace-symmetric", "iterative-eigenvectors"])
def test_the_first_precision_suffices_in_higher_dimension(name: str, d: int) -> None:
    for data in (rows(12, d), np.zeros((12, d)), np.eye(d)[np.zeros(12, int)]):
        for seed in range(3):
            assert len(draw(name, {}, data, seed).precisions) == 1


def test_the_first_precision_reads_public_numbers_only() -> None:
    """Test that the initial precision, and so the running time, does not depend on the data."""
    first = {
        draw("nuclear-laplace", {}, data, 1).precisions[0]
        for data in (rows(12, 3), np.zeros((12, 3)), np.eye(3)[np.zeros(12, int)])
    }
    assert len(first) == 1


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["laplace", "gauss-cov", "nuclear-laplace", "bingham"])
@pytest.mark.parametrize("on", [0, 1], ids=["query 0", "query 1"])
def test_low_order_bits_are_fair(name: str, on: int) -> None:
    """Test that the lowest bit of a released integer does not depend on the data, as it would with floating-point
    noise."""
    x = np.zeros((1, 2))
    x[:, 0] = on
    low_order_bits(lambda seed: next(iter(draw(name, {}, x, seed, grid="2^-80").integers.values()))[0])


def test_the_grid_does_not_depend_on_the_data() -> None:
    public_grid(lambda x: draw("laplace", {}, x, 1))


@pytest.mark.thorough
def test_data_on_which_decisions_could_tie() -> None:
    """Test that every release ends for data with equal eigenvalues, equal scores or zero scales: rows of zeros, equal
    rows or a single row.
    """
    for name, options in VARIANTS:
        for d in (1, 2, 4):
            for x in (np.zeros((4, d)), np.eye(d)[np.zeros(4, int)], np.eye(d)[np.arange(4) % d], np.ones((1, d))):
                draw(name, options, x, 5)


def test_many_records_whose_matrix_is_nearly_diagonal_once_it_is_rotated() -> None:
    x = np.repeat(np.eye(4), [9000, 4000, 400, 4], axis=0)
    for seed in range(5):
        for name in ("bingham", "iterative-eigenvectors", "separate-cov", "separate-cov-pure"):
            assert len(draw(name, {}, x, seed).precisions) == 1


# THE MUTANTS


class Forgetful(Uniforms):
    """A mutant of the source of bits: it draws all bits again if more bits are needed."""

    def _next(self, wanted: int) -> tuple[int, int]:
        if self.position < len(self.read) and self.read[self.position][1] < wanted:
            self.read[self.position] = (0, 0)
            self.source = Shifted(self.source)
        return super()._next(wanted)


class Shifted:
    """A mutant of the source of bits: it returns other bits."""

    def __init__(self, source: Any) -> None:
        self.source = source

    def bits(self, index: int, start: int, count: int) -> int:
        return self.source.bits(index + 10_000, start, count)


def midpoint_rounding(x: arb, grid: Fraction) -> int:
    """Round the midpoint of the interval to a multiple of the grid (a mutant)."""
    return int((x / balls.exact(grid) + balls.exact(Fraction(1, 2))).mid().floor().unique_fmpz())


def midpoint_comparison(a: Any, b: Any) -> bool:
    """Compare the midpoints of two intervals (a mutant)."""
    return bool((arb(a) - arb(b)).mid() < 0)


def hasty_tie(x: arb, grid: Fraction) -> int:
    """Round a number within 1/64 of a tie to the even neighbour (a mutant)."""
    scaled = x / balls.exact(grid)
    if not scaled.rad() < arb(2) ** -10:
        raise balls.Undecided
    halves = balls.nearest_multiple(scaled, Fraction(1, 2))
    near = abs(scaled.mid() - arb(halves) / 2) < arb(2) ** -6
    return round(Fraction(halves, 2)) if near and halves % 2 else midpoint_rounding(x, grid)


def float_release(name: str, seed: int, x: Matrix, grid: Fraction) -> list[int]:
    """Add noise in float64 and round the sum (a mutant)."""
    values = mechanism(name).sample(x, np.random.default_rng(seed), epsilon=1.0)
    return [round(Fraction(float(v)) / grid) for v in np.ravel(values)]


SOME: list[tuple[str, dict[str, str]]] = [(name, CHOICES.get(name, [{}])[0]) for name in ROUNDED]


def test_the_mutant_that_draws_bits_anew_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as mutant:
        mutant.setattr(releasing, "Uniforms", Forgetful)
        with pytest.raises(AssertionError):
            beginning(monkeypatch, SOME)


def test_the_mutant_that_rounds_midpoints_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as mutant:
        mutant.setattr(releasing, "nearest_multiple", midpoint_rounding)
        with pytest.raises(AssertionError):
            beginning(monkeypatch, SOME)


def test_the_mutant_that_compares_midpoints_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as mutant:
        mutant.setattr(mechanisms, "less", midpoint_comparison)
        with pytest.raises(AssertionError):
            races(monkeypatch)


def test_the_mutant_that_calls_near_ties_ties_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as mutant:
        mutant.setattr(releasing, "nearest_multiple", hasty_tie)
        with pytest.raises(AssertionError):
            refinement([("laplace", {}), ("entrywise-laplace", {"entries": "full"})], range(20))


@pytest.mark.parametrize("on", [0, 1], ids=["query 0", "query 1"])
@pytest.mark.parametrize("name", ["laplace", "lap-cov"])
def test_the_mutant_that_rounds_float_noise_is_rejected(name: str, on: int) -> None:
    x = np.zeros((1, 2))
    x[:, 0] = on
    with pytest.raises(AssertionError):
        low_order_bits(lambda seed: float_release(name, seed, x, Fraction(1, 2**80))[0])


def test_the_mutant_with_a_grid_that_depends_on_the_data_is_rejected() -> None:
    def relative(x: Matrix) -> releasing.RoundedRelease:
        largest = max(float((x**2).sum()), 2.0**-40)
        return draw("laplace", {}, x, 1, grid=2.0 ** (np.floor(np.log2(largest)) - 30))

    with pytest.raises(AssertionError):
        public_grid(relative)


def test_the_precision_is_left_as_it_was() -> None:
    """Test that a release does not change the global precision of python-flint."""
    before = ctx.prec
    draw("nuclear-laplace", {}, rows(12, 2), 1)
    assert ctx.prec == before
