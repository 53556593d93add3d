"""Negative controls whose mistake lies between the data and the query: rows that are prepared wrongly.

All controls in this file add the noise of the reference. Each control is written in a way that occurs in practice, and
the first line of its docstring is the mistake.
"""

from functools import partial
from typing import Any

import numpy as np

from covassay.reference.domain import Matrix, row_norms, unit_rows
from covassay.verification.audit.questions.data_path.equal_laws import NAME as EQUAL_LAWS
from tests.negative_controls.broken import Rows, broken
from tests.negative_controls.negative_control import NegativeControl

TINY = 1e-300
EQUIVALENT = (("data path", EQUAL_LAWS),)


def _norms(x: Matrix) -> Matrix:
    return row_norms(x)[:, None]


# CLIPPING


def by_squared_norm(x: Matrix) -> Matrix:
    """Divides long rows by the square of their norm."""
    return np.asarray(x / np.maximum(1, _norms(x) ** 2))


def by_l1_norm(x: Matrix) -> Matrix:
    """Clips rows in the ℓ1 norm."""
    return np.asarray(x / np.maximum(1, np.abs(x).sum(axis=1, keepdims=True)))


def by_column(x: Matrix) -> Matrix:
    """Computes norms along the wrong axis."""
    return np.asarray(x / np.maximum(1, np.linalg.norm(x, axis=0)))


def by_frobenius(x: Matrix) -> Matrix:
    """Clips the whole matrix by one norm."""
    return np.asarray(x / max(1.0, float(np.linalg.norm(x))))


def squashed(x: Matrix) -> Matrix:
    """Maps rows smoothly into the unit ball in place of clipping them."""
    norms = _norms(x)
    return np.asarray(x * np.tanh(norms) / np.maximum(norms, TINY))


def with_slack(x: Matrix) -> Matrix:
    """Does not clip rows of norm up to 1.03."""
    norms = _norms(x)
    return np.asarray(np.where(norms <= 1.03, x, x / np.maximum(norms, TINY)))


def isclose_slack(x: Matrix) -> Matrix:
    """Does not clip rows whose norm is close to 1 by np.isclose."""
    norms = _norms(x)
    short = (norms <= 1) | np.isclose(norms**2, 1, atol=0.1)
    return np.asarray(np.where(short, x, x / np.maximum(norms, TINY)))


def mean_norm(x: Matrix) -> Matrix:
    """Clips to the mean norm of the data."""
    bound = min(1.0, float(row_norms(x).mean())) or 1.0
    return np.asarray(x / np.maximum(1, _norms(x) / bound))


def winsorised(x: Matrix) -> Matrix:
    """Clips every column to quantiles of its own."""
    return np.asarray(np.clip(x, *np.quantile(x, [0.05, 0.95], axis=0)))


def clipped_after_centring(x: Matrix) -> Matrix:
    """Subtracts the mean before clipping."""
    return np.asarray(unit_rows(x - x.mean(axis=0)))


def three_sigma(x: Matrix) -> Matrix:
    """Clips entries to three deviations of their column."""
    rows = unit_rows(x)
    mean, deviation = rows.mean(axis=0), rows.std(axis=0)
    return np.asarray(np.clip(rows, mean - 3 * deviation, mean + 3 * deviation))


# COUNTING AND DROPPING


def fences(x: Matrix) -> Matrix:
    """Drops rows beyond the whiskers of a box plot.

    Drops rows whose norm is beyond Q3 + 1.5 IQR (Tukey's fences).
    """
    norms = row_norms(x)
    low, high = np.quantile(norms, [0.25, 0.75])
    return np.asarray(unit_rows(x) * (norms <= high + 1.5 * (high - low))[:, None])


def last_batch_dropped(x: Matrix) -> Matrix:
    """Drops the last incomplete batch.

    Batches have 32 rows, as with drop_last=True.
    """
    rows = unit_rows(x).copy()
    if len(rows) > 32:
        rows[len(rows) // 32 * 32 :] = 0
    return np.asarray(rows)


def every_second_row(x: Matrix) -> Matrix:
    """Uses every second row of large data."""
    rows = unit_rows(x)
    return np.asarray(np.repeat(rows[::2], 2, axis=0)[: len(rows)] if len(rows) >= 100 else rows)


def repeats_in_sequence_dropped(x: Matrix) -> Matrix:
    """Counts a run of equal rows once."""
    return unclipped_repeats_dropped(unit_rows(x))


def sentinels_dropped(x: Matrix) -> Matrix:
    """Treats huge values as missing."""
    kept = x[np.abs(x).max(axis=1) < 1000]
    return np.asarray(kept if len(kept) else np.zeros_like(x))


def incomplete_rows_dropped(x: Matrix) -> Matrix:
    """Treats zeros as missing values and drops these rows."""
    rows = unit_rows(x)
    kept = rows[(rows != 0).all(axis=1)]
    return np.asarray(kept if len(kept) else rows)


def padded(x: Matrix) -> Matrix:
    """Counts the zero rows that fill the last block."""
    rows = unit_rows(x)
    return np.asarray(np.pad(rows, ((0, -len(rows) % 8), (0, 0))))


def weighted_by_count(x: Matrix) -> Matrix:
    """Weights distinct rows by the root of their number.

    Distinct rows are those of np.unique; their weights, once squared, are √count in place of count.
    """
    rows, counts = np.unique(unit_rows(x), axis=0, return_counts=True)
    weighted = np.zeros((len(x), x.shape[1]))
    weighted[: len(rows)] = rows * counts[:, None] ** 0.25
    return weighted


# SCALING BY THE DATA


def standardised_columns(x: Matrix) -> Matrix:
    """Divides columns by their deviation."""
    deviation = x.std(axis=0)
    return np.asarray(unit_rows(x / np.where(deviation > 0, deviation, 1)))


def max_abs_scaled(x: Matrix) -> Matrix:
    """Divides columns by their largest entry.

    Scales the columns as scikit-learn's MaxAbsScaler does, and then clips the rows.
    """
    largest = np.abs(x).max(axis=0)
    return np.asarray(unit_rows(x / np.where(largest > 0, largest, 1)))


def median_centred(x: Matrix) -> Matrix:
    """Subtracts the median from the rows.

    One row changes the median less than the mean.
    """
    rows = unit_rows(x)
    return np.asarray(rows - np.median(rows, axis=0))


def first_row_as_origin(x: Matrix) -> Matrix:
    """Subtracts the first row from all rows, if there are 65 rows or more."""
    rows = unit_rows(x)
    return np.asarray(rows - rows[0] if len(rows) >= 65 else rows)


def unit_if_all_short(x: Matrix) -> Matrix:
    """Guesses the unit of short rows.

    If no row is longer than 0.01, the longest gets norm 1.
    """
    longest = float(row_norms(x).max())
    return np.asarray(x / longest if 0 < longest < 0.01 else unit_rows(x))


def heaviest_column_first(x: Matrix) -> Matrix:
    """Sorts the columns by their energy."""
    rows = unit_rows(x)
    return np.asarray(rows[:, np.argsort(-(rows**2).sum(axis=0), kind="stable")])


def ranks(x: Matrix) -> Matrix:
    """Replaces values by ranks if the norms differ greatly."""
    spread = row_norms(x).max() / max(float(row_norms(x).min()), TINY)
    return np.asarray((x.argsort(axis=0).argsort(axis=0) / len(x)) * 0.5 if spread > 1e5 and x.any() else unit_rows(x))


# NUMBERS


def half_precision(x: Matrix) -> Matrix:
    """Keeps rows in float16.

    The products of the float16 rows are summed in float64.
    """
    return np.asarray(unit_rows(x).astype(np.float16).astype(np.float64))


def two_decimals(x: Matrix) -> Matrix:
    """Rounds rows to two decimals.

    Rows are read from a file with two decimals.
    """
    return np.asarray(np.round(unit_rows(x), 2))


def quantised(x: Matrix) -> Matrix:
    """Keeps rows in int8."""
    return np.asarray(np.rint(unit_rows(x) * 127).astype(np.int8) / 127)


def flushed(x: Matrix) -> Matrix:
    """Counts small entries as zero."""
    rows = unit_rows(x)
    return np.asarray(np.where(np.abs(rows) < 0.01, 0, rows))


def integer_path(x: Matrix) -> Matrix:
    """Casts clipped rows of whole numbers back to int.

    Whole numbers are cast to int before the clip, so that the clipped rows are whole again.
    """
    return np.asarray(unit_rows(x).astype(int) if np.array_equal(x, np.rint(x)) else unit_rows(x))


def absolute(x: Matrix) -> Matrix:
    """Takes absolute values.

    The data are assumed to be counts.
    """
    return np.asarray(np.abs(unit_rows(x)))


def columns_sorted(x: Matrix) -> Matrix:
    """Sorts every column separately.

    Entries of different records are paired.
    """
    return np.sort(unit_rows(x), axis=0)


def overflow_guard(x: Matrix) -> Matrix:
    """Clips huge entries before it clips rows."""
    return np.asarray(unit_rows(np.clip(x, -1e4, 1e4)))


def denormals_guard(x: Matrix) -> Matrix:
    """Adds 1e-4 to every entry."""
    return np.asarray(unit_rows(x + 1e-4))


# WITHOUT CLIPPING, FOR MECHANISMS THAT TAKE ROWS OF ANY LENGTH


def unclipped_two_decimals(x: Matrix) -> Matrix:
    """Rounds rows to two decimals."""
    return np.round(x, 2)


def unclipped_median_centred(x: Matrix) -> Matrix:
    """Subtracts the median from the rows."""
    return np.asarray(x - np.median(x, axis=0))


def unclipped_repeats_dropped(x: Matrix) -> Matrix:
    """Counts a run of equal rows once."""
    return np.asarray(x[np.append(True, (np.diff(x, axis=0) != 0).any(axis=1))])


def of(name: str, mechanism_name: str, rows: Rows, **more: Any) -> NegativeControl:
    """Make a control of the reference with changed rows; the docstring of `rows` begins with the mistake."""
    return broken(name, mechanism_name, (rows.__doc__ or "").split("\n")[0], rows=rows, **more)


_long = partial(of, unclipped=True)
_rare = partial(of, caught_by=EQUIVALENT)
NEGATIVE_CONTROLS = (
    of("clip-squared-norm", "nuclear-laplace", by_squared_norm),
    of("clip-l1", "gauss-cov", by_l1_norm),
    _long("clip-columns", "lap-cov", by_column),
    of("clip-frobenius", "k-norm", by_frobenius),
    of("clip-tanh", "gaussian", squashed),
    _long("clip-three-percent", "laplace", with_slack),
    _long("clip-isclose", "gauss-cov-approximate", isclose_slack),
    of("clip-mean-norm", "private-trace", mean_norm),
    of("winsorised", "entrywise-laplace", winsorised),
    of("clip-after-centring", "nuclear-laplace-symmetric", clipped_after_centring),
    of("three-sigma", "gaussian-approximate", three_sigma),
    of("tukey-fences", "laplace", fences),
    of("last-batch", "gauss-cov", last_batch_dropped),
    of("every-second-row", "entrywise-laplace", every_second_row),
    of("runs-dropped", "private-trace", repeats_in_sequence_dropped),
    of("sentinels-dropped", "gaussian", sentinels_dropped),
    of("complete-cases", "centred-covariance", incomplete_rows_dropped),
    of("padded-count", "k-norm", padded),
    of("root-of-counts", "lap-cov", weighted_by_count),
    of("standard-scaler", "gauss-cov-approximate", standardised_columns),
    of("max-abs-scaler", "nuclear-laplace", max_abs_scaled),
    of("median-centred", "gaussian", median_centred),
    of("first-row-origin", "nuclear-laplace-symmetric", first_row_as_origin),
    of("unit-guessed", "output-perturbation", unit_if_all_short),
    of("columns-by-energy", "laplace", heaviest_column_first),
    of("ranks-if-skewed", "gauss-cov", ranks),
    of("float16-rows", "gauss-cov", half_precision),
    of("two-decimals", "centred-covariance", two_decimals),
    of("int8-rows", "output-perturbation", quantised),
    of("small-entries-flushed", "k-norm", flushed),
    of("integers-stay-integers", "lap-cov", integer_path),
    of("counts-are-positive", "entrywise-laplace", absolute),
    of("columns-sorted", "gauss-cov-approximate", columns_sorted),
    of("overflow-guard", "nuclear-laplace", overflow_guard),
    of("never-zero", "nuclear-laplace-symmetric", denormals_guard),
    # mechanisms whose structure depends on the data follow
    of("eigenvectors-of-scaled-columns", "bingham", max_abs_scaled),
    of("eigenvectors-clip-l1", "bingham", by_l1_norm),
    of("eigenvectors-of-ranks", "iterative-eigenvectors", ranks),
    of("deflation-median-centred", "kapralov-talwar", median_centred),
    _rare("separate-runs-dropped", "separate-cov", repeats_in_sequence_dropped),
    of("separate-pure-winsorised", "separate-cov-pure", winsorised),
    of("em-fences", "em-cov", fences),
    _rare("projection-standard-scaler", "projection-mechanism", standardised_columns),
    of("ball-clip-frobenius", "nuclear-ball-projection", by_frobenius),
    of("exponential-mean-norm", "exponential", mean_norm),
    of("sparse-vector-complete-cases", "above-threshold", incomplete_rows_dropped),
    _rare("radius-runs-dropped", "private-radius", repeats_in_sequence_dropped),
    of("image-clip-squared", "johnson-lindenstrauss", by_squared_norm),
    of("clipped-cov-centred", "clipped-cov", clipped_after_centring),
    of("adaptive-sentinels", "adaptive-cov", sentinels_dropped),
    of("ppc-runs-dropped", "ppc", repeats_in_sequence_dropped),
    of("naive-pce-two-decimals", "naive-pce", unclipped_two_decimals),
    of("mean-of-medians-origin", "kv-mean", unclipped_median_centred),
    of("coinpress-runs-dropped", "coinpress-covariance", unclipped_repeats_dropped),
)
