"""Negative controls that change the rows before the query in a wrong way.

All of them add the correct noise. The first line of the docstring of each function states the mistake.
"""

from functools import partial
from typing import Any

import numpy as np

from covassay.reference.domain import Matrix, row_norms, unit_rows
from covassay.verification.audit.questions.data_path.one_law_on_equivalent_data import NAME as EQUAL_LAWS
from tests.negative_controls.broken import Rows, broken
from tests.negative_controls.negative_control import NegativeControl

TINY = 1e-300
EQUIVALENT = (("data path", EQUAL_LAWS),)


def _norms(x: Matrix) -> Matrix:
    return row_norms(x)[:, None]


# CLIPPING


def by_squared_norm(x: Matrix) -> Matrix:
    """Divide long rows by the square of their norm in place of their norm."""
    return np.asarray(x / np.maximum(1, _norms(x) ** 2))


def by_l1_norm(x: Matrix) -> Matrix:
    """Clip rows in the ℓ1 norm in place of the ℓ2 norm."""
    return np.asarray(x / np.maximum(1, np.abs(x).sum(axis=1, keepdims=True)))


def by_column(x: Matrix) -> Matrix:
    """Clip columns in place of rows to norm 1."""
    return np.asarray(x / np.maximum(1, np.linalg.norm(x, axis=0)))


def by_frobenius(x: Matrix) -> Matrix:
    """Divide the whole data matrix by its Frobenius norm if this norm is above 1."""
    return np.asarray(x / max(1.0, float(np.linalg.norm(x))))


def squashed(x: Matrix) -> Matrix:
    """Scale a row of norm r to the norm tanh(r) in place of clipping it."""
    norms = _norms(x)
    return np.asarray(x * np.tanh(norms) / np.maximum(norms, TINY))


def with_slack(x: Matrix) -> Matrix:
    """Do not clip rows of norm up to 1.03."""
    norms = _norms(x)
    return np.asarray(np.where(norms <= 1.03, x, x / np.maximum(norms, TINY)))


def isclose_slack(x: Matrix) -> Matrix:
    """Do not clip rows whose squared norm differs from 1 by at most 0.1 according to np.isclose."""
    norms = _norms(x)
    short = (norms <= 1) | np.isclose(norms**2, 1, atol=0.1)
    return np.asarray(np.where(short, x, x / np.maximum(norms, TINY)))


def mean_norm(x: Matrix) -> Matrix:
    """Clip rows to the mean of their norms."""
    bound = min(1.0, float(row_norms(x).mean())) or 1.0
    return np.asarray(x / np.maximum(1, _norms(x) / bound))


def winsorised(x: Matrix) -> Matrix:
    """Clip every column to its 5 % and 95 % quantiles."""
    return np.asarray(np.clip(x, *np.quantile(x, [0.05, 0.95], axis=0)))


def clipped_after_centring(x: Matrix) -> Matrix:
    """Subtract the mean of the rows before clipping them."""
    return np.asarray(unit_rows(x - x.mean(axis=0)))


def three_sigma(x: Matrix) -> Matrix:
    """Clip every column to three standard deviations around its mean."""
    rows = unit_rows(x)
    mean, deviation = rows.mean(axis=0), rows.std(axis=0)
    return np.asarray(np.clip(rows, mean - 3 * deviation, mean + 3 * deviation))


# COUNTING AND DROPPING


def fences(x: Matrix) -> Matrix:
    """Replace rows of unusually large norm by zeros.

    A norm is unusually large if it is above the third quartile plus 1.5 times the interquartile range (Tukey's fences).
    """
    norms = row_norms(x)
    low, high = np.quantile(norms, [0.25, 0.75])
    return np.asarray(unit_rows(x) * (norms <= high + 1.5 * (high - low))[:, None])


def last_batch_dropped(x: Matrix) -> Matrix:
    """Replace the rows of the last incomplete batch by zeros.

    Batches have 32 rows.
    """
    rows = unit_rows(x).copy()
    if len(rows) > 32:
        rows[len(rows) // 32 * 32 :] = 0
    return np.asarray(rows)


def every_second_row(x: Matrix) -> Matrix:
    """Replace every second row by the row before it if there are 100 rows or more."""
    rows = unit_rows(x)
    return np.asarray(np.repeat(rows[::2], 2, axis=0)[: len(rows)] if len(rows) >= 100 else rows)


def repeats_in_sequence_dropped(x: Matrix) -> Matrix:
    """Keep only one of several equal rows in succession."""
    return unclipped_repeats_dropped(unit_rows(x))


def sentinels_dropped(x: Matrix) -> Matrix:
    """Drop rows with an entry of absolute value 1000 or more, as if this entry meant a missing value."""
    kept = x[np.abs(x).max(axis=1) < 1000]
    return np.asarray(kept if len(kept) else np.zeros_like(x))


def incomplete_rows_dropped(x: Matrix) -> Matrix:
    """Drop rows that contain a zero, as if a zero meant a missing value."""
    rows = unit_rows(x)
    kept = rows[(rows != 0).all(axis=1)]
    return np.asarray(kept if len(kept) else rows)


def padded(x: Matrix) -> Matrix:
    """Add rows of zeros until the number of rows is a multiple of 8."""
    rows = unit_rows(x)
    return np.asarray(np.pad(rows, ((0, -len(rows) % 8), (0, 0))))


def weighted_by_count(x: Matrix) -> Matrix:
    """If a row occurs k times, give it the weight √k in place of k."""
    rows, counts = np.unique(unit_rows(x), axis=0, return_counts=True)
    weighted = np.zeros((len(x), x.shape[1]))
    weighted[: len(rows)] = rows * counts[:, None] ** 0.25
    return weighted


# SCALING BY THE DATA


def standardised_columns(x: Matrix) -> Matrix:
    """Divide every column by its standard deviation before clipping."""
    deviation = x.std(axis=0)
    return np.asarray(unit_rows(x / np.where(deviation > 0, deviation, 1)))


def max_abs_scaled(x: Matrix) -> Matrix:
    """Divide every column by its largest absolute value before clipping.

    scikit-learn's MaxAbsScaler scales columns in this way.
    """
    largest = np.abs(x).max(axis=0)
    return np.asarray(unit_rows(x / np.where(largest > 0, largest, 1)))


def median_centred(x: Matrix) -> Matrix:
    """Subtract the median of every column."""
    rows = unit_rows(x)
    return np.asarray(rows - np.median(rows, axis=0))


def first_row_as_origin(x: Matrix) -> Matrix:
    """Subtract the first row from all rows if there are 65 rows or more."""
    rows = unit_rows(x)
    return np.asarray(rows - rows[0] if len(rows) >= 65 else rows)


def unit_if_all_short(x: Matrix) -> Matrix:
    """Scale the rows so that the longest has norm 1, if all rows are shorter than 0.01."""
    longest = float(row_norms(x).max())
    return np.asarray(x / longest if 0 < longest < 0.01 else unit_rows(x))


def heaviest_column_first(x: Matrix) -> Matrix:
    """Sort the columns by their sums of squares, the largest first."""
    rows = unit_rows(x)
    return np.asarray(rows[:, np.argsort(-(rows**2).sum(axis=0), kind="stable")])


def ranks(x: Matrix) -> Matrix:
    """Replace the values by their ranks in the column if the norms of the rows differ greatly."""
    spread = row_norms(x).max() / max(float(row_norms(x).min()), TINY)
    return np.asarray((x.argsort(axis=0).argsort(axis=0) / len(x)) * 0.5 if spread > 1e5 and x.any() else unit_rows(x))


# NUMBERS


def half_precision(x: Matrix) -> Matrix:
    """Round the rows to float16.

    The products of the rounded rows are summed in float64.
    """
    return np.asarray(unit_rows(x).astype(np.float16).astype(np.float64))


def two_decimals(x: Matrix) -> Matrix:
    """Round the rows to two decimals."""
    return np.asarray(np.round(unit_rows(x), 2))


def quantised(x: Matrix) -> Matrix:
    """Round the rows to multiples of 1/127, as int8 does."""
    return np.asarray(np.rint(unit_rows(x) * 127).astype(np.int8) / 127)


def flushed(x: Matrix) -> Matrix:
    """Replace entries of absolute value below 0.01 by zero."""
    rows = unit_rows(x)
    return np.asarray(np.where(np.abs(rows) < 0.01, 0, rows))


def integer_path(x: Matrix) -> Matrix:
    """Truncate the entries of the clipped rows to integers if the data are integers."""
    return np.asarray(unit_rows(x).astype(int) if np.array_equal(x, np.rint(x)) else unit_rows(x))


def absolute(x: Matrix) -> Matrix:
    """Replace the entries by their absolute values."""
    return np.asarray(np.abs(unit_rows(x)))


def columns_sorted(x: Matrix) -> Matrix:
    """Sort every column separately, so that entries of different rows are combined."""
    return np.sort(unit_rows(x), axis=0)


def overflow_guard(x: Matrix) -> Matrix:
    """Clip the entries to [−10⁴, 10⁴] before clipping the rows."""
    return np.asarray(unit_rows(np.clip(x, -1e4, 1e4)))


def denormals_guard(x: Matrix) -> Matrix:
    """Add 1e-4 to every entry before clipping."""
    return np.asarray(unit_rows(x + 1e-4))


# WITHOUT CLIPPING, FOR MECHANISMS THAT TAKE ROWS OF ANY LENGTH


def unclipped_two_decimals(x: Matrix) -> Matrix:
    """Round the rows to two decimals."""
    return np.round(x, 2)


def unclipped_median_centred(x: Matrix) -> Matrix:
    """Subtract the median of every column."""
    return np.asarray(x - np.median(x, axis=0))


def unclipped_repeats_dropped(x: Matrix) -> Matrix:
    """Keep only one of several equal rows in succession."""
    return np.asarray(x[np.append(True, (np.diff(x, axis=0) != 0).any(axis=1))])


def of(name: str, mechanism_name: str, rows: Rows, **more: Any) -> NegativeControl:
    """Return a mechanism on changed rows; the first line of the docstring of `rows` states the mistake."""
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
    # The following mechanisms do more than add noise to a query.
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
