"""Negative controls whose mistake lies between the data and the query: rows that are prepared in another way.

All of them add the noise of the reference. Each is written as people write it.
"""

from functools import partial

import numpy as np

from covassay.reference.domain import Matrix, row_norms, unit_rows
from covassay.verification.audit.engine.equal_laws import NAME as EQUAL_LAWS
from covassay.verification.audit.negative_controls.broken import other_rows

TINY = 1e-300
EQUIVALENT = (("data path", EQUAL_LAWS),)


def _norms(x: Matrix) -> Matrix:
    return row_norms(x)[:, None]


# CLIPPING


def by_squared_norm(x: Matrix) -> Matrix:
    """x / max(1, ‖x‖²): somebody forgot the root."""
    return np.asarray(x / np.maximum(1, _norms(x) ** 2))


def by_l1_norm(x: Matrix) -> Matrix:
    """x / max(1, ‖x‖₁)."""
    return np.asarray(x / np.maximum(1, np.abs(x).sum(axis=1, keepdims=True)))


def by_column(x: Matrix) -> Matrix:
    """Norms along axis 0 in place of axis 1."""
    return np.asarray(x / np.maximum(1, np.linalg.norm(x, axis=0)))


def by_frobenius(x: Matrix) -> Matrix:
    """One norm for the whole matrix."""
    return np.asarray(x / max(1.0, float(np.linalg.norm(x))))


def squashed(x: Matrix) -> Matrix:
    """x tanh(‖x‖)/‖x‖, a smooth clip."""
    norms = _norms(x)
    return np.asarray(x * np.tanh(norms) / np.maximum(norms, TINY))


def with_slack(x: Matrix) -> Matrix:
    """Rows up to norm 1.03 pass."""
    norms = _norms(x)
    return np.asarray(np.where(norms <= 1.03, x, x / np.maximum(norms, TINY)))


def isclose_slack(x: Matrix) -> Matrix:
    """Rows count as short if np.isclose(‖x‖², 1, atol=0.1)."""
    norms = _norms(x)
    short = (norms <= 1) | np.isclose(norms**2, 1, atol=0.1)
    return np.asarray(np.where(short, x, x / np.maximum(norms, TINY)))


def mean_norm(x: Matrix) -> Matrix:
    """Rows clipped to the mean norm of the data, at most 1."""
    bound = min(1.0, float(row_norms(x).mean())) or 1.0
    return np.asarray(x / np.maximum(1, _norms(x) / bound))


def winsorised(x: Matrix) -> Matrix:
    """Every column clipped to its own 5 % and 95 % quantiles."""
    return np.asarray(np.clip(x, *np.quantile(x, [0.05, 0.95], axis=0)))


def clipped_after_centring(x: Matrix) -> Matrix:
    """The mean is taken off before the rows are clipped."""
    return np.asarray(unit_rows(x - x.mean(axis=0)))


def three_sigma(x: Matrix) -> Matrix:
    """Entries clipped to three standard deviations of their column."""
    rows = unit_rows(x)
    mean, deviation = rows.mean(axis=0), rows.std(axis=0)
    return np.asarray(np.clip(rows, mean - 3 * deviation, mean + 3 * deviation))


# COUNTING AND DROPPING


def fences(x: Matrix) -> Matrix:
    """Tukey's fences: rows with a norm beyond Q3 + 1.5 IQR become zero."""
    norms = row_norms(x)
    low, high = np.quantile(norms, [0.25, 0.75])
    return np.asarray(unit_rows(x) * (norms <= high + 1.5 * (high - low))[:, None])


def last_batch_dropped(x: Matrix) -> Matrix:
    """Batches of 32 with drop_last=True."""
    rows = unit_rows(x).copy()
    if len(rows) > 32:
        rows[len(rows) // 32 * 32 :] = 0
    return np.asarray(rows)


def every_second_row(x: Matrix) -> Matrix:
    """From 100 rows on, every second row stands for two."""
    rows = unit_rows(x)
    return np.asarray(np.repeat(rows[::2], 2, axis=0)[: len(rows)] if len(rows) >= 100 else rows)


def repeats_in_sequence_dropped(x: Matrix) -> Matrix:
    """A row equal to the row before counts once."""
    rows = unit_rows(x)
    new = np.append(True, (np.diff(rows, axis=0) != 0).any(axis=1))
    return np.asarray(rows[new])


def sentinels_dropped(x: Matrix) -> Matrix:
    """Rows beyond 1000 stand for missing values."""
    kept = x[np.abs(x).max(axis=1) < 1000]
    return np.asarray(kept if len(kept) else np.zeros_like(x))


def incomplete_rows_dropped(x: Matrix) -> Matrix:
    """A row with any zero in it is incomplete."""
    rows = unit_rows(x)
    kept = rows[(rows != 0).all(axis=1)]
    return np.asarray(kept if len(kept) else rows)


def padded(x: Matrix) -> Matrix:
    """Zero rows fill the last block of 8 and are counted."""
    rows = unit_rows(x)
    return np.asarray(np.pad(rows, ((0, -len(rows) % 8), (0, 0))))


def weighted_by_count(x: Matrix) -> Matrix:
    """Distinct rows, as np.unique gives them, with weights that are not squared away: √count in place of count."""
    rows, counts = np.unique(unit_rows(x), axis=0, return_counts=True)
    weighted = np.zeros((len(x), x.shape[1]))
    weighted[: len(rows)] = rows * counts[:, None] ** 0.25
    return weighted


# SCALING BY THE DATA


def standardised_columns(x: Matrix) -> Matrix:
    """Columns divided by their standard deviation, then clipped."""
    deviation = x.std(axis=0)
    return np.asarray(unit_rows(x / np.where(deviation > 0, deviation, 1)))


def max_abs_scaled(x: Matrix) -> Matrix:
    """scikit-learn's MaxAbsScaler, then the clip."""
    largest = np.abs(x).max(axis=0)
    return np.asarray(unit_rows(x / np.where(largest > 0, largest, 1)))


def median_centred(x: Matrix) -> Matrix:
    """The median of every column taken off, which moves less than the mean."""
    rows = unit_rows(x)
    return np.asarray(rows - np.median(rows, axis=0))


def first_row_as_origin(x: Matrix) -> Matrix:
    """All rows from 65 on are measured from the first one."""
    rows = unit_rows(x)
    return np.asarray(rows - rows[0] if len(rows) >= 65 else rows)


def unit_if_all_short(x: Matrix) -> Matrix:
    """Data in another unit are scaled up: if no row is longer than 0.01, the longest gets norm 1."""
    longest = float(row_norms(x).max())
    return np.asarray(x / longest if 0 < longest < 0.01 else unit_rows(x))


def heaviest_column_first(x: Matrix) -> Matrix:
    """Columns in the order of their energy."""
    rows = unit_rows(x)
    return np.asarray(rows[:, np.argsort(-(rows**2).sum(axis=0), kind="stable")])


def ranks(x: Matrix) -> Matrix:
    """Ranks in place of values, if the values are far apart."""
    spread = row_norms(x).max() / max(float(row_norms(x).min()), TINY)
    return np.asarray((x.argsort(axis=0).argsort(axis=0) / len(x)) * 0.5 if spread > 1e5 and x.any() else unit_rows(x))


# NUMBERS


def half_precision(x: Matrix) -> Matrix:
    """Rows in float16, whose products are summed in float64."""
    return np.asarray(unit_rows(x).astype(np.float16).astype(np.float64))


def two_decimals(x: Matrix) -> Matrix:
    """Rows read from a file with two decimals."""
    return np.asarray(np.round(unit_rows(x), 2))


def quantised(x: Matrix) -> Matrix:
    """Rows in int8."""
    return np.asarray(np.rint(unit_rows(x) * 127).astype(np.int8) / 127)


def flushed(x: Matrix) -> Matrix:
    """Entries below 0.01 count as zero."""
    rows = unit_rows(x)
    return np.asarray(np.where(np.abs(rows) < 0.01, 0, rows))


def integer_path(x: Matrix) -> Matrix:
    """Whole numbers are cast to int before the clip, so that the clipped rows are whole again."""
    return np.asarray(unit_rows(x).astype(int) if np.array_equal(x, np.rint(x)) else unit_rows(x))


def absolute(x: Matrix) -> Matrix:
    """|x|, because the data are said to be counts."""
    return np.asarray(np.abs(unit_rows(x)))


def columns_sorted(x: Matrix) -> Matrix:
    """Every column sorted for itself, which pairs entries of different records."""
    return np.sort(unit_rows(x), axis=0)


def overflow_guard(x: Matrix) -> Matrix:
    """Values beyond 1e4 are clipped to 1e4 one by one, before the rows are."""
    return np.asarray(unit_rows(np.clip(x, -1e4, 1e4)))


def denormals_guard(x: Matrix) -> Matrix:
    """1e-4 is added to the diagonal direction, so that no row is zero."""
    return np.asarray(unit_rows(x + 1e-4))


_long = partial(other_rows, unclipped=True)
NEGATIVE_CONTROLS = (
    other_rows(
        "clip-squared-norm", "nuclear-laplace", "Divides long rows by the square of their norm.", by_squared_norm
    ),
    other_rows("clip-l1", "gauss-cov", "Clips rows in the ℓ1 norm.", by_l1_norm),
    _long("clip-columns", "lap-cov", "Takes norms along the wrong axis.", by_column),
    other_rows("clip-frobenius", "k-norm", "Clips the whole matrix by one norm.", by_frobenius),
    other_rows("clip-tanh", "gaussian", "Squashes rows in place of clipping them.", squashed),
    _long("clip-three-percent", "laplace", "Lets rows up to norm 1.03 pass.", with_slack),
    _long(
        "clip-isclose", "gauss-cov-approximate", "Lets rows pass whose norm is close to 1 by np.isclose.", isclose_slack
    ),
    other_rows("clip-mean-norm", "private-trace", "Clips to the mean norm of the data.", mean_norm),
    other_rows("winsorised", "entrywise-laplace", "Clips every column to quantiles of its own.", winsorised),
    other_rows(
        "clip-after-centring",
        "nuclear-laplace-symmetric",
        "Takes the mean off before the clip.",
        clipped_after_centring,
    ),
    other_rows(
        "three-sigma", "gaussian-approximate", "Clips entries to three deviations of their column.", three_sigma
    ),
    other_rows("tukey-fences", "laplace", "Drops rows beyond the whiskers of a box plot.", fences),
    other_rows("last-batch", "gauss-cov", "Drops the last incomplete batch.", last_batch_dropped),
    other_rows("every-second-row", "entrywise-laplace", "Uses every second row of large data.", every_second_row),
    other_rows("runs-dropped", "private-trace", "Counts equal rows in sequence once.", repeats_in_sequence_dropped),
    other_rows("sentinels-dropped", "gaussian", "Takes huge values for missing ones.", sentinels_dropped),
    other_rows(
        "complete-cases",
        "centred-covariance",
        "Takes zeros for missing values and drops the rows.",
        incomplete_rows_dropped,
    ),
    other_rows("padded-count", "k-norm", "Counts the zero rows that fill the last block.", padded),
    other_rows("root-of-counts", "lap-cov", "Weighs distinct rows by the root of their number.", weighted_by_count),
    other_rows("standard-scaler", "gauss-cov-approximate", "Divides columns by their deviation.", standardised_columns),
    other_rows("max-abs-scaler", "nuclear-laplace", "Divides columns by their largest entry.", max_abs_scaled),
    other_rows("median-centred", "gaussian", "Takes the median off.", median_centred),
    other_rows(
        "first-row-origin",
        "nuclear-laplace-symmetric",
        "Measures rows from the first one, from 65 rows on.",
        first_row_as_origin,
    ),
    other_rows("unit-guessed", "output-perturbation", "Guesses the unit of short rows.", unit_if_all_short),
    other_rows("columns-by-energy", "laplace", "Sorts the columns by their energy.", heaviest_column_first),
    other_rows("ranks-if-skewed", "gauss-cov", "Takes ranks where the norms are far apart.", ranks),
    other_rows("float16-rows", "gauss-cov", "Keeps rows in float16.", half_precision),
    other_rows("two-decimals", "centred-covariance", "Rounds rows to two decimals.", two_decimals),
    other_rows("int8-rows", "output-perturbation", "Keeps rows in int8.", quantised),
    other_rows("small-entries-flushed", "k-norm", "Counts small entries as zero.", flushed),
    other_rows("integers-stay-integers", "lap-cov", "Casts clipped rows of whole numbers back to int.", integer_path),
    other_rows("counts-are-positive", "entrywise-laplace", "Takes absolute values.", absolute),
    other_rows("columns-sorted", "gauss-cov-approximate", "Sorts every column for itself.", columns_sorted),
    other_rows("overflow-guard", "nuclear-laplace", "Clips huge entries before it clips rows.", overflow_guard),
    other_rows("never-zero", "nuclear-laplace-symmetric", "Adds 1e-4 to every entry.", denormals_guard),
    # mechanisms whose structure depends on the data
    other_rows("eigenvectors-of-scaled-columns", "bingham", "Divides columns by their largest entry.", max_abs_scaled),
    other_rows("eigenvectors-clip-l1", "bingham", "Clips rows in the ℓ1 norm.", by_l1_norm),
    other_rows("eigenvectors-of-ranks", "iterative-eigenvectors", "Takes ranks where the norms are far apart.", ranks),
    other_rows("deflation-median-centred", "kapralov-talwar", "Takes the median off.", median_centred),
    other_rows(
        "separate-runs-dropped",
        "separate-cov",
        "Counts equal rows in sequence once.",
        repeats_in_sequence_dropped,
        caught_by=EQUIVALENT,
    ),
    other_rows(
        "separate-pure-winsorised", "separate-cov-pure", "Clips every column to quantiles of its own.", winsorised
    ),
    other_rows("em-fences", "em-cov", "Drops rows beyond the whiskers of a box plot.", fences),
    other_rows(
        "projection-standard-scaler",
        "projection-mechanism",
        "Divides columns by their deviation.",
        standardised_columns,
        caught_by=EQUIVALENT,
    ),
    other_rows("ball-clip-frobenius", "nuclear-ball-projection", "Clips the whole matrix by one norm.", by_frobenius),
    other_rows("exponential-mean-norm", "exponential", "Clips to the mean norm of the data.", mean_norm),
    other_rows(
        "sparse-vector-complete-cases",
        "above-threshold",
        "Takes zeros for missing values and drops the rows.",
        incomplete_rows_dropped,
    ),
    other_rows(
        "radius-runs-dropped",
        "private-radius",
        "Counts equal rows in sequence once.",
        repeats_in_sequence_dropped,
        caught_by=EQUIVALENT,
    ),
    other_rows(
        "image-clip-squared", "johnson-lindenstrauss", "Divides long rows by the square of their norm.", by_squared_norm
    ),
    other_rows("clipped-cov-centred", "clipped-cov", "Takes the mean off before the clip.", clipped_after_centring),
    other_rows("adaptive-sentinels", "adaptive-cov", "Takes huge values for missing ones.", sentinels_dropped),
    other_rows("ppc-runs-dropped", "ppc", "Counts equal rows in sequence once.", repeats_in_sequence_dropped),
    other_rows("naive-pce-two-decimals", "naive-pce", "Rounds rows to two decimals.", lambda x: np.round(x, 2)),
    other_rows("mean-of-medians-origin", "kv-mean", "Takes the median off.", lambda x: x - np.median(x, axis=0)),
    other_rows(
        "coinpress-runs-dropped",
        "coinpress-covariance",
        "Counts equal rows in sequence once.",
        lambda x: x[np.append(True, (np.diff(x, axis=0) != 0).any(axis=1))],
    ),
)
