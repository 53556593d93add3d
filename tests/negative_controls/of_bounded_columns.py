"""Negative controls of the mechanisms for bounded columns. In each of these negative controls, one part of the release
has a mistake.

A release clips the rows to the box and scales them. It adds noise to sums over the rows, and computes the number of
rows, the mean and the covariance from the noisy sums. The mistakes are tried with Gaussian and Laplace noise, and for
both definitions of neighbouring data sets.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from covassay.reference import box_moments
from covassay.reference.box_moments import Weights, spreads
from covassay.reference.domain import Adjacency, Box, Matrix
from covassay.reference.laws import wigner
from covassay.reference.mechanisms.approximate import box_gauss_approximate
from covassay.reference.mechanisms.concentrated import box_gauss
from covassay.reference.mechanisms.pure import box_laplace
from tests.negative_controls.negative_control import NegativeControl, by_law, from_function

Generator = np.random.Generator


@dataclass(frozen=True)
class Setup:
    """The kind of noise, the definition of neighbours, the number of columns and the budget of a release."""

    gaussian: bool
    adjacency: Adjacency
    d: int
    budget: float

    def weights(self, adjacency: Adjacency | None = None) -> Weights:
        """Return the public factors by which the sums are multiplied before noise of one scale is added."""
        of = box_moments.gauss_weights if self.gaussian else box_moments.laplace_weights
        return of(self.d, adjacency or self.adjacency)

    def scale(self, adjacency: Adjacency | None = None) -> float:
        """Return the noise scale of a sum of weight 1."""
        of = box_gauss.noise_scale if self.gaussian else box_laplace.noise_scale
        return float(of(self.d, self.budget, adjacency or self.adjacency))


def usual_rows(x: Matrix, box: Box) -> Matrix:
    """Clip every column to its bounds, and scale it to [−1, 1], as the correct release does."""
    return np.clip((np.clip(x, box.low, box.high) - box.centre) / box.half_widths, -1, 1)


def usual_sums(u: Matrix) -> Matrix:
    """Return the correct sums over the rows of 1, the scaled columns, their squares minus 1 and their products."""
    return box_moments.moment_sums(u, *u.shape)


def usual_spread(s: Setup) -> Matrix:
    """Return the correct noise scale of every sum."""
    return spreads(s.scale(), s.weights(), s.d)


def usual_noise(s: Setup, rng: Generator, u: Matrix) -> Matrix:
    """Return the correct noise, which is symmetric with independent entries."""
    return (wigner.sample_wigner if s.gaussian else wigner.sample_laplace)(s.d + 1, rng)


def usual_output(noisy: Matrix, box: Box, u: Matrix) -> Matrix:
    """Compute the number of rows, the mean and the covariance from the noisy sums, as the correct release does."""
    return box_moments.estimates(noisy, box)


@dataclass(frozen=True)
class Parts:
    """The parts of a release, each of which is a function that a negative control may replace."""

    rows: Callable[[Matrix, Box], Matrix] = usual_rows
    sums: Callable[[Matrix], Matrix] = usual_sums
    spread: Callable[[Setup], Matrix] = usual_spread
    noise: Callable[[Setup, Generator, Matrix], Matrix] = usual_noise
    output: Callable[[Matrix, Box, Matrix], Matrix] = usual_output


def drawn(
    parts: Parts,
    gaussian: bool,
    adjacency: Adjacency,
    x: Matrix,
    *,
    rng: Generator,
    bounds: object = None,
    **budget: float,
) -> Matrix:
    """Make one release that consists of these parts."""
    box = Box.of_columns(bounds, x.shape[1])
    s = Setup(gaussian, adjacency, x.shape[1], next(iter(budget.values())))
    u = parts.rows(np.asarray(x, dtype=np.float64), box)
    noisy = parts.sums(u) + parts.spread(s) * parts.noise(s, rng, u)
    return parts.output(noisy, box, u)


# MISTAKES OF THE NOISE


def times(factor: float, *kinds: str) -> Callable[[Setup], Matrix]:
    """Return noise scales that are multiplied by a factor, for some kinds of sums or for all sums."""

    def spread(s: Setup) -> Matrix:
        usual, w = usual_spread(s), s.weights()
        other = replace(w, **{kind: getattr(w, kind) / factor for kind in kinds})
        return spreads(s.scale(), other, s.d) if kinds else factor * usual

    return spread


def with_weights(change: Callable[[Weights, int], Weights]) -> Callable[[Setup], Matrix]:
    """Return a function that computes the noise scales of the sums with the weights that `change` returns."""
    return lambda s: spreads(s.scale(), change(s.weights(), s.d), s.d)


def other_neighbours(s: Setup) -> Matrix:
    """Use the noise scales of the other adjacency (replace-one or add-remove), except for the number of rows."""
    other: Adjacency = "add-remove" if s.adjacency == "replace-one" else "replace-one"
    spread = spreads(s.scale(other), s.weights(other), s.d)
    spread[0, 0] = usual_spread(s)[0, 0]
    return spread


def mean_alone(s: Setup) -> Matrix:
    """Use the sensitivity of the first moments alone, and weight 1 for all sums."""
    w = replace(s.weights(), product=1, mean=1, square=1)
    return spreads(s.scale() * 2 * s.d**0.5 / (box_moments.l2_squared(s.d, s.weights(), s.adjacency) ** 0.5), w, s.d)


def euclidean(s: Setup) -> Matrix:
    """Use the ℓ2 sensitivity for Laplace noise."""
    first, second = box_moments.worst_rows(s.d, s.weights(), "l1")
    change = box_moments.moment_sums(first[None], 1, s.d)
    if s.adjacency == "replace-one":
        change = change - box_moments.moment_sums(second[None], 1, s.d)
    unit = spreads(1.0, s.weights(), s.d)
    seen = np.triu(unit) > 0
    norm = float(np.linalg.norm(change[seen] / unit[seen]))
    return usual_spread(s) * norm / float(box_moments.l1(s.d, s.weights(), s.adjacency))


def every_sum(s: Setup) -> Matrix:
    """Halve the noise, as if each kind of sum had the whole budget to itself."""
    return usual_spread(s) / 2


def bare_count(s: Setup) -> Matrix:
    """Add no noise to the number of rows."""
    spread = usual_spread(s)
    spread[0, 0] = 0.0
    return spread


def without_mirror(s: Setup, rng: Generator, u: Matrix) -> Matrix:
    """Draw independent noise below the diagonal of the second moments."""
    noise, other = usual_noise(s, rng, u), usual_noise(s, rng, u)
    lower = np.tril(np.ones_like(noise, dtype=bool), -1)
    lower[:, 0] = False
    return np.where(lower, other, noise)


def shared(s: Setup, rng: Generator, u: Matrix) -> Matrix:
    """Use the noise of the means also as the noise of the sums of squares."""
    noise = usual_noise(s, rng, u)
    j = np.arange(1, s.d + 1)
    noise[j, j] = noise[0, 1:]
    return noise


def count_again(s: Setup, rng: Generator, u: Matrix) -> Matrix:
    """Use the noise of the number of rows also as the noise of the first mean."""
    noise = usual_noise(s, rng, u)
    noise[0, 1] = noise[1, 0] = noise[0, 0]
    return noise


def uniform(s: Setup, rng: Generator, u: Matrix) -> Matrix:
    """Draw uniform noise of the right variance."""
    width = 3**0.5 if s.gaussian else 6**0.5
    return wigner.symmetric(rng.uniform(-width, width, (s.d + 1) * (s.d + 2) // 2))


def other_kind(s: Setup, rng: Generator, u: Matrix) -> Matrix:
    """Draw Laplace noise with the variance of Gaussian noise, or Gaussian noise with the variance of Laplace noise."""
    if s.gaussian:
        return wigner.sample_laplace(s.d + 1, rng) / 2**0.5
    return wigner.sample_wigner(s.d + 1, rng) * 2**0.5


def quiet_if_constant(s: Setup, rng: Generator, u: Matrix) -> Matrix:
    """Add no noise if all rows are equal."""
    return usual_noise(s, rng, u) * float((u != u[:1]).any() or len(u) == 1)


def quiet_if_single(s: Setup, rng: Generator, u: Matrix) -> Matrix:
    """Add a tenth of the noise if there is only one row."""
    return usual_noise(s, rng, u) * (0.1 if len(u) == 1 else 1.0)


def spread_of_the_data(s: Setup, rng: Generator, u: Matrix) -> Matrix:
    """Multiply the noise by the largest absolute value of the scaled data, but at least by 0.1."""
    return usual_noise(s, rng, u) * max(float(np.abs(u).max(initial=0.0)), 0.1)


# MISTAKES OF THE ROWS AND OF THE SUMS


def unclipped(x: Matrix, box: Box) -> Matrix:
    """Do not clip the rows to the box."""
    return np.asarray((x - box.centre) / box.half_widths)


def last_unclipped(x: Matrix, box: Box) -> Matrix:
    """Do not clip the last column."""
    rows = usual_rows(x, box)
    rows[:, -1] = unclipped(x, box)[:, -1]
    return rows


def in_the_ball(x: Matrix, box: Box) -> Matrix:
    """Shorten the scaled rows to length 1 too."""
    u = usual_rows(x, box)
    return np.asarray(u / np.maximum(np.linalg.norm(u, axis=1, keepdims=True), 1.0))


def dropped(x: Matrix, box: Box) -> Matrix:
    """Move rows with a value outside its bounds to the middle of the box."""
    outside = ((x < box.low) | (x > box.high)).any(axis=1, keepdims=True)
    return np.where(outside, 0.0, usual_rows(x, box))


def own_bounds(x: Matrix, box: Box) -> Matrix:
    """Use the smallest and the largest value of a column as its bounds."""
    low, high = x.min(axis=0), x.max(axis=0)
    return np.asarray(2 * (x - low) / np.where(high > low, high - low, 1.0) - 1)


def first_bounds(x: Matrix, box: Box) -> Matrix:
    """Use the bounds of the first column for all columns."""
    first = Box.of([box.bounds[0]] * box.dimension)
    return usual_rows(x, first)


def uncentred(x: Matrix, box: Box) -> Matrix:
    """Divide a column by its upper bound in place of scaling it to [−1, 1]."""
    return np.clip(x, box.low, box.high) / np.maximum(np.abs(box.high), 1e-9)


def three_percent_outside(x: Matrix, box: Box) -> Matrix:
    """Clip values to bounds that are 3 % too wide."""
    return np.clip((x - box.centre) / box.half_widths, -1.03, 1.03)


def true_count_below(u: Matrix) -> Matrix:
    """Sum u² in place of u² − 1 for a scaled column u, which adds the exact number of rows."""
    sums = usual_sums(u)
    j = np.arange(1, u.shape[1] + 1)
    sums[j, j] += len(u)
    return sums


def products_of_neighbours(u: Matrix) -> Matrix:
    """Use the product of the last and the first column in place of the square of the last column."""
    sums = usual_sums(u)
    sums[-1, -1] = float(u[:, -1] @ u[:, 0]) - len(u)
    return sums


# MISTAKES OF THE OUTPUT


def _with_divisor(noisy: Matrix, box: Box, divisor: float) -> Matrix:
    sums = noisy / divisor
    sums[0, 0] = 1.0
    out = box_moments.estimates(sums, box)
    out[0, 0] = noisy[0, 0]
    return out


def true_divisor(noisy: Matrix, box: Box, u: Matrix) -> Matrix:
    """Divide the sums by the exact number of rows, but release the noisy number of rows."""
    return _with_divisor(noisy, box, max(len(u), 1))


def never_above_the_rows(noisy: Matrix, box: Box, u: Matrix) -> Matrix:
    """Replace the noisy number of rows by the exact number if the noisy number is larger."""
    capped = noisy.copy()
    capped[0, 0] = min(noisy[0, 0], len(u))
    return box_moments.estimates(capped, box)


def true_mean(noisy: Matrix, box: Box, u: Matrix) -> Matrix:
    """Subtract the product of the exact means in place of the noisy means from the second moment."""
    out = box_moments.estimates(noisy, box)
    divisor = max(float(noisy[0, 0]), 1.0)
    noisy_mean, mean = noisy[0, 1:] / divisor, u.sum(axis=0) / divisor
    out[1:, 1:] += np.outer(box.half_widths, box.half_widths) * (
        np.outer(noisy_mean, noisy_mean) - np.outer(mean, mean)
    )
    return out


def over_n_less_one(noisy: Matrix, box: Box, u: Matrix) -> Matrix:
    """Divide the covariance by n − 1 in place of n."""
    out = box_moments.estimates(noisy, box)
    out[1:, 1:] *= max(noisy[0, 0], 2.0) / (max(noisy[0, 0], 2.0) - 1)
    return out


def in_other_units(noisy: Matrix, box: Box, u: Matrix) -> Matrix:
    """Release the mean of the scaled columns, without converting it to the units of the data."""
    out = box_moments.estimates(noisy, box)
    out[0, 1:] = out[1:, 0] = noisy[0, 1:] / max(float(noisy[0, 0]), 1.0)
    return out


def clipped_mean(noisy: Matrix, box: Box, u: Matrix) -> Matrix:
    """Clip the mean to the bounds, which is private but not the claimed output."""
    out = box_moments.estimates(noisy, box)
    out[0, 1:] = out[1:, 0] = np.clip(out[0, 1:], box.low, box.high)
    return out


# MISTAKES UNDER (ε, δ)-DP


def approximate_97(x: Matrix, *, epsilon: float, delta: float, rng: Generator, bounds: Any = None) -> Matrix:
    """Multiply the noise by 0.97."""
    noise = 0.97 * box_gauss.draw_noise(x.shape[1], rng)
    return box_gauss_approximate.release(x, noise, epsilon=epsilon, delta=delta, bounds=bounds)


def approximate_without_delta(x: Matrix, *, epsilon: float, delta: float, rng: Generator, bounds: Any = None) -> Matrix:
    """Use ρ = ε²/2, which ignores δ."""
    return box_gauss.sample(x, rng, rho=epsilon**2 / 2, bounds=bounds)


# THE CONTROLS


def control(
    name: str, parts: Parts, *, laplace: bool = False, add_remove: bool = False, mistake: str = "", **more: object
) -> NegativeControl:
    """Return a negative control with these parts. By default the docstring of the changed part states the mistake."""
    adjacency: Adjacency = "add-remove" if add_remove else "replace-one"
    usual = Parts()
    changed = [
        getattr(parts, slot) for slot in Parts.__dataclass_fields__ if getattr(parts, slot) != getattr(usual, slot)
    ]
    draw = partial(drawn, parts, not laplace, adjacency)
    words = mistake or changed[0].__doc__ or ""
    mechanism = "box-laplace" if laplace else "box-gauss"
    return NegativeControl(
        f"box-sums-{name}",
        words,
        mechanism,
        draw=draw,
        options=(("adjacency", adjacency),),
        **{"caught_by": (), **more},  # type: ignore[arg-type]
    )


TOTAL = by_law("total scale")
_squared = with_weights(lambda w, d: Weights(w.count**2, w.mean**2, w.square**2, w.product**2))
_none = with_weights(lambda w, d: Weights(min(w.count, 1), 1, 1, 1))
_as_products = with_weights(lambda w, d: replace(w, square=2 * max(w.square, w.product)))

NEGATIVE_CONTROLS = (
    control("other-neighbours", Parts(spread=other_neighbours), caught_by=TOTAL, diagnosis="add-remove neighbours"),
    control("other-neighbours-add-remove", Parts(spread=other_neighbours), laplace=True, add_remove=True),
    control("weights-squared", Parts(spread=_squared), laplace=True,
            mistake="Divide the noise by the squares of the weights in place of the weights."),
    control("weights-squared-add-remove", Parts(spread=_squared), add_remove=True,
            mistake="Divide the noise by the squares of the weights in place of the weights."),
    control("no-weights", Parts(spread=_none), add_remove=True, mistake="Use the same noise scale for all sums."),
    control("squares-as-products", Parts(spread=_as_products), mistake="Give the squares a weight that is too large."),
    control("mean-alone", Parts(spread=mean_alone)),
    control("euclidean", Parts(spread=euclidean), laplace=True),
    control("euclidean-add-remove", Parts(spread=euclidean), laplace=True, add_remove=True),
    control("every-sum", Parts(spread=every_sum), diagnosis="half the calibrated scale"),
    control("97", Parts(spread=times(0.97)), mistake="Multiply the noise by 0.97."),
    control("97-laplace", Parts(spread=times(0.97)), laplace=True, mistake="Multiply the noise by 0.97."),
    control("97-add-remove", Parts(spread=times(0.97)), add_remove=True, mistake="Multiply the noise by 0.97."),
    *(
        control(f"half-{kind}", Parts(spread=times(0.5, kind)), add_remove=kind == "count", laplace=kind == "square",
                mistake=f"Halve the noise of the {kind}s.", diagnosis="half the calibrated scale")
        for kind in ("count", "mean", "square", "product")
    ),
    *(
        control(f"90-{kind}", Parts(spread=times(0.9, kind)), add_remove=True, laplace=kind == "mean",
                mistake=f"Multiply the noise of the {kind}s by 0.9.")
        for kind in ("count", "mean", "square", "product")
    ),
    control("bare-count", Parts(spread=bare_count), add_remove=True),
    control("without-mirror", Parts(noise=without_mirror)),
    control("shared", Parts(noise=shared)),
    control("count-again", Parts(noise=count_again), laplace=True, add_remove=True),
    control("uniform", Parts(noise=uniform)),
    control("uniform-laplace", Parts(noise=uniform), laplace=True, add_remove=True),
    control("other-kind", Parts(noise=other_kind)),
    control("other-kind-laplace", Parts(noise=other_kind), laplace=True, add_remove=True),
    control("quiet-if-constant", Parts(noise=quiet_if_constant)),
    control("quiet-if-single", Parts(noise=quiet_if_single), laplace=True),
    control("spread-of-the-data", Parts(noise=spread_of_the_data), add_remove=True),
    control("unclipped", Parts(rows=unclipped)),
    control("unclipped-add-remove", Parts(rows=unclipped), laplace=True, add_remove=True),
    control("last-unclipped", Parts(rows=last_unclipped), laplace=True),
    control("three-percent-outside", Parts(rows=three_percent_outside)),
    control("in-the-ball", Parts(rows=in_the_ball)),
    control("middle-for-outside", Parts(rows=dropped), add_remove=True),
    control("own-bounds", Parts(rows=own_bounds)),
    control("first-bounds", Parts(rows=first_bounds)),
    control("uncentred", Parts(rows=uncentred), laplace=True),
    control("true-count-below", Parts(sums=true_count_below), add_remove=True),
    control("products-of-neighbours", Parts(sums=products_of_neighbours)),
    control("true-divisor", Parts(output=true_divisor), add_remove=True),
    control("true-divisor-laplace", Parts(output=true_divisor), laplace=True, add_remove=True),
    control("never-above-the-rows", Parts(output=never_above_the_rows), laplace=True, add_remove=True),
    control("true-mean", Parts(output=true_mean)),
    control("over-n-less-one", Parts(output=over_n_less_one)),
    control("in-other-units", Parts(output=in_other_units), laplace=True),
    control("clipped-mean", Parts(output=clipped_mean)),
    from_function(approximate_97, name="box-sums-97-approximate", mechanism="box-gauss-approximate"),
    from_function(approximate_without_delta, name="box-sums-without-delta", mechanism="box-gauss-approximate"),
)  # fmt: skip
