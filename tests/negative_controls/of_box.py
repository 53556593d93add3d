"""Negative controls for rows in a box: releases of a covariance or a second moment with one named mistake each.

The audit gets the bounds of the columns, but not the name of a mechanism: `covassay audit mutant:NAME --bounds …`.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from covassay.reference.box_sensitivity import centred_sensitivity, second_moment_sensitivity
from covassay.reference.domain import Box, Matrix, Vector, second_moment

Bounds = tuple[tuple[float, float], ...]
# a function that maps (box, n, ε) to the noise scale of every entry, (d, d)
Scales = Callable[[Box, int, float], Matrix]
Clip = Callable[[Matrix, Box], Matrix]
Query = Callable[[Matrix], Matrix]
# a function that maps (scales, rng, size) to noise of shape (size, d, d)
Noise = Callable[[Matrix, np.random.Generator, int], Matrix]

UNEQUAL: Bounds = ((0.0, 1.0), (0.0, 100.0), (0.0, 1.0))
UNIT: Bounds = ((0.0, 1.0),) * 3
AROUND_ZERO: Bounds = ((-5.0, 5.0), (-1.0, 1.0))
FAR_AWAY: Bounds = ((10.0, 11.0), (0.0, 1.0))


def entries(d: int) -> int:
    """Return the number of entries on and above the diagonal of a (d, d) matrix."""
    return d * (d + 1) // 2


def products(widths: Vector, n: int, epsilon: float) -> Matrix:
    """Return the correct noise scales for the covariance (with divisor n) of columns with these widths, if ε is split
    evenly over the entries.
    """
    return np.outer(widths, widths) * (n - 1) / n**2 * entries(len(widths)) / epsilon


def exact(box: Box, n: int, epsilon: float) -> Matrix:
    """Return the correct noise scales for the covariance (with divisor n) of rows in the box, if ε is split evenly over
    the entries.
    """
    return products(box.widths, n, epsilon)


def exact_moment(box: Box, n: int, epsilon: float) -> Matrix:
    """Return the correct noise scales for the second moment of rows in the box."""
    return second_moment_sensitivity(box, n).entries * entries(box.dimension) / epsilon


def clipped(x: Matrix, box: Box) -> Matrix:
    """Clip every value to the bounds of its column."""
    return np.clip(x, box.low, box.high)


def covariance(x: Matrix) -> Matrix:
    """Return the centred covariance, with divisor n."""
    return second_moment(x - x.mean(axis=0))


def mirrored(scales: Matrix, rng: np.random.Generator, size: int) -> Matrix:
    """Draw Laplace noise for the entries on and above the diagonal, and copy it to the entries below."""
    noise = np.triu(rng.laplace(size=(size, *scales.shape)) * scales)
    return noise + np.swapaxes(np.triu(noise, 1), 1, 2)


def release(
    scales: Scales = exact, clip: Clip = clipped, query: Query = covariance, noise: Noise = mirrored
) -> Callable[..., Matrix]:
    """Return a release as a function of (x, size, rng=, epsilon=, bounds=). A negative control may pass wrong functions
    for the noise scales, the clipping, the query or the noise.
    """

    def draw_many(x: Matrix, size: int, *, rng: np.random.Generator, epsilon: float, bounds: Bounds) -> Matrix:
        box = Box(bounds)
        rows = clip(np.asarray(x, dtype=np.float64), box)
        return query(rows) + noise(scales(box, len(rows), epsilon), rng, size)

    return draw_many


def _lower_at_upper(values: Matrix) -> Matrix:
    """Store the entries of the lower triangle, row by row, in the positions of the upper triangle."""
    d = values.shape[-1]
    placed = np.zeros_like(values)
    rows, columns = np.tril_indices(d)
    placed[(..., *np.triu_indices(d))] = values[..., rows, columns]
    return placed + np.swapaxes(np.triu(placed, 1), -1, -2)


def in_the_other_order(box: Box, n: int, epsilon: float) -> Matrix:
    """Store the noise scales of the upper triangle, row by row, in the positions of the lower triangle."""
    scales, d = exact(box, n, epsilon), box.dimension
    given = np.zeros_like(scales)
    given[np.tril_indices(d)] = scales[np.triu_indices(d)]
    return given + np.tril(given, -1).T


def _own_range(x: Matrix, size: int, *, rng: np.random.Generator, epsilon: float, bounds: Bounds) -> Matrix:
    """Take the bounds from the data."""
    widths = x.max(axis=0) - x.min(axis=0)
    return covariance(x) + mirrored(products(widths, len(x), epsilon), rng, size)


def _all_but_last(x: Matrix, box: Box) -> Matrix:
    rows = x.copy()
    rows[:, :-1] = clipped(x, box)[:, :-1]
    return rows


def _sums(box: Box, n: int, epsilon: float) -> Matrix:
    return np.asarray(np.add.outer(box.widths, box.widths) / 2 * (n - 1) / n**2 * entries(box.dimension) / epsilon)


def _root(box: Box, n: int, epsilon: float) -> Matrix:
    return np.sqrt(np.outer(box.widths, box.widths)) * (n - 1) / n**2 * entries(box.dimension) / epsilon


def _euclidean(box: Box, n: int, epsilon: float) -> Matrix:
    changes = products(box.widths, n, epsilon) / entries(box.dimension)
    return np.full_like(changes, np.linalg.norm(np.triu(changes)))


def _sum_of_changes(box: Box, n: int) -> float:
    """Return the ℓ1 sensitivity of the upper triangle of the covariance."""
    return centred_sensitivity(box, n).triangle_l1


def _own_noise_everywhere(scales: Matrix, rng: np.random.Generator, size: int) -> Matrix:
    return rng.laplace(size=(size, *scales.shape)) * scales


def _over_n_less_one(x: Matrix) -> Matrix:
    return covariance(x) * len(x) / max(len(x) - 1, 1)


@dataclass(frozen=True)
class BoxControl:
    """A release of data in a box, and the bounds of the columns with which the release is audited. The field `mistake`
    names the mistake of the release, and is empty if the release is correct.
    """

    name: str
    mistake: str
    draw_many: Callable[..., Matrix]
    bounds: Bounds = UNEQUAL
    diagnosis: str = ""
    seen_in: str = ""
    # The audit draws `samples` outputs on each data set. A small violation needs more outputs than the default.
    samples: int = 2000

    def draw(self, x: Matrix, *, epsilon: float, rng: np.random.Generator, bounds: Bounds) -> Matrix:
        """Return one output."""
        return self.draw_many(x, 1, rng=rng, epsilon=epsilon, bounds=bounds)[0]


CORRECT: tuple[BoxControl, ...] = (
    BoxControl("box-covariance", "", release()),
    BoxControl("box-covariance-around-zero", "", release(), AROUND_ZERO),
    BoxControl(
        "box-covariance-over-n-less-one",
        "",
        release(lambda box, n, epsilon: exact(box, n, epsilon) * n / max(n - 1, 1), query=_over_n_less_one),
    ),
    BoxControl("box-second-moment", "", release(exact_moment, query=second_moment), AROUND_ZERO),
    BoxControl("box-second-moment-far-away", "", release(exact_moment, query=second_moment), FAR_AWAY),
    BoxControl(
        "box-one-scale",
        "",
        release(lambda box, n, epsilon: np.full((box.dimension,) * 2, _sum_of_changes(box, n) / epsilon)),
    ),
)

BOX_CONTROLS: dict[str, BoxControl] = {
    control.name: control
    for control in (
        BoxControl(
            "box-triangle-orders",
            "List the values in the order of the lower triangle, but the scales in the order of the upper triangle.",
            release(in_the_other_order),
            diagnosis="entry (2, 2) of the output has noise that is",
            seen_in="smartnoise-synth 1.0.8, DPcovariance",
        ),
        BoxControl(
            "box-triangle-orders-placed",
            "Compute the lower triangle with the noise scales of the upper triangle, and copy it to the upper one.",
            release(query=lambda x: _lower_at_upper(covariance(x))),
            diagnosis="entry (1, 3) of the output, which is entry (2, 2) of the covariance, has noise that is",
            seen_in="smartnoise-synth 1.0.8, DPcovariance",
        ),
        BoxControl(
            "box-sum-of-ranges", "Use the mean of the widths of two columns in place of their product.", release(_sums)
        ),
        BoxControl(
            "box-root-of-ranges", "Use the root of a product of widths in place of the product.", release(_root)
        ),
        BoxControl("box-own-range", "Take the bounds from the data.", _own_range, UNIT),
        BoxControl(
            "box-half-range",
            "Use half of the width of every column.",
            release(lambda box, n, epsilon: products(box.widths / 2, n, epsilon)),
            UNIT,
        ),
        BoxControl(
            "box-first-bounds-for-all",
            "Use the bounds of the first column for all columns.",
            release(lambda box, n, epsilon: products(np.full(box.dimension, box.widths[0]), n, epsilon)),
        ),
        BoxControl(
            "box-upper-bound-as-width",
            "Use the upper bound of a column as its width, as if every lower bound were 0.",
            release(lambda box, n, epsilon: products(np.abs(box.high), n, epsilon)),
            AROUND_ZERO,
        ),
        BoxControl(
            "box-divisor",
            "Divide the covariance by n − 1, but use the sensitivity for the divisor n.",
            release(query=_over_n_less_one),
            UNIT,
        ),
        BoxControl(
            "box-budget-not-split",
            "Spend the whole budget ε on every entry.",
            release(lambda box, n, epsilon: exact(box, n, epsilon) / entries(box.dimension)),
            UNIT,
        ),
        BoxControl(
            "box-budget-split-by-columns",
            "Split ε over d columns in place of d(d + 1)/2 entries.",
            release(lambda box, n, epsilon: exact(box, n, epsilon) * box.dimension / entries(box.dimension)),
            UNIT,
        ),
        BoxControl("box-frobenius", "Use the ℓ2 sensitivity for Laplace noise.", release(_euclidean), UNIT),
        BoxControl(
            "box-noise-twice",
            "Split the budget over the upper triangle, but release both triangles with independent noise.",
            release(noise=_own_noise_everywhere),
            UNIT,
            samples=20_000,
        ),
        BoxControl(
            "box-unclipped", "Assume without a check that rows lie in the box.", release(clip=lambda x, box: x), UNIT
        ),
        BoxControl("box-last-column-unclipped", "Do not clip the last column.", release(clip=_all_but_last), UNIT),
        BoxControl(
            "box-moment-with-centred-scales",
            "Use the sensitivity of the centred covariance for the second moment.",
            release(lambda box, n, epsilon: products(box.widths, n, epsilon) * n / max(n - 1, 1), query=second_moment),
            FAR_AWAY,
        ),
        BoxControl(
            "box-moment-of-corners",
            "Take the difference of x² at the two bounds as its range, so that the range is 0 for the bounds −w and w.",
            release(
                lambda box, n, epsilon: exact_moment(box, n, epsilon) * (1 - np.eye(box.dimension)), query=second_moment
            ),
            AROUND_ZERO,
        ),
    )
}
