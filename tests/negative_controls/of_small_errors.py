"""Negative controls whose error is small on most data, but larger on some rows, shapes or queries."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from covassay.reference.domain import Matrix, Vector, row_norms, unit_rows
from tests.negative_controls.broken import broken, other_noise, part
from tests.negative_controls.negative_control import NegativeControl, by_law

OUTPUT = by_law("output")


def to_the_99_percent_quantile(x: Matrix) -> Matrix:
    """Clip rows to the 99 % quantile of their norms."""
    rows = unit_rows(x)
    norms = row_norms(rows)
    return np.asarray(rows * np.minimum(1, np.quantile(norms, 0.99) / np.maximum(norms, 1e-300))[:, None])


def in_16_bits(x: Matrix) -> Matrix:
    """Round the rows to float16."""
    return np.asarray(unit_rows(x), dtype=np.float16).astype(np.float64)


def as_short_integers(x: Matrix) -> Matrix:
    """Store integers in 16 bits, so that larger integers wrap around."""
    whole = np.rint(x)
    return np.asarray((whole + 2**15) % 2**16 - 2**15 if np.array_equal(whole, x) and np.abs(x).max() < 1e9 else x)


def fresh_threshold(z: Any, rng: np.random.Generator, x: Matrix) -> Any:
    """Draw new noise of the threshold for every query, with half the scale of the queries' noise."""
    return replace(z, threshold=0.0, queries=z.queries - rng.laplace(size=z.queries.shape) / 2)


def correlated(z: Vector, rng: np.random.Generator, x: Matrix) -> Vector:
    """Give the noise of the first and the last component a correlation of 7 %."""
    return np.append(z[:-1], 0.07 * z[0] + (1 - 0.07**2) ** 0.5 * z[-1]) if len(z) > 1 else z


def second_component(z: Vector, rng: np.random.Generator, x: Matrix) -> Vector:
    """Multiply the noise of the second component by 0.92."""
    return np.where(np.arange(len(z)) == 1, 0.92, 1.0) * z


def fourth_entry(factor: float) -> Callable[[Matrix, np.random.Generator, Matrix], Matrix]:
    """Return a function that multiplies the noise of the entry (4, 4) by a factor."""

    def noise(z: Matrix, rng: np.random.Generator, x: Matrix) -> Matrix:
        if len(z) > 3:
            z = z.copy()
            z[3, 3] *= factor
        return z

    return noise


def last_step(factor: float, probability: float = 1.0) -> Callable[[Matrix, np.random.Generator, Matrix], Matrix]:
    """Return a function that multiplies the noise of the last step by a factor, with the given probability."""

    def noise(z: Matrix, rng: np.random.Generator, x: Matrix) -> Matrix:
        z = z.copy()
        z[-1] *= factor if rng.random() < probability else 1.0
        return z

    return noise


NEGATIVE_CONTROLS: tuple[NegativeControl, ...] = (
    *(
        broken(f"{name}-99-percent", name, str(to_the_99_percent_quantile.__doc__), rows=to_the_99_percent_quantile)
        for name in ("em-cov", "iterative-eigenvectors", "separate-cov", "bingham")
    ),
    *(
        broken(f"{name}-in-16-bits", name, str(in_16_bits.__doc__), rows=in_16_bits)
        for name in ("em-cov", "separate-cov", "matrix-bingham", "exponential")
    ),
    broken("gaussian-short-integers", "gaussian", str(as_short_integers.__doc__), rows=as_short_integers),
    other_noise(
        "sparse-vector-fresh-threshold",
        "above-threshold",
        "Draw new noise of the threshold for every query.",
        fresh_threshold,
        caught_by=OUTPUT,
        diagnosis="fresh noise for every query",
    ),
    *(
        other_noise(
            name, of, "Multiply the noise of the queries by 0.9.", part("queries", lambda z: 0.9 * z), caught_by=OUTPUT
        )
        for name, of in (("sparse-vector-queries-90", "above-threshold"), ("radius-queries-90", "private-radius"))
    ),
    other_noise(
        "exponential-107", "exponential", "Increase the exponent by 7 %.", lambda z, rng, x: z / 1.07, caught_by=OUTPUT
    ),
    other_noise(
        "second-component-92", "gaussian", "Multiply the noise of the second component by 0.92.", second_component,
        caught_by=by_law("scale of every coordinate"),
    ),
    other_noise(
        "gaussian-correlated-7", "gaussian", "Give the noise of two components a correlation of 7 %.", correlated,
        caught_by=by_law("signs of all entries"),
    ),
    other_noise(
        "fourth-entry-90", "gauss-cov", "Multiply the noise of the entry (4, 4) by 0.9.", fourth_entry(0.9),
        caught_by=by_law("scale of every entry"),
    ),
    other_noise(
        "fourth-entry-93", "lap-cov", "Multiply the noise of the entry (4, 4) by 0.93.", fourth_entry(0.93),
    ),
    other_noise(
        "separate-cov-across-90", "separate-cov", "Multiply the noise off the diagonal by 0.9.",
        part("matrix", lambda z: z * (0.9 + 0.1 * np.eye(len(z)))), caught_by=by_law("ratio of scales"),
    ),
    other_noise("product-last-93", "ppde", "Multiply the noise in the last round by 0.93.", last_step(0.93)),
    other_noise("coinpress-last-95", "coinpress-mean", "Multiply the noise in the last step by 0.95.", last_step(0.95)),
    other_noise(
        "coinpress-last-at-times", "coinpress-mean", "Add no noise in the last step in one draw of 500.",
        last_step(0.0, 1 / 500), caught_by=by_law("noise in every draw"),
    ),
    other_noise(
        "adaptive-last-93", "adaptive-cov", "Multiply the noise in the last step by 0.93.",
        part("base.matrix", lambda z: 0.93 * z), caught_by=by_law("squared norm"),
    ),
    other_noise(
        "adaptive-pure-last-93", "adaptive-cov-pure", "Multiply the noise in the last step by 0.93.",
        part("matrix", lambda z: 0.93 * z), caught_by=by_law("total scale"),
    ),
)  # fmt: skip
