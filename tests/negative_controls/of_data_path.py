"""Negative controls that are wrong on some data only, or whose noise has entries that repeat, depend on each other or
are sometimes missing.

Most of these negative controls have the correct law in common cases: on ordinary rows of norm at most 1, or in the
dimensions in which the audit tests the law.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from covassay.reference.domain import Matrix, Vector, row_norms, second_moment, unit_rows
from covassay.reference.mechanisms.concentrated import gauss_cov
from covassay.reference.mechanisms.pure import nuclear_laplace_symmetric
from covassay.reference.mechanisms.registry import mechanism
from covassay.verification.audit.engine.coincidences import NAME as COINCIDENCES
from covassay.verification.audit.engine.coincidences import NAME_SEEN
from covassay.verification.audit.engine.same_noise import NAME, NAME_OF_ROWS
from tests.negative_controls.negative_control import NegativeControl

Rows = Callable[[Matrix], Matrix]
OTHER_DATA, OTHER_ROWS = (("data path", NAME),), (("data path", NAME_OF_ROWS),)
COINCIDENCE, COINCIDENCE_SEEN = (("data path", COINCIDENCES),), (("data path", NAME_SEEN),)

# ROWS THAT ARE PREPARED IN A WRONG WAY


def entries_clipped(x: Matrix) -> Matrix:
    """Clip every entry to [−1, 1] in place of clipping rows to norm 1."""
    return np.asarray(np.clip(x, -1, 1))


def clipped_by_quantile(x: Matrix) -> Matrix:
    """Clip rows to the 90 % quantile of their norms, if it is below 1."""
    norms = np.linalg.norm(x, axis=1)
    bound = min(1.0, float(np.quantile(norms, 0.9))) or 1.0
    return np.asarray(x / np.maximum(1, norms / bound)[:, None])


def divided_by_largest(x: Matrix) -> Matrix:
    """Divide all rows by the largest norm of a row."""
    return np.asarray(x / (np.linalg.norm(x, axis=1).max() or 1.0))


def zero_rows_dropped(x: Matrix) -> Matrix:
    """Drop rows of zeros and divide by the number of the other rows."""
    rows = unit_rows(x)
    kept = rows[rows.any(axis=1)]
    return kept if len(kept) else rows


def long_rows_dropped(x: Matrix) -> Matrix:
    """Drop rows of norm above 1 and divide by the number of the other rows."""
    kept = x[row_norms(x) <= 1]
    return kept if len(kept) else unit_rows(x)


def long_rows_zeroed(x: Matrix) -> Matrix:
    """Replace rows of norm above 1 by zeros."""
    return np.asarray(x * (row_norms(x) <= 1)[:, None])


def duplicates_dropped(x: Matrix) -> Matrix:
    """Keep only one of several equal rows."""
    return np.unique(unit_rows(x), axis=0)


def normalised(x: Matrix) -> Matrix:
    """Scale all rows other than zero to norm 1."""
    norms = np.linalg.norm(x, axis=1, keepdims=True)
    return np.asarray(np.divide(x, norms, out=np.zeros_like(x), where=norms > 0))


def standardised(x: Matrix) -> Matrix:
    """Subtract the exact mean from the rows."""
    rows = unit_rows(x)
    return np.asarray(rows - rows.mean(axis=0))


def rounded_rows(x: Matrix) -> Matrix:
    """Clip integers to [0, 255] and divide them by 255, as if the data were bytes."""
    whole = np.array_equal(x, np.rint(x))
    return np.asarray(np.clip(x, 0, 255) / 255) if whole else unit_rows(x)


def outliers_zeroed(x: Matrix) -> Matrix:
    """Replace rows whose norm is above five times the median norm by zeros."""
    rows = unit_rows(x)
    norms = np.linalg.norm(rows, axis=1)
    return np.asarray(rows * (norms <= 5 * np.median(norms))[:, None])


def clipped_too_late(x: Matrix) -> Matrix:
    """Clip rows to norm 1.05."""
    return 1.05 * unit_rows(x, 1.05)


def prepared(name: str, mechanism_name: str, prepare: Rows) -> NegativeControl:
    """Return a negative control: the mechanism on rows that `prepare` has changed. The docstring of `prepare` states
    the mistake.

    If the output is a matrix, the rows that `prepare` returns are not clipped, even if their norm is above 1.
    """
    declared = mechanism(mechanism_name)

    def draw(x: Matrix, *, rng: np.random.Generator, **budget: float) -> Any:
        rows = prepare(np.asarray(x, dtype=np.float64))
        if declared.output.kind == "matrix":
            return second_moment(rows) + declared.sample(np.zeros_like(rows), rng, **budget)
        return declared.sample(rows, rng, **budget)

    return NegativeControl(name, prepare.__doc__ or "", declared.name, OTHER_DATA, draw)


# NOISE THAT DEPENDS ON THE DATA OR REPEATS ITSELF

# a function that maps (x, output, output without noise, rng) to the changed output
Change = Callable[[Matrix, Any, Any, np.random.Generator], Any]


def changed(
    name: str, mistake: str, mechanism_name: str, change: Change, caught_by: tuple[tuple[str, str], ...] = OTHER_DATA
) -> NegativeControl:
    """Return a negative control: a mechanism whose noise is changed after the draw."""
    declared = mechanism(mechanism_name)

    def draw(x: Matrix, *, rng: np.random.Generator, **budget: float) -> Any:
        before = rng.bit_generator.state
        y = np.asarray(declared.sample(x, rng, **budget))
        after = rng.bit_generator.state
        rng.bit_generator.state = before
        noise = declared.sample(np.zeros_like(x), rng, **budget)
        rng.bit_generator.state = after
        return change(x, noise, y - noise, rng)

    return NegativeControl(name, mistake, declared.name, caught_by, draw)


def scaled_if(condition: Callable[[Matrix], bool], factor: float) -> Change:
    """Return a function that multiplies the noise by a factor if the data satisfy the condition."""
    return lambda x, noise, query, rng: query + (factor if condition(x) else 1.0) * noise


def noise_clipped(x: Matrix, noise: Any, query: Any, rng: np.random.Generator) -> Any:
    """Clip the output to [−2m, 2m], where m is the largest absolute value of an entry of the output without noise."""
    return np.clip(query + noise, -2 * np.abs(query).max(), 2 * np.abs(query).max())


def entry_repeated(x: Matrix, noise: Matrix, query: Matrix, rng: np.random.Generator) -> Matrix:
    """Use the noise of the first diagonal entry also for the last diagonal entry."""
    noise = noise.copy()
    noise[-1, -1] = noise[0, 0]
    return np.asarray(query + noise)


def opposite_entry(x: Matrix, noise: Matrix, query: Matrix, rng: np.random.Generator) -> Matrix:
    """Give two diagonal entries opposite noise if there are seven columns."""
    noise = noise.copy()
    if len(noise) == 7:
        noise[3, 3] = -noise[2, 2]
    return np.asarray(query + noise)


def mirrored(x: Matrix, noise: Matrix, query: Matrix, rng: np.random.Generator) -> Matrix:
    """Copy the noise of the upper triangle to the lower triangle, although all entries should be independent."""
    return np.asarray(query + np.triu(noise) + np.triu(noise, 1).T)


def traceless(x: Matrix, noise: Matrix, query: Matrix, rng: np.random.Generator) -> Matrix:
    """Make the trace of the noise 0 by subtracting a multiple of the identity matrix."""
    return np.asarray(query + noise - np.trace(noise) / len(noise) * np.eye(len(noise)))


def corner_bare(x: Matrix, noise: Matrix, query: Matrix, rng: np.random.Generator) -> Matrix:
    """Add no noise to the last entry if there are five columns or more."""
    noise = noise.copy()
    if len(noise) >= 5:
        noise[-1, -1] = 0
    return np.asarray(query + noise)


def component_repeated(x: Matrix, noise: Vector, query: Vector, rng: np.random.Generator) -> Vector:
    """Use twice the noise of the first component as the noise of the last component."""
    noise = noise.copy()
    if len(noise) > 2:
        noise[-1] = 2 * noise[0]
    return np.asarray(query + noise)


def few_seeds(mechanism_name: str, seeds: int) -> Callable[..., Any]:
    """Return the mechanism with a generator whose seed is drawn from only `seeds` different numbers."""

    def draw(x: Matrix, *, rng: np.random.Generator, **budget: float) -> Any:
        return mechanism(mechanism_name).sample(x, np.random.default_rng(int(rng.integers(seeds))), **budget)

    return draw


def bare_at_times(x: Matrix, *, rng: np.random.Generator, epsilon: float) -> Matrix:
    """Add no noise in one draw of 300."""
    y = nuclear_laplace_symmetric.sample(x, rng, epsilon=epsilon)
    return second_moment(unit_rows(x)) if rng.random() < 1 / 300 else y


class KeptNoise:
    """A mechanism that uses the same noise for all data with 60 rows or more and the same number of columns."""

    def __init__(self) -> None:
        self.noise: dict[int, Matrix] = {}

    def __call__(self, x: Matrix, *, rng: np.random.Generator, rho: float) -> Matrix:
        """Release the data with the stored noise if there are 60 rows or more."""
        d = x.shape[1]
        w = gauss_cov.draw_noise(d, rng)
        if len(x) >= 60:
            w = self.noise.setdefault(d, w)
        return gauss_cov.release(x, w, rho=rho)


def fails_on_equal_rows(x: Matrix, *, rng: np.random.Generator, rho: float) -> Matrix:
    """Raise an exception if all rows are equal."""
    if len(x) > 4 and np.ptp(x, axis=0).max() == 0 and x.any():
        raise ValueError("constant columns")
    return gauss_cov.sample(x, rng, rho=rho)


def all_zero(x: Matrix) -> bool:
    """Return whether all entries of the data are zero."""
    return not x.any()


NEGATIVE_CONTROLS = (
    prepared("entries-clipped", "nuclear-laplace", entries_clipped),
    prepared("entries-clipped-gauss", "gauss-cov", entries_clipped),
    prepared("quantile-clip", "lap-cov", clipped_by_quantile),
    prepared("largest-norm", "entrywise-laplace", divided_by_largest),
    prepared("zero-rows-dropped", "k-norm", zero_rows_dropped),
    prepared("zero-rows-dropped-laplace", "laplace", zero_rows_dropped),
    prepared("zero-rows-dropped-trace", "private-trace", zero_rows_dropped),
    prepared("long-rows-dropped", "gaussian", long_rows_dropped),
    prepared("long-rows-zeroed", "lap-cov", long_rows_zeroed),
    prepared("duplicates-dropped", "nuclear-laplace-symmetric", duplicates_dropped),
    prepared("rows-normalised", "output-perturbation", normalised),
    prepared("centred-for-free", "k-norm", standardised),
    prepared("integers-as-bytes", "entrywise-laplace", rounded_rows),
    prepared("outliers-zeroed", "lap-cov", outliers_zeroed),
    prepared("longer-clip", "gauss-cov", clipped_too_late),
    changed("bare-on-zeros", "Add no noise to zero data.", "private-trace", scaled_if(all_zero, 0.0)),
    changed(
        "less-noise-on-one-long-row",
        "Halve the noise if the largest norm of a row is above nine times the median norm.",
        "gaussian",
        scaled_if(lambda x: bool(row_norms(x).max() > 9 * np.median(row_norms(x)) > 0), 0.5),
    ),
    changed(
        "less-noise-on-short-rows",
        "Multiply the noise by the largest norm of a row, if it is below 1.",
        "centred-covariance",
        lambda x, noise, query, rng: query + noise * min(1.0, float(row_norms(x).max()) or 1.0),
    ),
    changed(
        "half-noise-many-rows",
        "Halve the noise if there are 65 rows or more.",
        "laplace",
        scaled_if(lambda x: len(x) >= 65, 0.5),
        OTHER_ROWS,
    ),
    changed(
        "half-noise-one-row",
        "Halve the noise if there is a single row.",
        "lap-cov",
        scaled_if(lambda x: len(x) == 1, 0.5),
        OTHER_ROWS,
    ),
    changed(
        "noise-of-blocks",
        "Divide the noise by ⌈n/64⌉, the number of blocks of 64 rows.",
        "nuclear-laplace-symmetric",
        lambda x, noise, query, rng: query + noise / -(-len(x) // 64),
        OTHER_ROWS,
    ),
    changed(
        "output-clipped",
        "Clip the output to [−2m, 2m], where m is the largest absolute value of an entry of the output without noise.",
        "laplace",
        noise_clipped,
    ),
    changed(
        "diagonal-repeated",
        "Use the noise of the first diagonal entry also for the last.",
        "gauss-cov",
        entry_repeated,
        COINCIDENCE,
    ),
    changed("opposite-at-seven", "Give two entries opposite noise at d = 7.", "lap-cov", opposite_entry, COINCIDENCE),
    changed(
        "mirrored-triangle",
        "Copy the noise of the upper triangle to the lower triangle.",
        "entrywise-laplace",
        mirrored,
        COINCIDENCE,
    ),
    changed(
        "traceless-noise",
        "Make the trace of the noise 0 by subtracting a multiple of the identity matrix.",
        "k-norm",
        traceless,
        COINCIDENCE,
    ),
    changed("bare-corner", "Add no noise to the last entry at d ≥ 5.", "gauss-cov", corner_bare, COINCIDENCE),
    changed(
        "component-repeated",
        "Use twice the noise of the first component as the noise of the last component.",
        "gaussian",
        component_repeated,
        COINCIDENCE,
    ),
    changed(
        "component-repeated-ridge",
        "Use twice the noise of the first component as the noise of the last component.",
        "output-perturbation",
        component_repeated,
        COINCIDENCE,
    ),
    NegativeControl(
        "few-seeds",
        "Seed the generator with a number below 2¹⁶.",
        "lap-cov",
        COINCIDENCE_SEEN,
        few_seeds("lap-cov", 2**16),
    ),
    NegativeControl(
        "very-few-seeds",
        "Seed the generator with a number below 100.",
        "laplace",
        COINCIDENCE,
        few_seeds("laplace", 100),
    ),
    NegativeControl(
        "bare-at-times",
        "Add no noise in one draw of 300.",
        "nuclear-laplace-symmetric",
        COINCIDENCE_SEEN,
        bare_at_times,
    ),
    NegativeControl(
        "kept-noise", "Repeat the same noise if there are 60 rows or more.", "gauss-cov", COINCIDENCE, KeptNoise()
    ),
    NegativeControl(
        "fails-on-equal-rows", "Raise an exception if all rows are equal.", "gauss-cov", OTHER_DATA, fails_on_equal_rows
    ),
)
